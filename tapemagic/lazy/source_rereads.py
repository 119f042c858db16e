"""Data that are read again, so that memory stays bounded where a sum over many chunks comes before their next use.

Dask keeps a chunk until everything that needs it is computed. In ``np.sqrt(np.mean(e**2))`` the way back needs the
chunks of `e` and the mean of all of them, and in ``x - np.mean(x)`` the way forward does: each chunk would be kept
until the last one is read. So each lazy array has a level: how many such sums, one after the other, it depends on.
Where arrays of several levels meet in an operation, those of many chunks and a lower level are computed anew for the
highest one, from the sources on. That is what ``dask.graph_manipulation.clone`` does; but all arrays of a level share
one reading of each source, and a sum that is known is not computed again. (Sources are renamed here, since that
function leaves the references within tasks as they are, so that a slice of a file would not be read again.)

A source must give the same values each time. One that is persisted is referred to, and not read again. That Dask does
not begin with a reading before the sums are known is what ``ordering.py`` is for.
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
from tapemagic.lazy.ordering import READING, SPREAD, SUM, note, put
from tapemagic.lazy.task_fusion import FEW

PARTS = frozenset(
    [
        *(operator.getitem, np.take, np.take_along_axis, np.compress, np.extract),
        *(np.split, np.array_split, np.diagonal, np.diag),
    ]
)
"""Functions whose results have fewer chunks than their argument without depending on all of these."""

Compute = Callable[[Any, Any, dict[str, Any]], Any]
"""Computes a function on arguments with lazy arrays among them."""


def mapped(change: Callable[[LazyArray], Any], value: Any) -> Any:
    """Nested arguments with something in the place of each lazy array."""
    kind = type(value)
    if kind is LazyArray:
        return change(value)
    if kind is tuple or kind is list:
        return kind([mapped(change, x) for x in value])
    if kind is dict:
        return {key: mapped(change, x) for key, x in value.items()}
    if kind is slice:
        return slice(*[mapped(change, x) for x in (value.start, value.stop, value.step)])
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make(mapped(change, x) for x in value)
    return value


def lazy_in(value: Any) -> Iterator[LazyArray]:
    """The lazy arrays in nested arguments, or in nested results."""
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
    """A call of a function on lazy arrays, which can be made anew on those that are read again.

    Parameters
    ----------
    compute : callable
        Computes a function on given arguments.
    function : callable
    args, kwargs : tuple, dict
    """

    __slots__ = ("_args", "_compute", "_function", "_kwargs", "_level", "inputs")

    def __init__(self, compute: Compute, function: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self._compute = compute
        self._function = function
        level = self._level = max((x.origin.level for x in lazy_in((args, kwargs))), default=0)

        def ready(x: LazyArray) -> LazyArray:
            return x.copy() if stays(x, level) else read_again(x, level)

        self._args = mapped(ready, args)
        self._kwargs = mapped(ready, kwargs)
        self.inputs = list(lazy_in((self._args, self._kwargs)))

    def results(self) -> Any:
        """The function's results, of which each lazy array knows its level, and that this call made it."""
        found = self._compute(self._function, self._args, self._kwargs)
        for position, y in enumerate(lazy_in(found)):
            y.origin = self._origin(y, position)
        return found

    def _is_spread(self, y: LazyArray) -> bool:
        """Whether a result is made of no more numbers than one of its chunks has."""
        own = [x for x in self.inputs if not x.origin.spread]
        few = all(x.npartitions <= FEW for x in own)
        return few and sum(x.size for x in own) * max(1, y.npartitions) <= y.size

    def _origin(self, y: LazyArray, position: int) -> Origin:
        if all(x.origin.spread for x in self.inputs) or self._is_spread(y):
            note(y.to_dask_array(), SPREAD, True)
            return Origin(self._level, spread=True)
        span = max((self._span(x, y) for x in self.inputs), default=1.0)
        if span > max(FEW, y.npartitions):
            note(y.to_dask_array(), SUM, True)
            return Origin(self._level + 1)
        return Origin(self._level, span, (self, position))

    def _span(self, x: LazyArray, y: LazyArray) -> float:
        """The number of chunks that one chunk of a result depends on by way of an input."""
        before = x.origin.span if x.origin.level == self._level else 1
        if self._function in PARTS:
            return before
        return before * max(1, x.npartitions / max(1, y.npartitions))

    def again(self, level: int) -> list[LazyArray]:
        """The lazy arrays in the results, from inputs that were read again."""

        def found(x: LazyArray) -> LazyArray:
            return x if stays(x, level) else x.origin.again[level]

        args, kwargs = mapped(found, self._args), mapped(found, self._kwargs)
        return list(lazy_in(Call(self._compute, self._function, args, kwargs).results()))


