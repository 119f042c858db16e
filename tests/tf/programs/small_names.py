"""Small names of TensorFlow and Keras that notebooks use: tensor arrays, slices, images, operations."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(0)
PICTURE = RNG.uniform(0, 1, (5, 4, 3)).astype("float32")
BATCH = RNG.uniform(0, 1, (2, 5, 4, 2)).astype("float32")
BYTES = RNG.integers(0, 256, (5, 4, 3)).astype("uint8")
COLORS = RNG.uniform(0, 1, (2, 3, 2, 3)).astype("float32")
ROWS = RNG.normal(size=(4, 3)).astype("float32")


def with_gradient(tf: Any, function: Any, x: Any) -> Any:
    """The value of a function, and the gradient of the sum of its cosines."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        total = sum(tf.reduce_sum(tf.cos(part)) for part in (y if isinstance(y, tuple) else [y]))
    return [y, tape.gradient(total, x)]


def tensor_arrays(tf: Any) -> Any:
    def squares(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
        for n in range(4):
            array = array.write(n, x[n] * float(n + 1))
        last = array.read(3)
        return array.stack() + last

    def step(n: Any, array: Any) -> Any:
        return n + 1, array.write(n, tf.cast(n, tf.float32) * 2.0)

    looped = tf.TensorArray(tf.float32, size=3)
    _, looped = tf.while_loop(lambda n, array: n < 3, step, (tf.constant(0), looped))
    fixed = tf.TensorArray(tf.float32, size=3, element_shape=(2,))
    fixed.write(1, [1.0, 2.0])
    parts = tf.TensorArray(tf.int32, 0, dynamic_size=True).unstack([[1, 2], [3, 4], [5, 6]])
    print(fixed.size(), parts.element_shape, parts.dtype, fixed.dynamic_size)
    return [
        with_gradient(tf, squares, ROWS),
        fixed.stack(),
        looped.stack(),
        parts.concat(),
        parts.gather([2, 0]),
        tf.TensorArray(tf.float32, 2).scatter([1, 0], [[1.0], [2.0]]).stack(),
        tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 2]).read(1),
    ]


def bad_tensor_arrays(tf: Any) -> Any:
    array = tf.TensorArray(tf.float32, size=1)
    array.write(0, 1.0)
    array.read(0)
    for attempt in (
        lambda: array.read(0),
        lambda: array.write(1, 1.0),
        lambda: array.read(2),
        lambda: array.write(0, [1.0]),
    ):
        try:
            attempt()
        except (ValueError, tf.errors.OutOfRangeError, tf.errors.InvalidArgumentError) as error:
            print(type(error).__name__)


def strided_slices(tf: Any) -> Any:
    x = tf.reshape(tf.range(60.0), (3, 4, 5))
    return [
        tf.strided_slice(x, [0, 1], [2, 3]),
        tf.strided_slice(x, [2, 3, 4], [0, 0, 0], [-1, -2, -1]),
        tf.strided_slice(x, [1, 0], [2, 2], begin_mask=2, end_mask=1, shrink_axis_mask=0),
        tf.strided_slice(x, [1, 0, 0], [2, 0, 3], ellipsis_mask=2, shrink_axis_mask=1),
        tf.strided_slice(x, [0, 1], [0, 3], new_axis_mask=1),
        with_gradient(tf, lambda x: tf.strided_slice(x, [0, 0], [4, 3], [2, 1]), ROWS),
    ]


def resizing(tf: Any) -> Any:
    results = []
    for method in ("bilinear", "nearest", "bicubic", "lanczos3", "lanczos5"):
        for size in ((3, 2), (6, 7)):
            results.append(
                with_gradient(tf, lambda x: tf.image.resize(x, size, method=method), BATCH)  # noqa: B023
            )
    for method in ("bilinear", "bicubic"):
        results.append(tf.image.resize(BATCH, (3, 2), method=method, antialias=True))
    return [
        *results,
        tf.image.resize(PICTURE, (4, 7), preserve_aspect_ratio=True),
        tf.image.resize(BYTES, (3, 7)),
        tf.image.resize(BYTES, (3, 7), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR),
        tf.image.resize(BYTES, (5, 4)),
        tf.image.resize_with_pad(PICTURE, 6, 9),
        tf.image.resize_with_pad(BATCH, 4, 3),
    ]


