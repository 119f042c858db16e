"""Pictures as plain data, read from SVG: what Graphviz draws, to be written small as SVG and as LaTeX.

All lengths are integers, in halves of a point: exact enough for the eye, and short when written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Literal, TypeAlias
from xml.etree import ElementTree as ET

from tapemagic.drawing.labels import BASELINE, FIELD_PADDING, LINE, field_height
from tapemagic.drawing.pixels import Colors, cells_of
from tapemagic.drawing.title_gaps import Box, Steps, with_gaps

UNIT = 2
"""Units in a point."""
PIXEL = 0.75 * UNIT
"""Units in a pixel, the unit of a document without a viewBox."""
STEPS = re.compile(r"([MLHVCZmlhvcz])([^A-Za-z]*(?:e-?\d+[^A-Za-z]*)*)")
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
MOVE = re.compile(r"(translate|scale)\(([^)]*)\)")
INVISIBLE = ("none", "transparent")
NAMED = {"black": "#000000", "white": "#ffffff"}
LENGTHS = {"stroke-width", "font-size"}
PAINT = {
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-opacity",
    "stroke-width",
    "stroke-dasharray",
    "opacity",
}
LETTERS = {
    "text-anchor", "font-size", "font-weight", "font-style", "fill", "fill-opacity",
    "text-decoration",
}  # fmt: skip
STYLED = PAINT | LETTERS
KINDS = {"cluster", "node", "edge"}
GROUPS = {"g", "a", "svg"}

Style = tuple[tuple[str, str], ...]
Kind = Literal["", "cluster", "node", "edge"]


@dataclass(frozen=True, slots=True)
class Outline:
    """A line or area: a path of the steps M, L, C, Z with absolute coordinates, or E, an ellipse."""

    style: Style
    steps: Steps


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text at a point on its baseline."""

    style: Style
    x: int
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Inset:
    """A piece of SVG in a rectangle; its own lengths are points."""

    x: int
    y: int
    scale: float
    insert: Insert


@dataclass(frozen=True, slots=True)
class Raster:
    """Cells in colors, in a rectangle."""

    x: int
    y: int
    width: int
    height: int
    colors: Colors


Part: TypeAlias = Outline | Words | Inset | Raster


@dataclass(frozen=True, slots=True)
class Item:
    """A node, an edge or a frame: its name in DOT, and its parts in the order in which they are painted."""

    kind: Kind
    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Picture:
    """A picture: its size and its items."""

    width: int
    height: int
    items: tuple[Item, ...]

    @cached_property
    def layers(self) -> Mapping[tuple[int, Style], list[Steps]]:
        """The outlines of all items by their style, in painting order."""
        # Frames are nested, so each is painted on its own. Nodes don't overlap, and the order of edges doesn't show, so
        # all of one style become one path, which is shorter.
        layers: dict[tuple[int, Style], list[Steps]] = {}
        frames = [item for item in self.items if item.kind in {"", "cluster"}]
        for depth, part in enumerate(part for item in frames for part in item.parts):
            if isinstance(part, Outline):
                layers[depth - 1_000_000, part.style] = [part.steps]
        for kind, base in (("edge", 0), ("node", 1_000)):
            for item in self.items:
                if item.kind == kind:
                    depth, before = base, None
                    for part in item.parts:
                        if isinstance(part, Outline):
                            style = joined_style(part, before)
                            depth += style != before
                            layers.setdefault((depth, style), []).append(part.steps)
                            before = style
        return dict(sorted(layers.items(), key=lambda layer: layer[0][0]))

    @cached_property
    def words(self) -> Mapping[Style, list[Words]]:
        """The lines of text of all items, by style."""
        words: dict[Style, list[Words]] = {}
        for item in self.items:
            for part in item.parts:
                if isinstance(part, Words):
                    words.setdefault(part.style, []).append(part)
        return words

    @cached_property
    def insets(self) -> list[Inset]:
        """The pieces of SVG in all items."""
        return [part for item in self.items for part in item.parts if isinstance(part, Inset)]

    @cached_property
    def rasters(self) -> list[Raster]:
        """The colored cells in all items."""
        return [part for item in self.items for part in item.parts if isinstance(part, Raster)]


