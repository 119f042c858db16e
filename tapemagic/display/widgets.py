"""Findings as a widget with a tab for each face."""

from __future__ import annotations

import ipywidgets

from tapemagic.analysis.findings import Findings
from tapemagic.display import html
from tapemagic.display.svg import Drawing

NOTHING = '<div style="color:#6b7280">Nothing was recorded: no watched variable was used.</div>'


def tabs(findings: Findings, drawing: Drawing, value: str | None) -> ipywidgets.Widget:
    """A box with the headline and a tab each for variables, graph and gradients."""
    faces = {
        "Variables": html.variables(findings) if findings.variables else NOTHING,
        "Graph": html.picture(findings, drawing) if findings.graph.steps else NOTHING,
        "Gradients": html.gradients(findings.derivatives) if findings.derivatives else NOTHING,
    }
    tab = ipywidgets.Tab(
        [ipywidgets.HTML(face) for face in faces.values()], titles=list(faces), selected_index=1
    )
    above = f'<div style="{html.QUIET}">{html.escape(html.headline(findings))}</div>'
    return ipywidgets.VBox([ipywidgets.HTML(above + html.notes(findings, value)), tab])
