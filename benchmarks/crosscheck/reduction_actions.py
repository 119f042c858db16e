"""Actions that make one number of many, or run along an axis."""

from __future__ import annotations

import numpy as np

from benchmarks.crosscheck.actions import action, options
from benchmarks.crosscheck.drafts import Draft, Impossible


@action("sum", "mean", weight=3.0, anywhere=True)
def total(d: Draft) -> int:
    """A sum or mean."""
    i = d.pick(lambda v: v.ndim > 0)
    return d.emit(d.one(("sum", "mean")), i, **options(d, i))


@action("prod", weight=0.7, anywhere=True)
def product(d: Draft) -> int:
    """A product of moderate factors, some of them negative."""
    i = d.confine(d.real(least=1), -1.4, 1.4)
    return d.emit("prod", i, **options(d, i))


@action("max", "min", weight=1.0)
def extreme(d: Draft) -> int:
    """The largest or smallest, where no two are equal."""
    i = d.real(least=1)
    chosen = options(d, i)
    d.distinct(i, chosen["axis"])
    return d.emit(d.one(("max", "min")), i, **chosen)


@action("median", weight=0.3)
def median(d: Draft) -> int:
    """The middle one, where no two are equal."""
    i = d.real(least=1)
    chosen = options(d, i, single=True)
    d.distinct(i, chosen["axis"])
    return d.emit("median", i, **chosen)


@action("quantile", weight=0.3)
def quantile(d: Draft) -> int:
    """Between two neighbours in order."""
    i = d.real(least=1)
    chosen = options(d, i, single=True)
    d.distinct(i, chosen["axis"])
    return d.emit("quantile", i, q=d.one((0.1, 0.37, 0.8)), **chosen)


@action("ptp", weight=0.2)
def spread(d: Draft) -> int:
    """From the smallest to the largest."""
    i = d.real(least=1)
    axis = options(d, i, single=True)["axis"]
    d.distinct(i, axis)
    return d.emit("ptp", i, axis=axis)


@action("average", weight=0.5)
def average(d: Draft) -> int:
    """With weights that are positive."""
    i = d.pick(lambda v: v.ndim > 0)
    shape = d.values[i].shape
    weights = d.confine(d.pick(lambda v: v.shape == shape and v.dtype.kind == "f"), 0.3, 2.0)
    return d.emit("average", i, weights, axis=d.one((None, d.axis(i))))


@action("var", "std", weight=1.0)
def variance(d: Draft) -> int:
    """Of numbers that are not all alike."""
    i = d.real(least=1)
    chosen = options(d, i) | {"ddof": d.one((0, 1))}
    if np.min(np.var(d.values[i], axis=chosen["axis"])) < 0.02:
        raise Impossible
    return d.emit(d.one(("var", "std")), i, **chosen)


@action("exp", "log", "max", "sum", weight=0.7)
def logsumexp(d: Draft) -> int:
    """The logarithm of a sum of exponentials, with the largest one taken out."""
    i = d.real(least=1)
    axis = d.axis(i)
    d.distinct(i, axis)
    top = d.emit("max", i, axis=axis, keepdims=True)
    powers = d.emit("exp", d.emit("-", i, top))
    return d.emit("+", top, d.emit("log", d.emit("sum", powers, axis=axis, keepdims=True)))


@action("exp", "sum", weight=1.0, anywhere=True)
def softmax(d: Draft) -> int:
    """Exponentials as shares of their sum."""
    i = d.confine(d.real(least=1), -3.0, 3.0)
    powers = d.emit("exp", i)
    return d.emit("/", powers, d.emit("sum", powers, axis=d.axis(i), keepdims=True))


@action("mean", "sqrt", weight=1.0, anywhere=True)
def standardised(d: Draft) -> int:
    """Less the mean, over the root of the mean square."""
    i = d.real(least=1)
    axis = d.axis(i)
    centred = d.emit("-", i, d.emit("mean", i, axis=axis, keepdims=True))
    square = d.emit("mean", d.emit("square", centred), axis=axis, keepdims=True)
    return d.emit("/", centred, d.emit("sqrt", d.emit("plus", square, by=0.3)))


@action("cumsum", "cumprod", weight=1.0, anywhere=True)
def running(d: Draft) -> int:
    """Running sums and products."""
    if d.chance(0.5):
        i = d.pick(lambda v: v.ndim > 0)
        return d.emit("cumsum", i, axis=d.axis(i))
    i = d.confine(d.real(least=1), -1.5, 1.5)
    return d.emit("cumprod", i, axis=d.axis(i))


@action("diff", "gradient", "trapezoid", weight=0.7)
def differences(d: Draft) -> int:
    """Differences of neighbours, and areas under them."""
    i = d.real(least=1)
    axis = d.axis(i)
    name = d.one(("diff", "gradient", "trapezoid"))
    if d.values[i].shape[axis] < 3:
        raise Impossible
    params = {"diff": {"n": d.one((1, 2))}, "gradient": {}, "trapezoid": {"dx": 0.5}}[name]
    return d.emit(name, i, **params, axis=axis)


@action("sort", weight=0.7)
def ordered(d: Draft) -> int:
    """In order, where no two are equal."""
    i = d.real(least=1)
    axis = d.axis(i)
    d.distinct(i, axis)
    return d.emit("sort", i, axis=axis)
