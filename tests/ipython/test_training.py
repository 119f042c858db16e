"""The training face of a %%tape cell."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tapemagic.explain.formatting import format_entries
from tapemagic.report.tabs.training.find_training import Training
from tests.ipython.conftest import Run
from tests.ipython.live import asked, content, opening, shown

STEP = """
    with tm.GradientTape() as mine:
        loss = (w - 3.0) ** 2
    w.assign_sub(0.1 * mine.gradient(loss, w))"""

PROGRAMS = {
    "top level": f"for k in range(20):{STEP}",
    "function": "def train():\n    for k in range(20):"
    + STEP.replace("\n", "\n    ")
    + "\n    return loss\nfinal = train()",
    "own tape": "for k in range(20):\n    loss = (w - 3.0) ** 2\n    w.assign_sub(0.1 * tape.gradient(loss, w))",
    "epochs": "for epoch in range(4):\n  for k in range(5):" + STEP,
    "two calls a step": "v = tm.Variable(1.0)\nfor k in range(20):\n    loss = (w - 3.0) ** 2 + v * 0.0\n"
    "    dw = tape.gradient(loss, w)\n    dv = tape.gradient(loss, v)\n    w.assign_sub(0.1 * dw)",
}


def trained(run: Run, program: str) -> Training:
    """What the report on a program with a Variable says of its training."""
    training: Training | None = run(f"%%tape -p\nw = tm.Variable(1.0)\n{program}").findings.training
    assert training is not None
    return training


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_way_to_write_a_loop(run: Run, name: str) -> None:
    """The steps are those of the program, in functions and nested loops, too."""
    training = trained(run, PROGRAMS[name])

    assert training.steps == 20
    assert training.loss.name == "loss"
    assert training.loss.values == pytest.approx([4.0 * 0.64**k for k in range(20)])
    assert training.gradients[0].values == pytest.approx([4.0 * 0.8**k for k in range(20)])


def test_gradients_by_hand(run: Run) -> None:
    """The loss is the target; the values of the Variables are known."""
    training = trained(
        run,
        "for k in range(4):\n    loss = (w - 3.0) ** 2\n    w.assign_sub(0.2 * (w.numpy() - 3.0))",
    )

    assert training.gradients == ()
    assert training.line == 4
    assert training.loss.values == pytest.approx([4.0 * 0.64**k for k in range(4)])
    assert [row[-1] for row in training.rows] == ["1.0", "1.4", "1.72", "1.976"]


def test_variables_stand_in_the_order_of_the_program(run: Run) -> None:
    """However large their gradients are."""
    training = trained(
        run,
        "v = tm.Variable(1.0)\nfor k in range(4):\n    loss = (w - 3.0) ** 2 + 100 * v**2\n"
        "    dw, dv = tape.gradient(loss, [w, v])\n    w.assign_sub(0.1 * dw)\n    v.assign_sub(0.001 * dv)",
    )

    assert training.headings == ("step", "loss", "|dloss/dw|", "|dloss/dv|", "w", "v")


def test_dead_units_have_a_name_and_a_line(run: Run) -> None:
    """Those of the cell."""
    training = trained(
        run,
        "x = np.ones((4, 2))\nv = tm.Variable(-np.ones((2, 3)))\nfor k in range(3):\n"
        "    h = np.maximum(0, x @ v)\n    loss = np.sum(h) + w * w\n"
        "    dw, dv = tape.gradient(loss, [w, v])\n    w.assign_sub(0.1 * dw)",
    )

    assert "dloss/dv is exactly 0.0 at every step" in training.flags
    assert training.flags[-1].startswith(
        "dead relu on line 6: 3 of 3 units of h gave 0 for all 4 examples each of the 3 times that it ran"
    )


def test_the_report_shows_it(run: Run) -> None:
    """As text and HTML."""
    bundle = run(f"%%tape\nw = tm.Variable(1.0)\n{PROGRAMS['top level']}")._repr_mimebundle_()

    assert (
        "20 steps, each a value of loss with its gradients, taken on line 6" in bundle["text/plain"]
    )
    assert "|dloss/dw| over 20 steps, from 4 to 0.0576461" in bundle["text/html"]


FIT = """from tapemagic import nn
x = np.linspace(-1, 1, 8)[:, None]
model = nn.Sequential([nn.Dense(3, activation="relu"), nn.Dropout(0.2), nn.Dense(1)])
model.compile("adam", "mse", metrics=["mae"])
"""


@pytest.mark.parametrize(
    "last", ["", "\nfinal = history.history['loss'][-1]", "\nmodel.evaluate(x, x, verbose=0)"]
)
def test_fit_alone(run: Run, last: str) -> None:
    """The target is the loss of the last step, and no comparison of a derivative rule is taken for one of the cell."""
    run(FIT)
    report = run(f"%%tape\nhistory = model.fit(x, x, batch_size=4, epochs=3, verbose=0){last}")

    training = report.findings.training
    assert training is not None
    assert training.steps == 6
    text = str(report)
    assert "differentiating loss" in text
    assert "dloss/d(dense" in text
    assert "np.greater" not in text


def test_a_loss_of_fit_beside_another_one(run: Run) -> None:
    """It has a name of its own."""
    run(FIT)
    report = run("%%tape\nloss = model.fit(x, x, verbose=0).history['loss'][-1]")

    assert "differentiating last loss" in str(report)


@pytest.mark.parametrize(
    "line", ["z = np.sum(model.predict(x, verbose=0))", "model.evaluate(x, x, verbose=0)"]
)
def test_a_model_that_is_given_a_watched_value(run: Run, line: str) -> None:
    """The methods that compute with plain arrays are the reason why there is nothing to differentiate."""
    run(FIT)
    report = run(f"%%tape x\n{line}")

    text = str(report)
    assert "model.fit(), evaluate() or predict() on line 2" in text
    assert "Call the model itself: model(x)" in text


LOOP = "%%tape\nfor k in range(200):" + STEP


def test_graph_of_a_training(run: Run) -> None:
    """Boxes and curves show the gradient of the loss of their own step; steps of descent have no line for one."""
    run("w = tm.Variable(1.0, name='w')")
    graph = run(LOOP).graph
    first = next(value for value in graph.values if value.name == "w₁")
    curve = next(x for step in graph.steps for x in step.carried if x.name == "w")

    assert first.gradient is None
    assert first.shown_gradient == "-4.0"
    assert curve.gradients is not None
    assert curve.gradients.steps[0] == 1
    assert curve.gradients.steps[-1] == 199
    assert curve.gradients.values[0] == pytest.approx(-4.0)
    assert curve.gradients.values[-1] == pytest.approx(-4.0 * 0.8**198)
    inner = [value for value in graph.values if value.role != "constant" and not value.order]
    assert None not in {value.shown_gradient for value in inner}


@pytest.mark.usefixtures("any_size")
def test_gradient_of_each_step_in_boxes(run: Run) -> None:
    """The iteration that is opened has the gradients that the program took in it, of arrays, too."""
    run("w = tm.Variable(np.array([1.0, -1.0]), name='w')")
    widget = shown(run(LOOP.replace("** 2", "** 2 @ np.ones(2)")))
    key = next(frame["fold"] for frame in content(widget)["view"]["frames"])
    boxes = {x["name"]: x for x in asked(widget, opening({key: 3}))["values"]}

    expected = 2 * 0.8**2 * (np.array([1.0, -1.0]) - 3.0)
    assert boxes["w₃"]["gradient"] == format_entries(expected)


def test_trace_of_a_training(run: Run) -> None:
    """No adjoint is None for a value whose gradient a step took, and the tables leave gradients' gradients out."""
    run("w = tm.Variable(1.0, name='w')")
    text = repr(
        run(
            LOOP.replace("mine.gradient(loss, w))", "g)").replace(
                "w.assign", "g = mine.gradient(loss, w)\n    w.assign"
            )
        )
    )

    assert "None" not in text


