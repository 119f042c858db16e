"""Optimizers, layers, losses and metrics whose steps are programs."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapemagic as tm
from tapemagic import nn
from tapemagic.nn import optimizers
from tapemagic.nn.optimizers import schedules

OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(0.1),
    "momentum": lambda: optimizers.SGD(0.1, momentum=0.9),
    "Nesterov": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "Adam": lambda: optimizers.Adam(0.1),
    "AMSGrad": lambda: optimizers.Adam(0.1, amsgrad=True),
    "AdamW": lambda: optimizers.AdamW(0.1),
    "RMSprop": lambda: optimizers.RMSprop(0.1),
    "centred RMSprop": lambda: optimizers.RMSprop(0.1, momentum=0.5, centered=True),
    "Adagrad": lambda: optimizers.Adagrad(0.1),
    "Adadelta": lambda: optimizers.Adadelta(1.0),
    "Adamax": lambda: optimizers.Adamax(0.1),
    "Nadam": lambda: optimizers.Nadam(0.1),
    "Lion": lambda: optimizers.Lion(0.01),
    "clipnorm": lambda: optimizers.SGD(0.1, clipnorm=0.1),
    "clipvalue": lambda: optimizers.SGD(0.1, clipvalue=0.01),
    "global_clipnorm": lambda: optimizers.Adam(0.1, global_clipnorm=0.1),
    "weight_decay": lambda: optimizers.SGD(0.1, weight_decay=0.01),
    "averages": lambda: optimizers.Adam(0.1, use_ema=True, ema_overwrite_frequency=2),
    "accumulation": lambda: optimizers.Adam(0.1, gradient_accumulation_steps=2),
    "loss scale": lambda: optimizers.SGD(0.1, loss_scale_factor=4.0),
    "exponential": lambda: optimizers.Adam(schedules.ExponentialDecay(0.1, 3, 0.5)),
    "staircase": lambda: optimizers.Adam(schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True)),
    "inverse": lambda: optimizers.SGD(schedules.InverseTimeDecay(0.1, 3, 0.5)),
    "piecewise": lambda: optimizers.Adam(schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.05, 0.01])),
    "polynomial": lambda: optimizers.SGD(schedules.PolynomialDecay(0.1, 4, power=2, cycle=True)),
    "cosine": lambda: optimizers.SGD(schedules.CosineDecay(0.0, 5, warmup_target=0.1, warmup_steps=3)),
    "restarts": lambda: optimizers.SGD(schedules.CosineDecayRestarts(0.1, 3)),
    "function": lambda: optimizers.SGD(lambda: 0.05),
}  # fmt: skip

STATEFUL = (0.5, 0.0)


class Own(nn.Model):
    """A model that calls a layer twice."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(3, activation="tanh")
        self.outer = nn.Dense(1)

    def call(self, x: Any) -> Any:
        """The outputs."""
        return self.outer(self.inner(x) + np.sin(self.inner(x)))


def functional() -> Any:
    """A functional model with two ways."""
    x = nn.Input((5,))
    hidden = nn.Dense(4, activation="relu")(x)
    return nn.Model(x, nn.Dense(2)(nn.Concatenate()([x, hidden])))


def attention() -> Any:
    """A model that attends to its own input."""
    x = nn.Input((4, 6))
    return nn.Model(x, nn.MultiHeadAttention(2, 3)(x, x))


def stack(*layers: Any) -> Any:
    """A function that makes a model of layers."""
    return lambda: nn.Sequential([layer() for layer in layers])


def dense(**options: Any) -> Any:
    """A function that makes a dense layer."""
    return lambda: nn.Dense(3, **options)


LAYERS = {
    "convolution": (
        (2, 6, 6, 1),
        stack(lambda: nn.Conv2D(2, 3, activation="relu"), nn.MaxPooling2D, nn.Flatten, dense()),
    ),
    "one axis": ((2, 8, 2), stack(lambda: nn.Conv1D(3, 3), nn.AveragePooling1D, nn.GlobalMaxPooling1D, dense())),
    "batches": ((6, 5), stack(dense(), nn.BatchNormalization, dense())),
    "layers": ((6, 5), stack(dense(), nn.LayerNormalization, dense())),
    "simple": ((3, 4, 2), stack(lambda: nn.SimpleRNN(3))),
    "gru": ((3, 4, 2), stack(lambda: nn.GRU(3, return_sequences=True), lambda: nn.GRU(2))),
    "lstm": ((3, 4, 2), stack(lambda: nn.LSTM(3))),
    "attention": ((3, 4, 6), attention),
    "functional": ((6, 5), functional),
    "own": ((6, 5), Own),
    "penalties": ((6, 5), stack(dense(kernel_regularizer="l2"), dense(kernel_regularizer="l1"))),
    "activations": ((6, 5), stack(*(dense(activation=a) for a in ("gelu", "elu", "softplus", "silu", "softmax")))),
    "slopes": ((6, 5), stack(dense(), nn.LeakyReLU, nn.PReLU, nn.Softmax)),
}  # fmt: skip


def step_of(model: Any, x: Any, decorate: Any) -> Any:
    """A step of training on squares, and all variables."""
    target = np.zeros(model(x).shape, "float32")
    optimizer = optimizers.SGD(0.1)
    variables = model.trainable_variables

    def step(x: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = np.mean(np.square(model(x, training=True) - target)) + sum(model.losses)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return decorate(step), [*model.variables, *optimizer.variables]


_rng = np.random.default_rng(5)
NUMBERS = np.array([0, 1, 2, 0, 1, 2])
ONE_HOT = np.eye(3, dtype="float32")[NUMBERS]
SHARES = _rng.dirichlet(np.ones(3), 6).astype("float32")
YES = np.array([[0], [1], [1], [0], [1], [0]], "float32")
CHANCES = _rng.random((6, 1), dtype="float32")

LOSSES = {
    name: (getattr(nn.losses, name), y_true, y_pred)
    for names, y_true, y_pred in (
        ("BinaryCrossentropy BinaryFocalCrossentropy Hinge", YES, CHANCES),
        ("SparseCategoricalCrossentropy", NUMBERS, SHARES),
        ("CategoricalCrossentropy CategoricalHinge CosineSimilarity Huber KLDivergence", ONE_HOT, SHARES),
        ("LogCosh MeanAbsoluteError MeanSquaredError Poisson", ONE_HOT, SHARES),
    )
    for name in names.split()
}  # fmt: skip

METRICS = {
    name: (getattr(nn.metrics, name), y_true, y_pred)
    for names, y_true, y_pred in (
        ("AUC BinaryAccuracy Precision", YES, CHANCES),
        ("SparseCategoricalAccuracy", NUMBERS, SHARES),
        ("CategoricalAccuracy F1Score MeanSquaredError R2Score TopKCategoricalAccuracy", ONE_HOT, SHARES),
    )
    for name in names.split()
}  # fmt: skip
