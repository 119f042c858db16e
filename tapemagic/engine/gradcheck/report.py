"""The report of `check_gradients`, as data and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tapemagic.errors import GradientError

ROUNDING_SHARE = 1e-8
"""A number smaller than this share of the other derivative is shown as 0, because it is rounding error."""


@dataclass(frozen=True)
class DerivativeCheck:
    """A derivative, computed by the tape and by finite differences.

    - `order`: 1 for the gradient, 2 for the gradient's derivative, and so on.
    - `position`: The index of the input, or None for the weight of an output, which gradients depend on as well.
    - `name`: The input's name in the function's signature, or ''; for a weight, its description.
    - `shape`: The input's shape.
    - `index`: The entry of the input with the largest error, or None for a derivative in a random direction.
    - `output`: The number of the function's result that is differentiated, or '' if the result is a single number.
    - `tape`, `quotient`: The derivative by the tape, and by finite differences.
    - `error`: The relative difference, or inf if a derivative is nan or infinite.
    - `note`: The likely cause, or ''.
    """

    order: int
    position: int | None
    name: str
    shape: tuple[int, ...]
    index: tuple[int, ...] | None
    output: str
    tape: Any
    quotient: Any
    error: float
    note: str = ""

    @property
    def label(self) -> str:
        """The input with its shape, such as ``input 0 (x) of shape (3,)``."""
        name = label(self.position, self.name)
        return f"{name} of shape {self.shape}" if self.shape else name

    @property
    def place(self) -> str:
        """The input with its shape, the entry, and the number of the result that is differentiated."""
        entry = f" at {list(self.index)}" if self.index else ""
        random = "in a random direction" if self.index is None else ""
        output = f"of {self.output}" if self.output else ""
        return ", ".join(filter(None, [self.label + entry, random, output]))

    def numbers(self, tolerance: float) -> str:
        """Describe both derivatives and their relative error."""
        floor = ROUNDING_SHARE * max(abs(self.tape), abs(self.quotient))
        return (
            f"the tape says {digits(self.tape, floor)}, "
            f"finite differences {digits(self.quotient, floor)} "
            f"(relative error {self.error:.3g}, tolerance {tolerance:.3g})"
        )


@dataclass(frozen=True, repr=False)
class GradientReport:
    """The result of `check_gradients`.

    - `derivatives`: One check for each order and input; starting with the second order, also for each weight of an
      output.
    - `order`: The highest order to check. If an order fails, higher orders aren't checked.
    - `tolerance`: The largest accepted relative error.
    """

    derivatives: tuple[DerivativeCheck, ...]
    order: int
    tolerance: float

    @property
    def failures(self) -> tuple[DerivativeCheck, ...]:
        """The derivatives that differ from finite differences."""
        return tuple(check for check in self.derivatives if check.error > self.tolerance)

    @property
    def ok(self) -> bool:
        """True if every derivative agrees with finite differences."""
        return not self.failures

    @property
    def errors(self) -> tuple[float, ...]:
        """The largest relative error of each order, starting with the first derivatives."""
        orders = range(1, self.derivatives[-1].order + 1)
        return tuple(
            max(check.error for check in self.derivatives if check.order == order)
            for order in orders
        )

    @property
    def worst(self) -> DerivativeCheck:
        """The derivative with the largest relative error."""
        return max(self.derivatives, key=lambda check: check.error)

    @property
    def max_error(self) -> float:
        """The largest relative error of all derivatives."""
        return self.worst.error

    def raise_for_errors(self) -> None:
        """Raise an error if a derivative differs from finite differences.

        Raises
        ------
        GradientError
            The message has the order, input, entry, values and likely cause of the first difference.
        """
        if self.ok:
            return
        first, *further = self.failures
        note = f": {first.note}" if first.note else ""
        more = (
            f"; and {len(further)} more of {len(self.derivatives)} derivatives" if further else ""
        )
        raise GradientError(
            f"derivative of order {first.order} in {first.place}: "
            f"{first.numbers(self.tolerance)}{note}{more}"
        )

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the report, without errors within the tolerance, which are rounding errors and vary."""
        failed, count = self.failures, len(self.derivatives)
        derivatives = f"{count} derivative{'s' * (count != 1)}"
        if failed:
            differ = "differs" if len(failed) == 1 else "differ"
            summary = f"{len(failed)} of {derivatives} {differ} from finite differences"
        else:
            agree = "agrees" if count == 1 else "agree"
            summary = (
                f"{derivatives} {agree} with finite differences (tolerance {self.tolerance:.3g})"
            )
        yield f"check_gradients: {summary}"
        for check in self.derivatives:
            if check not in failed:
                yield f"  order {check.order} in {check.label}: agrees"
                continue
            yield f"  order {check.order} in {check.place}: DIFFERS"
            yield f"    {check.numbers(self.tolerance)}"
            if check.note:
                yield f"    {check.note}"
        reached = self.derivatives[-1].order
        if reached < self.order:
            yield f"  order {reached + 1} isn't checked, because order {reached} differs"


def label(position: int | None, name: str) -> str:
    """Describe an input by its position and its name, or a weight by its name."""
    if position is None:
        return name
    return f"input {position} ({name})" if name else f"input {position}"


def digits(value: Any, floor: float = 0.0) -> str:
    """Format a number with six significant digits; a number up to `floor` is shown as 0."""
    if isinstance(value, complex):
        imaginary = digits(value.imag, floor)
        sign = "" if imaginary.startswith("-") else "+"
        return f"{digits(value.real, floor)}{sign}{imaginary}j"
    return "0" if abs(value) <= floor < math.inf else f"{value:.6g}"
