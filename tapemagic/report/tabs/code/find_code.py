"""Code: the derivatives of a report as a NumPy program, whose lines belong to the steps through the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import SourceError
from tapemagic.programs.program import Site
from tapemagic.programs.recorded import (
    SourceText,
    is_sum,
    name_of,
    recorded_program,
    summary,
    text_of,
)
from tapemagic.programs.rerun import Mark, Words
from tapemagic.programs.text.statements import statements_in
from tapemagic.report.derivatives import failure_reason
from tapemagic.report.subject import Subject
from tapemagic.report.tabs.graph.find_graph import first_layout
from tapemagic.report.tabs.trace.steps import Steps, TraceStep


@dataclass(frozen=True)
class CodeLine:
    """A line of the program.

    - `steps`: The steps through the graph to which it belongs, counted from 1.
    """

    text: str
    steps: tuple[int, ...] = ()


@dataclass(frozen=True)
class Code:
    """The derivatives of a report as a program.

    - `lines`: Empty if there is no program.
    - `why`: Why there is no program.
    """

    lines: tuple[CodeLine, ...] = ()
    why: str = ""

    @property
    def text(self) -> str:
        """The program as text."""
        return "".join(f"{line.text}\n" for line in self.lines)


MAGIC = ("%", "!", "?")
"""The beginnings of lines that IPython reads itself."""

NOTHING = "There is nothing to differentiate."
LAZY = (
    "There is no program, since the cell computes with Dask arrays, and a program computes with NumPy's: to get one, "
    "run the cell on a sample in memory, such as X[:1000].compute()."
)


def find(subject: Subject, steps: Steps | None = None) -> Code:
    """Find the program, with the steps to which its lines belong: by default those through the first layout."""
    steps = steps or subject.shared(first_layout).view.steps
    return with_steps(subject.shared(source_of), steps.steps)


def source_of(subject: Subject) -> SourceText | str:
    """Write the derivatives of a report as a NumPy program, or return the reason why that fails."""
    if not any(g is not None for g in subject.derivatives.gradients.values()):
        return NOTHING
    if subject.has_lazy_values:
        return LAZY
    try:
        return _source(subject)
    except SourceError as error:
        words = str(error)
        return f"{words[:1].upper()}{words[1:]}."
    except Exception as error:  # noqa: BLE001 -- a rule may call anything, also on placeholder values
        return f"The derivatives cannot be written as a program: {failure_reason(error)}"


def _source(subject: Subject) -> SourceText:
    contents = subject.whole.contents
    # Without the derivatives that the report took: the program computes them itself.
    contents = contents._replace(records=contents.records[: subject.operations])
    groups = [[target] for _, target in subject.targets]
    sources = [source for _, source in subject.sources]
    sites, notes = _sites(subject)
    words = Words(subject.known_names, _arrays(subject), sites.get)
    names = [name for name, _ in subject.targets]
    name = names[0] if len(names) == 1 else "targets"
    notes["brief"] = len(names) == 1
    source_names = [name for name, _ in subject.sources]
    notes["summary"] = summary(names, source_names, subject.order, is_sum(groups))
    return text_of(
        recorded_program(
            contents, groups, sources, subject.order, words, name_of(name, subject.order), notes
        )
    )


def _arrays(subject: Subject) -> Sequence[tuple[str, Any]]:
    """The arrays of the program by name."""
    named = [(name, unwrap(x) if isinstance(x, Traced) else x) for name, x in subject.context.named]
    return [(name, x) for name, x in named if hasattr(x, "dtype")]


def _sites(subject: Subject) -> tuple[dict[int, Site], dict[str, Any]]:
    """The statements of the records by their positions, and the text of statements, for comments."""
    place = subject.context.program.place
    file = place.file if place else ""
    statements = statements_in(_without_magics(subject.context.lines))
    sites_by_position: dict[int, Site] = {}
    times: Counter[tuple[str, int]] = Counter()
    first: dict[int, tuple[int, int, int]] = {}
    for position, site in enumerate(subject.whole.origins.sites[: subject.operations]):
        line, call, offset, run = site
        statement = statements.get(line or 0)
        if line is None or statement is None:
            continue
        key = file, statement.line
        before = first.get(statement.line)
        # Another instruction in the same call, or the same one in the same run, belongs to the same execution.
        again = (
            before is not None and call == before[0] and (offset != before[1] or run == before[2])
        )
        if before is None or not (again or statement.repeats):
            times[key] += 1
            first[statement.line] = call, offset, run
        sites_by_position[position] = Site(file, statement.line, call, times[key])
    texts = {(file, each.line): each.text for each in statements.values()}
    return sites_by_position, {"statements": texts, "times": dict(times)}


def _without_magics(lines: Sequence[str]) -> list[str]:
    """Replace the magics of a cell by comments, so that Python can parse the cell."""
    # A comment keeps the line numbers.
    return ["#\n" if line.lstrip()[:1] in MAGIC else f"{line.rstrip()}\n" for line in lines]


def with_steps(source: SourceText | str, steps: Sequence[TraceStep]) -> Code:
    """A program with the steps through a graph to which its lines belong."""
    if isinstance(source, str):
        return Code(why=source)
    steps_of_mark: dict[Mark, list[int]] = {}
    for k, step in enumerate(steps, 1):
        # A `Mark` has level 0 for the forward pass, and k for the sweep of order k.
        level = step.part + 1 if step.way == "reverse" else 0
        for position in step.positions:
            steps_of_mark.setdefault((level, position), []).append(k)
    return Code(
        tuple(
            CodeLine(
                line.text,
                tuple(sorted({k for mark in line.marks for k in steps_of_mark.get(mark, ())})),
            )
            for line in source.lines
        )
    )
