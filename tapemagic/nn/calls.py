"""The calls of layers that are under way on this thread, and whether they are part of training."""

from __future__ import annotations

import threading
from typing import Any


class Calls(threading.local):
    """The calls of layers on a thread.

    Attributes
    ----------
    stack : list of (Layer, bool)
        The layers under way, the innermost last, each with whether it is called in training.
    number : int
        The number of outermost calls so far.
    """

    def __init__(self) -> None:
        self.stack: list[tuple[Any, bool]] = []
        self.number = 0


calls = Calls()
