"""Tensor: an immutable value that tapes can follow through Python's operators and NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.tensor.coercion import PandasData, own, ragged, value_text
from tapemagic.engine.tensor.conversions import Conversions
from tapemagic.engine.tensor.methods import ArrayMethods
from tapemagic.engine.tensor.operators import Operators
from tapemagic.errors import TapeError

new = object.__new__

BARE = frozenset({float, int, bool, np.float64, np.float32, np.int64, type(None)})
"""Of these types most operands are that are neither tensors nor arrays."""


def wrap(value: Any, i: int = 0) -> Tensor:
    """A tensor around `value` itself, which nobody may write into any more."""
    tensor = new(Tensor)
    tensor._value = value
    tensor._id = i
    return tensor


def unwrap(value: Any) -> Any:
    """What a tensor holds; anything else as it is. Lists, tuples and dicts are searched for tensors."""
    if isinstance(value, Traced):
        return value._value
    if type(value) in (list, tuple):
        return type(value)(map(unwrap, value))
    if type(value) is dict:
        return {name: unwrap(x) for name, x in value.items()}
    return value


def tensors_in(values: Iterable[Any]) -> list[Traced]:
    """The tensors and variables among the arguments of a call: also those in nested lists, tuples and dicts."""
    found: list[Traced] = []
    for x in values:
        if isinstance(x, Traced):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            found += tensors_in(x)
        elif isinstance(x, dict):
            found += tensors_in(x.values())
    return found


class Traced(ArrayMethods, Conversions, Operators):
    """What a Tensor and a Variable have in common: everything that can be computed with them.

    `dispatch` gives it NumPy's protocols, and `arithmetic` the operators of arithmetic.
    """

    __slots__ = ()

    _value: Any
    _id: int

    __array_ufunc__: Callable[..., Any]
    __array_function__: Callable[..., Any]
    __neg__: Callable[[Any], Any]
    __abs__: Callable[[Any], Any]
    __add__: Callable[[Any, Any], Any]
    __sub__: Callable[[Any, Any], Any]
    __mul__: Callable[[Any, Any], Any]
    __truediv__: Callable[[Any, Any], Any]
    __pow__: Callable[[Any, Any], Any]
    __radd__: Callable[[Any, Any], Any]
    __rsub__: Callable[[Any, Any], Any]
    __rmul__: Callable[[Any, Any], Any]
    __rtruediv__: Callable[[Any, Any], Any]
    __rpow__: Callable[[Any, Any], Any]

    def _read(self) -> Tensor:
        raise NotImplementedError


class Tensor(Traced):
    """An immutable array, or number, that a tape can follow.

    Everything that NumPy does with an array works on a tensor: operators, indexing, ``np.sin(t)``, ``t.sum()``.
    Make one with `constant`; results of operations on tensors are tensors.

    Examples
    --------
    >>> import numpy as np, tapemagic as tm
    >>> x = tm.constant([1.0, 2.0, 3.0])
    >>> np.sum(x * x)
    Tensor(14.0)
    """

    __slots__ = ("__weakref__", "_id", "_value")

    def __init__(self, value: Any, dtype: DTypeLike | None = None) -> None:
        self._value = own(value, dtype)
        self._id = 0

    def _read(self) -> Tensor:
        return self

    def __repr__(self) -> str:
        return f"Tensor({value_text(self._value, len('Tensor('))})"

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        return Tensor, (self._value,)


def as_operand(value: Any) -> Any:
    """A list, or data of pandas, as the array that NumPy makes of it, with the tensors inside kept on the tape."""
    kind = value.__class__
    if kind is Tensor or kind is np.ndarray:
        return value
    if isinstance(value, (list, tuple)):
        if any(isinstance(x, (Traced, list, tuple)) for x in value):
            try:
                return np.stack([as_operand(x) for x in value])
            except ValueError as error:
                if isinstance(error, TapeError):
                    raise
                raise ragged(value) from None
        return np.array(value)
    if kind in BARE or isinstance(value, Traced) or not isinstance(value, PandasData):
        return value
    return np.asarray(value)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``, as a function."""
    return x[index]


def unwrap_index(index: Any) -> Any:
    """An index whose tensors are plain whole numbers or truth values, copied so that nobody can change it."""
    if isinstance(index, slice):
        if isinstance(index.start, Traced) or isinstance(index.stop, Traced):
            return slice(*map(unwrap, (index.start, index.stop, index.step)))
        return index
    if isinstance(index, tuple):
        return tuple(map(unwrap_index, index))
    index = unwrap(index)
    return index.copy() if isinstance(index, np.ndarray) else index
