"""Losses beyond what is compared with Keras: second derivatives, extreme values, bad input, and what tapes record."""

from __future__ import annotations

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
    RankError,
    ShapeError,
    UnsupportedArgumentError,
)
from tapemagic.nn import losses
from tapemagic.nn.losses.reduction import REDUCTIONS

CLASSES = [
    name
    for name in losses.__all__
    if isinstance(getattr(losses, name), type) and "Loss" not in name
]
# The loss of a whole batch, and losses whose mean isn't that of their function with its defaults.
OF_BATCHES = {"Dice", "Tversky"}
OTHER_MEANS = {"Circle", "CategoricalGeneralizedCrossEntropy", "SparseCategoricalCrossentropy"}
SPARSE = losses.SparseCategoricalCrossentropy
INF = np.inf


def batch(name: str, dtype: str = "float64", examples: int = 4) -> tuple[Any, Any]:
    """Targets and predictions that a loss is meant for."""
    rng = np.random.default_rng(0)
    y_pred = rng.dirichlet(np.full(3, 5.0), examples).astype(dtype)
    if name in OTHER_MEANS:
        return rng.integers(0, 3, examples), y_pred
    if "Categorical" in name or name == "KLDivergence":
        return rng.dirichlet(np.full(3, 5.0), examples), y_pred
    if "Binary" in name or "Hinge" in name:
        return rng.integers(0, 2, (examples, 3)), y_pred
    return rng.random((examples, 3)), y_pred


def value_and_gradient(loss: Any, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """The value of a loss, and its gradient with respect to the predictions."""
    v = tm.Variable(y_pred)
    with tm.GradientTape() as tape:
        value = loss(y_true, v)
    return value.numpy(), tape.gradient(value, v).numpy()


@pytest.mark.parametrize("name", CLASSES)
def test_derivatives_to_second_order(name: str) -> None:
    """The derivatives of every loss are those of difference quotients, in targets and predictions."""
    loss = getattr(losses, name)()
    y_true, y_pred = batch(name)

    tm.check_gradients(lambda x: loss(y_true, x), y_pred)
    if y_true.dtype.kind == "f":
        tm.check_gradients(lambda x: loss(x, tm.constant(y_pred)), y_true)


@pytest.mark.parametrize(
    "name", ["BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy"]
)
def test_derivatives_from_logits(name: str) -> None:
    """The same for logits."""
    loss = getattr(losses, name)(from_logits=True)
    y_true, _ = batch(name)

    tm.check_gradients(lambda x: loss(y_true, x), np.random.default_rng(0).normal(size=(4, 3)))


@pytest.mark.parametrize("name", CLASSES)
def test_dtype_of_the_predictions(name: str) -> None:
    """Losses and gradients are in the dtype of tensors, or in that of the loss; arrays are taken in floatx."""
    for dtype in ("float16", "float32", "float64"):
        value, gradient = value_and_gradient(getattr(losses, name)(), *batch(name, dtype))

        assert dtype == value.dtype
        assert dtype == gradient.dtype
    assert getattr(losses, name)(dtype="float64")(*batch(name, "float32")).dtype == "float64"
    assert getattr(losses, name)()(*batch(name)).dtype == "float32"


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in OF_BATCHES])
def test_no_examples(name: str) -> None:
    """The loss of no examples is 0, and so is the mean with weights that add up to 0."""
    value, gradient = value_and_gradient(getattr(losses, name)(), *batch(name, examples=0))
    weightless = getattr(losses, name)(reduction="mean_with_sample_weight")

    assert value == 0
    assert gradient.shape == (0, 3)
    assert weightless(*batch(name), np.zeros(4)) == 0


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_one_weight_for_the_loss_of_vectors(reduction: str | None) -> None:
    """The single loss of two vectors is multiplied by its weight under every reduction, as in Keras 3.15."""
    loss = losses.MeanSquaredError(reduction=reduction)

    assert loss([0.0, 0.0], [1.0, 3.0], sample_weight=2.0) == 10
    assert loss([0.0, 0.0], [1.0, 3.0], sample_weight=[2.0]) == 10


@pytest.mark.parametrize("name", CLASSES)
def test_nan_is_not_lost(name: str) -> None:
    """A prediction that is NaN makes the loss NaN."""
    y_true, y_pred = batch(name)
    y_pred[1, 1] = np.nan

    assert np.isnan(getattr(losses, name)()(y_true, y_pred))


