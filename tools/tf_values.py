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

from tests.tf import calls, harness


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
    found = [
        {
            "call": case.call,
            **harness.outcome(lambda namespace, case=case: calls.run(case, namespace), tf),
        }
        for case in calls.CASES
    ]
    for one in found:
        if "raises" in one:
            print(one["call"], "raises", one["raises"], one.get("words"))
    harness.store("calls", found)
    store_names()


def store_names() -> None:
    """Write the public names of TensorFlow and of Keras."""
    names = {"tf": dir(tf), **{name: dir(attribute(tf, name)) for name in NAMESPACES}}
    public = {
        name: sorted(x for x in found if not x.startswith("_")) for name, found in names.items()
    }
    harness.store("names", public)


NAMESPACES = (
    "math",
    "math.special",
    "linalg",
    "nn",
    "signal",
    "random",
    "debugging",
    "errors",
    "config",
    "dtypes",
    "nest",
    "bitwise",
    "version",
    "autodiff",
    "compat",
    "compat.v1",
    "image",
    "io",
    "strings",
    "keras",
    *(
        f"keras.{name}"
        for name in (
            "activations",
            "applications",
            "backend",
            "callbacks",
            "config",
            "constraints",
            "datasets",
            "initializers",
            "layers",
            "losses",
            "metrics",
            "mixed_precision",
            "models",
            "ops",
            "optimizers",
            "optimizers.schedules",
            "preprocessing",
            "preprocessing.image",
            "preprocessing.sequence",
            "preprocessing.text",
            "random",
            "regularizers",
            "utils",
        )
    ),
)


def attribute(module: Any, path: str) -> Any:
    """An attribute of attributes."""
    for name in path.split("."):
        module = getattr(module, name)
    return module


if __name__ == "__main__":
    main()
