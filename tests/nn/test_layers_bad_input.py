"""Layers given wrong shapes, dtypes or parameters say which layer it is, what it takes, and what it got."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic import nn
from tapemagic.errors import DtypeError, OptionError, ShapeError, UnsupportedArgumentError

zeros = np.zeros


def built(layer: Any, *shapes: tuple[int, ...]) -> Any:
    """A layer that was called on zeros."""
    layer(*(zeros(shape) for shape in shapes))
    return layer


SHAPES: dict[str, tuple[Callable[[], Any], str]] = {
    "dense features": (
        lambda: built(nn.Dense(2, name="d"), (4, 3))(zeros((4, 5))),
        "the layer 'd' was built for inputs of the shape (4, 3), and got the shape (4, 5): it needs the length 3",
    ),
    "mask of batch normalization": (
        lambda: nn.BatchNormalization()(zeros((2, 4, 3)), mask=np.ones((2, 3), bool), training=True),
        "of the shape (2, 4), and got (2, 3)",
    ),
    "dense vector": (lambda: nn.Dense(2)(zeros(3)), "write x[None]"),
    "dense number": (
        lambda: nn.Dense(2)(3.0),
        "takes one array or tensor with the axes (batch, ..., features), not 3.0",
    ),
    "dense list": (lambda: nn.Dense(2)([zeros((2, 3))] * 2), "takes one array or tensor"),
    "dense built directly": (lambda: nn.Dense(2).build((3,)), "got the shape (3,)"),
    "convolution without channels": (
        lambda: nn.Conv2D(2, 3)(zeros((2, 8, 8))),
        "takes inputs with the axes (batch, height, width, channels), and got the shape (2, 8, 8)",
    ),
    "convolution channels": (
        lambda: built(nn.Conv2D(2, 3), (2, 8, 8, 1))(zeros((2, 8, 8, 3))),
        "was built for inputs of the shape (2, 8, 8, 1), and got the shape (2, 8, 8, 3)",
    ),
    "convolution of few pixels": (
        lambda: built(nn.Conv2D(2, 3, name="c"), (2, 8, 8, 1))(zeros((2, 2, 8, 1))),
        "the layer 'c' cannot fit a window that spans 3 × 3 into axes of 2 × 8",
    ),
    "transposed convolution channels": (
        lambda: built(nn.Conv2DTranspose(2, 3), (2, 8, 8, 1))(zeros((2, 8, 8, 3))),
        "was built for inputs of the shape (2, 8, 8, 1), and got the shape (2, 8, 8, 3)",
    ),
    "output_padding that doesn't fit": (
        lambda: nn.Conv1DTranspose(1, 4, strides=3, padding="same", output_padding=0)(zeros((1, 3, 1))),
        "can't turn (3,) into (6,) with output_padding=(0,)",
    ),
    "depthwise convolution without channels": (
        lambda: nn.DepthwiseConv2D(3)(zeros((2, 8, 8))),
        "takes inputs with the axes (batch, height, width, channels), and got the shape (2, 8, 8)",
    ),
    "groups": (lambda: nn.Conv2D(4, 3, groups=2)(zeros((1, 5, 5, 3))), "has 2 groups, and got inputs of 3 channels"),
    "pooling": (lambda: nn.MaxPooling1D(3, name="p")(zeros((1, 2, 1))), "the layer 'p' cannot fit"),
    "global pooling": (lambda: nn.GlobalAveragePooling2D()(zeros((2, 3))), "and got the shape (2, 3)"),
    "reshape": (lambda: nn.Reshape((3, 3))(zeros((2, 8))), "reshapes examples of 9 elements to (3, 3)"),
    "reshape by a multiple": (lambda: nn.Reshape((-1, 3))(zeros((2, 8))), "whose examples have 8"),
    "noise shape": (
        lambda: nn.Dropout(0.5, noise_shape=(None, 1))(zeros((2, 3, 4)), training=True),
        "noise_shape=(None, 1), and got the shape (2, 3, 4)",
    ),
    "empty batch": (lambda: nn.BatchNormalization()(zeros((0, 3)), training=True), "got an empty batch"),
    "missing axis": (lambda: nn.LayerNormalization(axis=2)(zeros((2, 3))), "has no such axes"),
    "features of a sequence": (
        lambda: built(nn.LSTM(2), (2, 5, 3))(zeros((2, 5, 4))),
        "it needs the length 3 along axis -1",
    ),
    "no steps": (lambda: nn.GRU(2)(zeros((2, 0, 3))), "without steps"),
    "initial state": (
        lambda: nn.LSTM(2)(zeros((2, 5, 3)), initial_state=zeros((2, 2))),
        "takes an initial_state of 2 × (2, 2), and got [(2, 2)]",
    ),
    "mask": (lambda: nn.GRU(2)(zeros((2, 5, 3)), mask=np.ones((2, 4))), "of the shape (2, 5), and got (2, 4)"),
    "states of a loop": (
        lambda: nn.RNN(nn.GRUCell(2), name="r")(zeros((2, 5, 3)), initial_state=zeros((2, 3))),
        "the layer 'r' takes an initial_state of the shapes [(2, 2)], and got [(2, 3)]",
    ),
    "states of a cell": (
        lambda: nn.LSTMCell(2, name="c")(zeros((2, 3)), [zeros((2, 2))]),
        "the layer 'c' takes states of 2 × (2, 2), and got [(2, 2)]",
    ),
    "mask of each step": (
        lambda: nn.TimeDistributed(nn.LSTM(2))(zeros((2, 3, 4, 5)), mask=np.ones((2, 4))),
        "takes a mask whose shape begins with (2, 3), and got (2, 4)",
    ),
    "values of attention": (
        lambda: built(nn.MultiHeadAttention(2, 3, name="m"), (2, 4, 5), (2, 6, 3))(
            zeros((2, 4, 5)), zeros((2, 6, 4))
        ),
        "the layer 'm/key' was built for inputs of the shape (2, 6, 3)",
    ),
    "attention of other features": (
        lambda: nn.Attention(name="a")([zeros((2, 4, 5)), zeros((2, 6, 3))]),
        "the layer 'a' takes a query (batch, time, features), values (batch, length, outputs)",
    ),
    "masks of attention": (
        lambda: nn.AdditiveAttention()([zeros((2, 4, 5))] * 2, mask=[None, np.ones((2, 5))]),
        "takes masks of the shapes (2, 4) and (2, 4), and got None and (2, 5)",
    ),
    "groups of channels": (lambda: nn.GroupNormalization(4)(zeros((2, 6))), "write groups=2"),
    "dropout of channels": (lambda: nn.SpatialDropout1D(0.5)(zeros((2, 3))), "(batch, length, channels)"),
    "batches of attention": (
        lambda: nn.MultiHeadAttention(2, 3)(zeros((2, 4, 5)), zeros((3, 4, 5))),
        "of the same batch and length",
    ),
    "mask of attention": (
        lambda: nn.MultiHeadAttention(2, 3)(
            zeros((2, 4, 5)), zeros((2, 6, 5)), attention_mask=np.ones((2, 4, 5))
        ),
        "must broadcast to (batch, time, length), here (2, 4, 6)",
    ),
    "one input": (lambda: nn.Add()(zeros((2, 3))), "write layer([a, b])"),
    "sum": (lambda: nn.Add()([zeros((2, 3)), zeros((2, 4))]), "their axes don't broadcast"),
    "batches of a sum": (lambda: nn.Add()([zeros((2, 3)), zeros((1, 3))]), "their batches have different lengths"),
    "two arguments": (lambda: nn.Concatenate()(zeros((2, 3)), zeros((2, 3))), "takes one list of several arrays"),
    "difference of three": (lambda: nn.Subtract()([zeros((2, 3))] * 3), "takes one list of 2"),
    "concatenation": (lambda: nn.Concatenate()([zeros((2, 3)), zeros((3, 3))]), "[(2, 3), (3, 3)]"),
    "dot": (lambda: nn.Dot(1)([zeros((2, 3)), zeros((2, 4))]), "need the same length"),
    "moments": (
        lambda: nn.Normalization(mean=[1.0, 2.0], variance=[1.0, 2.0])(zeros((2, 3))),
        "a mean and a variance of the shape (2,)",
    ),
    "glu": (lambda: nn.activations.glu(zeros((2, 3))), "must be even"),
    "mask of a softmax": (lambda: nn.Softmax()(zeros((2, 3)), mask=np.ones((4, 3))), "doesn't broadcast"),
    "cropping": (lambda: nn.Cropping2D(2)(zeros((1, 4, 4, 1))), "nothing remains"),
}  # fmt: skip


PARAMETERS: dict[str, tuple[Callable[[], Any], str]] = {
    "no units": (lambda: nn.Dense(0), "units of Dense must be a positive integer, not 0: write units=1"),
    "units with fractions": (lambda: nn.Dense(2.5), "not 2.5: write units=2"),  # type: ignore[arg-type]
    "units nan": (lambda: nn.Dense(float("nan")), "not nan"),  # type: ignore[arg-type]
    "units of a text": (lambda: nn.LSTM("8"), "units of LSTM"),  # type: ignore[arg-type]
    "activation": (lambda: nn.Dense(2, activation="rleu"), "did you mean 'relu'?"),
    "kernel size": (lambda: nn.Conv2D(2, (3, 3, 3)), "a sequence of 2 of them, not (3, 3, 3)"),
    "padding": (lambda: nn.Conv2D(2, 3, padding="full"), "must be 'valid' or 'same', not 'full'"),
    "causal images": (lambda: nn.Conv2D(2, 3, padding="causal"), "'valid' or 'same'"),
    "strides and dilation": (lambda: nn.Conv1D(2, 3, strides=2, dilation_rate=2), "not both"),
    "groups": (lambda: nn.Conv1D(4, 3, groups=3), "4 isn't a multiple of 3"),
    "added too much": (lambda: nn.Conv2DTranspose(1, 3, strides=(2, 1), output_padding=1), "less than strides=(2, 1)"),
    "multiplier": (lambda: nn.DepthwiseConv1D(3, depth_multiplier=0), "depth_multiplier of DepthwiseConv1D"),
    "channels first": (lambda: nn.MaxPooling2D(data_format="channels_first"), "np.moveaxis(x, 1, -1)"),
    "rate": (lambda: nn.Dropout(1), "at least 0 and less than 1, not 1"),
    "rate nan": (lambda: nn.Dropout(float("nan")), "not nan"),
    "seed": (lambda: nn.Dropout(0.5, seed=-1), "not -1"),
    "heads": (lambda: nn.MultiHeadAttention(0, 3), "num_heads of MultiHeadAttention"),
    "vectors": (lambda: nn.Embedding(True, 3), "input_dim of Embedding"),
    "constraint": (lambda: nn.Dense(2, kernel_constraint="nonneg"), "did you mean 'non_neg'?"),
    "large number": (lambda: nn.Embedding(4, 3)([[1, 4]]), "from 0 to 3, and got 4"),
    "negative number": (lambda: nn.Embedding(4, 3)([[-1, 2]]), "from 0 to 3, and got -1"),
    "stateful": (lambda: nn.GRU(4, stateful=True), "return_state=True"),
    "stateful loop": (lambda: nn.RNN(nn.GRUCell(4), stateful=True), "return_state=True"),
    "dropout of states": (lambda: nn.LSTMCell(4, recurrent_dropout=0.2), "write dropout=0.2"),
    "attention of one": (lambda: nn.Attention()(zeros((2, 3, 4))), "a list [query, value] or [query, value, key]"),
    "one mask of attention": (
        lambda: nn.Attention()([zeros((2, 3, 4))] * 2, mask=np.ones((2, 3))),
        "is a list [query_mask, value_mask], not ndarray",
    ),
    "scores": (lambda: nn.Attention(score_mode="cosine"), "score_mode of Attention must be 'dot' or 'concat'"),
    "no groups": (lambda: nn.GroupNormalization(0), "groups of GroupNormalization must be a positive integer"),
    "no cell": (lambda: nn.RNN(nn.Dense(2)), "has no state_size: write nn.LSTMCell(8)"),
    "no cells": (lambda: nn.StackedRNNCells([]), "at least one cell"),
    "not recurrent": (lambda: nn.Bidirectional(nn.Dense(2)), "write Bidirectional(nn.LSTM(8))"),
    "merge mode": (lambda: nn.Bidirectional(nn.GRU(2), merge_mode="max"), "one of 'sum', 'mul', 'ave', 'concat', None"),
    "both forwards": (lambda: nn.Bidirectional(nn.GRU(2), backward_layer=nn.GRU(2)), "write go_backwards=True"),
    "different results": (
        lambda: nn.Bidirectional(nn.GRU(2), backward_layer=nn.GRU(2, return_state=True, go_backwards=True)),
        "the same return_state, not False and True",
    ),
    "two free axes": (lambda: nn.Reshape((-1, -1)), "one of which may be -1"),
    "order": (lambda: nn.Permute((0, 1)), "not (0, 1)"),
    "axis": (lambda: nn.BatchNormalization(axis=[1]), "write axis=-1"),  # type: ignore[arg-type]
    "mean alone": (lambda: nn.Normalization(mean=1.0), "both a mean and a variance, or neither"),
    "no data": (lambda: nn.Normalization().adapt([]), "empty data"),
    "function": (lambda: nn.Lambda(3), "takes a function"),  # type: ignore[arg-type]
}  # fmt: skip

DTYPES: dict[str, tuple[Callable[[], Any], str]] = {
    "fractions have no vectors": (lambda: nn.Embedding(4, 3)([[1.0, 1.5]]), "got float32, such as 1.5"),
    "complex inputs": (
        lambda: nn.Sequential([nn.Input((3,)), nn.Dense(1)])(zeros((2, 3)) + 1j),
        "takes real numbers, not complex128: pass x.real",
    ),
}  # fmt: skip

ARGUMENTS: dict[str, tuple[Callable[[], Any], str]] = {
    "unknown": (lambda: nn.Dense(2, lora_rank=2), "Dense doesn't take an argument 'lora_rank': it takes units, a"),
    "constraint of nothing": (lambda: nn.Dense(2, alpha_constraint="non_neg"), "take an argument 'alpha_constraint'"),
    "misspelt": (lambda: nn.Dense(2, activaton="relu"), "did you mean activation="),
}  # fmt: skip


class Forgetful(nn.Layer):
    """A layer whose __init__ forgets that of its base class."""

    def __init__(self) -> None:
        self.units = 3

    def call(self, inputs: Any) -> Any:
        """The input."""
        return inputs


class Wrong(nn.Layer):
    """A layer whose property has an error of its own."""

    @property
    def twice(self) -> Any:
        """A number that is not there."""
        return 2 * self.missing


MISSING: dict[str, tuple[Callable[[], Any], str]] = {
    "base not initialized": (
        lambda: Forgetful()(zeros((2, 3))),
        "write super().__init__() as the first line of __init__ in the class Forgetful",
    ),
    "not built": (
        lambda: nn.Dense(2, name="d").kernel,
        "has no attribute 'kernel': 'd' has no variables before it is built: call it on data",
    ),
    "not exported": (lambda: nn.Sequential().export("net"), "write save("),
    "absent layer": (
        lambda: nn.ConvLSTM2D,
        "no nn.ConvLSTM2D: write RNN around a cell of your own",
    ),
    "no layer": (lambda: nn.MeanSquaredError, "write nn.losses.MeanSquaredError"),
    "layer of PyTorch": (lambda: nn.Linear, "write nn.Dense(units)"),
    "misspelt layer": (lambda: nn.Conv2DTransposed, "did you mean nn.Conv2DTranspose?"),
    "unknown layer": (lambda: nn.Capsule, "write a class derived from nn.Layer"),
    "random pictures": (lambda: nn.RandomFlip, "tf.image.random_flip_left_right"),
    "error in a property": (lambda: Wrong().twice, "has no attribute 'missing'"),
}


TABLES: dict[type[Exception], dict[str, tuple[Callable[[], Any], str]]] = {
    ShapeError: SHAPES,
    OptionError: PARAMETERS,
    DtypeError: DTYPES,
    UnsupportedArgumentError: ARGUMENTS,
    AttributeError: MISSING,
}


@pytest.mark.parametrize(
    ("error", "name"), [(error, name) for error, table in TABLES.items() for name in table]
)
def test_bad_input(error: type[Exception], name: str) -> None:
    """The error says what is wrong, and what to write instead."""
    call, text = TABLES[error][name]
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_one_mean_for_inputs_of_any_rank() -> None:
    """Normalization with one mean and variance takes columns after it was adapted to a vector."""
    layer = nn.Normalization(axis=None)
    layer.adapt([1.0, 3.0])
    assert layer([[5.0]]).numpy().tolist() == [[3.0]]
    assert layer([5.0]).numpy().tolist() == [3.0]
