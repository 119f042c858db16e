"""What values are called after the cell that made them, and that listening changes nothing for the cell."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from tapemagic.ipython import names
from tests.ipython.conftest import Run

pytestmark = pytest.mark.thorough


@pytest.fixture(autouse=True)
def x(run: Run) -> None:
    """Every test here begins with a number."""
    run("x = 3.0")


def named(report: Any) -> dict[str, str]:
    """The names and texts of the values in the graph that have a name."""
    return {value.name: value.text for value in report.graph.values if value.name}


def rows(report: Any) -> dict[str, int | None]:
    """The names in the table of variables, with their lines."""
    return {row.name: row.line for row in report.findings.variables}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("y = x * 2", {"y": "6.0"}),
        ("a = b = x * 2\nc = a * 2", {"a": "6.0", "c": "12.0"}),
        ("a, b = x * 2, x * 3", {"a": "6.0", "b": "9.0"}),
        ("(a, [b, *c]) = x * 2, [x * 3, x * 4]", {"a": "6.0", "b": "9.0", "c[0]": "12.0"}),
        ("y: float = x * 2", {"y": "6.0"}),
        ("y: float\ny = x * 2", {"y": "6.0"}),
        ("y = x * 2\ny += x\ny *= x", {"y₁": "6.0", "y₂": "9.0", "y": "27.0"}),
        ("for i in range(3):\n    y = x * i", {"y₁": "0.0", "y₂": "3.0", "y": "6.0"}),
        ("for y in [x * 2, x * 3]:\n    pass", {"y₁": "6.0", "y": "9.0"}),
        ("for y in []:\n    pass\nelse:\n    w = x * 2", {"w": "6.0"}),
        ("n = 2\nwhile n:\n    y = x * n\n    n -= 1", {"y₁": "6.0", "y": "3.0"}),
        ("if (y := x * 2) > 100:\n    w = y", {"y": "6.0"}),
        ("while (y := x * 2) > 100:\n    pass", {"y": "6.0"}),
        ("w = (y := x * 2) + 1", {"y": "6.0", "w": "7.0"}),
        ("l = [y := x * i for i in (1, 2)]", {"y₁": "3.0", "y": "6.0"}),
        ("import contextlib\nwith contextlib.nullcontext(x * 2) as y:\n    w = y * 2", {"y": "6.0", "w": "12.0"}),
        ("try:\n    y = x * 2\n    1 / 0\nexcept ZeroDivisionError:\n    w = x * 3\nfinally:\n    u = x * 4",
         {"y": "6.0", "w": "9.0", "u": "12.0"}),
        ("match [x * 2, 1]:\n    case [y, 1]:\n        w = y * 2", {"y": "6.0", "w": "12.0"}),
        ("match [x * 2, x * 3]:\n    case [*y] if (w := y[0] + 1) > 0:\n        u = w * 2", {"w": "7.0", "u": "14.0"}),
        ("y = x * 2\nw = y", {"w": "6.0"}),
        ("y = x\ny = y * 2", {"y": "6.0"}),
        ("y = x * 2\nz = y * 2\ny = x", {"y₁": "6.0", "z": "12.0"}),
        ("y = x * 2\ndel y\nw = x * 3", {"y": "6.0", "w": "9.0"}),
        ("def f(u):\n    inner = u * 2\n    return inner\ny = f(x)", {"y": "6.0"}),
        ("f = lambda u: (inner := u * 2)\ny = f(x)", {"y": "6.0"}),
        ("class C:\n    inner = x * 2\ny = C.inner * 2", {"y": "12.0"}),
        ("y = [v * 2 for v in [x]][0]", {"y": "6.0"}),
        ("global y\ny = x * 2", {"y": "6.0"}),
    ],
)  # fmt: skip
def test_names(run: Run, cell: str, expected: dict[str, str]) -> None:
    """Values go by what the cell's top level calls them; what a name held before has a subscript."""
    found = named(run(f"%%tape x\n{cell}\npass"))

    assert {"x": "3.0"} | expected == found


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("y = x * table['size']", {"table['size']": "[50.0, 70.0]"}),
        ("y = table['size'].to_numpy() + x", {"table['size'].to_numpy()": "[50.0, 70.0]"}),
        ("y = x * k ** 2 + 1.5 * x - 2", {"k ** 2": "16.0"}),
        (
            "y = np.sum(np.outer(data[1:], x) / np.sqrt(k))",
            {"data[1:]": "[2.0, 3.0]", "sqrt(k)": "2.0"},
        ),
        (
            "i = 0\na = x * data[i]\ni = 1\ny = a * data[i]",
            {"data[i]": "1.0", "data[i] ": "2.0"},
        ),
        ("y = 0.5\nfor k in data[:1]:\n    y = y + x", {}),
        ("y = x.numpy() * x", {"x.numpy()": "3.0"}),
        ("y = x\ny *= data[2]", {"data[2]": "3.0"}),
        ("def f(z):\n    return z * data[0]\ny = f(x)", {"data[0]": "1.0"}),
        ("y = x * (data[0] + data[1] * data[2] + data[0] + data[1])", {}),
        ("y = np.sum(x * data)", {}),
        ("y = np.sum(x * np.array([[1.0, 2.0]]))", {}),
        ("y = np.sum(np.where(data > 1.5, x, 0.0))", {"data > 1.5": "[False, True, True]"}),
    ],
)
def test_constants(run: Run, cell: str, expected: dict[str, str]) -> None:
    """A constant without a name of its own is called what the cell writes, if that is short; each in its own box."""
    run(
        "import pandas as pd\ntable = pd.DataFrame({'size': [50.0, 70.0]})\nk, data = 4.0, np.array([1.0, 2.0, 3.0])"
    )
    report = run(f"%%tape x\n{cell}")
    constants = [value for value in report.graph.values if value.role == "constant"]
    written = [(value.symbol, value.text) for value in constants if value.symbol]

    assert written == [(name.strip(), text) for name, text in expected.items()]
    assert all(name.strip() in str(report) for name in expected)


