"""A loss and its gradient over partitions, against NumPy's on the whole data."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import dask.bag as db
import numpy as np
import pytest

import tapemagic as tm
from tapemagic import errors, nn
from tapemagic.distributed import value_and_grad

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(23, 3))
Y = RANDOM.normal(size=23)
ROWS = (5, 0, 11, 1, 6)


@pytest.fixture(autouse=True, params=["synchronous", "threads"])
def scheduler(request: Any) -> Iterator[None]:
    """Each of the two schedulers that run in this process."""
    with dask.config.set(scheduler=request.param):
        yield


def lazy(array: Any, rows: tuple[int, ...] = ROWS) -> da.Array:
    """An array cut into rows, one of the chunks being empty."""
    return da.from_array(array, chunks=(rows, *((n,) for n in array.shape[1:])))


def mean_loss(params: Any, x: Any, y: Any) -> Any:
    """The mean of squares of a linear model with a nonlinearity."""
    return np.mean((np.tanh(x @ params["w"]) + params["b"][0] - y) ** 2)


def sum_loss(params: Any, x: Any, y: Any) -> Any:
    """The sum of the same."""
    return np.sum((np.tanh(x @ params["w"]) + params["b"][0] - y) ** 2)


def parameters(dtype: Any = float) -> Any:
    """A structure of a variable and a tensor."""
    return {"w": tm.Variable(np.array([0.3, -1.0, 2.0], dtype)), "b": [tm.constant(0.5, dtype)]}


def assert_same(want: Any, got: Any, rtol: float = 1e-12) -> None:
    """Losses and gradients have the same structure, dtypes and, up to rounding, numbers."""
    (loss, gradients), (loss_got, gradients_got) = want, got
    assert repr(type(gradients)) == repr(type(gradients_got))
    pairs = [(loss, loss_got), (gradients["w"], gradients_got["w"])]
    for a, b in [*pairs, (gradients["b"][0], gradients_got["b"][0])]:
        assert type(b) is tm.Tensor
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=rtol)


@pytest.mark.parametrize(("reduce", "loss"), [("mean", mean_loss), ("sum", sum_loss)])
@pytest.mark.parametrize("split_every", [2, 8])
def test_unequal_and_empty_partitions(reduce: str, loss: Any, split_every: int) -> None:
    """Means are weighted by rows, sums are added up, and empty partitions left out."""
    params = parameters()
    want = tm.value_and_grad(loss)(parameters(), tm.constant(X), tm.constant(Y))

    got = value_and_grad(loss, (lazy(X), lazy(Y)), reduce, split_every=split_every)(params)

    assert_same(want, got)


def test_float32_stays() -> None:
    """Loss and gradients have the dtypes that a tape gives, also where weights are Python's numbers."""
    x, y = X.astype("f"), Y.astype("f")
    want = tm.value_and_grad(mean_loss)(parameters("f"), tm.constant(x), tm.constant(y))

    assert_same(want, value_and_grad(mean_loss, (lazy(x), lazy(y)))(parameters("f")), 1e-5)


def test_complex_parameters() -> None:
    """Complex gradients follow the convention of tapes."""
    z = np.array([1 + 2j, 0.5 - 1j, 3j])

    def loss(z: Any, x: Any) -> Any:
        return np.mean(np.abs(x @ z) ** 2)

    want = tm.value_and_grad(loss)(z, tm.constant(X))
    got = value_and_grad(loss, lazy(X))(z)

    assert type(got[1]) is type(want[1]) is np.ndarray
    np.testing.assert_allclose(got[1], want[1])


def test_nan_stays_nan() -> None:
    """A number that is nan in one partition makes loss and gradient nan; one without rows does not."""
    spoiled = np.where(np.arange(23) == 7, np.nan, Y)
    loss, gradient = value_and_grad(mean_loss, (lazy(X), lazy(spoiled)))(parameters())

    assert np.isnan(loss.numpy())
    assert np.isnan(gradient["w"].numpy()).all()


def records() -> list[dict[str, Any]]:
    """The data, one dict for each row."""
    return [{"x": x, "y": y} for x, y in zip(X, Y, strict=True)]


def of_records(params: Any, part: Any) -> Any:
    """The loss of a list of records."""
    assert type(part) is list
    return mean_loss(params, np.array([r["x"] for r in part]), np.array([r["y"] for r in part]))


