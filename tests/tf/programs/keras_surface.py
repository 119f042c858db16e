"""What notebooks use of Keras besides layers: structures of inputs and outputs, shapes, callbacks, options, names."""

from __future__ import annotations

import copy
import pickle
import warnings
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


SHAPES = """
"Shape: %s" % s
"%s %r" % (s, s[1:])
f"{x.shape} {x.shape!r}"
str(w), str(u), str(z.shape)
isinstance(s, tuple), s == (2, 3), (2, 3) == s, s == [2, 3], [2, 3] == s, s != (2, 3), s == (2, 4)
s == np.array([2, 3]), s == tf.shape(x), s == 3, s == None, s == "ab", w == None, w == w, w != w
u == (None, 3), u == u, u == s, u != u, hash(s) == hash(T([2, 3])), s in [(2, 3)], (2, 3) in [s]
s.as_list(), u.as_list(), s.rank, w.rank, s.ndims, w.ndims, w.dims, len(s), len(z.shape)
bool(s), bool(z.shape), bool(w), list(u), tuple(s), [type(n).__name__ for n in s], s[0], s[-1], u[0], w[0]
s[:1], s[1:], s[::-1], u[:1], w[1:], w[:2], w[1:3], w[:-1], w[-2:], s[1:10], s[np.int64(1)]
s + [4], s + (4,), s + s, s + w, s + None, [4] + s, (4,) + s, s + 4, s.concatenate([4]), s.concatenate(4), w.concatenate(s)
s.merge_with(u), u.merge_with(s), u.merge_with(w), w.merge_with(s), u.merge_with([2, None]), s.merge_with(None)
s.is_compatible_with(u), s.is_compatible_with([2, 3]), s.is_compatible_with(w), w.is_compatible_with(s)
s.is_compatible_with([2, 4]), s.is_compatible_with([2]), s.is_fully_defined(), u.is_fully_defined(), w.is_fully_defined()
s.num_elements(), u.num_elements(), w.num_elements(), z.shape.num_elements()
s.with_rank(2), w.with_rank(2), s.with_rank_at_least(1), s.with_rank_at_most(3), w.with_rank_at_most(1)
s.most_specific_compatible_shape([2, 4]), s.most_specific_compatible_shape([2]), s.is_subtype_of(u), u.is_subtype_of(s)
T((2, 3)), T(5), T(T([2])), T(np.array([2, 3])), T(tf.constant([2, 3])), T([tf.constant(2), 3]), T([]), T(iter([1, 2]))
np.zeros(s), np.prod(s), np.array(s), np.add(s, 1), x.numpy().reshape(s[::-1]), x.numpy().shape == s
tf.zeros(s), tf.reshape(tf.range(6), s), tf.fill(s, 1.0), tf.constant(s), tf.stack([s, s]), tf.concat([s, [4]], 0)
tf.zeros(s[:1] + [4]).shape, tf.zeros([*s, 2]).shape, tf.tile(x, s).shape, tf.reduce_prod(s), tf.size(s)
tf.nest.flatten([s, {"a": s}]), max(s), sum(s), 3 in s, list(reversed(s)), (*s, 4)
tf.TensorSpec([None, 3]), tf.TensorSpec(None), tf.TensorSpec([None, 3]).shape, x.get_shape()
copy.deepcopy(s), pickle.loads(pickle.dumps(u)), pickle.loads(pickle.dumps(w)), {s: 1}[T([2, 3])]
tf.keras.Input(s[1:]).shape, tf.keras.layers.Reshape(s[1:])(x).shape, tf.keras.initializers.Zeros()(s).shape
tf.keras.layers.Dense(2).compute_output_shape(u), tf.keras.layers.Dense(2)(x).shape, tf.Variable(x)[0].shape
tf.keras.layers.Dropout(0.5, noise_shape=s)(x).shape
tf.function(lambda t: tf.zeros(t.shape) + t.shape[0])(x).shape
s.assert_is_compatible_with([2, 4])
s.assert_has_rank(3)
s.assert_same_rank([1])
u.assert_is_fully_defined()
u.merge_with([2, 4])
s.with_rank_at_least(3)
s[5]
len(w)
T([-1])
T([2.5])
s * 2
s < T([3])
s.index(3)
""".strip().splitlines()


