"""The order of readings: data are read anew only after everything is known that has to be known first.

Dask decides by itself what to compute next, and may begin with a second reading before the sums are known which it is
for: then the chunks of both readings are kept. So, before Dask's own optimizations, the tasks that begin the reading
of a level are made to wait for all sums of lower levels that are asked for.
"""

from __future__ import annotations

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

from tapemagic.lazy.task_fusion import FEW, bundled

READING, SUM, SPREAD = "tapemagic reading", "tapemagic sum", "tapemagic spread"
"""The notes on layers: the level for which they begin to read data, and that they hold a sum over many chunks, or few
numbers spread over many."""


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
    known = isinstance(graph, HighLevelGraph)
    spread = spread_in(graph) if known else set()
    found = usual(in_order(graph) if known else graph, keys, **options)
    return bundled(found, keys, spread) if type(found) is dict else found


def spread_in(graph: HighLevelGraph) -> set[str]:
    """The names of the layers of many chunks for which no data are read."""
    found: set[str] = set()
    small: set[str] = set()
    for name in TopologicalSorter(graph.dependencies).static_order():
        layer, below = graph.layers[name], graph.dependencies[name]
        if _noted(layer, SPREAD) or (below & found and below <= found | small):
            found.add(name)
        if len(layer.get_output_keys()) <= FEW:
            small.add(name)
    return found - small


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
    sums = [name for name, layer in graph.layers.items() if _noted(layer, SUM)]
    layers, needed = dict(graph.layers), dict(graph.dependencies)
    for level in sorted(set(readings.values())):
        known = sorted(name for name in sums if levels[name] < level)
        if not known:
            continue
        gate = f"known-{tokenize(known)}"
        found = [TaskRef(key) for name in known for key in graph.layers[name].get_output_keys()]
        layers[gate] = MaterializedLayer({gate: Task(gate, chunks.checkpoint, *found)})
        needed[gate] = set(known)
        for name, own in readings.items():
            if own == level:
                layers[name] = _waiting(graph.layers[name], gate)
                needed[name] = {*needed[name], gate}
    return HighLevelGraph(layers, needed)


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
