"""Gradients of many unit cotangents that are zero but for few elements: where these are, and what they are."""

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

MOST_TERMS = 16
"""The number of terms above which they are put together into one, so that each operation takes few calls."""


class Term(NamedTuple):
    """Nonzero elements: at most a few a row, and where they are.

    Attributes
    ----------
    rows : range or array
        For each nonzero element, the element of the target to whose gradient it belongs.
    places : range or array
        Its place among the elements of the value.
    values : array, Tensor or number
        What it is; of any shape with as many elements.
    """

    rows: Places
    places: Places
    values: Any

    def at(self, entries: Places, places: Places) -> Term:
        """The nonzero elements at some of the entries, at other places."""
        if is_all(entries, len(self.rows)):
            return Term(self.rows, places, self.values)
        return Term(picked(self.rows, entries), places, taken(self.values, entries))

    def times(self, factor: int) -> Term:
        """The nonzero elements multiplied with a whole number."""
        if factor == 1:
            return self
        return self._replace(values=-self.values if factor == -1 else self.values * factor)


def _key(places: Places) -> Any:
    """Equal for equal places."""
    return places if places.__class__ is range else places.tobytes()


class Nonzeros:
    """The nonzero elements of the gradients in one value of all elements of a target.

    Attributes
    ----------
    value : array or Absent
        Has the shape and dtype of each gradient.
    terms : list of Term
        What was added so far.
    """

    __slots__ = ("terms", "value")

    def __init__(self, value: Any, terms: list[Term]) -> None:
        self.value = value
        self.terms = terms

    def collected(self) -> list[Term]:
        """All nonzero elements, in few terms."""
        if len(self.terms) > 1:
            self.terms = self._collected()
        return self.terms

    def _collected(self) -> list[Term]:
        alike: dict[Any, list[Any]] = {}
        for rows, places, values in self.terms:
            alike.setdefault((_key(rows), _key(places)), []).append(values)
        if len(alike) < len(self.terms):
            first = {(_key(term.rows), _key(term.places)): term for term in reversed(self.terms)}
            self.terms = [
                first[key]._replace(values=self._sum(parts)) for key, parts in alike.items()
            ]
        if len(self.terms) > MOST_TERMS:
            return [merged(self.terms, math.prod(self.value.shape))]
        return self.terms

    def _sum(self, parts: list[Any]) -> Any:
        """The sum of values at the same places: in double precision from the third on."""
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
    """The places to which elements go, or from which they come: for each place in one array, at most one in another.

    Parameters
    ----------
    numbers : array of int
        For each place the number, from 1 on, of the other; 0 for none.

    Attributes
    ----------
    places, others : range or array
        The places that have another one, and these.
    """

    __slots__ = ("_everywhere", "_numbers", "others", "places")

    def __init__(self, numbers: Any) -> None:
        self._numbers = numbers = numbers.reshape(-1)
        self._everywhere = np.count_nonzero(numbers) == len(numbers)
        self.places: Places = range(len(numbers))
        if not self._everywhere:
            self.places = as_places(np.flatnonzero(numbers))
            numbers = numbers[index_of(self.places)]
        self.others: Places = as_places(numbers - 1)

    def moved(self, term: Term) -> Term:
        """A term whose elements went from their places to the others."""
        if self._everywhere:
            return Term(term.rows, picked(self.others, term.places), term.values)
        numbers = self._numbers[index_of(term.places)]
        entries = as_places(np.flatnonzero(numbers))
        return term.at(entries, as_places(numbers[index_of(entries)] - 1))


class Lookup:
    """The entries of a term by their places.

    Parameters
    ----------
    term : Term
    size : int
        The number of places.
    """

    def __init__(self, term: Term, size: int) -> None:
        self._term = term
        self._whole = is_all(term.places, size)
        if not self._whole:
            places = array_of(term.places)
            self._order = np.argsort(places, kind="stable")
            self._sorted = places[self._order]

    def spread(self, target: Map, most: float) -> Term | None:
        """The term that has, at each place, what the given one has at the target; None if that is too much.

        Parameters
        ----------
        target : Map
            From new places to those of the given term.
        most : float
            The largest number of elements.
        """
        if self._whole:
            if len(target.places) > most:
                return None
            return self._term.at(target.others, target.places)
        old = array_of(target.others)
        first = np.searchsorted(self._sorted, old, "left")
        counts = np.searchsorted(self._sorted, old, "right") - first
        total = int(counts.sum())
        if total > most:
            return None
        step = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        entries = self._order[np.repeat(first, counts) + step]
        places = np.repeat(array_of(target.places), counts)
        return self._term.at(as_places(entries), as_places(places))