def shapes(tf: Any) -> Any:
    x, z = tf.zeros((2, 3)), tf.zeros(())
    names = {
        "x": x,
        "z": z,
        "s": x.shape,
        "T": tf.TensorShape,
        "tf": tf,
        "np": np,
        "copy": copy,
        "pickle": pickle,
    }
    names |= {"u": tf.TensorShape([None, 3]), "w": tf.TensorShape(None)}
    for text in SHAPES:
        try:
            print(eval(text, names))  # noqa: S307 (the table's own text)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            kinds = (TypeError, ValueError, IndexError, AttributeError)
            print(next(kind.__name__ for kind in kinds if isinstance(error, kind)))


def learning_rates(tf: Any) -> Any:
    results = []
    optimizers = tf.keras.optimizers
    for rate in (
        0.5, 1, np.float32(0.5), np.array(0.5), tf.constant(0.5), tf.constant(0.5, tf.float64), tf.constant(1),
        tf.Variable(0.5), optimizers.schedules.ExponentialDecay(0.5, 1, 0.5), lambda: 0.25, 0.0,
    ):  # fmt: skip
        optimizer, weight = optimizers.SGD(0.1), tf.Variable([1.0])
        optimizer.learning_rate = rate
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant([1.0]), weight)])
        results += [weight, float(optimizer.learning_rate)]
    optimizer, weight = optimizers.Adam(0.1), tf.Variable([1.0])
    for change in (
        lambda: optimizer.learning_rate.assign(1.0),
        lambda: optimizer.learning_rate.assign_sub(0.5),
        lambda: setattr(optimizer, "learning_rate", optimizer.learning_rate * 0.1),
    ):
        change()
        optimizer.apply_gradients([(tf.constant([1.0]), weight)])
        results += [weight.numpy(), f"{float(optimizer.learning_rate):.3f}"]
    rate = tf.Variable(0.5)
    optimizer.learning_rate = rate
    rate.assign(0.25)
    results += [float(optimizer.learning_rate)]
    optimizer = optimizers.SGD(optimizers.schedules.ExponentialDecay(0.5, 1, 0.5))
    optimizer.learning_rate = optimizers.schedules.ExponentialDecay(0.25, 1, 0.5)
    return [*results, optimizer.learning_rate]


def a_layer_twice(tf: Any) -> Any:
    layer, other = tf.keras.layers.Dense(3), tf.keras.layers.ReLU()
    model = tf.keras.Sequential([tf.keras.Input((3,)), layer, other, layer, other])
    filled(model)
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    losses = model.fit(X, X, epochs=2, verbose=0).history["loss"]
    print(len(model.layers), len(model.weights), model.count_params(), model.output_shape)
    before = model.predict(X, verbose=0)
    model.pop()
    lazily = tf.keras.Sequential([layer, layer])
    return [losses, before, model.get_weights(), model(X), lazily(X)]


WORDS = np.array([[1, 2, 0, 0], [3, 0, 4, 0]])
SERIES = np.where(WORDS[..., None], np.random.default_rng(6).normal(size=(2, 4, 3)), 0).astype(
    "float32"
)


def mask(x: Any) -> Any:
    """The mask of a tensor, or those of several, as a list of integers."""
    if isinstance(x, (list, tuple)):
        return [mask(part) for part in x]
    attached = getattr(x, "_keras_mask", None)
    return None if attached is None else np.asarray(attached).astype(int).tolist()


