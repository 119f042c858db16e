"""Which lines feed a value: what is printed does not, and what is computed with does."""

from __future__ import annotations

import linecache
from itertools import count

import pytest

from tapemagic.engine.events import Place
from tapemagic.explain.carrying_words import Certainty
from tests.explain.test_dataflow import flow_into

fresh = count().__next__


def judged(program: str, value: str = "y", asked: int = 0) -> list[Certainty]:
    """What is said of the lines with a float() in them."""
    lines = program.strip("\n").splitlines(keepends=True)
    file = f"<program {fresh()}>"
    linecache.cache[file] = (len(program), None, lines, file)
    asking = Place(file, asked, "") if asked else None
    return [
        flow_into(Place(file, k, ""), "float()", value, "x", asking, True)
        for k, line in enumerate(lines, 1)
        if "float" in line
    ]


YES, PERHAPS, NO = Certainty.LIKELY, Certainty.PERHAPS, Certainty.NO


@pytest.mark.parametrize(
    "line",
    [
        "y = w * float(x)",
        "y += float(x)",
        "y: float = float(x)",
        "y = [float(v) for v in x]",
        "a = y = float(x)",
        "a, (y, *b) = 1, (float(x), 2)",
        "y[0] = float(x)",
        "if (y := float(x)) > 0: pass",
        "for y in range(float(x)): pass",
        "y.append(float(x))",
        "np.add.at(y, 0, float(x))",
        "y = w\\\n  * float(x)",
        "with tape as y: y = float(x)",
        "with open(float(x)) as y: pass",
    ],
)
def test_what_binds_the_value(line: str) -> None:
    """Every way to bind a name, or to write into what it stands for."""
    assert judged(line) == [YES]


@pytest.mark.parametrize(
    "line",
    [
        "print(float(x))",
        "losses.append(float(x))",
        "assert float(x) > 0",
        "if float(x) > 0: print('positive')",
        "while float(x) > 9: break",
        "plt.plot(float(x))",
        "z = float(x)",
        "float(x)",
        "raise ValueError(float(x))",
        "for k in range(float(x)): pass",
    ],
)
def test_what_does_not(line: str) -> None:
    """Logging, checks, conditions, and names that nobody reads."""
    assert judged(f"{line}\ny = w * 2") == [NO]


def test_by_other_names() -> None:
    """Backwards from the value, through loops and branches."""
    program = """
a = float(x)
b = float(x)
for k in range(3):
    if k:
        try:
            c = a + float(k)
        except ValueError:
            d = float(k)
h = [c]
print(float(c))
y = h[0] * 2
"""
    assert judged(program) == [YES, NO, YES, NO, NO]


def test_functions() -> None:
    """What goes into the result of a function that is called on the way."""
    program = """
def f(x):
    print(float(x))
    a = float(x)
    return a * x
def g(x):
    a = float(x)
    return x * float(a)
class Model:
    def __call__(self, x):
        self.last = float(x)
        return float(x)
square = lambda v: float(v)
model = Model()
y = f(x) + model(x) + square(x)
"""
    assert judged(program) == [NO, YES, NO, NO, NO, YES, YES]


def test_written_outside_of_a_function() -> None:
    """A function that writes into what is not its own."""
    program = """
def f(v):
    state["v"] = float(v)
    log.append(float(v))
    own = float(v)
f(x)
y = w * state["v"]
"""
    assert judged(program) == [YES, NO, NO]


def test_inside_one_function() -> None:
    """Where the value is made in the same function, whether it is returned or not."""
    program = """
def main():
    a = float(x)
    b = float(x)
    print(float(x))
    y = a * 2
    show(y)
"""
    assert judged(program, asked=6) == [YES, NO, NO]


def test_a_value_from_elsewhere() -> None:
    """In another cell than the value, what is bound may go into it, and what is printed does not."""
    assert judged("h = float(x)\nprint(float(x))") == [PERHAPS, NO]
    assert judged("h = float(x)", "the target") == [PERHAPS]


def test_expressions() -> None:
    """A value may be an expression."""
    program = "a = float(x)\nb = float(x)\nc = float(x)"
    assert judged(program, "a[0] + b.T") == [YES, YES, NO]


def test_magics_and_gibberish() -> None:
    """Lines that are magics are none of Python's; of what cannot be read, anything may be true."""
    assert judged("%%tape x\n!ls\nprint(float(x))\nawait z\ny = float(x)") == [NO, YES]
    assert judged("y = = float(x)") == [PERHAPS]
    assert flow_into(None, "float()", "y", "x", None) == PERHAPS
    assert flow_into(Place("<nowhere>", 3, ""), "float()", "y", "x", None) == PERHAPS
