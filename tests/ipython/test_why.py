"""%why: why a gradient of the last %%tape cell is None, in the notebook's own names and lines."""

from __future__ import annotations

import re
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.lib.pretty import pretty

from tests.ipython.conftest import Run
from tests.report.recordings import notes

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("cell", "question", "cause", "words"),
    [
        ("%%tape x\nx = 2.0\nw = 3.0\ny = w * x", "y w", "not watched", "w is a plain float"),
        ("%%tape x\nx = 2.0\ny = x * x\nx = x + 1", "y x", "name reassigned", "You reassigned x on line 4"),
        ("%%tape x\nimport math\nx = 2.0\ny = x * math.sin(x)\nz = math.sin(x)", "z x", "not tracked",
         "z is a float, not a tensor: math.sin on line 5"),
        ("%%tape x w\nx, w = 2.0, 3.0\nh = x.numpy()\ny = w * h", "y x", "not tracked", ".numpy() on line 3"),
        ("%%tape x w\nx, w = 2.0, 3.0\nwith tape.stop_recording():\n    h = x * x\ny = w * h", "y x",
         "recording stopped", "on line 3 (with tape.stop_recording())"),
        ("%%tape x w\nx, w = 2.0, 3.0\nh = np.round(x)\ny = w * h", "y x", "no derivative", ("round between x "
         "and y changes in steps")),
        ("%%tape x w\nx, w = 2.0, 3.0\ny = w * w", "y x", "not connected", "y depends on w"),
        ("%%tape x w\nx, w = 2.0, 3.0\ny = w * w\ntape.gradient(y, w)", "y x", "not connected", "y depends on w"),
        ("%%tape x\nx = 2.0\nv = tm.Variable(1.0)\nv.assign(x * 3)\ny = v * v", "y x", "assigned",
         "the Variable v, which was assigned a value computed from x on line 4 (v.assign(x * 3))"),
        ("%%tape x w\nx, w = -2.0, 3.0\ny = max(x, 0) * w", "y x", "not tracked", "Write np.maximum(x, 0)"),
        ("%%tape x\nx = 3\ny = x * 1.5", "y x", "integer dtype", "Write x = 3.0"),
    ],
)  # fmt: skip
def test_reasons(run: Run, cell: str, question: str, cause: str, words: str) -> None:
    """Each pitfall is named, with the line of the cell."""
    run(cell)
    explanation = run(f"%why {question}")

    assert cause == explanation.cause
    assert words in explanation.reason
    assert repr(explanation).startswith(f"d{question[0]}/d{question[2]} is None: ")


def test_a_name_that_a_later_cell_bound_anew(run: Run) -> None:
    """The classic one: x = x - step * gradient in place of a Variable's assign."""
    run("%%tape x -p\nx = 2.0\ny = x * x")
    run("x = x - 0.1 * tape.gradient(y, x)")

    explanation = run("%why y x")

    assert "name reassigned" == explanation.cause
    assert "use x.assign(...)" in explanation.reason


def test_the_chain_rule(run: Run) -> None:
    """Of a number, the paths are told in the names of the cell; the tape need not be persistent."""
    run("%%tape x\nx = 2.0\nh = x * x\ny = np.sin(h) + h\ntape.gradient(y, x)")

    text = repr(run("%why y x"))

    assert "dy/dx = 1.38543, the sum over 4 paths" in text
    assert "x → multiply = h → sin → add = y:  1.0 · -0.653644 · 2.0 = -1.30729" in text
    assert "x → multiply = h → sin → add = y" in repr(run("tape.explain(y, x)"))


