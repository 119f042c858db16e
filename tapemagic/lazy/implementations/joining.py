"""Join arrays into one, and split one into several."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from tapemagic.lazy.implementations.blocks import array_in_chunks, is_lazy
from tapemagic.lazy.implementations.shaping import astype, atleast_1d, atleast_2d, atleast_3d, ravel
from tapemagic.lazy.implementations.table import implements


def as_dask(x: Any) -> Any:
    """Convert an array in memory to a Dask array in one chunk."""
    if is_lazy(x):
        return x
    x = np.asarray(x)
    return array_in_chunks(x, tuple((n,) for n in x.shape))


@implements(np.concatenate)
def concatenate(
    arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """Implement ``np.concatenate``; along each other axis, the finest chunks among the arrays win."""
    arrays = [as_dask(x) for x in arrays]
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    if len({x.ndim for x in arrays}) > 1 or not arrays[0].ndim:
        raise ValueError(
            "all the input arrays must have the same number of axes, at least one, to be concatenated"
        )
    axis = normalize_axis_index(operator.index(axis), arrays[0].ndim)
    dtype_of_all = np.result_type(*(x.dtype for x in arrays)) if dtype is None else np.dtype(dtype)
    for x in arrays:
        if not np.can_cast(x.dtype, dtype_of_all, casting):
            raise TypeError(
                f"Cannot cast array data from {x.dtype} to {dtype_of_all} according to the rule {casting!r}"
            )
        if (
            x.shape[:axis] + x.shape[axis + 1 :]
            != arrays[0].shape[:axis] + arrays[0].shape[axis + 1 :]
        ):
            raise ValueError(
                f"arrays of shapes {', '.join(str(x.shape) for x in arrays)} cannot be joined along axis {axis}"
            )
    arrays = [astype(x, dtype_of_all) for x in arrays]
    # Empty arrays add nothing but empty chunks, with which some Dask functions are wrong (see drop_empty_chunks).
    nonempty = [x for x in arrays if x.shape[axis]] or arrays[:1]
    cuts = {
        k: max((x.chunks[k] for x in nonempty), key=len)
        for k in range(nonempty[0].ndim)
        if k != axis
    }
    # da.concatenate needs equal chunks along the other axes; the finest cut keeps all chunks small.
    nonempty = [x.rechunk(cuts) for x in nonempty]
    return nonempty[0] if len(nonempty) == 1 else da.concatenate(nonempty, axis=axis)


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: None = None, **options: Any) -> Any:
    """Implement ``np.stack`` on Dask arrays."""
    arrays = [as_dask(x) for x in arrays]
    axis = normalize_axis_index(operator.index(axis), arrays[0].ndim + 1)
    index = (*(slice(None),) * axis, None)
    if len({x.shape for x in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return concatenate([x[index] for x in arrays], axis, **options)


@implements(np.vstack)
def vstack(tup: Any, **options: Any) -> Any:
    """Implement ``np.vstack`` on Dask arrays."""
    return concatenate([atleast_2d(x) for x in tup], 0, **options)


@implements(np.hstack)
def hstack(tup: Any, **options: Any) -> Any:
    """Implement ``np.hstack`` on Dask arrays."""
    arrays = [atleast_1d(x) for x in tup]
    return concatenate(arrays, min(arrays[0].ndim - 1, 1), **options)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """Implement ``np.dstack`` on Dask arrays."""
    return concatenate([atleast_3d(x) for x in tup], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """Implement ``np.column_stack`` on Dask arrays."""
    arrays = [atleast_1d(x) for x in tup]
    return concatenate([x[:, None] if x.ndim == 1 else x for x in arrays], 1)


@implements(np.block)
def block(arrays: Any) -> Any:
    """Implement ``np.block`` on Dask arrays."""
    depth, ndim = _depth(arrays), _most_axes(arrays)
    return _block(arrays, max(depth, ndim), depth)


def _depth(arrays: Any) -> int:
    return 1 + max(map(_depth, arrays)) if isinstance(arrays, list) else 0


def _most_axes(arrays: Any) -> int:
    return (
        max(map(_most_axes, arrays))
        if isinstance(arrays, list)
        else np.ndim(arrays)
        if not is_lazy(arrays)
        else arrays.ndim
    )


def _block(arrays: Any, ndim: int, depth: int) -> Any:
    if not isinstance(arrays, list):
        x = as_dask(arrays)
        for _ in range(ndim - x.ndim):
            x = x[None]
        return x
    return concatenate([_block(x, ndim, depth - 1) for x in arrays], ndim - depth)


def _pieces(x: Any, indices: Any, axis: int) -> list[Any]:
    numbers = range(x.shape[axis])
    ends = [
        0,
        *(numbers[i : i + 1].start if -len(numbers) <= i < len(numbers) else i for i in indices),
        len(numbers),
    ]
    lead = (slice(None),) * axis
    return [x[(*lead, slice(start, stop))] for start, stop in pairwise(ends)]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Implement ``np.split`` on Dask arrays."""
    position = normalize_axis_index(axis, ary.ndim)
    np.split(np.arange(ary.shape[position]), indices_or_sections)  # NumPy's error for unequal parts
    return array_split(ary, indices_or_sections, position)


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Implement ``np.array_split`` on Dask arrays."""
    axis = normalize_axis_index(axis, ary.ndim)
    parts = np.array_split(np.arange(ary.shape[axis]), indices_or_sections)
    if np.ndim(indices_or_sections):
        return _pieces(ary, list(indices_or_sections), axis)
    return _pieces(ary, np.cumsum([len(part) for part in parts])[:-1].tolist(), axis)


def unstack(x: Any, axis: int = 0) -> Any:
    """Implement ``np.unstack`` on Dask arrays."""
    lead = (slice(None),) * normalize_axis_index(axis, x.ndim)
    return tuple(x[(*lead, k)] for k in range(x.shape[axis]))


if hasattr(np, "unstack"):  # new in NumPy 2.1
    implements(np.unstack)(unstack)


@implements(np.meshgrid)
def meshgrid(*xi: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> Any:
    """Implement ``np.meshgrid`` on Dask arrays."""
    arrays = [ravel(as_dask(x)) for x in xi]
    n = len(arrays)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    thin = [
        x[tuple(slice(None) if k == own else None for k in range(n))]
        for x, own in zip(arrays, order, strict=True)
    ]
    if sparse:
        return tuple(thin)
    from tapemagic.lazy.implementations.shaping import broadcast_arrays

    return broadcast_arrays(*thin)
