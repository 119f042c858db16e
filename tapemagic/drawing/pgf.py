r"""Pictures as LaTeX that needs only PGF, which nbconvert's template loads.

A picture is a row of letters with their numbers, after the single command ``\P``. So it has hardly any backslashes,
which take two bytes each in a notebook.
"""

from __future__ import annotations

from collections.abc import Sequence

from tapemagic.drawing.heatmap import LEVELS, MARKS, color
from tapemagic.drawing.picture import UNIT, Inset, Picture, Raster, Style, Words, fragment
from tapemagic.drawing.tex import tex
from tapemagic.drawing.title_gaps import Steps

WIDTH, HEIGHT = 460, 600
"""The largest width and height of a picture in points: the size of a page."""
# An image by Graphviz can't replace this: of one output nbconvert takes text/latex and nothing else, and the text can't
# know the name under which nbconvert extracts an image. A PDF also takes 4 to 15 times the bytes (five graphs of the
# gallery, November 2026), and lacks the small pictures in boxes.
LINE = 15 * UNIT
"""The distance between lines of text."""

STEP = f"{1 / UNIT:g}".removeprefix("0")
"""A unit of the picture in points."""
COMMANDS = rf"""\def\P#1{{\csname P#1\endcsname}}%
\def\V#1#2{{\pgfqpoint{{\dimexpr{STEP}bp*(#1)\relax}}{{\dimexpr-{STEP}bp*(#2)\relax}}}}%
\def\W#1 #2 {{\V{{\X+#1}}{{\Y+#2}}}}\def\K#1 #2 {{\edef\X{{\the\numexpr\X+#1}}\edef\Y{{\the\numexpr\Y+#2}}}}%
\def\PM#1 #2 {{\def\X{{#1}}\def\Y{{#2}}\pgfpathmoveto{{\V\X\Y}}\P}}\def\PZ{{\pgfpathclose\P}}%
\def\PD#1 #2 {{\K#1 #2 \pgfpathlineto{{\V\X\Y}}\P}}\def\PQ#1 #2 #3 #4 #5 #6 {{\PM#1 #2 D#3 #4 D#5 #6 Z}}%
\def\PC#1 #2 #3 #4 #5 #6 {{\pgfpathcurveto{{\W#1 #2 }}{{\W#3 #4 }}{{\W#5 #6 }}\K#5 #6 \P}}%
\def\PR#1 #2 #3 #4 {{\pgfpathrectangle{{\V{{#1}}{{#2}}}}{{\V{{#3}}{{#4}}}}\P}}%
\def\PE#1 #2 #3 #4 {{\pgfpathellipse{{\V{{#1}}{{#2}}}}{{\V{{#3}}0}}{{\V0{{#4}}}}\P}}%
\def\I#1 {{\definecolor{{a}}{{HTML}}{{#1}}}}%
\def\PF#1 {{\I#1 \pgfsetfillcolor{{a}}\P}}\def\PS#1 {{\I#1 \pgfsetstrokecolor{{a}}\P}}%
\def\PL#1 {{\pgfsetlinewidth{{#1bp}}\P}}%
\def\PA{{\pgfscope\P}}\def\PO{{\endpgfscope\P}}\def\PG#1 {{\pgfusepath{{#1}}\PO}}%
\def\PY#1{{#1\P}}\let\PX\relax\def\PJ#1 #2 {{\PA Y{{\fontsize{{#1}}{{#1}}\selectfont\color[HTML]{{#2}}}}}}%
\def\PT#1 #2 {{\def\X{{#1}}\def\Y{{#2}}\PN}}%
\def\PN#1;{{\pgftext[base,at={{\V\X\Y}}]{{#1}}\edef\Y{{\the\numexpr\Y+{LINE}}}\P}}%
"""
r"""The commands of pictures, which must be defined once, in a group; lengths are units of the picture.

V is a point, W a point relative to the last one, which K moves. Each letter after ``\P`` reads its numbers and passes
on to the next letter, until X. M, D, C, Z, Q, R and E are the parts of a path: move, line, curve, end, triangle,
rectangle, ellipse. A begins a scope, which G, the use of a path, or O ends. F and S are the colors of areas and lines,
L is the width of lines in points, J begins a scope with the size and color of letters, Y is anything else. T is a line
of text, N one below it.
"""
CELLS = rf"""\definecolor{{b}}{{HTML}}{{{color(-1)[1:].upper()}}}%
\definecolor{{o}}{{HTML}}{{{color(1)[1:].upper()}}}%
\def\PH#1 #2 #3 #4 {{\pgfscope\pgftransformshift{{\V{{#1}}{{#2}}}}%
\pgftransformxscale{{#3}}\pgftransformyscale{{#4}}\def\X{{0}}\def\Y{{0}}\J}}%
\def\J#1{{\ifx;#1\expandafter\PO\else\ifx/#1\def\X{{0}}\K0 1 \else\ifx-#1\else%
\ifx x#1\pgfsetfillcolor{{magenta}}\else\ifx y#1\pgfsetfillcolor{{black}}\else
\ifnum`#1<91 \pgfsetfillcolor{{o!\the\numexpr(`#1-64)*100/{LEVELS}!white}}\else%
\pgfsetfillcolor{{b!\the\numexpr(`#1-96)*100/{LEVELS}!white}}\fi\fi\fi
\pgfpathrectangle{{\pgfqpoint{{\X bp}}{{-\Y bp}}}}{{\pgfqpoint{{1bp}}{{-1bp}}}}%
\pgfusepath{{fill}}\fi\K1 0 \fi\expandafter\J\fi}}%
"""
r"""The command for cells in colors: H, with the place of the first cell and its size.

Each following letter is a cell: lower case for negative numbers, capitals for positive ones, - for zero, x and y for
nan and infinity. A slash ends a row, a semicolon ends the cells.
"""
LETTERS = {
    color(0): "-",
    MARKS[0]: "x",
    MARKS[1]: "y",
    **{color(k / LEVELS): chr(ord("@") + k) for k in range(1, LEVELS + 1)},
    **{color(-k / LEVELS): chr(ord("`") + k) for k in range(1, LEVELS + 1)},
}
"""The letters of the colors of cells."""
TRIANGLE = [("M", 2), ("L", 4), ("Z", 0)]
ANCHORS = {"start": "left,", "end": "right,"}


