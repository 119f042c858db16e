"""The limit on the size of what a notebook stores of a widget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from tapemagic.drawing.elements import element, escape_text
from tapemagic.drawing.styles import SMALL
from tapemagic.report import limits
from tapemagic.report.live.content import Content, Face
from tapemagic.report.live.packing import packed
from tapemagic.report.tabs import LEAST_IMPORTANT, TITLE_OF
from tapemagic.report.tabs.graph.live_graph import View

NOTEBOOK = 240_000
"""The most bytes that a notebook stores of a report with its widget; all reports share one front end."""
MIN_ROOM = 20_000
"""The bytes that a widget always has for its content and answers."""
STATE = 4_000
"""The bytes that a notebook stores of a widget in addition to its content and its module."""
LINE = 14
"""The bytes in which a notebook indents a line."""
STEPS = "Steps"
"""The name of the steps, which are a part of the content without a tab."""
GRAPH, TRACE = TITLE_OF["graph"], TITLE_OF["trace"]
"""The tabs that are parts of the view."""


def room_beside(texts: Iterable[str]) -> int:
    """Return the bytes left for the content and the answers of a widget, given the texts that are stored anyway."""
    return max(MIN_ROOM, NOTEBOOK - STATE - sum(map(stored, texts)))


def stored(text: str) -> int:
    r"""The bytes that a text takes in a notebook.

    Examples
    --------
    >>> stored("é"), stored("a\nb")
    (4, 20)
    """
    # As nbformat writes a notebook: in UTF-8, with each line of a text on a line of the file.
    return len(json.dumps(text, ensure_ascii=False).encode()) + LINE * text.count("\n")


def fitted(content: Content, room: int) -> tuple[Content, str]:
    """Return content that fits into `room` bytes, and the content packed; a sentence replaces each omitted part."""
    text = packed(content)
    # Base64 has no character that JSON escapes, so the length is the size in the notebook.
    if len(text) <= room:
        return content, text
    sizes = {face["title"]: packed(face["html"]) for face in content["faces"] if face["html"]}
    view = content["view"]
    if view is not None:
        sizes[STEPS] = packed(view["steps"])
        sizes[TRACE] = packed(view["trace"])
        sizes[GRAPH] = packed([view["svg"], view["dot"], view["caption"]])
    # Parts that are compressed one by one take more than together, so the sum is on the safe side.
    rest = len(packed({**content, "faces": [], "view": _bare(view)}))
    kept = limits.fits(sizes, max(0, room - rest), (STEPS, *LEAST_IMPORTANT))
    content = _without(content, sizes.keys() - set(kept))
    text = packed(content)
    # Without its large parts the view may still be too large: the names and tips of hundreds of values and operations.
    if len(text) > room:
        content = _without({**content, "view": None}, sizes.keys())
        text = packed(content)
    return content, text


def _bare(view: View | None) -> View | None:
    return view and {**view, "steps": [], "trace": "", "svg": "", "dot": "", "caption": ""}


def _without(content: Content, titles: Iterable[str]) -> Content:
    """Return content in which a sentence replaces some parts."""
    words = {
        title: element("div", SMALL, escape_text(limits.omission_note(title))) for title in titles
    }
    view = content["view"]
    return {
        **content,
        "faces": [_face(face, words, view is None) for face in content["faces"]],
        "view": None if view is None else _view(view, words),
    }


def _face(face: Face, words: Mapping[str, str], is_bare: bool) -> Face:
    """Return a tab with a sentence instead of its HTML, if it is omitted."""
    if face["html"] or is_bare:
        return {**face, "html": words.get(face["title"], face["html"])}
    return face


def _view(view: View, words: Mapping[str, str]) -> View:
    if STEPS in words:
        view = {**view, "steps": []}
    if TRACE in words:
        view = {**view, "trace": words[TRACE]}
    if GRAPH in words:
        view = {**view, "svg": "", "dot": "", "caption": words[GRAPH]}
    return view
