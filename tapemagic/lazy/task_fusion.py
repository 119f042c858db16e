"""Bundles: what is computed of one chunk of the data at a time becomes one task.

Dask orders tasks by itself. Where several sums are taken over the same data, it may compute one of them to its end, and
keep for the next one what they share: all chunks. A bundle begins with a chunk of the data, and with those of other
data that are used beside it. It does all that needs neither other chunks nor what is computed of other bundles, and
returns what is needed outside, most often a share of each sum. What it does not return it does not keep.

Bundles have generations. What depends on several bundles begins the next one, if there are many chunks of it; if there
are few of them, it is a sum, and what uses it beside chunks begins the next one.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from graphlib import TopologicalSorter
from hashlib import blake2b
from typing import Any

from dask.base import tokenize
from dask.core import flatten
from dask.task_spec import DataNode, GraphNode, Task, TaskRef

FEW = 4
"""The number of chunks that may be kept until all of them are known."""

Graph = dict[Any, GraphNode]


class Bundle:
    """Tasks that are run one after the other; each result is let go when the last task that uses it is done.

    Parameters
    ----------
    tasks : list of Task
        In an order in which they can be run.
    given : list of str or tuple
        The keys of the results that they are given.
    wanted : list of str or tuple
        The keys of the results that are returned.
    """

    __slots__ = ("_given", "_steps", "_wanted")

    def __init__(self, tasks: list[Any], given: list[Any], wanted: list[Any]) -> None:
        self._given = given
        self._wanted = wanted
        seen = set(wanted)
        steps: list[Any] = []
        for task in reversed(tasks):
            done = task.dependencies - seen
            seen |= done
            steps.append((task, list(done)))
        self._steps = steps[::-1]

    def __call__(self, *values: Any) -> Any:
        """The results that are wanted: a tuple, unless it is one."""
        found = dict(zip(self._given, values, strict=True))
        for task, done in self._steps:
            found[task.key] = task(found)
            for key in done:
                del found[key]
        if len(self._wanted) == 1:
            return found[self._wanted[0]]
        return tuple(found[key] for key in self._wanted)

    def contents(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The keys of the tasks, those of what they are given, and those of what is returned."""
        return [task.key for task, _ in self._steps], self._given, self._wanted

    def __dask_tokenize__(self) -> Any:
        return self.contents()

    def __reduce__(self) -> Any:
        return Bundle, ([task for task, _ in self._steps], self._given, self._wanted)


class Chunks:
    """One chunk of each of the data that are used side by side, and the tasks that belong to these.

    Parameters
    ----------
    generation : int
    first : str or tuple
        The key of one of the chunks.
    """

    __slots__ = ("firsts", "generation", "merged", "tasks")

    def __init__(self, generation: int, first: Any) -> None:
        self.generation = generation
        self.firsts = {layer_of(first): first}
        self.tasks: list[Any] = []
        self.merged: Chunks | None = None

    def current(self) -> Chunks:
        """The chunks that these have become part of."""
        found = self
        while found.merged is not None:
            found = found.merged
        return found


def layer_of(key: Any) -> Any:
    """The name that the tasks of an array share."""
    return key[0] if type(key) is tuple else key


def bundled(graph: Graph, keys: Any, spread: AbstractSet[str] = frozenset()) -> Graph:
    """A graph in which what is computed of one chunk is one task.

    Parameters
    ----------
    graph : dict
    keys : nested list
        The keys of the results that are asked for.
    spread : set of str
        The names of arrays for which no data are read: each bundle makes what it needs of them by itself.
    """
    users: dict[Any, set[Any]] = defaultdict(set)
    for key, task in graph.items():
        for one in task.dependencies:
            users[one].add(key)
    outputs = set(flatten(keys, container=(list, set)))
    for key in outputs:
        users[key].add(None)
    sizes = Counter(map(layer_of, graph))
    copied = _with_sources(graph, spread, sizes)
    found = dict(graph)
    for chunks in _groups(graph, sizes, copied):
        found.update(_bundle(graph, chunks, users, copied, found))
    return _renamed(_needed(found, outputs, found.keys()), outputs)


def _renamed(graph: Graph, outputs: AbstractSet[Any]) -> Graph:
    """The tasks under names that belong to this graph alone, but for results that are asked for.

    A cluster takes two tasks of one name for the same one, and in another graph the same results may come from other
    bundles. The tasks of an array keep one name for all of them, by which a cluster knows that they are alike.
    """
    mark = blake2b(digest_size=8)
    for key in sorted(graph, key=str):
        task = graph[key]
        bundle = _bundle_of(task)
        inside = bundle.contents() if bundle else ()
        mark.update(repr((key, sorted(map(repr, task.dependencies)), inside)).encode())
    suffix = mark.hexdigest()
    names: dict[Any, Any] = {
        key: (f"{key[0]}-{suffix}", *key[1:]) if type(key) is tuple else f"{key}-{suffix}"
        for key, task in graph.items()
        if key not in outputs and (task.dependencies or _bundle_of(task))
    }
    found = {}
    for key, task in graph.items():
        name = names.get(key, key)
        found[name] = task.substitute(names, key=name)
    return found


