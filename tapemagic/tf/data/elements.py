"""Elements of a dataset: arrays, or nested tuples and dicts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ShapeError
from tapemagic.tf.core.convert import tensor


def arrays_of(value: Any) -> Any:
    """Convert a structure to an element: tuples and dicts stay, lists and tensors become arrays."""
    # Lists become arrays and tuples stay, as in TensorFlow: ([1, 2], [3, 4]) is a pair of arrays, [[1, 2], [3, 4]] a
    # matrix.
    return each(lambda x: np.asarray(unwrap(tensor(x))), value)


def each(function: Callable[..., Any], element: Any, *more: Any) -> Any:
    """Apply a function to the arrays of an element, or to corresponding arrays of several elements."""
    if isinstance(element, tuple):
        parts = [each(function, *same) for same in zip(element, *more, strict=True)]
        # A namedtuple takes its fields as separate arguments.
        return type(element)(*parts) if hasattr(element, "_fields") else tuple(parts)
    if isinstance(element, dict):
        return {key: each(function, element[key], *(x[key] for x in more)) for key in element}
    return function(element, *more)


def arrays_in(element: Any) -> list[Any]:
    """List the arrays of an element."""
    arrays: list[Any] = []
    each(arrays.append, element)
    return arrays


def stacked(elements: Sequence[Any]) -> Any:
    """Stack elements along a new first axis.

    Raises
    ------
    ShapeError
        If shapes differ.
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
    """Stack elements along a new first axis, padding each axis with zeros to its maximum length."""
    return each(_pad, *elements)


def _pad(*arrays: Any) -> Any:
    shape = tuple(max(lengths) for lengths in zip(*(array.shape for array in arrays), strict=True))
    batch = np.zeros((len(arrays), *shape), arrays[0].dtype)
    for row, array in enumerate(arrays):
        inside: Any = (row, *(slice(n) for n in array.shape))
        batch[inside] = array
    return batch