def read(start: int, stop: int) -> Any:
    """Some rows, as a delayed function gives them."""
    return X[start:stop], Y[start:stop]


EDGES = [0, 5, 5, 16, 23]
DELAYED = [dask.delayed(read)(*ends) for ends in itertools.pairwise(EDGES)]
DATA = {
    "a dict of arrays": ({"y": lazy(Y), "x": lazy(X)}, mean_loss),
    "a list of arrays": ([lazy(X), lazy(Y)], mean_loss),
    "lazy tensors": ((tm.constant(lazy(X)), tm.constant(lazy(Y))), mean_loss),
    "arrays of unknown rows": ((lazy(X)[lazy(Y) < 9], lazy(Y)[lazy(Y) < 9]), mean_loss),
    "a bag": (db.from_sequence(records(), npartitions=4), of_records),
    "a bag of iterators": (db.from_sequence(records(), npartitions=4).map(dict), of_records),
    "delayed tuples": (DELAYED, mean_loss),
    "delayed dicts": (
        [dask.delayed(lambda pair: dict(zip("xy", pair, strict=True)))(part) for part in DELAYED],
        mean_loss,
    ),
    "an array beside delayed": (
        (lazy(X, (5, 11, 7)), [dask.delayed(Y[a:b]) for a, b in [(0, 5), (5, 16), (16, 23)]]),
        mean_loss,
    ),
}


@pytest.mark.parametrize("kind", DATA)
def test_kinds_of_data(kind: str) -> None:
    """Each collection of Dask's gives its partitions in its own form, and the same gradient."""
    data, loss = DATA[kind]
    want = tm.value_and_grad(mean_loss)(parameters(), tm.constant(X), tm.constant(Y))

    assert_same(want, value_and_grad(loss, data)(parameters()))


def test_a_table() -> None:
    """The partitions of a DataFrame are pandas' tables."""
    pandas = pytest.importorskip("pandas")
    dataframe = pytest.importorskip("dask.dataframe")
    table = pandas.DataFrame({"a": X[:, 0], "y": Y})
    dask_table = dataframe.from_pandas(table, npartitions=3)

    def loss(w: Any, part: Any) -> Any:
        return np.mean((w * part["a"].to_numpy() - part["y"].to_numpy()) ** 2)

    def of_columns(w: Any, a: Any, y: Any) -> Any:
        return np.mean((w * a.to_numpy() - y.to_numpy()) ** 2)

    want = tm.value_and_grad(loss)(2.0, table)
    for got in (
        value_and_grad(loss, dask_table)(2.0),
        value_and_grad(of_columns, (dask_table["a"], dask_table["y"]))(2.0),
    ):
        np.testing.assert_allclose(got, want)
        assert list(map(type, got)) == list(map(type, want)) == [np.float64] * 2


def test_a_model() -> None:
    """Variables that the loss reads by itself are those of which the gradient is asked."""
    model = nn.Sequential([nn.Dense(4, activation="tanh"), nn.Dense(1)])
    model(X[:1])
    weights = model.trainable_variables

    def loss(_: Any, x: Any, y: Any) -> Any:
        return np.mean((model(x)[:, 0] - y) ** 2)

    with tm.GradientTape() as tape:
        whole = loss(None, tm.constant(X), tm.constant(Y))
    want = tape.gradient(whole, weights)
    got_loss, got = value_and_grad(loss, (lazy(X), lazy(Y)))(weights)

    np.testing.assert_allclose(got_loss.numpy(), whole.numpy(), rtol=1e-6)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-6)


def test_values_at_the_call() -> None:
    """Parameters and what the loss closes over count with the values that they have when it is called."""
    w, scale = tm.Variable(1.0), tm.Variable(10.0)
    loss_and_gradient = value_and_grad(lambda w, x: np.mean(w * scale * x), da.ones(6, chunks=4))

    first = loss_and_gradient(w)
    scale.assign(3.0)
    w.assign(2.0)

    assert [10.0, 10.0] == [float(v) for v in first]
    assert [6.0, 3.0] == [float(v) for v in loss_and_gradient(w)]


