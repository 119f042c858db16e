"""Model: a layer that holds layers, and can be trained."""

from __future__ import annotations

from tapemagic.nn.layer import Layer


class Model(Layer):
    """A layer made of layers; its variables are theirs."""

    prefixes_names = False
