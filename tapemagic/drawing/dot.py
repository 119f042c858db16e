"""A graph as DOT: a record for every value, an oval for every operation, a cluster for every frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import graphviz

from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.styles import GROUND
from tapemagic.drawing.svg_hooks import GRADIENT_LINE
from tapemagic.explain.formatting import clipped, printable
from tapemagic.report.subject import Role
from tapemagic.report.tabs.graph.graph import Graph, Step, Value

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

FONT = "Helvetica,Arial,sans-serif"
INK, QUIET = "#1f2937", "#6b7280"
FRAME = f"{GROUND}14"
"""The fill colour of a frame, almost transparent, so that it does not glare on a dark page."""
STYLES: dict[Role, dict[str, str]] = {
    "watched": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "variable": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "computed": {"fillcolor": "#ffffff", "color": "#9ca3af"},
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
PAGE = (10.5, 6.5)
"""The width and height, in inches, of a page on a screen."""
LINE_ROOM, PICTURE_ROOM, BESIDE, FRAME_ROOM = 0.19, 0.4, 0.25, 0.35
"""In inches: the height of a line in a box, and of a picture; the gaps between boxes, and around a frame."""
MAX_READERS = 3
"""The most operations to which edges lead from the box of a constant or watched value; beside others it is repeated."""
MAX_LABELLED = 12
"""The most operations of a picture that has room for local derivatives on its edges."""
BAD_NODE = {"fillcolor": "#fee2e2", "color": "#b91c1c", "penwidth": "2.4"}
"""The look of the first value that is not finite."""
NOT_COMPUTED = {"style": "filled,dotted", "penwidth": "2"}
"""The look of a value that is not computed, beside the colours of its role."""
FOLDED = {
    "fillcolor": "#f3f4f6",
    "shape": "box",
    "style": "filled,rounded",
    "peripheries": "2",
    "color": QUIET,
}
"""The look of a node that stands for several operations."""
LETTER, NODE_GAP, LABEL_GAP = 0.07, 1.0, 0.22
"""In inches: the width of a letter on an edge, and of the room for an operation, and for the label of an edge."""
OPERATION = {"fillcolor": "#f3f4f6", "color": "#9ca3af", "shape": "ellipse"}
"""The look of an operation."""
LONGEST_LABEL = 24
"""The most characters of a label of an edge."""
ONE_LINE = 24
"""The most characters of a name and a value in one line of a box."""
LONGEST = 48
"""The most characters of a name, value or line that are shown."""
LONGEST_TITLE = 80
"""The most characters of the title of a layer's frame."""


def dot(graph: Graph, lines: Sequence[str] = (), inserts: Inserts | None = None) -> str:
    """The DOT source of a graph.

    Parameters
    ----------
    graph : Graph
    lines : sequence of str
        The cell, from which the tooltips quote.
    inserts : Inserts, optional
        The small pictures for which boxes have room.

    Returns
    -------
    str
        The same for the same recording, whatever the machine.
    """
    down = grows_down(graph)
    place = Places(graph)
    source = graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": "TB" if down else "LR",
            "bgcolor": "transparent",
            "nodesep": "0.25",
            "ranksep": "0.16",
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
        edge_attr={
            "color": GROUND,
            "arrowsize": "0.6",
            "fontname": FONT,
            "fontsize": "9",
            "fontcolor": GROUND,
        },
    )
    _frame(source, None, Drawn(graph, place, lines, inserts or Inserts(graph), down))
    labelled = has_room_for_labels(graph)
    for step in graph.steps:
        slopes = edge_labels(step) if labelled else {}
        for position, value in enumerate(step.inputs):
            quiet = {"style": "dashed"} if graph.values[value].role == "constant" else {}
            if slope := slopes.get(position, ""):
                quiet["label"] = slope_label(slope)
            source.edge(place.node(value, step, position), f"s{step.index}", **quiet)
        for value in step.outputs:
            source.edge(f"s{step.index}", f"n{value}")
        for value in step.assigned:
            source.edge(f"s{step.index}", f"n{value}", style="dashed", label="assigned")
        for layer in step.changed:
            source.edge(f"s{step.index}", f"s{layer}", style="dashed", label="assigned")
    return str(source.source)


