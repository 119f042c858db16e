"""Sentences on a loss or a gradient that looks wrong over the steps of a training loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from tapemagic.explain.formatting import format_number

# A loss on mini-batches often rises once or twice in a row by chance.
MIN_RISING_STEPS = 3
"""The least number of steps at the end, all with a growing loss, that are reported."""

# Less than this, and a loss that wobbles around its minimum would be reported.
MIN_RISE_FACTOR = 1.1
"""The least growth of the loss in these steps that is reported, as a factor."""

TOO_LARGE = "try shorter steps, such as a smaller learning rate"
UPHILL = f"right if you maximize it; otherwise {TOO_LARGE}, or check the sign of the step"
"""The reasons for which a loss grows: after it had fallen, and from the first step on."""

# Less than this, and gradients that are only small in the first steps would be reported.
EXPLODING_FACTOR = 1e3
"""A gradient that grows by more than this factor explodes."""

# More than this, and trainings that simply converge would be reported: their gradients fall by a few powers of ten.
VANISHING_FACTOR = 1e-6
"""A gradient that is smaller than its first size, or than the largest gradient, by this factor vanishes."""


def loss_flags(name: str, losses: Sequence[float]) -> Iterator[str]:
    """Describe a loss that is nan or infinite, or that grows at the end.

    It grows if it rises at each of the last `MIN_RISING_STEPS` or more steps, by `MIN_RISE_FACTOR` in all, or
    if it is larger at the last step than at the first by that factor.

    Examples
    --------
    >>> [*loss_flags("loss", [9.0, 4.0, 5.0, 7.0, 10.0])]
    ['loss has been growing since step 2, from 4.0 to 10.0: try shorter steps, such as a smaller learning rate']
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
    # A loss that fell from 1000 to 1 and now rises to 1.5 is fine: the rise is small compared to the fall.
    fallen = max(losses[: start + 1]) - losses[start]
    if last - start >= MIN_RISING_STEPS and _is_much(losses[start], losses[last], fallen):
        ends = f"from {format_number(losses[start])} to {format_number(losses[last])}"
        why = TOO_LARGE if start else UPHILL
        yield f"{name} has been growing since step {start + 1:,}, {ends}: {why}"
    elif _is_much(losses[0], losses[last]):
        ends = f"({format_number(losses[last])}) than at the first ({format_number(losses[0])})"
        yield f"{name} is larger at the last step {ends}: {UPHILL}"


def _is_much(before: float, after: float, fallen: float = 0.0) -> bool:
    """Return True if a loss grew by the factor `MIN_RISE_FACTOR`, and by more than a bit of what it had fallen."""
    growth = after - before
    is_little = growth < (MIN_RISE_FACTOR - 1) * fallen and growth < abs(before)
    return growth > (MIN_RISE_FACTOR - 1) * abs(before) and not is_little


def _later(bad: Sequence[int], count: int) -> str:
    """Describe later steps that are nan or infinite."""
    if len(bad) == 1:
        return ""
    if len(bad) == count - bad[0]:
        return ", and nan or infinite at all later steps"
    later = len(bad) - 1
    return f", and nan or infinite at {later:,} later step{'s' * (later > 1)}"


def _only(
    sizes: Mapping[int, float | None], is_wanted: Callable[[float | None], bool]
) -> Mapping[int, float]:
    """Return the items with wanted sizes: the same mapping if all are, because that of a long loop is large."""
    if all(map(is_wanted, sizes.values())):
        return sizes  # type: ignore[return-value] # None isn't wanted
    return {k: g for k, g in sizes.items() if g is not None and is_wanted(g)}


def _is_nonzero(size: float | None) -> bool:
    return bool(size) and math.isfinite(size)  # type: ignore[arg-type] # None is false


def gradient_flags(symbol: str, gradients: Mapping[int, float | None]) -> Iterator[str]:
    """Describe a gradient that is None, zero, nan or infinite, or that explodes or vanishes.

    It explodes if it is larger than the first nonzero gradient by the factor `EXPLODING_FACTOR`, and vanishes if it is
    smaller than that by the factor `VANISHING_FACTOR` at the last step.

    - `gradients`: Mapping of int to (float or None). The norms, by the steps, which count from 0, at which the gradient
      was taken.

    Examples
    --------
    >>> [*gradient_flags("dy/dw", {0: 0.5, 1: 700.0})]
    ['dy/dw explodes: its size grows from 0.5 at step 1 to 700.0 at step 2']
    """
    sizes = _only(gradients, lambda g: g is not None)
    none = [k for k, g in gradients.items() if g is None]
    if none:
        yield f"{symbol} is None {_when(none, gradients)}"
    bad = [k for k, g in sizes.items() if not math.isfinite(g)]
    if bad:
        yield f"{symbol} holds nan or inf {_when(bad, gradients)}"
    nonzero = _only(sizes, _is_nonzero)
    if sizes and not nonzero and not bad:
        yield f"{symbol} is exactly 0.0 {_when([*sizes], gradients)}"
    if not nonzero:
        return
    first, start = next(iter(nonzero.items()))
    # Dividing g cannot overflow, as multiplying the first gradient could.
    big = next((k for k, g in nonzero.items() if g / EXPLODING_FACTOR > start), None)
    if big is not None:
        words = f"its size grows from {format_number(start)} at step {first + 1:,}"
        yield f"{symbol} explodes: {words} to {format_number(nonzero[big])} at step {big + 1:,}"
    end = max(sizes)
    final = sizes[end]
    if final < VANISHING_FACTOR * start:
        words = f"from {format_number(start)} at step {first + 1:,} to {format_number(final)} at step {end + 1:,}"
        yield f"{symbol} vanishes: its size falls {words}. At a minimum that's right; elsewhere training has stalled"


def _when(steps: Sequence[int], taken: Mapping[int, object]) -> str:
    """The words for some of the steps at which a gradient was taken."""
    if len(steps) == len(taken):
        return "at every step" if len(steps) > 1 else f"at step {steps[0] + 1:,}"
    if len(steps) == 1:
        return f"at step {steps[0] + 1:,}"
    return f"at {len(steps):,} of {len(taken):,} steps, first at step {steps[0] + 1:,}"


def weak_gradients(gradients: Mapping[str, Mapping[int, float | None]]) -> Iterator[str]:
    """Describe nonzero gradients that are below the largest one by the factor `VANISHING_FACTOR` at every step."""

    # Only where a gradient may be weak: a table of all steps of a long loop is large.
    @cache
    def largest(k: int) -> tuple[float, str]:
        # Of equal ones, the first.
        known = ((sizes.get(k) or 0.0, symbol) for symbol, sizes in gradients.items())
        return max(known, key=lambda size: -math.inf if math.isnan(size[0]) else size[0])

    for symbol, sizes in gradients.items():
        nonzero = _only(sizes, _is_nonzero)
        if nonzero and all(g < VANISHING_FACTOR * largest(k)[0] for k, g in nonzero.items()):
            step = next(iter(nonzero))
            words = f"at step {step + 1:,} the first is {format_number(nonzero[step])}"
            top, top_symbol = largest(step)
            yield (
                f"{symbol} is less than a millionth of the largest gradient at every step where it is not 0: "
                f"{words}, {top_symbol} is {format_number(top)}"
            )
