"""Everything that is to be shown of a recording, computed once, as plain frozen data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tapemagic.analysis.graph import MAX_NODES, Graph, Naming, Role, Value, graph
from tapemagic.analysis.observer import Observer
from tapemagic.analysis.reasons import constant_reason, reason
from tapemagic.analysis.values import brief
from tapemagic.engine.tensor import Tensor, Traced, wrap
from tapemagic.engine.variable import Variable

Named = tuple[str, Any]


@dataclass(frozen=True)
class Derivative:
    """One entry of the table of gradients: a value, or the reason why there is none."""

    target: str
    source: str
    order: int
    shape: tuple[int, ...]
    text: str | None
    reason: str | None = None

    @property
    def symbol(self) -> str:
        """The derivative as it is written: d²y/dx²."""
        return symbol(self.target, self.source, self.order)


@dataclass(frozen=True)
class Findings:
    """What a recording showed."""

    variables: tuple[Value, ...]
    graph: Graph
    derivatives: tuple[Derivative, ...]
    targets: tuple[str, ...]
    operations: int
    order: int = 1
    lines: tuple[str, ...] = ()
    note: str = ""


def symbol(target: str, source: str, order: int) -> str:
    """The derivative of a given order as it is written: d²y/dx²."""
    power = "" if order == 1 else "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    over = target if target.isidentifier() else f"({target})"
    return f"d{power}{over}/d{source}{power}"


def examine(
    observer: Observer,
    named: Sequence[Named],
    targets: Sequence[Named],
    sources: Sequence[Named],
    order: int = 1,
    lines: Sequence[str] = (),
    note: str = "",
    earlier: Mapping[int, str] | None = None,
    max_nodes: int = MAX_NODES,
) -> Findings:
    """Differentiate a recording up to an order, and gather what there is to show.

    Parameters
    ----------
    observer : Observer
        Not consumed. Derivatives below the last order are recorded on it.
    named : sequence of (name, value)
        What the user has names for: tensors, variables, and constant arrays, oldest first.
    targets, sources : sequence of (name, tensor)
        What to differentiate, and with respect to what.
    order : int
        The highest order, in the sense of nested tapes.
    lines : sequence of str
        The cell, for the lines that operations stand on.
    note : str
        Something to say above it all, such as where the cell stopped.
    earlier : mapping of int to str, optional
        Names for values, by number, that are bound to no name any more.
    max_nodes : int, optional
        How many nodes the graph has room for.

    Returns
    -------
    Findings
    """
    operations = len(observer._records)
    gradients = _gradients(observer, targets, sources, order)
    names = dict(earlier or {})
    names |= {value._id: name for name, value in named if isinstance(value, Traced) and value._id}
    names |= {value._id: name for name, value in [*sources, *targets] if value._id}
    for (t, s, level), gradient in gradients.items():
        if gradient is not None and gradient._id:
            names.setdefault(gradient._id, symbol(targets[t][0], sources[s][0], level))
    naming = Naming(
        names,
        _roles(observer, targets, sources),
        _adjoints(observer, [value for _, value in targets], gradients, order),
        [(name, _array(value)) for name, value in named if not _tracked(observer, value)],
    )
    return Findings(
        _variables(observer, named, targets, sources, naming),
        graph(observer, naming, max_nodes),
        tuple(_derivative(observer, targets, sources, key, gradients, names) for key in gradients),
        tuple(name for name, _ in targets),
        operations,
        order,
        tuple(lines),
        note,
    )


Key = tuple[int, int, int]
"""A derivative: the index of its target, that of its source, and its order."""


def _gradients(
    observer: Observer, targets: Sequence[Named], sources: Sequence[Named], order: int
) -> dict[Key, Tensor | None]:
    """The derivatives of every order; those below the last are recorded on the observer."""
    found: dict[Key, Tensor | None] = {}
    variables = [value for _, value in sources]
    for level in range(1, order + 1):
        with observer if level < order else nullcontext():
            for t, (_, target) in enumerate(targets):
                if level == 1:
                    gradients = observer.gradient(target, variables)
                else:
                    gradients = [
                        None if (g := found[t, s, level - 1]) is None else observer.gradient(g, x)
                        for s, x in enumerate(variables)
                    ]
                found.update(((t, s, level), g) for s, g in enumerate(gradients))
    return found


def _derivative(
    observer: Observer,
    targets: Sequence[Named],
    sources: Sequence[Named],
    key: Key,
    gradients: Mapping[Key, Tensor | None],
    names: Mapping[int, str],
) -> Derivative:
    """A derivative as a row of the table, with a reason if it is None."""
    t, s, level = key
    (target_name, target), (source_name, source) = targets[t], sources[s]
    gradient = gradients[key]
    text = why = None
    if gradient is not None:
        text = brief(gradient.numpy())
    elif level == 1:
        why = reason(observer, target, target_name, source, source_name, names)
    elif gradients[t, s, level - 1] is None:
        why = f"there is no derivative of order {level - 1} to differentiate"
    else:
        why = constant_reason(target_name, source_name, level)
    return Derivative(target_name, source_name, level, tuple(source.shape), text, why)


def _roles(observer: Observer, targets: Sequence[Named], sources: Sequence[Named]) -> dict[int, Role]:
    roles: dict[int, Role] = {i: "watched" for i in observer._leaves}
    roles |= {variable._id: "variable" for variable in observer.watched_variables()}
    roles |= {value._id: "watched" for _, value in sources if not isinstance(value, Variable)}
    roles |= {value._id: "target" for _, value in targets}
    return roles


def _adjoints(
    observer: Observer, goals: list[Any], gradients: Mapping[Key, Tensor | None], order: int
) -> dict[int, Any]:
    """The gradient of each order's goals with respect to every value that may be drawn in that order."""
    adjoints: dict[int, Any] = {}
    for level in range(order):
        nodes = _drawn(observer, level)
        if goals and nodes:
            found = observer.gradient(goals, nodes)
            adjoints |= {x._id: g._value for x, g in zip(nodes, found, strict=True) if g is not None}
        goals = [g for (_, _, k), g in gradients.items() if k == level + 1 and g is not None]
    return adjoints


