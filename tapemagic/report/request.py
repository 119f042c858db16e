"""ReportRequest: the contents that a report should have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tapemagic.explain.caller import TargetGroup
from tapemagic.explain.snapshot import Named
from tapemagic.report.verdict.statement import Statement

Kind = Literal["jacobian", "hessian"]
"""The full matrices that can be requested."""

MAX_NODES = 60
"""The nodes that the graph of a report has room for, unless the request says otherwise."""


# A protocol, because the object comes from a layer above, which `report` must not import.
class Compute(Protocol):
    """Computes the lazy values of a report.

    - `error`: The error that stopped the computation.
    """

    error: Exception | None

    def __call__(self, subject: Any, entries: Sequence[Any]) -> Iterable[Statement]:
        """Compute the small lazy values of a subject, and `entries` of matrices; return remarks for the verdict."""


class RerunError(Exception):
    """Raised if a cell can't be run again with nudged inputs; the message says why, after "the cell wasn't run"."""


# Protocols for the same reason.
class Run(Protocol):
    """A further run of a cell."""

    def find(self, x: Any) -> Any:
        """Return the value in this run for a tensor of the ordinary run, or raise a RerunError."""

    def start(self, x: Any) -> Any:
        """Return the value with which this run began to use a source, before it was nudged, or raise a RerunError."""

    def tape(self) -> Any:
        """Return a tape with the recording of this run."""


class Reruns(Protocol):
    """Runs a cell again with nudged inputs."""

    @property
    def problem(self) -> str:
        """The reason why the cell isn't run again, or ''."""

    def can_nudge(self, x: Any) -> bool:
        """Return True if a run can have another value for a source."""

    def isolated(self) -> AbstractContextManager[None]:
        """Undo afterwards what runs change, and hide what they display."""

    def run(self, values: Mapping[int, Any]) -> Run:
        """Run the cell with other values for sources, given by id, or raise a RerunError."""


@dataclass(frozen=True)
class ReportRequest:
    """The contents that a report should have.

    An option of ``%%tape`` fills the field of its name. To add an option, declare it in `ipython/options.py`, add a
    field here, and read the field where the option is obeyed.

    - `targets`: Sequence of (name, tensor). The values to differentiate.
    - `sources`: Sequence of (name, tensor). The values to differentiate with respect to.
    - `order`: The highest order of derivatives, in the sense of nested tapes.
    - `target_names`: The names after ``-t``, by which each run of the cell chooses its targets; without names, its
      result.
    - `matrices`: Sequence of {'jacobian', 'hessian'}. The full matrices to compute in addition to the gradients.
    - `check`: Compare the gradients with finite differences.
    - `reruns`: Runs the cell again for that; without it, only the recorded operations are repeated.
    - `code`: Write the derivatives as a NumPy program.
    - `plot`: Runs the cell over a range of one variable, and returns the curves.
    - `compute`: Computes the lazy values of the report.
    - `iteration`: The iteration of outermost loops that the graph opens, from 1; by default the last.
    - `max_nodes`: The maximum number of nodes in the graph.
    - `screens`: Returns how well screens have room for the picture of a graph, 4 for all and 0 for none. Without it,
      only nodes are counted.
    - `groups`: Sequence of TargetGroup. Instead of `targets`: those in a list together. Many of them become one array.
    - `joins`: The number of operations at the end of the recording that joined lists of targets to arrays.
    """

    targets: Sequence[Named] = ()
    sources: Sequence[Named] = ()
    order: int = 1
    target_names: Sequence[str] = ()
    matrices: Sequence[Kind] = ()
    check: bool = False
    reruns: Reruns | None = None
    code: bool = False
    plot: Callable[..., Any] | None = None
    compute: Compute | None = None
    iteration: int | None = None
    max_nodes: int = MAX_NODES
    # From a layer above, like `compute`: what draws knows how large a picture is.
    screens: Callable[[Any], int] | None = None
    groups: Sequence[TargetGroup] = ()
    joins: int = 0
