"""Values without a name of their own: the parts of lists, tuples, dicts and objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic import Variable
from tapemagic.explain.parts import tensors
from tapemagic.report.tabs.graph.drawn_graph import Drawer
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients, role
from tests.report.recordings import notes
from tests.report.steps import drawings

OBJECT = "class Thing:\n    pass\no = Thing()\n"


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test here begins with a number, and a list and a dict to put results into."""
    run("x, losses, d = 3.0, [1.0], {}")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("ys = [x * x, np.sin(x) * 0]", {"d(ys[0])/dx": "6.0", "d(ys[1])/dx": "0.0"}),
        ("def two(u): return u * u, u**3\nout = two(x)", {"d(out[0])/dx": "6.0", "d(out[1])/dx": "27.0"}),
        ("out = {'y': x * x, 1: [x**3], 'n': 2}", {"d(out['y'])/dx": "6.0", "d(out[1][0])/dx": "27.0"}),
        ("h = x * 2\nys = [h * h, 7.0, x]", {"d(ys[0])/dx": "24.0"}),
        ("y = x * x\nkept = {'y': y}", {"dy/dx": "6.0"}),
        ("y = x * x\nys = [y, x**3]", {"dy/dx": "6.0", "d(ys[1])/dx": "27.0"}),
        ("ys = [x * x]\ny = x * 2", {"dy/dx": "2.0"}),
        ("new = []\nfor i in range(2):\n    new.append(x * i)", {"d(new[0])/dx": "0.0", "d(new[1])/dx": "1.0"}),
        ("losses.append(x * x)", {"d(losses[1])/dx": "6.0"}),
        ("d['y'] = x * x", {"d(d['y'])/dx": "6.0"}),
        (OBJECT + "o.y = x * x", {"d(o.y)/dx": "6.0"}),
        ("{'a': x * x, 'b': 2}", {"d(x * x)/dx": "6.0"}),
        ("dict(a=x * x)", {"d(dict(a=x * x)['a'])/dx": "6.0"}),
        ("y = x * x\nu = x * 2\n(y, 1)", {"dy/dx": "6.0"}),
        ("(x**3, 'three')", {"d(x**3)/dx": "27.0"}),
        ("y = x * x\n[x, 1]", {"dy/dx": "6.0"}),
        ("def f():\n    global y\n    y = x * x\nf()", {"dy/dx": "6.0"}),
        ("%time y = x * x", {"dy/dx": "6.0"}),
        ("%%time\ny = x * x\nw = y * 2", {"dw/dx": "12.0"}),
    ],
)  # fmt: skip
def test_targets(run: Run, cell: str, expected: dict[str, str]) -> None:
    """What was computed last is differentiated, in a list, a dict or an object as well."""
    assert expected == gradients(run(f"%%tape x\n{cell}"))


def test_targets_by_name(run: Run) -> None:
    """-t takes the name of a list, too, and means what was computed in it."""
    report = run("%%tape x -t ys d\nys = [x * x, 3.0]\nd['w'] = x * 2\nlast = x * 5")

    assert {"d(ys[0])/dx": "6.0", "d(d['w'])/dx": "2.0"} == gradients(report)


@pytest.mark.parametrize(
    ("cell", "name", "gradient", "words"),
    [
        ("ys = [x * i for i in range(30)]", "ys", 435.0, "ys is a list of 30 scalars"),
        ("ys = tuple(x * i for i in range(4))", "ys", 6.0, "ys is a tuple of 4 scalars"),
        ("[x * i for i in range(30)]", "the list", 435.0, "the list has 30 scalars"),
        ("[x * i + 0.0 * (1.0 + 2.0 + 3.0 + 4.0 + 5.0 + 6.0 + 7.0 + 8.0) for i in range(5)]", "the list", 10.0,
         "the list has 5 scalars"),
        ("ys = [x * i for i in range(5)]\nys", "ys", 10.0, "ys is a list of 5 scalars"),
        ("ys = []\nfor i in range(5):\n    y = x * i\n    ys.append(y)\nys", "ys", 10.0, "ys is a list of 5 scalars"),
        ("ys = [[x * i * k for i in range(4)] for k in range(4)]", "ys", 36.0, "ys is a list of 16 scalars"),
        ("ys = {i: x * i for i in range(5)}", "ys", 10.0, "ys is a dict of 5 scalars"),
        ("ys = {f'k{i}': x * i for i in range(12)}", "ys", 66.0, "ys is a dict of 12 scalars"),
        ("ys = {'a': [x * i for i in range(4)], 'b': x}", "ys", 6.0, "ys is a dict of 4 scalars"),
        ("ys = [x * np.ones((2, 3)) for i in range(4)]", "ys", 24.0, "ys is a list of 4 arrays of 2×3"),
        ("ys = [x * np.ones(i) for i in range(1, 5)]", "ys", 10.0, "ys is a list of 4 arrays:"),
        # More items than are searched for names, items that no tape tracks, the same value twice.
        ("ys = [x * i for i in range(1000)]", "ys", 499500.0, "ys is a list of 1,000 scalars"),
        ("ys = [x * i for i in range(5)] + [1.0, None]", "ys", 10.0, "ys is a list of 5 scalars"),
        ("ys = [x * i for i in range(5)]\nys += ys", "ys", 20.0, "ys is a list of 10 scalars"),
    ],
)  # fmt: skip
def test_a_list_of_many_values(run: Run, cell: str, name: str, gradient: float, words: str) -> None:
    """It is one target with a shape, and its gradient that of the sum, as of a list in tape.gradient."""
    report = run(f"%%tape x\n{cell}")

    assert (name,) == report.findings.targets
    [row] = report.findings.derivatives
    assert gradient == float(row.text)
    assert name == row.summed
    assert words in notes(report.findings)
    assert words.split(maxsplit=1)[0] in repr(report).splitlines()[1]
    assert f"gradients of the sum of {name} (read up ↑)" in repr(report)


