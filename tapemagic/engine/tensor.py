"""Tensor: an immutable value that tapes can follow through Python's operators and NumPy's functions."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine import registry
from tapemagic.engine.conversions import Conversions, refuse_within_numpy
from tapemagic.engine.events import left
from tapemagic.engine.methods import ArrayMethods
from tapemagic.engine.operators import OPERANDS, Operators
from tapemagic.engine.recording import (
    FOREIGN,
    NO_PARAMS,
    PRUNE_MASK,
    SMALL,
    clock,
    live,
    new_id,
    note,
    note_several,
)
from tapemagic.engine.registry import (
    COMPOSITES,
    NAMED,
    OPERATIONS,
    PLAIN,
    Function,
    Operation,
    complete,
    constant_operation,
)
from tapemagic.engine.values import (
    NUMBERS,
    is_true,
    own,
    ragged,
    require_plain,
    shown,
    value_text,
)
from tapemagic.errors import (
    ImmutableError,
    NoDerivativeError,
    NotNumbersError,
    TapeError,
    UnsupportedArgumentError,
)

PLAIN_SCALARS = frozenset({float, int, bool, np.float64, np.float32, np.int64})

WITHOUT_DTYPE = frozenset({np.maximum, np.minimum})
"""Ufuncs with a dtype to compute in, unlike the functions that are their `reduce`."""

new = object.__new__


def wrap(value: Any, i: int = 0) -> Tensor:
    """A tensor around `value` itself, which nobody may write into any more."""
    tensor = new(Tensor)
    tensor._value = value
    tensor._id = i
    return tensor


def unwrap(value: Any) -> Any:
    """What a tensor holds; anything else as it is. Lists and tuples are searched for tensors."""
    if isinstance(value, Traced):
        return value._value
    if type(value) in (list, tuple):
        return type(value)(map(unwrap, value))
    return value


def apply(operation: Operation, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Compute an operation, and let the live tapes that track one of its inputs record it."""
    values = []
    ids = []
    for given in inputs:
        x = as_operand(given)
        if isinstance(x, Traced):
            tensor = x._read()
            values.append(tensor._value)
            ids.append(tensor._id)
        else:
            values.append(x)
            if x.__class__ is np.ndarray:
                ids.append(FOREIGN)
            else:
                ids.append(_foreign(x) if isinstance(x, np.ndarray) else 0)
    told = operation.check(params) if params else NO_PARAMS
    try:
        output = operation.function(*values, **params)
    except (TypeError, AttributeError) as error:  # the latter of objects that lack a method
        _require_numbers(operation, values, error)
        raise
    tapes = live()
    if type(output) is tuple:
        numbers = (clock[0],) * len(output)
        if tapes:
            numbers = note_several(operation, tuple(values), tuple(ids), told, output, tapes)
        return tuple(map(wrap, output, numbers))
    i = clock[0]
    try:
        kind = output.dtype.kind
    except AttributeError:  # an object that was in an array
        kind = "O"
    if kind not in "fc":
        _end(operation, inputs, output, kind)
    elif tapes:
        size = max([getattr(value, "nbytes", 0) for value in values], default=0)
        size = max(size, output.nbytes)
        i = note(operation, tuple(values), tuple(ids), told, output, tapes, size)
    return wrap(output, i)


def _foreign(x: Any) -> int:
    """The number of an array of an unusual kind, which may be refused."""
    require_plain(type(x))
    return FOREIGN


def _end(operation: Operation, inputs: tuple[Any, ...], output: Any, kind: str) -> None:
    """Tell the live tapes that a path ends in whole numbers or truth values; refuse anything else."""
    if kind not in NUMBERS:
        raise _no_numbers(f"{operation.name} gave", output)
    for x in inputs:
        if live() and isinstance(x, Traced):
            left(x, f"{operation.name} to {output.dtype}")


_FLOAT, _OBJECT = np.dtype(float), np.dtype(object)


def _require_numbers(operation: Operation, values: list[Any], error: Exception) -> None:
    """Find objects and text among the arrays of an operation that failed, if that is not explained yet."""
    odd = [x for x in values if getattr(x, "dtype", _FLOAT).kind not in NUMBERS]
    if odd and not isinstance(error, TapeError):
        raise _no_numbers(f"{operation.name} was given", odd[0]) from None