def masks_of_layers(tf: Any) -> Any:
    layers = tf.keras.layers
    embedding = layers.Embedding(5, 3, mask_zero=True)
    embedding(WORDS)
    filled(embedding)
    results = []
    for layer in (
        layers.Dense(2), layers.Dropout(0.5), layers.GaussianNoise(0.5), layers.GaussianDropout(0.5),
        layers.Activation("relu"), layers.ReLU(), layers.LeakyReLU(), layers.ELU(), layers.PReLU(),
        layers.LayerNormalization(), layers.BatchNormalization(), layers.GlobalAveragePooling1D(),
        layers.TimeDistributed(layers.Dense(2)), layers.Identity(), layers.Rescaling(2.0), layers.Masking(),
        layers.LSTM(2), layers.LSTM(2, return_sequences=True), layers.GRU(2), layers.GRU(2, return_sequences=True),
        layers.SimpleRNN(2), layers.LSTM(2, return_sequences=True, return_state=True),
        layers.LSTM(2, return_sequences=True, zero_output_for_mask=True),
        layers.GRU(2, return_sequences=True, go_backwards=True),
    ):  # fmt: skip
        layer(embedding(WORDS))
        result = filled(layer)(embedding(WORDS))
        print(layer.supports_masking, mask(result))
        results.append(result)
    for layer in (
        layers.Flatten(name="a"),
        layers.Reshape((12,), name="b"),
        layers.Conv1D(2, 2, name="c"),
        layers.GlobalMaxPooling1D(name="d"),
    ):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            print(layer.supports_masking, mask(layer(embedding(WORDS))))
        print(str(told[0].message))
    normalization = layers.BatchNormalization()
    results.append(normalization(embedding(WORDS), training=True))
    results.append(
        normalization(SERIES, mask=np.array([[1, 1, 0, 0], [1, 0, 1, 1]], bool), training=True)
    )
    print(
        mask(results[-1]),
        mask(embedding(WORDS) * 2),
        mask(layers.Masking(-1.0)(SERIES)),
        mask(layers.Masking()(SERIES)),
    )
    return [results, normalization.get_weights(), layers.Masking()(SERIES)]


def masks_of_several_inputs(tf: Any) -> Any:
    layers = tf.keras.layers
    first, second = layers.Masking(), layers.Masking(float(SERIES[0, 1, 0]))
    for layer in (
        layers.Add(), layers.Subtract(), layers.Multiply(), layers.Average(), layers.Maximum(), layers.Minimum(),
        layers.Concatenate(), layers.Concatenate(axis=1), layers.Dot(2),
    ):  # fmt: skip
        print(mask(layer([first(SERIES), second(SERIES)])), mask(layer([first(SERIES), SERIES])))
    attention = layers.MultiHeadAttention(2, 2)
    attention(SERIES, SERIES)
    filled(attention)
    x = first(SERIES)
    results = [attention(x, x)[0, :2]]
    print(
        mask(results[0]),
        mask(x),
        mask(attention(first(SERIES), SERIES)),
        mask(attention(SERIES, first(SERIES))),
    )
    results.append(attention(SERIES, first(SERIES)))
    recurrent = layers.LSTM(2)
    recurrent(SERIES)
    filled(recurrent)
    states = [np.ones((2, 2), "float32")] * 2
    results += [recurrent(first(SERIES)), recurrent(first(SERIES), initial_state=states)]
    return [*results, recurrent(first(SERIES), mask=np.ones((2, 4), bool))]


def masks_in_models(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Embedding(5, 3, mask_zero=True),
            layers.Dense(3),
            layers.LSTM(2, return_sequences=True),
            layers.Dense(1),
        ]
    )
    model(WORDS)
    filled(model)
    model.compile("sgd", "mse", metrics=["mae", "mse"], weighted_metrics=["mae"])
    targets = np.arange(8.0).reshape(2, 4, 1).astype("float32")
    print(mask(model(WORDS)))
    scores = model.evaluate(WORDS, targets, verbose=0, return_dict=True)
    results = [scores, model.fit(WORDS, targets, epochs=3, verbose=0).history["loss"]]
    i = tf.keras.Input((4,), dtype="int32")
    vectors = layers.Embedding(5, 3, mask_zero=True)(i)
    both = layers.Concatenate()(
        [layers.GRU(2)(vectors), layers.GlobalAveragePooling1D()(layers.Dropout(0.1)(vectors))]
    )
    model = filled(tf.keras.Model(i, layers.Dense(1)(both)))
    results += [model(WORDS), model.predict(WORDS, verbose=0)]
    embedding = layers.Embedding(5, 3, mask_zero=True)
    known = embedding.compute_mask(i)
    model = filled(tf.keras.Model(i, layers.GRU(2)(embedding(i) * 2, mask=known)))
    return [*results, model(WORDS)]


