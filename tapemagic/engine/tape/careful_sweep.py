"""The careful sweep: a reverse sweep that knows which zeros come from a selection, and keeps them through every rule.

A gradient's entry is unused where a selection did not take the value: there it stays exactly 0, even if the next
slope is infinite or nan. A zero that is a number, such as ``sqrt(x)`` at 0, is used: 0 * inf stays nan.

Whether a rule's zero is structural is found by a probe: the rule runs on random gradients with zeros where entries are
unused, and what is exactly 0 then doesn't depend on the numbers. Rules that choose by the values (`chooses`) are probed
with the true values, rules whose zeros are the same for all values (`even_zeros`) with random ones, elementwise rules
keep the places, and other rules that read values pass on nothing, unless no entry of their gradient is used.

It costs up to ten times as much as `sweep`, so it runs only after a sweep in which a gradient came out as nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Reversible, Sequence
from collections.abc import Set as AbstractSet
from itertools import starmap
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy, zeros
from tapemagic.engine.operations.scatter import dense
from tapemagic.engine.recording import Absent, outputs_of
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tape.structured_sweep import gradients_by_rules
from tapemagic.engine.tape.sweep import Gradients, fit, revived
from tapemagic.engine.tensor.precision import wider
from tapemagic.engine.tensor.tensor import Tensor, id_of, unwrap, wrap
from tapemagic.engine.tracing import one_call, tracer

NUMBER, ARRAY = np.float64, np.ndarray

TRUE, FALSE = np.True_, np.False_

INTEGERS = frozenset("biu")
"""The kinds of the dtypes of integers and bools."""

MAX_SMALL = 4096
"""The maximum size of a gradient that is searched for nan without looking at the records first."""

CODE = frozenset({"call", "rule"})
"""The parameters of records that hold functions of your program."""

Zeros = dict[int, dict[int, Any]]
"""For records that read a gradient with unused entries, by the first id of their results: its masks by position."""

Mask = Any
"""A bool array in the shape of a gradient, true where the gradient is unused, or None if all of it is used."""


def may_have_nan(grads: Gradients, ids: Iterable[int]) -> bool:
    """Return False if it is quickly seen that no gradient has a nan. Each sweep asks."""
    g: Any
    for i in ids:
        g = grads.get(i)
        # The true type: the class of a traced value is that of a number or an array.
        kind = type(g)
        if kind is Tensor:
            g = g._value
            kind = type(g)
        if kind is not NUMBER:
            if g is None:
                continue
            if kind is ARRAY:
                if not 0 < g.size <= MAX_SMALL:
                    return True
                # argmax gives the place of the first nan, and is the fastest search that NumPy has.
                g = g.item(g.argmax())
            elif not issubclass(kind, np.generic):
                return True
        if g != g:  # noqa: PLR0124 (a third of the time of np.isnan)
            return True
    return False


def has_nan(
    grads: Gradients,
    ids: Iterable[int],
    records: Sequence[Any],
    targets: Iterable[Any],
    nested_sweeps: Sequence[Any] = (),
    masked: bool = False,
) -> bool:
    """Return True if a careful sweep may give other gradients: one has a nan, and a record may leave entries unused.

    Unused entries become nan by 0 * inf, 0 * nan or 0 / 0, never infinite: so only a nan counts. `targets` are tensors
    or ids. With `masked`, their gradients have unused entries already. `nested_sweeps` are those that the tape has
    recorded, see `nested_sweeps.py`.
    """
    if not may_have_nan(grads, ids) or not (masked or any(map(_may_leave_unused, records))):
        return False
    # In the order of the ids, which is that of the program: two traces must have the same checks.
    checked = sorted(ids)
    if tracer() is not None and not masked:
        # Each check costs a small program some per cent of its time.
        goals = set(map(_goal, targets))
        suspects = poisonable(records, goals)
        if nested_sweeps:
            # Constants in the records of a nested sweep may be zeros that a selection made before it.
            goals.update(_goal(x) for sweep in nested_sweeps for x in sweep[-1][0])
            suspects = set(ids) if any(map(_may_leave_unused, needed(records, goals))) else set()
        checked = [i for i in checked if i in suspects]
    values = (unwrap(grads[i]) for i in checked if i in grads)
    return any(bool(holds_nan(g)) for g in values if not is_lazy(g) and g.size)


def agree(ids: Iterable[int], usual: Gradients, careful: Gradients) -> bool:
    """Return True if a careful sweep changed nothing but nan: a last precaution against wrong masks."""
    pairs = ((unwrap(usual[i]), unwrap(careful.get(i))) for i in ids if i in usual)
    # Sums that cancel differ by their rounding errors: a mask can't, it would lose whole numbers.
    return all(
        b is not None and np.all(np.isnan(a) | np.isclose(a, b, rtol=1e-3, atol=1e-8))
        for a, b in pairs
    )


def spared(ids: Iterable[int], usual: Gradients, careful: Gradients) -> set[int]:
    """Return the ids of sources whose gradients lost a nan in the careful sweep, for the report."""
    pairs = ((i, np.isnan(unwrap(usual[i])), unwrap(careful[i])) for i in ids if i in careful)
    return {i for i, was_nan, g in pairs if np.any(was_nan & ~np.isnan(g))}


def spoiled_to_zero(part: Any, total: Any) -> Any:
    """Return a summand of a gradient with 0 for each nan where the careful sum isn't nan: nothing uses it there."""
    if not part.size or part.dtype.kind not in "fc" or not holds_nan(part):
        return part
    return np.where(np.isnan(part) & ~np.isnan(total), 0, part)[()]


