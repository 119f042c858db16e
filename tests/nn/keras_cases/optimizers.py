"""Fifty steps of every optimizer with several settings, on variables of several shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import CASES, Arrays

STEPS = 50

SETTINGS: dict[str, dict[str, Any]] = {
    "sgd": {"of": "SGD"},
    "sgd_momentum": {"of": "SGD", "momentum": 0.9, "learning_rate": 0.05},
    "sgd_nesterov": {"of": "SGD", "momentum": 0.8, "nesterov": True, "clipvalue": 0.5},
    "sgd_decay": {"of": "SGD", "weight_decay": 0.1, "learning_rate": 0.1, "clipnorm": 1.0},
    "adam": {"of": "Adam"},
    "adam_amsgrad": {"of": "Adam", "amsgrad": True, "learning_rate": 0.05, "beta_2": 0.9},
    "adam_clipnorm": {"of": "Adam", "clipnorm": 0.3, "beta_1": 0.5, "epsilon": 1e-3},
    "adam_global_clipnorm": {"of": "Adam", "global_clipnorm": 0.7, "weight_decay": 0.01},
    "adamw": {"of": "AdamW", "learning_rate": 0.02},
}


def of_optimizer(k: Any, rng: np.random.Generator, of: str, **options: Any) -> Arrays:
    """The variables that an optimizer trained, and those that it keeps, after many steps."""
    values = [
        rng.normal(size=(3, 4)).astype("float32"),
        rng.normal(size=4).astype("float32"),
        np.float32(rng.normal()),
        rng.normal(size=(2, 1, 3)),
    ]
    variables = [k.variable(value) for value in values]
    optimizer = getattr(k.optimizers, of)(**options)
    for _ in range(STEPS):
        gradients = [rng.normal(0, 1, v.shape).astype(v.dtype) for v in values]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    return {
        **{f"v{n}": k.array(v) for n, v in enumerate(variables)},
        **{f"kept_{n}": k.array(v) for n, v in enumerate(optimizer.variables)},
        "learning_rate": k.array(optimizer.learning_rate),
    }


for _name, _options in SETTINGS.items():
    CASES[f"optimizers.{_name}"] = lambda k, rng, options=_options: of_optimizer(k, rng, **options)
