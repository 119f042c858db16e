"""Read data again, so that memory stays bounded if a sum over many chunks comes before their next use.

Dask keeps a chunk until every task that needs it has run. In ``np.sqrt(np.mean(e**2))`` the backward pass needs the
chunks of `e` and the mean of all of them; in ``x - np.mean(x)`` the forward pass does. Each chunk would stay in memory
until the last one is read. So each lazy array has a level: the number of such sums, one after the other, that it
depends on. If an operation combines arrays of several levels, those with many chunks and a lower level are computed
again for the highest one, starting at their sources. ``dask.graph_manipulation.clone`` does the same, but here all
arrays of a level share one read of each source, and a finished sum is not computed again. (Sources are renamed here
because `clone` leaves references inside tasks unchanged, so that a slice of a file would not be read again.)

A source must return the same values each time. A persisted source is referred to, not read again. ``ordering.py``
prevents Dask from starting a read before the sums that it needs are finished.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from dask.base import clone_key
from dask.blockwise import Blockwise
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from tapemagic.lazy.array import LazyArray, Origin
from tapemagic.lazy.ordering import READ, SPREAD, SUM, annotate, annotate_layer
from tapemagic.lazy.task_fusion import MAX_KEPT_CHUNKS

SELECTIONS = frozenset(
    [
        *(operator.getitem, np.take, np.take_along_axis, np.compress, np.extract),
        *(np.split, np.array_split, np.diagonal, np.diag),
    ]
)
"""Functions that select: each chunk of the result depends on few chunks of the argument, however many it has."""

Compute = Callable[[Any, Any, dict[str, Any]], Any]
"""Runs a function whose arguments contain lazy arrays."""


def map_lazy(change: Callable[[LazyArray], Any], value: Any) -> Any:
    """Replace each lazy array in nested arguments by `change(array)`."""
    kind = type(value)
    if kind is LazyArray:
        return change(value)
    if kind is tuple or kind is list:
        return kind([map_lazy(change, x) for x in value])
    if kind is dict:
        return {key: map_lazy(change, x) for key, x in value.items()}
    if kind is slice:
        return slice(*[map_lazy(change, x) for x in (value.start, value.stop, value.step)])
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(map_lazy(change, x) for x in value)
    return value


def lazy_in(value: Any) -> Iterator[LazyArray]:
    """Yield the lazy arrays in nested arguments or results."""
    kind = type(value)
    if kind is LazyArray:
        yield value
    elif issubclass(kind, (tuple, list)):
        for x in value:
            yield from lazy_in(x)
    elif kind is dict:
        for x in value.values():
            yield from lazy_in(x)
    elif kind is slice:
        yield from lazy_in((value.start, value.stop, value.step))


class Call:
    """Call of a function on lazy arrays that can be repeated on reread inputs.

    Parameters
    ----------
    compute : callable
        Runs a function on arguments.
    function : callable
    args, kwargs : tuple, dict
    """

    __slots__ = ("_args", "_compute", "_function", "_kwargs", "_level", "inputs")

    def __init__(self, compute: Compute, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self._compute = compute
        self._function = function
        level = self._level = max((x.origin.level for x in lazy_in((args, kwargs))), default=0)

        def ready(x: LazyArray) -> LazyArray:
            return x.copy() if is_at_level(x, level) else reread(x, level)

        self._args = map_lazy(ready, args)
        self._kwargs = map_lazy(ready, kwargs)
        self.inputs = list(lazy_in((self._args, self._kwargs)))

    def results(self) -> Any:
        """Run the function; each lazy result remembers its level and this call."""
        results = self._compute(self._function, self._args, self._kwargs)
        for position, y in enumerate(lazy_in(results)):
            y.origin = self._origin(y, position)
        return results

    def _repeats_few_numbers(self, y: LazyArray) -> bool:
        """Return True if a result is built from no more numbers than one of its chunks has."""
        own = [x for x in self.inputs if not x.origin.spread]
        is_in_few_chunks = all(x.npartitions <= MAX_KEPT_CHUNKS for x in own)
        return is_in_few_chunks and sum(x.size for x in own) * max(1, y.npartitions) <= y.size

    def _origin(self, y: LazyArray, position: int) -> Origin:
        if all(x.origin.spread for x in self.inputs) or self._repeats_few_numbers(y):
            annotate(y.to_dask_array(), SPREAD, True)
            return Origin(self._level, spread=True)
        span = max((self._span(x, y) for x in self.inputs), default=1.0)
        # One chunk of the result needs more chunks than may be kept, and more than the result has: Dask must read
        # (nearly) all data before it is finished, so everything after it is a new level.
        if span > max(MAX_KEPT_CHUNKS, y.npartitions):
            annotate(y.to_dask_array(), SUM, True)
            return Origin(self._level + 1)
        return Origin(self._level, span, (self, position))

    def _span(self, x: LazyArray, y: LazyArray) -> float:
        """Count the chunks that one chunk of a result depends on through an input."""
        before = x.origin.span if x.origin.level == self._level else 1
        if self._function in SELECTIONS:
            return before
        return before * max(1, x.npartitions / max(1, y.npartitions))

    def recompute(self, level: int) -> list[LazyArray]:
        """Run the function again on reread inputs; return the lazy arrays in its results."""

        def at_level(x: LazyArray) -> LazyArray:
            return x if is_at_level(x, level) else x.origin.rereads[level]

        args, kwargs = map_lazy(at_level, self._args), map_lazy(at_level, self._kwargs)
        return list(lazy_in(Call(self._compute, self._function, args, kwargs).results()))


class Source:
    """Array that reads data; recomputing it reads them again.

    Parameters
    ----------
    array : dask.array.Array
    """

    __slots__ = ("_array", "inputs")

    def __init__(self, array: Any) -> None:
        self._array = array
        self.inputs: list[LazyArray] = []

    def recompute(self, level: int) -> list[LazyArray]:
        """Read the array again for a level."""
        read = rename_tasks(self._array, f"tapemagic reading {level}", level)
        return [LazyArray(read, Origin(level, maker=(self, 0)))]


def rename_tasks(array: Any, seed: str, level: int = 0) -> Any:
    """Give the tasks of a Dask array new names, which the seed determines.

    If `level` is not 0, the layers without dependencies are annotated as the read of that level.
    """
    graph = array.__dask_graph__()
    names = {key: _new_key(key, seed) for key in graph.get_all_external_keys()}
    layers = {}
    for name, layer in graph.layers.items():
        is_blockwise = isinstance(layer, Blockwise)
        layers[clone_key(name, seed)] = (
            layer.clone(names.keys(), seed)[0]
            if is_blockwise
            else _rename_layer(layer, names, seed)
        )
        if level and not graph.dependencies[name]:
            annotate_layer(layers[clone_key(name, seed)], READ, level)
    needed = {
        clone_key(name, seed): {clone_key(source, seed) for source in dependencies}
        for name, dependencies in graph.dependencies.items()
    }
    rebuild, args = array.__dask_postpersist__()
    name = array.name
    return rebuild(HighLevelGraph(layers, needed), *args, rename={name: clone_key(name, seed)})


def _new_key(key: Any, seed: str) -> Any:
    """Return a new key for a task; keys that do not follow Dask's conventions stay unchanged."""
    name = key[0] if type(key) is tuple and key else key
    return clone_key(key, seed) if isinstance(name, str) else key