def masks_of_own_layers(tf: Any) -> Any:
    class Scale(tf.keras.layers.Layer):
        def call(self, x: Any, mask: Any = None) -> Any:
            return x if mask is None else x * tf.cast(mask, x.dtype)[..., None]

    class Through(tf.keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.supports_masking = True

        def call(self, x: Any) -> Any:
            return 2 * x

    class Nonzero(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return 2 * x

        def compute_mask(self, x: Any, mask: Any = None) -> Any:
            return tf.reduce_any(tf.not_equal(x, 0), -1)

    x = tf.keras.layers.Masking()(SERIES)
    print(Scale().supports_masking, Through().supports_masking, Nonzero().supports_masking)
    print(mask(Through()(x)), mask(Nonzero()(SERIES)), mask(Nonzero()(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [Scale()(x), Scale()(SERIES)]


def masks_of_losses(tf: Any) -> Any:
    predictions, targets = tf.keras.layers.Masking()(SERIES), np.zeros((2, 4, 3), "float32")
    results: list[Any] = [
        tf.keras.losses.MeanSquaredError(reduction=reduction)(targets, predictions)
        for reduction in ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none")
    ]
    weights = np.array([[1.0], [2.0]], "float32")
    results.append(tf.keras.losses.MeanSquaredError()(targets, predictions, sample_weight=weights))
    for metric in (
        tf.keras.metrics.MeanSquaredError(),
        tf.keras.metrics.BinaryAccuracy(),
        tf.keras.metrics.Mean(),
    ):
        values = (predictions,) if metric.name == "mean" else (targets, predictions)
        metric.update_state(*values)
        results.append(metric.result())
    return results


def metrics_and_losses_of_users(tf: Any) -> Any:
    class Squares(tf.keras.metrics.Metric):
        def __init__(self, name: str = "squares") -> None:
            super().__init__(name=name)
            self.total = self.add_weight(name="total", initializer="zeros")

        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            self.total.assign_add(tf.reduce_sum(tf.square(y_true - y_pred)))

        def result(self) -> Any:
            return self.total

    class Squared(tf.keras.metrics.Mean):
        def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
            super().update_state(tf.square(y_true - y_pred), sample_weight)

    class Loss(tf.keras.losses.Loss):
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return tf.reduce_mean(tf.abs(y_true - y_pred), -1)

    class Stepping(tf.keras.Sequential):
        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(y - self(x, training=True)))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))  # noqa: B905
            return {"loss": loss}

    def root(y_true: Any, y_pred: Any) -> Any:
        return tf.sqrt(tf.reduce_mean(tf.square(y_true - y_pred)))

    results = []
    for dtype in ("float64", "float32", "float16"):
        targets = Y.astype(dtype)
        for loss, metric in (
            ("mse", root),
            (root, Squares()),
            (Loss(), Squared()),
            ("mse", lambda a, b: tf.abs(a - b)),
        ):
            model = filled(tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]))
            model.compile("sgd", loss, metrics=[metric])
            results.append(model.evaluate(X, targets, verbose=0))
            model.fit(X, targets, verbose=0, sample_weight=np.linspace(0.5, 1, 6).astype(dtype))
            results.append(model.get_weights()[0])
        model = filled(Stepping([tf.keras.Input((3,)), tf.keras.layers.Dense(2)]))
        model.compile("sgd")
        model.fit(X, targets, epochs=2, verbose=0)
        results.append(model.get_weights()[0])
        for metric in (Squares(), Squared()):
            metric.update_state(targets, Y)
            results.append(metric.result())
    return results


