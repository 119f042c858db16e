"""What a %%tape cell watches, and what that does to the notebook's variables."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import pytest

from tapemagic import Tensor, Variable
from tests.ipython.conftest import Run
from tests.report.recordings import notes

pytestmark = pytest.mark.thorough


def role(report: Any, name: str) -> str:
    """The role of a variable in a report."""
    return next(row.role for row in report.findings.variables if row.name == name)


def gradients(report: Any) -> dict[str, str | None]:
    """The table of gradients of a report."""
    return {entry.symbol: entry.text for entry in report.findings.derivatives}


@pytest.mark.parametrize(
    ("value", "expected", "derivative"),
    [
        ("3.0", 3.0, "6.0"),
        ("np.float32(3)", 3.0, "6.0"),
        ("np.array([1.0, 2.0])", [1.0, 2.0], "[2.0, 4.0]"),
        ("[1.0, 2.0]", [1.0, 2.0], "[2.0, 4.0]"),
        ("((1.0,), (2.0,))", [[1.0], [2.0]], "[[2.0], [4.0]]"),
        ("tm.constant(3.0)", 3.0, "6.0"),
        ("1 + 2j", 1 + 2j, "2.0-4.0j"),
    ],
)
def test_a_name_becomes_a_tensor_and_stays_one(
    run: Run, variables: dict[str, Any], value: str, expected: Any, derivative: str
) -> None:
    """Whatever is made of numbers is bound to its name again as a watched Tensor."""
    run(f"x = {value}")

    report = run("%%tape x\ny = x**2")

    assert isinstance(variables["x"], Tensor)
    assert np.all(variables["x"].numpy() == np.array(expected))
    assert {"dy/dx": derivative} == gradients(report)
    assert "watched" == role(report, "x")


def test_a_tensor_stays_the_same_tensor(run: Run, variables: dict[str, Any]) -> None:
    """A Tensor need not become one."""
    before = run("x = tm.constant(3.0)\nx")

    run("%%tape x\nx * x")

    assert variables["x"] is before


def test_a_variable_stays_a_variable(run: Run, variables: dict[str, Any]) -> None:
    """A Variable is watched as itself, once, whether it is named or not."""
    run("v = tm.Variable(3.0)")

    named, unnamed = run("%%tape v\nv * v"), run("%%tape\nv * v")

    assert isinstance(variables["v"], Variable)
    for report in (named, unnamed):
        assert {"d(v * v)/dv": "6.0"} == gradients(report)
        assert "variable" == role(report, "v")


def test_a_variable_that_is_not_trainable_has_to_be_named(run: Run) -> None:
    """Only trainable Variables are watched by themselves."""
    run("v = tm.Variable(3.0, trainable=False)")

    by_itself, named = run("%%tape\nv * v"), run("%%tape v\nv * v")

    assert {} == gradients(by_itself)
    assert {"d(v * v)/dv": "6.0"} == gradients(named)
    assert run("tape.watched_variables()[0] is v")


def test_no_auto_watch(run: Run) -> None:
    """With --no-auto-watch a Variable is a constant, unless it is named."""
    run("v, w = tm.Variable(3.0), tm.Variable(4.0)")

    report = run("%%tape w --no-auto-watch\ny = v * w")

    assert {"dy/dw": "3.0"} == gradients(report)
    assert "constant" == role(report, "v")


def test_a_name_that_the_cell_assigns_is_watched_from_that_line_on(
    run: Run, variables: dict[str, Any]
) -> None:
    """What a cell makes itself can be watched, and has its line in the table."""
    report = run("%%tape x\n\nx = np.array([1.0, 2.0])\ny = np.sum(x**2)")

    assert isinstance(variables["x"], Tensor)
    assert {"dy/dx": "[2.0, 4.0]"} == gradients(report)
    assert [("x", 3), ("y", 4)] == [(row.name, row.line) for row in report.findings.variables]


def test_a_name_is_watched_again_when_it_gets_a_new_value(run: Run) -> None:
    """The last value that is not computed from watched ones is the source."""
    run("x = 3.0")

    report = run("%%tape x\na = x * x\nx = 5.0\nb = x * x")

    assert {"db/dx": "10.0"} == gradients(report)


def test_a_name_that_is_computed_anew_keeps_its_source(run: Run) -> None:
    """``x = x * 2`` does not cut the path to what x was, which has a subscript now."""
    run("x = 3.0")

    report = run("%%tape x\nx = x * 2\ny = x * x")

    assert {"dy/dx₁": "24.0"} == gradients(report)
    assert ["x₁", "x", "y"] == [row.name for row in report.findings.variables]
    assert 12.0 == float(run("%gradient y x"))


def test_a_walrus_is_watched_within_its_expression(run: Run) -> None:
    """The value of ``(x := 3.0)`` is the watched one at once."""
    assert {"dy/dx": "6.0"} == gradients(run("%%tape x\ny = (x := 3.0) ** 2"))


def test_a_text_that_the_cell_replaces_may_stand_in_the_way(run: Run) -> None:
    """A name may hold anything before the cell, if the cell gives it a number."""
    run("x = 'three'")

    assert {"dy/dx": "6.0"} == gradients(run("%%tape x\nx = 3.0\ny = x**2"))


def test_a_name_that_the_cell_makes_a_text_stops_it(shell: Any, capsys: Any) -> None:
    """A watched name that turns out to be text is an error at its line; no tape is left live."""
    result = shell.run_cell("%%tape x\nx = 'three'\ny = 1")

    assert "cannot watch 'x', which is a str" in str(result.error_in_exec)
    assert "y" not in shell.user_ns
    assert "The cell stopped at line 2 with UsageError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("3", "integers (int64), which have no derivative. Write n = 3.0"),
        ("True", "booleans (bool), which have no derivative. Write n = 1.0"),
        ("np.array([1, 2])", "Write n = np.array([1.0, 2.0])"),
        ("np.arange(9)", "Write n = np.array(..., dtype=float)"),
    ],
)
def test_whole_numbers_are_told_about(run: Run, value: str, words: str) -> None:
    """Watching whole numbers is allowed; the report says why there is no gradient, and what to write."""
    run(f"n = {value}")

    report = run("%%tape n\ny = n * 1.5")

    [entry] = report.findings.derivatives
    assert entry.text is None
    assert words in str(entry.reason)
    assert words in repr(report)


def test_arrays_are_copied(run: Run) -> None:
    """The array that a name was bound to may change, and the watched tensor does not."""
    run("x = a = np.array([1.0, 2.0])")

    run("%%tape x\ny = np.sum(x**2)")

    assert run("a[0] = 100.0\nbool(x[0] == 1.0)")


def test_running_a_cell_again_gives_the_same(run: Run) -> None:
    """A cell that ran before, with names that are tensors by now, finds the same."""
    run("x = 3.0\nv = tm.Variable(2.0)")
    cell = "%%tape x -o 2\nz = v * x**3"

    first, second = run(cell), run(cell)

    assert first.findings == second.findings
    assert first._repr_mimebundle_()["text/html"] == second._repr_mimebundle_()["text/html"]


def test_two_cells_with_the_same_variable(run: Run) -> None:
    """The tapes of two cells do not know of each other."""
    run("x = 3.0")

    run("%%tape x\ny = x**2")
    report = run("%%tape x\nz = y * x")

    assert {"dz/dx": "9.0"} == gradients(report)
    assert "constant" == role(report, "y")


def test_several_names_of_a_list_of_variables(run: Run) -> None:
    """Variables in a list go by their own names, with numbers where those are the same, or by their place."""
    run("layers = [tm.Variable(1.0, name='w'), tm.Variable(2.0, name='w'), tm.Variable(3.0)]")

    report = run("%%tape\ny = layers[0] * layers[1] * layers[2]")

    assert {"dy/dw": "6.0", "dy/d(w (2))": "3.0", "dy/d(layers[2])": "2.0"} == gradients(report)


def test_a_nasty_name_is_shown_as_it_is(run: Run) -> None:
    """A Variable may be called anything: it is text in every form of the report, and drawn."""
    name = '<b>"x|y{}\\'
    run(f"x, layers = 2.0, [tm.Variable(3.0, name={name!r})]")

    report = run("%%tape x\ny = layers[0] * x")

    bundle = report._repr_mimebundle_()
    assert f"dy/d({name}) = 2.0" in bundle["text/plain"]
    assert '<b>"' not in bundle["text/html"]
    assert escape(name) in bundle["text/html"]
    assert f"{escape(name, quote=False)} (variable)" in str(report.drawing.svg).replace(
        "&quot;", '"'
    )
    report.close()


def test_a_notebook_name_that_the_cell_uses_is_preferred(run: Run) -> None:
    """A Variable with two names goes by the one in the cell."""
    run("old = w = other = tm.Variable(3.0, name='weight')")

    assert {"d(w * w)/dw": "6.0"} == gradients(run("%%tape\nw * w"))


@pytest.mark.parametrize("first", ["tm.Variable(2.0)", "tm.constant(2.0)", "2.0"])
def test_a_second_run_of_a_cell_that_makes_what_it_watches(run: Run, first: str) -> None:
    """What the name held before is no source, since the cell never used it."""
    cell = f"%%tape p\np = {first}\ny = p**2"
    once, twice = run(cell), run(cell)

    assert {"dy/dp": "4.0"} == gradients(once) == gradients(twice)
    assert str(once) == str(twice)


def test_sources_stand_in_the_order_of_the_line(run: Run) -> None:
    """First run or second, whole numbers or real ones."""
    cell = "%%tape b n a\na, n, b = 2.0, 3, 4.0\ny = a**n"

    for _ in range(2):
        assert ["dy/db", "dy/dn", "dy/da"] == list(gradients(run(cell)))


@pytest.mark.parametrize("before", ["n = 3", "n = 7.0", "%%tape n\nn = 3", "n = tm.Variable(9.0)"])
def test_what_a_name_held_before_is_not_in_the_report(run: Run, before: str) -> None:
    """A cell that binds the name anew, and computes nothing, watches the new value."""
    run(before)

    report = run("%%tape n\nn = 2.5")

    assert {} == gradients(report)
    [row] = report.findings.variables
    assert ("n", "watched", "float64", "2.5", 2) == (
        row.name,
        row.role,
        row.dtype,
        row.text,
        row.line,
    )


def test_a_number_that_the_cell_makes_a_text(shell: Any, run: Run, capsys: Any) -> None:
    """The report of the failed cell does not put the old value onto the line of the new one."""
    run("x = 7.0")

    shell.run_cell("%%tape x\nx = 'three'")

    printed = capsys.readouterr().out
    assert "The cell stopped at line 2 with UsageError: %%tape cannot watch 'x'" in printed
    assert "x     watched  number  float64  7.0\n" in printed


def test_names_do_not_depend_on_history(run: Run) -> None:
    """A name that changes in the cell has the same subscripts in every run."""
    cell = "%%tape x\nx = 2.0\nx += 1\nx *= x"

    for _ in range(3):
        assert {"dx/dx₁": "6.0"} == gradients(run(cell))


def test_hidden_names(run: Run) -> None:
    """A Variable with an underscore has one row, and its name."""
    run("_p = tm.Variable(1.0)")

    report = run("%%tape\ny = _p * 2")

    assert {"dy/d_p": "2.0"} == gradients(report)
    assert "1 watched" in repr(report)


@pytest.mark.parametrize(
    ("setup", "cell", "row"),
    [
        ("u = 2.0", "%%tape u\nalias = u\ny = alias * u", "u, alias"),
        ("u = 2.0", "%%tape u\nu = 3.0\nalias = u\ny = alias * u", "u, alias"),
        ("u = tm.Variable(2.0)\nalias = u", "%%tape\ny = alias * u", "u, alias"),
        ("a = tm.constant(2.0)\nu = a", "%%tape a u\ny = a * u", "a, u"),
    ],
)
def test_two_names_of_one_tensor(run: Run, setup: str, cell: str, row: str) -> None:
    """What is watched under two names is one thing, in one row."""
    run(setup)

    report = run(cell)

    assert [row, "y"] == [value.name for value in report.findings.variables]
    assert "1 watched" in repr(report)


@pytest.mark.parametrize(
    "cell", ["%%tape x -t x\ny = x * x", "%tape [x, x * 2]", "%%tape x\ny = x * x\nx"]
)
def test_a_watched_target_is_still_watched(run: Run, cell: str) -> None:
    """A variable may be watched, and the target."""
    run("x = 2.0")

    report = run(cell)

    assert "1 watched variable, differentiating" in repr(report)
    assert "watched" == role(report, "x")
    assert "1.0" == gradients(report)["dx/dx"]


@pytest.mark.parametrize("name", ["ϕ", "ϵ", "µ", "xᵢ"])
def test_letters_that_are_the_same_to_python(run: Run, name: str) -> None:
    """Greek letters and subscripts as Jupyter types them are the names that Python makes of them."""
    report = run(f"%%tape {name} -t {name}2 -n {name}3\n{name} = 2.0\n{name}2 = {name} * {name}")

    assert ["4.0"] == list(gradients(report).values())
    assert 4.0 == float(run(f"%gradient {name}2 {name}"))
    assert 4.0 == float(run(f"{name}3.gradient({name}2, {name})"))


@pytest.mark.parametrize("before", ["v = [1.0, 2.0]", "v = (1.0, 2.0)", "v = 0.0"])
def test_a_list_becomes_an_array(run: Run, before: str) -> None:
    """The report says that a watched list is none any more; once, since it is a tensor in the next cell."""
    run(before)
    kind = "list" if before == "v = 0.0" else type(run("v")).__name__
    first = "v = [1.0, 2.0]\n" if before == "v = 0.0" else ""

    report = run(f"%%tape v\n{first}y = v + v")

    assert {"dy/dv": "[2.0, 2.0]"} == gradients(report)
    assert f"v was a {kind} and is an array now, because it is watched: v + v adds" in repr(report)
    assert "" == notes(run("%%tape v\ny = v + v").findings)


@pytest.mark.parametrize("value", ["3.0", "tm.Variable(3.0)", "tm.constant(3.0)"])
def test_a_list_that_the_cell_replaces(run: Run, value: str) -> None:
    """A list from before the cell is of no account if the cell gives its name to something else."""
    run("v = [1.0, 2.0]")

    report = run(f"%%tape v\nv = {value}\ny = v * v")

    assert {"dy/dv": "6.0"} == gradients(report)
    assert "" == notes(report.findings)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("value", ["[[1.0, 2.0]]", "np.eye(30)"])
def test_a_matrix_in_reach_is_shown(run: Run, value: str) -> None:
    """An np.matrix that a cell reads is a constant of its report as an array is."""
    run(f"m = np.matrix({value})\nx = 3.0")

    report = run("%%tape x\ny = x * m[0, 0]")

    assert {"dy/dx": "1.0"} == gradients(report)
    assert "constant" == role(report, "m")
