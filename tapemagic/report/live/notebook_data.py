"""The data of a report that a notebook stores, from which the extension of JupyterLab draws it without a kernel."""

from __future__ import annotations

from typing import Any

from tapemagic.explain.formatting import significant_digits
from tapemagic.report.live.answers import Answers
from tapemagic.report.live.content import Content
from tapemagic.report.live.packing import packed
from tapemagic.report.live.size_limit import fitted

MIME = "application/vnd.tapemagic.report+json"
VERSION = 1
"""The version of the format: an extension shows the static report instead of a format that it does not know."""
CONTENT = 30_000
"""The most bytes of all that the report shows; the gallery takes at most 20,000."""
ANSWERS = 10_000
"""The most bytes of answers to questions."""


def notebook_data(content: Content, answers: Answers) -> dict[str, Any]:
    """Return the data: the same for the same recording, so no model id, time or counter is in it."""
    content, text = fitted(content, CONTENT)
    # Packed together, since the tables of values have most of their HTML in common.
    return {"version": VERSION, "content": text, "answers": packed(_answers(content, answers))}


def _answers(content: Content, answers: Answers) -> dict[str, str]:
    """The values in full that a reader without a kernel may ask for, as many as have room."""
    view = content["view"]
    keys = [value["key"] for value in view["values"] if value["key"]] if view else []
    try:
        with significant_digits(answers.style.digits):
            values = answers.values(keys, at_hand=True)
    except Exception:  # noqa: BLE001 -- it was not kept, or user objects raise: the report does without
        return {}
    found = {f"value:{key}": html for key, html in values.items()}
    if len(packed(found)) <= ANSWERS:
        return found
    # One by one they take more than together, so the sum is on the safe side.
    kept, room = {}, ANSWERS
    for question, html in sorted(found.items(), key=lambda item: len(item[1])):
        room -= len(packed({question: html}))
        if room < 0:
            break
        kept[question] = html
    return kept
