"""The widget of a report: an anywidget that shows its content, and answers questions about the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import anywidget
from ipywidgets import Widget, widget_serialization
from traitlets import Dict, Instance, Unicode

from tapemagic.drawing.engines import keep_layout
from tapemagic.report.live.answers import MAX_QUESTION_LENGTH, Answers, QueryError
from tapemagic.report.live.content import Content
from tapemagic.report.live.front_end import CODE, DRAWING_LOADER, GRAPHVIZ, LOADER
from tapemagic.report.live.packing import packed
from tapemagic.report.live.size_limit import NOTEBOOK, fitted
from tapemagic.report.tabs.graph.live_graph import View

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
            cls._shared.on_msg(_send_graphviz)
        return cls._shared


def _send_graphviz(shared: FrontEnd, message: Any, _buffers: Any) -> None:
    """Send Graphviz to a page that asks for it."""
    if isinstance(message, dict) and "graphviz" in message:
        shared.send({}, buffers=[GRAPHVIZ.read_bytes()])


class ReportWidget(anywidget.AnyWidget):
    """A report in a notebook.

    Its traits hold packed JSON: `content`, and for each question that was asked the answer. A front end asks by the
    message ``{"ask": question}``, which may have the key "what_if", too: then the question is about the run with those
    values. What it sends otherwise, and messages that are not of this form, are ignored.

    Where the kernel has no Graphviz, a front end that says ``{"draws": True}`` is asked by ``{"draw": DOT}``, and
    answers ``{"drawn": DOT, "svg": SVG}``. Until then, what was already shown stays.

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
        self._number = content["number"]
        self._source: Answers | None = answers
        self._what_if = what_if
        self._room = room
        self._answered: dict[str, str] = {}
        # Whether a front end draws, what it is to draw for each question ("" is what is shown at first), and the
        # contents without their picture.
        self._draws = False
        self._waiting: dict[str, str] = {}
        self._undrawn: Content | None = None
        self._take(content)
        loader = DRAWING_LOADER if _is_undrawn(content["view"]) else LOADER
        super().__init__(_esm=loader, content=self._text, front_end=FrontEnd.shared())
        self.on_msg(_hear)

    def renew(self, content: Content, answers: Answers) -> None:
        """Show another run of the cell, whose answers replace those to earlier questions."""
        self._number += 1
        self._source, self._answered, self._waiting = answers, {}, {}
        self._take({**content, "number": self._number})
        self._publish()

    def _pack(self, content: Content) -> None:
        """Pack contents to be shown; what is left of the room is for answers."""
        _, self._text = fitted(content, self._room)
        self._room_of_answers = min(ROOM, self._room - len(self._text))

    def _take(self, content: Content) -> None:
        """Pack contents; a picture that is missing is asked for."""
        self._pack(content)
        self._undrawn = content if _is_undrawn(content["view"]) else None
        self._ask_for_picture("", content["view"])

    def _publish(self) -> None:
        """Let the front end show all there is, unless a picture is still to come."""
        if not self._waiting:
            # Together, so that the front end never shows a new run with answers about the old one.
            with self.hold_sync():
                self.content = self._text
                self.answers = self._answered

    def _ask_for_picture(self, question: str, view: Any) -> None:
        """Ask a front end that draws for the picture of a view."""
        if self._draws and _is_undrawn(view):
            self._waiting[question] = view["dot"]
            self.send({"draw": view["dot"]})

    def _begin_drawing(self) -> None:
        """Ask a front end for all pictures that are missing; it may be the first, or another page."""
        self._draws = True
        for dot in set(self._waiting.values()):
            self.send({"draw": dot})
        if self._undrawn is not None and not self._waiting:
            self._ask_for_picture("", self._undrawn["view"])

    def _drawn(self, dot: str, svg: str) -> None:
        """Show the picture that a front end has drawn; without one, the equations."""
        if svg:
            keep_layout(dot, svg)
        questions = [each for each, source in self._waiting.items() if source == dot]
        for question in questions:
            del self._waiting[question]
            if question:
                self._answered = {k: v for k, v in self._answered.items() if k != question}
                self.answer(question, redraw=False)
            elif self._undrawn is not None and self._source is not None:
                content, self._undrawn = self._undrawn, None
                view = cast("View", self._source.answer("view:{}"))
                self._pack({**content, "view": view})
        self._publish()

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
            if "draws" in message:
                self._begin_drawing()
            dot, svg = message.get("drawn"), message.get("svg")
            if isinstance(dot, str) and isinstance(svg, str):
                self._drawn(dot, svg)

    def answer(self, question: str, redraw: bool = True) -> None:
        """Add the answer to a question; with `redraw`, a picture that is missing is asked for."""
        if self._source is None or question in self._answered:
            return
        answer = self._source.answer(question)
        if redraw:
            self._ask_for_picture(question, answer)
        text = packed(answer)
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
        self._publish()

    def close(self) -> None:
        """Close the widget and its layout, and let go of the recording."""
        self._source, self._what_if = None, None
        # ipywidgets keeps every open widget alive, and the layout is a separate widget.
        self.layout.close()
        super().close()


def _is_undrawn(view: Any) -> bool:
    """Return True for a view, or another answer, whose picture a front end may draw."""
    return isinstance(view, dict) and view.get("undrawn", False)


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
