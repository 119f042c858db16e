"""Variances and standard deviations: NumPy's along axes in one chunk, otherwise from the means of the chunks."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.engine.laziness import refusal
from tapemagic.errors import UnsupportedArgumentError
from tapemagic.lazy.array import LazyArray, call
from tapemagic.lazy.implementations.blocks import array_in_chunks, axes_of, is_lazy, pointwise
from tapemagic.lazy.implementations.reductions import (
    checked,
    is_cut,
    is_number,
    non_defaults,
    where_like,
    within,
)
from tapemagic.lazy.implementations.table import (
    computes_by_element,
    implements,
    implements_in_steps,
)


def _in_one_read(function: Any, root: bool) -> Any:
    """Implement ``np.var`` or ``np.std`` in one read; several chunks only without mask, mean and dtype."""

    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        options = non_defaults(
            axis=axis,
            dtype=dtype,
            ddof=ddof,
            keepdims=keepdims,
            where=where,
            mean=mean,
            correction=correction,
        )
        a = a if is_lazy(a) else array_in_chunks(a, tuple((n,) for n in a.shape))
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return within(function, a, axes, options)
        result = _checked(function, a, options)
        ddof = options.get("correction", ddof)
        keep = bool(options.get("keepdims", False))
        # As for means: half precision overflows at 65,504.
        inner = np.dtype(np.float32) if a.dtype == np.float16 else result
        # The variance of complex numbers is the sum of those of their real and imaginary parts.
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
    return within(function, a, axes_of(axis, a.ndim), {"axis": axis, **non_defaults(**options)})


def _in_two_reads(function: Any, root: bool, gaps: bool) -> Any:
    """Implement a variance in two reads: the mean, then the mean squared deviation from that mean."""

    def spread(
        a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: Any = 0, keepdims: Any = False, *,
        where: Any = True, mean: Any = None, correction: Any = None,
    ) -> Any:  # fmt: skip
        masked = non_defaults(where=where)
        if not (gaps or masked or non_defaults(dtype=dtype, mean=mean)):
            return NotImplemented
        a = np.broadcast_arrays(a, where)[0] if is_in_memory(a) else a
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return NotImplemented
        result = _checked(
            function,
            a,
            non_defaults(
                axis=axis, dtype=dtype, ddof=ddof, where=where, mean=mean, correction=correction
            ),
        )
        # With dtype=int NumPy truncates the mean in the middle of the algorithm, which two reads cannot repeat.
        if result.kind not in "fc":
            raise _needs_one_chunk(function, result)
        if gaps:
            masked["where"] = call(is_number, (a, where), {})
        keep = bool(non_defaults(keepdims=keepdims))
        ddof = non_defaults(correction=correction).get("correction", ddof)
        middle = non_defaults(mean=mean).get("mean")
        if middle is None:
            middle = np.mean(a, axes, keepdims=True, **non_defaults(dtype=dtype), **masked)
        squares = call(_squared_deviation, (a, middle), {})
        squares = np.mean(squares, axes, keepdims=keep, **masked)
        n = math.prod(a.shape[axis] for axis in axes)
        if masked:
            n = np.sum(call(where_like, (masked["where"], a), {}), axes, keepdims=keep)
        undefined = np.nan if gaps and a.dtype.kind in "fc" else None
        return call(_variance, (squares, n, ddof, root, result, undefined), {})

    return spread


def _checked(function: Any, a: Any, options: dict[str, Any]) -> Any:
    """Return the dtype of a result; NumPy checks the options, without warning of too few numbers."""
    if options.get("ddof") and "correction" in options:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    options_to_check = {
        name: y for name, y in options.items() if name not in {"ddof", "correction"}
    }
    return checked(function, a, options_to_check)


def _needs_one_chunk(function: Any, dtype: Any) -> UnsupportedArgumentError:
    name = f"np.{function.__name__}"
    return refusal(
        name, f"{name} with dtype={dtype} along an axis of several chunks: leave the dtype out"
    )


def is_in_memory(x: Any) -> bool:
    """Return True for a NumPy array, False for a lazy array."""
    return type(x) is not LazyArray


@computes_by_element
def _squared_deviation(x: Any, middle: Any) -> Any:
    off = x - middle
    return (off * np.conj(off)).real if off.dtype.kind == "c" else off * off


@computes_by_element
def _variance(
    squares: Any, n: Any, ddof: Any, root: bool, dtype: Any, undefined: float | None = None
) -> Any:
    """Return a variance of `n` numbers, or its root; too few numbers give `undefined`."""
    with np.errstate(all="ignore"):
        free = n - ddof
        # Not enough numbers: n / 0 is inf and 0 * inf is nan, as NumPy returns for a variance without degrees of
        # freedom.
        y = squares * (n / np.where(free > 0, free, 0.0))
        if undefined is not None:
            y = np.where(free > 0, y, undefined)
        return (np.sqrt(y) if root else y).astype(dtype)


implements(np.var)(_in_one_read(np.var, False))
implements(np.std)(_in_one_read(np.std, True))
implements(np.nanvar)(partial(_within, np.nanvar))
implements(np.nanstd)(partial(_within, np.nanstd))
implements_in_steps(np.var)(_in_two_reads(np.var, False, False))
implements_in_steps(np.std)(_in_two_reads(np.std, True, False))
implements_in_steps(np.nanvar)(_in_two_reads(np.nanvar, False, True))
implements_in_steps(np.nanstd)(_in_two_reads(np.nanstd, True, True))
