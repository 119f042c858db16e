"""Building of layers: what fails leaves nothing behind, and happens once, whichever threads call."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tapemagic import nn
from tapemagic.errors import OptionError, ShapeError


class Four(nn.Layer):
    """A layer that makes variables, and then finds that it takes four features."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(2, kernel_regularizer="l2")
        self.parts: list[Any] = []

    def build(self, input_shape: Any) -> None:
        """Fail for other lengths than 4."""
        self.inner.build(input_shape)
        self.parts.append(self.add_weight(input_shape[-1:], regularizer="l2"))
        if input_shape[-1] != 4:
            raise ValueError("four")

    def call(self, inputs: Any) -> Any:
        """The inner layer's output."""
        return self.inner(inputs * self.parts[0])


def test_a_build_that_fails_leaves_nothing() -> None:
    """No variable, no penalty, and no inner layer that is built for the wrong shape; a later call works."""
    layer = Four()
    with pytest.raises(ValueError, match="four"):
        layer(np.ones((2, 3)))

    assert not layer.built
    assert not layer.inner.built
    assert layer.variables == layer.losses == []
    assert layer(np.ones((2, 4))).shape == (2, 2)
    assert (len(layer.variables), len(layer.losses)) == (3, 2)


def test_a_stack_that_fails_takes_another_shape() -> None:
    """The layers before the one that failed are not built for what came first."""
    model = nn.Sequential([nn.Dense(2), nn.Conv2D(3, 3)])
    with pytest.raises(ShapeError, match="batch, height, width"):
        model(np.ones((8, 3)))

    assert model(np.ones((1, 5, 5, 7))).shape == (1, 3, 3, 3)


def test_threads_build_a_layer_once() -> None:
    """A model that several threads call at once has each variable once."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(20):
                model = nn.Sequential([nn.Dense(3), nn.Dense(2)])
                outputs = list(pool.map(model, [np.ones((2, 3))] * 4))
                assert len(model.variables) == 4
                assert all(np.array_equal(outputs[0], output) for output in outputs)
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("units", [10**12, 10**30])
def test_a_layer_for_which_there_is_no_memory(units: int) -> None:
    """The error names the variable."""
    with pytest.raises(
        MemoryError, match=r"variable 'kernel' of 'big', which has the shape \(1000000, "
    ):
        nn.Dense(units, name="big")(np.ones((1, 10**6)))


def test_no_model_is_a_layer_of_itself() -> None:
    """Neither directly, nor in a model inside of it."""
    inner = nn.Sequential(name="inner")
    outer = nn.Sequential([inner])
    for model in (inner, outer):
        with pytest.raises(OptionError, match="'inner' can't be a layer of itself"):
            inner.add(model)
