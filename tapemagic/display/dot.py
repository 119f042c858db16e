"""A graph as DOT: a record for every value, an oval for every operation, a cluster for every order."""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.graph import Graph, Step, Value
from tapemagic.analysis.report.subject import Role
from tapemagic.display.styles import GROUND

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
COMMUTATIVE = {"add", "multiply", "maximum", "minimum"}
"""Operations whose operands may be drawn in any order, so that fewer lines cross."""

ORDINALS = ("computation", "first derivative", "second derivative", "third derivative")
FONT = "Helvetica,Arial,sans-serif"
INK, QUIET = "#1f2937", "#6b7280"
FRAME = f"{GROUND}14"
"""The fill colour of a frame, almost transparent, so that it does not glare on a dark page."""
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
        "height": "0.25",
        "width": "0.25",
    },
}
PAGE = 8.5
"""The largest width, in inches, of a picture drawn from left to right; a wider one is drawn from top to bottom."""
LONGEST = 48
"""The most characters of a name, value or line that are shown."""


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
    orders = sorted({x.order for x in graph.values} | {x.order for x in graph.steps})
    down = len(orders) > 1 or width(graph) > PAGE
    source = graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": "TB" if down else "LR",
            "bgcolor": "transparent",
            "nodesep": "0.25",
            "ranksep": "0.28",
            "fontname": FONT,
            "fontsize": "11",
            "fontcolor": GROUND,
        },
        node_attr={
            "fontname": FONT,
            "fontsize": "10",
            "fontcolor": INK,
            "style": "filled",
            "height": "0.2",
            "margin": "0.08,0.03",
        },
        edge_attr={"color": GROUND, "arrowsize": "0.6"},
    )
    for order in orders:
        values = [value for value in graph.values if value.order == order]
        steps = [step for step in graph.steps if step.order == order]
        if len(orders) == 1:
            _nodes(source, graph, values, steps, lines, down)
            continue
        with source.subgraph(name=f"cluster_{order}") as cluster:
            cluster.attr(
                label=ordinal(order), style="rounded,filled", color=GROUND, fillcolor=FRAME
            )
            _nodes(cluster, graph, values, steps, lines, down)
    for step in graph.steps:
        for value in step.inputs:
            quiet = {"style": "dashed"} if graph.values[value].role == "constant" else {}
            source.edge(f"n{value}", f"s{step.index}", **quiet)
        for value in step.outputs:
            source.edge(f"s{step.index}", f"n{value}")
    return str(source.source)


def ordinal(order: int) -> str:
    """The label of the cluster of an order of differentiation."""
    return ORDINALS[order] if order < len(ORDINALS) else f"derivative of order {order}"


def _nodes(
    source: graphviz.Digraph,
    graph: Graph,
    values: Sequence[Value],
    steps: Sequence[Step],
    lines: Sequence[str],
    down: bool,
) -> None:
    shown = orders_with_gradients(graph)
    for value in values:
        source.node(
            f"n{value.index}",
            value_label(value, down, value.order in shown),
            shape="record",
            tooltip=tooltip(
                source_line(value.line, lines) or f"{value.role} {value.name}".rstrip()
            ),
            **STYLES[value.role],
        )
    for step in steps:
        elided = {"style": "filled,dashed", "color": QUIET} if step.elided else {"color": "#9ca3af"}
        source.node(
            f"s{step.index}",
            operation_label(step),
            shape="ellipse",
            fillcolor="#f3f4f6",
            height="0.3",
            width="0.5",
            margin="0.04,0.02",
            tooltip=tooltip(operation_tooltip(step, graph, lines)),
            **({} if step.name in COMMUTATIVE else {"ordering": "in"}),
            **elided,
        )


def width(graph: Graph) -> float:
    """Estimate the width in inches of the picture drawn from left to right."""
    rank = [0] * len(graph.values)
    shown = orders_with_gradients(graph)
    wide = [box_width(value, value.order in shown) for value in graph.values]
    widest: dict[int, float] = {}
    for step in graph.steps:
        column = max((rank[i] for i in step.inputs), default=0)
        for i in step.inputs:
            widest[column] = max(widest.get(column, 0), wide[i])
        for i in step.outputs:
            rank[i] = column + 1
            widest[column + 1] = max(widest.get(column + 1, 0), wide[i])
    return sum(widest.values()) + 1.0 * max(rank, default=0)


def box_width(value: Value, gradient: bool) -> float:
    """Estimate the width in inches of the box of a value, with its gradient or without."""
    return 0.2 + 0.066 * max(map(len, fields(value, gradient)))


def orders_with_gradients(graph: Graph) -> set[int]:
    """The orders of differentiation in which a gradient of some value is known."""
    return {value.order for value in graph.values if value.gradient is not None}


def operation_label(step: Step) -> str:
    """The label of an operation: its symbol, or its name."""
    more = f"\\n… {step.hidden:,} not shown" if step.hidden else ""
    return str(graphviz.escape(SYMBOLS.get(step.name, step.name))) + more


def value_label(value: Value, down: bool, gradient: bool) -> str:
    """The label of a value: its name and role, its number or range, and its gradient if one is to be shown."""
    label = " | ".join(map(escape, fields(value, gradient)))
    return f"{{{label}}}" if down else label


def fields(value: Value, gradient: bool) -> list[str]:
    """The lines of text in the box of a value, with its gradient or without."""
    role = "" if value.role in ("intermediate", "constant") else f" ({value.role})"
    shown = [shortened(value.name) + role] if value.name else []
    shown.append(shortened(value.text))
    if gradient and value.role != "constant":
        shown.append(f"gradient {'–' if value.gradient is None else shortened(value.gradient)}")
    return shown


def shortened(text: str) -> str:
    """Text cut off at `LONGEST` characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def escape(text: str) -> str:
    """Text escaped for the label of a record node."""
    text = printable(text).replace("&", "&amp;")
    return "".join(f"\\{char}" if char in "\\{}|<>" else char for char in text)


def tooltip(text: str) -> str:
    """Text escaped for a tooltip; Graphviz always interprets a backslash there, so another sign replaces it."""
    return printable(text).replace("&", "&amp;").replace("\\", "∖")


def operation_tooltip(step: Step, graph: Graph, lines: Sequence[str]) -> str:
    """The tooltip of an operation: its name, source line and local derivatives."""
    words = [step.name, source_line(step.line, lines)]
    for index, slope in step.slopes:
        value = graph.values[index]
        words.append(f"∂/∂{shortened(value.name) or f'({value.text})'} = {slope}")
    return "; ".join(filter(None, words))


def source_line(line: int | None, lines: Sequence[str]) -> str:
    """A line of the cell with its number; empty if there is no such line."""
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"line {line}: {shortened(lines[line - 1].strip())}"
