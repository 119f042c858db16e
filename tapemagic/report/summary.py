"""Summary: an array as a report shows it, without the array itself."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.explain.formatting import (
    NOT_COMPUTED,
    ONE_CHUNK,
    SHOWN,
    dtype_name,
    format_chunks,
    format_entries,
    format_number,
    format_shape,
    format_size,
    format_state,
)
from tapemagic.explain.lazy_values import with_numbers
from tapemagic.report.cells import (
    Cells,
    block_means,
    colours,
    curve,
    is_image_shape,
    rounded,
    slice_shown,
    surface,
)
from tapemagic.report.statistics import Statistics, statistics_of

Kind = Literal["number", "table", "vector", "matrix", "image"]

FEW = 3
"""Maximum number of entries that a sentence has room for."""

SIDE = 4
"""The largest number of rows and columns of a matrix that is written out."""
BOX_CELLS = (6, 23)
"""The rows and columns of cells in the picture of an array in a box."""
PLAIN = (np.ndarray, np.generic, bool, int, float, complex)

Summaries: TypeAlias = "dict[int, tuple[weakref.ref[Any], Summary]]"
"""The summaries of arrays, by the identity of the array."""

# A context variable, so that threads that make reports at the same time don't share summaries.
_current_summaries: ContextVar[Summaries | None]
_current_summaries = ContextVar("summaries of arrays, by identity", default=None)


@dataclass(frozen=True)
class Summary:
    """An array as a report shows it: its size, range and mean, and the cells of its picture.

    - `text`: The value in one line, with the shape of a larger array.
    - `entries`: The same without the shape.
    - `kind`: {'number', 'table', 'vector', 'matrix', 'image'}. The picture of it: a number and a small table are
      written out, a vector is a curve.
    - `statistics`: Range, mean, norm and the number of non-finite entries; absolute values of complex ones.
    - `rows`: The entries of a small table with one or two axes.
    - `cells`: Means of blocks of a vector (one row) or matrix, to six significant digits; absolute values of complex
      ones.
    - `colours`: The colours of an image.
    - `part`: Which part of an array with more axes the picture shows: ``[0, 0] of 32×8``, or '' for all of it.
    - `state`: For a Dask array without known numbers: that it is not computed, or where its chunks are.
    - `chunks`: Those of a Dask array: ``64 chunks of 31,250×256``, or '' for others, and where numbers are in one
      chunk.
    """

    shape: tuple[int, ...]
    dtype: str
    text: str
    entries: str
    kind: Kind = "number"
    statistics: Statistics = field(default_factory=Statistics)
    rows: tuple[tuple[str, ...], ...] = ()
    cells: Cells = ()
    colours: tuple[tuple[str, ...], ...] = ()
    part: str = ""
    state: str = ""
    chunks: str = ""

    @property
    def low(self) -> float | None:
        """The smallest finite entry."""
        return self.statistics.low

    @property
    def mean(self) -> float | None:
        """The mean of the finite entries."""
        return self.statistics.mean

    @property
    def high(self) -> float | None:
        """The largest finite entry."""
        return self.statistics.high

    @property
    def nan(self) -> int:
        """The number of entries that are not a number."""
        return self.statistics.nan

    @property
    def inf(self) -> int:
        """The number of infinite entries."""
        return self.statistics.inf

    @property
    def norm(self) -> float | None:
        """The square root of the sum of squares of all entries."""
        return self.statistics.norm

    @property
    def is_computed(self) -> bool:
        """Return True if the numbers are computed, though they may be elsewhere."""
        return self.state != NOT_COMPUTED

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def is_finite(self) -> bool:
        """Return True if no entry is nan or infinite."""
        return not (self.nan or self.inf)

    @property
    def absolute(self) -> bool:
        """Return True if statistics and cells are those of absolute values."""
        return self.dtype.startswith("complex")

    @property
    def details(self) -> str:
        """The entries as text: each entry, or range, mean and the counts of nan and inf; or the chunks.

        Examples
        --------
        >>> summarise(np.array([1.0, 2.0])).details
        '[1.0, 2.0]'
        >>> summarise(np.array([[1.0, np.nan, 3.0, np.inf, 0.0, 0.0, 1.0]])).details
        '0.0 to 3.0, mean 1.0, 1 nan, 1 inf'
        """
        if self.state:
            return ", ".join(filter(None, [self.chunks, self.state]))
        return ", ".join(filter(None, [self._numbers, self.chunks]))

    @property
    def _numbers(self) -> str:
        """The entries one by one, or range, mean and the counts of nan and inf."""
        if self.kind in ("number", "table"):
            nested = ["[" + ", ".join(row) + "]" for row in self.rows]
            return "[" + ", ".join(nested) + "]" if len(nested) > 1 else self.entries
        return self.range or self.entries

    @property
    def range(self) -> str:
        """Range and mean of the entries, and the counts of nan and inf, or '' if they are unknown."""
        return ", ".join([*self._finite, *self._counts])

    @property
    def _counts(self) -> list[str]:
        """The counts of nan and inf as text."""
        if self.nan and self.nan == self.size:
            return ["all nan"]
        counts = ((self.nan, "nan"), (self.inf, "inf"))
        return [f"{count:,} {name}" for count, name in counts if count]

    @cached_property
    def in_box(self) -> Summary:
        """The summary with a picture of fewer cells, for a small box."""
        return self.coarser(*BOX_CELLS)

    def coarser(self, rows: int, columns: int) -> Summary:
        """Return this summary with a picture of fewer cells, for a small box."""
        if len(self.cells) <= rows and (not self.cells or len(self.cells[0]) <= columns):
            return self
        with np.errstate(all="ignore"):
            return replace(self, cells=rounded(block_means(np.array(self.cells), (rows, columns))))

    @property
    def _finite(self) -> list[str]:
        """Range and mean of the finite entries as text."""
        if self.low is None or self.mean is None or self.high is None:
            return []
        if self.dtype == "bool":
            return [f"{round(self.mean * self.size):,} of {self.size:,} True"]
        is_integer = self.dtype.startswith(("int", "uint"))
        low, high = (format_number(int(x) if is_integer else x) for x in (self.low, self.high))
        what = "absolute values " if self.absolute else ""
        if low == high:
            return [f"{what}all {'' if self.low == self.high else 'about '}{low}"]
        return [f"{what}{low} to {high}", f"mean {format_number(self.mean)}"]

    @property
    def brief(self) -> str:
        """The value for a sentence: at most three entries one by one, and of more the shape and the range.

        Examples
        --------
        >>> summarise(np.array([1.0, 2.0])).brief, summarise(np.array([[1.0, 2.0], [3.0, np.nan]])).brief
        ('[1.0, 2.0]', '2×2, 1.0 to 3.0, 1 nan')
        """
        # The text of more entries than `SHOWN` is brief already.
        if self.state or self.size <= FEW or self.size > SHOWN:
            return self.text
        return ", ".join([format_size(self.shape), *self._finite[:1], *self._counts])

    @property
    def described(self) -> str:
        """The shape, range and mean in one line: ``64×128, -1.2 to 3.4, mean 0.1, 3 nan``; a small array in full.

        For a Dask array without numbers, this is the shape, the dtype and the chunks.
        """
        if self.state:
            facts = [format_size(self.shape) if self.shape else "", self.dtype, self.chunks]
            return ", ".join(filter(None, [*facts, self.state]))
        if not self.size:
            return self.text
        if self.kind in ("number", "table"):
            return self.details
        return ", ".join(filter(None, [format_size(self.shape), self.details]))


def summarise(value: Any) -> Summary:
    """Summarize a number or array; a summary is returned unchanged.

    Examples
    --------
    >>> found = summarise(np.arange(12.0).reshape(3, 4))
    >>> found.kind, found.text, found.mean
    ('table', '3×4, 0.0 to 11.0', 5.5)
    >>> summarise(np.ones((64, 128))).described
    '64×128, all 1.0'
    """
    if isinstance(value, Summary):
        return value
    summaries = _current_summaries.get()
    # Numbers are summarized at once; only arrays are worth remembering.
    if summaries is None or not isinstance(value, np.ndarray):
        return _summary(value)
    reference, summary = summaries.get(id(value), (None, None))
    # An id may have been reused by another array; the weak reference tells.
    if summary is None or reference is None or reference() is not value:
        summary = _summary(value)
        summaries[id(value)] = (weakref.ref(value), summary)
    return summary


@contextmanager
def shared_summaries(kept: Summaries | None = None) -> Iterator[None]:
    """Summarize every array only once inside this block, in which arrays must not change.

    `kept` may hold summaries from before; new summaries are added to it.
    """
    kept = {} if kept is None else kept
    # Inside another block, its summaries are used; a second dict would summarize the same arrays again.
    if (around := _current_summaries.get()) is not None:
        yield
        kept.update(around)
        return
    token = _current_summaries.set(kept)
    try:
        yield
    finally:
        _current_summaries.reset(token)


def _summary(value: Any) -> Summary:
    """The summary of a number or array."""
    if is_lazy(value):
        return _of_lazy(value)
    array = _numbers(value)
    if array is None:
        return _unpictured(value)
    with np.errstate(all="ignore"):
        statistics = statistics_of(array)
        return _pictured(_plain(value, array, statistics), array)


def _of_lazy(value: Any) -> Summary:
    """Summarize a Dask array, or its numbers if they were computed."""
    chunks, computed = format_chunks(value), with_numbers(value)
    if is_lazy(computed):
        state, shape, dtype = format_state(value), tuple(value.shape), str(value.dtype)
        text = ", ".join(filter(None, [format_size(shape) if shape else "", state]))
        return Summary(shape, dtype, text, state, _kind(shape), state=state, chunks=chunks)
    return replace(_summary(computed), chunks="" if chunks == ONE_CHUNK else chunks)


def _unpictured(value: Any) -> Summary:
    """Summarize a value that has no picture, such as a masked array or an array that the tape dropped."""
    shape, entries = np.shape(value), format_entries(value)
    return Summary(shape, dtype_name(value), _text(shape, entries), entries, _kind(shape))


def _kind(shape: tuple[int, ...]) -> Kind:
    """The kind of a value without a picture."""
    kinds: tuple[Kind, ...] = ("number", "vector", "matrix")
    return kinds[min(len(shape), 2)]


def _plain(value: Any, array: Any, statistics: Statistics) -> Summary:
    """The summary of a value as text."""
    # Range and mean are known from the statistics already; format_entries would compute them again.
    quick = (
        array.dtype.kind == "f" and array.size > SHOWN and not (statistics.nan or statistics.inf)
    )
    low, high = (format_number(x) for x in (statistics.low, statistics.high)) if quick else ("", "")
    span = f"all {low}" if statistics.low == statistics.high else f"{low} to {high}"
    entries = span if quick else format_entries(value)
    return Summary(
        array.shape, dtype_name(value), _text(array.shape, entries), entries, statistics=statistics
    )


def _text(shape: tuple[int, ...], entries: str) -> str:
    """Return a value in one line, like `format_value`."""
    if not shape or 0 < math.prod(shape) <= SHOWN:
        return entries
    if 0 in shape:
        return f"empty {format_shape(shape)}"
    return f"{format_size(shape)}, {entries}" if entries else format_size(shape)


def _numbers(value: Any) -> Any:
    """Return a value as a plain array of numbers, or None if it has masked, unknown or no numbers."""
    # np.asarray would drop the mask, and count the numbers below it.
    if isinstance(value, np.ma.MaskedArray) or not isinstance(value, PLAIN):
        return None
    array = np.asarray(value)
    return array if array.dtype.kind in "biufc" else None


def _pictured(plain: Summary, array: Any) -> Summary:
    """Add the cells or colors of the picture to a summary."""
    shape = array.shape
    if not shape:
        return plain
    if not array.size:
        return replace(plain, kind="vector" if len(shape) == 1 else "matrix")
    if array.size <= SHOWN or (len(shape) == 2 and max(shape) <= SIDE):
        table = np.atleast_2d(array).tolist() if len(shape) <= 2 else []
        return replace(
            plain, kind="table", rows=tuple(tuple(map(format_number, row)) for row in table)
        )
    # The activations of a layer may have the shape of an image, but are seldom all between 0 and 1.
    if is_image_shape(shape) and _is_bright(array, plain.statistics):
        part = f"[0] of {shape[0]}" if len(shape) == 4 and shape[0] > 1 else ""
        return replace(
            plain, kind="image", colours=colours(array.reshape(-1, *shape[-3:])[0]), part=part
        )
    # All axes but one have length 1, so it is a curve.
    if array.size == max(shape):
        return replace(plain, kind="vector", cells=curve(array))
    index, part = slice_shown(shape)
    return replace(plain, kind="matrix", cells=surface(array[index]), part=part)


def _is_bright(array: Any, statistics: Statistics) -> bool:
    """Return True if the entries are brightnesses: bytes, or from 0 to 1."""
    if array.dtype == np.uint8:
        return True
    low, high = statistics.low, statistics.high
    inside = low is not None and high is not None and low >= 0 and high <= 1
    return array.dtype.kind == "f" and inside and not (statistics.nan or statistics.inf)