def _goal(x: Any) -> int:
    """Return the id of a target, which may be an id already."""
    return x if x.__class__ is int else id_of(x)


@one_call
def holds_nan(g: Any) -> Any:
    """Return whether an array holds a nan; for a value in a trace, the answer becomes a check of the program."""
    largest = g.item(g.argmax()) if g.ndim else g.item()
    return TRUE if largest != largest else FALSE  # noqa: PLR0124


def poisonable(records: Reversible[Any], goals: AbstractSet[int]) -> set[int]:
    """Return the ids of values whose gradients may be nan at unused entries, whatever the numbers are.

    There, a rule that reads numbers has multiplied a gradient with unused entries. `goals` are the ids of the targets.
    """
    sparse: set[int] = set()
    poisoned: set[int] = set()
    for record in needed(records, goals):
        ids, output_ids = record[2], outputs_of(record)
        inputs = [i for i in ids if i.__class__ is int and i > 0]
        if not poisoned.isdisjoint(output_ids):
            poisoned.update(inputs)
        if not sparse.isdisjoint(output_ids):
            operation = NUMBERED[record[0]]
            sparse.update(inputs)
            poisoned.update(
                i for k, i in enumerate(ids) if not reads_no_numbers(operation, k, record)
            )
        elif _may_leave_unused(record):
            sparse.update(inputs)
    return poisoned


def needed(records: Reversible[Any], goals: AbstractSet[int]) -> Iterator[Any]:
    """Yield the records from which values were computed, newest first."""
    reached = set(goals)
    for record in reversed(records):
        if not reached.isdisjoint(outputs_of(record)):
            reached.update(i for i in record[2] if i.__class__ is int)
            yield record


def _may_leave_unused(record: Any) -> bool:
    """Return True if the rules of a record may make zeros that don't depend on the numbers."""
    operation = NUMBERED[record[0]]
    if operation.chooses:
        return True
    if operation.pointwise:
        return operation.function is np.multiply and "b" in map(kind_of, record[1])
    if operation.uses_all:
        params = record[3]
        return bool(params and "where" in params) or any(kind_of(x) in INTEGERS for x in record[1])
    return True


