"""Rules for functions of one's own, and the table that is whole whenever it is asked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine import registry
from tapemagic.errors import FunctionError, UnsupportedArgumentError

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[1]


def output_of(code: str) -> str:
    """What a fresh interpreter prints, in which nothing has filled the table."""
    head = "import sys\nimport numpy as np, tapemagic as tm\n"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", head + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


# -- a function of one's own -----------------------------------------------------------------------


def cube(x: Any) -> Any:
    """x**3, by Python's operators."""
    return x * x * x


def gap(x: Any, y: Any, scale: float = 1.0) -> Any:
    """The distance of two arrays, as a Python float."""
    return float(np.sum((x - y) ** 2)) * scale


def double(x: Any) -> Any:
    """Twice x, written into x."""
    x *= 2
    return x


def first(x: Any, _other: Any) -> Any:
    """The first argument itself."""
    return x


@pytest.fixture(scope="module")
def own() -> Iterator[SimpleNamespace]:
    """Functions of one's own with their rules, for this module."""
    functions = SimpleNamespace(
        cube=tm.register_vjp(cube, lambda g, _y, x: g * 3 * x**2),
        gap=tm.register_vjp(
            gap,
            lambda g, _d, x, y, scale=1.0: g * (2 * scale) * (x - y),
            lambda g, _d, x, y, scale=1.0: g * (2 * scale) * (y - x),
        ),
        double=tm.register_vjp(double, lambda g, _y, _x: g * 2),
        first=tm.register_vjp(first, lambda g, _y, _x, _o: g, lambda g, _y, _x, _o: 0 * g),
    )
    yield functions
    for function in vars(functions).values():
        del registry.OPERATIONS[function]


def test_a_function_is_recorded_under_its_name(own: SimpleNamespace) -> None:
    """The tape has one record of it, and derivatives of every order."""
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape() as outer:
        with tm.GradientTape(persistent=True) as tape:
            y = own.cube(x)
        slope = tape.gradient(y, x)

    assert [record.name for record in tape.records] == ["cube"]
    assert y.numpy().tolist() == [1.0, 8.0]
    assert slope.numpy().tolist() == [3.0, 12.0]
    assert outer.gradient(slope, x).numpy().tolist() == [6.0, 12.0]
    assert tape.jacobian(y, x).numpy().tolist() == [[3.0, 0.0], [0.0, 12.0]]


def test_several_arguments_and_a_python_float(own: SimpleNamespace) -> None:
    """Arguments beside the tensor may be lists, options are passed on, and a float is a result as any other."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        d = own.gap(x, np.array([0.0, 4.0]), scale=3.0)

    assert d.dtype == np.float64
    assert tape.gradient(d, x).numpy().tolist() == [6.0, -12.0]


def test_arrays_pass_through(own: SimpleNamespace) -> None:
    """Without a tensor the function computes as before."""
    assert own.cube(np.array([2.0])).tolist() == [8.0]
    assert own.cube(2.0) == 8.0


def test_a_function_cannot_write_into_a_tensor(own: SimpleNamespace) -> None:
    """What it is given is read-only, and what it returns is a copy where it is the same memory."""
    mine = np.array([1.0])
    result = own.first(mine, tm.constant([2.0]))
    mine[:] = 5.0

    with pytest.raises(ValueError, match="read-only"):
        own.double(tm.constant([1.0]))
    assert result.numpy().tolist() == [1.0]


def test_an_argument_without_a_rule_is_refused(own: SimpleNamespace) -> None:
    """A tracked tensor in an option is refused, as for NumPy's functions."""
    v = tm.Variable(3.0)
    with (
        tm.GradientTape(),
        pytest.raises(UnsupportedArgumentError, match="no derivative in 'scale'"),
    ):
        own.gap(v, 1.0, scale=v)


@pytest.mark.parametrize(
    ("args", "match"),
    [
        ((3.0, lambda g, _y, _x: g), "takes a function and its rules, not 3.0"),
        ((cube,), "needs a rule for each array argument"),
        ((cube, np.multiply), "a rule is a Python function"),
        ((cube, lambda g, _y: g), r"takes 2: write lambda g, y, x1: \.\.\."),
    ],
)
def test_bad_rules(args: Any, match: str) -> None:
    """What cannot be a rule is refused when it is given."""
    with pytest.raises(FunctionError, match=match):
        tm.register_vjp(*args)


