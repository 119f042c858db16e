"""Parts of a gradient that get lost without an error: what is said of them, surely or perhaps, and what is not."""

# ruff: noqa: S102 (programs are executed: a few lines of this file)

from __future__ import annotations

import functools
import json
import linecache
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.events import origin_of
from tapemagic.explain.explain import Explanation

fresh = count().__next__
MODULES = (functools, json, math, pickle, threading)


def asked(program: str, y: str = "y", x: str = "x") -> Explanation:
    """The explanation of dy/dx at the end of a program, in a file of its own."""
    program = f"{program}\nfound = tape.explain({y}, {x})\n"
    file = f"<lost {fresh()}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    names: dict[str, Any] = {"tm": tm, "np": np, "ThreadPoolExecutor": ThreadPoolExecutor}
    names |= {module.__name__: module for module in MODULES}
    names |= {"x": tm.Variable(3.0), "w": tm.Variable(2.0), "v": tm.Variable([1.0, 2.5, 4.0])}
    names["tape"] = tm.GradientTape(persistent=True)
    exec(compile(program, file, "exec"), names)
    found: Explanation = names["found"]
    return found


SURELY = {
    "y = np.sum(np.r_[x, x]) + x": "Write np.hstack([x, x]) instead of np.r_[x, x]",
    "y = np.sum(np.c_[x, x * 2]) + x": "Write np.column_stack([x, x * 2]) instead of np.c_[x, x * 2]",
    "y = np.mean([x, x * 2]) + x": "Write np.mean(np.stack([x, x * 2])) instead of np.mean([x, x * 2])",
    "y = np.max([x, w]) * x": "Write np.max(np.stack([x, w])) instead of np.max([x, w])",
    "y = np.sum(np.array([x, w]) ** 2) + x": "Write np.stack([x, w]) instead of np.array([x, w])",
    "y = np.sum(np.asarray([[x, w], [w, x]])) + x": "Write np.block([[x, w], [w, x]]) instead of",
    "p = [x * k for k in range(3)]; y = np.sum(p) + x": "Write np.sum(np.stack(p)) instead of np.sum(p)",
    "h = json.loads(json.dumps((x * 2).item())); y = h * x": ".item() on line 2",
    "h = pickle.loads(pickle.dumps(x * 2)); y = h * x": "pickle on line 2",
    "s = f'{x * 2:.6f}'; h = float(s); y = h * x": "format() on line 2",
    "s = f'{x:.6f}'; h = float(s); y = h * x": "format() on line 2",
    "s = json.dumps({'a': float(x)}); y = json.loads(s)['a'] * x": "float() on line 2",
    "f = functools.partial(lambda k, u: float(u) * k, 2.0); y = f(x) * x": "float() on line 2",
    "y = sum(map(float, [x, x])) * x": "float() on line 2",
    "m = np.ma.array([1.0, 2.0], mask=[0, 1])\n    y = (m * x).sum() * x": "NumPy on line 3",
    "h = eval('math.sin(x)'); y = h * x": "float() on line 2",
}


@pytest.mark.parametrize("line", SURELY)
def test_surely(line: str) -> None:
    """A gradient that lacks a part says so, with the line, or with the exact call to write."""
    missing = asked(f"with tape:\n    {line}").missing

    assert SURELY[line] in missing
    assert "The gradient ignores that part of y" in missing
    assert "may be" not in missing


REPLACEABLE = [
    line for line in SURELY if "instead of" in SURELY[line] and "block" not in SURELY[line]
]


@pytest.mark.parametrize("line", REPLACEABLE)
def test_the_replacement_is_right(line: str) -> None:
    """With the call that is advised the value is the same, and nothing is missing."""
    new, old = SURELY[line].removeprefix("Write ").split(" instead of ")
    before, after = (
        asked(f"with tape:\n    {line}"),
        asked(f"with tape:\n    {line.replace(old, new)}"),
    )
    same = asked(
        f"with tape:\n    {line}\n    was = y\n    {line.replace(old, new)}\nassert was == y"
    )

    assert before.missing
    assert not after.missing
    assert before.gradient != after.gradient == same.gradient


