"""TensorShape: the shape of a tensor, a tuple with TensorFlow's methods."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, Self

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import ShapeError


class TensorShape(tuple[Any, ...]):
    """The lengths of the axes of a tensor: a tuple, in which None stands for a length that is not known.

    Parameters
    ----------
    dims : iterable of int or None
        The lengths.

    Raises
    ------
    ShapeError
        If a length is neither a whole number nor None.

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
        """Make a shape of lengths."""
        if dims is None:
            raise ShapeError(
                "a TensorShape has a number of axes here: give a list, with None for lengths not known"
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
        """The number of elements; None if a length is not known."""
        return math.prod(self) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Whether all lengths are known."""
        return None not in tuple(self)

    def assert_is_fully_defined(self) -> None:
        """Raise an error unless all lengths are known."""
        if not self.is_fully_defined():
            raise ShapeError(f"Shape {self} is not fully defined: give each axis a length")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a shape agrees with this one where both are known."""
        other = TensorShape(other)
        return len(self) == len(other) and all(
            None in {a, b} or a == b for a, b in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise an error unless a shape agrees with this one."""
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank: int) -> None:
        """Raise an error unless there are as many axes."""
        if len(self) != rank:
            raise ShapeError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """The same shape, if it has as many axes."""
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The same shape, if it has as many axes or more."""
        if len(self) < rank:
            raise ShapeError(f"Shape {self} must have rank at least {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """The lengths that are known in this shape or the other."""
        self.assert_is_compatible_with(other)
        return TensorShape(
            b if a is None else a for a, b in zip(self, TensorShape(other), strict=True)
        )

    def concatenate(self, other: Any) -> TensorShape:
        """The lengths of this shape, and those of the other."""
        return TensorShape((*self, *TensorShape(other)))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape((*TensorShape(other), *self))

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)
        return TensorShape(part) if isinstance(index, slice) else part

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            return tuple(self) == tuple(other)
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __str__(self) -> str:
        return tuple.__repr__(self)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __reduce__(self) -> Any:
        return TensorShape, (tuple(self),)


def _listed(dims: Any) -> Iterable[Any]:
    if isinstance(dims, Iterable) and not isinstance(dims, str):
        return dims
    return (dims,)


def _length(dim: Any) -> int | None:
    if dim is None:
        return None
    try:
        length = operator.index(dim)
    except TypeError:
        length = -1
    if length < 0:
        raise ShapeError(
            f"a shape is made of whole numbers that are not negative, or None, not {shown(dim)}"
        )
    return length
