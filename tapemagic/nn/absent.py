"""Errors for names that `nn` doesn't have: what to write instead."""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

_TEXT = "layers take numbers: convert text with a dict of Python, and write tf.keras.utils.pad_sequences"
_RANDOM = "change pictures before training, by tf.image.random_flip_left_right and its like in dataset.map"
_SCALES = "write Lambda with a function of NumPy, or a layer with a method call(self, inputs)"
_CLASSES = "convert classes before training: np.digitize for numbers, np.eye(count)[classes] for one-hot rows"

LAYERS: dict[str, str] = {
    "CategoryEncoding": _CLASSES,
    "CenterCrop": "write Cropping2D, or tf.image.central_crop before training",
    "ConvLSTM1D": "write RNN around a cell of your own, whose call has a Conv1D",
    "ConvLSTM2D": "write RNN around a cell of your own, whose call has a Conv2D",
    "ConvLSTM3D": "write RNN around a cell of your own, whose call has a Conv3D",
    "Discretization": _CLASSES,
    "EinsumDense": "write Dense for the last axis, or a layer whose call has np.einsum",
    "GroupQueryAttention": "write MultiHeadAttention, whose heads have keys of their own",
    "HashedCrossing": _CLASSES,
    "Hashing": _CLASSES,
    "IntegerLookup": _CLASSES,
    "Resizing": "write tf.image.resize before training, or in a Lambda",
    "SpectralNormalization": _SCALES,
    "StringLookup": _TEXT,
    "TextVectorization": _TEXT,
    "ThresholdedReLU": "write Lambda(lambda x: np.where(x > theta, x, 0))",
    "CuDNNGRU": "write GRU, which has the same weights",
    "CuDNNLSTM": "write LSTM, which has the same weights",
    "LocallyConnected1D": "write a layer with a kernel for each place, and np.einsum",
    "LocallyConnected2D": "write a layer with a kernel for each place, and np.einsum",
}
"""Keras's layers that are missing here, without those of random pictures."""

OF_PYTORCH: dict[str, str] = {
    "BatchNorm1d": "write nn.BatchNormalization()",
    "BatchNorm2d": "write nn.BatchNormalization()",
    "BCELoss": "write nn.losses.BinaryCrossentropy()",
    "BCEWithLogitsLoss": "write nn.losses.BinaryCrossentropy(from_logits=True)",
    "Conv1d": "write nn.Conv1D(filters, kernel_size), for channels in the last axis",
    "Conv2d": "write nn.Conv2D(filters, kernel_size), for channels in the last axis",
    "ConvTranspose2d": "write nn.Conv2DTranspose(filters, kernel_size), for channels in the last axis",
    "CrossEntropyLoss": "write nn.losses.SparseCategoricalCrossentropy(from_logits=True)",
    "LayerNorm": "write nn.LayerNormalization()",
    "Linear": "write nn.Dense(units)",
    "MaxPool2d": "write nn.MaxPooling2D(pool_size), for channels in the last axis",
    "MSELoss": "write nn.losses.MeanSquaredError()",
    "Parameter": "write tapemagic.Variable(value)",
}
"""PyTorch's names, which users of its `nn` write."""


def missing_layer(name: str) -> str:
    """Return advice for a layer of Keras that isn't here, or '' for any other name.

    Examples
    --------
    >>> missing_layer("EinsumDense")
    'write Dense for the last axis, or a layer whose call has np.einsum'
    """
    # Before any search for similar names: Conv2D isn't what the user of Conv3D meant.
    if name in LAYERS:
        return LAYERS[name]
    if name.startswith("Random") and name != "RandomSeed":
        return _RANDOM
    return ""


def absent(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of `nn` or `nn.layers`, which raises an AttributeError with advice."""

    def refuse(name: str) -> Any:
        message = f"tapemagic has no {module.removeprefix('tapemagic.')}.{name}"
        # Python, copy and inspect ask every module for __path__ and others.
        if not name.startswith("_"):
            message += f": {_advice(module, name)}"
        raise AttributeError(message, name=name, obj=sys.modules.get(module))

    return refuse


def _advice(module: str, name: str) -> str:
    advice = missing_layer(name) or OF_PYTORCH.get(name)
    if advice:
        return advice
    package = sys.modules["tapemagic.nn"]
    for part in ("losses", "metrics", "optimizers", "activations", "models", "callbacks"):
        if name in getattr(getattr(package, part, None), "__all__", ()):
            return f"write nn.{part}.{name}"
    offered = [x for x in dir(sys.modules[module]) if not x.startswith("_")]
    near = get_close_matches(name, offered, 1, 0.8)
    if near:
        return f"did you mean {module.removeprefix('tapemagic.')}.{near[0]}?"
    if name[:1].isupper():
        return "write a class derived from nn.Layer, with a method call(self, inputs)"
    return "nn has Keras's layers, losses, metrics and optimizers; other names are in tapemagic.tf.keras"
