"""Sparse gradients of many unit cotangents: the positions and values of their nonzero elements."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.operations.scatter import add_at_places, scatter_add
from tapemagic.engine.registry import operation
from tapemagic.engine.tape.places import (
    Places,
    array_of,
    as_places,
    flat,
    index_of,
    is_all,
    picked,
    taken,
)
from tapemagic.engine.tensor.dispatch import apply
from tapemagic.engine.tensor.precision import wider

MAX_TERMS = 16
"""More terms than this are merged, so that each operation needs few calls."""


class Term(NamedTuple):
    """Nonzero elements of gradients, at most a few per row, with their positions.

    - `rows`: For each nonzero element, the number of the target's element whose gradient it belongs to.
    - `places`: The position of each nonzero element in the value.
    - `values`: Array, Tensor or number. The nonzero elements, in any shape.
    """

    rows: Places
    places: Places
    values: Any

    def at(self, entries: Places, places: Places) -> Term:
        """Return the nonzero elements at the given entries, moved to other places."""
        if is_all(entries, len(self.rows)):
            return Term(self.rows, places, self.values)
        return Term(picked(self.rows, entries), places, taken(self.values, entries))

    def times(self, factor: int) -> Term:
        """Multiply the nonzero elements by an integer."""
        if factor == 1:
            return self
        return self._replace(values=-self.values if factor == -1 else self.values * factor)


def _key(places: Places) -> Any:
    """Return a hashable key that is equal for equal places."""
    return places if places.__class__ is range else places.tobytes()


class Nonzeros:
    """The nonzero elements of the gradients of all elements of a target with respect to one value.

    - `value`: With the shape and dtype of each gradient.
    - `terms`: The terms added so far.
    """

    __slots__ = ("terms", "value")

    def __init__(self, value: Any, terms: list[Term]) -> None:
        self.value = value
        self.terms = terms

    def collected(self) -> list[Term]:
        """Return all nonzero elements, merged into few terms."""
        if len(self.terms) > 1:
            self.terms = self._collected()
        return self.terms

    def _collected(self) -> list[Term]:
        same_places: dict[Any, list[Any]] = {}
        for rows, places, values in self.terms:
            same_places.setdefault((_key(rows), _key(places)), []).append(values)
        if len(same_places) < len(self.terms):
            first = {(_key(term.rows), _key(term.places)): term for term in reversed(self.terms)}
            self.terms = [
                first[key]._replace(values=self._sum(parts)) for key, parts in same_places.items()
            ]
        if len(self.terms) > MAX_TERMS:
            return [merged(self.terms, math.prod(self.value.shape))]
        return self.terms

    def _sum(self, parts: list[Any]) -> Any:
        """Add values at the same places, in double precision starting with the third term."""
        if len(parts) == 1:
            return parts[0]
        if any(part.shape != parts[0].shape for part in parts):
            parts = [flat(part) for part in parts]
        dtype = self.value.dtype
        wide = wider(dtype)
        if len(parts) == 2 or wide == dtype:
            return reduce(add, parts)
        first, second, *rest = parts
        return reduce(add, rest, (first + second).astype(wide)).astype(dtype)


class Map:
    """A partial mapping between positions: each position in one array has at most one partner in another.

    - `numbers`: For each position, the number of its partner, counted from 1, or 0 for no partner.

    - `places`, `others`: The positions that have a partner, and their partners.
    """

    __slots__ = ("_everywhere", "_numbers", "others", "places")

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers = numbers.reshape(-1)
        # A mapping of all positions, such as a permutation, needs no search for missing partners.
        self._everywhere = np.count_nonzero(numbers) == len(numbers)
        self.places: Places = range(len(numbers))
        if not self._everywhere:
            self.places = as_places(np.flatnonzero(numbers))
            numbers = numbers[index_of(self.places)]
        self.others: Places = as_places(numbers - 1)

    def moved(self, term: Term) -> Term:
        """Move the elements of a term to their partners; elements without a partner are dropped."""
        if self._everywhere:
            return Term(term.rows, picked(self.others, term.places), term.values)
        numbers = self._numbers[index_of(term.places)]
        entries = as_places(np.flatnonzero(numbers))
        return term.at(entries, as_places(numbers[index_of(entries)] - 1))


class Lookup:
    """Search for entries of a term by their places.

    - `size`: The number of places in the value.
    """

    def __init__(self, term: Term, size: int) -> None:
        self._term = term
        self._is_complete = is_all(term.places, size)
        if not self._is_complete:
            places = array_of(term.places)
            self._order = np.argsort(places, kind="stable")
            self._sorted = places[self._order]

    def spread(self, target: Map, max_elements: float) -> Term | None:
        """Return a term with the given term's elements at their partners, or None if these are too many.

        - `target`: From new places to places of the given term.
        - `max_elements`: The maximum number of elements.
        """
        if self._is_complete:
            if len(target.places) > max_elements:
                return None
            return self._term.at(target.others, target.places)
        old = array_of(target.others)
        first = np.searchsorted(self._sorted, old, "left")
        counts = np.searchsorted(self._sorted, old, "right") - first
        total = int(counts.sum())
        if total > max_elements:
            return None
        # For each place, the numbers 0 .. count - 1, without a Python loop.
        step = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        entries = self._order[np.repeat(first, counts) + step]
        places = np.repeat(array_of(target.places), counts)
        return self._term.at(as_places(entries), as_places(places))


def merged(terms: Sequence[Term], size: int) -> Term:
    """Merge several terms into one, in which each element of each row occurs once.

    Elements that occur several times are added up, in double precision. `size` is the number of elements per row.
    """
    rows = np.concatenate([array_of(term.rows) for term in terms])
    places = np.concatenate([array_of(term.places) for term in terms])
    values = _joined([term.values for term in terms])
    # A single integer per element of the Jacobian, so that np.unique finds repetitions.
    named, which = np.unique(rows * size + places, return_inverse=True)
    if len(named) < len(rows):
        values = scatter_add(values, which, (len(named),))
        rows, places = np.divmod(named, max(size, 1))
    return Term(as_places(rows), as_places(places), values)


def _joined(values: list[Any]) -> Any:
    return flat(values[0]) if len(values) == 1 else np.concatenate(list(map(flat, values)))


def write_rows(
    terms: Iterable[Term], shape: tuple[int, ...], count: int, rows: range, nested: bool
) -> Any:
    """Write out rows of sparse gradients, with their zeros, in a single operation.

    - `shape`: The shape of each gradient.
    - `count`: The number of rows in total. Larger row numbers are those of the next examples, and are taken modulo
      `count`.
    - `rows`: The rows to write out.
    - `nested`: Whether live tapes record the operation.
    """
    size = math.prod(shape)
    cut = [_within(term, count, rows) for term in terms]
    # In single precision, the sum of many terms would lose digits: merging adds them in double precision.
    narrow = any(wider(term.values.dtype) != term.values.dtype for term in cut)
    if narrow and len(cut) > 2:
        cut = [merged(cut, size)]
    cut = [term if _names_once(term) else merged([term], size) for term in cut]
    disjoint, overlapping = _split_disjoint(
        [(_places_in_rows(term, size), flat(term.values)) for term in cut]
    )
    places = tuple([index_of(there) for there, _ in disjoint + overlapping])
    values = tuple([x for _, x in disjoint + overlapping])
    params: dict[str, Any] = {
        "places": places,
        "shape": (len(rows), *shape),
        "disjoint": len(disjoint),
    }
    if nested:
        return apply(operation(add_at_places), values, params)
    return add_at_places(*values, **params)


Placed = list[tuple[Places, Any]]


def _split_disjoint(placed: Placed) -> tuple[Placed, Placed]:
    """Split values into those whose places certainly don't overlap, and the others, which must be added."""
    disjoint: Placed = []
    overlapping: Placed = []
    for placed_values in placed:
        is_disjoint = all(_disjoint(placed_values[0], other) for other, _ in disjoint)
        (disjoint if is_disjoint else overlapping).append(placed_values)
    return disjoint, overlapping


