"""Programs as notebooks write them, a few lines for each kind: generators, encoders, attacks, equations, policies, texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.tf.programs.keras_guides import filled

IMAGES = np.random.default_rng(10).uniform(size=(8, 8, 8, 1)).astype("float32")
ROWS = np.random.default_rng(11).normal(size=(32, 4)).astype("float32")
CLASSES = (ROWS[:, 0] + ROWS[:, 1] > 0).astype("int32") + (ROWS[:, 2] > 0.5)
TEXT = "the cat sat on the mat and the dog sat on the cat "


def shown(x: Any) -> str:
    """A number with four digits."""
    return f"{float(x):.4f}"


# -- generators and encoders ---------------------------------------------------------------------------


def gan_of_images(tf: Any) -> Any:
    layers = tf.keras.layers

    def make_generator_model():
        model = tf.keras.Sequential()
        model.add(layers.Dense(2 * 2 * 8, use_bias=False, input_shape=(5,)))
        model.add(layers.BatchNormalization())
        model.add(layers.LeakyReLU())
        model.add(layers.Reshape((2, 2, 8)))
        assert model.output_shape == (None, 2, 2, 8)
        model.add(layers.Conv2DTranspose(4, (3, 3), strides=(2, 2), padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.LeakyReLU())
        model.add(
            layers.Conv2DTranspose(
                1, 3, strides=2, padding="same", use_bias=False, activation="tanh"
            )
        )
        return model

    def make_discriminator_model():
        return tf.keras.Sequential(
            [
                layers.Conv2D(4, (5, 5), strides=(2, 2), padding="same", input_shape=[8, 8, 1]),
                layers.LeakyReLU(),
                layers.Dropout(0.0),
                layers.Flatten(),
                layers.Dense(1),
            ]
        )

    generator, discriminator = make_generator_model(), make_discriminator_model()
    filled(discriminator, 1)
    rng = np.random.default_rng(2)
    generator.set_weights(
        [np.abs(rng.normal(0, 0.4, w.shape)).astype("float32") for w in generator.get_weights()]
    )
    cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def discriminator_loss(real_output, fake_output):
        real_loss = cross_entropy(tf.ones_like(real_output), real_output)
        fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
        return real_loss + fake_loss

    def generator_loss(fake_output):
        return cross_entropy(tf.ones_like(fake_output), fake_output)

    generator_optimizer = tf.keras.optimizers.Adam(1e-3)
    discriminator_optimizer = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def train_step(images, noise):
        with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
            generated_images = generator(noise, training=True)
            real_output = discriminator(images, training=True)
            fake_output = discriminator(generated_images, training=True)
            gen_loss = generator_loss(fake_output)
            disc_loss = discriminator_loss(real_output, fake_output)
        gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
        gradients_of_discriminator = disc_tape.gradient(
            disc_loss, discriminator.trainable_variables
        )
        generator_optimizer.apply_gradients(
            zip(gradients_of_generator, generator.trainable_variables)
        )
        discriminator_optimizer.apply_gradients(
            zip(gradients_of_discriminator, discriminator.trainable_variables)
        )
        return gen_loss, disc_loss

    noise = rng.normal(size=(8, 5)).astype("float32")
    losses = [train_step(tf.constant(IMAGES), tf.constant(noise)) for _ in range(3)]
    decision = discriminator(generator(noise, training=False))
    print(decision.shape, len(generator.trainable_variables), generator.count_params())
    return [losses, decision]


def gan_with_train_step(tf: Any) -> Any:
    keras = tf.keras

    class GAN(keras.Model):
        def __init__(self, discriminator, generator):
            super().__init__()
            self.discriminator = discriminator
            self.generator = generator
            self.d_loss_tracker = keras.metrics.Mean(name="d_loss")
            self.g_loss_tracker = keras.metrics.Mean(name="g_loss")

        @property
        def metrics(self):
            return [self.d_loss_tracker, self.g_loss_tracker]

        def compile(self, d_optimizer, g_optimizer, loss_fn):
            super().compile()
            self.d_optimizer = d_optimizer
            self.g_optimizer = g_optimizer
            self.loss_fn = loss_fn

        def train_step(self, real):
            if isinstance(real, tuple):
                real = real[0]
            batch_size = tf.shape(real)[0]
            latent = tf.ones(shape=(batch_size, 2))
            generated = self.generator(latent)
            combined = tf.concat([generated, real], axis=0)
            labels = tf.concat([tf.ones((batch_size, 1)), tf.zeros((batch_size, 1))], axis=0)
            with tf.GradientTape() as tape:
                predictions = self.discriminator(combined)
                d_loss = self.loss_fn(labels, predictions)
            grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
            self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
            misleading = tf.zeros((batch_size, 1))
            with tf.GradientTape() as tape:
                predictions = self.discriminator(self.generator(latent))
                g_loss = self.loss_fn(misleading, predictions)
            grads = tape.gradient(g_loss, self.generator.trainable_weights)
            self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
            self.d_loss_tracker.update_state(d_loss)
            self.g_loss_tracker.update_state(g_loss)
            return {
                "d_loss": self.d_loss_tracker.result(),
                "g_loss": self.g_loss_tracker.result(),
            }

    discriminator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(4, activation="tanh")])
    filled(discriminator)
    filled(generator, 1)
    gan = GAN(discriminator, generator)
    gan.compile(
        d_optimizer=keras.optimizers.Adam(0.01),
        g_optimizer=keras.optimizers.Adam(0.01),
        loss_fn=keras.losses.BinaryCrossentropy(from_logits=True),
    )
    history = gan.fit(ROWS, epochs=2, batch_size=8, shuffle=False, verbose=0)
    print(sorted(history.history), len(gan.trainable_weights))
    return [history.history["d_loss"], history.history["g_loss"]]


def wasserstein_penalty(tf: Any) -> Any:
    critic = tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)]
    )
    filled(critic)
    real, fake = tf.constant(ROWS[:8]), tf.constant(ROWS[8:16])
    alpha = tf.reshape(tf.linspace(0.0, 1.0, 8), (8, 1))
    interpolated = alpha * real + (1 - alpha) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = critic(interpolated, training=True)
        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        gp = tf.reduce_mean((norm - 1.0) ** 2)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * gp
    return [gp, loss, tape.gradient(loss, critic.trainable_variables)]


def variational_encoder(tf: Any) -> Any:
    layers = tf.keras.layers

    class Sampling(layers.Layer):
        """Uses (z_mean, z_log_var) to sample z."""

        def call(self, inputs):
            z_mean, z_log_var = inputs
            epsilon = tf.ones(shape=(1, 2)) * 0.3
            return z_mean + tf.exp(0.5 * z_log_var) * epsilon

    encoder_inputs = tf.keras.Input(shape=(8, 8, 1))
    x = layers.Conv2D(3, 3, activation="relu", strides=2, padding="same")(encoder_inputs)
    x = layers.Flatten()(x)
    z_mean = layers.Dense(2, name="z_mean")(x)
    z_log_var = layers.Dense(2, name="z_log_var")(x)
    z = Sampling()([z_mean, z_log_var])
    encoder = tf.keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")
    latent_inputs = tf.keras.Input(shape=(2,))
    y = layers.Dense(4 * 4 * 3, activation="relu")(latent_inputs)
    y = layers.Reshape((4, 4, 3))(y)
    decoder_outputs = layers.Conv2DTranspose(1, 3, activation="sigmoid", strides=2, padding="same")(
        y
    )
    decoder = tf.keras.Model(latent_inputs, decoder_outputs, name="decoder")
    filled(encoder)
    filled(decoder, 1)

    class VAE(tf.keras.Model):
        def __init__(self, encoder, decoder, **kwargs):
            super().__init__(**kwargs)
            self.encoder = encoder
            self.decoder = decoder
            self.total_loss_tracker = tf.keras.metrics.Mean(name="total_loss")
            self.kl_loss_tracker = tf.keras.metrics.Mean(name="kl_loss")

        @property
        def metrics(self):
            return [self.total_loss_tracker, self.kl_loss_tracker]

        def train_step(self, data):
            with tf.GradientTape() as tape:
                z_mean, z_log_var, z = self.encoder(data)
                reconstruction = self.decoder(z)
                reconstruction_loss = tf.reduce_mean(
                    tf.reduce_sum(
                        tf.keras.losses.binary_crossentropy(data, reconstruction), axis=(1, 2)
                    )
                )
                kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
                kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
                total_loss = reconstruction_loss + kl_loss
            grads = tape.gradient(total_loss, self.trainable_weights)
            self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
            self.total_loss_tracker.update_state(total_loss)
            self.kl_loss_tracker.update_state(kl_loss)
            return {m.name: m.result() for m in self.metrics}

    vae = VAE(encoder, decoder)
    vae.compile(optimizer=tf.keras.optimizers.Adam(0.01))
    history = vae.fit(IMAGES, epochs=2, batch_size=4, shuffle=False, verbose=0)
    print([layer.name for layer in encoder.layers][-2:], sorted(history.history))
    return [history.history["total_loss"], history.history["kl_loss"], vae.decoder.output_shape]


def convolutional_autoencoder(tf: Any) -> Any:
    class Denoise(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder = tf.keras.Sequential(
                [
                    tf.keras.layers.Input(shape=(8, 8, 1)),
                    tf.keras.layers.Conv2D(4, (3, 3), activation="relu", padding="same", strides=2),
                    tf.keras.layers.Conv2D(2, (3, 3), activation="relu", padding="same", strides=2),
                ]
            )
            self.decoder = tf.keras.Sequential(
                [
                    tf.keras.layers.Conv2DTranspose(
                        2, 3, strides=2, activation="relu", padding="same"
                    ),
                    tf.keras.layers.Conv2DTranspose(
                        4, 3, strides=2, activation="relu", padding="same"
                    ),
                    tf.keras.layers.Conv2D(1, (3, 3), activation="sigmoid", padding="same"),
                ]
            )

        def call(self, x):
            encoded = self.encoder(x)
            return self.decoder(encoded)

    autoencoder = Denoise()
    autoencoder(IMAGES)
    filled(autoencoder)
    autoencoder.compile(optimizer="adam", loss=tf.keras.losses.MeanSquaredError())
    history = autoencoder.fit(
        IMAGES,
        IMAGES,
        epochs=2,
        shuffle=False,
        batch_size=4,
        validation_data=(IMAGES, IMAGES),
        verbose=0,
    )
    print(autoencoder.encoder(IMAGES).numpy().shape)
    return [history.history["loss"], history.history["val_loss"]]


# -- pictures as variables -----------------------------------------------------------------------------


def style_transfer(tf: Any) -> Any:
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 1))
    a = layers.Conv2D(3, 3, activation="relu", name="block1", padding="same")(inputs)
    b = layers.Conv2D(4, 3, activation="relu", name="block2")(layers.AveragePooling2D(2)(a))
    backbone = tf.keras.Model(inputs, b)
    filled(backbone)
    backbone.trainable = False
    outputs = [backbone.get_layer(name).output for name in ("block1", "block2")]
    extractor = tf.keras.Model([backbone.input], outputs)

    def gram_matrix(input_tensor):
        result = tf.linalg.einsum("bijc,bijd->bcd", input_tensor, input_tensor)
        input_shape = tf.shape(input_tensor)
        num_locations = tf.cast(input_shape[1] * input_shape[2], tf.float32)
        return result / num_locations

    style_targets = [gram_matrix(x) for x in extractor(IMAGES[:1])]
    content_target = extractor(IMAGES[1:2])[1]
    image = tf.Variable(IMAGES[1:2])
    opt = tf.keras.optimizers.Adam(learning_rate=0.02, beta_1=0.99, epsilon=1e-1)

    def clip_0_1(image):
        return tf.clip_by_value(image, clip_value_min=0.0, clip_value_max=1.0)

    @tf.function()
    def train_step(image):
        with tf.GradientTape() as tape:
            results = extractor(image)
            style = tf.add_n(
                [
                    tf.reduce_mean((gram_matrix(x) - target) ** 2)
                    for x, target in zip(results, style_targets)
                ]
            )
            content = tf.reduce_mean((results[1] - content_target) ** 2)
            loss = 10.0 * style + content
            loss += 0.1 * tf.image.total_variation(image)[0]
        grad = tape.gradient(loss, image)
        opt.apply_gradients([(grad, image)])
        image.assign(clip_0_1(image))
        return loss

    losses = [train_step(image) for _ in range(3)]
    print(len(extractor.outputs), len(backbone.trainable_weights))
    return [losses, image]


def deep_dream(tf: Any) -> Any:
    base_model = tf.keras.Sequential(
        [
            tf.keras.Input((None, None, 1)),
            tf.keras.layers.Conv2D(3, 3, activation="relu", name="mixed1"),
            tf.keras.layers.Conv2D(4, 3, activation="relu", name="mixed2"),
        ]
    )
    filled(base_model)
    layers = [base_model.get_layer(name).output for name in ["mixed1", "mixed2"]]
    dream_model = tf.keras.Model(inputs=base_model.inputs, outputs=layers)

    def calc_loss(img, model):
        img_batch = tf.expand_dims(img, axis=0)
        layer_activations = model(img_batch)
        losses = [tf.math.reduce_mean(act) for act in layer_activations]
        return tf.reduce_sum(losses)

    class DeepDream(tf.Module):
        def __init__(self, model):
            self.model = model

        @tf.function(
            input_signature=(
                tf.TensorSpec(shape=[None, None, 1], dtype=tf.float32),
                tf.TensorSpec(shape=[], dtype=tf.float32),
            )
        )
        def __call__(self, img, step_size):
            loss = tf.constant(0.0)
            for _ in range(2):
                with tf.GradientTape() as tape:
                    tape.watch(img)
                    loss = calc_loss(img, self.model)
                gradients = tape.gradient(loss, img)
                gradients /= tf.math.reduce_std(gradients) + 1e-8
                img = img + gradients * step_size
                img = tf.clip_by_value(img, -1, 1)
            return loss, img

    deepdream = DeepDream(dream_model)
    loss, img = deepdream(tf.constant(IMAGES[0]), tf.constant(0.05))
    size = tf.cast(tf.constant([10, 12]), tf.int32)
    larger = tf.image.resize(img, size)
    loss2, img2 = deepdream(larger, tf.constant(0.05))
    return [loss, img, loss2, img2]


def adversarial_sign(tf: Any) -> Any:
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3, activation="softmax"),
        ]
    )
    filled(model)
    loss_object = tf.keras.losses.CategoricalCrossentropy()

    def create_adversarial_pattern(input_image, input_label):
        with tf.GradientTape() as tape:
            tape.watch(input_image)
            prediction = model(input_image)
            loss = loss_object(input_label, prediction)
        gradient = tape.gradient(loss, input_image)
        return tf.sign(gradient)

    image = tf.cast(IMAGES[:1], tf.float32)
    label = tf.one_hot(1, 3)
    label = tf.reshape(label, (1, 3))
    perturbations = create_adversarial_pattern(image, label)
    results = []
    for epsilon in [0, 0.01, 0.1]:
        adversarial = tf.clip_by_value(image + epsilon * perturbations, -1, 1)
        results.append(model.predict(adversarial, verbose=0))
    print("Epsilon = {:0.3f}".format(0.1), results[-1].argmax(), type(results[0]).__name__)
    return [perturbations, results]


def saliency_and_grad_cam(tf: Any) -> Any:
    inputs = tf.keras.Input((8, 8, 1))
    maps = tf.keras.layers.Conv2D(4, 3, activation="relu", name="last_conv")(inputs)
    pooled = tf.keras.layers.GlobalAveragePooling2D()(maps)
    outputs = tf.keras.layers.Dense(3)(pooled)
    model = tf.keras.models.Model(inputs, outputs)
    filled(model)
    grad_model = tf.keras.models.Model(
        model.inputs, [model.get_layer("last_conv").output, model.output]
    )
    with tf.GradientTape() as tape:
        last_conv_layer_output, preds = grad_model(IMAGES[:1])
        pred_index = tf.argmax(preds[0])
        class_channel = preds[:, pred_index]
    grads = tape.gradient(class_channel, last_conv_layer_output)
    pooled_grads = tf.reduce_mean(grads, axis=(0, 1, 2))
    last_conv_layer_output = last_conv_layer_output[0]
    heatmap = last_conv_layer_output @ pooled_grads[..., tf.newaxis]
    heatmap = tf.squeeze(heatmap)
    heatmap = tf.maximum(heatmap, 0) / tf.math.reduce_max(heatmap)
    print(heatmap.shape, heatmap.dtype)
    return [heatmap.numpy(), pred_index]


def integrated_gradients(tf: Any) -> Any:
    model = tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(5, "tanh"), tf.keras.layers.Dense(3)]
    )
    filled(model)
    baseline, x = tf.zeros(4), tf.constant(ROWS[0])
    alphas = tf.linspace(start=0.0, stop=1.0, num=21)

    def interpolate(baseline, x, alphas):
        alphas_x = alphas[:, tf.newaxis]
        return tf.expand_dims(baseline, 0) + alphas_x * (
            tf.expand_dims(x, 0) - tf.expand_dims(baseline, 0)
        )

    path = interpolate(baseline, x, alphas)
    with tf.GradientTape() as tape:
        tape.watch(path)
        probs = tf.nn.softmax(model(path), axis=-1)[:, 1]
    grads = tape.gradient(probs, path)
    grads = (grads[:-1] + grads[1:]) / tf.constant(2.0)
    attributions = (x - baseline) * tf.math.reduce_mean(grads, axis=0)
    return [attributions, probs[-1] - probs[0]]


# -- equations -----------------------------------------------------------------------------------------


def pinn_of_heat(tf: Any) -> Any:
    model = tf.keras.Sequential(
        [
            tf.keras.layers.InputLayer(shape=(2,)),
            tf.keras.layers.Dense(6, activation="tanh"),
            tf.keras.layers.Dense(1),
        ]
    )
    filled(model)
    rng = np.random.default_rng(5)
    t = tf.convert_to_tensor(rng.uniform(size=(10, 1)), dtype=tf.float32)
    x = tf.convert_to_tensor(rng.uniform(size=(10, 1)), dtype=tf.float32)

    def get_r():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(t)
            tape.watch(x)
            u = model(tf.stack([t[:, 0], x[:, 0]], axis=1))
            u_x = tape.gradient(u, x)
        u_t = tape.gradient(u, t)
        u_xx = tape.gradient(u_x, x)
        del tape
        return u_t - 0.1 * u_xx

    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    hist = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(get_r()))
            loss += tf.reduce_mean(tf.square(model(tf.concat([t * 0, x], 1)) - tf.sin(np.pi * x)))
        grad = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grad, model.trainable_variables))
        hist.append(loss.numpy())
    print([f"{value:.5f}" for value in hist])
    return [hist, grad]


def pinn_with_decaying_rate(tf: Any) -> Any:
    lr = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1, 2], [1e-2, 1e-3, 5e-4])
    optim = tf.keras.optimizers.Adam(learning_rate=lr)
    c = tf.Variable(0.5, trainable=True, dtype=tf.float32)
    seen = []
    for step in range(3):
        with tf.GradientTape() as tape:
            y = (c * 2.0 - 3.0) ** 2
        optim.apply_gradients([(tape.gradient(y, c), c)])
        seen.append(c.numpy())
    print(int(optim.iterations), f"{lr(2).numpy():.4f}", optim.learning_rate.numpy())
    return seen


# -- policies ------------------------------------------------------------------------------------------


def actor_critic(tf: Any) -> Any:
    class ActorCritic(tf.keras.Model):
        """Combined actor-critic network."""

        def __init__(self, num_actions: int, num_hidden_units: int):
            super().__init__()
            self.common = tf.keras.layers.Dense(num_hidden_units, activation="relu")
            self.actor = tf.keras.layers.Dense(num_actions)
            self.critic = tf.keras.layers.Dense(1)

        def call(self, inputs: Any) -> Any:
            x = self.common(inputs)
            return self.actor(x), self.critic(x)

    model = ActorCritic(2, 6)
    model(ROWS[:1])
    filled(model)

    def get_expected_return(rewards, gamma, standardize=True):
        n = tf.shape(rewards)[0]
        returns = tf.TensorArray(dtype=tf.float32, size=n)
        rewards = tf.cast(rewards[::-1], dtype=tf.float32)
        discounted_sum = tf.constant(0.0)
        discounted_sum_shape = discounted_sum.shape
        for i in tf.range(n):
            reward = rewards[i]
            discounted_sum = reward + gamma * discounted_sum
            discounted_sum.set_shape(discounted_sum_shape)
            returns = returns.write(i, discounted_sum)
        returns = returns.stack()[::-1]
        if standardize:
            returns = (returns - tf.math.reduce_mean(returns)) / (
                tf.math.reduce_std(returns) + np.finfo(np.float32).eps.item()
            )
        return returns

    huber_loss = tf.keras.losses.Huber(reduction="sum")
    rewards = tf.constant([1.0, 1.0, 0.0, 1.0, 2.0])
    actions = tf.constant([0, 1, 1, 0, 1])
    with tf.GradientTape() as tape:
        action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
        values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
        for t in range(5):
            logits, value = model(tf.expand_dims(ROWS[t], 0))
            probs = tf.nn.softmax(logits)
            action_probs = action_probs.write(t, probs[0, actions[t]])
            values = values.write(t, tf.squeeze(value))
        action_probs, values = action_probs.stack(), values.stack()
        returns = get_expected_return(rewards, 0.9)
        action_probs, values, returns = [
            tf.expand_dims(x, 1) for x in [action_probs, values, returns]
        ]
        advantage = returns - values
        actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage)
        loss = actor_loss + huber_loss(values, returns)
    return [loss, tape.gradient(loss, model.trainable_variables)]


def policy_by_hand(tf: Any) -> Any:
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Dense(5, activation="elu", input_shape=[4]),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    filled(model)
    loss_fn = tf.keras.losses.binary_crossentropy

    def play_one_step(obs, draw):
        with tf.GradientTape() as tape:
            left_proba = model(obs[np.newaxis])
            action = tf.constant([[draw]]) > left_proba
            y_target = tf.constant([[1.0]]) - tf.cast(action, tf.float32)
            loss = tf.reduce_mean(loss_fn(y_target, left_proba))
        return int(action[0, 0].numpy()), tape.gradient(loss, model.trainable_variables)

    def discount_rewards(rewards, discount_rate):
        discounted = np.array(rewards)
        for step in range(len(rewards) - 2, -1, -1):
            discounted[step] += discounted[step + 1] * discount_rate
        return discounted

    steps = [play_one_step(ROWS[k], 0.1 + 0.2 * k) for k in range(4)]
    weights = discount_rewards([10.0, 0.0, -50.0, 5.0], 0.8)
    all_mean_grads = []
    for index in range(len(model.trainable_variables)):
        mean = tf.reduce_mean(
            [weights[k] * grads[index] for k, (_, grads) in enumerate(steps)], axis=0
        )
        all_mean_grads.append(mean)
    optimizer = tf.keras.optimizers.Nadam(learning_rate=0.01)
    optimizer.apply_gradients(zip(all_mean_grads, model.trainable_variables))
    print([action for action, _ in steps], weights)
    return [all_mean_grads, model.get_weights()]


def deep_q(tf: Any) -> Any:
    model = tf.keras.models.Sequential(
        [tf.keras.layers.Dense(6, activation="elu", input_shape=(4,)), tf.keras.layers.Dense(2)]
    )
    filled(model)
    target = tf.keras.models.clone_model(model)
    target.set_weights(model.get_weights())
    next_q_values = target.predict(ROWS[8:16], verbose=0)
    best_next_actions = np.argmax(model.predict(ROWS[8:16], verbose=0), axis=1)
    next_mask = tf.one_hot(best_next_actions, 2).numpy()
    next_best = (next_q_values * next_mask).sum(axis=1)
    rewards, dones = np.arange(8.0, dtype="float32"), np.array([0, 0, 1, 0, 0, 1, 0, 0])
    target_q_values = (rewards + (1 - dones) * 0.95 * next_best).reshape(-1, 1)
    mask = tf.one_hot(np.arange(8) % 2, 2)
    loss_fn = tf.keras.losses.MeanSquaredError()
    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-2)
    with tf.GradientTape() as tape:
        all_q_values = model(ROWS[:8])
        q_values = tf.reduce_sum(all_q_values * mask, axis=1, keepdims=True)
        loss = tf.reduce_mean(loss_fn(target_q_values, q_values))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(best_next_actions, target_q_values.shape)
    return [loss, model.get_weights()]


# -- pairs ---------------------------------------------------------------------------------------------


def siamese_triplets(tf: Any) -> Any:
    layers = tf.keras.layers
    embedding = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3)], name="Embedding")

    class DistanceLayer(layers.Layer):
        def call(self, anchor, positive, negative):
            ap_distance = tf.reduce_sum(tf.square(anchor - positive), -1)
            an_distance = tf.reduce_sum(tf.square(anchor - negative), -1)
            return (ap_distance, an_distance)

    anchor_input = layers.Input(name="anchor", shape=(4,))
    positive_input = layers.Input(name="positive", shape=(4,))
    negative_input = layers.Input(name="negative", shape=(4,))
    distances = DistanceLayer()(
        embedding(anchor_input), embedding(positive_input), embedding(negative_input)
    )
    network = tf.keras.Model(
        inputs=[anchor_input, positive_input, negative_input], outputs=distances
    )
    filled(network)

    class SiameseModel(tf.keras.Model):
        def __init__(self, siamese_network, margin=0.5):
            super().__init__()
            self.siamese_network = siamese_network
            self.margin = margin
            self.loss_tracker = tf.keras.metrics.Mean(name="loss")

        def call(self, inputs):
            return self.siamese_network(inputs)

        def train_step(self, data):
            with tf.GradientTape() as tape:
                loss = self._compute_loss(data)
            gradients = tape.gradient(loss, self.siamese_network.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.siamese_network.trainable_weights))
            self.loss_tracker.update_state(loss)
            return {"loss": self.loss_tracker.result()}

        def _compute_loss(self, data):
            ap_distance, an_distance = self.siamese_network(data)
            loss = ap_distance - an_distance
            return tf.maximum(loss + self.margin, 0.0)

        @property
        def metrics(self):
            return [self.loss_tracker]

    model = SiameseModel(network)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.001))
    parts = ROWS[:8], ROWS[8:16], ROWS[16:24]
    dataset = tf.data.Dataset.zip(tuple(tf.data.Dataset.from_tensor_slices(p) for p in parts))
    dataset = dataset.map(lambda a, p, n: (a, p, n)).batch(4)
    losses = []
    for batch in dataset:
        with tf.GradientTape() as tape:
            loss = model._compute_loss(list(batch))
        losses.append([loss, tape.gradient(loss, network.trainable_weights)])
    cosine_similarity = tf.keras.metrics.CosineSimilarity()
    similarity = cosine_similarity(embedding(parts[0]), embedding(parts[1]))
    print(network.output_shape, [i.name for i in network.inputs])
    return [losses, similarity]


def siamese_contrastive(tf: Any) -> Any:
    K = tf.keras.backend

    def euclidean_distance(vects):
        x, y = vects
        sum_square = K.sum(K.square(x - y), axis=1, keepdims=True)
        return K.sqrt(K.maximum(sum_square, K.epsilon()))

    def contrastive_loss(y_true, y_pred):
        margin = 1
        square_pred = K.square(y_pred)
        margin_square = K.square(K.maximum(margin - y_pred, 0))
        return K.mean(y_true * square_pred + (1 - y_true) * margin_square)

    base = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3, "relu")])
    a, b = tf.keras.Input((4,)), tf.keras.Input((4,))
    distance = tf.keras.layers.Lambda(euclidean_distance, output_shape=(1,))([base(a), base(b)])
    model = tf.keras.Model([a, b], distance)
    filled(model)
    model.compile(loss=contrastive_loss, optimizer=tf.keras.optimizers.RMSprop(0.01))
    y = np.arange(16).reshape(16, 1) % 2
    history = model.fit(
        [ROWS[:16], ROWS[16:]],
        y.astype("float32"),
        batch_size=8,
        epochs=2,
        shuffle=False,
        verbose=0,
    )
    return [history.history["loss"], model.predict([ROWS[:2], ROWS[2:4]], verbose=0)]


# -- layers, losses, metrics and steps of one's own ------------------------------------------------------


def layer_in_a_functional_model(tf: Any) -> Any:
    tf.keras.backend.clear_session()

    class Linear(tf.keras.layers.Layer):
        def __init__(self, units=32, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.calls = 0

        def build(self, input_shape):
            print("building for", input_shape)
            self.w = self.add_weight(
                shape=(input_shape[-1], self.units), initializer="ones", trainable=True, name="w"
            )
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

        def call(self, inputs):
            self.calls += 1
            print("called with", inputs.shape)
            return tf.matmul(inputs, self.w) + self.b

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    inputs = tf.keras.Input((4,))
    layer = Linear(3, name="mine")
    outputs = layer(inputs)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(outputs))
    filled(model)
    y = model(ROWS[:2])
    print(layer.calls, outputs.shape, outputs.dtype, layer.dtype, layer.path)
    print([v.path for v in model.trainable_variables], sorted(layer.get_config()))
    copy = Linear.from_config(layer.get_config())
    print(copy.units, copy.name, inputs.dtype == "float32")
    return y


def layer_with_state(tf: Any) -> Any:
    class ComputeSum(tf.keras.layers.Layer):
        def __init__(self, input_dim):
            super().__init__()
            self.total = self.add_weight(
                initializer="zeros", shape=(input_dim,), trainable=False, name="total"
            )

        def call(self, inputs):
            self.total.assign_add(tf.reduce_sum(inputs, axis=0))
            return self.total

    x = tf.ones((2, 2))
    my_sum = ComputeSum(2)
    print(my_sum(x).numpy(), my_sum(x).numpy())
    print("weights:", len(my_sum.weights), "non-trainable:", len(my_sum.non_trainable_weights))
    print("trainable_weights:", my_sum.trainable_weights)
    inputs = tf.keras.Input((2,))
    tf.keras.Model(inputs, my_sum(inputs))
    return my_sum.total


def losses_of_layers(tf: Any) -> Any:
    class ActivityRegularizationLayer(tf.keras.layers.Layer):
        def __init__(self, rate=1e-2):
            super().__init__()
            self.rate = rate

        def call(self, inputs):
            self.add_loss(self.rate * tf.reduce_mean(inputs))
            return inputs

    inputs = tf.keras.Input(shape=(4,))
    x = tf.keras.layers.Dense(3, kernel_regularizer=tf.keras.regularizers.l2(1e-3))(inputs)
    x = ActivityRegularizationLayer()(x)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
    filled(model)
    print(len(model.losses))
    y = model(ROWS[:4])
    print(len(model.losses))
    first = list(model.losses)
    model(ROWS[4:8])
    model.compile("sgd", loss="mse")
    history = model.fit(ROWS, ROWS[:, :1], batch_size=16, shuffle=False, verbose=0)
    return [y, first, history.history["loss"]]


def loss_and_metric_of_ones_own(tf: Any) -> Any:
    class CustomMSE(tf.keras.losses.Loss):
        def __init__(self, regularization_factor=0.1, name="custom_mse"):
            super().__init__(name=name)
            self.regularization_factor = regularization_factor

        def call(self, y_true, y_pred):
            mse = tf.math.reduce_mean(tf.square(y_true - y_pred), axis=-1)
            reg = tf.math.reduce_mean(tf.square(0.5 - y_pred), axis=-1)
            return mse + reg * self.regularization_factor

    class CategoricalTruePositives(tf.keras.metrics.Metric):
        def __init__(self, name="categorical_true_positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.true_positives = self.add_variable(shape=(), name="ctp", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            y_pred = tf.reshape(tf.argmax(y_pred, axis=1), shape=(-1, 1))
            values = tf.cast(y_true, "int32") == tf.cast(y_pred, "int32")
            values = tf.cast(values, "float32")
            if sample_weight is not None:
                sample_weight = tf.cast(sample_weight, "float32")
                values = tf.multiply(values, sample_weight)
            self.true_positives.assign_add(tf.reduce_sum(values))

        def result(self):
            return self.true_positives

        def reset_state(self):
            self.true_positives.assign(0)

    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    filled(model)
    model.compile(
        optimizer=tf.keras.optimizers.RMSprop(learning_rate=1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[CategoricalTruePositives()],
    )
    history = model.fit(
        ROWS, CLASSES.reshape(-1, 1), batch_size=8, epochs=2, shuffle=False, verbose=0
    )
    own = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(3)])
    filled(own)
    own.compile(optimizer="sgd", loss=CustomMSE())
    targets = tf.one_hot(CLASSES, depth=3)
    second = own.fit(ROWS, targets, batch_size=8, epochs=1, shuffle=False, verbose=0)
    print(sorted(history.history), CustomMSE().name)
    return [
        history.history["categorical_true_positives"],
        history.history["loss"],
        second.history["loss"],
    ]


def step_with_clipping(tf: Any) -> Any:
    class CustomModel(tf.keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            gradients = tape.gradient(loss, self.trainable_variables)
            gradients, norm = tf.clip_by_global_norm(gradients, 0.1)
            self.optimizer.apply(gradients, self.trainable_variables)
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics} | {"norm": norm}

    inputs = tf.keras.Input(shape=(4,))
    model = CustomModel(inputs, tf.keras.layers.Dense(1)(inputs))
    filled(model)
    model.compile(optimizer="adam", loss="mse", metrics=["mae"])
    history = model.fit(ROWS, ROWS[:, :1] * 3, epochs=2, batch_size=16, shuffle=False, verbose=0)
    print(sorted(history.history))
    return [history.history[name] for name in sorted(history.history)]


def accumulated_gradients(tf: Any) -> Any:
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    filled(model)
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
    n_gradients = tf.constant(4, dtype=tf.int32)
    n_acum_step = tf.Variable(0, dtype=tf.int32, trainable=False)
    accumulated = [
        tf.Variable(tf.zeros_like(v, dtype=tf.float32), trainable=False)
        for v in model.trainable_variables
    ]

    def apply_accu_gradients():
        optimizer.apply_gradients(zip(accumulated, model.trainable_variables))
        n_acum_step.assign(0)
        for v in accumulated:
            v.assign(tf.zeros_like(v, dtype=tf.float32))

    for k in range(8):
        x, y = ROWS[4 * k : 4 * k + 4], ROWS[4 * k : 4 * k + 4, :1]
        n_acum_step.assign_add(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        for total, gradient in zip(accumulated, tape.gradient(loss, model.trainable_variables)):
            total.assign_add(gradient)
        tf.cond(tf.equal(n_acum_step, n_gradients), apply_accu_gradients, lambda: None)
    print(n_acum_step.numpy(), optimizer.iterations.numpy())
    return model.get_weights()


def clipping_of_each_kind(tf: Any) -> Any:
    x = tf.Variable([3.0, -4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x**3)
    grad = tape.gradient(y, x)
    clipped = [tf.clip_by_value(grad, -1, 1), tf.clip_by_norm(grad, 2.0)]
    clipped += list(tf.clip_by_global_norm([grad, grad * 2], 1.0)[0])
    steps = []
    for options in ({"clipnorm": 1.0}, {"clipvalue": 0.5}, {"global_clipnorm": 0.2}):
        v = tf.Variable([3.0, -4.0])
        optimizer = tf.keras.optimizers.SGD(learning_rate=0.1, **options)
        optimizer.apply_gradients([(grad, v)])
        steps.append(v)
    return [clipped, steps, tf.linalg.global_norm([grad, grad])]


def two_losses_weighed(tf: Any) -> Any:
    inputs = tf.keras.Input((4,), name="x")
    hidden = tf.keras.layers.Dense(5, activation="relu")(inputs)
    number = tf.keras.layers.Dense(1, name="number")(hidden)
    kind = tf.keras.layers.Dense(3, activation="softmax", name="kind")(hidden)
    model = tf.keras.Model(inputs, {"number": number, "kind": kind})
    filled(model)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss={"number": "mse", "kind": "sparse_categorical_crossentropy"},
        loss_weights={"number": 0.3, "kind": 1.0},
        metrics={"kind": ["accuracy"]},
    )
    history = model.fit(
        {"x": ROWS},
        {"number": ROWS[:, :1], "kind": CLASSES},
        batch_size=16,
        epochs=2,
        shuffle=False,
        verbose=0,
    )
    print(sorted(history.history))
    results = model.evaluate(
        ROWS, {"number": ROWS[:, :1], "kind": CLASSES}, verbose=0, return_dict=True
    )
    print(sorted(results))
    return [history.history["loss"], history.history["kind_accuracy"], results["loss"]]


def loop_from_scratch(tf: Any) -> Any:
    inputs = tf.keras.Input(shape=(4,), name="digits")
    x1 = tf.keras.layers.Dense(6, activation="relu")(inputs)
    outputs = tf.keras.layers.Dense(3, name="predictions")(x1)
    model = tf.keras.Model(inputs=inputs, outputs=outputs)
    filled(model)
    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-2)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    train_acc_metric = tf.keras.metrics.SparseCategoricalAccuracy()
    val_acc_metric = tf.keras.metrics.SparseCategoricalAccuracy()
    train_dataset = tf.data.Dataset.from_tensor_slices((ROWS, CLASSES)).batch(8)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss_value = loss_fn(y, logits)
        grads = tape.gradient(loss_value, model.trainable_weights)
        optimizer.apply(grads, model.trainable_weights)
        train_acc_metric.update_state(y, logits)
        return loss_value

    @tf.function
    def test_step(x, y):
        val_logits = model(x, training=False)
        val_acc_metric.update_state(y, val_logits)

    for epoch in range(2):
        print(f"\nStart of epoch {epoch}")
        for step, (x_batch_train, y_batch_train) in enumerate(train_dataset):
            loss_value = train_step(x_batch_train, y_batch_train)
            if step % 2 == 0:
                print(f"Training loss (for 1 batch) at step {step}: {float(loss_value):.4f}")
        print(f"Training acc over epoch: {float(train_acc_metric.result()):.4f}")
        train_acc_metric.reset_state()
    for x_batch_val, y_batch_val in train_dataset:
        test_step(x_batch_val, y_batch_val)
    print(f"Validation acc: {float(val_acc_metric.result()):.4f}")
    return model.get_weights()


# -- texts ---------------------------------------------------------------------------------------------


def text_of_characters(tf: Any) -> Any:
    tokenizer = tf.keras.preprocessing.text.Tokenizer(char_level=True)
    tokenizer.fit_on_texts([TEXT])
    [encoded] = np.array(tokenizer.texts_to_sequences([TEXT])) - 1
    max_id = len(tokenizer.word_index)
    window = 7
    dataset = tf.data.Dataset.from_tensor_slices(encoded)
    dataset = dataset.window(window, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda w: w.batch(window))
    dataset = dataset.batch(8).map(lambda windows: (windows[:, :-1], windows[:, 1:]))
    dataset = dataset.map(lambda x, y: (tf.one_hot(x, depth=max_id), y))
    model = tf.keras.models.Sequential(
        [
            tf.keras.Input((None, max_id)),
            tf.keras.layers.GRU(6, return_sequences=True),
            tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(max_id, activation="softmax")),
        ]
    )
    filled(model)
    model.compile(loss="sparse_categorical_crossentropy", optimizer="adam")
    for x, y in dataset.take(1):
        print(x.shape, y.shape)
    losses = [model.train_on_batch(x, y) for x, y in dataset.take(2)]

    def preprocess(texts):
        x = np.array(tokenizer.texts_to_sequences(texts)) - 1
        return tf.one_hot(x, max_id)

    y_proba = model.predict(preprocess(["the c"]), verbose=0)[0, -1:, :]
    rescaled_logits = tf.math.log(y_proba) / 0.5
    char_id = tf.argmax(rescaled_logits, axis=-1) + 1
    print(tokenizer.sequences_to_texts([[1, 2, 3]])[0], max_id, tokenizer.document_count)
    print(tokenizer.sequences_to_texts(char_id.numpy()[None]))
    return [losses, rescaled_logits]


def text_with_a_model_of_states(tf: Any) -> Any:
    vocab = sorted(set(TEXT))
    char2idx = {u: i for i, u in enumerate(vocab)}
    text_as_int = np.array([char2idx[c] for c in TEXT])

    class MyModel(tf.keras.Model):
        def __init__(self, vocab_size, embedding_dim, rnn_units):
            super().__init__()
            self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
            self.gru = tf.keras.layers.GRU(rnn_units, return_sequences=True, return_state=True)
            self.dense = tf.keras.layers.Dense(vocab_size)

        def call(self, inputs, states=None, return_state=False, training=False):
            x = self.embedding(inputs, training=training)
            if states is None:
                states = tf.zeros((tf.shape(x)[0], 6))
            x, states = self.gru(x, initial_state=states, training=training)
            x = self.dense(x, training=training)
            if return_state:
                return x, states
            return x

    model = MyModel(len(vocab), 4, 6)
    ids = text_as_int[:20].reshape(2, 10)
    model(ids)
    filled(model)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    # Not Adam: Keras squares the gradients of a row that occurs twice one by one.
    optimizer = tf.keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        predictions = model(ids[:, :-1], training=True)
        mean_loss = loss(ids[:, 1:], predictions)
    grads = tape.gradient(mean_loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    states, next_char, result = None, np.array([[char2idx["t"]]]), []
    for _ in range(4):
        logits, states = model(next_char, states=states, return_state=True)
        next_char = tf.argmax(logits[:, -1, :], axis=-1)[:, None]
        result.append(vocab[int(next_char[0, 0])])
    print(repr("".join(result)), predictions.shape, f"{np.exp(mean_loss.numpy()):.3f}")
    return [mean_loss, states]


def reviews_by_lstm(tf: Any) -> Any:
    texts = ["a good film", "not a good film", "bad, bad film!", "good good"]
    tokenizer = tf.keras.preprocessing.text.Tokenizer(num_words=5, oov_token="<OOV>")
    tokenizer.fit_on_texts(texts)
    print(tokenizer.word_index)
    sequences = tokenizer.texts_to_sequences(texts)
    print(sequences, tokenizer.texts_to_matrix(texts[:2], mode="count").tolist())
    padded = tf.keras.preprocessing.sequence.pad_sequences(
        sequences, maxlen=4, padding="post", truncating="post"
    )
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(5, 3, mask_zero=True),
            tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4)),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model(padded)
    filled(model)
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(
        padded, np.array([1, 0, 0, 1]), epochs=2, batch_size=2, shuffle=False, verbose=0
    )
    return [history.history["loss"], model.predict(padded, verbose=0)]


def translation_step(tf: Any) -> Any:
    layers = tf.keras.layers
    encoder_inputs = tf.keras.Input(shape=(None, 4))
    _, state_h, state_c = layers.LSTM(3, return_state=True)(encoder_inputs)
    decoder_inputs = tf.keras.Input(shape=(None, 4))
    decoder_outputs, _, _ = layers.LSTM(3, return_sequences=True, return_state=True)(
        decoder_inputs, initial_state=[state_h, state_c]
    )
    outputs = layers.Dense(4, activation="softmax")(decoder_outputs)
    model = tf.keras.Model([encoder_inputs, decoder_inputs], outputs)
    filled(model)
    x, y = ROWS[:16].reshape(4, 4, 4), ROWS[16:].reshape(4, 4, 4)
    target = tf.nn.softmax(y)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.categorical_crossentropy(target, model([x, y])))
    print(model.output_shape, len(model.layers))
    return [loss, tape.gradient(loss, model.trainable_variables)]


def attention_of_ones_own(tf: Any) -> Any:
    class BahdanauAttention(tf.keras.layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.W1 = tf.keras.layers.Dense(units)
            self.W2 = tf.keras.layers.Dense(units)
            self.V = tf.keras.layers.Dense(1)

        def call(self, query, values):
            query_with_time_axis = tf.expand_dims(query, 1)
            score = self.V(tf.nn.tanh(self.W1(query_with_time_axis) + self.W2(values)))
            attention_weights = tf.nn.softmax(score, axis=1)
            context_vector = attention_weights * values
            context_vector = tf.reduce_sum(context_vector, axis=1)
            return context_vector, attention_weights

    layer = BahdanauAttention(5)
    query, values = tf.constant(ROWS[:4]), tf.constant(ROWS[8:].reshape(4, 6, 4))
    layer(query, values)
    filled(layer)
    with tf.GradientTape() as tape:
        tape.watch([query, values])
        context, weights = layer(query, values)
        loss = tf.reduce_sum(context**2)
    print("(batch size, units) {}".format(context.shape), weights.shape)
    return [context, weights, tape.gradient(loss, [query, values])]


def positional_transformer(tf: Any) -> Any:
    def positional_encoding(length, depth):
        depth = depth / 2
        positions = np.arange(length)[:, np.newaxis]
        depths = np.arange(depth)[np.newaxis, :] / depth
        angle_rads = positions * (1 / (10000**depths))
        encoding = np.concatenate([np.sin(angle_rads), np.cos(angle_rads)], axis=-1)
        return tf.cast(encoding, dtype=tf.float32)

    class Block(tf.keras.layers.Layer):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.mha = tf.keras.layers.MultiHeadAttention(num_heads=num_heads, key_dim=d_model)
            self.layernorm = tf.keras.layers.LayerNormalization()
            self.add = tf.keras.layers.Add()
            self.seq = tf.keras.Sequential(
                [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(d_model)]
            )

        def call(self, x):
            attn_output = self.mha(query=x, value=x, key=x, use_causal_mask=True)
            x = self.layernorm(self.add([x, attn_output]))
            return self.add([x, self.seq(x)])

    x = tf.constant(ROWS.reshape(4, 8, 4))
    x *= tf.math.sqrt(tf.cast(4, tf.float32))
    x = x + positional_encoding(8, 4)[tf.newaxis, :8, :]
    block = Block(4, 2)
    block(x)
    filled(block)
    with tf.GradientTape() as tape:
        y = block(x)
        loss = tf.reduce_mean(y**2)
    grads = tape.gradient(loss, block.trainable_variables)
    return [y, [tf.norm(g) for g in grads]]


# -- data and helpers ----------------------------------------------------------------------------------


def windows_of_a_series(tf: Any) -> Any:
    series = np.sin(np.arange(20) / 3).astype("float32")
    dataset = tf.keras.utils.timeseries_dataset_from_array(
        series[:-3], targets=series[3:], sequence_length=3, batch_size=4
    )
    for x, y in dataset.take(1):
        print(x.shape, y.shape)
    generator = tf.keras.preprocessing.sequence.TimeseriesGenerator(
        series, series, length=4, sampling_rate=2, stride=2, batch_size=3
    )
    print(len(generator), [part.shape for part in generator[1]])
    table = tf.keras.preprocessing.sequence.make_sampling_table(5)
    pairs, labels = tf.keras.preprocessing.sequence.skipgrams(
        [1, 2, 0, 3], 5, window_size=2, negative_samples=0, shuffle=False
    )
    print(pairs, labels)
    words = tf.keras.preprocessing.text.text_to_word_sequence("To be, or not to be?")
    print(words, tf.keras.preprocessing.text.hashing_trick("to be", 50, hash_function="md5"))
    return [x, y, generator[1], table]


def backend_of_keras_2(tf: Any) -> Any:
    K = tf.keras.backend

    def rmse(y_true, y_pred):
        return K.sqrt(K.mean(K.square(y_pred - y_true), axis=-1))

    def dice_coef(y_true, y_pred, smooth=1):
        y_true_f = K.flatten(y_true)
        y_pred_f = K.flatten(y_pred)
        intersection = K.sum(y_true_f * y_pred_f)
        return (2.0 * intersection + smooth) / (K.sum(y_true_f) + K.sum(y_pred_f) + smooth)

    def focal_loss(y_true, y_pred, gamma=2.0, alpha=0.25):
        y_pred = K.clip(y_pred, K.epsilon(), 1.0 - K.epsilon())
        p_t = tf.where(K.equal(y_true, 1), y_pred, 1 - y_pred)
        alpha_factor = K.ones_like(y_true) * alpha
        alpha_t = tf.where(K.equal(y_true, 1), alpha_factor, 1 - alpha_factor)
        return K.mean(K.sum(-alpha_t * K.pow((1 - p_t), gamma) * K.log(p_t), axis=1))

    K.clear_session()
    K.set_floatx("float32")
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1, "sigmoid")])
    filled(model)
    y = (ROWS[:, :1] > 0).astype("float32")
    results = []
    for loss in (rmse, focal_loss, lambda a, b: 1 - dice_coef(a, b)):
        model.compile(optimizer="sgd", loss=loss, metrics=[dice_coef])
        results.append(model.evaluate(ROWS, y, batch_size=16, verbose=0))
    rate = K.variable(0.1)
    K.set_value(rate, 0.01)
    print(K.get_value(rate), K.int_shape(model.inputs[0]), K.image_data_format(), K.floatx())
    print(model.layers[0].name, K.get_value(K.sum(K.constant([[1, 2], [3, 4]]), axis=0)))
    return results


def operations_of_keras_3(tf: Any) -> Any:
    ops = tf.keras.ops

    class Attention(tf.keras.layers.Layer):
        def call(self, q, k, v):
            scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) / ops.sqrt(ops.shape(q)[-1])
            weights = ops.softmax(scores, axis=-1)
            return ops.einsum("bij,bjd->bid", weights, v)

    x = ROWS.reshape(4, 8, 4)
    inputs = tf.keras.Input((8, 4))
    model = tf.keras.Model(inputs, Attention()(inputs, inputs, inputs))
    y = model(x)
    z = ops.where(y > 0, ops.log1p(ops.abs(y)), ops.zeros_like(y))
    median = ops.median(y, axis=1)
    print(ops.shape(z), model.output_shape, ops.convert_to_numpy(ops.argmax(z[0], axis=0)).tolist())
    return [y, z, median, ops.mean(ops.square(y - ops.mean(y, axis=1, keepdims=True)))]


def policies_of_dtypes(tf: Any) -> Any:
    policy = tf.keras.mixed_precision.Policy("float64")
    tf.keras.mixed_precision.set_global_policy(policy)
    layer = tf.keras.layers.Dense(2)
    y = layer(np.ones((1, 3)))
    print(layer.dtype, layer.compute_dtype, y.dtype.name, layer.dtype_policy.name)
    print(tf.keras.mixed_precision.global_policy().name, tf.keras.backend.floatx())
    tf.keras.mixed_precision.set_global_policy("float32")
    print(tf.keras.layers.Dense(2, dtype="float16")(np.ones((1, 3))).dtype.name)
    return tf.keras.config.dtype_policy().name


def batches_of_a_sequence(tf: Any) -> Any:
    class Rows(tf.keras.utils.Sequence):
        def __init__(self, x, y, batch_size, **kwargs):
            super().__init__(**kwargs)
            self.x, self.y = x, y
            self.batch_size = batch_size

        def __len__(self):
            return int(np.ceil(len(self.x) / self.batch_size))

        def __getitem__(self, idx):
            low = idx * self.batch_size
            return self.x[low : low + self.batch_size], self.y[low : low + self.batch_size]

    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    filled(model)
    model.compile("sgd", "mse")
    history = model.fit(Rows(ROWS, ROWS[:, :1], 10), epochs=2, verbose=0, shuffle=False)
    left, right = tf.keras.utils.split_dataset(ROWS, left_size=0.75)
    print(len(Rows(ROWS, ROWS, 10)), len(list(left)), len(list(right)))
    return [history.history["loss"], model.evaluate(Rows(ROWS, ROWS[:, :1], 10), verbose=0)]


def strings_of_tensors(tf: Any) -> Any:
    scalar = tf.constant("Gray wolf")
    several = tf.constant(["Gray wolf", "Quick brown fox", "Lazy dog"])
    print(scalar, several)
    print(repr(scalar), repr(several), repr(several[1]))
    print(several.shape, several.dtype, several[0].numpy(), len(several))
    print(tf.strings.split(scalar, sep=" "))
    print(tf.strings.to_number(tf.strings.split(tf.constant("1 10 100"), " ")))
    print(
        tf.strings.join(["abc", "def"]),
        tf.strings.join([several, several], separator="-")[2].numpy(),
    )
    print(
        tf.strings.as_string([3.14159, 2.72]).numpy(), tf.as_string(7), tf.as_string([True]).numpy()
    )
    print(tf.strings.as_string(tf.constant([1.5, 100.0]), precision=1), tf.strings.length(several))
    print(tf.strings.lower(several), tf.strings.upper(scalar), tf.strings.strip([" a "]).numpy())
    print(
        tf.strings.substr(several, 0, 4).numpy(),
        tf.strings.reduce_join(several, separator=",").numpy(),
    )
    print(
        tf.strings.regex_replace(several, "o", "0").numpy(),
        tf.strings.length("\u00fc", unit="UTF8_CHAR").numpy(),
    )
    print(several == "Lazy dog", scalar + "!", tf.constant([["a", "b"], ["c", "d"]]))
    print(tf.strings.format("x = {}", tf.constant([1, 2])).numpy().decode())
    print([word.decode() for word in several.numpy()], scalar.dtype == tf.string)
    for word in several:
        print(word.numpy().decode("utf-8"), end=" ")
    return tf.strings.to_number(["1.5", "2"], tf.float64)
