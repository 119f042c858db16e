"""Doors through which a value could leave the tape without a word: shut, or they say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import (
    ImmutableError,
    NoDerivativeError,
    NotATensorError,
    UnsupportedArgumentError,
)
from tests.conformance.programs import encode, raised_by

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])


def gradient_of(function: Any, point: Any = MATRIX) -> Any:
    """The gradient of a function of one tensor."""
    x = tm.constant(point)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return encode(tape.gradient(y, x))


# -- plain facts ---------------------------------------------------------------------------------


def test_shapes_are_plain() -> None:
    """np.shape, ndim, size and len give plain Python values, and are not recorded."""
    x = tm.constant(MATRIX)
    with tm.GradientTape() as tape:
        tape.watch(x)
        facts = [
            np.shape(x),
            np.ndim(x),
            np.size(x),
            np.size(x, 0),
            x.shape,
            x.ndim,
            x.size,
            len(x),
        ]

    assert facts == [(2, 2), 2, 4, 2, (2, 2), 2, 4, 2]
    assert [type(fact) for fact in facts] == [tuple, int, int, int, tuple, int, int, int]
    assert tape.records == ()


def test_predicates_are_plain() -> None:
    """isscalar, iscomplexobj, result_type and their like answer as for arrays."""
    x = tm.constant(MATRIX)

    assert [np.iscomplexobj(x), np.isrealobj(x), np.isscalar(x)] == [False, True, False]
    assert np.result_type(x, np.float32) == np.float64
    assert np.allclose(x, MATRIX)
    assert np.array_equal(x, MATRIX)
    np.testing.assert_array_equal(x, MATRIX)
    np.testing.assert_allclose(x, MATRIX)


def test_comparisons_are_plain() -> None:
    """Comparisons give arrays of truth values, fit for np.where and masks."""
    x = tm.constant(MATRIX)
    results = [x > 2.0, x == MATRIX, 2.0 >= x, np.isfinite(x), np.logical_not(x > 2.0), x != 1.0]

    assert all(type(result) is np.ndarray and result.dtype == bool for result in results)
    assert results[0].tolist() == [[False, False], [True, True]]


# -- lists of tensors ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.stack([x[0], x[1]]) * MATRIX,
        lambda x: np.concatenate([x, x[:1]]) * np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]),
        lambda x: np.concatenate((x[:1], 5.0 * MATRIX[:1], x[1:])) * np.array([[1.0, 2.0], [9.0, 9.0], [3.0, 4.0]]),
        lambda x: np.vstack([x[0], x[1]]) * MATRIX,
        lambda x: np.hstack([x[:, :1], x[:, 1:]]) * MATRIX,
        lambda x: np.stack([np.stack([x[0, 0], x[0, 1]]), x[1]]) * MATRIX,
        lambda x: np.sum(MATRIX * np.stack(list(x))),
        lambda x: x * 0.0 + [[x[0, 0] * 1.0, x[0, 1] * 2.0], [x[1, 0] * 3.0, x[1, 1] * 4.0]],
        lambda x: [[x[0, 0] * 1.0, x[0, 1] * 2.0], [x[1, 0] * 3.0, x[1, 1] * 4.0]] + x * 0.0,
        lambda x: [x[0, 0] * 1.0, x[0, 1] * 2.0, x[1, 0] * 3.0, x[1, 1] * 4.0],
    ],
)  # fmt: skip
def test_lists_keep_gradients(function: Any) -> None:
    """Tensors within lists, as arguments, operands and targets, keep their gradients."""
    assert gradient_of(function) == MATRIX.tolist()


@pytest.mark.parametrize("function", [np.sum, np.sin, np.mean, np.max])
def test_lists_of_tensors_as_the_array(function: Any) -> None:
    """Where NumPy makes an array of a list without asking, the result is refused as a target."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function([x[0], x[1]])
        error = raised_by(lambda: tape.gradient(y, x))

    assert isinstance(y, (np.ndarray, np.generic))
    assert isinstance(error, NotATensorError)
    assert "Plain arrays aren't on the tape" in str(error)


# -- ufuncs ---------------------------------------------------------------------------------------


def test_where_of_a_ufunc() -> None:
    """A ufunc's where= leaves gaps: refused, with np.where in the message."""
    error = raised_by(lambda: np.sin(tm.constant(MATRIX), where=MATRIX > 2.0))

    assert isinstance(error, UnsupportedArgumentError)
    assert "np.where(condition, np.sin(x), otherwise)" in str(error)


