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
    return {name: of_metric(k, metric, *batches) for name, metric in metrics.items()}


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


def binary_batches(rng: np.random.Generator) -> tuple[Any, ...]:
    """Batches of targets of 0 and 1, scores and weights, in several shapes."""
    y_true = single(rng.integers(0, 2, (4, 12)))
    y_pred = single(np.clip(0.3 * y_true + rng.random((4, 12)) * 0.7, 0, 1))
    y_pred[0, :2] = [0, 1]
    weights = single(rng.random(12))
    return (
        (y_true[0], y_pred[0]),
        (y_true[1], y_pred[1], weights),
        (y_true[2][:, None], y_pred[2], weights),
        (y_true[3].reshape(6, 2), y_pred[3].reshape(6, 2), weights[:6]),
    )


@case
def decisions(k: Any, rng: np.random.Generator) -> Arrays:
    """Precision, recall and counts at one threshold and several."""
    m = k.metrics
    several = [0.7, 0.25, 0.5]
    metrics = {
        "precision": m.Precision(),
        "precision_0.3": m.Precision(0.3),
        "precisions": m.Precision(several),
        "recall": m.Recall(),
        "recalls": m.Recall(thresholds=several),
        "even": m.Recall([0.0, 0.5, 1.0]),
        "true_positives": m.TruePositives(),
        "false_positives": m.FalsePositives(several),
        "true_negatives": m.TrueNegatives(0.4),
        "false_negatives": m.FalseNegatives(several),
    }
    return of_metrics(k, metrics, *binary_batches(rng))


@case
def decisions_of_classes(k: Any, rng: np.random.Generator) -> Arrays:
    """The k largest scores, and one class."""
    y_true = np.eye(5, dtype="float32")[rng.integers(0, 5, (2, 8))]
    y_pred = single(rng.dirichlet(np.ones(5), (2, 8)))
    batches = ((y_true[0], y_pred[0]), (y_true[1], y_pred[1], single(rng.random(8))))
    m = k.metrics
    metrics = {
        "precision_2": m.Precision(top_k=2),
        "recall_2": m.Recall(top_k=2),
        "recall_2_half": m.Recall(0.5, top_k=2),
        "precision_class": m.Precision(0.2, class_id=1),
        "recall_class": m.Recall(0.2, class_id=4),
        "both": m.Recall(top_k=3, class_id=2),
    }
    return of_metrics(k, metrics, *batches)


@case
def areas(k: Any, rng: np.random.Generator) -> Arrays:
    """Areas under every curve, by every method."""
    metrics = {
        f"{curve}_{method}": k.metrics.AUC(curve=curve, summation_method=method)
        for curve in ("ROC", "PR", "PRGAIN")
        for method in ("interpolation", "majoring", "minoring")
    }
    metrics["few"] = k.metrics.AUC(num_thresholds=3)
    metrics["given"] = k.metrics.AUC(thresholds=[0.7, 0.2, 0.4])
    return of_metrics(k, metrics, *binary_batches(rng))


@case
def areas_of_labels(k: Any, rng: np.random.Generator) -> Arrays:
    """Areas for several labels, with weights, and from logits."""
    y_true = single(rng.integers(0, 2, (2, 12, 3)))
    logits = single(rng.normal(size=(2, 12, 3)) + y_true)
    y_pred = 1 / (1 + np.exp(-logits))
    batches = ((y_true[0], y_pred[0]), (y_true[1], y_pred[1], single(rng.random(12))))
    auc, weights = k.metrics.AUC, [0.2, 0.3, 0.5]
    metrics = {
        "labels": auc(multi_label=True, num_labels=3),
        "labels_weighted": auc(multi_label=True, num_labels=3, label_weights=weights),
        "labels_pr": auc(curve="pr", multi_label=True, num_labels=3),
        "together_weighted": auc(label_weights=weights),
    }
    found = of_metrics(k, metrics, *batches)
    logits_batches = tuple((true, x) for true, x in zip(y_true, logits, strict=True))
    return found | of_metrics(k, {"logits": auc(from_logits=True)}, *logits_batches)


