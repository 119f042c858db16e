"""The graph of a recording as frozen data: values and operations, numbered in the order of the tape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tapemagic.report.subject import Role
from tapemagic.report.summary import Summary
from tapemagic.report.tabs.graph.boxes import LayerCall, LoopVariable
from tapemagic.report.tabs.graph.view import FrameKind

StepKind = Literal["operation", "loop", "call", "layer", "derivative", "statement", "elided"]


@dataclass(frozen=True)
class Value:
    """A value of a recording: a node of the graph, or a row of the table of variables."""

    index: int
    name: str
    role: Role
    shape: tuple[int, ...]
    dtype: str
    text: str
    gradient: str | None = None
    line: int | None = None
    order: int = 0
    symbol: str = ""
    """The name that the trace gives to a value without one: v3."""
    bad: bool = False
    """True if the first nan or infinity is in this value, or in its gradient."""
    summary: Summary | None = None
    """The summary of an array that is too large to be written out."""
    gradient_summary: Summary | None = None
    """The summary of a large gradient."""
    is_computed: bool = True
    """True if its numbers are computed, and not those of a Dask array that is still to be computed."""
    chunks: str = ""
    """The chunks of a Dask array, as text."""
    step_gradient: str | None = None
    """Without a gradient of the targets: that of the loss of its training step; '' if nothing is to be said of it."""

    @property
    def shown_gradient(self) -> str | None:
        """The gradient that its box shows: '' for no line, None for a gradient that is None."""
        return self.step_gradient if self.gradient is None else self.gradient


@dataclass(frozen=True)
class Step:
    """An operation of a recording, or several operations drawn in one box.

    Attributes
    ----------
    kind : {'operation', 'loop', 'call', 'layer', 'derivative', 'statement', 'elided'}
    inputs, outputs : tuple of int
        The indices of its values in the graph.
    line : int or None
        The line of the cell; of several, the first.
    order : int
        0 for an operation of the program, k for one of a k-th derivative.
    elided : int
        The number of operations folded into this node, or 0 for a single operation.
    hidden : int
        The number of its inputs and outputs that are not drawn.
    slopes : tuple of (int, str)
        The local derivatives of an operation on single numbers, by the positions of its inputs.
    formulas : tuple of (int, str)
        The same as formulas, of elementwise operations on arrays, too; without those that are numbers.
    frame : int or None
        The index of the frame around it.
    assigned : tuple of int
        The indices of the values of variables that these operations changed.
    changed : tuple of int
        The indices of the layers' nodes inside of which variables are that these operations changed.
    lines : (int, int) or None
        The first and the last line of several operations.
    iterations : (int, int, int) or None
        The first and the last iteration of a loop that are folded here, and the number of all.
    carried : tuple of LoopVariable
        The values that a loop carries from iteration to iteration.
    bad : bool
        Whether the first nan or infinity is inside these operations.
    fold : str
        The key of the part that these operations are, or are a piece of, which can be opened, or '' for an operation.
        It is the same in all views of a recording.
    layer : LayerCall or None
        The call of a layer.
    goals : tuple of int
        Of a folded derivative, the values that it is the derivative of.
    """

    index: int
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    line: int | None = None
    order: int = 0
    elided: int = 0
    hidden: int = 0
    slopes: tuple[tuple[int, str], ...] = ()
    kind: StepKind = "operation"
    frame: int | None = None
    assigned: tuple[int, ...] = ()
    lines: tuple[int, int] | None = None
    iterations: tuple[int, int, int] | None = None
    carried: tuple[LoopVariable, ...] = ()
    bad: bool = False
    formulas: tuple[tuple[int, str], ...] = ()
    fold: str = ""
    layer: LayerCall | None = None
    changed: tuple[int, ...] = ()
    goals: tuple[int, ...] = ()


@dataclass(frozen=True)
class GraphFrame:
    """A frame around operations that belong together.

    Attributes
    ----------
    label : str
    kind : {'computation', 'derivative', 'call', 'layer', 'iteration', 'statement', 'elided'}
    parent : int or None
        The index of the frame around it.
    fold : str
        The key of the part that it shows, which can be closed; of an iteration, that of its loop. Empty for the
        computation, which cannot.
    iteration : (int, int) or None
        The number of an iteration, counted from 1, and the number of all.
    """

    label: str
    kind: FrameKind
    parent: int | None = None
    fold: str = ""
    iteration: tuple[int, int] | None = None


@dataclass(frozen=True)
class Graph:
    """The values of a recording and the operations between them, both in the order of the tape."""

    values: tuple[Value, ...]
    steps: tuple[Step, ...]
    frames: tuple[GraphFrame, ...] = ()

    @property
    def folded(self) -> int:
        """The number of operations inside folded boxes."""
        return sum(step.elided for step in self.steps)

    @property
    def nodes(self) -> int:
        """The number of nodes of its picture."""
        return len(self.values) + len(self.steps)
