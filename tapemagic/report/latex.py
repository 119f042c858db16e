"""Writes a report as LaTeX, for the PDF of nbconvert."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tapemagic.drawing.curves import CurvePicture
from tapemagic.drawing.html_to_latex import SHORT, converted
from tapemagic.drawing.pgf import CELLS, COMMANDS
from tapemagic.drawing.picture import read
from tapemagic.drawing.svg import Drawing, fitted
from tapemagic.drawing.tex import GLYPH, tex
from tapemagic.report import html, limits
from tapemagic.report.findings import Findings
from tapemagic.report.tabs import LEAST_IMPORTANT
from tapemagic.report.tabs.trace import show_trace as trace_face
from tapemagic.report.tabs.trace.find_trace import Trace, TracePart, TraceRow
from tapemagic.report.tabs.trace.sweep import AdjointStep, equation

TALL = ("\\frac", "\\sum", "\\prod", "matrix")
"""The commands of parts that are higher than a line."""
# Only around these do parentheses grow: \left and \right take bytes, and space between them.


def latex(
    findings: Findings,
    drawing: Drawing,
    parts: Mapping[str, str],
    value: str | None,
    curves: CurvePicture | None = None,
) -> str:
    """Convert a report to LaTeX.

    - `drawing`: The picture of the graph.
    - `parts`: The HTML of the tabs by their titles.
    - `value`: The value of the cell, if no table shows it.
    - `curves`: The picture of the plot.

    Returns
    -------
    str
        One group of LaTeX, which needs only the packages longtable and pgf. It omits tabs that would make it too long.
    """
    # The HTML has the pictures as SVG in data URIs; those that were parsed already are found by their SVG.
    svg, _ = fitted(drawing)
    pictures = {svg: drawing.picture} if drawing.picture is not None else {}
    if curves is not None:
        pictures[curves.svg()] = read(curves.svg())
    head = converted(html.head(findings, value), pictures)
    shown = {
        # The trace is typeset from its data, because its HTML has the formulas only as text.
        title: trace(findings.trace)
        if title == trace_face.TITLE and findings.trace is not None
        else converted(face, pictures)
        for title, face in parts.items()
    }
    kept = limits.fits(shown, limits.PAPER - limits.HEADLINE, LEAST_IMPORTANT)
    sections = [
        f"{{\\B {tex(title)}}}\\par\n{face}"
        if face and title in kept
        else limits.omission_note(title)
        for title, face in shown.items()
    ]
    body = "\\par\n".join([head, *sections])
    # A group keeps these definitions from the rest of the document.
    commands = GLYPH * ("\\tapeglyph" in body) + COMMANDS * ("pgfpicture" in body)
    commands += CELLS * (re.search(r"^H\d", body, re.MULTILINE) is not None)
    return f"\\begingroup\\footnotesize\\parindent0pt\\parskip0pt\\LTleft0pt{SHORT}\n{commands}{body}\\par\\endgroup"


def trace(table: Trace) -> str:
    """Write the evaluation table with typeset formulas."""
    return "\n".join(map(_trace_part, table.parts))


def _trace_part(part: TracePart) -> str:
    left, right = map(tex, trace_face.headings(part))
    lines = [f"{left} & {right}\\\\\\hline\\endhead"]
    for row in part.rows:
        steps = "\\newline ".join(_step(step) for step in reversed(row.reverse))
        lines.append(f"{_forward(row)} & {steps}\\\\")
    body = "\n".join(lines)
    title = f"{tex(part.title)}\\par\n" if part.title else ""
    columns = "@{}p{.42\\linewidth}p{.52\\linewidth}@{}"
    return f"{title}\\begin{{longtable}}[l]{{{columns}}}\n{body}\n\\end{{longtable}}"


def _forward(row: TraceRow) -> str:
    if row.words:
        return tex(row.description)
    return _equation(row.latex, row.numbers, row.value)


def _step(step: AdjointStep) -> str:
    numbers = step.numbers or step.added
    if step.before is not None:
        numbers = f"{step.before} + {numbers}" if step.before and numbers else ""
    return _equation(step.latex, numbers, step.after)


def _equation(formula: str, *values: str) -> str:
    """Write a formula and its values, without repetitions."""
    shown = equation(*values)
    if not any(command in formula for command in TALL):
        formula = formula.replace("\\left(", "(").replace("\\right)", ")")
    return f"${formula}$ = {tex(shown)}" if shown else f"${formula}$"
