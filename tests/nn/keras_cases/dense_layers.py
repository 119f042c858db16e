"""Dense layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, of_layer


@case
def dense(k: Any, rng: np.random.Generator) -> Arrays:
    """A dense layer with an activation."""
    return of_layer(k, k.layers.Dense(3, activation="relu"), rng.normal(size=(4, 2)), rng)


@case
def dense_of_three_axes(k: Any, rng: np.random.Generator) -> Arrays:
    """A dense layer without a bias on an input with a time axis."""
    return of_layer(k, k.layers.Dense(3, use_bias=False), rng.normal(size=(2, 5, 2)), rng)
