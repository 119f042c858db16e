"""Losses: values with every reduction and weights, and gradients with respect to the predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case

REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)


def of_loss(k: Any, loss: Any, y_true: Any, y_pred: Any, *weights: Any) -> Arrays:
    """The value of a loss, and its gradient with respect to the predictions."""
    y_pred = k.variable(np.asarray(y_pred, "float32"))
    given = [np.asarray(w, "float32") for w in weights]

    def total() -> Any:
        return k.sum(loss(y_true, y_pred, *given))

    value = k.array(loss(y_true, y_pred, *given))
    return {"value": value, "gradient": k.gradients(total, [y_pred])[0]}


def of_each(parts: dict[str, Arrays]) -> Arrays:
    """The arrays of several losses under one name each."""
    return {f"{name}.{key}": x for name, found in parts.items() for key, x in found.items()}


@case
def mean_squared_error(k: Any, rng: np.random.Generator) -> Arrays:
    """Each reduction, without and with weights."""
    y_true, y_pred, weights = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.random(4)
    parts = {}
    for reduction in REDUCTIONS:
        loss = k.losses.MeanSquaredError(reduction=reduction)
        parts[f"{reduction}"] = of_loss(k, loss, y_true, y_pred)
        parts[f"{reduction}_weighted"] = of_loss(k, loss, y_true, y_pred, weights)
    return of_each(parts)


@case
def squared_error_of_shapes(k: Any, rng: np.random.Generator) -> Arrays:
    """Targets, predictions and weights with and without an axis of length 1 at the end."""
    loss = k.losses.MeanSquaredError()
    column, row = rng.normal(size=(4, 1)).astype("float32"), rng.normal(size=4).astype("float32")
    weights = rng.random(4)
    return of_each(
        {
            "row_column": of_loss(k, loss, row, column),
            "column_row": of_loss(k, loss, column, row),
            "rows": of_loss(k, loss, row, row[::-1]),
            "weights_row": of_loss(k, loss, row, column, weights),
            "weights_column": of_loss(k, loss, row, column, weights[:, None]),
            "weights_number": of_loss(k, loss, column, column[::-1], 0.5),
            "times": of_loss(k, loss, rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 1))),
            "times_weights": of_loss(
                k, loss, np.zeros((2, 3, 2)), rng.normal(size=(2, 3, 2)), rng.random((2, 1))
            ),
            "whole_targets": of_loss(k, loss, np.arange(4), column),
        }
    )


@case
def sparse_categorical_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """From logits and probabilities, with labels in several shapes and dtypes."""
    logits = rng.normal(0, 3, (4, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    probabilities[0] = [0, 1, 0]
    labels = np.array([0, 2, 1, 1])
    from_logits = k.losses.SparseCategoricalCrossentropy(from_logits=True)
    loss = k.losses.SparseCategoricalCrossentropy()
    return of_each(
        {
            "logits": of_loss(k, from_logits, labels, logits),
            "logits_column": of_loss(k, from_logits, labels[:, None], logits),
            "logits_bytes": of_loss(k, from_logits, labels.astype("uint8"), logits),
            "logits_floats": of_loss(k, from_logits, labels.astype("float32"), logits),
            "logits_weighted": of_loss(k, from_logits, labels, logits, rng.random(4)),
            "probabilities": of_loss(k, loss, labels, probabilities),
            "unscaled": of_loss(k, loss, labels[1:], probabilities[1:] * 0.5),
            "large": of_loss(k, from_logits, labels, logits * 1e4),
            "times": of_loss(
                k, from_logits, rng.integers(0, 3, (2, 4)), rng.normal(size=(2, 4, 3))
            ),
        }
    )


@case
def ignored_class(k: Any, rng: np.random.Generator) -> Arrays:
    """A label that does not count, with each reduction and weights."""
    labels, logits, weights = np.array([0, -1, 2, 1]), rng.normal(size=(4, 3)), rng.random(4)
    parts = {}
    for reduction in REDUCTIONS:
        loss = k.losses.SparseCategoricalCrossentropy(True, ignore_class=-1, reduction=reduction)
        parts[f"{reduction}"] = of_loss(k, loss, labels, logits)
        parts[f"{reduction}_weighted"] = of_loss(k, loss, labels, logits, weights)
    return of_each(parts)
