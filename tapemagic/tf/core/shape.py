"""TensorShape: the lengths of a tensor's axes, some of which may be unknown."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from typing import Any

from tapemagic.engine.tensor.messages import shown
from tapemagic.errors import RankError, ShapeError


class TensorShape:
    """Lengths of a tensor's axes, with None for an unknown length.

    It isn't a tuple, so that ``"Shape: %s" % x.shape`` prints it. It equals tuples and lists of the same lengths,
    and NumPy accepts it as a shape.

    Parameters
    ----------
    dims : iterable of int or None, int, or None
        The lengths; None means that even the number of axes is unknown.

    Raises
    ------
    ShapeError
        If a length is negative.
    RankError
        If a length is neither an integer nor None.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> shape = tf.zeros((3, 2)).shape
    >>> shape, shape.as_list(), shape.num_elements()
    (TensorShape([3, 2]), [3, 2], 6)
    >>> print("Shape: %s" % shape)
    Shape: (3, 2)
    >>> shape == (3, 2), shape[1:] + [4], tf.TensorShape(None)
    (True, TensorShape([2, 4]), TensorShape(None))
    """

    __slots__ = ("_dims",)

    _dims: tuple[Any, ...] | None

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            self._dims = None if dims is None else tuple(map(_length, _iterable(dims)))

    @property
    def rank(self) -> int | None:
        """The number of axes, or None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[Any] | None:
        """The lengths as a list, or None if the number of axes is unknown."""
        return None if self._dims is None else list(self._dims)

    def _known(self, what: str) -> tuple[Any, ...]:
        """Return the lengths, or raise an error that says what needs them."""
        if self._dims is None:
            raise ShapeError(
                f"{what} a shape with unknown rank: give the number of axes, as in [None, 3]"
            )
        return self._dims

    def as_list(self) -> list[Any]:
        """The lengths as a list."""
        return list(self._known("as_list() is not defined on"))

    def num_elements(self) -> int | None:
        """Number of elements, or None if a length is unknown."""
        return math.prod(self._dims or ()) if self.is_fully_defined() else None

    def is_fully_defined(self) -> bool:
        """Return True if every length is known."""
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        """Raise an error unless every length is known."""
        if not self.is_fully_defined():
            raise ShapeError(f"Shape {self} is not fully defined: give each axis a length")

    def is_compatible_with(self, other: Any) -> bool:
        """Return True if all lengths known in both shapes agree."""
        mine, others = self._dims, TensorShape(other)._dims
        if mine is None or others is None:
            return True
        pairs = zip(mine, others, strict=False)
        return len(mine) == len(others) and all(None in {a, b} or a == b for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise an error unless the shapes are compatible."""
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def is_subtype_of(self, other: Any) -> bool:
        """Return True if each shape that this one allows is also allowed by `other`."""
        others = TensorShape(other)._dims
        if others is None or self._dims == others:
            return True
        if self._dims is None or len(self._dims) != len(others):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, others, strict=True))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """Return the shape with the lengths that both shapes have in common."""
        mine, others = self._dims, TensorShape(other)._dims
        if mine is None or others is None or len(mine) != len(others):
            return TensorShape(None)
        return TensorShape(a if a == b else None for a, b in zip(mine, others, strict=True))

    def assert_has_rank(self, rank: int) -> None:
        """Raise an error unless the shape has `rank` axes, or an unknown number."""
        if self.rank not in {None, rank}:
            raise ShapeError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raise an error unless the shapes have the same number of axes."""
        other = TensorShape(other)
        if None not in {self.rank, other.rank} and self.rank != other.rank:
            raise ShapeError(f"Shapes {self} and {other} must have the same rank")

    def with_rank(self, rank: int) -> TensorShape:
        """Return the shape if it has `rank` axes, else raise an error; an unknown number becomes `rank`."""
        self.assert_has_rank(rank)
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape if it has at least `rank` axes, else raise an error."""
        if self._dims is not None and len(self._dims) < rank:
            raise ShapeError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """Return the shape if it has at most `rank` axes, else raise an error."""
        if self._dims is not None and len(self._dims) > rank:
            raise ShapeError(f"Shape {self} must have rank at most {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """Fill unknown lengths from another, compatible shape."""
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ShapeError(f"Shapes {self} and {other} are not compatible: their lengths differ")
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        pairs = zip(self._dims, other._dims, strict=True)
        return TensorShape(b if a is None else a for a, b in pairs)

    def concatenate(self, other: Any) -> TensorShape:
        """Append the lengths of another shape."""
        others = TensorShape(other)._dims
        if self._dims is None or others is None:
            return TensorShape(None)
        return TensorShape((*self._dims, *others))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self._known("Cannot take the length of"))

    def __bool__(self) -> bool:
        # True for the shape of a number too, as in TensorFlow: it's known.
        return self._dims is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._known("Cannot iterate over"))

    def __getitem__(self, index: Any) -> Any:
        if self._dims is not None:
            part = self._dims[index]
            return TensorShape(part) if isinstance(index, slice) else part
        if not isinstance(index, slice):
            return None
        if index.step not in {None, 1}:
            raise ShapeError("a shape with unknown rank has no steps: write shape[1:3]")
        start, stop = index.start or 0, index.stop
        # As in TensorFlow: the rank of the slice is known only between two ends of one sign.
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(stop - start, 0))

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == TensorShape(other)._dims
        except ShapeError:
            return NotImplemented

    def __hash__(self) -> int:
        # Equal to the hash of the tuple, because the shape equals the tuple.
        return hash(self._dims)

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)


def listed(value: Any) -> Any:
    """Return the lengths of a TensorShape as a list of integers, and any other value unchanged.

    Raises ShapeError if a length is unknown.
    """
    if not isinstance(value, TensorShape):
        return value
    if not value.is_fully_defined():
        raise ShapeError(
            f"Cannot convert a partially known TensorShape {value} to a Tensor: give each axis a length"
        )
    return value.as_list()


def known_shape(dims: tuple[int, ...]) -> TensorShape:
    """Return the shape of an array."""
    # Without checking the lengths: `x.shape` is read often, and those of an array are right.
    shape: TensorShape = _new(TensorShape)
    shape._dims = dims
    return shape


_new = object.__new__


def _iterable(dims: Any) -> Iterable[Any]:
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
        raise RankError(
            f"a shape consists of nonnegative integers or None, not {shown(dim)}"
        ) from None
    if length < 0:
        raise ShapeError(f"Dimension {length} must be >= 0")
    return length
