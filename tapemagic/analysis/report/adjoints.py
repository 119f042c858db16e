"""The gradients with respect to the values that a graph shows."""

from __future__ import annotations

from typing import Any

from tapemagic.analysis.report.derivatives import GradientTable, take_gradients
from tapemagic.analysis.report.graph import RecordedGraph
from tapemagic.analysis.snapshot import Snapshot
from tapemagic.engine.tensor.tensor import id_of, unwrap


def adjoints_of(
    snapshot: Snapshot, drawn: RecordedGraph, targets: list[Any], found: GradientTable, order: int
) -> dict[int, Any]:
    """The gradients with respect to every value of a graph, by the ids of the values.

    Values of order 0, which the user computed, are sources of the gradients of the targets; values of order k, which
    belong to a k-th derivative, are sources of the gradients of the derivatives of that order. The targets may be
    derivatives themselves, and the cell may compute higher orders than were asked for; then the nearest order is used.
    """
    goals = [targets]
    goals += [
        [g for (_, _, k), g in found.gradients.items() if k == level and g is not None]
        for level in range(1, order)
    ]
    first = max((snapshot.order_of(id_of(target)) for target in targets), default=0)
    frames: dict[int, list[Any]] = {}
    for index, x in drawn.tensors.items():
        frames.setdefault(drawn.graph.values[index].order, []).append(x)
    adjoints: dict[int, Any] = {}
    tape = snapshot.tape()
    for frame, nodes in frames.items():
        level = min(max(frame - first, 0), order - 1)
        answer = GradientTable()
        if goals[level]:
            take_gradients(
                tape, answer, goals[level], nodes, [(0, s, level) for s in range(len(nodes))]
            )
        pairs = zip(nodes, answer.gradients.values(), strict=False)
        adjoints |= {id_of(x): unwrap(g) for x, g in pairs if g is not None}
    return adjoints
