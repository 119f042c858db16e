"""Sequential: a model that calls its layers one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapemagic.nn.layer import Layer
from tapemagic.nn.models.model import Model


class Sequential(Model):
    """A model whose layers are called one after the other, each on what the one before gave.

    Parameters
    ----------
    layers : iterable of Layer, optional
    **kwargs
        `name`, `trainable` and `dtype`, as of `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic import nn
    >>> model = nn.Sequential([nn.Dense(4, activation="relu"), nn.Dense(1)])
    >>> model(np.ones((2, 3))).shape
    (2, 1)
    """

    def __init__(self, layers: Iterable[Layer] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers: list[Layer] = []
        for layer in layers:
            self.add(layer)

    def add(self, layer: Layer) -> None:
        """Put a layer at the end."""
        self.layers.append(layer)

    def build(self, input_shape: Any) -> None:
        """Build the layers, each for the output of the one before."""
        for layer in self.layers:
            layer.build(input_shape)
            input_shape = layer.compute_output_shape(input_shape)

    def call(self, inputs: Any) -> Any:
        """The output of the last layer."""
        x = inputs
        for layer in self.layers:
            x = layer(x)
        return x
