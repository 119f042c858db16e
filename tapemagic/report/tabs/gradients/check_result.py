"""The result of comparing derivatives with finite differences, as data and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """The result of checking a gradient by finite differences.

    Attributes
    ----------
    outcome : {'agrees', 'differs', 'not checked'}
    tolerance : float
        The largest relative difference that counts as agreement.
    checked, size : int
        The number of entries that were compared, and of all entries; of a matrix the number of columns.
    entry : str
        The entry with the largest difference: ``[3]``, or '' for a number.
    here, there : str
        The gradient in that entry, and the finite difference.
    note : str
        A possible reason for a difference, or the reason why nothing could be compared.
    unit : {'entries', 'columns'}
    """

    outcome: Literal["agrees", "differs", "not checked"]
    tolerance: float = 0.0
    checked: int = 0
    size: int = 0
    entry: str = ""
    here: str = ""
    there: str = ""
    note: str = ""
    unit: Literal["entries", "columns"] = "entries"

    @property
    def text(self) -> str:
        """The result as text.

        Examples
        --------
        >>> print(Check("agrees", 1e-7, 1, 1).text)
        matches finite differences (relative error < 1e-7)
        >>> print(Check("differs", 1e-7, 50, 784, "[3]", "1.25", "1.31", "it has a kink there").text)
        differs from finite differences among 50 of 784 entries, chosen evenly: entry [3] is 1.25 on the tape, \
1.31 by finite differences; it has a kink there
        """
        if self.outcome == "not checked":
            return f"not checked by finite differences: {self.note}"
        chosen = f"{self.checked:,} of {self.size:,} {self.unit}, chosen evenly"
        some = chosen if self.checked < self.size else ""
        if self.outcome == "agrees":
            where = f" in {some}" if some else ""
            return f"matches finite differences{where} (relative error < {small(self.tolerance)})"
        where = f" among {some}" if some else ""
        here = f"{self.here} on the tape, {self.there} by finite differences"
        what = f"entry {self.entry} is {here}" if self.entry else here
        note = f"; {self.note}" if self.note else ""
        return f"differs from finite differences{where}: {what}{note}"


def small(number: float) -> str:
    """A tolerance as one writes it: 1e-7."""
    return f"{number:g}".replace("e-0", "e-")
