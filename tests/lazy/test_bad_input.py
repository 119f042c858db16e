"""What a tensor with a Dask array inside refuses: a sentence each, which says what to write instead."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.array as da
import dask.bag
import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn, tf
from tapemagic.errors import (
    DtypeError,
    ImmutableError,
    NotComputedError,
    NotNumbersError,
    RankError,
    TapeError,
    UnsupportedArgumentError,
)
from tests.lazy.lazy_cases import raising

X = da.ones((12, 3), chunks=(5, 2))
WHOLE = da.arange(12, chunks=5) % 3


@pytest.fixture(autouse=True)
def never_computing() -> Iterator[None]:
    """A scheduler that raises."""
    with dask.config.set(scheduler=raising):
        yield


class Odd(np.ndarray):
    """An array of another class."""


VALUES: dict[str, tuple[Callable[[], Any], type[TapeError], str]] = {
    "unknown chunks": (lambda: X[X[:, 0] > 0], UnsupportedArgumentError, r"write x.compute_chunk_sizes\(\)"),
    "objects": (lambda: X.astype(object), NotNumbersError, r"write x.astype\(float\)"),
    "text": (lambda: X.astype("U3"), NotNumbersError, r"dtype of this Dask array is <U3"),
    "masked arrays": (
        lambda: da.ma.masked_array(X, mask=X > 0),
        UnsupportedArgumentError,
        r"dask.array.ma.filled\(x, 0.0\)",
    ),
    "another kind of chunks": (
        lambda: X.map_blocks(np.asarray, meta=np.empty((0, 0)).view(Odd), dtype=float),
        UnsupportedArgumentError,
        "arrays of the kind Odd",
    ),
    "a delayed object": (
        lambda: dask.delayed(np.ones)(3),
        NotNumbersError,
        r"dask.array.from_delayed\(x, shape, dtype\)",
    ),
    "a bag": (
        lambda: dask.bag.from_sequence([1.0, 2.0]),
        NotNumbersError,
        "tapemagic.distributed.value_and_grad takes a bag",
    ),
    "a list": (lambda: [X, X], UnsupportedArgumentError, r"write np.stack\(\[...\]\)"),
    "a nested list": (lambda: [[1.0, X[0, 0]]], UnsupportedArgumentError, "would compute them"),
    "a list of lazy tensors": (
        lambda: [tm.constant(X), tm.constant(X)],
        UnsupportedArgumentError,
        "would compute them",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("value", "error", "words"), VALUES.values(), ids=VALUES.keys())
def test_no_value_of_a_tensor(value: Callable[[], Any], error: type[TapeError], words: str) -> None:
    """Nor of a variable."""
    with pytest.raises(error, match=words):
        tm.constant(value())
    with pytest.raises((error, NotComputedError)):
        tm.Variable(value())


@pytest.mark.parametrize("dtype", [int, bool, "int32"])
def test_casts_that_may_change_numbers(dtype: Any) -> None:
    """They cannot be checked before the numbers are there."""
    with pytest.raises(DtypeError, match=r"cannot be seen before they are computed: .* x\.astype"):
        tm.constant(X, dtype=dtype)
    with pytest.raises(DtypeError, match="cannot be seen"):
        tm.constant(tm.constant(X * 1j), dtype=float)


NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    ".numpy()": lambda x, _s: x.numpy(),
    ".item()": lambda _x, s: s.item(),
    ".tolist()": lambda x, _s: x.tolist(),
    "np.asarray()": lambda x, _s: np.asarray(x),
    "float()": lambda _x, s: float(s),
    "int()": lambda _x, s: int(s),
    "complex()": lambda _x, s: complex(s),
    "if, or bool(),": lambda _x, s: 1 if s > 0 else 0,
    "bool of all": lambda x, _s: bool(x),
    "a loop": lambda x, s: [x for _ in range(s)],
    "in": lambda x, _s: 1.0 in x,
    "the format '.3f'": lambda _x, s: f"{s:.3f}",
    "max": lambda _x, s: max(s, 2 * s),
    "an array written into": lambda x, _s: np.zeros((12, 3)).__setitem__(0, x[0]),
    "a raw result": lambda x, _s: np.asarray(x > 0),
    "a condition of tf": lambda _x, s: tf.cond(s > 0, lambda: s, lambda: s),
    "a shape": lambda x, _s: x.reshape((np.argmax(x), 3)),
    "a slice": lambda x, s: x[: np.argmax(s)],
    "check_gradients": lambda x, _s: tm.check_gradients(np.sum, x),
    "check_gradients of a value": lambda _x, s: tm.check_gradients(lambda w: w * s, 2.0),
    "dropout": lambda x, _s: nn.layers.Dropout(0.5)(x, training=True),
    "noise": lambda x, _s: nn.layers.GaussianNoise(0.5)(x, training=True),
    "moving averages": lambda x, _s: nn.layers.BatchNormalization()(x, training=True),
    "Embedding": lambda _x, _s: nn.layers.Embedding(3, 2)(WHOLE),
    "gather": lambda _x, _s: tm.gather(np.ones(3), WHOLE),
    "a metric": lambda x, _s: nn.metrics.MeanSquaredError()(x[:, 0], x[:, 1]),
}


@pytest.mark.parametrize("use", NUMBERS.values(), ids=NUMBERS.keys())
def test_uses_that_need_numbers(use: Callable[[Any, Any], Any]) -> None:
    """They say so, and name a way."""
    x = tm.constant(X)
    with pytest.raises(NotComputedError, match=r"compute|distributed|in memory"):
        use(x, np.sum(x))


def test_words_of_numbers() -> None:
    """The conversion, the shape, and the way."""
    with pytest.raises(NotComputedError) as caught:
        tm.constant(X).numpy()
    assert str(caught.value) == (
        ".numpy() needs numbers, but this value of shape (12, 3) isn't computed: write x.compute() first, or "
        "dask.compute(x, y) for several at once"
    )
    with pytest.raises(RankError, match="has no len"):
        len(np.sum(tm.constant(X)))
    with pytest.raises(ImmutableError):
        np.add(tm.constant(X), 1.0, out=np.zeros((12, 3)))
    for value in (tm.constant(1.0), tm.Variable(1.0)):
        for name in ("compute", "persist", "rechunk", "to_dask_array"):
            with pytest.raises(UnsupportedArgumentError, match="is computed already: write"):
                getattr(value, name)()
        assert not hasattr(value, "chunks")


ASSIGNED: dict[str, Callable[[Any], Any]] = {
    "assign": lambda w: w.assign(X[0]),
    "assign of a tensor": lambda w: w.assign(tm.constant(X[0])),
    "assign_add": lambda w: w.assign_add(X[0]),
    "assign_sub": lambda w: w.assign_sub(tm.constant(X[0])),
    "assign of a part": lambda w: w[:2].assign(X[0, :2]),
    "the first value": lambda _: tm.Variable(X, name="w"),
    "tf.Variable": lambda _: tf.Variable(tf.constant(X), name="w"),
}


@pytest.mark.parametrize("assign", ASSIGNED.values(), ids=ASSIGNED.keys())
def test_variables_stay_in_memory(assign: Callable[[Any], Any]) -> None:
    """And keep their values."""
    w = tm.Variable(np.zeros(3), name="w")
    with pytest.raises(NotComputedError, match="would contain all earlier steps: write x"):
        assign(w)
    assert w.numpy().tolist() == [0.0, 0.0, 0.0]


def test_optimizers_need_numbers() -> None:
    """Before they change anything."""
    w, optimizer = tm.Variable(np.zeros(3), name="w"), nn.optimizers.Adam()
    with tm.GradientTape() as tape:
        loss = np.mean((tm.constant(X) @ w) ** 2)
    with pytest.raises(
        NotComputedError,
        match=r"gradient of 'w' isn't computed: write \(gradients,\) = dask.compute\(gradients\)",
    ):
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    assert w.numpy().tolist() == [0.0, 0.0, 0.0]
    assert int(optimizer.iterations) == 0


def test_loops_over_many_rows() -> None:
    """A loop would make tasks for every row: few rows may be unpacked, and many are refused at once."""
    few, many = (
        tm.constant(da.ones(10_000, chunks=5_000)),
        tm.constant(da.ones(10_001, chunks=5_000)),
    )

    assert () == next(iter(few)).shape
    with pytest.raises(UnsupportedArgumentError, match=r"over 10,001 rows .* np.sum\(x, axis=0\)"):
        sum(many)


def test_masks_of_rows() -> None:
    """What is written instead of a mask of rows keeps the shape."""
    x = tm.constant(X)
    with pytest.raises(UnsupportedArgumentError, match=r"np.where\(rows\[:, None\], x, 0\)"):
        x[x[:, 0] > 0]
    assert X.shape == np.where((x[:, 0] > 0)[:, None], x, 0).shape


def test_the_jacobian_of_many_elements() -> None:
    """It would be a graph for each."""
    w = tm.Variable(np.ones(2))
    with tm.GradientTape() as tape:
        value = tm.constant(da.ones((300, 2), chunks=100)) @ w
    with pytest.raises(UnsupportedArgumentError, match="here 300, and the limit is 256"):
        tape.jacobian(value, w)


DOORS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "da.dot": (lambda _x, w: da.dot(X, w), "da.dot doesn't support .* write np.dot"),
    "da.dot of data": (lambda x, _w: da.dot(x, X.T), "write np.dot"),
    "X.dot": (lambda _x, w: X.dot(w), "write np.dot"),
    "da.tensordot": (lambda _x, w: da.tensordot(X, w, 1), "write np.tensordot"),
    "da.tensordot of data": (lambda x, _w: da.tensordot(x, X.T, 1), "write np.tensordot"),
    "da.matmul": (lambda _x, w: da.matmul(X, w), "write np.matmul"),
    "da.add": (lambda _x, w: da.add(X, w), "da.add doesn't support .* write np.add"),
    "da.where": (lambda x, _w: da.where(X > 0, x, 0), "write np.where"),
    "da.stack": (lambda x, _w: da.stack([x, x]), "write np.stack"),
    "da.sum": (lambda x, _w: da.sum(x), "write np.sum"),
    "da.map_blocks": (lambda x, _w: da.map_blocks(np.sin, x), "tapemagic.distributed.map_blocks"),
    "a variable for map_blocks": (
        lambda _x, w: da.map_blocks(lambda a, b: a * b, X, w),
        r"if you need no gradient, write x.numpy\(\)",
    ),
    "an option of map_blocks": (
        lambda x, _w: X.map_blocks(lambda a, b: a + b, b=x),
        r"write tapemagic.stop_gradient\(x\).to_dask_array\(\)",
    ),
    "da.blockwise": (lambda x, _w: da.blockwise(np.sin, "ij", x, "ij"), "da.blockwise"),
    "da.from_array": (lambda x, _w: da.from_array(x), "da.from_array"),
    "to_dask_array": (lambda x, _w: x.to_dask_array(), "would take the value off the tape that is recording"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Passing an object to dask.array.from_array")
@pytest.mark.parametrize(("use", "words"), DOORS.values(), ids=DOORS.keys())
def test_functions_of_dask_lose_no_path(use: Callable[[Any, Any], Any], words: str) -> None:
    """While a tape records, they are refused; NumPy's functions of the same names are not."""
    x, w = tm.constant(X), tm.Variable(np.ones(3))
    with tm.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(UnsupportedArgumentError, match=words):
            use(x, w)


