"""Reports of models: each layer is a box, which opens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.report.bundle import TapeReport
from tests.ipython.conftest import Run

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("any_size")]

MODEL = """
from tapemagic import nn
from tapemagic.nn.module import clear_names
clear_names()
nn.set_random_seed(0)
X = np.linspace(-1, 1, 12).reshape(4, 3)
Y = np.ones((4, 1))
model = nn.Sequential([nn.Dense(8, activation="relu"), nn.Dense(1)])
model.build((None, 3))
mse = nn.losses.MeanSquaredError()
"""
STEP = "%%tape\nloss = mse(Y, model(X))"
TRAINING = """%%tape
for step in range(30):
    with tm.GradientTape() as inner:
        loss = mse(Y, model(X))
    gradients = inner.gradient(loss, model.trainable_variables)
    for w, g in zip(model.trainable_variables, gradients):
        w.assign_sub(0.1 * g)"""


@pytest.fixture(autouse=True)
def model(run: Run) -> None:
    """Every test begins with a model and data."""
    run(MODEL)


def drawn(report: TapeReport, opened: dict[str, int] | None = None) -> list[str]:
    """The operations of a report's graph as it is drawn with some parts opened: out, out = name(in, in)."""
    graph = report._answers.details.view(opened or {}).graph  # type: ignore[union-attr]
    names = [value.name or value.symbol or value.text for value in graph.values]

    def joined(indices: Sequence[int]) -> str:
        return ", ".join(names[k] for k in indices)

    def shown(step: Any) -> str:
        around = ""
        frame = step.frame
        while frame is not None:
            around = f"{graph.frames[frame].label} > {around}"
            frame = graph.frames[frame].parent
        about = f" [{step.layer.about}; {step.layer.shapes}]" if step.layer else ""
        return f"{around}{joined(step.outputs)} = {step.name}({joined(step.inputs)}){about}"

    return list(map(shown, graph.steps))


IN = "sequential (Sequential, 41 parameters) > "


def test_the_first_picture(run: Run) -> None:
    """Input, layers and loss; the variables are inside of the boxes."""
    assert [
        f"{IN}v3 = dense(X) [Dense, 32 parameters; (4, 3) → (4, 8)]",
        f"{IN}v5 = dense_1(v3) [Dense, 9 parameters; (4, 8) → (4, 1)]",
        "loss = mean_squared_error(Y, v5) [MeanSquaredError; (4, 1), (4, 1) → ()]",
    ] == drawn(run(STEP))


def test_a_box_opens_and_closes(run: Run) -> None:
    """An opened layer shows its variables and operations; the model closes to one box."""
    report = run(STEP)

    inside = f"{IN}dense_1 (Dense, 9 parameters) > "
    opened = drawn(report, {"0.1": 1})
    assert [
        f"{inside}v4 = matmul(v3, dense_1/kernel)",
        f"{inside}v5 = add(v4, dense_1/bias)",
    ] == opened[1:3]
    assert (
        "v5 = sequential(X) [Sequential, 41 parameters; (4, 3) → (4, 1)]"
        == drawn(report, {"0": 0})[0]
    )
    assert drawn(report) == drawn(report, {"0.1": 0})


def test_texts(run: Run) -> None:
    """The trace has a row for each closed layer, with its result and the gradient that it passes back."""
    lines = str(run(STEP)).splitlines()

    start = lines.index("sequential (Sequential, 41 parameters): (4, 3) → (4, 1):")
    first, second, *_ = (line.partition("; ") for line in lines[start + 1 :])
    assert "  … dense (Dense, 32 parameters): (4, 3) → (4, 8)" == first[0]
    assert first[2].startswith("v3 = 4×8, ")
    assert "  … dense_1 (Dense, 9 parameters): (4, 8) → (4, 1)" == second[0]
    assert any(line.strip().startswith("v̄3 = 4×8") for line in lines[start:])
    assert any(line.split()[:2] == ["dense/kernel", "variable"] for line in lines)