def joined_style(part: Outline, before: Style | None) -> Style:
    """Return the style of an outline, or the previous style if a straight line looks the same."""
    # A straight line has no area, so a different fill doesn't show.
    if before is not None and len(part.steps) == 2 and part.steps[1][0] == "L":  # noqa: SIM102
        if _without_fill(part.style) == _without_fill(before):
            return before
    return part.style


def _without_fill(style: Style) -> list[tuple[str, str]]:
    return [entry for entry in style if not entry[0].startswith("fill")]


@dataclass(frozen=True, slots=True)
class Insert:
    """A piece of SVG to be put into a box of a graph.

    - `number`: Its number in the graph.
    - `fragment`: SVG elements, with lengths in points and the origin at the top left.
    - `width`, `height`: In points.
    - `marked`: These elements for a live page, with classes for scripts; '' if they need no classes.
    """

    number: int
    fragment: str
    width: float
    height: float
    marked: str = ""

    @property
    def marker(self) -> str:
        """The placeholder of this insert in a label."""
        # No other text has this character: `printable` removes it.
        return chr(FIRST + self.number)


FIRST, LAST = 0xE000, 0xF8FF
"""The range of markers, which Unicode reserves for private use."""


def read(document: str, inserts: Mapping[int, Insert] | None = None) -> Picture:
    """Parse an SVG document by Graphviz, or one as simple.

    - `inserts`: Pieces of SVG that replace their markers, by number.

    Raises ValueError if `document` isn't SVG.
    """
    try:
        root = ET.fromstring(document[max(0, document.find("<svg")) :])  # noqa: S314 -- Graphviz wrote it
    except ET.ParseError as error:
        raise ValueError(str(error)) from None
    if root.tag.rpartition("}")[2] != "svg":
        raise ValueError("no svg element")
    place = _Place()
    size = root.get("viewBox", "").split()[2:]
    if not size:
        # Without a viewBox, lengths are pixels.
        size = [root.get("width", "0"), root.get("height", "0")]
        place = _Place(PIXEL, PIXEL)
    width, height = (round(place.sx * float(length.removesuffix("pt"))) for length in size)
    reader = _Reader(inserts or {})
    style = {key: root.attrib[key] for key in root.attrib.keys() & STYLED}
    reader.read(root, "", "", style, place)
    items = reader.without_crossed_titles()
    return Picture(width, height, tuple(sorted(items, key=_number_of_frame)))


def _number_of_frame(item: Item) -> float:
    """Return a sort key that puts frames in the order of their numbers, before edges and nodes."""
    # Graphviz writes clusters in an order that depends on other graphs that it drew in this process.
    number = item.name.removeprefix("cluster_")
    return (
        int(number)
        if item.kind == "cluster" and number.isdecimal()
        else -1
        if not item.kind
        else inf
    )


def fragment(insert: Insert) -> Picture:
    """Parse an insert as a separate picture."""
    document = f'<svg viewBox="0 0 {insert.width} {insert.height}">{insert.fragment}</svg>'
    return read(document)


@dataclass(frozen=True, slots=True)
class _Place:
    """The scale and shift from the coordinates of an element to units of the picture."""

    sx: float = UNIT
    sy: float = UNIT
    dx: float = 0
    dy: float = 0

    def inside(self, transform: str) -> _Place:
        """Return the scale and shift inside an element with a transformation."""
        sx, sy, dx, dy = self.sx, self.sy, self.dx, self.dy
        for name, arguments in MOVE.findall(transform):
            x, *rest = map(float, NUMBER.findall(arguments))
            if name == "translate":
                dx, dy = dx + sx * x, dy + sy * (rest[0] if rest else 0)
            else:
                sx, sy = sx * x, sy * (rest[0] if rest else x)
        return _Place(sx, sy, dx, dy)

    def points(self, numbers: Iterable[str | float]) -> tuple[int, ...]:
        """Convert coordinates to units; x and y alternate."""
        sx, sy, dx, dy = self.sx, self.sy, self.dx, self.dy
        exact = [float(number) for number in numbers]
        exact[::2] = [dx + sx * x for x in exact[::2]]
        exact[1::2] = [dy + sy * y for y in exact[1::2]]
        return tuple(map(round, exact))


