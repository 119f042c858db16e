"""Every piece of advice is true: applied to the faulty program, the gradient of y with respect to x comes out right."""

from __future__ import annotations

import ast
import cmath
import linecache
import math
import re
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.explain.explain import Explanation

X = 1.7
ROUNDS = 4
"""The number of times that a program may be mended: it may have several faults."""

TAPE = "with tm.GradientTape(persistent=True) as tape:"
SETUP = """\
x = tm.Variable(X)
w = tm.Variable(3.0)
with tm.GradientTape(persistent=True) as tape:
    v = np.stack([x, x * 2, x * 0.5])
"""

WRITTEN = [
    "y = w * math.sin(x)",
    "y = math.exp(x) + x",
    "y = w * math.pow(x, 3)",
    "y = w * math.log(x, 2)",
    "y = w * math.log(x)",
    "y = w * math.sqrt(x**2 + 1)",
    "y = w * math.hypot(x, 3.0)",
    "y = w * math.atan2(x, 3.0)",
    "y = w * math.fabs(x)",
    "y = w * math.erf(x)",
    "y = w * math.erfc(x)",
    "y = w * math.gamma(x)",
    "y = w * math.lgamma(x)",
    "y = w * math.dist([x, 1.0], [0.0, 2.0])",
    "y = w * math.fsum([x, x * 2])",
    "y = w * math.degrees(x)",
    "y = w * math.cbrt(x)",
    "y = w * math.fmod(x, 1.5)",
    "y = w * math.copysign(x, -1.0)",
    "y = w * math.expm1(x)",
    "y = w * math.asin(x / 4)",
    "from math import exp as e; y = w * e(-x)",
    "a = w * math.sin(x); b = math.cos(x); y = w * a * b",
    "y = x * math.sin(x) + math.exp(2)",
    "c = 2.0; y = x * math.sin(x) * w + math.sqrt(c)",
    "y = x * math.sin(x) + math.cos(math.pi) * w",
    "A = np.array([1.0, 2.0, 3.0]); y = A.dot(v) * w",
    "A = np.array([1.0, 2.0, 3.0]); y = v.dot(v) * A.dot(v) * w",
    "A = np.array([1.0, 2.0, 3.0]); y = v.dot(A).numpy() * w",
    "y = w * x.numpy()",
    "y = w * x.numpy() ** 2",
    "y = w * x.item()",
    "y = x.numpy() ** 2",
    "y = np.sum(v).item()",
    "y = w * np.stack([x, x]).tolist()[0]",
    "y = np.sum(w * np.repeat(x.numpy(), 3))",
    "y = np.sum(w * np.array([x, w]))",
    "y = np.sum(w * np.array((x, w)))",
    "y = np.sum(w * np.asarray([x, 2.0, x * 3]))",
    "y = np.sum(w * np.array([v * x for v in (1, 2)]))",
    "y = np.sum(w * np.array([[x, w], [w, x * 2]]))",
    "y = np.sum(w * np.array(([x, w], [w, x * 2])))",
    "y = np.linalg.det(np.array([[x, 1.0], [2.0, w]]))",
    "y = np.linalg.det([[x, 1.0], [2.0, w]])",
    "y = np.sum(np.array([[[x, w], [w, x]], [[x, x], [w, w]]])[0] * w)",
    "rows = [[x, w], [w, x * 2]]; y = np.sum(w * np.array(rows)[0])",
    "rows = [(x, w), (w, x)]; y = np.sum(w * np.array(rows)[1])",
    "rows = []\nfor i in range(2):\n    rows.append([x * i, x + i])\ny = np.sum(w * np.array(rows)[1])",
    "rows = [[x * i * j for j in range(3)] for i in range(2)]\ny = np.sum(w * np.array(rows)[1])",
    "y = np.sum(np.array([[x * i * j for j in range(3)] for i in range(2)])[1] * w)",
    "y = np.sum(w * np.array([[v * 2, v], [v, v]])[0, 0])",
    "a, b = [x, w], [w, x]\ny = np.sum(w * np.array([a, b])[0])",
    "y = np.sum(w * np.array([v, v * x]))",
    "y = np.mean([x, w, x * 2])",
    "y = np.max([x, 0.5])",
    "y = np.linalg.norm([x, w])",
    "y = np.dot([x, w], [1.0, 2.0])",
    "y = np.dot([1.0, 2.0], [w, x])",
    "y = np.sum([[x, w], [w, x]])",
    "y = np.sum(np.sum([x, x], axis=0))",
    "y = np.sum(np.r_[x, w, 1.0] * w)",
    "y = np.sum(np.c_[v, v] * w)",
    "y = np.sum(tm.constant([x, 1.0]) * w)",
    "p = []\np.append(x * 2)\np.append(x)\ny = np.sum(w * np.array(p))",
    "p = [0.0] * 3\nfor i in range(3):\n    p[i] = x * i\ny = np.sum(w * np.array(p))",
    "y = np.sum(w * np.eye(2) * np.diag([x, x]))",
    "y = np.sum(w * np.fromiter((x * i for i in range(3)), float))",
    "y = np.sum(w * np.array(list(map(lambda i: x * i, range(3)))))",
    "y = np.sum(w * np.array([x * 2, x], dtype=float))",
    "y = np.sum(np.real(np.array([x * 2, x], dtype=complex)) * w)",
    "y = w * np.poly1d([x, 1.0])(2.0)",
    "y = w * np.interp(1.5, [1.0, 2.0], [x, x * 2])",
    "y = w * np.convolve([x, 1.0], [1.0, 2.0])[0]",
    "y = w * np.cumsum([x, x])[1]",
    "y = w * np.prod([x, 2.0])",
    "y = w * np.average([x, 1.0], weights=[1.0, 2.0])",
    "y = w * np.sum(np.array([x, x * 2]), axis=0)",
]
"""Programs whose reasons write the code that mends them."""

