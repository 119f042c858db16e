"""A graph as DOT: a record for every value, an oval for every operation, a cluster for every frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import graphviz

from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.labels import (
    LINE,
    box,
    ellipse,
    field_height,
    fixed_label,
    inches,
    text_width,
    widest,
)
from tapemagic.drawing.picture import Insert
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
FONT_SIZE, EDGE_SIZE, TITLE_SIZE, CONSTANT_SIZE = 10, 9, 11, 9
"""The sizes of the font in boxes, beside edges, above frames, and in the boxes of constants."""
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
        "fontsize": str(CONSTANT_SIZE),
        "style": "filled,dashed",
    },
}
PAGE = (756, 468)
"""The width and height, in points, of a page on a screen."""
BESIDE, BEHIND, FRAME_ROOM = 18, 12, 26
"""In points: the gaps between boxes beside each other and behind each other, and around a frame."""
OVAL, WITH_GAP = (36, 22), 8
"""In points: the smallest size of an operation, and the room between the outline and the text of a folded one."""
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
    inserts = inserts or Inserts(graph)
    down = grows_down(estimate(graph, inserts))
    place = Places(graph)
    source = graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": "TB" if down else "LR",
            "bgcolor": "transparent",
            "nodesep": inches(BESIDE),
            "ranksep": inches(BEHIND),
            "fontname": FONT,
            "fontsize": str(TITLE_SIZE),
            "fontcolor": GROUND,
        },
        node_attr={
            "fontname": FONT,
            "fontsize": str(FONT_SIZE),
            "fontcolor": INK,
            "style": "filled",
            "fixedsize": "true",
            "margin": "0",
        },
        edge_attr={
            "color": GROUND,
            "arrowsize": "0.6",
            "fontname": FONT,
            "fontsize": str(EDGE_SIZE),
            "fontcolor": GROUND,
        },
    )
    _frame(source, None, Drawn(graph, place, lines, inserts, down))
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
            source.edge(
                f"s{step.index}",
                f"n{value}",
                style="dashed",
                label=fixed_label("assigned", EDGE_SIZE),
            )
        for layer in step.changed:
            source.edge(
                f"s{step.index}",
                f"s{layer}",
                style="dashed",
                label=fixed_label("assigned", EDGE_SIZE),
            )
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
    return fixed_label(shortened(printable(slope)), EDGE_SIZE)


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
                    label=fixed_label(printable(clipped(inner.label, longest)), TITLE_SIZE),
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
            insert = drawn.inserts.of_value(value)
            source.node(
                f"n{value.index}",
                value_label(value, drawn.down, value.order in shown, insert),
                shape="record",
                tooltip=tooltip(quoted + chunks),
                **sized(value_size(value, value.order in shown, insert)),
                **look(value),
            )
    for step in graph.steps:
        if step.frame != frame:
            continue
        for position, index in enumerate(step.inputs):
            if place.is_copied(index, step):
                value = graph.values[index]
                words = shortened(value.name or value.text)
                source.node(
                    place.node(index, step, position),
                    escape(words),
                    shape="box",
                    tooltip=tooltip(f"{value.role} {value.name} again".replace("  ", " ")),
                    **sized(box(text_width(words, CONSTANT_SIZE), field_height(1))),
                    **STYLES["constant"],
                )
        folded = FOLDED if step.elided else OPERATION
        folded = folded | (BAD_NODE if step.bad else {})
        insert = drawn.inserts.of_step(step)
        source.node(
            f"s{step.index}",
            operation_label(step, insert),
            tooltip=tooltip(operation_tooltip(step, graph, lines)),
            **sized(operation_size(step, insert)),
            **({} if step.name in COMMUTATIVE else {"ordering": "in"}),
            **folded,
        )


def look(value: Value) -> dict[str, str]:
    """The colours and the border of the box of a value."""
    lazy = {} if value.is_computed else NOT_COMPUTED
    if lazy and value.role == "constant":
        lazy = lazy | {"color": QUIET}
    return STYLES[value.role] | lazy | (BAD_NODE if value.bad else {})


def sized(size: tuple[int, int]) -> dict[str, str]:
    """A width and height in points as the attributes of a node."""
    return {"width": inches(size[0]), "height": inches(size[1])}


def value_size(value: Value, gradient: bool, insert: Insert | None = None) -> tuple[int, int]:
    """The size in points of the box of a value, with its gradient or without."""
    size = CONSTANT_SIZE if value.role == "constant" else FONT_SIZE
    lines = fields(value, gradient)
    width, height = widest(map(printable, lines), size), len(lines) * field_height(1)
    if insert is not None:
        width, height = max(width, insert.width), height + field_height(0, insert.height)
    return box(width, height)


def operation_size(step: Step, insert: Insert | None = None) -> tuple[int, int]:
    """The size in points of the node of an operation."""
    lines = operation_lines(step)
    width, height = widest(lines, FONT_SIZE), float(LINE * len(lines))
    if insert is not None:
        width, height = max(width, insert.width), height + insert.height
    if step.elided:
        return box(width + WITH_GAP, field_height(0, height))
    return ellipse(width, height - 3, OVAL)  # no letter fills the line


class Extents(NamedTuple):
    """The estimated width and height in points of a picture, from left to right and from top to bottom."""

    across: tuple[float, float]
    down: tuple[float, float]

    @property
    def width(self) -> float:
        """The width in the direction in which the picture is drawn."""
        return (self.down if grows_down(self) else self.across)[0]


def grows_down(extents: Extents) -> bool:
    """Return True if a picture is drawn from top to bottom, because it is larger on a page that way."""
    across, down = (
        min(1.0, *(room / max(side, 1) for room, side in zip(PAGE, size, strict=True)))
        for size in extents
    )
    return across < down


def estimate(graph: Graph, inserts: Inserts) -> Extents:
    """Estimate the size of the picture of a graph.

    What a report says and how it is styled may depend on this, but on no drawing: two versions of Graphviz may order
    boxes differently.
    """
    shown = orders_with_gradients(graph)
    rows_of_steps, rank = _ranks(graph)
    # A picture is rows of boxes and, between them, rows of operations with the labels of their edges.
    boxes: dict[int, list[tuple[float, float]]] = {}
    operations: dict[int, list[tuple[float, float]]] = {}
    for value in graph.values:
        size = value_size(value, value.order in shown, inserts.of_value(value))
        boxes.setdefault(rank[value.index], []).append(size)
    labels: dict[int, float] = {}
    labelled = has_room_for_labels(graph)
    for step, at in zip(graph.steps, rows_of_steps, strict=True):
        size = operation_size(step, inserts.of_step(step))
        operations.setdefault(at, []).append(size)
        beside = widest(edge_labels(step).values(), EDGE_SIZE) if labelled else 0.0
        labels[at] = max(labels.get(at, 0.0), beside)
    rows = [*boxes.values(), *operations.values()] or [[(0.0, 0.0)]]
    frames = FRAME_ROOM * len(graph.frames)
    gaps = 4 * BEHIND * len(operations)
    lengths, thicknesses = (
        [sum(max(size[axis] for size in row) for row in rows) + gaps for axis in (0, 1)],
        [max(sum(size[axis] + BESIDE for size in row) for row in rows) + frames for axis in (0, 1)],
    )
    return Extents(
        (lengths[0] + sum(labels.values()), thicknesses[1]),
        (thicknesses[0], lengths[1] + LINE * sum(map(bool, labels.values())) + frames),
    )


def _ranks(graph: Graph) -> tuple[list[int], list[int]]:
    """The rows of the operations, and those of the boxes.

    A box that no operation made is in the row before its first reader.
    """
    made = {value for step in graph.steps for value in step.outputs}
    rank = [0] * len(graph.values)
    column = []
    for step in graph.steps:
        column.append(max((rank[i] for i in step.inputs), default=0))
        for i in step.outputs:
            rank[i] = column[-1] + 1
    for step, at in zip(reversed(graph.steps), reversed(column), strict=True):
        for i in step.inputs:
            if i not in made:
                rank[i] = at
    return column, rank


def orders_with_gradients(graph: Graph) -> set[int]:
    """The orders of differentiation in which a gradient of some value is known."""
    return {value.order for value in graph.values if value.gradient is not None}


def operation_label(step: Step, insert: Insert | None = None) -> str:
    """The label of an operation: its symbol, or its name, and the marker of a small picture."""
    lines = [str(graphviz.escape(line)) for line in operation_lines(step)]
    return "\\n".join(lines if insert is None else [*lines, insert.marker])


def operation_lines(step: Step) -> list[str]:
    """The lines of text in the node of an operation."""
    lines = [SYMBOLS.get(step.name, shortened(printable(step.name)))]
    if step.layer:
        words = filter(None, (step.name, step.layer.about, step.layer.shapes))
        lines = [shortened(printable(line)) for line in words]
    if step.hidden:
        lines.append(f"… {step.hidden:,} not shown")
    return lines


def value_label(value: Value, down: bool, gradient: bool, insert: Insert | None = None) -> str:
    """The label of a value: name and role, number or range, picture, and gradient if one is to be shown."""
    parts = list(map(escape, fields(value, gradient)))
    if insert is not None:
        shows_gradient = gradient and value.role != "constant"
        parts.insert(len(parts) - shows_gradient, insert.marker)
    label = " | ".join(parts)
    return f"{{{label}}}" if down else label


def fields(value: Value, gradient: bool) -> list[str]:
    """The lines of text in the box of a value, with its gradient or without."""
    role = "" if value.role in ("intermediate", "constant") else f" ({value.role})"
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
