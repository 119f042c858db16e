"""A report as plain text."""

from __future__ import annotations

from tapemagic.report import limits
from tapemagic.report.failure import show_failure as failure
from tapemagic.report.findings import Findings
from tapemagic.report.tabs import LEAST_IMPORTANT, in_text
from tapemagic.report.verdict import show_verdict as verdict


def text(findings: Findings) -> str:
    """The whole report as text; what there is no room for is named."""
    shown = {tab.title: words for tab in in_text() if (words := tab.show.text(findings))}
    kept = limits.fits(shown, limits.WORDS - limits.HEADLINE, LEAST_IMPORTANT)
    parts = [
        words if title in kept else limits.omission_note(title) for title, words in shown.items()
    ]
    words = "\n\n".join(filter(None, [failure.text(findings), verdict.text(findings)]))
    return "\n\n".join([limits.shortened(words, limits.HEADLINE - 1000), *parts])
