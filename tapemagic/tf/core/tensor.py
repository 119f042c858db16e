"""EagerTensor: a tensor of the engine that behaves and prints as TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine.events import record_text
from tapemagic.engine.tensor.dask_results import pickled
from tapemagic.engine.tensor.methods import MissingAttribute
from tapemagic.engine.tensor.operators import COMPARISONS, DISPATCHED, RECORDED
from tapemagic.engine.tensor.tensor import Tensor, Traced, computed, plain, tensors_in, unwrap
from tapemagic.engine.tensor.variable import Slice
from tapemagic.tf.core import printing
from tapemagic.tf.core.convert import operand, tensor
from tapemagic.tf.core.dtype import DType, as_dtype
from tapemagic.tf.core.shape import TensorShape
from tapemagic.tf.errors import InvalidArgumentError, invalid_argument

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
"""TensorFlow's name of the only device that there is."""

_tuple = tuple.__new__


class Eager(Traced):
    """The behaviour of TensorFlow's tensors, mixed into the engine's tensors and variables.

    Whatever the engine gives as a result becomes an EagerTensor, by its class alone: ids, and so tapes, stay as
    they are.
    """

    __slots__ = ()

    @property
    def shape(self) -> TensorShape:
        """The length of each axis."""
        return _tuple(TensorShape, self._value.shape)

    @property
    def dtype(self) -> DType:  # type: ignore[override] # it has all that NumPy's dtype has
        """The type of the elements."""
        return as_dtype(self._value.dtype)

    @property
    def device(self) -> str:
        """TensorFlow's name of the processor."""
        return DEVICE

    def get_shape(self) -> TensorShape:
        """The length of each axis."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise an error unless the shape is compatible with the given one."""
        self.shape.assert_is_compatible_with(shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        held = [*inputs, *kwargs.values()]
        dtype = unwrap(self).dtype
        if ufunc.nin == 2 and method == "__call__" and ufunc.nout == 1 and len(held) == 2:
            inputs = tuple(
                operand(x, dtype, ufunc.__name__) if x.__class__ in _ADOPTING else x for x in inputs
            )
            if ufunc is np.true_divide and dtype.kind in "iu":
                inputs = tuple(_astype(tensor(x), quotient_dtype(dtype)) for x in inputs)
        given, options = _plain_in(inputs), _plain_in(kwargs)
        return eager(Traced.__array_ufunc__(plain(self), ufunc, method, *given, **options))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        kinds = [Tensor if issubclass(kind, Eager) else kind for kind in types]
        given, options = _plain_in(args), _plain_in(kwargs)
        return eager(Traced.__array_function__(plain(self), func, kinds, given, options))

    def __getitem__(self, index: Any) -> Any:
        try:
            return eager(super().__getitem__(index))
        except IndexError as error:
            raise invalid_argument(error) from None

    def __str__(self) -> str:
        record_text(self, "str()")
        return printing.tensor_text(self._value)

    def __repr__(self) -> str:
        record_text(self, "repr()")
        return printing.tensor_code(self._value)


_ADOPTING = frozenset(
    {np.ndarray, list, tuple, np.float64, np.float32, np.float16, np.int64, np.int32}
)
"""The types of values beside a tensor that take its dtype in NumPy's functions of two arguments."""


def _plain_in(values: Any) -> Any:
    """Arguments of a call with the engine's own tensors in place of TensorFlow's."""
    if isinstance(values, Eager):
        return plain(values)
    kind = values.__class__
    if kind is tuple or kind is list:
        return kind(map(_plain_in, values))
    if kind is dict:
        return {name: _plain_in(x) for name, x in values.items()}
    return values


class EagerTensor(Eager, Tensor):
    """An immutable array, or number, that a tape can follow: TensorFlow's ``tf.Tensor``.

    Made by `constant`, and by every operation. ``x.shape`` is a TensorShape, ``x.dtype`` a DType; ``x.numpy()`` is a
    plain array. NumPy's functions and methods work on it, and stay on the tape.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> x = tf.constant([1.0, 2.0])
    >>> x + 1
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2., 3.], dtype=float32)>
    >>> print(x[0])
    tf.Tensor(1.0, shape=(), dtype=float32)
    """

    __slots__ = ()

    name = MissingAttribute("in eager execution a tensor has no name; a tf.Variable has one")
    graph = MissingAttribute("there are no graphs: every operation runs at once")
    op = MissingAttribute("there are no graphs: every operation runs at once")

    def __init__(self, value: Any, dtype: Any = None) -> None:
        Tensor.__init__(self, unwrap(tensor(value, dtype)))

    def __format__(self, spec: str) -> str:
        record_text(self, "format()")
        return super().__format__(spec) if spec else format(self._value, "")

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return pickled(self, EagerTensor)


class EagerSlice(Eager, Slice):
    """A part of a variable: a tensor that can be assigned to."""

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Change this part of the variable, and leave the rest as it is."""
        return eager(super().assign(tensor(value, self.dtype)))


Eager.result_class = EagerTensor
EagerSlice.__name__ = EagerSlice.__qualname__ = "EagerTensor"


def eager(result: Any) -> Any:
    """The result of an operation, with every tensor or array in it as an EagerTensor.

    Lists, tuples and dicts are taken apart; text, None and plain Python values stay as they are.

    Examples
    --------
    >>> eager((computed(np.float32(1.0)), [np.bool_(True)]))  # doctest: +NORMALIZE_WHITESPACE
    (<tf.Tensor: shape=(), dtype=float32, numpy=1.0>, [<tf.Tensor: shape=(), dtype=bool, numpy=True>])
    """
    kind = result.__class__
    if kind is Tensor:
        result.__class__ = EagerTensor
        return result
    if isinstance(result, Eager):
        return result
    if kind is np.ndarray or isinstance(result, np.generic):
        made: Any = computed(result if result.shape else result[()])
        made.__class__ = EagerTensor
        return made
    if kind is Slice:
        result.__class__ = EagerSlice
        return result
    if isinstance(result, tuple):
        parts = map(eager, result)
        return kind(*parts) if hasattr(result, "_fields") else tuple(parts)
    if kind is list:
        return list(map(eager, result))
    if kind is dict:
        return {name: eager(x) for name, x in result.items()}
    return result


def is_tensor(x: Any) -> bool:
    """Whether something is a tensor or a variable."""
    return isinstance(x, Traced)


# -- Python's operators ---------------------------------------------------------------------------

Binary = Callable[[Any, Any], Any]

_TRUE_QUOTIENT = {"b": np.float32, "h": np.float32, "B": np.float32, "H": np.float32}
"""The dtype of a quotient of whole numbers of 8 or 16 bits; of others it is float64."""

_astype: Any = np.astype

_LOGICAL = frozenset({"and", "or", "xor"})


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@", "mod": "%", "floordiv": "//",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
"""Python's signs of the operators."""


def quotient_dtype(dtype: Any) -> Any:
    """The dtype in which whole numbers are divided."""
    return np.dtype(_TRUE_QUOTIENT.get(dtype.char, np.float64))


def floored_quotient(x: Any, y: Any) -> Any:
    """The rounded quotient of floating-point numbers, rounded down: 1.0 // 0.1 is 10, as in TensorFlow.

    NumPy and Python give 9 there: they round the exact quotient, of a divisor a little above 0.1.
    """
    return np.floor(np.true_divide(x, y))


def _operator(name: str, compute: Binary) -> Binary:
    """An operator that takes operands of one dtype alone."""
    symbol = name.removeprefix("r") if name != "rshift" else name
    reflected = symbol != name
    whole_division = symbol in {"floordiv", "mod"}

    def forward(self: Any, other: Any) -> Any:
        if other is None or isinstance(other, (str, dict)):
            return NotImplemented
        dtype = self._value.dtype
        other = operand(other, dtype, _SIGNS[symbol])
        if dtype.kind in "biu":
            if dtype.kind == "b" and symbol not in _LOGICAL:
                raise InvalidArgumentError(
                    f"{_SIGNS[symbol]} takes numbers, not truth values: write tf.cast(x, tf.float32), or tf.logical_and"
                )
            if symbol == "truediv":
                wide = quotient_dtype(dtype)
                self, other = _astype(plain(self), wide), _astype(tensor(other, dtype), wide)
            elif whole_division:
                divisor = self if reflected else other
                if not np.all(unwrap(divisor)):
                    raise InvalidArgumentError("Integer division by zero")
        try:
            if symbol == "floordiv" and dtype.kind == "f":
                x, y = (other, self) if reflected else (self, other)
                return eager(floored_quotient(plain(self) if x is self else x, y))
            return eager(compute(self, other))
        except (ValueError, OverflowError) as error:
            raise invalid_argument(error) from None

    return forward


def _comparison(name: str, compute: Binary) -> Binary:
    """A comparison, whose result is a tensor of truth values."""

    def forward(self: Any, other: Any) -> Any:
        if other is None:
            return NotImplemented
        if isinstance(other, str):
            raise invalid_argument(
                TypeError(f"a tensor of numbers cannot be compared with {other!r}")
            )
        dtype = self._value.dtype
        other = operand(other, dtype, _SIGNS[name])
        if dtype.kind == "c" and name not in {"eq", "ne"}:
            raise InvalidArgumentError(
                f"{_SIGNS[name]} takes real numbers, not {dtype}: compare tf.abs(x), or tf.math.real(x)"
            )
        try:
            return eager(compute(self, other))
        except ValueError as error:
            if name in {"eq", "ne"}:
                return eager(np.bool_(name == "ne"))
            raise invalid_argument(error) from None

    return forward


def _unary(compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: eager(compute(self))


def _named(function: Any, name: str) -> Any:
    function.__name__, function.__qualname__ = name, f"EagerTensor.{name}"
    return function


for _name in (*RECORDED, *DISPATCHED):
    if _name != "divmod":
        for _side in (_name, f"r{_name}"):
            _method = _operator(_side, getattr(Traced, f"__{_side}__"))
            setattr(Eager, f"__{_side}__", _named(_method, f"__{_side}__"))
for _name in COMPARISONS:
    _method = _comparison(_name, getattr(Traced, f"__{_name}__"))
    setattr(Eager, f"__{_name}__", _named(_method, f"__{_name}__"))
for _name in ("neg", "abs", "pos", "invert"):
    setattr(Eager, f"__{_name}__", _named(_unary(getattr(Traced, f"__{_name}__")), f"__{_name}__"))


def has_tensors(values: Any) -> bool:
    """Whether there is a tensor among nested values."""
    return bool(tensors_in(values))
