"""Data cut into partitions: Dask's arrays, bags and tables, and lists of delayed objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any

import dask.array as da
import numpy as np
from dask.base import compute, is_dask_collection
from dask.delayed import Delayed
from dask.layers import ArrayBlockIdDep

from tapemagic.engine.laziness import is_lazy, kept
from tapemagic.engine.tensor.coercion import NUMBERS
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import NotNumbersError, OptionError, ShapeError, UnsupportedArgumentError

Names = list[str] | None


class Partitions:
    """Data whose partitions are given to one task each.

    Parameters
    ----------
    data : Dask collection, list of delayed objects, or tuple, list or dict of these
        With several, the k-th partition consists of the k-th one of each.

    Attributes
    ----------
    count : int

    Raises
    ------
    NotNumbersError
        If a Dask array holds no numbers.
    OptionError
        If there are no data.
    ShapeError
        If they are cut differently, or along another axis than the rows.
    UnsupportedArgumentError
        If they are anything else.
    """

    def __init__(self, data: Any) -> None:
        self.names: Names = None
        self.single = False
        if isinstance(data, Mapping):
            self.names = list(map(str, data))
            sources = list(data.values())
        elif isinstance(data, list | tuple) and not _are_delayed(data):
            sources = list(data)
        else:
            self.single = True
            sources = [data]
        if not sources or (self.single and isinstance(data, list | tuple) and not data):
            raise OptionError(
                "there are no data: give a Dask array, or another collection of Dask's"
            )
        labels = (
            ["the data"]
            if self.single
            else self.names or [f"data[{k}]" for k in range(len(sources))]
        )
        self.sources = [_source(x, label) for x, label in zip(sources, labels, strict=True)]
        self.count = _common_count(self.sources, labels)

    def mapped(
        self, function: Callable[..., Any], problem: Delayed, name: str
    ) -> tuple[list[Any], dict[Any, Any], list[Delayed]]:
        """The keys of ``function(problem, number, part)`` for each partition, tasks, and what else has tasks for it."""
        if all(isinstance(x, da.Array) for x in self.sources):
            delayed_parts = self._mapped_arrays(function, problem, name)
            return [part.key for part in delayed_parts], {}, delayed_parts[:1]
        columns = [x.to_delayed().ravel() if isinstance(x, da.Array) else x for x in self.sources]
        tasks: dict[Any, Any] = {}
        for k, parts in enumerate(zip(*columns, strict=True)):
            call = partial(_on_parts, function, number=k, names=self.names, single=self.single)
            tasks[f"{name}-{k}"] = (call, problem.key, *[part.key for part in parts])
        return list(tasks), tasks, [part for column in columns for part in column]

    def _mapped_arrays(
        self, function: Callable[..., Any], problem: Delayed, name: str
    ) -> list[Delayed]:
        """The same for arrays, whose chunks are read in the very task that uses them."""
        operands: list[Any] = [ArrayBlockIdDep(((1,) * self.count,)), (0,)]
        axes = 1
        for array in self.sources:
            operands += [array, (0, *range(axes, axes + array.ndim - 1))]
            axes += array.ndim - 1
        mapped = da.blockwise(
            _on_chunks,
            tuple(range(axes)),
            *operands,
            function=function,
            problem=problem,
            names=self.names,
            single=self.single,
            name=name,
            align_arrays=False,
            concatenate=True,
            dtype=object,
            meta=np.empty((0,) * axes, object),
        )
        return list(mapped.to_delayed().ravel())


def _on_chunks(
    block: Any, *chunks: Any, function: Any, problem: Any, names: Names, single: bool
) -> Any:
    return _on_parts(function, problem, *chunks, number=block[0], names=names, single=single)


def _on_parts(
    function: Any, problem: Any, *parts: Any, number: int, names: Names, single: bool
) -> Any:
    if single:
        (part,) = parts
        return function(problem, number, list(part) if hasattr(part, "__next__") else part)
    return function(
        problem, number, parts if names is None else dict(zip(names, parts, strict=True))
    )


def _are_delayed(data: Any) -> bool:
    return all(isinstance(x, Delayed) for x in data)


def _source(x: Any, label: str) -> Any:
    """One collection as a Dask array, or as a list of delayed partitions."""
    if isinstance(x, Traced):
        x = unwrap(x)
    if is_lazy(x) and hasattr(x, "to_dask_array") and type(x).__module__.startswith("tapemagic"):
        x = x.to_dask_array()
    if isinstance(x, da.Array):
        return _checked_array(x, label)
    if isinstance(x, Delayed):
        return [x]
    if isinstance(x, list | tuple) and x and _are_delayed(x):
        return list(x)
    parts = x.to_delayed() if is_dask_collection(x) and hasattr(x, "to_delayed") else None
    if not isinstance(parts, list):
        raise UnsupportedArgumentError(
            f"{label} is {describe(x)}, which has no partitions: {_advice(x)}"
        )
    return parts


def _advice(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return (
            "write tapemagic.value_and_grad for an array in memory, or da.from_array(x, chunks=...)"
        )
    return "give a Dask array, bag or DataFrame, a list of delayed objects, or a tuple or dict of these"


def _checked_array(x: da.Array, label: str) -> da.Array:
    if x.dtype.kind not in NUMBERS:
        raise NotNumbersError(
            f"{label} holds {x.dtype}, and tensors hold numbers: write x.astype(float)"
        )
    if not x.ndim:
        raise ShapeError(f"{label} is a single number, and has no rows to cut into partitions")
    cut = [axis for axis in range(1, x.ndim) if x.numblocks[axis] > 1]
    if cut:
        advice = ", ".join(f"{axis}: -1" for axis in cut)
        raise ShapeError(
            f"{label} is cut along axis {cut[0]}, and a partition consists of whole rows: write x.rechunk({{{advice}}})"
        )
    return x


def _common_count(sources: list[Any], labels: list[str]) -> int:
    """The number of partitions, which is that of all sources."""
    first, name = sources[0], labels[0]
    count = _count(first)
    for source, label in zip(sources[1:], labels[1:], strict=True):
        if _count(source) != count:
            raise ShapeError(
                f"{label} has {_count(source)} partitions, and {name} {count}: {_rechunk(first, source)}"
            )
        if isinstance(first, da.Array) and isinstance(source, da.Array) and _differ(first, source):
            raise ShapeError(
                f"{label} is cut into rows {_shown(source)}, and {name} into {_shown(first)}: {_rechunk(first, source)}"
            )
    return count


def _count(source: Any) -> int:
    return source.numblocks[0] if isinstance(source, da.Array) else len(source)


def _differ(a: da.Array, b: da.Array) -> bool:
    """Whether two arrays are cut differently into rows, as far as that is known."""
    pairs = zip(a.chunks[0], b.chunks[0], strict=True)
    return any(m != n and not math.isnan(m) and not math.isnan(n) for m, n in pairs)


def _rechunk(first: Any, second: Any) -> str:
    if not (isinstance(first, da.Array) and isinstance(second, da.Array)):
        return "give data that are cut alike, for instance with repartition"
    if first.shape[0] == second.shape[0]:
        return "write y.rechunk({0: x.chunks[0]}) to cut one as the other"
    return "they have to have as many rows"


def _shown(x: da.Array) -> str:
    rows = x.chunks[0]
    return str(rows) if len(rows) <= 6 else f"({', '.join(map(str, rows[:5]))}, ...)"


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
    array: da.Array = kept(unwrap(x)).to_dask_array()
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
