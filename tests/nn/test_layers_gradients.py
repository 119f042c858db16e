"""First and second derivatives of layers against difference quotients, in double precision, which stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn

RNG = np.random.default_rng(0)
IMAGES, SEQUENCES = (2, 4, 3, 2), (2, 3, 2)
F64 = {"dtype": "float64"}

LAYERS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "Dense": (lambda: nn.Dense(2, activation="tanh", **F64), (3, 2)),
    "Conv2D": (lambda: nn.Conv2D(2, 2, padding="same", strides=2, **F64), IMAGES),
    "Conv1D": (lambda: nn.Conv1D(2, 2, padding="causal", dilation_rate=2, **F64), SEQUENCES),
    "Conv2DTranspose": (lambda: nn.Conv2DTranspose(2, 3, strides=2, padding="same", **F64), IMAGES),
    "Conv1DTranspose": (lambda: nn.Conv1DTranspose(2, 2, dilation_rate=2, **F64), SEQUENCES),
    "DepthwiseConv2D": (lambda: nn.DepthwiseConv2D(2, depth_multiplier=2, **F64), IMAGES),
    "SeparableConv1D": (lambda: nn.SeparableConv1D(3, 2, **F64), SEQUENCES),
    "AveragePooling2D": (lambda: nn.AveragePooling2D(padding="same", **F64), IMAGES),
    "BatchNormalization": (lambda: nn.BatchNormalization(**F64), IMAGES),
    "LayerNormalization": (lambda: nn.LayerNormalization(**F64), SEQUENCES),
    "GroupNormalization": (lambda: nn.GroupNormalization(2, **F64), (2, 3, 4)),
    "SimpleRNN": (lambda: nn.SimpleRNN(2, **F64), SEQUENCES),
    "GRU": (lambda: nn.GRU(2, return_sequences=True, **F64), SEQUENCES),
    "GRU reset before": (lambda: nn.GRU(2, reset_after=False, **F64), SEQUENCES),
    "LSTM": (lambda: nn.LSTM(2, return_sequences=True, go_backwards=True, **F64), SEQUENCES),
    "PReLU": (lambda: nn.PReLU(alpha_initializer="ones", **F64), (3, 2)),
    "Softmax": (lambda: nn.Softmax(**F64), (3, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_derivatives(name: str) -> None:
    """Derivatives in inputs and weights up to the second order."""
    make, shape = LAYERS[name]
    layer = make()
    x = RNG.normal(size=shape)
    layer(x)
    layer.set_weights(
        [w + RNG.normal(0, 0.3, w.shape) * (w.min() <= 0) for w in layer.get_weights()]
    )
    factors = RNG.normal(size=layer(x).shape)
    names = [key for key, v in vars(layer).items() if isinstance(v, tm.Variable) and v.trainable]
    values = [getattr(layer, key).numpy() for key in names]

    def loss(x: Any, *weights: Any) -> Any:
        for key, weight in zip(names, weights, strict=True):
            setattr(layer, key, weight)
        return np.sum(layer(x, training=True) * factors)

    assert len(names) == len(layer.trainable_variables)
    tm.check_gradients(loss, x, *values, order=2)


def test_derivatives_of_attention() -> None:
    """Derivatives of masked attention in the query and the values up to the second order."""
    layer = nn.MultiHeadAttention(2, 2, **F64)
    weights = RNG.normal(size=SEQUENCES)
    value = RNG.normal(size=SEQUENCES)

    def loss(query: Any, value: Any) -> Any:
        return np.sum(layer(query, value, use_causal_mask=True) * weights)

    tm.check_gradients(loss, RNG.normal(size=SEQUENCES), value, order=2)


@pytest.mark.parametrize(
    "name",
    ["celu", "mish", "hard_silu", "squareplus", "sparse_plus", "tanh_shrink", "glu", "sparsemax"],
)
def test_derivatives_of_activations(name: str) -> None:
    """Activations that are made of other operations."""
    function = nn.activations.get(name)
    weights = RNG.normal(size=np.shape(function(np.zeros((2, 4)))))
    tm.check_gradients(lambda x: np.sum(function(x) * weights), RNG.normal(0, 2, (2, 4)), order=2)


def test_sparsemax_is_a_projection() -> None:
    """The results add up to 1, and none is nearer to the input."""
    x = RNG.normal(0, 2, (20, 5))
    y = nn.activations.sparsemax(x)
    others = RNG.dirichlet(np.ones(5), 1000)
    np.testing.assert_allclose(y.sum(axis=1), 1)
    assert (y >= 0).all()
    distances = np.linalg.norm(others - x[:, None], axis=-1).min(axis=1)
    assert (np.linalg.norm(y - x, axis=1) <= distances).all()


DTYPES: dict[str, tuple[Callable[[str], Any], tuple[int, ...]]] = {
    "Dense": (lambda t: nn.Dense(2, dtype=t), (3, 2)),
    "Conv2D": (lambda t: nn.Conv2D(2, 2, dtype=t), IMAGES),
    "Conv2DTranspose": (lambda t: nn.Conv2DTranspose(2, 2, dtype=t), IMAGES),
    "SeparableConv2D": (lambda t: nn.SeparableConv2D(2, 2, dtype=t), IMAGES),
    "MaxPooling2D": (lambda t: nn.MaxPooling2D(dtype=t), IMAGES),
    "AveragePooling2D": (lambda t: nn.AveragePooling2D(dtype=t), IMAGES),
    "GlobalAveragePooling2D": (lambda t: nn.GlobalAveragePooling2D(dtype=t), IMAGES),
    "Dropout": (lambda t: nn.Dropout(0.5, seed=0, dtype=t), IMAGES),
    "GaussianNoise": (lambda t: nn.GaussianNoise(0.5, seed=0, dtype=t), IMAGES),
    "BatchNormalization": (lambda t: nn.BatchNormalization(dtype=t), IMAGES),
    "LayerNormalization": (lambda t: nn.LayerNormalization(dtype=t), IMAGES),
    "GroupNormalization": (lambda t: nn.GroupNormalization(1, dtype=t), IMAGES),
    "AlphaDropout": (lambda t: nn.AlphaDropout(0.5, seed=0, dtype=t), IMAGES),
    "SpatialDropout2D": (lambda t: nn.SpatialDropout2D(0.5, seed=0, dtype=t), IMAGES),
    "SimpleRNN": (lambda t: nn.SimpleRNN(2, dtype=t), SEQUENCES),
    "GRU": (lambda t: nn.GRU(2, dtype=t), SEQUENCES),
    "LSTM": (lambda t: nn.LSTM(2, dtype=t), SEQUENCES),
    "Rescaling": (lambda t: nn.Rescaling(1 / 255, dtype=t), IMAGES),
    "Normalization": (lambda t: nn.Normalization(dtype=t), IMAGES),
    "ReLU": (lambda t: nn.ReLU(negative_slope=0.1, max_value=2, threshold=1, dtype=t), IMAGES),
    "Softmax": (lambda t: nn.Softmax(dtype=t), IMAGES),
    "Activation": (lambda t: nn.Activation("gelu", dtype=t), IMAGES),
    "PReLU": (lambda t: nn.PReLU(dtype=t), IMAGES),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", DTYPES)
def test_dtypes(name: str, dtype: str) -> None:
    """Whatever the dtype of the input, whole numbers included, outputs, weights and gradients have the layer's."""
    make, shape = DTYPES[name]
    layer = make(dtype)
    for kind in ("float16", "float32", "float64", "uint8", "int64", "bool"):
        x = np.ones(shape, kind)
        with tm.GradientTape() as tape:
            outputs = layer(x, training=True)
        assert outputs.dtype == dtype, kind
        gradients = tape.gradient(outputs, layer.trainable_variables)
        assert {g.dtype.name for g in gradients} <= {dtype}, kind
    assert {w.dtype.name for w in layer.trainable_weights} <= {dtype}


