"""Pictures as LaTeX, drawn by pgf alone, which nbconvert's template loads."""

from __future__ import annotations

from tapemagic.display.picture import UNIT, Inset, Picture, Steps, Style, fragment
from tapemagic.display.tex import tex

WIDTH, HEIGHT = 460, 600
"""The largest width and height of a picture in points: those of a page."""

COMMANDS = r"""\def\V#1;#2;{\pgfqpoint{\dimexpr.1bp*(#1)\relax}{\dimexpr-.1bp*(#2)\relax}}%
\def\W#1;#2;{\V\X+#1;\Y+#2;}\def\H#1;#2;{\edef\X{\the\numexpr\X+#1}\edef\Y{\the\numexpr\Y+#2}}%
\def\M#1 #2;{\def\X{#1}\def\Y{#2}\pgfpathmoveto{\V#1;#2;}}\let\Z\pgfpathclose
\def\D#1 #2;{\H#1;#2;\pgfpathlineto{\W0;0;}}%
\def\B#1 #2 #3 #4 #5 #6;{\pgfpathcurveto{\W#1;#2;}{\W#3;#4;}{\W#5;#6;}\H#5;#6;}%
\def\Q#1 #2 #3 #4 #5 #6;{\M#1 #2;\D#3 #4;\D#5 #6;\Z}%
\def\R#1 #2 #3 #4;{\pgfpathrectangle{\V#1;#2;}{\V#3;#4;}}%
\def\E#1 #2 #3 #4;{\pgfpathellipse{\V#1;#2;}{\V#3;0;}{\V0;#4;}}%
\def\F#1{\definecolor{a}{HTML}{#1}\pgfsetfillcolor{a}}\def\S#1{\definecolor{b}{HTML}{#1}\pgfsetstrokecolor{b}}%
\def\L#1;{\pgfsetlinewidth{\dimexpr.1bp*#1\relax}}\let\G\pgfusepath\let\A\pgfscope\let\O\endpgfscope%
\def\J#1{\fontsize{#1}{#1}\selectfont}\def\T#1 #2 #3;{\pgftext[base,at={\V#1;#2;}]{#3}}%
"""
"""The commands in which a picture is written, to be defined once, in a group: lengths are tenths of a point.

V is a point, W a point relative to the last one, which H moves. M, D, B, Z, Q, R and E are the parts of a path: move,
line, curve, end, triangle, rectangle, ellipse. F and S are the colours of areas and lines, L the width of lines; what
stands between A and O has its own. T is a text.
"""
TRIANGLE = [("M", 2), ("L", 4), ("Z", 0)]
ANCHORS = {"start": "left,", "end": "right,"}


def pgf(picture: Picture) -> str:
    """A picture in the commands of `COMMANDS`, made smaller if it is larger than a page."""
    width, height = picture.width / UNIT, picture.height / UNIT
    scale = min(1.0, WIDTH / max(width, 1), HEIGHT / max(height, 1))
    smaller = f"\\pgftransformscale{{{scale:.3f}}}" if scale < 1 else ""
    box = f"\\pgfresetboundingbox\\R0 0 {picture.width} {picture.height};\\G{{use as bounding box}}"
    return f"\\begin{{pgfpicture}}\\sffamily{smaller}%\n{_body(picture)}{box}\\end{{pgfpicture}}"


def _body(picture: Picture) -> str:
    parts = []
    for (_, style), outlines in picture.layers.items():
        if use := _use(style):
            path = "".join(map(_outline, outlines))
            parts.append(f"\\A{_paint(style)}{path}\\G{{{use}}}\\O\n")
    for style, words in picture.words.items():
        given = dict(style)
        anchor = ANCHORS.get(given.get("text-anchor", "start"), "")
        lines = "".join(
            f"\\pgftext[{anchor}base,at={{\\V{w.x};{w.y};}}]{{{tex(w.text)}}}"
            if anchor
            else f"\\T{w.x} {w.y} {tex(w.text)};"
            for w in words
        )
        bold = "\\bfseries" if given.get("font-weight") == "bold" else ""
        size = int(given.get("font-size", "100")) / UNIT
        colour = _colour(given.get("fill", "#000000"))
        parts.append(f"{{\\J{{{size:g}}}{bold}\\color[HTML]{{{colour}}}{lines}}}%\n")
    parts += map(_inset, picture.insets)
    return "".join(parts)


