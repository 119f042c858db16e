"""A tensor never changes, whoever writes into what: refused, or without effect."""

from __future__ import annotations

import copy
import functools
import operator
import pickle
import random
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import ImmutableError, NoDerivativeError
from tests.conformance.programs import encode, raised_by

MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])


# -- out= and writing ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda x, a: np.add(x, 1.0, out=a),
        lambda x, a: np.multiply(a, x, out=a),
        lambda x, a: np.sin(x, out=a),
        lambda x, a: np.sin(a, out=x),
        lambda x, a: np.sum(x, axis=0, out=a[0]),
        lambda x, a: np.matmul(x, x, out=a),
        lambda x, a: np.clip(x, 0.0, 1.0, out=a),
        lambda x, a: np.stack([x[0], x[1]], out=a),
        lambda x, a: np.concatenate([x[:1], x[1:]], out=a),
    ],
)
def test_out_is_refused(write: Any) -> None:
    """out= is refused for what a tape tracks, and nothing is written."""
    x, a = tm.constant(MATRIX), np.zeros((2, 2))
    with tm.GradientTape() as tape:
        tape.watch(x)
        error = raised_by(lambda: write(x, a))

    assert isinstance(error, ImmutableError)
    assert "out=..." in str(error)
    assert "omit 'out'" in str(error)
    assert a.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert x.numpy().tolist() == MATRIX.tolist()


@pytest.mark.parametrize("make", [tm.constant, tm.Variable])
@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "imatmul"])
def test_in_place_into_an_array(name: str, make: Any) -> None:
    """An array on the left of `+=` is not written into where a tape would lose the path."""
    a, x = np.ones((2, 2)), make(MATRIX)
    with tm.GradientTape() as tape:
        tape.watch(x)
        error = raised_by(lambda: getattr(operator, name)(a, x))

    assert isinstance(error, ImmutableError)
    assert a.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_in_place_reads_a_variable() -> None:
    """A Variable that no tape has read so far is watched as it is read, so it is refused, too."""
    a = np.ones(2)
    with tm.GradientTape():
        error = raised_by(lambda: operator.iadd(a, tm.Variable([1.0, 2.0])))

    assert isinstance(error, ImmutableError)


def test_a_tensor_as_out() -> None:
    """Nothing is written into a tensor, watched or not."""
    x = tm.constant(MATRIX)
    for write in (lambda: np.sin(np.ones((2, 2)), out=x), lambda: np.add(x, 1.0, out=x)):
        assert isinstance(raised_by(write), ImmutableError)
    assert x.numpy().tolist() == MATRIX.tolist()


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x.__setitem__((0, 1), x[0, 0]),
        lambda x: x.sort(),
        lambda x: x.fill(0.0),
        lambda x: x.partition(1),
        lambda x: np.copyto(x, 0.0),
        lambda x: np.fill_diagonal(x, 0.0),
        lambda x: np.put(x, [0], 0.0),
        lambda x: np.place(x, MATRIX > 2.0, 0.0),
        lambda x: np.putmask(x, MATRIX > 2.0, 0.0),
        lambda x: np.put_along_axis(x, np.array([[0], [0]]), 0.0, axis=1),
        random.Random(0).shuffle,  # noqa: S311 (a test needs no secrets)
        lambda x: np.add.at(x, 0, 1.0),
    ],
)
def test_writing_into_a_tensor(write: Any) -> None:
    """Whatever writes into an array refuses to write into a tensor, watched or not."""
    for watched in (False, True):
        x = tm.constant(MATRIX)
        with tm.GradientTape() as tape:
            if watched:
                tape.watch(x)
            error = raised_by(functools.partial(write, x))

        assert isinstance(error, (TypeError, NoDerivativeError))
        assert x.numpy().tolist() == MATRIX.tolist()


def test_assigning_a_tensor_into_an_array() -> None:
    """`a[0] = x` is NumPy's own float(x): the array gets the value, not the path."""
    x, a = tm.constant(3.0), np.zeros(2)
    a[0] = x

    assert a.tolist() == [3.0, 0.0]


def test_augmented_assignment_rebinds() -> None:
    """`t += 1` makes a new tensor; the old one keeps its value."""
    t = tm.constant([1.0, 2.0])
    old = t
    t += 1.0

    assert [old.tolist(), t.tolist()] == [[1.0, 2.0], [2.0, 3.0]]


def test_no_attribute_is_writable() -> None:
    """shape, dtype, T and real cannot be set."""
    x = tm.constant(MATRIX)
    for name, value in {
        "shape": (4,),
        "dtype": np.float32,
        "T": MATRIX,
        "real": MATRIX,
        "new": 1,
    }.items():
        assert isinstance(
            raised_by(lambda name=name, value=value: setattr(x, name, value)), AttributeError
        )


