"""CellTape: the tape to which a %%tape cell has access by name."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.tape.observer import ObservedTape
from tapemagic.explain.caller import explain_here
from tapemagic.tape import GradientTape


class CellTape(ObservedTape, GradientTape):
    """The user's tape in a %%tape cell, whose gradients the observer of the cell explains."""

    def explain(self, target: Any, source: Any) -> Any:
        """Explain why a gradient is None, or along which paths it was computed; as `GradientTape.explain`."""
        return explain_here(self.observer, target, source)