class Source:
    """The array from which data come; made anew, it reads them once more.

    Parameters
    ----------
    array : dask.array.Array
    """

    __slots__ = ("_array", "inputs")

    def __init__(self, array: Any) -> None:
        self._array = array
        self.inputs: list[LazyArray] = []

    def again(self, level: int) -> list[LazyArray]:
        """The array, read for a level."""
        read = renamed(self._array, f"tapemagic reading {level}", level)
        return [LazyArray(read, Origin(level, made_by=(self, 0)))]


def renamed(array: Any, seed: str, level: int = 0) -> Any:
    """A Dask array that is computed by the same tasks under other names, which the seed determines.

    What begins it is noted to be the reading for a level, if that is not 0.
    """
    graph = array.__dask_graph__()
    names = {key: _other_name(key, seed) for key in graph.get_all_external_keys()}
    layers = {}
    for name, layer in graph.layers.items():
        known = isinstance(layer, Blockwise)
        layers[clone_key(name, seed)] = (
            layer.clone(names.keys(), seed)[0] if known else _renamed_tasks(layer, names, seed)
        )
        if level and not graph.dependencies[name]:
            put(layers[clone_key(name, seed)], READING, level)
    needed = {
        clone_key(name, seed): {clone_key(one, seed) for one in others}
        for name, others in graph.dependencies.items()
    }
    rebuild, args = array.__dask_postpersist__()
    name = array.name
    return rebuild(HighLevelGraph(layers, needed), *args, rename={name: clone_key(name, seed)})


def _other_name(key: Any, seed: str) -> Any:
    """Another name for a task; one that Dask's functions do not give is left as it is."""
    named = key[0] if type(key) is tuple and key else key
    return clone_key(key, seed) if isinstance(named, str) else key


def _renamed_tasks(layer: Any, names: dict[Any, Any], seed: str) -> MaterializedLayer:
    """The tasks of a layer under other names, which refer to others by their other names."""
    tasks, rest = {}, {}
    for key, task in layer.items():
        if hasattr(task, "substitute") and hasattr(task, "dependencies"):
            tasks[names[key]] = task.substitute(names, key=names[key])
        else:  # tuples, numbers, or results that a cluster keeps
            rest[key] = task
    return MaterializedLayer(tasks | dict(MaterializedLayer(rest).clone(set(names), seed)[0]))


def stays(x: LazyArray, level: int) -> bool:
    """Whether an array may be used as it is where another one has the given level."""
    origin = x.origin
    known = origin.level > 0 and origin.made_by is None
    return origin.level >= level or origin.spread or known or x.npartitions <= FEW


def read_again(x: LazyArray, level: int) -> LazyArray:
    """The values of an array, computed anew for a level."""
    pending = [x]
    while pending:
        origin = pending[-1].origin
        if level in origin.again:
            pending.pop()
            continue
        if origin.made_by is None:
            origin.made_by = Source(pending[-1].to_dask_array()), 0
        maker, position = origin.made_by
        missing = [
            one for one in maker.inputs if not stays(one, level) and level not in one.origin.again
        ]
        if missing:
            pending += missing
            continue
        made = maker.again(level)[position]
        made.origin.level = max(made.origin.level, level)
        origin.again[level] = made
    return x.origin.again[level]
