"""Writes a graph as DOT: a record for each value, an oval for each operation, a cluster for each frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
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
    "add": "+", "subtract": "−", "negative": "−", "multiply": "×", "divide": "÷", "matmul": "@",
    "power": "**", "getitem": "[ ]",
}  # fmt: skip
COMMUTATIVE = {"add", "multiply", "maximum", "minimum"}
"""Operations whose operands Graphviz may reorder so that fewer lines cross."""

# The picture has its own list of fonts. Here, a name that PostScript knows saves a sixth of Graphviz's time: it looks
# for any other name, and for a list, among the fonts of the machine.
FONT = "Helvetica"
FONT_SIZE, EDGE_SIZE, TITLE_SIZE, CONSTANT_SIZE = 10, 10, 11, 10
"""The font sizes of boxes, edges, frames and constants."""
INK, QUIET = "#1f2937", "#6b7280"
FRAME = f"{GROUND}14"
"""The fill color of a frame."""
# It is almost transparent, so it suits light and dark pages.
STYLES: dict[Role, dict[str, str]] = {
    "watched": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "variable": {"fillcolor": "#dbeafe", "color": "#1d4ed8", "penwidth": "1.6"},
    "computed": {"fillcolor": "#ffffff", "color": "#9ca3af"},
    "target": {"fillcolor": "#fef3c7", "color": "#b45309", "penwidth": "2.4"},
    "constant": {
        "fillcolor": "#ffffff",
        "color": "#d1d5db",
        "fontcolor": QUIET,
        "fontsize": str(CONSTANT_SIZE),
        "style": "filled,dashed",
    },
}
# A report in a window of 1,280 × 600 pixels, and in JupyterLab in one of 700 (measured: 584 pixels): what its head, its
# tabs and its margins leave, at 96 pixels in 72 points.
NARROW, WIDE = (438, 322), (924, 322)
"""The width and height in points that screens have for a picture."""
LEAST_SCALE = 0.75
"""The smallest scale at which all letters have 10 pixels: of the smallest ones, 10 points are 13.3 pixels."""
NODE_GAP, RANK_GAP, FRAME_GAP = 18, 12, 26
"""In points: the gaps between boxes of a rank, between ranks, and around a frame."""
MARGIN = 8
"""The points around a picture that Graphviz adds to its width and height."""
MIN_OVAL, FOLD_PADDING = (36, 22), 8
"""In points: the smallest size of an operation, and the additional padding of a folded one."""
# The longest edges of a graph lead to constants and weights that many operations read: they cross all others.
MAX_READERS = 3
"""The most edges that start at the box of an input; more readers get a copy of the box."""
# Labels of edges take additional ranks, so a larger graph would double in length.
MAX_LABELLED = 12
"""The most operations of a graph whose edges show local derivatives."""
BAD_NODE = {"fillcolor": "#fee2e2", "color": "#b91c1c", "penwidth": "2.4"}
"""The style of the first value that is nan or infinite."""
NOT_COMPUTED = {"style": "filled,dotted", "penwidth": "2"}
"""The style of a value that isn't computed yet, in addition to the colors of its role."""
FOLDED = {
    "fillcolor": "#f3f4f6",
    "shape": "box",
    "style": "filled,rounded",
    "peripheries": "2",
    "color": QUIET,
}
"""The style of a node with several folded operations."""
STATEMENT = FOLDED | {"peripheries": "1"}
"""The style of the node of a statement: its formula says that it is several operations."""
OUTER_BORDER = 8
"""The points that the outer border of `FOLDED` adds to the width and height of a node."""
OPERATION = {"fillcolor": "#f3f4f6", "color": "#9ca3af", "shape": "ellipse"}
"""The style of an operation."""
MAX_LABEL = 24
"""The most characters of the label of an edge."""
MAX_ONE_LINE = 24
"""The most characters of a name and a value in one line of a box."""
MAX_TEXT = 48
"""The most characters of a name, value or source line."""
MAX_FORMULA, MAX_LINES = 40, 3
"""The most characters of a line of a formula, and the most lines."""
CONTROLS = 24
"""The points that a title with the number of an iteration needs for its controls in a live report."""
MAX_TITLE = 80
"""The most characters of the title of a layer's frame."""


