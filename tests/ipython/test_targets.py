"""What a %%tape cell differentiates, and to which order."""

from __future__ import annotations

import pytest

from tapemagic.report.tabs.lines import show_lines as lines
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients
from tests.report.recordings import notes

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test here begins with a number."""
    run("x = 3.0\nz = 5.0")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("y = x**2", {"dy/dx": "6.0"}),
        ("y = x**2\nw = 7.0\nprint(end='')", {"dy/dx": "6.0"}),
        ("x**2", {"d(x**2)/dx": "6.0"}),
        ("y = x**2\n3 * x", {"d(3 * x)/dx": "3.0"}),
        ("y = x**2\ny", {"dy/dx": "6.0"}),
        ("y = x**2\nu = x * 2\n'done'", {"du/dx": "2.0"}),
        ("y = x**2\ntm.constant(1.0)", {"dy/dx": "6.0"}),
        ("y = x**2\nx**3, y", {"d(x**3)/dx": "27.0", "dy/dx": "6.0"}),
        ("[x**2, x**2]", {"d(x**2)/dx": "6.0", "d(x**2 (2))/dx": "6.0"}),
        ("pair = [x**2, x**3]\npair", {"d(pair[0])/dx": "6.0", "d(pair[1])/dx": "27.0"}),
        ("x", {"dx/dx": "1.0"}),
        ("np.sum(\n    x * 2\n)", {"d(np.sum(x * 2))/dx": "2.0"}),
        ("if x > 2:\n    y = x**2\nelse:\n    y = -x", {"dy/dx": "6.0"}),
        ("y = x**2\nw = y", {"dw/dx": "6.0"}),
        ("y = x**2\ny = 5.0", {"dy₁/dx": "6.0"}),
        ("y = x**2\ny = float(y) * 3", {"dy₁/dx": "6.0"}),
        ("y = x**2\nfor y in [1.0, 2.0]: pass", {"dy₁/dx": "6.0"}),
    ],
)
def test_the_target(run: Run, cell: str, expected: dict[str, str]) -> None:
    """The last expression, if it is differentiable, else the last differentiable value assigned."""
    assert expected == gradients(run(f"%%tape x\n{cell}"))


def test_a_target_whose_name_is_a_plain_number_now(run: Run) -> None:
    """The report does not show an earlier value as that of the name in the notebook."""
    report = run("%%tape x\ny = x * x\ny = float(y) * 3")

    rows = {row.split()[0]: row for row in repr(report).splitlines() if "number" in row}
    assert "27.0" in rows["y"]
    assert "9.0" in rows["y₁"]
    assert (
        "y₁ is shown instead of y: float() on line 3 (y = float(y) * 3) turned y₁ into a plain number"
        in notes(report.findings)
    )


@pytest.mark.parametrize("line", ["x -t a b", "x -t a,b", "-t a b -o 1 -- x", "x --target a b"])
def test_targets_by_name(run: Run, line: str) -> None:
    """-t takes several names, and is heard before anything else."""
    report = run(f"%%tape {line}\na = x * 2\nb = a * x\nc = b * x")

    assert {"da/dx": "2.0", "db/dx": "12.0"} == gradients(report)
    assert ("a", "b") == report.findings.targets
    assert "differentiating a and b" in repr(report).splitlines()[0]


def test_a_target_that_is_no_tensor(run: Run) -> None:
    """A target that is an ordinary number is named, and the others are differentiated."""
    report = run("%%tape x -t a b\na = 2.0\nb = a * x")

    assert {"db/dx": "2.0"} == gradients(report)
    assert "not on the tape: a (float). A target has to be computed" in notes(report.findings)


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        ("y = x * x\nloss = float(y) + 1", "y is shown instead of loss: float() on line"),
        ("y = x * x\nloss = y.numpy()\nloss", "y is shown instead of loss: .numpy() on line"),
        ("y = x * x\nfloat(y) * 2", ("float() on line 3 (float(y) * 2) turned y into a plain number, so y is "
         "shown instead of")),
        ("import math\ny = x * x\nz = math.sin(y)", "y is shown instead of z: math.sin on line 4"),
    ],
)  # fmt: skip
def test_a_number_that_left_the_tape(run: Run, cell: str, note: str) -> None:
    """Where the value that one would expect left the tape, the report says so beside the target that it shows."""
    report = run(f"%%tape x\n{cell}")

    assert {"dy/dx": "6.0"} == gradients(report)
    assert note in notes(report.findings)


@pytest.mark.parametrize(
    "last", ["lr = 0.1", "print(end=f'{float(y)}')", "n = int(y)", "a = np.ones(2)"]
)
def test_a_number_that_did_not(run: Run, last: str) -> None:
    """A number that was not computed from the tape's values is no reason for a note."""
    assert "" == notes(run(f"%%tape x\ny = x * x\n{last}").findings)


