"""Statement: a sentence of the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Topic = Literal[
    "nonfinite", "warning", "left", "none", "missing", "result", "training", "kink", "note"
]

TOPICS: tuple[Topic, ...] = get_args(Topic)
"""The topics in the order of their statements: what is wrong stands above the results."""


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict.

    Attributes
    ----------
    topic : {'nonfinite', 'warning', 'left', 'none', 'missing', 'result', 'training', 'kink', 'note'}
        A nan or an infinity began somewhere; NumPy warned; a value that one would expect as the target
        left the tape; a gradient is None, or lacks a part; a target with its gradients; a training goes wrong; an
        operation was differentiated where it has no derivative; anything else.
    text : str
    line : int or None
        The line of the cell that it is about.
    tab : str
        The title of the face that tells more; empty if none does.
    """

    topic: Topic
    text: str
    line: int | None = None
    tab: str = ""


def by_severity(statement: Statement) -> int:
    """The place of a statement's topic among all."""
    return TOPICS.index(statement.topic)
