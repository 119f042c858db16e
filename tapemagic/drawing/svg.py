"""Drawings of DOT as SVG, made small: a style is written once, and a coordinate as a step from the one before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from types import MappingProxyType

from tapemagic.drawing.engines import (
    TooLongError,
    UnavailableError,
    by_dot,
    by_pygraphviz,
)
from tapemagic.drawing.picture import (
    UNIT,
    Insert,
    Inset,
    Item,
    Outline,
    Picture,
    Steps,
    Style,
    Words,
    joined_style,
    read,
)
from tapemagic.drawing.report_style import Engine
from tapemagic.drawing.styles import GROUND, LIVE_GROUND
from tapemagic.drawing.svg_hooks import class_of, line_marks, name_of

INSTALL = (
    "install Graphviz (apt install graphviz, brew install graphviz, or conda install graphviz)"
)
ANY_ENGINE = '%config TapeMagics.engine = "auto"'

ROOM = 720
"""The largest width and height of a picture in pixels; a larger one is scaled down."""
LEAST = 0.55
"""The smallest scale at which a picture can be read; one that is larger still is scrolled."""
PIXELS = 96 / 72 / UNIT
"""Pixels in a unit of a picture."""
DRAWERS = {"dot": by_dot, "pygraphviz": by_pygraphviz}
DEFAULTS = {
    "text-anchor": "middle",
    "font-family": "Helvetica,Arial,sans-serif",
    "font-size": str(10 * UNIT),
    "stroke-width": str(UNIT),
}
"""The attributes that are written once, for the whole picture."""


@dataclass(frozen=True)
class Drawing:
    """A picture, or the reason why there is none.

    Attributes
    ----------
    picture : Picture or None
    reason : str
    ground : str
        The colour of what has no background of its own.
    is_wide : bool
        Whether to scroll the picture rather than make it as narrow as a page.
    """

    picture: Picture | None
    reason: str = ""
    ground: str = GROUND
    is_wide: bool = False

    @cached_property
    def svg(self) -> str | None:
        """The picture as an SVG element for an image."""
        return None if self.picture is None else _in_grey(write(self.picture), self.ground)

    @cached_property
    def live(self) -> str | None:
        """The picture as an SVG element for a live page: with names, and with the grey of the page's theme."""
        ground = LIVE_GROUND if self.ground == GROUND else self.ground
        return None if self.picture is None else write_live(self.picture, ground)


def draw(
    source: str, inserts: Mapping[int, Insert] | None = None, engine: Engine = "auto"
) -> Drawing:
    """Draw DOT source.

    Parameters
    ----------
    source : str
        DOT.
    inserts : mapping of int to Insert, optional
        Pieces of SVG to put in the places of the markers in the source, by their numbers.
    engine : {'auto', 'dot', 'pygraphviz', 'none'}, optional
        The ``dot`` program, the Graphviz inside pygraphviz, or nothing; by default the first of them that works.

    Returns
    -------
    Drawing
        Or the reason why nothing could be drawn.
    """
    if engine == "none":
        return Drawing(None, "no picture, because TapeMagics.engine is 'none'")
    problems = []
    for drawer in DRAWERS.values() if engine == "auto" else [DRAWERS[engine]]:
        try:
            return Drawing(read(drawer(source), inserts))
        except TooLongError as problem:
            return Drawing(None, f"no picture: {problem}. Here are the operations as equations")
        except ValueError:
            problems.append("Graphviz did not answer with an SVG")
        except UnavailableError as problem:
            problems.append(str(problem))
    advice = INSTALL if engine == "auto" else f"{INSTALL}, or write {ANY_ENGINE}"
    return Drawing(None, f"no picture: {'; '.join(problems)}. To see it, {advice}")


def write(picture: Picture) -> str:
    """A picture as SVG: what has the same style is painted at once."""
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
    """A picture as SVG in which every node, edge and frame is a group with a name, by which scripts find it.

    A node has the attribute `data-n` with its name in DOT, an edge `data-e` with those of its ends, and a frame
    `data-c` with its number. In the box of a value, the line of text that ends with the value and its small picture
    have the class "v", and those of its gradient "g". The colour `ground` of what has no background of its own is
    written once.
    """
    inner = _in_grey("".join(map(_group, picture.items)), "currentColor")
    return _root(picture, inner, {"color": ground})