BY_HAND = {
    ("y = w * float(x)", "Leave it a tensor"): "y = w * x",
    ("y = w * sum(float(x) for _ in [0.0])", "Leave it a tensor"): "y = w * sum(x for _ in [0.0])",
    ("y = float(x * w)", "Leave it a tensor"): "y = x * w",
    ("y = w * np.float64(x)", "Leave it a tensor"): "y = w * x",
    ("y = w * np.asarray(x)", "Call NumPy's functions on the tensor itself"): "y = w * x",
    ("y = np.sum(w * np.array(v))", "Call NumPy's functions on the tensor itself"): "y = np.sum(w * v)",
    ("y = w * complex(x).real", "Compute with the tensor itself"): "y = w * x",
    ("y = w * cmath.exp(x).real", "with a complex tensor: np.sqrt(x + 0j)"): "y = w * np.real(np.exp(x + 0j))",
    ("o = np.zeros(3)\no[1] = x * 2\ny = np.sum(w * o)", "o is a NumPy array, which stored a value"):
        "o = list(np.zeros(3))\no[1] = x * 2\no = np.stack(o)\ny = np.sum(w * o)",
    ("o = np.zeros(3)\nfor i in range(3):\n    o[i] = x * i\ny = np.sum(w * o)",
     "Write o = list(o) before the loop, and o = np.stack(o) after it"):
        "o = list(np.zeros(3))\nfor i in range(3):\n    o[i] = x * i\no = np.stack(o)\ny = np.sum(w * o)",
    ("o = np.ones(3)\nfor i in [0, 0, 2]:\n    o[i] += x * i\ny = np.sum(w * o)", "Write o = list(o) before the loop"):
        "o = list(np.ones(3))\nfor i in [0, 0, 2]:\n    o[i] += x * i\no = np.stack(o)\ny = np.sum(w * o)",
    ("o = np.zeros(3)\nfor i in range(3):\n    o[i] = float(x * i)\ny = np.sum(w * o)",
     "Remove float(), and write o = list(o) before the loop"):
        "o = list(np.zeros(3))\nfor i in range(3):\n    o[i] = x * i\no = np.stack(o)\ny = np.sum(w * o)",
    ("o = np.zeros(3)\nfor i in range(3):\n    o[i] = (x * i).item()\ny = np.sum(w * o)",
     "Remove .item(), and write o = list(o) before the loop"):
        "o = list(np.zeros(3))\nfor i in range(3):\n    o[i] = x * i\no = np.stack(o)\ny = np.sum(w * o)",
    ("o = np.zeros((3, 2))\nfor i in range(3):\n    o[i, 0] = x * i\ny = np.sum(w * o)", "np.stack(parts)"):
        "parts = []\nfor i in range(3):\n    parts.append(x * i)\ny = np.sum(w * np.stack(parts))",
    ("o = np.zeros(3)\ni = np.array([0, 2])\no[i] = v[:2]\ny = np.sum(w * o)", "np.stack(parts)"):
        "parts = [v[0], 0.0, v[1]]\ny = np.sum(w * np.stack(parts))",
    ("y = np.sum(w * np.full(3, x))", "x * np.ones(3)"): "y = np.sum(w * (x * np.ones(3)))",
    ("y = np.sum(w * np.random.default_rng(0).normal(x, 2.0, 3))", "mu + sigma * rng.normal(size=3)"):
        "y = np.sum(w * (x + 2.0 * np.random.default_rng(0).normal(size=3)))",
    ("y = np.sum(w * np.random.default_rng(0).uniform(0, x, 3))", "low + (high - low) * rng.uniform(size=3)"):
        "y = np.sum(w * (0 + (x - 0) * np.random.default_rng(0).uniform(size=3)))",
    ("y = np.sum(w * np.random.default_rng(0).exponential(x, 3))", "scale * rng.exponential(size=3)"):
        "y = np.sum(w * x * np.random.default_rng(0).exponential(size=3))",
    ("f = np.vectorize(lambda z: z * 2)\ny = np.sum(w * f(v))", "Call NumPy's functions on whole tensors"):
        "f = lambda z: z * 2\ny = np.sum(w * f(v))",
    ("y = w * np.polyval(np.poly1d(np.stack([x, x])), 2.0)", "Call it: p(x)"):
        "y = w * np.poly1d(np.stack([x, x]))(2.0)",
    ("y = w * np.polyder(np.poly1d(np.stack([x, x])))(2.0)", "pass p.coeffs to the functions"):
        "y = w * np.polyder(np.poly1d(np.stack([x, x])).coeffs)[0]",
    ("c = tm.Variable(x * 3)\ny = w * c", "Compute with the tensor itself, which needs no copy"):
        "c = x * 3\ny = w * c",
    ("c = tm.constant(x)\ny = w * c", "Compute with the tensor itself"): "y = w * x",
    ("import copy\nc = copy.deepcopy(x)\ny = w * c", "Compute with the tensor itself"): "y = w * x",
    ("w.assign(x * 3)\ny = w * x", "Compute y from the new value itself, and assign it afterwards"):
        "new = x * 3\ny = new * x\nw.assign(new)",
    ("with tape.stop_recording():\n    a = x * 3\ny = w * a", "move that line out of the block"):
        "a = x * 3\ny = w * a",
    ("with tape.stop_recording():\n    y = x * 3", "Move that line out of the block"): "y = x * 3",
    ("import scipy.special as s\ny = np.sum(w * s.softmax(v)[0])", "Write tapemagic.softmax(x, axis)"):
        "y = np.sum(w * tm.softmax(v, 0)[0])",
    ("import scipy.special as s\ny = w * s.logsumexp(v)", "Write tapemagic.logsumexp(x, axis)"):
        "y = w * tm.logsumexp(v, 0)",
    ("import scipy.special as s\ny = w * s.comb(5.0, x)", "Write scipy.special.binom(n, k)"):
        "import scipy.special as s\ny = w * s.binom(5.0, x)",
    ("import scipy.linalg as a\ny = w * a.norm(v)", "Write the function of the same name from np.linalg"):
        "y = w * np.linalg.norm(v)",
    ("def f(x):\n    x * x\ny = f(x)", "Does the function that computes it return a value?"):
        "def f(x):\n    return x * x\ny = f(x)",
    ("tape.reset()\ny = w * 2\nz = x * 1", "leads from x to y"): "tape.reset()\ny = x * 2",
}  # fmt: skip
"""Programs, words of their advice, and the program that obeys it; the value of y is the same."""

