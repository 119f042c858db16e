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
from tapemagic.drawing.elements import element, escape_text, image
from tapemagic.drawing.inserts import captions
from tapemagic.drawing.styles import CODE, QUIET, SMALL
from tapemagic.drawing.svg import Drawing, fitted
from tapemagic.explain.advice import listed
from tapemagic.explain.formatting import bracketed, printable, subscript
from tapemagic.report.findings import Findings
from tapemagic.report.glossary import explained
from tapemagic.report.tabs.graph.graph import Graph, Step, Value

CHAIN_RULE = (
    "Gradient of a number = sum over the arrows that leave its box of (number on the arrow × gradient of the box it "
    "leads to)"
)
NUMBERS = "Number on an arrow: local derivative"
GRADIENTS = "a box's gradient: products along its arrows, added up"
MAX_CHANGED = 4
"""The number of names of variables that changed in the caption."""
FRAME = "overflow:auto"
LIVE_FRAME = "overflow:auto;max-height:60vh"
"""The style of a live picture, which is scrolled above its caption."""


def html(findings: Findings, drawing: Drawing, live: bool = False) -> str:
    """The drawn graph with an alternative text; without a drawing, the operations as equations.

    Where scripts run, in the `live` widget, the drawing itself is shown, with tooltips.
    Elsewhere only an image survives. Empty if nothing was recorded.
    """
    if not findings.graph.steps:
        return ""
    if drawing.picture is None:
        steps = "".join(f"<li>{escape(words)}</li>" for words in sentences(findings.graph))
        return element("div", QUIET, escape(drawing.reason)) + element("ol", CODE, steps)
    words = alternative(findings)
    svg, style = fitted(drawing, live)
    # Inline SVG has tooltips and answers clicks; static viewers remove it, so the page has an image.
    if live:
        styled = svg.replace("<svg", f'<svg style="{style}"', 1)
        label = f'role="img" aria-label="{escape(words)}"'
        return f'<div {label} style="{LIVE_FRAME}">{styled}</div>{caption(findings, live)}'
    return element("div", FRAME, image(svg, words, style)) + caption(findings)


def caption(findings: Findings, live: bool = False) -> str:
    """The legend of the picture."""
    goal = findings.goal
    words = "Each box: name, value"
    if goal:
        words += f", and the gradient of {goal}" if " " in goal else f", and gradient ∂{goal}/∂box"
        if findings.order > 1:
            words += (
                "; in the frame of a derivative, the gradient of that derivative, or of its sum"
            )
        if shows_none(findings.graph):
            words += ". None: no gradient gets there"
    rest = [*signs(findings.graph), *changes(findings), *omissions(findings, live)]
    # One line says what most readers look for.
    line = words
    if has_room_for_labels(findings.graph) and any(map(edge_labels, findings.graph.steps)):
        line, rest = NUMBERS, [words, *rest]
        if any(value.gradient is not None for value in findings.graph.values):
            line = f"{NUMBERS}; {GRADIENTS}"
    if not rest:
        return element("div", SMALL, f"{_explained(line)}.")
    summary = f"<summary>{_explained(line)} <b>?</b></summary>"
    return element("details", SMALL, f"{summary}{_explained('. '.join(rest))}.")


def _explained(words: str) -> str:
    return explained(escape_text(words), "gradient", "local derivative", "fold")


def shows_none(graph: Graph) -> bool:
    """Return True if a gradient is None in some box."""
    orders = orders_with_gradients(graph)
    return any(
        value.order in orders
        and value.role != "constant"
        and value.shown_gradient in {None, "None"}
        for value in graph.values
    )


def signs(graph: Graph) -> list[str]:
    """Explain the numbers on arrows, the boxes of layers, and on small pictures of arrays."""
    words = []
    if any(step.layer for step in graph.steps):
        about = "Box of a layer or loss: name, class, number of a layer's parameters, and input shapes → output shapes"
        words.append(
            about if _shows_variables_of_layers(graph) else f"{about}; its variables are inside"
        )
    labelled = has_room_for_labels(graph) and any(map(edge_labels, graph.steps))
    if labelled and any(value.gradient is not None for value in graph.values):
        words.append(chain_rule(graph))
    if not all(value.is_computed for value in graph.values):
        words.append("Dotted border: Dask array, not computed yet")
    if any(value.gradient_summary for value in graph.values):
        words.append("Small pictures: the array, then its gradient")
    return words


def _shows_variables_of_layers(graph: Graph) -> bool:
    """Return True if a closed layer reads a variable that has a box."""
    read = {value for step in graph.steps if step.layer for value in step.inputs}
    return any(graph.values[k].role == "variable" for k in read)


