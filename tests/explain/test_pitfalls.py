"""Two things at once, as in real programs: the true reason is told, and not what merely stands beside it."""

# ruff: noqa: T201 (programs print)

from __future__ import annotations

import copy
import linecache
import math
import re
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.events import Place
from tapemagic.explain.explain import Explanation, explain
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import snapshot_of

X, W = 2.0, 3.0


def variables() -> tuple[tm.Variable, tm.Variable]:
    """x and w."""
    return tm.Variable(X), tm.Variable(W)


# -- what is looked at beside the way, and is not the reason -----------------------------------------


def printed() -> Explanation:
    """x is printed, and y has nothing to do with it."""
    x, w = variables()
    with tm.GradientTape() as tape:
        print(float(x))
        y = w * 2.0
    return tape.explain(y, x)


def collected() -> Explanation:
    """A list for a plot."""
    x, w = variables()
    losses = []
    with tm.GradientTape() as tape:
        h = x * x
        losses.append(float(h))
        y = w * 2.0
    return tape.explain(y, x)


def asserted() -> Explanation:
    """A check on the way."""
    x, w = variables()
    with tm.GradientTape() as tape:
        h = x * 2
        assert np.all(np.isfinite(h.numpy()))
        y = w**2
    return tape.explain(y, x)


def compared() -> Explanation:
    """A condition on the way."""
    x, w = variables()
    with tm.GradientTape() as tape:
        y = w * 2.0
        if float(x) > 0:
            y = y + w
    return tape.explain(y, x)


def printed_after_another_exit() -> Explanation:
    """The line that computes is named, and not the one that prints."""
    x, w = variables()
    with tm.GradientTape() as tape:
        a = math.sin(x)
        print(float(x))
        y = w * a
    return tape.explain(y, x)


def printed_and_plain() -> Explanation:
    """A target that is no tensor, and a line that prints."""
    x, _ = variables()
    with tm.GradientTape() as tape:
        h = x * 2
        y = np.sum(h.numpy())
        print(x.numpy())
    return tape.explain(y, x)


def printed_and_computed_before() -> Explanation:
    """What was computed before is the reason."""
    x, w = variables()
    h = x**2
    with tm.GradientTape() as tape:
        tape.watch(x)
        print(float(x))
        y = w * h
    return tape.explain(y, x)


def printed_and_stopped() -> Explanation:
    """What was computed while recording was stopped is the reason."""
    x, w = variables()
    with tm.GradientTape() as tape:
        with tape.stop_recording():
            h = x**2
        print(float(x))
        y = w * h
    return tape.explain(y, x)


def two_exits() -> Explanation:
    """Two lines have to be changed."""
    x, w = variables()
    with tm.GradientTape() as tape:
        a = math.sin(x)
        b = float(x)
        y = w * a * b
    return tape.explain(y, x)


def exit_after() -> Explanation:
    """Converting the source later is not the reason."""
    x, w = variables()
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = w * 3.0
        y_plain = float(x)
        y = y + 0 * w
    del y_plain
    return tape.explain(y, x)


def many_prints() -> Explanation:
    """A thousand prints do not hide what comes after them."""
    x, w = variables()
    with tm.GradientTape() as tape:
        for k in range(1200):
            float(w * k)
        h = x * 2
        y = w * math.sin(h)
    return tape.explain(y, x)


# -- other true reasons -------------------------------------------------------------------------------


def not_read_but_before() -> Explanation:
    """A variable that was used only before the block."""
    x, w = variables()
    h = x**2
    with tm.GradientTape() as tape:
        y = w * h
    return tape.explain(y, x)


def before_alone() -> Explanation:
    """The same where nothing else is on the tape."""
    x = tm.constant(X)
    h = x**2
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = h * 3
    return tape.explain(y, x)


def assigned_afterwards() -> Explanation:
    """A step of descent after the loss was computed."""
    x, w = variables()
    with tm.GradientTape() as tape:
        y = w**2
        w.assign(x * 3)
    return tape.explain(y, x)


def assigned_again() -> Explanation:
    """A value that was replaced before it was used."""
    x, w = variables()
    with tm.GradientTape() as tape:
        w.assign(x * 3)
        w.assign(7.0)
        y = w**2
    return tape.explain(y, x)


