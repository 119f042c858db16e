"""Reports without a magic: `tape.report`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import ConsumedTapeError, NotATensorError, NotRecordingError, OptionError
from tapemagic.report.bundle import TapeReport
from tests.ipython.kernels import VIEW, kernel

SCRIPT = """
import numpy as np
import tapemagic as tm

def loss_of(w):
    x = np.array([1.0, 2.0])
    with tm.GradientTape() as tape:
        prediction = w * x
        loss = np.sum((prediction - 1.0) ** 2)
    report = tape.report(loss)
    print(report)
    print(report.save("report.html").name)
    print(tape.gradient(loss, w).numpy())

loss_of(tm.Variable(2.0, name="w"))
"""


def products() -> tuple[Any, Any, Any, Any]:
    """A tape with y = x² w, and y, x and w."""
    x, w = tm.constant(3.0), tm.Variable(2.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = x * x * w
    return tape, y, x, w


def test_names_of_the_program() -> None:
    """Those of the caller's variables; the watched values are the sources."""
    tape, y, x, w = products()

    report = tape.report(y)

    assert "tape.report: 2 operations, 2 watched variables, differentiating y" in str(report)
    assert "y = 18.0; dy/dw = 9.0, dy/dx = 12.0" in str(report)
    assert {"x", "w", "y"} <= {value.name for value in report.findings.variables}
    assert (12.0, 9.0) == tuple(g.numpy() for g in tape.gradient(y, [x, w]))


def test_given_names() -> None:
    """A dict names its tensors, which then have no other name."""
    tape, y, x, w = products()

    report = tape.report({"loss": y}, {"slope": w, "more": [x]})

    assert "loss = 18.0; dloss/dslope = 9.0, dloss/d(more[0]) = 12.0" in str(report)
    assert {"slope", "more[0]", "loss"} == {value.name for value in report.findings.variables}


def test_all_faces() -> None:
    """Text, HTML, LaTeX and a widget, which answers; without a bundle, HTML alone."""
    tape, y, x, _ = products()

    report = tape.report(y, x, order=2, check=True, code=True)
    bundle = report._repr_mimebundle_()

    assert {"text/plain", "text/html", "text/latex", VIEW} <= bundle.keys()
    assert "d²y/dx² = 4.0" in bundle["text/plain"]
    assert "matches finite differences" in bundle["text/plain"]
    assert "def y_and_derivatives(x" in bundle["text/plain"]
    assert "<img" in report._repr_html_()
    # A host may reset the padding of cells.
    assert "padding:2px 6px" in report._repr_html_()
    assert "error" not in report._answers.answer("check")
    report.close()


def test_a_check_claims_nothing_about_what_left_the_tape() -> None:
    """A program can't be run again, so only its recording is checked, and the sentence says so."""
    x = tm.Variable(1.3)
    with tm.GradientTape() as tape:
        k = float(x)
        y = k * x

    words = str(tape.report(y, x, check=True))

    assert (
        "The gradient matches finite differences. Only the recorded operations were compared."
        in words
    )
    assert "What left the tape through float() on line" in words


def test_it_does_not_consume_the_tape_and_records_nothing() -> None:
    """Neither on this tape, which may be asked in its block, nor on one around it."""
    x = tm.Variable(3.0)
    with tm.GradientTape() as outer:
        with tm.GradientTape() as tape:
            y = x**3
            before = len(tape.records), len(outer.records)
            assert "y = 27.0; dy/dx = 27.0, d²y/dx² = 18.0" in str(tape.report(y, x, order=2))
            assert before == (len(tape.records), len(outer.records))
        slope = tape.gradient(y, x)

    assert 18.0 == outer.gradient(slope, x).numpy()


def test_a_gradient_that_is_none() -> None:
    """The report gives the reason in the words of `tape.explain`."""
    x, w = tm.Variable(3.0), tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = w * float(x)

    text = " ".join(str(tape.report(y, [x, w])).split())

    assert "dy/dx is None" in text
    assert "float()" in text
    assert "dy/dw = 3.0" in text


