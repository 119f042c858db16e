"""The report of a tape outside of %%tape, for `tape.report`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent, Record, silence
from tapemagic.engine.tape.base_tape import Contents, contents_of
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import has_id, id_of
from tapemagic.errors import NotATensorError, OptionError
from tapemagic.explain.caller import RecordedNames
from tapemagic.explain.causes import why_none
from tapemagic.explain.query import Question
from tapemagic.explain.snapshot import Named, snapshot_of
from tapemagic.report.analysis import analyze
from tapemagic.report.context import Context
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.request import ReportRequest
from tapemagic.report.verdict.statement import Statement

MAX_ORDER = 9
"""The highest order of derivatives, as in ``%%tape -o``."""

NOT_KEPT = (
    "This tape kept only the {}, because no derivative reads the numbers. "
    "A short cell under %%tape keeps all numbers."
)
UNNAMED = (
    "{} without a name here, which the report omits. To see the gradients, pass the values as sources, as in "
    'tape.report(y, {{"x": x}}).'
)


def analyze_plain(
    tape: Tape, names: RecordedNames, all_watched: bool, request: ReportRequest
) -> tuple[Findings, Details]:
    """Compute the contents of the report on a tape, which isn't consumed, and prepare answers to later questions.

    - `names`: The targets and sources with their names.
    - `all_watched`: Whether the sources are the watched values.

    Raises
    ------
    NotATensorError
        If a target or source isn't a tensor, or nothing was watched.
    OptionError
        If the tape didn't record a target, or the order isn't an integer from 1 to 9.
    """
    order = request.order
    if type(order) is not int or not 1 <= order <= MAX_ORDER:
        raise OptionError(f"order must be an integer from 1 to {MAX_ORDER}, not {order!r}")
    contents = contents_of(tape)
    if not names.targets:
        raise NotATensorError(
            "report() got no target: pass what was computed, as in tape.report(y)"
        )
    if not names.sources and not all_watched:
        raise NotATensorError("report() got no source: pass one, or leave the sources out")
    if not names.sources:
        raise NotATensorError(
            "report() found no watched value: call tape.watch(x) at the top of the block, or make x a "
            "tapemagic.Variable; of a watched value without a name here, pass the name, "
            'tape.report(y, {"x": x})'
        )
    for target in names.targets:
        if id_of(target[1]) not in contents.tracked:
            raise OptionError(_why_not_recorded(tape, target, names))
    context = Context(
        _named(names, contents),
        notes=[Statement("note", text) for text in _notes(names, contents, all_watched)],
        program=names.program,
    )
    # The tapes of the program may be recording, and must not record what the report computes.
    with silence():
        return analyze(tape, request, context)


def _why_not_recorded(tape: Tape, target: Named, names: RecordedNames) -> str:
    """Explain why a target isn't on the tape."""
    name, source = target[0], names.sources[0]
    known = {id_of(value): name for name, value in [*names.tensors, *names.sources]}
    question = Question(
        snapshot_of(tape), target[1], source[1], name, source[0], known, program=names.program
    )
    return f"report(): this tape did not record {name}. {why_none(question).text}"


def _named(names: RecordedNames, contents: Contents) -> list[Named]:
    """The names of recorded tensors, and of arrays that operations read, oldest first."""
    # A given name replaces those of the program.
    given = {id_of(value) for _, value in (*names.targets, *names.sources)}
    tensors = [
        (name, x) for name, x in names.tensors if id_of(x) in contents.tracked.keys() - given
    ]
    read = {id(x): x for x in _constants(contents)}.values()
    arrays = [
        (name, array)
        for name, array in names.arrays
        if any(
            array.shape == x.shape and array.dtype == x.dtype and np.array_equal(array, x)
            for x in read
        )
    ]
    return [*arrays, *tensors]


def _constants(contents: Contents) -> Iterator[Any]:
    """The arrays that operations read, and that aren't on the tape."""
    for _, values, ids, _, _, _ in contents.records:
        for value, i in zip(values, ids, strict=True):
            if type(value) is np.ndarray and i not in contents.tracked:
                yield value


def _notes(names: RecordedNames, contents: Contents, all_watched: bool) -> Iterator[str]:
    """Yield sentences on missing numbers and sources."""
    records = map(Record._make, contents.records)
    absent = sum(isinstance(x, Absent) for record in records for x in record.outputs)
    if absent:
        plural = "s" * (absent != 1)
        yield NOT_KEPT.format(f"shape{plural} of {absent:,} result{plural}")
    if all_watched:
        known = {id_of(x) for _, x in names.sources if has_id(x)}
        missing = len(contents.leaves - known)
        if missing:
            yield UNNAMED.format(f"The tape watches {missing:,} value{'s' * (missing != 1)}")
