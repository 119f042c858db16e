"""What a recording knows that may explain a wrong derivative by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tapemagic.analysis.snapshot import snapshot_of
from tapemagic.engine.recording import Absent
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import wrap

AVERAGES = {"mean", "nanmean", "average"}
QUOTIENTS = {"divide", "true_divide"}


def lengths(observer: Observer) -> set[int]:
    """How many numbers there are in what was computed with, along each axis and in all."""
    return {n for record in observer.records for value in record.values for n in _counts(value)}


def means(observer: Observer, target: Any) -> set[int]:
    """How many numbers the target is a mean of, or by what whole numbers something in it was divided."""
    above = snapshot_of(observer).above(target._id, blocked=False)
    found: set[int] = set()
    for record in observer.records:
        if record.output_id not in above:
            continue
        if record.name in AVERAGES:
            found.update(_counts(record.values[0]))
        elif record.name in QUOTIENTS and not np.shape(record.values[1]):
            divisor = np.real(record.values[1])
            found.update({int(divisor)} if divisor % 1 == 0 else ())
    return found


def _counts(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", ())
    return (*shape, math.prod(shape))


def broadcast(observer: Observer, target: Any, source: Any) -> Iterator[Any]:
    """The gradient with respect to each result that is larger than the source, which it was computed from."""
    results = [
        wrap(record.output, record.output_id)
        for record in observer.records
        if source._id in record.ids
        and isinstance(record.output_id, int)
        and not isinstance(record.output, Absent)
        and record.output.size > source.size
    ]
    with observer.paused():
        gradients = observer.gradient(target, results)
    return (gradient.numpy() for gradient in gradients if gradient is not None)
