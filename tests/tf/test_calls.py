"""Every function gives the values, dtypes and gradients that TensorFlow gave, one call after the other."""

from __future__ import annotations

import warnings

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