def dot(
    graph: Graph,
    lines: Sequence[str] = (),
    inserts: Inserts | None = None,
    extents: Extents | None = None,
) -> str:
    """Write a graph as DOT.

    - `lines`: The source of the cell, which tooltips quote.
    - `inserts`: The small pictures in boxes.
    - `extents`: The result of `estimate`, if it's known.

    Returns str: DOT that depends on the recording only, not on the machine.
    """
    inserts = inserts or fitting_inserts(graph)
    down = grows_down(extents or estimate(graph, inserts))
    place = Places(graph)
    source = graphviz.Digraph(
        "tape",
        graph_attr={
            "rankdir": "TB" if down else "LR",
            "bgcolor": "transparent",
            "nodesep": inches(NODE_GAP),
            "ranksep": inches(RANK_GAP),
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
        # It reads what the value was computed from, not the value itself.
        for value in set(step.goals).difference(step.inputs):
            source.edge(f"n{value}", f"s{step.index}", style="dashed")
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
    """Return True if the edges of a graph show local derivatives."""
    return len(graph.steps) <= MAX_LABELLED


def edge_labels(step: Step) -> dict[int, str]:
    """Return the local derivatives of an operation by the positions of its inputs.

    If formula and number are short, the label has both; for arrays it has only the formula, for constants the number.
    """
    numbers, formulas = dict(step.slopes), dict(step.formulas)
    labels = {}
    for position in numbers | formulas:
        number, formula = numbers.get(position, ""), formulas.get(position, "")
        if formula == number or (number and formula.replace(".", "").isdecimal()):
            formula = ""
        label = " = ".join(filter(None, (formula, number)))
        labels[position] = label if len(label) <= MAX_LABEL else number
    return {position: label for position, label in labels.items() if label}


def slope_label(slope: str) -> str:
    """Return the label of an edge: the local derivative."""
    return fixed_label(shortened(printable(slope)), EDGE_SIZE)


class Places:
    """The frame of each value, and the inputs whose boxes are repeated for each reader.

    - `frame`: For each value, the index of the frame in which its box is.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._readers: list[list[Step]] = [[] for _ in graph.values]
        results: set[int] = set()
        self.frame: list[int | None] = [None] * len(graph.values)
        for step in graph.steps:
            for value in step.inputs:
                self._readers[value].append(step)
            for value in step.outputs:
                self.frame[value] = step.frame
                results.add(value)
        for value, readers in enumerate(self._readers):
            if value not in results and readers:
                frame = self._common(readers)
                self.frame[value] = self._around(frame, graph.values[value])
        self._repeated = {
            value
            for value, readers in enumerate(self._readers)
            if value not in results and len(readers) > MAX_READERS
        }

    def _common(self, readers: Sequence[Step]) -> int | None:
        """Return the innermost frame around all readers of a value, or the computation's."""
        common, *paths = (self._path(step.frame) for step in readers)
        for path in paths:
            common = [frame for frame in common if frame in path]
        top = self._path(readers[0].frame)[-1:]
        is_computation = top and self._graph.frames[top[0]].kind == "computation"
        return common[0] if common else top[0] if is_computation else None

    def _around(self, frame: int | None, value: Value) -> int | None:
        """Return the frame of a value that isn't a result."""
        # The input of a layer is outside of its frame, and its weights are inside.
        is_layer_input = any(step.kind == "layer" for step in self._readers[value.index])
        if (value.name or is_layer_input) and value.role != "variable":
            while frame is not None and self._graph.frames[frame].kind == "layer":
                frame = self._graph.frames[frame].parent
        return frame

    def _path(self, frame: int | None) -> list[int]:
        """Return a frame and the frames around it, from the inside out."""
        path = []
        while frame is not None:
            path.append(frame)
            frame = self._graph.frames[frame].parent
        return path

    def node(self, value: int, step: Step, position: int) -> str:
        """Return the name of the node from which an edge leads to an operation."""
        return f"n{value}_{step.index}_{position}" if self.is_copied(value, step) else f"n{value}"

    def is_copied(self, value: int, step: Step) -> bool:
        """Return True if a reader has its own copy of the box of a value, as all but the first do."""
        return value in self._repeated and step is not self._readers[value][0]


class Drawn(NamedTuple):
    """A graph and the data from which its nodes are written."""

    graph: Graph
    place: Places
    lines: Sequence[str]
    inserts: Inserts
    down: bool


def _frame(source: graphviz.Digraph, frame: int | None, drawn: Drawn) -> None:
    """Add the nodes and the inner frames of a frame, or of the entire graph."""
    _nodes(source, frame, drawn)
    for index, inner in enumerate(drawn.graph.frames):
        if inner.parent == frame:
            longest = MAX_TITLE if inner.kind == "layer" else MAX_TEXT
            room = CONTROLS if inner.iteration else 0
            with source.subgraph(name=f"cluster_{index}") as cluster:
                cluster.attr(
                    label=fixed_label(printable(clipped(inner.label, longest)), TITLE_SIZE, room),
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
        # Operands keep their order from left to right, except where swapping them changes nothing.
        folded = FOLDED if step.elided else OPERATION
        if step.kind == "statement":
            folded = STATEMENT
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
    """Return the colors and the border of the box of a value."""
    lazy = {} if value.is_computed else NOT_COMPUTED
    if lazy and value.role == "constant":
        lazy = lazy | {"color": QUIET}
    return STYLES[value.role] | lazy | (BAD_NODE if value.bad else {})


def sized(size: tuple[int, int]) -> dict[str, str]:
    """Return a width and height in points as attributes of a node."""
    return {"width": inches(size[0]), "height": inches(size[1])}


def value_size(value: Value, gradient: bool, insert: Insert | None = None) -> tuple[int, int]:
    """Return the size in points of the box of a value."""
    size = CONSTANT_SIZE if value.role == "constant" else FONT_SIZE
    lines = fields(value, gradient)
    width, height = widest(map(printable, lines), size), len(lines) * field_height(1)
    if insert is not None:
        width, height = max(width, insert.width), height + field_height(0, insert.height)
    return box(width, height)


def operation_size(step: Step, insert: Insert | None = None) -> tuple[int, int]:
    """Return the size in points of the node of an operation."""
    lines = operation_lines(step)
    width, height = widest(lines, FONT_SIZE), float(LINE * len(lines))
    if insert is not None:
        width, height = max(width, insert.width), height + insert.height
    if step.elided:
        return box(width + FOLD_PADDING, field_height(0, height))
    # Letters are about 9 points high, in a line of 12.
    return ellipse(width, height - 3, MIN_OVAL)


class Extents(NamedTuple):
    """The estimated width and height in points of a picture, from left to right and from top to bottom."""

    across: tuple[float, float]
    down: tuple[float, float]

    @property
    def width(self) -> float:
        """The width in the direction in which the picture is drawn."""
        return (self.down if grows_down(self) else self.across)[0]


def grows_down(extents: Extents) -> bool:
    """Return True if a picture is drawn from top to bottom, because more screens have room for it that way."""
    return _fitness(extents.across) < _fitness(extents.down)


def _fitness(size: tuple[float, float]) -> tuple[int, float]:
    """Return how many screens have room for a picture, and the scale at which the narrow one has."""
    scales = [
        min(1.0, *(room / max(side, 1) for room, side in zip(screen, size, strict=True)))
        for screen in (NARROW, WIDE)
    ]
    return sum(scale >= LEAST_SCALE for scale in scales), scales[0]


def screens(graph: Graph) -> int:
    """Return how well screens have room for the picture of a graph.

    That is 4 if a narrow and a wide one have, 2 if only the wide one has, and one less if they only have without the
    small pictures of arrays.
    """
    pictured = 2 * _screens(graph, Inserts(graph))
    return max(pictured, 2 * _screens(graph, Inserts(graph, arrays=False)) - 1, 0)


def _screens(graph: Graph, inserts: Inserts) -> int:
    return max(_fitness(size)[0] for size in estimate(graph, inserts))


def fitting_inserts(graph: Graph) -> Inserts:
    """Return the small pictures in a graph, without those of arrays if only then all screens have room for it."""
    inserts = Inserts(graph)
    if inserts.has_arrays and _screens(graph, inserts) < 2:
        smaller = Inserts(graph, arrays=False)
        return smaller if _screens(graph, smaller) == 2 else inserts
    return inserts


def estimate(graph: Graph, inserts: Inserts) -> Extents:
    """Estimate the size of the picture of a graph."""
    # The text and the style of a report may depend on this, but not on a drawing: two versions of Graphviz may order
    # boxes differently.
    shown = orders_with_gradients(graph)
    rows_of_steps, rank = _ranks(graph)
    # A picture is rows of boxes with rows of operations between them, and the labels of edges.
    boxes: dict[int, list[tuple[float, float]]] = {}
    operations: dict[int, list[tuple[float, float]]] = {}
    sizes = [value_size(x, x.order in shown, inserts.of_value(x)) for x in graph.values]
    for index, box_size in enumerate(sizes):
        boxes.setdefault(rank[index], []).append(box_size)
    labels: dict[int, float] = {}
    labelled = has_room_for_labels(graph)
    for step, at in zip(graph.steps, rows_of_steps, strict=True):
        size: tuple[float, float] = operation_size(step, inserts.of_step(step))
        if step.elided and step.kind != "statement":
            size = size[0] + OUTER_BORDER, size[1] + OUTER_BORDER
        operations.setdefault(at, []).append(size)
        beside = widest(edge_labels(step).values(), EDGE_SIZE) if labelled else 0.0
        labels[at] = max(labels.get(at, 0.0), beside)
    rows = [*boxes.values(), *operations.values()] or [[(0.0, 0.0)]]
    # The labels of edges have ranks of their own, into which Graphviz moves boxes between others: they are more rows.
    if any(labels.values()):
        last = dict[int, int]()
        for step, at in zip(graph.steps, rows_of_steps, strict=True):
            last.update((i, min(at, last.get(i, at))) for i in step.inputs)
        between: dict[int, list[tuple[float, float]]] = {}
        for i in (i for i, at in last.items() if at > rank[i]):
            between.setdefault(rank[i], []).append(sizes[i])
        rows += between.values()
    frames = FRAME_GAP * len(graph.frames)
    gaps = RANK_GAP * (len(rows) - 1)
    # A label is between two ranks, with a gap on both sides.
    texts = [text for text in labels.values() if text]
    lengths, thicknesses = (
        [sum(max(size[axis] for size in row) for row in rows) + gaps for axis in (0, 1)],
        [
            max(sum(size[axis] + NODE_GAP for size in row) for row in rows) + frames
            for axis in (0, 1)
        ],
    )
    # From top to bottom, a label is to the right of its edge, and makes the rows above and below it wider.
    labelled_rows = [
        sum(width + NODE_GAP for width, _ in row) + labels[at]
        for table in (boxes, operations)
        for at, row in table.items()
        if labels.get(at)
    ]
    return Extents(
        (lengths[0] + sum(texts) + RANK_GAP * len(texts) + frames + MARGIN, thicknesses[1]),
        (
            max([thicknesses[0], *labelled_rows]),
            lengths[1] + (LINE + RANK_GAP) * len(texts) + frames + MARGIN,
        ),
    )


def _ranks(graph: Graph) -> tuple[list[int], list[int]]:
    """Return the row of each operation and of each box."""
    # Graphviz shortens edges, so an input is in the row before its first reader.
    results = {value for step in graph.steps for value in step.outputs}
    rank = [0] * len(graph.values)
    column = []
    for step in graph.steps:
        column.append(max((rank[i] for i in (*step.inputs, *step.goals)), default=0))
        for i in step.outputs:
            rank[i] = column[-1] + 1
    for step, at in zip(reversed(graph.steps), reversed(column), strict=True):
        for i in step.inputs:
            if i not in results:
                rank[i] = at
    return column, rank


def orders_with_gradients(graph: Graph) -> set[int]:
    """Return the orders of differentiation that have gradients."""
    return {value.order for value in graph.values if value.gradient is not None}


def operation_label(step: Step, insert: Insert | None = None) -> str:
    """Return the label of an operation: its symbol or name, and the marker of a small picture."""
    lines = [str(graphviz.escape(line)) for line in operation_lines(step)]
    return "\\n".join(lines if insert is None else [*lines, insert.marker])


def operation_lines(step: Step) -> list[str]:
    """Return the lines of text in the node of an operation."""
    lines = [SYMBOLS.get(step.name, shortened(printable(step.name)))]
    if step.layer:
        words = filter(None, (step.name, step.layer.about, step.layer.shapes))
        lines = [shortened(printable(line)) for line in words]
    if step.kind == "statement":
        lines = wrapped(printable(step.name))
    if step.hidden:
        lines.append(f"… {step.hidden:,} not shown")
    return lines


def wrapped(formula: str) -> list[str]:
    """Return a formula in at most `MAX_LINES` lines of similar lengths.

    Examples
    --------
    >>> wrapped("loss = mean((prediction - labels) ** 2) / 2")
    ['loss = mean((prediction', '- labels) ** 2) / 2']
    """
    few = partial(wrap, max_lines=MAX_LINES, placeholder=" …", break_on_hyphens=False)
    lines = few(formula, MAX_FORMULA)
    # The narrowest lines that are as many, because a last line of "2" looks like a mistake.
    longest = max(map(len, formula.split()), default=0)
    for width in range(MAX_FORMULA - 1, longest - 1, -1):
        narrower = few(formula, width)
        if len(narrower) > len(lines) or narrower[-1].endswith("…"):
            break
        lines = narrower
    return lines


def value_label(value: Value, down: bool, gradient: bool, insert: Insert | None = None) -> str:
    """Return the label of a value: name and role, number or range, picture, and gradient."""
    parts = list(map(escape, fields(value, gradient)))
    if insert is not None:
        parts.insert(len(parts) - shows_gradient(value, gradient), insert.marker)
    # The fields of a record run along the ranks; braces turn them, so they are always stacked.
    label = " | ".join(parts)
    return f"{{{label}}}" if down else label


def fields(value: Value, gradient: bool) -> list[str]:
    """Return the lines of text in the box of a value, with its gradient if `gradient`."""
    role = "" if value.role in ("computed", "constant") else f" ({value.role})"
    name = value.name or value.symbol
    shown = [shortened(name) + role] if name else []
    if name and not role and len(name) + len(value.text) <= MAX_ONE_LINE:
        shown = [f"{name} = {value.text}"]
    else:
        shown.append(shortened(value.text))
    if shows_gradient(value, gradient):
        shown.append(GRADIENT_LINE + shortened(str(value.shown_gradient)))
    return shown


def shows_gradient(value: Value, gradient: bool) -> bool:
    """Return True if the box of a value has a line for its gradient, in a graph with gradients if `gradient`."""
    return gradient and value.role != "constant" and value.shown_gradient != ""


def shortened(text: str) -> str:
    """Shorten text to `MAX_TEXT` characters."""
    return clipped(text, MAX_TEXT)


def escape(text: str) -> str:
    """Escape text for the label of a record node."""
    text = printable(text).replace("&", "&amp;")
    return "".join(f"\\{char}" if char in "\\{}|<>" else char for char in text)


def tooltip(text: str) -> str:
    """Escape text for a tooltip."""
    # Graphviz interprets a backslash there even if it is doubled, so a similar character replaces it.
    return printable(text).replace("&", "&amp;").replace("\\", "∖")


def operation_tooltip(step: Step, graph: Graph, lines: Sequence[str]) -> str:
    """Return the tooltip of an operation: name, source line and local derivatives, added up for a repeated input."""
    layer = [step.layer.about, step.layer.shapes] if step.layer else []
    words = [step.name, *layer, source_line(step.line, lines)]
    slopes: dict[int, list[str]] = {}
    for position, slope in step.slopes:
        slopes.setdefault(step.inputs[position], []).append(slope)
    for index, parts in slopes.items():
        value = graph.values[index]
        name = shortened(value.name or value.symbol) or f"({value.text})"
        first, *rest = parts
        total = " + ".join([first, *(f"({x})" if x.startswith("-") else x for x in rest)])
        words.append(f"∂/∂{name} = {total}")
    return "; ".join(filter(None, words))


def source_line(line: int | None, lines: Sequence[str]) -> str:
    """Return a line of the cell with its number, or '' if it has no such line."""
    if line is None or not 0 < line <= len(lines):
        return ""
    return f"line {line}: {shortened(lines[line - 1].strip())}"
