"""Draws DOT as compact SVG: each style is written once, and coordinates are relative."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from html import escape
from types import MappingProxyType

from tapemagic.drawing.engines import (
    MAX_SOURCE,
    TooLongError,
    UnavailableError,
    by_dot,
    by_front_end,
    by_pygraphviz,
)
from tapemagic.drawing.picture import (
    UNIT,
    Insert,
    Inset,
    Item,
    Outline,
    Picture,
    Style,
    Words,
    joined_style,
    read,
)
from tapemagic.drawing.report_style import Engine
from tapemagic.drawing.styles import GROUND, LIVE_GROUND
from tapemagic.drawing.svg_hooks import class_of, line_marks, name_of
from tapemagic.drawing.title_gaps import Steps

INSTALL = (
    "install Graphviz (apt install graphviz, brew install graphviz, or conda install graphviz)"
)
ANY_ENGINE = '%config TapeMagics.engine = "auto"'

ROOM = 720
"""The width and height in pixels to which larger pictures are scaled down."""
LEAST = 0.75
"""The smallest scale at which all letters have 10 pixels; an even wider picture is scrolled."""
PIXELS = 96 / 72 / UNIT
"""The pixels in a unit of a picture."""
# `dot` comes first: it runs in a separate process, so a timeout or an interrupt can stop it.
DRAWERS = {"dot": by_dot, "pygraphviz": by_pygraphviz}
DEFAULTS = {
    "text-anchor": "middle",
    "font-family": "Helvetica,Arial,sans-serif",
    "font-size": str(10 * UNIT),
    "stroke-width": str(UNIT),
}
"""The attributes that are written once, for the entire picture."""


@dataclass(frozen=True)
class Drawing:
    """A picture, or the reason why the graph can't be drawn.

    - `ground`: The color of lines and text without background.
    - `is_wide`: Whether the picture is scrolled instead of fitted to the width of a page.
    - `is_undrawn`: Whether a front end may draw it, because this machine cannot.
    """

    picture: Picture | None
    reason: str = ""
    ground: str = GROUND
    is_wide: bool = False
    is_undrawn: bool = False

    @cached_property
    def svg(self) -> str | None:
        """The picture as an SVG element for an image."""
        return None if self.picture is None else _in_grey(write(self.picture), self.ground)

    @cached_property
    def live(self) -> str | None:
        """The picture as an SVG element for a live page: with names, and with the gray of its theme."""
        ground = LIVE_GROUND if self.ground == GROUND else self.ground
        return None if self.picture is None else write_live(self.picture, ground)


def draw(
    source: str, inserts: Mapping[int, Insert] | None = None, engine: Engine = "auto"
) -> Drawing:
    """Draw DOT source.

    - `source`: DOT.
    - `inserts`: Pieces of SVG that replace their markers in the source, by number.
    - `engine`: {'auto', 'dot', 'pygraphviz', 'none'}. The ``dot`` program, the Graphviz inside pygraphviz, or nothing;
      by default the first that works.

    Returns Drawing: the picture, or the reason why the graph can't be drawn.
    """
    if engine == "none":
        return Drawing(None, "no picture, because TapeMagics.engine is 'none'")
    if engine == "auto":
        # Also for an SVG that is broken, the other engines are asked again.
        with suppress(UnavailableError, ValueError):
            return Drawing(read(by_front_end(source), inserts))
    problems = []
    for drawer in DRAWERS.values() if engine == "auto" else [DRAWERS[engine]]:
        try:
            return Drawing(read(drawer(source), inserts))
        # pygraphviz would take as long, and can't be stopped: it isn't tried after a timeout.
        except TooLongError as problem:
            return Drawing(None, f"no picture: {problem}. Here are the operations as equations")
        except ValueError:
            problems.append("Graphviz did not answer with an SVG")
        except UnavailableError as problem:
            problems.append(str(problem))
    advice = INSTALL if engine == "auto" else f"{INSTALL}, or write {ANY_ENGINE}"
    is_undrawn = engine == "auto" and len(source) <= MAX_SOURCE
    return Drawing(
        None, f"no picture: {'; '.join(problems)}. To see it, {advice}", is_undrawn=is_undrawn
    )


def write(picture: Picture) -> str:
    """Write a picture as SVG, with one path for all outlines of a style."""
    parts = [
        f'<path{_attributes(style)} d="{_merged(outlines)}"/>'
        for (_, style), outlines in picture.layers.items()
    ]
    for style, words in picture.words.items():
        lines = "".join(map(_line, words))
        attributes = _attributes(style)
        parts.append(f"<g{attributes}>{lines}</g>" if attributes else lines)
    parts += map(_inset, picture.insets)
    return _root(picture, "".join(parts))


def write_live(picture: Picture, ground: str) -> str:
    """Write a picture as SVG in which every node, edge and frame is a group that scripts can find.

    A node has the attribute `data-n` with its name in DOT, an edge `data-e` with the names of its ends, and a frame
    `data-c` with its number. In the box of a value, the line of text that ends with the value and its small picture
    have the class "v"; the line and the picture of its gradient have "g". The color `ground` of lines and text without
    background is written once.
    """
    inner = _in_grey("".join(map(_group, picture.items)), "currentColor")
    return _root(picture, inner, {"color": ground})


def _in_grey(svg: str, ground: str) -> str:
    """Replace the color of lines and text without background."""
    return svg.replace(f'"{GROUND}"', f'"{ground}"') if ground != GROUND else svg


def _root(picture: Picture, inner: str, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the SVG element of a picture, with `more` attributes."""
    defaults = "".join(f' {key}="{value}"' for key, value in {**DEFAULTS, **more}.items())
    width, height = (f"{length / UNIT:.0f}" for length in (picture.width, picture.height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"'
        f' viewBox="0 0 {picture.width} {picture.height}"{defaults}>{inner}</svg>'
    )


def _group(item: Item) -> str:
    """Write an item as a group with a name."""
    words = [part for part in item.parts if isinstance(part, Words)]
    counted = Counter(line.style for line in words)
    # The most frequent style is written once, for the group.
    common = counted.most_common(1)[0][0] if counted else ()
    parts = [f'<path{_attributes(style)} d="{_merged(lines)}"/>' for style, lines in _painted(item)]
    for line, mark in zip(words, line_marks(item, [line.text for line in words]), strict=True):
        style = _attributes(line.style) if line.style != common else ""
        parts.append(_line(line, style + class_of(mark)))
    parts += (_inset(part, part.insert.marked) for part in item.parts if isinstance(part, Inset))
    return f"<g{name_of(item)}{_attributes(common)}>{''.join(parts)}</g>"


def _painted(item: Item) -> list[tuple[Style, list[Steps]]]:
    """Return the outlines of an item; successive ones in one style are joined."""
    painted: list[tuple[Style, list[Steps]]] = []
    for part in item.parts:
        if isinstance(part, Outline):
            style = joined_style(part, painted[-1][0] if painted else None)
            if not painted or style != painted[-1][0]:
                painted.append((style, []))
            painted[-1][1].append(part.steps)
    return painted


def _attributes(style: Style) -> str:
    """Write a style as attributes, without the defaults of the picture."""
    return "".join(
        f' {key}="{escape(value)}"' for key, value in style if DEFAULTS.get(key) != value
    )


def _line(words: Words, attributes: str = "") -> str:
    """Write a line of text."""
    text = words.text
    # SVG collapses spaces, except for non-breaking ones.
    if "  " in text or text[:1] == " ":
        text = text.replace(" ", "\u00a0")
    return f'<text x="{words.x}" y="{words.y}"{attributes}>{escape(text)}</text>'


def _inset(part: Inset, marked: str = "") -> str:
    """Place an insert, whose lengths are points; `marked` replaces its content."""
    scale = f"{UNIT * part.scale:.3g}"
    return (
        f'<g transform="translate({part.x} {part.y})scale({scale})" stroke-width="1" font-size="10">'
        f"{marked or part.insert.fragment}</g>"
    )


def _merged(outlines: Iterable[Steps]) -> str:
    """Write outlines as the data of one path, with relative coordinates after its first point."""
    data: list[str] = []
    x = y = 0
    for steps in outlines:
        letter = ""
        for kind, points in steps:
            if kind == "M":
                x, y = points
                word, numbers = "M", points
            elif kind == "L":
                for i in range(0, len(points), 2):
                    dx, dy = points[i] - x, points[i + 1] - y
                    x, y = points[i], points[i + 1]
                    word = "h" if not dy else "v" if not dx else "l"
                    numbers = (dx,) if not dy else (dy,) if not dx else (dx, dy)
                    data.append(_written(word if word != letter else " ", numbers))
                    letter = word
                continue
            elif kind == "C":
                numbers = tuple(value - (y if i % 2 else x) for i, value in enumerate(points))
                x, y = points[-2:]
                word = "c"
            elif kind == "E":
                cx, cy, rx, ry = points
                # An arc needs two different ends, so this ellipse ends one unit to the right of its top.
                data.append(f"M{cx} {cy - ry}a{rx} {ry} 0 1 0 1 0z")
                continue
            else:
                word, numbers = "z", ()
            data.append(_written(word if word != letter else " ", numbers))
            letter = word
    return "".join(data)


def _written(word: str, numbers: Iterable[int]) -> str:
    """Write a step of a path; a minus sign separates numbers as a space does."""
    text = "".join(f"{number}" if number < 0 else f" {number}" for number in numbers)
    # A letter that repeats the last one is implied; its numbers then need a separator.
    if word == " ":
        return text
    return word + text.removeprefix(" ")


def fitted(drawing: Drawing, live: bool = False) -> tuple[str, str]:
    """Scale a picture down to fit a page while it is legible; return the SVG and the style of its element."""
    picture, svg = drawing.picture, drawing.live if live else drawing.svg
    if picture is None or svg is None:
        return "", ""
    width, height = picture.width * PIXELS, picture.height * PIXELS
    fits_when_small = width * LEAST <= ROOM
    scale = max(LEAST, min(1.0, ROOM / max(height, 1))) if fits_when_small else LEAST
    _, _, rest = svg.partition(" viewBox")
    sized = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * scale:.0f}"'
        f' height="{height * scale:.0f}" viewBox{rest}'
    )
    # nbval compares the style of static HTML, so it has no lengths: two versions of Graphviz may order boxes
    # differently, and then pictures differ in size.
    if drawing.is_wide:
        return sized, "max-width:none"
    return sized, "max-width:100%;height:auto" + live * f";min-width:{width * LEAST:.0f}px"
