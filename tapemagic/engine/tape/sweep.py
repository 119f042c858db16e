"""The reverse sweep: from the gradients of the targets, back along the records, to those of the sources.

Gradients of complex values travel conjugated, so that the rules of holomorphic functions are the textbook's:
with L real and z = a + ib, what a rule is given and returns is dL/da - i dL/db.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Reversible, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, repeat
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy, zeros
from tapemagic.engine.operations.scatter import Scattered, dense, sum_of_scattered
from tapemagic.engine.recording import SMALL, Absent, outputs_of
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tape.memory import sole
from tapemagic.engine.tape.refused_rules import in_chunks
from tapemagic.engine.tensor.dispatch import REFUSALS
from tapemagic.engine.tensor.precision import FLOAT64, precise_sum, wider
from tapemagic.engine.tensor.tensor import Tensor, broadcast, wrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import RuleError

Gradients = dict[int, Any]
NUMBER = np.float64

Unfinished = dict[int, tuple[Any, list[Scattered]]]
"""Gradients that are not yet in their final form: the dtype that they shall have, and what is still to be added."""


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


BLOCK = 1 << 10
"""The number of records above which a sweep looks, now and then, whether any gradient is left to pass on."""


class NeededRecords:
    """The records of a long tape from that of the target back to the last that receives a gradient.

    So a gradient at each step of a long loop, all on one tape, costs no more than the records of that step.

    Parameters
    ----------
    records : sequence of Record
    tracked : mapping of int to int
        The values to pass gradients to.
    grads : dict of int to array
        The gradients of the targets, to which the sweep adds.
    leaves, kept : set of int
        The ids of watched values, and those of intermediate values whose gradients stay in `grads`.
    """

    def __init__(
        self,
        records: Sequence[Any],
        tracked: Mapping[int, int],
        grads: Gradients,
        leaves: AbstractSet[int],
        kept: AbstractSet[int],
    ) -> None:
        self._records = records
        self._tracked = tracked
        self._grads = grads
        self._leaves = leaves
        self._kept = kept

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    def __reversed__(self) -> Iterator[Any]:
        records, tracked, grads, leaves = self._records, self._tracked, self._grads, self._leaves
        passed: set[int] = set()
        end, size = self._end(), BLOCK >> 4
        while end and any(i in tracked and i not in leaves and i not in passed for i in grads):
            block = records[max(0, end - size) : end]
            yield from reversed(block)
            if self._kept:
                passed |= self._kept & set(chain.from_iterable(map(outputs_of, block)))
            end -= len(block)
            size = (
                2 * size or 1
            )  # so that many gradients of leaves are not looked through many times

    def _end(self) -> int:
        """The position after the record of the target; the end where there are several.

        Threads that record on one tape may append out of order: then it is the end, too.
        """
        records = self._records
        if len(self._grads) == 1:
            (target,) = self._grads
            end = bisect_right(records, target, key=lambda record: outputs_of(record)[0])
            if end and target in outputs_of(records[end - 1]):
                return end
        return len(records)


def sweep(  # noqa: PLR0912, PLR0915 (the hot loop: a call costs more than a branch)
    records: Reversible[Any],
    tracked: Mapping[int, int],
    grads: Gradients,
    kept: AbstractSet[int],
    nested: bool,
    lead: tuple[int, ...] = (),
) -> Gradients:
    """Go through the records backwards, adding to `grads` what each operation passes to its inputs.

    Parameters
    ----------
    records : sequence of Record, or NeededRecords
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
    unfinished: Unfinished = {}
    since = tracked.get
    pop = grads.pop
    told = tracer()
    in_place = told is None and not nested
    backwards = reversed(records) if told is None else told.sweep(records, grads)
    for number, values, ids, params, output, output_id in backwards:
        if unfinished:
            _finish(output_id, grads, unfinished)
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
        arguments = (g, output, *values)
        if nested:
            arguments = (g, revived(output, output_id), *map(revived, values, ids))
        operation = NUMBERED[number]
        rules = operation.rules
        if not rules:
            wanted = _tracked_positions(ids, since, newest)
            if not wanted:
                continue
            rules = _answers(operation, wanted, arguments, params)
            arguments = ()
        position = -1
        for i in ids:
            position += 1
            start = since(i)
            if start is None or start > newest:
                continue
            rule = rules[position]
            if rule is None:
                continue
            try:
                dx = rule(*arguments, **params) if params and arguments else rule(*arguments)
            except REFUSALS as error:
                (dx,) = in_chunks(error, operation, (position,), arguments, params)
            x = values[position]
            value = dx._value if nested and dx.__class__ is Tensor else dx
            if value.__class__ is np.ndarray:
                if value.shape != x.shape or value.dtype is not x.dtype or lead:
                    dx = fit(dx, x, operation.name, position, lead)
            elif value.__class__ is not x.__class__:
                if dx is None:
                    continue
                if dx.__class__ is Scattered:
                    if nested:
                        unfinished.setdefault(i, (x.dtype, []))[1].append(dx)
                    else:
                        _add_scattered(dx, i, x.dtype, grads, mine, unfinished)
                    continue
                dx = fit(dx, x, operation.name, position, lead)
            before = grads.get(i)
            if before is None:
                grads[i] = dx
            elif (
                i in mine
                and in_place
                and (before.ndim < 2 or before.strides == dx.strides)
                and type(before) is type(dx)
            ):
                before += dx
                grads[i] = before
            elif (
                x.__class__ is not NUMBER
                and x.dtype is not FLOAT64
                and wider(x.dtype) is not x.dtype
            ):
                grads[i] = _narrow_sum(before, dx, i, x.dtype, mine, unfinished)
            elif nested:
                grads[i] = before + dx
            else:
                mine.add(i)
                value = dx
                # nothing lazy takes any bytes
                if value.__class__ is np.ndarray and value.nbytes > SMALL and in_place and sole(dx):
                    fits = dx.strides == before.strides and not is_lazy(before)
                    grads[i] = np.add(before, dx, out=dx if fits else None)
                else:
                    grads[i] = before + dx
    if unfinished:
        _finish(tuple(unfinished), grads, unfinished)
    return grads