def _in_grey(svg: str, ground: str) -> str:
    """A picture with another colour of what has no background of its own."""
    return svg.replace(f'"{GROUND}"', f'"{ground}"') if ground != GROUND else svg


def _root(picture: Picture, inner: str, more: Mapping[str, str] = MappingProxyType({})) -> str:
    """The SVG element of a picture, with some `more` attributes."""
    defaults = "".join(f' {key}="{value}"' for key, value in {**DEFAULTS, **more}.items())
    width, height = (f"{length / UNIT:.0f}" for length in (picture.width, picture.height))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt"'
        f' viewBox="0 0 {picture.width} {picture.height}"{defaults}>{inner}</svg>'
    )


def _group(item: Item) -> str:
    """An item as a group with a name."""
    words = [part for part in item.parts if isinstance(part, Words)]
    counted = Counter(line.style for line in words)
    common = counted.most_common(1)[0][0] if counted else ()
    parts = [f'<path{_attributes(style)} d="{_merged(lines)}"/>' for style, lines in _painted(item)]
    for line, mark in zip(words, line_marks(item, [line.text for line in words]), strict=True):
        style = _attributes(line.style) if line.style != common else ""
        parts.append(_line(line, style + class_of(mark)))
    parts += (_inset(part, part.insert.marked) for part in item.parts if isinstance(part, Inset))
    return f"<g{name_of(item)}{_attributes(common)}>{''.join(parts)}</g>"


def _painted(item: Item) -> list[tuple[Style, list[Steps]]]:
    """The outlines of an item, those in one style together."""
    painted: list[tuple[Style, list[Steps]]] = []
    for part in item.parts:
        if isinstance(part, Outline):
            style = joined_style(part, painted[-1][0] if painted else None)
            if not painted or style != painted[-1][0]:
                painted.append((style, []))
            painted[-1][1].append(part.steps)
    return painted


def _attributes(style: Style) -> str:
    """A style as attributes, without those that the whole picture has."""
    return "".join(
        f' {key}="{escape(value)}"' for key, value in style if DEFAULTS.get(key) != value
    )


def _line(words: Words, attributes: str = "") -> str:
    """A line of text; spaces of which SVG would drop some become ones that it keeps."""
    text = words.text
    if "  " in text or text[:1] == " ":
        text = text.replace(" ", "\u00a0")
    return f'<text x="{words.x}" y="{words.y}"{attributes}>{escape(text)}</text>'


def _inset(part: Inset, marked: str = "") -> str:
    """A piece of SVG in its place, with lengths in points; what is `marked` stands in its place."""
    scale = f"{UNIT * part.scale:.3g}"
    return (
        f'<g transform="translate({part.x} {part.y})scale({scale})" stroke-width="1" font-size="10">'
        f"{marked or part.insert.fragment}</g>"
    )


def _merged(outlines: Iterable[Steps]) -> str:
    """Outlines as the data of one path, in which all but the first point are relative."""
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
                data.append(
                    f"M{cx} {cy - ry}a{rx} {ry} 0 1 0 1 0z"
                )  # from the top to a point beside it
                continue
            else:
                word, numbers = "z", ()
            data.append(_written(word if word != letter else " ", numbers))
            letter = word
    return "".join(data)


def _written(word: str, numbers: Iterable[int]) -> str:
    """A step of a path; a minus sign separates as well as a space."""
    text = "".join(f"{number}" if number < 0 else f" {number}" for number in numbers)
    if word == " ":
        return text
    return word + text.removeprefix(" ")


def fitted(drawing: Drawing, live: bool = False) -> tuple[str, str]:
    """Scale a picture down to be seen whole, as far as it stays legible, and give the style in which to show it.

    The style of a picture that isn't `live` is compared when notebooks are tested, so it depends on the graph only:
    its size differs where two versions of Graphviz order boxes differently.
    """
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
    if drawing.is_wide:
        return sized, "max-width:none"
    return sized, "max-width:100%;height:auto" + live * f";min-width:{width * LEAST:.0f}px"