def _bundle_of(task: GraphNode) -> Bundle | None:
    return task.func if isinstance(task, Task) and type(task.func) is Bundle else None


def _needed(graph: Graph, keys: Iterable[Any], among: AbstractSet[Any]) -> Graph:
    """The tasks, among some, on which others depend."""
    found: Graph = {}
    pending = list(keys)
    while pending:
        key = pending.pop()
        if key in among and key not in found:
            found[key] = graph[key]
            pending += graph[key].dependencies
    return found


def _groups(graph: Graph, sizes: Counter[Any], copied: AbstractSet[Any]) -> list[Chunks]:
    """The chunks of a graph, with the tasks that belong to them."""
    generations: dict[Any, int] = {}
    parts: dict[Any, Chunks] = {}
    groups: list[Chunks] = []
    for key in _sorted(graph):
        needed = graph[key].dependencies if key in graph else ()
        newest = generations[key] = max((generations[one] for one in needed), default=-1)
        if sizes[layer_of(key)] <= FEW or key in copied:
            continue
        beside = [parts.get(one) for one in needed if generations[one] == newest]
        chunks = _merged(beside) if newest >= 0 else None
        if chunks is None:
            generations[key] = newest + 1
            chunks = Chunks(newest + 1, key)
            groups.append(chunks)
        parts[key] = chunks
        if not isinstance(graph[key], DataNode):
            chunks.tasks.append(key)
    return [chunks for chunks in groups if chunks.merged is None]


def _sorted(graph: Graph) -> Iterable[Any]:
    needed = {key: task.dependencies for key, task in graph.items()}
    return TopologicalSorter(needed).static_order()


def _merged(parts: list[Chunks | None]) -> Chunks | None:
    """The one of which all parts become part; None if something is no chunk, or if two are of the same data."""
    if None in parts:
        return None
    different = {id(one): one for one in (part.current() for part in parts if part)}
    largest, *others = sorted(different.values(), key=lambda one: -len(one.tasks))
    firsts = dict(largest.firsts)
    for other in others:
        for layer, first in other.firsts.items():
            if firsts.setdefault(layer, first) != first:
                return None
    largest.firsts = firsts
    for other in others:
        largest.tasks += other.tasks
        other.merged = largest
    return largest


def _bundle(
    graph: Graph, chunks: Chunks, users: Any, copied: AbstractSet[Any], found: Graph
) -> Iterator[tuple[Any, Any]]:
    """The tasks in the place of those that belong to some chunks, which are taken out of what was found."""
    mine = set(chunks.tasks)
    wanted = sorted((key for key in mine if users[key] - mine), key=str)
    needed = {one for key in mine for one in graph[key].dependencies} - mine
    if len(wanted) == len(mine) and not needed & copied:
        return
    for key in mine:
        del found[key]
    if not wanted:  # left over by an optimization of Dask's
        return
    own = set(_needed(graph, needed & copied, copied)) | mine
    given = sorted({one for key in own for one in graph[key].dependencies} - own, key=str)
    bundle = Bundle(_in_order(graph, own), given, wanted)
    refs = map(TaskRef, given)
    if len(wanted) == 1:
        yield wanted[0], Task(wanted[0], bundle, *refs)
        return
    first = wanted[0]
    name = (f"bundle-{tokenize(layer_of(first))}", *(first[1:] if type(first) is tuple else ()))
    yield name, Task(name, bundle, *refs)
    for number, key in enumerate(wanted):
        yield key, Task(key, operator.getitem, TaskRef(name), number)


def _with_sources(graph: Graph, names: AbstractSet[str], sizes: Counter[Any]) -> set[Any]:
    """The chunks of some arrays, and those from which they are made, which Dask may have given other names."""
    found: set[Any] = set()
    pending = [key for key in graph if layer_of(key) in names]
    while pending:
        key = pending.pop()
        if key in graph and key not in found and sizes[layer_of(key)] > FEW:
            found.add(key)
            pending += graph[key].dependencies
    return found


def _in_order(graph: Graph, keys: set[Any]) -> list[Any]:
    """Tasks in an order in which they can be run: each result is used as soon as possible."""
    missing = {key: len(graph[key].dependencies & keys) for key in keys}
    users: dict[Any, list[Any]] = defaultdict(list)
    for key in sorted(keys, key=str):
        for one in graph[key].dependencies & keys:
            users[one].append(key)
    ready = sorted((key for key, count in missing.items() if not count), key=str)
    found = []
    while ready:
        key = ready.pop()
        found.append(graph[key])
        for user in users[key]:
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return found