def test_parameters_used_by_some_partitions() -> None:
    """A gradient is None if it is None in all partitions, as of a tape; otherwise the others count as zeros."""

    def loss(params: Any, x: Any) -> Any:
        k = 0 if float(x[0]) < 3 else 1
        return np.sum(params[k] * x)

    x = da.arange(6.0, chunks=3)
    _, gradients = value_and_grad(loss, x, "sum")([1.0, tm.constant(2.0), np.ones(2)])

    assert [3.0, 12.0, None] == [g and float(g) for g in gradients]


def test_inner_tapes() -> None:
    """A loss may contain gradients with respect to its rows."""

    def loss(w: Any, x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.sin(w * x))
        return np.mean(tape.gradient(y, x) ** 2)

    want = tm.value_and_grad(loss)(0.7, tm.constant(Y))
    got = value_and_grad(loss, lazy(Y))(0.7)

    np.testing.assert_allclose([float(v) for v in got], [float(v) for v in want])


def test_a_tape_around_it() -> None:
    """Nothing inside is recorded on a tape around the call, which knows where the path left it."""
    w = tm.Variable(2.0)
    loss_and_gradient = value_and_grad(lambda w, x: np.mean(w * x), da.ones(6, chunks=4))
    with tm.GradientTape(persistent=True) as tape:
        loss, gradient = loss_and_gradient(w)

    assert tape.gradient(loss, w) is None
    assert tape.gradient(gradient, w) is None
    assert "tapemagic.distributed.value_and_grad()" in " ".join(str(tape.explain(loss, w)).split())


def test_one_pass() -> None:
    """Each partition is read once for the loss and all gradients, and copied by nobody."""
    blocks = []

    def noted(block: Any) -> Any:
        blocks.append(block)
        return block

    def loss(params: Any, x: Any) -> Any:
        assert any(np.shares_memory(x._value, block) for block in blocks)
        return np.mean(x @ params["w"])

    data = lazy(X).map_blocks(noted, dtype=float, meta=np.empty((0, 0)))
    value_and_grad(loss, data)(parameters())

    assert len(ROWS) == len(blocks)


def test_a_task_for_each_partition() -> None:
    """Chunks are read in the tasks that use them."""
    tasks: list[Any] = []

    def counted(dsk: Any, keys: Any, **options: Any) -> Any:
        tasks.extend(dsk.__dask_graph__())
        return dask.get(dsk, keys, **options)

    rows = (2,) * 64
    x = da.map_blocks(np.ones, (2, 3), chunks=(rows, (3,)), dtype=float, meta=np.empty((0, 0)))
    y = da.map_blocks(np.ones, 2, chunks=(rows,), dtype=float, meta=np.empty(0))
    with dask.config.set(scheduler=counted):
        value_and_grad(mean_loss, (x, y))(parameters())

    assert len(tasks) <= 64 + 8 + 1 + 1


def test_progress(capsys: Any) -> None:
    """Dask's own progress bar is shown if it is asked for."""
    value_and_grad(mean_loss, (lazy(X), lazy(Y)), progress=True)(parameters())

    assert "Completed" in capsys.readouterr().out


def test_an_error_of_the_loss() -> None:
    """It is raised as it is, once, with a note that names the partition."""

    def loss(_: Any, x: Any) -> Any:
        if len(x) == 11:
            raise ZeroDivisionError("eleven rows")
        return np.mean(x)

    with pytest.raises(ZeroDivisionError, match="eleven rows") as caught:
        value_and_grad(loss, lazy(X))(1.0)

    shown = "".join(traceback.format_exception(caught.value))
    assert 1 == shown.count("ZeroDivisionError: eleven rows")
    assert "During handling" not in shown
    assert ["loss was called on partition 2 of 5, counted from 0."] == caught.value.__notes__


