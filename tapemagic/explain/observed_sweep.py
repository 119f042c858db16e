"""The gradients that a reverse sweep passes on, told to a listener record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.recording import silence
from tapemagic.engine.tape.cotangents import seeds
from tapemagic.engine.tape.sweep import Gradients, sweep
from tapemagic.engine.tensor.tensor import Traced

AdjointListener = Callable[[int, Gradients], None]
"""Takes the position of a record, and the gradients so far: those of the record's results are complete."""


def observe_sweep(
    records: Sequence[Any],
    tracked: Mapping[int, int],
    targets: Sequence[Traced],
    hear: AdjointListener,
) -> Gradients:
    """Differentiate the sum of some targets, and let a function hear of each record before it passes gradients on.

    Complex gradients are conjugated, as in every sweep.

    Parameters
    ----------
    records : sequence of Record
    tracked : mapping of int to int
        The values to pass gradients to, each with the time since when it is tracked.
    targets : sequence of tensor
        Those that are on no tape are left out.
    hear : callable
        Called with the position of each record, the last one first.

    Returns
    -------
    dict of int to array
        The gradients with respect to the leaves, and whatever else no record of these has made.
    """
    started = seeds(targets, None, False)
    if not started:
        return {}
    with silence(), np.errstate(all="ignore"):
        return sweep(_Heard(records, started, hear), tracked, started, set(), False)


class _Heard:
    """Records that tell when a sweep asks for them."""

    def __init__(self, records: Sequence[Any], gradients: Gradients, hear: AdjointListener) -> None:
        self._records, self._gradients, self._hear = records, gradients, hear

    def __iter__(self) -> Iterator[Any]:
        return iter(self._records)

    def __reversed__(self) -> Iterator[Any]:
        for position in range(len(self._records) - 1, -1, -1):
            self._hear(position, self._gradients)
            yield self._records[position]