class _Reader:
    """Parses the elements of an SVG document."""

    def __init__(self, inserts: Mapping[int, Insert]) -> None:
        self.items: list[Item] = []
        self._inserts = inserts
        self._titles: list[Box] = []
        self._styles: dict[tuple[tuple[str, str], ...], Style] = {}
        self._centered: dict[Style, tuple[Style, float]] = {}

    def without_crossed_titles(self) -> list[Item]:
        """Return the items, with gaps in the edges that run through the titles of frames."""
        if not self._titles:
            return self.items
        return [
            replace(item, parts=tuple(map(self._with_gaps, item.parts)))
            if item.kind == "edge"
            else item
            for item in self.items
        ]

    def _with_gaps(self, part: Part) -> Part:
        if not isinstance(part, Outline):
            return part
        return replace(part, steps=with_gaps(part.steps, self._titles) or part.steps)

    def read(
        self, element: ET.Element, kind: Kind, name: str, inherited: dict[str, str], place: _Place
    ) -> None:
        """Add an item with the shapes of an element, and the items of the groups inside."""
        parts: list[Part] = []
        middle: tuple[int, int] | None = None
        for child in element:
            tag = child.tag.rpartition("}")[2]
            if tag in GROUPS:
                if parts:
                    self._add(kind, name, parts)
                    parts = []
                attributes = child.attrib
                group = attributes.get("class", "")
                more = {key: attributes[key] for key in attributes.keys() & STYLED}
                self.read(
                    child,
                    group if group in KINDS else kind,  # type: ignore[arg-type]
                    name,
                    inherited | more if more else inherited,
                    place.inside(attributes["transform"]) if "transform" in attributes else place,
                )
            elif tag == "title":
                name = "".join(child.itertext()) if kind else name
            elif tag == "text" and middle is not None:
                parts.append(self._placed(self._words(child, inherited, place), middle))
            elif (part := self._part(tag, child, inherited, place)) is not None:
                parts.append(part)
            elif tag == "polygon" and kind:
                # Only the cell around the label of an edge or frame has no colors (see `fixed_label`).
                box = left, top, right, bottom = _bounds(_steps(tag, child.attrib, place))
                middle = (left + right) // 2, (top + bottom) // 2
                if kind == "cluster":
                    self._titles.append(box)
        self._add(kind, name, parts)

    def _add(self, kind: Kind, name: str, parts: list[Part]) -> None:
        if parts:
            parts = self._laid_out(parts) if kind == "node" else parts
            self.items.append(Item(kind, name, tuple(parts)))

    def _part(
        self, tag: str, element: ET.Element, inherited: dict[str, str], place: _Place
    ) -> Part | None:
        attributes = inherited | element.attrib if inherited else element.attrib
        if tag == "text":
            return self._words(element, inherited, place)
        if tag == "image":
            x, y, right, bottom = place.points(_corners(attributes))
            colors = cells_of(attributes.get("href", ""))
            return Raster(x, y, right - x, bottom - y, colors) if colors else None
        if (
            attributes.get("fill", "black") in INVISIBLE
            and attributes.get("stroke", INVISIBLE[0]) in INVISIBLE
        ):
            return None
        steps = _steps(tag, attributes, place)
        return Outline(self._style(attributes, PAINT, place), steps) if steps else None

    def _words(self, element: ET.Element, inherited: dict[str, str], place: _Place) -> Words:
        attributes = inherited | element.attrib if inherited else element.attrib
        x, y = place.points([attributes.get("x", "0"), attributes.get("y", "0")])
        return Words(self._style(attributes, LETTERS, place), x, y, "".join(element.itertext()))

    def _style(self, attributes: Mapping[str, str], names: set[str], place: _Place) -> Style:
        style = tuple(entry for entry in attributes.items() if entry[0] in names)
        # SVG's default is one unit, whose size in the picture depends on the element.
        if names is PAINT and "stroke" in attributes and "stroke-width" not in attributes:
            style += (("stroke-width", "1"),)
        if style not in self._styles:
            self._styles[style] = tuple(sorted(_normal(key, value, place) for key, value in style))
        return self._styles[style]

    def _laid_out(self, parts: list[Part]) -> list[Part]:
        """Move the text of a node, and the lines between its fields, to positions that depend on no font."""
        # Graphviz 14 stacks fields by the height of the fonts of this machine, and pango centers text by its width.
        # Here fields have the heights that `labels` reserved for them, and are centered in the node together.
        shapes = [part for part in parts if isinstance(part, Outline)]
        if not shapes:
            return parts
        left, top, right, bottom = _bounds(shapes[0].steps)
        fields: list[list[Words]] = [[]]
        lines: list[Outline] = []
        for part in parts:
            if isinstance(part, Words):
                fields[-1].append(part)
            elif isinstance(part, Outline) and _is_line(part.steps):
                lines.append(part)
                fields.append([])
        contents = [self._content(field) for field in fields]
        heights = [
            UNIT * field_height(len(words), sum(insert.height for insert in inserts))
            for words, inserts in contents
        ]
        placed: list[Part] = [shape for shape in shapes if not _is_line(shape.steps)]
        x, y = (left + right) // 2, (top + bottom - sum(heights)) / 2
        for k, ((words, inserts), height) in enumerate(zip(contents, heights, strict=True)):
            if k:
                across = (("M", (left, round(y))), ("L", (right, round(y))))
                placed.append(Outline(lines[k - 1].style, across))
            middle = y + UNIT * (FIELD_PADDING + LINE / 2)
            for line in words:
                placed.append(self._placed(line, (x, middle)))
                middle += UNIT * LINE
            above = middle - UNIT * LINE / 2
            for insert in inserts:
                placed.append(Inset(round(x - UNIT * insert.width / 2), round(above), 1.0, insert))
                above += UNIT * insert.height
            y += height
        return placed

    def _content(self, field: Sequence[Words]) -> tuple[list[Words], list[Insert]]:
        """Return the lines of text of a field, and the inserts of its markers."""
        words, inserts = [], []
        for line in field:
            if not FIRST <= ord(line.text[:1] or " ") <= LAST:
                words.append(line)
            elif (insert := self._inserts.get(ord(line.text[0]) - FIRST)) is not None:
                inserts.append(insert)
        return words, inserts

    def _placed(self, line: Words, middle: tuple[float, float]) -> Words:
        """Center a line of text at a point."""
        if line.style not in self._centered:
            style = dict(line.style) | {"text-anchor": "middle"}
            size = float(style.get("font-size", 10 * UNIT))
            self._centered[line.style] = tuple(sorted(style.items())), BASELINE * size
        centered, down = self._centered[line.style]
        x, y = middle
        return Words(centered, round(x), round(y + down), line.text)


