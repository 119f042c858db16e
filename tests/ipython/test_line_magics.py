"""%tape EXPRESSION and %gradient TARGET SOURCE ..."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.errors import ConsumedTapeError
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test here begins with a number, an array and a Variable."""
    run("x, n = 3.0, 2\na = np.array([1.0, 2.0])\nv = tm.Variable(2.0)")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x**2", {"d(x**2)/dx": "6.0"}),
        ("v * x", {"d(v * x)/dv": "3.0", "d(v * x)/dx": "2.0"}),
        ("np.sum(a**2)", {"d(np.sum(a**2))/da": "[2.0, 4.0]"}),
        ("-o 2 x**2", {"d(x**2)/dx": "6.0", "d²(x**2)/dx²": "2.0"}),
        ("--order=2 x**2", {"d(x**2)/dx": "6.0", "d²(x**2)/dx²": "2.0"}),
        ("-o2 x**2", {"d(x**2)/dx": "6.0", "d²(x**2)/dx²": "2.0"}),
        ("-x + 1", {"d(-x + 1)/dx": "-1.0"}),
        ("x**2 + {'x': 1}['x'] + len('$x {x}')", {"d(x**2 + {'x': 1}['x'] + len('$x {x}'))/dx": "6.0"}),
    ],
)  # fmt: skip
def test_tape(run: Run, line: str, expected: dict[str, str]) -> None:
    """Every number in the expression is watched."""
    assert expected == gradients(run(f"%tape {line}"))


def test_tape_leaves_the_notebook_as_it_was(run: Run, variables: dict[str, Any]) -> None:
    """Variables keep their values and types, and there is no new one."""
    before = dict(variables)

    run("report = %tape x * np.sum(a) * n")

    assert before.keys() | {"report"} == variables.keys()
    assert all(variables[name] is value for name, value in before.items())


def test_tape_leaves_the_notebook_as_it_was_after_an_error(
    run: Run, variables: dict[str, Any]
) -> None:
    """The same where the expression fails."""
    before = variables["x"]

    with pytest.raises(ZeroDivisionError):
        run("%tape x + 1 / 0")

    assert variables["x"] is before


def test_tape_names_line_one(run: Run) -> None:
    """The line of a line magic is 1."""
    assert {1} == {step.line for step in run("%tape x**2").graph.steps}


def test_whole_numbers(run: Run) -> None:
    """A whole number in the expression is told about."""
    [_, entry] = reversed(run("%tape x * n").findings.derivatives)

    assert "Write n = 2.0" in str(entry.reason)


def test_gradient(run: Run) -> None:
    """%gradient asks the last %%tape cell again, as often as one likes, even if the tape is used up."""
    run("%%tape x a\nw = x**3\ny = w * np.sum(a)\ng = tape.gradient(y, x)")
    with pytest.raises(ConsumedTapeError):
        run("tape.gradient(y, x)")

    assert 81.0 == float(run("%gradient y x"))
    assert [81.0, [27.0, 27.0]] == [g.numpy().tolist() for g in run("%gradient y x, a")]
    assert 3.0 == float(run("%gradient y w"))
    assert 1.0 == float(run("%gradient y y"))
    run("%tape x")
    assert 81.0 == float(run("%gradient y x"))


def test_gradient_says_why_it_is_none(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there is none, it prints the reason."""
    run("%%tape x v\nw = x**3\ny = w * 2")
    capsys.readouterr()

    assert run("%gradient y v") is None

    assert (
        "dy/dv is None: Nothing recorded on the tape leads from v to y; y depends on x.\n"
        == capsys.readouterr().out
    )


def shown_by(shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, source: str) -> list[str]:
    """The target, or the type, of what the magics of a cell display themselves."""
    displayed: list[Any] = []
    monkeypatch.setattr("tapemagic.ipython.result_display.display", displayed.append)
    shell.run_cell(source).raise_error()
    return [
        x.findings.targets[0] if hasattr(x, "findings") else type(x).__name__ for x in displayed
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%tape x**2", []),
        ("%tape x**2\n%tape x**3", ["x**2"]),
        ("%tape x**2\n1", ["x**2"]),
        ("%tape x**2;\n1", []),
        ("r = %tape x**2\n1", []),
        ("for i in range(2):\n    %tape x**2", ["x**2", "x**2"]),
        ("def f():\n    %tape v * 2\nf()\nf()", ["v * 2", "v * 2"]),
        ("def f():\n    r = %tape v * 2\n    return r\nf()\n1", []),
        ("if x:\n    %tape x**2\nelse:\n    %tape x**3", ["x**2"]),
        ("%timeit -n1 -r1 get_ipython().run_line_magic('tape', 'x')", []),
        ("%%timeit -n1 -r1\n%tape x * 2", []),
        ("%%time\n%tape x * 2\n%tape x * 3", ["x * 2"]),
    ],
)
def test_a_magic_that_stands_alone_is_shown(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, source: str, expected: list[str]
) -> None:
    """Where the notebook would drop its value, and only there, a magic displays it."""
    assert expected == shown_by(shell, monkeypatch, source)


def test_every_question_of_a_cell_is_answered(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same holds for the other line magics."""
    shell.run_cell("%%tape x v\nz = x * v;").raise_error()

    cell = "%why z x\n%gradient z v\n%gradient z v;\n%check_gradient v z x\n%tape_graph\n1"

    assert ["Explanation", "Tensor", "CheckReport", "z"] == shown_by(shell, monkeypatch, cell)


def test_without_interactivity_nothing_is_shown(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that is told to show no values gets none."""
    monkeypatch.setattr(shell, "ast_node_interactivity", "none")

    assert [] == shown_by(shell, monkeypatch, "%tape x**2\n%tape x**3")
