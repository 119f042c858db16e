"""Style: how a report is shown, beside what it tells; and the themes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tapemagic.analysis.formatting import DIGITS
from tapemagic.display.elements import element
from tapemagic.display.styles import GROUND

Theme: TypeAlias = Literal["auto", "light", "dark"]
Engine: TypeAlias = Literal["auto", "dot", "pygraphviz", "none"]

THEMES: dict[Theme, tuple[str, str]] = {
    "auto": ("", GROUND),
    "light": ("background-color:#ffffff;color:#111827;padding:8px 12px", "#4b5563"),
    "dark": ("background-color:#111111;color:#e5e7eb;padding:8px 12px", "#9ca3af"),
}
"""The style of a page, and the colour of lines and text without a background in its pictures."""

OWN_COLOURS = {
    "<table": "color:inherit;background:none",
    "<tr": "background:none",
    "<th": "color:inherit",
    "<td": "color:inherit",
}
"""The elements to which front ends give colours of their own, and the styles that undo that."""


@dataclass(frozen=True)
class Style:
    """How a report is shown.

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

    first_tab: str = "Graph"
    theme: Theme = "auto"
    engine: Engine = "auto"
    digits: int = DIGITS


def themed_page(content: str, theme: Theme) -> str:
    """HTML on a page with the colours of a theme; with 'auto' as it is."""
    style, _ = THEMES[theme]
    if not style:
        return content
    for tag, own in OWN_COLOURS.items():
        content = content.replace(f'{tag} style="', f'{tag} style="{own};')
        content = content.replace(f"{tag}>", f'{tag} style="{own}">')
    return element("div", style, content)


def ground_of(theme: Theme) -> str:
    """The colour of lines and text without a background in the pictures of a theme."""
    return THEMES[theme][1]
