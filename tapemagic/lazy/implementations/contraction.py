"""Contractions: sums of products over axes of two arrays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import dask.array as da
import numpy as np

Axes = tuple[int, ...]


def contraction(x: Any, y: Any, left: Axes, right: Axes) -> Any:
    """The sums of products over axes, in pairs.

    The products of two chunks keep an axis of length 1 for each pair, in the place of the first array's: where that
    is cut these products are added up, in a tree, and else nothing is left to add. Dask's ``tensordot`` adds up in any
    case, which copies the result twice.
    """
    mine = list(range(x.ndim))
    theirs = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in zip(left, right, strict=True):
        theirs[j] = mine[i]
    free = [axis for axis in theirs if axis >= x.ndim]
    dtype = np.result_type(x, y)
    products = da.blockwise(
        partial(_product, axes=(left, right)),
        [*mine, *free],
        *(x, mine, y, theirs),
        name=None,
        token="contraction",  # noqa: S106 (a part of the name)
        adjust_chunks=dict.fromkeys(left, _ones),
        dtype=dtype,
        meta=np.empty((0,) * (x.ndim + len(free)), dtype),
    )
    if all(products.numblocks[axis] == 1 for axis in left):
        return da.squeeze(products, axis=left)
    return da.reduction(
        products,
        _itself,
        _sum,
        axis=left,
        concatenate=False,
        dtype=dtype,
        meta=np.empty((0,) * (products.ndim - len(left)), dtype),
        name="contraction-sum",
    )


def _ones(chunk: int) -> int:
    return 1


def _product(x: Any, y: Any, axes: tuple[Axes, Axes]) -> Any:
    return np.expand_dims(np.tensordot(x, y, axes), axes[0])


def _itself(x: Any, axis: Any, keepdims: bool) -> Any:
    return x


def _sum(parts: Any, axis: Any, keepdims: bool) -> Any:
    """The sum of arrays in nested lists."""
    y = reduce(np.add, _arrays(parts))
    return y if keepdims else np.squeeze(y, axis)


def _arrays(parts: Any) -> Iterator[Any]:
    if isinstance(parts, list):
        for part in parts:
            yield from _arrays(part)
    else:
        yield parts