def test_numbers_that_were_not_kept() -> None:
    """They are shapes, never other numbers; named values that are alive are shown."""
    x = tm.Variable(np.linspace(0.0, 1.0, 300_000))
    with tm.GradientTape() as tape:
        z = x
        for _ in range(12):
            z = z + 1.0
        y = np.sum(z * z)

    report = tape.report(y, x, check=True)
    text = str(report)

    assert "This tape kept only the shapes of" in text
    assert "because no derivative reads the numbers" in text
    assert "not checked by finite differences: the tape did not keep all inputs and results" in text
    hidden = [v for v in report.graph.values if v.symbol == "v3"]
    assert ["300000"] == [v.text.split()[0].replace(",", "") for v in hidden]
    expected = 2 * (np.linspace(0.0, 1.0, 300_000) + 12)
    assert np.allclose(expected, tape.gradient(y, x).numpy(), rtol=1e-12)


def test_watched_values_without_names() -> None:
    """The report says that it omits them."""
    w = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        tape.watch(part := tm.constant(1.0))
        y = w * part
        del part

    assert "The tape watches 1 value without a name here" in " ".join(str(tape.report(y)).split())


def test_variables_of_an_object() -> None:
    """Those without names are told apart."""
    weights = SimpleNamespace(first=tm.Variable(2.0), second=tm.Variable(3.0))
    with tm.GradientTape() as tape:
        y = weights.first * weights.second

    assert "dy/d(Variable 1) = 3.0, dy/d(Variable 2) = 2.0" in str(tape.report(y))
    assert "dy/d(weights.first) = 3.0" in str(tape.report(y, weights.first))


def test_variables_that_share_a_name_with_another_value() -> None:
    """A Variable x that only x = Variable(...) + 1 reads is x₁."""
    with tm.GradientTape() as tape:
        x = tm.Variable(2.0, name="x") + 1.0
        y = x * tm.Variable(5.0, name="other")

    assert "dy/dx₁ = 5.0, dy/dother = 3.0" in str(tape.report(y))
    [variable, _] = tape.watched_variables()
    assert "dy/dvariable = 5.0" in str(tape.report(y, [variable]))
    del variable
    assert "dy/dx₁ = 5.0" in str(tape.report(y, [tape.watched_variables()[0]]))


def test_lists_of_targets() -> None:
    """Many values of a list are one name with a shape, and few are a sum."""
    x = tm.Variable(3.0, name="x")
    with tm.GradientTape() as tape:
        ys = [x * k for k in range(16)]
        y = x * 2

    said = {
        tape.report(ys): ["differentiating ys", "dys/dx = 120.0", "ys is a list of 16 scalars"],
        tape.report({"pixels": ys, "y": y}): ["pixels and y", "dpixels/dx = 120.0", "dy/dx = 2.0"],
        tape.report([ys, y]): ["differentiating ys and y", "dys/dx = 120.0", "dy/dx = 2.0"],
        tape.report(ys[:10]): ["differentiating the list", "the list has 10 scalars"],
        tape.report(tuple(ys[:4])): ["differentiating the tuple", "d(the tuple)/dx = 6.0"],
        tape.report({"a b'<": ys}): ["differentiating a b'<", "a b'< is a list of 16 scalars"],
        tape.report([ys[:5], ys[:6]]): ["the list and the list (2)", "= 10.0", "= 15.0"],
        tape.report(ys[1:3]): ["the target[0] and the target[1]", "= 1.0", "= 2.0"],
        tape.report([y, ys[2]]): ["differentiating y and ys[2]", "gradient of y + ys[2]"],
        tape.report(y): ["differentiating y", "gradient of y "],
        tape.report(ys, order=2, code=True): ["d²ys/dx² is None: it is zero", "np.stack("],
    }

    for report, words in said.items():
        assert [] == [each for each in words if each not in str(report)]
        assert 17 == report.findings.operations
    # The tape itself has no more operations than before.
    assert 17 == len(tape.records)
    assert 122.0 == tape.gradient([ys, y], x)


def _consumed() -> TapeReport:
    tape, y, x, _ = products()
    tape.gradient(y, x)
    return tape.report(y, x)  # type: ignore[no-any-return]


def _outside() -> TapeReport:
    tape, _, x, _ = products()
    z = x * 2.0
    return tape.report(z, x)  # type: ignore[no-any-return]


def _nothing_watched() -> TapeReport:
    x = tm.constant(2.0)
    with tm.GradientTape() as tape:
        y = x * x
    return tape.report(y)


