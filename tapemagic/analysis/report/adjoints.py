"""The gradients that stand in the boxes of a picture."""

from __future__ import annotations

from typing import Any

from tapemagic.analysis.report.derivatives import Found, ask
from tapemagic.analysis.report.graph import Drawn
from tapemagic.analysis.snapshot import Snapshot


def adjoints_of(
    snapshot: Snapshot, drawn: Drawn, targets: list[Any], found: Found, order: int
) -> dict[int, Any]:
    """The gradient of each order's goals with respect to every value that is drawn in that order.

    The targets may be derivatives themselves, and what the cell itself differentiates may be of a higher order than
    what is asked for; then the goals are the nearest that there are.
    """
    goals = [targets]
    goals += [
        [g for (_, _, k), g in found.gradients.items() if k == level and g is not None]
        for level in range(1, order)
    ]
    first = max((snapshot.order_of(target._id) for target in targets), default=0)
    frames: dict[int, list[Any]] = {}
    for index, x in drawn.tensors.items():
        frames.setdefault(drawn.graph.values[index].order, []).append(x)
    adjoints: dict[int, Any] = {}
    tape = snapshot.tape()
    for frame, nodes in frames.items():
        level = min(max(frame - first, 0), order - 1)
        answer = Found()
        if goals[level]:
            ask(tape, answer, goals[level], nodes, [(0, s, level) for s in range(len(nodes))])
        pairs = zip(nodes, answer.gradients.values(), strict=False)
        adjoints |= {x._id: g._value for x, g in pairs if g is not None}
    return adjoints
