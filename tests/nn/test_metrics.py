"""Metrics beyond what is compared with Keras: what tapes see, extreme values, bad input, and the confusion matrix."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import (
    DtypeError,
    NotNumbersError,
    OptionError,
    ShapeError,
    UnsupportedArgumentError,
)
from tapemagic.nn import losses, metrics

HALVES = np.full((2, 2), 0.5)


def test_tapes_see_nothing() -> None:
    """Neither an update nor a result is recorded, also not of the user's own metrics, whose variables do not train."""

    class Own(metrics.Metric):
        """A metric of the user's."""

        def __init__(self) -> None:
            super().__init__()
            self.total = self.add_variable(name="total")

        def update_state(self, y_true: Any, y_pred: Any) -> None:
            """Add up."""
            self.total.assign_add(np.sum(y_true * y_pred * weight))

        def result(self) -> Any:
            """The sum."""
            return self.total * 1.0

    weight = tm.Variable(2.0)
    y_pred = tm.Variable([[1.0], [2.0]])
    with tm.GradientTape() as tape:
        found = [m(np.ones((2, 1)), y_pred) for m in (Own(), metrics.MeanSquaredError())]

    assert [6.0, 0.5] == [float(value) for value in found]
    assert () == tape.watched_variables()
    assert not tape.records


def test_variables_are_not_those_of_a_model() -> None:
    """A metric among the attributes of a module adds nothing to its variables, but to those of a metric."""

    class Several(metrics.Metric):
        """A metric that is made of others."""

        def __init__(self) -> None:
            super().__init__()
            self.first = metrics.Mean()
            self.others = [metrics.Sum(), metrics.Mean()]

    module = nn.Module()
    module.tracker = Several()  # type: ignore[attr-defined]

    assert [] == module.variables
    assert 5 == len(Several().variables)


def test_accuracy_is_chosen_by_the_shapes() -> None:
    """The name "accuracy" stands for that of one output, of numbers of classes or of one number for each class."""
    chosen = {
        metrics.BinaryAccuracy: ((4,), (4, 1)),
        metrics.SparseCategoricalAccuracy: ((4,), (4, 3)),
        metrics.CategoricalAccuracy: ((4, 3), (4, 3)),
    }

    for kind, (targets, predictions) in chosen.items():
        for name in ("accuracy", "acc"):
            metric = metrics.get_for(name, np.zeros(targets), np.zeros(predictions))
            assert (kind, name) == (type(metric), metric.name)
    column = metrics.get_for("acc", np.zeros((4, 1)), np.zeros((4, 3)))
    assert isinstance(column, metrics.SparseCategoricalAccuracy)
    assert type(metrics.get("accuracy")) is metrics.Accuracy


def test_functions_and_losses_as_metrics() -> None:
    """A function, and a loss, is averaged over the batches under its own name."""
    for given, name in (
        ("mse", "mse"),
        (losses.mean_squared_error, "mean_squared_error"),
        (losses.MeanSquaredError(name="error"), "error"),
    ):
        metric = metrics.get_for(given, None, None)
        metric.update_state([[0.0]], [[1.0]])
        metric.update_state([[0.0]], [[3.0]])

        assert (name, 5.0) == (metric.name, float(metric.result()))


def test_nan_is_never_right() -> None:
    """A prediction or target that is NaN is neither right nor positive, and a mean of it is NaN."""
    unknown = [[np.nan, 1.0], [0.0, 1.0]]
    known = [[0.8, 0.2], [0.3, 0.7]]

    assert metrics.SparseCategoricalAccuracy()([0, 1], unknown) == 0.5
    assert metrics.CategoricalAccuracy()([[1, 0], [0, 1]], unknown) == 0.5
    assert metrics.CategoricalAccuracy()(unknown, known) == 0.5
    assert metrics.CategoricalAccuracy()(unknown, unknown) == 0.5
    assert metrics.TopKCategoricalAccuracy(k=2)(unknown, known) == 0.5
    assert metrics.SparseTopKCategoricalAccuracy(k=2)([0, 1], unknown) == 0.5
    assert metrics.Recall()([1, 1], [np.nan, 0.7]) == 0.5
    assert np.isnan(metrics.Mean()([1.0, np.nan]))


