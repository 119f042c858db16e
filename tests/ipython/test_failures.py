"""A cell that fails: its line, the shapes under it, one sentence, and a traceback of the user's frames."""

from __future__ import annotations

import textwrap
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

from tapemagic.engine.events import origin_of
from tapemagic.ipython import magics
from tapemagic.report.bundle import TapeReport
from tapemagic.report.failure import show_failure as face
from tapemagic.report.failure.find_failure import Failure
from tests.ipython.conftest import Run
from tests.ipython.live import content, shown
from tests.ipython.test_tape_in_cell import frames_of_the_cell

pytestmark = pytest.mark.thorough

Fail = Callable[[str], Failure]

SETUP = """
import math
from math import exp
A, x, b, s = np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones(3), np.ones(2), 3.0
v, q, d, words = tm.Variable([1.0, 2.0]), tm.Variable(1.0, name='q'), {'w': 1.0}, 'three'
class Odd: pass
"""


@pytest.fixture
def fail(shell: InteractiveShell, run: Run, monkeypatch: pytest.MonkeyPatch) -> Fail:
    """Runs a cell that fails; what its report says of that."""
    run(SETUP)
    reports: list[TapeReport] = []

    def show(report: TapeReport) -> None:
        reports.append(report)
        display(report)

    monkeypatch.setattr(magics, "display", show)

    def fail(cell: str) -> Failure:
        assert shell.run_cell(cell).error_in_exec is not None
        failure = reports.pop().findings.failure
        assert failure is not None
        return failure

    return fail


def drawn(failure: Failure) -> list[str]:
    """The lines, the marks and the labels, without the place in front."""
    places = replace(failure, where="", lines=tuple(replace(x, number=0) for x in failure.lines))
    rows = ["".join(part for part, _ in row).rstrip() for row in face.marked(places)]
    return [row[len("line 0:  ") :] for row in rows]


def test_the_line_with_shapes(fail: Fail) -> None:
    """The first thing to see is the line, the shapes under it, and what does not fit."""
    failure = fail("%%tape A x\n\nc = 2.0\n\ny = A @ x + b")

    assert ["y = A @ x + b", "    ^   ^   ─", "   2×2  3   2"] == drawn(failure)
    assert "A is 2×2, x is 3: the inner sizes 2 and 3 differ." == failure.sentence
    assert (5, "ValueError", "", "") == (
        failure.line,
        failure.error,
        failure.message,
        failure.where,
    )