def merged(terms: Sequence[Term], size: int) -> Term:
    """One term in place of several, in which each element of each row, of so many, is named once.

    What one element is named with several times is added up, in double precision.
    """
    rows = np.concatenate([array_of(term.rows) for term in terms])
    places = np.concatenate([array_of(term.places) for term in terms])
    values = _joined([term.values for term in terms])
    named, which = np.unique(rows * size + places, return_inverse=True)
    if len(named) < len(rows):
        values = scatter_add(values, which, (len(named),))
        rows, places = np.divmod(named, max(size, 1))
    return Term(as_places(rows), as_places(places), values)


def _joined(values: list[Any]) -> Any:
    return flat(values[0]) if len(values) == 1 else np.concatenate(list(map(flat, values)))


def written(
    terms: Iterable[Term], shape: tuple[int, ...], count: int, rows: range, nested: bool
) -> Any:
    """The gradients of some of the rows, with all their zeros, in one operation.

    Parameters
    ----------
    terms : iterable of Term
    shape : tuple of int
        That of each gradient.
    count : int
        The number of rows in all. Further elements of the target are those of its next example, in the same rows.
    rows : range
        The rows to write out.
    nested : bool
        Whether the live tapes are to record it.
    """
    size = math.prod(shape)
    cut = [_within(term, count, rows) for term in terms]
    narrow = any(wider(term.values.dtype) != term.values.dtype for term in cut)
    if narrow and len(cut) > 2:
        cut = [merged(cut, size)]
    cut = [term if _names_once(term) else merged([term], size) for term in cut]
    first, then = _apart([(_places_in_rows(term, size), flat(term.values)) for term in cut])
    places = tuple([index_of(there) for there, _ in first + then])
    values = tuple([x for _, x in first + then])
    params: dict[str, Any] = {
        "places": places,
        "shape": (len(rows), *shape),
        "apart": len(first),
    }
    if nested:
        return apply(operation(add_at_places), values, params)
    return add_at_places(*values, **params)


Placed = list[tuple[Places, Any]]


def _apart(placed: Placed) -> tuple[Placed, Placed]:
    """Values of which surely no two have a place in common, and the others."""
    first: Placed = []
    then: Placed = []
    for one in placed:
        alone = all(_disjoint(one[0], other) for other, _ in first)
        (first if alone else then).append(one)
    return first, then


def _disjoint(a: Places, b: Places) -> bool:
    """Whether two rows of places surely have none in common."""
    if a.__class__ is not range or b.__class__ is not range:
        return False
    if a.step == b.step and (a.start - b.start) % a.step:
        return True
    return (
        not a or not b or max(a[0], a[-1]) < min(b[0], b[-1]) or max(b[0], b[-1]) < min(a[0], a[-1])
    )


def _within(term: Term, count: int, rows: range) -> Term:
    """The elements of a term in some of the rows, counted from the first of these."""
    if rows == range(count) and _inside(term.rows, count):
        return term
    row = array_of(term.rows) % count - rows.start
    if rows == range(count):
        return term._replace(rows=as_places(row))
    entries = np.flatnonzero((row >= 0) & (row < len(rows)))
    cut = term.at(as_places(entries), picked(term.places, as_places(entries)))
    return cut._replace(rows=as_places(row[entries]))


def _inside(rows: Places, count: int) -> bool:
    """Whether all of them are below `count`."""
    if rows.__class__ is range:
        return not rows or max(rows[0], rows[-1]) < count
    return bool(np.all(rows < count))


def _names_once(term: Term) -> bool:
    """Whether a term surely has no element of a row twice."""
    if term.rows.__class__ is range or term.places.__class__ is range:
        return True
    return bool(np.all(np.diff(term.rows) > 0))


def _places_in_rows(term: Term, size: int) -> Places:
    """The places of a term among the elements of all rows, of so many each."""
    return as_places(array_of(term.rows) * size + array_of(term.places))
