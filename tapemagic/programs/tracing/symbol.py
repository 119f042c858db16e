"""Symbol: represents an array or NumPy scalar, and records its computations in a trace."""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from tapemagic.engine.events import origin_of
from tapemagic.engine.tensor import operators
from tapemagic.engine.tensor.tensor import Traced
from tapemagic.programs.object_kinds import is_made_by_frompyfunc
from tapemagic.programs.tracing.calls import ARRAYS_AT_ONCE, reads_an_attribute, text_or, way_out
from tapemagic.programs.tracing.dynamic_shapes import (
    MEMORY,
    SELECTING,
    SHAPING,
    STATIC,
    VARYING,
    WRITING,
    bound,
    depends_on_numbers,
)

METHODS = frozenset(
    {"all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose"}
    | {"clip", "conj", "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot"}
    | {"flatten", "max", "mean", "min", "prod", "ptp", "ravel", "repeat", "reshape"}
    | {"round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace"}
    | {"transpose", "var", "view"}
)
"""The methods of arrays that are recorded; any other method stops the trace."""

TEXTS = frozenset({np.array2string, np.array_repr, np.array_str})
"""Functions that convert an array to text."""

CONVERSION_METHODS = frozenset({"item", "tolist", "tobytes"})
"""Methods that return Python numbers or bytes."""

SHAPED_BY_ARGUMENTS = frozenset(
    {"diagonal", "repeat", "reshape", "squeeze", "swapaxes", "transpose"}
)
"""The methods whose results have a shape that depends on the values of arguments."""


class Method:
    """A method of an array as a function: ``Method("astype")(x, dtype)`` is ``x.astype(dtype)``."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the method of an array."""
        return getattr(x, self.__name__)(*args, **kwargs)


method = cache(Method)


@cache
def attribute(name: str) -> Any:
    """Return a function that reads an attribute of an array, such as its real part."""
    return operator.attrgetter(name)


def _of_memory(name: str) -> Any:
    """Return a property for the memory of an array. The trace stops if user code reads the property."""

    def read(symbol: Symbol) -> Any:
        if origin_of(sys._getframe(1).f_code.co_filename) == "":
            symbol._leave(f".{name}")
        return getattr(symbol._concrete, name)

    return property(read, _change(name))


def _change(name: str) -> Any:
    """Return a function that sets an attribute of a symbol's value, which changes the array itself."""

    def change(symbol: Symbol, value: Any) -> None:
        setattr(symbol._leave(f"x.{name} = ..."), name, concrete(value))

    return change


