"""A value in full, and its gradient, as HTML: numbers with all their digits, arrays as tables with named axes."""

from __future__ import annotations

from html import escape

from tapemagic.drawing.elements import attribute, element, escape_text
from tapemagic.drawing.styles import NAME, QUIET, SMALL
from tapemagic.drawing.thumbnails import legend, picture
from tapemagic.explain.formatting import format_number, format_size, printable
from tapemagic.report.details import ValueDetails
from tapemagic.report.entries import Entries, Part

HEADING = "margin-top:6px;font-weight:600"
NUMBER = f"{NAME}-wrap;overflow-wrap:anywhere"
TABLE = f"border-collapse:collapse;margin:2px 0 6px;font-size:12px;{NAME}"
INDEX = f"text-align:left;font-weight:400;{QUIET}"
NOT_KEPT = (
    "The recording did not keep its entries, since no derivative needs them: print it to see them."
)


def html(details: ValueDetails) -> str:
    """A value in full, and its gradient."""
    entries = details.value
    value = element("div", "", NOT_KEPT) if entries is None else _entries(entries, "value")
    return _heading("Value", entries) + value + _gradient(details)


def _gradient(details: ValueDetails) -> str:
    if details.gradient is not None:
        goal = f"Gradient of {details.goal} with respect to it" if details.goal else "Gradient"
        return _heading(goal, details.gradient) + _entries(details.gradient, "gradient")
    if not details.goal:
        return ""
    reason = "no gradient reaches it" if details.is_tracked else "it is not on the tape"
    words = element("div", "", escape_text(f"None: {reason}."))
    return _heading(f"Gradient of {details.goal} with respect to it", None) + words


def _heading(words: str, entries: Entries | None) -> str:
    if entries is None:
        return element("div", HEADING, escape_text(words))
    summary = entries.summary
    size = f"{format_size(summary.shape)}, " if summary.shape else ""
    kind = element("span", f"{QUIET};font-weight:400", escape_text(f", {size}{summary.dtype}"))
    return element("div", HEADING, escape_text(words) + kind)


def _entries(entries: Entries, words: str) -> str:
    """A number, or an array: what is known of all entries, a picture, and tables."""
    summary = entries.summary
    if entries.number:
        return element("div", NUMBER, escape_text(entries.number))
    if not entries.parts:
        words = summary.details if summary.state else summary.text
        return element("div", NUMBER, escape_text(words or "its entries are not known"))
    pictured = picture(summary) if summary.cells or summary.colours else ""
    facts = [summary.range] if summary.size > 1 else []
    if summary.norm is not None and len(summary.shape) > 0 and summary.size > 1:
        facts.append(f"norm {format_number(summary.norm)}")
    described = element("div", SMALL, escape_text(", ".join(filter(None, facts))))
    tables = "".join(_table(part, summary.shape, words) for part in entries.parts)
    notes = legend([summary]) if pictured else []
    if not entries.is_whole:
        notes.insert(0, f"{summary.size:,} entries: only those at the ends of the axes are shown.")
    return (
        pictured
        + described
        + tables
        + "".join(element("div", SMALL, escape_text(n)) for n in notes)
    )


def _table(part: Part, shape: tuple[int, ...], words: str) -> str:
    """Return the table of an array, or of one part, with the sizes of its axes above."""
    first = len(shape) - 2
    if len(shape) == 1:
        axes = f"axis 0 ({shape[0]:,}) →"
    else:
        axes = f"axis {first} ({shape[first]:,}) ↓, axis {first + 1} ({shape[first + 1]:,}) →"
    title = f"{part.index} " if part.index else ""
    caption = element("caption", f"text-align:left;{QUIET}", escape(f"{title}{axes}"))
    head = "".join(_index(label, "col") for label in part.columns)
    corner = "<td></td>" if part.rows else ""
    labels = part.rows or [""] * len(part.cells)
    rows = "".join(
        "<tr>"
        + (_index(label, "row") if part.rows else "")
        + "".join(f"<td>{escape_text(cell)}</td>" for cell in cells)
        for label, cells in zip(labels, part.cells, strict=True)
    )
    table = f"{caption}<tr>{corner}{head}</tr>{rows}"
    label = f' aria-label="{escape(printable(f"{words} {title}{axes}"))}"'
    # Focusable, because a keyboard can scroll only an element with the focus.
    box = f'<div style="overflow:auto;max-height:40vh" tabindex=0 role=region{label}>'
    return f"{box}<table cellpadding=3{attribute(TABLE)}>{table}</table></div>"


def _index(words: str, of: str) -> str:
    return f"<th scope={of}{attribute(INDEX)}>{escape_text(words)}</th>"
