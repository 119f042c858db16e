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
from tapemagic.engine.laziness import gates, is_lazy, kept, refuse_lazy_parts
from tapemagic.engine.recording import clock
from tapemagic.engine.tensor.coercion import PandasData, private_array, value_text
from tapemagic.engine.tensor.collection import Collection
from tapemagic.engine.tensor.conversions import Conversions
from tapemagic.engine.tensor.dask_results import pickled
from tapemagic.engine.tensor.messages import HABITS, ragged_error
from tapemagic.engine.tensor.methods import ArrayMethods, MissingAttribute
from tapemagic.engine.tracing import element
from tapemagic.errors import TapeError

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]

new = object.__new__

PLAIN_SCALARS = frozenset({float, int, bool, np.float64, np.float32, np.int64})
"""The types of most operands that are neither tensors nor arrays."""

BARE = PLAIN_SCALARS | {type(None)}


def wrap(value: Any, i: int = 0) -> Tensor:
    """A tensor that holds `value` itself, which must not be written into from then on."""
    tensor = new(Tensor)
    tensor._value = value
    tensor._id = i
    return tensor


def plain(x: Traced) -> Tensor:
    """A tensor with the value of another one, or of a variable now, and its id: of no class derived from Tensor."""
    held = x._read()
    return wrap(held._value, held._id)


def computed(value: Any) -> Tensor:
    """A tensor with a value that was computed just now, and that no tape follows."""
    return wrap(value, clock[0])


def id_of(x: Any) -> int:
    """The id of a tensor or variable, or the number in its place that says why it has none: see `engine.recording`."""
    return x._id  # type: ignore[no-any-return]


def has_id(x: Any) -> bool:
    """Whether something is a tensor or variable with an id, under which tapes may track it."""
    return isinstance(x, Traced) and x._id > 0


def put_value(tensor: Tensor, value: Any) -> None:
    """Give a tensor another value, of the same shape and dtype; ids, and so tapes, stay as they are."""
    tensor._value = value


def put_id(tensor: Tensor, i: int) -> None:
    """Let tapes know a tensor by an id, if that is later than its own."""
    tensor._id = max(tensor._id, i)


def with_value(tensor: Any, value: Any) -> Any:
    """A tensor of the class and with the id of another one, but with a value of its own.

    Examples
    --------
    >>> with_value(Tensor([1.0, 2.0]), np.ones(2))
    Tensor([1., 1.])
    """
    kind: Any = type(tensor)
    made = new(kind)
    for name in _slots(kind):
        if hasattr(tensor, name):
            setattr(made, name, getattr(tensor, name))
    made._value = value
    return made


@cache
def _slots(kind: type) -> list[str]:
    """The names of what the tensors of a class hold, but for their value."""
    names = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
    return [name for name in names if name not in {"__weakref__", "_value"}]


def unwrap(value: Any) -> Any:
    """The value of a tensor, also of those in lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Traced):
        return value._value
    if type(value) in (list, tuple):
        return type(value)(map(unwrap, value))
    if type(value) is dict:
        return {name: unwrap(x) for name, x in value.items()}
    return kept(value) if is_lazy(value) else value


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


class Traced(ArrayMethods, Conversions, Collection):
    """Base class of Tensor and Variable: the operations on both.

    `dispatch` adds NumPy's protocols, and `operators` Python's operators.
    """

    __slots__ = ()

    __pandas_priority__ = 5000
    """Above that of a DataFrame, which is 4000: pandas leaves operators to the operand with the highest one."""

    result_class: type[Tensor]
    """The class of results of operations on it, and of its gradients."""

    _value: Any
    _id: int

    def _with(self, value: Any) -> Any:
        return with_value(self, value)

    __array_ufunc__: Callable[..., Any]
    __array_function__: Callable[..., Any]
    __neg__: Unary
    __abs__: Unary
    __pos__: Unary
    __invert__: Unary
    __add__: Binary
    __sub__: Binary
    __mul__: Binary
    __truediv__: Binary
    __pow__: Binary
    __radd__: Binary
    __rsub__: Binary
    __rmul__: Binary
    __rtruediv__: Binary
    __rpow__: Binary
    __matmul__: Binary
    __mod__: Binary
    __floordiv__: Binary
    __lt__: Binary
    __le__: Binary
    __gt__: Binary
    __ge__: Binary

    def _read(self) -> Tensor:
        raise NotImplementedError


for _name, _instead in HABITS.items():
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

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: Any) -> Tensor:
        return self

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return pickled(self, Tensor)


Traced.result_class = Tensor


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
                raise ragged_error(value) from None
        refuse_lazy_parts(value)
        return np.array(value)
    if kind in BARE or isinstance(value, Traced) or not isinstance(value, PandasData):
        return kept(value) if is_lazy(value) and not isinstance(value, Traced) else value
    return np.asarray(value)


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``, as a function."""
    return element(x, index)


def unwrap_index(value: Any) -> Any:
    """A copy of an index or another parameter for a record: without tensors, and not affected by later changes.

    Arrays are copied wherever they are in lists, tuples, dicts and slices, and so is whatever NumPy makes one of.
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
        return kept(value)
    if hasattr(value, "__array__") or isinstance(value, _SEQUENCES):
        return value if isinstance(value, np.generic) else np.array(value)
    return value


_IMMUTABLE = frozenset({int, float, bool, str, type(None), type(Ellipsis), range})
_SEQUENCES = (array, deque, memoryview, bytearray)


def _bound(value: Any) -> Any:
    """One end of a slice, or its step: a plain number, since an array of one number could be written into."""
    value = unwrap(value)
    return operator.index(value) if isinstance(value, np.ndarray) else value


def broadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """``np.broadcast_to(g, shape)``, which takes a tenth of the time where `g` is a bare number.

    It is lazy where the shape is that of a lazy array, and cut as that is.
    """
    if g.shape == shape:
        return g
    if g.__class__ is Tensor:
        return wrap(broadcast(g._value, shape), g._id) if g._id <= 0 else np.broadcast_to(g, shape)
    if gates and hasattr(shape, "chunks"):
        return gates[0].call(np.broadcast_to, (g, shape), {})
    if issubclass(type(g), np.generic):  # a symbol says that it is one
        return np.ndarray(shape, g.dtype, g, 0, (0,) * len(shape))
    return np.broadcast_to(g, shape)
