"""Operations that know by themselves how to pull gradients back: what custom_gradient puts on the tapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tapemagic.engine.nest import describe, leaves
from tapemagic.engine.recording import live, note, note_several
from tapemagic.engine.registry import Function, operation, vjp_argnums
from tapemagic.engine.tensor.coercion import OPERANDS
from tapemagic.engine.tensor.constant import constant
from tapemagic.engine.tensor.tensor import Tensor, Traced, as_operand, wrap
from tapemagic.errors import (
    CustomGradientError,
    NotNumbersError,
)

F = TypeVar("F", bound=Function)


class Call:
    """One call of a function with a gradient of its own, as its record keeps it.

    Attributes
    ----------
    name : str
        The function's.
    pullback : callable
        ``pullback(upstream) -> gradients``, both lists: of the outputs, and of the inputs or None.
    begun : int
        The time at which the function was called, on the clock by which values are numbered: what it recorded
        by itself has a number between this and its results'.
    """

    __slots__ = ("begun", "name", "pullback")

    def __init__(self, name: str, pullback: Function, begun: int) -> None:
        self.name = name
        self.pullback = pullback
        self.begun = begun

    def gradients(self, g: Any, y: Any) -> list[Any]:
        """Those of all inputs; of several cotangents at once row by row, since the user's function takes one."""
        several = y.__class__ is tuple
        gs, ys = (g, y) if several else ((g,), (y,))
        if not gs[0].ndim > ys[0].ndim:
            return self._answer(gs)
        rows = [self._answer(row) for row in zip(*gs, strict=True)]
        return [None if row[0] is None else np.stack(row) for row in zip(*rows, strict=True)]

    def _answer(self, gs: Any) -> list[Any]:
        nested = any(isinstance(g, Tensor) for g in gs)
        upstream = [_turned(g if isinstance(g, Tensor) else wrap(g)) for g in gs]
        answers = map(_turned, self.pullback(upstream))
        return [x if nested or x is None else x._value for x in answers]

    def __repr__(self) -> str:
        return f"<a call of {self.name}>"


def _turned(g: Any) -> Any:
    """A gradient between the sweep's convention and TensorFlow's, which are conjugates of each other."""
    return np.conjugate(g) if g is not None and g.dtype.kind == "c" else g


def called(*inputs: Any, call: Call) -> Any:
    """Stands in the table for functions with gradients of their own."""
    raise NotImplementedError


def _called(argnums: Sequence[int], g: Any, _y: Any, *_inputs: Any, call: Any) -> list[Any]:
    """What the user's function says; zeros where there is no row to ask it for."""
    first, output = (g[0], _y[0]) if g.__class__ is tuple else (g, _y)
    if first.ndim > output.ndim and not first.shape[0]:
        return [np.zeros((0, *_inputs[k].shape)) for k in argnums]
    found = call.gradients(g, _y)
    return [found[k] for k in argnums]


vjp_argnums(called, _called, name="custom gradient")


def record_call(call: Call, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Put a call on the tapes that track one of its inputs; its outputs, as results of this operation.

    Outputs that are no real or complex numbers are returned as they are.
    """
    read = [x._read() if isinstance(x, Traced) else x for x in map(as_operand, inputs)]
    values = tuple(x._value if isinstance(x, Tensor) else _kept(x) for x in read)
    ids = tuple(x._id if isinstance(x, Tensor) else 0 for x in read)
    smooth = [k for k, y in enumerate(outputs) if y.dtype.kind in "fc"]
    held = [outputs[k]._value for k in smooth]
    results = [wrap(y._value) for y in outputs]
    tapes, entry, params = live(), operation(called), {"call": call}
    if tapes and len(smooth) == 1:
        size = max(getattr(x, "nbytes", 0) for x in (*values, *held))
        numbers: Any = [note(entry, values, ids, params, held[0], tapes, size)]
    elif tapes and smooth:
        numbers = note_several(entry, values, ids, params, tuple(held), tapes)
    else:
        return results
    for k, number in zip(smooth, numbers, strict=True):
        results[k] = wrap(outputs[k]._value, number)
    return results


def _kept(x: Any) -> Any:
    """What a record keeps of an argument that is no tensor: numbers and arrays, and of objects nothing."""
    return x if isinstance(x, OPERANDS) else None


def outputs_of(name: str, result: Any) -> list[Any]:
    """What a function returned, as tensors.

    Raises
    ------
    CustomGradientError
        If something of it is not made of numbers.
    """
    try:
        return [y if isinstance(y, Traced) else constant(y) for y in leaves(result)]
    except NotNumbersError:
        raise CustomGradientError(
            f"{name} has to return tensors, numbers or structures of them; it returned {describe(result)}"
        ) from None
