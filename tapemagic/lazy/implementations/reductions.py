"""Reductions: NumPy's along axes in one chunk, otherwise in a tree over the chunks."""

from __future__ import annotations

import inspect
import math
import operator
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from tapemagic.engine.rules.reductions import mean_of
from tapemagic.engine.tensor.precision import sum_of_rows
from tapemagic.lazy.implementations.blocks import axes_of, blockwise, is_lazy, pointwise, right
from tapemagic.lazy.implementations.shaping import astype, ravel, reshape
from tapemagic.lazy.implementations.table import IMPLEMENTATIONS, computes_by_element, implements

Axes = tuple[int, ...]


def checked(function: Any, x: Any, options: dict[str, Any]) -> Any:
    """Return the dtype of a result, from a trial on a single 1 that also lets NumPy check the options."""
    sample = {
        name: _single_element(y)
        if hasattr(y, "chunks") or (name in {"where", "mean"} and np.ndim(y))
        else y
        for name, y in options.items()
    }
    return np.asarray(function(_single_element(x), **sample)).dtype


def _single_element(x: Any) -> Any:
    x = x if hasattr(x, "dtype") else np.asarray(x)
    return np.ones((1,) * x.ndim, x.dtype)


def is_cut(x: Any, axes: Axes) -> bool:
    """Return True if an array has several chunks along one of the axes (in memory: False)."""
    return hasattr(x, "chunks") and any(len(x.chunks[axis]) > 1 for axis in axes)


def within(function: Any, x: Any, axes: Axes, kwargs: dict[str, Any]) -> Any:
    """Run NumPy's reduction along axes that are in one chunk."""
    core = tuple(axis - x.ndim for axis in axes)
    return blockwise(function, (x,), kwargs, lambda arrays: [right(y.ndim, core) for y in arrays])


def reduce_in_tree(ufunc: Any, x: Any, axes: Axes, keepdims: bool, dtype: Any) -> Any:
    """Run ``ufunc.reduce`` in a tree over the chunks."""
    dtype = np.dtype(dtype)
    fold = partial(_fold, ufunc, dtype)
    meta = np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), dtype)
    return da.reduction(
        x, fold, fold, axis=axes, keepdims=keepdims, dtype=dtype, meta=meta, name=ufunc.__name__
    )


