"""The data of a report for its front end, as JSON: front_end/src/content.ts states the same, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.dot import operation_tooltip
from tapemagic.drawing.elements import element
from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.report_style import Style, Theme
from tapemagic.drawing.styles import QUIET
from tapemagic.drawing.svg import fitted
from tapemagic.explain.formatting import format_size, printable
from tapemagic.report import html
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.code import show as code
from tapemagic.report.tabs.gradients import show as gradients
from tapemagic.report.tabs.graph import graph as analysed
from tapemagic.report.tabs.graph import show as graph
from tapemagic.report.tabs.lines import show as lines
from tapemagic.report.tabs.plot import show as plot
from tapemagic.report.tabs.trace import show as trace
from tapemagic.report.tabs.trace.steps import TraceStep
from tapemagic.report.tabs.variables import show as variables

NOTHING = element(
    "div", QUIET, "Nothing was recorded: no operation had a watched value as its input."
)
UNASKED = element("div", QUIET, "There is nothing to differentiate.")
EMPTY = {variables.TITLE: NOTHING, graph.TITLE: NOTHING, gradients.TITLE: UNASKED}
"""The words in the tabs that are there even if there is nothing to show."""


class Face(TypedDict):
    """A tab."""

    title: str
    html: str


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
    """One layout of the graph, with the trace laid out alike and the steps through both."""

    opened: Mapping[str, int]
    svg: str
    dot: str
    caption: str
    trace: str
    values: list[Value]
    operations: list[Operation]
    frames: list[Frame]
    steps: list[Step]


class Control(TypedDict):
    """The slider of a scalar, or those of the entries of a small array."""

    name: str
    shape: list[int]
    entries: list[float]
    low: float
    high: float
    step: float
    moved: bool


class Content(TypedDict):
    """All that a report shows."""

    number: int
    theme: Theme
    head: str
    faces: list[Face]
    first: str
    view: View | None
    controls: list[Control]
    marks: str
    unchecked: bool
    live: bool


def content_of(
    picture: GraphPicture,
    value: str | None,
    faces: Mapping[str, str],
    curves: CurvePicture | None = None,
) -> Content:
    """All that the front end of a report shows at first.

    Parameters
    ----------
    picture : GraphPicture
        The findings, with the picture of their graph.
    value : str or None
        The value of the cell's last expression as text, if it is to be shown.
    faces : mapping of str to str
        The faces as HTML, by their titles.
    curves : CurvePicture, optional
        The picture of the plot, if there is one.
    """
    findings, style = picture.findings, picture.style
    view = None if findings.view is None or not findings.graph.steps else view_of(picture)
    shown = _shown(picture, faces, curves, view)
    wanted = style.first_tab
    if findings.plot and wanted == Style.first_tab:
        wanted = plot.TITLE
    first = wanted if wanted in shown else Style.first_tab
    return Content(
        number=0,
        theme=style.theme,
        head=html.head(findings, value),
        faces=[Face(title=title, html=page) for title, page in shown.items()],
        first=first,
        view=view,
        controls=[],
        marks=curves.layer if curves else "",
        unchecked=_is_unchecked(findings),
        live=True,
    )


def _shown(
    picture: GraphPicture,
    faces: Mapping[str, str],
    curves: CurvePicture | None,
    view: View | None,
) -> dict[str, str]:
    """The tabs by their titles; graph and trace are empty where they stand in a view."""
    findings = picture.findings
    elsewhere = {graph.TITLE, trace.TITLE if findings.trace else ""} if view else set()
    live = {
        code.TITLE: code.live_html(findings.code, picture.style.theme) if findings.code else "",
        lines.TITLE: lines.live_html(findings),
        plot.TITLE: plot.html(findings, curves, marked=False),
    }
    shown: dict[str, str] = {}
    for title in faces:
        if title in elsewhere:
            shown[title] = ""
        elif title == code.TITLE and not findings.code:
            if view and any(entry.value for entry in findings.derivatives):
                shown[title] = ""  # the kernel writes it when the tab is opened
        elif page := (live[title] if title in live else faces[title]) or EMPTY.get(title, ""):
            shown[title] = page
    return shown


def _is_unchecked(findings: Findings) -> bool:
    """Whether there are gradients that were not compared with difference quotients."""
    values = [entry for entry in findings.derivatives if entry.value is not None]
    return bool(values) and not any(entry.check for entry in findings.derivatives)


def view_of(picture: GraphPicture) -> View:
    """The layout of the graph in findings that have one."""
    findings, drawing = picture.findings, picture.drawing
    view, drawn = findings.view, findings.graph
    if view is None:
        raise ValueError("these findings have no layout")
    svg, _ = fitted(drawing, live=True)
    under = graph.caption(findings) if svg else graph.html(findings, drawing)
    return View(
        opened=view.opened,
        svg=svg,
        dot=picture.dot,
        caption=under,
        trace=trace.live_html(view.steps.trace),
        values=[_value(*each) for each in zip(drawn.values, view.formulas, view.keys, strict=True)],
        operations=[_operation(step, findings) for step in drawn.steps],
        frames=[
            Frame(label=printable(frame.label), fold=frame.fold, iteration=frame.iteration)
            for frame in drawn.frames
        ],
        steps=list(map(_step, view.steps.steps)),
    )


def _value(value: analysed.Value, formula: str, key: str) -> Value:
    return Value(
        name=printable(value.name or value.symbol),
        text=value.text,
        gradient=value.gradient,
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
        words=printable(step.words),
        shown=list(step.shown),
        gradients=list(step.gradients),
    )
