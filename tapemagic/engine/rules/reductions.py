"""Sums, means, variances, extremes, medians and products along axes, and cumulative functions.

Several elements that are the largest or smallest share the gradient equally, as in TensorFlow. The gradient of the
standard deviation of equal values is 0. Gradients of products are exact for elements that are 0.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.laziness import is_lazy, require_computed
from tapemagic.engine.registry import (
    Function,
    Rule,
    chooses,
    composite,
    even_zeros,
    not_differentiable,
    operation,
    spreads,
    vjp,
)
from tapemagic.engine.rules.axes import (
    expand,
    leading_shape,
    negative_axes,
    negative_axis,
    reshaped,
    slice_on_axis,
)
from tapemagic.engine.rules.elementwise import first_order_only
from tapemagic.engine.rules.shaping import as_array, cast, refuse_out, tensor_of
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import wider
from tapemagic.engine.tensor.tensor import as_operand, broadcast, unwrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import ImmutableError, ShapeError


def count(x: Any, axes: tuple[int, ...], where: Any = True) -> Any:
    """Return the number of elements in each reduction, as an array if there is a `where`."""
    if where is True:
        return math.prod(x.shape[axis] for axis in axes)
    return np.sum(np.broadcast_to(where, x.shape), axis=axes, keepdims=True)


def total(x: Any, axes: tuple[int, ...], where: Any = True) -> Any:
    """Sum along axes, which stay with length 1; float16 is summed in float32, which doesn't overflow at 65,504."""
    dtype = np.float32 if x.dtype == np.float16 else None
    return np.sum(x, axis=axes, keepdims=True, where=where, dtype=dtype)


def numbers(x: Any, where: Any) -> Any:
    """Return `where` without the positions of nan."""
    return ~np.isnan(x) & where


# -- sum, mean ------------------------------------------------------------------------------------


def _sum(g, _y, _x, axis=None, keepdims=False, where=True, initial=None):
    """`g` for each element; the record keeps `initial` because it is a parameter of this rule."""
    if not g.ndim and where is True:
        return broadcast(g, _x.shape)
    shape = leading_shape(g, _y) + _x.shape
    g = expand(g, negative_axes(axis, _x.ndim), keepdims)
    return broadcast(g if where is True else np.where(where, g, 0), shape)


def _mean(g, _y, _x, axis=None, keepdims=False, where=True):
    """`g` divided by the number of elements."""
    if not g.ndim and where is True:
        size = _x.size or 1
        return broadcast(g / size if size < HALF_LIMIT else _share(g, size), _x.shape)
    shape = leading_shape(g, _y) + _x.shape
    axes = negative_axes(axis, _x.ndim)
    g = expand(g, axes, keepdims) / np.maximum(count(_x, axes, where), 1)
    return broadcast(g if where is True else np.where(where, g, 0), shape)


def mean_of(x: Any, **params: Any) -> Any:
    """``np.mean`` of an array, with fewer checks than NumPy for all elements, but with the same result."""
    # Half precision and integers need NumPy's intermediate dtypes, and an empty array its warning.
    if params or x.dtype.char not in "fd" or not x.size:
        return np.mean(x, **params)
    return np.add.reduce(x, axis=None) / x.size


HALF_LIMIT = 65_504
"""The largest number of float16."""


def _share(g: Any, n: int) -> Any:
    """Return g / n in the dtype of g, also if n can't be represented in this dtype."""
    if g.dtype != np.float16:
        return g / n
    return (g / np.float32(n)).astype(np.float16)


def _nansum(g, _y, x, axis=None, keepdims=False, where=True, initial=None):
    return _sum(g, _y, x, axis, keepdims, numbers(x, where))


def _nanmean(g, _y, x, axis=None, keepdims=False, where=True):
    return _mean(g, _y, x, axis, keepdims, numbers(x, where))


vjp(np.sum, _sum)
vjp(np.mean, _mean)
operation(np.mean).on_arrays = mean_of
vjp(np.nansum, _nansum)
vjp(np.nanmean, _nanmean)

spreads(np.sum, np.nansum)
chooses(np.nansum, np.nanmean)
even_zeros(np.sum, np.mean, uses_all=True)


