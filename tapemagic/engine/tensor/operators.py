"""Python operators on tensors, each a NumPy function.

Arithmetic operators are the hot path of recording: they compute and record directly, without NumPy's protocols.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.recording import NO_PARAMS, PRUNE_MASK, SMALL, clock, live, new_id, note
from tapemagic.engine.registry import Function, Operation
from tapemagic.engine.tensor.coercion import is_plain_operand
from tapemagic.engine.tensor.conversions import kind_of
from tapemagic.engine.tensor.dispatch import (
    apply_elementwise,
    call,
    is_operand,
    usual_operands,
    with_plain_numbers,
)
from tapemagic.engine.tensor.python_numbers import like_python
from tapemagic.engine.tensor.tensor import PLAIN_SCALARS, Tensor, Traced, new, wrap
from tapemagic.errors import UnhashableError

Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]


def _recorded_unary(function: Function) -> Unary:
    """Create a unary operator that records directly."""
    operation = registry.operation(function)
    return lambda self: apply_elementwise(operation, self._read(), NO_PARAMS)


def _recorded(function: Function, compute: Function) -> Binary:
    """Create a binary operator that records directly; its left operand is a tensor."""
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
            return _recorded_by_dispatch(operation, compute, self, other)
        if self.__class__ is not Tensor:
            self = self._read()
        a, ia = self._value, self._id
        # `compute` is operator.add and the like: for NumPy scalars, it takes a much shorter path
        # than the ufunc np.add.
        y = compute(a, b)
        tensor = new(Tensor)
        tensor._value = y
        tapes = live()
        if tapes:
            # One live tape is the usual case: this is the body of `recording.note` without its loop and
            # its call, so change both together. Only plain arrays need `protect`; they never get here.
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
                    tape._add_bytes(size)
                elif not i & PRUNE_MASK:
                    tape._prune()
                return tensor
        tensor._id = clock[0]
        return tensor

    return forward


def _recorded_by_dispatch(operation: Operation, compute: Function, x: Any, y: Any) -> Any:
    if type(x) not in usual_operands or type(y) not in usual_operands:
        result = with_plain_numbers(compute, (x, y))
        if result is not NotImplemented:
            return result
        if not is_operand(x) or not is_operand(y):
            return NotImplemented
    return call(operation.function, (x, y), {})


def _recorded_reflected(function: Function, compute: Function) -> Binary:
    """Create a reflected binary operator that records directly; its right operand is a tensor."""
    operation = registry.operation(function)

    def forward(self: Any, other: Any) -> Any:
        if type(other) not in PLAIN_SCALARS:
            return _recorded_by_dispatch(operation, compute, other, self)
        if type(self) is not Tensor:
            self = self._read()
        a, ia = self._value, self._id
        y = compute(other, a)
        tapes = live()
        if tapes and ia > 0:
            return wrap(y, note(operation, (other, a), (0, ia), NO_PARAMS, y, tapes, y.nbytes))
        return wrap(y, clock[0])

    return forward


def _recorded_product() -> Binary:
    """Create the matrix product, which records directly if both operands are tensors of real or complex numbers."""
    operation = registry.operation(np.matmul)

    def forward(self: Any, other: Any) -> Any:
        if not isinstance(other, Traced):
            return _recorded_by_dispatch(operation, operator.matmul, self, other)
        x, y = self._read(), other._read()
        a, b = x._value, y._value
        if a.dtype.kind not in "fc" or b.dtype.kind not in "fc":
            return _recorded_by_dispatch(operation, operator.matmul, x, y)
        product = np.matmul(a, b)
        tapes = live()
        if not tapes:
            return wrap(product, clock[0])
        size = max(a.nbytes, b.nbytes, product.nbytes)
        return wrap(
            product, note(operation, (a, b), (x._id, y._id), NO_PARAMS, product, tapes, size)
        )

    return forward


def _dispatched(function: Function, compute: Function) -> Binary:
    """Create a binary operator through NumPy's protocols; its left operand is a tensor."""

    def forward(self: Any, other: Any) -> Any:
        if type(other) not in usual_operands:
            result = with_plain_numbers(compute, (self, other))
            if result is not NotImplemented:
                return result
            if not (isinstance(other, Traced) or is_plain_operand(other)):
                return NotImplemented
        return function(self, other)

    return forward


def _compared(function: Function, compute: Function) -> Binary:
    """Create a comparison, whose result is Python's where the operands replace Python numbers."""
    dispatched = _dispatched(function, compute)
    return lambda self, other: like_python(dispatched(self, other), self, other)


def _dispatched_reflected(function: Function, compute: Function) -> Binary:
    """Create a reflected binary operator through NumPy's protocols; its right operand is a tensor."""

    def forward(self: Any, other: Any) -> Any:
        if type(other) not in usual_operands:
            result = with_plain_numbers(compute, (other, self))
            if result is not NotImplemented:
                return result
            if not is_plain_operand(other):
                return NotImplemented
        return function(other, self)

    return forward


def _dispatched_unary(function: Function) -> Unary:
    """Create a unary operator through NumPy's protocols."""

    def forward(self: Any) -> Any:
        return function(self)

    return forward


def _refuse_hash(self: Any) -> int:
    numbers = (
        "tuple(x.tolist()) for its numbers, or " if self.ndim else "float(x) for its number, or "
    )
    raise UnhashableError(
        f"a {kind_of(self)} cannot be in a set, or a key of a dict, since == compares it element by element: write "
        f"{numbers if self.ndim < 2 else ''}x.ref() for this {kind_of(self)}, and give several to a tape as a list"
    )


RECORDED: dict[str, Function] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "pow": np.power,
    "mod": np.remainder,
}
DISPATCHED: dict[str, Function] = {
    "matmul": np.matmul, "divmod": np.divmod, "floordiv": np.floor_divide,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift,
    "rshift": np.right_shift,
}  # fmt: skip
COMPARISONS: dict[str, Function] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}

for _name, _function in RECORDED.items():
    _compute = getattr(operator, _name)
    setattr(Traced, f"__{_name}__", _recorded(_function, _compute))
    setattr(Traced, f"__r{_name}__", _recorded_reflected(_function, _compute))
for _name, _function in DISPATCHED.items():
    _compute = divmod if _name == "divmod" else getattr(operator, f"__{_name}__")
    setattr(Traced, f"__{_name}__", _dispatched(_function, _compute))
    setattr(Traced, f"__r{_name}__", _dispatched_reflected(_function, _compute))
for _name, _function in COMPARISONS.items():
    setattr(Traced, f"__{_name}__", _compared(_function, getattr(operator, _name)))
Traced.__matmul__ = _recorded_product()  # type: ignore[method-assign]
for _name, _function in (("neg", np.negative), ("abs", np.absolute), ("pos", np.positive)):
    setattr(Traced, f"__{_name}__", _recorded_unary(_function))
Traced.__invert__ = _dispatched_unary(np.invert)  # type: ignore[method-assign]
Traced.__hash__ = _refuse_hash  # type: ignore[method-assign]
# Tracebacks and profilers show the qualified name: "Tensor.__add__" instead of
# "_recorded.<locals>.forward".
for _name, _function in vars(Traced).items():
    if "<locals>" in getattr(_function, "__qualname__", ""):
        _function.__name__, _function.__qualname__ = _name, f"Tensor.{_name}"
