"""The verdict on a %%tape cell: warnings, branches, the program's own gradients."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients

pytestmark = pytest.mark.thorough

W = "w = tm.Variable([1.0, 2.0], name='w')\nT = np.array([3.0, 1.0])"
STEP = """for k in range(8):
    with tm.GradientTape() as t:
        loss = np.sqrt(w - {})
    w.assign_sub(0.9 * t.gradient(loss, w))"""


@pytest.fixture(autouse=True)
def _as_in_a_notebook(run: Run) -> Iterator[None]:
    """Warnings are shown, as they are outside of these tests; every test begins with a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        run("import warnings\nx = 3.0\nz = 2.0")
        yield


def said(run: Run, cell: str, *topics: str) -> list[str]:
    """The sentences of a cell's verdict on some topics; on all if none are named."""
    report = run(cell)
    return [one.text for one in report.findings.verdict if one.topic in topics or not topics]


# -- NumPy's warnings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("u = np.log(x - 5)", "invalid value (nan) in log on line 2: x - 5 is -2.0"),
        ("u = np.log(x - 3)", "infinite result in log on line 2: x - 3 is 0.0"),
        ("d = np.array([0.0, 1.0])\nu = 1 / d", "division by zero in divide on line 3: d is [0.0, 1.0]"),
        ("u = np.exp(np.array([1000.0]))", "overflow in exp on line 2"),
        ("def f(a):\n    return np.exp(a)\nu = f(x * 500)", "overflow in exp on line 3: a is 1500.0"),
        ("for k in range(5):\n    u = np.exp(x * 500)", "overflow in exp on line 3: x * 500 is 1500.0"),
    ],
)  # fmt: skip
def test_a_warning_has_a_line_and_values(
    run: Run, capfd: pytest.CaptureFixture[str], body: str, expected: str
) -> None:
    """It is a sentence of the verdict, once, and nothing is printed."""
    for _ in range(2):
        assert [expected] == said(run, f"%%tape x\n{body}\ny = x * 2", "warning")

    assert "" == capfd.readouterr().err


def test_two_lines_with_the_same_warning(run: Run) -> None:
    """Each is named, although Python shows the second no more."""
    found = said(run, "%%tape x\nu = np.exp(x * 500)\nv = np.exp(x * 501)\ny = x * 2", "warning")

    assert ["on line 2", "on line 3"] == [text[16:25] for text in found]


def test_a_warning_on_the_way_back(run: Run) -> None:
    """The user's own gradient may warn, too."""
    found = said(
        run, "%%tape x -p\ny = np.sqrt(x - 3)\ng = tape.gradient(y, x)\nu = x * 2", "warning"
    )

    assert ["division by zero in the backward pass of divide (line 3)"] == found


def test_what_the_verdict_says_already(run: Run) -> None:
    """A warning about the operation where the target's nan began is not repeated."""
    assert [] == said(run, "%%tape x\ny = np.log(x - 5)", "warning")


@pytest.mark.usefixtures("run")
def test_errors_stay_errors(shell: InteractiveShell) -> None:
    """Those who ask NumPy or Python to raise get what they asked for."""
    raised = shell.run_cell("%%tape x\nwith np.errstate(all='raise'):\n    y = np.log(x - 5)")
    assert isinstance(raised.error_in_exec, FloatingPointError)

    raised = shell.run_cell("%%tape x\nwarnings.simplefilter('error')\ny = np.log(x - 5)")
    assert isinstance(raised.error_in_exec, RuntimeWarning)


def test_what_a_program_catches_itself_is_its_own(run: Run) -> None:
    """So is what it ignores."""
    cell = "%%tape x\nwith warnings.catch_warnings(record=True) as got:\n    warnings.simplefilter('always')\n"

    assert [] == said(run, f"{cell}    np.log(x - 5)\ny = x * 2", "warning")
    assert 1 == run("len(got)")
    ignored = "%%tape x\nwith np.errstate(all='ignore'):\n    u = np.log(x - 5)\ny = x * 2"
    assert [] == said(run, ignored, "warning")


