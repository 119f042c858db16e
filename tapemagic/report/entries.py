"""Entries: an array in full, number by number; of a large array, the entries at its ends."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.report.summary import PLAIN, Summary, summarise

MAX_ENTRIES = 1000
"""The largest number of entries that are all written out."""
# Ten, so that the labels of a row and a column (20 and +3) add up to the index of an entry.
WIDE = 10
"""The number of entries of a vector in a row."""
END = 3
"""The number of entries at each end of an axis of a larger array."""
MAX_PARTS = 25
"""The largest number of tables for an array with more than two axes."""
GAP = "…"


@dataclass(frozen=True)
class Part:
    """An array, or a part of one with two axes, as a table.

    - `index`: The part: ``[0, :, :]``, or '' for the whole array.
    - `rows`, `columns`: The indices in front of the rows and above the columns; no rows for a vector in one row.
    - `cells`: The entries with all their digits.
    """

    index: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Entries:
    """A number or array in full.

    - `number`: A number with all its digits, or '' for an array.
    - `parts`: The tables of an array; no tables if its entries are unknown.
    - `is_whole`: Whether all entries are there; of a larger array, those at the ends of its axes are.
    """

    summary: Summary
    number: str = ""
    parts: tuple[Part, ...] = ()
    is_whole: bool = True


def entries_of(value: Any) -> Entries:
    """A number or array with all digits of its entries, or of those at its ends if there are more than `MAX_ENTRIES`.

    Examples
    --------
    >>> entries_of(np.float64(0.1) * 3).number
    '0.30000000000000004'
    >>> [part] = entries_of(np.arange(6.0).reshape(2, 3)).parts
    >>> part.cells
    (('0.0', '1.0', '2.0'), ('3.0', '4.0', '5.0'))
    >>> [part] = entries_of(np.arange(5000)).parts
    >>> part.columns, part.cells
    (('0', '1', '2', '…', '4997', '4998', '4999'), (('0', '1', '2', '…', '4997', '4998', '4999'),))
    """
    summary, value = summarise(value), with_numbers(value)
    if is_lazy(value) or isinstance(value, Summary) or not isinstance(value, PLAIN):
        return Entries(summary, is_whole=False)
    array = np.asarray(value)
    if not array.shape:
        return Entries(
            summary, _exact(value if isinstance(value, np.ma.MaskedArray) else array[()])
        )
    # np.asarray drops the mask, and would show the numbers below it.
    if isinstance(value, np.ma.MaskedArray):
        array = value
    if not array.size:
        return Entries(summary)
    is_whole = array.size <= MAX_ENTRIES
    parts = tuple(_all_entries(array) if is_whole else _ends(array))
    return Entries(summary, parts=parts, is_whole=is_whole and len(parts) == _count(array))


def _exact(entry: Any) -> str:
    """A number with all its digits, which Python reads back as the same number."""
    # str, because repr of a NumPy scalar has the name of its type since NumPy 2 (NEP 51).
    return str(entry)


def _count(array: Any) -> int:
    """The number of tables of an array."""
    return math.prod(array.shape[:-2])


def _all_entries(array: Any) -> Iterator[Part]:
    """Return the tables of all entries; a long vector has rows of `WIDE`."""
    if array.ndim == 1:
        if array.size <= WIDE:
            yield _table(array[np.newaxis], "", [], range(array.size))
            return
        firsts = range(0, array.size, WIDE)
        cells = tuple(tuple(map(_exact, array[k : k + WIDE])) for k in firsts)
        yield Part("", tuple(map(str, firsts)), tuple(f"+{k}" for k in range(WIDE)), cells)
        return
    rows, columns = array.shape[-2:]
    for place in _places(array):
        yield _table(array[place], _index(place), range(rows), range(columns))


def _ends(array: Any) -> Iterator[Part]:
    """The entries at the ends of the last two axes, of the first and the last part."""
    if array.ndim == 1:
        columns = _end_indices(array.size)
        yield _table(array[np.newaxis], "", [], columns)
        return
    rows, columns = map(_end_indices, array.shape[-2:])
    places = list(dict.fromkeys([_place(array, 0), _place(array, _count(array) - 1)]))
    for place in places:
        yield _table(array[place], _index(place), rows, columns)


def _places(array: Any) -> list[tuple[int, ...]]:
    """The indices of the first tables of an array."""
    return [_place(array, k) for k in range(min(_count(array), MAX_PARTS))]


def _place(array: Any, number: int) -> tuple[int, ...]:
    """The index of a table by its number."""
    return tuple(map(int, np.unravel_index(number, array.shape[:-2]))) if array.ndim > 2 else ()


def _index(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}, :, :]" if place else ""


def _end_indices(length: int) -> list[int | None]:
    """Return the first and the last indices of an axis, with None for the gap."""
    if length <= 2 * END + 1:
        return list(range(length))
    return [*range(END), None, *range(length - END, length)]


def _table(
    array: Any, index: str, rows: Sequence[int | None], columns: Sequence[int | None]
) -> Part:
    """The table of some rows and columns."""
    cells = tuple(
        tuple(GAP if i is None or j is None else _exact(array[i, j]) for j in columns)
        for i in (rows or [0])
    )
    return Part(index, _labels(rows), _labels(columns), cells)


def _labels(indices: Sequence[int | None]) -> tuple[str, ...]:
    return tuple(GAP if i is None else str(i) for i in indices)
