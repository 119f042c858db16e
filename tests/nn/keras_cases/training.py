"""Models that are trained for some epochs, in the order of the data: their histories and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.nn.keras_cases import Arrays, case


def start(model: Any, rng: np.random.Generator) -> None:
    """Give a model weights from a generator."""
    model.set_weights([rng.normal(0, 0.4, w.shape).astype("float32") for w in model.get_weights()])


def result(history: Any, model: Any) -> Arrays:
    """The numbers of all epochs, and the weights after them."""
    numbers = {
        name: np.array(values, "float32") for name, values in sorted(history.history.items())
    }
    return numbers | {f"weight_{n}": w for n, w in enumerate(model.get_weights())}


@case
def classifier(k: Any, rng: np.random.Generator) -> Arrays:
    """A classifier with sample weights, validation, and a last batch that is smaller."""
    model = k.Sequential([k.Input((4,)), k.layers.Dense(8, activation="relu"), k.layers.Dense(3)])
    start(model, rng)
    model.compile(
        optimizer=k.optimizers.Adam(0.01),
        loss=k.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        weighted_metrics=["accuracy"],
    )
    x, labels = rng.normal(size=(25, 4)).astype("float32"), rng.integers(0, 3, 25)
    history = model.fit(
        x,
        labels,
        batch_size=10,
        epochs=3,
        shuffle=False,
        verbose=0,
        sample_weight=rng.uniform(0.5, 2, 25).astype("float32"),
        validation_split=0.2,
    )
    scores = model.evaluate(x, labels, batch_size=10, verbose=0, return_dict=True)
    return result(history, model) | {f"score_{n}": np.float32(scores[n]) for n in sorted(scores)}


@case
def two_inputs(k: Any, rng: np.random.Generator) -> Arrays:
    """A model with two inputs, a shared layer, operators and two outputs, each with a loss and a weight.

    All batches are of one size: of others, Keras weights the losses of single outputs alike on some backends.
    """
    a, b = k.Input((3,), name="a"), k.Input((2,), name="b")
    deep = k.layers.Dense(4, activation="tanh")(k.layers.Dense(5, activation="relu")(b))
    shared = k.layers.Dense(4, name="shared")
    first = shared(a)
    merged = first * deep + shared(a[:, ::-1]) / 2
    price = k.layers.Dense(1, name="price")(merged)
    kind = k.layers.Dense(1, activation="sigmoid", name="kind")(merged - 1)
    model = k.Model([a, b], [price, kind])
    start(model, rng)
    model.compile(
        optimizer=k.optimizers.SGD(0.05, momentum=0.9),
        loss={"price": "mse", "kind": "mse"},
        loss_weights={"price": 0.5, "kind": 2.0},
    )
    data = [rng.normal(size=(20, n)).astype("float32") for n in (3, 2)]
    targets = [
        rng.normal(size=(20, 1)).astype("float32"),
        rng.integers(0, 2, (20, 1)).astype("float32"),
    ]
    history = model.fit(data, targets, batch_size=10, epochs=3, shuffle=False, verbose=0)
    outputs = model.predict({"a": data[0], "b": data[1]}, verbose=0)
    return result(history, model) | {f"output_{n}": x for n, x in enumerate(outputs)}


@case
def class_weights(k: Any, rng: np.random.Generator) -> Arrays:
    """Weights of classes, callbacks that end training, and the state after it."""
    model = k.Sequential([k.Input((4,)), k.layers.Dense(3)])
    start(model, rng)
    model.compile(k.optimizers.SGD(1.0), k.losses.SparseCategoricalCrossentropy(from_logits=True))
    stop = k.callbacks.EarlyStopping("loss", patience=2, min_delta=0.02, restore_best_weights=True)
    slower = k.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.02)
    rates = k.callbacks.LearningRateScheduler(lambda _epoch, rate: rate * 0.9)
    history = model.fit(
        rng.normal(size=(12, 4)).astype("float32"),
        rng.integers(0, 3, 12),
        batch_size=4,
        epochs=30,
        shuffle=False,
        verbose=0,
        class_weight={0: 0.5, 2: 3.0},
        callbacks=[rates, slower, stop],
    )
    return result(history, model)
