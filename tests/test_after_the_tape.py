"""After the tape: where no tape follows a tensor, other libraries compute with it as with its number."""

from __future__ import annotations

import csv
import io
import json
import math
import operator
import random
import statistics
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import ImmutableError, UnhashableError, UnsupportedArgumentError
from tests.conformance.programs import raised_by

NUMBERS: dict[str, Any] = {
    "x": 2.5, "y": 0.5, "k": 7.0, "n": 3, "v": np.array([1.0, 2.0, 3.0]), "m": np.arange(4.0).reshape(2, 2),
    "i": np.array([2, 0, 1]), "f": np.float32(0.1), "b": True, "c": 1.0 + 2.0j, "s": np.array([1.5, 1e10]),
}  # fmt: skip
"""Numbers and arrays by the names in the programs below."""

A = np.array([1.0, 2.0, 3.0])


def in_place(name: str, x: Any, dtype: Any = float) -> Any:
    """The array that an in-place operator returns, and whether it is the array on the left."""
    a = np.eye(len(x), dtype=dtype) if np.ndim(x) == 2 else np.array([1, 2, 3], dtype)
    result = getattr(operator, name)(a, x)
    return result, result is a


def row(*values: Any) -> str:
    """What csv writes for a row."""
    file = io.StringIO()
    csv.writer(file).writerow(values)
    return file.getvalue()


def saved(x: Any) -> str:
    """What np.savetxt writes."""
    file = io.StringIO()
    np.savetxt(file, x)
    return file.getvalue()


def seeded(name: str, *arguments: Any) -> Any:
    """The result of a function of `random`."""
    return getattr(random.Random(0), name)(*arguments)  # noqa: S311 (a test needs no secrets)


def written(function: Any, *arguments: Any) -> Any:
    """The array that a function writes into."""
    a = np.zeros((3, 3))
    function(a, *arguments)
    return a


def added_at(indices: list[int], x: Any) -> Any:
    """np.add.at on an array."""
    a = np.zeros(3)
    np.add.at(a, indices, x)
    return a


TEXTS = [
    "str(x)", "str(v)", "str(m)", "str(f)", "str(b)", "str(c)", "str(k)", "str(n)", "str(s)", "f'{x}'", "f'{v}'",
    "f'{f}'", "f'{x:.3f}'", "f'{n:03d}'", "f'{x!s:>9}'", "f'{k:.{n}f}'", "'{}'.format(x)",
    "'%s|%.2f|%d' % (x, x, n)", "row(x, n, v, f)", "','.join(map(str, v))",
]  # fmt: skip

PROGRAMS = [
    *(f"in_place({name!r}, v)" for name in ("iadd", "isub", "imul", "itruediv", "ipow", "ifloordiv", "imod")),
    "in_place('iadd', x)", "in_place('imatmul', m)", "in_place('iadd', n, int)", "in_place('ior', n, int)",
    "np.add(A, v, out=np.zeros(3))", "np.sum(v, out=np.zeros(()))", "np.cumsum(v, out=np.zeros(3))",
    "np.log(v, out=np.zeros(3), where=A > 1)", "np.maximum.reduce(m, out=np.zeros(2))",
    "added_at([0, 1, 1], v)", "written(np.copyto, v)", "written(np.fill_diagonal, x)", "written(np.put, [0, 4], x)",
    "written(np.place, np.eye(3) > 0, v)", "written(np.putmask, np.eye(3) > 0, x)", "np.full_like(A, x)",
    "np.full((2, n), x)", "np.nan_to_num(np.array([np.nan]), nan=x)", "statistics.mean([x, y])",
    "statistics.mean([x, 2, y])", "statistics.stdev([x, y, k])", "statistics.median([x, y, k])",
    "statistics.fmean([x, 1.5])", "statistics.mean(v)", "x.as_integer_ratio()", "timedelta(seconds=1) * x",
    "x * timedelta(seconds=1)", "timedelta(days=6) / n", "math.sin(x)", "math.floor(x)", "math.factorial(n)",
    "math.fsum([x, y])", "math.dist([x, y], [0, 0])", "list(range(n))", "A[i]", "A[n - 1]", "[1, 2, 3][:n]", "'ab' * n",
    "np.zeros((n, n))", "np.linspace(0, x, n)", "seeded('gauss', x, 1)", "seeded('uniform', x, y)",
    "seeded('randint', 0, n)", "np.random.default_rng(0).normal(x, y, size=n)", "round(x)", "round(x, 1)", "round(n)",
    "int(x)", "divmod(x, y)", "json.dumps({'x': float(x), 'v': v.tolist()})", "sorted([x, y])", "max([x, y])", "min(v)",
    "sum([x, y])", "2.5 in [x]", "[x, y].index(0.5)", "saved(v)", "saved(m)", "np.interp(x, [0, 5], [0, 10])",
    "np.interp(v, [0, 5], [0, 10])", "np.array([x, y])", "np.histogram(v)", "np.broadcast_arrays(v, x)[1]", "A[A > x]",
]  # fmt: skip


