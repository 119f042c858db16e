"""The reverse sweep: from the gradients of the targets, back along the records, to those of the sources.

Gradients of complex values travel conjugated, so that the rules of holomorphic functions are the textbook's:
with L real and z = a + ib, what a rule is given and returns is dL/da - i dL/db.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from tapemagic.engine.recording import SMALL, Absent
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tape.references import sole
from tapemagic.engine.tensor.tensor import Tensor, wrap
from tapemagic.errors import RuleError

Gradients = dict[int, Any]


def reachable(
    records: Iterable[Any], tracked: Mapping[int, int], sources: Iterable[int]
) -> dict[int, int]:
    """The part of `tracked` that depends on one of the sources."""
    reached = {i: tracked[i] for i in sources if i in tracked}
    for _, _, ids, _, _, output_id in records:
        for i in ids:
            if i in reached:
                outputs = output_id if output_id.__class__ is tuple else (output_id,)
                reached.update((out, tracked[out]) for out in outputs)
                break
    return reached


def sweep(  # noqa: PLR0912, PLR0915 (the hot loop: a call costs more than a branch)
    records: Sequence[Any],
    tracked: Mapping[int, int],
    grads: Gradients,
    kept: AbstractSet[int],
    nested: bool,
    lead: tuple[int, ...] = (),
) -> Gradients:
    """Walk the records backwards, adding to `grads` what each operation passes to its inputs.

    Parameters
    ----------
    records : sequence of Record
    tracked : mapping of int to int
        The values to pass gradients to, each with the number at which the tape began to track it.
    grads : dict of int to array
        The gradients of the targets; changed.
    kept : set of int
        Intermediate values whose gradients are wanted at the end.
    nested : bool
        Whether to run the rules on tensors, so that the tapes which are live record them.
    lead : tuple of int
        The axes which all gradients have in front of those of their values: several are passed on at once.

    Returns
    -------
    dict of int to array
        `grads`, with gradients of leaves and `kept` values. Of tensors if `nested`, else of bare arrays.
    """
    mine: set[int] = set()
    since = tracked.get
    pop = grads.pop
    for number, values, ids, params, output, output_id in reversed(records):
        g = pop(output_id, None)
        newest = output_id
        if g is None:
            if output_id.__class__ is not tuple:
                continue
            g = _collect(grads, output, output_id, kept, nested, lead)
            if g is None:
                continue
            newest = output_id[0]
        elif output_id in kept:
            grads[output_id] = g
        inputs, y = values, output
        if nested:
            inputs = [*map(_revived, values, ids)]
            y = _revived(output, output_id)
        operation = NUMBERED[number]
        rules = operation.rules or operation.rules_for(len(ids))
        arguments = (g, y, *inputs)
        position = -1
        for i in ids:
            position += 1
            start = since(i)
            if start is None or start > newest:
                continue
            rule = rules[position]
            if rule is None:
                continue
            dx = rule(*arguments, **params) if params else rule(*arguments)
            x = values[position]
            value = dx._value if nested and dx.__class__ is Tensor else dx
            if value.__class__ is np.ndarray:
                if value.shape != x.shape or value.dtype is not x.dtype or lead:
                    dx = fit(dx, x, operation, position, lead)
            elif value.__class__ is not x.__class__:
                if dx is None:
                    continue
                dx = fit(dx, x, operation, position, lead)
            before = grads.get(i)
            if before is None:
                grads[i] = dx
            elif nested:
                grads[i] = before + dx
            elif i in mine:
                before += dx
                grads[i] = before
            else:
                mine.add(i)
                value = dx
                if value.__class__ is np.ndarray and value.nbytes > SMALL and sole(dx):
                    grads[i] = np.add(before, dx, out=dx)
                else:
                    grads[i] = before + dx
    return grads


def _collect(
    grads: Gradients,
    outputs: Any,
    numbers: tuple[int, ...],
    kept: AbstractSet[int],
    nested: bool,
    lead: tuple[int, ...],
) -> Any:
    """The gradients of an operation's several outputs, zeros where nothing came; None if nothing came at all."""
    found = [grads.get(i) if i in kept else grads.pop(i, None) for i in numbers]
    if all(g is None for g in found):
        return None
    zeros = (np.zeros(lead + output.shape, output.dtype) for output in outputs)
    filled = [zero if g is None else g for g, zero in zip(found, zeros, strict=True)]
    return tuple(wrap(g) if nested and not isinstance(g, Tensor) else g for g in filled)


def _revived(value: Any, i: Any) -> Any:
    """A recorded value as a tensor, for other tapes to track under its number; numbers and indices as they are."""
    if i.__class__ is tuple:
        return tuple(map(_revived, value, i))
    if i > 0:
        return value if value.__class__ is Absent else wrap(value, i)
    if value.__class__ is np.ndarray and value.dtype.kind in "fc":
        return wrap(value)
    return value


def fit(dx: Any, x: Any, operation: Operation, position: int, lead: tuple[int, ...] = ()) -> Any:
    """A rule's result in the shape and dtype of the input that it belongs to, behind the `lead` axes.

    Raises
    ------
    RuleError
        If no broadcasting leads from the input's shape to that of the result.
    """
    shape = lead + x.shape
    if dx.shape != shape:
        try:
            small = unbroadcast(dx, x.shape, len(lead))
            dx = small if small.shape == shape else np.broadcast_to(small, shape)
        except ValueError:
            raise RuleError(
                f"the rule of {operation.name} for its argument {position} returned shape {dx.shape} "
                f"for an argument of shape {x.shape}"
                + f" and gradients {lead} at once"
                * bool(lead)
            ) from None
    if dx.dtype != x.dtype:
        if dx.dtype.kind == "c" and x.dtype.kind != "c":
            dx = np.real(dx)
        dx = dx.astype(x.dtype)
    return dx


def unbroadcast(dx: Any, shape: tuple[int, ...], lead: int = 0) -> Any:
    """Sum over the axes along which broadcasting has repeated an array of the given shape.

    The first `lead` axes of `dx` are not the array's, and stay.
    """
    total = np.add.reduce if dx.__class__ is np.ndarray else np.sum
    if not shape and not lead:
        return total(dx, axis=None)
    extra = dx.ndim - len(shape) - lead
    if extra > 0:
        dx = total(dx, axis=tuple(range(lead, lead + extra)))
    if 1 in shape and dx.ndim == len(shape) + lead:
        pairs = enumerate(zip(dx.shape[lead:], shape, strict=True), lead)
        repeated = tuple(axis for axis, (long, short) in pairs if short == 1 != long)
        if repeated:
            dx = total(dx, axis=repeated, keepdims=True)
    return dx
