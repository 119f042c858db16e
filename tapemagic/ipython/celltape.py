"""CellTape: the tape that a %%tape cell can use by name."""

from __future__ import annotations

from typing import Any

from tapemagic.engine.tape.observer import ObservedTape
from tapemagic.explain.caller import explain_here
from tapemagic.tape import GradientTape


class CellTape(ObservedTape, GradientTape):
    """The tape of a %%tape cell; the cell's observer explains its gradients."""

    def explain(self, target: Any, source: Any) -> Any:
        """Explain why a gradient is None, or list its paths; like `GradientTape.explain`."""
        return explain_here(self.observer, target, source)