def test_the_report_says_the_same(run: Run) -> None:
    """A None in the table of gradients has the reason that %why gives."""
    report = run("%%tape x w\nx, w = 2.0, 3.0\nh = float(x)\ny = w * h")
    [entry] = [entry for entry in report.findings.derivatives if entry.source == "x"]

    assert "float() on line 3 (h = float(x)) turned x into a plain number" in str(entry.reason)
    assert run("%why y x").reason == entry.reason


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%why", "%why needs a target and a source, as in %why loss w"),
        ("%why y", "needs a target and a source"),
        ("%why y x z", "needs a target and a source"),
        ("%why y nobody", "'nobody' does not exist in the notebook"),
        ("%why y m.b", "'m.b' does not exist in the notebook (AttributeError: "),
        ("%why y d['b']", "\"d['b']\" does not exist in the notebook (KeyError: 'b')"),
        ("%why y l[3]", "'l[3]' does not exist in the notebook (IndexError: "),
        ("%why y x.w.v", "'x.w.v' does not exist in the notebook (AttributeError: "),
        ("%why y nobody.w", "'nobody' does not exist in the notebook"),
        ("%why np.sum(y) x", "np.sum(y) is a call, and would be computed anew: give what the %%tape cell computed a"),
        ("%why y x + 1", "x + 1 is no name"),
        ("%why y l[f(0)]", "l[f(0)] is no name"),
        ("%why y x)", "needs a target and a source"),
    ],
)  # fmt: skip
def test_usage(run: Run, line: str, words: str) -> None:
    """A wrong call says what to write."""
    run("%%tape x\nx = 2.0\ny = x * x\nz = 1\nd, l = {'w': x}, [x]\nclass m:\n    w = x")
    with pytest.raises(UsageError, match=re.escape(words)):
        run(line)


def test_before_any_cell(run: Run) -> None:
    """Without a recording there is nothing to ask."""
    with pytest.raises(UsageError, match="none has run yet"):
        run("%why y x")


def test_a_semicolon_silences(run: Run, capsys: Any) -> None:
    """As for every expression."""
    run("%%tape x\nx = 2.0\ny = x * x;")
    capsys.readouterr()
    run("%why y x;")

    assert "" == capsys.readouterr().out


def test_a_report_without_a_target_says_where_the_value_went(run: Run) -> None:
    """Where all that was computed is plain, the report names the way out."""
    report = run("%%tape a b\na, b = 3.0, 4.0\nlength = np.sqrt(np.sum(np.array([a, b]) ** 2))")

    assert "nothing was computed from what is watched" in notes(report.findings)
    assert "Write np.stack([a, b]) instead of np.array([a, b])" in notes(report.findings)


def test_a_cell_that_runs_twice(run: Run) -> None:
    """The second run has the same reasons as the first."""
    cell = "%%tape x w\nimport math\nx, w = 2.0, 3.0\ny = w * math.sin(x)"
    run(cell)
    run(cell)

    assert "not tracked" == run("%why y x").cause


MODEL = """
class Model:
    w, b = tm.Variable(2.0), tm.Variable(1.0)
m, params, xs, k = Model(), {"w": Model.w, "b b": Model.b}, [Model.w, Model.b], 1
"""


@pytest.mark.parametrize(
    ("question", "source", "value"),
    [
        ("loss m.b", "m.b", "1.0"),
        ("loss, m.w", "m.w", "3.0"),
        ('loss params["w"]', "params['w']", "3.0"),
        ("loss,params['b b']", "params['b b']", "1.0"),
        ("loss xs[0]", "xs[0]", "3.0"),
        ("loss xs[ -1 ]", "xs[-1]", "1.0"),
        ("loss xs[k]", "xs[k]", "1.0"),
        ("losses['a', 0] m.b", "m.b", "1.0"),
    ],
)  # fmt: skip
def test_attributes_and_subscripts(run: Run, question: str, source: str, value: str) -> None:
    """Targets and sources may be parts of something, and are called as they are written."""
    run(MODEL)
    run("%%tape\nloss = m.w * 3.0 + m.b\nlosses = {('a', 0): loss}")
    explanation = run(f"%why {question}")

    assert (explanation.source, explanation.gradient) == (source, value)


