"""Running totals: within each chunk, plus the totals of the earlier chunks."""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from tapemagic.lazy.array import call
from tapemagic.lazy.implementations.blocks import axes_of
from tapemagic.lazy.implementations.reductions import checked, is_cut, non_defaults, within
from tapemagic.lazy.implementations.shaping import ravel
from tapemagic.lazy.implementations.table import implements, implements_in_steps, implements_itself


def _running(named: Any, ufunc: Any, default: int | None) -> Any:
    """Implement running totals along an axis of several chunks, in two reads of the data."""

    def running(a: Any, axis: Any = default, dtype: Any = None, out: None = None) -> Any:
        result = checked(named, a, {"axis": axis, **non_defaults(dtype=dtype)})
        if axis is None:
            a, axis = np.ravel(a), 0
        axes = axes_of(axis, a.ndim)
        if not is_cut(a, axes) or not a.size:
            return NotImplemented
        (along,) = axes
        totals = call(_totals_before, (a, ufunc, along, result), {})
        return call(_running_from, (a, totals, ufunc, along, result), {})

    return running


@implements_itself
def _totals_before(x: Any, ufunc: Any, axis: int, dtype: Any) -> Any:
    """Return, for each chunk, the total of all earlier chunks along an axis."""
    cut = tuple((1,) * len(n) if k == axis else n for k, n in enumerate(x.chunks))
    within = partial(ufunc.reduce, axis=axis, dtype=dtype, keepdims=True)
    own = da.map_blocks(within, x, chunks=cut, meta=_empty(x, dtype))
    # One number for each chunk: together they fit into one chunk, in which NumPy accumulates them.
    return own.rechunk({axis: -1}).map_blocks(_before, ufunc, axis, meta=_empty(x, dtype))


def _empty(x: Any, dtype: Any) -> Any:
    return np.empty((0,) * x.ndim, dtype)


def _before(totals: Any, ufunc: Any, axis: int) -> Any:
    # Exclusive totals: shift the inclusive ones by one chunk and start with the identity (0 or 1).
    y = np.roll(ufunc.accumulate(totals, axis, dtype=totals.dtype), 1, axis)
    y[(slice(None),) * axis + (0,)] = ufunc.identity
    return y


@implements_itself
def _running_from(x: Any, totals: Any, ufunc: Any, axis: int, dtype: Any) -> Any:
    """Add the totals of the earlier chunks to the running totals within each chunk."""
    return da.map_blocks(
        _from, x, totals.rechunk({axis: 1}), ufunc, axis, chunks=x.chunks, meta=_empty(x, dtype)
    )


def _from(x: Any, before: Any, ufunc: Any, axis: int) -> Any:
    return ufunc(before, ufunc.accumulate(x, axis, dtype=before.dtype))


def _running_within(function: Any, default: int | None) -> Any:
    def running(a: Any, axis: Any = default, dtype: Any = None, out: None = None) -> Any:
        if axis is None or not a.ndim:
            a, axis = ravel(a), 0
        axes = axes_of(axis, a.ndim)
        return within(function, a, axes, non_defaults(axis=axes[0], dtype=dtype))

    return running


for _total, _ufunc in ((np.cumsum, np.add), (np.cumprod, np.multiply)):
    for _name, _default in ((_total, None), (_ufunc.accumulate, 0)):
        implements_in_steps(_name)(_running(_name, _ufunc, _default))
        implements(_name)(_running_within(_total, _default))
