"""Fuse the tasks that work on one chunk of the data into a single task.

Dask orders tasks itself. If several sums read the same data, Dask may finish one sum and keep every shared chunk in
memory for the next. A fused task starts with one chunk of the data, and with the matching chunks of other data. It runs
everything that needs neither other chunks nor results of other fused tasks, and returns only what is needed outside,
usually one share of each sum.

Fused tasks have generations. A result of several fused tasks starts the next generation if it has many chunks. If it
has few, it is a sum, and each task that combines it with chunks starts the next generation.
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

MAX_KEPT_CHUNKS = 4
"""Maximum number of chunks of an array that may stay in memory together: such an array is neither fused nor reread."""

Graph = dict[Any, GraphNode]


class FusedTask:
    """Tasks that run one after the other; each result is freed when its last user is done.

    Parameters
    ----------
    tasks : list of Task
        In execution order.
    inputs : list of str or tuple
        Keys of the results that are passed in.
    outputs : list of str or tuple
        Keys of the results that are returned.
    """

    __slots__ = ("_inputs", "_outputs", "_steps")

    def __init__(self, tasks: list[Any], inputs: list[Any], outputs: list[Any]) -> None:
        self._inputs = inputs
        self._outputs = outputs
        seen = set(outputs)
        steps: list[Any] = []
        # Backwards: the first time a key is seen from the end is its last use, after which its result is freed.
        for task in reversed(tasks):
            done = task.dependencies - seen
            seen |= done
            steps.append((task, list(done)))
        self._steps = steps[::-1]

    def __call__(self, *values: Any) -> Any:
        """Run the tasks; return the only output, or a tuple of outputs."""
        results = dict(zip(self._inputs, values, strict=True))
        for task, done in self._steps:
            results[task.key] = task(results)
            for key in done:
                del results[key]
        if len(self._outputs) == 1:
            return results[self._outputs[0]]
        return tuple(results[key] for key in self._outputs)

    def contents(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the keys of the tasks, of their inputs and of their outputs."""
        return [task.key for task, _ in self._steps], self._inputs, self._outputs

    def __dask_tokenize__(self) -> Any:
        return self.contents()

    def __reduce__(self) -> Any:
        return FusedTask, ([task for task, _ in self._steps], self._inputs, self._outputs)


class ChunkGroup:
    """Chunks of different data arrays that are used together, and the tasks on these chunks.

    Parameters
    ----------
    generation : int
    first : str or tuple
        Key of one of the chunks.
    """

    __slots__ = ("first_chunks", "generation", "merged", "tasks")

    def __init__(self, generation: int, first: Any) -> None:
        self.generation = generation
        self.first_chunks = {layer_of(first): first}
        self.tasks: list[Any] = []
        self.merged: ChunkGroup | None = None

    def current(self) -> ChunkGroup:
        """Return the group that this one was merged into, or itself."""
        group = self
        # Merged groups form chains, as in a union-find structure.
        while group.merged is not None:
            group = group.merged
        return group


def layer_of(key: Any) -> Any:
    """Return the name that the tasks of an array share."""
    return key[0] if type(key) is tuple else key


def fuse_tasks(graph: Graph, keys: Any, spread: AbstractSet[str] = frozenset()) -> Graph:
    """Fuse the tasks of a graph that work on the same chunk.

    Parameters
    ----------
    graph : dict
    keys : nested list
        Keys of the requested results.
    spread : set of str
        Names of arrays that read no data: each fused task builds its own copy of them.
    """
    users: dict[Any, set[Any]] = defaultdict(set)
    for key, task in graph.items():
        for dependency in task.dependencies:
            users[dependency].add(key)
    outputs = set(flatten(keys, container=(list, set)))
    for key in outputs:
        # A user outside the graph, so that a requested result counts as needed outside its group.
        users[key].add(None)
    sizes = Counter(map(layer_of, graph))
    copied = _copied_chunks(graph, spread, sizes)
    fused = dict(graph)
    for chunks in _groups(graph, sizes, copied):
        fused.update(_fuse_group(graph, chunks, users, copied, fused))
    return _with_unique_names(_reachable(fused, outputs, fused.keys()), outputs)


def _with_unique_names(graph: Graph, outputs: AbstractSet[Any]) -> Graph:
    """Give all tasks names that are unique to this graph, except for the requested results.

    A cluster identifies a task by its key: the same key means the same result. In another graph the same key may belong
    to another fused task, with other outputs. The tasks of one array still share one name, because a cluster schedules
    tasks of the same name alike.
    """
    # A hash of the whole graph: the same graph gets the same names again, so a cluster may reuse its results.
    mark = blake2b(digest_size=8)
    for key in sorted(graph, key=str):
        task = graph[key]
        fused = _fused_task_of(task)
        inside = fused.contents() if fused else ()
        mark.update(repr((key, sorted(map(repr, task.dependencies)), inside)).encode())
    suffix = mark.hexdigest()
    names: dict[Any, Any] = {
        key: (f"{key[0]}-{suffix}", *key[1:]) if type(key) is tuple else f"{key}-{suffix}"
        for key, task in graph.items()
        if key not in outputs and (task.dependencies or _fused_task_of(task))
    }
    return {
        names.get(key, key): task.substitute(names, key=names.get(key, key))
        for key, task in graph.items()
    }


