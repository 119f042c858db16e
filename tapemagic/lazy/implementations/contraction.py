"""Contract two arrays: sums of products over pairs of axes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import dask.array as da
import numpy as np

Axes = tuple[int, ...]


def contraction(x: Any, y: Any, left: Axes, right: Axes) -> Any:
    """Sum products over pairs of axes.

    The product of two chunks keeps an axis of length 1 for each pair, where the first array has it. If that axis has
    several chunks, the products are summed in a tree; else nothing is left to sum. Dask's ``tensordot`` sums in any
    case, which copies the result twice.
    """
    x_axes = list(range(x.ndim))
    y_axes = list(range(x.ndim, x.ndim + y.ndim))
    for i, j in zip(left, right, strict=True):
        y_axes[j] = x_axes[i]
    free = [axis for axis in y_axes if axis >= x.ndim]
    dtype = np.result_type(x, y)
    # adjust_chunks says that each product shrinks its contracted axes to length 1, so that a tree can sum them.
    products = da.blockwise(
        partial(_product, axes=(left, right)),
        [*x_axes, *free],
        *(x, x_axes, y, y_axes),
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
        _unchanged,
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


def _unchanged(x: Any, axis: Any, keepdims: bool) -> Any:
    return x


def _sum(parts: Any, axis: Any, keepdims: bool) -> Any:
    """Sum the arrays in nested lists."""
    y = reduce(np.add, _arrays(parts))
    return y if keepdims else np.squeeze(y, axis)


def _arrays(parts: Any) -> Iterator[Any]:
    if isinstance(parts, list):
        for part in parts:
            yield from _arrays(part)
    else:
        yield parts