def test_other_warnings_pass(run: Run, recwarn: pytest.WarningsRecorder) -> None:
    """Those of the program itself, and those of a later cell."""
    shown = warnings.showwarning

    run("%%tape x\nwarnings.warn('mine')\ny = x * 2")
    run("np.log(-1.0)")

    assert ["mine", "invalid value encountered in log"] == [str(w.message) for w in recwarn]
    assert shown is warnings.showwarning


# -- the target --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "target"),
    [
        (("for k in range(3):\n    with tm.GradientTape() as t:\n        loss = np.sum((w - T) ** 2)\n"
         "    dw = t.gradient(loss, w)\n    w.assign_sub(0.1 * dw)"), "loss"),
        (("log = []\nfor k in range(3):\n    with tm.GradientTape() as t:\n        loss = np.sum((w - T) ** 2)\n"
         "    w.assign_sub(0.1 * t.gradient(loss, w))\n    log.append(loss)\nlog"), "loss"),
        (("m = 0.0\nfor k in range(3):\n    with tm.GradientTape() as t:\n        loss = np.sum((w - T) ** 2)\n"
         "    m = 0.9 * m + t.gradient(loss, w)\n    w.assign(w - 0.1 * m)\nerror = np.max(w)\nw"), "loss"),
        (("def step():\n    with tm.GradientTape() as t:\n        e = np.sum((w - T) ** 2)\n"
         "    w.assign_sub(0.1 * t.gradient(e, w))\n    return float(e)\nfor k in range(2):\n    l = step()"), "e"),
        (("x = tm.constant([1.0, 2.0])\nfor k in range(2):\n    with tm.GradientTape() as t:\n"
          "        with tm.GradientTape() as inner:\n            inner.watch(x)\n"
          "            u = np.tanh(np.sum(w) * x)\n        loss = np.sum((inner.gradient(u, x) - 1.0) ** 2)\n"
          "    w.assign_sub(0.1 * t.gradient(loss, w))"), "loss"),
        ("y = np.sum(w * w)\ng = tape.gradient(y, w)\nw.assign(w - 0.1 * g)", "y"),
        ("y = np.sum(w * w)\ng = tape.gradient(y, w)\nnew = w - 0.1 * g", "y"),
        ("with tm.GradientTape() as inner:\n    y = np.sum(w**3)\ng = inner.gradient(y, w)\nn = np.sum(g * g)", "y"),
        ("with tm.GradientTape() as inner:\n    y = np.sum(w**3)\ng = inner.gradient(y, w)\nloss = y + np.sum(g * g)",
         "loss"),
        ("with tm.GradientTape() as inner:\n    y = np.sum(w**3)\ng = inner.gradient(y, w)\ng", "g"),
        ("with tm.GradientTape() as inner:\n    y = np.sum(w**3)\ng = inner.gradient(y, w)\nw.assign(g)\nu = np.sum(w)",
         "y"),
    ],
)  # fmt: skip
def test_the_target_that_a_teacher_would_choose(run: Run, body: str, target: str) -> None:
    """No gradient, and no step of an optimizer, unless it is the last expression."""
    run(W)

    assert (target,) == run(f"%%tape\n{body}").findings.targets


def test_a_target_by_name_wins(run: Run) -> None:
    """-t names a gradient."""
    run(W)
    body = "y = np.sum(w**3)\ng = tape.gradient(y, w)\nw.assign_sub(g)"

    assert ("g",) == run(f"%%tape -p -t g\n{body}").findings.targets


# -- gradients that the cell took itself -------------------------------------------------------------


def own(run: Run, cell: str) -> list[str]:
    """The gradients that a cell took."""
    return [str(entry) for entry in run(cell).findings.own_gradients]


