"""Findings: the contents of a report, computed once from a recording, as frozen data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tapemagic.analysis.explain.causes import why_none
from tapemagic.analysis.explain.incomplete import missing, withheld
from tapemagic.analysis.explain.query import Program, Question
from tapemagic.analysis.formatting import derivative_symbol, dtype_name, format_value
from tapemagic.analysis.nonfinite import (
    NonFinite,
    first_nonfinite,
    first_nonfinite_gradient,
    is_finite,
)
from tapemagic.analysis.report.adjoints import adjoints_of
from tapemagic.analysis.report.dead_ends import drawn_positions
from tapemagic.analysis.report.derivatives import (
    Derivative,
    GradientTable,
    Key,
    differentiate,
    name_of_sum,
)
from tapemagic.analysis.report.graph import MAX_NODES, Graph, GraphLabels, Role, Value, draw
from tapemagic.analysis.report.jacobians import hessians, jacobians
from tapemagic.analysis.report.matrices import Kind, Matrix
from tapemagic.analysis.report.variable_versions import Reads, format_reads, reads, split_versions
from tapemagic.analysis.snapshot import Named, Snapshot, snapshot_of
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable

Bindings = Sequence[tuple[int, int | None]]

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
    note : str
    matrices : tuple of Matrix
    drawn : int
        The number of the cell's operations that the graph shows.
    changed : tuple of (str, int)
        The variables that changed during the recording, with the number of their values that were read.
    nonfinite : tuple of NonFinite
        For targets and gradients that are nan or infinite, the operations where that began.
    """

    variables: tuple[Value, ...]
    graph: Graph
    derivatives: tuple[Derivative, ...]
    targets: tuple[str, ...]
    operations: int
    order: int = 1
    lines: tuple[str, ...] = ()
    note: str = ""
    matrices: tuple[Matrix, ...] = ()
    drawn: int = 0
    changed: tuple[tuple[str, int], ...] = ()
    nonfinite: tuple[NonFinite, ...] = ()


CELL = Program(in_cell=True)
"""The program of a recording without a known text."""


