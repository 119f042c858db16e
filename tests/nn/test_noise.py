"""Dropout and noise: random in training alone, reproducible by a seed, with the statistics that they promise."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn

ONES = np.ones((200, 50))
LAYERS = {
    "Dropout": (lambda seed: nn.Dropout(0.2, seed=seed), 1.0, 0.5),
    "AlphaDropout": (lambda seed: nn.AlphaDropout(0.2, seed=seed), 0.703, 0.970),
    "GaussianDropout": (lambda seed: nn.GaussianDropout(0.2, seed=seed), 1.0, 0.5),
    "GaussianNoise": (lambda seed: nn.GaussianNoise(0.3, seed=seed), 1.0, 0.3),
}


@pytest.mark.parametrize("name", LAYERS)
def test_statistics(name: str) -> None:
    """The mean and the standard deviation of the outputs for ones."""
    make, mean, deviation = LAYERS[name]
    found = make(0)(ONES, training=True).numpy()

    np.testing.assert_allclose([found.mean(), found.std()], [mean, deviation], atol=0.02)


@pytest.mark.parametrize("name", LAYERS)
def test_seeds(name: str) -> None:
    """The same seed, of the layer or the global one, gives the same numbers; each call gives others."""
    make, *_ = LAYERS[name]
    first, second = make(1), make(1)
    nn.set_random_seed(2)
    drawn = make(None)(ONES, training=True)
    nn.set_random_seed(2)

    assert np.array_equal(first(ONES, training=True), second(ONES, training=True))
    assert not np.array_equal(first(ONES, training=True), first(ONES, training=True))
    assert np.array_equal(drawn, make(None)(ONES, training=True))
    again = copy.deepcopy(second)
    assert np.array_equal(second(ONES, training=True), again(ONES, training=True))


@pytest.mark.parametrize("name", LAYERS)
def test_nothing_outside_of_training(name: str) -> None:
    """Outside of training, and within a model that is not trained, the inputs stay as they are."""
    make, *_ = LAYERS[name]
    model = nn.Sequential([make(0)])

    assert np.array_equal(make(0)(ONES), ONES)
    assert np.array_equal(model(ONES), ONES)
    assert not np.array_equal(model(ONES, training=True), ONES)


def test_shared_choice() -> None:
    """With a noise_shape, whole steps are dropped, and their gradients with them."""
    x = tm.Variable(np.ones((4, 6, 5), "float32"))
    layer = nn.Dropout(0.5, noise_shape=(None, 1, None), seed=0)
    with tm.GradientTape() as tape:
        y = layer(x, training=True)

    assert np.array_equal(tape.gradient(y, x), y)
    assert np.ptp(y.numpy(), axis=1).max() == 0
    assert set(y.numpy().ravel().tolist()) == {0.0, 2.0}


def test_whole_channels() -> None:
    """Spatial dropout drops channels of an example, and its gradients with them."""
    for layer, shape in (
        (nn.SpatialDropout1D(0.5, seed=0), (4, 6, 5)),
        (nn.SpatialDropout2D(0.5, seed=0), (4, 6, 2, 5)),
        (nn.SpatialDropout3D(0.5, seed=0), (4, 6, 2, 2, 5)),
    ):
        x = tm.Variable(np.ones(shape, "float32"))
        with tm.GradientTape() as tape:
            y = layer(x, training=True)

        assert np.array_equal(tape.gradient(y, x), y)
        rows = y.numpy().reshape(4, -1, 5)
        assert np.ptp(rows, axis=1).max() == 0
        assert set(rows.ravel().tolist()) == {0.0, 2.0}
        assert np.array_equal(layer(x), x)


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    """Normal numbers stay so in mean and variance; kept ones are scaled, and others have no gradient."""
    x = tm.Variable(np.random.default_rng(0).normal(size=(300, 200)).astype("float32"))
    layer = nn.AlphaDropout(0.3, seed=0)
    with tm.GradientTape() as tape:
        y = layer(x, training=True)
    gradient = tape.gradient(y, x).numpy()

    np.testing.assert_allclose([y.numpy().mean(), y.numpy().std()], [0, 1], atol=0.02)
    kept = gradient != 0
    assert abs(kept.mean() - 0.7) < 0.01
    assert len(set(gradient[kept].tolist())) == 1
    assert np.ptp(y.numpy()[~kept]) == 0
    shared = nn.AlphaDropout(0.5, noise_shape=(None, 1), seed=0)(np.zeros((9, 4)), training=True)
    assert np.ptp(shared.numpy(), axis=1).max() == 0


def test_dropout_within_layers() -> None:
    """Recurrent layers and attention drop in training alone, and the gradients agree with the numbers drawn."""
    x = np.random.default_rng(0).normal(size=(2, 4, 3))
    layers: list[Any] = [
        nn.LSTM(3, dropout=0.5, seed=0),
        nn.GRU(3, dropout=0.5, seed=0),
        nn.SimpleRNN(3, dropout=0.5, seed=0),
        nn.RNN(nn.LSTMCell(3, dropout=0.5, seed=0)),
        nn.RNN([nn.GRUCell(3, dropout=0.5, seed=0), nn.SimpleRNNCell(2)]),
        nn.Bidirectional(nn.GRU(3, dropout=0.5, seed=0)),
    ]
    for layer in layers:
        assert np.array_equal(layer(x), layer(x))
        assert not np.array_equal(layer(x, training=True), layer(x))
    attention = nn.MultiHeadAttention(2, 3, dropout=0.5, seed=0)
    assert np.array_equal(attention(x, x), attention(x, x))
    assert not np.array_equal(attention(x, x, training=True), attention(x, x))
    for plain in (nn.Attention(dropout=0.5, seed=0), nn.AdditiveAttention(dropout=0.5, seed=0)):
        assert np.array_equal(plain([x, x]), plain([x, x]))
        assert not np.array_equal(plain([x, x], training=True), plain([x, x]))


def test_a_cell_drops_the_same_inputs_in_all_steps() -> None:
    """As in Keras: one mask for all steps of a call of RNN, and another one in the next call."""
    x = tm.Variable(np.ones((4, 5, 6), "float32"))
    layer = nn.RNN(nn.SimpleRNNCell(3, dropout=0.5, seed=0, activation=None))
    masks = []
    for _ in range(2):
        with tm.GradientTape() as tape:
            total = np.sum(layer(x, training=True))
        kept = tape.gradient(total, x).numpy() != 0
        assert (kept == kept[:, :1]).all()
        masks.append(kept)
    assert not np.array_equal(*masks)

    cell = nn.SimpleRNNCell(3, dropout=0.5, seed=0)
    inputs, states = np.ones((2, 20)), [np.zeros((2, 3))]
    first, _ = cell(inputs, states, training=True)
    assert np.array_equal(first, cell(inputs, states, training=True)[0])
    cell.reset_dropout_mask()
    assert not np.array_equal(first, cell(inputs, states, training=True)[0])
