"""Fifty steps of every optimizer with several settings, on variables of several shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import CASES, Arrays, case

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
    "nadam": {"of": "Nadam", "learning_rate": 0.02},
    "nadam_ema": {"of": "Nadam", "use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 20},
    "adamax": {"of": "Adamax", "beta_1": 0.8, "weight_decay": 0.02},
    "rmsprop": {"of": "RMSprop"},
    "rmsprop_centered": {"of": "RMSprop", "centered": True, "rho": 0.5, "epsilon": 1e-2},
    "rmsprop_momentum": {"of": "RMSprop", "momentum": 0.5, "centered": True, "epsilon": 1e-2},
    "adagrad": {"of": "Adagrad"},
    "adagrad_large": {"of": "Adagrad", "learning_rate": 0.5, "initial_accumulator_value": 0.5},
    "adadelta": {"of": "Adadelta"},
    "adadelta_paper": {"of": "Adadelta", "learning_rate": 1.0, "rho": 0.8, "epsilon": 1e-3},
    "lion": {"of": "Lion"},
    "lion_decay": {"of": "Lion", "weight_decay": 0.1, "beta_1": 0.5, "learning_rate": 0.01},
    "sgd_ema": {"of": "SGD", "use_ema": True, "learning_rate": 0.1},
    "sgd_accumulated": {"of": "SGD", "gradient_accumulation_steps": 4, "learning_rate": 0.1},
    "adam_accumulated": {"of": "Adam", "gradient_accumulation_steps": 3, "clipnorm": 0.5},
    "adam_scaled": {"of": "Adam", "loss_scale_factor": 8.0},
    "sgd_scheduled": {"of": "SGD", "learning_rate": ("ExponentialDecay", 0.1, 10, 0.5)},
    "adam_scheduled": {"of": "Adam", "learning_rate": ("CosineDecay", 0.02, 30, 0.1)},
}  # fmt: skip

SCHEDULES: dict[str, tuple[Any, ...]] = {
    "exponential": ("ExponentialDecay", 0.1, 7, 0.9),
    "exponential_stairs": ("ExponentialDecay", 0.1, 7, 0.9, True),
    "inverse_time": ("InverseTimeDecay", 0.1, 7, 0.9),
    "inverse_time_stairs": ("InverseTimeDecay", 0.1, 7, 0.9, True),
    "piecewise": ("PiecewiseConstantDecay", [10, 25, 70], [1.0, 0.5, 0.2, 0.1]),
    "polynomial": ("PolynomialDecay", 0.1, 30),
    "polynomial_cycle": ("PolynomialDecay", 0.1, 30, 0.01, 2.0, True),
    "cosine": ("CosineDecay", 0.1, 40),
    "cosine_warmup": ("CosineDecay", 0.01, 40, 0.2, "rise", 0.3, 15),
    "restarts": ("CosineDecayRestarts", 0.1, 11),
    "restarts_equal": ("CosineDecayRestarts", 0.1, 11, 1.0, 0.8, 0.1),
    "restarts_lower": ("CosineDecayRestarts", 0.1, 5, 3.0, 0.5, 0.2),
}


def made(k: Any, schedule: tuple[Any, ...]) -> Any:
    """A schedule of a library."""
    return getattr(k.optimizers.schedules, schedule[0])(*schedule[1:])


def of_optimizer(k: Any, rng: np.random.Generator, of: str, **options: Any) -> Arrays:
    """The variables that an optimizer trained, and those that it keeps, after many steps."""
    values = [
        rng.normal(size=(3, 4)).astype("float32"),
        rng.normal(size=4).astype("float32"),
        np.float32(rng.normal()),
        rng.normal(size=(2, 1, 3)),
    ]
    variables = [k.variable(value) for value in values]
    if "learning_rate" in options and isinstance(options["learning_rate"], tuple):
        options["learning_rate"] = made(k, options["learning_rate"])
    optimizer = getattr(k.optimizers, of)(**options)
    for _ in range(STEPS):
        gradients = [rng.normal(0, 1, v.shape).astype(v.dtype) for v in values]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
    optimizer.finalize_variable_values(variables)
    return {
        **{f"v{n}": k.array(v) for n, v in enumerate(variables)},
        **{f"kept_{n}": k.array(v) for n, v in enumerate(optimizer.variables)},
        "learning_rate": k.array(optimizer.learning_rate),
    }


for _name, _options in SETTINGS.items():
    CASES[f"optimizers.{_name}"] = lambda k, rng, options=_options: of_optimizer(k, rng, **options)


@case
def schedules(k: Any, _rng: np.random.Generator) -> Arrays:
    """Every schedule over its whole course."""
    return {
        name: np.stack([k.array(made(k, schedule)(step)) for step in range(100)])
        for name, schedule in SCHEDULES.items()
    }
