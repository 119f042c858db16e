"""What a picture leaves out: operations that the user did not ask for, where they lead nowhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tapemagic.engine.registry import operation
from tapemagic.engine.variable import identity

_READ = operation(identity).number


def worth_drawing(
    records: Sequence[Any], named: Collection[int], wanted: Collection[int]
) -> list[int]:
    """The positions of the records to draw.

    What a function with a gradient of its own computes on the way goes into its result unseen, and assigning to a
    variable reads it: both are drawn only where something else that is drawn makes use of them.

    Parameters
    ----------
    records : sequence of Record
    named : collection of int
        The numbers of values to which the user gave a name.
    wanted : collection of int
        The numbers of targets and of what is watched.

    Returns
    -------
    list of int
        In the order of the tape.
    """
    needed = set(wanted)
    begun: list[int] = []
    drawn: list[int] = []
    for position in range(len(records) - 1, -1, -1):
        number, _, ids, params, _, output_id = records[position]
        made = output_id if output_id.__class__ is tuple else (output_id,)
        while begun and begun[-1] > made[0]:
            begun.pop()
        unasked = begun or (number == _READ and made[0] not in named)
        if params and "call" in params:
            begun.append(params["call"].begun)
        if not unasked or not needed.isdisjoint(made):
            needed.update(ids)
            drawn.append(position)
    return drawn[::-1]