# -- average --------------------------------------------------------------------------------------


def average_(a: Any, weights: Any, axis: Any, keepdims: Any) -> Any:
    """``np.average`` with weights that broadcast with `a`."""
    each = np.broadcast_to(weights, np.shape(a))
    return np.average(a, axis=axis, weights=each, keepdims=keepdims)


def _average_a(g, _y, _a, weights, axis, keepdims):
    """The weight of the element divided by the sum of the weights."""
    axes = negative_axes(axis, _a.ndim)
    return expand(g, axes, keepdims) * (weights / total(weights, axes))


def _average_weights(g, y, a, weights, axis, keepdims):
    """(element - average) / sum of the weights: more weight moves the average towards the element."""
    axes = negative_axes(axis, a.ndim)
    weight = total(weights, axes)
    off = a - expand(y, axes, keepdims)
    # Centered again, like the deviations of a variance.
    off = off - total(weights * off, axes) / weight
    return expand(g, axes, keepdims) * (off / weight)


vjp(average_, _average_a, _average_weights)
even_zeros(average_)


@composite(np.average)
def _average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    a = as_array(a)
    axis = None if axis is None else normalize_axis_tuple(axis, a.ndim)
    if weights is None:
        average = np.mean(a, axis=axis, keepdims=keepdims)
    else:
        weights = aligned(as_array(weights), a.shape, axis)
        average = apply(operation(average_), (a, weights), {"axis": axis, "keepdims": keepdims})
    if not returned:
        return average
    if weights is None:
        weight = constant(count(a, negative_axes(axis, a.ndim)), average.dtype)
    else:
        weight = tensor_of(np.sum(weights, axis=axis, dtype=average.dtype, keepdims=keepdims))
    return average, np.broadcast_to(weight, average.shape)


def aligned(weights: Any, shape: tuple[int, ...], axis: tuple[int, ...] | None) -> Any:
    """Add axes of length 1 to weights for some of the axes."""
    if weights.shape == shape:
        return weights
    axes = tuple(each - len(shape) for each in axis or ())
    if not axes or weights.shape != tuple(shape[each] for each in axes):
        raise ShapeError(
            f"average of shape {shape} over axis={axis} with weights of shape {weights.shape}: "
            "pass one weight for each element, or for each position on the given axis"
        )
    if len(axes) > 1:
        weights = np.transpose(weights, tuple(int(i) for i in np.argsort(axes)))
    return weights.reshape(tuple(n if i - len(shape) in axes else 1 for i, n in enumerate(shape)))


# -- variance -------------------------------------------------------------------------------------


def deviations(x: Any, mean: Any, axes: tuple[int, ...], where: Any) -> Any:
    """Return the elements, conjugated, minus the given mean or their own mean, or 0 where `where` is false."""
    if mean is None:
        n = np.maximum(count(x, axes, where), 1)
        off = x - total(x, axes, where) / n
        # The rounding error of the mean is in all deviations. For values that differ only in their last digits, it is
        # as large as the deviations themselves: centering them again removes it, so that their sum is 0.
        error = total(off, axes, where) / n
        if off.__class__ is np.ndarray and off.dtype == error.dtype:
            off -= error  # a new array of the size of x would take longer than the subtraction
        else:
            off = off - error
    else:
        off = x - mean
    if x.dtype.kind == "c":
        off = np.conj(off)
    return off if where is True else np.where(where, off, 0)


def freedom(x: Any, axes: tuple[int, ...], where: Any, ddof: Any) -> Any:
    """Return the degrees of freedom, or nan if there are no degrees of freedom, where NumPy warns."""
    n = count(x, axes, where)
    return np.where(n > ddof, n - ddof, np.nan)


def _var(g, _y, x, mean, axis=None, keepdims=False, where=True, ddof=0, correction=None):
    """Twice the deviation from the mean, divided by the degrees of freedom."""
    axes = negative_axes(axis, x.ndim)
    n = freedom(x, axes, where, ddof if correction is None else correction)
    # The small factors are multiplied first: one product of the size of x, instead of three.
    return expand(g, axes, keepdims) * (2 / n) * deviations(x, mean, axes, where)


