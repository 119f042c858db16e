"""The derivatives that a report takes of a recording, order by order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.explain.snapshot import Named


def name_of_sum(target: Named, source: Named, order: int) -> str:
    """Return the name of the array whose sum is differentiated, or '' if it is a single number."""
    if order > 1 and source[1].size != 1:
        return derivative_symbol(target[0], source[0], order - 1)
    return target[0] if target[1].size != 1 else ""


Key = tuple[int, int, int]
"""A derivative: the index of its target, that of its source, and its order."""


@dataclass
class GradientTable:
    """Derivatives by target, source and order, with the errors that prevented some.

    - `begins`: For each order, the number of records before its derivatives.
    """

    gradients: dict[Key, Tensor | None] = field(default_factory=dict)
    problems: dict[Key, str] = field(default_factory=dict)
    begins: list[int] = field(default_factory=list)

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
    try:
        gradients = tape.gradient(target, sources)
    except Exception as error:  # noqa: BLE001 -- a rule may call anything, and LinAlgError isn't a ValueError
        gradients = [None] * len(keys)
        table.problems.update((key, failure_reason(error)) for key in keys)
    table.gradients.update(zip(keys, gradients, strict=True))


def failure_reason(error: Exception) -> str:
    """Describe an error that prevented a derivative."""
    return f"computing it failed with {type(error).__name__}: {error}"
