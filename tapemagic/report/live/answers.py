"""Answers to the questions of a front end about a recording."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from tapemagic.drawing.graph_picture import GraphPicture
from tapemagic.drawing.report_style import Style
from tapemagic.explain.formatting import clipped, printable, significant_digits
from tapemagic.report.details import Details, NotKeptError
from tapemagic.report.findings import Findings
from tapemagic.report.live import details_html
from tapemagic.report.live.content import View, view_of
from tapemagic.report.tabs.code import show as code
from tapemagic.report.tabs.gradients import show as gradients
from tapemagic.report.tabs.gradients.derivatives import Derivative

NOT_KEPT = "The recording of this cell was not kept."
LONGEST = 20_000
"""The most characters of a question."""


class Check(TypedDict):
    """The gradients compared with difference quotients."""

    words: str
    html: str


class Unanswered(TypedDict):
    """The reason why a question has no answer."""

    error: str


@dataclass(frozen=True)
class Answers:
    """The answers to questions about a recording, as JSON.

    Attributes
    ----------
    findings : Findings
    details : Details or None
    style : Style
    """

    findings: Findings
    details: Details | None
    style: Style

    def to(self, question: str) -> Any:
        """The answer to ``view:{"KEY": N}``, ``value:KEY``, ``code:{"KEY": N}`` or ``check``, or why there is none.

        Examples
        --------
        >>> from tapemagic.report.tabs.graph.graph import Graph
        >>> Answers(Findings((), Graph((), ()), (), (), 0), None, Style()).to("value:0.0")
        {'error': 'The recording of this cell was not kept.'}
        """
        kind, _, rest = question.partition(":")
        try:
            with significant_digits(self.style.digits), np.errstate(all="ignore"):
                if kind == "view":
                    return self.view(json.loads(rest))
                if kind == "value":
                    return self.values([rest])[rest]
                if kind == "code":
                    return self.code(json.loads(rest))
                if question == "check":
                    return self.check()
            return Unanswered(error=f"There is no answer to {clipped(printable(question), 40)!r}.")
        except KeyboardInterrupt:
            return Unanswered(error="The answer was interrupted.")
        except RecursionError:
            return Unanswered(error="The question is nested too deeply.")
        except NotKeptError as error:
            return Unanswered(error=str(error))
        except Exception as error:  # noqa: BLE001 -- a front end may ask anything; an error would be lost in a log
            return Unanswered(error=_in_words(error))

    @property
    def why_gone(self) -> str:
        """The reason why the recording was not kept; empty if it was."""
        return NOT_KEPT if self.details is None else self.details.why_gone

    def _kept(self) -> Details:
        if self.details is None:
            raise NotKeptError(NOT_KEPT)
        return self.details

    def view(self, opened: Mapping[str, int]) -> View:
        """The layout of the graph in which some parts are open or closed otherwise than at first."""
        view = self._kept().view(opened)
        return view_of(
            GraphPicture(replace(self.findings, graph=view.graph, view=view), self.style)
        )

    def values(self, keys: list[str]) -> dict[str, str]:
        """Values in full as HTML, by their keys."""
        found = self._kept().values(keys)
        return {key: details_html.html(value) for key, value in found.items()}

    def code(self, opened: Mapping[str, int]) -> str:
        """The derivatives as a program in HTML, its lines marked with the steps through a layout."""
        return code.live_html(self._kept().code(opened), self.style.theme)

    def check(self) -> Check:
        """The gradients compared with difference quotients."""
        rows = self._kept().check()
        checked = gradients.html(replace(self.findings, derivatives=rows))
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
    return "✓" if "agrees" in outcomes and not _incomplete(rows) else ""


def outcome(rows: tuple[Derivative, ...]) -> str:
    """The result of a comparison in a sentence.

    Examples
    --------
    >>> outcome(())
    'There is no gradient to compare.'
    """
    outcomes = [row.check.outcome for row in rows if row.check is not None]
    if not outcomes:
        return "There is no gradient to compare."
    agrees, differs = outcomes.count("agrees"), outcomes.count("differs")
    unknown = outcomes.count("not checked")
    compared = agrees + differs
    if not compared:
        which = "The gradient" if unknown == 1 else f"None of the {unknown:,} gradients"
        return f"{which} could {'not ' * (unknown == 1)}be compared with difference quotients."
    if not differs:
        one = "One gradient agrees" if unknown else "The gradient agrees"
        words = one if agrees == 1 else f"{'' if unknown else 'All '}{agrees:,} gradients agree"
        words += " with difference quotients"
    elif not agrees:
        one = "One gradient differs" if unknown else "The gradient differs"
        words = one if differs == 1 else f"{'' if unknown else 'All '}{differs:,} gradients differ"
        words += " from difference quotients"
    else:
        words = f"Of {compared:,} gradients, {agrees:,} agree{'s' * (agrees == 1)} with difference quotients, and "
        words += f"{differs:,} differ{'s' * (differs == 1)}"
    if unknown:
        words += f"; {unknown:,} could not be compared"
    notes = [row.check.note for row in rows if row.check and row.check.outcome == "differs"]
    if differs == compared == 1 and notes[0]:
        words += f"; {notes[0]}"
    return f"{words}.{_of_what_was_recorded(rows)}"


def _incomplete(rows: tuple[Derivative, ...]) -> int:
    """The number of gradients that were compared although a part of their target left the tape."""
    return sum(
        bool(row.check and row.check.outcome != "not checked" and row.reason) for row in rows
    )


def _of_what_was_recorded(rows: tuple[Derivative, ...]) -> str:
    """The remark that a part of a target is missing, so that agreement says nothing of it; empty if none is."""
    count = _incomplete(rows)
    if not count:
        return ""
    which = "A part of the target is" if count == 1 else f"Of {count:,}, parts of the target are"
    return f" {which} missing in {'it' if count == 1 else 'them'}, see below: only what was recorded was compared."


def _in_words(error: Exception) -> str:
    """An error as a sentence."""
    words = printable(
        str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    )
    return clipped(f"This cannot be answered ({type(error).__name__}): {words}", 300)