def test_constants_in_formulas(run: Run) -> None:
    """They have brackets where they are operations."""
    run("k = 4.0")
    text = str(run("%%tape x\ny = x * (k - 1)\nz = y ** k + np.sin(x) * np.sqrt(k)"))

    assert "y = x · (k - 1) = 3.0 · 3.0 = 9.0" in text
    assert "· sqrt(k)" in text


def test_many_versions(run: Run) -> None:
    """Subscripts have as many digits as they need."""
    found = named(run("%%tape x\n" + "y = x * 2\n" * 12 + "pass"))

    assert ["y₉", "y₁₀", "y₁₁", "y"] == list(found)[-4:]


def test_lines(run: Run) -> None:
    """Every name has the line on which the cell assigned it last; what it only reads has none."""
    run("scale, n = np.array([2.0, 3.0]), 4")

    report = run(
        "%%tape x w\nw = 2.0\nc = np.ones(2)\ny = (\n    x * scale * c\n)\nfor i in range(3):\n    y = y * w**n"
    )

    assert {"w": 2, "x": None, "c": 3, "y": 8, "n": None, "scale": None} == rows(report)


def test_counters_are_no_variables(run: Run) -> None:
    """Whole numbers that a cell assigns are not in the table, unless they are to be watched."""
    found = rows(run("%%tape x k\nn, k, flag = 2, 3, True\nfor i in range(n):\n    y = x * i"))

    assert {"k": 2, "x": None, "y": 4} == found


def test_leading_blank_lines_count(run: Run) -> None:
    """Lines are counted as one sees them in the notebook."""
    assert {"x": None, "y": 5} == rows(run("%%tape x\n\n  \n\ny = x**2"))


def test_an_indented_cell(run: Run) -> None:
    """A cell that was pasted with its indentation runs, as in IPython."""
    assert {"x": None, "y": 2, "w": 3} == rows(run("%%tape x\n    y = x**2\n    w = y * 2"))


def test_what_is_made_of_no_numbers(run: Run) -> None:
    """Text and objects in arrays are no variables of calculus, and no hindrance."""
    run(
        "labels, things, days = np.array(['a']), np.array([None]), np.array(['2020-01-01'], 'M8[D]')"
    )

    report = run("%%tape x\nwords = labels\ny = x * len(words) * len(things) * len(days)")

    assert ["x", "y"] == list(rows(report))
    assert "6.0" not in repr(run("%tape x * len(labels)"))


