"""Plot: the curves of targets and their derivatives over a range of one variable, as frozen data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tapemagic.explain.formatting import format_number


@dataclass(frozen=True)
class Curve:
    """The curve of a target or of one of its derivatives.

    - `order`: The order of the derivative; 0 is the target itself.
    - `symbol`: Such as d²y/dx².
    - `values`: One for each point; nan in a gap.
    - `breaks`: The positions of the points after which the curve jumps.
    - `here`: The value in the ordinary run of the cell, or nan.
    """

    target: str
    order: int
    symbol: str
    values: tuple[float, ...] = ()
    breaks: frozenset[int] = frozenset()
    here: float = math.nan

    @property
    def is_empty(self) -> bool:
        """Whether the curve has no finite value."""
        return not any(map(math.isfinite, self.values))


@dataclass(frozen=True)
class Plot:
    """Curves over a range of one variable.

    - `name`: The variable.
    - `low`, `high`: The ends of the range.
    - `points`: The values of the variable in ascending order.
    - `listed`: The positions of the points for a table.
    - `curves`: The curves of each target in the order of derivatives.
    - `at`: The value of the variable in the ordinary run of the cell.
    - `notes`: Sentences about sums, gaps, and curves that aren't drawn.
    - `coarse`: Whether there are fewer points than usual, because the cell is slow.
    """

    name: str
    low: float
    high: float
    points: tuple[float, ...] = ()
    listed: tuple[int, ...] = ()
    curves: tuple[Curve, ...] = ()
    at: float = math.nan
    notes: tuple[str, ...] = ()
    coarse: bool = False

    @property
    def outside(self) -> str:
        """A sentence if the ordinary run is outside of the range."""
        if self.low <= self.at <= self.high or math.isnan(self.at):
            return ""
        return f"The cell's own {self.name} = {format_number(self.at)} is outside of this range."

    @property
    def drawn(self) -> tuple[Curve, ...]:
        """The curves with at least one finite value."""
        return tuple(curve for curve in self.curves if not curve.is_empty)