NESTED = """\
%%tape x
with tm.GradientTape() as outer:
    outer.watch(x)
    with tm.GradientTape() as inner:
        inner.watch([x])
        y = x**3
    g = inner.gradient(y, x)
h, k = outer.gradient(g, [x, c])"""


def test_nested_tapes(run: Run) -> None:
    """Whichever tape gave a gradient, it is a row, with its reason if it is None."""
    run("c = tm.constant(2.0)")

    found = own(run, NESTED)

    assert [
        "g = dy/dx = 27.0, taken by inner (line 7)",
        "h = d²y/dx² = 18.0, taken by outer (line 8)",
        (
            "k = dg/dc = None, taken by outer (line 8): c isn't watched. Call outer.watch(c) before you use "
            "it, or make it a Variable."
        ),
    ] == found


def test_a_none_of_ones_own_is_in_the_verdict(run: Run) -> None:
    """It is what the student asks about."""
    body = "with tm.GradientTape() as inner:\n    y = x**3\ng = inner.gradient(y, x)"

    [text] = said(run, f"%%tape x\n{body}", "none")

    assert text.startswith(
        "g = dy/dx, taken by inner (line 4), is None: This tape isn't watching x"
    )


def test_a_row_in_text_and_html(run: Run) -> None:
    """The face of the gradients shows them."""
    run("c = tm.constant(2.0)")

    report = run(NESTED)

    assert "\nh = d²y/dx² = 18.0, taken by outer (line 8)\n" in repr(report)
    page = report._repr_mimebundle_()["text/html"]
    assert "k = dg/dc" in page
    assert "<b>None</b>" in page


def test_gradients_in_a_loop(run: Run) -> None:
    """The last one, and how often."""
    run(W)
    body = "for k in range(7):\n    with tm.GradientTape() as t:\n        loss = np.sum((w - T) ** 2)\n"

    [row] = own(run, f"%%tape\n{body}    dw = t.gradient(loss, [w])[0]\n    w.assign_sub(0.1 * dw)")

    assert row.startswith("dloss/dw = [")
    assert row.endswith(", taken by t (line 5, the last of 7)")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (STEP.format(1), "loss is nan because sqrt(w - 1) on line 4 is nan (w - 1 = -0.0567799)."),
        (STEP.format(2), "loss is nan because w had become nan when subtract on line 4 used it."),
        ("q = np.log(w - 3)\nw.assign(q)\nz = w * 1.0", "z is nan because log(w - 3) on line 2 is nan (w - 3 = -1.0)."),
        ("w.assign(np.inf)\nz = w * 1.0", "z is inf because w had become inf when multiply on line 3 used it."),
        ("z = v + w\nv.assign_sub(1.0)\nz = v + w", "z is nan because v was already nan when add on line 4 used it."),
    ],
    ids=["a step", "the way back", "a value", "a constant", "before the cell"],
)  # fmt: skip
def test_a_variable_that_was_given_a_nan(run: Run, cell: str, words: str) -> None:
    """The operation that made the nan is named, although no gradient passes from there."""
    run("w, v = tm.Variable(2.0), tm.Variable(np.nan)")

    report = run(f"%%tape\n{cell}")

    assert words in repr(report)


def test_a_gradient_in_an_expression(run: Run) -> None:
    """What is assigned is not the gradient, even where the call ends the line."""
    found = own(
        run,
        "%%tape x -p\nx = 1.0\nf = x**2\ny = x - f / tape.gradient(f, x)\nif h := -tape.gradient(f, x):\n    pass",
    )

    assert ["df/dx = 2.0, taken by tape (line 4)", "df/dx = 2.0, taken by tape (line 5)"] == found


def test_sources_in_a_dict(run: Run) -> None:
    """A tape takes the values of a dict in the order of its keys."""
    run("a, b = tm.Variable(2.0, name='a'), tm.Variable(3.0, name='b')")

    found = own(run, "%%tape\ny = a * a * b\ng = tape.gradient(y, {'z': a, 'c': b})")

    assert ["dy/db = 4.0, taken by tape (line 3)", "dy/da = 12.0, taken by tape (line 3)"] == found