SMOOTH = {
    ("y = w * (x > 0)", "tapemagic.sigmoid((x - a) / width)"): "y = w * tm.sigmoid((x - 0) / 0.1)",
    ("y = np.argmax(v) * w", "tapemagic.softmax(x), which weighs all positions"):
        "y = np.sum(tm.softmax(v) * np.arange(3)) * w",
    ("y = w * np.histogram(v, 3)[0][0]", "np.sum(np.exp(-(((x - c) / width) ** 2)))"):
        "y = w * np.sum(np.exp(-(((v - 1.0) / 0.5) ** 2)))",
    ("y = w * np.count_nonzero(v > 1)", "tapemagic.sigmoid((x - a) / width)"):
        "y = w * np.sum(tm.sigmoid((v - 1) / 0.1))",
    ("y = w * int(x)", "Use a smooth function instead"): "y = w * x",
}  # fmt: skip
"""Programs that change in steps, and smooth ones, whose values differ."""

WHOLE = {
    # From the first line to the last, since the fault is outside the block.
    f"x = X\n{TAPE}\n    y = np.sum(x * tm.Variable(3.0))": None,
    f"x = [X, 2 * X]\nx = x[0]\n{TAPE}\n    y = x * tm.Variable(3.0)": None,
    f"x = tm.constant(X)\n{TAPE}\n    y = x**2": None,
    f"x = tm.constant(X)\nz = tm.Variable(2.0)\n{TAPE}\n    y = x**2 * z": None,
    f"x = tm.constant(X)\n{TAPE}\n    y = x**2\n    tape.watch(x)": None,
    f"x = tm.constant(X)\n{TAPE}\n    tape.watch(x)\n    tape.reset()\n    y = x**3":
        None,
    f"x = tm.Variable(X, trainable=False)\n{TAPE}\n    y = x**2": None,
    "x = tm.Variable(X)\nwith tm.GradientTape(persistent=True, watch_accessed_variables=False) as tape:\n    y = x**2":
        None,
    f"x = tm.constant(int(X))\n{TAPE}\n    y = x**2": None,
    f"x = tm.Variable(int(X))\n{TAPE}\n    y = x**2": None,
    f"x = tm.Variable(X)\nx = x * 2\n{TAPE}\n    y = x**2": None,
    f"x = tm.Variable(X)\nh = x**2\n{TAPE}\n    y = h * 3":
        ("ove its computation into the tape's 'with' block",
         f"x = tm.Variable(X)\n{TAPE}\n    h = x**2\n    y = h * 3"),
    f"x = tm.Variable(X)\n{TAPE}\n    h = x**2\ny = h * 3":
        ("ove its computation into the tape's 'with' block",
         f"x = tm.Variable(X)\n{TAPE}\n    h = x**2\n    y = h * 3"),
    f"x = tm.constant(X)\n{TAPE}\n    a = x * 3\n    tape.watch(x)\n    y = a * x":
        ("Compute it after tape.watch(x)|watched",
         f"x = tm.constant(X)\n{TAPE}\n    tape.watch(x)\n    a = x * 3\n    y = a * x"),
}  # fmt: skip
"""Whole programs, with words of the advice and a program that obeys it, or None if the advice is code."""