class Symbol:
    """A value in a traced call: it computes like the value, and records each computation.

    To Python it is an instance of the value's own class, so that all code takes its usual branches.

    - `_node`: Its node in the program. An operation in place replaces it.
    - `_concrete`: Array or NumPy scalar. The value.
    """

    __slots__ = ("__weakref__", "_concrete", "_node", "_trace")

    __array_priority__ = 1000.0

    def __init__(self, trace: Any, node: Any, value: Any) -> None:
        self._trace = trace
        self._node = node
        self._concrete = value

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return self._concrete.__class__

    shape = property(lambda self: self._concrete.shape, _change("shape"))
    dtype = property(lambda self: self._concrete.dtype, _change("dtype"))
    ndim = property(lambda self: self._concrete.ndim)
    size = property(lambda self: self._concrete.size)
    nbytes = property(lambda self: self._concrete.nbytes)
    itemsize = property(lambda self: self._concrete.itemsize)
    strides = _of_memory("strides")
    flags = _of_memory("flags")
    base = _of_memory("base")

    T = property(lambda self: self._call(np.transpose, self) if self.ndim else self)
    mT = property(lambda self: self._call(np.swapaxes, self, -1, -2))  # noqa: N815 (NumPy's name)
    real = property(lambda self: self._call(np.real, self), _change("real"))
    imag = property(lambda self: self._call(np.imag, self), _change("imag"))
    flat = property(lambda self: self._leave(".flat").flat, _change("flat"))

    def _call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return self._trace.call(function, args, kwargs)

    def __len__(self) -> int:
        return len(self._concrete)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self._concrete)))

    def __getitem__(self, index: Any) -> Any:
        if shaped_by_data(index):
            return self._leave(f"x[{self._name_of(index)}]")[concrete(index)]
        return self._call(operator.getitem, self, index)

    @staticmethod
    def _name_of(index: Any) -> str:
        return "a:b" if any(isinstance(part, slice) for part in _parts(index)) else "mask"

    def __setitem__(self, index: Any, value: Any) -> None:
        self._leave("x[i] = ...")[concrete(index)] = concrete(value)

    def __delitem__(self, index: Any) -> None:
        del self._as_scalar("del x[i]")[concrete(index)]

    def __array_ufunc__(self, ufunc: Any, ufunc_method: str, *inputs: Any, **kwargs: Any) -> Any:
        for x in inputs:
            if type(x) is not Symbol and isinstance(x, Traced):
                return NotImplemented
        function = ufunc if ufunc_method == "__call__" else getattr(ufunc, ufunc_method)
        out: Any = kwargs.pop("out", None) if kwargs else None
        if is_made_by_frompyfunc(ufunc):
            self._leave(f"a function of np.frompyfunc: {ARRAYS_AT_ONCE}")
            options = {} if out is None else {"out": concrete(out)}
            return function(*concrete(inputs), **concrete(kwargs), **options)
        if out is None and ufunc_method != "at":
            if ufunc in PYTHON and not kwargs and _is_operator(sys._getframe(1), inputs):
                return _operate(OPERATORS.get(ufunc, ufunc), *inputs)
            return self._trace.call(function, inputs, kwargs)
        if ufunc_method != "at" and len(out) == 1 and type(out[0]) is Symbol:
            return self._trace.call_in_place(function, inputs, kwargs, out[0])
        if out is not None:
            kwargs["out"] = concrete(out)
        self._leave(f"np.{ufunc.__name__} into an array")
        return function(*concrete(inputs), **concrete(kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if any(issubclass(kind, Traced) for kind in types):
            return NotImplemented
        if function in STATIC:
            return function(*concrete(args), **concrete(kwargs))
        if function in TEXTS:
            self._as_scalar(text_or("str()"))
            return function(*concrete(args), **concrete(kwargs))
        if kwargs.get("out") is None:
            return self._called(function, args, kwargs)
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
        if type(out) is Symbol:
            return self._trace.call_in_place(function, args, kwargs, out)
        self._leave(f"np.{function.__name__} into an array")
        return function(*concrete(args), **concrete(kwargs), out=concrete(out))

    def _called(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Call a NumPy function other than a ufunc."""
        name = f"np.{function.__name__}"
        if function in WRITING:
            self._leave(f"{name} into an array")
        elif (
            function in MEMORY
            or depends_on_numbers(function, args, kwargs)
            or (function in SELECTING and has_symbol((args[:1], kwargs.get("condition"))))
        ):
            self._leave(name)
        else:
            if _has_integer_symbol((*args[1:], *kwargs.values())):
                for parameter, value in bound(function, args, kwargs).items():
                    if parameter in SHAPING and has_symbol(value):
                        self._leave(f"{name} with {parameter}= from numbers")
            result = self._trace.call(function, args, kwargs)
            if function in VARYING:
                self._trace.require_kind(result)
            return result
        return function(*concrete(args), **concrete(kwargs))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._concrete, name)
        if name in METHODS and isinstance(self._concrete, np.ndarray | np.generic):
            return partial(self._method, name)
        # NumPy looks for protocols such as __array_interface__ on its arguments: they would bypass the
        # trace.
        if name.startswith("__") and not reads_an_attribute(sys._getframe(1)):
            raise AttributeError(name)
        if name in CONVERSION_METHODS:
            return partial(self._numbers_of, name)
        self._leave(f".{name}()" if callable(value) else f".{name}")
        return value

    def _numbers_of(self, name: str, *args: Any) -> Any:
        """Return the value as Python numbers or bytes."""
        return getattr(self._as_scalar(text_or(f".{name}()")), name)(*concrete(args))

    def _method(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Record the call of an array's method."""
        out = kwargs.pop("out", None)
        if out is not None:
            self._leave(f".{name}(out=...)")
            return getattr(self._concrete, name)(
                *concrete(args), **concrete(kwargs), out=concrete(out)
            )
        if name in SHAPED_BY_ARGUMENTS and has_symbol((args, kwargs)):
            self._leave(f".{name}() with a shape from numbers")
        return self._call(method(name), self, *args, **kwargs)

    def _leave(self, how: str) -> Any:
        """Return the plain value and stop the trace, because later changes of it are not recorded."""
        self._trace.mark_exit(how)
        self._trace.exposed = self._trace.exposed or not issubclass(
            type(self._concrete), np.generic
        )
        return self._concrete

    def _as_scalar(self, how: str) -> Any:
        """Return the value for a conversion to a number or text, which cannot change the array."""
        self._trace.mark_exit(how)
        return self._concrete

    # There is no __buffer__: NumPy would ask it first, for an array that does not own its memory.
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._leave(way_out("np.asarray")), dtype=dtype, copy=copy)

    def __bool__(self) -> bool:
        return self._trace.guard(self)  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(self._as_scalar(way_out("float()")))

    def __int__(self) -> int:
        return int(self._as_scalar(way_out("int()")))

    def __complex__(self) -> complex:
        return complex(self._as_scalar(way_out("complex()")))

    def __index__(self) -> int:
        return operator.index(self._as_scalar(way_out("int()")))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._as_scalar("round()"), digits)

    def __repr__(self) -> str:
        return repr(self._as_scalar("repr()"))

    def __str__(self) -> str:
        return str(self._as_scalar("str()"))

    def __format__(self, spec: str) -> str:
        return format(self._as_scalar("format()"), spec)

    def __reduce__(self) -> Any:
        return self._leave("pickle").__reduce__()

    def __bytes__(self) -> bytes:
        return bytes(self._as_scalar("bytes()"))

    def __sizeof__(self) -> int:
        return sys.getsizeof(self._as_scalar("sys.getsizeof()"))

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._leave(way_out("np.from_dlpack()")).__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self._concrete.__dlpack_device__()

    def __copy__(self) -> Any:
        if self._concrete.__class__ is np.ndarray:
            return self._call(np.copy, self)
        return self if self._trace.is_recording else self._concrete

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __hash__(self) -> int:
        # As arrays do.
        if self.__class__ is np.ndarray:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self._as_scalar("hash()"))

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(self == item))