def constraints_of_weights(tf: Any) -> Any:
    constraints, layers, results = tf.keras.constraints, tf.keras.layers, []
    weights = np.random.default_rng(7).normal(0, 2, (3, 2)).astype("float32")
    for constraint in (
        constraints.MaxNorm(1.5), constraints.MaxNorm(1.5, axis=1), constraints.NonNeg(), constraints.UnitNorm(),
        constraints.UnitNorm(axis=[0, 1]), constraints.MinMaxNorm(0.5, 1.0, 0.5), constraints.max_norm(1.0),
        constraints.non_neg(), constraints.unit_norm(), constraints.min_max_norm(0.1, 0.2), constraints.get("non_neg"),
    ):  # fmt: skip
        results.append(constraint(weights))

    class Whole(constraints.Constraint):
        def __call__(self, w: Any) -> Any:
            return tf.round(w)

    x = tf.constant(SERIES)
    for layer in (
        layers.Dense(2, kernel_constraint="non_neg", bias_constraint=constraints.MaxNorm(0.01)),
        layers.Dense(2, kernel_constraint=Whole()),
        layers.Dense(2, kernel_constraint=lambda w: tf.clip_by_value(w, -0.1, 0.1)),
        layers.Conv1D(2, 2, kernel_constraint=constraints.UnitNorm(axis=[0, 1])),
        layers.LSTM(2, kernel_constraint="unit_norm", recurrent_constraint="non_neg"),
        layers.BatchNormalization(
            gamma_constraint="non_neg", beta_constraint=constraints.MaxNorm(0.001)
        ),
        layers.LayerNormalization(gamma_constraint=constraints.UnitNorm()),
        layers.PReLU(alpha_constraint="non_neg"),
    ):
        layer(x)
        filled(layer)
        optimizer = tf.keras.optimizers.SGD(0.1)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(layer(x, training=True)))
            gradients = tape.gradient(loss, layer.trainable_variables)
            optimizer.apply_gradients(zip(gradients, layer.trainable_variables))  # noqa: B905
        results += layer.get_weights()
    layer = layers.Embedding(5, 3, embeddings_constraint=constraints.UnitNorm(axis=1))
    model = tf.keras.Sequential([layer, layers.Flatten(), layers.Dense(1)])
    model(WORDS)
    filled(model)
    model.compile("sgd", "mse")
    model.fit(WORDS, np.ones((2, 1)), epochs=2, verbose=0)
    variable = tf.Variable([1.0, -1.0], constraint=lambda w: tf.maximum(w, 0.25))
    tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    return [*results, model.get_weights(), variable]


def old_and_idle_options(tf: Any) -> Any:
    layers = tf.keras.layers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [layers.LeakyReLU(alpha=0.2)(tf.constant([-1.0, 2.0]))]
    layers.LSTM(2, implementation=1, use_cudnn="auto")
    layers.GRU(2, implementation=2)
    layers.BatchNormalization(synchronized=False)
    layers.Dense(2, autocast=True)
    for options in (
        {"jit_compile": True},
        {"reduce_retracing": True},
        {"experimental_relax_shapes": True},
    ):
        results.append(tf.function(lambda x: 2 * x, **options)(tf.constant(1.0)))
    model = filled(tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(1)]))
    model.compile("sgd", "mse", jit_compile=False, steps_per_execution=1)
    return [*results, model.evaluate(X, P, verbose=0)]


def saturated_losses(tf: Any) -> Any:
    values, results = np.array([-90, -30, -20, -5, 0, 5, 20, 30, 90], "float32")[:, None], []
    losses = tf.keras.losses
    for target in (np.zeros_like(values), np.ones_like(values)):
        for options in (
            {},
            {"apply_class_balancing": True},
            {"label_smoothing": 0.1},
            {"gamma": 1.5},
        ):
            for is_logit in (False, True):
                loss = losses.BinaryFocalCrossentropy(
                    from_logits=is_logit, reduction="none", **options
                )
                z = tf.constant(values)
                with tf.GradientTape() as tape:
                    tape.watch(z)
                    result = loss(target, z if is_logit else tf.keras.activations.sigmoid(z))
                    total = tf.reduce_sum(result)
                results += [result, tape.gradient(total, z)]
    return results


def functions_of_python(tf: Any) -> Any:
    x, results = tf.constant([1.0, 2.0]), []
    for wrap in (tf.py_function, tf.numpy_function):

        @wrap(Tout=tf.float32)
        def squared(a: Any) -> Any:
            """The square."""
            return a**2

        @wrap(Tout=[tf.float32, tf.float32])
        def both(a: Any, b: Any) -> Any:
            return 2 * a, b

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = squared(x)
        print(squared.__name__, squared.__doc__, both(x, x), wrap(lambda a: 2 * a, [x], tf.float32))
        results += [y, tape.gradient(y, x)]
    return [
        *results,
        tf.py_function(lambda a: 3, [x], tf.int64),
        tf.py_function(lambda a: None, [x], []),
    ]


def names_of_variables(tf: Any) -> None:
    layer = tf.keras.layers.Dense(2, name="hidden")
    layer(tf.zeros((1, 3)))
    print(
        [variable.path for variable in layer.weights],
        layer.dtype,
        layer.compute_dtype,
        layer.variable_dtype,
    )
    print(tf.keras.Input((3,)).dtype)
