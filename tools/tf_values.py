"""Run the programs and calls of tests/tf in TensorFlow, and store what it gives in tests/tf/values/.

Call it with a Python that has TensorFlow 2.21: ``python tools/tf_values.py``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
sys.path.insert(0, str(Path(__file__).parents[1]))

import tensorflow as tf
from tensorflow.python.eager import backprop

from tests.tf import harness


class TensorFlow1:
    """TensorFlow, with the few names of TensorFlow 1 that the fourth seed uses."""

    lin_space = staticmethod(tf.linspace)
    contrib = SimpleNamespace(eager=SimpleNamespace(gradients_function=backprop.gradients_function))

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    def enable_eager_execution(self) -> None:
        """Nothing."""

    def multiply(self, x: Any, y: Any) -> Any:
        """The product; as in TensorFlow 1, a Python integer is a number of any dtype."""
        return tf.multiply(tf.convert_to_tensor(x, tf.float32), y)


def main() -> None:
    """Write the files."""
    values = {}
    for name, program in harness.programs().items():
        given = TensorFlow1() if name.startswith("fourth_seed") else tf
        values[name] = harness.outcome(program, given)
        if "raises" in values[name]:
            print(name, "raises", values[name]["raises"])
        values[name].pop("kinds", None)
    harness.store("programs", values)


if __name__ == "__main__":
    main()