PERHAPS = {
    "with ThreadPoolExecutor(1) as pool:\n        h = pool.submit(lambda: x * 2).result()\n    y = h * x": "thread",
    "out = []\n    def work(): out.append(x * x)\n    t = threading.Thread(target=work)\n    t.start(); t.join()\n"
    "    y = out[0] + x": "thread",
    "from scipy.integrate import solve_ivp\n    s = solve_ivp(lambda t, u: -x * u, (0, 1), [1.0])\n"
    "    y = s.y[0, -1] * x": "scipy",
    "from scipy.optimize import minimize\n    s = minimize(lambda u: (u[0] - x) ** 2, [1.0])\n"
    "    y = s.x[0] * x": "scipy",
    "from scipy.optimize import minimize\n    s = minimize(lambda u: float((u[0] - x) ** 2), [1.0])\n"
    "    y = s.x[0] * x": "float() on line 3",
    "from scipy.optimize import minimize\n    def f(u, a):\n        return ((u[0] - a) ** 2).item()\n"
    "    s = minimize(f, [1.0], args=(x,))\n    y = s.x[0] * x": ".item() on line 4",
    "def speed(t, u): return -float(x) * u\n    from scipy.integrate import solve_ivp\n"
    "    s = solve_ivp(speed, (0, 1), [1.0])\n    y = s.y[0, -1] * x": "float() on line 2",
    "from types import SimpleNamespace\n    s = SimpleNamespace(v=float(x))\n    y = s.v * x": "float() on line 3",
    "m = np.ma.array([1.0, 2.0, 3.0])\n    h = m - x\n    y = h.sum() * x": "NumPy on line 3",
    "exec('h = math.sin(x)')\n    y = h * x": "float() on line 2",
}


@pytest.mark.parametrize("lines", PERHAPS)
def test_perhaps(lines: str) -> None:
    """Where a path cannot be followed, a part may be missing."""
    missing = asked(f"with tape:\n    {lines}").missing

    assert PERHAPS[lines] in missing
    assert "if " in missing.lower()
    assert "The gradient ignores that part of y" not in missing


def test_texts_that_are_evaluated_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.13 on, linecache has the text behind `python -c` under the name that they all have."""
    text = "print(float(x))\n"
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, [text], "<string>"))

    missing = asked("with tape:\n    h = eval('math.sin(x)')\n    y = h * x").missing

    assert "float()" in missing
    assert "print" not in missing


ASKED_INSIDE = """
def explained(f, x):
    with tm.GradientTape(persistent=True) as t:
        y = f(x)
    return t.explain(y, x)

def metric(u): return float(u)
def printed(u):
    print(end=f"{float(u):.1f}")
    return u * u
def stepped(u): return u * u if float(u) > 0 else u
def measured(u):
    h = u * u
    log.append(metric(h))
    return h
