"""NumPy functions on tensors: computed, and recorded by the tapes that track an input."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from datetime import timedelta
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.events import record_exit
from tapemagic.engine.laziness import IN_PARTS, PROTOCOLS, gates, is_lazy
from tapemagic.engine.recording import CONSTANT, FOREIGN, NO_PARAMS, clock, live, note, note_several
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
from tapemagic.engine.tensor.coercion import (
    NUMBERS,
    OPERANDS,
    PandasData,
    is_plain_operand,
    is_true,
    require_numbers,
    require_plain,
)
from tapemagic.engine.tensor.conversions import refuse_within_numpy
from tapemagic.engine.tensor.messages import (
    method_advice,
    not_numbers_error,
    out_error,
    public_name,
    shown,
)
from tapemagic.engine.tensor.tensor import (
    BARE,
    PLAIN_SCALARS,
    Tensor,
    Traced,
    as_operand,
    getitem,
    new,
    tensors_in,
    unwrap,
    unwrap_index,
    wrap,
)
from tapemagic.engine.tracing import element, tracer
from tapemagic.errors import (
    ImmutableError,
    NoDerivativeError,
    NotComputedError,
    NotNumbersError,
    UnsupportedArgumentError,
)

REFUSALS = (NotComputedError, UnsupportedArgumentError)
"""Errors of functions that can't compute with lazy values."""

WITHOUT_DTYPE = frozenset({np.maximum, np.minimum})
"""Ufuncs that accept a dtype, whereas the functions that correspond to their `reduce`, np.max and np.min, don't."""

CALLED: dict[str, Any] = {}
"""The parameters of a function that was called by name without any; operators record NO_PARAMS."""

_GETITEM = registry.operation(getitem)


def apply(  # noqa: PLR0912 (the hot path: a call costs more than a branch)
    operation: Operation, inputs: tuple[Any, ...], params: dict[str, Any]
) -> Any:
    """Compute an operation; live tapes that track an input record the operation."""
    values: list[Any] = []
    ids: list[int] = []
    compute = operation.on_arrays
    for argument in inputs:
        x = argument if argument.__class__ is Tensor else as_operand(argument)
        if isinstance(x, Traced):
            tensor = x._read()
            values.append(tensor._value)
            ids.append(tensor._id)
        elif x.__class__ is np.ndarray:
            values.append(x)
            ids.append(FOREIGN)
        else:
            values.append(x)
            ids.append(_untracked(x))
            compute = operation.function
    # A trace records calls of the function itself, which its shortcut for plain arrays bypasses.
    if tracer() is not None:
        compute = operation.function
    rule_params: dict[str, Any] = CALLED
    if params:
        params = _plain_params(operation, params)
        rule_params = operation.check(params)
        if gates:
            compute = BY_PARAMETER.get(operation.function, compute)
    try:
        output = compute(*values, **params)
    except (TypeError, AttributeError) as error:  # the latter of objects that lack a method
        require_numbers(operation, values, error)
        raise
    tapes = live()
    if tapes and rule_params:
        rule_params = {name: unwrap_index(value) for name, value in rule_params.items()}
    if type(output) is tuple:
        numbers = (clock[0],) * len(output)
        if tapes:
            numbers = note_several(operation, tuple(values), tuple(ids), rule_params, output, tapes)
        return tuple(map(wrap, output, numbers))
    i = clock[0]
    try:
        kind = output.dtype.kind
    # An array of objects may contain anything, such as decimal.Decimal.
    except AttributeError:  # an object that was in an array
        kind = "O"
    if kind not in "fc":
        _end(operation, inputs, output, kind)
    elif tapes:
        size = max([output.nbytes, *[getattr(value, "nbytes", 0) for value in values]])
        i = note(operation, tuple(values), tuple(ids), rule_params, output, tapes, size)
    return wrap(output, i)


def _broadcast(x: Any, shape: Any, **options: Any) -> Any:
    """``np.broadcast_to``, lazy if the shape belongs to a lazy array."""
    if is_lazy(x) or not hasattr(shape, "chunks"):
        return np.broadcast_to(x, shape, **options)
    return gates[0].call(np.broadcast_to, (x, shape), options)


def _take(x: Any, indices: Any, **options: Any) -> Any:
    """``np.take``, lazy for lazy indices."""
    if is_lazy(x) or not is_lazy(indices):
        return np.take(x, indices, **options)
    return gates[0].call(np.take, (x, indices), options)


