"""fit, evaluate and predict on Dask arrays, against the same on arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tapemagic import nn
from tapemagic.errors import (
    NonFiniteError,
    NotNumbersError,
    OptionError,
    ShapeError,
    UnsupportedArgumentError,
)

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import tapemagic as tm  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype("float32")
Y = (X @ [[1.0], [-2.0], [0.5]] + 3).astype("float32")
LABELS = (Y[:, 0] > 3).astype(int)
ROWS = (13, 0, 7, 20)


@pytest.fixture(autouse=True)
def synchronous() -> Iterator[None]:
    """No threads, which these small arrays do not need."""
    with dask.config.set(scheduler="synchronous"):
        yield


def lazy(array: Any, rows: tuple[int, ...] = ROWS) -> Any:
    """The array, cut into rows and, if it has them, columns."""
    return da.from_array(array, chunks=(rows, *((1,) * n for n in array.shape[1:])))


def model(loss: Any = "mse", **options: Any) -> nn.Sequential:
    """A small model that begins the same each time."""
    nn.set_random_seed(0)
    made = nn.Sequential([nn.Input((3,)), nn.Dense(4, activation="tanh"), nn.Dense(1)])
    made.compile(nn.optimizers.Adam(0.05), loss, **options)
    return made


def assert_same(a: Any, b: Any, rtol: float = 1e-5) -> None:
    """Histories, or lists of arrays, are the same up to rounding."""
    assert len(a) == len(b)
    for key in a if isinstance(a, dict) else range(len(a)):
        np.testing.assert_allclose(b[key], a[key], rtol=rtol, atol=1e-6)


@pytest.mark.parametrize("batch_size", [None, 1, 6, 13, 25, 40, 100])
def test_batches_in_order(batch_size: int | None) -> None:
    """Batches have their size whatever the chunks, so that training is that on arrays in memory."""
    options: Any = {"batch_size": batch_size, "epochs": 2, "shuffle": False, "verbose": 0}
    one, other = model(metrics=["mae"]), model(metrics=["mae"])

    want = one.fit(X, Y, validation_data=(X[:9], Y[:9]), **options)
    got = other.fit(lazy(X), lazy(Y), validation_data=(lazy(X[:9], (4, 5)), Y[:9]), **options)

    assert_same(want.history, got.history)
    assert_same(one.get_weights(), other.get_weights())


def test_shuffled_batches() -> None:
    """Each epoch has each example once, in a new order, with its own target."""
    seen: list[Any] = []

    class Noting(nn.Sequential):
        def train_step(self, data: Any) -> Any:
            x, y = data
            np.testing.assert_array_equal(y.numpy()[:, 0], 2 * x.numpy()[:, 0])
            seen.append(x.numpy()[:, 0])
            return super().train_step(data)

    x = np.arange(40.0, dtype="float32")[:, None]
    made = Noting([nn.Dense(1)])
    made.compile("sgd", "mse")
    nn.set_random_seed(1)
    made.fit(lazy(x), lazy(2 * x), batch_size=6, epochs=2, verbose=0)

    first, second = np.concatenate(seen[:7]), np.concatenate(seen[7:])
    assert [6] * 6 + [4] == [len(rows) for rows in seen[:7]]
    assert not np.array_equal(first, second)
    for order in (first, second):
        assert not np.array_equal(order, x[:, 0])
        np.testing.assert_array_equal(np.sort(order), x[:, 0])


def test_weights_of_classes_and_examples() -> None:
    """Weights go with their examples, also those in memory beside lazy data, and lazy tensors are arrays, too."""
    options: Any = {"batch_size": 6, "shuffle": False, "verbose": 0}
    weights = RNG.uniform(size=40)
    pairs: list[tuple[Any, Any]] = [
        ({"class_weight": {1: 3.0}}, {"class_weight": {1: 3.0}}),
        ({"sample_weight": weights}, {"sample_weight": lazy(weights, (30, 10))}),
        ({"sample_weight": weights}, {"sample_weight": weights}),
    ]
    for want, got in pairs:
        one, other = model(), model()
        one.fit(X, LABELS, **want, **options)
        other.fit(tm.constant(lazy(X)), lazy(LABELS), **got, **options)
        assert_same(one.get_weights(), other.get_weights())


def test_steps_and_splits() -> None:
    """Epochs of a number of steps go on where the last one ended; validation_split takes the end."""
    options: Any = {"batch_size": 6, "shuffle": False, "verbose": 0, "epochs": 3}
    for more in ({"steps_per_epoch": 3}, {"validation_split": 0.25}):
        one, other = model(), model()
        want = one.fit(X, Y, **more, **options)
        got = other.fit(lazy(X), lazy(Y), **more, **options)
        assert_same(want.history, got.history)


def test_evaluate_and_predict() -> None:
    """The same numbers; predictions are arrays in memory."""
    one = model(metrics=["mae"])
    one.fit(X, Y, verbose=0)

    want, got = one.evaluate(X, Y, verbose=0), one.evaluate(lazy(X), lazy(Y), verbose=0)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert isinstance(one.predict(lazy(X)), np.ndarray)
    np.testing.assert_allclose(one.predict(lazy(X), batch_size=6), one.predict(X), rtol=1e-5)


def test_several_inputs() -> None:
    """A model of two inputs takes a list of Dask arrays."""
    a, b = nn.Input((3,)), nn.Input((1,))
    made = nn.Model([a, b], nn.Dense(1, kernel_initializer="ones")(nn.Concatenate()([a, b])))

    want = made.predict([X, Y])
    np.testing.assert_allclose(made.predict([lazy(X), lazy(Y)]), want, rtol=1e-6)


def test_few_chunks_in_memory() -> None:
    """Chunks are read when their turn comes, once an epoch."""
    read: list[int] = []

    def chunk(block_id: Any) -> Any:
        read.append(block_id[0])
        return np.ones((10, 3), "float32")

    x = da.map_blocks(chunk, chunks=((10,) * 5, (3,)), dtype="float32", meta=np.empty((0, 0), "f"))
    behind: list[int] = []

    class Noting(nn.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            behind.append(len(read))

    model().fit(x, x[:, :1], batch_size=5, shuffle=False, verbose=0, callbacks=[Noting()])

    assert [0, 1, 2, 3, 4] == read
    assert [1, 1, 2, 2, 3, 3, 4, 4, 5, 5] == behind


def test_a_step_on_all_data() -> None:
    """The gradient over all chunks, given to the optimizer, makes the step of fit with one batch of everything."""
    one, other = model(), model()
    one.fit(X, Y, batch_size=40, epochs=3, verbose=0, shuffle=False)

    def loss(_: Any, x: Any, y: Any) -> Any:
        return np.mean((other(x) - y) ** 2)

    whole_rows = lazy(X).rechunk({1: -1})
    loss_and_gradient = tm.distributed.value_and_grad(loss, (whole_rows, lazy(Y)))
    for _ in range(3):
        _, gradients = loss_and_gradient(other.trainable_variables)
        other.optimizer.apply(gradients, other.trainable_variables)

    assert_same(one.get_weights(), other.get_weights())


def test_lazy_predictions() -> None:
    """A model applied to each block gives a lazy tensor, with the weights of that moment."""
    made = model()
    want = made.predict(X)
    got = tm.distributed.map_blocks(made, lazy(X).rechunk({1: -1}), chunks=(ROWS, 1))
    made.fit(X, Y, verbose=0)

    np.testing.assert_allclose(got.compute().numpy(), want, rtol=1e-5, atol=1e-6)


def test_nan_in_a_chunk() -> None:
    """The error names the example by its number in all the data."""
    spoiled = X.copy()
    spoiled[17, 1] = np.nan
    stop = nn.callbacks.TerminateOnNaN(raise_error=True)
    with pytest.raises(NonFiniteError, match="example 17 of the data"):
        model().fit(lazy(spoiled), lazy(Y), batch_size=6, verbose=0, callbacks=[stop])


def test_bad_data() -> None:
    """Different numbers of examples, unknown ones, text and other collections are refused before training."""
    made = model()
    with pytest.raises(ShapeError, match="x has 40, y has 39"):
        made.fit(lazy(X), lazy(Y[:39], (39,)))
    with pytest.raises(UnsupportedArgumentError, match="compute_chunk_sizes"):
        made.fit(lazy(X)[lazy(LABELS) > 0], Y)
    with pytest.raises(NotNumbersError, match="a tensor cannot hold"):
        made.fit(dask.delayed(X), Y)
    with pytest.raises(OptionError, match="or x"):
        made.train_on_batch(lazy(X), lazy(Y))
