"""The operations of a cell as a tree of loops, calls and derivatives, and what is drawn of it."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.drawing.dot import screens
from tapemagic.engine.recording import Record
from tapemagic.ipython.magics import TapeMagics
from tapemagic.report.folding import Block, Part, fold
from tests.ipython.conftest import Run
from tests.ipython.live import asked, opening, shown

TRAINING = """
w = tm.Variable(1.0)
data = np.array([1.0, 2.0])
for step in range(5):
    with tm.GradientTape() as t:
        loss = np.mean((w * data - 3.0) ** 2)
    dw = t.gradient(loss, w)
    w.assign_sub(0.1 * dw)
"""


CUSTOM = """
w = tm.Variable(1.0)
@tm.custom_gradient
def f(a):
    def grad(g):
        return g * 2.0 * a
    return a * a, grad
for step in range(5):
    with tm.GradientTape() as t:
        loss = f(f(w))
    w.assign_sub(0.1 * t.gradient(loss, w))
"""
RECOMPUTED = """
w = tm.Variable(1.0)
@tm.recompute_grad
def f(a):
    return np.sin(a) * w
for step in range(5):
    with tm.GradientTape() as t:
        loss = f(w)
    w.assign_sub(0.1 * t.gradient(loss, w))
"""
MINIMIZED = """
from scipy.optimize import minimize
def f(a):
    return float(x * a[0] ** 2)
for start in range(3):
    minimize(f, [1.0 + start])
"""


def tree(shell: InteractiveShell, source: str, line: str = "x") -> str:
    """The tree of a cell: loops as n[...] with the first iteration, calls as name(...), derivatives as d(...)."""
    shell.user_ns["x"] = 2.0
    shell.run_cell(f"%%tape {line}\n{source}").raise_error()
    magics = next(x for x in shell.configurables if isinstance(x, TapeMagics))
    snapshot = magics.last.snapshot()

    def shown(part: Part) -> str:
        if not isinstance(part, Block):
            return str(Record._make(snapshot.records[part]).name)
        inner = " ".join(map(shown, part.parts))
        match part.kind:
            case "loop":
                return f"{len(part.parts)}[{shown(part.parts[0])}]"
            case "call":
                return f"{part.name}({inner})"
            case "derivative":
                return f"d{part.order}({len(part.parts)})"
        return inner

    return shown(fold(snapshot))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = x * 2\nz = np.sin(y)", "multiply sin"),
        ("y = x\nfor i in range(4):\n    y = np.sin(y) * 2\nz = y + 1", "4[sin multiply] add"),
        ("y = x\nfor i in range(4): y = y * y", "4[multiply]"),
        ("y = x\nfor i in range(1): y = y * y", "multiply"),
        ("y = x\nk = 0\nwhile k < 3:\n    y = y * y\n    k += 1", "3[multiply]"),
        (
            "y = x\nfor i in range(2):\n    y = y + 1\n    for j in range(3):\n        y = np.cos(y)\n    y = y * 2",
            "2[add 3[cos] multiply]",
        ),
        ("y = x\nfor i in range(4):\n    if i % 2:\n        y = y * 2\n    y = np.sin(y)", "4[sin]"),
        ("y = x\nfor i in range(9):\n    y = y * 2\n    if i == 2: break\n    y = y + 1", "3[multiply add]"),
        ("y = x\nfor i in range(3):\n    y = y * 2\n    if i: continue\n    y = y + 1", "3[multiply add]"),
        ("y = sum([x * k for k in range(3)])", "3[multiply] 3[add]"),
        ("y = sum(x * k for k in range(3))", "3[multiply add]"),
        ("y = x\nfor k in range(3):\n    y = sum([y, x, y]) * 2.0", "3[3[add] multiply]"),
        ("f = lambda a: a * 2\ny = f(f(x))", "multiply multiply"),
        ("def f(a):\n    return np.sin(a) * 2\ny = f(f(x))", "f(sin multiply) f(sin multiply)"),
        (
            "def g(a): return a * a\ndef f(a):\n    for k in range(2): a = g(a)\n    return a\ny = f(x) + 1",
            "f(2[g(multiply)]) add",
        ),
        ("def f(a, n): return f(a * 2, n - 1) if n else a\ny = f(x, 3)", "f(multiply multiply multiply)"),
        ("y = np.std(np.stack([x, x + 1]))\ny * 2", "add stack std multiply"),
        (TRAINING, "5[multiply subtract power mean d1(5) multiply read]"),
        ("with tm.GradientTape() as g:\n    g.watch(x)\n    y = x ** 3\ndy = g.gradient(y, x)", "power d1(3)"),
    ],
)  # fmt: skip
def test_trees(shell: InteractiveShell, source: str, expected: str) -> None:
    """Every loop, however it is written, and every call of a function of the user's own."""
    assert expected == tree(shell, source)