def crops_and_flips(tf: Any) -> Any:
    i = tf.image
    return [
        with_gradient(tf, i.flip_left_right, PICTURE),
        with_gradient(tf, i.flip_up_down, BATCH),
        with_gradient(tf, i.rot90, PICTURE),
        i.rot90(BATCH, k=3),
        i.transpose(PICTURE),
        with_gradient(tf, lambda x: i.central_crop(x, 0.5), BATCH),
        i.central_crop(PICTURE, 0.875),
        i.crop_to_bounding_box(BATCH, 1, 2, 3, 2),
        i.pad_to_bounding_box(PICTURE, 1, 2, 9, 8),
        with_gradient(tf, lambda x: i.resize_with_crop_or_pad(x, 4, 8), PICTURE),
        i.resize_with_crop_or_pad(BATCH, 8, 3),
        i.resize_with_crop_or_pad(BYTES, 3, 6),
    ]


def colors(tf: Any) -> Any:
    i = tf.image
    results = []
    for change in (
        lambda x: i.adjust_brightness(x, 0.3),
        lambda x: i.adjust_contrast(x, 1.7),
        lambda x: i.adjust_gamma(x, 0.7, 1.2),
        lambda x: i.adjust_saturation(x, 0.4),
        lambda x: i.adjust_hue(x, 0.3),
        i.rgb_to_grayscale,
    ):
        results += [change(tf.constant(x)) for x in (PICTURE, COLORS, BYTES)]
    for convert in (
        i.rgb_to_hsv, i.rgb_to_yiq, i.rgb_to_yuv, i.hsv_to_rgb, i.yiq_to_rgb, i.yuv_to_rgb,
        i.per_image_standardization,
    ):  # fmt: skip
        results.append(convert(tf.constant(COLORS)))
    return [
        *results,
        with_gradient(tf, i.rgb_to_hsv, PICTURE),
        with_gradient(tf, i.rgb_to_grayscale, PICTURE),
        with_gradient(tf, i.per_image_standardization, PICTURE),
        i.per_image_standardization(tf.constant(BYTES)),
        i.grayscale_to_rgb(tf.constant(PICTURE[..., :1])),
        i.rgb_to_hsv([[[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]]),
    ]


def image_dtypes(tf: Any) -> Any:
    convert = tf.image.convert_image_dtype
    return [
        convert(BYTES, tf.float32),
        convert(PICTURE, tf.uint8),
        convert([[[1.5, -0.5, 0.999]]], tf.uint8, saturate=True),
        convert(BYTES, tf.uint16),
        convert(tf.constant([[[3000]]], tf.uint16), tf.uint8),
        convert(PICTURE, tf.float64),
        convert(BYTES, tf.uint8),
    ]


def comparisons(tf: Any) -> Any:
    other = np.clip(BATCH + 0.1 * np.random.default_rng(1).normal(size=BATCH.shape), 0, 1).astype(
        "float32"
    )
    wide = np.tile(BATCH[:1], (1, 3, 3, 1))
    rows = np.clip(wide + 0.05 * np.arange(12)[:, None], 0, 1).astype("float32")
    i = tf.image
    return [
        with_gradient(tf, lambda x: i.psnr(x, other, max_val=1.0), BATCH),
        with_gradient(tf, lambda x: i.ssim(x, rows, max_val=1.0), wide),
        i.ssim(
            tf.constant(wide),
            tf.constant(rows),
            1.0,
            filter_size=5,
            filter_sigma=1.0,
            k1=0.02,
            return_index_map=True,
        ),
        i.psnr(tf.constant(BYTES), tf.constant(BYTES[::-1]), max_val=255),
        with_gradient(tf, i.total_variation, BATCH),
        i.total_variation(tf.constant(PICTURE)),
        list(i.image_gradients(tf.constant(BATCH))),
    ]


def padded_sequences(tf: Any) -> Any:
    pad = tf.keras.preprocessing.sequence.pad_sequences
    lists = [[1, 2, 3], [4], [], [5, 6]]
    return [
        pad(lists),
        pad(lists, padding="post", value=-1),
        pad(lists, maxlen=2),
        pad(lists, maxlen=2, truncating="post", dtype="float32"),
        tf.keras.utils.pad_sequences([[[1, 2]], [[3, 4], [5, 6]]], padding="post"),
    ]


def keras_operations(tf: Any) -> Any:
    o = tf.keras.ops
    x, n, b = tf.constant(ROWS), tf.constant([[1, 2, 3]]), tf.constant([True, False, True])
    results = []
    for name in (
        "abs exp square sin cos tanh floor ceil sign negative isnan relu sigmoid softmax log_softmax silu gelu elu selu "
        "leaky_relu softplus softsign sum mean max min prod std var any all argmax argmin cumsum sort argsort ravel "
        "zeros_like ones_like logsumexp hard_sigmoid erf shape norm transpose log_sigmoid relu6"
    ).split():
        results.append(getattr(o, name)(x))
    for (
        name
    ) in "sqrt exp log square abs mean sum max sin negative sign argmax cumsum std prod".split():
        results.append(getattr(o, name)(n))
    for name in (
        "add subtract multiply divide maximum minimum power mod floor_divide equal greater less_equal not_equal matmul"
    ).split():
        function = getattr(o, name)
        other = tf.constant(ROWS.T) if name == "matmul" else n
        results += [function(x, other), function(n, 2 if name != "matmul" else n[0])]
        if name != "matmul":
            results += [function(x, 1.5), function(2, x)]
    results += [
        o.divide(n, 2), o.add(n, 0.5), o.where(b, x, 0.0), o.where(x > 0, n, x), o.clip(x, -0.5, 0.5),
        o.mean(x, axis=-1, keepdims=True), o.sum(x, axis=(0, 1)), o.argmax(x, axis=1),
        o.reshape(x, (3, -1)), o.expand_dims(x, 0), o.squeeze(n, 0), o.concatenate([x, n], axis=0),
        o.stack([x, x], axis=-1), o.split(x, 2, axis=0), o.pad(x, [[1, 0], [0, 1]]), o.tile(n, (2, 1)),
        o.repeat(n, 2, axis=1), o.take(x, [2, 0], axis=0), o.take_along_axis(x, o.argsort(x), axis=1),
        o.arange(4), o.arange(1.0, 2.0, 0.25), o.linspace(0, 1, 5), o.zeros((2,)), o.ones((2,), dtype="int32"),
        o.full((2,), 3), o.full_like(x, 2), o.eye(2), o.one_hot([0, 2], 3), o.cast(x, "int32"),
        o.convert_to_tensor([1, 2]), o.convert_to_tensor(1.5, dtype="float64"), o.einsum("ij,kj->ik", x, x),
        o.tensordot(x, x, axes=[[1], [1]]), o.dot(x, tf.transpose(x)), o.outer([1.0, 2.0], [3.0]),
        o.moments(x, axes=[0]), o.flip(x, 1), o.roll(x, 1, axis=0), o.tril(x), o.diag([1.0, 2.0]),
        o.trace(x), o.round(x), o.broadcast_to(n, (2, 3)), o.swapaxes(x, 0, 1), o.moveaxis(x, 0, 1),
        o.logical_and(b, [True, True, False]), o.logical_not(b), o.norm(x, axis=1), o.max(x, axis=0),
        o.sparse_categorical_crossentropy([0, 1, 2, 0], x, from_logits=True),
        o.categorical_crossentropy(o.one_hot([0, 1, 2, 0], 3), o.softmax(x)),
        o.stop_gradient(x), o.var(x, axis=0), o.size(x), o.log1p(o.abs(x)), o.rsqrt(o.abs(x)),
    ]  # fmt: skip
    return [
        results,
        with_gradient(tf, lambda x: o.softmax(o.matmul(o.square(x), o.transpose(x))), ROWS),
        with_gradient(tf, lambda x: o.mean(o.where(x > 0, x, o.exp(x)), axis=0), ROWS),
    ]


def names_at_the_top_of_keras(tf: Any) -> Any:
    k = tf.keras

    class Scale(k.Layer):  # type: ignore[misc, name-defined]
        def build(self, shape: Any) -> None:
            self.factor = k.Variable(k.initializers.Ones(), shape=(3,), name="factor")

        def call(self, x: Any) -> Any:
            return k.ops.multiply(x, self.factor)

    layer = Scale()
    loss = k.losses.MeanSquaredError(reduction=k.losses.Reduction.NONE)
    draws = k.random.uniform((2, 3), seed=1), k.random.randint((4,), 0, 3, seed=2)
    print(k.losses.Reduction.SUM, k.losses.Reduction.SUM_OVER_BATCH_SIZE)
    print([tuple(x.shape) for x in draws], draws[0].dtype, draws[1].dtype)
    return [
        layer(ROWS),
        len(layer.trainable_variables),
        loss(ROWS, 2 * ROWS),
        k.Variable(2.0).numpy(),
        k.Variable([1, 2]).numpy(),
        k.Variable(np.zeros((2,)), dtype="float32").numpy(),
    ]
