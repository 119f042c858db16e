"""Adding values at an index of zeros: the derivative of indexing, dense or still to be added up."""

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
"""Types of the parts of an index that cannot select an element twice; a boolean array cannot either."""


def scatter_add(values: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Zeros with values added at an index: the transpose of indexing, ``x[index]``.

    Parameters
    ----------
    values : array_like or Tensor
        What to add; broadcast to the shape of ``np.zeros(shape)[index]``.
    index : int, slice, None, Ellipsis, array_like, or tuple of them
        Any index that NumPy knows. Where it names an element several times, all its values
        are added up.
    shape : tuple of int
        The shape of the result.

    Returns
    -------
    array or Tensor
        Of the dtype of `values`; a tensor, on the tape, if `values` is one.

    Raises
    ------
    IndexError
        If `index` does not fit into `shape`.
    ValueError
        If `values` do not fit the index.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.engine.operations.scatter import scatter_add
    >>> scatter_add(np.array([1.0, 2.0, 3.0]), [0, 2, 2], (4,))
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
    one = listener((values, index))
    if one is not None:
        return one.call(scatter_add, (values, index, shape), {})
    dtype = values.dtype
    if names_once(index):
        total = np.zeros(shape, dtype)
        total[index] = values
    else:
        total = np.zeros(shape, wider(dtype))
        np.add.at(total, unwrap(index), values.astype(total.dtype, copy=False))
        total = total.astype(dtype, copy=False)
    return total if shape else total[()]


_SCATTER_ADD = operation(scatter_add)


def names_once(index: Any) -> bool:
    """Whether an index surely names no element twice, so that adding is assigning."""
    if index.__class__ is int or index.__class__ is slice:
        return True
    parts = index if isinstance(index, tuple) else (index,)
    return all(isinstance(part, UNIQUE) or np.asarray(part).dtype == np.bool_ for part in parts)


class Scattered:
    """A gradient that is zero but for its values at an index, and that the reverse sweep adds to others like it.

    Where a loop reads an array element by element, each reading's gradient as an array of its own would make the
    way back cost the square of the array's size.

    Attributes
    ----------
    values : array or Tensor
        What to add.
    index : int, slice, None, Ellipsis, array, or tuple of them
        Where.
    shape : tuple of int
        The shape of the gradient.
    """

    __slots__ = ("index", "shape", "values")

    def __init__(self, values: Any, index: Any, shape: tuple[int, ...]) -> None:
        self.values = values
        self.index = index
        self.shape = shape

    def added_to(self, total: Any) -> Any:
        """The sum of an array of numbers and the values, in the memory of the array where that is possible."""
        if listener((total, self.values, self.index)) is None:
            return add_at(total, self.values, self.index)
        return with_added(total, self.values, self.index)


def add_at(total: Any, values: Any, index: Any) -> Any:
    """Add values at an index of an array of numbers, in place."""
    if names_once(index):
        total[index] += values
    else:
        np.add.at(total, index, values.astype(total.dtype, copy=False))
    return total


@one_call
def with_added(total: Any, values: Any, index: Any) -> Any:
    """A copy of an array of numbers, with values added at an index."""
    return add_at(np.array(total), values, index)


def dense(dx: Any) -> Any:
    """A gradient as an array, if it is a scattered one; any other as it is."""
    return scatter_add(dx.values, dx.index, dx.shape) if dx.__class__ is Scattered else dx


@one_call
def add_scattered(*values: Any, indices: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Zeros of a shape, with each of the values added at its own index."""
    dtype = np.result_type(*values)
    total = np.zeros(shape, wider(dtype))
    for part in map(Scattered, values, indices, [shape] * len(indices)):
        total = part.added_to(total)
    return total.astype(dtype, copy=False)


_ADD_SCATTERED = operation(add_scattered)


def sum_of_scattered(parts: Sequence[Scattered]) -> Any:
    """The sum of scattered gradients of one shape, whose values may be tensors, as one operation on the tapes."""
    if len(parts) == 1:
        return dense(parts[0])
    params = {"indices": tuple(part.index for part in parts), "shape": parts[0].shape}
    return apply(_ADD_SCATTERED, tuple(part.values for part in parts), params)


def add_at_places(
    *values: Any, places: Sequence[Any], shape: tuple[int, ...], apart: int = 1
) -> Any:
    """Zeros of a shape, with rows of values added at places among all its elements, laid out in C order.

    Parameters
    ----------
    *values : array
        Of one axis each.
    places : sequence of slice or array
        For each of the values a slice, or an array of whole numbers, which names no place twice.
    shape : tuple of int
        The shape of the result.
    apart : int, optional
        The number of values, the first ones, of which no two have a place in common.

    Returns
    -------
    array
        Of the dtype of the first of the `values`.

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
    one = listener(values)
    if one is not None:
        params = {"places": places, "shape": shape, "apart": apart}
        return one.call(add_at_places, values, params)
    total = np.zeros(shape, values[0].dtype)
    elements = total.ravel()
    for x, there in zip(values, places, strict=True):
        if apart > 0:
            apart -= 1
            elements[there] = x
        else:
            elements[there] += x
    return total
