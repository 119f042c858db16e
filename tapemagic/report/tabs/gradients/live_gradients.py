"""The gradients in the widget, where a button checks them by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypedDict

from tapemagic.report.findings import Findings
from tapemagic.report.live.screen import Screen
from tapemagic.report.tabs.gradients import show_gradients
from tapemagic.report.tabs.gradients.find_gradients import Derivative


class Check(TypedDict):
    """The gradients, checked by finite differences."""

    words: str
    html: str


def html(_screen: Screen, static: Callable[[], str]) -> str | None:
    """Return the table of the static page, or None if there is nothing to differentiate."""
    return static() or None


def is_unchecked(findings: Findings) -> bool:
    """Return True if some gradients were not checked by finite differences."""
    values = [entry for entry in findings.derivatives if entry.value is not None]
    return bool(values) and not any(entry.check for entry in findings.derivatives)


def compared(findings: Findings, rows: tuple[Derivative, ...]) -> Check:
    """The table with the results of a comparison, and the results in a sentence."""
    gradients = replace(findings.tabs["gradients"], rows=rows)
    checked = show_gradients.html(findings.with_tab("gradients", gradients))
    return Check(words=f"{sign(rows)} {outcome(rows)}".strip(), html=checked)


def sign(rows: tuple[Derivative, ...]) -> str:
    """A sign for the result of a comparison: ✗ if a gradient differs, ✓ if all that were compared agree and are whole.

    Examples
    --------
    >>> sign(())
    ''
    """
    outcomes = {row.check.outcome for row in rows if row.check is not None}
    if "differs" in outcomes:
        return "✗"
    # A match says nothing about a part that wasn't recorded, so an incomplete gradient gets no ✓.
    return "✓" if "agrees" in outcomes and not _incomplete(rows) else ""


def outcome(rows: tuple[Derivative, ...]) -> str:
    """The result of a comparison in a sentence.

    Examples
    --------
    >>> outcome(())
    'There is no gradient to check.'
    """
    outcomes = [row.check.outcome for row in rows if row.check is not None]
    if not outcomes:
        return "There is no gradient to check."
    agrees, differs = outcomes.count("agrees"), outcomes.count("differs")
    unknown = outcomes.count("not checked")
    compared = agrees + differs
    if not compared:
        which = "The gradient" if unknown == 1 else f"None of the {unknown:,} gradients"
        return f"{which} could {'not ' * (unknown == 1)}be checked by finite differences."
    if not differs:
        single = "One gradient matches" if unknown else "The gradient matches"
        words = single if agrees == 1 else f"{'' if unknown else 'All '}{agrees:,} gradients match"
        words += " finite differences"
    elif not agrees:
        single = "One gradient differs" if unknown else "The gradient differs"
        words = (
            single if differs == 1 else f"{'' if unknown else 'All '}{differs:,} gradients differ"
        )
        words += " from finite differences"
    else:
        words = f"Of {compared:,} gradients, {agrees:,} match{'es' * (agrees == 1)} finite differences, and "
        words += f"{differs:,} differ{'s' * (differs == 1)}"
    if unknown:
        words += f"; {unknown:,} could not be checked"
    notes = [row.check.note for row in rows if row.check and row.check.outcome == "differs"]
    if differs == compared == 1 and notes[0]:
        words += f"; {notes[0]}"
    return f"{words}.{_of_what_was_recorded(rows)}"


def _incomplete(rows: tuple[Derivative, ...]) -> int:
    """The number of gradients that were compared although a part of their target was not recorded."""
    return sum(
        bool(row.check and row.check.outcome != "not checked" and row.reason) for row in rows
    )


def _of_what_was_recorded(rows: tuple[Derivative, ...]) -> str:
    """Return a warning that a part of a target was not recorded, so a match says nothing about it, or ''."""
    count = _incomplete(rows)
    if not count:
        return ""
    which = "It ignores" if count == 1 else f"{count:,} of them ignore"
    return f" {which} a part of the target (see below): only the recorded operations were checked."
