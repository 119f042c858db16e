"""The result of comparing derivatives with finite differences, as data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tapemagic.explain.advice import listed

LOWER = "the first derivative lacks a part already"
"""The reason why a higher derivative isn't checked where the first one is wrong."""


@dataclass(frozen=True)
class Check:
    """The result of checking a gradient by finite differences.

    Attributes
    ----------
    outcome : {'agrees', 'differs', 'lacks', 'not checked'}
        With 'lacks', the recorded operations agree, but the cell, run again with nudged inputs, doesn't.
    tolerance : float
        The largest relative difference that counts as agreement.
    checked, size : int
        The number of entries that were compared, and of all entries; of a matrix the number of columns.
    entry : str
        The entry with the largest difference: ``[3]``, or '' for a number.
    here, there : str
        The gradient in that entry, and the finite difference.
    note : str
        A possible reason for a difference, or the reason why nothing could be compared. For a gradient that lacks a
        part, where that left the tape, as the end of a sentence.
    unit : {'entries', 'columns'}
    lacking : str
        The difference of the two numbers, or in words: half, all of it.
    is_rerun : bool
        Whether the cell ran again with nudged inputs; otherwise only the recorded operations were repeated.
    nudged : str
        The entries that were nudged in these runs, if not all of them one by one.
    not_rerun : str
        The reason why the runs of the cell decided nothing, or ''.
    left : str
        The calls through which values left the tape unchecked, or ''.
    """

    outcome: Literal["agrees", "differs", "lacks", "not checked"]
    tolerance: float = 0.0
    checked: int = 0
    size: int = 0
    entry: str = ""
    here: str = ""
    there: str = ""
    note: str = ""
    unit: Literal["entries", "columns"] = "entries"
    lacking: str = ""
    is_rerun: bool = False
    nudged: str = ""
    not_rerun: str = ""
    left: str = ""

    @property
    def is_lower_wrong(self) -> bool:
        """Whether a lower derivative lacks a part, so that there is no need to check this one."""
        return self.note == LOWER

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
        if self.outcome == "lacks":
            entry = f"entry {self.entry} is " if self.entry else ""
            numbers = f"{self.here} on the tape, {self.there} by nudging"
            return f"lacks a part{where}: {entry}{numbers}{self.note}".removesuffix(".")
        here = f"{self.here} on the tape, {self.there} by finite differences"
        what = f"entry {self.entry} is {here}" if self.entry else here
        note = f"; {self.note}" if self.note else ""
        return f"differs from finite differences{where}: {what}{note}"


def small(number: float) -> str:
    """A tolerance as one writes it: 1e-7."""
    return f"{number:g}".replace("e-0", "e-")


MAX_NAMED = 3
"""Maximum number of derivatives that a sentence on their checks names."""


class Checked(NamedTuple):
    """A derivative with the result of its check."""

    symbol: str
    check: Check

    @property
    def is_unchecked(self) -> bool:
        """Whether a value left the tape, about which a match of the recorded operations says nothing."""
        return self.check.outcome == "agrees" and not self.check.is_rerun and bool(self.check.left)


def sign(checks: Sequence[Checked]) -> str:
    """Return a sign for the results: ✗ if a derivative differs, ✓ if all that were compared agree and are whole.

    Examples
    --------
    >>> sign(())
    ''
    """
    outcomes = {entry.check.outcome for entry in checks}
    if outcomes & {"differs", "lacks"}:
        return "✗"
    # A match of the recorded operations says nothing about what left the tape.
    return "✓" if "agrees" in outcomes and not any(x.is_unchecked for x in checks) else ""


