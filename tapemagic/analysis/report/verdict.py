"""The verdict: the results of a recording in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tapemagic.analysis.nonfinite import NonFinite
from tapemagic.analysis.report.derivatives import Derivative
from tapemagic.analysis.report.subject import Subject

Topic = Literal["result", "none", "missing", "nonfinite", "left", "kink", "warning", "note"]


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict.

    Attributes
    ----------
    topic : {'result', 'none', 'missing', 'nonfinite', 'left', 'kink', 'warning', 'note'}
    text : str
    line : int or None
        The line of the cell that it is about.
    """

    topic: Topic
    text: str
    line: int | None = None


def verdict(
    subject: Subject, derivatives: Sequence[Derivative], nonfinite: Sequence[NonFinite]
) -> tuple[Statement, ...]:
    """The results of a recording in sentences."""
    return ()
