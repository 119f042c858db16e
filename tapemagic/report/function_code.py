"""FunctionCode: the programs of a traced function, for the line magic %tape_function."""

from __future__ import annotations

from html import escape
from typing import Any

from tapemagic.drawing.elements import FONT, element
from tapemagic.drawing.highlighting import highlighted
from tapemagic.drawing.html_to_latex import converted
from tapemagic.drawing.styles import NAME
from tapemagic.explain.formatting import printable
from tapemagic.report.glossary import tooltip

# Text and HTML share this sentence; the HTML gives its terms tooltips.
WITHOUT = " runs without a program: "
STYLE = f"{NAME};font-size:12px;margin:0;overflow-x:auto"


class FunctionCode:
    """The programs of a traced function.

    - `name`: The expression for the function.
    - `text`: The programs one below the other, or '' without a program.
    - `why_eager`: Why some calls run without a program, or '' if all have one.
    """

    def __init__(self, name: str, text: str, why_eager: str) -> None:
        self.name = name
        self.text = text
        self.why_eager = why_eager

    def _eager(self) -> str:
        words = "\n".join(map(printable, self.why_eager.splitlines()))
        return words and f"{printable(self.name)}{WITHOUT}{words}"

    def __repr__(self) -> str:
        lines = "\n".join(map(printable, self.text.rstrip("\n").split("\n")))
        return "\n\n".join(filter(None, [lines, self._eager()]))

    def _html(self) -> str:
        program = "\n".join(map(printable, self.text.rstrip("\n").split("\n")))
        code = element("pre", STYLE, "\n".join(highlighted(program))) if self.text else ""
        name, without, reasons = escape(self._eager()).replace("\n", "<br>").partition(WITHOUT)
        runs = f" {tooltip('eager', 'runs')} without a {tooltip('program', 'program')}: "
        why = name + (without and runs) + reasons
        return element("div", FONT, code + (element("div", "", why) if why else ""))

    def _repr_mimebundle_(self, **_wishes: Any) -> dict[str, Any]:
        page = self._html()
        return {"text/plain": repr(self), "text/html": page, "text/latex": converted(page, {})}
