"""The network of several benchmarks, 784-128-10 in single precision: its data, and its gradients by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

F4 = np.float32


def data() -> tuple[Any, Any, list[Any]]:
    """A batch of 128 images, its labels, and the first weights.

    The pixels lie around 0, so that no unit of the relu dies: its averages in Adam would become subnormal numbers,
    which take the processor many times as long.
    """
    rng = np.random.default_rng(0)
    images = rng.random((128, 784), dtype=F4) - F4(0.5)
    labels = rng.integers(0, 10, 128)
    kernels = [rng.normal(0, 0.05, shape).astype(F4) for shape in ((784, 128), (128, 10))]
    biases = [np.zeros(width, F4) for width in (128, 10)]
    return images, labels, [kernels[0], biases[0], kernels[1], biases[1]]


def gradients_by_hand(weights: list[Any], images: Any, labels: Any, rows: Any) -> tuple[Any, ...]:
    """The gradients of the mean softmax cross-entropy, which is computed, too; `rows` are the numbers of the images."""
    w1, b1, w2, b2 = weights
    hidden = np.maximum(images @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    exps = np.exp(shifted)
    total = np.sum(exps, axis=1, keepdims=True)
    np.mean(np.log(total[:, 0]) - shifted[rows, labels])
    g = exps / total
    g[rows, labels] -= 1
    g /= len(images)
    g_hidden = (g @ w2.T) * (hidden > 0)
    return images.T @ g_hidden, np.sum(g_hidden, axis=0), hidden.T @ g, np.sum(g, axis=0)
