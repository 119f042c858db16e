"""NumPy's floating-point warnings as frozen data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NumericWarning:
    """A floating-point warning of NumPy.

    - `kind`: ``"divide by zero"``, ``"overflow"``, ``"underflow"`` or ``"invalid value"``.
    - `line`: The line of the cell.
    - `function`: The function, called on that line, in which it happened, or '' for the cell itself.
    - `values`: The named operands with their values, or '' without names.
    - `is_backward`: True if it happened in the backward pass, while a gradient was computed.
    """

    kind: str
    operation: str
    line: int
    function: str = ""
    values: str = ""
    is_backward: bool = False