def test_jacobians_and_weights(run: Run) -> None:
    """Both say what they are."""
    run(W)
    body = "with tm.GradientTape(persistent=True) as t:\n    y = w * w\n"

    found = own(
        run, f"%%tape\n{body}J = t.jacobian(y, w)\ng = t.gradient(y, w, T)\ns = t.gradient(y, w)"
    )

    assert "J = dy/dw = [[2.0, 0.0], [0.0, 4.0]], taken by t.jacobian (line 4)" == found[0]
    assert "g = dy/dw = [6.0, 4.0], taken by t (line 5); weighted by output_gradients" == found[1]
    assert "s = dy/dw = [2.0, 4.0], taken by t (line 6); the gradient of the sum of y" == found[2]


def test_functions_of_the_package_are_no_tapes_of_the_user(run: Run) -> None:
    """tm.grad differentiates with a tape of its own."""
    assert [] == own(run, "%%tape x\nslope = tm.grad(lambda v: v * v)(x)\ny = x * 2")


# -- branches ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def relu(v):\n    if v > 0:\n        return v\n    else:\n        return 0.0\ny = relu(-x)",
         "relu returned the constant 0.0 (line 6). A constant doesn't depend on x, so the derivative is 0."),
        (("def clip(v, lo, hi):\n    if v < lo:\n        return lo\n    if v > hi:\n        return hi\n    return v\n"
         "y = clip(x, -1.0, 1.0)"), "clip returned hi, which was the constant 1.0 (line 6)"),
        ("clip = lambda v, lo=0.0: lo if v < 9 else v\ny = clip(x, lo=0.5)",
         "clip returned lo, which was the constant 0.5 (line 2)"),
        ("def f(v):\n    if v > 0:\n        return 0\n    return v**2\ny = f(x)", "f returned the constant 0 (line 4)"),
        ("def power(v, k):\n    p = 1.0\n    for i in range(k):\n        p = p * v\n    return p\ny = power(x, 0)",
         "power returned p, which was the constant 1.0 (line 6), and the loop on line 4 didn't change it"),
        ("y = 0.0\nwhile x < 0:\n    y = y + x",
         "y is the constant 0.0 from line 2, and the loop on line 3 didn't change it"),
        ("if x < 0:\n    y = x * 2\nelse:\n    y = 1.0", "y is the constant 1.0 from line 5"),
        ("y = max(-x, 0.0)", "max returned the constant 0.0 (line 2)"),
        ("y = -x if x < 0 else 4.0", "y is the constant 4.0 from line 2"),
        ("def relu(v):\n    return v if v > 0 else 0.0\ny = relu(-x) + 1.0",
         "relu returned the constant 0.0 (line 3), and y was computed from it"),
    ],
)  # fmt: skip
def test_a_branch_that_returned_a_constant(run: Run, body: str, expected: str) -> None:
    """The function, the constant and the line are named, and not the comparison that chose."""
    [text] = said(run, f"%%tape x\n{body}", "note")

    assert expected in text
    assert "np.greater" not in text
    assert "np.less" not in text
    assert expected.partition(".")[0] in repr(run("%why y x")).replace("\n  ", " ")


def test_a_function_of_another_cell(run: Run) -> None:
    """Its line is that of the cell that defines it."""
    run("def relu(v):\n    return v if v > 0 else 0.0")

    [text] = said(run, "%%tape x\ny = relu(-x)", "note")

    assert "relu returned the constant 0.0 (line 2 of the cell that defines relu)" in text


