"""Normalizations, in training and not, with their moving averages."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, of_layer

SHAPES = {"vectors": (6, 3), "signals": (3, 4, 5), "images": (2, 3, 4, 2)}


@case
def batch_normalization(k: Any, rng: np.random.Generator) -> Arrays:
    """Inference and training of batch normalization along several axes."""
    found = {}
    for name, shape in SHAPES.items():
        x = rng.normal(1, 2, shape)
        for training in (False, True):
            layer = k.layers.BatchNormalization()
            layer.build(shape)
            layer.set_weights([rng.uniform(0.5, 2, w.shape) for w in layer.get_weights()])
            found[f"{name} {training}"] = of_normalization(k, layer, x, rng, training)
    settings: dict[str, dict[str, Any]] = {
        "axis": {"axis": 1, "epsilon": 0.01},
        "no center": {"center": False},
        "no scale": {"scale": False},
        "frozen": {"trainable": False},
    }
    for name, given in settings.items():
        x = rng.normal(1, 2, SHAPES["images"])
        layer = k.layers.BatchNormalization(**given)
        found[name] = of_normalization(k, layer, x, rng, training=True)
    return found


def of_normalization(
    k: Any, layer: Any, x: Any, rng: np.random.Generator, training: bool
) -> Arrays:
    """The output of a layer with the weights that it has, and the gradients of a weighted sum of its elements."""
    inputs = k.variable(np.asarray(x, "float32"))
    output = k.array(layer(inputs, training=training))
    weights = rng.normal(size=output.shape).astype(output.dtype)
    variables = [*layer.trainable_variables, inputs]
    gradients = k.gradients(lambda: k.sum(layer(inputs, training=training) * weights), variables)
    return {"output": output} | {f"gradient_{n}": g for n, g in enumerate(gradients)}


@case
def moving_averages(k: Any, rng: np.random.Generator) -> Arrays:
    """The weights of batch normalization after several calls in training, and one that is not."""
    layer = k.layers.BatchNormalization(momentum=0.9)
    for _ in range(4):
        layer(rng.normal(3, 2, (8, 3)).astype("float32"), training=True)
    layer(rng.normal(3, 2, (8, 3)).astype("float32"))
    return {f"weight_{n}": w for n, w in enumerate(layer.get_weights())}


@case
def layer_normalization(k: Any, rng: np.random.Generator) -> Arrays:
    """Layer normalization along one axis and several."""
    settings: dict[str, dict[str, Any]] = {
        "last": {},
        "two": {"axis": [1, 2]},
        "first": {"axis": 1, "epsilon": 1e-5},
        "bare": {"center": False, "scale": False},
    }
    x = rng.normal(1, 3, (3, 4, 5))
    return {
        name: of_layer(k, k.layers.LayerNormalization(**given), x, rng)
        for name, given in settings.items()
    }


@case
def group_normalization(k: Any, rng: np.random.Generator) -> Arrays:
    """Group normalization of channels along several axes, and of each channel on its own."""
    settings: dict[str, dict[str, Any]] = {
        "two groups": {"groups": 2},
        "each": {"groups": -1, "epsilon": 1e-5},
        "one": {"groups": 1, "center": False},
        "first": {"groups": 2, "axis": 1, "scale": False},
    }
    x = rng.normal(1, 3, (3, 4, 5, 6))
    found = {
        name: of_layer(k, k.layers.GroupNormalization(**given), x, rng)
        for name, given in settings.items()
    }
    rows = of_layer(k, k.layers.GroupNormalization(2), rng.normal(1, 3, (4, 8)), rng)
    return found | {"rows": rows}


@case
def scaling(k: Any, rng: np.random.Generator) -> Arrays:
    """Rescaling, and normalization by moments that are given or found."""
    x = rng.normal(2, 3, (5, 4))
    adapted = k.layers.Normalization()
    adapted.adapt(x.astype("float32"))
    single = k.layers.Normalization(axis=None)
    single.adapt(x.astype("float32"))
    given = k.layers.Normalization(mean=[1.0, 2.0, 3.0, 4.0], variance=[1.0, 4.0, 0.0, 2.0])
    one = k.layers.Normalization(axis=-1, mean=2.0, variance=4.0)
    back = k.layers.Normalization(mean=2.0, variance=4.0, invert=True)
    inputs = x.astype("float32")
    found = {
        "rescaling": k.layers.Rescaling(0.5, offset=-1)(inputs),
        "rescaling of pixels": k.layers.Rescaling(1 / 255)(np.arange(6, dtype="uint8")),
        "adapted": adapted(inputs),
        "mean": adapted.mean,
        "variance": adapted.variance,
        "single": single(inputs),
        "given": given(inputs),
        "one": one(inputs),
        "back": back(inputs),
    }
    weights = {f"weight_{n}": w for n, w in enumerate(adapted.get_weights()[:2])}
    return {name: k.array(x) for name, x in found.items()} | weights
