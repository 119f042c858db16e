"""Findings: the contents of a report, computed once from a recording, as frozen data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tapemagic.analysis.explain.causes import why_none
from tapemagic.analysis.explain.incomplete import missing, withheld
from tapemagic.analysis.explain.query import Question
from tapemagic.analysis.formatting import derivative_symbol, dtype_name, format_value
from tapemagic.analysis.nonfinite import (
    NonFinite,
    first_nonfinite,
    first_nonfinite_gradient,
    is_finite,
)
from tapemagic.analysis.report.context import Context
from tapemagic.analysis.report.derivatives import (
    Derivative,
    Key,
    differentiate,
    name_of_sum,
)
from tapemagic.analysis.report.graph import MAX_NODES, Graph, GraphLabels, Value, draw
from tapemagic.analysis.report.jacobians import hessians, jacobians
from tapemagic.analysis.report.lines import SourceLine, lines_of
from tapemagic.analysis.report.matrices import Kind, Matrix
from tapemagic.analysis.report.own_gradients import OwnGradient, own_gradients
from tapemagic.analysis.report.statement import Statement
from tapemagic.analysis.report.subject import Subject
from tapemagic.analysis.report.summary import summarise
from tapemagic.analysis.report.trace import Trace, trace_of
from tapemagic.analysis.report.training import Training, training_of
from tapemagic.analysis.report.variable_versions import format_reads
from tapemagic.analysis.report.verdict import verdict
from tapemagic.analysis.snapshot import Named, Snapshot, snapshot_of
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import Traced, id_of, unwrap

MATRICES: dict[Kind, Callable[..., list[Matrix]]] = {"jacobian": jacobians, "hessian": hessians}
"""The functions that compute the full matrices of each kind."""


@dataclass(frozen=True)
class Findings:
    """The contents of a report on a recording.

    Attributes
    ----------
    variables : tuple of Value
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
    """

    variables: tuple[Value, ...]
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


@np.errstate(all="ignore")  # the operations of the cell have warned already
def examine(
    observer: Observer,
    targets: Sequence[Named],
    sources: Sequence[Named],
    order: int = 1,
    context: Context | None = None,
    max_nodes: int = MAX_NODES,
    kinds: Collection[Kind] = (),
) -> Findings:
    """Differentiate a recording up to an order, and compute the contents of its report.

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

    Returns
    -------
    Findings
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
    drawn = draw(subject.snapshot, _labels(subject), max_nodes)
    derivatives = {
        (t, s, level): replace(
            _derivative(subject, (t, s, level)),
            summed=name_of_sum(targets[t], sources[s], level),
        )
        for t, s, level in found.gradients
    }
    reasons = {
        (t, s): None if entry.text else entry.reason
        for (t, s, level), entry in derivatives.items()
        if level == 1
    }
    matrices = [
        matrix
        for kind, compute in MATRICES.items()
        if kind in kinds
        for matrix in compute(observer, targets, sources, reasons)
    ]
    versions = subject.split.versions
    nonfinite, own = _nonfinite(subject), own_gradients(subject)
    return Findings(
        _variables(subject),
        drawn.with_gradients(subject.adjoints),
        tuple(derivatives.values()),
        tuple(name for name, _ in targets),
        operations,
        order,
        tuple(subject.context.lines),
        tuple(matrices),
        sum(position < operations for position in drawn.positions),
        tuple((subject.known_names.get(i, ""), len(numbers)) for i, numbers in versions.items()),
        nonfinite,
        verdict(subject, tuple(derivatives.values()), nonfinite, own),
        trace_of(subject),
        lines_of(subject),
        training_of(subject),
        own,
    )


def _labels(subject: Subject) -> GraphLabels:
    """The names and roles of the values in a graph."""
    whole, split = subject.whole, subject.split
    both = [*subject.sources, *subject.targets]
    return GraphLabels(
        subject.names,
        subject.roles,
        [
            (name, _array(value))
            for name, value in subject.context.named
            if not _tracked(whole, value)
        ],
        {
            id(array): _seed_name(subject.known_names.get(i, ""), array)
            for array, i in whole.origins.seeds
        },
        [(name, x) for name, x in both if id_of(x) not in split.versions] if whole.records else [],
    )