def _fused_task_of(task: GraphNode) -> FusedTask | None:
    return task.func if isinstance(task, Task) and type(task.func) is FusedTask else None


def _reachable(graph: Graph, keys: Iterable[Any], among: AbstractSet[Any]) -> Graph:
    """Select the tasks of `among` that `keys` depend on."""
    reachable: Graph = {}
    pending = list(keys)
    while pending:
        key = pending.pop()
        if key in among and key not in reachable:
            reachable[key] = graph[key]
            pending += graph[key].dependencies
    return reachable


def _groups(graph: Graph, sizes: Counter[Any], copied: AbstractSet[Any]) -> list[ChunkGroup]:
    """Group the tasks of a graph by the chunks they work on."""
    generations: dict[Any, int] = {}
    parts: dict[Any, ChunkGroup] = {}
    groups: list[ChunkGroup] = []
    for key in _sorted(graph):
        needed = graph[key].dependencies if key in graph else ()
        newest = generations[key] = max(
            (generations[dependency] for dependency in needed), default=-1
        )
        if sizes[layer_of(key)] <= MAX_KEPT_CHUNKS or key in copied:
            continue
        beside = [
            parts.get(dependency) for dependency in needed if generations[dependency] == newest
        ]
        chunks = _merge_groups(beside) if newest >= 0 else None
        if chunks is None:
            generations[key] = newest + 1
            chunks = ChunkGroup(newest + 1, key)
            groups.append(chunks)
        parts[key] = chunks
        if not isinstance(graph[key], DataNode):
            chunks.tasks.append(key)
    return [chunks for chunks in groups if chunks.merged is None]


def _sorted(graph: Graph) -> Iterable[Any]:
    needed = {key: task.dependencies for key, task in graph.items()}
    return TopologicalSorter(needed).static_order()


def _merge_groups(parts: list[ChunkGroup | None]) -> ChunkGroup | None:
    """Merge groups; return None if a part is not a chunk, or if two parts are different chunks of the same data."""
    if None in parts:
        return None
    different = {
        id(dependency): dependency for dependency in (part.current() for part in parts if part)
    }
    # The largest group absorbs the others, so that each task is moved O(log n) times.
    largest, *absorbed = sorted(different.values(), key=lambda dependency: -len(dependency.tasks))
    first_chunks = dict(largest.first_chunks)
    for group in absorbed:
        for layer, first in group.first_chunks.items():
            if first_chunks.setdefault(layer, first) != first:
                return None
    largest.first_chunks = first_chunks
    for group in absorbed:
        largest.tasks += group.tasks
        group.merged = largest
    return largest


def _fuse_group(
    graph: Graph, chunks: ChunkGroup, users: Any, copied: AbstractSet[Any], remaining: Graph
) -> Iterator[tuple[Any, Any]]:
    """Replace the tasks of a group by one fused task and the tasks that pick its outputs."""
    mine = set(chunks.tasks)
    outputs = sorted((key for key in mine if users[key] - mine), key=str)
    needed = {dependency for key in mine for dependency in graph[key].dependencies} - mine
    # Every result is needed outside: fusing would free nothing.
    if len(outputs) == len(mine) and not needed & copied:
        return
    for key in mine:
        del remaining[key]
    if not outputs:  # nothing outside uses them: left by an optimization of Dask
        return
    own = set(_reachable(graph, needed & copied, copied)) | mine
    inputs = sorted(
        {dependency for key in own for dependency in graph[key].dependencies} - own, key=str
    )
    fused = FusedTask(_execution_order(graph, own), inputs, outputs)
    refs = map(TaskRef, inputs)
    if len(outputs) == 1:
        yield outputs[0], Task(outputs[0], fused, *refs)
        return
    first = outputs[0]
    name = (f"fused-{tokenize(layer_of(first))}", *(first[1:] if type(first) is tuple else ()))
    yield name, Task(name, fused, *refs)
    for number, key in enumerate(outputs):
        yield key, Task(key, operator.getitem, TaskRef(name), number)


def _copied_chunks(graph: Graph, names: AbstractSet[str], sizes: Counter[Any]) -> set[Any]:
    """Collect the chunks of some arrays and of everything they are built from, which Dask may have renamed."""
    copied: set[Any] = set()
    pending = [key for key in graph if layer_of(key) in names]
    while pending:
        key = pending.pop()
        if key in graph and key not in copied and sizes[layer_of(key)] > MAX_KEPT_CHUNKS:
            copied.add(key)
            pending += graph[key].dependencies
    return copied


def _execution_order(graph: Graph, keys: set[Any]) -> list[Any]:
    """Sort tasks for execution so that each result is used as soon as possible."""
    missing = {key: len(graph[key].dependencies & keys) for key in keys}
    users: dict[Any, list[Any]] = defaultdict(list)
    for key in sorted(keys, key=str):
        for dependency in graph[key].dependencies & keys:
            users[dependency].append(key)
    ready = sorted((key for key, count in missing.items() if not count), key=str)
    order = []
    while ready:
        # The newest ready task first: it most likely uses, and so frees, the result before it.
        key = ready.pop()
        order.append(graph[key])
        for user in users[key]:
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return order
