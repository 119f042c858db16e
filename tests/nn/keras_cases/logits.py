"""Cross-entropies of what a softmax or sigmoid gave: computed from its logits, so that far ones have gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case

LABELS = {
    "CategoricalCrossentropy": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], "float32"),
    "SparseCategoricalCrossentropy": np.array([0, 2]),
    "BinaryCrossentropy": np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "float32"),
}
FAR = np.array([[-60.0, 0.0, 60.0], [3.0, -4.0, 5.0]], "float32")


def _found(k: Any, loss: str, predictions: Any) -> Arrays:
    """A loss of predictions from a kernel, and its gradient."""
    kernel = k.variable(FAR)
    value = getattr(k.losses, loss)()

    def computed() -> Any:
        return value(LABELS[loss], predictions(kernel))

    return {"loss": k.array(computed()), "gradient": k.gradients(computed, [kernel])[0]}


@case
def far_logits(k: Any, _rng: np.random.Generator) -> Arrays:
    """Straight from the activation, from a layer, and after a step in between, where they are not known."""
    found = {}
    for loss in LABELS:
        name = "sigmoid" if loss.startswith("Binary") else "softmax"
        activation = getattr(k.activations, name)
        layer = k.layers.Activation(name)
        found |= {
            f"{loss} activation": _found(k, loss, lambda x, f=activation: f(x * 1)),
            f"{loss} layer": _found(k, loss, lambda x, f=layer: f(x * 1)),
            f"{loss} in between": _found(k, loss, lambda x, f=activation: f(x * 1) * 1),
        }
    return found
