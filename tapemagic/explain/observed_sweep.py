"""Run a reverse sweep, and show each gradient to a callback before the sweep passes it on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.recording import silence
from tapemagic.engine.tape.careful_sweep import careful_sweep, has_nan
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import Gradients, sweep
from tapemagic.engine.tensor.tensor import Traced

AdjointListener = Callable[[int, Gradients], None]
"""Receives the position of a record and the gradients so far. The gradients of the record's results are complete."""


def observe_sweep(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    targets: Sequence[Traced],
    hear: AdjointListener,
) -> Gradients:
    """Differentiate the sum of targets, and call a function for each record before its gradients are passed on.

    Complex gradients are conjugates, as in every sweep.

    - `tracked`: The values that receive gradients, each with the time since when it is tracked.
    - `targets`: Targets that aren't on a tape are ignored.
    - `hear`: Called with the position of each record, the last record first. If a selection leaves entries unused
      whose gradients become nan, it is called for all records once more, with the right gradients.

    Returns dict of int to array: the gradients with respect to all values that none of the records computed, such as
    the leaves.
    """
    started = seeds(targets, None, False)
    if not started:
        return {}
    with silence(), np.errstate(all="ignore"):
        grads = sweep(_ObservedRecords(records, started, hear), tracked, started, set(), False)
        if has_nan(grads, list(grads), records, targets):
            grads = seeds(targets, None, False)
            observed = _ObservedRecords(records, grads, hear)
            careful_sweep(observed, tracked, grads, {}, set(), False)
        return grads


class _ObservedRecords:
    """Records that call a function when a sweep reads a record."""

    def __init__(self, records: Sequence[Any], gradients: Gradients, hear: AdjointListener) -> None:
        self._records, self._gradients, self._hear = records, gradients, hear

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    # The sweep reads its records with reversed(), so this needs no hook in the sweep, which must stay fast.
    def __reversed__(self) -> Iterator[Any]:
        for position in range(len(self._records) - 1, -1, -1):
            self._hear(position, self._gradients)
            yield self._records[position]
