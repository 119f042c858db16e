"""The order of readings: data are read anew only after everything is known that has to be known first.

Dask decides by itself what to compute next, and may begin with a second reading before the sums are known which it is
for: then the chunks of both readings are kept. So, before Dask's own optimizations, the tasks that begin the reading
of a level are made to wait for all sums of lower levels that are asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

import dask.array as da
from dask.array.optimization import optimize as usual
from dask.base import clone_key, tokenize
from dask.blockwise import Blockwise, blockwise_token
from dask.graph_manipulation import chunks
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.task_spec import GraphNode, Task, TaskRef

READING, SUM = "tapemagic reading", "tapemagic sum"
"""The notes on layers: the level for which they begin to read data, and that they hold a sum over many chunks."""


FEW = 4
"""The number of chunks that may be kept until all of them are known."""

LAST = sys.maxsize


def note(array: da.Array, name: str, value: Any) -> None:
    """Write a note on the layer of an array."""
    put(array.dask.layers[array.name], name, value)


def put(layer: Any, name: str, value: Any) -> None:
    """Write a note on a layer."""
    layer.collection_annotations = {**(layer.collection_annotations or {}), name: value}


def _noted(layer: Any, name: str) -> Any:
    return (layer.collection_annotations or {}).get(name)


def optimize(graph: Any, keys: Any, **options: Any) -> Any:
    """A graph with readings in order, optimized as Dask optimizes those of its arrays."""
    if isinstance(graph, HighLevelGraph):
        graph = in_order(graph)
    return usual(graph, keys, **options)


def in_order(graph: HighLevelGraph) -> HighLevelGraph:
    """A graph in which each reading waits for the sums that do not depend on it, or on a later one."""
    readings = {
        name: level
        for name, layer in graph.layers.items()
        if (level := _noted(layer, READING)) is not None
    }
    if not readings:
        return graph
    levels: dict[str, int] = {}
    for name in TopologicalSorter(graph.dependencies).static_order():
        below = (levels[one] for one in graph.dependencies[name])
        levels[name] = max(readings.get(name, 0), *below, 0)
    awaited = _awaited(graph, levels)
    layers, needed = dict(graph.layers), dict(graph.dependencies)
    for level in sorted(set(readings.values())):
        known = sorted(name for name, above in awaited.items() if levels[name] < level <= above)
        if not known:
            continue
        gate = f"known-{tokenize(known)}"
        found = [TaskRef(key) for name in known for key in graph.layers[name].get_output_keys()]
        layers[gate] = MaterializedLayer({gate: Task(gate, chunks.checkpoint, *found)})
        needed[gate] = set(known)
        for name in readings:
            if readings[name] == level:
                layers[name] = _waiting(graph.layers[name], gate)
                needed[name] = {*needed[name], gate}
    return HighLevelGraph(layers, needed)


def _awaited(graph: HighLevelGraph, levels: dict[str, int]) -> dict[str, int]:
    """The layers that readings wait for, each with the highest level of these.

    They are the sums over many chunks, and what is small and is used beside data that are read again: Dask would begin
    with the data, and keep them until it comes to the latter.
    """
    highest: dict[str, int] = {}
    for name, level in levels.items():
        for one in graph.dependencies[name]:
            highest[one] = max(highest.get(one, 0), level)
    return {
        name: LAST if _noted(layer, SUM) else highest.get(name, 0)
        for name, layer in graph.layers.items()
        if _noted(layer, SUM) or (highest.get(name, 0) > levels[name] and _is_small(layer))
    }


def _is_small(layer: Any) -> bool:
    return len(layer.get_output_keys()) <= FEW


def _waiting(layer: Any, gate: str) -> Any:
    """A layer whose tasks wait for a gate."""
    if not isinstance(layer, Blockwise):
        return MaterializedLayer(dict(_waiting_tasks(layer, gate)), annotations=layer.annotations)
    task = layer.task
    return Blockwise(
        output=layer.output,
        output_indices=layer.output_indices,
        task=Task(task.key, chunks.bind, task, TaskRef(blockwise_token(len(layer.indices)))),
        indices=[*layer.indices, (TaskRef(gate), None)],
        numblocks=layer.numblocks,
        concatenate=layer.concatenate,
        new_axes=layer.new_axes,
        output_blocks=layer.output_blocks,
        annotations=layer.annotations,
        io_deps=layer.io_deps,
    )


def _waiting_tasks(layer: Any, gate: str) -> Iterator[tuple[Any, Any]]:
    """Tasks that wait for a gate; numbers, and results that a cluster keeps, stay beside the tasks that give them."""
    for key, task in layer.items():
        waits = task
        if not isinstance(task, Task):
            held = clone_key(key, "held")
            yield held, task.substitute({}, key=held) if isinstance(task, GraphNode) else task
            waits = TaskRef(held)
        yield key, Task(key, chunks.bind, waits, TaskRef(gate))