def _tracked_positions(ids: Sequence[int], since: Any, newest: int) -> list[int]:
    """The positions of tracked inputs; outside of the loop, whose variables a comprehension would make slower."""
    return [k for k, i in enumerate(ids) if since(i, NEVER) <= newest]


def _answers(
    operation: Operation, wanted: Sequence[int], arguments: tuple[Any, ...], params: Any
) -> list[Callable[[], Any] | None]:
    """For each input of an operation with one rule for all, a function that returns its gradient."""
    rule: Any = operation.joint_rule
    try:
        found = rule(wanted, *arguments, **(params or {}))
    except REFUSALS as error:
        found = in_chunks(error, operation, wanted, arguments, params)
    answers: list[Callable[[], Any] | None] = [None] * (len(arguments) - 2)
    for position, dx in zip(wanted, found, strict=True):
        answers[position] = repeat(dx).__next__
    return answers


def _narrow_sum(
    before: Any, dx: Any, i: int, dtype: Any, mine: set[int], unfinished: Unfinished
) -> Any:
    """The sum of two gradients of low precision: in double precision from the third gradient on."""
    if -i not in mine:
        mine.add(-i)
        return before + dx
    if i not in mine:
        mine.add(i)
        unfinished.setdefault(i, (dtype, []))
        before = before.astype(wider(dtype))
    return before + dx


def _add_scattered(
    part: Scattered,
    i: int,
    dtype: Any,
    grads: Gradients,
    mine: set[int],
    unfinished: Unfinished,
) -> None:
    """Add a scattered gradient to an array that the sweep owns: one of double precision from the second on."""
    before = grads.get(i)
    if before is None:
        grads[i] = dense(part)
        if wider(dtype) == dtype:
            mine.add(i)
        return
    if i not in mine:
        mine.add(i)
        before = before.astype(wider(dtype))
        if before.dtype != dtype:
            unfinished[i] = dtype, []
    grads[i] = part.added_to(before)


def _finish(i: Any, grads: Gradients, unfinished: Unfinished) -> None:
    """Bring the gradient of a value, or of each of several, into its final form."""
    if i in unfinished:
        dtype, parts = unfinished.pop(i)
        g: Any = grads.get(i)
        if parts:
            total = sum_of_scattered(parts)
            g = total if g is None else g + total
        grads[i] = g if g.dtype == dtype else g.astype(dtype)
    elif i.__class__ is tuple:
        for one in i:
            _finish(one, grads, unfinished)


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
    filled = [
        zeros(lead + output.shape, output.dtype) if g is None else g
        for g, output in zip(found, outputs, strict=True)
    ]
    return tuple(wrap(g) if nested and not isinstance(g, Tensor) else g for g in filled)


def revived(value: Any, i: Any) -> Any:
    """A recorded value as a tensor, for other tapes to track under its number; numbers and indices as they are."""
    if i.__class__ is tuple:
        return tuple(map(revived, value, i))
    if i > 0:
        return value if value.__class__ is Absent else wrap(value, i)
    if value.__class__ is np.ndarray and value.dtype.kind in "fc":
        return wrap(value)
    return value


def fit(dx: Any, x: Any, name: str, position: int, lead: tuple[int, ...] = ()) -> Any:
    """A rule's result in the shape and dtype of the input that it belongs to, behind the `lead` axes."""
    shape = lead + x.shape
    if dx.shape != shape:
        try:
            small = unbroadcast(dx, x.shape, len(lead))
            dx = broadcast(small, shape)
        except ValueError:
            raise RuleError(
                f"the rule of {name} for its argument {position} returned shape {dx.shape} "
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
    plain = dx.__class__ is np.ndarray and dx.dtype is FLOAT64
    total: Any = np.add.reduce if plain else precise_sum
    if not shape and not lead:
        return total(dx, None)
    extra = dx.ndim - len(shape) - lead
    if extra > 0:
        dx = total(dx, tuple(range(lead, lead + extra)))
    if 1 in shape and dx.ndim == len(shape) + lead:
        pairs = enumerate(zip(dx.shape[lead:], shape, strict=True), lead)
        repeated = tuple(axis for axis, (long, short) in pairs if short == 1 != long)
        if repeated:
            dx = total(dx, repeated, keepdims=True)
    return dx
