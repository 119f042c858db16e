"""Store values from Keras for the tests: run it in an environment that has TensorFlow 2.21 and Keras 3.15.

usage: python tools/keras_values.py [MODULE ...]     the modules of tests/nn/keras_cases; all if none is named
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras
import numpy as np
import tensorflow as tf

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "tests/nn/keras_values"
sys.path.insert(0, str(ROOT))


def library() -> Any:
    """Keras's names, with the functions of `Library`."""

    def gradients(loss: Any, variables: Any) -> list[Any]:
        sources = [v.value if isinstance(v, keras.Variable) else v for v in variables]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            value = loss()
        found = tape.gradient(value, sources, unconnected_gradients="zero")
        return [tf.convert_to_tensor(gradient).numpy() for gradient in found]

    names = {name: getattr(keras, name) for name in dir(keras) if not name.startswith("_")}
    own = {
        "variable": tf.Variable,
        "gradients": gradients,
        "array": lambda x: np.asarray(tf.convert_to_tensor(x)),
        "sum": tf.reduce_sum,
    }
    return types.SimpleNamespace(**(names | own))


def main(modules: list[str]) -> None:
    """Run the cases, and store a file for each module."""
    from tests.nn.keras_cases import load_all

    k = library()
    stored: dict[str, dict[str, Any]] = {}
    for name, case in load_all().items():
        module, _, function = name.partition(".")
        if modules and module not in modules:
            continue
        arrays = case(k, np.random.default_rng(0))
        for key, value in arrays.items():
            stored.setdefault(module, {})[f"{function}/{key}"] = np.asarray(value)
        print(name, *arrays)
    STORED.mkdir(exist_ok=True)
    for module, arrays in stored.items():
        np.savez_compressed(STORED / f"{module}.npz", **arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