def set_concrete(symbol: Symbol, value: Any) -> None:
    """Give a symbol another value of the same kind, before it is used."""
    symbol._concrete = value


PLAIN = frozenset({np.ndarray, np.float64, np.float32, int, float, bool, str, type(None)})
"""Classes of arguments that hold no symbol."""


def concrete(value: Any) -> Any:
    """Replace symbols by their values in nested arguments."""
    kind = type(value)
    if kind is Symbol:
        return value._concrete
    if kind in PLAIN:
        return value
    if isinstance(value, Traced):
        return concrete(value._value)
    if kind is tuple or kind is list:
        return kind([concrete(x) for x in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*map(concrete, value))
    if kind is dict:
        return {key: concrete(x) for key, x in value.items()}
    if kind is slice:
        return slice(concrete(value.start), concrete(value.stop), concrete(value.step))
    return value


def shaped_by_data(index: Any) -> bool:
    """Return True if the number of elements that an index selects depends on numbers."""
    for part in _parts(index):
        kind = type(part)
        if kind is Symbol and np.asarray(part._concrete).dtype.kind == "b":
            return True
        if kind is list and any(map(shaped_by_data, part)):
            return True
        if kind is slice and has_symbol((part.start, part.stop, part.step)):
            return True
        if isinstance(part, Traced) and shaped_by_data(part._value):
            return True
    return False


def _parts(index: Any) -> Any:
    return index if isinstance(index, tuple) else (index,)


def has_symbol(value: Any) -> bool:
    """Return True if a symbol is among nested arguments."""
    kind = type(value)
    if kind is Symbol:
        return True
    if kind is tuple or kind is list:
        return any(map(has_symbol, value))
    if kind is dict:
        return any(map(has_symbol, value.values()))
    if kind is slice:
        return has_symbol((value.start, value.stop, value.step))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return any(map(has_symbol, value))
    return isinstance(value, Traced) and type(value._value) is Symbol


def _has_integer_symbol(values: Any) -> bool:
    """Return True if nested arguments contain a symbol of integers or bools."""
    kind = type(values)
    if kind is Symbol:
        return np.asarray(values._concrete).dtype.kind in "biu"
    if kind is tuple or kind is list:
        return any(map(_has_integer_symbol, values))
    return isinstance(values, Traced) and _has_integer_symbol(values._value)


BINARY: dict[str, Any] = operators.RECORDED | operators.DISPATCHED
COMPARISONS: dict[str, Any] = operators.COMPARISONS
UNARY: dict[str, Any] = {
    "neg": np.negative,
    "pos": np.positive,
    "abs": np.absolute,
    "invert": np.invert,
}


PYTHON: dict[Any, Any] = {
    function: getattr(operator, name + "_" * (name in ("and", "or")))
    for name, function in {**BINARY, **COMPARISONS, **UNARY}.items()
    if name != "divmod"
} | {np.divmod: divmod}
"""Python operators by the NumPy functions that record them."""

BINARY["pow"] = operator.pow  # x**2 is np.square on arrays, and another algorithm on NumPy scalars
OPERATORS = {np.power: operator.pow}
"""Functions that record an operator which NumPy has turned into a function call."""

BINARY_OPERATION = dis.opmap["BINARY_OP"]
NUMBERS = (bool, int, float, complex)


def _is_operator(frame: Any, inputs: Any) -> bool:
    """Return True if an operator on a NumPy scalar and a symbol arrives as a function call."""
    # Operators on two NumPy scalars run in `scalarmath`, whose rounding may differ from that of the ufunc. The frame
    # tells them from a call of the ufunc by user code: its current instruction is BINARY_OP.
    for x in inputs:
        if issubclass(type(x), np.generic):
            break
    else:
        return False
    if not all(isinstance(concrete(x), (np.generic, *NUMBERS)) for x in inputs):
        return False
    return bool(
        frame.f_globals.get("__name__") == operators.__name__
        or frame.f_code.co_code[frame.f_lasti] == BINARY_OPERATION
    )


def _operate(function: Any, *operands: Any) -> Any:
    """Apply an operator: as the NumPy function, except on plain Python numbers."""
    python = PYTHON.get(function, function)
    trace: Any = None
    plain = True
    for x in operands:
        if type(x) is Symbol:
            trace = x._trace
            kind = x._concrete.__class__
        elif x is None or isinstance(x, TEXT):
            return python(*map(concrete, operands))  # no number is equal to a text
        else:
            kind = x.__class__
        plain = plain and kind in PLAIN_KINDS
    if not plain and _is_of_numbers([*map(concrete_leaf, operands)]):
        function = python
    return trace.call(function, operands, {}, python)


def concrete_leaf(x: Any) -> Any:
    """Return the value of a symbol, or any other object unchanged."""
    return x._concrete if type(x) is Symbol else x


def _is_of_numbers(values: list[Any]) -> bool:
    """Return True if Python computes an operator, or NumPy by another algorithm than its ufunc."""
    kinds = {x.__class__ for x in values}
    if kinds <= REAL_KINDS:
        return kinds.isdisjoint(PLAIN_KINDS)
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        return False
    numbers = all(isinstance(x, (*NUMBERS, np.generic)) for x in values)
    return not any(isinstance(x, np.generic) for x in values) or (
        numbers and any(isinstance(x, complex) or np.iscomplexobj(x) for x in values)
    )


PLAIN_KINDS = frozenset({np.float64, np.float32, np.ndarray})
"""Classes of values on which operators are NumPy's functions."""

REAL_KINDS = PLAIN_KINDS | {bool, int, float}

TEXT = (str, bytes)

SEQUENCES = (list, tuple, str, bytes, bytearray)

VALUES = (np.ndarray, np.generic)


def _is_operand(other: Any) -> bool:
    """Return True if a symbol computes with `other`; otherwise `other` handles the operator."""
    if type(other) is Symbol or isinstance(other, VALUES):
        return True
    return not hasattr(type(other), "__array_ufunc__")


def _repeat_sequence(sequence: Any, times: Any) -> Any:
    """Repeat a list, tuple or text as often as a NumPy scalar says, or return None for numbers."""
    if isinstance(sequence, SEQUENCES) and issubclass(times.__class__, np.generic):
        return sequence * times._as_scalar(way_out("int()"))
    return None


def _binary(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        if type(other) is Symbol:
            return _operate(function, self, other)
        if function is np.multiply and (repeated := _repeat_sequence(other, self)) is not None:
            return repeated
        return _operate(function, self, other) if _is_operand(other) else NotImplemented

    return forward


def _reflected(function: Any) -> Callable[[Any, Any], Any]:
    def forward(self: Any, other: Any) -> Any:
        if type(other) is Symbol:
            return _operate(function, other, self)
        if function is np.multiply and (repeated := _repeat_sequence(other, self)) is not None:
            return repeated
        return _operate(function, other, self) if _is_operand(other) else NotImplemented

    return forward


def _in_place(function: Any) -> Callable[[Any, Any], Any]:
    ufunc = np.power if function is operator.pow else function

    def forward(self: Any, other: Any) -> Any:
        is_array = concrete(self).__class__ is np.ndarray
        if not _is_operand(other):
            if is_array and type(other).__array_ufunc__ is not None:
                return ufunc(self, other, out=(self,))  # a tensor raises its error
            return NotImplemented
        if not is_array:
            return _operate(function, self, other)
        return self._trace.call_in_place(ufunc, (self, other), {}, self)

    return forward


def _unary(function: Any) -> Callable[[Any], Any]:
    return lambda self: _operate(function, self)


for _name, _function in {**BINARY, **COMPARISONS}.items():
    setattr(Symbol, f"__{_name}__", _binary(_function))
for _name, _function in BINARY.items():
    setattr(Symbol, f"__r{_name}__", _reflected(_function))
    if _name != "divmod":
        setattr(Symbol, f"__i{_name}__", _in_place(_function))
for _name, _function in UNARY.items():
    setattr(Symbol, f"__{_name}__", _unary(_function))
