"""Statement: a sentence of the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Topic = Literal[
    "nonfinite",
    "differs",
    "warning",
    "left",
    "none",
    "missing",
    "result",
    "path",
    "training",
    "kink",
    "note",
]

TOPICS: tuple[Topic, ...] = get_args(Topic)
"""The topics in the order of their statements: problems come before results."""


@dataclass(frozen=True)
class Statement:
    """A sentence of the verdict.

    - `topic`: One of `TOPICS`. 'nonfinite': a nan or an infinity began. 'differs': finite differences disagree with a
      derivative. 'warning': NumPy warned. 'left': the expected target became a plain value. 'none': a gradient is None.
      'missing': a gradient is incomplete. 'result': a target with its gradients. 'path': the largest part of a
      gradient. 'training': a problem of a training. 'kink': an operation has no derivative at the point. 'note': all
      others.
    - `line`: The line of the cell that the statement is about.
    - `tab`: The title of the tab with more details, or ''.
    """

    topic: Topic
    text: str
    line: int | None = None
    tab: str = ""


def by_severity(statement: Statement) -> int:
    """Return the rank of a statement's topic, for sorting."""
    return TOPICS.index(statement.topic)
