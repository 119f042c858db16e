"""The widget of a report: an anywidget that shows its content, and answers questions about the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import anywidget
from traitlets import Dict, Unicode

from tapemagic.analysis.report.details import Details
from tapemagic.display.live.content import Content
from tapemagic.display.live.packing import packed

VIEW = "application/vnd.jupyter.widget-view+json"
STATIC = resources.files("tapemagic.display") / "static"


class ReportWidget(anywidget.AnyWidget):
    """A report in a notebook.

    Its traits hold packed JSON: `content`, and for each question that was asked the answer.

    Parameters
    ----------
    content : Content
        All that it shows at first.
    details : Details or None
        What can be asked; None if the recording was not kept.
    moved : callable or None
        Called with messages on sliders; None if there are none.
    """

    _esm = (STATIC / "report.js").read_text(encoding="utf-8")
    _css = (STATIC / "report.css").read_text(encoding="utf-8")
    content = Unicode().tag(sync=True)
    answers = Dict().tag(sync=True)

    def __init__(
        self,
        content: Content,
        details: Details | None = None,
        moved: Callable[[Any], None] | None = None,
    ) -> None:
        super().__init__(content=packed(content))
        self._details = details
        self._moved = moved
        self.on_msg(self._receive)

    def _receive(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """Answer a message of a front end."""
        if self._moved is not None and isinstance(message, Mapping) and "what_if" in message:
            self._moved(message)

    def renew(self, content: Content, details: Details | None) -> None:
        """Show another run of the cell; what was answered about the earlier one is dropped."""
        self._details = details
        with self.hold_sync():
            self.answers = {}
            self.content = packed(content)

    def close(self) -> None:
        """Close the widget and its layout, and let go of the recording."""
        self._details = self._moved = None
        self.layout.close()
        super().close()


def view(widget: ReportWidget) -> dict[str, Any]:
    """The MIME bundle that shows a widget in a notebook; empty where there is no notebook."""
    bundle: Any = widget._repr_mimebundle_() or {}
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    return {VIEW: bundle[VIEW]} if VIEW in bundle else {}
