"""Programs of all pairs of Python's constructs: eager, traced and replayed, they are equal to the bit.

Each version of Python makes other code of comprehensions, closures, blocks and variables, which tracing reads.
"""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.nest import leaves
from tapemagic.programs.function import Function

pytestmark = pytest.mark.thorough

BLOCKS = {
    "list": "y = sum([y * k for k in (0.5, 1.5)])",
    "dict": "parts = {k: y + k for k in range(2)}\ny = parts[0] * parts[1]",
    "set": "y = y * sum({k * k for k in (1.0, 2.0)})",
    "generator": "y = sum(np.sin(y * k) for k in (1.0, 2.0))",
    "nested": "y = sum(sum(y[i] * a[j] for j in range(2)) for i in range(3)) + y",
    "list in list": "y = sum([sum([y * i for i in range(j)]) for j in (1, 3)])",
    "same name": "y = np.stack([y for y in [y, 2 * y]])[1]",
    "condition in a comprehension": "y = sum([y * k for k in range(5) if k % 2])",
    "function in a comprehension": "y = sum([g(y) for g in [lambda z, k=k: z * k for k in (1.0, 3.0)]])",
    "assignment in an expression": "y = (z := np.cos(y)) * z + z",
    "assignment in a comprehension": "zs = [z := y + k for k in range(3)]\ny = z * zs[0]",
    "closure": "def inner(z):\n    return z * a\ny = inner(y) + inner(a)",
    "nonlocal": "n = 1.0\ndef count(z):\n    nonlocal n\n    n = n + z\n    return n * z\ny = count(y) + count(a)",
    "default": "y = (lambda z, k=a: z - k)(y)",
    "generator function": "def turns(z):\n    for k in range(3):\n        z = z * 0.5\n        yield z\n"
    "y = sum(turns(y))",
    "for and else": "for k in range(3):\n    y = y * 0.5 + k\nelse:\n    y = y + 1",
    "while": "k = 0\nwhile True:\n    k += 1\n    y = y * 0.75\n    if k > 2:\n        break",
    "try": "try:\n    y = y + [1.0][k_out]\nexcept IndexError:\n    y = y * 2\nfinally:\n    y = y - 1",
    "with": "with np.errstate(all='ignore'):\n    y = np.exp(y * 0.01)",
    "match": "match (y.ndim, 2):\n    case (1, n):\n        y = y * n\n    case _:\n        y = y + 1",
    "branch": "if np.sum(y) > 0:\n    y = y * 2\nelse:\n    y = y - 2",
    "expression with if": "y = y * 2 if y[0] > 0 else np.abs(y)",
    "stars": "def of(*zs, **named):\n    return zs[0] * named['k'] + zs[-1]\ny = of(*[y, a], **{'k': a})",
    "unpacked": "(p, *q), r = (y, a, y), a\ny = p * q[0] - r + q[1]",
    "class": "class Scale:\n    def __init__(self, k):\n        self.k = k\n"
    "    def __call__(self, z):\n        return z * self.k\n"
    "y = Scale(a)(y)",
    "chained": "y = p = y * 1.5\ny += p\ny *= a",
    "tape": "y = tm.constant(y)\nwith tm.GradientTape() as tape:\n    tape.watch(y)\n"
    "    z = [y * y, np.sin(y)]\ny = tape.gradient(z, y)",
    "slices": "y = np.concatenate([y[1:], y[:1]]) * y[::-1]",
}

DATA = [
    (np.array([0.3, 1.25, 2.0]), np.array([1.5, 0.75, 0.1])),
    (np.array([0.5, 1.0, 4.0]), np.array([0.5, 2.5, 0.3])),
    (np.array([-3.0, -1.0, 0.5]), np.array([1.0, 2.0, 1.1])),
]


def made(names: tuple[str, ...]) -> Callable[[Any, Any], Any]:
    """A function of some constructs, one after the other, whose source Python knows."""
    body = "\n".join(BLOCKS[name] for name in names)
    text = f"def f(x, a):\n    k_out = 5\n    y = x * a\n{textwrap.indent(body, '    ')}\n    return y\n"
    file = f"<constructs {' / '.join(names)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope: dict[str, Any] = {"np": np, "tm": tm}
    exec(compile(text, file, "exec"), scope)  # noqa: S102 (it is the text above)
    found: Callable[[Any, Any], Any] = scope["f"]
    return found


def bits(result: Any) -> list[tuple[str, tuple[int, ...], bytes]]:
    """The types, shapes and bytes of all values of a result."""
    arrays = [np.asarray(x) for x in leaves(result)]
    return [(x.dtype.str, x.shape, x.tobytes()) for x in arrays]


@pytest.mark.parametrize("first", BLOCKS)
def test_every_call_gives_what_the_eager_one_does(first: str) -> None:
    """The first two calls are traced, later ones replayed; branches that were not taken before are traced anew."""
    for second in BLOCKS:
        compare((first, second) if second != first else (first,), tm.constant)


@pytest.mark.parametrize("name", BLOCKS)
def test_calls_with_arrays(name: str) -> None:
    """As with tensors."""
    compare((name,), np.copy)


def compare(names: tuple[str, ...], given: Callable[[Any], Any]) -> None:
    """Compare calls of a function of constructs with eager ones, of arguments that `given` makes of arrays."""
    f = made(names)
    traced = Function(f, warns=False)
    for k in (0, 0, 1, 0, 2, 2, 1, 2):
        args = [given(x) for x in DATA[k]]
        assert bits(f(*args)) == bits(traced(*args)), names
    if "try" in names:
        assert traced.why_eager.startswith("it catches errors"), names
        return
    assert traced.why_eager == "", names
    assert traced.programs, names


@pytest.mark.parametrize("name", ["assignment in a comprehension", "list in list", "nested"])
def test_a_comprehension_is_one_statement(name: str) -> None:
    """Its line stands once above what it computes, whether it is a function, as before Python 3.12, or in its place."""
    traced = tm.function(made((name,)))
    for _ in range(3):
        traced(*DATA[0])
    assert traced.source().count(f"# {BLOCKS[name].splitlines()[0]}\n") == 1
    assert " of 3)" not in traced.source()