@case
def operating_points(k: Any, rng: np.random.Generator) -> Arrays:
    """The best of one share where another is large enough."""
    m = k.metrics
    metrics = {
        "sensitivity": m.SensitivityAtSpecificity(0.6),
        "specificity": m.SpecificityAtSensitivity(0.6),
        "precision": m.PrecisionAtRecall(0.6),
        "recall": m.RecallAtPrecision(0.6, num_thresholds=20),
        "one": m.RecallAtPrecision(0.6, num_thresholds=1),
        "never": m.SensitivityAtSpecificity(1.0, num_thresholds=2),
    }
    return of_metrics(k, metrics, *binary_batches(rng)[:3])


@case
def f_scores(k: Any, rng: np.random.Generator) -> Arrays:
    """F-scores with every average."""
    y_true = np.eye(4, dtype="float32")[rng.integers(0, 4, (2, 8))]
    y_pred = single(rng.dirichlet(np.ones(4), (2, 8)))
    batches = ((y_true[0], y_pred[0]), (y_true[1], y_pred[1], single(rng.random(8))))
    found: Arrays = {}
    for average in (None, "micro", "macro", "weighted"):
        for metric in (
            k.metrics.F1Score(average),
            k.metrics.F1Score(average, threshold=0.3),
            k.metrics.FBetaScore(average, 2.0),
        ):
            name = f"{average}_{len(found)}"
            found |= of_scores(k, name, metric, *batches)
    return found


def of_scores(k: Any, name: str, metric: Any, *batches: tuple[Any, ...]) -> Arrays:
    """The results of a metric that has none before its first batch."""
    found = {}
    for number, (y_true, y_pred, *weights) in enumerate(batches):
        metric.update_state(y_true, y_pred, *weights)
        found[f"{name}.{number}"] = k.array(metric.result())
    metric.reset_state()
    metric.update_state(*batches[0])
    return found | {f"{name}.last": k.array(metric.result())}


@case
def regression(k: Any, rng: np.random.Generator) -> Arrays:
    """Errors of numbers."""
    y_true, y_pred = single(rng.normal(size=(3, 6, 2))), single(rng.normal(size=(3, 6, 2)))
    weights = single(rng.random(6))
    batches = (
        (y_true[0], y_pred[0]),
        (y_true[1], y_pred[1], weights),
        (y_true[2][:, 0], y_pred[2][:, :1], weights),
    )
    names = (
        "MeanSquaredError MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredLogarithmicError "
        "RootMeanSquaredError LogCoshError CosineSimilarity"
    )
    metrics = {name: getattr(k.metrics, name)() for name in names.split()}
    hinges = {"hinge": k.metrics.Hinge(), "squared_hinge": k.metrics.SquaredHinge()}
    return of_metrics(k, metrics, *batches) | of_metrics(k, hinges, *batches[:2])


@case
def correlations(k: Any, rng: np.random.Generator) -> Arrays:
    """Pearson's and the concordance correlation along both axes, with weights."""
    y_true = single(rng.normal(size=(2, 5, 4)))
    y_pred = single(y_true + rng.normal(1, 0.5, (2, 5, 4)))
    batches = ((y_true[0], y_pred[0]), (y_true[1], y_pred[1], single(rng.random(5))))
    m = k.metrics
    metrics = {"pearson": m.PearsonCorrelation(), "concordance": m.ConcordanceCorrelation()}
    others = {
        "pearson 0": m.PearsonCorrelation(axis=0),
        "concordance 0": m.ConcordanceCorrelation(axis=0),
    }
    functions = {
        name: k.array(getattr(m, name)(y_true, y_pred, axis=1))
        for name in ("pearson_correlation", "concordance_correlation")
    }
    return of_metrics(k, metrics, *batches) | of_metrics(k, others, batches[0]) | functions