BY_PARAMETER: dict[Function, Function] = {np.broadcast_to: _broadcast, np.take: _take}
"""Functions that ignore NumPy's protocols for a parameter that may be lazy, and their replacements."""


def _untracked(x: Any) -> int:
    """Return the number that replaces an id for a plain number or an array of a subclass; reject some subclasses."""
    if not isinstance(x, np.ndarray):
        return CONSTANT
    require_plain(type(x))
    return FOREIGN


def _end(operation: Operation, inputs: tuple[Any, ...], output: Any, kind: str) -> None:
    """Record on the live tapes that a path ends in integers or bools; reject results of other dtypes."""
    if kind not in NUMBERS:
        raise not_numbers_error(f"{operation.name} gave", output)
    for x in inputs:
        if live() and isinstance(x, Traced):
            record_exit(x, f"{operation.name} to {output.dtype}")


def apply_elementwise(
    operation: Operation, x: Tensor, params: dict[str, Any] | None = CALLED
) -> Tensor:
    """Apply a ufunc of one argument to a tensor: `apply` without its checks."""
    a, i = x._value, x._id
    tensor = new(Tensor)
    compute = operation.on_arrays if tracer() is None else operation.function
    tensor._value = y = compute(a)
    tapes = live()
    if tapes and i > 0:
        tensor._id = note(operation, (a,), (i,), params, y, tapes, y.nbytes)
    else:
        tensor._id = clock[0]
    return tensor


def recorded(operation: Operation, a: Any, i: int, params: dict[str, Any], y: Any) -> Tensor:
    """Wrap the result `y` of an operation on one tensor with value `a` and number `i`, and record the operation."""
    tapes = live()
    if tapes and i > 0 and y.dtype.kind in "fc":
        return wrap(y, note(operation, (a,), (i,), params, y, tapes, y.nbytes))
    return wrap(y, clock[0])


_PLAIN_INDEX = frozenset({int, slice})


def _elements(x: Tensor, index: Any) -> Tensor:
    """Index a tensor: `apply` without its checks, for ``x[index]``."""
    a, i = x._value, x._id
    index = unwrap_index(index)
    try:
        y = a[index] if index.__class__ in _PLAIN_INDEX else element(a, index)
    except IndexError:
        if a.ndim:
            raise
        # NumPy scalars support fewer kinds of indices than arrays without axes.
        y = np.asarray(a)[index]
    return recorded(_GETITEM, a, i, {"index": index}, y)


def constant_result(value: Any) -> Any:
    """Wrap a result without derivative in a tensor if it is real or complex, else return it unchanged."""
    return wrap(value, clock[0]) if _is_real_or_complex(value) else value


def _is_real_or_complex(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.inexact)) and value.dtype.kind in "fc"


