"""A report as LaTeX; and, where there is a TeX, as a page."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.drawing.html_to_latex import converted
from tapemagic.drawing.pgf import pgf
from tapemagic.drawing.picture import read
from tapemagic.drawing.tex import tex
from tapemagic.report.bundle import TapeReport
from tests.drawing.test_dot import NASTY
from tests.report.recordings import chain, product, record, regression

HEAD = r"""\documentclass{article}\usepackage[breakable]{tcolorbox}\usepackage{amsmath,amssymb,fontspec,unicode-math}
\usepackage{longtable}\usepackage[margin=1in]{geometry}\begin{document}
"""
"""What nbconvert's template loads, as far as a report needs it."""


def latex_of(found: Any) -> str:
    """A report as LaTeX."""
    report = TapeReport(found)
    made: str = report._repr_mimebundle_()["text/latex"]
    report.close()
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("w_1 = {a}$%#&~^\\", r"w\_1 = \{a\}\$\%\#\&\textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("x₁² × ∂y/∂x − ∇α", r"x$_1$$^2$ × $\partial$y/$\partial$x $-$ $\nabla$$\alpha$"),
        ("x̄ = --", r"$\overline{\mbox{x}}$ = -{}-"),
        ("変", r"\tapeglyph{5909}{変}"),
    ],
)  # fmt: skip
def test_text(text: str, expected: str) -> None:
    """What means something to TeX is escaped, and what its fonts lack is mathematics, or a number."""
    assert expected == tex(text)


def test_a_table() -> None:
    """Cells may leave out their ends; columns that do not fit share the line."""
    rows = converted(
        "<table><thead><tr><th>a<th>b</tr></thead><tr><td>1<td><b>2</b></td></tr></table>", {}
    )
    wide = converted(f"<table><tr><td>n</td><td>{'word ' * 40}</td></tr></table>", {})

    assert "{\\B a} & {\\B b}\\\\\\hline\\endhead\n1 & {\\B 2}\\\\" in rows
    assert re.search(r"p\{\.?0?\.\d+\\linewidth\}p\{0\.9\d\\linewidth\}", wide)


def test_a_picture() -> None:
    """Shapes are drawn by pgf in halves of a point, those after the first point of an outline as steps."""
    triangle = '<polygon fill="#fff" stroke="#1d4ed8" points="0,0 9,0 9,9"/>'
    svg = f'<svg viewBox="0 0 9 9">{triangle}<text x="4" y="5">a_b</text></svg>'

    drawn = pgf(read(svg))

    assert "\nAFFFFFFF S1D4ED8 Q0 0 18 0 0 18 Gfill,stroke \n" in drawn
    assert "{a\\_b}}" in drawn


def test_pictures_of_the_tables_are_drawn_too() -> None:
    """A heat-map is a picture in LaTeX as well; that of the graph is marked for nbval."""
    found = record(
        lambda a: a * np.arange(3.0)[:, None] * np.arange(1.0, 21),
        np.ones(20),
        matrices=("jacobian",),
    )

    made = latex_of(found)

    assert made.count("\\begin{pgfpicture}") > 1 == made.count("%graph\n\\begin{pgfpicture}")


NASTY_NAMES = [
    *NASTY, "$\\end{document}", "\\input{/etc/passwd}", "%", "a & b \\\\ c", "שלום\u202eabc",
]  # fmt: skip
EXAMPLES: dict[str, Callable[[], Any]] = {
    "two orders": product,
    "regression": regression,
    "loop": lambda: chain(100),
    "matrices": lambda: record(lambda a: np.outer(a, a), np.linspace(-1, 1, 12), matrices=("jacobian", "hessian")),
    "names": lambda: record(
        lambda *ws: sum(w * i for i, w in enumerate(ws)),
        *[tm.Variable(float(i), name=name) for i, name in enumerate(NASTY_NAMES[:8])],
        **dict.fromkeys(NASTY_NAMES[8:], 2.0),
    ),
}  # fmt: skip


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("xelatex") is None, reason="there is no xelatex")
def test_typeset(tmp_path: Path) -> None:
    """All reports together are a document without an error, in which no letter is missing."""
    body = "\n\n".join(latex_of(example()) for example in EXAMPLES.values())
    (tmp_path / "reports.tex").write_text(f"{HEAD}{body}\\end{{document}}", encoding="utf-8")

    run = subprocess.run(
        ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "reports"],  # noqa: S607
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        errors="replace",
    )

    assert run.returncode == 0, run.stdout[-3000:]
    assert (tmp_path / "reports.pdf").stat().st_size > 10_000
    log = (tmp_path / "reports.log").read_text(errors="replace")
    assert not re.findall("Missing character.*", log)
