"""NumPy's array methods and properties on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import GradientTape, Tensor, Variable, check_gradients, constant
from tapemagic.engine.tensor.conversions import Conversions
from tapemagic.engine.tensor.methods import ArrayMethods, MissingAttribute
from tapemagic.errors import ImmutableError, UnsupportedArgumentError
from tests.together import check_each

Call = Callable[[Any], Any]

MATRIX = np.array([[0.5, -1.5, 2.0], [3.0, 0.25, -0.75]])
ODD = np.array([[0.3, -1.2, 2.7], [1.1, -0.4, 0.6]])

DIFFERENTIABLE: dict[str, list[Call]] = {
    "T": [lambda x: x.T, lambda x: x[0].T, lambda x: x[0, 0].T],
    "mT": [lambda x: x.mT, lambda x: x[None].mT],
    "real": [lambda x: x.real, lambda x: (x * (1 + 2j)).real],
    "imag": [lambda x: (x * (1 + 2j)).imag],
    "astype": [
        lambda x: x.astype(float),
        lambda x: x.astype("complex128"),
        lambda x: x[0, 0].astype(np.float64, copy=False),
        lambda x: x.astype("f8", "F", "safe", True, False).ravel("K"),
        lambda x: x.astype("c16", order="C", casting="same_kind"),
    ],
    "reshape": [
        lambda x: x.reshape(3, 2),
        lambda x: x.reshape((3, -1)),
        lambda x: x.reshape([6]),
        lambda x: x.reshape(-1),
        lambda x: x.reshape(2, 1, 3, order="F"),
        lambda x: x[0, 0].reshape(()),
    ],
    "transpose": [
        lambda x: x.transpose(),
        lambda x: x.transpose(None),
        lambda x: x.transpose(1, 0),
        lambda x: x.transpose((1, 0)),
        lambda x: x[None].transpose([2, 0, 1]),
        lambda x: x[None].transpose(-1, 0, 1),
        lambda x: x[0].transpose(0),
    ],
    "flatten": [lambda x: x.flatten(), lambda x: x.flatten("F"), lambda x: x.flatten(order="A")],
    "ravel": [lambda x: x.ravel(), lambda x: x.ravel("F"), lambda x: x.T.ravel(order="K")],
    "swapaxes": [lambda x: x.swapaxes(0, 1), lambda x: x[None].swapaxes(-1, 0)],
    "squeeze": [lambda x: x[:1].squeeze(), lambda x: x[:, :1].squeeze(axis=1)],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([2, 0, 1], axis=1)],
    "copy": [lambda x: x.copy(), lambda x: x.copy("F").ravel("K"), lambda x: x.copy(order="A")],
    "compress": [
        lambda x: x.compress([True, False, True], axis=1),
        lambda x: x.compress([False, True]),
        lambda x: x.compress([False, True], 0, None),
    ],
    "clip": [
        lambda x: x.clip(-1, 1),
        lambda x: x.clip(-1, 1, None),
        lambda x: x.clip(max=0.4),
        lambda x: x.clip(min=0.4),
    ],
    "sum": [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.sum(axis=1, keepdims=True)],
    "prod": [lambda x: x.prod(), lambda x: x.prod(axis=0)],
    "mean": [lambda x: x.mean(), lambda x: x.mean(1), lambda x: x.mean(axis=(0, 1))],
    "std": [lambda x: x.std(), lambda x: x.std(axis=1, ddof=1)],
    "var": [lambda x: x.var(), lambda x: x.var(0)],
    "max": [lambda x: x.max(), lambda x: x.max(axis=1)],
    "min": [lambda x: x.min(), lambda x: x.min(axis=0, keepdims=True)],
    "cumsum": [lambda x: x.cumsum(), lambda x: x.cumsum(axis=1)],
    "cumprod": [lambda x: x.cumprod(), lambda x: x.cumprod(0)],
    "take": [lambda x: x.take([0, 5, 0]), lambda x: x.take([1], axis=0)],
    "dot": [lambda x: x.dot(x.T), lambda x: x.dot(np.ones(3))],
    "diagonal": [lambda x: x.diagonal(), lambda x: x.diagonal(offset=1)],
    "trace": [lambda x: x.trace(), lambda x: x.trace(offset=-1)],
    "conj": [lambda x: x.conj(), lambda x: (x * 1j).conj()],
    "conjugate": [lambda x: x.conjugate()],
}

WITHOUT_DERIVATIVE: dict[str, list[Call]] = {
    "shape": [lambda x: x.shape],
    "dtype": [lambda x: x.dtype],
    "ndim": [lambda x: x.ndim],
    "size": [lambda x: x.size],
    "nbytes": [lambda x: x.nbytes],
    "itemsize": [lambda x: x.itemsize],
    "strides": [lambda x: x.strides, lambda x: x[0, 0].strides],
    "item": [lambda x: x.item(4), lambda x: x.item(1, 2), lambda x: x[0, 0].item()],
    "tolist": [lambda x: x.tolist(), lambda x: x[0, 0].tolist()],
    "astype": [lambda x: x.astype(int), lambda x: x.astype(bool)],
    "argpartition": [lambda x: x.argpartition(1), lambda x: x.argpartition(1, axis=0)],
    "all": [lambda x: x.all(), lambda x: x.all(axis=0)],
    "any": [lambda x: x.any(), lambda x: x.any(axis=1)],
    "argmax": [lambda x: x.argmax(), lambda x: x.argmax(axis=1)],
    "argmin": [lambda x: x.argmin(), lambda x: x.argmin(0)],
    "argsort": [lambda x: x.argsort(), lambda x: x.argsort(axis=0)],
    "round": [lambda x: x.round(), lambda x: x.round(1)],
    "nonzero": [lambda x: x.nonzero()],
    "searchsorted": [lambda x: x[:, 0].searchsorted([1.0, 9.0])],
}

REFUSED: dict[str, list[Call]] = {
    "sort": [lambda x: x.sort(), lambda x: x.sort(axis=0)],
    "partition": [lambda x: x.partition(1)],
    "fill": [lambda x: x.fill(0.0)],
    "as_integer_ratio": [lambda x: x.as_integer_ratio()],
    "clip": [lambda x: x.clip(0, 1, np.empty((2, 3)))],
    "compress": [lambda x: x.compress([True], 0, np.empty((1, 3)))],
    "ravel": [lambda x: np.stack([x, x]).swapaxes(0, 1).ravel("K")],
}


LACKING = [
    name for name, value in vars(ArrayMethods).items() if isinstance(value, MissingAttribute)
]


def each(table: dict[str, list[Call]]) -> Any:
    """Parametrise a test over all calls of a table."""
    named = [(f"{name}-{k}", call) for name, calls in table.items() for k, call in enumerate(calls)]
    return pytest.mark.parametrize("call", [call for _, call in named], ids=[i for i, _ in named])


def test_every_method_is_tested() -> None:
    """Each public method and property of tensors is in one of the tables."""
    names = (*vars(ArrayMethods), *vars(Conversions))
    public = {name for name in names if not name.startswith("_")} - {"numpy", "ref"}

    tested = DIFFERENTIABLE.keys() | WITHOUT_DERIVATIVE.keys() | REFUSED.keys() | {"choose"}
    assert public == tested | set(LACKING)


VALUES = {
    f"{make.__name__} {name}": (make, value)
    for make in (constant, Variable)
    for name, value in {"C": MATRIX, "odd": ODD, "F": np.asfortranarray(ODD)}.items()
}


@each(DIFFERENTIABLE)
def test_value(call: Call) -> None:
    """A method gives a tensor with NumPy's value."""

    def check(made: tuple[Callable[[Any], Any], Any]) -> None:
        make, value = made
        expected = call(value)

        actual = call(make(value))

        assert isinstance(actual, Tensor)
        assert (expected.shape, expected.dtype) == (actual.shape, actual.dtype)
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-14)

    check_each(VALUES, check)


