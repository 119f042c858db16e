"""Shapes such as (4, 1) and (4,), which NumPy combines without an error: the verdict says so, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[[str], Any]
DATA = """\
X, labels = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([2.0, 4.0, 6.0, 9.0])
column, w = labels[:, None], tm.Variable([[2.0]], name='w')
v, batch = np.arange(3.0) + 1, np.ones((3, 3, 1))
def error(p, y): return np.mean((p - y) ** 2)"""


def warnings(report: Any) -> list[str]:
    """The warnings in a verdict."""
    return [said.text for said in report.findings.verdict if said.topic == "warning"]


COLUMNS = [
    ("p = X @ w\ny = np.mean((p - labels) ** 2)",
     ("p - labels on line 3 has the shape (4, 4): of shapes (4, 1) and (4,), NumPy combines every element of one with "
     "every element of the other. To combine one with one, write np.squeeze(p)."),
     "p = X @ w\ny = np.mean((np.squeeze(p) - labels) ** 2)"),
    ("p = X @ w\ny = np.mean((labels - p) ** 2)", "of shapes (4,) and (4, 1), NumPy combines",
     "p = X @ w\ny = np.mean((labels - np.squeeze(p)) ** 2)"),
    ("p = np.exp(X @ w * 0.1) + 1.0\ny = np.sum(np.multiply(p, labels))", "np.multiply(p, labels) on line 3 has",
     "p = np.exp(X @ w * 0.1) + 1.0\ny = np.sum(np.multiply(np.squeeze(p), labels))"),
    ("s = labels * w[0, 0] * X\ny = np.sum(s)", "labels * w[0, 0] * X on line 2 has the shape (4, 4)",
     "s = labels * w[0, 0] * np.squeeze(X)\ny = np.sum(s)"),
    ("y = np.sum((w[0, 0] * batch) * np.ones((3, 3)))", "line 2 has the shape (3, 3, 3)",
     "y = np.sum(np.squeeze(w[0, 0] * batch) * np.ones((3, 3)))"),
    ("y = error(X @ w, labels)", "p - y on line 2 has the shape (4, 4)", "y = error(np.squeeze(X @ w), labels)"),
    ("for i in range(3):\n    y = np.mean((X @ w - labels) ** 2)", "write np.squeeze(X @ w).",
     "for i in range(3):\n    y = np.mean((np.squeeze(X @ w) - labels) ** 2)"),
    ("y = np.sum((w[0, 0] * X + np.sin(X) + np.cos(X) + np.log(X)) * labels)", "apply np.squeeze to the one of (4, 1).",
     "y = np.sum(np.squeeze(w[0, 0] * X + np.sin(X) + np.cos(X) + np.log(X)) * labels)"),
]  # fmt: skip
"""A cell, words of its warning, and a cell that obeys it."""


@pytest.mark.parametrize(("cell", "words", "right"), COLUMNS)
def test_a_column_and_a_row(run: Run, cell: str, words: str, right: str) -> None:
    """One warning for a line; what it says to write combines one element with one."""
    run(DATA)
    faulty = run(f"%%tape w\n{cell}")
    all_with_all = run("y").numpy()
    run(DATA)
    report = run(f"%%tape w\n{right}")

    [text] = warnings(faulty)
    assert words in text
    assert not warnings(report)
    assert run("y").numpy() != pytest.approx(all_with_all)


@pytest.mark.parametrize(
    "cell",
    [
        "y = np.sum((v[:, None] - v) ** 2)",
        "y = np.sum((v[:, np.newaxis] * 2 - v) ** 2)",
        "d = np.expand_dims(v, 1)\ny = np.sum((d + 1) * v)",
        "y = np.sum(v.reshape(3, 1) * v)",
        "y = np.sum(v * labels[:3].reshape(-1, 1))",
        "s = np.sum(np.outer(v, v), axis=1, keepdims=True)\ny = np.sum(s * v)",
        "y = np.sum(v[:, None] - v[None, :])",
        "y = np.sum(np.outer(v, v) - np.sum(np.outer(v, v), axis=1, keepdims=True))",
        "y = np.sum(v * np.ones((3, 3))) + np.sum(v[None] * v)",
        "y = np.sum(v * np.array([[1.0], [2.0]]))",
        "y = np.sum(v[0] * column) + np.sum(v[:1] * labels)",
    ],
)
def test_on_purpose(run: Run, cell: str) -> None:
    """An axis that the program added, a table with margins, or a grid of two lengths."""
    run(DATA)

    assert not warnings(run(f"%%tape v\n{cell}"))
