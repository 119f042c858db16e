"""Every program of tests/conformance gives with TensorFlow's names what it gave in TensorFlow.

Or what it gives with tapemagic's own names, where `differs` says in tests/conformance that this is on purpose.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import tf
from tests.conformance.programs import PROGRAMS, SECTIONS, TAPEMAGIC, Program, outcome, stored

for section in SECTIONS:
    importlib.import_module(f"tests.conformance.test_{section}")

tfe = tf.contrib.eager


class Float64:
    """tapemagic.tf, where constants and variables have the dtype that NumPy would give them."""

    gradients_function = staticmethod(tfe.gradients_function)
    implicit_grad = staticmethod(tfe.implicit_gradients)
    implicit_val_and_grad = staticmethod(tfe.implicit_value_and_gradients)
    literal = staticmethod(tf.constant)
    logger = logging.getLogger("tapemagic")
    make_vjp = staticmethod(tm.make_vjp)
    val_and_grad_function = staticmethod(tfe.value_and_gradients_function)
    value_and_gradients_function = staticmethod(tfe.value_and_gradients_function)

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    def constant(self, value: Any, dtype: str | None = None) -> Any:
        """``tf.constant``."""
        return tf.constant(np.asarray(value, dtype))

    def Variable(self, value: Any, dtype: str | None = None, **options: Any) -> Any:  # noqa: N802
        """``tf.Variable``."""
        return tf.Variable(np.asarray(value, dtype), **options)


OWN = {
    "differences.dense_gradients": "EagerTensor",
    "jacobian.batch_of_none": [0, 2, 2],
    "output_gradients.list_of_floats": "an error",
    "variable.assign_array_of_fractions": "an error",
}
"""Programs whose result is neither TensorFlow's nor that of tapemagic's own names, and what it is."""


@pytest.mark.parametrize(("name", "program"), PROGRAMS.items(), ids=list(PROGRAMS))
def test_a_program_behaves_as_in_tensorflow(name: str, program: Program) -> None:
    """The same result, or an exception where TensorFlow raises one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        actual, plain = outcome(program, Float64()), outcome(program, TAPEMAGIC)
    raised = isinstance(actual, dict) and "raises" in actual
    if raised:
        actual = "an error"
    if name in OWN:
        assert actual == OWN[name]
        return
    accepted = [
        "an error" if isinstance(x, dict) and "raises" in x else x for x in (stored(name), plain)
    ]

    assert actual in accepted
