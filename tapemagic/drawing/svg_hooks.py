"""Names for scripts in a live picture: nodes, edges, frames, and the lines in the box of a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tapemagic.drawing.picture import Item

VALUE, GRADIENT = "v", "g"
"""The classes of lines of text and small pictures that show a value or its gradient."""
GRADIENT_LINE = "gradient "
"""The first words of a line that shows the gradient of a value."""
VALUE_NODE = re.compile("n[0-9]+")
"""The name of the box of a value; the name of a copy is longer."""


def class_of(mark: str) -> str:
    """Return a class as an attribute, or '' without a class."""
    return f' class="{mark}"' if mark else ""


def name_of(item: Item) -> str:
    """Return the name of an item as an attribute, or '' without a name.

    Examples
    --------
    >>> name_of(Item("edge", "n0->s0", ())), name_of(Item("cluster", "cluster_0", ()))
    (' data-e="n0 s0"', ' data-c="0"')
    """
    if not item.kind or not item.name:
        return ""
    name = item.name.replace("->", " ").removeprefix("cluster_")
    return f' data-{item.kind[0]}="{escape(name)}"'


def line_marks(item: Item, lines: Sequence[str]) -> list[str]:
    """Return the class of each line of text of an item: '' for all but values and gradients.

    Examples
    --------
    >>> line_marks(Item("node", "n0", ()), ["a (watched)", "3.0", "gradient 6.0"])
    ['', 'v', 'g']
    >>> line_marks(Item("node", "n2", ()), ["y = 9.0"])
    ['v']
    """
    marks = [""] * len(lines)
    if item.kind == "node" and VALUE_NODE.fullmatch(item.name):
        with_gradient = len(lines) > 1 and lines[-1].startswith(GRADIENT_LINE)
        marks[-1 - with_gradient :] = [VALUE, GRADIENT][: 1 + with_gradient]
    return marks