def changed_again() -> Explanation:
    """A value that was changed before it was used is still in it."""
    x, w = variables()
    with tm.GradientTape() as tape:
        w.assign(x * 3)
        w.assign_add(7.0)
        y = w**2
    return tape.explain(y, x)


def copied_into_a_variable() -> Explanation:
    """A variable made of a tensor."""
    x, _ = variables()
    with tm.GradientTape() as tape:
        v = tm.Variable(x * 3)
        y = v**2
    return tape.explain(y, x)


def copied_variable() -> Explanation:
    """A constant made of a variable."""
    x, w = variables()
    with tm.GradientTape() as tape:
        tape.watch(x)
        c = tm.constant(x)
        y = w * c
    return tape.explain(y, x)


def histogram() -> Explanation:
    """A function that gives several plain arrays."""
    x, w = tm.Variable([1.0, 2.0, 4.0]), tm.Variable(W)
    with tm.GradientTape() as tape:
        counts, edges = np.histogram(x, 3)
        y = w * np.sum(counts)
    del edges
    return tape.explain(y, x)


def reset_without_use() -> Explanation:
    """A variable that nobody ever read has nothing to do with the reset."""
    x, w = variables()
    with tm.GradientTape() as tape:
        tape.reset()
        y = w * 2
    return tape.explain(y, x)


def reset_and_computed_again() -> Explanation:
    """A constant has to be watched again."""
    x = tm.constant(X)
    with tm.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x**3
    return tape.explain(y, x)


def first_derivative_constant() -> Explanation:
    """The derivative in x does not depend on z."""
    x, z = variables()
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = 3 * x + z**2
        g = inner.gradient(y, x)
    return outer.explain(g, z)


def not_linear() -> Explanation:
    """A second derivative that is lost, and not zero."""
    x, _ = variables()
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = x * float(x)
        g = inner.gradient(y, x)
    return outer.explain(g, x)


def made_again() -> Explanation:
    """The cell that makes x has run again."""
    x, w = variables()
    with tm.GradientTape() as tape:
        y = x * w
    x = tm.Variable(X)
    return tape.explain(y, x)


def released() -> Explanation:
    """The tape is used up by a gradient that is not None; a variable was not on it."""
    x, w = variables()
    with tm.GradientTape() as tape:
        y = w * w
    assert tape.gradient(y, w) is not None
    return tape.explain(y, x)


def after_its_gradient() -> Explanation:
    """Computed in the block, but after the tape has stopped for its gradient."""
    x, _ = variables()
    with tm.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
        z = x**3
    return tape.explain(z, x)