def test_methods_of_ufuncs() -> None:
    """Methods of ufuncs without a rule name themselves."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        refused = raised_by(lambda: np.multiply.reduceat(x, [0, 1]))
        in_place = raised_by(lambda: np.add.at(x, 0, 1.0))

    assert isinstance(refused, NoDerivativeError)
    assert "np.multiply.reduceat" in str(refused)
    assert "x.numpy()" in str(refused)
    assert isinstance(in_place, ImmutableError)
    assert "np.add.at" in str(in_place)
    assert "scatter_add" in str(in_place)


def test_reduce_and_accumulate() -> None:
    """ufunc.reduce and .accumulate are sums and running sums; the default axis is the first."""
    x = tm.constant(MATRIX)

    assert np.add.reduce(x).tolist() == np.add.reduce(MATRIX).tolist()
    assert np.multiply.accumulate(x).tolist() == np.multiply.accumulate(MATRIX).tolist()
    assert gradient_of(np.multiply.reduce) == [[3.0, 4.0], [1.0, 2.0]]
    assert gradient_of(lambda x: np.add.reduce(x, axis=None)) == [[1.0, 1.0], [1.0, 1.0]]
    for axis, refused in ((None, ValueError), ((0, 1), ValueError), (2, np.exceptions.AxisError)):
        with pytest.raises(refused):
            np.add.accumulate(x, axis=axis)
    with pytest.raises(TypeError, match="scalar"):
        np.add.accumulate(x[0, 0])


REDUCTIONS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "dtype by position": ((0, None), {}),
    "dtype": ((), {"dtype": None}),
    "all by position": ((1, None, None, True), {}),
    "truth values": ((0, bool), {}),
    "all axes": ((None,), {"keepdims": True}),
}


@pytest.mark.parametrize(
    "ufunc",
    [np.add, np.multiply, np.maximum, np.minimum, np.logical_and, np.logical_or],
    ids=lambda ufunc: ufunc.__name__,
)
@pytest.mark.parametrize(("args", "options"), REDUCTIONS.values(), ids=REDUCTIONS.keys())
def test_arguments_of_reduce(ufunc: Any, args: Any, options: Any) -> None:
    """ufunc.reduce takes its own arguments, of which the function of another name has no dtype."""
    expected = ufunc.reduce(MATRIX, *args, **options)
    actual = np.asarray(ufunc.reduce(tm.constant(MATRIX), *args, **options))

    assert actual.dtype == expected.dtype
    assert actual.tolist() == expected.tolist()


def test_dtype_of_reduce() -> None:
    """The largest of numbers that are cast first has its gradient; start and mask of truth values are theirs."""
    x = tm.constant(MATRIX)
    largest = np.maximum.reduce(x, 0, np.float32)
    all_true = np.logical_and.reduce(x, None, initial=False, where=MATRIX > 1.0)

    assert largest.dtype == np.float32
    assert gradient_of(lambda x: np.minimum.reduce(x, dtype="f4")) == [[1.0, 1.0], [0.0, 0.0]]
    assert not all_true
    with tm.GradientTape() as tape:
        tape.watch(x)
        refused = raised_by(lambda: np.logical_or.reduce(x, out=np.empty(2, bool)))
        assert isinstance(refused, ImmutableError)
        assert isinstance(raised_by(lambda: np.maximum.reduce(x, out=np.empty(2))), ImmutableError)


def test_logical_reductions_are_heard() -> None:
    """Where truth values are all that is left of a tensor, the tape knows."""
    x = tm.constant(MATRIX)
    with tm.GradientTape() as tape:
        tape.watch(x)
        np.logical_and.reduce(x)

    assert [event.what for event in tape._events] == ["np.logical_and.reduce"]


@pytest.mark.parametrize("where", [True, np.True_, np.array(True)])
def test_where_everywhere(where: Any) -> None:
    """A ufunc's where= that is a single True leaves no gaps."""
    assert gradient_of(lambda x: np.square(x, where=where)) == (2.0 * MATRIX).tolist()
    assert gradient_of(lambda x: np.multiply(x, x, where=where)) == (2.0 * MATRIX).tolist()


@pytest.mark.parametrize("where", [np.False_, np.array([True, True]), [True, False], 1])
def test_where_with_gaps(where: Any) -> None:
    """Any other where= is refused."""
    error = raised_by(lambda: np.exp(tm.constant(MATRIX), where=where))

    assert isinstance(error, UnsupportedArgumentError)


@pytest.mark.parametrize("function", [np.modf, np.frexp])
@pytest.mark.parametrize(
    "options", [{"order": "F"}, {"casting": "same_kind"}, {"subok": False}, {"where": np.True_}], ids=str
)  # fmt: skip
def test_options_of_ufuncs_with_several_results(function: Any, options: Any) -> None:
    """Options of a ufunc on which no derivative depends are taken."""
    expected = function(MATRIX)
    actual = function(tm.constant(MATRIX), **options)

    assert [np.asarray(part).tolist() for part in actual] == [part.tolist() for part in expected]


# -- knowing exits -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "take", [np.asarray, np.array, np.asanyarray, np.ascontiguousarray, lambda x: x.numpy()]
)
def test_arrays_are_copies(take: Any) -> None:
    """np.asarray(t), np.array(t) and t.numpy() are arrays that cannot reach into the tensor."""
    x = tm.constant(MATRIX)
    taken = take(x)
    taken[:] = 0.0

    assert type(taken) is np.ndarray
    assert x.numpy().tolist() == MATRIX.tolist()


