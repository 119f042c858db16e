"""The likely mistake in a derivative by hand, from the arrays and from what was recorded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import id_of, wrap
from tapemagic.explain.lazy_values import has_numbers
from tapemagic.explain.mistakes import Agree, find_factor, find_mistake, find_wrong_axis
from tapemagic.explain.snapshot import snapshot_of

AVERAGES = {"mean", "nanmean", "average"}
QUOTIENTS = {"divide", "true_divide"}


def likely_mistake(
    observer: Observer,
    target: Any,
    source: Any,
    mine: Any,
    tape: Any,
    agree: Agree,
    named: Sequence[tuple[str, Any]],
) -> str:
    """Name the one mistake that explains every difference, in a sentence; empty if none does.

    Parameters
    ----------
    observer : Observer
        The tape of the cell.
    target, source : Tensor or Variable
    mine, tape : array
        The derivative by hand, and the gradient; they differ somewhere, or in shape.
    agree : callable
        Which entries of two arrays agree: see `agreement`.
    named : sequence of (str, array)
        The arrays that the notebook knows by name, as possible factors.

    Returns
    -------
    str
    """
    for parts in _broadcast(observer, target, source):
        if found := find_wrong_axis(mine, tape, parts, agree):
            return found
    found = find_mistake(mine, tape, agree, _lengths(observer), _means(observer, target))
    if found or mine.shape != tape.shape:
        return found
    return find_factor(mine, tape, named)


def _lengths(observer: Observer) -> set[int]:
    """The lengths of all axes, and the sizes, of the arrays that were computed with."""
    return {n for record in observer.records for value in record.values for n in _counts(value)}


def _means(observer: Observer, target: Any) -> set[int]:
    """The numbers of elements of which the target is a mean, and whole numbers by which it was divided."""
    above = snapshot_of(observer).ancestors(id_of(target), blocked=False)
    found: set[int] = set()
    for record in observer.records:
        if record.output_id not in above:
            continue
        if record.name in AVERAGES:
            found.update(_counts(record.values[0]))
        elif (
            record.name in QUOTIENTS
            and has_numbers(record.values[1])
            and not np.shape(record.values[1])
        ):
            divisor = np.real(record.values[1])
            found.update({int(divisor)} if divisor % 1 == 0 else ())
    return found


def _counts(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", ())
    return (*shape, math.prod(shape))


def _broadcast(observer: Observer, target: Any, source: Any) -> Iterator[Any]:
    """The gradients with respect to the results of the source that are larger than it."""
    results = [
        wrap(record.output, record.output_id)
        for record in observer.records
        if id_of(source) in record.ids
        and isinstance(record.output_id, int)
        and has_numbers(record.output)
        and record.output.size > source.size
    ]
    with observer.paused():
        gradients = observer.gradient(target, results)
    return (gradient.numpy() for gradient in gradients if gradient is not None)
