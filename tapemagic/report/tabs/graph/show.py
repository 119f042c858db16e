"""The graph of a report: a picture, or the operations as equations."""

from __future__ import annotations

from functools import partial
from html import escape

from tapemagic.drawing.dot import (
    MAX_LABELLED,
    edge_labels,
    has_room_for_labels,
    orders_with_gradients,
)
from tapemagic.drawing.elements import element, image, plain
from tapemagic.drawing.inserts import captions
from tapemagic.drawing.styles import CODE, QUIET, SMALL
from tapemagic.drawing.svg import Drawing, fitted
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import bracketed, printable, subscript
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.graph.graph import Graph, Step, Value

MOST_CHANGED = 4
"""The number of names of variables that changed in the caption."""
FRAME = "overflow:auto"
LIVE_FRAME = "overflow:auto;max-height:60vh"
"""The style of a live picture, which is scrolled above its caption."""


def html(findings: Findings, drawing: Drawing, live: bool = False) -> str:
    """The drawn graph with an alternative text; without a drawing, the operations as equations.

    Where scripts run, in the `live` widget, the drawing stands there itself, and tells more under the mouse.
    Elsewhere only an image survives. Empty if nothing was recorded.
    """
    if not findings.graph.steps:
        return ""
    if drawing.picture is None:
        steps = "".join(f"<li>{escape(words)}</li>" for words in sentences(findings.graph))
        return element("div", QUIET, escape(drawing.reason)) + element("ol", CODE, steps)
    words = alternative(findings)
    svg, style = fitted(drawing, live)
    if live:
        styled = svg.replace("<svg", f'<svg style="{style}"', 1)
        label = f'role="img" aria-label="{escape(words)}"'
        return f'<div {label} style="{LIVE_FRAME}">{styled}</div>{caption(findings)}'
    return element("div", FRAME, image(svg, words, style)) + caption(findings)


def caption(findings: Findings) -> str:
    """The meaning of the parts of the picture."""
    goal = ", ".join(findings.targets)
    if len(findings.targets) > 1 or any(entry.summed for entry in findings.derivatives[:1]):
        goal = f"the sum of {goal}"
    words = "In each box: name, value"
    if goal:
        words += f", and the gradient of {goal} with respect to it"
        if findings.order > 1:
            words += "; in the frame of a derivative, the gradient of that derivative, or of the sum of its numbers"
        if shows_none(findings.graph):
            words += ". None: no gradient passes there"
    words = ". ".join([words, *signs(findings.graph), *changes(findings), *omissions(findings)])
    return element("div", SMALL, f"{plain(words)}.")


def shows_none(graph: Graph) -> bool:
    """Whether a gradient is None in some box."""
    orders = orders_with_gradients(graph)
    return any(
        value.order in orders and value.role != "constant" and value.gradient in {None, "None"}
        for value in graph.values
    )


def signs(graph: Graph) -> list[str]:
    """Sentences on the words beside edges and in the boxes of layers, and on small pictures of arrays."""
    words = []
    if any(step.layer for step in graph.steps):
        said = (
            "In the box of a layer or loss: its name, its class, a layer's number of parameters, and the shapes of "
            "what goes in → what comes out"
        )
        words.append(
            said if _shows_variables_of_layers(graph) else f"{said}; its variables are inside"
        )
    if has_room_for_labels(graph) and any(map(edge_labels, graph.steps)):
        words.append("Beside an edge: the local derivative")
        if any(value.gradient is not None for value in graph.values):
            words.append(chain_rule(graph))
    if not all(value.is_computed for value in graph.values):
        words.append("A dotted border: a Dask array that is not computed")
    if any(value.gradient_summary for value in graph.values):
        words.append("Small pictures: the array, and its gradient to the right of it")
    return words


def _shows_variables_of_layers(graph: Graph) -> bool:
    """Whether a closed layer reads variables that have boxes of their own, since others read them, too."""
    read = {value for step in graph.steps if step.layer for value in step.inputs}
    return any(graph.values[k].role == "variable" for k in read)


def chain_rule(graph: Graph) -> str:
    """The sentence on what the numbers beside edges add up to, with all that adds to it besides."""
    words = (
        "Between numbers, the gradient of a box is the sum, over the edges that leave it, of this times the gradient "
        "of the box behind the operation"
    )
    read = {value for step in graph.steps for value in step.inputs}
    if any(graph.values[k].role == "target" for k in read):
        words += "; of a target, 1 more"
    if any(step.order > graph.values[k].order for step in graph.steps for k in step.inputs):
        words += (
            "; edges into the frame of a derivative do not count, unless they lead on to the target"
        )
    if any(map(partial(_has_bare_edge, graph), graph.steps)):
        words += "; an edge without a number adds what the rule of its operation passes on"
    if any(step.elided or step.hidden for step in graph.steps):
        words += "; what passes inside boxes with a double edge, or along edges that are not drawn, adds to it"
    return words