@pytest.mark.parametrize(
    ("loss", "y_true", "y_pred", "expected"),
    [
        (SPARSE(True), [1], [[0.0, 1e4]], 0.0),
        (SPARSE(True), [0], [[0.0, -INF]], 0.0),
        (SPARSE(True), [0], [[-INF, 0.0]], INF),
        (SPARSE(True), [0], np.array([[6e4, -6e4]], "float16"), 0.0),
        (losses.BinaryCrossentropy(True), [[1, 0]], [[INF, -INF]], 0.0),
        (losses.BinaryCrossentropy(True), [[1, 0]], [[-1e4, -INF]], 5e3),
        (losses.CategoricalCrossentropy(True), [[0.0, 1.0]], [[-INF, 1e4]], 0.0),
        (losses.LogCosh(), [[0.0, 0.0]], [[1e4, -1e4]], 1e4 - np.log(2)),
        (losses.Huber(), [[0.0]], [[1e30]], 1e30),
        (losses.CosineSimilarity(), [[0.0, 0.0]], [[1.0, 1.0]], 0.0),
    ],
)
def test_extreme_predictions(loss: Any, y_true: Any, y_pred: Any, expected: float) -> None:
    """Nothing overflows on the way, and gradients are finite."""
    value, gradient = value_and_gradient(loss, y_true, np.asarray(y_pred))

    assert value == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    "name", ["BinaryCrossentropy", "CategoricalCrossentropy", "KLDivergence", "Poisson"]
)
def test_probabilities_of_0_in_half_precision(name: str) -> None:
    """Values and gradients are finite where 1e-7 is next to nothing."""
    value, gradient = value_and_gradient(
        getattr(losses, name)(), [[0.0, 1.0]], np.array([[1.0, 0.0]], "float16")
    )

    assert 2 < value < 20
    assert np.isfinite(gradient).all()


def test_ignored_predictions_may_be_nan() -> None:
    """An ignored example has no influence, whatever is predicted for it, also where all are ignored."""
    loss = SPARSE(from_logits=True, ignore_class=-1)
    value, gradient = value_and_gradient(loss, [-1, 1], np.array([[np.nan, INF], [0.0, 0.0]]))

    assert value == pytest.approx(np.log(2))
    assert gradient.tolist() == [[0, 0], [0.5, -0.5]]
    assert loss([-1, -1], np.zeros((2, 3))) == 0


def test_classes_along_another_axis() -> None:
    """The classes of logits may stand along any axis."""
    logits = np.random.default_rng(0).normal(size=(2, 3, 4))
    labels = np.random.default_rng(1).integers(0, 3, (2, 4))
    last = np.moveaxis(logits, 1, -1)

    assert SPARSE(True, axis=1)(labels, logits) == SPARSE(True)(labels, last)
    ignoring = SPARSE(True, axis=1, ignore_class=2)(labels, logits)
    assert ignoring == SPARSE(True, ignore_class=2)(labels, last)


def test_a_row_and_a_column_of_numbers() -> None:
    """Targets (n,) are not spread against predictions (n, 1), in functions neither, and weights not against losses."""
    row, column = np.arange(3.0), np.arange(3.0)[:, None] + 1
    weights = np.array([[1.0], [0.0], [0.0]])

    for name in ("mean_squared_error", "hinge", "binary_crossentropy", "poisson", "kl_divergence"):
        scale = 0.2 if "sq" not in name else 1.0
        found = getattr(losses, name)(row * scale, column * scale)
        assert np.all(found == getattr(losses, name)(row[:, None] * scale, column * scale)), name
    assert losses.MeanSquaredError()(row, column, weights) == pytest.approx(1 / 3)


def test_few_operations() -> None:
    """The loss of a training step for classes is two operations on the tape, and copies no labels of whole numbers."""
    logits = tm.Variable(np.zeros((4, 3), "float32"))
    with tm.GradientTape(persistent=True) as tape:
        SPARSE(from_logits=True)(np.array([0, 1, 2, 1]), logits)

    assert ["sparse_softmax_cross_entropy", "mean"] == [record.name for record in tape.records]


