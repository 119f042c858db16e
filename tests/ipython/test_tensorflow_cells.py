"""%%tape cells of programs with TensorFlow's names: values, graph, names and gradients are those of the tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ipython.conftest import Run


@pytest.fixture(autouse=True)
def _tensorflow(run: Run) -> None:
    """What each notebook begins with."""
    run("import tapemagic.tf as tf")


def rows(report: Any) -> dict[str, tuple[str, str]]:
    """The role and the dtype of each variable in a report."""
    return {row.name: (row.role, row.dtype) for row in report.findings.variables}


def gradients(report: Any) -> list[str]:
    """The lines of the text of a report that state derivatives."""
    return [line for line in str(report).splitlines() if line.startswith("d") and " = " in line]


def test_a_watched_constant(run: Run) -> None:
    """The first cell of three seeds."""
    run("x = tf.constant(3.0)")
    report = run("%%tape x\ny = x * x\nz = y * y")

    assert {
        "x": ("watched", "float32"),
        "y": ("computed", "float32"),
        "z": ("target", "float32"),
    } == rows(report)
    assert ["dz/dx = 108.0"] == gradients(report)


def test_variables_and_a_list_on_the_left(run: Run, variables: dict[str, Any]) -> None:
    """The first seed's weights, which the report names by the notebook's names."""
    run(
        "w = tf.Variable([[1., 2.], [3., 4.], [5., 6.]], name='w')\nb = tf.Variable(tf.zeros(2))\nx = [[1., 2., 3.]]"
    )
    report = run("%%tape\ny = x @ w + b\nloss = tf.reduce_mean(y**2)")
    run("[dl_dw, dl_db] = tape.gradient(loss, [w, b])")

    assert [
        "dloss/dw = [[22.0, 28.0], [44.0, 56.0], [66.0, 84.0]]",
        "dloss/db = [22.0, 28.0]",
    ] == gradients(report)
    assert {"EagerTensor"} == {
        type(variables[name]).__name__ for name in ("y", "loss", "dl_dw", "dl_db")
    }
    np.testing.assert_array_equal([22.0, 28.0], variables["dl_db"])


def test_variables_in_lists_and_modules_have_names(run: Run) -> None:
    """Without the ``:0`` that TensorFlow puts behind a name."""
    run(
        "class M(tf.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = tf.Variable([1., 2.])\n        self.b = tf.Variable(3., name='bias')\n"
        "m = M()\nws = [tf.Variable(1.0), tf.Variable(2.0, name='k')]"
    )
    report = run("%%tape\ny = ws[0] * ws[1] + tf.reduce_sum(m.a * m.b)")

    assert {"ws[0]", "k", "m.a", "bias", "y"} == set(rows(report))


def test_a_number_is_watched_as_float32(run: Run) -> None:
    """So that it may stand beside tensors; an array keeps its dtype."""
    run("x, a = 3.0, np.array([1.0, 2.0])")
    report = run("%%tape x\ny = x * tf.constant(2.0) + tf.math.log(x)")
    arrays = run("%%tape a\nz = tf.reduce_sum(a * tf.constant([1.0, 2.0], tf.float64))")

    assert ("watched", "float32") == rows(report)["x"]
    assert ("watched", "float64") == rows(arrays)["a"]


def test_a_tape_of_the_program_in_a_training_loop(run: Run) -> None:
    """The steps and the gradients that the program took are in the report."""
    run(
        "w, b = tf.Variable(0.0), tf.Variable(0.0)\nxs = tf.linspace(-1., 1., 20)\nys = 10 * xs + 5"
    )
    report = run(
        "%%tape -p\nfor step in range(5):\n    with tf.GradientTape() as t:\n"
        "        loss = tf.reduce_mean((w * xs + b - ys)**2)\n    dw, db = t.gradient(loss, [w, b])\n"
        "    w.assign_sub(0.1 * dw)\n    b.assign_sub(0.1 * db)"
    )

    assert "dw = dloss/dw = -5.42514, taken by t (line 5, the last of 5)" in str(report)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("y = tf.reduce_sum(tf.round(v))", "round between v and y changes in steps"),
        ("y = tf.reduce_sum(v.numpy() * u)", ".numpy() on line 2"),
        ("y = tf.stop_gradient(v)[0] * u", "stop_gradient"),
        ("y = tf.reduce_sum(tf.cast(v, tf.int32))", "v"),
    ],
)
def test_a_missing_gradient_has_its_reason(run: Run, cell: str, words: str) -> None:
    """In a program of TensorFlow's as in one of NumPy's."""
    run("v, u = tf.Variable([1.5, 2.5]), tf.Variable(2.0)")
    text = str(run(f"%%tape v u\n{cell}"))

    assert "dy/dv is None" in text or "dy/dv = None" in text
    assert words in text