def _has_bare_edge(graph: Graph, step: Step) -> bool:
    """Whether an operation passes a gradient on to a number along an edge that has no label."""
    if step.kind != "operation" or all(graph.values[k].gradient is None for k in step.outputs):
        return False
    labels = edge_labels(step)
    numbers = [k for k, i in enumerate(step.inputs) if _is_number(graph.values[i])]
    return any(k not in labels for k in numbers)


def _is_number(value: Value) -> bool:
    return value.shape == () and value.gradient is not None


def changes(findings: Findings) -> list[str]:
    """A sentence on the variables with several boxes; empty if there are none."""
    if not findings.tabs["graph"].changed:
        return []
    names = [name for name, _ in findings.tabs["graph"].changed]
    more = len(names) - MOST_CHANGED
    shown = names if more <= 1 else [*names[:MOST_CHANGED], f"{more:,} more"]
    name, count = findings.tabs["graph"].changed[0]
    ends = f"{name}₁{' and ' if count == 2 else ' to '}{name}{subscript(count)}"
    example = f"for example, {ends}" if len(names) > 1 else ends
    values = f"{example} are the values that were read"
    total = f"the gradient with respect to {name} is the sum of theirs"
    return [f"{listed(shown)} changed while the tape recorded: {values}, and {total}"]


def omissions(findings: Findings) -> list[str]:
    """Sentences on operations that are not drawn one by one."""
    folded = sum(step.elided for step in findings.graph.steps if step.kind != "elided")
    gap = sum(step.elided for step in findings.graph.steps if step.kind == "elided")
    words = []
    if folded:
        words.append(f"Boxes with a double edge stand for {counted(folded)}")
    if gap:
        words.append(f"{counted(gap)} in the middle {'is' if gap == 1 else 'are'} not drawn")
    if aside := findings.operations - findings.tabs["graph"].drawn_operations:
        words.append(
            f"{counted(aside)} {'is' if aside == 1 else 'are'} left out: what assignments to Variables and libraries "
            "only read, the inside of functions with a gradient of their own, or some of many inputs"
        )
    return words


def counted(operations: int) -> str:
    """A number of operations in words."""
    return "1 operation" if operations == 1 else f"{operations:,} operations"


def alternative(findings: Findings) -> str:
    """The alternative text of the picture: every operation, the target, and what plots begin and end with."""
    goal = f" The target is {', '.join(findings.targets)}." if findings.targets else ""
    steps = "; ".join(sentences(findings.graph))
    more = "".join(f" {words}." for words in developments(findings.graph))
    return printable(f"Graph of the recorded operations: {steps}.{goal}{more}")


def text(findings: Findings) -> str:
    """The numbers that no other face tells; empty if there are none."""
    graph = findings.graph
    return "\n".join(map(printable, [*local_derivatives(graph), *developments(graph)]))


def local_derivatives(graph: Graph) -> list[str]:
    """A sentence with the local derivatives on the edges of a picture, if it shows them."""
    if len(graph.steps) > MAX_LABELLED:
        return []
    name = names(graph)
    slopes = [
        f"∂{bracketed(name[step.outputs[0]])}/∂{bracketed(name[step.inputs[position]])} = {slope}"
        for step in graph.steps
        for position, slope in step.slopes
        if step.outputs
    ]
    return [f"Local derivatives: {', '.join(slopes)}"] if slopes else []


def developments(graph: Graph) -> list[str]:
    """For each box with plots, the numbers with which they begin and end."""
    return [
        f"{step.name}: {'; '.join(words)}"
        for step in graph.steps
        if (words := [said for carried in step.carried for said in captions(carried)])
    ]


def sentences(graph: Graph) -> list[str]:
    """Each operation as an equation, such as ``y = multiply(x, x)``."""
    name = names(graph)
    return [
        f"{', '.join(name[i] for i in step.outputs) or '…'} = "
        f"{step.name}({', '.join(name[i] for i in step.inputs)})"
        for step in graph.steps
    ]


def names(graph: Graph) -> list[str]:
    """The name of each value in a sentence."""
    return [value.name or value.symbol or value.text for value in graph.values]