def outcome(checks: Sequence[Checked]) -> str:
    """Summarize the results in a sentence, which names the derivatives that differ or were not compared.

    Examples
    --------
    >>> print(outcome(()))
    There is no gradient to check.
    >>> agrees, other = Check("agrees"), Check("not checked", note="it has no entries")
    >>> print(outcome([Checked("dy/dx", agrees), Checked("d²y/dx²", agrees)]))
    Both derivatives match finite differences.
    >>> print(outcome([Checked("dy/dx", agrees), Checked("d²y/dx²", other)]))
    dy/dx matches finite differences; d²y/dx² was not checked: it has no entries.
    >>> print(outcome([Checked("dy/dx", Check("agrees", is_rerun=True))]))
    The gradient matches finite differences. Nudging the inputs agrees: nothing is missing.
    >>> print(outcome([Checked("dy/dx", Check("agrees", not_rerun="it stops", left="float() on line 2"))]))
    The gradient matches finite differences. Only the recorded operations were compared; the cell itself wasn't \
checked: it stops. What left the tape through float() on line 2 was not checked.
    """
    if not checks:
        return "There is no gradient to check."
    groups = {
        kind: [entry for entry in checks if entry.check.outcome == kind]
        for kind in ("lacks", "differs", "agrees", "not checked")
    }
    parts = [
        f"{_subject(group, len(checks))} {verbs[_is_plural(group, len(checks))]}{_reason(group)}"
        for group, verbs in zip(groups.values(), VERBS, strict=True)
        if group
    ]
    return " ".join(filter(None, (f"{'; '.join(parts)}.", _of_what_ran(checks))))


VERBS = (
    ("lacks a part", "lack a part"),
    ("differs from finite differences", "differ from finite differences"),
    ("matches finite differences", "match finite differences"),
    ("was not checked", "were not checked"),
)
"""The verbs for one derivative, and for several, for each outcome."""


def _subject(group: Sequence[Checked], count: int) -> str:
    """The derivatives of a group, by their names, or by their number if they are many, or all."""
    symbols = _symbols(group)
    if len(group) == count:
        return {1: "The gradient", 2: "Both derivatives"}.get(count, f"All {count:,} derivatives")
    return (
        listed(symbols) if len(symbols) <= MAX_NAMED else f"{len(group):,} of {count:,} derivatives"
    )


def _is_plural(group: Sequence[Checked], count: int) -> bool:
    # "Both derivatives match", also if both have the same symbol; several of one symbol are named once.
    return len(group) > 1 and (len(group) == count or len(_symbols(group)) > 1)


def _symbols(group: Sequence[Checked]) -> list[str]:
    return list(dict.fromkeys(entry.symbol for entry in group))


def _reason(group: Sequence[Checked]) -> str:
    """The reason that all derivatives of a group have in common, or ''."""
    # Where a part left the tape is said with the derivative.
    notes = {entry.check.note if entry.check.outcome != "lacks" else "" for entry in group}
    note = notes.pop() if len(notes) == 1 else ""
    return f": {note}" if note else ""


def _of_what_ran(checks: Sequence[Checked]) -> str:
    """Say whether the cell itself was checked, or only its recording, and what left the tape unchecked."""
    compared = [entry.check for entry in checks if entry.check.outcome != "not checked"]
    agreeing = [check for check in compared if check.outcome == "agrees"]
    if agreeing and all(check.is_rerun for check in agreeing):
        is_all = len(agreeing) == len(checks)
        words = "Nudging the inputs agrees: nothing is missing" + ("." if is_all else " in these.")
        samples = [*dict.fromkeys(check.nudged for check in agreeing if check.nudged)]
        return f"{words} Nudged were {samples[0]}." if samples else words
    reasons = [*dict.fromkeys(check.not_rerun for check in agreeing if check.not_rerun)]
    left = [*dict.fromkeys(entry.check.left for entry in checks if entry.is_unchecked)]
    parts = []
    if reasons:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        parts.append(
            f"Only the recorded operations were compared; the cell itself wasn't checked: {reasons[0]}{more}."
        )
    if left and not reasons:
        parts.append("Only the recorded operations were compared.")
    if left:
        parts.append(f"What left the tape through {left[0]} was not checked.")
    return " ".join(parts)
