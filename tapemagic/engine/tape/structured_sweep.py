"""The sparse part of a batched sweep: where gradients have few nonzero elements, only these are computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tape.nonzeros import Lookup, Map, Nonzeros, Term
from tapemagic.engine.tape.places import Places, is_all, picked, shaped, taken
from tapemagic.engine.tape.sweep import fit, revived
from tapemagic.engine.tracing import tracer

Shape = tuple[int, ...]

MAX_DENSITY = 0.25
"""The maximum share of nonzero elements for which passing on only these is faster than passing on whole rows."""

BYTES_PER_NONZERO = 24
"""The size of a nonzero element in double precision: two positions and a value."""

Part = tuple[int, Term]
"""The position of an input, and nonzero elements of the gradients with respect to it."""


class StructuredSweep:
    """Passes sparse gradients along the records; what it can't pass on is left for whole rows.

    Elementwise operations keep the places of nonzero elements: their rules run on the operation's values at these
    places. Operations that select, arrange or add elements keep the elements and change their places. At other
    operations, and where gradients become dense, the sparse part ends.

    An element that isn't stored is exactly zero: zero times an infinite slope is zero here, but nan in a sweep of
    whole rows, which is therefore repeated carefully.

    Parameters
    ----------
    tracked : mapping of int to int
    kept : set of int, see `sweep`
    nested : bool
        Whether to run the rules on tensors.
    count : int
        The number of rows.
    most : int
        The size that the nonzero elements of a value may have, in bytes, if they exceed one element per place.
    """

    def __init__(
        self,
        tracked: Mapping[int, int],
        kept: AbstractSet[int],
        nested: bool,
        count: int,
        max_bytes: int,
    ) -> None:
        self._since = tracked.get
        self._kept = kept
        self._nested = nested
        self._count = count
        self._bytes = max_bytes
        self._numbers: dict[Shape, Any] = {}

    def run(self, records: Sequence[Any], found: dict[int, Nonzeros]) -> dict[int, Nonzeros]:
        """Process the records backwards; afterwards, `found` holds the gradients of the sources.

        Returns dict of int to Nonzeros: the gradients that couldn't be passed on.
        """
        pending: dict[int, Nonzeros] = {}
        dense: set[int] = set()
        traced_grads: dict[int, Any] = {}
        active_tracer = tracer()
        backwards = (
            reversed(records)
            if active_tracer is None
            else active_tracer.sweep(records, traced_grads)
        )
        for record in backwards:
            _, values, ids, _, _, output_ids = record
            if output_ids.__class__ is not tuple:
                output_ids = (output_ids,)
            reached = [i for i in output_ids if i in found]
            joins = bool(dense) and not dense.isdisjoint(output_ids)
            if not reached and not joins:
                continue
            parts = None if joins else self._passed(record, output_ids, found)
            if parts is None:
                pending.update((i, found.pop(i)) for i in reached)
                dense.update(i for i in ids if self._since(i) is not None)
                continue
            for i in reached:
                if i not in self._kept:
                    del found[i]
            for k, term in parts:
                i = ids[k]
                if i in found:
                    found[i].terms.append(term)
                else:
                    found[i] = Nonzeros(values[k], [term])
                if active_tracer is not None:
                    traced_grads[i] = term.values
        return pending

    def _passed(
        self, record: Any, output_ids: tuple[int, ...], found: Mapping[int, Nonzeros]
    ) -> list[Part] | None:
        """Return the nonzero elements that an operation passes to its inputs, or None if they don't stay sparse."""
        number, _, ids, _, _, _ = record
        since, newest = self._since, output_ids[0]
        positions = [k for k, i in enumerate(ids) if since(i, NEVER) <= newest]
        if not positions:
            return []
        operation = NUMBERED[number]
        if operation.pointwise:
            terms = self._sparse(found[newest])
            return None if terms is None else self._elementwise(record, positions, terms)
        if not (operation.selects or operation.spreads):
            return None
        if operation.spreads:
            terms = self._sparse(found[newest])
            return None if terms is None else self._spread(record, positions, terms)
        reached = {}
        for k, i in enumerate(output_ids):
            if i in found:
                terms = self._sparse(found[i])
                if terms is None:
                    return None
                reached[k] = terms
        return self._selected(record, positions, reached)

    def _sparse(self, nonzeros: Nonzeros) -> list[Term] | None:
        """Return the terms of sparse gradients, or None if passing on whole rows costs less."""
        terms = nonzeros.collected()
        size = nonzeros.value.size
        if len(terms) == 1 and is_all(terms[0].places, size):
            return terms
        is_sparse = sum([len(term.rows) for term in terms]) <= self._max_nonzeros(size)
        return terms if is_sparse else None

    def _max_nonzeros(self, size: int) -> float:
        """Return the maximum number of nonzero elements for a value of a given size."""
        return min(MAX_DENSITY * self._count * size, max(size, self._bytes // BYTES_PER_NONZERO))

    def _elementwise(
        self, record: Any, positions: list[int], terms: list[Term]
    ) -> list[Part] | None:
        """Run the rules of an elementwise operation on its values at the places of nonzero elements."""
        number, values, ids, params, output, output_id = record
        operation, full = NUMBERED[number], output.shape
        operands = (output, *values)
        if self._nested:
            operands = tuple(map(revived, operands, (output_id, *ids)))
        aligned = all(values[k].shape == full for k in positions)
        passed: list[Part] = []
        for rows, places, g in terms:
            is_dense = is_all(places, output.size)
            shape = full if is_dense else (len(rows),)
            arguments: Sequence[Any] = operands
            if not is_dense and params and not all(map(_is_plain, params.values())):
                return None
            if not (is_dense and aligned):
                arguments = [
                    x if is_dense and k not in positions else self._at(x, full, places, is_dense)
                    for k, x in enumerate(operands, -1)
                ]
            arguments_with_g = (shaped(g, shape), *arguments)
            for k, dx in gradients_by_rules(operation, positions, arguments_with_g, params):
                x, there, fitted = values[k], places, dx
                if not (aligned or x.shape == full):
                    if dx.shape != shape:
                        return None  # the rule has added up what the operation repeats
                    there = picked(self._repeated(x.shape, full), places)
                if dx.shape != shape or dx.dtype is not x.dtype:
                    fitted = fit(dx, Absent(shape, x.dtype), operation.name, k)
                passed.append((k, Term(rows, there, fitted)))
        return passed

    def _at(self, x: Any, full: Shape, places: Places, is_dense: bool) -> Any:
        """Return a broadcast value at some places in the `full` shape, or at all places if `is_dense`."""
        if not getattr(x, "shape", ()):
            return x
        if x.__class__ is Absent:
            return Absent(full if is_dense else (len(places),), x.dtype)
        if is_dense:
            return x if x.shape == full else np.broadcast_to(x, full)
        if x.shape != full:
            places = picked(self._repeated(x.shape, full), places)
        # All elements of a smaller operand have its shape.
        return shaped(taken(x, places), (len(places),))

    def _selected(
        self, record: Any, positions: list[int], terms: dict[int, list[Term]]
    ) -> list[Part] | None:
        """Move nonzero elements, or multiples, to the places from which an operation selected these elements."""
        number, values, _, params, _, _ = record
        (k,) = positions
        inputs = (*values[:k], self._numbered(values[k].shape), *values[k + 1 :])
        selects = NUMBERED[number].selects
        selected = selects and selects(*inputs, **(params or {}))
        if selected is None:
            return None
        passed: list[Part] = []
        for factor, numbers in _untraced(selected):
            sources = numbers if numbers.__class__ in (tuple, list) else (numbers,)
            for j, several_terms in terms.items():
                source = Map(np.asarray(sources[j]))
                moved = [source.moved(term).times(factor) for term in several_terms]
                passed += [(k, self._cast(term, record, k)) for term in moved]
        return passed

    def _cast(self, term: Term, record: Any, k: int) -> Term:
        """Cast a term to the dtype of an input."""
        x, g = record[1][k], term.values
        if g.dtype == x.dtype:
            return term
        return term._replace(values=fit(g, Absent(g.shape, x.dtype), NUMBERED[record[0]].name, k))

    def _spread(self, record: Any, positions: list[int], terms: list[Term]) -> list[Part] | None:
        """Copy to each element of an input the gradients of the result's element to which it was added."""
        number, values, _, params, output, _ = record
        arguments = [self._numbered(output.shape), output, *values]
        targets = gradients_by_rules(NUMBERED[number], positions, arguments, params)
        if any(target.size > values[k].size for k, target in targets):
            return None
        targets = _untraced(targets)
        maps = [(k, Map(np.broadcast_to(target, values[k].shape))) for k, target in targets]
        passed: list[Part] = []
        for term in terms:
            lookup = Lookup(term, output.size)
            for k, target in maps:
                max_nonzeros = max(len(term.rows), self._max_nonzeros(values[k].size))
                spread = lookup.spread(target, max_nonzeros)
                if spread is None:
                    return None
                passed.append((k, self._cast(spread, record, k)))
        return passed

    def _numbered(self, shape: Shape) -> Any:
        """Return an array of a shape that contains the numbers of its elements, counted from 1."""
        if shape not in self._numbers:
            size = math.prod(shape)
            self._numbers[shape] = np.arange(1, size + 1).reshape(shape)
        return self._numbers[shape]

    def _repeated(self, small: Shape, full: Shape) -> Any:
        """Return the place of the small array's element that is repeated at each element of the `full` shape."""
        return (np.broadcast_to(self._numbered(small), full) - 1).reshape(-1)


def gradients_by_rules(
    operation: Operation, positions: Sequence[int], arguments: Sequence[Any], params: Any
) -> list[tuple[int, Any]]:
    """Return the gradients of an operation's rules with respect to some inputs, without the missing gradients."""
    if operation.joint_rule is not None:
        results = operation.joint_rule(positions, *arguments, **(params or {}))
        return [(k, dx) for k, dx in zip(positions, results, strict=True) if dx is not None]
    rules = operation.rules
    passed = []
    for k in positions:
        rule = rules[k]
        if rule is not None:
            dx = rule(*arguments, **params) if params else rule(*arguments)
            if dx is not None:
                passed.append((k, dx))
    return passed


def _is_plain(param: Any) -> bool:
    """Return True if a parameter is the same for all elements."""
    return not getattr(param, "shape", ()) and not isinstance(param, (list, tuple, dict))


def _untraced(places: Any) -> Any:
    """Return places as plain arrays, because a trace can't contain the structure of a sparse Jacobian.

    A sweep of whole rows, which needs no places, has nan and -0.0 in elements that are exactly zero here.
    """
    active_tracer = tracer()
    if active_tracer is None or not active_tracer.reads([there for _, there in places]):
        return places
    active_tracer.mark_exit("a Jacobian through indices that are computed or given")
    return active_tracer.value(places)