@pytest.mark.parametrize(
    ("relu", "names"),
    [
        ("def relu(v):\n    return v if v > 0 else 0.0", True),
        ("def relu(v):\n    if v > 0:\n        return v\n    return 0.0", True),
        ("def relu(v):\n    if v > 0:\n        return v\n    return other", False),
        ("def relu(v):\n    if v > 0:\n        return 0.0\n    return other", False),
        ("def relu(v):\n    return 0.0 if v > 0 else -1.0", False),
    ],
)
def test_a_constant_that_goes_on(run: Run, relu: str, names: bool) -> None:
    """It is named if the function that compared can have returned nothing else."""
    run(f"x, b, other = 2.0, 1.0, 5.0\n{relu}")

    [text] = said(run, "%%tape x b\ny = relu(-x) * 3 + b", "none")

    assert names == ("relu returned the constant 0.0 (line" in text)


def test_the_branch_that_computed_a_target(run: Run) -> None:
    """Of a value that does not depend on a source, the branch is named."""
    body = (
        "def most(a, b):\n    if a > b:\n        return a * 1.0\n    return b * 1.0\ny = most(z, x)"
    )

    [text] = said(run, f"%%tape x z\n{body}", "none")

    assert text.endswith(
        "y depends on x: most ran the branch that ends on line 5 (return b * 1.0)."
    )


def test_a_conversion_is_no_branch(run: Run) -> None:
    """A value that left the tape on the way to the result is the reason."""
    body = "def f(v):\n    if v < 0:\n        return 0.0\n    return float(v) * 0\ny = f(x)"

    [text] = said(run, f"%%tape x\n{body}", "note")

    assert "constant" not in text
    assert "float()" in text


def test_a_comparison_beside_a_conversion(run: Run) -> None:
    """The conversion is the reason, and not the comparison in a condition."""
    body = "y = np.sum(np.where(x > 0, x, 0.0))\nloss = y.numpy()"

    [text] = said(run, f"%%tape x\n{body}", "left")

    assert text.startswith("y is shown instead of loss: .numpy() on line 3")


# -- the trap of np.where ----------------------------------------------------------------------------


def test_a_value_that_comes_back_by_an_old_cell(run: Run) -> None:
    """All cells that share names are read, not only the last ones."""
    run(
        "tape = tm.GradientTape(persistent=True)\nv = tm.Variable(1.3)\nclass Box: pass\nbox = Box()"
    )
    run("with tape: k = float(v) * 2")
    run("box.j = k")
    for number in range(60):
        run(f"a{number} = {number}.5\nprint(a{number}, box)")
    run("with tape: u = box.j * v")

    assert "float() on line 1" in run("tape.explain(u, v)").missing


@pytest.mark.parametrize(
    ("before", "leaves", "after", "is_lost"),
    [
        ("log = []\nalias = log", "log.append(float(v))", "with tape: u = alias[0] * v", True),
        ("k = 1.0\ndef f(w): return k * w", "k = float(v)", "with tape: u = f(v)", True),
        ("k = 1.0", "k = float(v)", "with tape: u = 3 * k * v", True),
        ("k = 1.0\nr = k * 3", "k = float(v)\nprint(k)", "with tape: u = r * v", False),
    ],
)
def test_cells_before_and_after_a_conversion(
    run: Run, before: str, leaves: str, after: str, is_lost: bool
) -> None:
    """A cell that ran before has only its functions and the objects that it named; one that ran again comes after."""
    run("tape = tm.GradientTape(persistent=True)\nv = tm.Variable(1.3)\n" + before)
    run(after.replace("alias[0]", "0"))
    if "alias" not in after:
        run("x = 2.0")
    run("with tape:\n    " + leaves.replace("\n", "\n    "))
    run(after)

    assert bool(run("tape.explain(u, v)").missing) == is_lost


