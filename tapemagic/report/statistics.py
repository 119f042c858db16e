"""Range, mean, norm and counts of nan and inf of an array, in one pass without a copy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

CHUNK = 1 << 16
"""The number of entries that are converted to double precision at a time."""

ROUNDING = 1e-13
"""A mean below this, relative to the largest entry, is rounding error and counts as zero."""


@dataclass(frozen=True)
class Statistics:
    """Statistics of the entries of an array; for a complex array, of their absolute values.

    - `low`, `mean`, `high`: The smallest, mean and largest finite entry; None without a finite entry.
    - `nan`, `inf`: The number of entries that are not a number, and of infinite ones.
    - `norm`: The square root of the sum of squares of all entries, or None for an empty array.
    """

    low: float | None = None
    mean: float | None = None
    high: float | None = None
    nan: int = 0
    inf: int = 0
    norm: float | None = None


def statistics_of(array: Any) -> Statistics:
    """The statistics of an array of numbers.

    Examples
    --------
    >>> statistics_of(np.array([3.0, np.nan, -4.0, np.inf]))
    Statistics(low=-4.0, mean=-0.5, high=3.0, nan=1, inf=1, norm=nan)
    """
    if not array.size:
        return Statistics()
    if array.size == 1:
        return _of_number(array.item())
    low, high, total, squares, nan, inf = math.inf, -math.inf, 0.0, 0.0, 0, 0
    for chunk in _chunks(array):
        finite = chunk
        # One sum finds out whether there is any nan or inf, much faster than isnan and isinf of every chunk.
        if not math.isfinite(chunk.sum()):
            nan += int(np.isnan(chunk).sum())
            inf += int(np.isinf(chunk).sum())
            finite = chunk[np.isfinite(chunk)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
            total, squares = total + float(finite.sum()), squares + _squares(finite)
    count = array.size - nan - inf
    if not count:
        return Statistics(None, None, None, nan, inf, math.nan if nan else math.inf)
    largest = scale = max(-low, high)
    # Squares of entries near 1e200 overflow and near 1e-200 underflow: then sum again, divided by the largest entry.
    if largest and not (math.isfinite(total) and 1e-250 < squares < math.inf):
        total, squares = _scaled_sums(array, largest)
    else:
        scale = 1.0
    mean = total / count * scale
    # Rounding can put the mean of equal entries just outside of their range.
    mean = 0.0 if abs(mean) < ROUNDING * largest else min(max(mean, low), high)
    norm = math.nan if nan else math.inf if inf else math.sqrt(squares) * scale
    return Statistics(low, mean, high, nan, inf, norm)


def _of_number(number: Any) -> Statistics:
    """The statistics of a single number."""
    x = abs(number) if isinstance(number, complex) else float(number)
    if math.isfinite(x):
        return Statistics(x, x, x, 0, 0, abs(x))
    return Statistics(nan=int(math.isnan(x)), inf=int(math.isinf(x)), norm=abs(x))


def _scaled_sums(array: Any, largest: float) -> tuple[float, float]:
    """The sum of the finite entries and that of their squares, after division by the largest."""
    total = squares = 0.0
    for chunk in _chunks(array):
        part = chunk[np.isfinite(chunk)] / largest
        total, squares = total + float(part.sum()), squares + _squares(part)
    return total, squares


def _squares(numbers: Any) -> float:
    """The sum of squares: by einsum, since BLAS would start threads, which takes long on a busy machine."""
    return float(np.einsum("i,i->", numbers, numbers))


def _chunks(array: Any) -> Iterator[Any]:
    """Yield chunks of the entries in double precision; of complex entries, the absolute values."""
    kind = np.dtype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if array.size <= CHUNK:
        parts = iter([np.asarray(array).reshape(-1).astype(kind, copy=False)])
    else:
        # A buffered nditer converts one chunk at a time, so a large array is never copied whole.
        parts = iter(
            np.nditer(
                array,
                ["external_loop", "buffered"],
                ["readonly"],
                kind,
                casting="unsafe",
                buffersize=CHUNK,
            )
        )
    return map(np.abs, parts) if kind.kind == "c" else parts
