"""Rows of Dask arrays, read a part at a time, for programs that go through data in batches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import dask.array as da
from dask.base import compute

from tapemagic.engine.laziness import as_lazy
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import ShapeError


def rows_array(x: Any, what: str) -> da.Array:
    """A Dask array of numbers, with rows, from one or from a lazy tensor; `what` names it in messages.

    Raises
    ------
    NotNumbersError
        If it holds no numbers, or is another collection of Dask's.
    ShapeError
        If it is a single number.
    UnsupportedArgumentError
        If its chunks have unknown lengths.
    """
    array: da.Array = as_lazy(unwrap(x)).to_dask_array()
    if not array.ndim:
        raise ShapeError(
            f"{what} is a single number: give an array whose first axis counts examples"
        )
    return array


def row_ranges(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    """The first row of each chunk of the first Dask array among arrays, and the row after its last one."""
    lengths = next(x.chunks[0] for x in arrays if isinstance(x, da.Array))
    return [(a, b) for a, b in pairwise(accumulate(chain([0], lengths))) if b > a]


def read_rows(arrays: Sequence[Any], start: int, stop: int) -> list[Any]:
    """Some rows of each array, Dask arrays computed together by the current scheduler."""
    return list(compute(*[x[start:stop] for x in arrays], traverse=False))


def largest(ranges: Sequence[tuple[int, int]]) -> int:
    """The number of rows in the largest chunk."""
    return max((b - a for a, b in ranges), default=0)
