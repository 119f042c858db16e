"""Layers of several inputs, layers around images, and activations as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, of_layer


def merged(k: Any, rng: np.random.Generator, layer: Any, *shapes: tuple[int, ...]) -> Arrays:
    """The output of a layer of several inputs, and the gradients in these."""
    inputs = [k.variable(np.round(rng.normal(size=shape), 1).astype("float32")) for shape in shapes]
    output = k.array(layer(inputs))
    weights = rng.normal(size=output.shape).astype("float32")
    gradients = k.gradients(lambda: k.sum(layer(inputs) * weights), inputs)
    return {"output": output} | {f"gradient_{n}": g for n, g in enumerate(gradients)}


@case
def merging(k: Any, rng: np.random.Generator) -> Arrays:
    """Sums, products and extremes of several inputs, also of different numbers of axes."""
    kinds = ("Add", "Multiply", "Average", "Maximum", "Minimum")
    found = {}
    for kind in kinds:
        layer = getattr(k.layers, kind)
        found[kind] = merged(k, rng, layer(), (2, 3), (2, 3), (2, 3))
        found[f"{kind} broadcast"] = merged(k, rng, layer(), (2, 3, 4), (2, 4), (2, 1, 4))
    found["Subtract"] = merged(k, rng, k.layers.Subtract(), (2, 3), (2, 3))
    found["Concatenate"] = merged(k, rng, k.layers.Concatenate(), (2, 3), (2, 1), (2, 4))
    found["Concatenate axis"] = merged(k, rng, k.layers.Concatenate(axis=1), (2, 3, 4), (2, 2, 4))
    return found


@case
def dot(k: Any, rng: np.random.Generator) -> Arrays:
    """Dot products along axes of vectors and matrices."""
    layer = k.layers.Dot
    return {
        "vectors": merged(k, rng, layer(axes=1), (3, 4), (3, 4)),
        "cosine": merged(k, rng, layer(axes=-1, normalize=True), (3, 4), (3, 4)),
        "matrices": merged(k, rng, layer(axes=(1, 2)), (2, 3, 5), (2, 4, 3)),
        "last": merged(k, rng, layer(axes=(2, 2)), (2, 3, 5), (2, 4, 5)),
        "mixed": merged(k, rng, layer(axes=(2, 1)), (2, 3, 5), (2, 5)),
        "other way": merged(k, rng, layer(axes=(1, 2)), (2, 5), (2, 3, 5)),
    }


@case
def padding(k: Any, rng: np.random.Generator) -> Arrays:
    """Zeros around images and signals, margins cut off, and elements repeated."""
    layers = k.layers
    images, signals = rng.normal(size=(2, 5, 4, 2)), rng.normal(size=(2, 6, 3))
    of_images = {
        "zeros": layers.ZeroPadding2D(),
        "zeros of two": layers.ZeroPadding2D((1, 2)),
        "zeros of four": layers.ZeroPadding2D(((1, 0), (0, 3))),
        "cropping": layers.Cropping2D(((1, 0), (0, 2))),
        "larger": layers.UpSampling2D((2, 3)),
    }
    of_signals = {
        "zeros of signals": layers.ZeroPadding1D((1, 2)),
        "cropping of signals": layers.Cropping1D((1, 2)),
        "longer": layers.UpSampling1D(2),
    }
    return {name: of_layer(k, layer, images, rng) for name, layer in of_images.items()} | {
        name: of_layer(k, layer, signals, rng) for name, layer in of_signals.items()
    }


@case
def activations(k: Any, rng: np.random.Generator) -> Arrays:
    """Activations as layers, with their parameters and masks."""
    layers = k.layers
    x = rng.normal(0, 2, (3, 4, 2))
    made = {
        "activation": layers.Activation("softplus"),
        "relu": layers.ReLU(),
        "relu all": layers.ReLU(max_value=1.5, negative_slope=0.2, threshold=0.5),
        "leaky": layers.LeakyReLU(),
        "leaky slope": layers.LeakyReLU(negative_slope=0.1),
        "elu": layers.ELU(0.7),
        "prelu": layers.PReLU(),
        "prelu shared": layers.PReLU(shared_axes=[1]),
        "softmax": layers.Softmax(),
        "softmax of two": layers.Softmax(axis=[1, 2]),
    }
    found = {name: of_layer(k, layer, x, rng) for name, layer in made.items()}
    mask = rng.random((3, 4, 2)) < 0.6
    found["softmax mask"] = of_layer(k, layers.Softmax(axis=1), x, rng, mask=k.array(mask))
    return found


@case
def inner(k: Any, rng: np.random.Generator) -> Arrays:
    """Layers around functions and other layers."""
    x = rng.normal(size=(2, 4, 3))
    return {
        "identity": of_layer(k, k.layers.Identity(), x, rng),
        "time": of_layer(k, k.layers.TimeDistributed(k.layers.Dense(2)), x, rng),
        "lambda": of_layer(k, k.layers.Lambda(lambda x: x * x), x, rng),
    }


@case
def each_step(k: Any, rng: np.random.Generator) -> Arrays:
    """Layers for each step of sequences, with masks, and in training with statistics of each step."""
    x = rng.normal(size=(4, 3, 2, 5))
    layers, mask = k.layers, np.arange(2) < rng.integers(1, 3, (4, 3, 1))
    found = {
        "recurrent": of_layer(k, layers.TimeDistributed(layers.GRU(2)), x, rng),
        "mask": of_layer(k, layers.TimeDistributed(layers.LSTM(2)), x, rng, mask=k.array(mask)),
        "model": of_layer(
            k,
            layers.TimeDistributed(k.Sequential([layers.Input((2, 5)), layers.Dense(2)])),
            x,
            rng,
        ),
        "softmax over examples": of_layer(
            k, layers.TimeDistributed(layers.Lambda(lambda x: x - x[:1])), x, rng
        ),
    }
    normalization = layers.TimeDistributed(layers.BatchNormalization())
    found["normalization"] = of_layer(k, normalization, x, rng, training=True)
    return found | {"average": k.array(normalization.layer.moving_mean)}


@case
def activity_regularizer(k: Any, rng: np.random.Generator) -> Arrays:
    """The term that a regularizer of outputs adds to the loss of a call."""
    layer = k.layers.Dense(3, activity_regularizer=k.regularizers.L2(0.1), kernel_regularizer="l1")
    x = rng.normal(size=(4, 2)).astype("float32")
    layer(x)
    layer.set_weights([rng.normal(size=np.shape(w)) for w in layer.get_weights()])
    layer(x)
    return {"sum": np.float32(sum(float(k.array(loss)) for loss in layer.losses))}