def _disjoint(a: Places, b: Places) -> bool:
    """Return True if two sets of places certainly don't overlap."""
    if a.__class__ is not range or b.__class__ is not range:
        return False
    # Ranges with equal steps that start at different remainders never meet, such as even and odd places.
    if a.step == b.step and (a.start - b.start) % a.step:
        return True
    return (
        not a or not b or max(a[0], a[-1]) < min(b[0], b[-1]) or max(b[0], b[-1]) < min(a[0], a[-1])
    )


def _within(term: Term, count: int, rows: range) -> Term:
    """Return the elements of a term within some rows, renumbered from the first of the rows."""
    if rows == range(count) and _inside(term.rows, count):
        return term
    row = array_of(term.rows) % count - rows.start
    if rows == range(count):
        return term._replace(rows=as_places(row))
    entries = np.flatnonzero((row >= 0) & (row < len(rows)))
    cut = term.at(as_places(entries), picked(term.places, as_places(entries)))
    return cut._replace(rows=as_places(row[entries]))


def _inside(rows: Places, count: int) -> bool:
    """Return True if all row numbers are below `count`."""
    if rows.__class__ is range:
        return not rows or max(rows[0], rows[-1]) < count
    return bool(np.all(rows < count))


def _names_once(term: Term) -> bool:
    """Return True if a term certainly contains no element of a row twice."""
    if term.rows.__class__ is range or term.places.__class__ is range:
        return True
    return bool(np.all(np.diff(term.rows) > 0))


def _places_in_rows(term: Term, size: int) -> Places:
    """Return the places of a term in the flattened rows, each of which has `size` elements."""
    return as_places(array_of(term.rows) * size + array_of(term.places))
