"""Findings as static HTML: inline styles and images in data URIs, which survive wherever a notebook is shown."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from tapemagic.analysis.formatting import printable, subscript
from tapemagic.analysis.report.findings import Findings
from tapemagic.analysis.report.graph import Graph
from tapemagic.display import matrices
from tapemagic.display.styles import (
    BAD,
    CODE,
    GROUND,
    NAME,
    QUIET,
    RULE,
    SMALL,
    TARGET,
    TITLE,
    WATCHED,
)
from tapemagic.display.svg import ROOM, Drawing, fitted
from tapemagic.display.text import HEADINGS, headline, remark, row

CELL = f"padding:3px 12px 3px 0;text-align:left;vertical-align:top;border-bottom:{RULE}"
HEAD = f"{CELL};font-weight:600;{QUIET}"
FRAME = f"overflow:auto;max-height:{ROOM + 20}px"
LIVE_GROUND = "var(--jp-ui-font-color2,#6b7280)"
ROLES = {
    "watched": WATCHED,
    "variable": WATCHED,
    "target": TARGET,
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
        parts.append(f'<div><span style="{BAD}">{escape(findings.note)}</span></div>')
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
            if words := remark(entry):
                result += f'<span style="{QUIET}">{escape(printable(words))}</span>'
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
    svg, style = fitted(drawing.svg, live)
    if live:
        styled = svg.replace("<svg", f'<svg style="{style}"', 1)
        themed = styled.replace(f'"{GROUND}"', f'"{LIVE_GROUND}"')
        return f'<div role="img" aria-label="{words}" style="{FRAME}">{themed}</div>{caption(findings)}'
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="{words}" style="{style}" src="data:image/svg+xml;base64,{data}">'
    return f'<div style="{FRAME}">{image}</div>{caption(findings)}'


def caption(findings: Findings) -> str:
    """What the parts of the picture mean."""
    goal = ", ".join(findings.targets)
    if len(findings.targets) > 1 or any(entry.summed for entry in findings.derivatives[:1]):
        goal = f"the sum of {goal}"
    words = "In each box: name, value"
    if goal:
        words += f", and the gradient of {goal} with respect to it"
        if findings.order > 1:
            words += "; in the frame of a derivative, the gradient of that derivative, or of the sum of its numbers"
        words += ". A dash: not computed"
    words = ". ".join([words, *changes(findings), *omissions(findings)])
    return f'<div style="{SMALL}">{escape(printable(words))}.</div>'


def changes(findings: Findings) -> list[str]:
    """What it means that a variable has several boxes."""
    return [
        f"{name} changed while the tape recorded: {name}₁{' and ' if count == 2 else ' to '}{name}{subscript(count)} "
        f"are the values that were read, and the gradient with respect to {name} is the sum of theirs"
        for name, count in findings.changed
    ]


def omissions(findings: Findings) -> list[str]:
    """What is not drawn, and why."""
    middle = findings.graph.elided
    operations = (
        "1 operation in the middle is"
        if middle == 1
        else f"{middle:,} operations in the middle are"
    )
    return [f"{operations} not drawn"] if middle else []


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