def test_array_without_copy() -> None:
    """np.asarray(t, copy=False) is a read-only view."""
    view = np.asarray(tm.constant(MATRIX), copy=False)

    assert isinstance(raised_by(lambda: view.__setitem__(0, 1.0)), ValueError)


def test_array_dtype() -> None:
    """np.asarray(t, dtype) casts."""
    assert np.asarray(tm.constant([1.5]), dtype=np.float32).dtype == np.float32


def test_python_numbers() -> None:
    """float, int, complex, bool, round and item of one number give what Python says."""
    x = tm.constant(2.5)

    assert [float(x), int(x), complex(x), bool(x), x.item(), x.tolist()] == [
        2.5,
        2,
        2.5 + 0j,
        True,
        2.5,
        2.5,
    ]
    assert [type(f(x)) for f in (float, int, complex, bool)] == [float, int, complex, bool]
    assert float(tm.constant([[2.5]]).item()) == 2.5
    assert float(round(tm.constant(2.567), 2)) == 2.57


@pytest.mark.parametrize("convert", [bool, float, int, complex])
def test_python_numbers_of_arrays(convert: Any) -> None:
    """bool, float, int and complex of several elements raise, as NumPy does."""
    error = raised_by(lambda: convert(tm.constant(MATRIX)))

    assert isinstance(error, (ValueError, TypeError))


def test_whole_numbers_as_index() -> None:
    """A whole number tensor indexes lists and feeds range; a real one does not."""
    n = tm.constant(2)

    assert [10, 20, 30][n] == 30
    assert list(range(n)) == [0, 1]
    assert isinstance(raised_by(lambda: [1, 2][tm.constant(1.0)]), TypeError)


def test_length() -> None:
    """len of a number raises and says what it is."""
    error = raised_by(lambda: len(tm.constant(1.0)))

    assert isinstance(error, TypeError)
    assert "one number" in str(error)


def test_iteration() -> None:
    """Iteration, unpacking, enumerate, reversed, sum and `in` work; parts stay on the tape."""
    x = tm.constant([1.0, 2.0, 3.0])
    a, *rest = x

    assert [float(a), [float(y) for y in rest]] == [1.0, [2.0, 3.0]]
    assert [float(y) for y in reversed(x)] == [3.0, 2.0, 1.0]
    assert [2.0 in x, 7.0 in x, a in x] == [True, False, True]
    assert gradient_of(lambda x: sum(y * y for y in x), [1.0, 2.0, 3.0]) == [2.0, 4.0, 6.0]
    assert gradient_of(lambda x: sum(i * y for i, y in enumerate(x)), [1.0, 2.0, 3.0]) == [
        0.0,
        1.0,
        2.0,
    ]
    assert isinstance(raised_by(lambda: list(tm.constant(1.0))), TypeError)


# -- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tm.constant(6.0), "Tensor(6.0)"),
        (tm.constant([1.0, 2.0]), "Tensor([1., 2.])"),
        (tm.constant([[1.0, 2.5], [3.0, 4.0]]), "Tensor([[1. , 2.5],\n        [3. , 4. ]])"),
        (tm.constant(3), "Tensor(3)"),
        (tm.constant(True), "Tensor(True)"),
        (tm.constant(1.0 + 2.0j), "Tensor((1+2j))"),
        (tm.constant(0.1 + 0.2), "Tensor(0.3)"),
        (tm.constant(1e300), "Tensor(1e+300)"),
        (tm.constant(-1.0), "Tensor(-1.0)"),
        (tm.constant(np.nan), "Tensor(nan)"),
        (tm.constant(1.5, "float32"), "Tensor(1.5, dtype=float32)"),
        (tm.constant([1, 2], "int32"), "Tensor([1, 2], dtype=int32)"),
        (tm.constant(np.zeros((0, 2))), "Tensor([])"),
        (tm.Variable([1.0, 2.0], name="w"), "Variable([1., 2.], name='w')"),
        (tm.Variable(3.0), "Variable(3.0, name='Variable')"),
    ],
)
def test_repr(value: Any, text: str) -> None:
    """repr is short, and the same every time: no address, no number of its own; str is that of the value."""
    assert repr(value) == text
    assert str(value) == f"{value!s}" == "%s" % value == str(value.numpy())  # noqa: UP031
    assert f"{value}" == f"{value.numpy()}"


def test_formats() -> None:
    """f-strings format one number as Python does; an array says how to go on."""
    x = tm.constant(1234.5678)
    error = raised_by(lambda: f"{tm.constant(MATRIX):.2f}")

    assert [f"{x:.2f}", f"{x:,.1f}", f"{x:10.3e}|", f"{tm.Variable(0.5):.0%}"] == [
        "1234.57",
        "1,234.6",
        " 1.235e+03|",
        "50%",
    ]
    assert f"{tm.constant(7):03d}" == "007"
    assert isinstance(error, TypeError)
    assert "shape (2, 2)" in str(error)
    assert "'.2f'" in str(error)
