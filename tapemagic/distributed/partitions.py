"""Partitioned data: Dask arrays, bags and tables, and lists of delayed objects."""

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

from tapemagic.engine.laziness import as_lazy, is_lazy
from tapemagic.engine.tensor.coercion import NUMBERS
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import NotNumbersError, OptionError, ShapeError, UnsupportedArgumentError

Names = list[str] | None


class Partitions:
    """Data with one task for each partition.

    Raises NotNumbersError, OptionError, ShapeError or UnsupportedArgumentError; see `value_and_grad`.

    - `data`: Dask collection, list of delayed objects, or tuple, list or dict of these. Of several collections,
      partition k consists of the k-th partition of each.
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
            raise OptionError("there is no data: pass a Dask array, or another Dask collection")
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
        """Return the keys of ``function(problem, number, part)`` for each partition, their tasks, and dependencies."""
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
        """Return delayed results for arrays; each task reads its chunks of the arrays."""
        # With blockwise, Dask fuses reading and computing into one task, so chunks aren't sent between workers.
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
        # Partitions of a bag may be iterators, which could be read only once.
        return function(problem, number, list(part) if hasattr(part, "__next__") else part)
    return function(
        problem, number, parts if names is None else dict(zip(names, parts, strict=True))
    )


def _are_delayed(data: Any) -> bool:
    return all(isinstance(x, Delayed) for x in data)


def _source(x: Any, label: str) -> Any:
    """Return one collection as a Dask array, or as a list of delayed partitions."""
    if isinstance(x, Traced):
        x = unwrap(x)
    # DataFrames have a method to_dask_array as well, but are partitioned as tables.
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
            f"{label} is {describe(x)}, which has no partitions: {_partition_advice(x)}"
        )
    return parts


def _partition_advice(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return (
            "write tapemagic.value_and_grad for an array in memory, or da.from_array(x, chunks=...)"
        )
    return "pass a Dask array, bag or DataFrame, a list of delayed objects, or a tuple or dict of these"


def _checked_array(x: da.Array, label: str) -> da.Array:
    if x.dtype.kind not in NUMBERS:
        raise NotNumbersError(
            f"{label} holds {x.dtype}, but tensors hold numbers: write x.astype(float)"
        )
    if not x.ndim:
        raise ShapeError(f"{label} is a single number, so it has no rows to partition")
    cut = [axis for axis in range(1, x.ndim) if x.numblocks[axis] > 1]
    if cut:
        advice = ", ".join(f"{axis}: -1" for axis in cut)
        raise ShapeError(
            f"{label} is cut along axis {cut[0]}, but a partition needs whole rows: write x.rechunk({{{advice}}})"
        )
    return x


def _common_count(sources: list[Any], labels: list[str]) -> int:
    """Return the common number of partitions of all sources, or raise ShapeError."""
    first, name = sources[0], labels[0]
    count = _count(first)
    for source, label in zip(sources[1:], labels[1:], strict=True):
        if _count(source) != count:
            raise ShapeError(
                f"{label} has {_count(source)} partitions, and {name} {count}: {_rechunk(first, source)}"
            )
        if isinstance(first, da.Array) and isinstance(source, da.Array) and _differ(first, source):
            raise ShapeError(
                f"{label} is cut into rows {_shorten(source)}, and {name} into {_shorten(first)}: "
                f"{_rechunk(first, source)}"
            )
    return count


def _count(source: Any) -> int:
    return source.numblocks[0] if isinstance(source, da.Array) else len(source)


def _differ(a: da.Array, b: da.Array) -> bool:
    """Return True if two arrays are known to be cut differently into rows."""
    # Dask gives unknown lengths as nan.
    pairs = zip(a.chunks[0], b.chunks[0], strict=True)
    return any(m != n and not math.isnan(m) and not math.isnan(n) for m, n in pairs)


def _rechunk(first: Any, second: Any) -> str:
    if not (isinstance(first, da.Array) and isinstance(second, da.Array)):
        return "cut the data in the same way, for instance with repartition"
    if first.shape[0] == second.shape[0]:
        return "write y.rechunk({0: x.chunks[0]}) to cut both in the same way"
    return "both must have the same number of rows"


def _shorten(x: da.Array) -> str:
    rows = x.chunks[0]
    return str(rows) if len(rows) <= 6 else f"({', '.join(map(str, rows[:5]))}, ...)"


def rows_array(x: Any, what: str) -> da.Array:
    """Return a lazy array as a Dask array with rows, or raise ShapeError, which names the array `what`."""
    array: da.Array = as_lazy(unwrap(x)).to_dask_array()
    if not array.ndim:
        raise ShapeError(
            f"{what} is a single number: pass an array whose first axis counts examples"
        )
    return array


def row_ranges(arrays: Sequence[Any]) -> list[tuple[int, int]]:
    """Return the first row of each chunk, and the row after its last, for the first Dask array among arrays."""
    lengths = next(x.chunks[0] for x in arrays if isinstance(x, da.Array))
    return [(a, b) for a, b in pairwise(accumulate(chain([0], lengths))) if b > a]


def read_rows(arrays: Sequence[Any], start: int, stop: int) -> list[Any]:
    """Return some rows of each array; the current scheduler computes Dask arrays together."""
    return list(compute(*[x[start:stop] for x in arrays], traverse=False))
