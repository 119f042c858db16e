"""Style: how a report is shown, beside what it tells; and the themes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tapemagic.drawing.elements import element
from tapemagic.drawing.styles import GROUND
from tapemagic.explain.formatting import DIGITS
from tapemagic.report.tabs import DEFAULT_FIRST

Theme: TypeAlias = Literal["auto", "light", "dark"]
Engine: TypeAlias = Literal["auto", "dot", "pygraphviz", "none"]

THEMES: dict[Theme, tuple[str, str]] = {
    "auto": ("", GROUND),
    "light": ("background-color:#ffffff;color:#111827;padding:8px 12px;overflow-x:auto", "#4b5563"),
    "dark": ("background-color:#111111;color:#e5e7eb;padding:8px 12px;overflow-x:auto", "#9ca3af"),
}
"""The style of a page, and the colour of lines and text without a background in its pictures."""

OWN_COLOURS = {
    "table": "color:inherit;background:none",
    "tr": "background:none",
    "th": "color:inherit",
    "td": "color:inherit",
}
"""The elements to which front ends give colours of their own, and the styles that undo that."""
STYLE = re.compile(r' style=("[^"]*"|[^ >]*)')
COLOURED = re.compile(rf"<({'|'.join(OWN_COLOURS)})( [^>]*)?>")


@dataclass(frozen=True)
class Style:
    """The form in which a report is shown.

    Attributes
    ----------
    first_tab : str
        The title of the tab that is open at first.
    theme : {'auto', 'light', 'dark'}
        With 'auto', text has the colour of the page; the others bring a page of their own.
    engine : {'auto', 'dot', 'pygraphviz', 'none'}
        What draws the graph.
    digits : int
        The significant digits of numbers.
    """

    first_tab: str = DEFAULT_FIRST
    theme: Theme = "auto"
    engine: Engine = "auto"
    digits: int = DIGITS


def themed_page(content: str, theme: Theme) -> str:
    """HTML on a page with the colours of a theme; with 'auto' as it is."""
    style, _ = THEMES[theme]
    if not style:
        return content
    return element("div", style, COLOURED.sub(_with_colours_of_the_page, content))


def _with_colours_of_the_page(tag: re.Match[str]) -> str:
    """A tag with a style that undoes the colours of the front end, in front of its own style."""
    attributes = tag[2] or ""
    style = STYLE.search(attributes)
    more = f";{style[1].strip(chr(34))}" if style else ""
    return f'<{tag[1]}{STYLE.sub("", attributes)} style="{OWN_COLOURS[tag[1]]}{more}">'


def ground_of(theme: Theme) -> str:
    """The colour of lines and text without a background in the pictures of a theme."""
    return THEMES[theme][1]