def test_labels_outside_of_the_classes_are_wrong() -> None:
    """A label that is no class, as for padding, is never predicted."""
    assert metrics.SparseCategoricalAccuracy()([-1, 1, 7], np.eye(3)[[2, 1, 0]]) == pytest.approx(
        1 / 3
    )
    assert metrics.SparseTopKCategoricalAccuracy(k=3)([-1, 1, 7], np.eye(3)) == pytest.approx(1 / 3)


def test_no_examples() -> None:
    """Batches without examples, and weights of 0, leave means at 0."""
    for metric in (metrics.Mean(), metrics.Sum(), metrics.Accuracy(), metrics.Precision()):
        arguments = [np.zeros((0, 1))] * (1 if type(metric) in {metrics.Mean, metrics.Sum} else 2)
        assert metric(*arguments) == 0
    assert metrics.SparseCategoricalAccuracy()(np.zeros(0, int), np.zeros((0, 3))) == 0
    assert metrics.Accuracy()([1, 2], [1, 2], [0, 0]) == 0
    assert metrics.AUC(multi_label=True).result() == 0


def test_ignored_class_does_not_count() -> None:
    """A metric and its loss agree about an ignored class, with and without weights."""
    labels, logits = np.array([0, -1, 2]), np.random.default_rng(0).normal(size=(3, 3))
    loss = losses.SparseCategoricalCrossentropy(True, ignore_class=-1)
    metric = metrics.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)

    assert float(metric(labels, logits)) == pytest.approx(float(loss(labels, logits)), rel=1e-6)
    metric.reset_state()
    expected = losses.SparseCategoricalCrossentropy(True)(labels[2:], logits[2:])
    assert float(metric(labels, logits, [0, 5, 1])) == pytest.approx(float(expected), rel=1e-6)


def test_copies_count_on_their_own() -> None:
    """A copy and a pickled metric begin where the metric was."""
    metric = metrics.Mean()
    metric.update_state([1.0, 2.0])

    pickled = pickle.loads(pickle.dumps(metric))  # noqa: S301 (our own)
    for other in (copy.deepcopy(metric), pickled):
        assert other([6.0]) == 3
    assert metric.result() == 1.5


def test_confusion_matrix() -> None:
    """Rows are labels, columns predictions; weights and the number of classes are optional."""
    labels, predictions = [0, 1, 2, 2, 2], [0, 2, 2, 2, 1]

    found = metrics.confusion_matrix(labels, predictions)
    assert found.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 2]]
    assert found.dtype == "int32"
    weighted = metrics.confusion_matrix(
        labels, predictions, weights=[1, 1, 0.5, 0.25, 0], dtype=float
    )
    assert weighted[2, 2] == 0.75
    assert (
        metrics.confusion_matrix([[0], [1]], tm.constant([0, 1]), 4).tolist()
        == np.diag([1, 1, 0, 0]).tolist()
    )
    assert metrics.confusion_matrix([], [], 2).tolist() == [[0, 0], [0, 0]]


def test_adjusted_score_needs_examples() -> None:
    """An adjusted R2 score of too few examples warns, and is the plain one."""
    metric = metrics.R2Score(num_regressors=5)
    metric.update_state([[1.0], [2.0]], [[1.0], [2.5]])

    with pytest.warns(UserWarning, match="more examples than inputs"):
        assert metric.result() == 0.5