def run(text: str, x: float = X) -> dict[str, Any]:
    """Run a program from a text that explanations can read, and ask for the reason at its end."""
    text = f"{text}\nfound = tape.explain(y, x)"
    file = f"<{text}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"np": np, "tm": tm, "tapemagic": tm, "math": math, "cmath": cmath, "X": x}
    with warnings.catch_warnings(action="ignore"):  # as of complex numbers that are cast
        exec(compile(text, file, "exec"), names)  # noqa: S102 (a program of this file)
    return names


def program(inside: str) -> str:
    """A program with these lines in the block of its tape."""
    return SETUP + textwrap.indent(inside, "    ")


def advice_of(names: dict[str, Any]) -> str:
    """The reason for a None, or the sentence on what a gradient lacks."""
    found = names["found"]
    assert isinstance(found, Explanation)
    return found.reason or found.missing


def number(value: Any) -> float:
    """A value as a number."""
    return float(np.asarray(value.numpy() if isinstance(value, tm.Tensor) else value))


def assert_right(text: str) -> None:
    """The gradient of y agrees with finite differences, and the tape says nothing against it."""
    names = run(text)
    found = names["found"]
    assert not advice_of(names)
    step = 1e-5
    high, low = (number(run(text, X + h)["y"]) for h in (step, -step))
    assert float(found.gradient) == pytest.approx((high - low) / (2 * step), rel=1e-4)
    assert float(found.gradient) != 0


