"""The lazy values of a report that are small enough to be computed for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tapemagic.analysis.laziness import is_pending
from tapemagic.analysis.report.subject import Subject
from tapemagic.engine.laziness import MOST_KEPT
from tapemagic.engine.tensor.tensor import Traced, unwrap


def uncomputed(subject: Subject) -> list[Any]:
    """The lazy arrays of a report that are not computed, and hold at most `MOST_KEPT` bytes.

    They are the targets and their gradients, the values between targets and sources with their gradients, the gradients
    that the program took itself, and what has a name.
    """
    found = {id(x): x for x in _values(subject) if is_pending(x) and x.nbytes <= MOST_KEPT}
    return [x for x in found.values() if not _is_foreign(x)]


def _is_foreign(value: Any) -> bool:
    """Whether a value is an array of the program's own, and none of a tensor: it cannot keep its numbers."""
    return not hasattr(value, "computed")


def _values(subject: Subject) -> Iterator[Any]:
    """The values of a report; some of them more than once."""
    named = [value for _, value in (*subject.targets, *subject.sources, *subject.context.named)]
    own = [x for call in subject.gradient_calls for x in (*call.results, *call.targets)]
    found = [*named, *subject.found.gradients.values(), *own]
    yield from (unwrap(x) if isinstance(x, Traced) else x for x in found if x is not None)
    yield from subject.adjoints.values()
    for record in subject.records:
        if not subject.adjoints.keys().isdisjoint(record.output_ids):
            yield from (*record.values, *record.outputs)
