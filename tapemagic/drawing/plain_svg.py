"""SVG of matplotlib made plain: paths and text with attributes, without styles, definitions and references."""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree as ET

KEPT = {
    "fill": "#000000",
    "stroke": "none",
    "stroke-width": "1",
    "stroke-opacity": "1",
    "stroke-dasharray": "none",
}
"""The properties of a path that are kept, with the values that need not be written."""
LETTERS = {"fill": "#000000", "font-size": "", "text-anchor": "start"}
NUMBER = re.compile(r"-?\d+\.\d+")
MARKS = re.compile(r",?([A-Za-z]),?")
LINES = re.compile(r"L[^A-Za-z]*(?:L[^A-Za-z]*)+")
"""Several lines, one behind the other."""
LINK = "{http://www.w3.org/1999/xlink}href"


def plain(svg: str) -> str:
    """The content of an SVG element in few bytes: what is invisible is left out, as are clippings.

    Parameters
    ----------
    svg : str
        A document of matplotlib, with text as text.

    Returns
    -------
    str

    Examples
    --------
    >>> plain('<svg><g><path d="M 1.25 2 L 3 4.0" style="fill: none; stroke: #ff0000"/></g></svg>')
    '<path d="M1.2,2L3,4" fill="none" stroke="#ff0000"/>'
    """
    root = ET.fromstring(svg[svg.index("<svg") :])  # noqa: S314 -- matplotlib wrote it
    defined = {
        path.get("id", ""): path for part in root.iter() if _is(part, "defs") for path in part
    }
    return _content(root, defined)


def _is(element: ET.Element, tag: str) -> bool:
    return element.tag.rpartition("}")[2] == tag


def _content(element: ET.Element, defined: dict[str, ET.Element]) -> str:
    return "".join(_element(child, defined) for child in element)


def _element(element: ET.Element, defined: dict[str, ET.Element]) -> str:
    if _is(element, "g") or _is(element, "svg"):
        return _content(element, defined)
    if _is(element, "path"):
        return _path(element)
    if _is(element, "use"):
        target = defined[element.get(LINK, "").removeprefix("#")]
        moved = ET.Element("path", target.attrib | {"style": _joined(target, element)})
        place = f"{_short(element.get('x', '0'))},{_short(element.get('y', '0'))}"
        return f'<g transform="translate({place})">{_path(moved)}</g>'
    if _is(element, "text"):
        place = "".join(f' {axis}="{_short(element.get(axis, "0"))}"' for axis in "xy")
        words = escape("".join(element.itertext()), quote=False)
        return f"<text{place}{_attributes(element, LETTERS)}>{words}</text>"
    return ""


def _joined(*elements: ET.Element) -> str:
    """The styles of elements as one, the last ones first."""
    return ";".join(element.get("style", "") for element in elements)


def _style(element: ET.Element) -> dict[str, str]:
    pairs = (entry.partition(":") for entry in element.get("style", "").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs if value}


def _path(element: ET.Element) -> str:
    style = _style(element)
    if style.get("opacity") == "0" or style.get("fill") == "none" == style.get("stroke", "none"):
        return ""
    data = ",".join(_short(element.get("d", "")).split())
    data = LINES.sub(lambda lines: "L" + lines[0][1:].replace("L", " "), MARKS.sub(r"\1", data))
    return f'<path d="{data}"{_attributes(element, KEPT)}/>'


def _attributes(element: ET.Element, kept: dict[str, str]) -> str:
    style = _style(element)
    found = {name: style[name].removesuffix("px") for name in kept if name in style}
    return "".join(
        f' {name}="{_short(value)}"' for name, value in found.items() if value != kept[name]
    )


def _short(text: str) -> str:
    """Text with one decimal of each number."""
    return NUMBER.sub(lambda x: f"{float(x[0]):.1f}".removesuffix(".0"), text)
