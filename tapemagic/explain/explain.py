"""Explain a gradient: the reason why it is None, or the paths whose contributions it adds up."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from tapemagic.engine.recording import silence
from tapemagic.engine.tape.cut import LET_GO, cut_between
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of, unwrap
from tapemagic.explain.causes import why_none, why_without_records
from tapemagic.explain.chain_rule import Path, format_count, paths
from tapemagic.explain.contributions import LineContribution, contributions
from tapemagic.explain.formatting import derivative_symbol, format_value, printable
from tapemagic.explain.missing_parts import missing
from tapemagic.explain.query import Question

RELEASED = (
    "this tape already gave its one gradient and deleted its records. Use persistent=True (%%tape -p) to see the "
    "paths."
)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The reason for a None, or the chain rule for a gradient: the result of ``tape.explain`` and ``%why``.

    - `target`, `source`: Their names in the program.
    - `cause`: The reason for a None in a word or two, such as ``"not watched"``. Empty if there is a gradient.
    - `reason`: The reason for a None in a sentence, with what to write instead.
    - `gradient`: The gradient, if the tape can still compute one.
    - `paths`: The paths from the source to the target. Empty if there are many.
    - `count`: The number of paths, exact to 28 digits.
    - `missing`: A sentence on the part that the gradient ignores, or may ignore. Empty if there is no sign of one.
    - `lines`: The largest contributions of lines to the gradient, if there are many paths.
    - `more_lines`: The number of other lines.
    - `signed`: True if shares are shares of the gradient, False if they are shares of the sum of the sizes.
    - `development`: A sentence on how the gradient changes along a loop. Empty unless there are many paths through few
      values.
    """

    target: str
    source: str
    cause: str = ""
    reason: str = ""
    gradient: str = ""
    paths: tuple[Path, ...] = ()
    count: int = 0
    missing: str = ""
    lines: tuple[LineContribution, ...] = ()
    more_lines: int = 0
    signed: bool = True
    development: str = ""

    @property
    def symbol(self) -> str:
        """The symbol of the derivative, such as ``dy/dx``."""
        return derivative_symbol(self.target, self.source, 1)

    def __repr__(self) -> str:
        if not self.count:
            return _wrapped(f"{self.symbol}{' is None' * bool(self.cause)}: {self.reason}")
        paths_text = (
            "1 path" if self.count == 1 else f"the sum over {format_count(self.count)} paths"
        )
        if any(line.share is not None for line in self.lines):
            paths_text += (
                f"; by line, in percent of {self.symbol if self.signed else 'the sum of the sizes'}"
            )
        lines = [
            f"{self.symbol} = {self.gradient}, {paths_text}",
            *(f"  {path}" for path in self.paths),
        ]
        lines += [_indented(str(line)) for line in self.lines]
        if self.more_lines:
            lines.append(f"  … and {self.more_lines:,} more lines")
        if self.development:
            lines.append(_indented(self.development))
        if self.missing:
            lines.append(_wrapped(f"But {self.missing}"))
        return "\n".join(lines)


def _wrapped(text: str) -> str:
    """Wrap text to the width of a notebook's output."""
    return textwrap.fill(
        text, 88, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


def _indented(text: str) -> str:
    """Wrap an indented line to the width of a notebook's output."""
    return textwrap.fill(
        printable(text),
        88,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def explain(question: Question) -> Explanation:
    """Explain a gradient from a snapshot of the tape, which isn't consumed."""
    y, x, evidence = question.target_name, question.source_name, question.snapshot
    target, source = question.target, question.source
    contents = evidence.contents
    if (
        contents.cut
        and all(map(has_id, (target, source)))
        and cut_between(
            contents.records,
            contents.tracked,
            contents.leaves,
            contents.cut,
            [id_of(target)],
            [id_of(source)],
        )
    ):
        return Explanation(y, x, reason=LET_GO.format(y) + ".")
    reason = why_without_records(question) if evidence.is_consumed else None
    if not evidence.is_consumed and not _connected(question):
        reason = why_none(question)
    if reason is not None:
        return Explanation(y, x, *reason)
    if not evidence.has_values and (evidence.is_consumed or target is not source):
        depends = f"{y} depends on {x}, but " * (not evidence.is_consumed)
        text = depends + RELEASED
        return Explanation(y, x, reason=text[0].upper() + text[1:] if not depends else text)
    names = {**question.names, id_of(source): x, id_of(target): y}
    shown_paths, count = paths(evidence, target, source, names)
    if not count:
        text = f"A function between {x} and {y} has a custom gradient that returns None for this input."
        return Explanation(y, x, "no derivative", text)
    # Tapes of the program may be recording. They mustn't record the gradients taken here.
    with silence():
        gradient = evidence.tape().gradient(target, source)
    value = "None" if gradient is None else format_value(unwrap(gradient))
    lacks = missing(question)
    if shown_paths:
        return Explanation(y, x, "", "", value, shown_paths, count, lacks)
    parts = contributions(evidence, target, source)
    return Explanation(
        y,
        x,
        "",
        "",
        value,
        (),
        count,
        lacks,
        parts.lines,
        parts.more,
        parts.signed,
        parts.development,
    )


def _connected(question: Question) -> bool:
    target, source = question.target, question.source
    if not all(isinstance(x, Traced) and x.dtype.kind in "fc" for x in (target, source)):
        return False
    i = id_of(source)
    return target is source or (i in question.snapshot.tracked and i in question.ancestors)