def kind_of(value: Any) -> str:
    """Return the kind of a value's dtype, or '' if it has none."""
    return getattr(getattr(value, "dtype", None), "kind", "")


def careful_sweep(
    records: Reversible[Any],
    tracked: Mapping[int, int],
    grads: Gradients,
    unused: dict[int, Mask],
    kept: AbstractSet[int],
    nested: bool,
    lead: tuple[int, ...] = (),
    zeros: Zeros | None = None,
    scratch: Any = None,
) -> Gradients:
    """Process the records backwards like `sweep`, and keep exact zeros where no operation uses a value.

    `unused` holds the masks of the targets' gradients, by id, for targets that have unused entries; it is changed.
    `zeros` are the operands that are gradients with unused entries. If a tape `scratch` records this sweep, those of
    its records are added. See `sweep` for the other arguments and the result.
    """
    careful = _CarefulSweep(tracked, grads, unused, nested, lead, zeros or {})
    active_tracer = tracer()
    backwards = reversed(records) if active_tracer is None else active_tracer.sweep(records, grads)
    # The usual sweep has given the warnings of the rules.
    with np.errstate(all="ignore"):
        for record in backwards:
            first = len(scratch._records) if scratch else 0
            g, mask = careful.pass_on(record, kept)
            if scratch and zeros is not None and mask is not None:
                zeros.update(_operands_like(scratch._records[first:], g, mask))
    careful.finish(list(careful.counts))
    return grads


def _operands_like(records: Iterable[Any], g: Any, mask: Mask) -> Iterator[tuple[int, Any]]:
    """Yield the first result of each record that reads the gradient `g`, and the mask by the operand's position."""
    i, value = g._id, g._value
    for _, values, ids, _, _, output_id in records:
        pairs = enumerate(zip(values, ids, strict=True))
        same = [k for k, (x, j) in pairs if x is value or (i > 0 and i == j)]
        if same:
            first = output_id[0] if output_id.__class__ is tuple else output_id
            yield first, dict.fromkeys(same, mask)