SENTENCES = {
    "y = x * b": "x is 3, b is 2, which can't be combined: sizes must be equal, or one of them 1, but "
    "the last axis has 3 and 2",
    "y = np.ones((2, 1, 3)) * A[:, :, None] * np.ones((4, 1, 1))": "axis -3 has 2 and 4",
    "y = x @ 2.0": "2.0 is a single number, but @ multiplies vectors and matrices. Write x * 2.0.",
    "y = np.dot(A, x)": "A is 2×2, x is 3: the inner sizes 2 and 3 differ",
    "y = A.dot(x)": "A is 2×2, x is 3: the inner sizes 2 and 3 differ",
    "y = np.ones((2, 3)) @ np.ones(2)": "inner sizes 3 and 2 differ",
    "y = np.mean((np.sin(A) @ b - x) ** 2)": "np.sin(A) @ b is 2, x is 3, which can't be combined",
    "y = b + A.T @ A @ x": "A.T @ A is 2×2, x is 3: the inner sizes 2 and 3 differ",
    "y = [1.0, 2.0] * x": "[1.0, 2.0] is 2, x is 3, which can't be combined",
    "y = np.add(x, b)": "x is 3, b is 2, which can't be combined",
    "y = np.where(x > 0, x, b)": "x > 0 is 3, b is 2, which can't be combined",
    "y = x.reshape(2, 2)": "x has 3 elements, but 2×2 needs 4.",
    "y = np.reshape(A, (4, 2))": "A has 4 elements (2×2), but 4×2 needs 8.",
    "y = np.reshape(x, (2, -1))": "x has 3 elements, but 2×? needs a multiple of 2.",
    "y = np.stack([x, b])": "np.stack needs arrays of one shape, but x is 3, b is 2.",
    "y = np.concatenate([A, x])": "A is 2×2, x is 3: np.concatenate joins arrays with the same number of axes, but "
    "these have 2 and 1",
    "y = np.concatenate([A, np.ones((2, 3))])": "np.concatenate needs equal sizes along all other axes, "
    "but these are 2 and 3.",
    "y = np.vstack([x, b])": "x is 3, b is 2: np.vstack needs equal sizes",
    "y = np.concatenate([s * x[0], q])": "a number has no axis. Write np.stack.",
    "y = np.sum(x, axis=1)": "x is 3, with axis 0 only, so it has no axis 1.",
    "y = np.mean(A, axis=2)": "A is 2×2, with axes 0 to 1, so it has no axis 2.",
    "y = x[3]": "x has 3 elements along axis 0, numbered 0 to 2, or -3 to -1 from the end, but the line uses 3.",
    "y = A[0, 2]": "A has 2 elements along axis 1, numbered 0 to 1",
    "y = x[0, 1]": "x is 3, with 1 axis, but the line uses 2 indices.",
    "y = [x, b][2]": "[x, b] has 2 elements, numbered 0 to 1",
    "y = d['v']": "d has no key 'v'. Its keys are 'w'.",
    "y = x + words": "words is a str, not a number.",
    "y = x + '3'": "'3' is a str, not a number. Write float('3').",
    "y = nope * x": "",
    "y = x * Odd()": "",
    "o = Odd()\ny = x * o": "o is an Odd, not a number.",
    "y = x * np.exp": "np.exp is a function, not a number. Call it: np.exp(x).",
    "y = x + np.array(['a', 'b', 'c'])": "",
    "y = s ^ 2": "In Python, ^ is 'exclusive or' of bits. Write s ** 2.",
    "y = (s + 1.0) ^ 2": "Write (s + 1.0) ** 2.",
    "y = 3.0 * s ^ 2 + 1": "Write ** instead of ^.",
    "s ^= 2": "Write **= instead of ^=.",
    "y = math.sin(x)": "math.sin needs one number, but x is 3. Write np.sin(x).",
    "y = exp(-x)": "math.exp needs one number. Write np.exp(-x).",
    "y = float(x)": "float() needs one number, but x is 3. Use one element",
    "y = x.item()": "item() needs one number, but x is 3. Use one element",
    "y = x(3)": "x isn't a function. Write * for a product, or [...] for an element.",
    "c = np.ones(3)\nc += np.ones((2, 3)) * x": "",
    "c = np.ones(3)\nc += np.ones((2, 3))": "c is 3, but the result is 2×3, which doesn't fit into it.",
    "y = np.linalg.inv(np.ones((2, 3)) * x)": "np.ones((2, 3)) * x is 2×3, but np.linalg.inv needs a square matrix",
    "loss = x**2\ny = np.sum(los)": "The name los doesn't exist here. Did you mean loss?",
    "y = tf.reduce_sum(x)": "TensorFlow isn't imported here. Write np.sum instead of tf.reduce_sum.",
    "g = jax.grad(x)": "JAX isn't imported here. Write tapemagic.grad instead of jax.grad.",
    "y = torch.exp(x)": "Write np.exp instead of torch.exp.",
    "y = plt.plot(x)": "The module plt isn't imported. Write import matplotlib.pyplot as plt above.",
    "y = tanh(x)": "The name tanh doesn't exist here. Write np.tanh.",
    "y = np.sun(x)": "np has no sun. Did you mean sum or sin?",
    "y = x.summ()": "x has no summ. Did you mean sum?",
    "y = np.sum(x)\ntape.gradient(y)": "gradient() needs a target and its sources. Write tape.gradient(y, x)",
    "def f():\n    loss = loss + 1\nf()": "The function assigns loss somewhere, so loss is a local name",
}


