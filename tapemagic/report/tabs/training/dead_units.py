"""Dead units: their relu is 0 for every example, so they pass no gradient back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.recording import Record
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import label, without_subscript
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.subject import Subject

SUMS = {"add", "subtract", "multiply", "divide", "negative"}
"""Operations between a matrix product and its relu, such as that which adds the bias."""

MIN_RUNS = 2
"""The least number of runs in which a unit has to give 0 to be dead."""


def dead_units(subject: Subject) -> Iterator[str]:
    """Sentences on the units of each relu whose inputs were negative for all examples, the last times that it ran.

    These are the second half of its runs: in a single step, a unit of a healthy network may give 0 for a few examples.

    Units are the elements along the last axis; of a product of a Variable and a matrix, in this order, those along the
    first. A relu is `relu`, or the maximum of something and 0.
    """
    snapshot = subject.whole
    sites, calls = snapshot.origins.sites, snapshot.origins.calls
    positions_by_relu: defaultdict[Any, list[int]] = defaultdict(list)
    for position, plain in enumerate(snapshot.records[: subject.operations]):
        if snapshot.origins.orders[position] == 0 and _input(Record._make(plain)) is not None:
            line, call, offset, _ = sites[position]
            code, name, layer = calls[call].code, calls[call].name, calls[call].scope
            positions_by_relu[code, offset, line, name if layer else ""].append(position)
    makers: dict[int, Record] = {}
    if positions_by_relu:
        records = map(Record._make, snapshot.records[: subject.operations])
        makers = {
            record.output_id: record for record in records if isinstance(record.output_id, int)
        }
    for (_, _, line, layer), positions in positions_by_relu.items():
        if len(positions) > 1:
            where = f" in {label(layer)}" if layer else ""
            where += "" if line is None else f" on line {line}"
            yield from _sentence(subject, positions, where, makers)


def _input(record: Record) -> int | None:
    """Return the position of the input of a relu, or None for another operation."""
    name = record.operation.name
    if name == "relu":
        return 0
    if name == "maximum":
        for zero, operand in ((0, 1), (1, 0)):
            value = record.values[zero]
            # np.maximum(x, 0) is a relu if the other operand is a constant 0 (ids of constants are 0 or less).
            if has_numbers(value) and record.ids[zero] <= 0 and not np.any(value):
                return operand
    return None


def _sentence(
    subject: Subject, positions: Sequence[int], where: str, makers: Mapping[int, Record]
) -> Iterator[str]:
    records = [Record._make(subject.whole.records[position]) for position in positions]
    last, recent = records[-1], max(MIN_RUNS, len(records) // 2)
    axis = _axis(subject, last, makers)
    recently_dead = None if axis is None else _dead(last, axis)
    if axis is None or recently_dead is None:
        return
    always = recently_dead
    # From the last run to the first, so that the search ends where no unit is left.
    for k, record in enumerate(records[-2::-1], 2):
        dead = _dead(record, axis)
        # If a run had other units than the last one, none of them was dead in every run.
        always = (
            always & dead
            if dead is not None and dead.shape == recently_dead.shape
            else always & False
        )
        if k <= recent:
            recently_dead = always
        if not np.any(always):
            break
    if not np.any(recently_dead):
        return
    count, units = int(np.sum(recently_dead)), recently_dead.size
    name = without_subscript(subject.known_names.get(last.output_id, ""))  # type: ignore[arg-type]
    of = f" of {name}" if name else ""
    examples = last.output.size // units
    for_all = f" for all {examples:,} examples" if examples > 1 else ""
    when = f"each of the {len(records):,} times that it ran"
    if (throughout := int(np.sum(always))) < count:
        some = f", {throughout:,} of them {when}" if throughout else ""
        when = f"the last {recent:,} times that it ran{some}"
    yield (
        f"dead relu{where}: {count:,} of {units:,} units{of} gave 0{for_all} {when}: nothing passes back through them"
    )


def _dead(record: Record, axis: int) -> Any:
    """Return, for each unit, True if all its inputs are negative, or None if they are unknown."""
    value = record.values[_input(record) or 0]
    if not has_numbers(value) or not value.shape or not value.size or value.dtype.kind != "f":
        return None
    examples_axes = tuple(k for k in range(value.ndim) if k != axis % value.ndim)
    return np.all(value < 0, axis=examples_axes)


def _axis(subject: Subject, record: Record, makers: Mapping[int, Record]) -> int | None:
    """The axis of the units, or None if unknown: the axis of a vector may be that of the examples."""
    variables = {id_of(x) for x in subject.whole.contents.variables}
    number = record.ids[_input(record) or 0]
    for _ in range(len(SUMS)):
        maker = makers.get(number)
        if maker is None:
            break
        if maker.operation.name in ("matmul", "dot") and len(maker.ids) > 1:
            left, right = (i in variables for i in maker.ids[:2])
            # Only one factor may be a Variable: otherwise the axis of the units is unknown.
            if left != right:
                matrix = maker.values[0 if left else 1]
                if len(matrix.shape) == 2:
                    return 0 if left else -1
            break
        if maker.operation.name not in SUMS:
            break
        shape = maker.output.shape
        same = [
            i
            for i, x in zip(maker.ids, maker.values, strict=True)
            if getattr(x, "shape", ()) == shape
        ]
        if not same:
            break
        # The operand with the shape of the result, since a bias has fewer elements and is broadcast.
        number = same[0]
    return -1 if len(record.output.shape) > 2 else None