def _asked(*arguments: Any, **options: Any) -> Callable[[], TapeReport]:
    def ask() -> TapeReport:
        tape, y, x, _ = products()
        given = [{"y": y, "x": x}.get(a, a) if isinstance(a, str) else a for a in arguments]
        return tape.report(*given, **options)  # type: ignore[no-any-return]

    return ask


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (_consumed, ConsumedTapeError, "persistent=True"),
        (_outside, OptionError, "did not record z. z was computed after the tape stopped"),
        (_nothing_watched, NotATensorError, r"found no watched value: call tape.watch\(x\)"),
        (lambda: tm.GradientTape().report(1.0), NotRecordingError, "never entered"),
        (_asked(3.0), NotATensorError, r"the target of report\(\) must be a Tensor"),
        (_asked(None), NotATensorError, r"the target of report\(\) must be a Tensor"),
        (_asked([]), NotATensorError, "got no target"),
        (_asked("y", []), NotATensorError, "got no source"),
        (_asked("y", ["x", 3.0]), NotATensorError, "the sources of report"),
        (_asked("y", {"x": "three"}), NotATensorError, "the sources of report"),
        (_asked("y", "x", order=0), OptionError, "order must be an integer from 1 to 9, not 0"),
        (_asked("y", "x", order=True), OptionError, "order must be an integer"),
        (_asked("y", "x", check="yes"), OptionError, "check must be True or False"),
    ],
)
def test_bad_input(ask: Callable[[], Any], error: type[Exception], words: str) -> None:
    """A sentence says what to write instead."""
    with pytest.raises(error, match=words):
        ask()


def test_a_tape_of_another_thread() -> None:
    """It can be reported once its block is left."""
    x = tm.Variable(2.0)
    with ThreadPoolExecutor(1) as other, tm.GradientTape() as tape:
        y = x * x
        asked = other.submit(tape.report, y, x)
        with pytest.raises(ValueError, match="still recording on another thread"):
            asked.result()

    assert "dy/dx = 4.0" in str(tape.report(y, x))


def test_hostile_names() -> None:
    """They are text."""
    tape, y, x, _ = products()

    report = tape.report({"<script>alert(1)</script>": y}, {"</title><img src=x>": x})

    assert "<script>" not in report._repr_html_()
    assert "<img src=x" not in report._page()


def test_in_a_script(tmp_path: Path) -> None:
    """It prints, and writes a page; no notebook is needed."""
    (tmp_path / "script.py").write_text(SCRIPT)

    ran = subprocess.run(
        [sys.executable, "script.py"],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert "" == ran.stderr
    assert "loss = 10.0; dloss/dw = 14.0" in ran.stdout
    assert ran.stdout.endswith("report.html\n14.0\n")
    assert "tapemagic report: loss" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.kernel
def test_in_a_notebook(tmp_path: Path) -> None:
    """The last expression of a cell without a magic is a widget, with text and HTML beside it."""
    with kernel(tmp_path) as notebook:
        notebook.run("import tapemagic as tm\nx = tm.Variable(3.0)")
        notebook.run("with tm.GradientTape() as tape:\n    y = x * x")
        ran = notebook.run("tape.report(y)")

    [bundle] = ran.shown
    assert {"text/plain", "text/html", VIEW} <= bundle.keys()
    assert "y = 9.0; dy/dx = 6.0" in bundle["text/plain"]


def test_full_matrices() -> None:
    """They are those of jacobian and hessian, also in the block of the tape and of a list; the tape isn't used up."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.cumsum(x**3)
        inside = tape.report(y, x, jacobian=True)
    report = tape.report(y, x, jacobian=True, hessian=True, check=True)
    kinds = [matrix.kind for matrix in report.findings.matrices]

    assert ["jacobian", "hessian"] == kinds
    assert "y[1]   3.0  12.0" in str(report)
    assert "x[1]   0.0  12.0" in str(report)
    assert str(report).count("matches finite differences") == 3
    assert "y[1]   3.0  12.0" in str(inside)
    assert [6.0, 12.0] == tape.gradient(y, x).numpy().tolist()


def test_matrices_are_asked_for_by_truth_values() -> None:
    """Another value is an error, as for every option."""
    x = tm.Variable(2.0)
    with tm.GradientTape() as tape:
        y = x * x

    with pytest.raises(OptionError, match="hessian"):
        tape.report(y, x, hessian="yes")