LIBRARIES = {"json": json, "math": math, "statistics": statistics, "timedelta": timedelta}


def evaluated(program: str, values: dict[str, Any]) -> Any:
    """The result of a program, without tensors."""
    result = eval(program, {**globals(), **LIBRARIES, **values})  # noqa: S307 (programs of this file)
    parts = result if isinstance(result, tuple) else (result,)
    return [
        x.numpy().tolist() if isinstance(x, tm.Tensor) else np.asarray(x).tolist() for x in parts
    ]


@pytest.mark.parametrize("make", [tm.constant, tm.Variable])
@pytest.mark.parametrize("program", TEXTS)
def test_text(program: str, make: Any) -> None:
    """Text is that of NumPy's value, as with NumPy's scalars and arrays."""
    tensors = {name: make(value) for name, value in NUMBERS.items()}
    expected = {name: tensor.numpy() for name, tensor in tensors.items()}

    assert evaluated(program, tensors) == evaluated(program, expected)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_with_the_number(program: str) -> None:
    """Without a tape, and beside a tape that follows something else, a program gives what it gives for numbers."""
    tensors = {name: tm.constant(value) for name, value in NUMBERS.items()}
    expected = evaluated(program, NUMBERS)

    assert evaluated(program, tensors) == expected
    with tm.GradientTape() as tape:
        tape.watch(tm.constant(1.0))
        assert evaluated(program, tensors) == expected


def test_a_tape_that_ended() -> None:
    """What a tape followed in its block is a number after it."""
    x = tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = x * x
    a = np.zeros(2)
    a += y
    a += x

    assert a.tolist() == [2.0, 6.0]
    assert tape.gradient(y, x).tolist() == [2.0, 4.0]


def test_a_tape_that_follows() -> None:
    """What loses a gradient is refused while a tape follows the tensor, also where only the gradient does so."""
    x = tm.Variable(3.0)
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            y = x**3
        slope = inner.gradient(y, x)
        errors = [
            raised_by(lambda: operator.iadd(np.zeros(1), slope)),
            raised_by(lambda: np.copyto(np.zeros(1), slope)),
            raised_by(lambda: np.add.at(np.zeros(1), 0, slope)),
        ]
        mean = raised_by(lambda: statistics.mean([slope]))
        rounded = round(slope)

    assert all(isinstance(error, ImmutableError) for error in errors)
    assert isinstance(mean, UnsupportedArgumentError)
    assert isinstance(rounded, tm.Tensor)
    assert outer.gradient(slope, x).numpy() == 18.0


def test_paused_recording() -> None:
    """Inside stop_recording no tape follows."""
    x, a = tm.Variable(3.0), np.zeros(1)
    with tm.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            a += y

    assert a.tolist() == [9.0]
    assert tape.gradient(y, x).numpy() == 6.0


@pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning")
@pytest.mark.parametrize("change", [operator.iadd, np.copyto, lambda y, x: np.add.at(y, [0, 0], x)])
def test_in_a_traced_function(change: Any) -> None:
    """A function decorated with tm.function writes into arrays as without the decorator."""
    constant = tm.constant([1.0, 2.0])

    def compute(x: Any) -> Any:
        y, z = x * 2.0, np.zeros(2)
        change(y, constant)
        change(z, tm.constant(x))
        return y, z

    traced = tm.function(compute)
    for value in (np.array([1.0, 3.0]), np.array([2.0, 5.0]), np.array([1.0, 3.0])):
        assert [x.tolist() for x in traced(value)] == [x.tolist() for x in compute(value)]