def test_plain_lists_are_inputs() -> None:
    """Nested lists of whole numbers count as arrays."""
    assert nn.Dense(2)([[1, 2, 3]]).dtype == "float32"


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "BatchNormalization"])
def test_an_empty_batch(name: str) -> None:
    """A batch without examples goes through every layer, forwards and backwards."""
    make, shape = LAYERS[name]
    layer = make()
    x = tm.Variable(np.zeros((0, *shape[1:])))
    with tm.GradientTape() as tape:
        y = layer(x, training=True)

    gradients = tape.gradient(y, [x, *layer.trainable_variables])
    assert y.shape[0] == 0
    assert [g.shape for g in gradients] == [v.shape for v in (x, *layer.trainable_variables)]
    assert not any(np.any(g) for g in gradients)


def test_average_of_masked_steps() -> None:
    """Masked steps have no part in the average, also if they are nan, and a gradient of 0, also if all are masked."""
    x = tm.constant([[[1.0], [3.0], [np.nan]], [[5.0], [6.0], [7.0]]])
    mask = [[True, True, False], [False, False, False]]
    layer = nn.GlobalAveragePooling1D(dtype="float64")
    with np.errstate(divide="ignore", invalid="ignore"), tm.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, mask=np.array(mask))
        gradient = tape.gradient(y, x)

    assert np.array_equal(y.numpy(), [[2.0], [np.nan]], equal_nan=True)  # 0 / 0, as in Keras
    assert gradient.numpy().tolist() == [[[0.5], [0.5], [0.0]], [[0.0]] * 3]