def test_tensors_for_the_users_own_losses() -> None:
    """`call` of the user's class, and his function, are given tensors of one dtype; functions also of one rank."""
    seen = []

    class Own(losses.Loss):
        """A loss of the user's."""

        def call(self, y_true: Any, y_pred: Any) -> Any:
            """Note what is given."""
            seen.append((type(y_true), y_true.dtype, y_true.shape, type(y_pred)))
            return y_pred

    def own(y_true: Any, y_pred: Any) -> Any:
        seen.append((type(y_true), y_true.dtype, y_true.shape, type(y_pred)))
        return y_pred

    y_pred = np.zeros((2, 1), "float32")
    Own()([1, 2], y_pred)
    losses.get_for(own, None, None)([1, 2], y_pred)

    assert [(2,), (2, 1)] == [shape for _, _, shape, _ in seen]
    assert {(tm.Tensor, np.dtype("float32"), tm.Tensor)} == {(a, b, d) for a, b, _, d in seen}


@pytest.mark.parametrize("name", [*CLASSES, "mse", "kld", "logcosh", "categorical_crossentropy"])
def test_get_by_name(name: str) -> None:
    """A class, an object and a function are found by their names; functions are themselves."""
    found = losses.get(name)

    assert found is getattr(losses, name) or type(found) is getattr(losses, name)
    assert losses.get(found) is found
    assert losses.get(None) is None


@pytest.mark.parametrize(
    ("name", "targets", "predictions", "expected"),
    [
        ("crossentropy", (4,), (4, 1), "binary_crossentropy"),
        ("CE", (4, 1), (4, 3), "sparse_categorical_crossentropy"),
        ("ce", (4, 3), (4, 3), "categorical_crossentropy"),
        ("mae", (4, 3), (4, 3), "mean_absolute_error"),
    ],
)
def test_losses_for_data(name: str, targets: Any, predictions: Any, expected: str) -> None:
    """The name "crossentropy" is chosen by the shapes, and has the name that was given."""
    found: Any = losses.get_for(name, np.zeros(targets), np.zeros(predictions))

    assert found.fn is getattr(losses, expected)
    assert found.name == name
    assert type(found).__name__ == "".join(map(str.capitalize, expected.split("_")))


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in OF_BATCHES | OTHER_MEANS])
def test_one_mean_in_place_of_two(name: str) -> None:
    """The mean over a batch is that of the losses of its examples, of objects and of functions by name."""
    y_true, y_pred = batch(name)
    loss, y_pred = getattr(losses, name)(), tm.constant(y_pred)
    each = loss.fn(y_true, y_pred)

    assert each.shape == (4,)
    for found in (loss, losses.get_for(loss.fn.__name__, y_true, y_pred)):
        assert found(y_true, y_pred) == pytest.approx(float(np.mean(each)), rel=1e-12)
    with pytest.raises(np.exceptions.AxisError):
        losses.BinaryCrossentropy(axis=3)([[1.0]], [[0.5]])


def test_circle_without_pairs() -> None:
    """An embedding without another of its class has no loss and no gradient; Keras's gradient is nan there."""
    vectors = np.random.default_rng(0).normal(size=(4, 2))
    value, gradient = value_and_gradient(losses.Circle(), [0, 1, 2, 3], vectors)

    assert value == 0
    assert not gradient.any()


def test_generalized_crossentropy_of_zero() -> None:
    """From a softmax that rounds to 0, the loss is 1 / q, and its gradient is finite."""
    logits = tm.Variable([[0.0, 2000.0]])
    with tm.GradientTape() as tape:
        value = losses.CategoricalGeneralizedCrossEntropy()([0], nn.activations.softmax(logits))

    assert value == 2
    assert np.isfinite(tape.gradient(value, logits)).all()


def test_losses_are_pickled() -> None:
    """A pickled loss computes the same."""
    loss = pickle.loads(pickle.dumps(losses.Huber(2.0, reduction="sum")))  # noqa: S301 (our own)

    assert loss([[0.0]], [[3.0]]) == losses.Huber(2.0, reduction="sum")([[0.0]], [[3.0]])


