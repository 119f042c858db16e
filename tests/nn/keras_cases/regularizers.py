"""Regularizers: penalties and their gradients, also in layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case


def of_penalty(k: Any, regularizer: Any, x: Any) -> Arrays:
    """The penalty for a variable, and its gradient."""
    variable = k.variable(np.asarray(x, "float32"))
    (gradient,) = k.gradients(lambda: regularizer(variable), [variable])
    return {"penalty": k.array(regularizer(variable)), "gradient": gradient}


@case
def penalties(k: Any, rng: np.random.Generator) -> Arrays:
    """Every regularizer, on a matrix with a 0."""
    x = rng.normal(size=(4, 3))
    x[0, 0] = 0
    r = k.regularizers
    regularizers = {
        "l1": r.L1(),
        "l1_2": r.L1(2.0),
        "l2": r.L2(),
        "l2_2": r.L2(0.2),
        "both": r.L1L2(0.1, 0.2),
        "first": r.L1L2(0.1),
        "none": r.L1L2(),
        "rows": r.OrthogonalRegularizer(0.5),
        "columns": r.OrthogonalRegularizer(0.5, mode="columns"),
        "lower_case": r.l1_l2(0.3, 0.4),
        "get": r.get("l2"),
        "get_class": r.get("L1"),
        "get_function": r.get(lambda w: k.sum(w * w * w)),
    }
    return {name: of_penalty(k, found, x) for name, found in regularizers.items()}


@case
def losses_of_layers(k: Any, rng: np.random.Generator) -> Arrays:
    """The penalties of a layer with two regularizers."""
    layer = k.layers.Dense(3, kernel_regularizer="l2", bias_regularizer=k.regularizers.L1(0.5))
    layer.build((None, 2))
    layer.set_weights([rng.normal(size=(2, 3)), rng.normal(size=3)])
    return {f"{n}": k.array(loss) for n, loss in enumerate(layer.losses)}
