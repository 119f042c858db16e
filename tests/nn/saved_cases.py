"""Objects and models that are stored in files by Keras and by tapemagic, written for both libraries.

`k` has the names of Keras or of `tapemagic.nn`; tools/keras_files.py stores what Keras makes of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BUILDERS: dict[str, Callable[[Any], Any]] = {}


def builder(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Register a function that makes a model."""
    BUILDERS[function.__name__] = function
    return function


def objects(k: Any) -> dict[str, Any]:
    """Objects by names, most of them with options that differ from the defaults."""
    layers, losses, metrics = k.layers, k.losses, k.metrics
    init, reg, opt = k.initializers, k.regularizers, k.optimizers
    schedules = opt.schedules
    made = [
        layers.Dense(3, activation="relu", kernel_regularizer="l2", name="d", trainable=False),
        layers.Dense(3, use_bias=False, kernel_initializer=init.HeNormal(seed=3), dtype="float64"),
        layers.Activation("tanh"), layers.ReLU(6.0, 0.1, 0.2), layers.LeakyReLU(0.2),
        layers.ELU(0.5), layers.PReLU(shared_axes=[1]), layers.Softmax(axis=1),
        layers.Conv1D(4, 3, strides=2, padding="causal"), layers.Conv2D(4, (3, 2), groups=2),
        layers.Embedding(5, 3, embeddings_regularizer=reg.L1(0.1)), layers.InputLayer((3,), name="i"),
        layers.MultiHeadAttention(2, 3, value_dim=4, dropout=0.1, kernel_regularizer="l1"),
        layers.Add(), layers.Average(), layers.Concatenate(axis=1), layers.Dot(axes=(1, 2)),
        layers.Maximum(), layers.Minimum(), layers.Multiply(), layers.Subtract(),
        layers.Dropout(0.3, noise_shape=(None, 1), seed=2), layers.GaussianDropout(0.3),
        layers.GaussianNoise(0.1), layers.BatchNormalization(momentum=0.9, center=False),
        layers.LayerNormalization(axis=[1, 2], epsilon=0.01), layers.Cropping1D((1, 2)),
        layers.Cropping2D(((1, 2), (0, 1))), layers.UpSampling1D(3), layers.UpSampling2D((2, 3)),
        layers.ZeroPadding1D(2), layers.ZeroPadding2D((1, 2)), layers.AveragePooling1D(3, 2),
        layers.AveragePooling2D((2, 3), padding="same"), layers.MaxPooling1D(2),
        layers.MaxPooling2D(2, strides=1), layers.GlobalAveragePooling1D(keepdims=True),
        layers.GlobalAveragePooling2D(), layers.GlobalMaxPooling1D(), layers.GlobalMaxPooling2D(),
        layers.GRU(3, reset_after=False, return_sequences=True), layers.LSTM(3, dropout=0.2),
        layers.SimpleRNN(3, activation="relu", go_backwards=True), layers.Rescaling(0.5, -1.0),
        layers.Normalization(axis=-1, mean=[1.0, 2.0], variance=[3.0, 4.0]), layers.Flatten(),
        layers.Permute((2, 1)), layers.RepeatVector(3), layers.Reshape((2, -1)), layers.Identity(),
        layers.TimeDistributed(layers.Dense(2, name="inner")), layers.AdaptiveAveragePooling1D(3),
        layers.AdaptiveMaxPooling2D((2, 3)),
        losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1),
        losses.BinaryFocalCrossentropy(gamma=3.0), losses.CategoricalCrossentropy(axis=1),
        losses.CategoricalFocalCrossentropy(alpha=0.5), losses.CategoricalHinge(),
        losses.CosineSimilarity(axis=1), losses.Hinge(), losses.Huber(2.0), losses.KLDivergence(),
        losses.LogCosh(), losses.MeanAbsoluteError(reduction="sum"), losses.Poisson(),
        losses.MeanAbsolutePercentageError(), losses.MeanSquaredError(name="m"),
        losses.MeanSquaredLogarithmicError(), losses.SquaredHinge(),
        losses.SparseCategoricalCrossentropy(from_logits=True), losses.Circle(2.0, 0.3),
        losses.Dice(axis=[1, 2]), losses.Tversky(0.3, 0.7), losses.CategoricalGeneralizedCrossEntropy(),
        metrics.AUC(num_thresholds=50, curve="PR"), metrics.Accuracy(), metrics.BinaryAccuracy("b"),
        metrics.BinaryAccuracy(threshold=0.3), metrics.BinaryCrossentropy(from_logits=True),
        metrics.CategoricalAccuracy(), metrics.CategoricalCrossentropy(label_smoothing=0.1),
        metrics.CategoricalHinge(), metrics.CosineSimilarity(axis=1), metrics.F1Score("macro"),
        metrics.FBetaScore("micro", beta=2.0), metrics.FalseNegatives(), metrics.FalsePositives([0.3]),
        metrics.Hinge(), metrics.KLDivergence(), metrics.LogCoshError(), metrics.Mean("loss"),
        metrics.MeanAbsoluteError(), metrics.MeanAbsolutePercentageError(), metrics.MeanSquaredError(),
        metrics.MeanSquaredLogarithmicError(), metrics.Poisson(), metrics.Precision(0.4, top_k=2),
        metrics.PrecisionAtRecall(0.5), metrics.R2Score(), metrics.Recall(class_id=1),
        metrics.RecallAtPrecision(0.5), metrics.RootMeanSquaredError(), metrics.SquaredHinge(),
        metrics.SensitivityAtSpecificity(0.5, num_thresholds=30), metrics.Sum(),
        metrics.SparseCategoricalAccuracy(), metrics.SparseCategoricalCrossentropy(ignore_class=1),
        metrics.SparseTopKCategoricalAccuracy(k=3), metrics.SpecificityAtSensitivity(0.5),
        metrics.TopKCategoricalAccuracy(k=2), metrics.TrueNegatives(), metrics.TruePositives(),
        metrics.PearsonCorrelation(axis=0), metrics.ConcordanceCorrelation(),
        init.Constant(0.5), init.GlorotNormal(), init.GlorotUniform(seed=1), init.HeNormal(),
        init.HeUniform(), init.Identity(2.0), init.LecunNormal(), init.LecunUniform(), init.Ones(),
        init.Orthogonal(0.5), init.RandomNormal(0.1, 0.2), init.RandomUniform(-1.0, 1.0),
        init.TruncatedNormal(), init.Zeros(), init.VarianceScaling(2.0, "fan_out", "uniform"),
        reg.L1(0.1), reg.L1L2(0.1, 0.2), reg.L2(0.3), reg.OrthogonalRegularizer(0.1, "columns"),
        opt.SGD(0.1, momentum=0.9, nesterov=True), opt.RMSprop(centered=True), opt.Adam(clipnorm=1.0),
        opt.AdamW(weight_decay=0.1), opt.Adadelta(), opt.Adagrad(), opt.Adamax(), opt.Nadam(),
        opt.Lion(), opt.SGD(schedules.ExponentialDecay(0.1, 10, 0.5, staircase=True)),
        schedules.CosineDecay(0.1, 10), schedules.CosineDecayRestarts(0.1, 10),
        schedules.InverseTimeDecay(0.1, 10, 0.5), schedules.PiecewiseConstantDecay([10], [0.1, 0.2]),
        schedules.PolynomialDecay(0.1, 10),
    ]  # fmt: skip
    return {f"{number} {type(obj).__name__}": obj for number, obj in enumerate(made)}


