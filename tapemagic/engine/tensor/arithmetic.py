"""The operators of arithmetic on tensors: the hot path of recording, without the way through NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.engine import registry
from tapemagic.engine.recording import NO_PARAMS, PRUNE_MASK, SMALL, clock, live, new_id, note
from tapemagic.engine.registry import Function, Operation
from tapemagic.engine.tensor.dispatch import PLAIN_SCALARS, apply_elementwise, call, is_operand
from tapemagic.engine.tensor.tensor import Tensor, Traced, new, wrap


def _unary(function: Function) -> Callable[[Any], Tensor]:
    """A Python operator on one operand, without the way through NumPy."""
    operation = registry.operation(function)
    return lambda self: apply_elementwise(operation, self._read())


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
    if not is_operand(x) or not is_operand(y):
        return NotImplemented
    return call(operation.function, (x, y), {})


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


Traced.__neg__ = _unary(np.negative)
Traced.__abs__ = _unary(np.absolute)
Traced.__add__ = _binary(np.add, operator.add)
Traced.__sub__ = _binary(np.subtract, operator.sub)
Traced.__mul__ = _binary(np.multiply, operator.mul)
Traced.__truediv__ = _binary(np.divide, operator.truediv)
Traced.__pow__ = _binary(np.power, operator.pow)
Traced.__radd__ = _reflected(np.add, operator.add)
Traced.__rsub__ = _reflected(np.subtract, operator.sub)
Traced.__rmul__ = _reflected(np.multiply, operator.mul)
Traced.__rtruediv__ = _reflected(np.divide, operator.truediv)
Traced.__rpow__ = _reflected(np.power, operator.pow)