@pytest.mark.parametrize(
    ("cell", "way", "operation", "line"),
    [
        ("u = x - 5\ny = np.log(u)\nz = 2 * y", "forward", "log", 3),
        ("y = np.exp(300 * x) * 0", "forward", "exp", 2),
        ("y = np.sqrt(x - 3)", "backward", "sqrt", 2),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_not_finite(run: Run, cell: str, way: str, operation: str, line: int) -> None:
    """A nan or an infinity is traced to the operation where it began."""
    (fact,) = run(f"%%tape x\n{cell}").findings.nonfinite

    assert (way, operation, line) == (fact.way, fact.operation, fact.line)


def test_a_target_of_an_earlier_cell(run: Run) -> None:
    """A target that this cell did not compute has a reason instead of a gradient."""
    run("%%tape x\ny = x**2")

    [entry] = run("%%tape x -t y\nw = x * 2").findings.derivatives

    assert entry.text is None
    assert "y was computed before the tape began to record" in str(entry.reason)


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("", "y = 1.0", "nothing was watched: name variables in the first line, as in %%tape x"),
        ("x", "y = 1.0", "nothing was computed from what is watched"),
        ("x", "y = np.argmax(x)", "nothing was computed from what is watched"),
        ("n", "import math\ny = math.sin(n)", "(int64), which have no derivative. Write n = 3.0"),
        ("n", "y = np.array(n)", "n holds integers (int64)"),
        ("n x", "y = np.array(n)", "watched, so there is nothing to differentiate; n holds integers"),
        ("", "y = whole**2", "which have no derivative. Write whole = tapemagic.Variable(3.0)"),
        ("--no-auto-watch", "y = v**2", "nothing was watched: name variables in the first line, as in %%tape v"),
        ("", "y = quiet**2", "nothing was watched: name variables in the first line, as in %%tape quiet"),
        ("x -t y", "y = x**2\ndel y", "y has no value after the cell: it was deleted, or the line that assigns"),
        ("x -t y", "if x > 9:\n    y = x", "y has no value after the cell"),
        ("-t y x", "y = x**2", "what is watched, and names to watch stand in front, as in %%tape x -t y"),
    ],
)  # fmt: skip
def test_nothing_to_differentiate(run: Run, line: str, cell: str, words: str) -> None:
    """A report without a target says why."""
    run(
        "n, v, whole = 3, tm.Variable(2.0), tm.Variable(3)\nquiet = tm.Variable(2.0, trainable=False)"
    )

    report = run(f"%%tape {line}\n{cell}")

    assert words in notes(report.findings)
    assert () == report.findings.targets
    assert words in repr(report)
    assert words in report._repr_mimebundle_()["text/html"]


def test_orders(run: Run) -> None:
    """-o 3 gives three derivatives, and a reason where they end."""
    report = run("%%tape x z -o 3\ny = x**3 * z")

    assert {
        "dy/dx": "135.0",
        "dy/dz": "27.0",
        "d²y/dx²": "90.0",
        "d²y/dz²": None,
        "d³y/dx³": "30.0",
        "d³y/dz³": None,
    } == gradients(report)
    reasons = {entry.symbol: entry.reason for entry in report.findings.derivatives}
    assert "y is linear in z" in str(reasons["d²y/dz²"])
    assert "there is no derivative of order 2 to differentiate" == reasons["d³y/dz³"]