def test_magic_lines(run: Run, variables: dict[str, Any]) -> None:
    """Lines with % and ! work in a cell, and keep the lines after them in place."""
    report = run("%%tape x\nwhere = %pwd\nfiles = !echo one\ny = x**2\n%tape y + 1\nw = y * 2")

    assert {"y": 4, "w": 6} == {name: line for name, line in rows(report).items() if name != "x"}
    assert ["one"] == list(variables["files"])
    assert "dw/dx = 12.0" in repr(report)


def test_functions_of_an_earlier_cell(run: Run) -> None:
    """A function that one %%tape cell defines works in another, and its lines are those of the call."""
    run("%%tape x\ndef double(u):\n    v = u * 2\n    return v\ny = double(x)")

    report = run("%%tape x\n\n\nw = double(x) + 1")

    assert "dw/dx = 2.0" in repr(report)
    assert {4} == {step.line for step in report.graph.steps}
    assert run("float(double(4.0))") == 8.0


def test_the_lines_of_operations(run: Run) -> None:
    """An operation inside a function has the line inside the function; a call from elsewhere has the caller's."""
    run("def outside(u):\n    return u * 2")

    report = run("%%tape x\ndef inside(u):\n    return u * 3\ny = inside(x)\nw = outside(y)")

    assert [3, 5] == [step.line for step in report.graph.steps]


def test_nothing_of_the_hook_stays(run: Run, variables: dict[str, Any]) -> None:
    """The notebook sees no trace of how names are heard of."""
    run("%%tape x\ny = x**2")

    assert names.HOOK not in variables
    assert "_tape" not in variables


def test_only_one_run(run: Run, variables: dict[str, Any]) -> None:
    """The body runs exactly once, its last expression included."""
    run("seen = []")

    run("%%tape x\nseen.append('body')\ny = x**2\nseen.append('end') or y")

    assert ["body", "end"] == variables["seen"]


def test_the_cell_is_an_ordinary_one(run: Run, variables: dict[str, Any]) -> None:
    """Futures, classes, globals, docstrings and generators mean what they always mean."""
    cell = '''%%tape x
"""A docstring."""
from __future__ import annotations
import math as m
class Thing:
    size: Undefined = 2
    def twice(self):
        global total
        total = 7
        return self.size * 2
y = Thing().twice() * x
def squares():
    for k in range(3):
        yield k * y
w = sum(squares())
'''
    assert "dw/dx = 12.0" in repr(run(cell))
    assert 7 == variables["total"]


CODE = """
a, (b, *c) = 1, (2, 3)
d[0] = e.f = 1
for g in h:
    i = 1
with j as k:
    pass
match l:
    case [m, *n]: pass
    case {"o": p, **q}: pass
    case r: pass
[(s := t) for u in v]
w = lambda x: (y := x)
def z(): aa = 1
"""


def test_assigned_and_read() -> None:
    """Names are found wherever the top level assigns them, and only there."""
    tree = ast.parse(CODE)

    assert {*"abcgikmnpqrsw"} == names.assigned_names(tree)
    assert {*"dehjltv"} == names.read_names(tree)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = sum([x * i for i in range(3)])", {"sum", "x", "range"}),
        ("[i for i in i]", {"i"}),
        ("[(i, j) for i in u for j in v]", {"u", "v"}),
        ("def f(data, *more, scale=one, **rest): return data * scale + u + sum(more)", {"one", "u", "sum"}),
        ("@decorated\ndef f(u: Kind) -> Result: return u", {"decorated", "Kind", "Result"}),
        ("h = lambda m: m * n", {"n"}),
        ("def f():\n    local = x\n    return local", {"x"}),
        ("def f():\n    global total\n    total = x\n    return total", {"x", "total"}),
        ("def f():\n    n = 1\n    def g():\n        nonlocal n\n        return n\n    return g", set()),
        ("def f():\n    import math as m\n    return m.sin(x)", {"x"}),
        ("def f():\n    try:\n        return x\n    except Bad as e:\n        return e", {"x", "Bad"}),
        ("class C:\n    size = q\n    twice = size * 2\n    def m(self): return self, size", {"q", "size"}),
        ("f'{x * 2}'", {"x"}),
        ("class C:\n    a = b = [k * m for k in n]\nC.a.append(b)", {"m", "n", "C", "b"}),
        ("async def f():\n    return [k async for k in u if v]", {"u", "v"}),
    ],
)  # fmt: skip
def test_what_a_function_calls_its_own_is_not_read(code: str, expected: set[str]) -> None:
    """Parameters, local names and those of comprehensions have nothing to do with the notebook's."""
    assert expected == names.read_names(ast.parse(code))


