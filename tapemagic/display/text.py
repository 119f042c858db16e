"""A report as plain text."""

from __future__ import annotations

from tapemagic.analysis.report.findings import Findings
from tapemagic.display.faces import failure, gradients, lines, trace, training, variables, verdict


def text(findings: Findings) -> str:
    """The whole report as text."""
    faces = (failure, verdict, variables, gradients, trace, lines, training)
    return "\n\n".join(filter(None, (face.text(findings) for face in faces)))
