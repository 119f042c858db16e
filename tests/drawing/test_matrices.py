"""Full matrices as text and as HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from tapemagic.drawing import matrices
from tapemagic.drawing.elements import svg_of
from tapemagic.report import html
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tapemagic.report.tabs.gradients import show_gradients as gradients
from tapemagic.report.tabs.gradients.matrices import Matrix
from tapemagic.report.text import text
from tests.drawing.test_dot import NASTY
from tests.report.recordings import record
from tests.report.test_html import Reader, page

BOTH = ("jacobian", "hessian")


def numbers() -> Findings:
    """Two variables, and one that is not used."""
    return record(lambda a, b, _c: a * b * np.sin(a), 2.0, 3.0, 1.0, matrices=BOTH)


def arrays() -> Findings:
    """An array of an array."""
    return record(lambda a: np.cumsum(a * a), np.array([1.0, -2.0]), matrices=BOTH)


def large() -> Findings:
    """Two arrays that are too large to be read."""
    return record(lambda a: np.cumsum(a * a), np.linspace(-1.0, 1.0, 70), matrices=BOTH)


def huge() -> Findings:
    """An array whose Jacobian is refused."""
    return record(lambda a: a * a, np.ones(2000), matrices=BOTH)


def test_text_of_numbers() -> None:
    """Numbers are equations, matrices have aligned columns, and a None has its reason."""
    expected = """\
        Jacobian dy/da = 0.231011
        Jacobian dy/db = 1.81859
        Jacobian dy/dc = None: Nothing recorded on the tape leads from c to y; y depends on a and b.

        Hessian d²y/d(a, b)², 2×2
                   a          b
        a   -7.95267  0.0770038
        b  0.0770038        0.0
        y is linear in b around here; row a, column b: d²y/da db

        Hessian d²y/dc² = None: Nothing recorded on the tape leads from c to y; y depends on a and b."""

    assert f"\n\n{dedent(expected)}" in text(numbers())


def test_text_of_arrays() -> None:
    """Rows and columns have the names of elements."""
    expected = """\
        Jacobian dy/da, 2×2
              a[0]  a[1]
        y[0]   2.0   0.0
        y[1]   2.0  -4.0

        Hessian d²y/da², 2×2
              a[0]  a[1]
        a[0]   4.0   0.0
        a[1]   0.0   2.0
        of the sum of the 2 elements of y"""

    assert dedent(expected) == matrices.text(arrays().matrices)


def test_text_of_a_large_one() -> None:
    """The first and the last entries, and the range of all."""
    expected = """\
        Jacobian dy/da, 70×70, -2.0 to 2.0
               a[0]      a[1]      a[2]      a[3]  …    a[67]    a[68]  a[69]
        y[0]   -2.0       0.0       0.0       0.0  …      0.0      0.0    0.0
        y[1]   -2.0  -1.94203       0.0       0.0  …      0.0      0.0    0.0
        y[2]   -2.0  -1.94203  -1.88406       0.0  …      0.0      0.0    0.0
        y[3]   -2.0  -1.94203  -1.88406  -1.82609  …      0.0      0.0    0.0
        …         …         …         …         …  …        …        …      …
        y[67]  -2.0  -1.94203  -1.88406  -1.82609  …  1.88406      0.0    0.0
        y[68]  -2.0  -1.94203  -1.88406  -1.82609  …  1.88406  1.94203    0.0
        y[69]  -2.0  -1.94203  -1.88406  -1.82609  …  1.88406  1.94203    2.0"""

    assert dedent(expected) == matrices.text(large().matrices[:1])


def test_text_of_what_was_not_computed() -> None:
    """It says why in one line, and what to call."""
    first, second = matrices.text(huge().matrices).splitlines()

    assert (
        "Jacobian dy/da, 2000×2000: not computed, since it has 4,000,000 entries, and a report takes on 1,000,000; "
        "tape.jacobian computes it"
    ) == first
    assert second.startswith(
        "Hessian d²y/da², 2000×2000: of the sum of the 2,000 elements of y; not computed, since it has 4,000,000"
    )


def test_empty() -> None:
    """A matrix without entries says so."""
    found = record(lambda a: a * 2, np.ones((0, 3)), matrices=("jacobian",))

    assert "Jacobian dy/da, 0×3×0×3: empty" == matrices.text(found.matrices)
    assert "Jacobian dy/da, 0×3×0×3: empty" == Reader(matrices.html(found.matrices)).text


@pytest.mark.parametrize("found", [numbers(), arrays(), large(), huge()])
def test_what_survives(found: Findings) -> None:
    """There are inline styles and data URIs, and nothing that a notebook strips or that comes from elsewhere."""
    read = Reader(matrices.html(found.matrices))

    assert {"div", "table", "thead", "tbody", "tr", "th", "td", "span", "img", "b"} >= {
        tag for tag, _ in read.tags
    }
    for _, attributes in read.tags:
        assert attributes.keys() <= {"style", "src", "alt", "cellpadding"}
        assert not re.search(r"url|expression|@import", attributes.get("style") or "")


def test_a_table() -> None:
    """Rows and columns have heads; the entries are cells."""
    read = Reader(matrices.html(arrays().matrices[:1]))

    assert 4 == len(read.all("td"))
    assert 5 == len(read.all("th"))
    assert "Jacobian dy/da, 2×2a[0]a[1]y[0]2.00.0y[1]2.0-4.0" == read.text


def test_numbers_and_reasons() -> None:
    """What is one number stands in the line; a None is bold."""
    source = matrices.html(numbers().matrices)

    assert "Jacobian dy/da = 0.231011" in Reader(source).text
    assert " = <b>None</b> <span" in source
    assert "None Nothing recorded on the tape leads from c to y" in Reader(source).text


def test_a_heat_map() -> None:
    """A larger matrix is a picture with words for those who cannot see it, and a legend."""
    read = Reader(matrices.html(large().matrices))

    first, second = read.all("img")
    assert "Heat-map of the Jacobian dy/da: 70×70, -2.0 to 2.0" == first["alt"]
    assert "Heat-map of the Hessian d²y/da²: 70×70, 0.0 to 140.0" == second["alt"]
    picture = svg_of(str(first["src"]))
    assert picture.startswith("<svg")
    assert [] == read.all("table")
    assert (
        "each cell is the mean of 2×2 entries; blue: negative, white: zero, orange: positive"
        in read.text
    )
    assert "of the sum of the 70 elements of y; each cell is" in read.text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0, "blue: negative, white: zero, orange: positive"),
        (np.nan, "orange: positive, checkered: nan or inf"),
        (1j, "absolute values; blue"),
    ],
)
def test_legends(value: complex, words: str) -> None:
    """What the colours mean."""
    found = record(lambda a: a * np.full(9, value), 1.0 + 0 * value, matrices=("jacobian",))

    assert words in Reader(matrices.html(found.matrices)).text


def test_in_the_report() -> None:
    """The section and the tab of gradients have the matrices under the table."""
    found = arrays()

    assert re.search(r"Gradients.*dy/da.*Jacobian.*Hessian", page(found).text, re.DOTALL)
    assert gradients.html(found).endswith(matrices.html(found.matrices))
    assert matrices.text(found.matrices) in text(found)


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("found", [numbers(), arrays(), large(), huge()])
def test_escaped(found: Findings, name: str) -> None:
    """Whatever a variable is called, it is text and nothing else, in one line."""

    def rename(matrix: Matrix) -> Matrix:
        return replace(
            matrix,
            target=name,
            sources=(name,) * len(matrix.sources),
            rows=(name,) * len(matrix.rows),
            columns=(name,) * len(matrix.columns),
            notes=(name,),
            reason=matrix.reason and name,
        )

    renamed = [rename(matrix) for matrix in found.matrices]
    read, plain = Reader(matrices.html(renamed)), Reader(matrices.html(found.matrices))

    assert {tag for tag, _ in plain.tags} == {tag for tag, _ in read.tags}
    shown = "".join(char if char.isprintable() else " " for char in name)
    assert 3 <= read.text.count(shown)
    lines = [matrices.text([matrix]).count("\n") for matrix in renamed]
    assert all(
        n <= 1 + bool(m.cells) * len(m.rows) + 1 for n, m in zip(lines, renamed, strict=True)
    )


@pytest.mark.parametrize("make", [numbers, arrays, large, huge])
def test_the_same_in_every_run(make: Any) -> None:
    """Text and HTML do not change from run to run."""
    first, second = TapeReport(make()), TapeReport(make())

    assert repr(first) == repr(second)
    drawing = first.drawing
    assert html.page(first.findings, drawing, None) == html.page(second.findings, drawing, None)
