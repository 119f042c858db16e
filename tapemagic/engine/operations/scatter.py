"""Addition of values at an index into zeros: the derivative of indexing, as an array or in scattered form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.operations.common import operand
from tapemagic.engine.registry import operation
from tapemagic.engine.tensor.dispatch import apply, recorded
from tapemagic.engine.tensor.precision import wider
from tapemagic.engine.tensor.tensor import Traced, unwrap, unwrap_index
from tapemagic.engine.tracing import listener, one_call

UNIQUE = (int, slice, type(None), type(Ellipsis), np.integer, np.bool_)
"""Types of parts of an index that select no element twice; boolean arrays don't either."""


def scatter_add(values: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Add values to zeros at an index: the transpose of indexing, ``x[index]``.

    Raises IndexError if `index` doesn't fit into `shape`; ValueError if `values` don't fit the index.

    Parameters
    ----------
    values : array_like or Tensor
        The values to add; broadcast to the shape of ``np.zeros(shape)[index]``.
    index : int, slice, None, Ellipsis, array_like, or tuple of them
        Any NumPy index. If it selects an element several times, all values for it are added up.
    shape : tuple of int
        The shape of the result.

    Returns
    -------
    array or Tensor
        With the dtype of `values`. It is a tensor, on the tape, if `values` is one.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> tm.scatter_add(np.array([1.0, 2.0, 3.0]), [0, 2, 2], (4,))
    array([1., 0., 5., 0.])
    """
    if isinstance(values, Traced):
        x, index = values._read(), unwrap_index(index)
        total = scatter_add(x._value, index, shape)
        return recorded(
            _SCATTER_ADD, x._value, x._id, {"index": index, "shape": np.shape(total)}, total
        )
    if not hasattr(values, "dtype"):
        return scatter_add(operand(values), index, shape)
    tracer_or_gate = listener((values, index))
    if tracer_or_gate is not None:
        return tracer_or_gate.call(scatter_add, (values, index, shape), {})
    dtype = values.dtype
    if selects_once(index):
        # np.add.at is much slower than assignment, so it is reserved for indices with possible repetitions.
        total = np.zeros(shape, dtype)
        total[index] = values
    else:
        total = np.zeros(shape, wider(dtype))
        np.add.at(total, unwrap(index), values.astype(total.dtype, copy=False))
        total = total.astype(dtype, copy=False)
    return total if shape else total[()]


_SCATTER_ADD = operation(scatter_add)


def selects_once(index: Any) -> bool:
    """Return True if an index certainly selects no element twice, so that addition is assignment."""
    if index.__class__ is int or index.__class__ is slice:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, UNIQUE) or np.asarray(part).dtype == np.bool_ for part in parts)


class Scattered:
    """A gradient that is zero except for its values at an index; the reverse sweep adds such gradients up.

    If a loop reads an array element by element, a full array for the gradient of each read would make the time of the
    backward pass proportional to the square of the array's size.

    - `values`: Array or Tensor. The values to add.
    - `index`: Int, slice, None, Ellipsis, array, or tuple of them. The positions of the values.
    - `shape`: The shape of the gradient.
    """

    __slots__ = ("index", "shape", "values")

    def __init__(self, values: Any, index: Any, shape: tuple[int, ...]) -> None:
        self.values = values
        self.index = index
        self.shape = shape

    def added_to(self, total: Any) -> Any:
        """Add the values to an array of numbers, in its memory if possible; return the sum."""
        if listener((total, self.values, self.index)) is None:
            return add_at(total, self.values, self.index)
        return with_added(total, self.values, self.index)


def add_at(total: Any, values: Any, index: Any) -> Any:
    """Add values at an index of an array of numbers, in place."""
    if selects_once(index):
        total[index] += values
    else:
        np.add.at(total, index, values.astype(total.dtype, copy=False))
    return total


@one_call
def with_added(total: Any, values: Any, index: Any) -> Any:
    """Return a copy of an array of numbers, with values added at an index."""
    return add_at(np.array(total), values, index)


def dense(dx: Any) -> Any:
    """Convert a scattered gradient to an array; other gradients are returned unchanged."""
    return scatter_add(dx.values, dx.index, dx.shape) if dx.__class__ is Scattered else dx


@one_call
def add_scattered(*values: Any, indices: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Add values to zeros of a shape, each value at its own index."""
    dtype = np.result_type(*values)
    total = np.zeros(shape, wider(dtype))
    for part in map(Scattered, values, indices, [shape] * len(indices)):
        total = part.added_to(total)
    return total.astype(dtype, copy=False)


_ADD_SCATTERED = operation(add_scattered)


def sum_of_scattered(parts: Sequence[Scattered]) -> Any:
    """Sum scattered gradients of one shape, whose values may be tensors, as a single operation on the tapes."""
    if len(parts) == 1:
        return dense(parts[0])
    params = {"indices": tuple(part.index for part in parts), "shape": parts[0].shape}
    return apply(_ADD_SCATTERED, tuple(part.values for part in parts), params)


def add_at_places(
    *values: Any, places: Sequence[Any], shape: tuple[int, ...], disjoint: int = 1
) -> Any:
    """Add rows of values to zeros of a shape, at flat positions in C order.

    - `*values`: Each of a single axis.
    - `places`: For each of the values, a slice, or an array of integers without repetitions.
    - `shape`: The shape of the result.
    - `disjoint`: The number of leading `values` whose places don't overlap.

    Returns array: with the dtype of the first value.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.engine.operations.scatter import add_at_places
    >>> diagonal, above = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    >>> add_at_places(diagonal, above, places=[slice(0, 9, 4), slice(1, 9, 4)], shape=(3, 3))
    array([[1., 4., 0.],
           [0., 2., 5.],
           [0., 0., 3.]])
    """
    tracer_or_gate = listener(values)
    if tracer_or_gate is not None:
        params = {"places": places, "shape": shape, "disjoint": disjoint}
        return tracer_or_gate.call(add_at_places, values, params)
    total = np.zeros(shape, values[0].dtype)
    # A view, because the new array is contiguous.
    elements = total.ravel()
    for x, there in zip(values, places, strict=True):
        if disjoint > 0:
            disjoint -= 1
            elements[there] = x
        else:
            elements[there] += x
    return total
