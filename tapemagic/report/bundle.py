"""TapeReport: what a %%tape cell returns."""

from __future__ import annotations

import os
import tempfile
import warnings
import webbrowser
from collections.abc import Callable, Iterable
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import display

from tapemagic.drawing.curves import CurvePicture, curve_picture
from tapemagic.drawing.elements import element
from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.report_style import Style, ground_of, switched_off, themed_page
from tapemagic.drawing.styles import SMALL
from tapemagic.drawing.svg import Drawing
from tapemagic.engine.runtime import without_garbage_collection
from tapemagic.explain.formatting import format_cell_value, significant_digits
from tapemagic.report import html
from tapemagic.report.details import Details
from tapemagic.report.findings import Findings
from tapemagic.report.latex import latex
from tapemagic.report.live.answers import Answers
from tapemagic.report.live.content import Content, content_of
from tapemagic.report.live.front_end import LOADER
from tapemagic.report.live.notebook_data import MIME, notebook_data
from tapemagic.report.live.remarks import Remarks
from tapemagic.report.live.saved_page import page, written
from tapemagic.report.live.size_limit import room_beside
from tapemagic.report.tabs.graph.graph import Graph
from tapemagic.report.text import text

INTERRUPTED = "the drawing of the report was interrupted; the cell has run, and its variables and its tape are there"
CLOSED = "This report was closed, so its recording is gone. Run the cell again."

Move = Callable[[Any, "TapeReport"], Content | None]
"""Answers a message on sliders: changes the report, and returns its new contents, or None for an invalid message."""


