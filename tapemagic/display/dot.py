"""A graph as DOT: a record for every value, an oval for every operation, a cluster for every order."""

from __future__ import annotations

from collections.abc import Sequence

import graphviz

from tapemagic.analysis.formatting import printable
from tapemagic.analysis.report.graph import Graph, Role, Step, Value
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
"""Operations whose operands may stand in any order, where that saves crossing lines."""

ORDINALS = ("computation", "first derivative", "second derivative", "third derivative")
FONT = "Helvetica,Arial,sans-serif"
INK, QUIET = "#1f2937", "#6b7280"
FRAME = f"{GROUND}14"
"""The ground of a frame: hardly any, so that it is no glaring patch on a dark page."""
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
"""How many inches wide a picture may be that grows to the right; a wider one grows downwards."""
LONGEST = 48
"""How many characters of a name, value or line are shown."""


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
    """What the cluster of an order is called."""
    return ORDINALS[order] if order < len(ORDINALS) else f"derivative of order {order}"


def _nodes(
    source: graphviz.Digraph,
    graph: Graph,
    values: Sequence[Value],
    steps: Sequence[Step],
    lines: Sequence[str],
    down: bool,
) -> None:
    shown = told(graph)
    for value in values:
        source.node(
            f"n{value.index}",
            record(value, down, value.order in shown),
            shape="record",
            tooltip=tip(written(value.line, lines) or f"{value.role} {value.name}".rstrip()),
            **STYLES[value.role],
        )
    for step in steps:
        elided = {"style": "filled,dashed", "color": QUIET} if step.elided else {"color": "#9ca3af"}
        source.node(
            f"s{step.index}",
            operation(step),
            shape="ellipse",
            fillcolor="#f3f4f6",
            height="0.3",
            width="0.5",
            margin="0.04,0.02",
            tooltip=tip(explained(step, graph, lines)),
            **({} if step.name in COMMUTATIVE else {"ordering": "in"}),
            **elided,
        )


def width(graph: Graph) -> float:
    """About how many inches wide the picture would be if it grew to the right."""
    rank = [0] * len(graph.values)
    shown = told(graph)
    wide = [inches(value, value.order in shown) for value in graph.values]
    widest: dict[int, float] = {}
    for step in graph.steps:
        column = max((rank[i] for i in step.inputs), default=0)
        for i in step.inputs:
            widest[column] = max(widest.get(column, 0), wide[i])
        for i in step.outputs:
            rank[i] = column + 1
            widest[column + 1] = max(widest.get(column + 1, 0), wide[i])
    return sum(widest.values()) + 1.0 * max(rank, default=0)


def inches(value: Value, gradient: bool) -> float:
    """About how wide the box of a value is, with its gradient or without."""
    return 0.2 + 0.066 * max(map(len, fields(value, gradient)))


def told(graph: Graph) -> set[int]:
    """The orders of those frames in which a gradient is known."""
    return {value.order for value in graph.values if value.gradient is not None}


def operation(step: Step) -> str:
    """The label of an operation: its symbol, or its name."""
    more = f"\\n… {step.hidden:,} not shown" if step.hidden else ""
    return str(graphviz.escape(SYMBOLS.get(step.name, step.name))) + more


def record(value: Value, down: bool, gradient: bool) -> str:
    """The label of a value: its name and role, what it is, and its gradient if there are any to tell of."""
    label = " | ".join(map(escape, fields(value, gradient)))
    return f"{{{label}}}" if down else label


def fields(value: Value, gradient: bool) -> list[str]:
    """What stands in the box of a value, with its gradient or without."""
    role = "" if value.role in ("intermediate", "constant") else f" ({value.role})"
    shown = [short(value.name) + role] if value.name else []
    shown.append(short(value.text))
    if gradient and value.role != "constant":
        shown.append(f"gradient {'–' if value.gradient is None else short(value.gradient)}")
    return shown


def short(text: str) -> str:
    """Text that fits into a box."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def escape(text: str) -> str:
    """Text that a label shows as it is."""
    text = printable(text).replace("&", "&amp;")
    return "".join(f"\\{char}" if char in "\\{}|<>" else char for char in text)


def tip(text: str) -> str:
    """Text that a tooltip shows as it is, but for backslashes, which Graphviz always understands."""
    return printable(text).replace("&", "&amp;").replace("\\", "∖")


def explained(step: Step, graph: Graph, lines: Sequence[str]) -> str:
    """What an operation is, where it was written, and its local derivatives."""
    words = [step.name, written(step.line, lines)]
    for index, slope in step.slopes:
        value = graph.values[index]
        words.append(f"∂/∂{short(value.name) or f'({value.text})'} = {slope}")
    return "; ".join(filter(None, words))


def written(line: int | None, lines: Sequence[str]) -> str:
    """Where something was written: its line of the cell."""
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"line {line}: {short(lines[line - 1].strip())}"
