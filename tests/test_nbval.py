"""The pytest plug-in for notebooks, in a pytest of its own on notebooks that were changed afterwards."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from copy import deepcopy
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tapemagic import nbval
from tapemagic.drawing.engines import by_dot, by_pygraphviz
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.picture import read
from tapemagic.drawing.svg import Drawing
from tapemagic.report.bundle import TapeReport
from tapemagic.report.findings import Findings
from tapemagic.report.html import page
from tapemagic.report.live import notebook_data
from tapemagic.report.tabs.plot.plot import Curve, Plot
from tests.ipython.kernels import FIRST, PATHS, ROOT, kernel
from tests.report.recordings import product, record, square, with_contents

pytestmark = pytest.mark.thorough

SETUP = f"{FIRST}\nx = 3.0"
CELL = "%%tape x\ny = x**2"
BYTES = r'data:image/svg\+xml,[^"]+'
ELSEWHERE = "data:image/svg+xml,<svg xmlns='of another Graphviz'/>"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small notebook with what its cells gave: the same one again and again, each with a change of its own."""
    with kernel(tmp_path_factory.mktemp("nbval")) as started:
        started.show("x = 3.0")
        [result] = started.run(CELL).outputs
    result["execution_count"] = 2
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(SETUP, execution_count=1),
        *(
            nbformat.v4.new_code_cell(CELL, execution_count=2, outputs=[deepcopy(result)])
            for _ in CHANGES
        ),
    ]
    for cell, (change, _) in zip(notebook.cells[1:], CHANGES.values(), strict=True):
        change(cell)
    return str(nbformat.writes(notebook))


