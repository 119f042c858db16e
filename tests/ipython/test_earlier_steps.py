"""A nan or inf says where it began one step earlier, and what to write instead: that gives finite gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Run = Callable[[str], Any]
Z = "z = np.array([0.0, 900.0, 3.0])"

STEPS = [
    ("x = np.array([-800.0, 1.0])", "%%tape x\na = x * 1.0\ne = np.exp(a)\ny = np.sum(np.log(e))",
     ("e[0] is 0 because exp(a[0]) on line 3 underflowed: its value is too small for float64 (a[0] = -800.0). "
     "log undoes exp: write a instead of log(exp(a))."),
     "%%tape x\na = x * 1.0\ny = np.sum(a)"),
    (Z, "%%tape z\np = tm.softmax(z)\ny = -np.log(p[0])",
     ("p[0] is 0 because softmax(z) on line 2 underflowed: its value is too small for float64 (z = [0.0, 900.0, 3.0]). "
     "Write tapemagic.log_softmax(z) instead of the log of softmax, or give the logits to a loss with "
     "from_logits=True."),
     "%%tape z\ny = -tm.log_softmax(z)[0]"),
    (Z, "%%tape z\np = tm.softmax(z).reshape(1, 3)\ny = -np.log(p[0, 2])",
     "p[0, 2] is 0 because softmax(z) on line 2 underflowed",
     "%%tape z\ny = -tm.log_softmax(z)[2]"),
    (Z, "%%tape z\ny = np.log(np.sum(np.exp(z)))",
     "exp(z[1]) on line 2 is too large for float64 (z[1] = 900.0). Write tapemagic.logsumexp(z).",
     "%%tape z\ny = tm.logsumexp(z)"),
    ("z = np.array([-900.0, -1000.0])", "%%tape z\ny = np.log(np.sum(np.exp(z)))",
     ("is 0 because exp(z[0]) on line 2 underflowed: its value is too small for float64 (z[0] = -900.0). "
     "Write tapemagic.logsumexp(z)."),
     "%%tape z\ny = tm.logsumexp(z)"),
    (Z, "%%tape z\np = np.exp(z) / np.sum(np.exp(z))\ny = np.sum(p * np.arange(3))", "Write tapemagic.softmax(z).",
     "%%tape z\np = tm.softmax(z)\ny = np.sum(p * np.arange(3))"),
    (Z, "%%tape z\ne = np.exp(z)\np = e / np.sum(e)\ny = np.sum(p * np.arange(3))", "Write tapemagic.softmax(z).",
     "%%tape z\np = tm.softmax(z)\ny = np.sum(p * np.arange(3))"),
    ("z = -900.0", "%%tape z\ns = tm.sigmoid(z)\ny = -np.log(s)",
     ("s is 0 because sigmoid(z) on line 2 underflowed: its value is too small for float64 (z = -900.0). "
     "Write tapemagic.log_sigmoid(z) instead of the log of sigmoid"),
     "%%tape z\ny = -tm.log_sigmoid(z)"),
    ("z = np.array([900.0, 50.0])", "%%tape z\np = tm.sigmoid(z)\ny = -np.mean(np.log(1 - p))",
     ("1 - p is 0 because sigmoid(z[0]) on line 2 was rounded to 1.0 (z[0] = 900.0). "
     "Write tapemagic.log_sigmoid(-z) instead of log(1 - sigmoid(z))"),
     "%%tape z\ny = -np.mean(tm.log_sigmoid(-z))"),
    ("z = np.array([0.5, 40.0])",
     "%%tape z\np = 1 / (1 + np.exp(-z))\ny = -np.mean(z * np.log(p) + np.log(1 - p))",
     ("log(1 - p) on line 3 is -inf (1 - p = 0.0). 1 - p is 0 because add on line 2 was rounded to 1.0 "
     "(np.exp(-z) = 4.24835e-18). Write tapemagic.log_sigmoid(-z) instead of log(1 - 1 / (1 + exp(-z)))"),
     "%%tape z\ny = -np.mean(z * tm.log_sigmoid(z) + tm.log_sigmoid(-z))"),
    ("z = -900.0", "%%tape z\ns = 1 / (1 + np.exp(-z))\ny = -np.log(s)",
     "Write tapemagic.sigmoid(z) instead of 1 / (1 + np.exp(-z)).", "%%tape z\ny = -tm.log_sigmoid(z)"),
    ("z = 900.0", "%%tape z\ny = np.log(1 + np.exp(z))",
     "Write np.logaddexp(0, z) instead of np.log(1 + np.exp(z)).", "%%tape z\ny = np.logaddexp(0, z)"),
    ("x = 1e-20", "%%tape x\na = 1 + x\nb = np.log(a)\ny = x / b",
     "b is 0 because add on line 2 was rounded to 1.0 (x = 1e-20). Write np.log1p(x) instead of the log of the sum.",
     "%%tape x\nb = np.log1p(x)\ny = x / b"),
    ("x = 1e-20", "%%tape x\na = np.exp(x)\ny = x / (a - 1)",
     "is 0 because exp(x) on line 2 was rounded to 1.0 (x = 1e-20). Write np.expm1(x) instead of np.exp(x) - 1.",
     "%%tape x\ny = x / np.expm1(x)"),
    ("p = np.full(200, 1e-3)", "%%tape p\nq = np.prod(p)\ny = -np.log(q)",
     ("q is 0 because prod(p) on line 2 underflowed: its value is too small for float64 (p = 200 elements, all 0.001). "
     "Write np.sum(np.log(p)) instead of the log of the product."),
     "%%tape p\ny = -np.sum(np.log(p))"),
    ("x = 2.0", "%%tape x\nu = np.exp(-800 * x)\nv = u * 3\ny = np.log(v)",
     ("v is 0 because exp(-800 * x) on line 2 underflowed: its value is too small for float64 (-800 * x = -1600.0). "
     "Compute with logarithms: the log of a product is the sum of the logs."),
     "%%tape x\ny = -800 * x + np.log(3)"),
]  # fmt: skip
"""The data, a cell, words of its verdict, and a cell that obeys it."""


def verdict(report: Any) -> str:
    """The first sentence of a verdict."""
    return str(report.findings.verdict[0].text)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("data", "faulty", "words", "right"), STEPS)
def test_the_step_before(run: Run, data: str, faulty: str, words: str, right: str) -> None:
    """The sentence names the step, and its advice gives finite values and gradients."""
    run(data)
    before = verdict(run(faulty))
    run(data)
    report = run(right)
    name = faulty.split("\n", maxsplit=1)[0].split()[1]

    assert words in before
    assert before.endswith("Ignore its gradients.")
    assert not report.findings.nonfinite
    gradient = run(f"%gradient y {name}").numpy()
    assert np.all(np.isfinite(run("y").numpy()))
    assert np.all(np.isfinite(gradient))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("data", "cell", "words"),
    [
        ("x = -2.0", "u = x + 1\ny = np.sqrt(u)", "(u = -1.0). u comes from add on line 2 (x = -2.0). Ignore"),
        ("x = 0.0", "d = x * 2\ny = 1 / d", "(d = 0.0). d comes from multiply on line 2 (x = 0.0). Ignore"),
        ("x = 3.0", "d = x - 3\ny = d / d", "(d = 0.0). d comes from subtract on line 2 (x = 3.0). Ignore"),
        ("x = -800.0", "u = np.exp(x)\ny = np.sqrt(u)",
         "(line 3). u is 0 because exp(x) on line 2 underflowed: its value is too small for float64 (x = -800.0)."),
        ("x = -1.0", "y = np.log(x)", "(x = -1.0). Ignore its gradients."),
        # Neither the numerator, nor the 1 in the divisor, is a constant.
        ("x = 1.0", "p = x / (1 + np.exp(-40 * x))\ny = np.log(1 - p)", "(1 - p = 0.0). Ignore its gradients."),
        ("x = 0.0", "p = 1 / (np.exp(x) + np.exp(x - 40))\ny = np.log(1 - p)", "(np.exp(x) = 1.0 and np.exp(x - 40) ="),
        ("x = np.eye(2)", "m = x @ np.ones((2, 3))\ny = np.log(m - 1)", "m - 1"),
        ("x = np.eye(2)", "m = np.sum(x @ np.ones((2, 3)), axis=0)\ny = 1 / (m - 2)", "m - 2"),
        ("x = np.arange(6.0).reshape(2, 3)", "y = np.log(x.T @ np.zeros((2, 2)))", "on line 2 is -inf"),
        ("x = np.arange(6.0).reshape(2, 3)", "y = np.log(np.take(x, [0, 1]))", "on line 2 is -inf"),
        ("x = np.arange(3.0)", "y = np.log(np.concatenate([x, x])[[3, 4]])", "on line 2 is -inf"),
    ],
)  # fmt: skip
def test_other_steps(run: Run, data: str, cell: str, words: str) -> None:
    """The line of the operand, if it is another one; and shapes that don't correspond."""
    run(data)

    assert words in verdict(run(f"%%tape x\n{cell}"))