MSE, BCE, CCE = losses.MeanSquaredError, losses.BinaryCrossentropy, losses.CategoricalCrossentropy
UNSUPPORTED = UnsupportedArgumentError
HALVES = np.full((2, 2), 0.5)
BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "label too large": (lambda: SPARSE()([0, 2], HALVES), OptionError, r"label 2 at \[1\] isn't one of the 2 classes"),
    "q": (lambda: losses.CategoricalGeneralizedCrossEntropy(1), OptionError, r"q must be between 0 and 1, not 1"),
    "negative label": (lambda: SPARSE()([0, -1], HALVES), OptionError, r"label -1 .* from 0 to 1"),
    "labels for one output": (lambda: SPARSE()([0, 1], [[0.5], [0.5]]), OptionError, "BinaryCrossentropy"),
    "fraction as label": (lambda: SPARSE()([0.5, 1], HALVES), OptionError, "0.5 isn't an integer"),
    "NaN as label": (lambda: SPARSE()([np.nan, 1], HALVES), OptionError, "nan isn't an integer"),
    "one-hot labels": (lambda: SPARSE()(np.eye(2), HALVES), ShapeError, "CategoricalCrossentropy"),
    "number of labels": (lambda: SPARSE()([0, 1, 1], HALVES), ShapeError, r"labels of the shape \(3,\)"),
    "text as label": (lambda: SPARSE()(["a", "b"], HALVES), NotNumbersError, "numbers"),
    "numbers of classes": (lambda: CCE()([0, 1], HALVES), ShapeError, "there is SparseCategoricalCrossentropy"),
    "one class": (lambda: CCE()([[1]], [[0.5]]), ShapeError, "BinaryCrossentropy"),
    "logits as probabilities": (
        lambda: SPARSE()([0], [[-3.0, 4.0]]),
        OptionError,
        "-3 isn't a probability: write from_l",
    ),
    "binary logits": (lambda: BCE()([[0]], [[4.0]]), OptionError, "4 isn't a probability"),
    "categorical logits": (lambda: CCE()([[0, 1]], [[-3.0, 4.0]]), OptionError, "from_logits=True"),
    "binary labels": (lambda: BCE(True)([[2]], [[4.0]]), OptionError, "target 2 isn't a prob"),
    "divergence of logits": (
        lambda: losses.KLDivergence()([[0, 1]], [[-3, 4]]),
        OptionError,
        "-3 isn't a probability",
    ),
    "negative mean": (lambda: losses.Poisson()([[1]], [[-3.0]]), OptionError, "softplus"),
    "shapes": (
        lambda: MSE()(np.zeros(3), np.zeros((3, 3))),
        ShapeError,
        r"shape \(3,\) and predictions of the shape \(3, 3\)",
    ),
    "row and column": (lambda: losses.Huber()(np.zeros((1, 3)), np.zeros((3, 1))), ShapeError, "pass one target"),
    "a number": (lambda: MSE()(1.0, 2.0), RankError, r"np.reshape\(y_pred, \(1, 1\)\)"),
    "no outputs": (lambda: MSE()(np.zeros((3, 0)), np.zeros((3, 0))), ShapeError, "no outputs"),
    "complex": (lambda: MSE()([[1]], [[1j]]), UNSUPPORTED, "real numbers"),
    "complex targets": (lambda: MSE()([[1j]], [[1.0]]), UNSUPPORTED, "targets"),
    "masked": (lambda: MSE()(np.ma.array([[1.0]]), [[1.0]]), UNSUPPORTED, "masked arrays"),
    "None": (lambda: MSE()(None, [[1.0]]), NotNumbersError, "None"),
    "weights": (lambda: MSE()(HALVES, HALVES, [1, 2, 3]), ShapeError, r"weights of the shape \(3,\)"),
    "weights of outputs": (lambda: MSE()(HALVES, HALVES, HALVES), ShapeError, "one weight for each"),
    "complex weights": (lambda: MSE()(HALVES, HALVES, [1j, 0]), UNSUPPORTED, "weights"),
    "reduction": (lambda: MSE(reduction="avg"), OptionError, "no reduction 'avg'"),
    "dtype": (lambda: MSE(dtype="int32"), DtypeError, "int32"),
    "name": (lambda: MSE(name=3), OptionError, "a name must be a string, not 3"),  # type: ignore[arg-type]
    "delta": (lambda: losses.Huber(delta=0), OptionError, "delta must be a positive number, not 0"),
    "smoothing": (lambda: BCE(label_smoothing=2), OptionError, "a share from 0 to 1, not 2"),
    "axis": (lambda: SPARSE(axis=None)([0], [[0.5, 0.5]]), OptionError, "axis=-1"),  # type: ignore[arg-type]
    "unknown name": (lambda: losses.get("mean_square_error"), OptionError, "did you mean 'mean_squared_error'"),
    "no name": (lambda: losses.get(3), OptionError, "not 3"),
    "nothing written": (lambda: losses.Loss()([[1.0]], [[1.0]]), NotImplementedError, r"call\(self, y_true, y_pred\)"),
    "nothing returned": (
        lambda: losses.LossFunctionWrapper(lambda *_: None)([[1.0]], [[1.0]]),
        NotNumbersError,
        "None",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str) -> None:
    """What is wrong is said with its value, and what to write instead."""
    call, error, words = BAD[case]

    with pytest.raises(error, match=words):
        call()