def _bounds(steps: Steps) -> tuple[int, int, int, int]:
    """Return the left, top, right and bottom of a shape."""
    if steps[0][0] == "E":
        x, y, rx, ry = steps[0][1]
        return x - rx, y - ry, x + rx, y + ry
    xs = [x for _, points in steps for x in points[::2]]
    ys = [y for _, points in steps for y in points[1::2]]
    return min(xs), min(ys), max(xs), max(ys)


def _is_line(steps: Steps) -> bool:
    """Return True for a straight line, which separates two fields of a record."""
    return len(steps) == 2 and steps[1][0] == "L" and len(steps[1][1]) == 2


def _normal(key: str, value: str, place: _Place) -> tuple[str, str]:
    """Convert an attribute to the units of the picture."""
    if key in LENGTHS:
        return key, str(round(float(value) * place.sy))
    if key == "stroke-dasharray":
        return key, " ".join(str(round(float(x) * place.sy)) for x in NUMBER.findall(value))
    if key == "text-anchor" and value == "middle":
        return key, value
    if key.endswith("opacity"):
        return key, f"{float(value):.2g}"
    value = NAMED.get(value, value)
    return key, "none" if value in INVISIBLE else value


def _steps(tag: str, attributes: Mapping[str, str], place: _Place) -> Steps:
    """Return the steps of a shape; empty if its kind is unknown."""
    if tag == "path":
        return _path(attributes["d"], place)
    if tag in {"polygon", "polyline"}:
        points = place.points(attributes["points"].replace(",", " ").split())
        # Graphviz repeats the first point of a polygon, which is closed anyway.
        if tag == "polygon" and points[:2] == points[-2:]:
            points = points[:-2]
        closing: Steps = (("Z", ()),) if tag == "polygon" else ()
        return (("M", points[:2]), ("L", points[2:]), *closing)
    if tag in {"ellipse", "circle"}:
        x, y = place.points([attributes.get("cx", "0"), attributes.get("cy", "0")])
        rx = float(attributes.get("rx") or attributes["r"]) * place.sx
        ry = float(attributes.get("ry") or attributes["r"]) * place.sy
        return (("E", (x, y, round(rx), round(ry))),)
    if tag == "rect":
        left, top, right, bottom = _corners(attributes)
        points = place.points([left, top, right, top, right, bottom, left, bottom])
        return (("M", points[:2]), ("L", points[2:]), ("Z", ()))
    if tag == "line":
        points = place.points([attributes.get(key, "0") for key in ("x1", "y1", "x2", "y2")])
        return (("M", points[:2]), ("L", points[2:]))
    return ()