def test_functions_of_dask_on_values_of_no_tape() -> None:
    """They compute with the Dask array, or are refused where they would take the tensor as a whole for one number."""
    x, w = tm.constant(X), tm.constant(np.ones(3))

    for found in (da.sum(x), da.stack([x, x]), da.where(x > 0, X, 0), da.concatenate([x, X])):
        assert type(da.utils.meta_from_array(found)) is np.ndarray
    assert type(da.exp(x)) is tm.Tensor
    with pytest.raises(UnsupportedArgumentError, match=r"write x.to_dask_array\(\) instead"):
        da.map_blocks(np.sin, x)
    with pytest.raises(UnsupportedArgumentError, match=r"write x.numpy\(\) instead of"):
        X.map_blocks(lambda a, b: a * b, b=w)


def test_operators_stay_on_the_tape() -> None:
    """Whatever side a bare Dask array is on."""
    x, w = tm.constant(X), tm.Variable(np.ones(3))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        found = [X @ w, X * w, w * X, X - x, x / X, np.dot(X, w), np.where(X > 0, w, 0.0)]
        found += [divmod(X, w)[1], X**w, np.concatenate([X, x])]
    for value in found:
        assert type(value) is tm.Tensor
        assert None in (grads := tape.gradient(value, [x, w])) or grads
        assert any(g is not None for g in grads)


@pytest.mark.thorough
def test_arrays_of_query_planning_are_refused() -> None:
    """Dask itself computes few functions of them."""
    lines = (
        "import dask.array as da, tapemagic as tm\n"
        "try: tm.constant(da.ones(3))\n"
        "except tm.errors.UnsupportedArgumentError as error: assert 'query-planning' in str(error)\n"
        "else: raise SystemExit('no error')"
    )
    chosen = {**os.environ, "DASK_ARRAY__QUERY_PLANNING": "True"}
    subprocess.run([sys.executable, "-c", lines], env=chosen, check=True)


def test_errors_of_dask_are_its_own() -> None:
    """A scheduler that is not there, a chunk that fails."""
    x = tm.constant(X)
    with pytest.raises(ValueError, match="Expected one of"):
        x.compute(scheduler="nonsense")

    def fails(_block: Any) -> Any:
        raise ZeroDivisionError("in a chunk")

    broken = tm.constant(X.map_blocks(fails, dtype=float, meta=np.empty((0, 0))))
    with pytest.raises(ZeroDivisionError, match="in a chunk"):
        np.sum(broken).compute(scheduler="synchronous")
