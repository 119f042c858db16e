"""The reverse sweep: gradients of the targets are passed along the records, newest first, to the sources.

This is reverse accumulation (Griewank and Walther, Evaluating Derivatives, 2008, chapter 3). Gradients of complex
values are conjugated during the sweep, so that rules of holomorphic functions need no conjugates: with L real and z =
a + ib, a rule receives and returns dL/da - i dL/db.
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
from tapemagic.engine.tape.memory import is_unshared
from tapemagic.engine.tape.refused_rules import in_chunks
from tapemagic.engine.tensor.dispatch import REFUSALS
from tapemagic.engine.tensor.precision import FLOAT64, precise_sum, wider
from tapemagic.engine.tensor.tensor import Tensor, broadcast, wrap
from tapemagic.engine.tracing import tracer
from tapemagic.errors import RuleError

Gradients = dict[int, Any]
NUMBER = np.float64

Unfinished = dict[int, tuple[Any, list[Scattered]]]
"""Gradients that aren't complete: the dtype of the result, and the scattered parts to be added."""


def reachable(
    records: Iterable[Any], tracked: Mapping[int, int], sources: Iterable[int]
) -> dict[int, int]:
    """Return the part of `tracked` that depends on a source."""
    reached = {i: tracked[i] for i in sources if i in tracked}
    for _, _, ids, _, _, output_id in records:
        for i in ids:
            if i in reached:
                outputs = output_id if output_id.__class__ is tuple else (output_id,)
                reached.update((out, tracked[out]) for out in outputs)
                break
    return reached


MIN_CHECKED_RECORDS = 1 << 10
"""Minimum number of records for which a sweep checks, from time to time, whether any gradient is left to pass on."""


