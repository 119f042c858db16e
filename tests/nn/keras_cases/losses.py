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


@case
def mean_squared_error(k: Any, rng: np.random.Generator) -> Arrays:
    """Each reduction, without and with weights."""
    y_true, y_pred, weights = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.random(4)
    parts = {}
    for reduction in REDUCTIONS:
        loss = k.losses.MeanSquaredError(reduction=reduction)
        parts[f"{reduction}"] = of_loss(k, loss, y_true, y_pred)
        parts[f"{reduction}_weighted"] = of_loss(k, loss, y_true, y_pred, weights)
    return parts


@case
def squared_error_of_shapes(k: Any, rng: np.random.Generator) -> Arrays:
    """Targets, predictions and weights with and without an axis of length 1 at the end."""
    loss = k.losses.MeanSquaredError()
    column, row = rng.normal(size=(4, 1)).astype("float32"), rng.normal(size=4).astype("float32")
    weights = rng.random(4)
    return {
        "row_column": of_loss(k, loss, row, column),
        "column_row": of_loss(k, loss, column, row),
        "rows": of_loss(k, loss, row, row[::-1]),
        "weights_row": of_loss(k, loss, row, column, weights),
        "weights_column": of_loss(k, loss, row, column, weights[:, None]),
        "weights_number": of_loss(k, loss, column, column[::-1], 0.5),
        "times": of_loss(k, loss, rng.normal(size=(2, 3)), rng.normal(size=(2, 3, 1))),
        "times_weights": of_loss(k, loss, np.zeros((2, 3, 2)), rng.normal(size=(2, 3, 2)), rng.random((2, 1))),
        "whole_targets": of_loss(k, loss, np.arange(4), column),
    }  # fmt: skip


@case
def sparse_categorical_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """From logits and probabilities, with labels in several shapes and dtypes."""
    logits = rng.normal(0, 3, (4, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    probabilities[0] = [0, 1, 0]
    labels = np.array([0, 2, 1, 1])
    from_logits = k.losses.SparseCategoricalCrossentropy(from_logits=True)
    loss = k.losses.SparseCategoricalCrossentropy()
    return {
        "logits": of_loss(k, from_logits, labels, logits),
        "logits_column": of_loss(k, from_logits, labels[:, None], logits),
        "logits_bytes": of_loss(k, from_logits, labels.astype("uint8"), logits),
        "logits_floats": of_loss(k, from_logits, labels.astype("float32"), logits),
        "logits_weighted": of_loss(k, from_logits, labels, logits, rng.random(4)),
        "probabilities": of_loss(k, loss, labels, probabilities),
        "unscaled": of_loss(k, loss, labels[1:], probabilities[1:] * 0.5),
        "large": of_loss(k, from_logits, labels, logits * 1e4),
        "times": of_loss(k, from_logits, rng.integers(0, 3, (2, 4)), rng.normal(size=(2, 4, 3))),
    }


@case
def ignored_class(k: Any, rng: np.random.Generator) -> Arrays:
    """A label that does not count, with each reduction and weights."""
    labels, logits, weights = np.array([0, -1, 2, 1]), rng.normal(size=(4, 3)), rng.random(4)
    parts = {}
    for reduction in REDUCTIONS:
        loss = k.losses.SparseCategoricalCrossentropy(True, ignore_class=-1, reduction=reduction)
        parts[f"{reduction}"] = of_loss(k, loss, labels, logits)
        parts[f"{reduction}_weighted"] = of_loss(k, loss, labels, logits, weights)
    return parts


def of_functions(k: Any, names: str, y_true: Any, y_pred: Any) -> Arrays:
    """The values and gradients of losses with default options, as objects and as functions."""
    parts = {}
    for name in names.split():
        function = getattr(k.losses, name)
        parts[name] = of_loss(k, function(), y_true, y_pred)
    return parts


@case
def regression(k: Any, rng: np.random.Generator) -> Arrays:
    """Losses of numbers, also with targets of 0 and equal to the predictions."""
    y_true, y_pred = rng.normal(size=(4, 3)), rng.normal(0, 3, size=(4, 3))
    y_true[0, 0], y_pred[1, 1] = 0, np.float32(y_true[1, 1])
    names = "MeanAbsoluteError MeanSquaredLogarithmicError Huber LogCosh CosineSimilarity"
    found = of_functions(k, names, y_true, y_pred)
    percent = k.losses.MeanAbsolutePercentageError()
    found |= {
        "percent": of_loss(k, percent, y_true[1:], y_pred[1:]),
        "percent_of_0": of_loss(k, percent, y_true[:1], y_pred[:1]),
        "huber_2": of_loss(k, k.losses.Huber(delta=2.0), y_true, y_pred),
        "cosine_0": of_loss(k, k.losses.CosineSimilarity(axis=0), y_true, y_pred),
        "columns": of_loss(k, k.losses.LogCosh(), y_true[:, 0], y_pred[:, :1]),
        "bend": of_loss(k, k.losses.Huber(), np.zeros((1, 3)), [[1.0, -1.0, 0.0]]),
    }
    return found


@case
def distributions(k: Any, rng: np.random.Generator) -> Arrays:
    """Losses of distributions, also with probabilities of 0 and 1."""
    y_true, y_pred = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), 4)
    y_true[0], y_pred[1] = [0, 1, 0], [1, 0, 0]
    found = of_functions(k, "KLDivergence Poisson", y_true, y_pred)
    return found | {
        "counts": of_loss(k, k.losses.Poisson(), rng.poisson(3, (4, 2)), rng.random((4, 2)) * 5)
    }