def test_branches_that_are_not_chosen(run: Run) -> None:
    """They add 0, although their slope isn't finite, and other libraries give nan."""
    for cell, place in {
        "c = x - 3\ny = np.where(c != 0, np.sin(c) / c, 1.0)": "c = 0.0 (line 3). TensorFlow, PyTorch",
        "y = np.where(x > 3, (x - 3) * np.log(x - 3), 0.0)": "x - 3) = -inf (line 2). TensorFlow, PyTorch",
        "y = np.where(x <= 3, 0.0, np.sqrt(x - 3))": "x - 3 = 0.0 (line 2). PyTorch",
    }.items():
        [text] = said(run, f"%%tape x\n{cell}", "note")
        assert text.startswith(
            "What np.where, an index or a mask leaves out adds 0 to dy/dx, although"
        )
        assert text.endswith(f"{place} and JAX give nan here.")
        assert said(run, f"%%tape x\n{cell}", "nonfinite") == []


def test_gradients_are_unchanged_by_all_this(run: Run) -> None:
    """A report with a verdict is the same report."""
    assert {"dy/dx": "6.0"} == gradients(run("%%tape x\ny = x * x"))


def test_derivatives_of_nested_tapes(run: Run) -> None:
    """The verdict has the derivative that the cell took, with its order and variables."""
    run("x, z = 2.0, 3.0")
    nested = """%%tape x z
with tm.GradientTape(persistent=True) as outer:
    outer.watch([x, z])
    with tm.GradientTape() as inner:
        inner.watch(x)
        y = x**3 * z
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
mixed = outer.gradient(first, z)"""

    assert "d²y/dx² = 36.0 (second), d²y/dx dz = 12.0 (mixed)" in repr(run(nested))


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            "a = x**2\nb = a * 3\nc = a + 1\ny = b + c",
            "Of dy/dx = 16.0, 12.0 (75 %) comes through b = a * 3.",
        ),
        (
            "y = x**3 - 5 * x",
            "dy/dx = 7.0 is a sum that partly cancels: 12.0 through x**3, and -5.0 through the rest.",
        ),
        ("y = x * x**2", "Of dy/dx = 12.0, 8.0 (67 %) comes through x**2."),
        ("y = np.exp(0 * x) * x + x**2", "Of dy/dx = 5.0, 4.0 (80 %) comes through x**2."),
        ("y = x * (x + 5)", "Of dy/dx = 9.0, 7.0 (78 %) comes through the x in x * (x + 5)."),
        (
            "v = np.stack([x, 2 * x])\ny = np.sum(v**2) + x",
            "Of dy/dx = 21.0, 16.0 (76 %) comes through 2 * x.",
        ),
        ("y = x**2 + 0 * x", "All of dy/dx = 4.0 comes through x**2: other paths add 0."),
    ],
)
def test_the_path_that_adds_the_most(run: Run, lines: str, sentence: str) -> None:
    """The verdict names it by the operation that only this path goes through, as the cell writes it."""
    report = run(f"%%tape x -t y\nx = 2.0\n{lines}")

    [said] = [words.text for words in report.findings.verdict if words.topic == "path"]
    assert sentence == said
    assert sentence in repr(report).split("\n\n")[0]


def test_an_unpacked_name_is_no_formula(run: Run) -> None:
    """It stands alone, also behind a star."""
    cell = "%%tape p\np = np.array([0.5, 0.1, 2.0])\n{}\nloss = 9 * a**2 + b**2 + np.sum({})"
    for targets, others in ("a, b, c", "c"), ("a, b, *c", "c[0]"):
        assert "the largest goes through a: 9.0, " in repr(
            run(cell.format(f"{targets} = p", others))
        )


def test_paths_of_the_expression_at_the_end(run: Run) -> None:
    """It is compiled apart from the lines above it, whose code has none of its instructions."""
    report = run("%%tape x\nx = 2.0\na = x * 2\na * np.sin(x) + x**2 * 3")

    [paths] = report.findings.tabs["paths"].gradients
    assert (3, "12.154") == (paths.count, paths.gradient)


