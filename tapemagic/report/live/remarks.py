"""Remarks on the run of a cell that a report shows: its sliders, what it printed, and why another run is not shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Self

from tapemagic.drawing.elements import element
from tapemagic.drawing.styles import NAME, SMALL, WARN
from tapemagic.report.live.content import Content, Control

MAX_PRINTED = 2000
"""The number of characters of what a cell printed that are shown: the last ones."""

# Control sequences (ECMA-48) that set colors and move the cursor of a terminal.
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A carriage return goes to the start of the line, which progress bars then overwrite.
OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
PRINTED = f"{NAME}-wrap;{SMALL};max-height:12em;overflow:auto"


@dataclass(frozen=True)
class Remarks:
    """Remarks on the run of a cell that a report shows.

    - `controls`: The sliders.
    - `note`: A sentence on a run that failed, and is not shown.
    - `printed`: What the cell printed in a later run; of the first run, the notebook shows it.
    - `unshown`: The number of pictures and other displays of a later run, which are not shown.
    """

    controls: Sequence[Control] = ()
    note: str = ""
    printed: str = ""
    unshown: int = 0

    def failed(self, note: str) -> Self:
        """Return these remarks with a note on a run that failed."""
        return replace(self, note=note)

    def added_to(self, content: Content) -> Content:
        """Return the contents of a report with these remarks."""
        if not self.controls:
            return content
        head = f"{self._note()}{content['head']}{self._outputs()}"
        return {**content, "controls": [*self.controls], "head": head}

    def _note(self) -> str:
        if not self.note:
            return ""
        return element("div", f"{WARN};margin:0 0 6px", escape(self.note))

    def _outputs(self) -> str:
        shown = readable(self.printed)
        parts = []
        if shown:
            parts.append(element("div", SMALL, "Printed by this run:"))
            parts.append(element("div", PRINTED, escape(shown)))
        if self.unshown:
            what = (
                "A picture or another display"
                if self.unshown == 1
                else f"{self.unshown} pictures or other displays"
            )
            parts.append(
                element("div", SMALL, f"{what} of this run: not shown. Run the cell to see it.")
            )
        return "".join(parts)


def readable(printed: str) -> str:
    r"""The end of a printed text, as a terminal would show it without colours.

    Examples
    --------
    >>> readable("\x1b[31mred\x1b[0m\n10 %\r20 %\n")
    'red\n20 %'
    """
    # Ten times what is shown: colors and overwritten progress bars take much of it.
    text = OVERWRITTEN.sub("", COLOURS.sub("", printed[-10 * MAX_PRINTED :])).rstrip()
    text = "".join(char if char.isprintable() or char in "\n\t" else " " for char in text)
    return text if len(text) <= MAX_PRINTED else f"… {text[-MAX_PRINTED:]}"
