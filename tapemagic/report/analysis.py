"""Analysis: from a recording and a request to the contents of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.report.context import Context
from tapemagic.report.derivatives import differentiate
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.request import ReportRequest
from tapemagic.report.subject import Subject
from tapemagic.report.summary import shared_summaries
from tapemagic.report.tabs import TABS
from tapemagic.report.tabs.gradients.find_gradients import gradient_rows, requested_matrices
from tapemagic.report.tabs.gradients.own_gradients import own_gradients
from tapemagic.report.tabs.training.find_training import find as find_training
from tapemagic.report.uncomputed import share_numbers
from tapemagic.report.verdict.find_verdict import verdict
from tapemagic.report.verdict.nonfinite_origins import nonfinite_origins


def analyze(
    observer: Observer, request: ReportRequest, context: Context | None = None
) -> tuple[Findings, Details]:
    """Compute the contents of the report on a recording, and prepare answers to later questions.

    - `observer`: Not consumed. Derivatives below the last order are recorded on it.
    - `context`: The names and lines of the program.

    Returns
    -------
    Findings, Details
    """
    findings, details = _analyze(observer, request, context or Context())
    # The runs of the cell come last, with the garbage collector and NumPy's error state as the program has them.
    for tab in TABS:
        if tab.runs_cell and tab.applies(request):
            findings = findings.with_tab(tab.name, tab.find(request))
    return findings, details


@without_garbage_collection()
@shared_summaries()
@np.errstate(all="ignore")  # the operations of the cell have warned already
def _analyze(
    observer: Observer, request: ReportRequest, context: Context
) -> tuple[Findings, Details]:
    subject = _differentiated(observer, request, context)
    # Full matrices are differentiated before lazy values are computed, so that their entries are computed with these.
    subject.matrices.extend(requested_matrices(subject, observer))
    entries = [array for matrix in subject.matrices for array in matrix.pending]
    if subject.has_lazy_values:
        share_numbers(subject, entries)
    remarks = None if request.compute is None else tuple(request.compute(subject, entries))
    tabs = _tabs(subject)
    nonfinite, training = subject.shared(nonfinite_origins), subject.shared(find_training)
    findings = Findings(
        tabs,
        tuple(name for name, _ in request.targets),
        subject.operations,
        request.order,
        tuple(context.lines),
        verdict(
            subject,
            subject.shared(gradient_rows),
            nonfinite,
            subject.shared(own_gradients),
            training.flags if training else (),
            remarks,
        ),
        nonfinite,
        context.failure,
        subject.whole.origins.omitted,
    )
    details = Details(subject)
    details.keep_if_small()
    return findings, details


def _differentiated(observer: Observer, request: ReportRequest, context: Context) -> Subject:
    """Return the recording with the derivatives of its targets."""
    operations = len(observer.records)
    table = differentiate(observer, request.targets, request.sources, request.order)
    snapshot, calls = snapshot_of(observer), observer.gradient_calls()
    return Subject(snapshot, operations, request, table, context, calls)


def _tabs(subject: Subject) -> Mapping[str, Any]:
    """Return the data of the requested tabs."""
    chosen = (tab for tab in TABS if tab.applies(subject.request) and not tab.runs_cell)
    return {tab.name: subject.shared(tab.find) for tab in chosen}
