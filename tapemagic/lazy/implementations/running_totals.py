"""Running totals: those within each chunk, and the totals of the chunks before it."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.lazy.array import call
from tapemagic.lazy.implementations.blocks import axes_of
from tapemagic.lazy.implementations.reductions import checked, given, is_cut, within
from tapemagic.lazy.implementations.shaping import ravel
from tapemagic.lazy.implementations.table import in_steps, itself, way


def _running(named: Any, ufunc: Any, default: int | None) -> Any:
    """The steps of running totals along a cut axis: those within each chunk, and the totals of the chunks before it."""

    def running(a: Any, axis: Any = default, dtype: Any = None, out: None = None) -> Any:
        result = checked(named, a, {"axis": axis, **given(dtype=dtype)})
        if axis is None:
            a, axis = np.ravel(a), 0
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return NotImplemented
        (one,) = axes
        totals = call(_totals_before, (a, ufunc, one, result), {})
        return call(_running_from, (a, totals, ufunc, one, result), {})

    return running


@itself
def _totals_before(x: Any, ufunc: Any, axis: int, dtype: Any) -> Any:
    """The totals of all chunks before each, along an axis: one element for each chunk."""
    cut = tuple((1,) * len(n) if k == axis else n for k, n in enumerate(x.chunks))
    within = partial(ufunc.reduce, axis=axis, dtype=dtype, keepdims=True)
    own = da.map_blocks(within, x, chunks=cut, meta=_none(x, dtype))
    return own.rechunk({axis: -1}).map_blocks(_before, ufunc, axis, meta=_none(x, dtype))


def _none(x: Any, dtype: Any) -> Any:
    return np.empty((0,) * x.ndim, dtype)


def _before(totals: Any, ufunc: Any, axis: int) -> Any:
    y = np.roll(ufunc.accumulate(totals, axis, dtype=totals.dtype), 1, axis)
    y[(slice(None),) * axis + (0,)] = ufunc.identity
    return y


@itself
def _running_from(x: Any, totals: Any, ufunc: Any, axis: int, dtype: Any) -> Any:
    """Running totals, given those of all chunks before each."""
    return da.map_blocks(
        _from, x, totals.rechunk({axis: 1}), ufunc, axis, chunks=x.chunks, meta=_none(x, dtype)
    )


def _from(x: Any, before: Any, ufunc: Any, axis: int) -> Any:
    return ufunc(before, ufunc.accumulate(x, axis, dtype=before.dtype))


def _running_within(function: Any, default: int | None) -> Any:
    def running(a: Any, axis: Any = default, dtype: Any = None, out: None = None) -> Any:
        if axis is None or not a.ndim:
            a, axis = ravel(a), 0
        axes = axes_of(axis, a.ndim)
        return within(function, a, axes, given(axis=axes[0], dtype=dtype))

    return running


for _total, _ufunc in ((np.cumsum, np.add), (np.cumprod, np.multiply)):
    for _name, _default in ((_total, None), (_ufunc.accumulate, 0)):
        in_steps(_name)(_running(_name, _ufunc, _default))
        way(_name)(_running_within(_total, _default))