matrix, SPARSE, WIDE = metrics.confusion_matrix, metrics.SparseCategoricalAccuracy, np.ones((2, 3))
BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "one-hot labels": (lambda: SPARSE()(np.eye(2), HALVES), ShapeError, "CategoricalAccuracy take"),
    "labels": (
        lambda: metrics.CategoricalAccuracy()([0, 1], HALVES),
        ShapeError,
        "there is SparseCategoricalAccuracy",
    ),
    "fraction": (lambda: SPARSE()([0.5, 1], HALVES), OptionError, "isn't an integer"),
    "shapes": (lambda: metrics.Accuracy()([0, 1, 2], HALVES), ShapeError, r"shape \(3,\)"),
    "shapes of decisions": (lambda: metrics.Precision()([0, 1, 1], HALVES), ShapeError, r"shape \(3,\)"),
    "complex": (lambda: metrics.BinaryAccuracy()([[1]], [[1j]]), UnsupportedArgumentError, "real numbers"),
    "None": (lambda: metrics.Mean()(None), NotNumbersError, "None"),
    "weights": (lambda: metrics.Accuracy()([1, 2], [1, 2], [1, 2, 3]), ShapeError, r"weights of the shape \(3,\)"),
    "weights of decisions": (lambda: metrics.Recall()([1, 0], [1, 0], [1, 2, 3]), ShapeError, "one weight for each"),
    "k": (lambda: metrics.TopKCategoricalAccuracy(k=0)([[1]], [[1]]), OptionError, "positive integer, not 0"),
    "top_k": (lambda: metrics.Precision(top_k=3)(HALVES, HALVES), OptionError, "k = 3"),
    "class": (lambda: metrics.Precision(class_id=3)(HALVES, HALVES), OptionError, "from 0 to 1, not 3"),
    "threshold": (lambda: metrics.Precision(thresholds=[0.5, 2]), OptionError, r"\[2.0\]"),
    "threshold of accuracy": (
        lambda: metrics.BinaryAccuracy(threshold="x")([1], [1]),  # type: ignore[arg-type]
        OptionError,
        "threshold must be a finite number",
    ),
    "logits": (lambda: metrics.AUC()([0, 1], [-3.0, 4.0]), OptionError, "write from_logits=True"),
    "curve": (lambda: metrics.AUC(curve="x"), OptionError, "ROC, PR, PRGAIN, not 'x'"),
    "number of thresholds": (lambda: metrics.AUC(num_thresholds=1), OptionError, "at least 2, not 1"),
    "label_weights": (lambda: metrics.AUC(label_weights=[1, 2, 3])(HALVES, HALVES), ShapeError, "3 label_weights"),
    "num_labels": (lambda: metrics.AUC(num_labels=3), OptionError, "multi_label=True"),
    "other columns": (
        lambda: (score := metrics.F1Score(), score(HALVES, HALVES), score(WIDE, WIDE)),
        ShapeError,
        r"had 2 outputs, .* shape \(2, 3\)",
    ),
    "average": (lambda: metrics.F1Score("mean"), OptionError, "not 'mean'"),
    "labels of a score": (lambda: metrics.F1Score()([0, 1], [0, 1]), ShapeError, r"np.eye\(classes\)"),
    "share": (lambda: metrics.RecallAtPrecision(2), OptionError, "precision must be a share from 0 to 1, not 2"),
    "class of a matrix": (lambda: matrix([0, 5], [0, 1], 3), OptionError, "label 5 isn't one of 3 classes"),
    "probabilities in a matrix": (lambda: matrix([0, 1], HALVES), UnsupportedArgumentError, "must be integers"),
    "fractions as weights": (
        lambda: matrix([0, 1], [0, 1], weights=[0.5, 1]),
        DtypeError,
        "0.5 does not fit into int32",
    ),
    "one-hot in a matrix": (lambda: matrix(np.eye(2, dtype=int), np.eye(2, dtype=int)), ShapeError, "argmax"),
    "unknown name": (lambda: metrics.get("presision"), OptionError, "did you mean 'precision'"),
    "nothing written": (lambda: metrics.Metric()([1], [1]), NotImplementedError, "update_state"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    """What is wrong is said with its value, and what to write instead."""
    call, error, words = BAD[case]

    with pytest.raises(error, match=words):
        call()