@pytest.mark.parametrize(("source", "count"), [(CUSTOM, 5), (RECOMPUTED, 5), (MINIMIZED, 3)])
def test_code_that_a_library_calls_is_no_iteration(
    shell: InteractiveShell, source: str, count: int
) -> None:
    """One instruction may record before, in and after your function: still, it ran once in each iteration."""
    assert tree(shell, source).startswith(f"{count}[")


def test_a_function_of_an_earlier_cell(shell: InteractiveShell) -> None:
    """Its loops are seen as well."""
    shell.run_cell("def f(a):\n    for k in range(3):\n        a = np.sin(a) + 1\n    return a")

    assert "f(3[sin add])" == tree(shell, "y = f(x)")


def test_no_frames_are_kept(shell: InteractiveShell) -> None:
    """What a function of the cell held is free when the cell has run."""
    source = (
        "import weakref\nclass Big: pass\nrefs = []\n"
        "def f(a):\n    big = Big()\n    refs.append(weakref.ref(big))\n    return a * 2\ny = f(x)"
    )
    tree(shell, source)

    assert shell.user_ns["refs"][0]() is None


def drawn(shell: InteractiveShell, source: str, line: str = "x") -> Any:
    """The graph of a cell."""
    shell.user_ns["x"] = 2.0
    result = shell.run_cell(f"%%tape {line}\n{source}")
    result.raise_error()
    return result.result.graph


@pytest.mark.usefixtures("any_size")
def test_a_long_loop_is_one_box_and_its_last_iteration(shell: InteractiveShell) -> None:
    """The box has what goes in, what comes out, and how the carried value develops."""
    graph = drawn(shell, "y = x\nfor i in range(100):\n    y = np.sin(y) * 1.1\ny")

    box, *last = graph.steps
    assert ("line 4, iterations 1–99 of 100", 198, (1, 99, 100)) == (
        box.name,
        box.elided,
        box.iterations,
    )
    assert ["x"] == [graph.values[i].name for i in box.inputs]
    assert ["y₉₉"] == [graph.values[i].name for i in box.outputs]
    assert ["sin", "multiply"] == [step.name for step in last]
    assert ["line 4: iteration 100 of 100"] == [frame.label for frame in graph.frames]
    [carried] = box.carried
    assert ("y", 99) == (carried.name, carried.values.count)
    assert carried.values.values[0] == pytest.approx(1.00023, rel=1e-5)
    assert carried.gradients.values[-1] == pytest.approx(float(graph.values[1].gradient), rel=1e-5)


@pytest.mark.usefixtures("any_size")
def test_a_short_loop_is_drawn_whole(shell: InteractiveShell) -> None:
    """Each iteration in a frame."""
    graph = drawn(shell, "y = x\nfor i in range(3):\n    y = y * y + 1\ny")

    assert ["multiply", "add"] * 3 == [step.name for step in graph.steps]
    assert [f"line 4: iteration {k} of 3" for k in (1, 2, 3)] == [x.label for x in graph.frames]


@pytest.mark.usefixtures("any_size")
def test_a_training_loop(shell: InteractiveShell) -> None:
    """The variable goes in as it was first; what the loop assigned hangs on the box by an edge of its own."""
    graph = drawn(shell, TRAINING, "-t loss")

    box = graph.steps[0]
    assert ["w₁"] == [graph.values[i].name for i in box.inputs]
    assert ["w₅"] == [graph.values[i].name for i in box.assigned]
    assert {"w", "loss"} <= {carried.name for carried in box.carried}
    assert any(frame.label.startswith("gradient of loss") for frame in graph.frames)


def test_functions_fold_when_the_picture_is_large(shell: InteractiveShell) -> None:
    """Small ones are frames, and many are boxes with their names."""
    function = "def relu(a):\n    return np.maximum(a * 1.0, 0.0)\n"

    small = drawn(shell, f"{function}y = relu(x)")
    large = drawn(shell, f"{function}y = " + "relu(" * 12 + "x" + ")" * 12)

    assert ["relu"] == [frame.label for frame in small.frames]
    assert {"relu"} == {step.name for step in large.steps}
    assert {"call"} == {step.kind for step in large.steps}