def test_an_error_of_the_data() -> None:
    """That of whatever reads the data says so."""

    def fails(_: Any) -> Any:
        raise FileNotFoundError("no.npy")

    data = lazy(X).map_blocks(fails, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(FileNotFoundError) as caught:
        value_and_grad(mean_loss, data)(parameters())

    assert caught.value.__notes__[0].startswith(
        "The loss didn't raise this error, but the reading of the data"
    )


UNSUPPORTED = errors.UnsupportedArgumentError
CUT = da.ones((6, 4), chunks=(2, 2))
BAD_DATA = {
    "differently cut": (
        (lazy(X), lazy(Y, (10, 13))),
        errors.ShapeError,
        "data.1. has 2 partitions, and data.0. 5: write y",
    ),
    "other rows": (
        (lazy(X), lazy(Y, (5, 0, 11, 2, 5))),
        errors.ShapeError,
        r"cut into rows \(5, 0, 11, 2, 5\).*rechunk",
    ),
    "fewer rows": ((lazy(X), lazy(Y[:9], (9,))), errors.ShapeError, "the same number of rows"),
    "cut columns": (CUT, errors.ShapeError, r"cut along axis 1, .* write x.rechunk\({1: -1}\)"),
    "a number": (da.sum(CUT), errors.ShapeError, "single number"),
    "objects": (da.from_array(np.array(["a", "b"])), errors.NotNumbersError, "holds <U1"),
    "an array in memory": (X, UNSUPPORTED, "tapemagic.value_and_grad"),
    "one of them in memory": ((lazy(X), Y), UNSUPPORTED, r"data\[1\] is array"),
    "nothing": ([], errors.OptionError, "there is no data"),
    "None": (None, UNSUPPORTED, "the data is None of type NoneType"),
    "text": ("X", UNSUPPORTED, "which has no partitions"),
    "an item of a bag": (db.from_sequence([1]).sum(), UNSUPPORTED, "pass a Dask array"),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data(kind: str) -> None:
    """Data are refused at once, with words on what to write."""
    data, error, words = BAD_DATA[kind]

    with pytest.raises(error, match=words):
        value_and_grad(mean_loss, data)


NUMBERS = lazy(Y)
BAD_CALLS = {
    "a vector": (lambda w, x: w * x, 1.0, errors.ShapeError, r"returned shape \(\d+,\).*np.mean"),
    "None": (lambda _w, _x: None, 1.0, errors.FunctionError, "returns None"),
    "a float": (lambda _w, _x: 1.0, 1.0, errors.NotATensorError, "not a tensor"),
    "a lazy parameter": (lambda w, x: np.mean(w[0] * x), tm.constant(NUMBERS), UNSUPPORTED, "tapemagic.constant"),
    "a Dask array": (lambda w, x: np.mean(w[0] * x), NUMBERS, UNSUPPORTED, "tape.watch"),
    "a lazy loss": (lambda w, _: np.mean(w * tm.constant(NUMBERS)), 1.0, UNSUPPORTED, "as a tuple"),
    "whole numbers": (lambda w, x: np.mean(w * x), 3, errors.NotATensorError, "write 3.0"),
    "text": (lambda w, x: np.mean(w * x), "w", errors.NotNumbersError, "must be a number"),
    "no parameters": (lambda w, x: np.mean(w * x), [], errors.OptionError, "trainable_variables"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CALLS)
def test_bad_losses_and_parameters(kind: str) -> None:
    """What a loss returns, and what it is to be differentiated by, is checked."""
    loss, params, error, words = BAD_CALLS[kind]

    with pytest.raises(error, match=words):
        value_and_grad(loss, NUMBERS)(params)


def test_bad_options() -> None:
    """Options out of their range are refused."""
    for options in ({"reduce": "max"}, {"reduce": None}, {"split_every": 1}, {"progress": "yes"}):
        with pytest.raises(errors.OptionError):
            value_and_grad(mean_loss, lazy(X), **options)
    with pytest.raises(errors.FunctionError, match="pass f itself"):
        value_and_grad(3.0, lazy(X))  # type: ignore[arg-type]


def test_no_rows() -> None:
    """Without any rows there is no loss."""
    with pytest.raises(errors.ShapeError, match="all partitions are empty"):
        value_and_grad(mean_loss, da.ones((0, 3)))(parameters())


def test_rows_that_do_not_fit() -> None:
    """Partitions of unknown lengths are compared when they are there; what has no length cannot be averaged."""
    pair = [dask.delayed((X[:3], Y[:2]))]
    with pytest.raises(errors.ShapeError, match=r"\['2', '3'\] rows"):
        value_and_grad(mean_loss, pair)(parameters())
    numbers = [dask.delayed(2.0), dask.delayed(3.0)]
    with pytest.raises(errors.FunctionError, match="no number of rows"):
        value_and_grad(lambda w, x: w * x, numbers)(1.0)
    loss, gradient = value_and_grad(lambda w, x: w * x, numbers, "sum")(2.0)
    assert [10.0, 5.0] == [float(loss), float(gradient)]