@case
def explained_variance(k: Any, rng: np.random.Generator) -> Arrays:
    """R2 scores with every average, with and without weights, and of constant targets."""
    y_true = single(rng.normal(size=(2, 8, 3)))
    y_pred = single(y_true + rng.normal(0, 0.5, (2, 8, 3)))
    batches = ((y_true[0], y_pred[0]), (y_true[1], y_pred[1], single(rng.random(8))))
    found: Arrays = {}
    for average in ("uniform_average", "variance_weighted_average", None):
        score = k.metrics.R2Score(class_aggregation=average)
        found |= of_scores(k, f"{average}", score, *batches)
    found |= of_scores(k, "adjusted", k.metrics.R2Score(num_regressors=3), *batches)
    constant = (np.ones((4, 1), "float32"), single(rng.random((4, 1))))
    return found | of_scores(k, "constant", k.metrics.R2Score(), constant)


@case
def crossentropies(k: Any, rng: np.random.Generator) -> Arrays:
    """Losses of probabilities as metrics."""
    labels = rng.integers(0, 4, (2, 8))
    one_hot = np.eye(4, dtype="float32")[labels]
    logits = single(rng.normal(size=(2, 8, 4)))
    y_pred = single(np.exp(logits) / np.exp(logits).sum(-1, keepdims=True))
    weights = single(rng.random(8))
    m = k.metrics
    sparse = {
        "sparse": (m.SparseCategoricalCrossentropy(), y_pred),
        "sparse_logits": (m.SparseCategoricalCrossentropy(from_logits=True), logits),
    }
    dense = {
        "categorical": (m.CategoricalCrossentropy(), y_pred),
        "categorical_logits": (m.CategoricalCrossentropy(from_logits=True), logits),
        "smooth": (m.CategoricalCrossentropy(label_smoothing=0.1), y_pred),
        "binary": (m.BinaryCrossentropy(), y_pred),
        "binary_logits": (m.BinaryCrossentropy(from_logits=True, label_smoothing=0.1), logits),
        "divergence": (m.KLDivergence(), y_pred),
        "poisson": (m.Poisson(), y_pred),
        "hinge": (m.CategoricalHinge(), y_pred),
    }
    found: Arrays = {}
    for targets, metrics in ((labels, sparse), (one_hot, dense)):
        for name, (metric, x) in metrics.items():
            batches = ((targets[0], x[0]), (targets[1], x[1], weights))
            found |= of_metrics(k, {name: metric}, *batches)
    ignored = m.SparseCategoricalCrossentropy(from_logits=True, ignore_class=2)
    return found | of_metrics(k, {"ignored": ignored}, (labels[0], logits[0], weights))


@case
def intersections(k: Any, rng: np.random.Generator) -> Arrays:
    """Intersections over unions, with absent, ignored and invalid classes, and weights."""
    labels, predictions = rng.integers(0, 4, (2, 2, 3, 5))
    chances = single(rng.dirichlet(np.ones(5), (2, 3, 5)))
    one_hot = np.eye(5, dtype="float32")[labels]
    binary, scores = labels % 2, single(rng.random((2, 3, 5)))
    weights = rng.integers(1, 4, (3, 5))
    metrics = k.metrics
    numbers = ((labels[0], predictions[0]), (labels[1], predictions[1], weights))
    found = of_metrics(
        k,
        {
            "mean": metrics.MeanIoU(5),
            "one": metrics.IoU(5, [0, 4]),
            "ignored": metrics.MeanIoU(5, ignore_class=0),
            "invalid": metrics.MeanIoU(3),
        },
        *numbers,
    )
    found |= of_metrics(
        k,
        {"hot": metrics.OneHotIoU(5, [1, 2]), "all hot": metrics.OneHotMeanIoU(5)},
        (one_hot[0], chances[0]),
        (one_hot[1], chances[1]),
    )
    return found | of_metrics(
        k,
        {"binary": metrics.BinaryIoU(threshold=0.4)},
        (binary[0], scores[0]),
        (binary[1], scores[1]),
    )