@pytest.mark.filterwarnings("ignore")
def test_nan_in_a_folded_loop(shell: InteractiveShell) -> None:
    """The box of the loop is marked; the operations behind it are not to blame."""
    graph = drawn(shell, "y = x\nfor i in range(100):\n    y = np.log(y) + i % 2\ny")

    assert ["line 4, iterations 1–99 of 100"] == [step.name for step in graph.steps if step.bad]
    assert [] == [value.name for value in graph.values if value.bad]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_every_picture_is_small(shell: InteractiveShell, order: int) -> None:
    """Whatever was recorded."""
    source = "y = x\nfor i in range(40):\n    y = np.sin(y) * x\n    y = np.exp(-y) / 3 + x\ny"

    graph = drawn(shell, source, f"x -o {order}")

    assert graph.nodes <= 60
    named = {value.name for value in graph.values}
    assert {"x", "y"} | ({"dy/dx"} if order > 1 else set()) <= named


NETWORK = """
h = np.tanh(X @ W1 + b1)
p = 1 / (1 + np.exp(-(h @ W2 + b2)))
loss = -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))
"""
INPUTS = """
rng = np.random.default_rng(0)
X, t = rng.normal(size=(20, 2)), np.ones((20, 1))
W1, b1 = tm.Variable(rng.normal(size=(2, 8)), name="W1"), tm.Variable(np.zeros(8), name="b1")
W2, b2 = tm.Variable(rng.normal(size=(8, 1)), name="W2"), tm.Variable(np.zeros(1), name="b2")
"""


def test_statements_of_a_network(run: Run) -> None:
    """What no screen has room for is a box for each statement, with its formula; each opens."""
    run(INPUTS)
    report = run(f"%%tape{NETWORK}")

    assert [(step.kind, step.name) for step in report.graph.steps] == [
        ("statement", "h = tanh(X @ W1 + b1)"),
        ("statement", "p = 1 / (1 + exp(-(h @ W2 + b2)))"),
        ("statement", "loss = -mean(t * log(p) + (1 - t) * log(1 - p))"),
    ]
    assert screens(report.graph) >= 3
    widget = shown(report)
    opened = asked(widget, opening({report.graph.steps[0].fold: 1}))
    assert [x["name"] for x in opened["operations"]][:3] == ["matmul", "add", "tanh"]
    assert [x["label"] for x in opened["frames"]] == ["h = tanh(X @ W1 + b1)"]


def test_operands_of_a_statement(run: Run) -> None:
    """One statement that is too large is drawn as its last operations, on boxes for their operands."""
    run("x, y = -1.2, 1.0")
    graph = run("%%tape x y\nf = (1 - x)**2 + 100 * (y - x**2)**2").graph

    names = ["(1 - x) ** 2", "100 * (y - x ** 2) ** 2", "add"]
    assert names == [step.name for step in graph.steps]
    assert [1] == [len(step.outputs) for step in graph.steps[-1:]]


def test_nested_tapes_are_a_chain(run: Run) -> None:
    """A folded derivative follows the value that it is of: height, velocity, acceleration."""
    run("t = 1.5")
    report = run(
        "%%tape t\nwith tm.GradientTape() as outer, tm.GradientTape() as inner:\n    outer.watch(t)\n"
        "    inner.watch(t)\n    height = 20.0 + 3.0 * t - 4.905 * t ** 2\n    velocity = inner.gradient(height, t)\n"
        "acceleration = outer.gradient(velocity, t)"
    )
    names = [value.name for value in report.graph.values]
    derivatives = {step.name: step for step in report.graph.steps if step.kind == "derivative"}

    assert [names[i] for i in derivatives["gradient of height"].goals] == ["height"]
    assert [names[i] for i in derivatives["gradient of velocity"].goals] == ["velocity"]
    height, fold = names.index("height"), derivatives["gradient of height"].index
    [edge] = [line for line in report.dot.splitlines() if f"n{height} -> s{fold}" in line]
    assert "style=dashed" in edge
    assert screens(report.graph) == 4


def test_small_graphs_stay_open(run: Run) -> None:
    """A statement that a screen has room for is drawn operation by operation."""
    run("x = 2.0")
    assert {"operation"} == {step.kind for step in run("%%tape x\ny = x * np.sin(x)").graph.steps}


def test_trace_of_folded_statements(run: Run) -> None:
    """The table has a row for each operation, whatever the picture folds."""
    run(INPUTS)
    trace = repr(run(f"%%tape{NETWORK}"))

    assert "v1 = X @ W1 = " in trace
    assert "h = tanh(v2) = " in trace