@case
def hinges(k: Any, rng: np.random.Generator) -> Arrays:
    """Targets of -1 and 1, of 0 and 1, and others."""
    y_pred, zeros = rng.normal(size=(4, 3)), rng.integers(0, 2, (4, 3))
    y_pred[0, 0] = 1.0
    one_hot = np.eye(3)[[0, 2, 1, 1]]
    return {
        "ones": of_functions(k, "Hinge SquaredHinge", 2 * zeros - 1, y_pred),
        "zeros": of_functions(k, "Hinge SquaredHinge", zeros, y_pred),
        "others": of_functions(k, "Hinge SquaredHinge", zeros * 0.5, y_pred),
        "one_hot": of_functions(k, "CategoricalHinge", one_hot, y_pred),
    }


@case
def binary_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """From logits and probabilities, with smoothing and along another axis."""
    y_true, logits = rng.integers(0, 2, (4, 3)), rng.normal(0, 3, (4, 3))
    logits[0] = [50, -50, 0]
    logits = logits.astype("float32")
    probabilities = 1 / (1 + np.exp(-logits))
    probabilities[1] = [0, 1, 0.5]
    loss = k.losses.BinaryCrossentropy
    return {
        "logits": of_loss(k, loss(from_logits=True), y_true, logits),
        "probabilities": of_loss(k, loss(), y_true, probabilities),
        "smooth": of_loss(k, loss(True, label_smoothing=0.2), y_true, logits),
        "smooth_probabilities": of_loss(k, loss(label_smoothing=0.2), y_true, probabilities),
        "soft": of_loss(k, loss(True), rng.random((4, 3)), logits),
        "row": of_loss(k, loss(True), y_true[:, 0], logits[:, :1]),
        "axis": of_loss(k, loss(True, axis=0, reduction=None), y_true, logits),
        "weighted": of_loss(k, loss(), y_true, probabilities, rng.random(4)),
    }


