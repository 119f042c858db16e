"""Values whose records were let go for lack of memory: a gradient that needs such a record is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import inf
from typing import Any

from tapemagic.engine.registry import NUMBERED, no_derivative
from tapemagic.errors import ConsumedTapeError

LET_GO = (
    "The operations behind {} were let go while the cell ran, because its recording needed more memory than it may "
    "take: this gradient can't be computed anymore. Take it in the loop, right after the step, keep float(loss) in "
    "lists instead of loss, or allow more memory, as in %config TapeMagics.memory = '2 GB'"
)


def require_kept(tape: Any, targets: Iterable[int], sources: Iterable[int]) -> None:
    """Raise ConsumedTapeError if a gradient needs records that a tape has let go."""
    cut = cut_between(tape._records, tape._tracked, tape._leaves, tape._cut, targets, sources)
    if cut:
        what = "the target" if not cut.isdisjoint(targets) else "an earlier step of the target"
        raise ConsumedTapeError(LET_GO.format(what))


def cut_between(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    leaves: AbstractSet[int],
    cut: AbstractSet[int],
    targets: Iterable[int],
    sources: Iterable[int],
) -> set[int]:
    """Return the cut values that the targets depend on, and that may depend on a source.

    A value can only depend on a source that was tracked before it was computed, so times decide.
    """
    reached = {i for i in targets if i in cut}
    waiting = {i for i in targets if i not in cut and i not in leaves and i in tracked}
    for number, _, ids, _, _, output_id in reversed(records):
        if not waiting:
            break
        outputs = output_id if output_id.__class__ is tuple else (output_id,)
        if waiting.isdisjoint(outputs):
            continue
        waiting.difference_update(outputs)
        operation = NUMBERED[number]
        rules = operation.rules or (operation.joint_rule,) * len(ids)
        for i, rule in zip(ids, rules, strict=False):
            if rule is None or rule is no_derivative or tracked.get(i, inf) > outputs[0]:
                continue
            if i in cut:
                reached.add(i)
            elif i not in leaves:
                waiting.add(i)
    since = min([tracked.get(i, inf) for i in sources], default=inf)
    return {i for i in reached if since < i}
