"""The change of the loss by one more step of training, to first order: gradients times changes, added up."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.recording import Absent, outputs_of
from tapemagic.engine.tensor.tensor import id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import format_number, printable
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.report.derivatives import Key
from tapemagic.report.subject import Subject

RATE = 0.01
"""The rate of the step that is imagined where the program took none, unless that is too long."""
MAX_SHARE = 0.1
"""The largest part of the loss by which an imagined step changes it: a longer one says little of the loss itself."""
SAME_RATE = 1e-6
"""The relative difference up to which a change counts as a multiple of the gradient; 1e-3 in lower precision."""
MAX_NAMED = 3
"""Maximum number of Variables that the sentence names."""


MUCH = 1.1
"""The share of the loss above which an estimate is doubted: a step of Newton's method takes all of it, and no more."""


class _Slope(NamedTuple):
    """A Variable with the gradient of the loss."""

    name: str
    variable: Variable
    gradient: Any


def next_step(subject: Subject, incomplete: Collection[Key]) -> str:
    """Say how one more step would change the loss, to first order, or return '' if nothing is known of it.

    The step is the one that the program took after it had computed the loss, or else the last one before. So it holds
    for any optimizer. If the program took no step, it is one of gradient descent.

    - `incomplete`: The gradients that lack a part.
    """
    for t, (name, target) in enumerate(subject.targets):
        slopes = [
            _Slope(x_name, x, unwrap(gradient))
            for s, (x_name, x) in enumerate(subject.sources)
            if isinstance(x, Variable)
            and (gradient := subject.derivatives.gradients.get((t, s, 1))) is not None
        ]
        numbers = [unwrap(target), *(slope.gradient for slope in slopes)]
        is_whole = not any((t, s, 1) in incomplete for s in range(len(subject.sources)))
        if slopes and target.size == 1 and is_whole and all(map(_is_real_and_finite, numbers)):
            return _sentence(subject, name, target, slopes)
    return ""


def _is_real_and_finite(value: Any) -> bool:
    return has_numbers(value) and value.dtype.kind == "f" and bool(np.isfinite(value).all())


def _sentence(subject: Subject, name: str, target: Any, slopes: list[_Slope]) -> str:
    """Describe the step after a loss, the last step before it, or one of gradient descent."""
    variables = {id_of(slope.variable) for slope in slopes}
    read, before = _values(subject, id_of(target), variables)
    # Where the loss depends on several values of a Variable, its gradient is not one at a single value.
    if any(len(read.get(i, ())) != 1 for i in variables):
        return ""
    pairs = [(slope, read[id_of(slope.variable)][0]) for slope in slopes]
    after = [unwrap(slope.variable) - value for slope, value in pairs]
    earlier = [value - before.get(id_of(slope.variable), value) for slope, value in pairs]
    loss = f"{name} = {format_number(float(unwrap(target)))}"
    if any(map(np.any, after)):
        # A gradient of another loss afterwards belongs to another step.
        goal = id_of(target)
        calls = [step for step in subject.training_calls if step.time > goal]
        if not calls or any(goal not in step.targets for step in calls):
            return ""
        start, changes = f"{loss} was computed before the last step, which", after
        verbs = ("lowers it", "raises it")
    elif any(map(np.any, earlier)) and subject.training_calls:
        start, changes = "One more step like the last", earlier
        verbs = (f"would lower {loss}", f"would raise {loss}")
    else:
        trained = [slope for slope in slopes if slope.variable.trainable]
        if not trained:
            return ""
        rate = _rate(trained, float(unwrap(target)))
        changes = [-rate * slope.gradient * slope.variable.trainable for slope in slopes]
        names = [slope.name for slope in trained]
        if len(names) == 1 and names[0].isidentifier():
            start = f"With {names[0]}.assign_sub({rate:g} * gradient),"
        else:
            start = f"With a step of -{rate:g} · gradient in {_listed(names)},"
        verbs = (f"{loss} would fall", f"{loss} would rise")
    with np.errstate(all="ignore"):
        products = [
            np.sum(s.gradient * c, dtype=np.float64) for s, c in zip(slopes, changes, strict=True)
        ]
    change = float(sum(products)) if changes else 0.0
    if not change or not np.isfinite(change):
        return ""
    # A loss is seldom negative: where the estimate makes it negative, it is probably far from linear.
    if -change > MUCH * abs(float(unwrap(target))):
        words = f"{start} is too long for an estimate from the slope, which gives {abs(change):.3g}"
        return printable(f"{words}, more than {name} itself.")
    # The last step was a multiple of the gradient before it, and not of this one.
    how = _added_up(slopes, changes) if changes is earlier else _how(slopes, changes, change)
    return printable(f"{start} {verbs[change > 0]} by about {abs(change):.3g} ({how}).")