@case
def categorical_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """From logits and probabilities, with smoothing and along another axis."""
    y_true, logits = np.eye(3)[[0, 2, 1, 1]], rng.normal(0, 3, (4, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    probabilities[1] = [0, 1, 0]
    loss = k.losses.CategoricalCrossentropy
    return {
        "logits": of_loss(k, loss(from_logits=True), y_true, logits),
        "large": of_loss(k, loss(from_logits=True), y_true, logits * 1e4),
        "probabilities": of_loss(k, loss(), y_true, probabilities),
        "unscaled": of_loss(k, loss(), y_true, probabilities * 2.5),
        "smooth": of_loss(k, loss(True, label_smoothing=0.2), y_true, logits),
        "smooth_probabilities": of_loss(k, loss(label_smoothing=0.2), y_true, probabilities),
        "soft": of_loss(k, loss(True), rng.dirichlet(np.ones(3), 4), logits),
        "axis": of_loss(k, loss(True, axis=0), rng.dirichlet(np.ones(4), 3).T, logits),
        "axis_probabilities": of_loss(k, loss(axis=1), y_true, probabilities),
        "times": of_loss(
            k, loss(True), np.eye(3)[rng.integers(0, 3, (2, 4))], rng.normal(size=(2, 4, 3)), rng.random((2, 1))
        ),
    }  # fmt: skip


@case
def focal_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """The cross-entropies in which well predicted examples count less."""
    y_true, logits = rng.integers(0, 2, (4, 3)), rng.normal(0, 2, (4, 3))
    one_hot = np.eye(3)[[0, 2, 1, 1]]
    probabilities = 1 / (1 + np.exp(-logits))
    binary, categorical = k.losses.BinaryFocalCrossentropy, k.losses.CategoricalFocalCrossentropy
    return {
        "binary": of_loss(k, binary(), y_true, probabilities),
        "binary_logits": of_loss(k, binary(from_logits=True), y_true, logits),
        "binary_balanced": of_loss(k, binary(True, 0.3, 1.5), y_true, probabilities),
        "binary_smooth": of_loss(k, binary(label_smoothing=0.1), y_true, probabilities),
        "categorical": of_loss(k, categorical(), one_hot, probabilities),
        "categorical_logits": of_loss(k, categorical(from_logits=True), one_hot, logits),
        "categorical_options": of_loss(k, categorical(0.3, 1.5, label_smoothing=0.1), one_hot, probabilities),
    }  # fmt: skip


@case
def loss_functions(k: Any, rng: np.random.Generator) -> Arrays:
    """The functions, which reduce nothing, by their names."""
    y_true, y_pred = rng.dirichlet(np.ones(3), (2, 4)), rng.dirichlet(np.ones(3), (2, 4))
    given = y_true.astype("float32"), y_pred.astype("float32")
    names = (
        "mean_squared_error mean_absolute_error mean_absolute_percentage_error huber log_cosh poisson hinge "
        "mean_squared_logarithmic_error cosine_similarity kl_divergence squared_hinge categorical_hinge "
        "binary_crossentropy categorical_crossentropy binary_focal_crossentropy categorical_focal_crossentropy "
        "mse mae mape msle kld bce MSE"
    )
    return {name: k.array(k.losses.get(name)(*given)) for name in names.split()}


@case
def overlaps(k: Any, rng: np.random.Generator) -> Arrays:
    """Dice and Tversky losses, of everything and of each picture, with weights."""
    y_true, y_pred = rng.integers(0, 2, (2, 3, 4, 1)), rng.random((2, 3, 4, 1))
    weights, losses = rng.random(2), k.losses
    pictures = (1, 2, 3)
    return {
        "dice": of_loss(k, losses.Dice(), y_true, y_pred),
        "dices": of_loss(k, losses.Dice(axis=pictures), y_true, y_pred, weights),
        "tversky": of_loss(k, losses.Tversky(0.3, 0.8), y_true, y_pred),
        "tverskys": of_loss(k, losses.Tversky(axis=pictures, reduction=None), y_true, y_pred, weights),
        "functions": {
            "dice": k.array(losses.dice(single(y_true), single(y_pred), axis=1)),
            "tversky": k.array(losses.tversky(single(y_true), single(y_pred), alpha=0.2)),
        },
        "columns": of_loss(k, losses.Dice(axis=0), y_true[0, 0, :, 0], y_pred[0, 0]),
    }  # fmt: skip


def single(x: Any) -> Any:
    """An array in single precision."""
    return np.asarray(x, "float32")


@case
def circles(k: Any, rng: np.random.Generator) -> Arrays:
    """Embeddings of three classes, one of which has a single example."""
    labels, vectors = np.array([0, 1, 0, 1, 2, 0]), rng.normal(size=(6, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    loss = k.losses.Circle
    return {
        "default": of_loss(k, loss(), labels[:4], vectors[:4]),
        "gentle": of_loss(k, loss(gamma=1.0, margin=0.1), labels[:4], vectors[:4]),
        "sum": of_loss(k, loss(2.0, reduction="sum"), labels[:4, None], vectors[:4], rng.random(4)),
        "themselves": of_loss(k, loss(2.0, remove_diagonal=False), labels, vectors),
        "alone": k.array(loss(2.0)(labels, single(vectors))),
        "all alone": k.array(loss(2.0, reduction=None)(np.arange(6), single(vectors))),
        "references": k.array(
            k.losses.circle(labels[:2], single(vectors[:2]), labels, single(vectors), False, 3.0)
        ),
    }


@case
def generalized_crossentropy(k: Any, rng: np.random.Generator) -> Arrays:
    """Values of q near both ends."""
    labels, probabilities = np.array([0, 2, 1, 1]), rng.dirichlet(np.ones(3), 4)
    loss = k.losses.CategoricalGeneralizedCrossEntropy
    return {
        f"{q}": of_loss(k, loss(q), labels, probabilities, rng.random(4)) for q in (0.1, 0.5, 0.9)
    }


@case
def custom_losses(k: Any, rng: np.random.Generator) -> Arrays:
    """A class of the user's, with weights."""

    class Cubes(k.losses.Loss):  # type: ignore[misc]
        """The sum of cubes."""

        def call(self, y_true: Any, y_pred: Any) -> Any:
            """The cubes."""
            return (y_pred - y_true) ** 3

    y_true, y_pred = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    return {
        "mean": of_loss(k, Cubes(), y_true, y_pred),
        "weighted": of_loss(k, Cubes(reduction="sum"), y_true, y_pred, rng.random((4, 1))),
        "whole": of_loss(k, Cubes(), y_true.astype(int), y_pred),
    }
