"""Selects the records that a graph shows: without dead ends that are side effects of other operations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.tensor import getitem
from tapemagic.engine.tensor.variable import identity

T = TypeVar("T")

READS = {operation(identity).number, operation(getitem).number}
"""The numbers of operations that only read a value: assigning to a variable reads it, and a library that receives a
tensor takes its elements."""


def drawn_positions(
    records: Sequence[Any],
    named: Collection[int],
    essential: Collection[int],
    max_inputs: int | None = None,
) -> list[int]:
    """The positions of the records to draw.

    Operations inside of a function with a custom gradient, reads of variables by assignments, and reads of elements
    by libraries are drawn only if another operation that is drawn uses their results. The same holds for the inputs
    that are not drawn of an operation with more than `max_inputs`.

    - `named`: The ids of values that have a name in the program.
    - `essential`: The ids of targets and watched values.
    - `max_inputs`: The number of inputs drawn of one operation; all if left out.

    Returns
    -------
    list of int
        In the order of the tape.
    """
    if max_inputs is None and not any(map(_may_be_incidental, records)):
        return list(range(len(records)))
    needed, used = set(essential), set[int]()
    open_calls: list[int] = []
    drawn: list[int] = []
    # Backwards, so that it is known whether an operation that is drawn needs a result before its record comes.
    for position in range(len(records) - 1, -1, -1):
        number, values, ids, params, _, output_id = records[position]
        output_ids = output_id if isinstance(output_id, tuple) else (output_id,)
        # A call with a custom gradient is recorded after the operations inside it, so backwards it comes before them;
        # it ends where ids are smaller than its start time.
        while open_calls and open_calls[-1] > output_ids[0]:
            open_calls.pop()
        incidental = open_calls or (number in READS and output_ids[0] not in named)
        if params and "call" in params:
            open_calls.append(params["call"].start_time)
        # A result that nothing reads is a dead end of the program itself, and is drawn. A result that only hidden
        # operations read, or only as an input that isn't drawn, is hidden, too.
        is_hidden = incidental or not used.isdisjoint(output_ids)
        if not (is_hidden and needed.isdisjoint(output_ids)):
            input_ids = [i for value, i in zip(values, ids, strict=True) if value is not None]
            needed.update(
                input_ids if max_inputs is None else first_and_last(input_ids, max_inputs)
            )
            used.update(input_ids)
            drawn.append(position)
        elif not incidental:
            used.update(ids)
    return drawn[::-1]


def _may_be_incidental(record: Any) -> bool:
    """Return True if a record may not be drawn, or hides others."""
    return record[0] in READS or bool(record[3] and "call" in record[3])


def first_and_last(items: list[T], count: int) -> list[T]:
    """At most `count` items: the first ones and the last."""
    return items if len(items) <= count else [*items[: count - 1], items[-1]]
