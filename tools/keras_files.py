"""Store files of Keras's for the tests: run it in an environment that has TensorFlow 2.21 and Keras 3.15.

usage: python tools/keras_files.py              write the models and configs of tests/nn/saved_cases.py
       python tools/keras_files.py FOLDER       read the .keras files in a folder, and write predictions next to them
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
STORED = ROOT / "tests/nn/keras_files"
sys.path.insert(0, str(ROOT))

from tests.nn.saved_cases import BUILDERS, inputs, objects, targets  # noqa: E402


def predictions(model: Any, name: str) -> dict[str, Any]:
    """What a model predicts, and after one more step of training."""
    found = arrays(model.predict(inputs(name), verbose=0), f"{name}/before")
    if (
        targets(name) is not None and name != "perceptron"
    ):  # random dropout has no equal in another library
        model.fit(inputs(name), targets(name), shuffle=False, batch_size=3, verbose=0)
        found |= arrays(model.predict(inputs(name), verbose=0), f"{name}/after")
    return found


def arrays(outputs: Any, name: str) -> dict[str, Any]:
    """The arrays of a structure by names."""
    if isinstance(outputs, dict):
        return {f"{name}/{key}": x for key, x in outputs.items()}
    return {name: outputs}


def compress(path: Path) -> None:
    """Make a file of Keras's smaller: it's a zip archive without compression."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def write() -> None:
    """Store Keras's files."""
    STORED.mkdir(exist_ok=True)
    found: dict[str, Any] = {}
    for name, build in BUILDERS.items():
        keras.utils.set_random_seed(1)
        keras.backend.clear_session()
        model = build(keras)
        if targets(name) is not None:
            model.fit(inputs(name), targets(name), shuffle=False, batch_size=3, verbose=0)
        model.save(STORED / f"{name}.keras")
        compress(STORED / f"{name}.keras")
        if name == "perceptron":
            model.save_weights(STORED / f"{name}.weights.h5")
            model.save(STORED / f"{name}.h5")
        found |= predictions(model, name)
    np.savez_compressed(STORED / "predictions.npz", **found)
    keras.backend.clear_session()
    configs = {
        name: keras.saving.serialize_keras_object(obj) for name, obj in objects(keras).items()
    }
    text = json.dumps(configs, separators=(",", ":"))
    (STORED / "configs.json").write_text(text + "\n")


def read(folder: Path) -> None:
    """Write what models predict that another library saved."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.keras")):
        found |= predictions(keras.models.load_model(path), path.stem)
    for path in sorted(folder.glob("*.weights.h5")):
        model = BUILDERS[path.name.removesuffix(".weights.h5")](keras)
        model.load_weights(path)
        found |= arrays(model.predict(inputs(path.name.split(".")[0]), verbose=0), path.name)
    for path in sorted(folder.glob("configs.json")):
        for config in json.loads(path.read_text()).values():
            keras.saving.deserialize_keras_object(config)
    np.savez(folder / "predictions.npz", **found)


if __name__ == "__main__":
    read(Path(sys.argv[1])) if len(sys.argv) > 1 else write()
