"""The part of a batched sweep in which the gradients have few nonzero elements, which alone are computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from tapemagic.engine.recording import Absent, sweep_reader
from tapemagic.engine.registry import NUMBERED, Operation
from tapemagic.engine.tape.cotangents import NEVER
from tapemagic.engine.tape.nonzeros import (
    Lookup,
    Map,
    Nonzeros,
    Places,
    Term,
    is_all,
    picked,
    shaped,
    taken,
)
from tapemagic.engine.tape.sweep import fit, revived

Shape = tuple[int, ...]

DENSITY = 0.25
"""The share of nonzero elements above which whole rows take less time."""

BYTES_OF_ONE = 24
"""What a nonzero element takes, in double precision: two positions and a value."""

Part = tuple[int, Term]
"""What an operation passes on: the position of an input, and nonzero elements of the gradients in it."""


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

    def run(
        self, records: Sequence[Any], found: dict[int, Nonzeros]
    ) -> dict[int, Nonzeros]:
        """Go through the records backwards; `found` is then what reached the sources.

        Returns
        -------
        dict of int to Nonzeros
            What could not be passed on.
        """
        pending: dict[int, Nonzeros] = {}
        dense: set[int] = set()
        shown: dict[int, Any] = {}
        read = sweep_reader.get()
        for record in reversed(records) if read is None else read(records, shown, self._nested):
            number, values, ids, _, output, output_id = record
            several = output_id.__class__ is tuple
            made = output_id if several else (output_id,)
            reached = [k for k, i in enumerate(made) if i in found]
            if not reached and dense.isdisjoint(made):
                continue
            newest = made[0]
            wanted = [k for k, i in enumerate(ids) if self._since(i, NEVER) <= newest]
            parts: list[Part] | None = None if wanted else []
            if wanted and dense.isdisjoint(made):
                outputs = output if several else (output,)
                terms = {k: found[made[k]].terms() for k in reached}
                if all(self._is_sparse(terms[k], outputs[k]) for k in reached):
                    parts = self._passed(record, wanted, terms)
            if parts is None:
                pending.update((made[k], found.pop(made[k])) for k in reached)
                dense.update(i for i in ids if self._since(i) is not None)
                continue
            for k in reached:
                if made[k] not in self._kept:
                    del found[made[k]]
            for k, term in parts:
                if ids[k] not in found:
                    found[ids[k]] = Nonzeros(values[k])
                found[ids[k]].add(term)
                if read is not None:
                    shown[ids[k]] = term.values
        return pending

    def _is_sparse(self, terms: list[Term], output: Any) -> bool:
        """Whether passing nonzero elements on takes less than whole rows."""
        if len(terms) == 1 and is_all(terms[0].places, output.size):
            return True
        return sum(len(term.rows) for term in terms) <= self._most(output.size)

    def _most(self, size: int) -> float:
        """The number of nonzero elements up to which they are few, for a value of a size."""
        return min(DENSITY * self._count * size, max(size, self._bytes // BYTES_OF_ONE))

    def _passed(
        self, record: Any, wanted: list[int], terms: dict[int, list[Term]]
    ) -> list[Part] | None:
        """What an operation passes on to its inputs; None if that has no structure."""
        operation = NUMBERED[record[0]]
        if operation.pointwise:
            return self._elementwise(record, wanted, terms[0])
        if not (operation.selects or operation.spreads) or _depends_on_data(record, wanted):
            return None
        if operation.selects:
            return self._selected(record, wanted, terms)
        return self._spread(record, wanted, terms[0])

    def _elementwise(
        self, record: Any, wanted: list[int], terms: list[Term]
    ) -> list[Part] | None:
        """Run the rules on what an elementwise operation had at the places of nonzero elements."""
        _, values, _, params, output, _ = record
        found: list[Part] = []
        for term in terms:
            whole = is_all(term.places, output.size)
            if not (whole or all(map(_is_plain, (params or {}).values()))):
                return None
            passed = self._rules_at(record, wanted, term, whole)
            if passed is None:
                return None
            for k, dx in passed:
                places = term.places
                if values[k].shape != output.shape:
                    places = picked(self._repeated(values[k].shape, output.shape), places)
                found.append((k, Term(term.rows, places, dx)))
        return found

    def _rules_at(
        self, record: Any, wanted: list[int], term: Term, whole: bool
    ) -> list[tuple[int, Any]] | None:
        """What the rules give for the inputs at the places of a term; None if a rule adds up by itself."""
        number, values, ids, params, output, output_id = record
        operation = NUMBERED[number]
        shape = output.shape if whole else (len(term.rows),)
        arguments = [shaped(term.values, shape), output, *values]
        for k, (x, i) in enumerate(zip((output, *values), (output_id, *ids), strict=True)):
            if self._nested:
                x = revived(x, i)
            as_it_is = whole and k - 1 not in wanted
            arguments[k + 1] = x if as_it_is else self._at(x, output.shape, term.places, shape)
        found = []
        for k, dx in zip(wanted, _gradients(operation, wanted, arguments, params), strict=True):
            if dx is None:
                continue
            x = values[k]
            if dx.shape != shape or dx.dtype != x.dtype:
                if dx.shape != shape and x.shape != output.shape:
                    return None
                dx = fit(dx, Absent(shape, x.dtype), operation, k)
            found.append((k, dx))
        return found

    def _at(self, x: Any, full: Shape, places: Places, shape: Shape) -> Any:
        """A value that an operation repeats in its `full` shape, at some places there, in another shape."""
        if not getattr(x, "shape", ()):
            return x
        if x.__class__ is Absent:
            return Absent(shape, x.dtype)
        if shape == full:
            return x if x.shape == full else np.broadcast_to(x, full)
        if x.shape != full:
            places = picked(self._repeated(x.shape, full), places)
        return taken(x, places)

    def _selected(
        self, record: Any, wanted: list[int], terms: dict[int, list[Term]]
    ) -> list[Part]:
        """The same elements, at the places from which an operation took them."""
        number, values, _, params, _, _ = record
        (k,) = wanted
        inputs = (*values[:k], self._numbered(values[k].shape), *values[k + 1 :])
        made = NUMBERED[number].function(*inputs, **(params or {}))
        sources = made if made.__class__ in (tuple, list) else (made,)
        found: list[Part] = []
        for j in terms:
            source = Map(np.asarray(sources[j]))
            found += [(k, source.moved(term)) for term in terms[j]]
        return found

    def _spread(self, record: Any, wanted: list[int], terms: list[Term]) -> list[Part] | None:
        """For each element of an input the elements of the gradients in that of the result to which it was added."""
        number, values, _, params, output, _ = record
        arguments = [self._numbered(output.shape), output, *values]
        targets = _gradients(NUMBERED[number], wanted, arguments, params)
        if any(hasattr(target, "__tape_function__") for target in targets):
            return None
        maps = [
            Map(np.broadcast_to(target, values[k].shape))
            for k, target in zip(wanted, targets, strict=True)
        ]
        found: list[Part] = []
        for term in terms:
            lookup = Lookup(term, output.size)
            for k, target in zip(wanted, maps, strict=True):
                most = max(len(term.rows), self._most(values[k].size))
                spread = lookup.spread(target, most)
                if spread is None:
                    return None
                found.append((k, spread))
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
    operation: Operation, wanted: list[int], arguments: list[Any], params: dict[str, Any] | None
) -> list[Any]:
    """What an operation's rules give for the wanted inputs."""
    given = params or {}
    if operation.joint_rule is not None:
        return list(operation.joint_rule(wanted, *arguments, **given))
    rules = [operation.rules[k] for k in wanted]
    return [None if rule is None else rule(*arguments, **given) for rule in rules]


def _is_plain(param: Any) -> bool:
    """Whether a parameter is the same for all elements."""
    return not getattr(param, "shape", ()) and not isinstance(param, (list, tuple, dict))


def _is_symbolic(x: Any) -> bool:
    """Whether a part of a record is not known while a function is traced, but depends on data."""
    if isinstance(x, (tuple, list)):
        return any(map(_is_symbolic, x))
    if isinstance(x, slice):
        return any(map(_is_symbolic, (x.start, x.stop, x.step)))
    return hasattr(x, "__tape_function__")


def _depends_on_data(record: Any, wanted: list[int]) -> bool:
    """Whether the places which an operation selects depend on data."""
    _, values, _, params, _, _ = record
    others = [x for k, x in enumerate(values) if k not in wanted]
    return any(map(_is_symbolic, (*others, *(params or {}).values())))