def _inset(part: Inset) -> str:
    return (
        f"\\A\\pgftransformshift{{\\V{part.x};{part.y};}}\\pgftransformscale{{{part.scale:.3f}}}"
        f"{_body(fragment(part.insert))}\\O\n"
    )


def _use(style: Style) -> str:
    """The words for what is done with a path: filled, stroked, or both."""
    given = dict(style)
    is_filled = given.get("fill", "#000000").startswith("#")
    is_stroked = given.get("stroke", "none").startswith("#")
    return ",".join(["fill"] * is_filled + ["stroke"] * is_stroked)


def _paint(style: Style) -> str:
    given = dict(style)
    parts = []
    if (fill := given.get("fill", "#000000")).startswith("#"):
        parts.append(f"\\F{{{_colour(fill)}}}")
    if (stroke := given.get("stroke", "none")).startswith("#"):
        parts.append(f"\\S{{{_colour(stroke)}}}\\L{given.get('stroke-width', '10')};")
    if dashes := given.get("stroke-dasharray", "").split():
        lengths = "".join(f"{{{int(length) / UNIT:g}bp}}" for length in dashes)
        parts.append(f"\\pgfsetdash{{{lengths}}}{{0bp}}")
    parts += [
        f"\\pgfset{name}opacity{{{opacity}}}"
        for name in ("fill", "stroke")
        if (opacity := given.get(f"{name}-opacity", given.get("opacity", "")))
    ]
    return "".join(parts)


def _colour(value: str) -> str:
    """A colour as six digits; grey if it is none of those that pgf knows."""
    digits = value.removeprefix("#").upper()
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    is_known = len(digits) == 6 and all(digit in "0123456789ABCDEF" for digit in digits)
    return digits if is_known else "7F7F7F"


def _outline(steps: Steps) -> str:
    """The steps of an outline; those after the first are relative."""
    if (rectangle := _rectangle(steps)) is not None:
        return rectangle
    if [(kind, len(points)) for kind, points in steps] == TRIANGLE:
        (x, y), (x1, y1, x2, y2) = steps[0][1], steps[1][1]
        return f"\\Q{x} {y} {x1 - x} {y1 - y} {x2 - x1} {y2 - y1};"
    parts = []
    x = y = 0
    for kind, points in steps:
        if kind == "M":
            x, y = points
            parts.append(f"\\M{x} {y};")
        elif kind == "E":
            parts.append("\\E{} {} {} {};".format(*points))
        elif kind == "Z":
            parts.append("\\Z")
        else:
            size, name = (6, "B") if kind == "C" else (2, "D")
            for i in range(0, len(points), size):
                numbers = [value - (y if j % 2 else x) for j, value in enumerate(points[i : i + size])]  # fmt: skip
                x, y = points[i + size - 2 : i + size]
                parts.append(f"\\{name}{' '.join(map(str, numbers))};")
    return "".join(parts)


def _rectangle(steps: Steps) -> str | None:
    """A closed outline of four points along the axes, as a rectangle; None if it is none."""
    if len(steps) != 3 or len(steps[1][1]) != 6 or steps[2][0] != "Z":
        return None
    (x, y), corners = steps[0][1], steps[1][1]
    xs, ys = {x, *corners[::2]}, {y, *corners[1::2]}
    if len(xs) != 2 or len(ys) != 2 or (corners[2], corners[3]) == (x, y):
        return None
    left, top = min(xs), min(ys)
    return f"\\R{left} {top} {max(xs) - left} {max(ys) - top};"