def _no_numbers(what: str, x: Any) -> NotNumbersError:
    """The error for objects and text, with which NumPy may well compute."""
    return NotNumbersError(
        f"{what} {shown(x)} of dtype {getattr(x, 'dtype', _OBJECT)}, and tensors hold numbers: convert it with "
        ".astype(float), or leave the tape knowingly, with x.numpy()"
    )


def _apply_elementwise(operation: Operation, x: Tensor) -> Tensor:
    """`apply` without its detours, for a ufunc of one argument."""
    a, i = x._value, x._id
    tensor = new(Tensor)
    tensor._value = y = operation.function(a)
    tapes = live()
    if tapes and i > 0:
        tensor._id = note(operation, (a,), (i,), NO_PARAMS, y, tapes, y.nbytes)
    else:
        tensor._id = clock[0]
    return tensor


def recorded(operation: Operation, a: Any, i: int, params: dict[str, Any], y: Any) -> Tensor:
    """The result `y` of an operation on one tensor of value `a` and number `i`, on the tapes that track it."""
    tapes = live()
    if tapes and i > 0 and y.dtype.kind in "fc":
        size = max(a.nbytes, y.nbytes)
        return wrap(y, note(operation, (a,), (i,), params, y, tapes, size))
    return wrap(y, clock[0])


def _elements(x: Tensor, index: Any) -> Tensor:
    """`apply` without its detours, for ``x[index]``."""
    a, i = x._value, x._id
    index = unwrap_index(index)
    try:
        y = a[index]
    except IndexError:
        if a.ndim:
            raise
        # NumPy's numbers know fewer indices than its arrays without axes.
        y = np.asarray(a)[index]
    return recorded(_GETITEM, a, i, {"index": index}, y)


def constant_result(value: Any) -> Any:
    """A result without derivative: a tensor where it is a real or complex number, else as NumPy gave it."""
    return wrap(value, clock[0]) if _is_real_or_complex(value) else value


def _is_real_or_complex(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.inexact)) and value.dtype.kind in "fc"


