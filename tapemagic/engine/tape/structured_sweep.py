"""The part of a batched sweep in which the gradients have few nonzero elements, which alone are computed."""

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

DENSITY = 0.25
"""The share of nonzero elements above which whole rows take less time."""

BYTES_OF_ONE = 24
"""The size of a nonzero element, in double precision: two positions and a value."""

Part = tuple[int, Term]
"""The position of an input, and nonzero elements of the gradients in it."""


class StructuredSweep:
    """Passes gradients of few nonzero elements back along records; what is left is for whole rows to do.

    Elementwise operations keep the places of nonzero elements: their rules run on what the operation had at these
    places. Operations that select, lay out or add up elements keep the elements, and change their places. Elsewhere,
    and where gradients are dense, the structure ends.

    An element that is not named is exactly zero: a zero times an infinite slope, which is nan where whole rows are
    computed, stays zero here.

    Parameters
    ----------
    tracked : mapping of int to int
    kept : set of int
        As for `sweep`.
    nested : bool
        Whether to run the rules on tensors.
    count : int
        The number of rows.
    most : int
        The bytes that the nonzero elements of one value may take beside one element a place.
    """

    def __init__(
        self,
        tracked: Mapping[int, int],
        kept: AbstractSet[int],
        nested: bool,
        count: int,
        most: int,
    ) -> None:
        self._since = tracked.get
        self._kept = kept
        self._nested = nested
        self._count = count
        self._bytes = most
        self._numbers: dict[Shape, Any] = {}

    def run(self, records: Sequence[Any], found: dict[int, Nonzeros]) -> dict[int, Nonzeros]:
        """Go through the records backwards; `found` is then what reached the sources.

        Returns
        -------
        dict of int to Nonzeros
            What could not be passed on.
        """
        pending: dict[int, Nonzeros] = {}
        dense: set[int] = set()
        shown: dict[int, Any] = {}
        told = tracer()
        backwards = reversed(records) if told is None else told.sweep(records, shown)
        for record in backwards:
            _, values, ids, _, _, made = record
            if made.__class__ is not tuple:
                made = (made,)
            reached = [i for i in made if i in found]
            joins = bool(dense) and not dense.isdisjoint(made)
            if not reached and not joins:
                continue
            parts = None if joins else self._passed(record, made, found)
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
                if told is not None:
                    shown[i] = term.values
        return pending

    def _passed(
        self, record: Any, made: tuple[int, ...], found: Mapping[int, Nonzeros]
    ) -> list[Part] | None:
        """The nonzero elements that an operation passes on to its inputs; None if it does not keep them few."""
        number, _, ids, _, _, _ = record
        since, newest = self._since, made[0]
        wanted = [k for k, i in enumerate(ids) if since(i, NEVER) <= newest]
        if not wanted:
            return []
        operation = NUMBERED[number]
        if operation.pointwise:
            terms = self._sparse(found[newest])
            return None if terms is None else self._elementwise(record, wanted, terms)
        if not (operation.selects or operation.spreads):
            return None
        if operation.spreads:
            terms = self._sparse(found[newest])
            return None if terms is None else self._spread(record, wanted, terms)
        reached = {}
        for k, i in enumerate(made):
            if i in found:
                terms = self._sparse(found[i])
                if terms is None:
                    return None
                reached[k] = terms
        return self._selected(record, wanted, reached)

    def _sparse(self, nonzeros: Nonzeros) -> list[Term] | None:
        """The nonzero elements, if passing them on takes less than passing on whole rows."""
        terms = nonzeros.collected()
        size = nonzeros.value.size
        if len(terms) == 1 and is_all(terms[0].places, size):
            return terms
        few = sum([len(term.rows) for term in terms]) <= self._most(size)
        return terms if few else None

    def _most(self, size: int) -> float:
        """The number of nonzero elements up to which they are few, for a value of a size."""
        return min(DENSITY * self._count * size, max(size, self._bytes // BYTES_OF_ONE))

    def _elementwise(self, record: Any, wanted: list[int], terms: list[Term]) -> list[Part] | None:
        """Run the rules on what an elementwise operation had at the places of nonzero elements."""
        number, values, ids, params, output, output_id = record
        operation, full = NUMBERED[number], output.shape
        known = (output, *values)
        if self._nested:
            known = tuple(map(revived, known, (output_id, *ids)))
        aligned = all(values[k].shape == full for k in wanted)
        found: list[Part] = []
        for rows, places, g in terms:
            whole = is_all(places, output.size)
            shape = full if whole else (len(rows),)
            arguments: Sequence[Any] = known
            if not whole and params and not all(map(_is_plain, params.values())):
                return None
            if not (whole and aligned):
                arguments = [
                    x if whole and k not in wanted else self._at(x, full, places, whole)
                    for k, x in enumerate(known, -1)
                ]
            given = (shaped(g, shape), *arguments)
            for k, dx in _gradients(operation, wanted, given, params):
                x, there, fitted = values[k], places, dx
                if not (aligned or x.shape == full):
                    if dx.shape != shape:
                        return None  # the rule has added up what the operation repeats
                    there = picked(self._repeated(x.shape, full), places)
                if dx.shape != shape or dx.dtype is not x.dtype:
                    fitted = fit(dx, Absent(shape, x.dtype), operation.name, k)
                found.append((k, Term(rows, there, fitted)))
        return found

    def _at(self, x: Any, full: Shape, places: Places, whole: bool) -> Any:
        """A value that an operation repeats in its `full` shape, at some places there, or on the `whole`."""
        if not getattr(x, "shape", ()):
            return x
        if x.__class__ is Absent:
            return Absent(full if whole else (len(places),), x.dtype)
        if whole:
            return x if x.shape == full else np.broadcast_to(x, full)
        if x.shape != full:
            places = picked(self._repeated(x.shape, full), places)
        return taken(x, places)

    def _selected(
        self, record: Any, wanted: list[int], terms: dict[int, list[Term]]
    ) -> list[Part] | None:
        """The same elements, or multiples of them, at the places from which an operation took them."""
        number, values, _, params, _, _ = record
        (k,) = wanted
        inputs = (*values[:k], self._numbered(values[k].shape), *values[k + 1 :])
        selects = NUMBERED[number].selects
        selected = selects and selects(*inputs, **(params or {}))
        if selected is None:
            return None
        found: list[Part] = []
        for factor, made in _untraced(selected):
            sources = made if made.__class__ in (tuple, list) else (made,)
            for j, several in terms.items():
                source = Map(np.asarray(sources[j]))
                moved = [source.moved(term).times(factor) for term in several]
                found += [(k, self._cast(term, record, k)) for term in moved]
        return found

    def _cast(self, term: Term, record: Any, k: int) -> Term:
        """A term in the dtype of an input."""
        x, g = record[1][k], term.values
        if g.dtype == x.dtype:
            return term
        return term._replace(values=fit(g, Absent(g.shape, x.dtype), NUMBERED[record[0]].name, k))

    def _spread(self, record: Any, wanted: list[int], terms: list[Term]) -> list[Part] | None:
        """For each element of an input the elements of the gradients in that of the result to which it was added."""
        number, values, _, params, output, _ = record
        arguments = [self._numbered(output.shape), output, *values]
        targets = _gradients(NUMBERED[number], wanted, arguments, params)
        if any(target.size > values[k].size for k, target in targets):
            return None
        targets = _untraced(targets)
        maps = [(k, Map(np.broadcast_to(target, values[k].shape))) for k, target in targets]
        found: list[Part] = []
        for term in terms:
            lookup = Lookup(term, output.size)
            for k, target in maps:
                most = max(len(term.rows), self._most(values[k].size))
                spread = lookup.spread(target, most)
                if spread is None:
                    return None
                found.append((k, self._cast(spread, record, k)))
        return found

    def _numbered(self, shape: Shape) -> Any:
        """An array of a shape with the numbers of its elements, from 1 on."""
        if shape not in self._numbers:
            size = math.prod(shape)
            self._numbers[shape] = np.arange(1, size + 1).reshape(shape)
        return self._numbers[shape]

    def _repeated(self, small: Shape, full: Shape) -> Any:
        """For each element of an array of the `full` shape, the place of that of the small one repeated there."""
        return (np.broadcast_to(self._numbered(small), full) - 1).reshape(-1)


def _gradients(
    operation: Operation, wanted: list[int], arguments: Sequence[Any], params: Any
) -> list[tuple[int, Any]]:
    """The results of an operation's rules for the wanted inputs, without those that are None."""
    if operation.joint_rule is not None:
        found = operation.joint_rule(wanted, *arguments, **(params or {}))
        return [(k, dx) for k, dx in zip(wanted, found, strict=True) if dx is not None]
    rules = operation.rules
    passed = []
    for k in wanted:
        rule = rules[k]
        if rule is not None:
            dx = rule(*arguments, **params) if params else rule(*arguments)
            if dx is not None:
                passed.append((k, dx))
    return passed


def _is_plain(param: Any) -> bool:
    """Whether a parameter is the same for all elements."""
    return not getattr(param, "shape", ()) and not isinstance(param, (list, tuple, dict))


def _untraced(places: Any) -> Any:
    """Factors or inputs, each with the places of elements: of plain arrays, for a trace they cannot be part of.

    Whole rows, which need no places, have nan and -0.0 in elements that are exactly zero here.
    """
    told = tracer()
    if told is None or not told.reads([there for _, there in places]):
        return places
    told.leave("a Jacobian through indices that are computed or given")
    return told.value(places)