def lossy(u): return u * float(u)
def parsed(u): return u * float(f"{u:.3f}")
log = []
"""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("printed", ""),
        ("stepped", ""),
        ("measured", ""),
        ("lambda u: u * u", ""),
        ("lossy", "float()"),
        ("parsed", "format()"),
        ("lambda u: u * math.sin(u)", "math.sin on line"),
        ("functools.partial(lambda k, u: k * u * float(u), 2.0)", "float()"),
        ("lambda u: np.sum(np.r_[u, u]) + u", "np.r_"),
    ],
)
def test_a_function_handed_to_a_helper(function: str, words: str) -> None:
    """Where a helper with the tape calls a function that it was given, a part that left there may be missing."""
    program = f"{ASKED_INSIDE}\nfound = explained({function}, x)\n"
    file = f"<lost {fresh()}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    names: dict[str, Any] = {"tm": tm, "np": np, "x": tm.Variable(3.0)}
    names |= {module.__name__: module for module in MODULES}
    exec(compile(program, file, "exec"), names)
    missing = names["found"].missing

    assert bool(words) == bool(missing)
    assert words in missing


def test_nothing_but_another_thread() -> None:
    """The reason of a None is the thread, and not that something was watched too late."""
    found = asked(
        "with tape:\n    with ThreadPoolExecutor(1) as pool:\n        h = pool.submit(lambda: x * 2).result()\n"
        "    y = h * w"
    )

    assert found.cause == "another thread"
    assert "records only the thread that entered it" in found.reason


CORRECT = [
    "y = x * x; print(f'{y:.3f}', str(y), y, repr(x))",
    "y = x * x; print(json.dumps({'loss': float(y), 'x': y.tolist()}))",
    "blob = pickle.dumps(x); y = x * x",
    "log = []; y = x * x; log.append(float(y)); log.append(f'{y}'); y = y * 2.0",
    "names = {f'{x}': w}; y = names[f'{x}'] * x",
    "with ThreadPoolExecutor(1) as pool: data = pool.submit(lambda: np.ones(3)).result()\n    y = np.sum(data) * x",
    "with ThreadPoolExecutor(1) as pool: k = pool.submit(lambda: 2.0).result()\n    y = tm.constant(k) * 3.0 * x",
    "print(np.mean([x, x * 2]))\n    y = x * x",
    "k = tm.constant(2.0) * 3.0; y = k * x",
    "u = v.astype(int); y = np.sum(u * v) * x",
]


@pytest.mark.parametrize("lines", CORRECT)
def test_correct_programs(lines: str) -> None:
    """What is printed, logged, saved, or computed elsewhere from something else, is no loss."""
    found = asked(f"with tape:\n    {lines}")

    assert (found.cause, found.missing) == ("", "")


CANCELLING = [
    "m = float(np.max(v)); y = m + np.log(np.sum(np.exp(v - m)))",
    "m = np.max(v).numpy(); e = np.exp(v - m); y = (e / np.sum(e))[0]",
    "m = float(np.mean(v)); y = np.sum((v - m) ** 2)",
]


@pytest.mark.parametrize("line", CANCELLING)
def test_a_number_that_cancels(line: str) -> None:
    """The gradient is exact although a number left the tape, and nothing is said to be missing."""
    assert asked("with tape:\n    " + line.replace("; ", "\n    "), x="v").missing == ""


NOT_CANCELLING = [
    "m = float(np.max(v)); y = np.log(np.sum(np.exp(v - m)))",
    "m = float(np.max(v)); k = 2 * m; y = m + np.log(np.sum(np.exp(v - m))) + k * v[0]",
    "m = float(np.max(v)); y = np.sum(v) * m",
]


@pytest.mark.parametrize("line", NOT_CANCELLING)
def test_a_number_that_does_not(line: str) -> None:
    """The same number where it counts, once or in another way as well."""
    program = "with tape:\n    " + line.replace("; ", "\n    ")

    assert "The gradient ignores that part of y" in asked(program, x="v").missing


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("home/.local/lib/python3.12/site-packages/torch/nn/layer.py", "torch"),
        ("usr/lib/python3/dist-packages/PIL/Image.py", "PIL"),
        ("conda/lib/python3.12/site-packages/six.py", "six"),
        ("venv/lib/site-packages/old-1.0-py3.12.egg/old/core.py", "old"),
        ("project/helper.py", ""),
        ("project/lib/helper.py", ""),
    ],
)
def test_libraries_are_known_wherever_they_are(tmp_path: Path, path: str, library: str) -> None:
    """Below site-packages of whatever Python is a library; a module of the project is the user's."""
    assert origin_of(str(tmp_path / path)) == library


