"""%check_gradient MINE TARGET SOURCE: a derivative by hand, against the last %%tape cell's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tapemagic.ipython.check import CheckReport
from tests.ipython.conftest import Run
from tests.ipython.kernels import Kernel

pytestmark = pytest.mark.thorough

SETUP = """
x, w, b = np.array([1.0, 2.0, 3.0]), np.arange(1.0, 7.0).reshape(3, 2), np.zeros(2)
X = np.arange(12.0).reshape(4, 3)
S, c = np.arange(9.0).reshape(3, 3), np.zeros(3)
n, z, v = 3, 1 + 2j, tm.Variable(2.0)
def by_hand(x): return 2 * x
"""

CELL = """%%tape x w b z c
y = np.sum(x**2)
m = np.mean(x**3)
p = X @ w + b
loss = np.mean(np.sum(p**2, axis=1))
s = z**2 * v
m2, m3 = np.mean(x**2), np.sum(x**2) / n
t = np.sum(np.sin(x**2))
u = S @ S + c
loss2 = np.mean(u**2)
"""

LIMITS = "(rtol 1e-06, atol 1e-10)"


@pytest.fixture(autouse=True)
def cell(run: Run) -> None:
    """Every test here begins with a cell that has run."""
    run(SETUP)
    run(CELL)


@pytest.mark.parametrize(
    "line",
    [
        "2 * x y x", "2*x, y, x", "2*x,y,x", "[2, 4, 6] y x", "[2.0, 4.0, 6.0], y x", "2, 4, 6, y, x",
        "by_hand(x) y x", "np.array([2, 4, 6], np.uint8) y x", "2 * x.numpy() y x",
        "[2 * x[i] for i in range(n)] y x", "x**2 m x", "X.T @ p / 2 loss w", "p.sum(0) / 2 loss b", "1 y y",
        "True y y",
    ],
)  # fmt: skip
def test_agreement(run: Run, line: str) -> None:
    """Whatever is made of numbers will do; spaces and commas too."""
    report = run(f"%check_gradient {line}")

    assert report.ok
    assert () == report.differing
    assert "yours agrees with the tape's" in report.headline
    assert report.headline.endswith(LIMITS)


def test_the_text_of_an_agreement(run: Run) -> None:
    """It tells of how many entries."""
    assert f"dy/dx: yours agrees with the tape's in all 3 entries {LIMITS}" == repr(
        run("%check_gradient 2 * x y x")
    )
    assert f"dy/dy: yours agrees with the tape's {LIMITS}" == repr(run("%check_gradient 1 y y"))


def test_a_complex_number_and_a_variable(run: Run) -> None:
    """Gradients are those of the tape, conjugates included; a Variable is a source too."""
    assert run("%check_gradient 4 * np.conj(z) s z").ok
    report = run("%check_gradient 4 * z s z")
    assert "Your result is the conjugate of the tape's: for a complex source" in report.details
    assert "4.0+8.0j  4.0-8.0j  0.0+16.0j" in report.details


def test_the_text_of_a_difference(run: Run) -> None:
    """It tells which entries differ, by how much, and what may be the reason."""
    report = run("%check_gradient -2 * x**2 * (x > 1) / x + 2 * x * (x < 2) y x")

    assert (False, ((1,), (2,))) == (report.ok, report.differing)
    assert repr(report).splitlines() == [
        f"dy/dx: yours differs from the tape's in 2 of 3 entries {LIMITS}",
        "",
        "entry  yours  tape's  difference",
        "[1]    -4.0   4.0     -8.0",
        "[2]    -6.0   6.0     -12.0",
        "",
        "Your result has the opposite sign where they differ.",
    ]


def test_a_number(run: Run) -> None:
    """One number has no list of entries."""
    run("t = 3.0")
    run("%%tape t\nu = t**2")

    assert repr(run("%check_gradient 3 u t")).splitlines() == [
        f"du/dt: yours differs from the tape's {LIMITS}",
        "",
        "yours  tape's  difference",
        "3.0    6.0     -3.0",
        "",
        "Your result is 1/2 of the tape's. A factor of 2 is missing.",
    ]


@pytest.mark.parametrize(("wrong", "rows", "more"), [(10, 10, ""), (11, 10, "... and 1 more")])
def test_many_entries(run: Run, wrong: int, rows: int, more: str) -> None:
    """Ten entries are listed, the others counted."""
    run("a = np.arange(1.0, 21.0).reshape(4, 5)")
    run("%%tape a\nu = np.sum(a**2)")

    report = run(f"%check_gradient 2 * a + (a <= {wrong}) u a")

    assert wrong == len(report.differing)
    assert f"in {wrong} of 20 entries" in report.headline
    lines = report.details.splitlines()
    assert rows == sum(line.startswith("[") for line in lines)
    assert "[0, 0]  3.0    2.0     1.0" == lines[1]
    assert more in (*lines, "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "3 * x**2 m x",
            "Your result is 3 times the tape's everywhere. Did you use np.sum instead of np.mean (3 values",
        ),
        (
            "2 * x / 3 y x",
            "Your result is 1/3 of the tape's everywhere. Did you use np.mean instead of np.sum (3 values",
        ),
        ("2 * X.T @ p loss w", "4 times the tape's everywhere. Did you use np.sum instead of np.mean (4 values"),
        ("0.7 * x y x", "Your result is 0.35 times the tape's everywhere."),
        ("-2 * x y x", "Your result has the opposite sign everywhere."),
        (
            "x m2 x",
            (
                "Your result is 1.5 times the tape's everywhere. Did you forget the 2 of the squares and the "
                "1/3 of their mean?"
            ),
        ),
        ("x m3 x", "Did you forget the 2 of the squares and the 1/3 of their mean?"),
        ("3 * x y x", "Your result is 1.5 times the tape's everywhere."),
        (
            "-3 * x**2 m x",
            (
                "Your result is -3 times the tape's everywhere. The sign is opposite. Did you use np.sum "
                "instead of np.mean (3 values)?"
            ),
        ),
        (
            "np.cos(x**2) t x",
            "Your result times 2 * x agrees in every entry. Is this factor missing, as from the chain",
        ),
        (
            "(2 * u / 9).sum(1) loss2 c",
            "You used np.sum(..., axis=1), but you need np.sum(..., axis=0): the source was used",
        ),
    ],
)  # fmt: skip
def test_mistakes(run: Run, line: str, words: str) -> None:
    """A mistake that explains all of the differences is named, and stands last."""
    details = run(f"%check_gradient {line}").details
    assert words in details.splitlines()[-1]
    assert words.endswith(".") <= details.endswith(words)


@pytest.mark.parametrize(
    ("line", "shapes", "words"),
    [
        ("x[:2] y x", "yours has shape (2,), the gradient has x's shape (3,)", ""),
        ("p[0] loss w", "yours has shape (2,), the gradient has w's shape (3, 2)", ""),
        ("2 y x", "yours has shape (), the gradient has x's shape (3,)", ""),
        ("p.T @ X / 2 loss w", "yours has shape (2, 3), the gradient has w's shape (3, 2)", "Append .T"),
        ("2 * x[None] y x", "yours has shape (1, 3)", "Append .reshape((3,)) to your result"),
        ("p / 2 loss b", "yours has shape (4, 2), the gradient has b's", "np.sum(..., axis=0) of your result"),
        (
            "p.sum(1) / 2 loss b",
            "yours has shape (4,), the gradient has b's shape (2,)",
            "You used np.sum(..., axis=1), but you need np.sum(..., axis=0)",
        ),
        (
            "p.sum() / 2 loss b",
            "yours has shape (), the gradient has b's shape (2,)",
            "You used np.sum(...), but you need np.sum(..., axis=0)",
        ),
        ("[v] s v", "yours has shape (1,), the gradient has v's shape ()", ""),
        (
            "np.real([[z**2]]) s v",
            "yours has shape (1, 1), the gradient has v's shape ()",
            "The numbers agree. Append .reshape(()) or [0, 0] to your result.",
        ),
        (
            "(2 * x).sum() y x",
            "yours has shape (), the gradient has x's shape (3,)",
            "Your result is np.sum(...) of the tape's",
        ),
        (
            "-(X.T @ p / 2).T loss w",
            "yours has shape (2, 3), the gradient has w's shape (3, 2)",
            "Your result is transposed. Append .T. It also has the opposite sign everywhere.",
        ),
    ],
)  # fmt: skip
def test_shapes(run: Run, line: str, shapes: str, words: str) -> None:
    """Another shape is explained, not broadcast."""
    report = run(f"%check_gradient {line}")

    assert not report.ok
    assert shapes in report.headline
    assert words in report.details
    assert bool(words) == bool(report.details)


def test_an_array_as_target(run: Run) -> None:
    """The gradient of an array is that of its sum, which is said whether or not it agrees."""
    words = "p is an array of shape (4, 2): the gradient is that of the sum of its entries."

    assert words == run("%check_gradient [4, 4] p b").details
    assert words in run("%check_gradient [1, 1] p b").details
    assert words in run("%check_gradient 1 p b").details


def test_no_gradient(run: Run) -> None:
    """Where there is none, the reason stands in its place."""
    report = run("%check_gradient x * 0 loss x")

    assert not report.ok
    assert report.headline.startswith("dloss/dx is None: ")
    assert "Nothing recorded on the tape leads from x to loss" in report.headline
    assert "So there is nothing to compare yours with." == report.details


EXITS = {
    "float": ("y = x**2 + 3 * math.sin(x)", "2 * x + 3 * np.cos(x)", "turned x into a plain number", "math.sin"),
    "of a result": ("z = x**2\ny = z + z.item()", "4 * x", "turned z into a plain number", ".item()"),
    "of what has no name": ("y = x + (2 * x).numpy()", "3", "a value computed from x", ".numpy()"),
}  # fmt: skip
MAY_BE_RIGHT = "The tape's gradient may lack a part, and yours may be right. "


@pytest.mark.parametrize("name", EXITS)
@pytest.mark.parametrize("start", ["1.5", "tm.Variable(1.5)"])
def test_what_left_the_tape(run: Run, name: str, start: str) -> None:
    """Where a part of the gradient is lost, the message says so, and on which line."""
    cell, mine, what, how = EXITS[name]
    run(f"import math\nx = {start}")
    run(f"%%tape x\n{cell}")

    details = run(f"%check_gradient {mine} y x").details

    line = cell.splitlines()[-1]
    number = len(cell.splitlines()) + 1
    assert what in details
    assert f"{how} on line {number} ({line}) turned " in details
    assert MAY_BE_RIGHT in details


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("y = np.sum(x**2)\nprint(x.numpy())", "x y x"),
        ("y = np.sum(x * w[:, 0])\nv = w.numpy()", "x y x"),
        ("k = w.numpy()\ny = np.sum(x**2)", "x y x"),
        ("print(x.numpy())\ny = np.sum(x**2)", "x y x"),
        ("y = x.numpy() * x", "[1, 1, 1] x x"),
        ("y = x.numpy() * x", "x y x"),
    ],
)
def test_what_left_the_tape_and_does_not_matter(run: Run, code: str, line: str) -> None:
    """After the target, from another value, into something else, or where all agrees: not a word of it."""
    run(f"%%tape x w\n{code}")

    assert "lost track" not in run(f"%check_gradient {line}").details


def test_tolerances(run: Run) -> None:
    """Both can be given, before or after the rest."""
    assert not run("%check_gradient 2 * x + 1e-4 y x").ok
    assert run("%check_gradient 2 * x + 1e-4 y x --rtol 1e-3").ok
    assert run("%check_gradient --atol=1e-3 2 * x + 1e-4 y x").ok
    assert not run("%check_gradient --rtol 0 2 * x * (1 + 1e-8) y x --atol 0").ok
    headline = run("%check_gradient 2 * x y x --rtol 1e-3 --atol = 0").headline
    assert headline.endswith("(rtol 0.001, atol 0)")


def test_single_precision(run: Run) -> None:
    """A coarser array on either side is compared less strictly."""
    assert run("%check_gradient (2 * x.numpy()).astype(np.float32) * np.float32(1.0001) y x").ok
    run("a = np.array([1.0, 2.0], np.float32)")
    run("%%tape a\nu = np.sum(a**2)")
    report = run("%check_gradient [2.0001, 4.0001] u a")
    assert report.ok
    assert report.headline.endswith("(rtol 0.001, atol 1e-06)")


def test_nan(run: Run) -> None:
    """What is not a number agrees with nothing but its like."""
    report = run("%check_gradient [2.0, np.nan, np.inf] y x")

    assert ((1,), (2,)) == report.differing
    assert "[1]    nan    4.0     nan" in report.details
    run("a = np.array([1.0, 1.0])")
    run("%%tape a\nu = np.sum(a * [np.inf, np.nan])")
    assert run("%check_gradient [np.inf, np.nan] u a").ok


def test_it_can_be_asked_again(run: Run, variables: dict[str, Any]) -> None:
    """The question changes nothing, and the tape stays unused."""
    before = dict(variables)

    run("report = %check_gradient 2 * x y x")
    run("again = %check_gradient 2 * x y x")

    assert before.keys() | {"report", "again"} == variables.keys()
    assert all(variables[name] is value for name, value in before.items())
    assert variables["report"] == variables["again"]
    assert run("tape.gradient(y, x)").numpy().tolist() == [2.0, 4.0, 6.0]


def test_inside_of_a_cell(run: Run) -> None:
    """A question in the middle of a cell is not recorded."""
    report = run("%%tape x\nu = np.sum(x**2)\nr = %check_gradient 2 * x u x")

    assert run("r").ok
    assert 2 == report.findings.operations


def test_html(run: Run) -> None:
    """The same words, escaped."""
    report = CheckReport(False, "d<b>/dx", "a & b\n<script>")
    assert "d&lt;b&gt;/dx" in report._repr_html_()
    assert "a &amp; b\n&lt;script&gt;" in report._repr_html_()

    right, wrong = (run(f"%check_gradient {k} * x y x")._repr_html_() for k in (2, 3))
    assert "#14532d" in right
    assert "#991b1b" in wrong
    assert "Your result is 1.5 times the tape&#x27;s everywhere." in wrong


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "needs your derivative, a target and a source, as in %check_gradient my_dy_dx y x"),
        ("y x", "needs your derivative, a target and a source"),
        ("2*x y x # why", "target and source are names"),
        ("2*x y x[0]", "target and source are names"),
        ("2*x q x", "'q' does not exist: name a Tensor or Variable of the last %%tape cell"),
        ("2*x y n", "'n' is of type int, and no Tensor or Variable of the last %%tape cell"),
        ("mine y x", "there is no variable 'mine' in the notebook: compute your derivative first"),
        ("2 * mine y x", "there is no variable 'mine'"),
        ("2 * y x", "'2 *' isn't an expression: write your derivative, then a target and a source"),
        ("2 * (x y x", "'2 * (x' isn't an expression: write your derivative"),
        ("a = 2 y x", "'a = 2' isn't an expression"),
        (
            "by_hand loss w",
            "'by_hand' is a function: give its value, as in %check_gradient by_hand(w) loss w",
        ),
        (
            "lambda x: x y x",
            ("'lambda x: x' is a function: give its value, as in %check_gradient (lambda x: x)(x) y x"),
        ),
        ("'text' y x", "is a str, and not an array of numbers"),
        ("None y x", "'None' is a NoneType, and not an array of numbers"),
        ("[[1], [1, 2]] y x", "is a list, and not an array of numbers"),
        ("np y x", "'np' is a module, and not an array of numbers"),
        ("2*x y x --tol 1", "has the options --rtol and --atol, and no --tol"),
        ("2*x y x --rtol", "--rtol must be a number of at least 0, not '': write --rtol 1e-6"),
        ("2*x y x --rtol much", "--rtol must be a number of at least 0, not 'much'"),
        ("2*x y x --atol -1", "--atol must be a number of at least 0, not '-1'"),
        ("2*x y x --atol nan", "--atol must be a number of at least 0, not 'nan'"),
        ("2*x y x --atol inf", "--atol must be a number of at least 0, not 'inf'"),
    ],
)  # fmt: skip
def test_usage_errors(refused: Callable[[str], str], line: str, words: str) -> None:
    """Mistakes in the line: one line that says what to write."""
    message = refused(f"%check_gradient {line}")

    assert message.startswith("%check_gradient")
    assert words in message


def test_before_any_tape(refused: Callable[[str], str], run: Run) -> None:
    """There has to be a cell to ask."""
    run("%reload_ext tapemagic")

    assert "none has run yet: run one first" in refused("%check_gradient 2 * x y x")


@pytest.mark.parametrize(
    ("expression", "error"), [("1 / 0", ZeroDivisionError), ("broken()", NameError)]
)
def test_an_error_in_the_expression(run: Run, expression: str, error: type[Exception]) -> None:
    """What goes wrong in the user's own code is shown as ever."""
    run("def broken(): return missing")

    with pytest.raises(error):
        run(f"%check_gradient {expression} y x")


def test_help(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """``%check_gradient?`` shows an example."""
    run("%check_gradient?")

    assert "%check_gradient 2 * x y x" in capsys.readouterr().out


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_in_a_kernel(notebook: Kernel) -> None:
    """It is the value of the cell, as text and as HTML; a semicolon silences; an error stops."""
    notebook.run("x = np.array([1.0, 2.0])")
    notebook.run("%%tape x\ny = np.sum(x**2);")

    [data] = notebook.run("%check_gradient 3 * x y x").shown

    assert {"text/plain", "text/html"} == data.keys()
    assert data["text/plain"].endswith("\n\nYour result is 1.5 times the tape's everywhere.")
    assert "1.5 times the tape&#x27;s" in data["text/html"]
    assert [] == notebook.run("%check_gradient 3 * x y x;").outputs
    assert [] == notebook.run("%check_gradient 3 * x y x --rtol 1e-3;").outputs
    refused = notebook.run("%check_gradient q y x")
    assert refused.stopped
    assert "UsageError: %check_gradient: there is no variable 'q'" in refused.stderr
