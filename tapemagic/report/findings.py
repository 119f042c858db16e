"""Findings: the contents of a report, computed once from a recording, as frozen data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.engine.tape.observer import Observer
from tapemagic.explain.nonfinite import (
    NonFinite,
)
from tapemagic.explain.snapshot import Named, snapshot_of
from tapemagic.report.context import Context
from tapemagic.report.details import Details
from tapemagic.report.failure.find import Failure
from tapemagic.report.subject import Subject
from tapemagic.report.summary import shared_summaries
from tapemagic.report.tabs.gradients.derivatives import Derivative, differentiate
from tapemagic.report.tabs.gradients.gradient_rows import gradient_rows, reasons_for_none
from tapemagic.report.tabs.gradients.jacobians import hessians, jacobians
from tapemagic.report.tabs.gradients.matrices import Kind, Matrix
from tapemagic.report.tabs.gradients.own_gradients import OwnGradient, own_gradients
from tapemagic.report.tabs.gradients.pending_matrices import ASKING, Draft
from tapemagic.report.tabs.graph.drawn_graph import MAX_NODES
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.tabs.graph.graph_view import GraphView
from tapemagic.report.tabs.lines.find import SourceLine, lines_of
from tapemagic.report.tabs.plot.plot import Plot
from tapemagic.report.tabs.trace.trace import Trace, trace_of
from tapemagic.report.tabs.training.find import Training, training_of
from tapemagic.report.tabs.variables.find import NamedValue, named_values
from tapemagic.report.uncomputed import share_numbers
from tapemagic.report.verdict.find import verdict
from tapemagic.report.verdict.nonfinite_origins import nonfinite_origins
from tapemagic.report.verdict.statement import Statement

if TYPE_CHECKING:
    from tapemagic.report.tabs.code.find import Code

MATRICES: dict[Kind, Callable[..., list[Draft]]] = {"jacobian": jacobians, "hessian": hessians}
"""The functions that find the full matrices of each kind."""

Compute = Callable[[Subject, Sequence[Any]], Iterable[Statement]]
"""Computes the lazy values of a report and the lazy arrays in its matrices, and gives remarks on them."""


@dataclass(frozen=True)
class Findings:
    """The contents of a report on a recording.

    Attributes
    ----------
    variables : tuple of NamedValue
    graph : Graph
    derivatives : tuple of Derivative
    targets : tuple of str
    operations : int
        The number of operations that the cell recorded.
    order : int
    lines : tuple of str
        The lines of the cell.
    matrices : tuple of Matrix
    drawn : int
        The number of the cell's operations that the graph shows.
    changed : tuple of (str, int)
        The variables that changed during the recording, with the number of their values that were read.
    nonfinite : tuple of NonFinite
        For targets and gradients that are nan or infinite, the operations where that began.
    verdict : tuple of Statement
        The results in sentences.
    trace : Trace or None
        The evaluation table.
    source_lines : tuple of SourceLine
        The lines of the cell with the values and gradients that they made.
    training : Training or None
        The loss and the gradients over the steps of a loop.
    own_gradients : tuple of OwnGradient
        The gradients that the program took itself.
    failure : Failure or None
        The line at which the cell stopped, if it did.
    plot : Plot or None
        Curves over a range of one variable, if they were asked for.
    view : GraphView or None
        The layout of the graph, with the steps through it.
    code : Code or None
        The derivatives as a program, if that was asked for.
    """

    variables: tuple[NamedValue, ...]
    graph: Graph
    derivatives: tuple[Derivative, ...]
    targets: tuple[str, ...]
    operations: int
    order: int = 1
    lines: tuple[str, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    drawn: int = 0
    changed: tuple[tuple[str, int], ...] = ()
    nonfinite: tuple[NonFinite, ...] = ()
    verdict: tuple[Statement, ...] = ()
    trace: Trace | None = None
    source_lines: tuple[SourceLine, ...] = ()
    training: Training | None = None
    own_gradients: tuple[OwnGradient, ...] = ()
    failure: Failure | None = None
    view: GraphView | None = None
    plot: Plot | None = None
    code: Code | None = None


def examine(
    observer: Observer,
    targets: Sequence[Named],
    sources: Sequence[Named],
    order: int = 1,
    context: Context | None = None,
    max_nodes: int = MAX_NODES,
    kinds: Collection[Kind] = (),
    iteration: int | None = None,
    check: bool = False,
) -> Findings:
    """Differentiate a recording up to an order, and compute the contents of its report.

    The parameters are those of `examined`.
    """
    findings, _ = examined(
        observer, targets, sources, order, context, max_nodes, kinds, iteration, check
    )
    return findings


@without_garbage_collection()
@shared_summaries()
@np.errstate(all="ignore")  # the operations of the cell have warned already
def examined(
    observer: Observer,
    targets: Sequence[Named],
    sources: Sequence[Named],
    order: int = 1,
    context: Context | None = None,
    max_nodes: int = MAX_NODES,
    kinds: Collection[Kind] = (),
    iteration: int | None = None,
    check: bool = False,
    code: bool = False,
    compute: Compute | None = None,
) -> tuple[Findings, Details]:
    """Compute the contents of the report on a recording, and prepare what can be asked beside it.

    Parameters
    ----------
    observer : Observer
        Not consumed. Derivatives below the last order are recorded on it.
    targets, sources : sequence of (name, tensor)
        The values to differentiate, and those to differentiate with respect to.
    order : int
        The highest order, in the sense of nested tapes.
    context : Context, optional
        The names and lines of the program.
    max_nodes : int, optional
        The largest number of nodes of the graph.
    kinds : collection of {'jacobian', 'hessian'}, optional
        The full matrices to compute beside the gradients.
    iteration : int, optional
        The number of the iteration that the graph shows of outermost loops, from 1 on; the last if left out.
    check : bool, optional
        Whether to compare the gradients with difference quotients.
    code : bool, optional
        Whether to write the derivatives as a program.
    compute : callable, optional
        Computes lazy values of the recording, and gives remarks on them for the verdict.

    Returns
    -------
    Findings, Details
    """
    operations = len(observer.records)
    found = differentiate(observer, targets, sources, order)
    subject = Subject(
        snapshot_of(observer),
        operations,
        targets,
        sources,
        order,
        found,
        context or Context(),
        observer.gradient_calls(),
    )
    reasons = reasons_for_none(subject)
    drafts = [
        draft
        for kind, find in MATRICES.items()
        if kind in kinds
        for draft in find(observer, targets, sources, reasons)
    ]
    entries = [array for draft in drafts for array in draft.pending]
    if subject.has_lazy_values:
        share_numbers(subject, entries)
    remarks = None if compute is None else tuple(compute(subject, entries))
    derivatives = gradient_rows(subject, check)
    hint = ASKING if compute is None else ""
    versions = subject.split.versions
    nonfinite, own = nonfinite_origins(subject), own_gradients(subject)
    training = training_of(subject)
    details = Details(subject, nonfinite, max_nodes, iteration)
    findings = Findings(
        named_values(subject),
        details.first.graph,
        tuple(derivatives.values()),
        tuple(name for name, _ in targets),
        operations,
        order,
        tuple(subject.context.lines),
        tuple(draft.finished(hint) for draft in drafts),
        details.drawn,
        tuple((subject.known_names.get(i, ""), len(numbers)) for i, numbers in versions.items()),
        nonfinite,
        verdict(
            subject,
            tuple(derivatives.values()),
            nonfinite,
            own,
            training.flags if training else (),
            remarks,
        ),
        trace_of(subject),
        lines_of(subject),
        training,
        own,
        subject.context.failure,
        details.first,
        code=details.code() if code else None,
    )
    details.keep_if_small()
    return findings, details
