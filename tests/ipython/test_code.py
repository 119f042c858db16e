"""The Code face, %%tape --code, and %tape_function."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.ipython.conftest import Run
from tests.ipython.live import asked, content, shown

CELL = "%%tape x{}\nx = 2.0\ny = np.sin(x) * x**2"
MARK = re.compile(r'<span data-k="([^"]*)">')


def faces(report: Any) -> dict[str, str]:
    """The tabs of a report's widget, by their titles."""
    return {face["title"]: face["html"] for face in content(shown(report))["faces"]}


def lit(html: str, mark: str) -> list[str]:
    """The lines of the program that light up at a step, as text."""
    lines = [line for line in html.split("\n") if mark in (MARK.findall(line) or [""])[0].split()]
    return [re.sub("<[^>]*>", "", line).strip() for line in lines]


def test_without_the_option(run: Run) -> None:
    """The tab is there, empty, and the program is in none of the texts that are stored."""
    report = run(CELL.format(""))

    bundle = report._repr_mimebundle_()
    assert "" == faces(report)["Code"]
    assert not any("y_and_gradients" in str(text) for text in bundle.values())
    assert report.findings.code is None


def test_with_the_option(run: Run) -> None:
    """Text, HTML and LaTeX show it, and so does the saved page."""
    report = run(CELL.format(" --code"))

    bundle = report._repr_mimebundle_()
    assert "    d_x = 2 * u1 * x + u2 * np.cos(x)" in bundle["text/plain"].split("\n")
    assert "y_and_gradients" in bundle["text/html"]
    assert "y\\_and\\_gradients" in bundle["text/latex"]
    assert "<style" not in bundle["text/html"]
    assert "y_and_gradients" in faces(report)["Code"]
    assert "y_and_gradients" in report._page()


def test_the_program_runs(run: Run) -> None:
    """What stands in the report is the derivative."""
    code = run(CELL.format(" --code -o 2")).findings.code.text
    namespace: dict[str, Any] = {}
    exec(code, namespace)  # noqa: S102 -- it is what is tested

    x = 0.5
    wanted = np.sin(x) * x**2, np.cos(x) * x**2 + 2 * x * np.sin(x)
    second = -np.sin(x) * x**2 + 4 * x * np.cos(x) + 2 * np.sin(x)
    np.testing.assert_allclose(namespace["y_and_derivatives"](x), [*wanted, second])


def steps_with(widget: Any, html: str, words: str) -> list[list[str]]:
    """For each step that says something, the lines of the program that light up."""
    steps = content(widget)["view"]["steps"]
    return [lit(html, str(k)) for k, step in enumerate(steps, 1) if words in step["words"]]


def test_lines_belong_to_steps(run: Run) -> None:
    """Forward lines to that of an operation, the others to those in which it passes something back."""
    widget = shown(run(CELL.format("")))

    html = asked(widget, "code:{}")

    assert [["u1 = np.sin(x)"]] == steps_with(widget, html, "= sin(x)")
    assert [["y = u1 * u2"]] == steps_with(widget, html, "y = v1 · v2")
    assert [["d_x = 2 * u1 * x + u2 * np.cos(x)"]] == steps_with(widget, html, "sin passes back")


def test_lines_of_iterations(run: Run) -> None:
    """Each iteration of a loop that is closed has lines of its own, forward and in reverse."""
    widget = shown(run("%%tape x\nx = 2.0\ny = x\nfor k in range(30):\n    y = np.sin(y) * 1.5"))

    closed, opened = (asked(widget, f"code:{each}") for each in ("{}", '{"0":2}'))

    both = steps_with(widget, closed, "iteration 8 of 30")
    assert [1, 1] == list(map(len, both))
    assert "np.sin" in both[0][0]
    assert "np.cos" in both[1][0]
    assert closed != opened


