"""The widget of a report: an anywidget that shows its content, and answers questions about the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import anywidget
from ipywidgets import Widget, widget_serialization
from traitlets import Dict, Instance, Unicode

from tapemagic.report.live.answers import MAX_QUESTION_LENGTH, Answers, QueryError
from tapemagic.report.live.content import Content
from tapemagic.report.live.front_end import CODE, LOADER
from tapemagic.report.live.packing import packed
from tapemagic.report.live.size_limit import NOTEBOOK, fitted

VIEW = "application/vnd.jupyter.widget-view+json"
ROOM = 120_000
"""The most bytes of all answers that are kept, where notebooks have room for them."""
TOO_LARGE = "The answer is too large to be shown here."

WhatIf = Callable[[Mapping[str, Any]], None]


class FrontEnd(Widget):  # type: ignore[misc]
    """The front end of all reports: a model without a view, so that a notebook with 200 reports stores it once."""

    code = Unicode(CODE).tag(sync=True)

    _shared: ClassVar[FrontEnd | None] = None

    @classmethod
    def shared(cls) -> FrontEnd:
        """Return the one of this kernel."""
        # Widget.close_all() closes it, too; the reports that used it are then closed as well.
        if cls._shared is None or cls._shared.comm is None:
            cls._shared = cls()
        return cls._shared


class ReportWidget(anywidget.AnyWidget):
    """A report in a notebook.

    Its traits hold packed JSON: `content`, and for each question that was asked the answer. A front end asks by the
    message ``{"ask": question}``, which may have the key "what_if", too: then the question is about the run with those
    values. What it sends otherwise, and messages that are not of this form, are ignored.

    - `content`: All that it shows at first.
    - `answers`: They hold the recording, which `close` lets go.
    - `what_if`: It receives every message with the key "what_if".
    - `room`: The most bytes of content and answers: of the content the least important parts are left out, and of the
      answers the oldest are dropped.
    """

    _esm = Unicode(LOADER).tag(sync=True)
    front_end = Instance(FrontEnd).tag(sync=True, **widget_serialization)
    content = Unicode().tag(sync=True)
    answers = Dict().tag(sync=True)

    def __init__(
        self,
        content: Content,
        answers: Answers,
        what_if: WhatIf | None = None,
        room: int = NOTEBOOK,
    ) -> None:
        _, text = fitted(content, room)
        super().__init__(content=text, front_end=FrontEnd.shared())
        self._number = content["number"]
        self._source: Answers | None = answers
        self._what_if = what_if
        self._room = room
        self._room_of_answers = min(ROOM, room - len(text))
        self._answered: dict[str, str] = {}
        self.on_msg(_hear)

    def renew(self, content: Content, answers: Answers) -> None:
        """Show another run of the cell, whose answers replace those to earlier questions."""
        self._number += 1
        self._source, self._answered = answers, {}
        _, text = fitted({**content, "number": self._number}, self._room)
        self._room_of_answers = min(ROOM, self._room - len(text))
        # Together, so that the front end never shows a new run with answers about the old one.
        with self.hold_sync():
            self.content = text
            self.answers = {}

    @property
    def answered(self) -> dict[str, str]:
        """The packed answers so far, by the questions."""
        return self._answered

    def hear(self, message: Any) -> None:
        """Answer any message of a front end; no error leaves this method."""
        if not isinstance(message, dict):
            return
        question = message.get("ask")
        with self.hold_sync():
            if "what_if" in message and self._what_if is not None:
                self._what_if(message)
            if isinstance(question, str) and question and _can_be_answered(question):
                self.answer(question)

    def answer(self, question: str) -> None:
        """Add the answer to a question."""
        if self._source is None or question in self._answered:
            return
        text = packed(self._source.answer(question))
        if len(text) + len(question) > self._room_of_answers:
            text = packed(QueryError(error=TOO_LARGE))
        answers = {**self._answered, question: text}
        size = sum(len(earlier) + len(answer) for earlier, answer in answers.items())
        # Dicts keep the order of insertion, so the oldest answers are dropped first.
        for earlier in list(answers):
            if size <= self._room_of_answers or earlier == question:
                break
            size -= len(earlier) + len(answers.pop(earlier))
        self._answered = answers
        self.answers = answers

    def close(self) -> None:
        """Close the widget and its layout, and let go of the recording."""
        self._source, self._what_if = None, None
        # ipywidgets keeps every open widget alive, and the layout is a separate widget.
        self.layout.close()
        super().close()


def _can_be_answered(question: str) -> bool:
    """Return True if a question is short enough, and can be sent back: half of a surrogate pair cannot."""
    # A lone surrogate has no UTF-8, so an answer whose key is the question could not be sent.
    try:
        question.encode()
    except UnicodeEncodeError:
        return False
    return len(question) <= MAX_QUESTION_LENGTH


def _hear(widget: ReportWidget, message: Any, _buffers: Any) -> None:
    """Answer a message. A method of a widget as its callback would keep the widget alive."""
    widget.hear(message)


def view(widget: ReportWidget) -> dict[str, Any]:
    """The MIME bundle that shows a widget in a notebook, or an empty one outside of notebooks."""
    # anywidget returns a dict, or a tuple of data and metadata.
    result: Any = widget._repr_mimebundle_()
    bundle = result[0] if isinstance(result, tuple) else result
    return {VIEW: bundle[VIEW]} if bundle and VIEW in bundle else {}
