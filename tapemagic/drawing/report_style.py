"""Style: how a report looks, and its themes."""

from __future__ import annotations

import os
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
"""The style of a page, and the color of lines and text without background in its pictures."""

OWN_COLORS = {
    "table": "color:inherit;background:none",
    "tr": "background:none",
    "th": "color:inherit",
    "td": "color:inherit",
}
"""The styles that undo the colors of front ends, by element."""
STYLE = re.compile(r' style=("[^"]*"|[^ >]*)')
COLORED = re.compile(rf"<({'|'.join(OWN_COLORS)})( [^>]*)?>")


@dataclass(frozen=True)
class Style:
    """The form in which a report is shown.

    - `first_tab`: The title of the tab that is open at first.
    - `theme`: {'auto', 'light', 'dark'}. With 'auto', text has the color of the notebook; the others bring their own
      background.
    - `engine`: {'auto', 'dot', 'pygraphviz', 'none'}. The program that draws the graph.
    - `digits`: The significant digits of numbers.
    - `widgets`: Whether a notebook shows it as a widget, unless `switched_off`.
    """

    first_tab: str = DEFAULT_FIRST
    theme: Theme = "auto"
    engine: Engine = "auto"
    digits: int = DIGITS
    widgets: bool = True


def switched_off() -> bool:
    """Return True if the environment variable TAPEMAGIC_WIDGETS says that no report is a widget."""
    return os.environ.get("TAPEMAGIC_WIDGETS", "").strip().lower() in {"0", "false", "no", "off"}


def themed_page(content: str, theme: Theme) -> str:
    """Wrap HTML in the colors of a theme; with 'auto', return it unchanged."""
    style, _ = THEMES[theme]
    # Without a background, text must keep the color of the notebook.
    if not style:
        return content
    return element("div", style, COLORED.sub(_with_colors_of_the_page, content))


def _with_colors_of_the_page(tag: re.Match[str]) -> str:
    """Return a tag whose style first undoes the colors of the front end."""
    attributes = tag[2] or ""
    style = STYLE.search(attributes)
    more = f";{style[1].strip(chr(34))}" if style else ""
    return f'<{tag[1]}{STYLE.sub("", attributes)} style="{OWN_COLORS[tag[1]]}{more}">'


def ground_of(theme: Theme) -> str:
    """Return the color of lines and text without background in the pictures of a theme."""
    return THEMES[theme][1]
