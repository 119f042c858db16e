"""GraphPicture: the graph of a report as DOT and as a drawing, computed when needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from tapemagic.drawing.dot import Extents, dot, estimate, fitting_inserts
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.picture import UNIT
from tapemagic.drawing.report_style import Style, ground_of
from tapemagic.drawing.svg import LEAST, PIXELS, ROOM, Drawing, draw
from tapemagic.explain.formatting import significant_digits
from tapemagic.report.findings import Findings


@dataclass(frozen=True)
class GraphPicture:
    """The graph of a report as DOT and as a drawing."""

    findings: Findings
    style: Style

    @cached_property
    def dot(self) -> str:
        """The graph as DOT source."""
        with significant_digits(self.style.digits):
            return dot(self.findings.graph, self.findings.lines, self._inserts, self._extents)

    @cached_property
    def _extents(self) -> Extents:
        """The estimated size of the drawing."""
        with significant_digits(self.style.digits):
            return estimate(self.findings.graph, self._inserts)

    @cached_property
    def _inserts(self) -> Inserts:
        """The small pictures in the graph."""
        with significant_digits(self.style.digits):
            return fitting_inserts(self.findings.graph)

    @property
    def drawing(self) -> Drawing:
        """The drawing of the graph, or the reason why it can't be drawn."""
        if "_drawing" in self.__dict__ and self._drawing.is_undrawn:
            # A front end may have drawn it meanwhile; attributes of frozen classes are deleted like this.
            del self.__dict__["_drawing"]
        return self._drawing

    @cached_property
    def _drawing(self) -> Drawing:
        drawing = draw(self.dot, self._inserts.by_number, self.style.engine)
        width = self._extents.width * UNIT * PIXELS
        # The style of a stored report must not depend on the version of Graphviz, so the width is estimated.
        is_wide = width * LEAST > ROOM
        return replace(drawing, ground=ground_of(self.style.theme), is_wide=is_wide)
