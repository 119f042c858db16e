"""Activations as functions, and as layers with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case

NAMES = (
    "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu linear "
    "log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink softmax softplus softsign sparse_plus "
    "sparse_sigmoid squareplus swish tanh tanh_shrink"
)


def of_function(k: Any, function: Any, x: Any) -> Arrays:
    """The values of a function and the gradient of their weighted sum."""
    inputs = k.variable(np.asarray(x, "float32"))
    output = k.array(function(inputs))
    weights = np.linspace(-1, 2, output.size, dtype="float32").reshape(output.shape)
    (gradient,) = k.gradients(lambda: k.sum(function(inputs) * weights), [inputs])
    return {"output": output, "gradient": gradient}


@case
def by_name(k: Any, rng: np.random.Generator) -> Arrays:
    """Every activation at random places, far out, and at the bends that Keras has right."""
    found: Arrays = {}
    x = np.concatenate([rng.normal(0, 2, (3, 8)), np.linspace(-30, 31, 8)[None]])
    for name in NAMES.split():
        parts = of_function(k, k.activations.get(name), x[:3] if "softmax" in name else x)
        found |= {f"{name} {key}": value for key, value in parts.items()}
    return found


@case
def at_bends(k: Any, rng: np.random.Generator) -> Arrays:  # noqa: ARG001
    """Derivatives where the slope jumps."""
    found: Arrays = {}
    bends = {
        "relu": [0.0],
        "relu6": [0.0, 6.0],
        "leaky_relu": [0.0],
        "elu": [0.0],
        "selu": [0.0],
        "hard_tanh": [-1.0, 1.0],
        "hard_sigmoid": [-3.0, 3.0],
        "soft_shrink": [-0.5, 0.5],
        "hard_shrink": [-0.5, 0.5],
        "sparse_sigmoid": [-1.0, 1.0],
        "sparse_plus": [-1.0, 1.0],
    }
    for name, x in bends.items():
        parts = of_function(k, k.activations.get(name), x)
        found |= {f"{name} {key}": value for key, value in parts.items()}
    return found


@case
def with_parameters(k: Any, rng: np.random.Generator) -> Arrays:
    """Parameters of activations."""
    a = k.activations
    functions = {
        "relu slope": lambda x: a.relu(x, negative_slope=0.1),
        "relu all": lambda x: a.relu(x, negative_slope=0.1, max_value=1.5, threshold=0.5),
        "relu threshold": lambda x: a.relu(x, threshold=0.5),
        "relu slope and threshold": lambda x: a.relu(x, negative_slope=0.3, threshold=-0.5),
        "relu max": lambda x: a.relu(x, max_value=1.5),
        "relu max 6": lambda x: a.relu(x, max_value=6),
        "leaky_relu": lambda x: a.leaky_relu(x, negative_slope=0.3),
        "elu": lambda x: a.elu(x, alpha=0.5),
        "celu": lambda x: a.celu(x, alpha=0.5),
        "gelu": lambda x: a.gelu(x, approximate=True),
        "glu": lambda x: a.glu(x, axis=0),
        "softmax": lambda x: a.softmax(x, axis=0),
        "log_softmax": lambda x: a.log_softmax(x, axis=0),
        "squareplus": lambda x: a.squareplus(x, b=1),
        "threshold": lambda x: a.threshold(x, 0.5, -3.0),
        "soft_shrink": lambda x: a.soft_shrink(x, 1.0),
    }
    x = rng.normal(0, 3, (4, 6))
    found: Arrays = {}
    for name, function in functions.items():
        found |= {f"{name} {key}": value for key, value in of_function(k, function, x).items()}
    return found