def test_every_rendering(run: Run) -> None:
    """HTML, DOT and the words for screen readers have the layers; LaTeX, too."""
    report = run(STEP)
    bundle = report._repr_mimebundle_()

    assert "Dense, 32 parameters" in report.dot
    assert "(4, 3) → (4, 8)" in report.dot
    assert "dense(X)" in bundle["text/html"]
    tips = [each["tip"] for each in report.content()["view"]["operations"]]  # type: ignore[index]
    assert (
        "dense; Dense, 32 parameters; (4, 3) → (4, 8); line 2: loss = mse(Y, model(X))" == tips[0]
    )
    assert "Dense, 32 parameters" in bundle["text/latex"]


def test_the_trace_follows_the_graph(run: Run) -> None:
    """So do the steps: through a closed layer it is one each way, with what passes."""
    report = run(STEP)

    def words(opened: str) -> list[str]:
        return [step["words"] for step in report._answers.answer(f"view:{opened}")["steps"]]

    closed = [each for each in words("{}") if "dense_1 (Dense" in each]
    assert ["line 2: dense_1", "line 2: back through dense_1"] == [x.split(" (")[0] for x in closed]
    assert ": v5 = " in closed[0]
    assert ": <u style=text-decoration:overline>v3</u> = " in closed[1]
    opened = [each for each in words('{"0.1": 1}') if "v4" in each]
    assert "line 2: v4 = v3 @ (dense_1/kernel) = " == opened[0].partition("[")[0]


def test_a_training_loop(run: Run) -> None:
    """The loop is folded first; what it assigned leads into the layers of the last iteration."""
    report = run(TRAINING)
    graph = report.graph

    box, *_ = graph.steps
    names = [graph.steps[k].name for k in box.changed]
    assert "lines 4–7, iterations 1–29 of 30" == box.name
    assert ["dense", "dense_1"] == names
    assert not [value for value in graph.values if value.role == "variable"]
    assigned = [line for line in report.dot.splitlines() if ">assigned<" in line]
    assert any("-> s1 [" in line for line in assigned)
    kinds = [step.kind for step in graph.steps]
    assert ["loop", "layer", "layer", "layer", "derivative"] == kinds[:5]


def test_a_model_in_a_model(run: Run) -> None:
    """The outermost one is open at first; those in it open one level at a time."""
    run('inner = nn.Sequential([nn.Dense(2), nn.Dense(3)], name="inner")')
    run("outer = nn.Sequential([inner, nn.Dense(1)], name='outer')\nouter.build((None, 3))")
    report = run("%%tape\nloss = mse(Y, outer(X))")

    names = [line.partition(" = ")[2].partition("(")[0] for line in drawn(report)]
    assert ["inner", "dense_4", "mean_squared_error"] == names
    once = drawn(report, {"0.0": 1})
    assert ["dense_2", "dense_3"] == [x.partition(" = ")[2].partition("(")[0] for x in once[:2]]
    assert once[0].startswith("outer (Sequential, ")
    assert " > inner (Sequential, 17 parameters) > " in once[0]


def test_a_large_model_is_one_box(run: Run) -> None:
    """It opens to its first layers and its last, and one box for those between; no variable is drawn."""
    run(
        "deep = nn.Sequential([nn.Dense(3) for _ in range(50)], name='deep')\ndeep.build((None, 3))"
    )
    report = run("%%tape\nloss = np.sum(deep(X))")

    assert ["deep", "sum"] == [step.name for step in report.graph.steps]
    opened = report._answers.details.view({"0": 1}).graph
    assert ["layer"] * 6 + ["elided"] + ["layer"] * 6 == [step.kind for step in opened.steps[:-1]]
    assert not [value for value in opened.values if value.role == "variable"]


OWN = """%%tape
class Own(nn.Layer):
    def build(self, shape):
        self.scale = self.add_weight((), "ones", name="scale")
    def call(self, x):
        for k in range(9):
            x = np.sin(x * self.scale)
        return x
own = Own()
y = np.sum(own(X))"""


