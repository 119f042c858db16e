"""A Variable replaced by a tensor: the reason names the line, and what it says to write instead trains."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

START = """
import numpy as np, tapemagic as tm
from types import SimpleNamespace
X, t = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0])
reason = ""
"""

LOOP = """
for k in range(3):
    with tm.GradientTape() as g:
        loss = np.mean(({w} * X - t) ** 2)
    gradient = g.gradient(loss, {source})
    if not reason and "None" in str(gradient):
        reason = str(g.explain(loss, {w}))
        break
    steps = k + 1
    {step}
"""
"""A training, which stops at the first None."""


def program(create: str, step: str, w: str = "w", source: str = "") -> str:
    """A script that creates a Variable and trains it by a step."""
    return START + create + LOOP.format(w=w, source=source or w, step=step)


CASES = [
    (program("w = tm.Variable(0.0)", "w = w - 0.1 * gradient"), "w.assign_sub(0.1 * gradient)"),
    (program("w = tm.Variable(0.0, name='weight')", "w = w - 0.1 * gradient"), "w.assign_sub(0.1 * gradient)"),
    (program("w = tm.Variable(0.0)", "w = w + -0.1 * gradient"), "w.assign_add(-0.1 * gradient)"),
    (program("w = tm.Variable(0.0)", "w = -0.1 * gradient + w"), "w.assign(-0.1 * gradient + w)"),
    (program("w = tm.Variable(0.0)", "w = w * 0.9 - 0.1 * gradient"), "w.assign(w * 0.9 - 0.1 * gradient)"),
    (
        program("w, b = tm.Variable(0.0), 1.0", "w, b = w - 0.1 * gradient, b - 0.1"),
        "w.assign_sub(0.1 * gradient)",
    ),
    (
        program("p = [tm.Variable(0.0)]", "p = [v - 0.1 * d for v, d in zip(p, gradient)]", "p[0]", "p"),
        "for v, d in zip(p, gradient): v.assign_sub(0.1 * d)",
    ),
    (
        program("p = {'w': tm.Variable(0.0)}", "p = {k: p[k] - 0.1 * gradient[k] for k in p}", "p['w']", "p"),
        "for k in p: p[k].assign_sub(0.1 * gradient[k])",
    ),
    (
        program("p = {'w': tm.Variable(0.0)}", "for k in p: p[k] = p[k] - 0.1 * gradient[k]", "p['w']", "p"),
        "p[k].assign_sub(0.1 * gradient[k])",
    ),
    (
        program("m = SimpleNamespace(w=0)\nm.w = tm.Variable(0.0)", "m.w = m.w - 0.1 * gradient", "m.w"),
        "m.w.assign_sub(0.1 * gradient)",
    ),
    (
        program("def step(w): return w - 0.1 * gradient\nw = tm.Variable(0.0)", "w = step(w)"),
        "w.assign(step(w))",
    ),
]  # fmt: skip
"""Programs, and what their reasons say to write."""


def run(text: str, folder: Path) -> dict[str, Any]:
    """Run a script, and return its names."""
    script = folder / "script.py"
    script.write_text(text)
    return runpy.run_path(str(script))


def unwrapped(text: str) -> str:
    """Join the lines of a printed explanation."""
    return " ".join(text.split())


@pytest.mark.parametrize(("text", "instead"), CASES)
def test_the_advice_trains(text: str, instead: str, tmp_path: Path) -> None:
    """The reason names the line that replaced the Variable, and the program trains after the change it suggests."""
    reason = unwrapped(run(text, tmp_path)["reason"])

    [number] = {*re.findall(r" on line (\d+)|: line (\d+)", reason)}
    lines = text.splitlines()
    k = int("".join(number)) - 1
    [written] = re.findall(r"Write (.*) instead\.", reason)
    assert "isn't a Variable anymore" in reason or "not a Variable anymore" in reason
    assert written.startswith(instead)
    statement = lines[k].strip().partition("in p: p[k] =")[1] and "for k in p: "
    lines[k] = f"{lines[k][: len(lines[k]) - len(lines[k].lstrip())]}{statement}{written}"
    after = run("\n".join(lines), tmp_path)
    assert not after["reason"]
    assert "None" not in str(after["gradient"])
    assert after["steps"] == 3


def test_a_function_that_creates_it(tmp_path: Path) -> None:
    """Where the program doesn't show what the name was before, the reason says so."""
    text = program("def create(): return tm.Variable(0.0)\nw = create()", "w = w - 0.1 * gradient")
    reason = unwrapped(run(text, tmp_path)["reason"])

    assert "w is a new tensor since line" in reason
    assert "If w was a Variable before, write w.assign_sub(0.1 * gradient) instead." in reason
    assert "Otherwise, call g.watch(w) before you use it." in reason


@pytest.mark.parametrize(
    ("create", "step"),
    [
        ("w = tm.Variable(0.0)\nw = tm.constant(0.0)", "pass"),
        ("w = tm.constant(0.0)", "w = 2 * gradient"),
    ],
)
def test_other_values(create: str, step: str, tmp_path: Path) -> None:
    """A constant that was never watched isn't a replaced Variable."""
    reason = unwrapped(run(program(create, step), tmp_path)["reason"])

    assert "w isn't watched. Call g.watch(w) before you use it, or make it a Variable." in reason


def test_a_plain_number(tmp_path: Path) -> None:
    """A number that replaced a Variable is called that."""
    step = "w = float(w - 0.1 * gradient)\n    reason = str(g.explain(loss, w)); break"
    reason = unwrapped(run(program("w = tm.Variable(0.0)", step), tmp_path)["reason"])

    assert "w is a float, and not a Variable anymore: line" in reason
    assert "Write w.assign(float(w - 0.1 * gradient)) instead." in reason