@pytest.fixture
def short_tracebacks(shell: InteractiveShell) -> Iterator[None]:
    """Tracebacks are the error's line alone."""
    before = shell.InteractiveTB.mode
    shell.InteractiveTB.set_mode("Minimal")
    yield
    shell.InteractiveTB.set_mode(before)


@pytest.mark.usefixtures("short_tracebacks")
@pytest.mark.parametrize("cell", SENTENCES)
def test_sentences(fail: Fail, cell: str) -> None:
    """One sentence says what does not fit; where it cannot be told, the error's own message stands."""
    failure = fail(f"%%tape A x s\n{cell}")

    assert SENTENCES[cell] in failure.sentence
    assert bool(failure.sentence) != bool(failure.message)
    assert failure.lines


MESSAGES = {
    "x[0] = 1.0": "a Tensor cannot be written into",
    "v.assign(x)": "a variable keeps its shape",
    "y = np.sum(x)\nt = tape.gradient(y, x)\nt = tape.gradient(y, x)": "can only be used to compute one set",
    "y = np.sum(x)\ny.backward()": "a Tensor has no backward: write g = tape.gradient(y, x)",
    "y = x.grad": "a Tensor has no grad: write g = tape.gradient(y, x)",
    "y = x.detach()": "a Tensor has no detach: write tapemagic.stop_gradient(x)",
    "x.assign(2 * x)": "a Tensor has no assign: a Tensor never changes",
    "y = x * 2\ng = y.gradient(x)": "the tape has it: write tape.gradient(y, x)",
    "t = tm.GradientTape()\nt.gradient(x * x, x)": "enter it first, with 'with tape:'",
}


@pytest.mark.parametrize("cell", MESSAGES)
def test_messages_of_our_own(fail: Fail, cell: str) -> None:
    """Errors of this package say what to write by themselves."""
    failure = fail(f"%%tape A x s\n{cell}")

    assert MESSAGES[cell] in failure.message
    assert "" == failure.sentence


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            "z = np.sum(x**2)\ndw = tape.gradient(z, v)\nv.assign_sub(0.1 * dw)",
            "dw is None, because dz/dv is None: v wasn't used while the tape recorded; z depends on x.",
        ),
        (
            "z = np.sum(x**2)\ngs = tape.gradient(z, [x, v])\nv.assign_sub(0.1 * gs[1])",
            "gs[1] is None, because dz/dv is None: v wasn't used",
        ),
        (
            "with tm.GradientTape() as t:\n    z = np.sum(v) * 2\ng, h = t.gradient(z, [v, q])\nh.shape",
            "h is None, because dz/dq is None: q wasn't used while the tape recorded",
        ),
        ("g = None\ny = x * g", "g is None, not a number."),
        ("z = np.sum(x)\ng = tape.gradient(z, v)\ng = None\ny = x * g", "g is None, not a number."),
        (
            "def f(g):\n    return x * g\nz = np.sum(x)\ng = tape.gradient(z, v)\nf(None)",
            "g is None, not a number.",
        ),
    ],
)
def test_none_in_arithmetic(fail: Fail, cell: str, words: str) -> None:
    """A gradient that is None is told with its reason, if it surely is that one."""
    failure = fail(f"%%tape x\n{cell}")

    assert words in failure.sentence


def test_only_what_is_stored_is_read(fail: Fail, variables: dict[str, Any]) -> None:
    """No property, no call and no operator of the user's runs again for the report."""
    failure = fail(
        "%%tape x\ntimes = []\nclass Net:\n"
        "    def __init__(self): self.w = b\n"
        "    @property\n    def u(self):\n        times.append(1)\n        return b\n"
        "net = Net()\ny = net.u * net.w * x"
    )

    assert [1] == variables["times"]
    assert ["y = net.u * net.w * x", "    ^^^^^^^^^^^^^   ^", "          2         3"] == drawn(
        failure
    )