def has_room_for_labels(graph: Graph) -> bool:
    """Whether a picture has room for local derivatives beside its edges."""
    return len(graph.steps) <= MAX_LABELLED


def edge_labels(step: Step) -> dict[int, str]:
    """The local derivatives beside the edges to an operation, by the positions of its inputs.

    A formula stands with its number, if both are short; of arrays there is the formula alone, of constants the number.
    """
    numbers, formulas = dict(step.slopes), dict(step.formulas)
    labels = {}
    for position in numbers | formulas:
        number, formula = numbers.get(position, ""), formulas.get(position, "")
        if formula == number or (number and formula.replace(".", "").isdecimal()):
            formula = ""
        label = " = ".join(filter(None, (formula, number)))
        labels[position] = label if len(label) <= LONGEST_LABEL else number
    return {position: label for position, label in labels.items() if label}


def slope_label(slope: str) -> str:
    """The label of an edge: the local derivative."""
    return str(graphviz.escape(f" {shortened(printable(slope))}"))


class Places:
    """The frames of values, and the values that are repeated beside the operations that read them.

    Parameters
    ----------
    graph : Graph

    Attributes
    ----------
    frame : list of int or None
        For each value, the index of the frame in which its box is.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._readers: list[list[Step]] = [[] for _ in graph.values]
        made = set()
        self.frame: list[int | None] = [None] * len(graph.values)
        for step in graph.steps:
            for value in step.inputs:
                self._readers[value].append(step)
            for value in step.outputs:
                self.frame[value] = step.frame
                made.add(value)
        for value, readers in enumerate(self._readers):
            if value not in made and readers:
                frame = self._common(readers)
                self.frame[value] = self._around(frame, graph.values[value])
        self._repeated = {
            value
            for value, readers in enumerate(self._readers)
            if value not in made and len(readers) > MAX_READERS
        }

    def _common(self, readers: Sequence[Step]) -> int | None:
        """The innermost frame around all the operations that read a value; the first one for a watched value."""
        first, *others = (self._path(step.frame) for step in readers)
        for other in others:
            first = [frame for frame in first if frame in other]
        top = self._path(readers[0].frame)[-1:]
        is_computation = top and self._graph.frames[top[0]].kind == "computation"
        return first[0] if first else top[0] if is_computation else None

    def _around(self, frame: int | None, value: Value) -> int | None:
        """The frame of a value that no operation made: what a layer is given, is outside of its frame."""
        is_given = any(step.kind == "layer" for step in self._readers[value.index])
        if (value.name or is_given) and value.role != "variable":
            while frame is not None and self._graph.frames[frame].kind == "layer":
                frame = self._graph.frames[frame].parent
        return frame

    def _path(self, frame: int | None) -> list[int]:
        """A frame and those around it, the innermost first."""
        path = []
        while frame is not None:
            path.append(frame)
            frame = self._graph.frames[frame].parent
        return path

    def node(self, value: int, step: Step, position: int) -> str:
        """The node from which a value goes into an operation."""
        return f"n{value}_{step.index}_{position}" if self.is_copied(value, step) else f"n{value}"

    def is_copied(self, value: int, step: Step) -> bool:
        """Whether a value has a box of its own beside an operation: all but the first that reads it."""
        return value in self._repeated and step is not self._readers[value][0]


class Drawn(NamedTuple):
    """A graph, with all that its nodes are drawn from."""

    graph: Graph
    place: Places
    lines: Sequence[str]
    inserts: Inserts
    down: bool


def _frame(source: graphviz.Digraph, frame: int | None, drawn: Drawn) -> None:
    """Add the nodes of a frame, or those outside of all, and the frames in it."""
    _nodes(source, frame, drawn)
    for index, inner in enumerate(drawn.graph.frames):
        if inner.parent == frame:
            longest = LONGEST_TITLE if inner.kind == "layer" else LONGEST
            with source.subgraph(name=f"cluster_{index}") as cluster:
                cluster.attr(
                    label=str(graphviz.escape(printable(clipped(inner.label, longest)))),
                    style="rounded,filled",
                    color=GROUND,
                    fillcolor=FRAME,
                )
                _frame(cluster, index, drawn)


def _nodes(source: graphviz.Digraph, frame: int | None, drawn: Drawn) -> None:
    graph, place, lines = drawn.graph, drawn.place, drawn.lines
    shown = orders_with_gradients(graph)
    for value in graph.values:
        if place.frame[value.index] == frame:
            quoted = source_line(value.line, lines) or f"{value.role} {value.name}".rstrip()
            chunks = f"; {value.dtype}, {value.chunks}" if value.chunks else ""
            source.node(
                f"n{value.index}",
                value_label(value, drawn.down, value.order in shown, drawn.inserts.of_value(value)),
                shape="record",
                tooltip=tooltip(quoted + chunks),
                **look(value),
            )
    for step in graph.steps:
        if step.frame != frame:
            continue
        for position, index in enumerate(step.inputs):
            if place.is_copied(index, step):
                value = graph.values[index]
                source.node(
                    place.node(index, step, position),
                    escape(shortened(value.name or value.text)),
                    shape="box",
                    tooltip=tooltip(f"{value.role} {value.name} again".replace("  ", " ")),
                    **STYLES["constant"],
                )
        folded = FOLDED if step.elided else OPERATION
        folded = folded | (BAD_NODE if step.bad else {})
        source.node(
            f"s{step.index}",
            operation_label(step, drawn.inserts.of_step(step)),
            height="0.3",
            width="0.5",
            margin="0.14,0.04" if step.elided else "0.04,0.02",
            tooltip=tooltip(operation_tooltip(step, graph, lines)),
            **({} if step.name in COMMUTATIVE else {"ordering": "in"}),
            **folded,
        )


def look(value: Value) -> dict[str, str]:
    """The colours and the border of the box of a value."""
    lazy = {} if value.is_computed else NOT_COMPUTED
    if lazy and value.role == "constant":
        lazy = lazy | {"color": QUIET}
    return STYLES[value.role] | lazy | (BAD_NODE if value.bad else {})


def width(graph: Graph) -> float:
    """Estimate the width in inches of the picture drawn from left to right."""
    return _extents(graph)[0]


def grows_down(graph: Graph) -> bool:
    """Whether a picture is drawn from top to bottom, since it would be smaller on a page from left to right."""
    across, tall, wide, down = _extents(graph)
    page_width, page_height = PAGE
    from_left = min(1.0, page_width / max(across, 0.1), page_height / max(tall, 0.1))
    from_top = min(1.0, page_width / max(wide, 0.1), page_height / max(down, 0.1))
    return from_left < from_top


def _extents(graph: Graph) -> tuple[float, float, float, float]:
    """Estimate width and height in inches of a picture from left to right, and of one from top to bottom."""
    rank = [0] * len(graph.values)
    shown = orders_with_gradients(graph)
    wide = [box_width(value, value.order in shown) for value in graph.values]
    high = [box_height(value, value.order in shown) for value in graph.values]
    labelled = has_room_for_labels(graph)
    widest: dict[int, float] = {}
    highest: dict[int, float] = {}
    gaps: dict[int, float] = {}
    for step in graph.steps:
        column = max((rank[i] for i in step.inputs), default=0)
        labels = [len(label) for label in edge_labels(step).values()] if labelled else []
        gap = NODE_GAP + LETTER * max(0, len(step.name) - 5)
        gap += LABEL_GAP + LETTER * max(labels) if labels else 0
        gaps[column] = max(gaps.get(column, 0), gap)
        for i in step.outputs:
            rank[i] = column + 1
        for i in (*step.inputs, *step.outputs):
            at = column if i in step.inputs else column + 1
            widest[at] = max(widest.get(at, 0), wide[i])
            highest[at] = max(highest.get(at, 0), high[i])
    ranks = range(max(rank, default=0) + 1)
    sides = [[i for i, at in enumerate(rank) if at == column] for column in ranks]
    frames = FRAME_ROOM * len(graph.frames)
    return (
        sum(widest.values()) + sum(gaps.values()),
        max((sum(high[i] + BESIDE for i in side) for side in sides), default=0) + frames,
        max((sum(wide[i] + BESIDE for i in side) for side in sides), default=0) + frames,
        sum(highest.values()) + NODE_GAP * len(gaps) + frames,
    )


def box_height(value: Value, gradient: bool) -> float:
    """Estimate the height in inches of the box of a value, with its gradient or without."""
    pictures = PICTURE_ROOM if value.summary or value.gradient_summary else 0
    return LINE_ROOM * len(fields(value, gradient)) + pictures


def box_width(value: Value, gradient: bool) -> float:
    """Estimate the width in inches of the box of a value, with its gradient or without."""
    return 0.2 + 0.066 * max(map(len, fields(value, gradient)))


def orders_with_gradients(graph: Graph) -> set[int]:
    """The orders of differentiation in which a gradient of some value is known."""
    return {value.order for value in graph.values if value.gradient is not None}


def operation_label(step: Step, insert: Sequence[str] = ()) -> str:
    """The label of an operation: its symbol, or its name, and the lines that stand for a small picture."""
    label = [SYMBOLS.get(step.name, shortened(printable(step.name)))]
    if step.layer:
        words = filter(None, (step.name, step.layer.about, step.layer.shapes))
        label = [shortened(printable(line)) for line in words]
    if step.hidden:
        label.append(f"… {step.hidden:,} not shown")
    return "\\n".join([*(str(graphviz.escape(line)) for line in label), *insert])


def value_label(value: Value, down: bool, gradient: bool, insert: Sequence[str] = ()) -> str:
    """The label of a value: name and role, number or range, picture, and gradient if one is to be shown."""
    parts = list(map(escape, fields(value, gradient)))
    if insert:
        shows_gradient = gradient and value.role != "constant"
        parts.insert(len(parts) - shows_gradient, "\\n".join(insert))
    label = " | ".join(parts)
    return f"{{{label}}}" if down else label


def fields(value: Value, gradient: bool) -> list[str]:
    """The lines of text in the box of a value, with its gradient or without."""
    role = "" if value.role in ("computed", "constant") else f" ({value.role})"
    name = value.name or value.symbol
    shown = [shortened(name) + role] if name else []
    if name and not role and len(name) + len(value.text) <= ONE_LINE:
        shown = [f"{name} = {value.text}"]
    else:
        shown.append(shortened(value.text))
    if gradient and value.role != "constant":
        shown.append(GRADIENT_LINE + shortened(str(value.gradient)))
    return shown


def shortened(text: str) -> str:
    """Text cut off at `LONGEST` characters."""
    return clipped(text, LONGEST)


def escape(text: str) -> str:
    """Text escaped for the label of a record node."""
    text = printable(text).replace("&", "&amp;")
    return "".join(f"\\{char}" if char in "\\{}|<>" else char for char in text)


def tooltip(text: str) -> str:
    """Text escaped for a tooltip; Graphviz always interprets a backslash there, so another sign replaces it."""
    return printable(text).replace("&", "&amp;").replace("\\", "∖")


def operation_tooltip(step: Step, graph: Graph, lines: Sequence[str]) -> str:
    """The tooltip of an operation: its name, source line and local derivatives; of a repeated input it is a sum."""
    layer = [step.layer.about, step.layer.shapes] if step.layer else []
    words = [step.name, *layer, source_line(step.line, lines)]
    slopes: dict[int, list[str]] = {}
    for position, slope in step.slopes:
        slopes.setdefault(step.inputs[position], []).append(slope)
    for index, parts in slopes.items():
        value = graph.values[index]
        name = shortened(value.name or value.symbol) or f"({value.text})"
        first, *others = parts
        total = " + ".join([first, *(f"({x})" if x.startswith("-") else x for x in others)])
        words.append(f"∂/∂{name} = {total}")
    return "; ".join(filter(None, words))


def source_line(line: int | None, lines: Sequence[str]) -> str:
    """A line of the cell with its number; empty if there is no such line."""
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"line {line}: {shortened(lines[line - 1].strip())}"
