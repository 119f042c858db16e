"""Compute the Dask arrays of a report: %%tape --compute."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tapemagic.engine.laziness import MAX_KEPT_BYTES
from tapemagic.engine.runtime import is_interactive
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.explain.formatting import printable
from tapemagic.explain.lazy_values import is_pending
from tapemagic.report.subject import Subject
from tapemagic.report.uncomputed import uncomputed
from tapemagic.report.verdict.statement import Statement

NOTHING = "--compute: there is nothing to compute, since the cell computes with no Dask arrays"
FAILED = "nothing is computed, since Dask stopped with {}"
LARGE = (
    f"--compute leaves arrays of more than {MAX_KEPT_BYTES >> 20} MB as they are: reduce one to fewer numbers, "
    "or write x.compute() to have all of them in memory"
)


class Computing:
    """Computes the small Dask arrays of a report, all in one Dask call.

    - `error`: The error that Dask, or a user function that Dask called, raised.
    """

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __call__(self, subject: Subject, entries: Sequence[Any]) -> Iterator[Statement]:
        """Compute small values and the lazy `entries` of matrices; yield statements on what stays uncomputed."""
        values = uncomputed(subject, entries)
        if values:
            # Imported here, because it loads Dask.
            from tapemagic.lazy.computing import compute

            try:
                compute(values, is_interactive(sys.stdout))
            except Exception as error:  # noqa: BLE001 -- the report is shown without these numbers, and then the error is raised
                self.error = error
                what = f"{type(error).__name__}: {printable(str(error))}".rstrip(": ")
                return iter([Statement("note", FAILED.format(what))])
        return _remarks(subject)


def _remarks(subject: Subject) -> Iterator[Statement]:
    shown = [x for _, x in subject.targets]
    shown += [g for g in subject.derivatives.gradients.values() if g is not None]
    if any(is_pending(unwrap(x)) for x in shown):
        yield Statement("note", LARGE)
    elif not subject.has_lazy_values:
        yield Statement("note", NOTHING)
