"""Activations, normalizations, losses and other functions of ``tf.nn``."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.engine.operations import activations, exponentials, logistic, losses, sparse_losses
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError, UnsupportedArgumentError
from tapemagic.tf import random
from tapemagic.tf.core.adapter import adapter, adapter_to_several, axes, plain
from tapemagic.tf.core.convert import matched, operand, tensor
from tapemagic.tf.errors import InvalidArgumentError
from tapemagic.tf.ops.elementwise import checked


@adapter
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Compute exp(x) / sum(exp(x)) along an axis, by default the last.

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
    """Compute log(softmax(x)) without overflow."""
    x = checked("log_softmax", tensor(logits), "f")
    return exponentials.log_softmax(x, axis=-1 if axis is None else axes(axis))


@adapter
def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """Compute x if x > 0, else alpha * x."""
    x = checked("leaky_relu", tensor(features), "iuf")
    # TensorFlow casts integers to float32 here, because alpha is a fraction.
    x = np.astype(x, np.float32) if x.dtype.kind in "iu" else x
    return activations.leaky_relu(x, operand(alpha, x.dtype, "leaky_relu"))


@adapter
def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Compute x * P(Z < x) for a standard normal Z."""
    return activations.gelu(checked("gelu", tensor(features), "f"), approximate)


@adapter
def silu(features: Any, beta: Any = 1.0) -> Any:
    """Compute x * sigmoid(beta * x)."""
    x = checked("silu", tensor(features), "f")
    # The engine's silu has no beta; a beta in a tensor may need a gradient.
    if isinstance(beta, (int, float)) and beta == 1:
        return activations.silu(x)
    return x * logistic.sigmoid(tensor(beta, x.dtype) * x)


swish = silu


@adapter
def crelu(features: Any, axis: Any = -1, name: str | None = None) -> Any:
    """Concatenate relu(x) and relu(-x) along an axis."""
    x = checked("crelu", tensor(features), "f")
    return np.concatenate([activations.relu(x), activations.relu(-x)], axis=axes(axis))


@adapter
def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """Add a vector along the last axis; for a `data_format` "NC...", along the second axis."""
    x, b = matched("bias_add", value, bias)
    if b.ndim != 1 or x.ndim < 2:
        raise InvalidArgumentError(
            f"bias_add takes a bias with one axis and a value with two or more, not {b.shape} and {x.shape}"
        )
    if data_format is not None and data_format.startswith("NC"):
        # One axis of length 1 for each spatial axis, so that the bias broadcasts along the channels.
        return x + np.reshape(b, (-1, *(1,) * (x.ndim - 2)))
    return x + b


@adapter
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """Set elements to 0 with probability `rate`; divide the others by 1 - rate."""
    elements = checked("dropout", tensor(x), "f")
    part = float(unwrap(rate))
    if not 0 <= part < 1:
        raise OptionError(f"rate is the fraction to drop, in [0, 1), not {part}")
    if not part:
        return elements
    size = (
        elements.shape
        if noise_shape is None
        else [n if k is None else k for k, n in zip(noise_shape, elements.shape, strict=True)]
    )
    # An axis of length 1 in noise_shape draws one number for all elements along it, which are then dropped together.
    drawn = unwrap(random.uniform(size, seed=seed))
    return np.where(
        # Scaled by 1 / (1 - rate), so that the expected value stays the same and nothing changes at test time.
        # np.where, since 0 * inf would be nan.
        drawn >= part,
        elements * elements.dtype.type(1 / (1 - part)),
        elements.dtype.type(0),
    )


