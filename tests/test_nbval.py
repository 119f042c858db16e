"""The pytest plug-in for notebooks, in a pytest of its own on notebooks that were changed afterwards."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from tapemagic import nbval
from tapemagic.display.html import page
from tapemagic.display.report import TapeReport
from tests.analysis.recordings import product, square
from tests.ipython.kernels import FIRST, PATHS, ROOT, kernel

SETUP = f"{FIRST}\nx = 3.0"
CELL = "%%tape x\ny = x**2"
BYTES = re.compile("base64,[A-Za-z0-9+/=]+")
ELSEWHERE = base64.b64encode(b"<svg><!-- of another Graphviz --></svg>").decode()


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small notebook with what its cells gave."""
    with kernel(tmp_path_factory.mktemp("nbval")) as started:
        started.show("x = 3.0")
        [result] = started.run(CELL).outputs
    result["execution_count"] = 2
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        nbformat.v4.new_code_cell(SETUP, execution_count=1),
        nbformat.v4.new_code_cell(CELL, execution_count=2, outputs=[result]),
    ]
    return str(nbformat.writes(notebook))


def check(folder: Path, notebooks: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run ``pytest --nbval`` on notebooks, with the plug-in, and report on each cell."""
    for name, notebook in notebooks.items():
        (folder / f"{name}.ipynb").write_text(notebook, encoding="utf-8")
    installed = metadata.entry_points(group="pytest11", name="tapemagic")
    options = [] if installed else ["-p", "tapemagic.nbval"]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rpf",
            "--nbval",
            *options,
            "-p",
            "no:cacheprovider",
            str(folder),
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": PATHS, "IPYTHONDIR": str(folder / "ipython")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def changed(pattern: str | re.Pattern[str], new: str, stored: str) -> str:
    """A notebook with a change in one place."""
    text, count = re.subn(pattern, new, stored)
    assert 1 == count
    return text


CHANGES: dict[str, tuple[Callable[[str], str], bool]] = {
    "unchanged": (lambda stored: stored, True),
    "drawing": (lambda stored: changed(BYTES, f"base64,{ELSEWHERE}", stored), True),
    "text": (lambda stored: changed('"dy/dx = 6.0"', '"dy/dx = 6.1"', stored), False),
    "verdict": (lambda stored: changed('"y = 9.0; dy', '"y = 9.1; dy', stored), False),
    "table": (lambda stored: changed(">6.0</td>", ">6.1</td>", stored), False),
    "words": (lambda stored: changed(r"y = power\(x, 2\)", "y = power(x, 3)", stored), False),
}
"""Changes of a notebook that was executed, and whether nbval lets them pass."""


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_nbval(tmp_path: Path, executed: str) -> None:
    """A notebook whose drawings differ passes; one whose numbers or words differ does not."""
    run = check(tmp_path, {name: change(executed) for name, (change, _) in CHANGES.items()})

    failed = [name for name, (_, passes) in CHANGES.items() if not passes]
    found = re.findall(r"^(PASSED|FAILED) (\w+)\.ipynb::Cell (\d)", run.stdout, re.MULTILINE)
    assert {
        (name, cell, "FAILED" if name in failed and cell == "1" else "PASSED")
        for name in CHANGES
        for cell in "01"
    } == {(name, cell, outcome) for outcome, name, cell in found}, run.stdout + run.stderr


def test_only_drawings_are_changed() -> None:
    """Of a whole report the bytes of the drawing go, and nothing else does."""
    for found in (square(), product()):
        html = page(found, TapeReport(found).drawing, None)

        without = re.sub(nbval.DRAWING, r"\1", html)

        assert BYTES.sub("base64,", html) == without != html


def test_images_of_others_are_compared() -> None:
    """An image that tapemagic did not draw stays as it is."""
    html = '<img alt="A photo" style="" src="data:image/svg+xml;base64,AAAA">'

    assert html == re.sub(nbval.DRAWING, r"\1", html)


def test_other_collectors_are_left_alone() -> None:
    """Only what nbval collects has patterns."""
    plain, notebook = SimpleNamespace(), SimpleNamespace(sanitize_patterns={"a": "b"})

    nbval.pytest_collectstart(plain)
    nbval.pytest_collectstart(notebook)

    assert SimpleNamespace() == plain
    assert {"a": "b", nbval.DRAWING: r"\1"} == notebook.sanitize_patterns


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
