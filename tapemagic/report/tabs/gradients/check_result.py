"""The result of comparing a gradient with difference quotients, as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """The result of comparing a gradient with difference quotients.

    Attributes
    ----------
    outcome : {'agrees', 'differs', 'not checked'}
    tolerance : float
        The largest relative difference that counts as agreement.
    checked, size : int
        The number of entries that were compared, and of all entries.
    entry : str
        The entry with the largest difference: ``[3]``; empty for a number.
    here, there : str
        The gradient in that entry, and the difference quotient.
    note : str
        A possible reason for a difference, or the reason why nothing could be compared.
    """

    outcome: Literal["agrees", "differs", "not checked"]
    tolerance: float = 0.0
    checked: int = 0
    size: int = 0
    entry: str = ""
    here: str = ""
    there: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """The result in words.

        Examples
        --------
        >>> print(Check("agrees", 1e-7, 1, 1).text)
        agrees with difference quotients (relative difference under 1e-7)
        >>> print(Check("differs", 1e-7, 50, 784, "[3]", "1.25", "1.31", "it has a kink there").text)
        differs from difference quotients among 50 of 784 entries, chosen evenly: entry [3] is 1.25 here, 1.31 there; \
it has a kink there
        """
        if self.outcome == "not checked":
            return f"not compared with difference quotients: {self.note}"
        chosen = f"{self.checked:,} of {self.size:,} entries, chosen evenly"
        some = chosen if self.checked < self.size else ""
        if self.outcome == "agrees":
            where = f" in {some}" if some else ""
            return f"agrees with difference quotients{where} (relative difference under {small(self.tolerance)})"
        where = f" among {some}" if some else ""
        what = f"entry {self.entry} is {self.here} here" if self.entry else f"{self.here} here"
        note = f"; {self.note}" if self.note else ""
        return f"differs from difference quotients{where}: {what}, {self.there} there{note}"


def small(number: float) -> str:
    """A tolerance as one writes it: 1e-7."""
    return f"{number:g}".replace("e-0", "e-")
