"""Methods of ufuncs that no NumPy function corresponds to: ``np.add.reduceat``, ``np.logaddexp.reduce``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapemagic.engine.operations.exponentials import softmax
from tapemagic.engine.operations.scatter import scatter_add
from tapemagic.engine.registry import NAMED, Function, vjp
from tapemagic.engine.rules.axes import expand, negative_axes, negative_axis


def add_reduceat(array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """``np.add.reduceat``: the sums from each index to the next, or single elements if the next index isn't larger."""
    return np.add.reduceat(array, indices, axis, dtype)


def _add_reduceat(g, _y, array, indices, axis=0):
    """For each element, the gradients of the sums that contain the element."""
    axis = negative_axis(axis, array.ndim)
    starts = np.asarray(indices)
    # If the next index isn't larger, reduceat takes the single element at the index.
    lengths = np.maximum(np.diff(starts, append=array.shape[axis]), 1)
    sums = np.repeat(np.arange(starts.size), lengths)
    places = np.arange(sums.size) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    parts = np.moveaxis(np.take(g, sums, axis=axis), axis, 0)
    total = scatter_add(parts, places, (array.shape[axis], *parts.shape[1:]))
    return np.moveaxis(total, 0, axis)


vjp(add_reduceat, _add_reduceat, name="add.reduceat")
NAMED["reduceat", np.add] = add_reduceat


def _of_exponentials(ufunc: np.ufunc, base: float) -> Function:
    """Return the ``reduce`` of ``np.logaddexp`` or ``np.logaddexp2``, with its rule."""

    def reduced(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        return ufunc.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims)

    def rule(g, _y, array, axis=0, keepdims=False):
        """`g` times the softmax, in which equal infinities have equal shares."""
        axes = negative_axes(axis, array.ndim)
        return expand(g, axes, keepdims) * softmax(array * math.log(base), axes)

    vjp(reduced, rule, name=f"{ufunc.__name__}.reduce")
    return reduced


NAMED["reduce", np.logaddexp] = _of_exponentials(np.logaddexp, math.e)
NAMED["reduce", np.logaddexp2] = _of_exponentials(np.logaddexp2, 2.0)