def check(folder: Path, notebook: str) -> subprocess.CompletedProcess[str]:
    """Run ``pytest --nbval`` on a notebook, with the plug-in, and report on each cell."""
    (folder / "executed.ipynb").write_text(notebook, encoding="utf-8")
    installed = metadata.entry_points(group="pytest11", name="tapemagic")
    options = [] if installed else ["-p", "tapemagic.nbval"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rpf", "--nbval", *options, "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PATHS, "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )  # fmt: skip


def changed(kind: str, pattern: str, new: str) -> Callable[[Any], None]:
    """A change of a cell that was executed, in one place of its report."""

    def change(cell: Any) -> None:
        data = cell.outputs[0].data
        # The packed data of the extension are in an object.
        place = (data[kind], "content") if kind == nbval.DATA else (data, kind)
        place[0][place[1]], count = re.subn(pattern, lambda _: new, place[0][place[1]])
        assert 1 == count

    return change


CHANGES: dict[str, tuple[Callable[[Any], None], bool]] = {
    "unchanged": (lambda _: None, True),
    "drawing": (changed("text/html", BYTES, ELSEWHERE), True),
    "paper": (changed("text/latex", r"(?s)(?<=pgfpicture}).*(?=\\end{pgfpicture})", "another"), True),
    "data": (changed(nbval.DATA, r"^.{20}", "another Graphviz"), True),
    "text": (changed("text/plain", "x̄ = 6.0", "x̄ = 6.1"), False),
    "table": (changed("text/html", "<td>3.0<td>6.0", "<td>3.0<td>6.1"), False),
    "words": (changed("text/html", r"y = power\(x, 2\)", "y = power(x, 3)"), False),
    "formula": (changed("text/latex", r"bar\{x\}\$ = 6.0", "bar{x}$ = 6.1"), False),
    "verdict": (changed("text/plain", "y = 9.0; dy", "y = 9.1; dy"), False),
}  # fmt: skip
"""Changes of a cell that was executed, and whether nbval lets them pass."""


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_nbval(tmp_path: Path, executed: str) -> None:
    """A cell whose drawings differ passes; one whose numbers or words differ does not."""
    run = check(tmp_path, executed)

    outcomes = ["PASSED", *("PASSED" if passes else "FAILED" for _, passes in CHANGES.values())]
    found = re.findall(r"^(PASSED|FAILED) executed\.ipynb::Cell (\d)", run.stdout, re.MULTILINE)
    assert sorted(enumerate(outcomes)) == sorted((int(cell), outcome) for outcome, cell in found), (
        run.stdout + run.stderr
    )


def compared(text: str) -> str:
    """What nbval compares of an output."""
    for pattern in (nbval.DRAWING, nbval.PLOT, nbval.PAPER):
        text = re.sub(pattern, r"\1", text)
    return text


EXAMPLES = {
    "square": square(),
    "two orders": product(),
    "matrices": record(lambda a: a @ a, [[1.0, 2.0], [3.0, 4.0]], matrices=("jacobian", "hessian")),
    "loop": record(lambda a: sum(np.sin(a) * k for k in range(30)), 0.5),
}


def drawn_by(drawer: Callable[[str], str], found: Findings) -> TapeReport:
    """A report drawn by one program."""
    report = TapeReport(found)
    report.__dict__["drawing"] = Drawing(read(drawer(report.dot), Inserts(found.graph).by_number))
    return report


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("drawer", [by_dot, by_pygraphviz])
def test_every_number_is_compared(drawer: Callable[[str], str], name: str) -> None:
    """A number that is changed is seen, wherever it stands but in the drawing; and what stands there is in the text."""
    report = drawn_by(drawer, EXAMPLES[name])
    bundle = report._repr_mimebundle_()
    report.close()

    for kind in ("text/plain", "text/html", "text/latex"):
        whole = compared(bundle[kind])
        assert NUMBER.search(whole)
        places = list(NUMBER.finditer(whole))
        for place in places[:: 1 + len(places) // 60]:
            stored = f"{whole[: place.start()]}7{place[0]}{whole[place.end() :]}"
            assert compared(stored) != whole
    picture = report.drawing.picture
    assert picture is not None
    words = [words.text for lines in picture.words.values() for words in lines]
    words += [re.sub("<[^>]*>", " ", part.insert.fragment) for part in picture.insets]
    for kind in ("text/plain", "text/html"):
        assert not {number for line in words for number in NUMBER.findall(line)} - set(
            NUMBER.findall(compared(bundle[kind]))
        )


@pytest.mark.parametrize("name", EXAMPLES)
def test_both_programs_give_the_same(name: str) -> None:
    """What is compared does not depend on who drew."""
    first, second = (
        drawn_by(drawer, EXAMPLES[name])._repr_mimebundle_() for drawer in (by_dot, by_pygraphviz)
    )

    for kind in ("text/plain", "text/html", "text/latex"):
        assert compared(first[kind]) == compared(second[kind])


def test_only_drawings_are_changed() -> None:
    """Of a whole report the bytes of the drawing go, and nothing else does."""
    for found in (square(), product()):
        html = page(found, TapeReport(found).drawing, None)

        without = re.sub(nbval.DRAWING, r"\1", html)

        assert re.sub(BYTES, "data:image/svg+xml,", html) == without != html


def test_curves_are_not_compared() -> None:
    """Of a plot the bytes of the picture go; its words and its table are compared."""
    plot = Plot("x", 0.0, 1.0, (0.0, 1.0), (0, 1), (Curve("y", 0, "y", (2.5, 3.5)),), 0.5)
    report = TapeReport(with_contents(square(), plot=plot))
    bundle = report._repr_mimebundle_()
    report.close()
    html, paper = bundle["text/html"], bundle["text/latex"]

    assert 2 == len(re.findall(BYTES, html))
    assert re.sub(BYTES, "data:image/svg+xml,", html) == compared(html)
    assert "3.5" in compared(html)
    assert 2 == paper.count("\\begin{pgfpicture}") == compared(paper).count("{pgfpicture}") // 2
    assert "3B82F6" in paper
    assert "3B82F6" not in compared(paper)


def test_images_of_others_are_compared() -> None:
    """An image that tapemagic did not draw stays as it is."""
    html = '<img alt="A photo" style="" src="data:image/svg+xml,AAAA">'

    assert html == re.sub(nbval.DRAWING, r"\1", html)


def test_other_collectors_are_left_alone() -> None:
    """Only what nbval collects has patterns."""
    plain = SimpleNamespace()
    notebook = SimpleNamespace(sanitize_patterns={"a": "b"}, skip_compare=("traceback",))

    nbval.pytest_collectstart(plain)
    nbval.pytest_collectstart(notebook)

    assert SimpleNamespace() == plain
    patterns = dict.fromkeys((nbval.DRAWING, nbval.PLOT, nbval.PAPER), r"\1")
    assert {"a": "b", **patterns} == notebook.sanitize_patterns
    assert ("traceback", notebook_data.MIME) == notebook.skip_compare


def test_the_entry_point() -> None:
    """The plug-in is one for everybody who has tapemagic installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert {"tapemagic": nbval.__name__} == project["entry-points"]["pytest11"]


def test_it_needs_nothing() -> None:
    """At the start of every pytest it costs the import of the package, and no more."""
    code = "import sys, tapemagic; before = set(sys.modules); import tapemagic.nbval; print(set(sys.modules) - before)"

    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert "{'tapemagic.nbval'}" == run.stdout.strip()
