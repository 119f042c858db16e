"""What a picture leaves out: operations that lead nowhere in it, and that nobody asked for or whose end is hidden."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.tensor import getitem
from tapemagic.engine.tensor.variable import identity

T = TypeVar("T")

LOOKING = {operation(identity).number, operation(getitem).number}
"""Operations that only look at a value: reading a variable, as assigning to it does, and taking an element, as a
library does that was given a tensor."""


def worth_drawing(
    records: Sequence[Any],
    named: Collection[int],
    wanted: Collection[int],
    many: int | None = None,
) -> list[int]:
    """The positions of the records to draw.

    What a function with a gradient of its own computes on the way goes into its result unseen, assigning to a
    variable reads it, and plotting takes elements: these are drawn only where something else that is drawn makes use
    of them. So is what goes into an operation of so many inputs that only some are drawn.

    Parameters
    ----------
    records : sequence of Record
    named : collection of int
        The numbers of values to which the user gave a name.
    wanted : collection of int
        The numbers of targets and of what is watched.
    many : int, optional
        How many inputs of an operation are drawn; all, if left out.

    Returns
    -------
    list of int
        In the order of the tape.
    """
    needed, used = set(wanted), set[int]()
    start_time: list[int] = []
    drawn: list[int] = []
    for position in range(len(records) - 1, -1, -1):
        number, values, ids, params, _, output_id = records[position]
        made = output_id if output_id.__class__ is tuple else (output_id,)
        while start_time and start_time[-1] > made[0]:
            start_time.pop()
        unasked = start_time or (number in LOOKING and made[0] not in named)
        if params and "call" in params:
            start_time.append(params["call"].start_time)
        is_hidden = unasked or not used.isdisjoint(made)
        if not (is_hidden and needed.isdisjoint(made)):
            given = [i for value, i in zip(values, ids, strict=True) if value is not None]
            needed.update(given if many is None else few(given, many))
            used.update(given)
            drawn.append(position)
        elif not unasked:
            used.update(ids)
    return drawn[::-1]


def few(items: list[T], many: int) -> list[T]:
    """The items, or the first and the last of them if there are too many."""
    return items if len(items) <= many else [*items[: many - 1], items[-1]]