def out_of_range(y: Any) -> bool:
    """Return True if squares under a root may have overflowed or underflowed."""
    y = unwrap(y)
    if is_lazy(y):  # not known yet
        return True
    # For a norm between these roots, its square is neither 0, nor subnormal, nor infinite.
    low, high = _roots(y.dtype)
    if y.size == 1 and tracer() is None:
        return not low <= y.item() <= high
    return not np.all((low <= y) & (y <= high))


@cache
def _roots(dtype: Any) -> tuple[float, float]:
    """Return the square roots of the smallest and the largest number of a dtype."""
    limits = np.finfo(dtype)
    return math.sqrt(limits.tiny), math.sqrt(limits.max)


def unit_of(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the largest absolute value along axes, which stay with length 1, or 1 if that is 0 or infinite."""
    unit = np.max(np.abs(unwrap(x)), axis=axes, keepdims=True, initial=0)
    return np.where((unit > 0) & (unit < np.inf), unit, 1).astype(unit.dtype)


def _std(g, y, x, mean, axis=None, keepdims=False, where=True, ddof=0, correction=None):
    """The deviation from the mean, divided by the standard deviation and the degrees of freedom."""
    axes = negative_axes(axis, x.ndim)
    n = freedom(x, axes, where, ddof if correction is None else correction)
    y = expand(y, axes, keepdims)
    off = deviations(x, mean, axes, where)
    # A single value is its own mean, so its 0 is the derivative in every order.
    single = mean is None and count(x, axes, where) == 1
    # Multiples have the same gradient, so it is computed for deviations of at most 1.
    if single is not True and out_of_range(y):
        off = off / unit_of(off, axes)
        spread = off if single is False else np.where(single, 1, off)
        y = np.linalg.vector_norm(spread, axis=axes, keepdims=True) / np.sqrt(n)
    flat = (
        y == 0
    )  # equal values have the subgradient 0, also if rounding makes y slightly positive (see below)
    if mean is None:
        extremes = {"axis": axes, "keepdims": True, "where": where}
        top, bottom = np.max(x, initial=-np.inf, **extremes), np.min(x, initial=np.inf, **extremes)
        flat = flat | (top == bottom)
    share = np.where(flat, 0, off) / (n * np.where(flat, 1, y))
    dx = expand(g, axes, keepdims) * share
    if single is True:
        return dx
    return first_order_only(dx, y, lambda _y: flat if single is False else flat & ~single)


def _define_spread(function: Function, rule: Rule, gaps: bool) -> None:
    """Give `rule` to ``np.var`` or a similar function; with `gaps`, nan is ignored."""

    def compute(a: Any, mean: Any, **options: Any) -> Any:
        return function(a, **options) if mean is None else function(a, mean=mean, **options)

    def in_values(g, y, x, mean, axis=None, keepdims=False, where=True, ddof=0, correction=None):
        where = numbers(x, where) if gaps else where
        return rule(g, y, x, mean, axis, keepdims, where, ddof, correction)

    def in_mean(g, y, x, mean, axis=None, keepdims=False, where=True, ddof=0, correction=None):
        return -in_values(g, y, x, mean, axis, keepdims, where, ddof, correction)

    vjp(compute, in_values, in_mean, name=function.__name__)
    even_zeros(compute)

    @composite(function)
    def spread(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        mean: Any = None,
        **options: Any,
    ) -> Any:
        refuse_out(out)
        options |= {"axis": axis, "dtype": dtype, "ddof": ddof, "keepdims": keepdims}
        return apply(operation(compute), (as_operand(a), as_operand(mean)), options)


_define_spread(np.var, _var, gaps=False)
_define_spread(np.std, _std, gaps=False)
_define_spread(np.nanvar, _var, gaps=True)
_define_spread(np.nanstd, _std, gaps=True)


# -- max, min, median -----------------------------------------------------------------------------


def _extreme(g, y, x, axis=None, keepdims=False, where=True, initial=None):
    """Tied extremes share equally. nan is the result in NumPy, so it gets the gradient."""
    axes = negative_axes(axis, x.ndim)
    # `y` is one of the elements, so the comparison is exact.
    hit = ((x == expand(y, axes, keepdims)) | np.isnan(x)) & where
    share = hit / np.maximum(np.sum(hit, axis=axes, keepdims=True), 1)
    return expand(g, axes, keepdims) * share


def _nanextreme(g, y, x, axis=None, keepdims=False, where=True, initial=None):
    return _extreme(g, y, x, axis, keepdims, numbers(x, where))


def _ptp(g, _y, x, axis=None, keepdims=False):
    """The gradient of the largest element minus the gradient of the smallest."""
    top = _extreme(g, np.max(x, axis=axis, keepdims=keepdims), x, axis, keepdims)
    return top - _extreme(g, np.min(x, axis=axis, keepdims=keepdims), x, axis, keepdims)


def ranks(x: Any, axes: tuple[int, ...]) -> Any:
    """Return the position of each element in the stable order along all `axes` together; nan is last."""
    last = tuple(range(-len(axes), 0))
    moved = np.moveaxis(x, axes, last)
    flat = moved.reshape((*moved.shape[: x.ndim - len(axes)], count(x, axes)))
    places = np.argsort(np.argsort(flat, axis=-1, kind="stable"), axis=-1)
    return np.moveaxis(places.reshape(moved.shape), last, axes)


def _median(g, _y, x, axis=None, keepdims=False):
    """The middle element of the stable order gets all, or two middle elements half each; nan if there is a nan."""
    axes = negative_axes(axis, x.ndim)
    shares, missing = middle(x, axes, count(x, axes)), np.isnan(x)
    if tracer() is not None or is_lazy(unwrap(missing)) or missing.any():
        shares = np.where(np.any(missing, axis=axes, keepdims=True), np.nan, shares)
    return expand(g, axes, keepdims) * shares


def _nanmedian(g, _y, x, axis=None, keepdims=False):
    axes = negative_axes(axis, x.ndim)
    there = numbers(x, True)
    return expand(g, axes, keepdims) * (there * middle(x, axes, count(x, axes, there)))


def middle(x: Any, axes: tuple[int, ...], n: Any) -> Any:
    """Return the share of each element in the median of the first `n` elements."""
    rank = ranks(x, axes)
    return (rank == (n - 1) // 2) / 2 + (rank == n // 2) / 2


vjp(np.max, _extreme)
vjp(np.min, _extreme)
vjp(np.amax, _extreme, name="max")
vjp(np.amin, _extreme, name="min")
vjp(np.nanmax, _nanextreme)
vjp(np.nanmin, _nanextreme)
vjp(np.ptp, _ptp)
chooses(np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin, np.ptp)


def _medians(function: Function, rule: Rule) -> None:
    """Give the `rule` to ``np.median`` or ``np.nanmedian``."""

    def compute(a: Any, **options: Any) -> Any:
        return function(a, **options)

    vjp(compute, rule, name=function.__name__)
    chooses(compute)

    @composite(function)
    def median(
        a: Any,
        axis: Any = None,
        out: None = None,
        overwrite_input: bool = False,
        keepdims: Any = False,
    ) -> Any:
        refuse_out(out)
        refuse_overwriting(overwrite_input)
        return apply(operation(compute), (as_operand(a),), {"axis": axis, "keepdims": keepdims})


def refuse_overwriting(overwrite_input: bool) -> None:
    """Raise an error if the function may overwrite its input."""
    if overwrite_input:
        raise ImmutableError(
            "overwrite_input=True would write into a tensor, which is immutable: omit it"
        )


_medians(np.median, _median)
_medians(np.nanmedian, _nanmedian)


# -- products and running totals ------------------------------------------------------------------


def before(x: Any, y: Any, axis: int) -> Any:
    """Return 1, followed by all except the last of the cumulative products `y` of `x`."""
    one = np.ones_like(x[slice_on_axis(axis, 0, 1)])
    return np.concatenate([one, y[slice_on_axis(axis, None, -1)]], axis=axis)


def products_of_others(x: Any, axis: int) -> Any:
    """Return, for each element, the product of the other elements on an axis, exact if some are 0.

    Dividing the product by the element would fail for 0, so the products before and after each element are
    multiplied.
    """
    from_end = np.flip(x, axis)
    from_end = np.flip(before(from_end, np.cumprod(from_end, axis=axis), axis), axis)
    return before(x, np.cumprod(x, axis=axis), axis) * from_end


def _prod(g, _y, x, axis=None, keepdims=False, where=True, initial=1):
    """The product of all other elements."""
    axes = negative_axes(axis, x.ndim)
    factors = x if where is True else np.where(where, x, 1)
    dy = expand(g, axes, keepdims) * initial
    for each in axes:
        dy = dy * products_of_others(factors, each)
        factors = np.prod(factors, axis=each, keepdims=True)
    return dy if where is True else np.where(where, dy, 0)


def _nanprod(g, _y, x, axis=None, keepdims=False, where=True, initial=1):
    return _prod(g, _y, x, axis, keepdims, numbers(x, where), initial)


def _cumsum(g, _y, _x, axis=None):
    """The sum of `g` from each element to the end."""
    axis = -1 if axis is None else negative_axis(axis, _y.ndim)
    dx = np.flip(np.cumsum(np.flip(g, axis), axis=axis, dtype=wider(g.dtype)), axis)
    return reshaped(cast(dx, g.dtype), leading_shape(g, _y) + _x.shape)


def _cumprod(g, y, x, axis=None):
    """The product of the elements before, times the weighted sum of the products of the elements after."""
    axis = -1 if axis is None else negative_axis(axis, y.ndim)
    flat = reshaped(x, y.shape)
    return reshaped(before(flat, y, axis) * horner(g, flat, axis), leading_shape(g, y) + x.shape)


def horner(g: Any, x: Any, axis: int) -> Any:
    """Return b with ``b[i] = g[i] + x[i + 1] * b[i + 1]``, without division and without a Python loop over elements.

    Doubling steps: after k steps, each entry has the sum of 2**k terms, so log2(n) steps are enough.
    """
    require_computed(x, "the gradient of np.cumprod")  # slicing in steps would fragment lazy chunks
    factors = x[slice_on_axis(axis, 1, None)]
    step = 1
    while step < x.shape[axis]:
        near, far = slice_on_axis(axis, None, -step), slice_on_axis(axis, step, None)
        g = np.concatenate(
            [g[near] + factors * g[far], g[slice_on_axis(axis, -step, None)]], axis=axis
        )
        factors = factors[near] * factors[far]
        step *= 2
    return g


vjp(np.prod, _prod)
vjp(np.nanprod, _nanprod)
vjp(np.cumsum, _cumsum)
vjp(np.cumprod, _cumprod)
even_zeros(np.prod, np.nanprod, np.cumprod)


@composite(np.nancumsum)
def _nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    refuse_out(out)
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype)


@composite(np.nancumprod)
def _nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    refuse_out(out)
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype)


def _cumulative(function: Function, running: Function, identity: int) -> None:
    """Define ``np.cumulative_sum`` or ``np.cumulative_prod``, which may start with the `identity`."""

    @composite(function)
    def cumulative(
        x: Any,
        /,
        *,
        axis: int | None = None,
        dtype: Any = None,
        out: None = None,
        include_initial: bool = False,
    ) -> Any:
        x = np.atleast_1d(as_operand(x))
        if axis is None and x.ndim > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = negative_axis(axis or 0, x.ndim)
        y = running(x, axis=axis, dtype=dtype)
        if not include_initial:
            return y
        shape = [1 if k == axis else n for k, n in enumerate(x.shape, start=-x.ndim)]
        return np.concatenate([np.full(shape, identity, y.dtype), y], axis=axis)


if hasattr(np, "cumulative_sum"):  # from NumPy 2.1 on
    _cumulative(np.cumulative_sum, np.cumsum, identity=0)
    _cumulative(np.cumulative_prod, np.cumprod, identity=1)


not_differentiable(
    np.all, np.any, np.argmax, np.argmin, np.count_nonzero, np.nanargmax, np.nanargmin
)
