"""Every function gives the values, dtypes and gradients that TensorFlow gave, one call after the other."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from tapemagic import tf
from tests.tf.calls import CASES, Case, run
from tests.tf.harness import differences, load, outcome
from tests.together import check_each

STORED = load("calls")


def by_function() -> dict[str, dict[str, tuple[int, Case]]]:
    """The functions that are called, each with its cases and their numbers."""
    found: dict[str, dict[str, tuple[int, Case]]] = {}
    for k, case in enumerate(CASES):
        function = case.call.partition("(")[0]
        found.setdefault(function, {})[f"{k}-{case.call}"] = k, case
    return found


FUNCTIONS = by_function()


@pytest.mark.parametrize("cases", FUNCTIONS.values(), ids=FUNCTIONS)
def test_calls_give_what_tensorflow_gave(cases: dict[str, tuple[int, Case]]) -> None:
    """Values and gradients to the accuracy of the dtype; None where TensorFlow has None."""
    check_each(cases, compare)


def compare(numbered: tuple[int, Case]) -> None:
    """Compare what a call gives with what is stored."""
    number, case = numbered
    expected = STORED[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        actual = outcome(lambda namespace: run(case, namespace), tf)

    assert expected["call"] == case.call
    assert "raises" not in actual, actual
    assert [] == differences(expected["result"], actual["result"], rtol=1e-4)


def test_silu_of_a_beta_of_zero() -> None:
    """It is half of its input, with a gradient of 1/2."""
    x = tf.constant([1.0, -2.0, 800.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.silu(x, beta=0.0)

    assert y.numpy().tolist() == [0.5, -1.0, 400.0]
    assert tape.gradient(y, x).numpy().tolist() == [0.5] * 3


COUNTED = [0, 1, 1, 5, 2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"maxlength": 3}, [1, 2, 1]),
        ({"maxlength": 4}, [1, 2, 1, 0]),
        ({"minlength": 8}, [1, 2, 1, 0, 0, 1, 0, 0]),
        ({"minlength": 8, "maxlength": 3}, [1, 2, 1]),
        ({"minlength": 2, "maxlength": 4}, [1, 2, 1, 0]),
        ({"minlength": -1}, [1, 2, 1, 0, 0, 1]),
        ({"maxlength": 0}, []),
        ({"weights": [1.0, 2.0, 3.0, 4.0, 5.0], "maxlength": 2}, [1.0, 5.0]),
    ],
)
def test_lengths_of_counts(options: Any, expected: list[float]) -> None:
    """The result has at least minlength and at most maxlength elements, as in TensorFlow 2.21."""
    assert tf.math.bincount(COUNTED, **options).numpy().tolist() == expected


ROWS = [[1, 2, 1], [0, 4, 4]]


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        (ROWS, {"axis": 0}, [1, 2, 1, 0, 2]),
        (ROWS, {"axis": -1}, [[0, 2, 1, 0, 0], [1, 0, 0, 0, 2]]),
        (ROWS, {"axis": -1, "binary_output": True}, [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1]]),
        (ROWS, {"binary_output": True}, [1, 1, 1, 0, 1]),
        (ROWS, {"axis": -1, "minlength": 7}, [[0, 2, 1, 0, 0, 0, 0], [1, 0, 0, 0, 2, 0, 0]]),
        (ROWS, {"axis": -1, "minlength": 7, "maxlength": 3}, [[0, 2, 1], [1, 0, 0]]),
        (ROWS, {"axis": -1, "maxlength": 0}, [[], []]),
        (
            ROWS,
            {"axis": -1, "weights": [[1.0, 2, 3], [4, 5, 6]]},
            [[0, 4, 2, 0, 0], [4, 0, 0, 0, 11]],
        ),
        (ROWS, {"weights": [[1.0, 2, 3], [4, 5, 6]], "axis": 0}, [4, 4, 2, 0, 11]),
        ([1, 2, 3], {"weights": [1.0, 2, 3], "maxlength": 2, "axis": -1}, [0, 1]),
        ([1, 1, 2, 3], {"axis": -1}, [0, 2, 1, 1]),
        ([1, 1, 2], {"binary_output": True, "maxlength": 2}, [0, 1]),
        ([1.5, 2.0], {"axis": -1}, [0, 1, 1]),
        ([], {"axis": -1}, []),
        (np.zeros((2, 0), int), {"axis": -1, "minlength": 3}, [[0, 0, 0], [0, 0, 0]]),
        (np.zeros((0, 3), int), {"axis": -1, "minlength": 2}, []),
        (3, {"axis": -1}, [0, 0, 0, 1]),
    ],
)
def test_counts_of_rows(values: Any, options: Any, expected: Any) -> None:
    """Rows are counted on their own with axis=-1; the numbers are TensorFlow 2.21's."""
    found = tf.math.bincount(values, **options)

    assert found.numpy().tolist() == expected
    assert found.dtype == (tf.float32 if "weights" in options else tf.int32)
    assert tf.math.bincount([1, 1], binary_output=True, dtype=tf.float64).dtype == tf.float64


def test_gradient_of_weights_that_are_counted_by_rows() -> None:
    """It goes to the weight of each element; elements beyond maxlength get 0. TensorFlow has no gradient here."""
    weights = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with tf.GradientTape() as tape:
        totals = tf.math.bincount(ROWS, weights, maxlength=4, axis=-1) * [
            [1.0, 2.0, 3.0, 4.0],
            [5.0, 6.0, 7.0, 8.0],
        ]

    assert tape.gradient(totals, weights).numpy().tolist() == [[2.0, 3.0, 2.0], [5.0, 0.0, 0.0]]


def test_negative_batch_dims() -> None:
    """batch_dims counts from the end of the indices, and the default axis from the end of params, as in TensorFlow."""
    params = tf.reshape(tf.range(12), (2, 2, 3))

    found = tf.gather(params, [[0], [2]], batch_dims=-1).numpy().tolist()
    last = tf.gather(params, [2, 0], batch_dims=-1)[0].numpy().tolist()
    assert found == [[[0], [3]], [[8], [11]]]
    assert last == [[2, 0], [5, 3]]


def test_lgamma_of_infinities() -> None:
    """It is infinite at both ends."""
    ends = tf.constant([-np.inf, np.inf, 0.0, -1.0])
    assert tf.math.lgamma(ends).numpy().tolist() == [np.inf] * 4


@pytest.mark.parametrize("kind", [list, tuple])
def test_structure_of_a_loop(kind: Any) -> None:
    """The variables of a loop are returned in the list or tuple of its body."""
    (found,) = result = tf.while_loop(lambda i: i < 3, lambda i: kind([i + 1]), [tf.constant(0)])

    assert type(result) is kind
    assert found.numpy() == 3