def _call_constant(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function without derivative; tapes record that a path ends here."""
    value = function(*unwrap(args), **(unwrap(kwargs) if kwargs else {}))
    tapes = live()
    inputs = tensors_in((*args, *kwargs.values())) if tapes else []
    if inputs and _is_real_or_complex(value):
        read = [x._read() for x in inputs]
        values, ids = tuple(x._value for x in read), tuple(x._id for x in read)
        size = max(value.nbytes, *(x.nbytes for x in values))
        i = note(constant_operation(function), values, ids, NO_PARAMS, value, tapes, size)
        return wrap(value, i)
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if any(hasattr(part, "__array__") for part in parts):
        for x in inputs:
            record_exit(x, public_name(function))
    return constant_result(value)


def call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function that has a tensor among its arguments."""
    if kwargs.get("out") is not None:
        if writes_plain_numbers(kwargs["out"], (*args, *kwargs.values())):
            return function(*unwrap(args), **unwrap(kwargs))
        raise out_error(function)
    operation = OPERATIONS.get(function)
    if operation is not None and (operation.rules or operation.joint_rule):
        kwargs.pop("out", None)
        inputs, params = operation.bind(args, kwargs)
        try:
            return apply(operation, inputs, params)
        except REFUSALS as error:
            name_in(error, function, args, kwargs)
            raise
    place = out_position(function)
    if len(args) > place and args[place] is not None:
        raise out_error(function)
    composite = COMPOSITES.get(function)
    if composite is not None:
        if live():
            # Variables count as read even if the composite uses only their shapes.
            for x in tensors_in((*args, *kwargs.values())):
                x._read()
        try:
            return composite(*args, **kwargs)
        except REFUSALS as error:
            name_in(error, function, args, kwargs)
            raise
    # The function may belong to a part of the table that isn't loaded yet; `complete` returns False
    # the second time.
    if function not in PLAIN and complete():
        return call(function, args, kwargs)
    if function not in PLAIN and is_tracked((*args, *kwargs.values())):
        name = public_name(function)
        raise NoDerivativeError(
            f"{name} has no derivative rule, so the gradient would be lost here. Write {name}(x.numpy()) "
            "if you need no gradient, or define a rule with tapemagic.register_vjp"
        )
    return _call_constant(function, args, kwargs)


def name_in(
    error: NotComputedError | UnsupportedArgumentError,
    function: Function,
    args: Any,
    kwargs: dict[str, Any],
) -> None:
    """Name the called function in the message of an error about lazy values, unless the message names it already."""
    if not gates or not gates[0].reads(unwrap((args, kwargs))):
        return
    name, text = public_name(function), str(error)
    inner = error.wanted_by
    if inner in PROTOCOLS:
        text = (
            f"{name} needs numbers, but its arguments aren't computed: write x.compute() first, or "
            f"{IN_PARTS}"
        )
    elif inner:
        text = re.sub(rf"{re.escape(inner)}\b", name, text)
    elif name not in text:
        text = f"in {name}: {text[text.find(': ') + 2 :] if text.startswith('in ') else text}"
    error.args = (text,)
    error.wanted_by = name if inner else ""


@cache
def out_position(function: Function) -> int:
    """Return the position of a function's parameter `out`, or sys.maxsize if it can't be passed by position."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):  # a function written in C
        return sys.maxsize
    out = parameters.get("out")
    by_place = out is not None and out.kind is out.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else sys.maxsize


def _plain_params(operation: Operation, params: dict[str, Any]) -> dict[str, Any]:
    """Convert tensors among parameters, which must not be tracked, to plain values."""
    if BARE.issuperset(map(type, params.values())):
        return params
    if is_tracked(params.values()):
        name = next(name for name, value in params.items() if is_tracked((value,)))
        raise UnsupportedArgumentError(
            f"{operation.name}(..., {name}=...) has no derivative in {name!r}: pass it as a plain value, with "
            "x.numpy()"
        )
    params = {name: unwrap(value) for name, value in params.items()}
    if gates:
        for name, value in params.items():
            if isinstance(value, (tuple, list)) and name != "index" and gates[0].reads(value):
                raise NotComputedError(
                    f"{operation.name}(..., {name}=...) needs numbers, but a value in {name!r} isn't computed: write "
                    "x.compute() first"
                )
    return params


def is_tracked(values: Iterable[Any]) -> bool:
    """Read the variables among the arguments of a call; return True if a live tape tracks one of the tensors."""
    tapes = live()
    if not tapes:
        return False
    read = [x._read()._id for x in tensors_in(values)]
    return any(i in tape._tracked for i in read for tape in tapes)


def computes_plain_numbers(arguments: Iterable[Any]) -> bool:
    """Return True if a call may compute with the numbers in its tensors, because no live tape tracks them.

    Lazy values have their own checks, so they return False.
    """
    tensors = tensors_in(arguments)
    return not is_tracked(tensors) and not any(is_lazy(x._value) for x in tensors)


def writes_plain_numbers(destination: Any, arguments: Iterable[Any]) -> bool:
    """Return True if a call may write into its destination: arrays, and no live tape tracks what it writes."""
    arrays = destination if isinstance(destination, tuple) else (destination,)
    return all(x is None or isinstance(x, np.ndarray) for x in arrays) and computes_plain_numbers(
        arguments
    )


usual_operands: set[type] = {*PLAIN_SCALARS, Tensor, np.ndarray, list, tuple, complex}
"""Types of operands that need no closer look: each is an operand, and has no arithmetic of its own."""


def with_plain_numbers(function: Function, inputs: tuple[Any, ...]) -> Any:
    """Compute with the numbers in tensors if an operand has its own arithmetic and no live tape tracks a tensor.

    pandas data and durations have their own arithmetic. Returns NotImplemented for other operands.
    """
    foreign = (x for x in inputs if not isinstance(x, Traced))
    if any(isinstance(x, (PandasData, timedelta)) for x in foreign) and computes_plain_numbers(
        inputs
    ):
        return function(*unwrap(inputs))
    return NotImplemented


def is_operand(x: Any) -> bool:
    """Return True for an operand next to a tensor; matrices, masked arrays, fractions and decimals raise an error."""
    kind = type(x)
    if kind is Tensor or kind is np.ndarray or kind in PLAIN_SCALARS:
        return True
    if isinstance(x, Traced):
        return True
    require_plain(kind)
    return is_plain_operand(x)


def _left_to_others(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Return NotImplemented, so that operands of other types compute the result, if they can."""
    for x in inputs:
        if not isinstance(x, (Traced, *OPERANDS)) and not hasattr(x, "__array_ufunc__"):
            raise NotNumbersError(
                f"{public_name(ufunc)} takes tensors, arrays and numbers, not {shown(x)} of type {type(x).__name__}"
            )
    return NotImplemented


def _call_method(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call ``ufunc.outer`` by broadcasting, and ``reduce`` or ``accumulate`` as the NumPy function with that result."""
    if method == "outer" and ufunc.nin == 2 and ufunc.signature is None:
        # ufunc.outer is the ufunc of broadcast arrays, whose rule exists already.
        a, b = map(as_operand, inputs)
        return ufunc(np.reshape(a, (*np.shape(a), *(1,) * np.ndim(b))), b, **kwargs)
    named = NAMED.get((method, ufunc))
    if named is None and complete():
        return _call_method(ufunc, method, inputs, kwargs)
    if named is None:
        raise NoDerivativeError(
            f"{public_name(ufunc)}.{method} has no derivative rule: "
            f"{method_advice(ufunc, method)}, or write x.numpy() if you need no gradient"
        )
    if named in PLAIN and kwargs.get("out") is None:
        for x in tensors_in((*inputs, *kwargs.values())):
            record_exit(x, f"{public_name(ufunc)}.{method}")
        return getattr(ufunc, method)(*unwrap(inputs), **unwrap(kwargs))
    axis = kwargs.setdefault("axis", 0)
    if (
        method == "accumulate"
    ):  # along one axis, whereas np.cumsum flattens: this raises NumPy's error for a bad axis
        ufunc.accumulate(np.empty((1,) * np.ndim(inputs[0])), axis)
    if ufunc in WITHOUT_DTYPE:
        dtype = kwargs.pop("dtype", None)
        inputs = inputs if dtype is None else (np.astype(inputs[0], dtype),)
    return call(named, inputs, kwargs)


def _array_ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if len(inputs) == 1 and not kwargs and method == "__call__":
        operation = OPERATIONS.get(ufunc)
        if operation is not None and operation.rules:
            return apply_elementwise(operation, self._read())
    if kwargs and (out := kwargs.get("out")) and writes_plain_numbers(out, inputs):
        return getattr(ufunc, method)(*unwrap(inputs), **unwrap(kwargs))
    if method == "__call__":
        if not usual_operands.issuperset(map(type, inputs)):
            if not kwargs and (result := with_plain_numbers(ufunc, inputs)) is not NotImplemented:
                return result
            if not all(map(is_operand, inputs)):
                return _left_to_others(ufunc, inputs)
        if kwargs and not is_true(kwargs.pop("where", True)):
            refuse_within_numpy()
            raise UnsupportedArgumentError(
                f"{ufunc.__name__}(..., where=...) leaves gaps that have no derivative: "
                f"write np.where(condition, {public_name(ufunc)}(x), otherwise)"
            )
        return call(ufunc, inputs, kwargs)
    if method == "at":
        if writes_plain_numbers(inputs[0], inputs):
            return ufunc.at(*unwrap(inputs))
        raise ImmutableError(
            f"{public_name(ufunc)}.at writes in place, and a tensor is immutable: "
            + (
                "to add up at indices, write a + tapemagic.scatter_add(values, index, a.shape)"
                if ufunc is np.add
                else "compute a new tensor, with np.where(mask, new, a)"
            )
        )
    return _call_method(ufunc, method, inputs, kwargs)


def _array_function(_self: Any, func: Function, types: Any, args: Any, kwargs: Any) -> Any:
    if len(types) > 1:
        for kind in types:
            # A placeholder (a symbolic tensor) handles the call itself; classes such as np.matrix
            # are rejected.
            if kind is not Tensor and kind is not np.ndarray:
                if hasattr(kind, "__tape_function__"):
                    return NotImplemented
                require_plain(kind)
    return call(func, args, kwargs)


def _item(self: Any, index: Any) -> Any:
    return _elements(self._read(), index)


Traced.__array_ufunc__ = _array_ufunc
Traced.__array_function__ = _array_function
Traced.__getitem__ = _item  # type: ignore[method-assign]
