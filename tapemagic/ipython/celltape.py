"""CellTape: the tape that a %%tape cell knows by its name."""

from __future__ import annotations

from typing import Any

from tapemagic.analysis.explain.caller import explain_here
from tapemagic.engine.tape.observer import ObservedTape
from tapemagic.tape import GradientTape


class CellTape(ObservedTape, GradientTape):
    """The user's tape in a %%tape cell, which the cell's observer explains."""

    def explain(self, target: Any, source: Any) -> Any:
        """Say why a gradient is None, or along which paths it came about: as every tape's."""
        return explain_here(self.observer, target, source)
