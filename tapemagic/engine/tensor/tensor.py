"""Tensor: an immutable value that tapes can follow through Python's operators and NumPy's functions."""

from __future__ import annotations

import operator
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.events import record_text
from tapemagic.engine.laziness import as_lazy, gates, is_lazy, refuse_lazy_parts
from tapemagic.engine.recording import clock
from tapemagic.engine.tensor.coercion import PandasData, private_array, value_text
from tapemagic.engine.tensor.collection import Collection
from tapemagic.engine.tensor.conversions import Conversions
from tapemagic.engine.tensor.dask_results import pickled
from tapemagic.engine.tensor.messages import ADVICE_BY_ATTRIBUTE, ragged_error
from tapemagic.engine.tensor.methods import ArrayMethods, MissingAttribute
from tapemagic.engine.tracing import element
from tapemagic.errors import TapeError

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]

# Tensor.__init__ checks and copies; results of operations need neither, and this is the hot path.
new = object.__new__

# Membership in a set of exact types is faster than isinstance with a tuple.
PLAIN_SCALARS = frozenset({float, int, bool, np.float64, np.float32, np.int64})
"""The types of most operands that are neither tensors nor arrays."""

BARE = PLAIN_SCALARS | {type(None)}


def wrap(value: Any, i: int = 0) -> Tensor:
    """Create a tensor around `value` without a copy; nothing may write into `value` afterwards."""
    tensor = new(Tensor)
    tensor._value = value
    tensor._id = i
    return tensor


def plain(x: Traced) -> Tensor:
    """Return a plain Tensor with the value and the id of a tensor, also of a subclass, or of a variable now."""
    current = x._read()
    return wrap(current._value, current._id)


def computed(value: Any) -> Tensor:
    """Create a tensor with a value that was computed just now and that no tape tracks."""
    return wrap(value, clock[0])


def id_of(x: Any) -> int:
    """Return the id of a tensor or variable, or the number that replaces it: see `engine.recording`."""
    return x._id  # type: ignore[no-any-return]


def has_id(x: Any) -> bool:
    """Return True for a tensor or variable with an id, which tapes may track."""
    return isinstance(x, Traced) and x._id > 0


def put_value(tensor: Tensor, value: Any) -> None:
    """Replace the value of a tensor by one of the same shape and dtype; its id, and so its tapes, stay."""
    tensor._value = value


def put_id(tensor: Tensor, i: int) -> None:
    """Give a tensor an id, unless its own is later."""
    tensor._id = max(tensor._id, i)


def with_value(tensor: Any, value: Any) -> Any:
    """Copy a tensor, its class and its id, with another value.

    Examples
    --------
    >>> with_value(Tensor([1.0, 2.0]), np.ones(2))
    Tensor([1., 1.])
    """
    kind: Any = type(tensor)
    copied = new(kind)
    for name in _slots(kind):
        if hasattr(tensor, name):
            setattr(copied, name, getattr(tensor, name))
    copied._value = value
    return copied


@cache
def _slots(kind: type) -> list[str]:
    """Return the names of the slots of a class of tensors, except for the value."""
    names = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
    return [name for name in names if name not in {"__weakref__", "_value"}]


def unwrap(value: Any) -> Any:
    """Return the value of a tensor, also inside lists, tuples and dicts; other objects are returned unchanged."""
    if isinstance(value, Traced):
        return value._value
    if type(value) in (list, tuple):
        return type(value)(map(unwrap, value))
    if type(value) is dict:
        return {name: unwrap(x) for name, x in value.items()}
    return as_lazy(value) if is_lazy(value) else value


def tensors_in(values: Iterable[Any]) -> list[Traced]:
    """Return the tensors and variables among arguments, also in nested lists, tuples and dicts."""
    tensors: list[Traced] = []
    for x in values:
        if isinstance(x, Traced):
            tensors.append(x)
        elif isinstance(x, (list, tuple)):
            tensors += tensors_in(x)
        elif isinstance(x, dict):
            tensors += tensors_in(x.values())
    return tensors


