"""TensorShape: a tuple with TensorFlow's methods."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, Self

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ShapeError


class TensorShape(tuple[Any, ...]):
    """Lengths of a tensor's axes: a tuple in which None means an unknown length.

    Parameters
    ----------
    dims : iterable of int or None
        The lengths.

    Raises
    ------
    ShapeError
        If a length is neither a nonnegative integer nor None.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> shape = tf.zeros((3, 2)).shape
    >>> shape, shape.as_list(), shape.num_elements()
    (TensorShape([3, 2]), [3, 2], 6)
    >>> print(shape)
    (3, 2)
    """

    __slots__ = ()

    def __new__(cls, dims: Iterable[Any]) -> Self:
        """Build a shape from lengths."""
        if dims is None:
            raise ShapeError(
                "a TensorShape needs a known number of axes here: pass a list, with None for unknown lengths"
            )
        return super().__new__(cls, map(_length, _listed(dims)))

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    ndims = rank

    @property
    def dims(self) -> list[Any]:
        """The lengths as a list."""
        return list(self)

    def as_list(self) -> list[Any]:
        """The lengths as a list."""
        return list(self)

    def num_elements(self) -> int | None:
        """Number of elements, or None if a length is unknown."""
        return math.prod(self) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Return True if every length is known."""
        return None not in tuple(self)

    def assert_is_fully_defined(self) -> None:
        """Raise an error unless every length is known."""
        if not self.is_fully_defined():
            raise ShapeError(f"Shape {self} is not fully defined: give each axis a length")

    def is_compatible_with(self, other: Any) -> bool:
        """Return True if all lengths known in both shapes agree."""
        other = TensorShape(other)
        return len(self) == len(other) and all(
            None in {a, b} or a == b for a, b in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise an error unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise an error unless the shape has `rank` axes."""
        if len(self) != rank:
            raise ShapeError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape if it has `rank` axes, else raise an error."""
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape if it has at least `rank` axes, else raise an error."""
        if len(self) < rank:
            raise ShapeError(f"Shape {self} must have rank at least {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """Fill unknown lengths from another, compatible shape."""
        self.assert_is_compatible_with(other)
        return TensorShape(
            b if a is None else a for a, b in zip(self, TensorShape(other), strict=True)
        )

    def concatenate(self, other: Any) -> TensorShape:
        """Append the lengths of another shape."""
        return TensorShape((*self, *TensorShape(other)))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape((*TensorShape(other), *self))

    def __getitem__(self, index: Any) -> Any:
        # A slice of a tuple subclass is a plain tuple.
        part = super().__getitem__(index)
        return TensorShape(part) if isinstance(index, slice) else part

    def __eq__(self, other: object) -> bool:
        # Programs compare x.shape == [3, 2], which is False for a tuple.
        if isinstance(other, list):
            return tuple(self) == tuple(other)
        return super().__eq__(other)

    # tuple brings its own __ne__; only object's delegates to __eq__.
    def __ne__(self, other: object) -> bool:
        return not self == other

    # A class that defines __eq__ loses its inherited hash.
    def __hash__(self) -> int:
        return super().__hash__()

    def __str__(self) -> str:
        # Not str(): that would call __repr__ below.
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __reduce__(self) -> Any:
        return TensorShape, (tuple(self),)


def _listed(dims: Any) -> Iterable[Any]:
    # TensorShape(3) means [3], as in TensorFlow.
    if isinstance(dims, Iterable) and not isinstance(dims, str):
        return dims
    return (dims,)


def _length(dim: Any) -> int | None:
    if dim is None:
        return None
    try:
        # Unlike int(), index refuses 2.5 and "2".
        length = operator.index(dim)
    except TypeError:
        length = -1
    if length < 0:
        raise ShapeError(f"a shape consists of nonnegative integers or None, not {shown(dim)}")
    return length