def _fold(ufunc: Any, result_dtype: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    # Not called dtype: da.reduction passes its own to a function with a parameter of that name.
    with np.errstate(all="ignore"):
        return ufunc.reduce(
            x, axis=axis, keepdims=keepdims, dtype=None if ufunc in WITHOUT_DTYPE else result_dtype
        )


# These take no dtype: they return one of their inputs, or a bool.
WITHOUT_DTYPE = {np.maximum, np.minimum, np.fmax, np.fmin, np.logical_and, np.logical_or}


def non_defaults(**options: Any) -> dict[str, Any]:
    """Drop the options of a call that have NumPy's default values."""
    return {
        name: value
        for name, value in options.items()
        if value is not None
        and type(value).__name__ != "_NoValueType"
        and not (name == "where" and value is True)
        and not (name == "keepdims" and value is False)
    }


def _reduction(function: Any, ufunc: Any, identity: Any, gap: Any = None) -> Any:
    """Implement a reduction that is a ufunc's; `gap` replaces nan."""

    def reduce(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        options = non_defaults(
            axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where
        )
        x = a if is_lazy(a) else _spread_like(a, where)
        axes = axes_of(axis, x.ndim)
        if not is_cut(x, axes) or not x.size:
            return within(function, x, axes, options)
        result = checked(function, x, options)
        keepdims = bool(options.get("keepdims", False))
        if gap is not None and x.dtype.kind in "fc":
            x = pointwise(_filled, (x, gap), {})
        if "where" in options:
            # Elements outside the mask become the identity. Extremes have none, and NumPy then demands `initial`.
            start = identity if identity is not None else options["initial"]
            x = pointwise(np.where, (where, x, np.asarray(start, x.dtype)), {})
        y = reduce_in_tree(ufunc, x, axes, keepdims, result)
        return (
            y
            if "initial" not in options
            else pointwise(ufunc, (y, np.asarray(initial, result)), {})
        )

    return reduce


# The sum ignores 0 and the product 1, so nan is replaced by these before the tree.
def _filled(x: Any, gap: Any) -> Any:
    return np.where(np.isnan(x), x.dtype.type(gap), x)


def _spread_like(a: Any, where: Any) -> Any:
    """Convert an array in memory to the chunks of a lazy `where`."""
    from tapemagic.lazy.implementations.shaping import broadcast_arrays

    return broadcast_arrays(a, where)[0]


implements(np.sum)(_reduction(np.sum, np.add, 0))
implements(np.prod)(_reduction(np.prod, np.multiply, 1))
implements(np.nansum)(_reduction(np.nansum, np.add, 0, gap=0))
implements(np.nanprod)(_reduction(np.nanprod, np.multiply, 1, gap=1))


def _extreme(function: Any, ufunc: Any) -> Any:
    reduce = _reduction(function, ufunc, None)

    def extreme(
        a: Any,
        axis: Any = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        return reduce(a, axis, None, None, keepdims, initial, where)

    return extreme


implements(np.max, np.amax)(_extreme(np.max, np.maximum))
implements(np.min, np.amin)(_extreme(np.min, np.minimum))
implements(np.nanmax)(_extreme(np.nanmax, np.fmax))
implements(np.nanmin)(_extreme(np.nanmin, np.fmin))


def _test(function: Any, ufunc: Any, identity: bool) -> Any:
    # Cast to bool first, since logical_and and logical_or of numbers in a tree would mix bools with numbers.
    reduce = _reduction(function, ufunc, identity)

    def test(
        a: Any, axis: Any = None, out: None = None, keepdims: Any = False, *, where: Any = True
    ) -> Any:
        if is_lazy(a):
            a = astype(a, np.bool_)
        return reduce(a, axis, None, None, keepdims, None, where)

    return test


implements(np.all)(_test(np.all, np.logical_and, True))
implements(np.any)(_test(np.any, np.logical_or, False))


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Implement ``np.allclose`` on Dask arrays."""
    return IMPLEMENTATIONS[np.all](pointwise(np.isclose, (a, b, rtol, atol, equal_nan), {}))


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Implement ``np.array_equal`` on Dask arrays."""
    if np.shape(a1) != np.shape(a2):
        return False
    equal = pointwise(np.equal, (a1, a2), {})
    if equal_nan:
        gaps = [pointwise(np.isnan, (x,), {}) for x in (a1, a2)]
        equal = pointwise(np.logical_or, (equal, pointwise(np.logical_and, gaps, {})), {})
    return IMPLEMENTATIONS[np.all](equal)


@implements(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Implement ``np.array_equiv`` on Dask arrays."""
    try:
        np.broadcast_shapes(np.shape(a1), np.shape(a2))
    except ValueError:
        return False
    return IMPLEMENTATIONS[np.all](pointwise(np.equal, (a1, a2), {}))


def _method(ufunc: Any, function: Any) -> Any:
    """Implement the method ``reduce`` of a ufunc, which reduces axis 0 by default."""
    parameters = set(inspect.signature(IMPLEMENTATIONS[function]).parameters)

    def reduce(
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        options = non_defaults(dtype=dtype, initial=initial, where=where)
        if options.keys() <= parameters:
            return IMPLEMENTATIONS[function](a, axis=axis, keepdims=keepdims, **options)
        options |= {"axis": axis, "keepdims": keepdims}
        return within(ufunc.reduce, a, axes_of(axis, a.ndim), options)

    return reduce


for _ufunc, _function in (
    (np.add, np.sum), (np.multiply, np.prod), (np.maximum, np.max), (np.minimum, np.min),
    (np.logical_and, np.all), (np.logical_or, np.any),
):  # fmt: skip
    implements(_ufunc.reduce)(_method(_ufunc, _function))


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """Implement ``np.count_nonzero`` on Dask arrays."""
    return total(astype(a, np.bool_), axis=axis, keepdims=keepdims)


def total(x: Any, **options: Any) -> Any:
    """Sum a Dask array like ``np.sum``."""
    return IMPLEMENTATIONS[np.sum](x, **options)


# -- means ----------------------------------------------------------------------------------------


def divided(x: Any, n: Any, dtype: Any) -> Any:
    """Divide a sum by a count, in a given dtype."""
    return pointwise(_quotient, (x, n, np.dtype(dtype)), {})


def _quotient(x: Any, n: Any, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.divide(x, n).astype(dtype)


@implements(np.mean, mean_of)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Implement ``np.mean`` on Dask arrays."""
    options = non_defaults(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    x = a if is_lazy(a) else _spread_like(a, where)
    axes = axes_of(axis, x.ndim)
    if not is_cut(x, axes) or not x.size:
        return within(np.mean, x, axes, options)
    result = checked(np.mean, x, options)
    # NumPy sums half precision in single precision, or large means would overflow at 65,504.
    inner = np.dtype(np.float32) if x.dtype == np.float16 and dtype is None else result
    keepdims = bool(options.get("keepdims", False))
    if "where" in options:
        n = total(pointwise(where_like, (where, x), {}), axis=axes, keepdims=keepdims)
        x = pointwise(np.where, (where, x, x.dtype.type(0)), {})
    else:
        n = math.prod(x.shape[axis] for axis in axes)
    return divided(reduce_in_tree(np.add, x, axes, keepdims, inner), n, result)


@computes_by_element
def where_like(where: Any, x: Any) -> Any:
    """Broadcast a mask to the shape of an array."""
    return np.broadcast_to(where, np.broadcast_shapes(np.shape(where), np.shape(x)))


@implements(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Implement ``np.nanmean`` on Dask arrays."""
    options = non_defaults(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if is_lazy(a) and not is_cut(a, axes_of(axis, a.ndim)):
        return within(np.nanmean, a, axes_of(axis, a.ndim), options)
    checked(np.nanmean, a, options)
    return mean(a, axis, dtype, None, keepdims, where=pointwise(is_number, (a, where), {}))


@computes_by_element
def is_number(x: Any, where: Any) -> Any:
    """Return a mask without the elements that are nan."""
    return ~np.isnan(x) & where


# -- places of extremes ---------------------------------------------------------------------------


def _arg(function: Any, of_dask: Any) -> Any:
    def arg(a: Any, axis: Any = None, out: None = None, *, keepdims: Any = False) -> Any:
        options = non_defaults(axis=axis, keepdims=keepdims)
        axes = axes_of(axis if axis is None else operator.index(axis), a.ndim)
        if not is_cut(a, axes) or not a.size:
            return within(function, a, axes, options)
        keep = bool(options.get("keepdims", False))
        if axis is None:
            y = of_dask(ravel(a), axis=0)
            return reshape(y, (1,) * a.ndim) if keep else y
        return of_dask(a, axis=axes[0], keepdims=keep)

    return arg


implements(np.argmax)(_arg(np.argmax, da.argmax))
implements(np.argmin)(_arg(np.argmin, da.argmin))
implements(np.nanargmax)(_arg(np.nanargmax, da.nanargmax))
implements(np.nanargmin)(_arg(np.nanargmin, da.nanargmin))


# -- spans, and sums in other precisions or with weights -------------------------------------------


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Any:
    """Implement ``np.ptp`` on Dask arrays."""
    options = non_defaults(keepdims=keepdims)
    return pointwise(
        np.subtract, [IMPLEMENTATIONS[f](a, axis=axis, **options) for f in (np.max, np.min)], {}
    )


# The engine sums gradients over broadcast rows in double precision; so do chunks, or results would differ by rounding.
@implements(sum_of_rows)
def _sum_of_rows(rows: Any) -> Any:
    return precise(rows, (0,), False)


def precise(x: Any, axes: Axes, keepdims: bool) -> Any:
    """Sum in double precision and cast back to the dtype of the array."""
    wide = np.result_type(x.dtype, np.float64)
    return astype(total(x, axis=axes, keepdims=keepdims, dtype=wide), x.dtype)


@implements(np.average)
def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False
) -> Any:
    """Implement ``np.average`` on Dask arrays."""
    a = a if is_lazy(a) else np.asarray(a)
    options = non_defaults(axis=axis, keepdims=keepdims)
    if weights is None:
        y = mean(a, **options)
        scale = np.asarray(a.size / max(y.size, 1), y.dtype)
    else:
        weights = _beside(weights, a, axis)
        minimum_dtypes = ["f8"] if a.dtype.kind in "biu" else []
        dtype = np.result_type(a.dtype, weights.dtype, *minimum_dtypes)
        weighted = pointwise(np.multiply, (a, weights), {"dtype": dtype})
        scale = total(weights, dtype=dtype, **options)
        y = pointwise(_over_weights, (total(weighted, **options), scale), {})
    return (y, _spread_like(scale, y)) if returned else y


def _beside(weights: Any, a: Any, axis: Any) -> Any:
    """Shape weights so that they broadcast with an array: one per element, or one along some axes."""
    weights = weights if is_lazy(weights) else np.asarray(weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = normalize_axis_tuple(axis, a.ndim)
    if weights.shape != tuple(a.shape[k] for k in axes):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    return weights.transpose(np.argsort(axes))[
        tuple(slice(None) if k in axes else None for k in range(a.ndim))
    ]


def _over_weights(x: Any, scale: Any) -> Any:
    if np.any(scale == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return x / scale
