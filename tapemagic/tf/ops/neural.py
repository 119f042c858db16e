"""Activations, normalizations, losses and other parts of neural networks: ``tf.nn``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations import activations, exponentials, losses, sparse_losses
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.tf import random
from tapemagic.tf.core.adapter import adapter, axes, plain
from tapemagic.tf.core.convert import matched, operand, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


@adapter
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, the last one if none is given.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.nn.softmax([0.0, 0.0]))
    tf.Tensor([0.5 0.5], shape=(2,), dtype=float32)
    """
    return exponentials.softmax(
        checked("softmax", tensor(logits), "f"), axis=-1 if axis is None else axes(axis)
    )


@adapter
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """The logarithm of softmax, without overflow."""
    x = checked("log_softmax", tensor(logits), "f")
    return exponentials.log_softmax(x, axis=-1 if axis is None else axes(axis))


@adapter
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """x above 0, and alpha * x below."""
    x = checked("leaky_relu", tensor(features), "iuf")
    x = np.astype(x, np.float32) if x.dtype.kind in "iu" else x
    return activations.leaky_relu(x, operand(alpha, x.dtype, "leaky_relu"))


@adapter
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """x times the probability that a standard normal number is below x."""
    return activations.gelu(checked("gelu", tensor(features), "f"), approximate)


@adapter
def silu(features: Any, beta: Any = 1.0) -> Any:
    """x * sigmoid(beta * x)."""
    x = checked("silu", tensor(features), "f")
    if isinstance(beta, (int, float)) and beta == 1:
        return activations.silu(x)
    scale = tensor(beta, x.dtype)
    return activations.silu(x * scale) / scale


swish = silu


@adapter
def crelu(features: Any, axis: Any = -1, name: str | None = None) -> Any:
    """relu(x) and relu(-x), joined along an axis."""
    x = checked("crelu", tensor(features), "f")
    return np.concatenate([activations.relu(x), activations.relu(-x)], axis=axes(axis))


@adapter
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """The sum of a tensor and a vector along the last axis; with "NC..." as `data_format`, along the second one."""
    x, b = matched("bias_add", value, bias)
    if b.ndim != 1 or x.ndim < 2:
        raise InvalidArgumentError(
            f"bias_add takes a bias with one axis, and two axes or more beside it, not {b.shape} and {x.shape}"
        )
    if data_format is not None and data_format.startswith("NC"):
        return x + np.reshape(b, (-1, *(1,) * (x.ndim - 2)))
    return x + b


@adapter
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """The tensor with elements set to 0 at random, with probability `rate`, and the others divided by 1 - rate."""
    held = checked("dropout", tensor(x), "f")
    part = float(unwrap(rate))
    if not 0 <= part < 1:
        raise OptionError(
            f"rate is the part that is dropped, from 0 up to 1, without it, not {part}"
        )
    if not part:
        return held
    size = (
        held.shape
        if noise_shape is None
        else [n if k is None else k for k, n in zip(noise_shape, held.shape, strict=True)]
    )
    drawn = np.asarray(random.uniform(size, seed=seed))
    return np.where(drawn >= part, held * held.dtype.type(1 / (1 - part)), held.dtype.type(0))


@adapter
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean and the variance along axes."""
    held, along = checked("moments", tensor(x), "fc"), _axes(axes)
    return np.mean(held, axis=along, keepdims=keepdims), np.var(held, axis=along, keepdims=keepdims)


_axes = axes


@adapter
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean and the variance along axes, with a weight for each element."""
    held, weights = matched("weighted_moments", x, frequency_weights)
    weights, along = np.broadcast_to(weights, held.shape), _axes(axes)
    total = np.sum(weights, axis=along, keepdims=True)
    mean = np.sum(weights * held, axis=along, keepdims=True) / total
    variance = np.sum(weights * np.square(held - mean), axis=along, keepdims=True) / total
    return (mean, variance) if keepdims else (np.squeeze(mean, along), np.squeeze(variance, along))


@adapter
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Any:
    """scale * (x - mean) / sqrt(variance + epsilon) + offset; offset and scale may be None."""
    x, mean, variance = matched("batch_normalization", x, mean, variance)
    factor = 1 / np.sqrt(variance + operand(variance_epsilon, x.dtype))
    if scale is not None:
        factor = factor * tensor(operand(scale, x.dtype), x.dtype)
    shift = -mean * factor
    if offset is not None:
        shift = tensor(operand(offset, x.dtype), x.dtype) + shift
    return x * factor + shift


@adapter
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of the squares."""
    x = checked("l2_loss", tensor(t), "f")
    return np.sum(np.square(x)) / x.dtype.type(2)


@adapter
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """The rows of a table with the given numbers."""
    if max_norm is not None:
        raise UnsupportedArgumentError(
            "embedding_lookup has no max_norm here: write tf.clip_by_norm around it"
        )
    held, places = tensor(params), plain(ids)
    if ((places < 0) | (places >= held.shape[0])).any():
        raise InvalidArgumentError(f"ids has a number that is not in [0, {held.shape[0]})")
    return np.take(held, places, axis=0)


# -- losses ----------------------------------------------------------------------------------------


@adapter
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Any:
    """The cross-entropy between probabilities and the softmax of logits, for each example."""
    y = tensor(logits)
    return losses.softmax_cross_entropy(tensor(operand(labels, y.dtype), y.dtype), y, axes(axis))


@adapter
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """The cross-entropy between the numbers of classes and the softmax of logits, for each example.

    Examples
    --------
    >>> import tapemagic.tf as tf
    >>> print(tf.nn.sparse_softmax_cross_entropy_with_logits([0], [[1.0, 2.0]]))
    tf.Tensor([1.3132616], shape=(1,), dtype=float32)
    """
    return sparse_losses.sparse_softmax_cross_entropy(plain(labels), tensor(logits))


@adapter
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """The cross-entropy between probabilities and the sigmoid of logits, for each element."""
    y = tensor(logits)
    return losses.sigmoid_cross_entropy(tensor(operand(labels, y.dtype), y.dtype), y)


@adapter
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Any:
    """The same, with a weight for what is positive: (1 - z) x + (1 + (q - 1) z) log(1 + exp(-x))."""
    x = tensor(logits)
    z, q = (tensor(operand(v, x.dtype), x.dtype) for v in (labels, pos_weight))
    weight = 1 + (q - 1) * z
    return (1 - z) * x + weight * (np.log1p(np.exp(-np.abs(x))) + activations.relu(-x))


@adapter
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Any:
    """exp(c) - z * c for each element, of targets z and logarithms c; with Stirling's approximation if it is full."""
    z, c = matched("log_poisson_loss", targets, log_input)
    loss = np.exp(c) - c * z
    if not compute_full_loss:
        return loss
    safe = np.where(z > 1, z, 1)
    stirling = safe * np.log(safe) - safe + 0.5 * np.log(2 * np.pi * safe)
    return loss + np.where(z > 1, stirling, z.dtype.type(0))


@adapter
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """The sum of the losses of examples, divided by their number."""
    held = tensor(per_example_loss)
    if sample_weight is not None:
        held = held * tensor(operand(sample_weight, held.dtype), held.dtype)
    count = held.shape[0] if global_batch_size is None and held.ndim else global_batch_size or 1
    return np.sum(held) / held.dtype.type(unwrap(count))


@adapter
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of losses; there is one device, so that nothing is divided."""
    return np.sum(tensor(regularization_loss))
