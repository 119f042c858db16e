"""Training: the loss and the gradients over the steps of a loop that assigns Variables."""

from __future__ import annotations

from dataclasses import dataclass

from tapemagic.analysis.report.subject import Subject


@dataclass(frozen=True)
class Training:
    """The loss and the norms of gradients over the steps of a loop."""


def training_of(subject: Subject) -> Training | None:
    """The loss and the gradients over the steps of a loop that assigns Variables; None if there is none."""
    return None