def _rate(slopes: list[_Slope], loss: float) -> float:
    """Return `RATE`, or the power of ten below it that is small enough for the loss to be nearly linear."""
    squares = float(sum(np.sum(s.gradient**2, dtype=np.float64) for s in slopes))
    if not loss or not 0 < squares < np.inf or RATE * squares <= MAX_SHARE * abs(loss):
        return RATE
    return float(10.0 ** np.floor(np.log10(MAX_SHARE * abs(loss) / squares)))


def _how(slopes: list[_Slope], changes: list[Any], change: float) -> str:
    """Describe where the number comes from: for gradient descent, the rate times the squared gradient."""
    if sum(slope.gradient.size for slope in slopes) == 1:
        # Every change of a single number is a multiple of its gradient, by any optimizer.
        factors = (
            f"({x:.3g})" if x < 0 else f"{x:.3g}"
            for x in (slopes[0].gradient.item(), changes[0].item())
        )
        return f"≈ gradient · change = {' · '.join(factors)} = {change:.3g}"
    squares = float(sum(np.sum(s.gradient**2, dtype=np.float64) for s in slopes))
    rate = -change / squares
    for slope, moved in zip(slopes, changes, strict=True):
        tolerance = SAME_RATE if slope.gradient.dtype == np.float64 else 1e-3
        # Rounding the Variable itself adds to the difference, so it is measured by the largest change.
        scale = tolerance * max(float(np.max(np.abs(c), initial=0.0)) for c in changes)
        if not np.allclose(moved, -rate * slope.gradient, rtol=tolerance, atol=scale):
            return _added_up(slopes, changes)
    # A rate that nobody would write, such as that of a step with momentum, would look like an error.
    is_exact = all(slope.gradient.dtype == np.float64 for slope in slopes)
    if is_exact and not math.isclose(rate, float(f"{rate:.3g}"), rel_tol=SAME_RATE):
        return _added_up(slopes, changes)
    # The sentence says whether the step raises or lowers the loss, so the rate of an ascent has no sign here.
    return f"≈ rate · |gradient|² = {abs(rate):.3g} · {squares:.3g}"


def _added_up(slopes: list[_Slope], changes: list[Any]) -> str:
    names = [slope.name for slope, moved in zip(slopes, changes, strict=True) if np.any(moved)]
    return f"gradient times change, added up over {_listed(names)}"


def _listed(names: list[str]) -> str:
    rest = len(names) - MAX_NAMED
    return listed([*names[:MAX_NAMED], f"{rest} more"] if rest > 0 else names)


def _values(
    subject: Subject, goal: int, variables: Collection[int]
) -> tuple[Mapping[int, list[Any]], Mapping[int, Any]]:
    """Return up to two values of each Variable that the loss was computed from, and those that they had before."""
    needed, before = {goal}, dict[int, Any]()
    read: dict[int, list[Any]] = {i: [] for i in variables}
    numbers = set(variables)
    for plain in reversed(subject.whole.records[: subject.operations]):
        ids = plain[2]
        leads = not needed.isdisjoint(outputs_of(plain))
        if leads:
            needed.update(ids)
        if numbers.isdisjoint(ids):
            continue
        for value, i in zip(plain[1], ids, strict=True):
            if i not in read or isinstance(value, Absent):
                continue
            # By identity: an assignment always binds a new array. Of several values, two say all that is asked.
            if leads:
                if len(read[i]) < 2 and not any(value is x for x in read[i]):
                    read[i].append(value)
            elif read[i] and i not in before and not np.array_equal(value, read[i][0]):
                before[i] = value
    return read, before
