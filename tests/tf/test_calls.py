"""Every function gives the values, dtypes and gradients that TensorFlow gave, one call after the other."""

from __future__ import annotations

import warnings

import pytest

from tapemagic import tf
from tests.tf.calls import CASES, Case, run
from tests.tf.harness import differences, load, outcome

STORED = load("calls")


@pytest.mark.parametrize(
    ("number", "case"),
    list(enumerate(CASES)),
    ids=[f"{k}-{case.call}" for k, case in enumerate(CASES)],
)
def test_a_call_gives_what_tensorflow_gave(number: int, case: Case) -> None:
    """Values and gradients to the accuracy of the dtype; None where TensorFlow has None."""
    expected = STORED[number]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        actual = outcome(lambda namespace: run(case, namespace), tf)

    assert expected["call"] == case.call
    assert "raises" not in actual, actual
    assert [] == differences(expected["result"], actual["result"], rtol=1e-4)
