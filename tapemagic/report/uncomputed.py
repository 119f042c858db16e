"""The lazy values of a report that can be computed, or that the program has computed already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tapemagic.engine.laziness import MAX_KEPT_BYTES, is_lazy
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.lazy_values import is_pending, token
from tapemagic.report.subject import Subject


def uncomputed(subject: Subject, entries: Iterable[Any] = ()) -> list[Any]:
    """The lazy arrays of a report that are not computed, and hold at most `MAX_KEPT_BYTES` bytes.

    They are the targets and their gradients, the values between targets and sources with their gradients, the gradients
    that the program took itself, what has a name, and the `entries` of matrices.
    """
    pending = {
        id(x): x
        for x in (*_lazy_values(subject), *entries)
        if is_pending(x) and x.size * x.dtype.itemsize <= MAX_KEPT_BYTES
    }
    return list(pending.values())


def share_numbers(subject: Subject, entries: Iterable[Any] = ()) -> None:
    """Copy numbers that the program computed to equal lazy values, such as gradients."""
    lazy = [*_lazy_values(subject), *entries]
    # Dask gives equal computations equal tokens: the gradient of a sum, say, is the array that it was computed from.
    computed = {token(x): x.computed for x in lazy if not is_pending(x)}
    for x in lazy if computed else ():
        if is_pending(x) and token(x) in computed:
            x.keep(computed[token(x)])


def _lazy_values(subject: Subject) -> Iterator[Any]:
    """The lazy values of a report; some of them more than once."""
    return filter(is_lazy, _values(subject))


def _values(subject: Subject) -> Iterator[Any]:
    """The values of a report; some of them more than once."""
    named = [value for _, value in (*subject.targets, *subject.sources, *subject.context.named)]
    own = [x for call in subject.gradient_calls for x in (*call.results, *call.targets)]
    shown = [*named, *subject.derivatives.gradients.values(), *own]
    yield from (unwrap(x) if isinstance(x, Traced) else x for x in shown if x is not None)
    yield from subject.adjoints.values()
    for record in subject.records:
        # An operation lies between sources and targets if one of its results has a gradient.
        if not subject.adjoints.keys().isdisjoint(record.output_ids):
            yield from (*record.values, *record.outputs)