def both_plain() -> Explanation:
    """Nothing is a tensor."""
    x = np.array([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = np.sum(x**2)
    return tape.explain(y, x)


def nothing_returned() -> Explanation:
    """A function without return."""
    x, _ = variables()

    def f(x: Any) -> Any:
        x * x

    with tm.GradientTape() as tape:
        y = f(x)
    return tape.explain(y, x)


def bound_anew() -> Explanation:
    """A name that held a printed number and then something else."""
    x, w = variables()
    with tm.GradientTape() as tape:
        v = float(x)
        print(v)
        v = w * 1.5
        y = v * 2.0
    return tape.explain(y, x)


def on_one_line() -> Explanation:
    """Several statements on a line, of which one prints."""
    x, w = variables()
    with tm.GradientTape() as tape:
        h = w * 2.0; print(float(x)); y = h * 3.0  # fmt: skip # noqa: E702
    return tape.explain(y, x)


def copied_without_constants() -> Explanation:
    """All that y was computed from is on the tape, and the copy began there."""
    x, w = variables()
    with tm.GradientTape() as tape:
        c = copy.deepcopy(x)
        y = w * c
    return tape.explain(y, x)


def assigned_a_number() -> Explanation:
    """A variable was given a plain number."""
    x, w = variables()
    with tm.GradientTape() as tape:
        w.assign(float(x) * 3)
        y = w * w
    return tape.explain(y, x)


def by_another_name() -> Explanation:
    """In a loop over results, each one is explained by its own line."""
    x, w = variables()
    with tm.GradientTape(persistent=True) as tape:
        a = w * math.sin(x)
        b = w * math.cos(x)
    for t in (a, b):
        found = tape.explain(t, x)
    return found


def swapped() -> Explanation:
    """Source and target the wrong way round."""
    x, _ = variables()
    with tm.GradientTape() as tape:
        y = x**2
    return tape.explain(x, y)


def compared_by_the_rule() -> Explanation:
    """The rule of relu compares, and the second derivative is zero."""
    x, _ = variables()
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = tm.relu(x) * 3
        g = inner.gradient(y, x)
    return outer.explain(g, x)


def before_of_something_else() -> Explanation:
    """What was computed before was not computed from x, as the program says."""
    x = tm.Variable(X)
    w = tm.Variable(W)
    c = w * 2
    with tm.GradientTape() as tape:
        y = w**2 + c
    return tape.explain(y, x)


def out_of_stop_gradient() -> Explanation:
    """What stop_gradient returns is no source, unless it is watched."""
    x, _ = variables()
    with tm.GradientTape() as tape:
        s = tm.stop_gradient(x * x)
        y = s * x
    return tape.explain(y, s)


PITFALLS = [
    (out_of_stop_gradient, "stop_gradient", "s is a result of stop_gradient"),
    (bound_anew, "not connected", "y depends on w"),
    (on_one_line, "not connected", "y depends on w"),
    (copied_without_constants, "not tracked", "copy.deepcopy() on line"),
    (assigned_a_number, "not tracked", "w.assign(float(x) * 3)"),
    (
        by_another_name,
        "not tracked",
        "math.cos(x)) turned x into a plain number, so the tape lost track of it. Write np.cos(x).",
    ),
    (swapped, "not connected", "y was computed from x, not x from y"),
    (compared_by_the_rule, "linear", "so the second is zero"),
    (before_of_something_else, "not connected", ""),
    (printed, "not connected", "leads from x to y; y depends on w"),
    (collected, "not connected", ""),
    (asserted, "not connected", ""),
    (compared, "not connected", ""),
    (printed_after_another_exit, "not tracked", "a = math.sin(x)"),
    (printed_and_plain, "not tracked", "y = np.sum(h.numpy())"),
    (printed_and_computed_before, "computed before", "y uses h"),
    (printed_and_stopped, "recording stopped", "stop_recording()"),
    (two_exits, "not tracked", "The same on line"),
    (exit_after, "not connected", ""),
    (many_prints, "not tracked", "math.sin(h)"),
    (not_read_but_before, "computed before", "y uses h"),
    (before_alone, "computed before", "y uses h"),
    (assigned_afterwards, "not connected", ""),
    (assigned_again, "not connected", ""),
    (changed_again, "assigned", "w.assign(x * 3)"),
    (copied_into_a_variable, "not tracked", "tapemagic.Variable()"),
    (copied_variable, "not tracked", "tapemagic.constant()"),
    (histogram, "not tracked", "np.histogram"),
    (reset_without_use, "not connected", "x wasn't used"),
    (reset_and_computed_again, "reset", "Call tape.watch(x) again"),
    (first_derivative_constant, "linear", "The first derivative doesn't depend on z"),
    (not_linear, "not tracked", "y = x * float(x)"),
    (made_again, "made afterwards", "Run the tape's block again"),
    (released, "not connected", "x wasn't used while the tape recorded"),
    (after_its_gradient, "computed after", ""),
    (both_plain, "not watched", "x is a numpy.ndarray, so the tape can't track it"),
    (nothing_returned, "no tensor", "Does the function that computes it return a value?"),
]


@pytest.mark.parametrize(("program", "cause", "words"), PITFALLS)
def test_the_true_reason(program: Any, cause: str, words: str) -> None:
    """Cause, and the line or the words that help."""
    found = program()

    assert found.cause == cause, found
    assert words in found.reason


# -- what to write instead ----------------------------------------------------------------------------


def advice(program: str) -> str:
    """The reason for the None that a program of one line leads to."""
    file = f"<{program}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    x, w = variables()
    names = {"tm": tm, "np": np, "math": math, "x": x, "w": w, "rng": np.random.default_rng(1)}
    with tm.GradientTape(persistent=True) as tape:
        exec(compile(program, file, "exec"), names)  # noqa: S102 (a line of this file)
    asking = Program(Place(file, 1, ""), names)
    called = {x._id: "x", w._id: "w"}
    snapshot = snapshot_of(tape)
    return explain(Question(snapshot, names["y"], x, "y", "x", called, program=asking)).reason


ADVICE = {
    "y = w * math.sin(x)": "math.sin on line 1 (y = w * math.sin(x)) turned x into a plain number, so the tape "
    "lost track of it. Write np.sin(x).",
    "y = w * float(x)": "Leave it a tensor",
    "y = w * np.array([x, w])": "Write np.stack([x, w]) instead of np.array([x, w])",
    "y = w * np.array([v * x for v in (1, 2)])": "np.stack([v * x for v in (1, 2)])",
    "y = w * np.sum([x, x], axis=0)": "np.sum(np.stack([x, x]), axis=0)",
    "y = w * np.array([[x, w], [w, x]])": "np.block([[x, w], [w, x]])",
    "y = w * np.asarray(x)": "Call NumPy's functions on the tensor itself",
    "y = w * np.full(3, x)": "x * np.ones(3)",
    "y = w * np.arange(0, x, 0.5)": "x * np.arange(3)",
    "y = w * rng.normal(x, 1.0, 3)": "mu + sigma * rng.normal(size=3)",
    "o = np.zeros(3)\no[1] = x * 2\ny = w * o": "o = np.stack(o)",
    "o = np.zeros(3)\nfor i in range(3):\n    o[i] = x * i\ny = w * o": "o = np.stack(o) after it",
    "y = w * tm.constant([x, 1.0])": "np.stack([x, 1.0])",
    "p = []\np.append(x * 2)\ny = w * np.array(p)": "Write np.stack(p) instead of np.array(p)",
    "y = w * sum(float(x) for _ in [0.0])": "Leave it a tensor",
    "a = w * 2; y = a * math.sin(x)": "Write np.sin(x)",
    "from math import exp as e; y = w * e(-x)": "Write np.exp(-x)",
    "y = w * math.pow(x, 2)": "Write np.power(x, 2)",
    "y = w * math.log(x, 2)": "Write np.log(x) / np.log(2)",
    "y = w * math.fabs(x)": "Write np.fabs(x)",
    "y = w * math.sqrt(\n    x\n)": "line 1 (y = w * math.sqrt…)",
    "y = w * x.numpy()": "Remove .numpy()",
    "d = {}; d['a'] = float(x); y = w * d['a']": "Leave it a tensor",
    "y = w * int(x)": "Integers and booleans have no derivative. Use a smooth function",
    "y = np.mean((x > 0) * 1.0)": "tapemagic.sigmoid((x - a) / width)",
    "y = w * np.round(x)": "grad_pass_through",
    "y = w * np.polyder(np.poly1d(np.stack([x, x]))).coeffs": "an np.poly1d is a plain array",
}


@pytest.mark.parametrize("program", ADVICE)
def test_advice(program: str) -> None:
    """What to write instead is told by the line that left the tape."""
    assert ADVICE[program] in advice(program)


@pytest.mark.parametrize(
    "value", [2.0, 3, True, [1.0, 2.0], (1, 2), np.arange(3), np.float32(2.0), 1.0 + 2.0j]
)
def test_the_variable_that_is_advised_has_a_gradient(value: Any) -> None:
    """The assignment in the reason for a plain value, when it is run, makes a source with a gradient."""
    x, w = value, tm.Variable(W)
    with tm.GradientTape() as tape:
        y = np.sum(np.asarray(x) * w)
    [line] = re.findall(r"Write (x = .*)\.$", tape.explain(y, x).reason)
    names = {"tapemagic": tm, "x": x}
    exec(line, names)  # noqa: S102 (the advice)
    x = names["x"]
    with tape:
        y = np.sum(x * w)

    assert tape.gradient(y, x) is not None


# -- gradients of which a part is missing -------------------------------------------------------------


def of(program: str, source: Any = X) -> str:
    """What is said to be missing in the gradient of y by a program, which comes in several lines."""
    file = f"<missing {program}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    names: dict[str, Any] = {"tm": tm, "np": np, "math": math, "x": tm.Variable(source)}
    names |= {"c": tm.constant(source), "w": tm.Variable(W), "tape": tm.GradientTape(True)}
    exec(compile(program, file, "exec"), names)  # noqa: S102 (a few lines of this file)
    asking = Program(Place(file, 1, ""), names)
    called = {names["w"]._id: "w"}
    z = "c" if "c" in program.split("y = ")[1].split() else "x"
    tape = names["tape"]
    snapshot = snapshot_of(tape)
    found = explain(Question(snapshot, names["y"], names[z], "y", z, called, program=asking))
    assert found.gradient
    assert (f"But {found.missing}" in " ".join(repr(found).split())) == bool(found.missing)
    return found.missing


MISSING = {
    "with tape:\n y = x**2 + math.sin(x)": "math.sin on line 2 (y = x**2 + math.sin(x)) turned x into a plain number",
    "with tape:\n m = float(np.mean(x))\n y = x * m": "on line 2 (m = float(np.mean(x)))",
    "h = x**2\nwith tape:\n y = h + x": "y uses h, which was computed from x before",
    "with tape:\n a = c * 3\n tape.watch(c)\n y = a * c": "y uses a",
    "with tape:\n a = c * 3\n tape.watch(c)\n y = c + a": "Compute it after tape.watch(c)",
    "with tape:\n a = x * 2; b = math.sin(x); y = a * b": "Write np.sin(x)",
    "import scipy.special\nwith tape:\n y = scipy.special.softmax(x) + x": "Write tapemagic.softmax(x, axis)",
    "from scipy.special import softmax\nwith tape:\n s = softmax(x)\n y = s + x": "Write tapemagic.soft",
    "with tape:\n p = np.poly1d(np.stack([x, x]))\n y = x * np.polyder(p).coeffs[0]": "np.poly1d is a plain array",
    "with tape:\n q = np.polyder(np.poly1d(np.stack([x, x])))\n y = x * q.coef[0]": "np.poly1d is a plain array",
    "a = np.zeros(2)\nwith tape:\n np.put(a, 0, float(x))\n y = x * a[0]": "on line 3 (np.put(a, 0, float(x)))",
    "a = np.zeros(2)\nwith tape:\n a.fill(x)\n y = x * a[0]": "on line 3 (a.fill(x))",
    "with tape:\n with tape.stop_recording():\n  a = x * 3\n y = a * x": "",
    "with tape:\n y = np.where(x > 0, x**2, x)": "",
    "with tape:\n s = 2.0 if float(x) > 0 else 3.0\n y = x * s": "",
    "with tape:\n v = float(x)\n print(v)\n v = w * 2.0\n y = v * x": "",
    "old = w * 1.0\nfor k in range(2):\n with tape:\n  y = (x - old) ** 2\n  old = x * 2": "",
    "with tape:\n g = x * 2.0\n x.assign_sub(0.1 * g)\n w.assign_sub(g * w)\n y = w * x": "",
    "with tape:\n w.assign(x * 3)\n y = w * x": "w, which was assigned a value computed from x",
    "with tape:\n y = x * x": "",
    "with tape:\n x.assign_sub(0.1 * x)\n y = x * x": "",
    "with tape:\n losses = []\n y = x * x\n losses.append(float(y))": "",
    "with tape:\n y = x * x\n print(float(x), x.numpy())": "",
    "with tape:\n print(float(x))\n y = x * x": "",
    "X = np.ones(3)\nscale = w * 2\nwith tape:\n y = np.sum(x * X) * scale": "",
}


@pytest.mark.parametrize("program", MISSING)
def test_a_missing_part(program: str) -> None:
    """A gradient that is not None says what it lacks; one that lacks nothing is silent."""
    missing = of(program)

    assert MISSING[program] in missing
    assert bool(missing) == bool(MISSING[program])
