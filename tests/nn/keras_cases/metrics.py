"""Metrics: results after each of several batches, with and without weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case


def of_metric(k: Any, metric: Any, *batches: tuple[Any, ...]) -> Arrays:
    """The result after each batch, and after a reset and the last batch alone."""
    found = {}
    for number, (y_true, y_pred, *weights) in enumerate(batches):
        metric.update_state(y_true, y_pred, *weights)
        found[f"result_{number}"] = k.array(metric.result())
    metric.reset_state()
    found["empty"] = k.array(metric.result())
    metric.update_state(*batches[-1])
    found["last"] = k.array(metric.result())
    return found


def of_metrics(k: Any, metrics: dict[str, Any], *batches: tuple[Any, ...]) -> Arrays:
    """The results of several metrics, under a name each."""
    return {
        f"{name}.{key}": x
        for name, metric in metrics.items()
        for key, x in of_metric(k, metric, *batches).items()
    }


def single(x: Any) -> Any:
    """An array in single precision."""
    return np.asarray(x, "float32")


@case
def mean_and_sum(k: Any, rng: np.random.Generator) -> Arrays:
    """Values of several ranks, with weights of fewer axes."""
    found = {}
    batches = (
        (rng.random(4), None),
        (rng.random(4), rng.random(4)),
        (rng.random((4, 3)), rng.random(4)),
        (rng.random((4, 3)), rng.random((4, 1))),
        (rng.random((4, 3)), rng.random((4, 3))),
        (rng.random((4, 1)), rng.random(4)),
        (rng.random((2, 3, 2)), None),
        (2.5, None),
        (rng.random(4), 0.5),
    )
    for name in ("Mean", "Sum"):
        metric = getattr(k.metrics, name)()
        for number, (values, weights) in enumerate(batches):
            given = None if weights is None else single(weights)
            found[f"{name}_{number}"] = k.array(metric(single(values), sample_weight=given))
    return found


@case
def sparse_accuracies(k: Any, rng: np.random.Generator) -> Arrays:
    """Labels that are numbers of classes."""
    labels = rng.integers(0, 7, (3, 6))
    batches = (
        (labels[0], single(rng.normal(size=(6, 7)))),
        (labels[1][:, None], single(rng.normal(size=(6, 7))), single(rng.random(6))),
        (labels[2].reshape(2, 3), single(rng.normal(size=(2, 3, 7)))),
    )
    metrics = {
        "accuracy": k.metrics.SparseCategoricalAccuracy(),
        "top_5": k.metrics.SparseTopKCategoricalAccuracy(),
        "top_2": k.metrics.SparseTopKCategoricalAccuracy(k=2),
    }
    return of_metrics(k, metrics, *batches)


@case
def categorical_accuracies(k: Any, rng: np.random.Generator) -> Arrays:
    """A number for each class."""
    targets = np.eye(7, dtype="float32")[rng.integers(0, 7, (2, 6))]
    batches = (
        (targets[0], single(rng.normal(size=(6, 7)))),
        (targets[1], single(rng.normal(size=(6, 7))), single(rng.random(6))),
    )
    metrics = {
        "accuracy": k.metrics.CategoricalAccuracy(),
        "top_5": k.metrics.TopKCategoricalAccuracy(),
        "top_2": k.metrics.TopKCategoricalAccuracy(k=2),
    }
    return of_metrics(k, metrics, *batches)


@case
def accuracies_of_values(k: Any, rng: np.random.Generator) -> Arrays:
    """Equal values, and sides of a threshold."""
    y_true = single(rng.integers(0, 2, (3, 6)))
    y_pred = single(np.round(rng.random((3, 6)), 1))
    y_pred[:, 0], y_pred[:, 1] = y_true[:, 0], 0.5
    batches = (
        (y_true[0], y_pred[0]),
        (y_true[1], y_pred[1][:, None], single(rng.random(6))),
        (y_true[2][:, None], y_pred[2][:, None]),
    )
    metrics = {
        "equal": k.metrics.Accuracy(),
        "binary": k.metrics.BinaryAccuracy(),
        "binary_0.3": k.metrics.BinaryAccuracy(threshold=0.3),
    }
    return of_metrics(k, metrics, *batches)


@case
def accuracy_functions(k: Any, rng: np.random.Generator) -> Arrays:
    """The functions of which the metrics are made; of equal predictions the first counts, or all."""
    y_pred = single(np.round(rng.random((8, 4)), 1))
    y_pred[0] = 0.5
    labels = rng.integers(0, 4, 8)
    one_hot = np.eye(4, dtype="float32")[labels]
    m = k.metrics
    return {
        "sparse": k.array(m.sparse_categorical_accuracy(labels, y_pred)),
        "column": k.array(m.sparse_categorical_accuracy(labels[:, None], y_pred)),
        "categorical": k.array(m.categorical_accuracy(one_hot, y_pred)),
        "binary": k.array(m.binary_accuracy(one_hot, y_pred)),
        "top_2": k.array(m.sparse_top_k_categorical_accuracy(labels, y_pred, k=2)),
        "one_hot_top_2": k.array(m.top_k_categorical_accuracy(one_hot, y_pred, k=2)),
        "sorted": k.array(
            m.sparse_top_k_categorical_accuracy(
                labels, np.argsort(-y_pred, axis=-1).astype("float32"), 2, from_sorted_ids=True
            )
        ),
    }
