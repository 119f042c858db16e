"""Order the reads of a source: a second read starts only after the sums that it needs.

Dask chooses the next task itself. It may start a second read before the sums of the first one are finished, and then
keeps the chunks of both in memory. So before Dask optimizes the graph, the first tasks of each read wait for all
requested sums of lower levels.
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

from tapemagic.lazy.task_fusion import MAX_KEPT_CHUNKS, fuse_tasks

READ, SUM, SPREAD = "tapemagic reading", "tapemagic sum", "tapemagic spread"
"""Annotations on layers: the level whose read they begin, a sum over many chunks, or few numbers repeated over many
chunks."""


def annotate(array: da.Array, name: str, value: Any) -> None:
    """Annotate the last layer of an array."""
    annotate_layer(array.dask.layers[array.name], name, value)


def annotate_layer(layer: Any, name: str, value: Any) -> None:
    """Annotate a layer."""
    layer.collection_annotations = {**(layer.collection_annotations or {}), name: value}


def _annotation(layer: Any, name: str) -> Any:
    return (layer.collection_annotations or {}).get(name)


def optimize(graph: Any, keys: Any, **options: Any) -> Any:
    """Optimize a graph as Dask does, after ordering its reads, and fuse tasks that share chunks."""
    # Dask passes a plain dict when a graph was optimized before: its layers, and the annotations on them, are gone.
    has_layers = isinstance(graph, HighLevelGraph)
    spread = spread_layers(graph) if has_layers else set()
    tasks = usual(order_reads(graph) if has_layers else graph, keys, **options)
    return fuse_tasks(tasks, keys, spread) if type(tasks) is dict else tasks


def spread_layers(graph: HighLevelGraph) -> set[str]:
    """Return the names of layers with many chunks that read no data."""
    spread: set[str] = set()
    small: set[str] = set()
    for name in TopologicalSorter(graph.dependencies).static_order():
        layer, below = graph.layers[name], graph.dependencies[name]
        if _annotation(layer, SPREAD) or (below & spread and below <= spread | small):
            spread.add(name)
        if len(layer.get_output_keys()) <= MAX_KEPT_CHUNKS:
            small.add(name)
    return spread - small


def order_reads(graph: HighLevelGraph) -> HighLevelGraph:
    """Make each read wait for all sums that depend neither on it nor on a later read."""
    reads = {
        name: level
        for name, layer in graph.layers.items()
        if (level := _annotation(layer, READ)) is not None
    }
    if not reads:
        return graph
    # The level of a layer is that of the latest read it depends on.
    levels: dict[str, int] = {}
    for name in TopologicalSorter(graph.dependencies).static_order():
        below = (levels[dependency] for dependency in graph.dependencies[name])
        levels[name] = max(reads.get(name, 0), *below, 0)
    sums = [name for name, layer in graph.layers.items() if _annotation(layer, SUM)]
    layers, needed = dict(graph.layers), dict(graph.dependencies)
    for level in sorted(set(reads.values())):
        finished = sorted(name for name in sums if levels[name] < level)
        if not finished:
            continue
        gate = f"finished-{tokenize(finished)}"
        tasks = [TaskRef(key) for name in finished for key in graph.layers[name].get_output_keys()]
        layers[gate] = MaterializedLayer({gate: Task(gate, chunks.checkpoint, *tasks)})
        needed[gate] = set(finished)
        for name, own_level in reads.items():
            if own_level == level:
                layers[name] = _layer_after(graph.layers[name], gate)
                needed[name] = {*needed[name], gate}
    return HighLevelGraph(layers, needed)


def _layer_after(layer: Any, gate: str) -> Any:
    """Make the tasks of a layer wait for a gate."""
    if not isinstance(layer, Blockwise):
        # A Blockwise layer stays one, since Dask can fuse it; all others are written out task by task.
        return MaterializedLayer(dict(_tasks_after(layer, gate)), annotations=layer.annotations)
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


def _tasks_after(layer: Any, gate: str) -> Iterator[tuple[Any, Any]]:
    """Yield tasks that wait for a gate; plain values and futures get a separate task that waits."""
    for key, task in layer.items():
        waits = task
        if not isinstance(task, Task):
            source = clone_key(key, "source")
            yield source, task.substitute({}, key=source) if isinstance(task, GraphNode) else task
            waits = TaskRef(source)
        # chunks.bind is internal to Dask: it returns its first argument once the second one exists. The public
        # dask.graph_manipulation.bind would rename the whole graph below.
        yield key, Task(key, chunks.bind, waits, TaskRef(gate))