def test_training_opens_first(run: Run) -> None:
    """A cell that trains shows its training, unless the setting says otherwise."""
    run("w = tm.Variable(1.0, name='w')")
    assert content(shown(run(LOOP)))["first"] == "Training"
    run("%config TapeMagics.first_tab = 'Gradients'")
    assert content(shown(run(LOOP)))["first"] == "Gradients"


DATA = (
    "rng = np.random.default_rng(0)\nX = rng.normal(size=(30, 2))\nT = X @ [1.0, 2.0] + 1\n"
    "W, b = tm.Variable([0.5, 0.2], name='W'), tm.Variable(0.1, name='b')\n"
    "def loss_at(W, b):\n    return np.mean((X @ W + b - T) ** 2)"
)
STEP = (
    "    with tm.GradientTape() as tape:\n        loss = loss_at(W, b)\n"
    "    dW, db = tape.gradient(loss, [W, b])\n"
)
DESCENT = f"{STEP}    W.assign_sub(rate * dW)\n    b.assign_sub(rate * db)\n"


def about(report: Any) -> tuple[float, str]:
    """The predicted change of the loss, and the sentence that says it."""
    [said] = [line for line in repr(report).split("\n") if " by about " in line]
    match = re.search(r"(lower|raise|fall|rise)\S*( it| \S+ = \S+)? by about (\S+)", said)
    assert match
    return float(match[3]) * (-1 if match[1] in ("lower", "fall") else 1), said