@dataclass(frozen=True)
class Context:
    """The names and lines of the program that made a recording.

    Attributes
    ----------
    named : sequence of (name, value)
        Tensors, variables and constants with their names, oldest first.
    earlier : mapping of int to str
        Names, by id, of tensors that are bound to no name any more.
    assigned : mapping of str to int
        The lines on which the cell assigned names.
    lines : sequence of str
        The lines of the cell.
    note : str
        A sentence for the top of the report, such as the line at which the cell stopped.
    bindings : mapping of str to sequence of (int, int or None)
        The ids of the values that each name was bound to, with the lines, oldest first.
    program : Program
        The program, for explanations.
    """

    named: Sequence[Named] = ()
    earlier: Mapping[int, str] = field(default_factory=dict)
    assigned: Mapping[str, int] = field(default_factory=dict)
    lines: Sequence[str] = ()
    note: str = ""
    bindings: Mapping[str, Bindings] = field(default_factory=dict)
    program: Program = CELL


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
    context = context or Context()
    operations = len(observer.records)
    found = differentiate(observer, targets, sources, order)
    snapshot = snapshot_of(observer)
    tensors = [(name, value) for name, value in context.named if has_id(value)]
    names = {id_of(value): name for name, value in reversed(tensors)} | dict(context.earlier)
    names |= {id_of(value): name for name, value in [*sources, *targets] if has_id(value)}
    for (t, s, level), gradient in found.gradients.items():
        if has_id(gradient):
            names.setdefault(
                id_of(gradient), derivative_symbol(targets[t][0], sources[s][0], level)
            )
    roles = _roles(snapshot, targets, sources)
    known = reads(snapshot, drawn_positions(snapshot.records, names, roles))
    split = split_versions(snapshot, known, [id_of(value) for _, value in targets])
    naming = GraphLabels(
        split.names(names),
        split.roles(roles),
        [(name, _array(value)) for name, value in context.named if not _tracked(snapshot, value)],
        {id(array): _seed_name(names.get(i, ""), array) for array, i in snapshot.origins.seeds},
        [(name, x) for name, x in [*sources, *targets] if id_of(x) not in split.versions]
        if snapshot.records
        else [],
    )
    drawn = draw(split.snapshot, naming, max_nodes)
    adjoints = adjoints_of(split.snapshot, drawn, [value for _, value in targets], found, order)
    derivatives = {
        (t, s, level): replace(
            _derivative(snapshot, targets, sources, (t, s, level), found, names, context),
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
    return Findings(
        _variables(snapshot, context, targets, sources, naming.roles, adjoints, known),
        drawn.with_gradients(adjoints),
        tuple(derivatives.values()),
        tuple(name for name, _ in targets),
        operations,
        order,
        tuple(context.lines),
        context.note,
        tuple(matrices),
        sum(position < operations for position in drawn.positions),
        tuple((names.get(i, ""), len(numbers)) for i, numbers in split.versions.items()),
        _nonfinite(snapshot, targets, found),
    )


def _nonfinite(
    snapshot: Snapshot, targets: Sequence[Named], found: GradientTable
) -> tuple[NonFinite, ...]:
    """The first nan or infinity of the recording, and of the gradients of each target."""
    facts: dict[NonFinite | None, None] = {}
    for t, (_, target) in enumerate(targets):
        gradients = [g for (of, _, level), g in found.gradients.items() if of == t and level == 1]
        if not is_finite(unwrap(target)):
            facts[first_nonfinite(snapshot)] = None
        elif not all(is_finite(unwrap(g)) for g in gradients if g is not None):
            facts[first_nonfinite_gradient(snapshot, target)] = None
    return tuple(fact for fact in facts if fact is not None)


def _derivative(
    snapshot: Snapshot,
    targets: Sequence[Named],
    sources: Sequence[Named],
    key: Key,
    found: GradientTable,
    names: Mapping[int, str],
    context: Context,
) -> Derivative:
    """A row of the table of gradients, with a reason if it is None or a part of it is missing."""
    t, s, level = key
    (target_name, target), (source_name, source) = targets[t], sources[s]
    gradient = found.gradients[key]
    text = why = None
    question = Question(
        snapshot,
        target,
        source,
        target_name,
        source_name,
        names,
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


def _roles(
    snapshot: Snapshot, targets: Sequence[Named], sources: Sequence[Named]
) -> dict[int, Role]:
    roles: dict[int, Role] = dict.fromkeys(snapshot.leaves, "watched")
    roles |= {id_of(variable): "variable" for variable in snapshot.contents.variables}
    roles |= {id_of(value): "watched" for _, value in sources if not isinstance(value, Variable)}
    goals: dict[int, Role] = {id_of(value): "target" for _, value in targets}
    return goals | roles


def _seed_name(target: str, seed: Any) -> str:
    """The name dy/dy of the seed of a reverse sweep, if that is 1; empty otherwise."""
    return derivative_symbol(target, target, 1) if target and np.all(seed == 1) else ""


def _tracked(snapshot: Snapshot, value: Any) -> bool:
    return isinstance(value, Traced) and snapshot.tracks(id_of(value))


def _array(value: Any) -> Any:
    return unwrap(value) if isinstance(value, Traced) else value


def _variables(
    snapshot: Snapshot,
    context: Context,
    targets: Sequence[Named],
    sources: Sequence[Named],
    roles: Mapping[int, Role],
    adjoints: Mapping[int, Any],
    known: Reads,
) -> tuple[Value, ...]:
    """A row for every named value, oldest first; a watched value with several names has one row."""
    made = (record[-1] for record in snapshot.records)
    lines: dict[Any, int | None] = dict(zip(made, snapshot.origins.lines, strict=True))
    rows: dict[str | int, Value] = {}
    for name, value in dict([*sources, *context.named, *targets]).items():
        array = _array(value)
        number = id_of(value) if isinstance(value, Traced) else 0
        gradient = adjoints.get(number)
        role = roles.get(number, "intermediate" if snapshot.tracks(number) else "constant")
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
            format_reads(array, known.get(number, ())),
            None if gradient is None else format_value(gradient),
            context.assigned.get(name, lines.get(number)),
        )
    return tuple(rows.values())
