"""Details of a recording, which are computed when a reader asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tapemagic.analysis.nonfinite import NonFinite
from tapemagic.analysis.report.graph.drawn_graph import draw
from tapemagic.analysis.report.graph.graph import Graph
from tapemagic.analysis.report.subject import Subject


@dataclass(frozen=True)
class GraphView:
    """One layout of a recording: its graph, and the trace and its steps laid out alike."""

    graph: Graph


class Details:
    """What can be asked of a recording after its report was made.

    Parameters
    ----------
    subject : Subject
        It keeps the recording.
    nonfinite : tuple of NonFinite
        The places that graphs mark.
    max_nodes : int
        The number of nodes for which a graph has room.
    """

    def __init__(self, subject: Subject, nonfinite: tuple[NonFinite, ...], max_nodes: int) -> None:
        self._subject = subject
        self._nonfinite = nonfinite
        self._max_nodes = max_nodes

    def view(self, opened: Mapping[str, int]) -> GraphView:
        """The graph in which some folds are open or closed otherwise than at first, by their keys."""
        drawn = draw(self._subject, self._max_nodes)
        return GraphView(drawn.marked(self._nonfinite, self._subject.records))
