"""Records of calls with a custom pullback, for custom_gradient and recompute_grad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapemagic.engine.nest import leaves
from tapemagic.engine.recording import live, note, note_several
from tapemagic.engine.registry import Function, operation, vjp_argnums
from tapemagic.engine.tensor.coercion import OPERANDS
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Tensor, Traced, as_operand, plain, wrap
from tapemagic.errors import (
    CustomGradientError,
    NotNumbersError,
)


class Call:
    """A call of a function with a custom gradient, as the parameter of its record.

    - `name`: The name of the function.
    - `pullback`: ``pullback(upstream) -> gradients``: a list with a tensor per output -> a list with a tensor or None
      per input.
    - `start_time`: The time at which the function was called, by the clock of ids: the ids of values that it computed
      are between this time and the ids of its results.
    """

    __slots__ = ("name", "pullback", "start_time")

    def __init__(self, name: str, pullback: Function, start_time: int) -> None:
        self.name = name
        self.pullback = pullback
        self.start_time = start_time

    def gradients(self, g: Any, y: Any) -> list[Any]:
        """Return the gradients of all inputs; batched cotangents are passed to the pullback one row at a time."""
        is_tuple = y.__class__ is tuple
        gs, ys = (g, y) if is_tuple else ((g,), (y,))
        if not gs[0].ndim > ys[0].ndim:
            return self._answer(gs)
        # A user's pullback can't be expected to handle leading axes.
        rows = [self._answer(row) for row in zip(*gs, strict=True)]
        return [None if row[0] is None else np.stack(row) for row in zip(*rows, strict=True)]

    def _answer(self, gs: Any) -> list[Any]:
        nested = any(isinstance(g, Tensor) for g in gs)
        upstream = [_conjugated(g if isinstance(g, Tensor) else wrap(g)) for g in gs]
        answers = map(_conjugated, self.pullback(upstream))
        return [x if x is None else plain(x) if nested else x._value for x in answers]

    def __repr__(self) -> str:
        return f"<a call of {self.name}>"


def _conjugated(g: Any) -> Any:
    """Conjugate a complex gradient: the conventions of the sweep and of TensorFlow are conjugates of each other."""
    return np.conjugate(g) if g is not None and g.dtype.kind == "c" else g


def called(*inputs: Any, call: Call) -> Any:
    """Represent all functions with custom gradients in the table of rules; never called."""
    raise NotImplementedError


def _called(argnums: Sequence[int], g: Any, _y: Any, *_inputs: Any, call: Any) -> list[Any]:
    """Return the gradients of a call with respect to the inputs at `argnums`; a batch without rows gives zeros."""
    # The underscores say that only shapes of _y and _inputs are read, so the tape drops their values.
    first, output = (g[0], _y[0]) if g.__class__ is tuple else (g, _y)
    if first.ndim > output.ndim and not first.shape[0]:
        return [np.zeros((0, *_inputs[k].shape)) for k in argnums]
    tapes = live()
    for tape in tapes:
        tape._rule_begins()
    try:
        gradients = call.gradients(g, _y)
    finally:
        for tape in tapes:
            tape._rule_ends()
    return [gradients[k] for k in argnums]


vjp_argnums(called, _called, name="custom gradient")


def record_call(call: Call, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Record a call on the tapes that track one of its inputs; return its outputs as results of the call.

    Outputs that aren't real or complex numbers are returned unchanged.
    """
    read = [x._read() if isinstance(x, Traced) else x for x in map(as_operand, inputs)]
    values = tuple(x._value if isinstance(x, Tensor) else _recorded_value(x) for x in read)
    ids = tuple(x._id if isinstance(x, Tensor) else 0 for x in read)
    differentiable = [k for k, y in enumerate(outputs) if y.dtype.kind in "fc"]
    output_values = [outputs[k]._value for k in differentiable]
    results = [wrap(y._value) for y in outputs]
    tapes, entry, params = live(), operation(called), {"call": call}
    if tapes and len(differentiable) == 1:
        size = max(getattr(x, "nbytes", 0) for x in (*values, *output_values))
        numbers: Any = [note(entry, values, ids, params, output_values[0], tapes, size)]
    elif tapes and differentiable:
        numbers = note_several(entry, values, ids, params, tuple(output_values), tapes)
    else:
        return results
    for k, number in zip(differentiable, numbers, strict=True):
        results[k] = wrap(outputs[k]._value, number)
    return results


def _recorded_value(x: Any) -> Any:
    """Return what a record keeps of a non-tensor argument: the number or array, or None for other objects."""
    return x if isinstance(x, OPERANDS) else None


def outputs_of(name: str, result: Any) -> list[Any]:
    """Return the leaves of a function's result as tensors."""
    try:
        return [y if isinstance(y, Traced) else constant(y) for y in leaves(result)]
    except NotNumbersError:
        raise CustomGradientError(
            f"{name} must return tensors, numbers or structures of them, not {describe(result)}"
        ) from None