def chain_rule(graph: Graph) -> str:
    """Explain how a gradient follows from the numbers on arrows, with every exception that the graph has."""
    words = [CHAIN_RULE]
    read = {value for step in graph.steps for value in step.inputs}
    if any(graph.values[k].role == "target" for k in read):
        words.append("The target itself starts with gradient 1")
    if any(step.order > graph.values[k].order for step in graph.steps for k in step.inputs):
        words.append(
            "Arrows into the frame of a derivative don't count, unless they lead on to the target"
        )
    if any(map(partial(_has_bare_edge, graph), graph.steps)):
        words.append("An arrow without a number adds what its operation passes back")
    if any(step.elided or step.hidden for step in graph.steps):
        words.append("Folded boxes and hidden arrows contribute too")
    return ". ".join(words)


def _has_bare_edge(graph: Graph, step: Step) -> bool:
    """Return True if an operation passes a gradient on to a number along an edge that has no label."""
    if step.kind != "operation" or all(graph.values[k].gradient is None for k in step.outputs):
        return False
    labels = edge_labels(step)
    numbers = [k for k, i in enumerate(step.inputs) if _is_number(graph.values[i])]
    return any(k not in labels for k in numbers)


def _is_number(value: Value) -> bool:
    return value.shape == () and value.gradient is not None


def changes(findings: Findings) -> list[str]:
    """Explain the boxes of variables that changed during the run."""
    if not findings.tabs["graph"].changed:
        return []
    names = [name for name, _ in findings.tabs["graph"].changed]
    more = len(names) - MAX_CHANGED
    # "1 more" would take as much room as the name.
    shown = names if more <= 1 else [*names[:MAX_CHANGED], f"{more:,} more"]
    name, count = findings.tabs["graph"].changed[0]
    ends = f"{name}₁{' and ' if count == 2 else ' to '}{name}{subscript(count)}"
    example = "for example, " if len(names) > 1 else ""
    values = f"{example}{ends} are the values of {name} in order"
    return [
        f"{listed(shown)} changed during the run: {values}, and its gradient is the sum of theirs"
    ]


def omissions(findings: Findings, live: bool = False) -> list[str]:
    """Sentences on operations that are not drawn one by one; in a `live` picture, folds can be opened."""
    folded = sum(step.elided for step in findings.graph.steps if step.kind != "elided")
    gap = sum(step.elided for step in findings.graph.steps if step.kind == "elided")
    words = []
    if folded:
        words.append(f"Double border: {counted(folded, 'folded ')}{' (click + to open)' * live}")
    if gap:
        words.append(f"Not drawn: {counted(gap)} in the middle")
    if aside := findings.operations - findings.tabs["graph"].drawn_operations:
        words.append(
            f"Not drawn: {counted(aside)} (inside assignments, libraries or custom gradients, or extra inputs)"
        )
    if findings.omitted:
        words.append(f"Not kept: {counted(findings.omitted)} of other iterations")
    return words


def counted(operations: int, kind: str = "") -> str:
    """Return a number of operations as text."""
    return f"1 {kind}operation" if operations == 1 else f"{operations:,} {kind}operations"


def alternative(findings: Findings) -> str:
    """The alternative text of the picture: every operation, the target, and what plots begin and end with."""
    goal = f" The target is {', '.join(findings.targets)}." if findings.targets else ""
    steps = "; ".join(sentences(findings.graph))
    more = "".join(f" {words}." for words in developments(findings.graph))
    return printable(f"Graph of the recorded operations: {steps}.{goal}{more}")


def text(findings: Findings) -> str:
    """Return the numbers that no other tab shows: local derivatives, and plots in boxes."""
    graph = findings.graph
    return "\n".join(map(printable, [*local_derivatives(graph), *developments(graph)]))


def local_derivatives(graph: Graph) -> list[str]:
    """List the local derivatives that the picture shows on its arrows."""
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
        if (words := [words_of for carried in step.carried for words_of in captions(carried)])
    ]


def sentences(graph: Graph) -> list[str]:
    """Return the operations as equations, such as ``y = multiply(x, x)``."""
    name = names(graph)
    return [
        f"{', '.join(name[i] for i in step.outputs) or '…'} = "
        f"{step.name}({', '.join(name[i] for i in step.inputs)})"
        for step in graph.steps
    ]


def names(graph: Graph) -> list[str]:
    """The name of each value in a sentence."""
    return [value.name or value.symbol or value.text for value in graph.values]