def test_names_that_were_bound_anew_are_left_out(fail: Fail) -> None:
    """What a clause behind the line changed is not shown as if it had been so."""
    failure = fail(
        "%%tape x\nu = np.ones(2)\nw = np.ones(3)\ntry:\n    y = np.ones(2) * u @ w\nfinally:\n    u = np.ones(7)"
    )

    assert not [mark for line in failure.lines for mark in line.marks if mark.label == "7"]


def test_a_comprehension_has_its_own_names(fail: Fail) -> None:
    """A name outside of it is another one."""
    failure = fail("%%tape x\ni = 77\nys = [x[i] for i in range(5)]")

    assert "but the line uses 3" in failure.sentence
    assert "=77" not in str(failure)


def test_several_lines(fail: Fail) -> None:
    """A statement over several lines is shown with marks under each, without its indentation."""
    failure = fail("%%tape A x\nif True:\n    y = np.concatenate([\n        A,\n        x,\n    ])")

    assert [3, 4, 5, 6] == [line.number for line in failure.lines]
    assert [
        "y = np.concatenate([",
        "    A,",
        "    ^",
        "   2×2",
        "    x,",
        "    ^",
        "    3",
        "])",
    ] == drawn(failure)


def test_in_a_function(
    fail: Fail, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is that of the user's innermost function, and it is said where that is."""
    failure = fail("%%tape A x\ndef f(u, w):\n    return u @ w\n\ny = f(A, x)")
    assert (5, "in f", 3) == (failure.line, failure.where, failure.lines[0].number)
    assert "u is 2×2, w is 3: the inner sizes 2 and 3 differ." == failure.sentence

    run("class Net:\n    def run(self, u):\n        return u @ A")
    failure = fail("%%tape A x\ny = Net().run(x)")
    assert (2, "of the cell that defines Net.run") == (failure.line, failure.where)
    assert ["return u @ A", "       ^   ^", "       3  2×2"] == drawn(failure)

    (tmp_path / "helpers.py").write_text("def g(u):\n    w = 2\n    return u[w, w]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    failure = fail("%%tape x\nimport helpers\ny = helpers.g(x)")
    assert (3, "of helpers.py, in g") == (failure.line, failure.where)
    assert "u is 3, with 1 axis, but the line uses 2 indices." == failure.sentence


def test_the_report_comes_first_and_once(fail: Fail, capsys: pytest.CaptureFixture[str]) -> None:
    """The line that failed, the recording until then, and one traceback."""
    fail("%%tape A x\nc = A * 2\ny = c @ x")

    out = capsys.readouterr().out
    assert 1 == out.count("The cell stopped at line 3 with ValueError\n")
    assert 1 == out.count("line 3:  y = c @ x\n             ^   ^\n            2×2  3\n")
    assert 1 == out.count("c is 2×2, x is 3: the inner sizes 2 and 3 differ")
    assert out.index("The cell stopped") < out.index("1 operation,") < out.index("Traceback")
    assert 1 == out.count("Traceback (most recent call last)")
    assert 1 == out.count("gufunc signature")


@pytest.mark.parametrize(
    "cell",
    [
        "y = x.reshape(2, 2)",
        "y = np.sum(x, axis=3)",
        "y = float(x)",
        "try:\n    x @ b\nexcept ValueError as e:\n    raise RuntimeError('no') from e",
        "try:\n    x @ b\nexcept ValueError:\n    x.reshape(7)",
        "es = []\ntry:\n    x @ b\nexcept ValueError as e:\n    es.append(e)\nraise ExceptionGroup('two', es)",
        "def f():\n    return x @ b\nsorted([1, 2], key=lambda _: f())",
    ],
)
def test_the_user_s_frames_alone(shell: InteractiveShell, run: Run, cell: str) -> None:
    """Neither this package nor another library is in the traceback, its causes or its parts."""
    run(SETUP)

    error = shell.run_cell(f"%%tape x\n{cell}").error_in_exec

    found = [frame.filename for frame in frames_of_the_cell(error)]
    others = [error.__cause__, error.__context__, *getattr(error, "exceptions", ())]
    for other in filter(None, others):
        found += [frame.filename for frame in traceback.extract_tb(other.__traceback__)]
    assert {""} == set(map(origin_of, found))


def test_an_error_that_a_library_handled_is_not_shown(
    fail: Fail, capsys: pytest.CaptureFixture[str]
) -> None:
    """The user sees the last one alone."""
    fail("%%tape x\ny = float(x)")

    assert "During handling" not in capsys.readouterr().out


def test_a_long_line_is_cut(fail: Fail) -> None:
    """Around what does not fit."""
    failure = fail("%%tape A x\ny = " + " + ".join(["s"] * 300) + " + A @ x" + " + s" * 300)

    [line] = failure.lines
    assert len(line.text) <= 102
    assert line.text.startswith("…")
    assert ["2×2", "3"] == [mark.label for mark in line.marks if mark.bad]
    assert ["A", "x"] == [line.text[mark.start : mark.end] for mark in line.marks if mark.bad]


def test_a_deep_expression(fail: Fail) -> None:
    """A sum of hundreds of terms is an expression hundreds of levels deep."""
    failure = fail("%%tape x\nu = s\ny = " + "u + " * 300 + "x @ b")

    assert "x is 3, b is 2: the inner sizes 3 and 2 differ." == failure.sentence


def test_an_error_without_a_message(fail: Fail) -> None:
    """One whose text cannot be had is told by its type."""
    failure = fail("%%tape x\nclass E(Exception):\n    def __str__(self): raise KeyError\nraise E")

    assert (4, "E", "") == (failure.line, failure.error, failure.message)


def test_text_of_the_user_is_text(fail: Fail) -> None:
    """Names, keys and messages cannot write HTML, or turn the direction of text."""
    failure = fail("%%tape x\nraise ValueError('<script>\u202e' + words)  # <b>")

    assert "<script> three" == failure.message
    assert textwrap.dedent("raise ValueError") in failure.lines[0].text


def test_nothing_was_recorded_before_the_error(shell: InteractiveShell) -> None:
    """A failed operation with a watched operand isn't denied."""
    reports: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tapemagic.ipython.magics.display", reports.append)
        shell.run_cell("W, v = tm.Variable(np.ones((3, 2))), np.ones(3)")
        shell.run_cell("%%tape\ny = W @ v")

    [report] = reports
    page = str(content(shown(report)))
    assert "Nothing was recorded before the cell stopped at line 2." in page
    assert "no operation used a watched value" not in page
    graph = repr(shell.run_cell("%tape_graph").result)
    assert "nothing was recorded: no value was computed from a watched one" in graph


def test_a_tensor_in_c_code(fail: Fail, run: Run) -> None:
    """SciPy's solvers call C code with what a function returns: the sentence says how to give it arrays."""
    pytest.importorskip("scipy.optimize")
    solve = "best = minimize(tm.value_and_grad(lambda u: np.sum((u - x) ** 2)), np.zeros(3), jac=True, method={!r})"

    for method in ("L-BFGS-B", "SLSQP"):
        failure = fail(f"%%tape x\nfrom scipy.optimize import minimize\n{solve.format(method)}")
        assert "TypeError" == failure.error
        assert "Run the function inside 'with tape.stop_recording():'" in failure.sentence

    run(
        "%%tape x\nfrom scipy.optimize import minimize\nwith tape.stop_recording():\n"
        f"    {solve.format('SLSQP')}\ny = np.sum(x * best.x)"
    )
    assert [1.0, 1.0, 1.0] == [round(v, 5) for v in run("best.x")]
