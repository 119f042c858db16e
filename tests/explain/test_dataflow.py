"""What is carried on into a value, step by step: what only stands beside it, or changes in steps, is not."""

from __future__ import annotations

import json
import linecache
import math
import pickle
from itertools import count
from typing import Any

import numpy as np
import pytest

from tapemagic.engine.events import Place
from tapemagic.explain import dataflow
from tapemagic.explain.carrying_words import Certainty

fresh = count().__next__
MODULES = {"np": np, "math": math, "json": json, "pickle": pickle}
YES, PERHAPS, NO = Certainty.LIKELY, Certainty.PERHAPS, Certainty.NO


def flow_into(*arguments: Any, **named: Any) -> Certainty:
    """How likely the flow of one conversion is."""
    place, how, *rest = arguments
    return dataflow.flows_into([(place, how)], *rest, **named)[0]


def judged(program: str, value: str = "y", steps: bool = False, how: str = "float()") -> Certainty:
    """What is said of the first line with a float() in it, or with "here" behind it."""
    file = f"<carried {fresh()}>"
    lines = program.strip("\n").splitlines(keepends=True)
    linecache.cache[file] = (len(program), None, lines, file)
    line = next(k for k, text in enumerate(lines, 1) if "float" in text or "# here" in text)
    return flow_into(Place(file, line, ""), how, value, "x", None, steps, namespace=MODULES)


@pytest.mark.parametrize(
    "program",
    [
        "y = w * float(x)",
        "y += math.sin(x)  # here",
        "y: object = float(x) + 1",
        "a, b = float(x), 2\na, b = b, a\ny = b",
        "a, *b = w, float(x)\ny = b[0]",
        "d = {'a': float(x), 'b': w}\ny = d['a']",
        "d = dict(a=float(x))\ny = d['a'] * w",
        "d = {}\nd['a'] = float(x)\ny = w * d['a']",
        "d = {}\nd[k] = float(x)\ny = w * d['a']",
        "m.log = float(x)\ny = m.log * w",
        "a = []\na.append(float(x))\ny = sum(a)",
        "o = np.zeros(3)\no[1] = x  # here\ny = o.sum()",
        "o = np.zeros(3)\nnp.copyto(o, float(x))\ny = o.sum()",
        "for k in range(3):\n y = a\n a = float(x)",
        "while w:\n y = a\n a = b\n b = float(x)",
        "if w > 0:\n a = float(x)\nelse:\n a = 1.0\ny = a * w",
        "try:\n a = float(x)\nexcept ValueError:\n a = 0.0\ny = a",
        "match w:\n case 0: a = float(x)\n case _: a = 1.0\ny = a",
        "with tape as t:\n a = float(x)\ny = a",
        "y = sum(float(v) for v in x)",
        "a = [float(v) for v in x]\ny = sum(u * w for u, w in zip(a, x))",
        "a = {k: float(x) for k in w}\ny = a['b']",
        "a = [float(x)]\nfor k, v in enumerate(a):\n y = v",
        "y = 2.0 if w else float(x)",
        "y = (a := float(x)) * a",
        "f = lambda v: float(v)\ny = f(x)",
        "def f(v):\n return float(v)\ny = f(x)",
        "def f(v):\n return w, float(v)\na, y = f(x)",
        "def f(v):\n yield float(v)\ny = sum(f(x))",
        "def f(v, a=float(x)):\n return v * a\ny = f(w)",
        "def f(v):\n def g(u):\n  return float(u)\n return g(v) * v\ny = f(x)",
        "def g(u):\n return f(u)\ndef f(v):\n return float(v)\ny = g(x)",
        "a = float(x)\ndef f(v):\n return a * v\ny = f(w)",
        "s = {}\ndef f(v):\n s['v'] = float(v)\nf(x)\ny = w * s['v']",
        "def f(v):\n global s\n s = float(v)\nf(x)\ny = w * s",
        "class M:\n def __call__(self, v):\n  return float(v)\nm = M()\ny = m(x)",
        "class M:\n def f(self, v):\n  return float(v)\n def g(self, v):\n  return self.f(v)\ny = M().g(x)",
        "class M:\n @property\n def s(self):\n  return float(self.w)\ny = m.s * w",
        "class M:\n def f(self, v):\n  h = v + self.h\n  self.h = float(h)\n  return h\ny = m.f(w)",
        "y = minimize(lambda v: float(v - x), [0.0]).sum()",
        "y = w\\\n  * float(x)",
    ],
)
def test_carried(program: str) -> None:
    """Through names, parts, branches, loops, functions and methods."""
    assert judged(program) == YES
    assert judged(program, steps=True) == YES