def _nonfinite(subject: Subject) -> tuple[NonFinite, ...]:
    """For each target, the first nan or infinity among the values it was computed from, or else of its gradients."""
    snapshot = subject.whole
    facts: list[NonFinite] = []
    for t, (_, target) in enumerate(subject.targets):
        found = subject.found.gradients.items()
        gradients = [g for (of, _, level), g in found if of == t and level == 1]
        fact = None
        if not is_finite(unwrap(target)):
            fact = first_nonfinite(snapshot, snapshot.above(id_of(target), blocked=True))
        elif not all(is_finite(unwrap(g)) for g in gradients if g is not None):
            fact = first_nonfinite_gradient(snapshot, target)
        if fact is not None:
            facts.append(replace(fact, target=id_of(target)))
    return tuple(facts)


def _derivative(subject: Subject, key: Key) -> Derivative:
    """A row of the table of gradients, with a reason if it is None or a part of it is missing."""
    t, s, level = key
    found, context = subject.found, subject.context
    (target_name, target), (source_name, source) = subject.targets[t], subject.sources[s]
    gradient = found.gradients[key]
    text = why = None
    question = Question(
        subject.whole,
        target,
        source,
        target_name,
        source_name,
        subject.known_names,
        context.bindings.get(source_name, ()),
        context.program,
    )
    if gradient is not None:
        text = format_value(gradient.numpy())
        why = missing(question, found.gradients.get((t, s, level - 1))) or None
    elif key in found.problems:
        why = found.problems[key]
    elif level == 1:
        why = why_none(question).text
    elif found.gradients[t, s, level - 1] is None:
        why = f"there is no derivative of order {level - 1} to differentiate"
    elif kept := withheld(question):
        why = f"on the tape, the derivative of order {level - 1} does not depend on {source_name}; but {kept}"
    else:
        why = (
            f"the derivative of order {level - 1} does not depend on {source_name} any more, so this one is zero: "
            f"around here {target_name} is a polynomial of degree {level - 1} or less in {source_name}"
        )
    return Derivative(target_name, source_name, level, tuple(source.shape), text, why)


def _seed_name(target: str, seed: Any) -> str:
    """The name dy/dy of the seed of a reverse sweep, if that is 1; empty otherwise."""
    return derivative_symbol(target, target, 1) if target and np.all(seed == 1) else ""


def _tracked(snapshot: Snapshot, value: Any) -> bool:
    return isinstance(value, Traced) and snapshot.tracks(id_of(value))


def _array(value: Any) -> Any:
    return unwrap(value) if isinstance(value, Traced) else value


def _variables(subject: Subject) -> tuple[Value, ...]:
    """A row for every named value, oldest first; a watched value with several names has one row."""
    snapshot, context = subject.whole, subject.context
    made = (record[-1] for record in snapshot.records)
    lines: dict[Any, int | None] = dict(zip(made, snapshot.origins.lines, strict=True))
    rows: dict[str | int, Value] = {}
    for name, value in dict([*subject.sources, *context.named, *subject.targets]).items():
        array = _array(value)
        number = id_of(value) if isinstance(value, Traced) else 0
        gradient = subject.adjoints.get(number)
        role = subject.roles.get(number, "intermediate" if snapshot.tracks(number) else "constant")
        key = (number if role in ("watched", "variable") else 0) or name
        if key in rows:
            rows[key] = replace(rows[key], name=f"{rows[key].name}, {name}")
            continue
        rows[key] = Value(
            len(rows),
            name,
            role,
            np.shape(array),
            dtype_name(array),
            format_reads(array, subject.reads.get(number, ())),
            None if gradient is None else summarise(gradient).text,
            context.assigned.get(name, lines.get(number)),
        )
    return tuple(rows.values())