def test_a_folder_of_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder on the path, what has metadata is a library, and the module beside it is the user's."""
    metadata = tmp_path / "fancy_lib-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: fancy-lib\nVersion: 1.0\n")
    (metadata / "RECORD").write_text("fancy/__init__.py,,\nfancy/core.py,,\n")
    (tmp_path / "fancy").mkdir()
    for name in ("__init__", "core"):
        (tmp_path / "fancy" / f"{name}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)

    assert origin_of(str(tmp_path / "fancy" / "core.py")) == "fancy"
    assert origin_of(str(tmp_path / "helper.py")) == ""


def test_the_standard_library() -> None:
    """Python's own modules, and none of the user's, have its names."""
    assert origin_of(json.__file__) == "json"
    assert origin_of("<frozen runpy>") == "python"
    assert origin_of("<ipython-input-1-abc>") == ""
    assert origin_of(tm.__file__) is None


def test_a_helper_of_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exit in the user's own module is told with its file and line."""
    (tmp_path / "own_helpers.py").write_text("def apply(f, u):\n    return f(float(u))\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = asked(
        "import own_helpers\nwith tape:\n    h = own_helpers.apply(lambda u: u * 2, x)\n    y = h * x"
    )

    assert "line 2 of own_helpers.py" in found.missing


@pytest.mark.parametrize(
    ("program", "condition"),
    [
        (
            "with tape:\n    if w > 10:\n        k = x * 2\n    else:\n        k = 1.0\n    y = k * w",
            "w > 10 (line 2)",
        ),
        (
            "with tape:\n    k = 1.0\n    if w < 10: pass\n    else: k = float(x)\n    y = k * w",
            "not w < 10 (line 3)",
        ),
    ],
)
def test_a_branch_that_was_not_taken(program: str, condition: str) -> None:
    """Where the program computes the target from the source in one branch only, the reason names it."""
    reason = asked(program).reason

    assert f"y is computed from x only if {condition}, and that branch may not have run." in reason


def test_a_histogram() -> None:
    """The advice for counts is something to write."""
    found = asked("with tape:\n    c, e = np.histogram(v, 3)\n    y = np.sum(c) * w", x="v")

    assert "np.histogram on line 2" in found.reason
    assert "A smooth count of the values near c is np.sum(np.exp(" in found.reason


def test_long_recordings_are_explained_in_linear_memory_and_time() -> None:
    """The number of paths doubles at every operation, and takes no more room for that."""
    found = asked(
        "with tape, np.errstate(all='ignore'):\n    y = x\n    for _ in range(3000): y = y * y"
    )

    assert len(str(found.count)) > 900
    assert found.paths == ()
    assert len(repr(found)) < 500


IN_A_FUNCTION = """
def other(m, h):
    return m + h

def step():
{}
    return tape.explain(y, v)
explanation = step()
"""


@pytest.mark.parametrize(
    ("body", "is_missing"),
    [
        ("m = float(np.max(v)); y = m + np.log(np.sum(np.exp(v - m)))", False),
        ("m = v.numpy().max(); y = m + np.log(np.sum(np.exp(v - m)))", False),
        ("m = np.max(v.numpy()); e = np.exp(v - m); y = (e / np.sum(e))[0]", False),
        ("m = v.numpy().max(); y = np.log(np.sum(np.exp(v - m)))", True),
        (
            "y = 0.0; for k in range(2):;     m = k * v.numpy().max();     y = y + m * v[0] + m - m",
            True,
        ),
    ],
)
def test_a_number_that_cancels_in_a_function(body: str, is_missing: bool) -> None:
    """The uses of the number are those in its own function, and other functions may use its name."""
    lines = ["with tape:", *("    " + line for line in body.replace("; ", "\n").splitlines())]
    program = IN_A_FUNCTION.format("\n".join("    " + line for line in lines))

    assert bool(asked_in_a_function(program).missing) == is_missing


def test_computed_before_the_tape_in_a_function() -> None:
    """A part that was computed too early is missing, in a function as in a program."""
    body = "    h = np.sum(v) * 2\n    with tape:\n        y = h * np.sum(v)"
    found = asked_in_a_function(IN_A_FUNCTION.format(body))

    assert "y uses h, which was computed from v before the tape began" in found.missing


def asked_in_a_function(program: str) -> Explanation:
    """The explanation that the function of a program returns."""
    names: dict[str, Any] = {"np": np}
    names |= {"tape": tm.GradientTape(persistent=True), "v": tm.Variable([1.0, 2.5, 4.0])}
    file = f"<lost {fresh()}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    exec(compile(program, file, "exec"), names)
    found: Explanation = names["explanation"]
    return found
