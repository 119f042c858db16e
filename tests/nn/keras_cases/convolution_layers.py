"""Convolutions, poolings and layers that reshape."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case, of_layer

IMAGES = (2, 7, 6, 3)
SIGNALS = (2, 9, 4)


@case
def conv2d(k: Any, rng: np.random.Generator) -> Arrays:
    """Strides, padding, dilation, groups and activations of two-dimensional convolutions."""
    settings: dict[str, dict[str, Any]] = {
        "valid": {"activation": "relu"},
        "same": {"padding": "same", "use_bias": False},
        "strides": {"padding": "same", "strides": 2},
        "strides of two": {"strides": (3, 2), "padding": "SAME"},
        "dilation": {"dilation_rate": (2, 1), "activation": "tanh"},
        "dilation same": {"dilation_rate": 2, "padding": "same"},
        "groups": {"groups": 3},
        "flat kernel": {"kernel_size": (1, 4)},
    }
    x = rng.normal(size=IMAGES)
    return {
        name: of_layer(k, k.layers.Conv2D(**{"filters": 6, "kernel_size": 3} | given), x, rng)
        for name, given in settings.items()
    }


@case
def conv1d(k: Any, rng: np.random.Generator) -> Arrays:
    """Strides, padding, also causal, and dilation of one-dimensional convolutions."""
    settings: dict[str, dict[str, Any]] = {
        "valid": {"activation": "relu"},
        "same": {"padding": "same", "strides": 2},
        "causal": {"padding": "causal"},
        "causal with strides": {"padding": "causal", "strides": 2},
        "causal with dilation": {"padding": "causal", "dilation_rate": 2},
        "groups": {"groups": 2, "use_bias": False},
    }
    x = rng.normal(size=SIGNALS)
    return {
        name: of_layer(k, k.layers.Conv1D(filters=4, kernel_size=3, **given), x, rng)
        for name, given in settings.items()
    }


@case
def transposed(k: Any, rng: np.random.Generator) -> Arrays:
    """Strides, padding and added elements of transposed convolutions."""
    settings: dict[str, dict[str, Any]] = {
        "valid": {"activation": "relu"},
        "same": {"padding": "same", "use_bias": False},
        "strides": {"padding": "same", "strides": 2},
        "wide strides": {"strides": 4},
        "even kernel": {"kernel_size": 4, "padding": "same", "strides": 2},
        "added": {"strides": 2, "output_padding": 1},
        "added same": {"strides": 2, "padding": "same", "output_padding": 1},
        "added same zero": {"strides": 3, "padding": "same", "output_padding": 0},
    }  # no dilation: TensorFlow refuses it on a CPU
    images = {
        "strides of two": {"strides": (3, 2), "kernel_size": (2, 5)},
        "added of two": {"strides": (3, 2), "output_padding": (2, 0), "padding": "same"},
    }
    found = {}
    for kind, shape, more in (
        ("Conv1DTranspose", SIGNALS, {}),
        ("Conv2DTranspose", (2, 4, 3, 3), images),
    ):
        x = rng.normal(size=shape)
        for name, given in (settings | more).items():
            layer = getattr(k.layers, kind)(**{"filters": 2, "kernel_size": 3} | given)
            found[f"{kind} {name}"] = of_layer(k, layer, x, rng) | {
                "shape": np.array(layer.compute_output_shape(shape))
            }
    return found


@case
def depthwise(k: Any, rng: np.random.Generator) -> Arrays:
    """Convolutions of each channel on its own, and mixes of the channels after them."""
    settings: dict[str, dict[str, Any]] = {
        "valid": {"activation": "relu"},
        "same": {"padding": "same", "depth_multiplier": 2},
        "strides": {"padding": "same", "strides": 2, "use_bias": False},
        "dilation": {"dilation_rate": 2, "depth_multiplier": 3},
    }
    found = {}
    for axes, shape in (("1D", SIGNALS), ("2D", IMAGES)):
        x = rng.normal(size=shape)
        for name, given in settings.items():
            layers = {
                "depthwise": getattr(k.layers, f"DepthwiseConv{axes}")(3, **given),
                "separable": getattr(k.layers, f"SeparableConv{axes}")(5, 3, **given),
            }
            for kind, layer in layers.items():
                found[f"{kind} {axes} {name}"] = of_layer(k, layer, x, rng) | {
                    "shape": np.array(layer.compute_output_shape(shape))
                }
    return found


@case
def pooling2d(k: Any, rng: np.random.Generator) -> Arrays:
    """Maxima and averages over windows, with ties among the maxima."""
    settings: dict[str, dict[str, Any]] = {
        "plain": {},
        "same": {"padding": "same"},
        "overlapping": {"pool_size": (3, 2), "strides": (2, 1)},
        "overlapping same": {"pool_size": 3, "strides": 2, "padding": "same"},
    }
    x = np.round(rng.normal(size=IMAGES))
    kinds = ("MaxPooling2D", "AveragePooling2D")
    return {
        f"{kind} {name}": of_layer(k, getattr(k.layers, kind)(**{"pool_size": 2} | given), x, rng)
        for kind in kinds
        for name, given in settings.items()
    }


@case
def pooling1d(k: Any, rng: np.random.Generator) -> Arrays:
    """Maxima and averages over windows of signals."""
    x = rng.normal(size=SIGNALS)
    return {
        f"{kind} {padding}": of_layer(k, getattr(k.layers, kind)(3, 2, padding=padding), x, rng)
        for kind in ("MaxPooling1D", "AveragePooling1D")
        for padding in ("valid", "same")
    }


@case
def adaptive_pooling(k: Any, rng: np.random.Generator) -> Arrays:
    """Windows whose lengths follow from the size of the output, with ties among maxima, except of volumes."""
    inputs = {"1D": (2, 7, 3), "2D": (2, 6, 7, 2), "3D": (1, 4, 5, 6, 2)}
    sizes = {"1D": 3, "2D": (4, 3), "3D": (2, 3, 4)}
    return {
        f"{kind} {axes}": of_layer(
            k,
            getattr(k.layers, f"Adaptive{kind}Pooling{axes}")(sizes[axes]),
            np.round(rng.normal(size=shape), 8 * (axes == "3D")),
            rng,
        )
        for axes, shape in inputs.items()
        for kind in ("Average", "Max")
    }


@case
def global_pooling(k: Any, rng: np.random.Generator) -> Arrays:
    """Maxima, with ties, and averages over all of an image or signal."""
    found = {}
    for axes, shape in (("1D", SIGNALS), ("2D", IMAGES)):
        x = np.round(rng.normal(size=shape))
        for kind in (f"GlobalMaxPooling{axes}", f"GlobalAveragePooling{axes}"):
            for keepdims in (False, True):
                layer = getattr(k.layers, kind)(keepdims=keepdims)
                found[f"{kind} {keepdims}"] = of_layer(k, layer, x, rng)
    return found


@case
def global_average_of_masked(k: Any, rng: np.random.Generator) -> Arrays:
    """The average of the steps of signals that a mask lets through."""
    mask = np.arange(SIGNALS[1]) < np.array([[9], [4]])
    layer = k.layers.GlobalAveragePooling1D()
    return of_layer(k, layer, rng.normal(size=SIGNALS), rng, mask=mask)


@case
def shapes(k: Any, rng: np.random.Generator) -> Arrays:
    """The layers that only move elements."""
    layers = k.layers
    x = rng.normal(size=IMAGES)
    vectors = rng.normal(size=(2, 3))
    return {
        "flatten": of_layer(k, layers.Flatten(), x, rng),
        "flatten whole numbers": of_layer(k, layers.Flatten(), np.arange(6).reshape(2, 3, 1), rng),
        "flatten scalars": of_layer(k, layers.Flatten(), rng.normal(size=4), rng),
        "reshape": of_layer(k, layers.Reshape((6, -1)), x, rng),
        "reshape to scalars": of_layer(k, layers.Reshape(()), rng.normal(size=(4, 1)), rng),
        "permute": of_layer(k, layers.Permute((3, 1, 2)), x, rng),
        "repeat": of_layer(k, layers.RepeatVector(4), vectors, rng),
    }


@case
def volumes(k: Any, rng: np.random.Generator) -> Arrays:
    """Convolutions and poolings along three axes, and layers that pad, crop and repeat."""
    layers = k.layers
    x = rng.normal(size=(2, 5, 4, 6, 2))
    made = {
        "valid": layers.Conv3D(3, 2, activation="relu"),
        "same": layers.Conv3D(4, (3, 1, 2), strides=2, padding="same", use_bias=False),
        "groups": layers.Conv3D(4, 2, groups=2),
        "dilation": layers.Conv3D(2, 2, dilation_rate=(1, 2, 2)),
        "transposed": layers.Conv3DTranspose(3, 2, strides=2),
        "transposed same": layers.Conv3DTranspose(2, 3, strides=(1, 2, 2), padding="same"),
        "maximum": layers.MaxPooling3D(2),
        "average": layers.AveragePooling3D((2, 1, 3), 2, padding="same"),
        "all maximum": layers.GlobalMaxPooling3D(),
        "all average": layers.GlobalAveragePooling3D(keepdims=True),
        "padding": layers.ZeroPadding3D(((1, 0), (0, 2), (1, 1))),
        "cropping": layers.Cropping3D((1, 1, 2)),
        "repeating": layers.UpSampling3D((1, 2, 3)),
    }
    return {
        name: of_layer(k, layer, x, rng) | {"shape": np.array(layer.compute_output_shape(x.shape))}
        for name, layer in made.items()
    }