@adapter_to_several
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return mean and variance along axes."""
    elements, along = checked("moments", tensor(x), "fc"), _axes(axes)
    # The population variance (ddof=0), as in TensorFlow.
    return np.mean(elements, axis=along, keepdims=keepdims), np.var(
        elements, axis=along, keepdims=keepdims
    )


_axes = axes


@adapter_to_several
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> Any:
    """Return weighted mean and variance along axes."""
    elements, weights = matched("weighted_moments", x, frequency_weights)
    # Broadcast first: the total must count a weight once for each element that it applies to.
    weights, along = np.broadcast_to(weights, elements.shape), _axes(axes)
    total = np.sum(weights, axis=along, keepdims=True)
    mean = np.sum(weights * elements, axis=along, keepdims=True) / total
    variance = np.sum(weights * np.square(elements - mean), axis=along, keepdims=True) / total
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
    """Compute scale * (x - mean) / sqrt(variance + epsilon) + offset; offset and scale are optional."""
    x, mean, variance = matched("batch_normalization", x, mean, variance)
    factor = 1 / np.sqrt(variance + operand(variance_epsilon, x.dtype))
    if scale is not None:
        factor = factor * tensor(operand(scale, x.dtype), x.dtype)
    # TensorFlow's order of operations: x * factor + (offset - mean * factor) needs one product and one sum per element
    # of x, and rounds like TensorFlow in float32.
    shift = -mean * factor
    if offset is not None:
        shift = tensor(operand(offset, x.dtype), x.dtype) + shift
    return x * factor + shift


@adapter
def l2_loss(t: Any, name: str | None = None) -> Any:
    """Compute sum(t**2) / 2."""
    x = checked("l2_loss", tensor(t), "f")
    return np.sum(np.square(x)) / x.dtype.type(2)


@adapter
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Look up rows of a table by their indices."""
    if max_norm is not None:
        raise UnsupportedArgumentError(
            "embedding_lookup has no max_norm here: write tf.clip_by_norm around it"
        )
    elements, places = tensor(params), plain(ids)
    if ((places < 0) | (places >= elements.shape[0])).any():
        raise InvalidArgumentError(f"ids has a number that is not in [0, {elements.shape[0]})")
    return np.take(elements, places, axis=0)


# -- losses ----------------------------------------------------------------------------------------


@adapter
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Any:
    """Compute the cross-entropy of probabilities and softmax(logits) for each example."""
    y = tensor(logits)
    return losses.softmax_cross_entropy(tensor(operand(labels, y.dtype), y.dtype), y, axes(axis))


@adapter
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Any:
    """Compute the cross-entropy of class indices and softmax(logits) for each example.

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
    """Compute the cross-entropy of probabilities and sigmoid(logits) for each element."""
    y = tensor(logits)
    return losses.sigmoid_cross_entropy(tensor(operand(labels, y.dtype), y.dtype), y)


@adapter
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Any:
    """Weight positive labels: (1 - z) x + (1 + (q - 1) z) log(1 + exp(-x))."""
    x = tensor(logits)
    z, q = (tensor(operand(v, x.dtype), x.dtype) for v in (labels, pos_weight))
    weight = 1 + (q - 1) * z
    # log(1 + exp(-x)) = log1p(exp(-|x|)) + relu(-x) does not overflow.
    return (1 - z) * x + weight * (np.log1p(np.exp(-np.abs(x))) + activations.relu(-x))


@adapter
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Any:
    """Compute exp(c) - z * c for targets z and log inputs c; the full loss adds Stirling's approximation."""
    z, c = matched("log_poisson_loss", targets, log_input)
    loss = np.exp(c) - c * z
    if not compute_full_loss:
        return loss
    # log(0) in the branch that is not chosen would make its gradient nan.
    safe = np.where(z > 1, z, 1)
    stirling = safe * np.log(safe) - safe + 0.5 * np.log(2 * np.pi * safe)
    return loss + np.where(z > 1, stirling, z.dtype.type(0))


@adapter
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """Sum the losses of examples and divide by their number."""
    elements = tensor(per_example_loss)
    if sample_weight is not None:
        elements = elements * tensor(operand(sample_weight, elements.dtype), elements.dtype)
    count = (
        # With several devices TensorFlow divides by the global batch size; here the batch is the first axis.
        elements.shape[0] if global_batch_size is None and elements.ndim else global_batch_size or 1
    )
    return np.sum(elements) / elements.dtype.type(unwrap(count))


@adapter
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """Sum losses; with a single device nothing is divided."""
    return np.sum(tensor(regularization_loss))