def test_structures(run: Run) -> None:
    """A dict of parameters is asked about one by one, and printed one below the other."""
    run(MODEL)
    run("%%tape\nloss = m.w * 3.0")
    explanations = run("%why loss params")

    assert [e.source for e in explanations] == ["params['w']", "params['b b']"]
    shown = pretty(explanations)  # type: ignore[no-untyped-call]
    assert shown == "\n".join(map(repr, explanations))
    assert repr(explanations[1]).startswith("dloss/d(params['b b']) is None: ")
    assert [e.source for e in run("tape.explain(loss, params)")] == ["params['w']", "params['b b']"]


def test_another_tape(run: Run) -> None:
    """Of a recording that is not the last cell's, %why says so."""
    run("%%tape x\nx = 2.0\ny = x * x")
    run(
        "a = tm.Variable(3.0)\nwith tm.GradientTape() as mine:\n    b = a * a\nc = tm.Variable(4.0) * 2"
    )
    words = (
        "asks the last %%tape cell, and that one knows neither b nor a: for a tape of your own, "
    )
    for question in ("b a", "c a", "b[...] a"):
        with pytest.raises(UsageError, match="knows neither"):
            run(f"%why {question}")
    with pytest.raises(UsageError, match=re.escape(words + "write tape.explain(b, a)")):
        run("%why b a")

    assert "computed after" == run("%why b x").cause
    assert run("%why y a").cause
    assert "6.0" == run("mine.explain(b, a)").gradient


@pytest.mark.parametrize(
    "cell",
    [
        "%%tape x\nx = 2.0\nw = tm.constant(3.0)\ny = w * w",
        "%%tape x\nx = 2.0\nw = tm.Variable(3.0, trainable=False)\ndef f():\n    global y\n    y = w * w\nf()",
        "%%tape x\nx, w = 2.0, 3.0\ny = w * w",
    ],
)
def test_what_the_cell_computed_beside_its_tape(run: Run, cell: str) -> None:
    """Constants of the cell are the cell's, although its tape did not take notice of them."""
    run(cell)
    assert run("%why y w").cause


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("y = y * x", "line 5 (y = y * x), 100 times: "),
        ("y = y * x + x * x", "line 5 (y = y * x + x * x), 100 times: "),
        ("y = y * x if k % 2 else y + x", "line 5 (y = y * x if k % 2 else y + x), 100 operations: "),
    ],
)  # fmt: skip
def test_a_loop_is_told_line_by_line(run: Run, body: str, line: str) -> None:
    """The contributions of one line are added up, over all times that it ran."""
    run(f"%%tape x\nx = 0.9\ny = 1.0\nfor k in range(100):\n    {body};")
    explanation = run("%why y x")

    assert [found.line for found in explanation.lines] == [5]
    assert explanation.lines[0].total == pytest.approx(float(explanation.gradient), rel=1e-5)
    assert line.replace(")", ";)", 1) in " ".join(repr(explanation).split())


def test_the_text_of_a_line_is_that_of_the_cell_that_ran(run: Run) -> None:
    """Another cell that asks has other lines."""
    run("%%tape x\nx = 0.9\ny = 1.0\nfor k in range(100):\n    y = y * x")
    explanation = run("1\n2\n3\n4\n5\ntape.explain(y, x)")

    assert explanation.lines[0].place == "line 5 (y = y * x)"


@pytest.mark.parametrize(
    "last", ["found = g.explain(y, x)", "def ask():\n    return g.explain(y, x)\nfound = ask()"]
)
def test_recorded_called_and_asked_in_three_cells(run: Run, last: str) -> None:
    """The function is in one cell, its call in another, and the question in a third."""
    run("import math\nx = tm.Variable(2.0)")
    run(
        "def record(x):\n    with tm.GradientTape(persistent=True) as g:\n"
        "        y = x**2 + math.sin(x)\n    return g, y"
    )
    run("g, y = record(x)")
    run(last)

    assert "(y = x**2 + math.sin(x)) turned x into a plain number" in run("found").missing
