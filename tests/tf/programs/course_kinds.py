"""Programs as courses write them: optimization by hand, custom gradients, tricks of training, data, helpers of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tf.programs.keras_guides import filled

ROWS = np.random.default_rng(21).normal(size=(24, 3)).astype("float32")
TARGET = (ROWS @ np.float32([[1.0], [-2.0], [0.5]]) + 0.3).astype("float32")
KINDS = (ROWS[:, 0] > 0).astype("int64") + (ROWS[:, 1] > 0.5)


def small_model(tf: Any, *ends: Any) -> Any:
    """A model of 3 inputs and one hidden layer, with weights that both libraries share."""
    model = tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(4, activation="tanh"), *ends]
    )
    filled(model)
    return model


# -- optimization by hand ------------------------------------------------------------------------------


def newton_steps(tf: Any) -> Any:
    x = tf.Variable([1.5, -0.5])

    def f(x):
        return tf.reduce_sum(x**4 - 2 * x**2) + x[0] * x[1]

    for _ in range(3):
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = f(x)
            g = t1.gradient(y, x)
        h = t2.jacobian(g, x)
        x.assign_sub(tf.linalg.solve(h, g[:, tf.newaxis])[:, 0])
        print(f"{y.numpy():.4f}", x.numpy().round(4).tolist())
    return [x, h]


def optimizer_of_ones_own(tf: Any) -> Any:
    class Momentum(tf.Module):
        def __init__(self, learning_rate=0.05, momentum=0.7):
            self.learning_rate = learning_rate
            self.momentum = momentum
            self.change = 0.0

        def apply_gradients(self, grads, variables):
            for grad, var in zip(grads, variables):
                current = self.learning_rate * grad + self.momentum * self.change
                var.assign_sub(current)
                self.change = current

    x = tf.Variable(3.0)
    optimizer = Momentum()
    path = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = 2 * x**4 + 3 * x**3 + 2
        optimizer.apply_gradients(tape.gradient(loss, [x]), [x])
        path.append(float(x))
    return path


def minimize_by_keras(tf: Any) -> Any:
    results = []
    for optimizer in (
        tf.keras.optimizers.SGD(0.1, momentum=0.5),
        tf.keras.optimizers.Adagrad(0.5),
        tf.keras.optimizers.Adamax(0.1),
        tf.keras.optimizers.RMSprop(0.1, centered=True),
        tf.keras.optimizers.AdamW(0.1, weight_decay=0.01),
        tf.keras.optimizers.Lion(0.1),
    ):
        x = tf.Variable([2.0, -3.0])
        for _ in range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x**2) + tf.math.sin(x[0])
            optimizer.apply_gradients([(tape.gradient(loss, x), x)])
        print(optimizer.name, int(optimizer.iterations.numpy()))
        results.append(x)
    return results


def greeks_of_an_option(tf: Any) -> Any:
    def price(s, k, t, r, sigma):
        d1 = (tf.math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * tf.sqrt(t))
        d2 = d1 - sigma * tf.sqrt(t)

        def cdf(x):
            return 0.5 * (1 + tf.math.erf(x / tf.sqrt(2.0)))

        return s * cdf(d1) - k * tf.exp(-r * t) * cdf(d2)

    s, t, r, sigma = (tf.Variable(v) for v in (100.0, 0.5, 0.02, 0.25))
    with tf.GradientTape() as outer:
        with tf.GradientTape(persistent=True) as inner:
            value = price(s, 95.0, t, r, sigma)
        delta, theta, rho, vega = inner.gradient(value, [s, t, r, sigma])
    gamma = outer.gradient(delta, s)
    print("Delta: {:.4f}  Gamma: {:.4f}  Vega: {:.3f}".format(delta.numpy(), gamma.numpy(), vega))
    return [value, delta, gamma, theta, rho, vega]


def matrix_factors(tf: Any) -> Any:
    r = tf.constant(np.outer(np.arange(1, 5), [1.0, 2.0, 0.5]), tf.float32)
    mask = tf.cast(tf.math.greater(r, 0.6), tf.float32)
    p = tf.Variable(tf.ones((4, 2)) * 0.5)
    q = tf.Variable(tf.reshape(tf.linspace(0.1, 0.6, 6), (2, 3)))
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.02)
    for step in range(6):
        with tf.GradientTape() as tape:
            error = mask * (r - p @ q)
            loss = tf.nn.l2_loss(error) + 0.01 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q))
        optimizer.apply_gradients(zip(tape.gradient(loss, [p, q]), [p, q]))
        if step % 3 == 0:
            tf.debugging.assert_all_finite(loss, "diverged")
            print(step, f"{loss.numpy():.3f}")
    return [p, q]


# -- gradients of one's own ----------------------------------------------------------------------------


def gradient_reversal(tf: Any) -> Any:
    @tf.custom_gradient
    def flip(x):
        def grad(dy):
            return -0.5 * dy

        return tf.identity(x), grad

    class GradientReversal(tf.keras.layers.Layer):
        def call(self, x):
            return flip(x)

    inputs = tf.keras.Input((3,))
    features = tf.keras.layers.Dense(4, activation="relu")(inputs)
    label = tf.keras.layers.Dense(1)(features)
    domain = tf.keras.layers.Dense(1, activation="sigmoid")(GradientReversal()(features))
    model = tf.keras.Model(inputs, [label, domain])
    filled(model)
    with tf.GradientTape() as tape:
        a, b = model(ROWS)
        loss = tf.reduce_mean((a - TARGET) ** 2) + tf.reduce_mean(
            tf.keras.losses.binary_crossentropy(tf.cast(TARGET > 0, tf.float32), b)
        )
    return [loss, tape.gradient(loss, model.trainable_weights)]


def straight_through(tf: Any) -> Any:
    x = tf.Variable([-1.2, 0.2, 0.7, 1.9])
    with tf.GradientTape(persistent=True) as tape:
        binary = x + tf.stop_gradient(tf.sign(x) - x)
        y = tf.reduce_sum(binary * tf.constant([1.0, 2.0, 3.0, 4.0]))
        rounded = tf.grad_pass_through(tf.round)(x)
        z = tf.reduce_sum(rounded**2)
    return [y, tape.gradient(y, x), tape.gradient(z, x)]


def vector_quantizer(tf: Any) -> Any:
    class VectorQuantizer(tf.keras.layers.Layer):
        def __init__(self, num_embeddings, embedding_dim, beta=0.25, **kwargs):
            super().__init__(**kwargs)
            self.embedding_dim = embedding_dim
            self.num_embeddings = num_embeddings
            self.beta = beta
            table = np.linspace(-1, 1, embedding_dim * num_embeddings).reshape(embedding_dim, -1)
            self.embeddings = self.add_weight(
                shape=(embedding_dim, num_embeddings), name="embeddings_vqvae"
            )
            self.embeddings.assign(table.astype("float32"))

        def call(self, x):
            input_shape = tf.shape(x)
            flattened = tf.reshape(x, [-1, self.embedding_dim])
            encoding_indices = self.get_code_indices(flattened)
            encodings = tf.one_hot(encoding_indices, self.num_embeddings)
            quantized = tf.matmul(encodings, self.embeddings, transpose_b=True)
            quantized = tf.reshape(quantized, input_shape)
            commitment_loss = tf.reduce_mean((tf.stop_gradient(quantized) - x) ** 2)
            codebook_loss = tf.reduce_mean((quantized - tf.stop_gradient(x)) ** 2)
            self.add_loss(self.beta * commitment_loss + codebook_loss)
            return x + tf.stop_gradient(quantized - x)

        def get_code_indices(self, flattened_inputs):
            similarity = tf.matmul(flattened_inputs, self.embeddings)
            distances = (
                tf.reduce_sum(flattened_inputs**2, axis=1, keepdims=True)
                + tf.reduce_sum(self.embeddings**2, axis=0)
                - 2 * similarity
            )
            return tf.argmin(distances, axis=1)

    layer = VectorQuantizer(5, 3)
    x = tf.Variable(ROWS.reshape(4, 6, 3))
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_mean(y**2) + sum(layer.losses)
    print(len(layer.trainable_weights), len(layer.losses))
    return [y, loss, tape.gradient(loss, [x, *layer.trainable_weights])]


def normalizing_flow(tf: Any) -> Any:
    class Coupling(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.s = tf.keras.layers.Dense(3, activation="tanh")
            self.t = tf.keras.layers.Dense(3, activation="linear")

        def call(self, x, mask):
            kept = x * mask
            s = self.s(kept) * (1 - mask)
            t = self.t(kept) * (1 - mask)
            return (1 - mask) * (x * tf.exp(s) + t) + kept, tf.reduce_sum(s, [1])

    layers = [Coupling() for _ in range(2)]
    masks = [tf.constant([1.0, 0.0, 1.0]), tf.constant([0.0, 1.0, 0.0])]

    def log_likelihood(x):
        log_det = 0.0
        for layer, mask in zip(layers, masks):
            x, one = layer(x, mask)
            log_det += one
        prior = -0.5 * tf.reduce_sum(x**2, 1) - 1.5 * tf.math.log(2 * np.pi)
        return tf.reduce_mean(prior + log_det)

    log_likelihood(ROWS)
    for number, layer in enumerate(layers):
        filled(layer, number)
    variables = [v for layer in layers for v in layer.trainable_variables]
    with tf.GradientTape() as tape:
        loss = -log_likelihood(ROWS)
    return [loss, tape.gradient(loss, variables)]


# -- tricks of training --------------------------------------------------------------------------------


def two_levels_of_learning(tf: Any) -> Any:
    w, b = tf.Variable([[0.5], [0.1], [-0.2]]), tf.Variable([0.0])
    meta = tf.keras.optimizers.SGD(0.1)
    for _ in range(2):
        with tf.GradientTape() as outer:
            total = 0.0
            for part in (slice(0, 8), slice(8, 16)):
                x, y = tf.constant(ROWS[part]), tf.constant(TARGET[part])
                with tf.GradientTape() as inner:
                    loss = tf.reduce_mean((x @ w + b - y) ** 2)
                gw, gb = inner.gradient(loss, [w, b])
                fast_w, fast_b = w - 0.1 * gw, b - 0.1 * gb
                total += tf.reduce_mean((x @ fast_w + fast_b - y) ** 2)
        meta.apply_gradients(zip(outer.gradient(total, [w, b]), [w, b]))
    return [total, w, b]


def distillation(tf: Any) -> Any:
    class Distiller(tf.keras.Model):
        def __init__(self, student, teacher):
            super().__init__()
            self.teacher = teacher
            self.student = student

        def compile(
            self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha, temperature
        ):
            super().compile(optimizer=optimizer, metrics=metrics)
            self.student_loss_fn = student_loss_fn
            self.distillation_loss_fn = distillation_loss_fn
            self.alpha = alpha
            self.temperature = temperature

        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
            teacher_pred = self.teacher(x, training=False)
            student_loss = self.student_loss_fn(y, y_pred)
            distillation_loss = self.distillation_loss_fn(
                tf.nn.softmax(teacher_pred / self.temperature, axis=1),
                tf.nn.softmax(y_pred / self.temperature, axis=1),
            ) * (self.temperature**2)
            return self.alpha * student_loss + (1 - self.alpha) * distillation_loss

        def call(self, x):
            return self.student(x)

    teacher, student = (small_model(tf, tf.keras.layers.Dense(3)) for _ in range(2))
    filled(student, 5)
    distiller = Distiller(student, teacher)
    distiller.compile(
        optimizer=tf.keras.optimizers.SGD(0.05),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy()],
        student_loss_fn=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        distillation_loss_fn=tf.keras.losses.KLDivergence(),
        alpha=0.1,
        temperature=10,
    )
    history = distiller.fit(ROWS, KINDS, epochs=2, batch_size=8, shuffle=False, verbose=0)
    print(sorted(history.history))
    return [history.history["loss"], student.get_weights()]


def contrastive_pairs(tf: Any) -> Any:
    def nt_xent(z1, z2, temperature=0.5):
        z1 = tf.math.l2_normalize(z1, axis=1)
        z2 = tf.math.l2_normalize(z2, axis=1)
        similarities = tf.matmul(z1, z2, transpose_b=True) / temperature
        labels = tf.range(tf.shape(z1)[0])
        loss12 = tf.keras.losses.sparse_categorical_crossentropy(
            labels, similarities, from_logits=True
        )
        loss21 = tf.keras.losses.sparse_categorical_crossentropy(
            labels, tf.transpose(similarities), from_logits=True
        )
        return tf.reduce_mean(loss12 + loss21) / 2

    model = small_model(tf, tf.keras.layers.Dense(2))
    with tf.GradientTape() as tape:
        loss = nt_xent(model(ROWS[:8]), model(ROWS[8:16]))
    return [loss, tape.gradient(loss, model.trainable_variables)]


def moving_average_of_weights(tf: Any) -> Any:
    model = small_model(tf, tf.keras.layers.Dense(1))
    shadow = tf.keras.models.clone_model(model)
    shadow.set_weights(model.get_weights())
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")

    class Average(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            for slow, fast in zip(shadow.weights, self.model.weights):
                slow.assign(0.9 * slow + 0.1 * fast)

    model.fit(ROWS, TARGET, batch_size=8, epochs=2, shuffle=False, verbose=0, callbacks=[Average()])
    return [shadow.predict(ROWS[:2], verbose=0), model.predict(ROWS[:2], verbose=0)]


def rates_of_a_course(tf: Any) -> Any:
    class CustomSchedule(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __init__(self, d_model, warmup_steps=4):
            super().__init__()
            self.d_model = tf.cast(d_model, tf.float32)
            self.warmup_steps = warmup_steps

        def __call__(self, step):
            step = tf.cast(step, dtype=tf.float32)
            arg1 = tf.math.rsqrt(step)
            arg2 = step * (self.warmup_steps**-1.5)
            return tf.math.rsqrt(self.d_model) * tf.math.minimum(arg1, arg2)

    schedule = CustomSchedule(16)
    optimizer = tf.keras.optimizers.Adam(schedule, beta_1=0.9, beta_2=0.98, epsilon=1e-9)
    x = tf.Variable(1.0)
    for _ in range(3):
        optimizer.apply_gradients([(2 * x, x)])
    decays = tf.keras.optimizers.schedules
    values = [
        decays.ExponentialDecay(0.1, 10, 0.5, staircase=True)(25),
        decays.CosineDecay(0.1, 20, alpha=0.1)(5),
        decays.PolynomialDecay(0.1, 10, 0.01, power=2.0)(4),
        decays.InverseTimeDecay(0.1, 5, 0.5)(7),
        decays.CosineDecayRestarts(0.1, 5)(8),
    ]
    return [schedule(tf.range(1, 6)), x, values]


def callbacks_of_a_course(tf: Any) -> Any:
    seen = []

    class PrintRatio(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs):
            print("\nval/train: {:.2f}".format(logs["val_loss"] / logs["loss"]))

        def on_train_begin(self, logs=None):
            seen.append(sorted((logs or {}).keys()))

    model = small_model(tf, tf.keras.layers.Dense(1))
    model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(learning_rate=0.1))
    history = model.fit(
        ROWS[:16],
        TARGET[:16],
        epochs=6,
        batch_size=8,
        shuffle=False,
        verbose=0,
        validation_data=(ROWS[16:], TARGET[16:]),
        callbacks=[
            PrintRatio(),
            tf.keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True),
            tf.keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.9),
            tf.keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=1, min_delta=0.5),
            tf.keras.callbacks.LambdaCallback(
                on_epoch_begin=lambda epoch, logs: seen.append(epoch)
            ),
        ],
    )
    print(seen, history.epoch, sorted(history.history), sorted(history.params))
    return [history.history["loss"], history.history["learning_rate"], model.get_weights()]


def weights_of_examples(tf: Any) -> Any:
    model = small_model(tf, tf.keras.layers.Dense(3, activation="softmax"))
    model.compile("sgd", "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    weights = np.linspace(0.5, 2.0, 24)
    a = model.fit(ROWS, KINDS, sample_weight=weights, batch_size=8, shuffle=False, verbose=0)
    b = model.fit(
        ROWS, KINDS, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, batch_size=8, shuffle=False, verbose=0
    )
    losses = tf.keras.losses.SparseCategoricalCrossentropy(reduction="none")
    each = losses(KINDS, model(ROWS))
    smooth = tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1)
    print(each.shape, sorted(a.history))
    return [a.history["loss"], b.history["loss"], each, smooth(tf.one_hot(KINDS, 3), model(ROWS))]


def frozen_layers(tf: Any) -> Any:
    base = small_model(tf, tf.keras.layers.BatchNormalization())
    base.set_weights([np.abs(w) for w in base.get_weights()])
    base.trainable = False
    inputs = tf.keras.Input((3,))
    x = base(inputs)
    outputs = tf.keras.layers.Dense(1, kernel_regularizer="l2")(x)
    model = tf.keras.Model(inputs, outputs)
    model.layers[-1].set_weights([np.float32([[0.1], [0.2], [-0.3], [0.4]]), np.float32([0.0])])
    print(
        len(model.trainable_weights),
        len(model.non_trainable_weights),
        [w.trainable for w in base.weights],
    )
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    first = model.fit(ROWS, TARGET, batch_size=12, shuffle=False, verbose=0).history["loss"]
    base.trainable = True
    for layer in base.layers[:1]:
        layer.trainable = False
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    print(len(model.trainable_weights), model.count_params())
    second = model.fit(ROWS, TARGET, batch_size=12, shuffle=False, verbose=0).history["loss"]
    return [first, second, model.get_weights()]


def layers_of_the_book(tf: Any) -> Any:
    class MyDense(tf.keras.layers.Layer):
        def __init__(self, units, activation=None, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.activation = tf.keras.activations.get(activation)

        def build(self, batch_input_shape):
            self.kernel = self.add_weight(
                name="kernel",
                shape=[batch_input_shape[-1], self.units],
                initializer="glorot_normal",
            )
            self.bias = self.add_weight(name="bias", shape=[self.units], initializer="zeros")
            super().build(batch_input_shape)

        def call(self, X):
            return self.activation(X @ self.kernel + self.bias)

        def compute_output_shape(self, batch_input_shape):
            return tuple(batch_input_shape[:-1]) + (self.units,)

    class MyMultiLayer(tf.keras.layers.Layer):
        def call(self, X):
            X1, X2 = X
            return X1 + X2, X1 * X2, X1 / (tf.abs(X2) + 1.0)

    class MyGaussianNoise(tf.keras.layers.Layer):
        def __init__(self, stddev, **kwargs):
            super().__init__(**kwargs)
            self.stddev = stddev

        def call(self, X, training=False):
            if training:
                return X + self.stddev
            return X

    class ResidualBlock(tf.keras.layers.Layer):
        def __init__(self, n_layers, n_neurons, **kwargs):
            super().__init__(**kwargs)
            self.hidden = [
                tf.keras.layers.Dense(n_neurons, activation="elu") for _ in range(n_layers)
            ]

        def call(self, inputs):
            Z = inputs
            for layer in self.hidden:
                Z = layer(Z)
            return inputs + Z

    inputs = tf.keras.Input((3,))
    a, b, c = MyMultiLayer()([MyDense(4, "relu")(inputs), MyDense(4, "tanh")(inputs)])
    z = ResidualBlock(2, 4)(MyGaussianNoise(0.5)(a + b - c))
    model = tf.keras.Model(inputs, MyDense(1)(z))
    filled(model)
    print(a.shape, z.shape, model.output_shape, len(model.trainable_weights))
    return [model(ROWS[:3]), model(ROWS[:3], training=True)]


def metrics_that_stream(tf: Any) -> Any:
    class HuberMetric(tf.keras.metrics.Metric):
        def __init__(self, threshold=1.0, **kwargs):
            super().__init__(**kwargs)
            self.threshold = threshold
            self.huber_fn = tf.keras.losses.Huber(threshold, reduction="none")
            self.total = self.add_weight(name="total", initializer="zeros")
            self.count = self.add_weight(name="count", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            sample_metrics = self.huber_fn(y_true, y_pred)
            self.total.assign(self.total + tf.reduce_sum(sample_metrics))
            self.count.assign(self.count + tf.cast(tf.size(y_true), tf.float32))

        def result(self):
            return self.total / self.count

    m = HuberMetric(2.0)
    results = [
        m(tf.constant([[2.0]]), tf.constant([[10.0]])),
        m(tf.constant([[0.0], [5.0]]), tf.constant([[1.0], [9.25]])),
    ]
    print(m.result().numpy(), [v.name for v in m.variables])
    m.reset_state()
    precision = tf.keras.metrics.Precision()
    precision([0, 1, 1, 1, 0, 1, 0, 1], [1, 1, 0, 1, 0, 1, 0, 1])
    print(precision.result().numpy(), m.total.numpy())
    auc = tf.keras.metrics.AUC(num_thresholds=5)
    auc.update_state([0, 0, 1, 1], [0.1, 0.5, 0.3, 0.9])
    top = tf.keras.metrics.TopKCategoricalAccuracy(k=2)
    top.update_state([[0, 0, 1], [0, 1, 0]], [[0.1, 0.9, 0.8], [0.05, 0.0, 0.95]])
    return [
        results,
        auc.result(),
        top.result(),
        tf.keras.metrics.MeanSquaredError()([1.0, 2.0], [2.0, 4.0]),
    ]


# -- data and helpers ----------------------------------------------------------------------------------


def pipeline_of_data(tf: Any) -> Any:
    n_inputs = 3

    def preprocess(x, y):
        mean, std = tf.reduce_mean(ROWS, axis=0), tf.math.reduce_std(ROWS, axis=0)
        return (x - mean) / std, y

    dataset = tf.data.Dataset.from_tensor_slices((ROWS, TARGET))
    dataset = dataset.cache().map(preprocess, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.filter(lambda x, y: y[0] > -2.0).repeat(2).batch(7).prefetch(1)
    print(dataset.element_spec[0].dtype, dataset.element_spec[0].shape)
    totals = []
    for x, y in dataset.take(3):
        totals.append([tf.reduce_sum(x), tf.reduce_mean(y)])
    numbers = tf.data.Dataset.range(10).map(lambda x: x * 2).filter(lambda x: x % 3 == 0)
    print(list(numbers.as_numpy_iterator()), n_inputs)
    for item in tf.data.Dataset.range(6).batch(4, drop_remainder=True).enumerate():
        print(item[0].numpy(), item[1].numpy())
    features = {"a": ROWS[:4, 0], "b": KINDS[:4]}
    for batch in tf.data.Dataset.from_tensor_slices(features).batch(2):
        print({name: value.shape for name, value in batch.items()})
    reduced = tf.data.Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x)
    return [totals, reduced]


def pictures_changed(tf: Any) -> Any:
    image = tf.constant(np.random.default_rng(3).uniform(size=(6, 8, 3)).astype("float32"))
    results = [
        tf.image.resize(image, (3, 4)),
        tf.image.resize(image, [9, 5], method="nearest"),
        tf.image.flip_left_right(image),
        tf.image.rot90(image),
        tf.image.central_crop(image, 0.5),
        tf.image.adjust_brightness(image, 0.1),
        tf.image.adjust_contrast(image, 1.5),
        tf.image.adjust_saturation(image, 0.5),
        tf.image.rgb_to_grayscale(image),
        tf.image.per_image_standardization(image),
        tf.image.crop_to_bounding_box(image, 1, 2, 3, 4),
        tf.image.pad_to_bounding_box(image, 1, 1, 9, 10),
        tf.image.convert_image_dtype(image, tf.uint8),
    ]
    dx, dy = tf.image.image_gradients(image[tf.newaxis])
    print([tuple(x.shape) for x in results], dx.shape)
    return [results, dx, dy]


def summaries(tf: Any) -> Any:
    tf.keras.backend.clear_session()
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(4, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D((2, 2)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.Dense(10),
        ]
    )
    lines = []
    model.summary(print_fn=lambda line, *_args, **_options: lines.append(line))
    print("\n".join(lines))
    print(model.layers[0].name, model.layers[-1].output.shape, model.input_shape)
    print([layer.name for layer in model.layers], model.get_layer("dense").units)
    config = model.layers[0].get_config()
    print(config["filters"], config["kernel_size"], config["activation"], config["padding"])
    return model.count_params()


def dropout_at_prediction(tf: Any) -> Any:
    tf.random.set_seed(1)
    model = small_model(tf, tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1))
    draws = np.stack([model(ROWS, training=True) for _ in range(20)])
    print(draws.shape, bool(draws.std(axis=0).mean() > 0.01))
    same = np.stack([model(ROWS, training=False) for _ in range(2)])
    return [same[0], bool((same[0] == same[1]).all())]


def mixture_density(tf: Any) -> Any:
    model = small_model(tf, tf.keras.layers.Dense(6))

    def mdn_loss(y, out):
        pi, mu, log_sigma = tf.split(out, 3, axis=1)
        log_pi = tf.nn.log_softmax(pi, axis=1)
        z = (y - mu) * tf.exp(-log_sigma)
        log_prob = -0.5 * z**2 - log_sigma - 0.5 * tf.math.log(2.0 * np.pi)
        return -tf.reduce_mean(tf.reduce_logsumexp(log_pi + log_prob, axis=1))

    optimizer = tf.keras.optimizers.RMSprop(0.01)
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = mdn_loss(TARGET, model(ROWS))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return [loss, grads]


def solver_of_an_equation(tf: Any) -> Any:
    net = small_model(tf, tf.keras.layers.Dense(3))

    def step(y, t, h):
        k1 = net(y)
        k2 = net(y + h / 2 * k1)
        k3 = net(y + h / 2 * k2)
        k4 = net(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    with tf.GradientTape() as tape:
        y = tf.constant(ROWS[:4])
        for t in np.arange(0, 1, 0.25):
            y = step(y, t, 0.25)
        loss = tf.reduce_mean(tf.abs(y - ROWS[4:8]))
    return [y, loss, tape.gradient(loss, net.trainable_variables)]


def saved_and_read(tf: Any) -> Any:
    import tempfile
    from pathlib import Path

    model = small_model(tf, tf.keras.layers.Dense(1))
    model.compile("adam", "mse")
    model.fit(ROWS, TARGET, batch_size=12, shuffle=False, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.keras"
        model.save(path)
        copy = tf.keras.models.load_model(path)
        model.save_weights(Path(folder) / "m.weights.h5")
        other = small_model(tf, tf.keras.layers.Dense(1))
        other.load_weights(Path(folder) / "m.weights.h5")
        checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0))
        place = checkpoint.save(f"{folder}/ckpt")
        checkpoint.v.assign(5.0)
        checkpoint.restore(place)
        print(Path(place).name, checkpoint.v.numpy(), type(copy).__name__)
    same = np.allclose(copy.predict(ROWS, verbose=0), model.predict(ROWS, verbose=0))
    print(same, np.allclose(other(ROWS), model(ROWS)), copy.optimizer.iterations.numpy())
    return copy.evaluate(ROWS, TARGET, verbose=0)


def series_by_networks(tf: Any) -> Any:
    series = np.sin(np.arange(40) / 4).astype("float32")
    x = np.lib.stride_tricks.sliding_window_view(series, 8)[:, :, None]
    inputs, targets = x[:-1], series[8:, None]
    results = []
    for layers in (
        [tf.keras.layers.SimpleRNN(3, return_sequences=True), tf.keras.layers.SimpleRNN(2)],
        [tf.keras.layers.Conv1D(3, 4, strides=2, activation="relu"), tf.keras.layers.GRU(3)],
        [
            tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2, return_sequences=True)),
            tf.keras.layers.GlobalMaxPooling1D(),
        ],
        [
            tf.keras.layers.Conv1D(2, 2, padding="causal", dilation_rate=2),
            tf.keras.layers.Flatten(),
        ],
    ):
        model = tf.keras.Sequential([tf.keras.Input((8, 1)), *layers, tf.keras.layers.Dense(1)])
        filled(model)
        model.compile(tf.keras.optimizers.SGD(0.05), tf.keras.losses.Huber())
        history = model.fit(inputs, targets, epochs=1, batch_size=8, shuffle=False, verbose=0)
        results.append([history.history["loss"], model.predict(inputs[:2], verbose=0)])
    return results


def norms_of_vectors(tf: Any) -> Any:
    layers = tf.keras.layers
    x = tf.constant(ROWS.reshape(4, 2, 9))
    results = []
    for layer in (
        layers.UnitNormalization(),
        layers.UnitNormalization(axis=[1, 2]),
        layers.RMSNormalization(epsilon=0.1),
        layers.ActivityRegularization(0.1, 0.2),
    ):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
            loss = tf.reduce_sum(y**3) + sum(layer.losses)
        results.append([y, loss, tape.gradient(loss, [x, *layer.trainable_variables])])
        print(sorted(layer.get_config()))
    return results