class Traced(ArrayMethods, Conversions, Collection):
    """Base class of Tensor and Variable: the operations on both.

    `dispatch` adds NumPy's protocols, and `operators` Python's operators.
    """

    __slots__ = ()

    __pandas_priority__ = 5000
    """Higher than a DataFrame's 4000: pandas lets the operand with the highest priority compute a result."""

    result_class: type[Tensor]
    """The class of results of operations on this value, and of gradients with respect to it."""

    _value: Any
    _id: int

    def _with(self, value: Any) -> Any:
        return with_value(self, value)

    __array_ufunc__: Callable[..., Any]
    __array_function__: Callable[..., Any]

    def _read(self) -> Tensor:
        raise NotImplementedError


for _name, _instead in ADVICE_BY_ATTRIBUTE.items():
    _missing = MissingAttribute(_instead)
    _missing.__set_name__(Traced, _name)
    setattr(Traced, _name, _missing)


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
        self._value = private_array(value, dtype)
        self._id = 0

    def _read(self) -> Tensor:
        return self

    def __repr__(self) -> str:
        record_text(self, "repr()")
        return f"Tensor({value_text(self._value, len('Tensor('))})"

    # Tensors are immutable, so a copy may be the same object, which stays on its tapes.
    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return pickled(self, Tensor)


Traced.result_class = Tensor


def as_operand(value: Any) -> Any:
    """Convert a list, or pandas data, to an array, with the tensors inside still on the tape."""
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
                raise ragged_error(value) from None
        refuse_lazy_parts(value)
        return np.array(value)
    if kind in BARE or isinstance(value, Traced) or not isinstance(value, PandasData):
        return as_lazy(value) if is_lazy(value) and not isinstance(value, Traced) else value
    return np.asarray(value)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]`` as a function."""
    return element(x, index)


def unwrap_index(value: Any) -> Any:
    """Copy an index or another parameter for a record: without tensors, and independent of later changes.

    Arrays are copied at any depth of lists, tuples, dicts and slices, as are objects that NumPy converts to an array.
    """
    if isinstance(value, Traced):
        return value._value
    kind = value.__class__
    if kind in _IMMUTABLE:
        return value
    if isinstance(value, slice):
        return slice(*map(_bound, (value.start, value.stop, value.step)))
    if isinstance(value, tuple):
        return tuple(map(unwrap_index, value))
    if isinstance(value, list):
        return list(map(unwrap_index, value))
    if isinstance(value, dict):
        return {name: unwrap_index(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.copy()
    if is_lazy(value):
        return as_lazy(value)
    if hasattr(value, "__array__") or isinstance(value, _SEQUENCES):
        return value if isinstance(value, np.generic) else np.array(value)
    return value


_IMMUTABLE = frozenset({int, float, bool, str, type(None), type(Ellipsis), range})
_SEQUENCES = (array, deque, memoryview, bytearray)


def _bound(value: Any) -> Any:
    """Return a bound or step of a slice as a plain number: your program could write into an array of one number."""
    value = unwrap(value)
    return operator.index(value) if isinstance(value, np.ndarray) else value


def broadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """``np.broadcast_to(g, shape)``, but ten times as fast for a bare number.

    The result is lazy, with the same chunks, if the shape belongs to a lazy array.
    """
    if g.shape == shape:
        return g
    if g.__class__ is Tensor:
        return wrap(broadcast(g._value, shape), g._id) if g._id <= 0 else np.broadcast_to(g, shape)
    if gates and hasattr(shape, "chunks"):
        return gates[0].call(np.broadcast_to, (g, shape), {})
    if issubclass(
        type(g), np.generic
    ):  # a traced number claims to be an np.generic; only its type tells
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))
    return np.broadcast_to(g, shape)