class NeededRecords:
    """The records of a long tape between the target and the last record that receives a gradient.

    A gradient at each step of a long loop on a single tape then costs only the records of that step.

    - `tracked`: The values that receive gradients.
    - `grads`: The gradients of the targets; the sweep adds to this dict.
    - `leaves`, `kept`: The ids of watched values, and of intermediate values whose gradients stay in `grads`.
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
        end, size = self._end(), MIN_CHECKED_RECORDS >> 4
        while end and any(i in tracked and i not in leaves and i not in passed for i in grads):
            block = records[max(0, end - size) : end]
            yield from reversed(block)
            if self._kept:
                passed |= self._kept & set(chain.from_iterable(map(outputs_of, block)))
            end -= len(block)
            # Growing blocks: the gradients of many leaves aren't searched again for each short block.
            size = 2 * size or 1

    def _end(self) -> int:
        """Return the position after the target's record, or the number of records if there are several targets.

        It is also the number of records if the target isn't found: threads that share a tape may append out of order.
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
    """Process the records backwards, adding to `grads` the gradients that each operation passes to its inputs.

    Returns dict of int to array: `grads`, with gradients of leaves and `kept` values: tensors if `nested`, else arrays.

    Parameters
    ----------
    records : sequence of Record, or NeededRecords
    tracked : mapping of int to int
        The values that receive gradients, each with the time at which the tape began to track it.
    grads : dict of int to array
        The gradients of the targets. The sweep changes this dict.
    kept : set of int
        The intermediate values whose gradients are requested.
    nested : bool
        Whether to run the rules on tensors, so that live tapes record them.
    lead : tuple of int
        Leading axes of all gradients: several gradients of a value are passed on at once.
    """
    owned: set[int] = set()
    unfinished: Unfinished = {}
    # Bound methods in local variables: no attribute is looked up for each record.
    since = tracked.get
    pop = grads.pop
    active_tracer = tracer()
    # An array may be added into if this sweep allocated it (its id is in `owned`) and no tape or trace reads it.
    in_place = active_tracer is None and not nested
    backwards = reversed(records) if active_tracer is None else active_tracer.sweep(records, grads)
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
        # Without separate rules, a single rule computes the gradients of all inputs.
        if not rules:
            positions = _tracked_positions(ids, since, newest)
            if not positions:
                continue
            rules = _answers(operation, positions, arguments, params)
            arguments = ()
        position = -1
        for i in ids:
            position += 1
            # A value that was watched after this record was made counts as a constant here.
            start = since(i)
            if start is None or start > newest:
                continue
            rule = rules[position]
            if rule is None:
                continue
            # Dask arrays raise from inside a rule if it needs their numbers; the rule then runs chunk by chunk.
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
                        _add_scattered(dx, i, x.dtype, grads, owned, unfinished)
                    continue
                dx = fit(dx, x, operation.name, position, lead)
            before = grads.get(i)
            if before is None:
                grads[i] = dx
            # In place, a sum keeps the memory layout of `before`. A new array, which programs always make, has
            # another layout if the strides differ, and results must be the same with and without a program.
            elif (
                i in owned
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
                grads[i] = _narrow_sum(before, dx, i, x.dtype, owned, unfinished)
            elif nested:
                grads[i] = before + dx
            else:
                # Addition makes a new array, which the sweep owns. If nothing else refers to dx, its
                # memory is reused: large temporaries would cost page faults.
                owned.add(i)
                value = dx
                # lazy arrays report their later size in bytes, but have no memory to reuse
                if (
                    value.__class__ is np.ndarray
                    and value.nbytes > SMALL
                    and in_place
                    and is_unshared(dx)
                ):
                    fits = dx.strides == before.strides and not is_lazy(before)
                    grads[i] = np.add(before, dx, out=dx if fits else None)
                else:
                    grads[i] = before + dx
    if unfinished:
        _finish(tuple(unfinished), grads, unfinished)
    return grads


def _tracked_positions(ids: Sequence[int], since: Any, newest: int) -> list[int]:
    """Return the positions of tracked inputs; not inlined, because a comprehension would turn variables into cells."""
    return [k for k, i in enumerate(ids) if since(i, NEVER) <= newest]


def _answers(
    operation: Operation, positions: Sequence[int], arguments: tuple[Any, ...], params: Any
) -> list[Callable[[], Any] | None]:
    """Return a function per input that returns its gradient, for an operation with one rule for all inputs."""
    rule: Any = operation.joint_rule
    try:
        gradients = rule(positions, *arguments, **(params or {}))
    except REFUSALS as error:
        gradients = in_chunks(error, operation, positions, arguments, params)
    answers: list[Callable[[], Any] | None] = [None] * (len(arguments) - 2)
    for position, dx in zip(positions, gradients, strict=True):
        answers[position] = repeat(dx).__next__
    return answers


def _narrow_sum(
    before: Any, dx: Any, i: int, dtype: Any, owned: set[int], unfinished: Unfinished
) -> Any:
    """Add two gradients of low precision: in double precision starting with the third gradient."""
    # The sum of two numbers is rounded once in either precision, so most values need no wide copy. -i marks one
    # addition.
    if -i not in owned:
        owned.add(-i)
        return before + dx
    if i not in owned:
        owned.add(i)
        unfinished.setdefault(i, (dtype, []))
        before = before.astype(wider(dtype))
    return before + dx


def _add_scattered(
    part: Scattered,
    i: int,
    dtype: Any,
    grads: Gradients,
    owned: set[int],
    unfinished: Unfinished,
) -> None:
    """Add a scattered gradient to an array that the sweep owns, in double precision starting with the second part."""
    before = grads.get(i)
    if before is None:
        grads[i] = dense(part)
        if wider(dtype) == dtype:
            owned.add(i)
        return
    if i not in owned:
        owned.add(i)
        before = before.astype(wider(dtype))
        if before.dtype != dtype:
            unfinished[i] = dtype, []
    grads[i] = part.added_to(before)


def _finish(i: Any, grads: Gradients, unfinished: Unfinished) -> None:
    """Complete the gradient of a value, or of each value in a tuple."""
    if i in unfinished:
        dtype, parts = unfinished.pop(i)
        g: Any = grads.get(i)
        if parts:
            total = sum_of_scattered(parts)
            g = total if g is None else g + total
        grads[i] = g if g.dtype == dtype else g.astype(dtype)
    elif i.__class__ is tuple:
        for each in i:
            _finish(each, grads, unfinished)


def _collect(
    grads: Gradients,
    outputs: Any,
    numbers: tuple[int, ...],
    kept: AbstractSet[int],
    nested: bool,
    lead: tuple[int, ...],
) -> Any:
    """Return the gradients of an operation's outputs, with zeros for missing gradients, or None if all are missing."""
    gradients = [grads.get(i) if i in kept else grads.pop(i, None) for i in numbers]
    if all(g is None for g in gradients):
        return None
    filled = [
        zeros(lead + output.shape, output.dtype) if g is None else g
        for g, output in zip(gradients, outputs, strict=True)
    ]
    return tuple(wrap(g) if nested and not isinstance(g, Tensor) else g for g in filled)


def revived(value: Any, i: Any) -> Any:
    """Return a recorded value as a tensor that tapes can track by its id; constants and indices stay unchanged."""
    if i.__class__ is tuple:
        return tuple(map(revived, value, i))
    if i > 0:
        return value if value.__class__ is Absent else wrap(value, i)
    if value.__class__ is np.ndarray and value.dtype.kind in "fc":
        return wrap(value)
    return value


def fit(dx: Any, x: Any, name: str, position: int, lead: tuple[int, ...] = ()) -> Any:
    """Convert a rule's result to the shape, after the `lead` axes, and to the dtype of its input."""
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

    The first `lead` axes of `dx` don't belong to the array, so they stay.
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