def _rename_layer(layer: Any, names: dict[Any, Any], seed: str) -> MaterializedLayer:
    """Give the tasks of a layer, and their references to other tasks, new names."""
    tasks, rest = {}, {}
    for key, task in layer.items():
        if hasattr(task, "substitute") and hasattr(task, "dependencies"):
            tasks[names[key]] = task.substitute(names, key=names[key])
        else:  # old-style tuples, numbers, or futures of a cluster
            rest[key] = task
    return MaterializedLayer(tasks | dict(MaterializedLayer(rest).clone(set(names), seed)[0]))


def is_at_level(x: LazyArray, level: int) -> bool:
    """Return True if an array can be used unchanged together with arrays of `level`."""
    origin = x.origin
    # A finished sum is small and stays in memory: it is never computed twice.
    is_sum = origin.level > 0 and origin.maker is None
    return origin.level >= level or origin.spread or is_sum or x.npartitions <= MAX_KEPT_CHUNKS


def reread(x: LazyArray, level: int) -> LazyArray:
    """Compute an array again for a level, starting at its sources."""
    # A stack instead of recursion: a loop of ten thousand steps makes a chain of as many origins.
    pending = [x]
    while pending:
        origin = pending[-1].origin
        if level in origin.rereads:
            pending.pop()
            continue
        if origin.maker is None:
            origin.maker = Source(pending[-1].to_dask_array()), 0
        maker, position = origin.maker
        missing = [
            source
            for source in maker.inputs
            if not is_at_level(source, level) and level not in source.origin.rereads
        ]
        if missing:
            pending += missing
            continue
        recomputed = maker.recompute(level)[position]
        recomputed.origin.level = max(recomputed.origin.level, level)
        origin.rereads[level] = recomputed
    return x.origin.rereads[level]