def _corners(attributes: Mapping[str, str]) -> list[float]:
    """Return the left, top, right and bottom of a rectangle."""
    x, y = float(attributes.get("x", 0)), float(attributes.get("y", 0))
    return [x, y, x + float(attributes["width"]), y + float(attributes["height"])]


def _path(data: str, place: _Place) -> Steps:
    """Return the steps of a path with absolute coordinates."""
    steps: list[tuple[str, tuple[int, ...]]] = []
    start = end = (0, 0)
    # Relative steps start from the exact end of the last one: rounded ends would add up their errors.
    exact = (0.0, 0.0)
    for letter, words in STEPS.findall(data):
        kind = letter.upper()
        if kind == "Z":
            steps.append(("Z", ()))
            end = start
            continue
        numbers = NUMBER.findall(words)
        if letter not in "MLC":
            numbers = _absolute(letter, list(map(float, numbers)), exact)
            kind = kind if kind in "MC" else "L"
        exact = (float(numbers[-2]), float(numbers[-1]))
        points = place.points(numbers)
        if kind == "M":
            steps.append(("M", points[:2]))
            start = end = points[:2]  # type: ignore[assignment]
            if len(points) > 2:
                steps.append(("L", points[2:]))
        elif kind == "L":
            steps.append(("L", points))
        else:
            for i in range(0, len(points), 6):
                curve = points[i : i + 6]
                ends = (end, end := curve[4:])  # type: ignore[assignment]
                steps.append(("L", end) if _is_straight(ends[0], curve) else ("C", curve))
        end = points[-2:]  # type: ignore[assignment]
    return tuple(steps)


def _is_straight(start: tuple[int, ...], curve: tuple[int, ...]) -> bool:
    """Return True if the control points of a curve are within half a point of the line between its ends."""
    # Graphviz draws every edge as a spline; a straight one takes a third of the bytes as a line.
    x, y = start
    dx, dy = curve[4] - x, curve[5] - y
    limit = UNIT / 2 * max(abs(dx), abs(dy), 1)
    return (
        abs((curve[0] - x) * dy - (curve[1] - y) * dx) <= limit
        and abs((curve[2] - x) * dy - (curve[3] - y) * dx) <= limit
        and min(x, curve[4]) - UNIT <= curve[0] <= max(x, curve[4]) + UNIT
        and min(x, curve[4]) - UNIT <= curve[2] <= max(x, curve[4]) + UNIT
        and min(y, curve[5]) - UNIT <= curve[1] <= max(y, curve[5]) + UNIT
        and min(y, curve[5]) - UNIT <= curve[3] <= max(y, curve[5]) + UNIT
    )


def _absolute(letter: str, numbers: list[float], start: tuple[float, float]) -> list[str]:
    """Convert the coordinates of steps that are relative, or along one axis, to absolute coordinates."""
    x, y = start
    absolute: list[float] = []
    size = {"H": 1, "V": 1, "C": 6}.get(letter.upper(), 2)
    for i in range(0, len(numbers) - size + 1, size):
        step = numbers[i : i + size]
        if letter in "Hh":
            step = [step[0], 0.0 if letter == "h" else y]
        elif letter in "Vv":
            step = [0.0 if letter == "v" else x, step[0]]
        if letter.islower():
            step = [value + (y if j % 2 else x) for j, value in enumerate(step)]
        x, y = step[-2:]
        absolute += step
    return list(map(repr, absolute))
