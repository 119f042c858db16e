"""Programs run with TensorFlow's names, and their results in a form that can be stored and compared."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

MODULES = (
    "first_seed", "second_and_third_seed", "fourth_seed", "fifth_seed", "autodiff_guide", "advanced_guide",
    "variables_guide", "tensors_guide", "modules_guide", "custom_gradients", "training_loops", "datasets",
    "course_kinds", "function_contract", "keras_guides", "keras_surface", "notebook_kinds",
    "small_names",
)  # fmt: skip
VALUES = Path(__file__).with_name("values")

Program = Callable[[Any], Any]


def programs() -> dict[str, Program]:
    """Every program by its module and name: the functions of the modules whose one argument is `tf`."""
    found = {}
    for module in MODULES:
        for name, function in vars(importlib.import_module(f"tests.tf.programs.{module}")).items():
            if inspect.isfunction(function) and list(inspect.signature(function).parameters) == [
                "tf"
            ]:
                found[f"{module}.{name}"] = function
    return found


def outcome(program: Program, tf: Any) -> dict[str, Any]:
    """What a program returned and printed, or the exception that it raised."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = encode(program(tf))
    except Exception as error:  # noqa: BLE001 (the program's own)
        words = str(error)[:300]
        return {
            "raises": type(error).__name__,
            "words": words,
            "kinds": [kind.__name__ for kind in type(error).__mro__],
        }
    return {"result": result, "printed": printed.getvalue()}


def encode(value: Any) -> Any:
    """A value for JSON: tensors and arrays as numbers with their dtype and shape."""
    if isinstance(value, (str, bool, type(None))):
        return value
    if hasattr(value, "as_list"):
        return {"shape": [int(n) for n in value.as_list()]}
    if hasattr(value, "numpy") or isinstance(value, (np.ndarray, np.generic)):
        held = np.asarray(value)
        numbers = held.ravel()
        flat = np.stack([numbers.real, numbers.imag], -1) if held.dtype.kind == "c" else numbers
        plain = flat.astype(float) if held.dtype.kind in "fc" else flat
        return {"dtype": held.dtype.name, "shape": list(held.shape), "values": plain.tolist()}
    if isinstance(value, Mapping):
        return {"keys": [[key, encode(part)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return [encode(part) for part in value]
    if isinstance(value, (int, float, complex)):
        return {"python": type(value).__name__, "values": [value]}
    raise TypeError(f"a program returned {value!r}, which is not stored")


def differences(expected: Any, actual: Any, rtol: float, where: str = "result") -> list[str]:
    """In words, where two encoded results differ by more than their dtype allows."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        if "values" in expected:
            return _differing(expected, actual, rtol, where)
        found = [differences(expected[k], actual[k], rtol, f"{where}.{k}") for k in expected]
        return [words for part in found for words in part]
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        return [w for k, (a, b) in pairs for w in differences(a, b, rtol, f"{where}[{k}]")]
    return (
        [] if expected == actual else [f"{where}: {expected!r} is stored, and this is {actual!r}"]
    )


ATOL = {"float16": 1e-3, "float64": 1e-9, "complex128": 1e-9}


def _differing(
    expected: dict[str, Any], actual: dict[str, Any], rtol: float, where: str
) -> list[str]:
    about = {k: v for k, v in expected.items() if k != "values"}
    mine = {k: v for k, v in actual.items() if k != "values"}
    if about != mine:
        return [f"{where}: {about} is stored, and this is {mine}"]
    a, b = np.array(expected["values"], float), np.array(actual["values"], float)
    atol = ATOL.get(expected.get("dtype", ""), 1e-6)
    tolerance = {"float16": 4e-3, "float64": rtol if rtol < 1e-6 else 1e-9}.get(
        expected.get("dtype", ""), rtol
    )
    scale = max(1.0, float(np.max(np.abs(a), initial=0, where=np.isfinite(a))))
    near = np.isclose(b, a, rtol=tolerance, atol=atol * scale, equal_nan=True)
    return [] if near.all() else [f"{where}: {a[~near][:4]} is stored, and this is {b[~near][:4]}"]


def load(name: str) -> Any:
    """A stored file of values."""
    return json.loads((VALUES / f"{name}.json").read_text(encoding="utf-8"))


def store(name: str, content: Any) -> None:
    """Write a file of values."""
    (VALUES / f"{name}.json").write_text(json.dumps(content, indent=0) + "\n", encoding="utf-8")
