"""The graph in the widget: a layout, with the trace laid out to match and the steps through both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NotRequired, TypedDict

from tapemagic.drawing.dot import operation_tooltip
from tapemagic.drawing.elements import escape_text
from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.svg import fitted
from tapemagic.explain.formatting import format_size, printable
from tapemagic.report.findings import Findings
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.graph import graph as analysed
from tapemagic.report.tabs.graph import show_graph
from tapemagic.report.tabs.trace.show_trace import live_html as live_trace
from tapemagic.report.tabs.trace.steps import TraceStep


class Value(TypedDict):
    """A value of the graph."""

    name: str
    text: str
    gradient: str | None
    role: str
    type: str
    line: int | None
    formula: str
    key: str


class Operation(TypedDict):
    """An operation of the graph, or several in a fold."""

    name: str
    inputs: list[int]
    outputs: list[int]
    lines: tuple[int, int] | None
    tip: str
    fold: str
    iterations: tuple[int, int, int] | None


class Frame(TypedDict):
    """A frame of the graph."""

    label: str
    fold: str
    iteration: tuple[int, int] | None


class Step(TypedDict):
    """A step forward, or one of the reverse sweep."""

    reverse: bool
    row: str
    entry: int | None
    operation: int | None
    lines: tuple[int, int] | None
    words: str
    shown: list[int]
    gradients: list[tuple[int, str]]


class View(TypedDict):
    """A layout of the graph, with the trace laid out to match and the steps through both."""

    opened: Mapping[str, int]
    svg: str
    undrawn: NotRequired[bool]
    dot: str
    caption: str
    trace: str
    values: list[Value]
    operations: list[Operation]
    frames: list[Frame]
    steps: list[Step]


def html(screen: Screen, static: Callable[[], str]) -> str | None:
    """Return the tab without a layout; '' if the front end draws one, None if nothing was recorded."""
    return "" if screen.has_view else static() or None


def view_of(picture: GraphPicture) -> View:
    """Return the layout of the graph for the front end."""
    findings, drawing = picture.findings, picture.drawing
    view, drawn = findings.view, findings.graph
    if view is None:
        raise ValueError("these findings have no layout")
    svg, _ = fitted(drawing, live=True)
    # Without a drawing, the operations are shown as equations.
    under = show_graph.caption(findings, live=True) if svg else show_graph.html(findings, drawing)
    made = View(
        opened=view.opened,
        svg=svg,
        dot=picture.dot,
        caption=under,
        trace=live_trace(view.steps.trace),
        values=[_value(*each) for each in zip(drawn.values, view.formulas, view.keys, strict=True)],
        operations=[_operation(step, findings) for step in drawn.steps],
        frames=[
            Frame(label=printable(frame.label), fold=frame.fold, iteration=frame.iteration)
            for frame in drawn.frames
        ],
        steps=list(map(_step, view.steps.steps)),
    )
    if drawing.is_undrawn:
        made["undrawn"] = True
    return made


def _value(value: analysed.Value, formula: str, key: str) -> Value:
    return Value(
        name=printable(value.name or value.symbol),
        text=value.text,
        gradient=value.shown_gradient,
        role=value.role,
        type=f"{format_size(value.shape)}, {value.dtype}"
        if value.shape
        else f"{value.dtype} number",
        line=value.line,
        formula=printable(formula),
        key=key,
    )


def _operation(step: analysed.Step, findings: Findings) -> Operation:
    line = None if step.line is None else (step.line, step.line)
    return Operation(
        name=printable(step.name),
        inputs=list(step.inputs),
        # An assigned value may be an output, too.
        outputs=list(dict.fromkeys((*step.outputs, *step.assigned))),
        lines=step.lines or line,
        tip=printable(operation_tooltip(step, findings.graph, findings.lines)),
        fold=step.fold,
        iterations=step.iterations,
    )


def _step(step: TraceStep) -> Step:
    return Step(
        reverse=step.way == "reverse",
        row="" if step.row is None else f"{step.part}.{step.row}",
        entry=step.entry,
        operation=step.step,
        lines=step.lines,
        words=escape_text(step.words),
        shown=list(step.shown),
        gradients=list(step.gradients),
    )