@pytest.mark.parametrize(
    ("cell", "targets", "goal"),
    [
        ("ys = [x * i for i in range(2)]", ("ys[0]", "ys[1]"), "ys[0] + ys[1]"),
        ("fit = x * 2\npenalty = x * 3\nlosses = [fit, penalty]\nlosses", ("fit", "penalty"), "fit + penalty"),
        ("losses = {'fit': x * 2, 'penalty': x * 3}", ("losses['fit']", "losses['penalty']"),
         "losses['fit'] + losses['penalty']"),
        ("[x * 1, x * 2, x * 3, x * 4]", ("x * 1", "x * 2", "x * 3", "x * 4"),
         "the sum of x * 1, x * 2, x * 3, x * 4"),
        ("ys = [x * i for i in range(5)]\ny = x * 2\ny, ys", ("y", "ys"), "the sum of y, ys"),
        ("ys = [x * 2, x * 3]\nys.append(ys)", ("ys[0]", "ys[1]"), "ys[0] + ys[1]"),
        ("[x * i for i in range(4)], [x for i in range(4)], [x + i for i in range(4)]", ("the list", "the list (2)"),
         "the sum of the list, the list (2)"),
        ("y = x * np.ones(2)", ("y",), "the sum of y"),
        ("y = x * 2", ("y",), "y"),
    ],
)  # fmt: skip
def test_few_targets(run: Run, cell: str, targets: tuple[str, ...], goal: str) -> None:
    """They are targets one by one, and what is differentiated is written as their sum."""
    report = run(f"%%tape x\n{cell}")

    assert targets == report.findings.targets
    assert goal == report.findings.goal == report.findings.trace.parts[0].goal
    assert f"gradient of {goal}" in repr(report)


def test_a_list_in_all_tabs(run: Run) -> None:
    """Checks, matrices, plots, programs and graphs are those of the list, whose items keep their order."""
    run("n = 201")
    report = run(
        "%%tape x --check --jacobian --code --plot x=0:6 -o 2\nys = [[x**2 * i for i in range(n)] for k in range(2)]"
    )

    [first, second] = report.findings.derivatives
    assert (6 * 201 * 200, 2 * 201 * 200) == (float(first.text), float(second.text))
    assert "matches finite differences" in repr(report)
    [matrix] = report.findings.matrices
    assert ("ys", ("x",), (402,)) == (matrix.target, matrix.sources, matrix.shape)
    # The entries of ys[0] come before those of ys[1], though not all of ys[0] are searched for names.
    assert [0.0, 6.0, 12.0] == [float(row[0]) for row in matrix.cells[:3]]
    assert ["1194.0", "1200.0"] == [row[0] for row in matrix.cells[-2:]]
    assert {"ys", "dys/dx", "d²ys/dx²"} == {curve.symbol for curve in report.findings.plot.curves}
    assert "stack" in report.findings.code.text
    # x**2 and the product are recorded for each item; joining them isn't counted.
    assert 2 * 402 == report.findings.operations


def test_other_magics_after_a_list(run: Run) -> None:
    """The graph has the list if that is the target, and nothing of it otherwise; names give gradients as before."""
    run("%%tape x -t ys\nys = [x * k for k in range(5)]\nother = ys[3] * 2")

    assert "stack" in str(run("%tape_graph"))
    assert "stack" not in str(run("%tape_graph other"))
    assert 6.0 == float(run("%gradient other x"))


@pytest.mark.parametrize(
    ("end", "last", "folded", "words"),
    [
        ("", [(16, 16)], (1, 15, 16), "iterations 1–15 of 16"),
        ("\ny = np.sum(np.stack(ys))", [], (1, 16, 16), "16 times"),
        ("\ny = np.sum(np.stack(ys[::-1]))", [], (1, 16, 16), "16 times"),
    ],
)
def test_iterations_that_are_not_drawn_count(
    run: Run, end: str, last: list[Any], folded: tuple[int, int, int], words: str
) -> None:
    """A graph draws six of many inputs, and only the iterations behind them: they have the numbers of the program."""
    with drawings() as found:
        report = run(f"%%tape x\nys = [np.sin(x * k) for k in range(16)]{end}")

    assert last == [frame.iteration for frame in report.graph.frames if frame.iteration]
    [closed] = [step for step in report.graph.steps if step.iterations]
    assert folded == closed.iterations
    assert words in closed.name
    opened = Drawer(found[0][0]).draw({closed.fold: 14}).graph
    [shown] = [frame.iteration for frame in opened.frames if frame.iteration]
    assert shown in {(16, 16), (14, 16), (13, 16)}, "the nearest that is drawn"


