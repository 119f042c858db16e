"""NumPy's floating-point warnings as frozen data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NumericWarning:
    """A floating-point warning of NumPy.

    Attributes
    ----------
    kind : str
        ``"divide by zero"``, ``"overflow"``, ``"underflow"`` or ``"invalid value"``.
    operation : str
    line : int
        The line of the cell.
    function : str
        The function, called on that line, in which it happened; empty if it is the cell itself.
    values : str
        The operands that have a name, with their values; empty if none has.
    is_backward : bool
        Whether it happened on the way back, as a gradient was taken.
    """

    kind: str
    operation: str
    line: int
    function: str = ""
    values: str = ""
    is_backward: bool = False
