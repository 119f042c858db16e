"""Mistakes in a magic's line: one line that says what to write, and nothing was run or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ipython.conftest import Run

Refused = Callable[[str], str]

SETUP = """
x = 3.0
text, function, empty, ragged = 'three', len, None, [[1.0], [1.0, 2.0]]
objects, huge = np.array([1.0, None]), 10**20
class Special(np.ndarray): pass
masked, special = np.ma.array([1.0, 2.0], mask=[0, 1]), np.ones(2).view(Special)
params = [tm.Variable(1.0), tm.Variable(2.0)]
times = []
"""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x q", "no variable 'q' in the notebook, and the cell does not assign one: write q = 3.0"),
        ("x -t q", "the cell does not assign one: -t names values that the cell computes"),
        ("x=3", "'x=3' isn't a variable name: write names apart, as in %%tape x y"),
        ("x for", "'for' isn't a variable name"),
        ("x # why", "'#' isn't a variable name"),
        ("x --hesian", "%%tape: there is no option --hesian: the nearest is --hessian"),
        ("x --jacobien=2", "there is no option --jacobien: the nearest is --jacobian"),
        ("x -x", "there is no option -x: the options are -t, --target, -o, --order, -p"),
        ("x --<b>", "there is no option --<b>: the options are -t"),
        ("x --hessian=3", "--hessian takes no value: write --hessian alone"),
        ("x -t", "-t or --target needs a value: write -t NAME"),
        ("x -n", "-n or --name needs a value: write -n TAPE_NAME"),
        ("x -p text", "'text' stands behind the options: write the names to watch in front of them"),
        ("x 'y", "No closing quotation"),
        ("x -o 0", "the order must be an integer from 1 to 9, not '0': write -o 2"),
        ("x -o abc", "the order must be an integer from 1 to 9, not 'abc'"),
        ("x -o -1", "not '-1'"),
        ("x -o 2.0", "not '2.0'"),
        ("x -o 10", "not '10'"),
        ("x -o ²", "not '²'"),
        ("text", "cannot watch 'text', which is a str: a watched variable is a real number"),
        ("x text", "cannot watch 'text'"),
        ("function", "cannot watch 'function', which is a builtin_function_or_method"),
        ("empty", "cannot watch 'empty', which is a NoneType"),
        ("ragged", "cannot watch 'ragged', which is a list"),
        ("objects", "cannot watch 'objects', which is an array of dtype object"),
        ("huge", "which is a whole number too large for int64, of dtype object in NumPy"),
        ("masked", "which is a MaskedArray: it would become a Tensor, for which * works entry by"),
        ("special", "nothing is masked. If that is meant, write special = np.array(special)"),
        ("x -n np", "'np' is a module, and the tape would take its name: give the tape another name"),
        ("x -n len", "'len' is a function, and the tape would take its name"),
        ("np", "cannot watch 'np', which is a module"),
        ("params", "name each of them, as in w, b = params and %%tape w b"),
        ("x -n 2t", "'2t' cannot be the name of a tape: write -n t"),
        ("x -n class", "'class' cannot be the name of a tape"),
        ("x -n x", "'x' is what the tape is called in the cell: give the tape another name with -n"),
        ("x tape", "'tape' is what the tape is called"),
    ],
)  # fmt: skip
def test_refused(
    run: Run, refused: Refused, variables: dict[str, Any], line: str, words: str
) -> None:
    """The cell does not run, and no variable is touched."""
    run(SETUP)

    assert words in refused(f"%%tape {line}\ntimes.append(1)\ny = x**2")
    assert [] == variables["times"]
    assert type(variables["x"]) is float


def test_awaiting_in_a_function(run: Run) -> None:
    """A coroutine may be defined."""
    run("x = 3.0")

    report = run("%%tape x\nasync def f():\n    return [await g() async for g in h()]\ny = x**2")

    assert ("y",) == report.findings.targets


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "%tape needs an expression, as in %tape x**2 + 1; above a whole cell, write %%tape"),
        ("-o 2", "%tape needs an expression"),
        ("y = x**2", "%tape takes one expression; to run statements, write %%tape above a cell"),
        ("(y := x)", "%tape takes one expression"),
        ("x**2; x", "%tape takes one expression"),
        ("-t y x**2", "%tape has no option -t, only -o: write %%tape with its options above a cell"),
        ("-p x**2", "%tape has no option -p"),
        ("-o 2 --hessian x**2", "%tape has no option --hessian"),
        ("--no-auto-watch x**2", "%tape has no option --no-auto-watch"),
        ("--what-if x x**2", "%tape has no option --what-if"),
        ("-o 0 x**2", "%tape: the order must be an integer from 1 to 9, not '0'"),
        ("await x", "'await'"),
    ],
)  # fmt: skip
def test_line_magic(run: Run, refused: Refused, line: str, words: str) -> None:
    """%tape takes one expression."""
    run(SETUP)

    assert words in refused(f"%tape {line}")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "%gradient needs a target and at least one source, as in %gradient loss w b"),
        ("y", "%gradient needs a target and at least one source"),
        ("y q", "'q' does not exist: name a Tensor or Variable of the last %%tape cell"),
        ("text x", "'text' is of type str, and no Tensor or Variable of the last %%tape cell"),
    ],
)
def test_gradient(run: Run, refused: Refused, line: str, words: str) -> None:
    """%gradient takes a target and sources that are tensors."""
    run(SETUP)
    run("%%tape x\ny = x**2")

    assert words in refused(f"%gradient {line}")


def test_gradient_before_any_tape(refused: Refused) -> None:
    """%gradient needs a cell to ask."""
    assert "none has run yet: run one first" in refused("%gradient y x")