def test_a_higher_derivative_of_a_sum_is_called_so(run: Run) -> None:
    """Nobody takes the row sums of a Hessian for its diagonal; a single number needs no remark."""
    report = run("%%tape w -o 2\nw = np.array([3.0, 4.0])\nloss = np.sum(w) ** 2")
    assert "d²loss/dw² = [4.0, 4.0] (the gradient of the sum of dloss/dw)" in repr(report)

    own = """\
%%tape w
w = np.array([3.0, 4.0])
with tm.GradientTape() as outer:
    outer.watch(w)
    with tm.GradientTape() as inner:
        inner.watch(w)
        loss = np.sum(w) ** 2
    g = inner.gradient(loss, w)
second = outer.gradient(g, w)"""
    remark = "the gradient of the sum of g"
    assert f"d²loss/dw² = [4.0, 4.0] (second; {remark})" in repr(run(own))

    assert "sum of" not in repr(run("%%tape x -o 2\nx = 3.0\ny = x**2"))


def test_the_largest_norm(run: Run) -> None:
    """The parts of arrays are compared by their norms."""
    report = run("%%tape w\nw = np.array([3.0, 4.0])\nloss = np.sum(w**2) + 0.01 * np.sum(w)")

    assert (
        "dloss/dw is the sum of 2 paths. By norm, the largest goes through w**2: 10.0, over 99 % of the sum of all "
        "norms."
    ) in repr(report)


@pytest.mark.parametrize(
    "lines",
    [
        "y = np.sin(x) * 3",
        "y = x * x",
        "y = x + x",
        "y = x**2 + x * np.nan",
        "y = 0.0\nfor k in range(3):\n    y = y * x + x",
        "y = (x + 1j * x) * x",
        "y = np.sum(np.sin(x) + 1.001 * np.sin(x))",
    ],
)
def test_no_path_adds_the_most(run: Run, lines: str) -> None:
    """Nothing is said of a single path, of equal parts, and of paths that the cell writes alike."""
    with np.errstate(all="ignore"):
        report = run(f"%%tape x\nx = 2.0\n{lines}")

    assert not [words for words in report.findings.verdict if words.topic == "path"]


# -- arrays ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "cell", "words"),
    [
        ("np.zeros((2, 3))", "y = np.sum(w * np.arange(6.0).reshape(2, 3))", "y = 0.0; dy/dw = 2×3, 0.0 to 5.0"),
        ("np.zeros((2, 2))", "y = np.sum(w)", "y = 0.0; dy/dw = 2×2, all 1.0"),
        ("np.zeros(4)", "y = np.sum(w)", "y = 0.0; dy/dw = 4 elements, all 1.0"),
        ("np.zeros(3)", "y = np.sum(w)", "y = 0.0; dy/dw = [1.0, 1.0, 1.0]"),
        ("np.zeros((2, 1, 2))", "y = np.sum(w)", "y = 0.0; dy/dw = 2×1×2, all 1.0"),
        ("np.zeros((2, 2)) + 1j", "y = np.sum(np.abs(w))", "y = 4.0; dy/dw = 2×2, absolute values all 1.0"),
        ("np.zeros((2, 3))", "y = w + 1", "y = 2×3, all 1.0; of the sum of y: dy/dw = 2×3, all 1.0"),
        ("np.arange(6.0)", "y = np.sum(np.sqrt(w[1:]) + 0 * w[1:] / w[:-1])",
         "y = nan; dy/dw = 6 elements, 0.223607 to 0.353553, 2 nan"),
        ("np.zeros((2, 2))",
         ("with tm.GradientTape() as a:\n    a.watch(w)\n    with tm.GradientTape() as b:\n        b.watch(w)\n"
         "        y = np.sum(w**3)\n    g = b.gradient(y, w)\nh = a.gradient(g, w)"),
         "d²y/dw² = 2×2, all 0.0 (h; the gradient of the sum of g)"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_sentence_has_no_room_for_a_matrix(run: Run, data: str, cell: str, words: str) -> None:
    """Of more than three entries it says shape and range; the tables have each entry."""
    run(f"w = {data}")

    assert words in said(run, f"%%tape w -t y\n{cell}", "result")
