"""Findings: the contents of a report, computed once from a recording, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from tapemagic.explain.formatting import format_sum
from tapemagic.report.tabs.graph.graph import Graph

if (
    TYPE_CHECKING
):  # the data of a tab are imported with its `find`: those of Code load tapemagic.programs
    from tapemagic.explain.nonfinite import NonFinite
    from tapemagic.report.failure.find_failure import Failure
    from tapemagic.report.tabs.code.find_code import Code
    from tapemagic.report.tabs.gradients.find_gradients import Derivative
    from tapemagic.report.tabs.gradients.matrices import Matrix
    from tapemagic.report.tabs.gradients.own_gradients import OwnGradient
    from tapemagic.report.tabs.graph.find_graph import GraphView
    from tapemagic.report.tabs.lines.find_lines import SourceLine
    from tapemagic.report.tabs.plot.plot import Plot
    from tapemagic.report.tabs.trace.find_trace import Trace
    from tapemagic.report.tabs.training.find_training import Training
    from tapemagic.report.tabs.variables.find_variables import NamedValue
    from tapemagic.report.verdict.statement import Statement


@dataclass(frozen=True)
class Findings:
    """The contents of a report on a recording.

    - `tabs`: What each tab found, by the name of the tab, for the requested tabs.
    - `operations`: The number of operations of the cell that are kept.
    - `lines`: The lines of the cell.
    - `verdict`: The results in sentences.
    - `nonfinite`: For targets and gradients that are nan or infinite, the operations where that began.
    - `failure`: The line at which the cell stopped, if it did.
    - `omitted`: The number of operations of the cell that were let go.
    - `maker`: The magic or method that made the report.
    """

    tabs: Mapping[str, Any] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    operations: int = 0
    order: int = 1
    lines: tuple[str, ...] = ()
    verdict: tuple[Statement, ...] = ()
    nonfinite: tuple[NonFinite, ...] = ()
    failure: Failure | None = None
    omitted: int = 0
    maker: str = "%%tape"

    @property
    def goal(self) -> str:
        """The name of what the report differentiates: its target, or the sum of several, or ''."""
        arrays = {
            row.name for row in self.variables if row.role == "target" and row.value.size != 1
        }
        arrays |= {entry.target for entry in self.derivatives if entry.summed == entry.target}
        return format_sum(self.targets, bool(arrays))

    def with_tab(self, name: str, data: Any) -> Self:
        """Return these findings with other data in a tab."""
        return replace(self, tabs={**self.tabs, name: data})

    # Data of a tab that more than one module reads, with their types. A new tab needs no line here.

    @property
    def variables(self) -> tuple[NamedValue, ...]:
        """The rows of the table of variables."""
        return self.tabs.get("variables", ())  # type: ignore[no-any-return]

    @property
    def graph(self) -> Graph:
        """The graph in its first layout."""
        return Graph((), ()) if self.view is None else self.view.graph

    @property
    def view(self) -> GraphView | None:
        """The layout of the graph that is shown at first, with its steps."""
        return self.tabs["graph"].view if "graph" in self.tabs else None

    @property
    def derivatives(self) -> tuple[Derivative, ...]:
        """The rows of the table of gradients."""
        return self.tabs["gradients"].rows if "gradients" in self.tabs else ()

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """The full matrices."""
        return self.tabs["gradients"].matrices if "gradients" in self.tabs else ()

    @property
    def own_gradients(self) -> tuple[OwnGradient, ...]:
        """The gradients that the program took itself."""
        return self.tabs["gradients"].own if "gradients" in self.tabs else ()

    @property
    def plot(self) -> Plot | None:
        """The curves over a range of one variable, if they were requested."""
        return self.tabs.get("plot")

    @property
    def trace(self) -> Trace | None:
        """The evaluation table."""
        return self.tabs.get("trace")

    @property
    def source_lines(self) -> tuple[SourceLine, ...]:
        """The lines of the cell with the values and gradients that they made."""
        return self.tabs.get("lines", ())  # type: ignore[no-any-return]

    @property
    def code(self) -> Code | None:
        """The derivatives as a program, if that was requested."""
        return self.tabs.get("code")

    @property
    def training(self) -> Training | None:
        """The loss and the gradients over the steps of a loop."""
        return self.tabs.get("training")
