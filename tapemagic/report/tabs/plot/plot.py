"""Plot: curves of the targets and their derivatives over a range of one variable, as frozen data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tapemagic.explain.formatting import format_number


@dataclass(frozen=True)
class Curve:
    """A target or a derivative of it over the points of a plot.

    Attributes
    ----------
    target : str
    order : int
        Of the derivative; 0 for the target itself.
    symbol : str
        Such as d²y/dx².
    values : tuple of float
        One for each point; nan where there is none.
    breaks : frozenset of int
        The positions of the points behind which the curve jumps.
    here : float
        The value in the ordinary run of the cell; nan if there is none.
    """

    target: str
    order: int
    symbol: str
    values: tuple[float, ...] = ()
    breaks: frozenset[int] = frozenset()
    here: float = math.nan

    @property
    def is_empty(self) -> bool:
        """Whether no value is finite."""
        return not any(map(math.isfinite, self.values))


@dataclass(frozen=True)
class Plot:
    """Curves over a range of one variable.

    Attributes
    ----------
    name : str
        Of the variable.
    low, high : float
        The ends of the range.
    points : tuple of float
        The values of the variable, rising.
    listed : tuple of int
        The positions of the points for a table.
    curves : tuple of Curve
        Those of each target in the order of derivatives.
    at : float
        The value of the variable in the ordinary run of the cell.
    notes : tuple of str
        Sentences on sums, gaps, and what is not drawn.
    coarse : bool
        Whether there are fewer points than usual, because the cell is slow.
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
        """A sentence if the ordinary run is outside of the range; else empty."""
        if self.low <= self.at <= self.high or math.isnan(self.at):
            return ""
        return f"The cell's own {self.name} = {format_number(self.at)} is outside of this range."

    @property
    def drawn(self) -> tuple[Curve, ...]:
        """The curves that have a value somewhere."""
        return tuple(curve for curve in self.curves if not curve.is_empty)