def test_a_layer_of_ones_own(run: Run) -> None:
    """Its method is no call beside it, and its loops fold; its lines are those of the cell."""
    report = run(OWN)

    assert "v18 = own(X) [Own, 1 parameter; (4, 3) → (4, 3)]" == drawn(report)[0]
    opened = drawn(report, {"0": 1})
    assert opened[0].startswith("own (Own, 1 parameter) > v16 = line 7, iterations 1–8 of 9(")
    assert {"own (Own, 1 parameter)", "line 7: iteration 9 of 9"} == {
        each for line in opened for each in line.split(" > ")[:-1]
    }


def test_loops_over_layers(run: Run) -> None:
    """Different layers, one each time, are a stack; the same one again and again is a loop."""
    run("layers = [nn.Dense(3) for _ in range(6)]\nfor layer in layers: layer.build((None, 3))")
    stack = run("%%tape\nh = X\nfor layer in layers:\n    h = layer(h)\ny = np.sum(h)")
    again = run("%%tape\nh = X\nfor k in range(6):\n    h = layers[0](h)\ny = np.sum(h)")

    assert ["layer"] * 6 == [step.kind for step in stack.graph.steps[:-1]]
    assert ["loop", "layer"] == [step.kind for step in again.graph.steps[:-1]]


def test_inputs_that_are_watched(run: Run) -> None:
    """A watched tensor, or a variable, that a layer is given has a box of its own."""
    watched = run("%%tape V\nV = np.ones((2, 3), 'float32')\ny = np.sum(model(V))")
    given = run("%%tape\nV = tm.Variable(np.ones((2, 3), 'float32'))\ny = np.sum(model(V))")

    for report in (watched, given):
        assert drawn(report)[0].startswith(f"{IN}v3 = dense(V) ")
        assert ["V"] == [value.name for value in report.graph.values if value.index == 0]


def test_a_variable_that_others_read(run: Run) -> None:
    """A kernel in a penalty is no longer inside of its layer alone."""
    kernel = "model.layers[0].kernel"
    report = run(f"%%tape\ny = np.sum(model(X)) + np.sum({kernel} ** 2)")

    assert drawn(report)[0].startswith(f"{IN}v3 = dense(X, dense/kernel)")


def test_second_derivatives(run: Run) -> None:
    """The operations of the report's own derivatives are in no layer."""
    run(
        "class Cube(nn.Layer):\n    def call(self, x): return x * x * x\ncube = Cube(dtype='float64')"
    )
    report = run("%%tape -o 2 x\nx = 2.0\ny = cube(x)")

    assert "d²y/dx² = 12.0" in str(report)
    assert "layer" == report.graph.steps[0].kind
    assert all(step.layer is None for step in report.graph.steps[1:])


ENDS = """class Ends(nn.Layer):
    def call(self, x):
        return {"low": np.min(x), "high": np.max(x)}
ends = Ends()(model(X))
y = ends["low"] * ends["high"]"""
PARTS = """class Parts(nn.Layer):
    def call(self, x):
        yield np.sin(x)
        yield np.cos(x)
y = sum(np.sum(part * model(X)) for part in Parts()(X))"""
STOPPED = """def f(x):
    with tape.stop_recording():
        c = model(x)
    return c * np.sum(model(x))
y = np.sum(f(X))"""
RAISED = """try:
    model(np.ones((2, 2)))
except ValueError:
    pass
y = np.sum(model(X))"""
RECOMPUTED = """f = tm.recompute_grad(model.layers[1])
with tm.GradientTape() as t:
    y = np.sum(f(model.layers[0](X)))
g = t.gradient(y, model.trainable_variables)"""
SAME = """class Same(nn.Layer):
    def call(self, x):
        return x
y = np.sum(Same()(model(Same()(X))))"""
EMPTY = "y = np.sum(model(np.zeros((0, 3))))"


@pytest.mark.parametrize("source", [ENDS, PARTS, STOPPED, RAISED, RECOMPUTED, SAME, EMPTY])
def test_whatever_happens_in_a_layer(run: Run, source: str) -> None:
    """Every operation is drawn once, and every view can be asked for."""
    report = run(f"%%tape\n{source}")
    details = report._answers.details

    whole = report.findings.tabs["graph"].drawn_operations
    keys = {step.fold for step in report.graph.steps if step.kind == "layer"}
    for key in sorted(keys):
        graph = details.view({key: 1}).graph
        assert whole == sum(step.elided or 1 for step in graph.steps)


