"""Find the likely mistake in a derivative by hand, from the arrays and from the recorded operations."""

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
    """Name the one mistake that explains every difference, in a sentence.

    - `observer`: The tape of the cell.
    - `mine`, `tape`: The derivative by hand, and the gradient, which differ in entries or in shape.
    - `agree`: Compares the entries of two arrays (see `agreement`).
    - `named`: Sequence of (str, array). The named arrays in the notebook, as possible factors.

    Returns str: empty if no single mistake explains all differences.
    """
    # A wrong axis is a more specific mistake than a wrong factor, which may also fit.
    for parts in _broadcast(observer, target, source):
        if sentence := find_wrong_axis(mine, tape, parts, agree):
            return sentence
    sentence = find_mistake(mine, tape, agree, _lengths(observer), _means(observer, target))
    if sentence or mine.shape != tape.shape:
        return sentence
    return find_factor(mine, tape, named)


def _lengths(observer: Observer) -> set[int]:
    """Collect the lengths of all axes and the sizes of all recorded arrays, which a sum or mean may have used."""
    return {n for record in observer.records for value in record.values for n in _counts(value)}


def _means(observer: Observer, target: Any) -> set[int]:
    """Collect the numbers of elements that the target averages, and the integers that it was divided by."""
    above = snapshot_of(observer).ancestors(id_of(target), blocked=False)
    counts: set[int] = set()
    for record in observer.records:
        if record.output_id not in above:
            continue
        if record.name in AVERAGES:
            counts.update(_counts(record.values[0]))
        elif (
            record.name in QUOTIENTS
            and has_numbers(record.values[1])
            and not np.shape(record.values[1])
        ):
            divisor = np.real(record.values[1])
            counts.update({int(divisor)} if divisor % 1 == 0 else ())
    return counts


def _counts(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", ())
    return (*shape, math.prod(shape))


def _broadcast(observer: Observer, target: Any, source: Any) -> Iterator[Any]:
    """Yield the gradients with respect to results of the source that are larger than the source."""
    results = [
        wrap(record.output, record.output_id)
        for record in observer.records
        if id_of(source) in record.ids
        and isinstance(record.output_id, int)
        and has_numbers(record.output)
        and record.output.size > source.size
    ]
    # These gradients aren't the program's, so the observer mustn't list them.
    with observer.paused():
        gradients = observer.gradient(target, results)
    return (gradient.numpy() for gradient in gradients if gradient is not None)
