"""Findings as static HTML: inline styles and images in data URIs, which survive wherever a notebook is shown."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from tapemagic.analysis.findings import Findings
from tapemagic.analysis.graph import Graph
from tapemagic.analysis.values import printable
from tapemagic.display import matrices
from tapemagic.display.styles import CODE, NAME, QUIET, SMALL, TITLE
from tapemagic.display.svg import Drawing
from tapemagic.display.text import HEADINGS, headline, row

CELL = "padding:3px 12px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid #e5e7eb"
HEAD = f"{CELL};font-weight:600;color:#6b7280"
FRAME = "overflow:auto;max-height:760px"
ROLES = {
    "watched": "color:#1d4ed8;font-weight:600",
    "variable": "color:#1d4ed8;font-weight:600",
    "target": "color:#b45309;font-weight:600",
    "intermediate": "",
    "constant": QUIET,
}


def page(findings: Findings, drawing: Drawing, value: str | None) -> str:
    """The whole report as one piece of HTML."""
    parts = [f'<div style="{QUIET}">{escape(headline(findings))}</div>', notes(findings, value)]
    if findings.variables:
        parts += [title("Variables"), variables(findings)]
    if findings.graph.steps:
        parts += [title("Graph"), picture(findings, drawing)]
    if findings.derivatives:
        parts += [title("Gradients"), gradients(findings)]
    return f'<div style="font-size:13px;line-height:1.45">{"".join(parts)}</div>'


def title(words: str) -> str:
    """The heading of a section."""
    return f'<div style="{TITLE}">{escape(words)}</div>'


def notes(findings: Findings, value: str | None) -> str:
    """What is to be said above it all: the cell's value, and where it stopped."""
    parts = []
    if value is not None:
        parts.append(f'<div style="{CODE}">{escape(value)}</div>')
    if findings.note:
        parts.append(f'<div style="color:#b91c1c">{escape(findings.note)}</div>')
    return "".join(parts)


def variables(findings: Findings) -> str:
    """The table of variables."""
    rows = []
    for value in findings.variables:
        name, role, *rest = row(value)
        rows.append(
            [
                f'<span style="{NAME}">{escape(name)}</span>',
                f'<span style="{ROLES[value.role]}">{escape(role)}</span>',
                *map(escape, rest),
            ]
        )
    return _table(HEADINGS, rows)


def gradients(findings: Findings) -> str:
    """The table of gradients, with a reason for every None, and the full matrices."""
    rows = []
    for entry in findings.derivatives:
        if entry.text is None:
            result = f'<b>None</b> <span style="{QUIET}">{escape(entry.reason or "")}</span>'
        else:
            result = escape(entry.text)
        rows.append(
            [
                f'<span style="{NAME}">{escape(printable(entry.symbol))}</span>',
                str(entry.order),
                result,
            ]
        )
    return _table(("gradient", "order", "value"), rows) + matrices.html(findings.matrices)


def picture(findings: Findings, drawing: Drawing, live: bool = False) -> str:
    """The drawn graph, with a text for those who cannot see it; else the operations in words.

    Where scripts run, in the `live` widget, the drawing stands there itself, and tells more under the mouse.
    Elsewhere only an image survives.
    """
    if drawing.svg is None:
        steps = "".join(f"<li>{escape(words)}</li>" for words in sentences(findings.graph))
        return f'<div style="{QUIET}">{escape(drawing.reason)}</div><ol style="{CODE}">{steps}</ol>'
    words = escape(alternative(findings))
    if live:
        return f'<div role="img" aria-label="{words}" style="{FRAME}">{drawing.svg}</div>{caption(findings)}'
    data = base64.b64encode(drawing.svg.encode()).decode()
    image = f'<img alt="{words}" style="max-width:none" src="data:image/svg+xml;base64,{data}">'
    return f'<div style="{FRAME}">{image}</div>{caption(findings)}'


def caption(findings: Findings) -> str:
    """What the parts of the picture mean."""
    goal = (
        " and ".join(findings.targets)
        if len(findings.targets) < 2
        else f"the sum of {', '.join(findings.targets)}"
    )
    words = "In each box: name, value"
    if goal:
        words += f", and the gradient of {goal} with respect to it"
    if findings.order > 1:
        words += "; in the frame of a derivative, the gradient of that derivative (of their sum, if there are several)"
    words += ". A dash: not computed."
    if findings.graph.elided:
        words += f" {findings.graph.elided:,} operations in the middle are not drawn."
    return f'<div style="{SMALL}">{escape(printable(words))}</div>'


def alternative(findings: Findings) -> str:
    """The picture in words."""
    goal = f" The target is {', '.join(findings.targets)}." if findings.targets else ""
    steps = "; ".join(sentences(findings.graph))
    return printable(f"Graph of the recorded operations: {steps}.{goal}")


def sentences(graph: Graph) -> list[str]:
    """Every operation as an equation: y = multiply(x, x)."""
    name = [
        value.name or (value.text if value.role == "constant" else f"v{value.index}")
        for value in graph.values
    ]
    return [
        f"{', '.join(name[i] for i in step.outputs) or '…'} = "
        f"{step.name}({', '.join(name[i] for i in step.inputs)})"
        for step in graph.steps
    ]


def _table(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f'<th style="{HEAD}">{escape(words)}</th>' for words in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells) + "</tr>"
        for cells in rows
    )
    rows_of_all = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<table style="border-collapse:collapse;font-size:13px;line-height:1.45">{rows_of_all}</table>'