# -- advice that is code: applied as it is written ---------------------------------------------------


class Replacing(ast.NodeTransformer):
    """Replaces the first expression that fits."""

    def __init__(self, fits: Callable[[ast.AST], bool], new: str) -> None:
        self.fits, self.new, self.count = fits, new, 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace a node, or look inside it."""
        if not self.count and isinstance(node, ast.expr) and self.fits(node):
            self.count += 1
            return ast.parse(self.new, mode="eval").body
        return self.generic_visit(node)


def replaced(text: str, fits: Callable[[ast.AST], bool], new: str) -> str:
    """A program in which one expression is replaced."""
    replacing = Replacing(fits, new)
    changed = ast.unparse(ast.fix_missing_locations(replacing.visit(ast.parse(text))))
    assert replacing.count, (text, new)
    return changed


def mended(text: str, reason: str, names: dict[str, Any]) -> str:
    """Apply the code in a reason to the program."""
    line = int(
        (re.findall(r"on line (\d+)|: line (\d+)|since line (\d+)", reason) or [("0",)])[0][0] or 0
    )
    if match := re.search(r"Write (.+) instead of (.+?)\.(?: The same|$)", reason):
        new, old = match.groups()
        short = old.removesuffix("(...)")
        return replaced(
            text,
            lambda node: (
                ast.unparse(node) == old
                or (short != old and isinstance(node, ast.Call) and ast.unparse(node.func) == short)
            ),
            new,
        )
    if match := re.search(r"(math\.\w+) on line .*Write (.+?)\.(?: The same|$)", reason):
        function, new = match.groups()
        own = vars(math)[function.removeprefix("math.")]

        def fits(node: ast.AST) -> bool:
            if not isinstance(node, ast.Call):
                return False
            written = ast.unparse(node.func)
            return written == function or names.get(written) is own

        new_text = replaced(text, fits, new)
        return f"import scipy.special\n{new_text}" if "scipy" in new else new_text
    if match := re.search(r"Remove \.(\w+)\(\)", reason):
        [method] = match.groups()
        [call] = [
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == method
        ]
        return replaced(
            text, lambda node: ast.unparse(node) == ast.unparse(call), ast.unparse(call.func.value)
        )  # type: ignore[attr-defined]
    if match := re.search(r"[Cc]all (tape\.watch\(x\))( again)?", reason):
        at = "tape.reset()" if match[2] else " as tape:"
        return text.replace(at, f"{at}\n    {match[1]}")
    if match := re.search(r"Write (x = .+)\.$", reason):
        return text.replace("with tm.", f"{match[1]}\nwith tm.", 1)
    if match := re.search(r"Write (x\..+) instead\.", reason):
        lines = text.splitlines()
        lines[(line or 2) - 1] = match[1]
        return "\n".join(lines)
    raise AssertionError(reason)


def mend(text: str) -> str:
    """Apply advice until the tape has none."""
    for _ in range(ROUNDS):
        names = run(text)
        if not (reason := advice_of(names)):
            return text
        text = mended(text, reason, names)
    raise AssertionError(advice_of(run(text)))


@pytest.mark.parametrize("inside", WRITTEN)
def test_advice_that_writes_code(inside: str) -> None:
    """The code in the reason, put into the program, gives the same value and the right gradient."""
    faulty = program(inside)

    right = mend(faulty)

    assert advice_of(run(faulty))
    assert number(run(right)["y"]) == pytest.approx(number(run(faulty)["y"]), rel=1e-6)
    assert_right(right)


@pytest.mark.parametrize(("faulty", "words"), [*BY_HAND, *SMOOTH])
def test_advice_in_words(faulty: str, words: str) -> None:
    """A program that does what the reason says gives the right gradient."""
    names = run(program(faulty))

    assert words in advice_of(names)
    right = program((BY_HAND | SMOOTH)[faulty, words])
    # The function in BY_HAND that returns nothing has no value to compare.
    if (faulty, words) in BY_HAND and names["y"] is not None and "reset" not in faulty:
        assert number(run(right)["y"]) == pytest.approx(number(names["y"]))
    assert_right(right)


@pytest.mark.parametrize("faulty", WHOLE)
def test_advice_outside_the_block(faulty: str) -> None:
    """A value that isn't watched, was computed too early or is an integer."""
    by_hand = WHOLE[faulty]
    if by_hand is None:
        right = mend(faulty)
    else:
        words, right = by_hand
        assert any(part in advice_of(run(faulty)) for part in words.split("|"))
    names = run(right)
    assert not advice_of(names)
    assert names["found"].gradient not in {"0.0", "None"}