@pytest.mark.parametrize(
    "update",
    [
        f"for _ in range(5):\n{DESCENT}",
        f"opt = nn.optimizers.Adam(rate)\nfor _ in range(5):\n{STEP}    opt.apply_gradients([(dW, W), (db, b)])",
        f"v = 0.0\nfor _ in range(5):\n{STEP}    v = 0.9 * v + dW.numpy()\n    W.assign_sub(rate * v)\n",
    ],
)
def test_the_last_step(run: Run, variables: dict[str, Any], update: str) -> None:
    """Its effect is predicted to second order in the step, for every optimizer."""
    run(f"from tapemagic import nn\n{DATA}")
    gaps = []
    for rate in (0.02, 0.01):
        run(f"rate = {rate}\nW.assign([0.5, 0.2]), b.assign(0.1)\nNone")
        report = run(f"%%tape\n{update}")
        predicted, said = about(report)
        after = float(run("loss_at(W.numpy(), b.numpy())"))
        gaps.append(after - float(variables["loss"]) - predicted)
        assert "was computed before the last step" in said
        assert abs(gaps[-1]) < 0.15 * abs(predicted)

    # The error is quadratic in the step, so half the step has a quarter of it, up to the three digits shown.
    assert gaps[1] < 0.4 * gaps[0] + 5e-3 * abs(predicted)


def test_rate_times_squared_gradient(run: Run) -> None:
    """A step of gradient descent is named with its rate."""
    run(f"rate = 0.1\n{DATA}")

    report = run(f"%%tape\nfor _ in range(3):\n{DESCENT}")
    predicted, said = about(report)

    squares = float(run("np.sum(dW.numpy() ** 2) + db.numpy() ** 2"))
    assert predicted == pytest.approx(-0.1 * squares, rel=5e-3)
    assert f"(≈ rate · |gradient|² = 0.1 · {squares:.3g})." in said


def test_other_optimizers_add_up_gradient_times_change(run: Run) -> None:
    """Their steps aren't the rate times the gradient."""
    run(f"from tapemagic import nn\n{DATA}\nopt = nn.optimizers.Adam(0.01)")

    report = run(f"%%tape\nfor _ in range(3):\n{STEP}    opt.apply_gradients([(dW, W), (db, b)])")

    assert "(gradient times change, added up over W and b)." in about(report)[1]


def test_a_loss_after_the_last_step(run: Run) -> None:
    """One more step like the last is predicted from there."""
    run(f"rate = 0.01\n{DATA}")
    report = run(f"%%tape -t end\nfor _ in range(3):\n{DESCENT}end = loss_at(W, b)")
    predicted, said = about(report)

    assert said.startswith("One more step like the last would lower end = ")
    assert said.endswith("(gradient times change, added up over W and b).")
    run("W.assign_sub(rate * dW), b.assign_sub(rate * db)\nNone")
    actual = float(run("loss_at(W.numpy(), b.numpy()) - end.numpy()"))
    assert actual == pytest.approx(predicted, rel=0.03)


def test_a_step_that_was_not_taken(run: Run) -> None:
    """Without a step, one of gradient descent is predicted, in Gradients."""
    run(DATA)
    report = run("%%tape\nloss = loss_at(W, b)")
    predicted, said = about(report)

    assert said.startswith("With a step of -0.01 · gradient in W and b, loss = ")
    before = float(run("loss.numpy()"))
    run(
        "with tm.GradientTape() as tape:\n    l = loss_at(W, b)\n"
        "dW, db = tape.gradient(l, [W, b])\nW.assign_sub(0.01 * dW), b.assign_sub(0.01 * db)\nNone"
    )
    actual = float(run("loss_at(W.numpy(), b.numpy())")) - before
    assert actual == pytest.approx(predicted, rel=0.03)


def test_a_steep_loss(run: Run) -> None:
    """The rate of an imagined step is small enough, and the estimate of a real one that is too long is doubted."""
    run("w = tm.Variable(3.0, name='w')")
    predicted, said = about(run("%%tape\nloss = (100 * w) ** 2"))
    actual = float(run("(100 * (w.numpy() - 1e-06 * 2e4 * w.numpy())) ** 2 - loss.numpy()"))

    assert said.startswith("With w.assign_sub(1e-06 * gradient), loss = 90000.0 would fall")
    assert actual == pytest.approx(predicted, rel=0.03)
    report = run(
        "%%tape\nwith tm.GradientTape() as tape:\n    loss = (100 * w) ** 2\n"
        "w.assign_sub(0.01 * tape.gradient(loss, w))"
    )
    assert "before the last step, which is too long for an estimate from the slope" in repr(report)
    assert "more than loss itself." in repr(report)


@pytest.mark.parametrize(
    "cell",
    [
        "%%tape x\nx = 2.0\ny = x**2",
        "%%tape\ny = X @ W + b",
        "%%tape\ny = np.sum(W) * np.inf",
        "%%tape\ny = np.sum((W - W.numpy()) ** 2)",
        "%%tape\ny = np.sum(W**2) + float(W[0])",
        "%%tape\ny = np.sum(W**2)\nW.assign([5.0, 5.0])\ny",
        f"%%tape -t first\nrate = 0.1\nfirst = loss_at(W, b)\nfor _ in range(3):\n{DESCENT}",
        "%%tape\ny = np.sum(W)\nW.assign([5.0, 5.0])\ny = y + np.sum(W)",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_no_step_is_known(run: Run, cell: str) -> None:
    """Nothing is said without Variables, numbers or a whole gradient, and of assignments that are no training."""
    run(DATA)

    assert " by about " not in repr(run(cell))
