"""Random tensors: shapes, dtypes, limits and seeds; the numbers themselves are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tapemagic import tf


@pytest.mark.parametrize(
    "draw",
    [
        lambda: tf.random.normal([4, 3]),
        lambda: tf.random.uniform([4, 3]),
        lambda: tf.random.truncated_normal([4, 3]),
        lambda: tf.random.shuffle(tf.range(20)),
        lambda: tf.random.normal([4, 3], seed=3),
        lambda: tf.random.gamma([4], 2.0),
        lambda: tf.random.poisson([4], [3.0]),
        lambda: tf.random.categorical([[0.0, 1.0]], 9),
        lambda: tf.random.get_global_generator().normal([3]),
        lambda: tf.nn.dropout(tf.ones(30), 0.5),
    ],
)
def test_a_seed_repeats_the_numbers(draw) -> None:
    """After set_seed a program draws the same numbers again, each call others."""
    tf.random.set_seed(5)
    first, second = draw().numpy(), draw().numpy()
    tf.random.set_seed(5)
    again = draw().numpy()

    assert first.tobytes() == again.tobytes()
    assert first.shape == second.shape


def test_calls_draw_other_numbers() -> None:
    """Also with the same seed of an operation, as in TensorFlow."""
    tf.random.set_seed(1)
    a, b = tf.random.normal([9], seed=2), tf.random.normal([9], seed=2)

    assert bool(tf.reduce_any(a != b))


def test_moments_and_limits() -> None:
    """Of many numbers."""
    tf.random.set_seed(0)
    normal = tf.random.normal([20000], mean=3.0, stddev=2.0)
    cut = tf.random.truncated_normal([20000])
    even = tf.random.uniform([20000], -1.0, 3.0)
    dice = tf.random.uniform([20000], 1, 7, tf.int32)

    assert abs(float(tf.reduce_mean(normal)) - 3) < 0.05
    assert abs(float(tf.math.reduce_std(normal)) - 2) < 0.05
    assert 1.9 < float(tf.reduce_max(abs(cut))) <= 2
    assert abs(float(tf.math.reduce_std(cut)) - 0.8796) < 0.02
    assert -1 <= float(tf.reduce_min(even)) < float(tf.reduce_max(even)) < 3
    assert {1, 2, 3, 4, 5, 6} == set(dice.numpy().tolist())
    assert {"float32", "int32"} == {x.dtype.name for x in (normal, cut, even, dice)}


def test_generators_have_a_state_of_their_own() -> None:
    """From a seed, and split."""
    one, two = tf.random.Generator.from_seed(3), tf.random.Generator.from_seed(3)
    a, b = one.normal([5]), one.normal([5])

    assert a.numpy().tobytes() == two.normal([5]).numpy().tobytes() != b.numpy().tobytes()
    assert 2 == len({g.uniform([3]).numpy().tobytes() for g in one.split(2)})
    assert tf.int64 == one.uniform_full_int([2], tf.int64).dtype


def test_stateless_numbers_depend_on_the_seed_alone() -> None:
    """A pair of whole numbers."""
    a, b = tf.random.stateless_uniform([9], [1, 2]), tf.random.stateless_uniform([9], [1, 2])

    np.testing.assert_array_equal(a, b)
    assert bool(tf.reduce_any(a != tf.random.stateless_uniform([9], [2, 1])))


def test_gradients_reach_mean_and_deviation() -> None:
    """The reparametrization of normal numbers."""
    mean, deviation = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.random.normal([5], mean, deviation, seed=1))
    by_mean, by_deviation = tape.gradient(y, [mean, deviation])

    assert 5.0 == float(by_mean)
    assert abs(float(y) - 5.0 - 2.0 * float(by_deviation)) < 1e-4


IMAGE = np.random.default_rng(0).uniform(0, 1, (5, 4, 3)).astype("float32")


def test_random_images() -> None:
    """Random changes of images: each is one of those that it may be, and a seed repeats it."""
    i = tf.image
    flips = [np.asarray(i.random_flip_left_right(IMAGE, seed=n)) for n in range(8)]
    assert {np.array_equal(x, IMAGE) for x in flips} == {True, False}
    assert all(np.array_equal(x, IMAGE) or np.array_equal(x, IMAGE[:, ::-1]) for x in flips)
    batch = np.asarray(i.random_flip_up_down(np.stack([IMAGE] * 32), seed=1))
    assert {np.array_equal(x, IMAGE) for x in batch} == {True, False}
    crop = np.asarray(i.random_crop(IMAGE, (2, 3, 3), seed=1))
    places = [(a, b) for a in range(4) for b in range(2)]
    assert any(np.array_equal(crop, IMAGE[a : a + 2, b : b + 3]) for a, b in places)
    moved = np.asarray(i.random_brightness(IMAGE, 0.2, seed=1)) - IMAGE
    assert np.ptp(moved) < 1e-6
    assert 0 < abs(moved[0, 0, 0]) <= 0.2
    for change in (
        lambda x: i.random_contrast(x, 0.2, 0.5),
        lambda x: i.random_saturation(x, 0.2, 0.5),
        lambda x: i.random_hue(x, 0.2),
    ):
        assert not np.allclose(np.asarray(change(IMAGE)), IMAGE, atol=1e-4)


def test_random_images_have_gradients() -> None:
    """The gradient of a flipped image is flipped back, that of a crop 0 outside."""
    x = tf.Variable(IMAGE)
    for n in range(4):
        with tf.GradientTape() as tape:
            y = tf.image.random_crop(tf.image.random_flip_left_right(x, seed=n), (2, 3, 3), seed=n)
            total = tf.reduce_sum(y * y)
        gradient = tape.gradient(total, x).numpy()
        inside = gradient != 0
        assert inside.sum() == 2 * 3 * 3
        np.testing.assert_allclose(gradient[inside], 2 * IMAGE[inside], rtol=1e-6)


def test_random_numbers_of_keras() -> None:
    """A seed repeats the numbers, and a SeedGenerator draws others at each call."""
    draw = tf.keras.random.normal
    assert np.array_equal(draw((3,), seed=1), draw((3,), seed=1))
    seeds = tf.keras.random.SeedGenerator(1)
    assert not np.array_equal(draw((3,), seed=seeds), draw((3,), seed=seeds))
    dropped = np.asarray(tf.keras.random.dropout(tf.ones((40, 50)), 0.2, seed=1))
    assert set(np.unique(dropped).tolist()) == {0.0, 1.25}
    assert abs((dropped == 0).mean() - 0.2) < 0.03
    assert sorted(np.asarray(tf.keras.random.shuffle([1, 2, 3], seed=1)).tolist()) == [1, 2, 3]