@pytest.mark.parametrize(
    "program",
    [
        "v = float(x)\nprint(v)\nv = w * 2\ny = v",
        "for v in (float(x), 1.0): print(v)\nv = w\ny = v",
        "a, b = float(x), w\ny = b",
        "d = {'a': float(x), 'b': w}\ny = d['b']",
        "d['a'] = float(x)\ny = d['b']",
        "m.log.append(float(x))\ny = m.w * 2",
        "a = w * 2; print(float(x)); y = a",
        "a = [u for u in (float(x), 1)]\ny = [u for u in (w, 1)]",
        "x = float(x)\ny = x * w",
    ],
)
def test_beside(program: str) -> None:
    """A name that is bound anew forgets; the parts of a whole are told apart; the source is no loss."""
    assert judged(program) == NO
    assert judged(program, steps=True) == NO


@pytest.mark.parametrize(
    "program",
    [
        "y = w * (float(x) > 0)",
        "s = 2.0 if float(x) > 0 else 3.0\ny = w * s",
        "y = w[int(float(x))]",
        "k = np.argmax(float(x))\ny = w[k]",
        "y = np.where(float(x), w, 2 * w)",
        "y = w * len(f'{float(x)}')",
        "y = w * (float(x) // 1)",
        "y = w * (not (a := float(x)))",
    ],
)
def test_steps(program: str) -> None:
    """What changes in steps carries no part of a derivative, but a value."""
    assert judged(program) == NO
    assert judged(program, steps=True) == YES


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("a = f'{x:.3f}'  # here\ny = float(a)", "format()"),
        ("a = str(x).strip()  # here\ny = w * float(a)", "repr()"),
        ("a = pickle.dumps(x)  # here\ny = pickle.loads(a) * w", "pickle"),
        ("a = f'{x.numpy()}'  # here\ny = eval(a)", ".numpy()"),
        ("a = json.dumps({'a': x.tolist()})  # here\ny = json.loads(a)['a']", ".tolist()"),
    ],
)
def test_text_that_is_read_again(program: str, how: str) -> None:
    """Text and bytes carry a value on where they are made numbers again."""
    assert judged(program, how=how) == YES


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("print(f'{x:.3f}')  # here\ny = x * w", "format()"),
        ("a = str(x)  # here\ny = len(a) * w", "repr()"),
        ("a = f'{x}'  # here\ny = d[a]", "repr()"),
        ("s = json.dumps({'loss': float(x)})\nm = Model(name=f'{x}')\ny = m(w)", "float()"),
    ],
)
def test_text_that_stays_text(program: str, how: str) -> None:
    """What is printed, saved, or used as a name carries nothing on."""
    assert judged(program, how=how) == NO


def test_by_a_key() -> None:
    """What is compared by a key is not converted by it."""
    assert judged("y = min(a, key=float)") == NO


def test_comparing_itself_leaves() -> None:
    """Where a comparison is the exit, it is what is carried."""
    assert judged("a = x > 0  # here\ny = a * w", steps=True, how="np.greater") == YES
    assert judged("a = x > 0  # here\ny = a * w", how="np.greater") == NO


def test_functions_that_log() -> None:
    """In functions and classes, what is kept somewhere may be used, and what is printed is not."""
    logging = (
        "class M:\n def __call__(self, v):\n  self.log = float(v)\n  return v\nm = M()\ny = m(x)"
    )
    assert judged(logging) == NO
    assert judged("def f(v):\n print(float(v))\n return v\ny = f(x)") == NO
    assert judged("def f(v):\n return v, float(v)\ny, a = f(x)") == NO
    method = "class M:\n def s(self): return float(self.w)\nm = M()\nprint(m.s())\ny = m(w)"
    assert judged(method) == NO