def test_a_report_that_is_asked_in_vain(run: Run) -> None:
    """Where nothing is differentiated there is no tab; a wrong question is answered with a reason."""
    assert "Code" not in faces(run("%%tape\nz = 3"))
    widget = shown(run(CELL.format("")))
    assert "not a key" in asked(widget, 'code:{"a b": 1}')["error"]


def test_what_stands_in_the_cell_is_escaped(run: Run) -> None:
    """Also in comments, and in colours."""
    report = run("%%tape x --code\nx = 2.0\ny = x * len('<img src=x onerror=alert(1)>')")

    html = report._repr_mimebundle_()["text/html"]
    assert "<img src=x" not in html + faces(report)["Code"]
    assert "&lt;img src=x" in html


def test_lines_and_loops_are_said(run: Run) -> None:
    """Above the lines of a statement stands the statement."""
    code = run(
        "%%tape x --code\nx = 2.0\ny = x\nfor k in range(2):\n    y = np.sin(\n        y)\n"
    ).findings.code.text

    assert "# y = np.sin(y) (1 of 2)" in code
    assert "# back through: y = np.sin(y) (2 of 2)" in code


def test_lines_of_a_gradient_of_ones_own(run: Run) -> None:
    """They stand above what they compute."""
    cell = (
        "%%tape y x --code\n@tm.custom_gradient\ndef clip(x):\n    def grad(upstream):\n"
        "        return np.clip(upstream, -1, 1)\n    return x * 1.5, grad\n"
        "x = tm.Variable(2.0)\ny = np.sin(clip(x))"
    )
    text = run(cell).findings.code.text
    assert "    # return np.clip(upstream, -1, 1)\n    d_x = np.clip(" in text


def test_several_targets(run: Run) -> None:
    """Both are named, and which derivative is whose."""
    code = run("%%tape x --code -t p q\nx = 2.0\np = x**2\nq = np.exp(x)").findings.code.text

    assert "Compute p and q, and their gradients with respect to x." in code
    assert "the gradient of q with respect to x" in code


def test_the_setting(run: Run) -> None:
    """%config shows it in every report."""
    run("%config TapeMagics.code = True")
    try:
        assert run(CELL.format("")).findings.code is not None
    finally:
        run("%config TapeMagics.code = False")


SLOPE = """@tm.function
def slope(x):
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x * np.sin(x)
    return tape.gradient(y, x)
"""


def test_a_function(run: Run) -> None:
    """Its program as text and as HTML."""
    run(f"{SLOPE}\nslope(tm.constant(1.0)), slope(tm.constant(2.0))")

    whole = run("%tape_function slope")
    one = run("%tape_function slope tm.constant(3.0)")

    assert "np.cos(x)" in repr(whole)
    assert repr(one) == repr(whole)
    assert repr(run("%tape_function slope(*[tm.constant(3.0)])")) == repr(whole)
    bundle = whole._repr_mimebundle_()
    assert "<pre" in bundle["text/html"]
    assert "np.cos(x)" in bundle["text/plain"]


@pytest.mark.filterwarnings("ignore")
def test_a_function_that_stays_eager(run: Run) -> None:
    """The reason takes the place of the program."""
    run("@tm.function\ndef half(x):\n    return float(x) / 2")
    run("half(tm.constant(1.0)), half(tm.constant(2.0))")

    assert "half runs without a program" in repr(run("%tape_function half"))
    assert "(line 3 of its cell)" in repr(run("%tape_function half"))


def test_usage(run: Run, refused: Callable[[str], str]) -> None:
    """What to write instead."""
    run(f"{SLOPE}\nplain = len")

    assert "as in %tape_function step" in refused("%tape_function")
    assert "@tapemagic.function" in refused("%tape_function plain")
    assert "call it twice" in refused("%tape_function slope")
    assert "NameError" in refused("%tape_function nothing")
    assert "no arguments" in refused("%tape_function slope x +")
    assert "y cannot be computed (NameError" in refused("%tape_function slope(*y)")
