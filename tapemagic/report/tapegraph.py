"""TapeGraph: the graph of a recording without the rest of a report, for %tape_graph."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tapemagic.drawing.dot import orders_with_gradients
from tapemagic.drawing.elements import FONT, element, escape_text
from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.report_style import Style, themed_page
from tapemagic.drawing.styles import QUIET
from tapemagic.drawing.svg import Drawing
from tapemagic.explain.formatting import printable, significant_digits
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph import show_graph as graph
from tapemagic.report.tabs.graph.graph import Value

NOTHING = "nothing was recorded: no value was computed from a watched one"


# IPython shows the repr of the last expression, and the repr of a plain str would escape its line breaks.
class DotSource(str):
    """The source of a picture in Graphviz's language DOT: a string whose repr is the string itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class TapeGraph:
    """The graph of a recording, as a picture and as equations.

    - `findings`: The recording as plain data.
    """

    def __init__(self, findings: Findings, style: Style) -> None:
        self.findings = findings
        self._style = style

    @cached_property
    def _picture(self) -> GraphPicture:
        return GraphPicture(self.findings, self._style)

    @property
    def dot(self) -> DotSource:
        """The graph as DOT source."""
        return DotSource(self._picture.dot)

    @property
    def drawing(self) -> Drawing:
        """The drawing of the graph, or the reason why it can't be drawn."""
        return self._picture.drawing

    def __repr__(self) -> str:
        with significant_digits(self._style.digits):
            equations = graph.sentences(self.findings.graph)
            omitted = graph.omissions(self.findings)
        with_gradients = orders_with_gradients(self.findings.graph)
        names = graph.names(self.findings.graph)
        values = [
            _value(value, name, value.order in with_gradients)
            for value, name in zip(self.findings.graph.values, names, strict=True)
            if value.role != "constant"
        ]
        paragraphs = [[self._headline()], equations, omitted, values]
        return "\n\n".join("\n".join(map(printable, lines)) for lines in paragraphs if lines)

    def _headline(self) -> str:
        findings = self.findings
        targets = f"target{'s' * (len(findings.targets) > 1)} {', '.join(findings.targets)}"
        what = f"{findings.operations:,} operation{'s' * (findings.operations != 1)} recorded"
        what = what if findings.graph.steps else NOTHING
        return printable(f"%tape_graph: {', '.join([what, *[targets] * bool(findings.targets)])}")

    def _repr_html_(self) -> str:
        with significant_digits(self._style.digits):
            picture = graph.html(self.findings, self.drawing)
        headline = element("div", QUIET, escape_text(self._headline()))
        return themed_page(element("div", FONT, headline + picture), self._style.theme)

    # IPython passes `include` and `exclude`, and applies them to the bundle itself.
    def _repr_mimebundle_(self, **_wishes: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _value(value: Value, name: str, with_gradient: bool) -> str:
    """A value of a graph in one line, with its gradient or without."""
    words = f"{name} = {value.text}"
    return f"{words}, gradient {value.gradient}" if with_gradient else words