def test_given_away() -> None:
    """Another function may put what it is given anywhere, and its result may come from it."""
    assert judged("a = float(x)\nfill(o, a)\ny = o") == PERHAPS
    assert judged("a = pickle.dumps(x)  # here\ny = f(a)", how="pickle") == YES
    assert judged("a = R(float(x))\ny = a.loss * 2") == PERHAPS


def test_the_line_that_asks() -> None:
    """What comes after it does not count."""
    program = "a = float(x)\ny = a\nprint(y)\ny = w\n"
    file = f"<carried {fresh()}>"
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    left = Place(file, 1, "")
    assert flow_into(left, "float()", "y", "x", Place(file, 3, "")) == YES
    assert flow_into(left, "float()", "y", "x", Place("other", 3, "")) == NO
    inside = "def f():\n a = float(x)\n y = a\n ask(y)\n"
    linecache.cache[file] = (len(inside), None, inside.splitlines(keepends=True), file)
    assert flow_into(Place(file, 2, ""), "float()", "y", "x", Place(file, 4, "")) == YES


def test_from_another_cell() -> None:
    """What a function of another cell gives."""
    cells = ["def f(v):\n return float(v), v\n", "a, b = f(x)\ny = a * x\nz = b * x\n"]
    files = [f"<carried {fresh()}>" for _ in cells]
    for file, text in zip(files, cells, strict=True):
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    left, asked = Place(files[0], 2, ""), Place(files[1], 1, "")
    assert flow_into(left, "float()", "y", "x", asked) == YES
    assert flow_into(left, "float()", "z", "x", asked) == NO


def test_nothing_to_read() -> None:
    """Of what cannot be read, anything may be true."""
    assert flow_into(None, "float()", "y", "x", None) == PERHAPS
    assert judged("y = = float(x)") == PERHAPS
    assert judged("y = float(x)", "the target") == PERHAPS


def asked_in(files: dict[str, str], left: tuple[str, int], asked: tuple[str, int]) -> Certainty:
    """What is said of y = ... x, where a value left by float() on one line, and another line asks."""
    names = {name: f"<{name} {fresh()}>" for name in files}
    for name, text in files.items():
        lines = text.splitlines(keepends=True)
        linecache.cache[names[name]] = (len(text), None, lines, names[name])
    places = [Place(names[name], line, "") for name, line in (left, asked)]
    return flow_into(places[0], "float()", "y", "x", places[1])


LOSS = "def loss(v):\n return float(v) * v\nclass M:\n def __call__(self, v):\n  return float(v)\n"


@pytest.mark.parametrize(
    ("program", "line", "left"),
    [
        ("y = lib.loss(x)\nask(y)\ny = w\n", 2, 2),
        ("for k in range(3):\n ask(y)\n y = lib.loss(x)\n", 2, 2),
        ("def main():\n y = lib.loss(x)\n ask(y)\n y = w\nmain()\n", 3, 2),
        (
            "def main():\n y = helper(x)\n ask(y)\ndef helper(v):\n return lib.loss(v)\nmain()\n",
            3,
            2,
        ),
        ("m = lib.M()\ny = m(x)\nask(y)\nm = w\ny = w\n", 3, 5),
    ],
)
def test_the_line_of_another_file_that_asks(program: str, line: int, left: int) -> None:
    """What the asking program binds after that line does not count, and functions may stand anywhere."""
    files = {"lib": LOSS, "main": program}
    assert asked_in(files, ("lib", left), ("main", line)) == YES


def test_functions_below_the_line_that_asks() -> None:
    """A function may have been called before the line that asks, wherever it is written."""
    program = (
        "def main():\n y = helper(x)\n ask(y)\n"
        "def helper(v):\n return inner(v) * v\n"
        "def inner(v):\n return float(v)\n"
        "main()\n"
    )
    assert asked_in({"main": program}, ("main", 7), ("main", 3)) == YES


def test_other_methods_of_a_called_object() -> None:
    """What leaves where an object is called is no loss in its other methods."""
    program = "class M:\n def __call__(self, v):\n  return float(v)\n def g(self, v):\n  return v\n"
    assert judged(program + "m = M()\ny = m(x)") == YES
    assert judged(program + "m = M()\ny = m.g(x)") == NO
