"""The derivatives that a report takes of a recording, order by order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tapemagic.engine.tape.cotangents import key_of
from tapemagic.engine.tape.tape import Tape, noting_sweeps, take_spared
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.explain.caller import TargetGroup
from tapemagic.explain.formatting import SUBSCRIPTS, derivative_symbol, format_size, unique_name
from tapemagic.explain.snapshot import Named


def name_of_sum(target: Named, source: Named, order: int) -> str:
    """Return the name of the array whose sum is differentiated, or '' if it is a single number."""
    if order > 1 and source[1].size != 1:
        return derivative_symbol(target[0], source[0], order - 1)
    return target[0] if target[1].size != 1 else ""


MAX_TARGETS = 10
"""Maximum number of targets that are chosen by themselves: each costs a backward pass."""

MAX_SEPARATE = 3
"""Maximum number of values of a list without names of their own that are targets one by one."""
MAX_JOINED = 1_000_000
"""Maximum number of entries of an array to which the values of a list are joined."""

NUMBERED = re.compile(rf"(\[\d+\]|[{SUBSCRIPTS}])$")
"""Names by a number: ys[3], and y₃ of a loop that appends y."""


def targets_of(tape: Tape, groups: Sequence[TargetGroup]) -> tuple[list[Named], list[str]]:
    """Return the targets in lists, joined on a tape where they are many, and a sentence on each of those."""
    targets: dict[str, Any] = {}
    notes: list[str] = []
    for group in groups:
        found = joined(tape, group)
        notes += [] if found is None else [found[1]]
        for name, value in group.parts if found is None else [found[0]]:
            # Lists without names are called alike.
            targets[unique_name(name, targets)] = value
    return list(targets.items()), notes


def joined(tape: Tape, group: TargetGroup) -> tuple[Named, str] | None:
    """Join many parts of a list, tuple or dict to one target with a shape, on a tape.

    Its gradient is that of the sum, like the gradient of a list of targets. Parts are many if more than `MAX_SEPARATE`
    have only a number instead of a name or a key, or if they are more than `MAX_TARGETS`.
    Large arrays stay separate. A list without a name is called "the list".

    Returns
    -------
    ((str, Tensor), str) or None
        The target, and a sentence on it for the verdict; None if the parts should be separate targets.
    """
    name, structure, parts = group
    numbered = sum(bool(NUMBERED.search(part)) for part, _ in parts)
    if numbered <= MAX_SEPARATE and len(parts) <= MAX_TARGETS:
        return None
    values = [value for _, value in parts]
    # Joining copies them.
    if sum(map(np.size, values)) > MAX_JOINED:
        return None
    shapes = {np.shape(value) for value in values}
    is_regular = len(shapes) == 1
    # Entering a tape again records on it; arrays of different shapes become one row of their entries.
    with tape:
        array = np.stack(values) if is_regular else np.concatenate(values, axis=None)
    shape = shapes.pop()
    size = f" of {format_size(shape)}" if is_regular else ""
    what = f"{len(values):,} {'scalars' if is_regular and not shape else f'arrays{size}'}"
    container = type(structure).__name__
    has = f"is a {container} of" if name else "has"
    name = name or f"the {container}"
    return (name, array), f"{name} {has} {what}: the report joins them to one array"


Key = tuple[int, int, int]
"""A derivative: the index of its target, that of its source, and its order."""


@dataclass
class GradientTable:
    """Derivatives by target, source and order, with the errors that prevented some.

    - `begins`: For each order, the number of records before its derivatives.
    - `spared`: The derivatives that would be nan somewhere if selections didn't leave entries unused.
    """

    gradients: dict[Key, Tensor | None] = field(default_factory=dict)
    problems: dict[Key, str] = field(default_factory=dict)
    begins: list[int] = field(default_factory=list)
    spared: set[Key] = field(default_factory=set)

    def level(self, position: int) -> int:
        """The order of the derivative that a record belongs to, by its position, or 0 for a record of the cell.

        Examples
        --------
        >>> GradientTable(begins=[2, 5]).level(1), GradientTable(begins=[2, 5]).level(6)
        (0, 2)
        """
        return bisect_right(self.begins, position)


def differentiate(
    tape: Tape, targets: Sequence[Named], sources: Sequence[Named], order: int
) -> GradientTable:
    """Compute the derivatives of all orders up to `order`, and record all but the last on the tape."""
    with noting_sweeps(tape):
        return _differentiate(tape, targets, sources, order)


def _differentiate(
    tape: Tape, targets: Sequence[Named], sources: Sequence[Named], order: int
) -> GradientTable:
    table = GradientTable()
    values = [value for _, value in sources]
    for level in range(1, order + 1):
        table.begins.append(len(tape.records))
        # Nothing differentiates the derivatives of the last order, so they aren't recorded.
        with tape if level < order else nullcontext():
            for t, (_, target) in enumerate(targets):
                keys = [(t, s, level) for s in range(len(values))]
                # One sweep gives the gradients by all sources. Above, each derivative is a target, which takes
                # a sweep for its source only: mixed derivatives are in the full matrices.
                if level == 1:
                    take_gradients(tape, table, target, values, keys)
                    continue
                for key, x in zip(keys, values, strict=True):
                    below = table.gradients[t, key[1], level - 1]
                    if below is None:
                        table.gradients[key] = None
                    else:
                        take_gradients(tape, table, below, [x], [key])
    return table


def take_gradients(
    tape: Tape, table: GradientTable, target: Any, sources: Sequence[Any], keys: Sequence[Key]
) -> None:
    """Add gradients to a table; where a rule fails, add None and the error as its reason."""
    take_spared(tape)
    try:
        gradients = tape.gradient(target, sources)
    except Exception as error:  # noqa: BLE001 -- a rule may call anything, and LinAlgError isn't a ValueError
        gradients = [None] * len(keys)
        table.problems.update((key, failure_reason(error)) for key in keys)
    table.gradients.update(zip(keys, gradients, strict=True))
    spared = take_spared(tape)
    pairs = zip(keys, sources, strict=True)
    table.spared.update(key for key, x in pairs if key_of(x) in spared)


def failure_reason(error: Exception) -> str:
    """Describe an error that prevented a derivative."""
    return f"computing it failed with {type(error).__name__}: {error}"
