"""Run every program in TensorFlow, and store what it gives in tf_expected.json.

Call it with a Python that has TensorFlow: ``python tests/conformance/make_expected.py``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import backprop
from tensorflow.python.platform import tf_logging

from tests.conformance.programs import PROGRAMS, SECTIONS, STORED, outcome


class Float64:
    """TensorFlow, where constants and variables have the dtype that NumPy would give them."""

    gradients_function = staticmethod(backprop.gradients_function)
    implicit_grad = staticmethod(backprop.implicit_grad)
    implicit_val_and_grad = staticmethod(backprop.implicit_val_and_grad)
    literal = staticmethod(tf.constant)
    logger = tf.get_logger()
    make_vjp = staticmethod(backprop.make_vjp)
    val_and_grad_function = staticmethod(backprop.val_and_grad_function)
    value_and_gradients_function = staticmethod(backprop.val_and_grad_function)

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    def constant(self, value: Any, dtype: str | None = None) -> Any:
        """``tf.constant``."""
        return tf.constant(np.asarray(value, dtype))

    def Variable(self, value: Any, dtype: str | None = None, **options: Any) -> Any:  # noqa: N802
        """``tf.Variable``."""
        return tf.Variable(np.asarray(value, dtype), **options)


def main() -> None:
    """Write the file."""
    for section in SECTIONS:
        importlib.import_module(f"tests.conformance.test_{section}")
    tf.get_logger().propagate = False
    values = {}
    for name, program in PROGRAMS.items():
        tf_logging._log_counter_per_token.clear()
        values[name] = outcome(program, Float64())
    content = {"tensorflow": tf.__version__, "numpy": np.__version__, "values": values}
    STORED.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
