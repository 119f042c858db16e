"""Elements of a dataset: arrays, or tuples and dicts of them, nested as the user likes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ShapeError
from tapemagic.tf.core.convert import tensor


def arrays_of(value: Any) -> Any:
    """A user's structure as an element: tuples and dicts stay, a list is one array, tensors become arrays."""
    return each(lambda x: np.asarray(unwrap(tensor(x))), value)


def each(function: Callable[..., Any], element: Any, *others: Any) -> Any:
    """A function of the arrays of one element, or of those in the same place of several, in their structure."""
    if isinstance(element, tuple):
        parts = [each(function, *same) for same in zip(element, *others, strict=True)]
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if isinstance(element, dict):
        return {key: each(function, element[key], *(x[key] for x in others)) for key in element}
    return function(element, *others)


def arrays_in(element: Any) -> list[Any]:
    """The arrays of an element, one after the other."""
    found: list[Any] = []
    each(found.append, element)
    return found


def stacked(elements: Sequence[Any]) -> Any:
    """Elements put together along a new first axis.

    Raises
    ------
    ShapeError
        If their shapes differ.
    """
    return each(_stack, *elements)


def _stack(*arrays: Any) -> Any:
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        first, second = sorted(shapes)[:2]
        raise ShapeError(
            f"cannot batch elements of the shapes {first} and {second}: give them one shape with map(...), or take "
            "padded_batch(...)"
        )
    return np.stack(arrays)


def padded(elements: Sequence[Any]) -> Any:
    """Elements put together along a new first axis, filled up with zeros to the largest length of each axis."""
    return each(_pad, *elements)


def _pad(*arrays: Any) -> Any:
    shape = tuple(max(lengths) for lengths in zip(*(array.shape for array in arrays), strict=True))
    whole = np.zeros((len(arrays), *shape), arrays[0].dtype)
    for row, array in enumerate(arrays):
        inside: Any = (row, *(slice(n) for n in array.shape))
        whole[inside] = array
    return whole