def pgf(picture: Picture) -> str:
    """Write a picture in the commands of `COMMANDS`, scaled down to the size of a page."""
    width, height = picture.width / UNIT, picture.height / UNIT
    scale = min(1.0, WIDTH / max(width, 1), HEIGHT / max(height, 1))
    smaller = f"\\pgftransformscale{{{scale:.3f}}}" if scale < 1 else ""
    # Control points and letters reach beyond the picture; LaTeX must reserve the size of the picture only.
    box = f"\\pgfresetboundingbox\\PR0 0 {picture.width} {picture.height} X\\pgfusepath{{use as bounding box}}"
    start = f"\\begin{{pgfpicture}}\\sffamily\\pgfsetlinewidth{{1bp}}{smaller}"
    return f"{start}\\P\n{_body(picture)}X{box}\\end{{pgfpicture}}"


def _body(picture: Picture) -> str:
    parts = []
    for (_, style), outlines in picture.layers.items():
        if use := _use(style):
            path = "".join(map(_outline, outlines))
            parts.append(f"A{_paint(style)}{path}G{use} \n")
    for style, words in picture.words.items():
        parts.append(f"{_lettering(style)}{_lines(style, words)}O\n")
    parts += map(_inset, picture.insets)
    parts += map(_cells, picture.rasters)
    return "".join(parts)


def _lettering(style: Style) -> str:
    """Begin a scope with the size, weight and color of letters."""
    attributes = dict(style)
    size = int(attributes.get("font-size", 10 * UNIT)) / UNIT
    bold = "Y\\bfseries" * (attributes.get("font-weight") == "bold")
    return f"J{size:g} {_color(attributes.get('fill', '#000000'))} {bold}"


def _lines(style: Style, words: Sequence[Words]) -> str:
    """Write lines of text; one right below the last doesn't repeat its position."""
    anchor = ANCHORS.get(dict(style).get("text-anchor", "start"), "")
    parts, place = [], None
    for line in words:
        content = tex(line.text)
        if anchor:
            parts.append(
                f"Y{{\\pgftext[{anchor}base,at={{\\V{{{line.x}}}{{{line.y}}}}}]{{{content}}}}}"
            )
            continue
        parts.append("N" if (line.x, line.y) == place else f"T{line.x} {line.y} ")
        parts.append(f"{content};")
        place = line.x, line.y + LINE
    return "".join(parts)