@each(DIFFERENTIABLE)
def test_gradient(call: Call) -> None:
    """The first and second derivatives through a method agree with difference quotients."""
    check_gradients(call, MATRIX)
    check_gradients(lambda x: call(x * x), ODD)


@each(WITHOUT_DERIVATIVE)
def test_without_derivative(call: Call) -> None:
    """A method without derivative gives NumPy's value, and nothing that a tape follows."""
    expected = call(MATRIX)
    x = constant(MATRIX)
    with GradientTape() as tape:
        tape.watch(x)
        actual = call(x)

    np.testing.assert_equal(actual.numpy() if isinstance(actual, Tensor) else actual, expected)
    if isinstance(actual, Tensor):
        assert tape.gradient(actual, x) is None


@each(REFUSED)
def test_refused(call: Call) -> None:
    """A method that would write in place, or that has no derivative, says what to write instead."""
    with pytest.raises((ImmutableError, UnsupportedArgumentError), match=r"write|leave"):
        call(constant(MATRIX))


@pytest.mark.parametrize("name", LACKING)
@pytest.mark.parametrize("make", [constant, Variable])
def test_what_only_arrays_have(name: str, make: Callable[[Any], Any]) -> None:
    """What an array has and a tensor has not is missing with advice."""
    x = make(MATRIX)

    assert hasattr(MATRIX, name)
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match=f"a {type(x).__name__} has no {name}: "):
        getattr(x, name)


