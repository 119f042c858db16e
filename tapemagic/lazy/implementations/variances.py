"""Variances and standard deviations: as NumPy does along axes in one piece, by the means of all chunks elsewhere."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine.laziness import refusal
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import LazyArray, call
from tapemagic.lazy.implementations.blocks import axes_of, in_chunks, is_lazy, pointwise
from tapemagic.lazy.implementations.reductions import (
    checked,
    given,
    is_cut,
    is_number,
    where_like,
    within,
)
from tapemagic.lazy.implementations.table import by_element, in_steps, way


def _spread(function: Any, root: bool) -> Any:
    """The way of ``np.var`` and ``np.std``, all in one; along cut axes without a mask, a mean or a dtype."""

    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        options = given(
            axis=axis,
            dtype=dtype,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )
        a = a if is_lazy(a) else in_chunks(a, tuple((n,) for n in a.shape))
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return within(function, a, axes, options)
        result = _checked(function, a, options)
        ddof = options.get("correction", ddof)
        keep = bool(options.get("keepdims", False))
        inner = np.dtype(np.float32) if a.dtype == np.float16 else result
        parts = (
            [pointwise(part, (a,), {}) for part in (np.real, np.imag)]
            if a.dtype.kind == "c"
            else [a]
        )
        squares = da.var(parts[0], axis=axes, dtype=inner, keepdims=keep, ddof=0)
        if len(parts) > 1:
            squares = squares + da.var(parts[1], axis=axes, dtype=inner, keepdims=keep, ddof=0)
        n = math.prod(a.shape[axis] for axis in axes)
        return pointwise(_variance, (squares, n, ddof, root, result), {})

    return spread


def _within(function: Any, a: Any, axis: Any = None, **options: Any) -> Any:
    return within(function, a, axes_of(axis, a.ndim), {"axis": axis, **given(**options)})


def _by_mean(function: Any, root: bool, gaps: bool) -> Any:
    """The steps of ``np.var`` and its kin: the mean of squared deviations from the mean."""

    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        masked = given(where=where)
        if not (gaps or masked or given(dtype=dtype, mean=mean)):
            return NotImplemented
        a = np.broadcast_arrays(a, where)[0] if is_in_memory(a) else a
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return NotImplemented
        result = _checked(
            function,
            a,
            given(axis=axis, dtype=dtype, ddof=ddof, where=where, mean=mean, correction=correction),
        )
        if result.kind not in "fc":
            raise _whole(function, result)
        if gaps:
            masked["where"] = call(is_number, (a, where), {})
        keep = bool(given(keepdims=keepdims))
        ddof = given(correction=correction).get("correction", ddof)
        middle = given(mean=mean).get("mean")
        if middle is None:
            middle = np.mean(a, axes, keepdims=True, **given(dtype=dtype), **masked)
        squares = call(_squared_deviation, (a, middle), {})
        squares = np.mean(squares, axes, keepdims=keep, **masked)
        n = math.prod(a.shape[axis] for axis in axes)
        if masked:
            n = np.sum(call(where_like, (masked["where"], a), {}), axes, keepdims=keep)
        least = np.nan if gaps and a.dtype.kind in "fc" else None
        return call(_variance, (squares, n, ddof, root, result, least), {})

    return spread


def _checked(function: Any, a: Any, options: dict[str, Any]) -> Any:
    """The dtype of a result; NumPy's errors, but for its warning that the trial has too few numbers."""
    if options.get("ddof") and "correction" in options:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    few = {name: y for name, y in options.items() if name not in {"ddof", "correction"}}
    return checked(function, a, few)


def _whole(function: Any, dtype: Any) -> UnsupportedArgumentError:
    name = f"np.{function.__name__}"
    return refusal(
        name, f"{name} with dtype={dtype} along an axis of several chunks: leave the dtype out"
    )


def is_in_memory(x: Any) -> bool:
    """Whether something is an array of NumPy's."""
    return type(x) is not LazyArray


@by_element
def _squared_deviation(x: Any, middle: Any) -> Any:
    off = x - middle
    return (off * np.conj(off)).real if off.dtype.kind == "c" else off * off


@by_element
def _variance(
    squares: Any, n: Any, ddof: Any, root: bool, dtype: Any, least: float | None = None
) -> Any:
    """A variance of n numbers, or its root; `least` takes the place of that of too few numbers."""
    with np.errstate(all="ignore"):
        free = n - ddof
        y = squares * (n / np.where(free > 0, free, 0.0))
        if least is not None:
            y = np.where(free > 0, y, least)
        return (np.sqrt(y) if root else y).astype(dtype)


way(np.var)(_spread(np.var, False))
way(np.std)(_spread(np.std, True))
way(np.nanvar)(partial(_within, np.nanvar))
way(np.nanstd)(partial(_within, np.nanstd))
in_steps(np.var)(_by_mean(np.var, False, False))
in_steps(np.std)(_by_mean(np.std, True, False))
in_steps(np.nanvar)(_by_mean(np.nanvar, False, True))
in_steps(np.nanstd)(_by_mean(np.nanstd, True, True))