def _inset(part: Inset) -> str:
    place = f"\\pgftransformshift{{\\V{{{part.x}}}{{{part.y}}}}}"
    scale = f"\\pgftransformscale{{{part.scale:.3g}}}" * (part.scale != 1)
    return f"AY{{{place}{scale}}}\n{_body(fragment(part.insert))}O\n"


def _cells(part: Raster) -> str:
    """Write colored cells as letters, or '' for images, whose colors have no letter."""
    # Cells of a heat map have one of 17 colors.
    if not all(shade in LETTERS for row in part.colors for shade in row):
        return ""
    width, height = (
        f"{length / UNIT / count:.4g}"
        for length, count in ((part.width, len(part.colors[0])), (part.height, len(part.colors)))
    )
    letters = "/".join("".join(LETTERS[shade] for shade in row) for row in part.colors)
    return f"H{part.x} {part.y} {width} {height} {letters};\n"


def _use(style: Style) -> str:
    """Return how PGF paints a path: fill, stroke, or both."""
    attributes = dict(style)
    is_filled = attributes.get("fill", "#000000").startswith("#")
    is_stroked = attributes.get("stroke", "none").startswith("#")
    return ",".join(["fill"] * is_filled + ["stroke"] * is_stroked)


def _paint(style: Style) -> str:
    attributes = dict(style)
    parts = []
    if (fill := attributes.get("fill", "#000000")).startswith("#"):
        parts.append(f"F{_color(fill)} ")
    if (stroke := attributes.get("stroke", "none")).startswith("#"):
        parts.append(f"S{_color(stroke)} ")
        if (width := attributes.get("stroke-width", str(UNIT))) != str(UNIT):
            parts.append(f"L{int(width) / UNIT:g} ")
    more = ""
    if dashes := attributes.get("stroke-dasharray", "").split():
        lengths = "".join(f"{{{int(length) / UNIT:g}bp}}" for length in dashes)
        more += f"\\pgfsetdash{{{lengths}}}{{0bp}}"
    more += "".join(
        f"\\pgfset{name}opacity{{{opacity}}}"
        for name in ("fill", "stroke")
        if (opacity := attributes.get(f"{name}-opacity", attributes.get("opacity", "")))
    )
    return "".join(parts) + f"Y{{{more}}}" * bool(more)


def _color(value: str) -> str:
    """Return a color as six digits, or gray for one that PGF can't read."""
    digits = value.removeprefix("#").upper()
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    is_hex = len(digits) == 6 and all(digit in "0123456789ABCDEF" for digit in digits)
    return digits if is_hex else "7F7F7F"


def _outline(steps: Steps) -> str:
    """Write an outline, with relative coordinates after its first point."""
    if (rectangle := _rectangle(steps)) is not None:
        return rectangle
    if [(kind, len(points)) for kind, points in steps] == TRIANGLE:
        (x, y), (x1, y1, x2, y2) = steps[0][1], steps[1][1]
        return f"Q{x} {y} {x1 - x} {y1 - y} {x2 - x1} {y2 - y1} "
    parts = []
    x = y = 0
    for kind, points in steps:
        if kind == "M":
            x, y = points
            parts.append(f"M{x} {y} ")
        elif kind == "E":
            parts.append("E{} {} {} {} ".format(*points))
        elif kind == "Z":
            parts.append("Z")
        else:
            size, name = (6, "C") if kind == "C" else (2, "D")
            for i in range(0, len(points), size):
                numbers = [value - (y if j % 2 else x) for j, value in enumerate(points[i : i + size])]  # fmt: skip
                x, y = points[i + size - 2 : i + size]
                parts.append(f"{name}{' '.join(map(str, numbers))} ")
    return "".join(parts)


def _rectangle(steps: Steps) -> str | None:
    """Write an outline as a rectangle, or return None for another shape."""
    if len(steps) != 3 or len(steps[1][1]) != 6 or steps[2][0] != "Z":
        return None
    (x, y), corners = steps[0][1], steps[1][1]
    xs, ys = {x, *corners[::2]}, {y, *corners[1::2]}
    if len(xs) != 2 or len(ys) != 2 or (corners[2], corners[3]) == (x, y):
        return None
    left, top = min(xs), min(ys)
    return f"R{left} {top} {max(xs) - left} {max(ys) - top} "