def test_targets_near_to_probabilities() -> None:
    """Noisy labels of a binary cross-entropy are taken, and so are probabilities with an error of rounding."""
    assert losses.BinaryCrossentropy(True)([[1.05]], [[1.0]]) < 0.4
    assert losses.BinaryCrossentropy()([[1.0]], [[1.0001]]) < 1e-6


def test_single_target_for_all() -> None:
    """A number is the target of every prediction."""
    assert losses.MeanSquaredError()(1, [[3.0], [1.0]]) == 2


def test_public_names() -> None:
    """Losses are found in nn, and their base class among them."""
    assert nn.losses is losses
    assert {"Loss", "get", "mse", "MSE"} <= set(losses.__all__)


def test_logits_are_known_of_the_very_predictions_alone() -> None:
    """Not of what a tape was told to hold constant, nor of copies, which would change gradients silently."""
    loss = nn.losses.SparseCategoricalCrossentropy()
    z = tm.Variable(np.array([[-60.0, 60.0]], "float32"))
    with tm.GradientTape(persistent=True) as tape:
        shares = nn.activations.softmax(z * 1)
        straight = loss([0], shares)
        held = loss([0], tm.stop_gradient(shares))
        other_axis = loss([0], nn.activations.softmax(z * 1, axis=0))

    assert straight == 120
    np.testing.assert_array_equal(tape.gradient(straight, z), [[-1, 1]])
    assert tape.gradient(held, z) is None
    assert held < 17
    assert loss([0], shares.numpy()) < 17
    assert other_axis < 1
    assert tape.gradient(held, shares) is None


def test_weights_are_set_all_or_none() -> None:
    """A value of a wrong kind leaves the layer as it was."""
    layer = nn.Dense(2)
    layer.build((None, 3))
    before = layer.get_weights()

    with pytest.raises(TypeError, match="complex"):
        layer.set_weights([np.ones((3, 2)), np.array([1j, 0])])

    assert all(map(np.array_equal, layer.get_weights(), before))


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("known", ["logits", "softmax", "sigmoid"])
def test_focal_losses_have_gradients_where_probabilities_are_rounded(
    gamma: float, known: str
) -> None:
    """Those of the formula in double precision; Keras's are 0 or nan there."""
    z = np.array([[0.0, z] for z in (-200.0, -90.0, -30.0, -3.0, 0.0, 3.0, 30.0, 90.0, 200.0)])

    def loss(logits: Any) -> Any:
        if known == "sigmoid":
            probabilities = nn.activations.sigmoid(logits[:, 1:] - logits[:, :1])
            return losses.binary_focal_crossentropy(np.ones((9, 1)), probabilities, gamma=gamma)
        shares = logits if known == "logits" else nn.activations.softmax(logits)
        return losses.categorical_focal_crossentropy(
            np.eye(2)[[1] * 9], shares, 1.0, gamma, from_logits=known == "logits"
        )

    x = tm.constant(z.astype("float32"))
    with tm.GradientTape() as tape:
        tape.watch(x)
        found = loss(x)
    slopes = tape.gradient(found, x).numpy()[:, 1]
    right = 1 / (1 + np.exp(-z[:, 1]))
    wrong, log_right = 1 / (1 + np.exp(z[:, 1])), -np.logaddexp(0, -z[:, 1])
    expected = -(wrong**gamma) * log_right
    derivative = wrong**gamma * (gamma * right * log_right - wrong)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)
    np.testing.assert_allclose(slopes, derivative, rtol=2e-5, atol=1e-7)