def _call_constant(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function without derivative; the tapes note that a path ends here."""
    value = function(*unwrap(args), **{name: unwrap(x) for name, x in kwargs.items()})
    tapes = live()
    given = [x for x in args if isinstance(x, Traced)] if tapes else []
    if given and _is_real_or_complex(value):
        read = [x._read() for x in given]
        values, ids = tuple(x._value for x in read), tuple(x._id for x in read)
        size = max(value.nbytes, *(x.nbytes for x in values))
        i = note(constant_operation(function), values, ids, NO_PARAMS, value, tapes, size)
        return wrap(value, i)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if any(isinstance(part, (np.ndarray, np.generic)) for part in parts):
        for x in given:
            left(x, f"np.{function.__name__}")
    return constant_result(value)


def call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function on arguments that have a tensor among them.

    Raises
    ------
    NoDerivativeError
        If a live tape tracks one of the tensors, and the table has no entry for `function`.
    """
    if kwargs.get("out") is not None:
        raise _refused_out(function)
    operation = OPERATIONS.get(function)
    if operation is not None and (operation.rules or operation.each):
        kwargs.pop("out", None)
        inputs, params = operation.bind(args, kwargs)
        return apply(operation, inputs, _settled(operation, params) if params else params)
    place = _place_of_out(function)
    if len(args) > place and args[place] is not None:
        raise _refused_out(function)
    composite = COMPOSITES.get(function)
    if composite is not None:
        return composite(*args, **kwargs)
    if function not in PLAIN and complete():
        return call(function, args, kwargs)
    if function not in PLAIN and _tracked((args, *kwargs.values())):
        name = getattr(function, "__name__", str(function))
        raise NoDerivativeError(
            f"{name} has no derivative rule, so the tape would lose the path here. Write {name}(x.numpy()) "
            "to leave the tape knowingly, or give it a rule with tapemagic.engine.registry.vjp"
        )
    return _call_constant(function, args, kwargs)


def _refused_out(function: Function) -> ImmutableError:
    refuse_within_numpy()
    return ImmutableError(
        f"{function.__name__}(..., out=...) cannot write where a tape is watching: "
        "leave 'out' out, and bind the result to a name"
    )


@cache
def _place_of_out(function: Function) -> int:
    """Where a function takes `out` by position; far beyond its arguments if it does not."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):  # a function written in C
        return sys.maxsize
    out = parameters.get("out")
    by_place = out is not None and out.kind is out.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else sys.maxsize


def _settled(operation: Operation, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as a tape may keep them: out of tensors, and where nobody can write into them."""
    for name, value in params.items():
        if _tracked(value):
            raise UnsupportedArgumentError(
                f"{operation.name}(..., {name}=...) has no derivative in {name!r}: give it as a plain value, with "
                "x.numpy()"
            )
    return {name: unwrap_index(value) for name, value in params.items()}


def _tracked(value: Any) -> bool:
    """Whether a live tape tracks a tensor somewhere in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return any(map(_tracked, value))
    return isinstance(value, Traced) and any(value._id in tape._tracked for tape in live())


def _unary(function: Function) -> Callable[[Any], Tensor]:
    """A Python operator on one operand, without the way through NumPy."""
    operation = registry.operation(function)
    return lambda self: _apply_elementwise(operation, self._read())


def _binary(function: Function, compute: Function) -> Callable[[Any, Any], Any]:
    """A Python operator on two operands: the hot path of recording."""
    operation = registry.operation(function)
    number = operation.number

    def forward(self: Any, other: Any) -> Any:
        kind = other.__class__
        if kind is Tensor:
            b, ib = other._value, other._id
        elif kind in PLAIN_SCALARS:
            b, ib = other, 0
        elif isinstance(other, Traced):
            other = other._read()
            b, ib = other._value, other._id
        else:
            return _binary_slow(operation, self, other)
        if self.__class__ is not Tensor:
            self = self._read()
        a, ia = self._value, self._id
        y = compute(a, b)
        tensor = new(Tensor)
        tensor._value = y
        tapes = live()
        if tapes:
            if len(tapes) > 1:
                tensor._id = note(operation, (a, b), (ia, ib), NO_PARAMS, y, tapes, y.nbytes)
                return tensor
            tape = tapes[0]
            tracked = tape._tracked
            if ia in tracked or ib in tracked:
                tensor._id = i = new_id()
                tracked[i] = i
                tape._append((number, (a, b), (ia, ib), NO_PARAMS, y, i))
                if (size := y.nbytes) > SMALL:
                    tape._gain(size)
                elif not i & PRUNE_MASK:
                    tape._prune()
                return tensor
        tensor._id = clock[0]
        return tensor

    return forward


def _binary_slow(operation: Operation, x: Any, y: Any) -> Any:
    if not _is_operand(x) or not _is_operand(y):
        return NotImplemented
    return call(operation.function, (x, y), {})


def _is_operand(x: Any) -> bool:
    """Whether something may stand beside a tensor; matrices and masked arrays are refused."""
    kind = type(x)
    if kind is Tensor or kind is np.ndarray or kind in PLAIN_SCALARS:
        return True
    if isinstance(x, Traced):
        return True
    require_plain(kind)
    return isinstance(x, OPERANDS)


def _left_to_others(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Let operands of other kinds compute the result, if they know how."""
    for x in inputs:
        if not isinstance(x, (Traced, *OPERANDS)) and not hasattr(x, "__array_ufunc__"):
            raise NotNumbersError(
                f"np.{ufunc.__name__} takes tensors, arrays and numbers, not {shown(x)} of type {type(x).__name__}"
            )
    return NotImplemented


def _call_method(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``ufunc.reduce`` or ``ufunc.accumulate``, as the function that has a name of its own.

    Raises
    ------
    NoDerivativeError
        If there is no such function.
    """
    named = NAMED.get((method, ufunc))
    if named is None:
        raise NoDerivativeError(
            f"np.{ufunc.__name__}.{method} has no derivative rule: write it with np.sum, np.cumsum, "
            f"indexing or broadcasting, or leave the tape knowingly with x.numpy()"
        )
    if named in PLAIN and kwargs.get("out") is None:
        for x in inputs:
            if isinstance(x, Traced):
                left(x, f"np.{ufunc.__name__}.{method}")
        options = {name: unwrap(value) for name, value in kwargs.items()}
        return getattr(ufunc, method)(*map(unwrap, inputs), **options)
    kwargs.setdefault("axis", 0)
    if ufunc in WITHOUT_DTYPE:
        dtype = kwargs.pop("dtype", None)
        inputs = inputs if dtype is None else (np.astype(inputs[0], dtype),)
    return call(named, inputs, kwargs)


def _reflected(function: Function, compute: Function) -> Callable[[Any, Any], Any]:
    """The operator with a tensor on the right of something else."""
    operation = registry.operation(function)

    def forward(self: Any, other: Any) -> Any:
        if type(other) not in PLAIN_SCALARS:
            return _binary_slow(operation, other, self)
        if type(self) is not Tensor:
            self = self._read()
        a, ia = self._value, self._id
        y = compute(other, a)
        tapes = live()
        if tapes and ia > 0:
            return wrap(y, note(operation, (other, a), (0, ia), NO_PARAMS, y, tapes, y.nbytes))
        return wrap(y, clock[0])

    return forward


def as_operand(value: Any) -> Any:
    """A list as the array that NumPy would make of it, with the tensors inside kept on the tape."""
    if isinstance(value, (list, tuple)):
        if any(isinstance(x, (Traced, list, tuple)) for x in value):
            try:
                return np.stack([as_operand(x) for x in value])
            except ValueError as error:
                if isinstance(error, TapeError):
                    raise
                raise ragged(value) from None
        return np.array(value)
    return value


class Traced(ArrayMethods, Conversions, Operators):
    """What a Tensor and a Variable have in common: everything that can be computed with them."""

    __slots__ = ()

    _value: Any
    _id: int

    def _read(self) -> Tensor:
        raise NotImplementedError

    __neg__, __abs__ = _unary(np.negative), _unary(np.absolute)
    __add__ = _binary(np.add, operator.add)
    __sub__ = _binary(np.subtract, operator.sub)
    __mul__ = _binary(np.multiply, operator.mul)
    __truediv__ = _binary(np.divide, operator.truediv)
    __pow__ = _binary(np.power, operator.pow)
    __radd__ = _reflected(np.add, operator.add)
    __rsub__ = _reflected(np.subtract, operator.sub)
    __rmul__ = _reflected(np.multiply, operator.mul)
    __rtruediv__ = _reflected(np.divide, operator.truediv)
    __rpow__ = _reflected(np.power, operator.pow)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if len(inputs) == 1 and not kwargs and method == "__call__":
            operation = OPERATIONS.get(ufunc)
            if operation is not None and operation.rules:
                return _apply_elementwise(operation, self._read())
        if method == "__call__":
            if not all(map(_is_operand, inputs)):
                return _left_to_others(ufunc, inputs)
            if kwargs and not is_true(kwargs.pop("where", True)):
                refuse_within_numpy()
                raise UnsupportedArgumentError(
                    f"{ufunc.__name__}(..., where=...) leaves gaps that have no derivative: "
                    f"write np.where(condition, np.{ufunc.__name__}(x), otherwise)"
                )
            return call(ufunc, inputs, kwargs)
        if method == "at":
            raise ImmutableError(
                f"np.{ufunc.__name__}.at writes in place, and a tensor is immutable: to add up at indices, "
                "write tapemagic.scatter_add(values, index, shape)"
            )
        return _call_method(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Function, types: Any, args: Any, kwargs: Any) -> Any:
        if len(types) > 1:
            for kind in types:
                if kind is not Tensor and kind is not np.ndarray:
                    require_plain(kind)
        return call(func, args, kwargs)

    def __getitem__(self, index: Any) -> Any:
        return _elements(self._read(), index)


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


def getitem(x: Any, index: Any) -> Any:
    """``x[index]``, as a function."""
    return x[index]


_GETITEM = registry.operation(getitem)


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
