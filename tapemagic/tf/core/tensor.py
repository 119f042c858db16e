"""EagerTensor: an engine tensor that behaves and prints like TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
from tapemagic.tf.core.shape import TensorShape, known_shape
from tapemagic.tf.errors import InvalidArgumentError, invalid_argument

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
"""TensorFlow's name for the only device."""


class Eager(Traced):
    """Mix-in that gives engine tensors and variables the behavior of TensorFlow's.

    Results of the engine become EagerTensors by assigning their class: ids stay the same, so tapes still know them.
    """

    __slots__ = ()

    result_class: type[EagerTensor]

    if TYPE_CHECKING:  # results without a derivative are tensors too in TensorFlow

        def __lt__(self, other: Any) -> EagerTensor: ...
        def __le__(self, other: Any) -> EagerTensor: ...
        def __gt__(self, other: Any) -> EagerTensor: ...
        def __ge__(self, other: Any) -> EagerTensor: ...
        def __eq__(self, other: object) -> EagerTensor: ...
        def __ne__(self, other: object) -> EagerTensor: ...
        def __and__(self, other: Any) -> EagerTensor: ...
        def __rand__(self, other: Any) -> EagerTensor: ...
        def __or__(self, other: Any) -> EagerTensor: ...
        def __ror__(self, other: Any) -> EagerTensor: ...
        def __xor__(self, other: Any) -> EagerTensor: ...
        def __rxor__(self, other: Any) -> EagerTensor: ...
        def __lshift__(self, other: Any) -> EagerTensor: ...
        def __rlshift__(self, other: Any) -> EagerTensor: ...
        def __rshift__(self, other: Any) -> EagerTensor: ...
        def __rrshift__(self, other: Any) -> EagerTensor: ...
        def __invert__(self) -> EagerTensor: ...
        def __hash__(self) -> int: ...

    @property
    def shape(self) -> TensorShape:  # it equals the tuple, and has its elements
        """The length of each axis."""
        return known_shape(self._value.shape)

    @property
    def dtype(self) -> DType:  # it has all that NumPy's dtype has
        """The type of the elements."""
        return as_dtype(self._value.dtype)

    @property
    def device(self) -> str:
        """TensorFlow's name for the device."""
        return DEVICE

    @property
    def _keras_mask(self) -> Any:
        """The mask that a layer of Keras attached, or None."""
        from tapemagic.nn.attached_masks import (
            mask_of,  # only programs with masks load tapemagic.nn
        )

        return eager(mask_of(self))

    def get_shape(self) -> TensorShape:
        """The length of each axis."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Raise an error unless the tensor's shape is compatible with `shape`."""
        self.shape.assert_is_compatible_with(shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        operands = [*inputs, *kwargs.values()]
        dtype = unwrap(self).dtype
        # np.add(x, array) computes in the dtype of the tensor, as x + array does. NumPy would promote float32 and
        # float64 to float64, and every later operation with it.
        if ufunc.nin == 2 and method == "__call__" and ufunc.nout == 1 and len(operands) == 2:
            inputs = tuple(
                operand(x, dtype, ufunc.__name__) if x.__class__ in _ADOPTING else x for x in inputs
            )
            # NumPy divides all integers in float64, TensorFlow 8- and 16-bit ones in float32.
            if ufunc is np.true_divide and dtype.kind in "iu":
                inputs = tuple(_astype(tensor(x), quotient_dtype(dtype)) for x in inputs)
        arguments, options = _plain_in(inputs), _plain_in(kwargs)
        result = Traced.__array_ufunc__(plain(self), ufunc, method, *arguments, **options)
        # array += x returns the array itself.
        return result if kwargs.get("out") is not None else eager(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        kinds = [Tensor if issubclass(kind, Eager) else kind for kind in types]
        arguments, options = _plain_in(args), _plain_in(kwargs)
        return eager(Traced.__array_function__(plain(self), func, kinds, arguments, options))

    def __getitem__(self, index: Any) -> EagerTensor:
        try:
            return eager(super().__getitem__(index))  # type: ignore[no-any-return]
        except IndexError as error:
            raise invalid_argument(error) from None

    def __format__(self, spec: str) -> str:
        return super().__format__(spec) if spec else str(self)

    def __round__(self, digits: int | None = None) -> Any:
        return np.round(self, digits or 0)

    def __str__(self) -> str:
        record_text(self, "str()")
        return printing.tensor_text(self._value)

    def __repr__(self) -> str:
        record_text(self, "repr()")
        return printing.tensor_code(self._value)


# Not tensors: NumPy's functions promote two tensors of different dtypes by NumPy's rules; only TensorFlow's own
# functions and operators refuse them.
_ADOPTING = frozenset(
    {np.ndarray, list, tuple, np.float64, np.float32, np.float16, np.int64, np.int32}
)
"""Types of values that adopt the dtype of a tensor in binary NumPy functions."""


def _plain_in(values: Any) -> Any:
    """Replace EagerTensors in nested arguments by engine tensors, and TensorShapes by tuples."""
    if isinstance(values, Eager):
        return plain(values)
    kind = values.__class__
    if kind is tuple or kind is list:
        return kind(map(_plain_in, values))
    # NumPy's rules take shapes as tuples.
    if kind is TensorShape:
        return tuple(values)
    if kind is dict:
        return {name: _plain_in(x) for name, x in values.items()}
    return values


class EagerTensor(Eager, Tensor):
    """Immutable array or number that a tape can track: TensorFlow's ``tf.Tensor``.

    `constant` and every operation return one. ``x.shape`` is a TensorShape, ``x.dtype`` a DType; ``x.numpy()`` is a
    plain array. NumPy functions and methods work on it and stay on the tape.

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

    # Graph-mode code reads x.name, x.op and x.graph: these raise errors that say what to do instead.
    name = MissingAttribute("in eager execution a tensor has no name; a tf.Variable has one")
    graph = MissingAttribute("there are no graphs: every operation runs at once")
    op = MissingAttribute("there are no graphs: every operation runs at once")

    def __init__(self, value: Any, dtype: Any = None) -> None:
        Tensor.__init__(self, unwrap(tensor(value, dtype)))

    def __format__(self, spec: str) -> str:
        record_text(self, "format()")
        # f"{x}" shows the number only, as TensorFlow's tensors do; str(x) would add shape and dtype.
        if not spec and printing.traced_name(self._value):
            return printing.tensor_text(self._value)
        return super().__format__(spec) if spec else format(self._value, "")

    def __reduce__(self) -> Any:
        record_text(self, "pickle")
        return pickled(self, EagerTensor)


class EagerSlice(Eager, Slice):
    """Part of a variable: a tensor that can be assigned to."""

    __slots__ = ()

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Change this part of the variable; the rest stays the same."""
        return eager(super().assign(tensor(value, self.dtype)))


# TensorFlow has no class for a part of a variable, so users see a single kind of tensor.
Eager.result_class = EagerTensor
EagerSlice.__name__ = EagerSlice.__qualname__ = "EagerTensor"


def eager(result: Any) -> Any:
    """Convert every tensor or array in a result to an EagerTensor.

    Lists, tuples and dicts are searched; strings, None and plain Python values stay unchanged.

    Examples
    --------
    >>> eager((computed(np.float32(1.0)), [np.bool_(True)]))  # doctest: +NORMALIZE_WHITESPACE
    (<tf.Tensor: shape=(), dtype=float32, numpy=1.0>, [<tf.Tensor: shape=(), dtype=bool, numpy=True>])
    """
    # Assigning the class instead of wrapping: a new object would need a new id, which no tape knows.
    kind = result.__class__
    if kind is Tensor:
        result.__class__ = EagerTensor
        return result
    if isinstance(result, Eager):
        return result
    if kind is np.ndarray or isinstance(result, np.generic):
        # Values without axes are NumPy scalars in the engine, not arrays of shape ().
        wrapped: Any = computed(result if result.shape else result[()])
        wrapped.__class__ = EagerTensor
        return wrapped
    if kind is Slice:
        result.__class__ = EagerSlice
        return result
    if isinstance(result, tuple):
        parts = map(eager, result)
        # A namedtuple takes its fields as separate arguments.
        return kind(*parts) if hasattr(result, "_fields") else tuple(parts)
    if kind is list:
        return list(map(eager, result))
    if kind is dict:
        return {name: eager(x) for name, x in result.items()}
    return result


def is_tensor(x: Any) -> bool:
    """Return True for a tensor or a variable."""
    return isinstance(x, Traced)


# -- Python's operators ---------------------------------------------------------------------------

Binary = Callable[[Any, Any], Any]

_TRUE_QUOTIENT = {"b": np.float32, "h": np.float32, "B": np.float32, "H": np.float32}
"""Dtype of quotients of 8- and 16-bit integers; other integers give float64."""

_astype: Any = np.astype

_LOGICAL = frozenset({"and", "or", "xor"})


_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@", "mod": "%", "floordiv": "//",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
"""Symbols of Python's operators, for messages."""


def quotient_dtype(dtype: Any) -> Any:
    """Return the dtype in which integers are divided."""
    return np.dtype(_TRUE_QUOTIENT.get(dtype.char, np.float64))


def floored_quotient(x: Any, y: Any) -> Any:
    """Round the quotient of floats down: 1.0 // 0.1 is 10, as in TensorFlow.

    NumPy and Python return 9: they round down the exact quotient, and the float 0.1 is slightly above 0.1.
    """
    return np.floor(np.true_divide(x, y))


def _operator(name: str, compute: Binary) -> Binary:
    """Build an operator that requires operands of one dtype."""
    # "rshift" begins with r without being reflected; its reflection is "rrshift".
    symbol = name.removeprefix("r") if name != "rshift" else name
    reflected = symbol != name
    whole_division = symbol in {"floordiv", "mod"}

    def forward(self: Any, value: Any) -> Any:
        # Python then tries the other operand, and raises its own TypeError.
        if value is None or isinstance(value, (str, dict)):
            return NotImplemented
        dtype = self._value.dtype
        value = operand(value, dtype, _SIGNS[symbol])
        if dtype.kind in "biu":
            # NumPy adds booleans as "or" and multiplies them as "and"; TensorFlow has no arithmetic for them.
            if dtype.kind == "b" and symbol not in _LOGICAL:
                raise InvalidArgumentError(
                    f"{_SIGNS[symbol]} takes numbers, not booleans: write tf.cast(x, tf.float32), or tf.logical_and"
                )
            if symbol == "truediv":
                # Before the division, so that the cast is on the tape and the quotient of int32 is float64, as in
                # TensorFlow.
                wide = quotient_dtype(dtype)
                self, value = _astype(plain(self), wide), _astype(tensor(value, dtype), wide)
            elif whole_division:
                divisor = self if reflected else value
                # NumPy would warn and return 0.
                if not np.all(unwrap(divisor)):
                    raise InvalidArgumentError("Integer division by zero")
            elif symbol == "pow":
                require_signed("**", dtype)
        # NumPy multiplies vectors as well.
        if symbol == "matmul" and min(self._value.ndim, unwrap(value).ndim) < 2:
            raise InvalidArgumentError(
                f"@ takes tensors with two axes or more, not of shapes {self._value.shape} and "
                f"{np.shape(unwrap(value))}: write tf.linalg.matvec(a, x), or tf.tensordot(x, y, 1)"
            )
        try:
            # Only floats: the quotient of two large integers is not exact in float64.
            if symbol == "floordiv" and dtype.kind == "f":
                x, y = (value, self) if reflected else (self, value)
                return eager(floored_quotient(plain(self) if x is self else x, y))
            return eager(compute(self, value))
        except (ValueError, OverflowError) as error:
            raise invalid_argument(error) from None

    return forward


def _comparison(name: str, compute: Binary) -> Binary:
    """Build a comparison, which returns a tensor of booleans."""

    def forward(self: Any, value: Any) -> Any:
        if value is None:
            return NotImplemented
        if isinstance(value, str):
            raise invalid_argument(
                TypeError(f"a tensor of numbers cannot be compared with {value!r}")
            )
        dtype = self._value.dtype
        value = operand(value, dtype, _SIGNS[name])
        if dtype.kind in "bc" and name not in {"eq", "ne"}:
            advice = "cast them to tf.int32" if dtype.kind == "b" else "compare tf.abs(x)"
            raise InvalidArgumentError(f"{_SIGNS[name]} takes real numbers, not {dtype}: {advice}")
        try:
            return eager(compute(self, value))
        except ValueError as error:
            # Shapes that do not broadcast are unequal, as in TensorFlow; other comparisons fail.
            if name in {"eq", "ne"}:
                return eager(np.bool_(name == "ne"))
            raise invalid_argument(error) from None

    return forward


def require_signed(called: str, dtype: Any) -> None:
    """Refuse unsigned integers and booleans, for which NumPy would wrap around: -1 would be 255."""
    if dtype.kind in "ub":
        raise InvalidArgumentError(
            f"{called} does not take unsigned integers or booleans, here {dtype}: write tf.cast(x, tf.int32)"
        )


def _unary(name: str, compute: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def forward(self: Any) -> Any:
        if name in {"neg", "abs"}:
            require_signed({"neg": "-", "abs": "abs"}[name], self._value.dtype)
        return eager(compute(self))

    return forward


def _named(function: Any, name: str) -> Any:
    function.__name__, function.__qualname__ = name, f"EagerTensor.{name}"
    return function


for _name in (*RECORDED, *DISPATCHED):
    # tf.Tensor has no __divmod__; the engine's serves divmod(x, y).
    if _name != "divmod":
        for _side in (_name, f"r{_name}"):
            _method = _operator(_side, getattr(Traced, f"__{_side}__"))
            setattr(Eager, f"__{_side}__", _named(_method, f"__{_side}__"))
for _name in COMPARISONS:
    _method = _comparison(_name, getattr(Traced, f"__{_name}__"))
    setattr(Eager, f"__{_name}__", _named(_method, f"__{_name}__"))
for _name in ("neg", "abs", "pos", "invert"):
    setattr(
        Eager,
        f"__{_name}__",
        _named(_unary(_name, getattr(Traced, f"__{_name}__")), f"__{_name}__"),
    )


def has_tensors(values: Any) -> bool:
    """Return True if nested values contain a tensor."""
    return bool(tensors_in(values))