def test_missing_attributes() -> None:
    """Other names are missing as they are from any object, and Python proposes what may have been meant."""
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'reshap'") as caught:
        getattr(constant(MATRIX), "reshap")  # noqa: B009 (mypy would see it)

    assert caught.value.name == "reshap"


def test_astype_casting() -> None:
    """A cast that is not allowed raises NumPy's error."""
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        constant(MATRIX).astype("f4", casting="safe")


def test_shifts() -> None:
    """Bits are shifted by << and >>, from either side."""
    x = constant([1, 2, 5])
    shifted = [x << 1, 1 << x, x >> 1, 9 >> x, x << np.array([1, 2, 3]), np.array([1, 2, 3]) >> x]

    assert [list(y) for y in shifted] == [
        [2, 4, 10],
        [2, 4, 32],
        [0, 1, 2],
        [4, 2, 0],
        [2, 8, 40],
        [0, 0, 0],
    ]


def test_choose() -> None:
    """The choice made by whole numbers passes gradients to what was chosen."""
    choices = constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with GradientTape() as tape:
        tape.watch(choices)
        y = constant([1, 0, 1]).choose(choices)

    np.testing.assert_array_equal(y.numpy(), [4.0, 2.0, 6.0])
    np.testing.assert_array_equal(tape.gradient(y, choices).numpy(), [[0, 1, 0], [1, 0, 1]])


def test_astype_keeps_precision_apart() -> None:
    """The gradient through a cast to float32 has the dtype of its source."""
    x = constant([1.0, 2.0])
    with GradientTape() as tape:
        tape.watch(x)
        y = x.astype(np.float32) * np.float32(3)

    assert y.dtype == np.float32
    gradient = tape.gradient(y, x)
    assert gradient.dtype == np.float64
    np.testing.assert_array_equal(gradient.numpy(), [3.0, 3.0])


def test_ref_is_a_key() -> None:
    """A reference stands for one tensor, whatever others are equal to it."""
    x, same = constant(1.0), constant(1.0)
    seen = {x.ref(): "x"}

    assert seen[x.ref()] == "x"
    assert same.ref() not in seen
    assert x.ref().deref() is x
    assert repr(x.ref()) == "Reference(Tensor(1.0))"


def test_item_and_tolist_leave_the_tape() -> None:
    """What they give is plain Python."""
    x = constant([[1.0, 2.0]])

    assert type(x.item(1)) is float
    assert x.tolist() == [[1.0, 2.0]]
    assert type(x.tolist()[0][0]) is float
