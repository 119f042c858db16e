"""What notebooks use of Keras besides layers: structures of inputs and outputs, shapes, callbacks, options, names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tf.programs import keras_guides

X = np.random.default_rng(3).normal(size=(6, 3)).astype("float32")
Y = np.random.default_rng(4).normal(size=(6, 2)).astype("float32")
P = np.random.default_rng(5).normal(size=(6, 1)).astype("float32")


def ends(library: Any) -> Any:
    """An input and two outputs."""
    tf = library
    i = tf.keras.Input((3,), name="i")
    return i, tf.keras.layers.Dense(2, name="o")(i), tf.keras.layers.Dense(1, name="p")(i)


def filled(model: Any) -> Any:
    """A model with weights that both libraries share."""
    keras_guides.filled(model)
    return model


def kind(x: Any) -> Any:
    """The structure of a result, with shapes as its leaves."""
    if isinstance(x, (list, tuple)):
        return f"{type(x).__name__}[{', '.join(map(kind, x))}]"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{name}: {kind(part)}" for name, part in x.items()) + "}"
    return str(tuple(x.shape))


def structures_of_one(tf: Any) -> Any:
    results = []
    for structure in (
        lambda i, o, p: (i, o),
        lambda i, o, p: ([i], [o]),
        lambda i, o, p: ((i,), (o,)),
        lambda i, o, p: ({"i": i}, {"o": o}),
        lambda i, o, p: ([i], [[o]]),
        lambda i, o, p: (i, [{"z": o}]),
        lambda i, o, p: (i, [[o, p]]),
        lambda i, o, p: ([i], (o, p)),
        lambda i, o, p: (i, {"z": o, "a": p}),
        lambda i, o, p: (i, [o, [p]]),
    ):
        inputs, outputs = structure(*ends(tf))
        model = filled(tf.keras.Model(inputs=inputs, outputs=outputs))
        print(kind(model(X)), kind(model([X])), kind(model({"i": X})))
        print(kind(model.predict(X, verbose=0)), kind(model.predict_on_batch(X)))
        print(kind(model.output), kind(model(tf.keras.Input((3,)))), len(model.outputs))
        print(model.output_names, model.input_shape)
        results.append(model.predict(X, verbose=0))
    return [results[0], results[1], np.argmax(results[1], axis=1)]


def losses_of_structures(tf: Any) -> Any:
    results = []
    for structure, targets, loss in (
        (lambda o, p: [o], Y, "mse"),
        (lambda o, p: [o], [Y], ["mse"]),
        (lambda o, p: {"z": o}, {"z": Y}, {"z": "mae"}),
        (lambda o, p: (o, p), (Y, P), ["mse", "mae"]),
        (lambda o, p: {"z": o, "a": p}, {"a": P, "z": Y}, {"z": "mse", "a": "mae"}),
        (lambda o, p: {"z": o, "a": p}, [P, Y], "mse"),
        (lambda o, p: [[o, p]], [Y, P], "mse"),
        (lambda o, p: [o, [p]], [Y, P], "mse"),
        (lambda o, p: {"b": p, "z": [o, p]}, {"z": [Y, P], "b": P}, "mse"),
    ):
        i, o, p = ends(tf)
        model = filled(tf.keras.Model(i, structure(o, p)))
        model.compile("sgd", loss)
        history = model.fit(X, targets, verbose=0).history
        print(list(history), model.metrics_names)
        scores = model.evaluate(X, targets, verbose=0, return_dict=True)
        print(list(scores))
        results += [history["loss"], model.evaluate(X, targets, verbose=0)]
    return results


def structures_of_inputs(tf: Any) -> Any:
    a, b = tf.keras.Input((3,), name="a"), tf.keras.Input((3,), name="b")
    joined = tf.keras.layers.Subtract()([a, b])
    results = []
    for structure, forms in (
        ([a, b], ([X, -X], (X, -X), {"b": -X, "a": X})),
        ({"u": a, "v": b}, ([X, -X], {"v": -X, "u": X})),
        ([a, [b]], ([X, -X], [X, [-X]])),
    ):
        model = tf.keras.Model(structure, joined)
        results += [model(form) for form in forms]
        results += [model.predict(form, verbose=0) for form in forms]
        print(model.input_shape, kind(model.input), kind(model.inputs))
    return results


def metrics_in_history(tf: Any) -> Any:
    model = filled(tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]))
    model.compile("sgd", "mse", metrics=["mae", "mape"])
    history = model.fit(X, Y, validation_data=(X, Y), epochs=2, verbose=0)
    print(history.history.keys(), model.metrics_names, history.epoch)
    return [list(history.history.values()), model.evaluate(X, Y, verbose=0)]