# -- other people's arrays -----------------------------------------------------------------------


def test_constant_copies() -> None:
    """Writing into an array after constant() or Variable() changes nothing."""
    a = MATRIX.copy()
    held = [
        tm.constant(a),
        tm.Variable(a),
        tm.Tensor(a),
        tm.constant(a[0]),
        tm.constant(a, shape=(4,)),
    ]
    before = [encode(x) for x in held]
    a[:] = 0.0

    assert [encode(x) for x in held] == before


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize(
    ("function", "slope"),
    [
        (lambda a, x: a * x, 2.0),
        (lambda a, x: x * a, 2.0),
        (lambda a, x: x / a, 0.5),
        (np.multiply, 2.0),
        (lambda a, x: a @ x, 2.0),
        (lambda a, x: np.where(a > 1.0, x, 0.0), 1.0),
        (lambda a, x: np.dot(x, a), 2.0),
    ],
)
def test_operands_may_change_afterwards(function: Any, slope: float, size: int) -> None:
    """Writing into an array after it was used beside a tensor changes no gradient."""
    a, x = np.full(size, 2.0), tm.constant(np.ones(size))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(a, x)
    a[:] = 100.0

    assert tape.gradient(y, x).tolist() == [slope] * size


def test_indices_may_change_afterwards() -> None:
    """Writing into an index, a mask or a list after it was used changes no gradient."""
    index, mask, numbers = np.array([0, 1]), np.array([True, False, False]), [0, 2]
    x = tm.constant([1.0, 2.0, 3.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = (
            np.sum(x[index])
            + 10.0 * np.sum(x[mask])
            + 100.0 * np.sum(x[numbers])
            + 1000.0 * np.sum(np.take(x, index))
        )
    index[:], mask[:], numbers[:] = 2, True, [1, 1]

    assert tape.gradient(y, x).tolist() == [1111.0, 1001.0, 100.0]


def test_results_do_not_share_memory_with_operands() -> None:
    """A result is no view of an array that somebody else may write into."""
    a, zero = np.ones(3), tm.constant(0.0)
    results = [
        np.add(a, zero),
        np.where(True, a, zero),
        np.broadcast_arrays(a, zero)[0],
        np.atleast_1d(a, zero)[0],
    ]
    a[:] = 5.0

    assert [encode(tm.constant(y)) for y in results] == [[1.0, 1.0, 1.0]] * 4


def test_gradients_do_not_share_memory() -> None:
    """What a gradient's .numpy() gives can be written into without changing any tensor."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x + x
        z = np.broadcast_to(np.sum(x), (3,))
    first = tape.gradient(y, x)
    first.numpy()[:] = 0.0
    np.asarray(first)[:] = 0.0

    assert [encode(tape.gradient(y, x)), encode(first), encode(tape.gradient(z, x))] == [
        [2.0, 2.0],
        [2.0, 2.0],
        [3.0, 3.0],
    ]


# -- copies --------------------------------------------------------------------------------------


def test_copies() -> None:
    """copy.copy, deepcopy and pickle give the value; a tensor, which cannot change, is its own copy."""
    x, v = tm.constant([1.0, 2.0]), tm.Variable([1.0, 2.0], trainable=False, name="w")
    copies = [copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))]  # noqa: S301 (its own)
    variables = [copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))]  # noqa: S301 (its own)
    v.assign([5.0, 6.0])

    assert [encode(y) for y in copies] == [[1.0, 2.0]] * 3
    assert [(encode(w), w.name, w.trainable) for w in variables] == [([1.0, 2.0], "w", False)] * 3
    assert [y is x for y in copies] == [True, True, False]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_keep_the_path(copied: Any) -> None:
    """The gradient goes through a copy of a tensor, of a part of a variable, and of a list or dict of tensors."""
    x, v = tm.constant([1.0, 2.0]), tm.Variable([3.0, 4.0])
    with tm.GradientTape() as tape:
        tape.watch(x)
        inside = copied({"all": [x * 5.0, v * 7.0]})["all"]
        y = np.sum(copied(x * 2.0)) + copied(v[0]) * 3.0 + np.sum(inside[0]) + np.sum(inside[1])
    gradients = tape.gradient(y, [x, v])

    assert [encode(g) for g in gradients] == [[7.0, 7.0], [10.0, 7.0]]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copied_variable_is_a_new_one(copied: Any) -> None:
    """A copy of a variable is a variable of its own, and the tape has heard the value leave."""
    v = tm.Variable([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        w = copied(v)
        y = w * 3.0

    assert tape.gradient(y, v) is None
    assert encode(tape.gradient(y, w)) == [3.0, 3.0]
    assert [event.what for event in tape._events] == [f"copy.{copied.__name__}()"]
