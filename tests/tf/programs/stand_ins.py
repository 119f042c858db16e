"""Stand-ins for what programs call and the tests do not need."""

from __future__ import annotations

from typing import Any

import numpy as np


class Plot:
    """Keeps what matplotlib would draw: it converts as matplotlib does."""

    def __init__(self) -> None:
        self.drawn: list[Any] = []

    def plot(self, x: Any, y: Any, label: str = "") -> None:
        """Keep a line."""
        self.drawn.append([label, np.asarray(x), np.asarray(y)])

    def legend(self) -> None:
        """Draw nothing."""

    def show(self) -> None:
        """Show nothing."""