def _drawn(observer: Observer, level: int) -> list[Tensor]:
    """The tracked values that the picture can have room for, in one order of differentiation."""
    records, orders = observer._records, observer.orders
    near = [*range(min(MAX_NODES, len(records)))]
    near += range(max(MAX_NODES, len(records) - MAX_NODES), len(records))
    values: dict[int, Any] = {}
    for position in near:
        _, inputs, ids, _, output, output_id = records[position]
        if level == 0:
            values.update((i, v) for v, i in zip(inputs, ids, strict=True) if i in observer._leaves)
        if orders[position] == level and type(output_id) is int:
            values[output_id] = output
    return [wrap(value, i) for i, value in values.items()]


def _tracked(observer: Observer, value: Any) -> bool:
    return isinstance(value, Traced) and value._id in observer._tracked


def _array(value: Any) -> Any:
    return value._value if isinstance(value, Traced) else value


def _variables(
    observer: Observer,
    named: Sequence[Named],
    targets: Sequence[Named],
    sources: Sequence[Named],
    naming: Naming,
) -> tuple[Value, ...]:
    """A row for every named value, in the order in which they came to be."""
    lines = {record[-1]: line for record, line in zip(observer._records, observer.lines, strict=True)}
    rows: dict[str, Value] = {}
    for name, value in _once([*sources, *named, *targets]):
        array = _array(value)
        number = value._id if isinstance(value, Traced) else 0
        role = naming.roles.get(number, "constant" if number not in observer._tracked else "intermediate")
        gradient = naming.gradients.get(number)
        rows[name] = Value(
            len(rows),
            name,
            role if number else "constant",
            np.shape(array),
            str(getattr(array, "dtype", type(array).__name__)),
            brief(array),
            None if gradient is None else brief(gradient),
            lines.get(number),
        )
    return tuple(replace(row, index=index) for index, row in enumerate(rows.values()))


def _once(named: Iterable[Named]) -> Iterable[Named]:
    """Each name once: the first place, the last value."""
    last = dict(named)
    return last.items()
