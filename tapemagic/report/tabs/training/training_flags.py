"""Sentences on a loss or a gradient that looks wrong over the steps of a training loop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from tapemagic.explain.formatting import format_number

RISE = 3
"""The number of steps at the end in each of which a loss has to grow to be said to grow."""

MUCH = 1.1
"""The factor by which it has to grow in these."""

TOO_LARGE = "Try a smaller learning rate"
UPHILL = f"If you want a small loss: {TOO_LARGE[0].lower()}{TOO_LARGE[1:]}, and check the sign of the step"
"""The reasons for which a loss grows: after it had fallen, and from the first step on."""

EXPLODES = 1e3
"""The factor above its first size from which on a gradient is said to explode."""

VANISHES = 1e-6
"""The factor below its first size, or below the largest gradient, from which on a gradient is said to vanish."""


def loss_flags(name: str, losses: Sequence[float]) -> Iterator[str]:
    """Sentences on a loss that is not finite, or that grows at the end.

    It grows if each of the last `RISE` steps or more makes it larger, by the factor `MUCH` in all; or if it is larger
    at the last step than at the first by that factor.

    Examples
    --------
    >>> [*loss_flags("loss", [9.0, 4.0, 5.0, 7.0, 10.0])]
    ['loss has been growing since step 2, from 4.0 to 10.0. Try a smaller learning rate']
    >>> [*loss_flags("loss", [1.0, 0.5, float("inf")])]
    ['loss is inf at step 3']
    """
    bad = [k for k, loss in enumerate(losses) if not math.isfinite(loss)]
    if bad:
        yield f"{name} is {format_number(losses[bad[0]])} at step {bad[0] + 1:,}{_later(bad, len(losses))}"
        return
    start = last = len(losses) - 1
    while start and losses[start - 1] < losses[start]:
        start -= 1
    fallen = max(losses[: start + 1]) - losses[start]
    if last - start >= RISE and _is_much(losses[start], losses[last], fallen):
        ends = f"from {format_number(losses[start])} to {format_number(losses[last])}"
        why = TOO_LARGE if start else UPHILL
        yield f"{name} has been growing since step {start + 1:,}, {ends}. {why}"
    elif _is_much(losses[0], losses[last]):
        ends = f"{format_number(losses[last])}, than at the first, {format_number(losses[0])}"
        yield f"{name} is larger at the last step, {ends}. {UPHILL}"


def _is_much(before: float, after: float, fallen: float = 0.0) -> bool:
    """Whether a loss grew by the factor `MUCH`, and not just by a small part of what it had fallen before."""
    growth = after - before
    is_little = growth < (MUCH - 1) * fallen and growth < abs(before)
    return growth > (MUCH - 1) * abs(before) and not is_little


def _later(bad: Sequence[int], count: int) -> str:
    """The words on later steps that are not finite; empty if there are none."""
    if len(bad) == 1:
        return ""
    if len(bad) == count - bad[0]:
        return ", and nan or infinite afterwards"
    later = len(bad) - 1
    return f", and nan or infinite at {later:,} later step{'s' * (later > 1)}"


def gradient_flags(symbol: str, gradients: Mapping[int, float | None]) -> Iterator[str]:
    """Sentences on a gradient that is None, zero or not finite, that explodes or vanishes.

    It explodes if it is larger than the first that is not zero by the factor `EXPLODES`, and vanishes if it is smaller
    than that by the factor `VANISHES` at the last step.

    Parameters
    ----------
    symbol : str
    gradients : mapping of int to (float or None)
        The norms, by the steps, which count from 0, at which the gradient was taken.

    Examples
    --------
    >>> [*gradient_flags("dy/dw", {0: 0.5, 1: 700.0})]
    ['dy/dw explodes: its size grows from 0.5 at step 1 to 700.0 at step 2']
    """
    sizes = {k: g for k, g in gradients.items() if g is not None}
    none = [k for k, g in gradients.items() if g is None]
    if none:
        yield f"{symbol} is None {_when(none, gradients)}"
    bad = [k for k, g in sizes.items() if not math.isfinite(g)]
    if bad:
        yield f"{symbol} holds nan or inf {_when(bad, gradients)}"
    nonzero = {k: g for k, g in sizes.items() if g and math.isfinite(g)}
    if sizes and not nonzero and not bad:
        yield f"{symbol} is exactly 0.0 {_when([*sizes], gradients)}"
    if not nonzero:
        return
    first, start = next(iter(nonzero.items()))
    big = next((k for k, g in nonzero.items() if g / EXPLODES > start), None)
    if big is not None:
        words = f"its size grows from {format_number(start)} at step {first + 1:,}"
        yield f"{symbol} explodes: {words} to {format_number(nonzero[big])} at step {big + 1:,}"
    *_, (end, final) = sizes.items()
    if final < VANISHES * start:
        words = f"from {format_number(start)} at step {first + 1:,} to {format_number(final)} at step {end + 1:,}"
        yield f"{symbol} vanishes: its size falls {words}. That's right at a minimum; elsewhere, training has stopped"


def _when(steps: Sequence[int], asked: Mapping[int, object]) -> str:
    """The words for some of the steps at which a gradient was taken."""
    if len(steps) == len(asked):
        return "at every step" if len(steps) > 1 else f"at step {steps[0] + 1:,}"
    if len(steps) == 1:
        return f"at step {steps[0] + 1:,}"
    return f"at {len(steps):,} of {len(asked):,} steps, first at step {steps[0] + 1:,}"


def weak_gradients(gradients: Mapping[str, Mapping[int, float | None]]) -> Iterator[str]:
    """Sentences on gradients that are below the largest, but not zero, by the factor `VANISHES` at every step."""
    largest: dict[int, tuple[float, str]] = {}
    for symbol, sizes in gradients.items():
        for k, g in sizes.items():
            if g is not None and g > largest.get(k, (0.0, ""))[0]:
                largest[k] = g, symbol
    for symbol, sizes in gradients.items():
        known = {k: g for k, g in sizes.items() if g and math.isfinite(g)}
        if known and all(g < VANISHES * largest[k][0] for k, g in known.items()):
            step = next(iter(known))
            words = f"at step {step + 1:,} the first is {format_number(known[step])}"
            top, other = largest[step]
            yield (
                f"{symbol} is less than a millionth of the largest gradient at every step where it is not 0: "
                f"{words}, {other} is {format_number(top)}"
            )
