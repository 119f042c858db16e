"""What the command "Run This Cell on a Tape" asks in the kernel."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython.on_tape import advise
from tests.ipython.conftest import Run

EARLIER = """\
w, k, n, flag, name = 2.0, 3j, 4, True, "a"
X, counts, words = np.ones((2, 2)), np.arange(3), np.array(["a"])
small, grid = np.float32(1.0), np.ma.array([1.0])
x = tm.constant(3.0)
def slope(z):
    return w * z
def twice(z):
    return slope(z) * 2
v, fixed = tm.Variable(1.0), tm.Variable(1.0, trainable=False)
layers = {"all": [v]}
def loss(z):
    return v * z
"""

CELLS = {
    "floats, arrays and tensors, in the order of reading": ("y = X * x + w * k", ["X", "x", "w", "k"]),
    "no integers, bools, words or masks": ("y = n * flag, name, counts, words, grid", []),
    "numbers of NumPy": ("y = small * n", ["small"]),
    "not what the cell assigns first": ("w = 1.0\ny = w * x", ["x"]),
    "but what it replaces": ("w = w * 2\nw += x", ["w", "x"]),
    "also in a loop": ("for i in range(3):\n    w = w * x", ["w", "x"]),
    "what its functions read": ("y = slope(4.0)", ["w"]),
    "what those call read": ("y = twice(4.0)", ["w"]),
    "the functions of the cell as well": ("def f(a):\n    return a * w * later\nlater = 1.0\nf(2.0)", ["w"]),
    "only its own numbers": ("a = 3.0\nb = a**2", []),
    "names that are not there": ("y = missing * w", ["w"]),
    "magics in it": ("%matplotlib inline\ny = w * 2", ["w"]),
}  # fmt: skip


@pytest.fixture(autouse=True)
def earlier(run: Run) -> None:
    """The cells above."""
    run(EARLIER)


def advice(source: str) -> dict[str, Any]:
    """What the front end gets."""
    data: dict[str, Any] = advise(source).data
    return data


@pytest.mark.parametrize("case", CELLS)
def test_names(case: str) -> None:
    """Real numbers and arrays that come from other cells are watched."""
    source, names = CELLS[case]

    assert {"loaded": True, "names": names, "ready": bool(names)} == advice(source)


@pytest.mark.parametrize("source", ["y = v * w", "y = layers['all'][0] * w", "y = loss(w)"])
def test_variables(source: str) -> None:
    """A cell that reads Variables trains: they are watched by themselves, and its arrays are data."""
    assert {"loaded": True, "names": [], "ready": True} == advice(source)


def test_variables_that_are_not_trained() -> None:
    """They are not watched by themselves."""
    assert ["w"] == advice("y = fixed * w")["names"]


def test_a_cell_with_an_error() -> None:
    """It is run, which shows the error."""
    assert {"loaded": True, "names": [], "ready": True} == advice("y = (")


def test_nothing_changes(run: Run, shell: InteractiveShell) -> None:
    """The names of the notebook stay as they are, and the cell that is proposed runs."""
    before = {name: id(value) for name, value in shell.user_ns.items()}

    names = advice("y = X * w")["names"]

    assert before == {name: id(value) for name, value in shell.user_ns.items()}
    assert "dy/dX" in repr(run(f"%%tape {' '.join(names)}\ny = np.sum(X * w)"))


def test_without_the_magics(shell: InteractiveShell) -> None:
    """It says that they are to be loaded."""
    shell.extension_manager.unload_extension("tapemagic")

    assert not advice("y = w")["loaded"]
    shell.extension_manager.load_extension("tapemagic")
