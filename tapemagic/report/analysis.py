"""Analysis: from a recording and a request to the contents of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tapemagic.engine.recording import outputs_of
from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.engine.tape.base_tape import Contents, contents_of
from tapemagic.engine.tape.observer import Observer, Origins, nowhere
from tapemagic.engine.tape.tape import Tape, tape_of
from tapemagic.explain.snapshot import Snapshot, snapshot_of
from tapemagic.report.context import Context
from tapemagic.report.derivatives import GradientTable, differentiate, targets_of
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.request import ReportRequest
from tapemagic.report.subject import Subject
from tapemagic.report.summary import shared_summaries
from tapemagic.report.tabs import TABS
from tapemagic.report.tabs.gradients.find_gradients import find as find_gradients
from tapemagic.report.tabs.gradients.find_gradients import gradient_rows, requested_matrices
from tapemagic.report.tabs.gradients.own_gradients import own_gradients
from tapemagic.report.tabs.training.find_training import find as find_training
from tapemagic.report.uncomputed import share_numbers
from tapemagic.report.verdict.find_verdict import verdict
from tapemagic.report.verdict.nonfinite_origins import nonfinite_origins
from tapemagic.report.verdict.statement import Statement


def analyze(
    tape: Tape, request: ReportRequest, context: Context | None = None
) -> tuple[Findings, Details]:
    """Compute the contents of the report on a recording, and prepare answers to later questions.

    - `tape`: Not consumed. Derivatives below the last order are recorded on an observer. A plain tape doesn't know the
      lines of its operations.
    - `context`: The names and lines of the program.

    Returns
    -------
    Findings, Details
    """
    findings, details = _analyze(tape, request, context or Context())
    # The runs of the cell come last, with the garbage collector and NumPy's error state as the program has them.
    for tab in TABS:
        if tab.runs_cell and tab.applies(request):
            findings = findings.with_tab(tab.name, tab.find(request))
    return findings, details


@without_garbage_collection()
@shared_summaries()
@np.errstate(all="ignore")  # the operations of the cell have warned already
def _analyze(tape: Tape, request: ReportRequest, context: Context) -> tuple[Findings, Details]:
    subject, recording = _differentiated(tape, request, context)
    # Full matrices are differentiated before lazy values are computed, so that their entries are computed with these.
    subject.matrices.extend(requested_matrices(subject, recording))
    entries = [array for matrix in subject.matrices for array in matrix.pending]
    if subject.has_lazy_values:
        share_numbers(subject, entries)
    remarks = None if request.compute is None else tuple(request.compute(subject, entries))
    tabs = _tabs(subject)
    nonfinite, training = subject.shared(nonfinite_origins), subject.shared(find_training)
    findings = Findings(
        tabs,
        tuple(name for name, _ in subject.targets),
        subject.operations - subject.request.joins,
        request.order,
        tuple(context.lines),
        verdict(
            subject,
            subject.shared(gradient_rows),
            nonfinite,
            subject.shared(own_gradients),
            training.flags if training else (),
            remarks,
            subject.shared(find_gradients).checks() if request.check else (),
        ),
        nonfinite,
        context.failure,
        subject.whole.origins.omitted,
        "%%tape" if isinstance(tape, Observer) else "tape.report",
    )
    details = Details(subject)
    details.keep_if_small()
    return findings, details


def _differentiated(tape: Tape, request: ReportRequest, context: Context) -> tuple[Subject, Tape]:
    """Return the subject with the derivatives of its targets, and the tape that they were taken on."""
    # A plain tape may be used up by one gradient, so the derivatives are taken on a copy.
    recording = tape if isinstance(tape, Observer) else tape_of(contents_of(tape))
    if request.groups:
        targets, sentences = targets_of(recording, request.groups)
        request = replace(request, targets=targets, joins=len(sentences))
        notes = [Statement("note", text) for text in sentences]
        context = replace(context, notes=[*context.notes, *notes])
    operations = len(recording.records)
    table = differentiate(recording, request.targets, request.sources, request.order)
    if isinstance(tape, Observer):
        snapshot, calls = snapshot_of(tape), tape.gradient_calls()
    else:
        snapshot, calls = _plain_snapshot(tape, contents_of(recording), table), ()
    return Subject(snapshot, operations, request, table, context, calls), recording


def _plain_snapshot(tape: Tape, after: Contents, table: GradientTable) -> Snapshot:
    """Return the snapshot of a tape without lines, with the derivatives that the report took on a copy of it."""
    contents = contents_of(tape)._replace(records=after.records, tracked=after.tracked)
    orders = tuple(map(table.level, range(len(after.records))))
    results = zip(orders, map(outputs_of, after.records), strict=True)
    order_of = {i: order for order, numbers in results if order for i in numbers}
    return Snapshot(contents, Origins((nowhere(),) * len(orders), orders, order_of))


def _tabs(subject: Subject) -> Mapping[str, Any]:
    """Return the data of the requested tabs."""
    chosen = (tab for tab in TABS if tab.applies(subject.request) and not tab.runs_cell)
    return {tab.name: subject.shared(tab.find) for tab in chosen}
