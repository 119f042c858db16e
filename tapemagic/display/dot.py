"""A graph as DOT: a record for every value, an oval for every operation, a cluster for every order."""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from tapemagic.analysis.graph import Graph, Role, Step, Value

SYMBOLS = {
    "add": "+",
    "subtract": "−",
    "negative": "−",
    "multiply": "×",
    "divide": "÷",
    "matmul": "@",
    "power": "**",
    "getitem": "[ ]",
}
ORDINALS = ("computation", "first derivative", "second derivative", "third derivative")
FONT = "Helvetica,Arial,sans-serif"
INK, QUIET = "#1f2937", "#6b7280"
STYLES: dict[Role, dict[str, str]] = {
    "watched": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "variable": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "intermediate": {"fillcolor": "#ffffff", "color": "#9ca3af"},
    "target": {"fillcolor": "#fef3c7", "color": "#b45309", "penwidth": "2.4"},
    "constant": {
        "fillcolor": "#ffffff",
        "color": "#d1d5db",
        "fontcolor": QUIET,
        "fontsize": "9",
        "style": "filled,dashed",
    },
}
DEEP = 9
"""From so many operations on, the picture grows downwards, to stay as wide as a page."""


def dot(graph: Graph, lines: Sequence[str] = ()) -> str:
    """The DOT source of a graph.

    Parameters
    ----------
    graph : Graph
    lines : sequence of str
        The cell, from which the tooltips quote.

    Returns
    -------
    str
        The same for the same recording, whatever the machine.
    """
    down = len(graph.steps) > DEEP
    source = graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": "TB" if down else "LR",
            "bgcolor": "transparent",
            "nodesep": "0.25",
            "ranksep": "0.35",
            "fontname": FONT,
            "fontsize": "11",
            "fontcolor": QUIET,
        },
        node_attr={"fontname": FONT, "fontsize": "11", "fontcolor": INK, "style": "filled"},
        edge_attr={"color": "#6b7280", "arrowsize": "0.7"},
    )
    orders = sorted({value.order for value in graph.values} | {step.order for step in graph.steps})
    for order in orders:
        values = [value for value in graph.values if value.order == order]
        steps = [step for step in graph.steps if step.order == order]
        if len(orders) == 1:
            _nodes(source, values, steps, lines, down)
            continue
        with source.subgraph(name=f"cluster_{order}") as cluster:
            cluster.attr(
                label=ordinal(order), style="rounded,filled", color="#d1d5db", fillcolor="#f9fafb"
            )
            _nodes(cluster, values, steps, lines, down)
    for step in graph.steps:
        for value in step.inputs:
            quiet = {"style": "dashed"} if graph.values[value].role == "constant" else {}
            source.edge(f"n{value}", f"s{step.index}", **quiet)
        for value in step.outputs:
            source.edge(f"s{step.index}", f"n{value}")
    return str(source.source)


def ordinal(order: int) -> str:
    """What the cluster of an order is called."""
    return ORDINALS[order] if order < len(ORDINALS) else f"derivative of order {order}"


def _nodes(
    source: graphviz.Digraph,
    values: Sequence[Value],
    steps: Sequence[Step],
    lines: Sequence[str],
    down: bool,
) -> None:
    for value in values:
        source.node(
            f"n{value.index}",
            record(value, down),
            shape="record",
            tooltip=tooltip(value.line, lines) or f"{value.role} {value.name}",
            **STYLES[value.role],
        )
    for step in steps:
        elided = {"style": "filled,dashed", "color": QUIET} if step.elided else {"color": "#9ca3af"}
        source.node(
            f"s{step.index}",
            graphviz.escape(SYMBOLS.get(step.name, step.name)),
            shape="ellipse",
            fillcolor="#f3f4f6",
            height="0.35",
            margin="0.06,0.02",
            tooltip=tooltip(step.line, lines) or f"operation {step.name}",
            **elided,
        )


def record(value: Value, down: bool) -> str:
    """The label of a value: its name and role, what it is, its gradient."""
    role = "" if value.role in ("intermediate", "constant") else f" ({value.role})"
    fields = [value.name + role] if value.name else []
    fields.append(value.text)
    if value.role != "constant":
        fields.append(f"gradient {'–' if value.gradient is None else value.gradient}")
    label = " | ".join(map(escape, fields))
    return f"{{{label}}}" if down else label


def escape(text: str) -> str:
    """Text that a record label shows as it is."""
    return "".join(f"\\{char}" if char in "\\{}|<>" else char for char in text.replace("\n", " "))


def tooltip(line: int | None, lines: Sequence[str]) -> str:
    """Where something was written: its line of the cell."""
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"line {line}: {lines[line - 1].strip()}".replace("\\", "\\\\")
