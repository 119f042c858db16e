"""Programs in the manner of the guides on custom training loops, basic regression, and layers of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np


def filled(model: Any, seed: int = 0) -> None:
    """Give a model weights that both libraries share."""
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 0.4, w.shape).astype("float32") for w in model.get_weights()])


def gradients_of_a_layer(tf: Any) -> Any:
    layer = tf.keras.layers.Dense(2, activation="relu")
    x = tf.constant([[1.0, 2.0, 3.0]])
    layer(x)
    filled(layer)
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_mean(y**2)
    gradients = tape.gradient(loss, layer.trainable_variables)
    for gradient in gradients:
        print(gradient.shape)
    return [y, loss, gradients]


def classes(tf: Any, count: int = 96) -> Any:
    """Points of three classes."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, count)
    centres = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
    points = centres[labels] + rng.normal(0, 0.8, (count, 2))
    return points.astype("float32"), labels


def a_loop_of_ones_own(tf: Any) -> Any:
    x, y = classes(tf)
    train = tf.data.Dataset.from_tensor_slices((x[:64], y[:64])).batch(16)
    test = tf.data.Dataset.from_tensor_slices((x[64:], y[64:])).batch(16)
    inputs = tf.keras.Input(shape=(2,), name="points")
    hidden = tf.keras.layers.Dense(8, activation="relu", name="hidden")(inputs)
    outputs = tf.keras.layers.Dense(3, name="logits")(hidden)
    model = tf.keras.Model(inputs=inputs, outputs=outputs)
    filled(model)
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.1, momentum=0.9)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(points, labels):
        with tf.GradientTape() as tape:
            logits = model(points, training=True)
            loss = loss_fn(labels, logits)
        gradients = tape.gradient(loss, model.trainable_weights)
        optimizer.apply_gradients(zip(gradients, model.trainable_weights))
        accuracy.update_state(labels, logits)
        return loss

    losses = []
    for epoch in range(3):
        for points, labels in train:
            losses.append(step(points, labels))
        print(f"Training accuracy over epoch {epoch}: {float(accuracy.result()):.4f}")
        accuracy.reset_state()
        for points, labels in test:
            test_accuracy.update_state(labels, model(points, training=False))
        print(f"Validation accuracy: {float(test_accuracy.result()):.4f}")
        test_accuracy.reset_state()
    return [losses, model(x[:4]), model.get_weights()]


def layers_with_losses(tf: Any) -> Any:
    class Penalty(tf.keras.layers.Layer):
        def call(self, inputs):
            self.add_loss(0.01 * tf.reduce_sum(inputs**2))
            return inputs

    class Linear(tf.keras.layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.units = units

        def build(self, input_shape):
            self.w = self.add_weight(
                shape=(input_shape[-1], self.units), initializer="ones", name="w"
            )
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

        def call(self, inputs):
            return tf.matmul(inputs, self.w) + self.b

    model = tf.keras.Sequential([Penalty(), Linear(2), tf.keras.layers.Activation("tanh")])
    x = tf.constant([[0.1, 0.2, -0.4]])
    with tf.GradientTape() as tape:
        y = model(x)
        loss = tf.reduce_mean(y) + sum(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    return [y, loss, gradients, len(model.losses), [v.shape for v in model.variables]]


def a_model_of_ones_own(tf: Any) -> Any:
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4, activation=tf.nn.tanh)
            self.second = tf.keras.layers.Dense(1)

        def call(self, x, training=False):
            hidden = self.first(x)
            return self.second(2 * hidden if training else hidden)

    net = Net()
    x = tf.reshape(tf.range(6, dtype=tf.float32), (3, 2)) / 5
    net(x)
    filled(net)
    return [net(x), net(x, training=True), len(net.trainable_variables), net.count_params()]


def regression(tf: Any) -> Any:
    rng = np.random.default_rng(2)
    x = rng.normal(3.0, 2.0, (200, 3)).astype("float32")
    y = (x @ np.array([1.0, -2.0, 0.5]) + 4).astype("float32")
    normalizer = tf.keras.layers.Normalization(axis=-1)
    normalizer.adapt(x)
    model = tf.keras.Sequential([normalizer, tf.keras.layers.Dense(units=1)])
    model(x[:2])
    model.layers[1].set_weights([np.full((3, 1), 0.5, "float32"), np.zeros(1, "float32")])
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=0.1), loss="mean_absolute_error")
    history = model.fit(
        x, y, epochs=5, batch_size=50, shuffle=False, verbose=0, validation_split=0.2
    )
    result = model.evaluate(x, y, verbose=0)
    print(sorted(history.history), history.epoch)
    return [
        history.history["loss"],
        history.history["val_loss"],
        result,
        model.predict(x[:5], verbose=0),
    ]


def a_training_step_of_ones_own(tf: Any) -> Any:
    class Custom(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            return {"loss": loss}

    inputs = tf.keras.Input(shape=(2,))
    model = Custom(inputs, tf.keras.layers.Dense(3)(inputs))
    filled(model)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss)
    x, y = classes(tf)
    model.fit(x, y, epochs=2, batch_size=32, shuffle=False, verbose=0)
    return model.get_weights()


def convolutions(tf: Any) -> Any:
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            tf.keras.layers.Conv2D(4, 3, activation="relu", padding="same"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.Dense(10),
        ]
    )
    filled(model)
    x = np.random.default_rng(1).normal(size=(2, 8, 8, 1)).astype("float32")
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_sum(tf.nn.softmax(logits)[:, 0])
    return [logits, tape.gradient(loss, model.trainable_variables), model.count_params()]


def an_adversarial_example(tf: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    filled(model)
    image, label = tf.constant([[0.2, 0.4, 0.1, 0.9]]), tf.constant([[0.0, 1.0, 0.0]])
    with tf.GradientTape() as tape:
        tape.watch(image)
        loss = tf.keras.losses.CategoricalCrossentropy(from_logits=True)(label, model(image))
    signs = tf.sign(tape.gradient(loss, image))
    return [loss, signs, tf.clip_by_value(image + 0.1 * signs, 0, 1)]


def utilities(tf: Any) -> Any:
    print(tf.keras.utils.to_categorical([1, 0, 2], num_classes=4))
    print(tf.keras.backend.floatx(), tf.keras.backend.epsilon())
    return [
        tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])),
        tf.keras.activations.relu(tf.constant([-1.0, 2.0])),
    ]


def metrics_and_layers_with_names_of_their_own(tf: Any) -> Any:
    class Scaled(tf.keras.layers.Layer):
        given = 3.0

        def call(self, x: Any) -> Any:
            return tf.square(x) * self.given

    metrics = tf.keras.metrics
    found = []
    for name in (
        "PrecisionAtRecall",
        "RecallAtPrecision",
        "SensitivityAtSpecificity",
        "SpecificityAtSensitivity",
    ):
        metric = getattr(metrics, name)(0.5, num_thresholds=20)
        metric.update_state([0, 1, 1, 0, 1], [0.1, 0.4, 0.7, 0.6, 0.9])
        found.append(metric.result())
    return [Scaled()(tf.constant([2.0])), found]