def test_large_arrays_are_not_joined(run: Run) -> None:
    """That would copy them: the first ones are targets one by one, and the report says so."""
    report = run("%%tape x -t ys\nys = [x * np.ones(100_000) for k in range(12)]")

    assert 10 == len(report.findings.targets)
    assert "only the first 10 of 12 values are differentiated" in notes(report.findings)


def test_the_gradient_of_a_list_in_the_cell(run: Run) -> None:
    """It is named by the list; that of a few values by their sum."""
    report = run(
        "%%tape x\nwith tm.GradientTape(persistent=True) as inner:\n    inner.watch(x)\n"
        "    ys = [x * k for k in range(16)]\n    fit = x * 2\n    penalty = x * 3\n"
        "g = inner.gradient(ys, x)\nh = inner.gradient([fit, penalty], x)"
    )

    assert [
        "g = dys/dx = 120.0, taken by inner (line 7); the gradient of the sum of ys",
        "h = d(fit + penalty)/dx = 5.0, taken by inner (line 8)",
    ] == [str(row) for row in report.findings.own_gradients]


def test_gradients_in_a_list_are_no_targets(run: Run) -> None:
    """What a persistent tape computed of gradients is not what the cell is about."""
    report = run("%%tape x -p\ny = x * x\ngrads = tape.gradient(y, [x])")

    assert {"dy/dx": "6.0"} == gradients(report)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("print(x * x)", "there is no name for what was computed: give it one, write -t, or end"),
        ("print(float(x))\nprint(x * x)", "there is no name for what was computed"),
        ("y = float(x * x)", ("the result isn't a tensor anymore, so there is nothing to differentiate: float() "
         "on line")),
        ("y = float(x)", ("nothing was computed from what is watched, so there is nothing to differentiate: "
         "float() on line 2")),
    ],
)  # fmt: skip
def test_nothing_has_a_name(run: Run, cell: str, words: str) -> None:
    """The report does not say that nothing was computed where something was."""
    report = run(f"%%tape x\n{cell}")

    assert words in notes(report.findings)
    assert {} == gradients(report)


def test_variables_that_are_held_somewhere(run: Run) -> None:
    """A Variable without a name is called after its place, whether the cell or a function names it."""
    run(
        "class Model:\n    def __init__(self):\n        self.w, self.more = tm.Variable(2.0), (tm.Variable(3.0),)\n"
        "m, params, ws = Model(), {'w': tm.Variable(5.0)}, [tm.Variable(7.0)]\n"
        "def product(): return m.w * m.more[0] * params['w'] * ws[0]"
    )

    report = run("%%tape\ny = product()")

    assert {
        "dy/d(m.w)": "105.0",
        "dy/d(m.more[0])": "70.0",
        "dy/d(params['w'])": "42.0",
        "dy/d(ws[0])": "30.0",
    } == gradients(report)
    assert "variable" == role(report, "m.w")


def test_names_that_the_cell_uses_are_preferred(run: Run) -> None:
    """A Variable in two lists goes by the one in the cell."""
    run("a = [tm.Variable(3.0)]\nb = [[a[0]]]")

    assert {"dy/d(b[0][0])": "6.0"} == gradients(run("%%tape\ny = b[0][0] ** 2"))
    assert {"dy/d(a[0])": "6.0"} == gradients(run("%%tape\nf = lambda: a[0] ** 2\ny = f()"))


def test_a_variable_of_nobody(run: Run) -> None:
    """A Variable that nothing in the notebook holds keeps its own name."""
    run("def f(w=tm.Variable(3.0)): return w * w")

    assert {"dy/dVariable": "6.0"} == gradients(run("%%tape\ny = f()"))


def test_no_property_is_evaluated() -> None:
    """Looking for tensors runs none of the user's code, and ends in circles and in long lists."""

    class Curious:
        def __init__(self) -> None:
            self.w, self.me = Variable(1.0), self

        @property
        def never(self) -> Any:
            raise AssertionError

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    deep: Any = Variable(1.0)
    for _ in range(9):
        deep = [deep]
    held = [("c", Curious()), ("long", [0.0] * 10**6), ("deep", deep), ("np", np), ("t", Curious)]

    assert ["c.w"] == [name for name, _ in tensors(held)]


def test_fields_of_named_tuples() -> None:
    """A named tuple's parts go by their names."""
    assert ["r.eigenvalues"] == [
        name
        for name, _ in tensors(
            [("r", np.linalg.eigh(np.eye(2))._replace(eigenvalues=Variable(1.0)))]
        )
    ]
