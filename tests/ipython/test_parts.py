"""Values without a name of their own: the parts of lists, tuples, dicts and objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapemagic import Variable
from tapemagic.explain.parts import tensors
from tests.ipython.conftest import Run
from tests.ipython.test_watching import gradients, role
from tests.report.recordings import notes

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


@pytest.mark.parametrize("cell", ["ys = [x * i for i in range(30)]", "[x * i for i in range(30)]"])
def test_many_parts(run: Run, cell: str) -> None:
    """Of a long list the first ones are differentiated, and the report says so."""
    report = run(f"%%tape x\n{cell}")

    assert 10 == len(report.findings.derivatives)
    assert "only the first 10 of 30 values are differentiated" in notes(report.findings)


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
