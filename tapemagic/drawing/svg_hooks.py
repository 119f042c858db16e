"""Names in a live picture, by which scripts find its nodes, edges and frames, and the lines in the box of a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from tapemagic.drawing.picture import Item

VALUE, GRADIENT = "v", "g"
"""The classes of a line of text, or a small picture, that shows a value, and of one that shows its gradient."""
GRADIENT_LINE = "gradient "
"""The words with which the last line in the box of a value begins, if it tells the gradient."""
VALUE_NODE = re.compile("n[0-9]+")
"""The name of the box of a value; a box that repeats it has a longer one."""


def class_of(mark: str) -> str:
    """A class as an attribute; empty if there is none."""
    return f' class="{mark}"' if mark else ""


def name_of(item: Item) -> str:
    """The name of an item as an attribute; empty if it has none.

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
    """The class of each line of text of an item: in the box of a value, those with the value and its gradient have one.

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