# -- the table in a fresh process --------------------------------------------------------------------

LATE = """
v = tm.Variable([[1.0, 2.0], [3.0, 5.0]])
with tm.GradientTape(persistent=True) as tape:
    ys = [np.pad(v, 1), np.percentile(v, 25), np.linalg.norm(v), np.linalg.det(v), tm.relu(v)]
print([tape.gradient(y, v) is not None for y in ys])
"""


@pytest.mark.parametrize("register", ["tm.register_vjp", "tapemagic.engine.registry.vjp"])
def test_a_rule_for_a_function_that_has_one(register: str) -> None:
    """It is refused at once, whatever is in the table so far; and the table is whole afterwards."""
    code = f"""
import tapemagic.engine.registry
try:
    {register}(np.linalg.det, lambda g, _y, _x: g)
except ValueError as error:
    print(error)
"""
    assert output_of(code + LATE).splitlines() == [
        "det is in the table already: a second rule would hide the first",
        "[True, True, True, True, True]",
    ]


def test_a_rule_for_a_function_that_has_none() -> None:
    """It is used, and the table is whole."""
    code = """
tm.register_vjp(np.emath.sqrt, lambda g, y, x: g / (2 * y))
twice = tm.register_vjp(lambda x: 2 * x, lambda g, _y, _x: 2 * g)
v = tm.Variable([4.0])
with tm.GradientTape() as tape:
    y = np.sum(np.emath.sqrt(v)) + np.sum(twice(v))
print(tape.gradient(y, v))
"""
    assert output_of(code + LATE).splitlines() == [
        "[2.25]",
        "[True, True, True, True, True]",
    ]


def test_filling_that_fails() -> None:
    """A module that fails while the table is being filled is named, and tried again at the next call."""
    code = """
import importlib
real = importlib.import_module
from tapemagic.engine import registry
fills = registry.LATER[:]
def failing():
    fills[7]()
    raise MemoryError("no room")
registry.LATER[7] = failing
v = tm.Variable([[1.0, 2.0], [3.0, 5.0]])
with tm.GradientTape() as tape:
    for _ in range(2):
        try:
            np.pad(v, 1)
        except MemoryError as error:
            print(error)
registry.LATER[0] = fills[7]
"""
    assert output_of(code + LATE).splitlines() == [
        "no room",
        "no room",
        "[True, True, True, True, True]",
    ]


def test_a_module_that_fails_half_way() -> None:
    """What it had registered may be registered again by the next attempt."""
    code = """
from tapemagic.engine import registry
sigmoid = np.emath.sqrt
attempts = []
def half():
    registry.vjp(np.emath.sqrt, lambda g, y, x: g / (2 * y))
    attempts.append(1)
    if len(attempts) == 1:
        raise KeyboardInterrupt
registry.LATER.insert(0, half)
try:
    registry.complete()
except KeyboardInterrupt:
    print("stopped")
"""
    assert output_of(code + LATE).splitlines() == ["stopped", "[True, True, True, True, True]"]


def test_two_threads_at_once() -> None:
    """A thread that asks while another one fills the table waits for it."""
    code = """
from threading import Thread
found = []
def ask(k):
    v = tm.Variable(np.eye(2) + k)
    with tm.GradientTape() as tape:
        y = np.linalg.norm(v) + np.percentile(v, 30)
    found.append(tape.gradient(y, v) is not None)
threads = [Thread(target=ask, args=(k,)) for k in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(found == [True] * 8)
"""
    assert output_of(code) == "True"


def test_registering_completes_the_table_only_for_others_functions() -> None:
    """The package's own modules register their functions without loading the rest."""
    code = """
from tapemagic.engine import registry
tm.softmax, tm.scatter_add, tm.erf
print(len(registry.LATER) > 0)
"""
    assert output_of(code) == "True"