@builder
def perceptron(k: Any) -> Any:
    """A compiled classifier, with a layer that has weights that aren't trained."""
    layers = k.layers
    model = k.Sequential(
        [
            k.Input((4,)),
            layers.Dense(5, activation="relu", kernel_regularizer=k.regularizers.L2(0.01)),
            layers.BatchNormalization(),
            layers.Dropout(0.2, seed=1),
            layers.Dense(3, name="scores", trainable=False),
        ],
        name="perceptron",
    )
    loss = k.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(k.optimizers.Adam(0.01), loss, metrics=["accuracy"])
    return model


@builder
def images(k: Any) -> Any:
    """Convolutions, without a declared input."""
    layers = k.layers
    model = k.Sequential(
        [
            layers.Conv2D(3, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(2, activation="softmax"),
        ],
        name="images",
    )
    model.build((None, 6, 6, 1))
    schedule = k.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model.compile(k.optimizers.SGD(schedule, momentum=0.9), "mse", metrics=["mae"])
    return model


@builder
def sequences(k: Any) -> Any:
    """Recurrent layers and attention between symbolic tensors, with operators, and outputs in a dict."""
    layers = k.layers
    words = k.Input((5,), dtype="int32", name="words")
    vectors = layers.Embedding(10, 4, name="vectors", trainable=False)(words)
    steps = layers.LSTM(3, return_sequences=True)(vectors)
    last = layers.GRU(2)(steps)
    attended = layers.MultiHeadAttention(2, 3, name="attended")(vectors, vectors)
    mean = layers.GlobalAveragePooling1D()(
        layers.TimeDistributed(layers.Dense(2, activation="tanh"))(attended)
    )
    both = layers.Concatenate(name="both")([last, mean])
    changed = (both * 2.0 + 1.0)[:, 1:] / 4.0 - 0.5
    outputs = {"value": layers.Dense(1, name="value")(changed), "both": both}
    model = k.Model(words, outputs, name="sequences")
    model.compile(
        "rmsprop", loss={"value": "mse", "both": "mae"}, loss_weights={"value": 2.0, "both": 1.0}
    )
    return model


@builder
def shared(k: Any) -> Any:
    """A layer and a model that are called twice, a model in a model, and inputs in a list."""
    layers = k.layers
    left, right = k.Input((4,), name="left"), k.Input((4,), name="right")
    once = layers.Dense(4, activation="tanh", name="once")
    x = k.Input((4,), name="inside")
    # The layer `once` isn't used here as well: Keras 3.15 would load two copies of it, one without its weights.
    inner = k.Model(x, [layers.Dense(3, name="a")(x), layers.Dense(3, name="b")(x)], name="inner")
    stack = k.Sequential([k.Input((3,)), layers.Dense(2, name="c")], name="stack")
    first, second = inner(once(once(left)))
    third = inner(right)[0]
    joined = layers.Add(name="joined")([stack(first), stack(second), stack(third)])
    return k.Model([left, right], joined, name="shared")


def inputs(name: str) -> Any:
    """The inputs of a model."""
    rng = np.random.default_rng(1)
    if name == "sequences":
        return rng.integers(0, 10, (6, 5)).astype("int32")
    if name == "images":
        return rng.normal(size=(6, 6, 6, 1)).astype("float32")
    x = rng.normal(size=(6, 4)).astype("float32")
    return [x, x[::-1].copy()] if name == "shared" else x


def targets(name: str) -> Any:
    """The targets of a model, or None if it isn't compiled."""
    rng = np.random.default_rng(2)
    if name == "perceptron":
        return np.arange(6) % 3
    if name == "images":
        return np.eye(2, dtype="float32")[np.arange(6) % 2]
    if name == "sequences":
        shapes = {"value": (6, 1), "both": (6, 4)}
        return {key: rng.normal(size=shape).astype("float32") for key, shape in shapes.items()}
    return None