def test_reasons(run: Run) -> None:
    """A gradient that is None because nothing leads there says so, and what there is instead."""
    report = run("%%tape x z\ny = x**2")

    [_, entry] = report.findings.derivatives
    assert "Nothing recorded on the tape leads from z to y; y depends on x." == entry.reason


def test_a_rule_that_fails_is_a_reason(run: Run) -> None:
    """An error in the reverse sweep does not take the rest of the report away."""
    run("from tapemagic.engine import registry\nfrom tapemagic.engine.tensor import dispatch")
    run("def bad(x):\n    return x + 0.0")
    run("def rule(g, _y, x):\n    raise np.linalg.LinAlgError('Singular matrix')")
    run("op = registry.Operation(bad)\nop.rules = (rule,)")

    report = run("%%tape x\ny = dispatch.apply(op, (x,), {})\nw = x * 2\ny + w")

    [entry] = report.findings.derivatives
    assert "computing it failed with LinAlgError: Singular matrix" == entry.reason
    assert "%%tape: 3 operations," in repr(report)
    assert "<img" in report._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        ("tape.gradient(y, x)", "Tensor(6.0)"),
        ("[y, None]", "[Tensor(9.0), None]"),
        ("{'y': y}", "{'y': Tensor(9.0)}"),
        ("'as text'", "'as text'"),
        ("(1, 2.5)", "(1, 2.5)"),
        ("np.array([1.0, 2.0])", "array([1., 2.])"),
        ("'a' * 5000", "'" + "a" * 1999 + " …"),
    ],
)
def test_the_value_of_the_cell(run: Run, last: str, shown: str) -> None:
    """The last expression's value is kept, and shown under the tables."""
    report = run(f"%%tape x\ny = x**2\n{last}")

    assert repr(report).endswith(f"\n\n{shown}")
    assert repr(report.value)[:1999] in shown


@pytest.mark.parametrize("last", ["y", "object()", "[object()]", "None"])
def test_a_value_that_is_not_shown(run: Run, last: str) -> None:
    """What the tables show already, and what would differ from run to run, is not shown."""
    report = run(f"%%tape x\ny = x**2\n{last}")

    assert repr(report).endswith(f"\n\n{lines.text(report.findings)}")
    assert type(report.value) is type(run(last))


def test_a_semicolon_silences(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A cell that ends in ``;`` shows nothing, and does all the rest."""
    capsys.readouterr()

    run("%%tape x\ny = x**2;")

    assert "" == capsys.readouterr().out
    assert run("float(y)") == 9.0


def test_two_targets_of_two_sources(run: Run) -> None:
    """Every target has a row for every source."""
    report = run("%%tape x z\na, b = x * z, x + z\na, b")

    assert {"da/dx": "5.0", "da/dz": "3.0", "db/dx": "1.0", "db/dz": "1.0"} == gradients(report)


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        (
            "with tm.GradientTape() as g:\n    loss = np.sum(weights**2)\ngrad = g.gradient(loss, weights)",
            "weights",
        ),
        ("loss = np.sum(weights**2)\ngrad = tape.gradient(loss, weights)", "weights"),
        ("loss = np.sum(weights**2)", "weights"),
        ("loss = np.sum(weights**2 * other)", "x"),
    ],
)
def test_a_forgotten_watch_is_named(run: Run, cell: str, name: str) -> None:
    """What the cell differentiates with respect to, or the only tensor that it reads, is what to watch."""
    run("weights, other = tm.constant([1.0, 2.0]), tm.constant(3.0)")
    report = run(f"%%tape\n{cell}")

    notes = [statement.text for statement in report.findings.verdict]
    assert (
        f"nothing was watched: name variables in the first line, as in %%tape {name}, or use a Variable"
        in notes
    )
    if "gradient" in cell:
        assert "is None: weights isn't watched. Call " in notes[0]