def test_hashing_says_what_to_write() -> None:
    """A tensor is no key of a dict; the error says what is."""
    words = {
        2.0: "write float(x) for its number, or x.ref()",
        (1.0,): "write tuple(x.tolist()) for its numbers",
    }
    for value, text in words.items():
        error = raised_by(lambda value=value: {tm.constant(value): 1})
        assert isinstance(error, UnhashableError)
        assert text in str(error)
    assert "write x.ref()" in str(raised_by(lambda: hash(tm.constant([[1.0]]))))
    assert {float(tm.constant(2.0)): 1} == {2.0: 1}


def test_tensorflow_prints_as_tensorflow() -> None:
    """A tensor made with tapemagic.tf has TensorFlow's text; arrays are written into in the same way."""
    from tapemagic import tf

    x, a = tf.constant([1.0, 2.0]), np.zeros(2)
    a += x

    assert str(x * 2) == "tf.Tensor([2. 4.], shape=(2,), dtype=float32)"
    assert str(tf.Variable(1.0)).startswith("<tf.Variable")
    assert f"{x[0]}" == "1.0"
    assert f"{tf.Variable(1.0)}".startswith("<tf.Variable")
    assert type(a) is np.ndarray
    assert a.tolist() == [1.0, 2.0]


# -- pandas and Matplotlib --------------------------------------------------------------------------

OPERATORS = (
    *["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "ge", "eq", "ne"],
    "divmod",
)


def equal(a: Any, b: Any) -> bool:
    """Whether two results are of one type, and equal, labels included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return all(map(equal, a, b))
    return bool(a.equals(b) if hasattr(a, "equals") else np.array_equal(a, b, equal_nan=True))


@pytest.mark.parametrize("value", [2.5, A, np.ones((3, 2))], ids=["number", "row", "matrix"])
@pytest.mark.parametrize("kind", ["DataFrame", "Series", "Index"])
@pytest.mark.parametrize("name", OPERATORS)
def test_pandas_operators(name: str, kind: str, value: Any) -> None:
    """pandas' data stay pandas' data, as with the number or array, on both sides."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, np.nan]}, index=list("xyz"))
    data = {"DataFrame": table, "Series": table["b"], "Index": table.set_index("a").index}[kind]
    function = divmod if name == "divmod" else getattr(operator, name)

    def result(*operands: Any) -> Any:
        try:
            return function(*operands)
        except ValueError:  # shapes that pandas refuses
            return ValueError

    for turn in (1, -1):
        actual = result(*(data, tm.constant(value))[::turn])
        expected = result(*(data, value)[::turn])
        assert actual is expected is ValueError or equal(actual, expected)


def test_pandas_on_a_tape() -> None:
    """While a tape follows the tensor, the result is a tensor, on the tape."""
    pd = pytest.importorskip("pandas")
    x, series = tm.Variable(2.0), pd.Series([1.0, 2.0])
    with tm.GradientTape() as tape:
        y = np.sum(series * x)

    assert tape.gradient(y, x).numpy() == 3.0
    assert isinstance(series * x, pd.Series)
    assert isinstance(np.maximum(series, x), pd.Series)


def test_pandas_records() -> None:
    """A table of records has the numbers, as text and, with astype, as a column of floats."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame([{"x": tm.constant(2.5)}, {"x": tm.constant(3.5)}])

    assert str(table) == str(pd.DataFrame([{"x": 2.5}, {"x": 3.5}]))
    assert table.astype(float)["x"].mean() == 3.0


def test_matplotlib() -> None:
    """Curves, bars, points and lines take tensors."""
    figure = pytest.importorskip("matplotlib.figure")
    v, x = tm.constant(A), tm.constant(2.5)
    axes = figure.Figure().subplots()

    assert axes.plot(v, v**2)[0].get_xydata().tolist() == [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0]]
    assert [bar.get_height() for bar in axes.bar(v, v)] == [1.0, 2.0, 3.0]
    assert axes.scatter(v, v, s=v, c=v).get_offsets().tolist() == [
        [1.0, 1.0],
        [2.0, 2.0],
        [3.0, 3.0],
    ]
    assert axes.set_title(x).get_text() == "2.5"
    assert list(axes.axhline(x).get_ydata()) == [2.5, 2.5]