class _CarefulSweep:
    """The gradients and masks of a careful sweep."""

    def __init__(
        self,
        tracked: Mapping[int, int],
        grads: Gradients,
        unused: dict[int, Mask],
        nested: bool,
        lead: tuple[int, ...],
        zeros: Zeros,
    ) -> None:
        self._zeros = zeros
        self._since = tracked.get
        self._grads = grads
        self._unused = unused
        self._nested = nested
        self._lead = lead
        # With a seed, a trace of the sweep is the same each time. Any seed will do: the numbers are generic.
        self._random = np.random.default_rng(29)
        self.counts: dict[int, tuple[int, Any]] = {}

    def pass_on(self, record: Any, kept: AbstractSet[int]) -> tuple[Any, Mask]:
        """Add to the gradients of the inputs of a record what its rules give; return the result's gradient and mask.

        Both are None if nothing is passed on, or the operation has several results.
        """
        _, values, ids, _, output, output_id = record
        output_ids = outputs_of(record)
        outputs = output if output_id.__class__ is tuple else (output,)
        self.finish(output_ids)
        grads, unused = self._grads, self._unused
        gs = [grads.get(i) if i in kept else grads.pop(i, None) for i in output_ids]
        if all(g is None for g in gs):
            return None, None
        masks = [unused.get(i) if i in kept else unused.pop(i, None) for i in output_ids]
        positions = [k for k, i in enumerate(ids) if self._since(i, NEVER) <= output_ids[0]]
        if not positions:
            return None, None
        for k, (g, y) in enumerate(zip(gs, outputs, strict=True)):
            if g is None:  # a result that nothing reads, such as one part of np.split
                shape = self._lead + y.shape
                gs[k], masks[k] = zeros(shape, y.dtype), np.ones(shape, bool)
        if self._nested:
            gs = [g if isinstance(g, Tensor) else wrap(g) for g in gs]
        whole = output_id.__class__ is tuple
        g, mask = (tuple(gs), tuple(masks)) if whole else (gs[0], masks[0])
        for k, dx, dx_unused in self._passed(record, positions, g, mask):
            self._add(ids[k], values[k], dx, dx_unused)
        return (None, None) if whole else (g, mask)

    def _add(self, i: int, x: Any, dx: Any, dx_unused: Mask) -> None:
        """Add a gradient to that of an input: in double precision starting with the third, as in the usual sweep."""
        grads, unused = self._grads, self._unused
        if i not in grads:
            grads[i] = dx
            if dx_unused is not None:
                unused[i] = dx_unused
            return
        count, _ = self.counts.get(i, (1, None))
        self.counts[i] = count + 1, x.dtype
        before = grads[i].astype(wider(x.dtype)) if count == 2 else grads[i]
        grads[i] = before + dx
        mask = unused.pop(i, None)
        if mask is not None and dx_unused is not None:
            unused[i] = mask & dx_unused

    def finish(self, ids: Iterable[int]) -> None:
        """Cast complete sums to the dtypes of their values."""
        for i in ids:
            count, dtype = self.counts.pop(i, (0, None))
            if count > 2 and self._grads[i].dtype != dtype:
                self._grads[i] = self._grads[i].astype(dtype)

    def _passed(
        self, record: Any, positions: list[int], g: Any, mask: Any
    ) -> list[tuple[int, Any, Mask]]:
        """Return the gradient that each input receives, with its mask."""
        number, values, ids, params, output, output_id = record
        operation = NUMBERED[number]
        operands: tuple[Any, ...] = (output, *values)
        if self._nested:
            operands = (revived(output, output_id), *map(revived, values, ids))
        by_position = [
            (k, dense(dx))
            for k, dx in gradients_by_rules(operation, positions, (g, *operands), params)
        ]
        probes = self._probed(record, positions, mask, by_position)
        passed = []
        for k, raw in by_position:
            dx, raw_unused = raw, probes.get(k)
            if operation.even_zeros and mask is not None:
                dx = self._without_poison(record, k, g, mask, operands, dx)
            if raw_unused is not None:
                if tracer() is None:
                    # A last precaution against wrong masks: no number other than 0 is ever lost.
                    numbers = unwrap(dx)
                    raw_unused = raw_unused & ((numbers == 0) | np.isnan(numbers))
                dx = choice(raw_unused, 0, dx)
            x = values[k]
            dx = fit(dx, x, operation.name, k, self._lead)
            passed.append((k, dx, fitted(raw_unused, self._lead + x.shape, len(self._lead))))
        return passed

    def _probed(
        self, record: Any, positions: list[int], mask: Any, by_position: list[tuple[int, Any]]
    ) -> dict[int, Mask]:
        """Return the masks of the rules' results, for the inputs that have one, in the shapes of the results."""
        number, values, _, params, output, _ = record
        operation = NUMBERED[number]
        shapes = {k: dx.shape for k, dx in by_position}
        masks = self._elementwise(record, mask, shapes)
        exact: list[int] = []
        even: list[int] = []
        for k in positions:
            if k not in shapes:
                continue
            if operation.chooses_in(k) or is_masked(operation, k, values):
                exact.append(k)
            elif k not in masks and not (operation.pointwise and mask is None):
                (exact if reads_no_numbers(operation, k, record) else even).append(k)
        operands = (output, *values)
        probes: list[tuple[list[int], tuple[Any, ...]]] = [(exact, operands)]
        if is_even(operation, params):
            known = self._zeros.get(outputs_of(record)[0], {})
            others = tuple(
                np.where(known[k], 0, self._stand_in(x))[()] if k in known else self._stand_in(x)
                for k, x in enumerate(operands, -1)
            )
            probes.append((even, others))
            if operation.name.startswith("nan"):  # np.nanprod and its kin choose what isn't nan
                pairs = zip(operands, others, strict=True)
                probes.append((even, tuple(starmap(with_nan_of, pairs))))
        elif all_unused(mask):
            masks |= {k: np.ones(shapes[k], bool) for k in even}
        for several, arguments in probes:
            if several:
                for k, dx in self._probe(operation, several, mask, arguments, record):
                    if dx.shape == shapes[k]:
                        masks[k] = masks[k] | (dx == 0) if k in masks else dx == 0
        return masks

    def _elementwise(
        self, record: Any, mask: Any, shapes: Mapping[int, tuple[int, ...]]
    ) -> dict[int, Mask]:
        """Return the masks of inputs of an elementwise operation, which keeps the places of unused entries."""
        operation = NUMBERED[record[0]]
        masks: dict[int, Mask] = {}
        if operation.pointwise and mask is not None:
            masks = {k: mask for k in shapes if shapes[k] == mask.shape}
        if operation.function is np.multiply:
            # Where a factor is an unused entry of an inner gradient, the product doesn't use the other one.
            for k, unused in self._zeros.get(record[-1], {}).items():
                if 1 - k in shapes:
                    zero = np.broadcast_to(unused, shapes[1 - k])
                    masks[1 - k] = masks[1 - k] | zero if 1 - k in masks else zero
        return masks

    def _probe(
        self,
        operation: Operation,
        positions: Sequence[int],
        mask: Any,
        operands: Sequence[Any],
        record: Any,
    ) -> list[tuple[int, Any]]:
        """Run rules on random gradients, which are 0 where unused; return nothing if a rule refuses them."""
        g = self._random_gradient(record[4], mask)
        try:
            found = gradients_by_rules(operation, positions, (g, *operands), record[3])
        except Exception:  # noqa: BLE001 -- a rule may not like random numbers, and then nothing is known
            return []
        return [(k, unwrap(dense(dx))) for k, dx in found]

    def _random_gradient(self, output: Any, mask: Any) -> Any:
        if output.__class__ is tuple:
            pairs = zip(output, mask, strict=True)
            return tuple(self._random_gradient(y, m) for y, m in pairs)
        g = self._numbers(self._lead + output.shape, output.dtype)
        return g if mask is None else np.where(mask, 0, g)[()]

    def _stand_in(self, value: Any) -> Any:
        """Return random numbers instead of a value; integers, bools and values that no rule reads stay."""
        if value.__class__ is tuple:
            return tuple(map(self._stand_in, value))
        if isinstance(value, float | complex) and not isinstance(value, np.generic):
            return 0.5 + 0.4 * self._random.random()
        dtype = getattr(value, "dtype", None)
        if dtype is None or dtype.kind not in "fc" or isinstance(value, Absent):
            return value
        return self._numbers(value.shape, dtype)

    def _numbers(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return random numbers between 0.5 and 0.9, where most functions are defined."""
        numbers: Any = 0.5 + 0.4 * self._random.random(shape)
        if dtype.kind == "c":
            numbers = numbers * (0.8 + 0.6j)
        return np.asarray(numbers).astype(dtype, copy=False)[()]

    def _without_poison(
        self, record: Any, k: int, g: Any, mask: Any, operands: tuple[Any, ...], dx: Any
    ) -> Any:
        """Replace each nan that only comes from operands at unused entries of the gradient.

        In ``g @ W.T``, a nan in W spreads to all sums, even where the gradient that it meets is an exact 0. Where two
        different numbers instead of all infinite and nan operands give the same sums, the sums don't depend on them.
        """
        operation = NUMBERED[record[0]]
        if not is_even(operation, record[3]):
            return dx
        values = (record[4], *record[1])
        unread = operation.unread(tuple(j == k for j in range(len(record[1]))))
        poisoned = [j not in unread and is_poisoned(value) for j, value in enumerate(values, -1)]
        if not any(poisoned) or not bool(holds_nan(unwrap(dx))):
            return dx
        base, results = [self._stand_in(value) for value in values], []
        state = self._random.bit_generator.state
        for _ in range(2):
            others = [self._stand_in(value) for value in values]
            tried = [
                np.where(np.isfinite(value), x, other)[()] if bad else x
                for value, x, other, bad in zip(values, base, others, poisoned, strict=True)
            ]
            after, self._random.bit_generator.state = self._random.bit_generator.state, state
            results += self._probe(
                operation, (k,), mask, tried, record
            )  # both on the same gradients
            self._random.bit_generator.state = after
        if len(results) < 2 or results[0][1].shape != dx.shape:
            return dx
        independent = results[0][1] == results[1][1]
        healthy = tuple(
            choice(np.isfinite(value), x, value.dtype.type(1)) if bad else x
            for x, value, bad in zip(operands, values, poisoned, strict=True)
        )
        ((_, filled),) = gradients_by_rules(operation, (k,), (g, *healthy), record[3])
        return choice(independent & np.isnan(unwrap(dx)), dense(filled), dx)


def choice(condition: Any, x: Any, y: Any) -> Any:
    """Choose among arrays or tensors; a single number stays a NumPy scalar."""
    chosen = np.where(condition, x, y)
    return chosen if chosen.ndim or isinstance(chosen, Tensor) else chosen[()]


def with_nan_of(value: Any, other: Any) -> Any:
    """Return random numbers instead of a value, but nan where it is nan."""
    return np.where(np.isnan(value), value, other)[()] if kind_of(other) in ("f", "c") else other


def is_poisoned(value: Any) -> bool:
    """Return True if an array holds an infinity or a nan; a tuple of arrays is never searched."""
    dtype = getattr(value, "dtype", None)
    if dtype is None or dtype.kind not in "fc" or isinstance(value, Absent):
        return False
    return not bool(np.isfinite(value).all())


def all_unused(mask: Any) -> bool:
    """Return True if no entry of a gradient is used."""
    if mask.__class__ is tuple:
        return all(map(all_unused, mask))
    return mask is not None and bool(np.all(mask))


def is_masked(operation: Operation, k: int, values: Sequence[Any]) -> bool:
    """Return True if an operation multiplies its input `k` by truth values: False selects nothing."""
    return operation.function is np.multiply and kind_of(values[1 - k]) == "b"


def is_even(operation: Operation, params: Mapping[str, Any] | None) -> bool:
    """Return True if the zeros of an operation's rules are the same for all values."""
    # The orders of norms such as inf choose the largest entry.
    return operation.even_zeros and (params or {}).get("ord") in (None, 2, "fro")


def reads_no_numbers(operation: Operation, k: int, record: Any) -> bool:
    """Return True if the rule of input `k` reads only the gradient, besides integers and bools."""
    _, values, _, params, output, _ = record
    # Functions of your program, in custom gradients, aren't called for a probe.
    if params and not CODE.isdisjoint(params):
        return False
    unread = operation.unread(tuple(j == k for j in range(len(values))))
    operands = [x for j, x in enumerate((output, *values), -1) if j not in unread]
    return all(x is None or kind_of(x) in INTEGERS for x in operands)


def fitted(mask: Mask, shape: tuple[int, ...], lead: int) -> Mask:
    """Convert the mask of a rule's result to the shape of its input: unused is what all repetitions don't use."""
    if mask is None or mask.shape == shape:
        return mask
    extra = mask.ndim - len(shape)
    if extra > 0:
        mask = np.all(mask, axis=tuple(range(lead, lead + extra)))
    if mask.ndim == len(shape):
        pairs = enumerate(zip(mask.shape, shape, strict=True))
        repeated = tuple(axis for axis, (long, short) in pairs if short == 1 != long)
        if repeated:
            mask = np.all(mask, axis=repeated, keepdims=True)
    return np.broadcast_to(mask, shape)