# -- advice of errors ---------------------------------------------------------------------------------

ERRORS = {
    ("a = np.zeros(3)\na += v\ny = np.sum(a * w)", "as in a = a + x instead of a += x"):
        "a = np.zeros(3)\na = a + v\ny = np.sum(a * w)",
    ("a = np.ones(3)\nnp.add.at(a, [0, 0], x)\ny = np.sum(a * w)", "a + tapemagic.scatter_add(values, index, a.shape)"):
        "a = np.ones(3)\na = a + tm.scatter_add(np.stack([x, x]), [0, 0], a.shape)\ny = np.sum(a * w)",
    ("a = np.ones(3)\nnp.multiply.at(a, [0], x)\ny = np.sum(a * w)", "with np.where(mask, new, a)"):
        "a = np.ones(3)\na = np.where([True, False, False], a * x, a)\ny = np.sum(a * w)",
    ("a = np.ones(3)\nnp.put(a, [0], x)\ny = np.sum(a * w)", "write np.where(mask, values, x)"):
        "a = np.where([True, False, False], x, np.ones(3))\ny = np.sum(a * w)",
    ("v[0] = 1.0\ny = np.sum(v)", "build a new one with np.where or np.concatenate"):
        "v = np.where([True, False, False], 1.0, v)\ny = np.sum(v)",
    ("y = np.sum(np.exp(v, where=[True, False, False]))", "write np.where(condition, np.exp(x), otherwise)"):
        "y = np.sum(np.where([True, False, False], np.exp(v), 0.0))",
    ("y = np.sum(np.sqrt(v, out=np.zeros(3)))", "omit 'out', and assign the result to a name"):
        "root = np.sqrt(v)\ny = np.sum(root)",
    ("y = np.median(v, overwrite_input=True)", "omit it"): "y = np.median(v)",
    ("y = np.sum(np.nan_to_num(v, copy=False))", "omit 'copy'"): "y = np.sum(np.nan_to_num(v))",
    ("v.sort()\ny = v[0]", "write np.sort(x)"): "y = np.sort(v)[0]",
    ("y = np.sum(np.full_like(np.ones(2), x))", "with tapemagic.constant(a)"):
        "y = np.sum(np.full_like(tm.constant(np.ones(2)), x))",
    ("y = np.sum(np.sort(v, order='a'))", "has no derivative here. It has one without 'order', which may change"):
        "y = np.sum(np.sort(v))",
    ("y = x * 2\ntape.gradient(float(y), x)", "compute the target from tensors"): "y = x * 2\ntape.gradient(y, x)",
    ("y = x * 2\ntape.gradient(y, 2.0)", "Write x = tapemagic.Variable(x) above the tape"): "y = x * 2",
}  # fmt: skip
"""Programs that raise an error, words of its message, and the program that obeys it."""


@pytest.mark.parametrize(("faulty", "words"), ERRORS)
def test_advice_of_errors(faulty: str, words: str) -> None:
    """The message says what to write instead, and that gives the right gradient."""
    with pytest.raises(tm.errors.TapeError) as raised:
        run(program(faulty))

    assert words in str(raised.value)
    assert_right(program(ERRORS[faulty, words]))