def test_a_warning_of_the_compiler_is_shown_once(run: Run) -> None:
    """A doubtful expression in a cell is reported as often as in a cell without the magic."""
    with pytest.warns(SyntaxWarning, match="is") as warned:
        run("%%tape x\ny = x * 2 if x is 3.0 else x * 3")

    assert 1 == len(warned)


def test_names_of_functions_are_not_in_the_table(run: Run) -> None:
    """A notebook's name that only a function calls something by is no constant of the cell."""
    run("i, data, u, scale = 7.0, 5.0, 1.5, 2.0")

    report = run(
        "%%tape x\ndef f(data): return data * scale\n"
        "y = sum([f(x) * i for i in range(3)]) + (lambda u: u)(x)"
    )

    assert ["x", "y", "scale"] == list(rows(report))


def test_the_target_of_a_loop_names_nothing_that_has_another_name(run: Run) -> None:
    """The parts of a list are called so, the last one too, to which the loop's name is still bound."""
    run(
        "from types import SimpleNamespace as Layer\nnet = [Layer(w=tm.Variable(k)) for k in (1.0, 2.0)]"
    )
    run("ws = [tm.Variable(1.0), tm.Variable(2.0)]")

    report = run("%%tape\ny = 0.0\nfor layer in net: y = y + layer.w**2")
    assert ["net[0].w", "net[1].w"] == list(rows(report))[:2]
    report = run("%%tape\ny = 0.0\nfor k, w in enumerate(ws): y = y + w**2")
    assert ["ws[0]", "ws[1], w"] == list(rows(report))[:2]
    report = run("%%tape\ny = 0.0\nfor w in [tm.Variable(3.0)]: y = y + w**2")
    assert "w" == next(iter(rows(report)))


@pytest.mark.parametrize(
    ("before", "cell", "expected"),
    [
        # TensorFlow's guide makes a tensor so. Both are x2 in the program, and both are in the report.
        ("", 'x2 = tm.Variable(2.0, name="x2") + 1.0\ny = x2 * 2', {"x2₁": 2.0, "x2": 2.0}),
        ("", 'y = tm.Variable(2.0, name="a") * 3', {"a": 3.0}),
        ("a = 7", 'y = tm.Variable(2.0, name="a") * 3', {"a₁": 3.0}),
        ("", 'y = tm.Variable(2.0, name="y") * 3', {"y₁": 3.0}),
        ("", 'y = tm.Variable(2.0, name="x") * x * tm.Variable(1.0, name="x")', {"x₁": 3.0, "x₂": 6.0}),
        ("", 'a = x * 2\na = a + 1\ny = tm.Variable(2.0, name="a") * a', {"a₂": 7.0, "a": 2.0}),
        ("w = [tm.Variable(2.0, name='x')]", "y = w[0] * x", {"w[0]": 3.0}),
        ("def f(v=tm.Variable(2.0, name='x')): return v * 3", "y = f() * x", {"x₁": 9.0}),
        ("from tapemagic import nn", 'y = np.sum(nn.Dense(1, name="y", dtype="float64")(np.ones((1, 2))))',
         {"y/kernel": "", "y/bias": ""}),
        ("from tapemagic import tf", 'y = tf.Variable(2.0, name="y") * tf.constant(4.0, name="c")', {"y₁": 4.0}),
        ("", "y = tm.Variable(2.0) * 3", {"Variable": 3.0}),
    ],
)  # fmt: skip
def test_names_that_variables_were_given(
    run: Run, before: str, cell: str, expected: dict[str, Any]
) -> None:
    """They are kept: a number tells them apart from another value that has the name in the notebook."""
    run(before or "pass")

    report = run(f"%%tape x -t y\n{cell}")

    found = {row.name: row.gradient for row in report.findings.variables}
    assert len(found) == len(report.findings.variables)
    for name, gradient in expected.items():
        assert name in found, sorted(found)
        if isinstance(gradient, float):
            assert gradient == pytest.approx(float(found[name].text)), name