def test_a_thread(run: Run) -> None:
    """A layer that is called on another thread, in a copy of the context, has a box of its own."""
    report = run(
        "%%tape\nimport contextvars, threading\ncopied, found = contextvars.copy_context(), []\n"
        "work = lambda: found.append(model(X))\n"
        "thread = threading.Thread(target=copied.run, args=(work,))\nthread.start()\nthread.join()\n"
        "y = np.sum(found[0])"
    )

    assert ["dense", "dense_1", "sum"] == [step.name for step in report.graph.steps]


def test_a_layer_that_fails(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """The report of the error shows the layer that did not return, with what it was given."""
    shell.run_cell(
        "class Bad(nn.Layer):\n    def call(self, x): return (x * 2) @ np.ones((7, 7))\nbad = Bad()"
    )
    shell.run_cell("%%tape\ny = bad(model(X))")

    shown = capsys.readouterr().out
    assert "… bad (Bad): (4, 1)" in shown


HOSTILE = '<b>"\\n{}|<>$x_1$ &amp; \\u202e' + "long " * 99


def test_hostile_names(run: Run) -> None:
    """Names are the user's: escaped everywhere, in one line, and cut."""
    run(
        f"class Evil(nn.Layer):\n    def call(self, x): return x * 2\nEvil.__name__ = evil = {HOSTILE!r}"
    )
    run("layer = Evil(name=evil)")
    report = run("%%tape\ny = np.sum(nn.Sequential([nn.Dense(2), layer], name=evil)(X))")

    bundle = report._repr_mimebundle_()
    assert report.drawing.picture is not None
    assert '<b>"' not in bundle["text/html"]
    step = next(step for step in report.graph.steps if step.name.startswith("<b>"))
    assert len(step.layer.name) <= 60
    assert "\n" not in str(step.layer)
    assert "\u202e" not in str(report)


def test_the_relu_of_a_layer(run: Run) -> None:
    """Dead units are counted layer by layer, though all are computed by the same line."""
    run(
        "dead = nn.Dense(4, activation='relu', bias_initializer=lambda shape, dtype: np.full(shape, -99.0, dtype))\n"
        "net = nn.Sequential([nn.Dense(4, activation='relu', bias_initializer='ones'), dead, nn.Dense(1)])"
    )
    report = run(TRAINING.replace("model", "net"))

    assert "dead relu in dense_3 on line 4: 4 of 4 units" in str(report)


def test_the_layer_of_a_nan(run: Run) -> None:
    """The sentence on the first nan names the layer: the line only calls the model."""
    run("log = nn.Sequential([nn.Activation(np.log, name='logarithm')])")
    with np.errstate(invalid="ignore"):
        report = run("%%tape\ny = np.sum(log(model(X) - 9.0))")

    assert "y is nan because log in logarithm on line 2 is nan (" in str(report)


def test_fit(run: Run) -> None:
    """Epochs and steps are loops, which open to the layers of one step."""
    run('model.compile("sgd", mse)')
    report = run("%%tape\nhistory = model.fit(X, Y, batch_size=2, epochs=5, verbose=0)")

    labels = [frame.label for frame in report.graph.frames]
    steps = [
        "epoch",
        "loop: iteration 2 of 2",
        "train_step",
        "sequential (Sequential, 41 parameters)",
    ]
    assert ["fit", "loop: iteration 5 of 5", *steps] == labels
    assert ["dense", "dense_1"] == [
        step.layer.name for step in report.graph.steps if step.layer and step.frame == 5
    ]


def test_the_caption(run: Run) -> None:
    """It says that variables are inside where all are."""
    inside = "input shapes → output shapes; its variables are inside"
    both = run(STEP), run("%%tape\ny = np.sum(model(X)) + np.sum(model.layers[0].kernel)")

    assert [True, False] == [inside in report._repr_mimebundle_()["text/html"] for report in both]
