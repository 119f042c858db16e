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
from tapemagic.report.tabs.code.live_code import live_html
from tapemagic.report.tabs.gradients.live_gradients import Check, compared
from tapemagic.report.tabs.graph.live_graph import View, view_of

NOT_KEPT = "The recording of this cell was not kept."
MAX_QUESTION_LENGTH = 20_000
"""The most characters of a question."""


class QueryError(TypedDict):
    """The reason why a question has no answer."""

    error: str


@dataclass(frozen=True)
class Answers:
    """The answers to questions about a recording, as JSON.

    - `may_run`: Whether a check may run the cell again. Saving a page, for instance, runs nothing.
    """

    findings: Findings
    details: Details | None
    style: Style
    may_run: bool = True

    def answer(self, question: str) -> Any:
        """Answer ``view:{"KEY": N}``, ``value:KEY``, ``code:{"KEY": N}`` or ``check``; a `QueryError` says why not.

        Examples
        --------
        >>> Answers(Findings(), None, Style()).answer("value:0.0")
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
            return QueryError(error=f"There is no answer to {clipped(printable(question), 40)!r}.")
        # Interrupting the kernel ends this answer, and must not leave the front end waiting.
        except KeyboardInterrupt:
            return QueryError(error="The answer was interrupted.")
        # json.loads raises it for "[[[[...".
        except RecursionError:
            return QueryError(error="The question is nested too deeply.")
        except NotKeptError as error:
            return QueryError(error=str(error))
        except Exception as error:  # noqa: BLE001 -- a front end may ask anything; an error would be lost in a log
            return QueryError(error=_in_words(error))

    @property
    def why_gone(self) -> str:
        """The reason why the recording was not kept, or '' if it was."""
        return NOT_KEPT if self.details is None else self.details.why_gone

    @property
    def operations(self) -> int:
        """The number of operations in the recording, those of the report's derivatives included."""
        return self._kept().operations

    def _kept(self) -> Details:
        if self.details is None:
            raise NotKeptError(NOT_KEPT)
        return self.details

    def view(self, opened: Mapping[str, int]) -> View:
        """The layout of the graph in which some parts are opened or closed."""
        if opened == {}:
            # What is shown at first, which the saved page has, too: when its picture was missing, it's asked for again.
            return view_of(GraphPicture(self.findings, self.style))
        graph = replace(self.findings.tabs["graph"], view=self._kept().view(opened))
        return view_of(GraphPicture(self.findings.with_tab("graph", graph), self.style))

    def values(self, keys: list[str], at_hand: bool = False) -> dict[str, str]:
        """Values in full as HTML, by their keys; with `at_hand`, only those that take no other sweep."""
        details = self._kept().values(keys, at_hand)
        return {key: details_html.html(value) for key, value in details.items()}

    def code(self, opened: Mapping[str, int]) -> str:
        """The derivatives as a program in HTML, its lines marked with the steps through a layout."""
        return live_html(self._kept().code(opened), self.style.theme)

    def check(self) -> Check:
        """Check the gradients by finite differences."""
        return compared(self.findings, self._kept().check(self.may_run))


def _in_words(error: Exception) -> str:
    """An error as a sentence."""
    words = printable(
        str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    )
    return clipped(f"This cannot be answered ({type(error).__name__}): {words}", 300)