class TapeReport:
    """The result of a ``%%tape`` cell, as text, HTML, graph and widget.

    It holds its contents as plain data, and `value`. To answer questions in the notebook it keeps the recording with
    its arrays, if that holds no more than 64 MB (`details.MAX_KEPT`), until its cell runs again, or `close` is called.
    So the reports of other cells keep theirs as long as ``Out`` or a variable refers to them.

    - `value`: The value of the cell's last expression, or None.
    - `findings`: The variables, graph and gradients as plain data.
    - `remarks`: Its sliders, and what else is to say of the run that it shows.
    - `on_move`: Answers messages on its sliders.
    - `hint`: A sentence that only its widget shows. Text, HTML and saved pages are the same whichever cell ran first.
    """

    def __init__(
        self,
        findings: Findings,
        value: Any = None,
        value_is_target: bool = False,
        style: Style = Style(),  # noqa: B008 -- it is frozen
        details: Details | None = None,
    ) -> None:
        self.findings = findings
        self.remarks = Remarks()
        self.on_move: Move | None = None
        self.hint = ""
        self._details = details
        self.value = value
        self._value_is_target = value_is_target
        self._style = style
        self._view: Any = None

    @property
    def graph(self) -> Graph:
        """The recorded graph."""
        return self.findings.graph

    @cached_property
    def _picture(self) -> GraphPicture:
        return GraphPicture(self.findings, self._style)

    @property
    def dot(self) -> str:
        """The graph as DOT source."""
        return self._picture.dot

    @property
    def drawing(self) -> Drawing:
        """The drawing of the graph; without one, the reason."""
        return self._picture.drawing

    @cached_property
    def curves(self) -> CurvePicture | None:
        """The picture of the plot; None without a plot."""
        plot = self.findings.plot
        return None if plot is None else curve_picture(plot, ground_of(self._style.theme))

    @cached_property
    def _faces(self) -> html.Faces:
        """The tabs as static HTML, which the page, the LaTeX and the widget show."""
        return html.Faces(self.findings, html.Pictures(self.drawing, self.curves))

    def __repr__(self) -> str:
        shown = self._shown_value()
        with significant_digits(self._style.digits):
            return text(self.findings) + (f"\n\n{shown}" if shown else "")

    def _shown_value(self) -> str | None:
        """The cell's value as text, or None if the tables show it already."""
        return format_cell_value(self.value, self._value_is_target)

    @without_garbage_collection()
    def _repr_mimebundle_(self, **_wishes: Any) -> dict[str, Any]:
        # The text comes first: it needs no drawing, so it is there even if the drawing fails.
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        try:
            with significant_digits(self._style.digits):
                parts, value = html.parts(self._faces), self._shown_value()
                page = html.assembled(self.findings, parts, value)
                bundle["text/html"] = themed_page(page, self._style.theme)
                bundle["text/latex"] = latex(self.findings, self.drawing, parts, value, self.curves)
                content = self.content()
                data = notebook_data(content, self._answers)
                if self._style.widgets and not switched_off():
                    beside = [*bundle.values(), data["content"], data["answers"]]
                    bundle.update(self._widget(content, beside))
                # Last: of what they can show, some front ends take what comes first.
                bundle[MIME] = data
        # Without the traceback: where in the drawing it was interrupted says nothing to a reader.
        except KeyboardInterrupt:
            raise KeyboardInterrupt(INTERRUPTED) from None
        except Exception as error:  # noqa: BLE001 -- if drawing fails, the text is shown
            warnings.warn(f"the report could not be drawn in full: {error!r}", stacklevel=2)
        return bundle

    def _repr_html_(self) -> str:
        """Return the static page, for hosts that show no MIME bundle."""
        with significant_digits(self._style.digits):
            page = html.assembled(self.findings, html.parts(self._faces), self._shown_value())
        # Such hosts, marimo among them, may set the padding of all elements to 0, which an attribute doesn't outweigh.
        page = f"<style>.tapemagic-page :is(td,th){{padding:2px 6px}}</style>{page}"
        return f'<div class="tapemagic-page">{themed_page(page, self._style.theme)}</div>'

    def _widget(self, content: Content, beside: Iterable[str]) -> dict[str, Any]:
        """Return the MIME bundle of the widget, which all displays of a report share."""
        # Imported late: text and saved pages do without anywidget and traitlets.
        from tapemagic.report.live.widget import ReportWidget, view

        if self._view is None:
            room = room_beside([*beside, LOADER])
            moved = self._moved if self.on_move else None
            if self.hint:  # not in the stored data, which are the same whichever cell ran first
                hint = element("div", SMALL, escape(self.hint))
                content = {**content, "head": content["head"] + hint}
            self._view = ReportWidget(content, self._answers, moved, room)
        return view(self._view)

    @property
    def _answers(self) -> Answers:
        """The answers to questions about the recording."""
        return Answers(self.findings, self._details, self._style)

    def content(self) -> Content:
        """Return the contents of the widget, as JSON."""
        with significant_digits(self._style.digits):
            content = content_of(self._picture, self._shown_value(), self._faces)
        return self.remarks.added_to(content)

    def _moved(self, message: Any) -> None:
        """Answer a message on sliders, and show the answer."""
        content = self.on_move(message, self) if self.on_move else None
        if content is not None and self._view is not None:
            self._view.renew(content, self._answers)

    def replace_contents(self, newer: TapeReport) -> None:
        """Show what another report on the same cell shows, in the same widget."""
        # The displayed widget and its sliders belong to this object, whichever run it shows.
        kept = {name: self.__dict__[name] for name in ("_view", "on_move")}
        self.__dict__.clear()
        self.__dict__.update(newer.__dict__ | kept)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to one HTML page, which works offline and without a notebook.

        - `path`: Str or path-like. Its file; a name without an ending gets ``.html``. A file that is there already is
          replaced.

        Returns
        -------
        Path
            The file.

        Raises SaveError if it cannot be written there. It is an `OSError`.

        Examples
        --------
        In a notebook, ``report = _`` after a ``%%tape`` cell is its report, and
        ``report.save("report.html")`` writes it.

        >>> import tempfile
        >>> from tapemagic.report.findings import Findings
        >>> report = TapeReport(Findings())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report.save(f"{folder}/report").name
        'report.html'
        >>> report.save("nowhere/report.html")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tapemagic.errors.SaveError: cannot save to 'nowhere/report.html': there is no folder 'nowhere'; make it, ...
        """
        return written(self._page(), path)

    def _page(self) -> str:
        """The report as an HTML page."""
        with significant_digits(self._style.digits):
            value = self._shown_value()
            static = html.assembled(self.findings, html.parts(self._faces), value)
            targets = ", ".join(self.findings.targets)
            title = f"tapemagic report: {targets}" if targets else "tapemagic report"
            cached = {} if self._view is None else self._view.answered
            themed = themed_page(static, self._style.theme)
            return page(title, self.content(), self._answers, cached, themed)

    def show(self) -> Path | None:
        """Show the report: in a notebook as a widget, elsewhere as a page in the browser.

        Returns
        -------
        Path or None
            The file of the page, in a temporary folder; None in a notebook.

        Examples
        --------
        ``report.show()`` in a function or loop of a notebook shows what would be dropped there.
        """
        # IPython in a terminal has no kernel, and cannot show widgets.
        if hasattr(get_ipython(), "kernel"):
            display(self)  # type: ignore[no-untyped-call]
            return None
        # Never deleted by this process: the browser may read the page after it has ended.
        folder = Path(tempfile.mkdtemp(prefix="tapemagic-"))
        path = self.save(folder / "report.html")
        if not webbrowser.open(path.as_uri()):
            warnings.warn(f"there is no browser here: open {path} in one", stacklevel=2)
        return path

    def close(self) -> None:
        """Close the widget and let go of the recording; it can be shown again, without sliders.

        This happens to the reports of a cell when it runs again.
        """
        if self._details is not None:
            self._details.close(CLOSED)
        self.on_move = None  # it holds the recording, and the state from which the cell started
        self.remarks = Remarks()
        if self._view is not None:
            self._view.close()
            self._view = None
