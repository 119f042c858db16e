"""Layers, losses, optimizers, metrics and initializers compute what Keras computes, values and gradients."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tests.nn.keras_cases import TOLERANCES, load_all

STORED = Path(__file__).parent / "keras_values"
CASES = load_all()


def library() -> Any:
    """The names of tapemagic.nn, with the functions of `Library`."""

    def gradients(loss: Callable[[], Any], variables: Any) -> list[Any]:
        with tm.GradientTape() as tape:
            tape.watch(list(variables))
            value = loss()
        found = tape.gradient(value, list(variables), unconnected_gradients="zero")
        return [gradient.numpy() for gradient in found]

    names = {name: getattr(nn, name) for name in dir(nn) if not name.startswith("_")}
    own = {"variable": tm.Variable, "gradients": gradients, "array": as_array, "sum": np.sum}
    return types.SimpleNamespace(**(names | own))


def as_array(x: Any) -> Any:
    """The value of a tensor or variable as an array."""
    return np.asarray(x)


@cache
def values(module: str) -> dict[str, Any]:
    """The stored values of the cases of a module."""
    with np.load(STORED / f"{module}.npz") as stored:
        return dict(stored)


@pytest.mark.parametrize("name", CASES)
def test_same_as_keras(name: str) -> None:
    """A program gives here what it gave with Keras 3.15 on TensorFlow 2.21."""
    module, _, function = name.partition(".")
    expected = {
        key.removeprefix(f"{function}/"): value
        for key, value in values(module).items()
        if key.startswith(f"{function}/")
    }

    found = CASES[name](library(), np.random.default_rng(0))

    assert list(expected) == list(found)
    for key, value in expected.items():
        ours = np.asarray(found[key])
        assert value.shape == ours.shape, key
        assert value.dtype == ours.dtype, key
        scale = np.max(np.abs(value), initial=1e-3) if value.dtype.kind == "f" else 1
        relative, absolute = (TOLERANCES[name],) * 2 if name in TOLERANCES else (2e-5, 2e-6)
        np.testing.assert_allclose(ours, value, rtol=relative, atol=absolute * scale, err_msg=key)
