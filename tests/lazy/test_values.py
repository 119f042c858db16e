"""Dask arrays as the values of tensors: whatever the engine does beside the rules, and that it computes nothing."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.base import tokenize

import tapemagic as tm
from tapemagic import nn, tf
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.nest import leaves
from tapemagic.errors import EagerWarning, FunctionError
from tests.lazy.lazy_cases import raising

rng = np.random.default_rng(0)
DATA, LABELS, WEIGHTS = rng.normal(size=(12, 3)), rng.normal(size=12), rng.normal(size=3)


@pytest.fixture(autouse=True)
def never_computing() -> Iterator[None]:
    """A scheduler that raises, unless a test names another one."""
    with dask.config.set(scheduler=raising):
        yield


def lazy(array: Any) -> Any:
    """A Dask array in ragged chunks."""
    cuts = ((5, 7), (2, 1))
    return da.from_array(array, chunks=cuts[: array.ndim])


def numbers(found: Any) -> list[Any]:
    """The arrays in a structure of tensors, computed; None stays."""
    return [
        None if x is None else x.numpy()
        for x in leaves(dask.compute(found, scheduler="synchronous")[0])
    ]


def loss(x: Any, y: Any, w: Any) -> Any:
    """A mean squared error."""
    return np.mean((x @ w - y) ** 2)


def gradient(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """The value and the gradients in all inputs."""

    def of(x: Any, y: Any, w: Any) -> Any:
        with tm.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            value = function(x, y, w)
        return value, tape.gradient(value, [x, y, w], **options)

    return of


def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function of a tape, its target and the inputs gives."""

    def of(target: Callable[..., Any]) -> Callable[..., Any]:
        def run(x: Any, y: Any, w: Any) -> Any:
            with tm.GradientTape(persistent=True) as tape:
                tape.watch(x)
                value = target(x, y, w)
            return function(tape, value, x, y, w)

        return run

    return of


def twice(x: Any, y: Any, w: Any) -> Any:
    """A gradient of a gradient."""
    with tm.GradientTape() as outer:
        with tm.GradientTape() as inner:
            value = loss(np.tanh(x), y, w)
        slope = np.sum(inner.gradient(value, w) ** 2)
    return slope, outer.gradient(slope, w)


def two_tapes(x: Any, y: Any, w: Any) -> Any:
    """Two tapes that watch different values."""
    with tm.GradientTape() as one, tm.GradientTape(watch_accessed_variables=False) as other:
        other.watch(x)
        value = loss(x, y, w)
    return one.gradient(value, w), other.gradient(value, x), other.watched_variables()


@tm.custom_gradient
def softplus(x: Any) -> Any:
    """log(1 + exp(x))."""
    e = np.exp(x)
    return np.log1p(e), lambda upstream: upstream * (1 - 1 / (1 + e))


def weighed(seed: Callable[..., Any]) -> Callable[..., Any]:
    """Gradients with output_gradients."""

    def of(tape: Any, value: Any, x: Any, y: Any, w: Any) -> Any:
        return tape.gradient(value, [x, w], output_gradients=seed(x, y, w))

    return recorded(of)(lambda x, _, w: x @ w * x[:, 0])


def dense(x: Any, *_: Any) -> Any:
    """Two layers, and their gradients."""
    kernel = nn.initializers.RandomNormal(seed=1)
    model = nn.Sequential(
        [
            nn.layers.Dense(4, activation="tanh", kernel_initializer=kernel),
            nn.layers.BatchNormalization(),
            nn.layers.Dropout(0.5),
            nn.layers.Dense(1, kernel_initializer=kernel),
        ]
    )
    with tm.GradientTape() as tape:
        value = np.mean(model(x) ** 2)
    return value, tape.gradient(value, model.trainable_variables)


def tensorflow(x: Any, y: Any, w: Any) -> Any:
    """Functions and tensors under TensorFlow's names."""
    v = tf.Variable(w.numpy())
    with tf.GradientTape() as tape:
        error = tf.linalg.matvec(tf.convert_to_tensor(x), v) - y
        value = tf.reduce_mean(tf.where(error > 0, tf.square(error), -error))
    return value, tape.gradient(value, v)


CASES: dict[str, Callable[..., Any]] = {
    "a loss": gradient(loss),
    "a regularized loss": gradient(
        lambda x, y, w: np.sum(w**2) + np.sum(np.abs(w)) + loss(x, y, w) + loss(2 * x, y, w)
    ),
    "zeros": gradient(lambda _x, _y, w: np.sum(w * w), unconnected_gradients="zero"),
    "single precision": gradient(lambda x, y, w: np.sum(x.astype("f4") @ np.astype(w, "f4")) * np.sum(y.astype("f4"))),
    "complex": gradient(lambda x, _, w: np.abs(np.sum(x * 1j * w))),
    "a list of tensors": gradient(lambda _, y, w: np.sum(np.stack([y, y * 2])) * w[0]),
    "a nonlinear loss": gradient(lambda x, y, w: np.sqrt(loss(x, y, w))),
    "second order": twice,
    "two tapes": two_tapes,
    "several targets": recorded(lambda t, v, x, _y, w: t.gradient(v, [x, w]))(
        lambda x, y, w: [loss(x, y, w), np.sum(x), x]
    ),
    "output_gradients": weighed(lambda *_: np.arange(12.0)),
    "lazy output_gradients": weighed(lambda _x, y, _w: y),
    "one number as output_gradients": weighed(lambda *_: 2.0),
    "a Jacobian": recorded(lambda t, v, x, _y, w: t.jacobian(v, [x, w]))(lambda x, _, w: np.sum((x * w) ** 2, 0)),
    "a Jacobian of a number": recorded(lambda t, v, x, _y, w: t.jacobian(v, [x, w]))(loss),
    "a Jacobian of nothing": recorded(lambda t, v, x, _y, w: t.jacobian(v, [x, w]))(lambda x, _, w: (x[0] * w)[:0]),
    "a batch Jacobian": recorded(lambda t, v, x, *_: t.batch_jacobian(v, x))(lambda x, _, w: np.tanh(x * w)),
    "a Hessian": lambda x, y, w: tm.hessian(lambda w: loss(x, y, w))(w.read_value()),
    "value_and_grad": lambda x, y, w: tm.value_and_grad(loss, (0, 2))(x, y, w.read_value()),
    "jvp": lambda x, y, w: tm.jvp(lambda x: loss(np.tanh(x), y, w), [x], [x]),
    "jvp in parameters": lambda x, _, w: tm.jvp(lambda w: x @ w, [w.read_value()], [np.ones(3)]),
    "vjp": lambda x, y, w: tm.vjp(lambda w: x @ w, w.read_value())[1](y),
    "hvp": lambda x, y, w: tm.hvp(lambda w: loss(x, y, w))(w.read_value(), np.ones(3)),
    "custom_gradient": gradient(lambda x, y, w: np.sum(softplus(x @ w) * y)),
    "recompute_grad": gradient(lambda x, y, w: np.sum(tm.recompute_grad(np.tanh)(x @ w) * y)),
    "stop_gradient": gradient(lambda x, y, w: np.sum(tm.stop_gradient(x @ w) * y * (x @ w))),
    "grad_pass_through": gradient(lambda x, y, w: np.sum(tm.grad_pass_through(np.floor)(x @ w) * y)),
    "a lazy condition": gradient(lambda x, _, w: np.sum(np.where(np.sum(x) > 0, x, 2 * x) * w)),
    "layers": dense,
    "cross-entropy": gradient(lambda x, y, w: nn.losses.BinaryCrossentropy(from_logits=True)(y > 0, x @ w)),
    "TensorFlow's names": tensorflow,
}  # fmt: skip


@pytest.mark.parametrize("function", CASES.values(), ids=CASES.keys())
def test_lazy_values_give_what_arrays_give(function: Callable[..., Any]) -> None:
    """In value, shape and dtype, and nothing is computed on the way."""
    found = function(tm.constant(lazy(DATA)), tm.constant(lazy(LABELS)), tm.Variable(WEIGHTS))
    expected = function(tm.constant(DATA), tm.constant(LABELS), tm.Variable(WEIGHTS))

    assert any(is_lazy(getattr(x, "_value", None)) for x in leaves(found))
    assert len(leaves(found)) == len(leaves(expected))
    for a, b in zip(numbers(found), numbers(expected), strict=True):
        if b is None:
            assert a is None
            continue
        np.testing.assert_allclose(a, b, 1e-6)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)


def test_text_says_what_is_known() -> None:
    """Shape, dtype and chunks."""
    x = tm.constant(lazy(DATA))

    assert repr(x) == "Tensor(dask.array<shape=(12, 3), dtype=float64, chunksize=(7, 2)>)"
    assert f"{x[0, 0]}" == "dask.array<shape=(), dtype=float64, chunksize=()>"
    assert repr(x > 0) == "dask.array<shape=(12, 3), dtype=bool, chunksize=(7, 2)>"
    assert repr(tf.constant(lazy(DATA))[0, 0]) == (
        "<tf.Tensor: dask.array<shape=(), dtype=float64, chunksize=()>>"
    )
    assert (x.shape, x.ndim, x.size, x.nbytes, x.dtype) == ((12, 3), 2, 36, 288, np.float64)
    assert x.chunks == ((5, 7), (2, 1))


def test_the_array_is_kept_as_it_is() -> None:
    """Without a copy; converted only where a dtype says so."""
    given = lazy(DATA)
    x = tm.constant(given)

    assert x.to_dask_array() is given
    assert tm.constant(x) is x
    assert tm.constant(given, dtype="float32").dtype == np.float32
    assert tm.constant(da.arange(6, chunks=2), dtype=float, shape=(2, 3)).shape == (2, 3)
    assert copy.deepcopy({"x": x})["x"] is x
    assert numbers(pickle.loads(pickle.dumps(x)))[0].tolist() == DATA.tolist()  # noqa: S301


def test_collections() -> None:
    """Dask's functions take tensors, and give tensors of the same kind; those in memory are none of its collections."""
    x, w = tm.constant(lazy(DATA)), tm.Variable(WEIGHTS)
    value = np.sum(x @ w)

    (found,) = dask.compute({"a": [value, w], "b": (x > 0, 1)}, scheduler="synchronous")
    assert found["a"][0].numpy() == pytest.approx(np.sum(DATA @ WEIGHTS))
    assert found["a"][1] is w
    assert type(found["b"][0]) is np.ndarray
    assert type(value.compute(scheduler="synchronous")) is tm.Tensor
    (eager,) = dask.compute(tf.constant(lazy(DATA)), scheduler="synchronous")
    assert type(eager) is type(tf.constant(1.0))
    assert [dask.is_dask_collection(t) for t in (x, value, x > 0)] == [True] * 3
    assert not any(map(dask.is_dask_collection, (w, tm.constant(1.0))))
    (same,) = dask.optimize(value)
    assert numbers(same)[0] == pytest.approx(np.sum(DATA @ WEIGHTS))


def test_tokens_tell_tensors_apart() -> None:
    """By their values, their classes, and the ids under which tapes know them."""
    given = lazy(DATA)
    x, y = tm.constant(given), tm.constant(given)
    tape = tm.GradientTape()
    with tape:
        tape.watch(y)
    tensors = [x, y, x[0, 0], x[1, 1], tf.constant(given), tm.constant(1.0), tm.constant(2.0)]
    tensors += [tm.Variable(1.0), tm.constant(np.ones(1)), tm.constant(np.ones(1, "f4"))]

    assert len(set(map(tokenize, tensors))) == len(tensors)
    assert tokenize(x) == tokenize(tm.constant(given))
    assert tokenize(tm.constant(2.0)) == tokenize(tm.constant(2.0))


KEEPING: dict[str, Callable[[Any], Any]] = {
    "x.persist()": lambda h: h.persist(scheduler="synchronous"),
    "dask.persist(x)": lambda h: dask.persist(h, scheduler="synchronous")[0],
    "dask.optimize(x)": lambda h: dask.optimize(h)[0],
    "x.rechunk(4)": lambda h: h.rechunk(4),
}


@pytest.mark.parametrize("how", KEEPING.values(), ids=KEEPING.keys())
def test_the_same_values_by_another_graph_are_on_the_tape(how: Callable[[Any], Any]) -> None:
    """They are known as the value that they come from, before and after."""

    def gradients(x: Any, other: Callable[[Any], Any]) -> Any:
        w = tm.Variable(WEIGHTS)
        with tm.GradientTape() as tape:
            h = np.tanh(x @ w)
            kept = other(h)
            value = np.sum(kept**2) + np.sum(h)
        return tape.gradient(value, [w, h, kept])

    found = numbers(gradients(tm.constant(lazy(DATA)), how))
    expected = numbers(gradients(tm.constant(DATA), lambda h: h))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b)


def test_the_way_back_reads_what_was_persisted() -> None:
    """Nothing of the way to it is computed again."""
    reads: list[int] = []

    def read(block: Any) -> Any:
        reads.append(len(block))
        return block

    w = tm.Variable(WEIGHTS)
    x = tm.constant(lazy(DATA).map_blocks(read, dtype=float, meta=np.empty((0, 0))))
    with tm.GradientTape() as tape:
        h = np.tanh(x * 2.0 + w).persist(scheduler="synchronous")
        value = np.sum(h)
    count = len(reads)
    numbers(tape.gradient(value, w))
    assert len(reads) == count == 4


@pytest.mark.parametrize("text", ["h.compute(**sync)", "dask.compute(h, **sync)[0]"])
def test_a_computed_value_has_left_the_tape(text: str) -> None:
    """And explain names the line."""
    names = {"tm": tm, "np": np, "dask": dask, "sync": {"scheduler": "synchronous"}}
    names |= {"x": tm.constant(lazy(DATA)), "w": tm.Variable(WEIGHTS)}
    lines = f"with tm.GradientTape() as tape:\n    h = x @ w\n    c = {text}\n    y = np.sum(c * c)"
    exec(lines, names)  # noqa: S102 (the text of a program is what is explained)
    tape: Any = names["tape"]

    assert tape.gradient(names["y"], names["w"]) is None
    said = " ".join(str(tape.explain(names["y"], names["w"])).split())
    assert "so the tape lost track of it" in said
    assert "compute()" in said


def test_tm_function_stays_eager() -> None:
    """With the reason, for lazy arguments and for what it reads; a program for arrays is not taken for lazy ones."""
    x, w = tm.constant(lazy(DATA)), tm.Variable(WEIGHTS)
    expected = np.sum(DATA @ WEIGHTS)

    given = tm.function(lambda x: np.sum(x @ w))
    for _ in range(3):
        given(tm.constant(DATA))
    with pytest.warns(EagerWarning, match="one of its arguments is a Dask array"):
        assert numbers(given(x))[0] == pytest.approx(expected)
    assert len(given.programs) == 1

    for reads, what in (
        (lambda v: np.sum(x @ v), "it reads x, a Dask array"),
        (
            lambda v, parts=(x,): np.sum(parts[0] @ v),
            r"it reads the default of parts\[0\], a Dask array",
        ),
        (lambda v: np.sum(tm.constant(lazy(DATA)) @ v), "it reads da, of the library dask"),
    ):
        read = tm.function(reads)
        with pytest.warns(EagerWarning, match=what):
            found = [numbers(read(tm.constant(WEIGHTS)))[0] for _ in range(3)]
        assert found == pytest.approx([expected] * 3)
        assert not read.programs
        assert re.match(what, read.why_eager)


def test_recompute_grad_compares_graphs() -> None:
    """Other random numbers in the second call are found."""
    w = tm.Variable(WEIGHTS)

    def noisy(w: Any) -> Any:
        return np.sum(tm.constant(da.random.default_rng().random((4, 3), chunks=2)) @ w)

    with tm.GradientTape() as tape:
        value = tm.recompute_grad(noisy)(w)
    with pytest.raises(FunctionError, match="returned a different Dask array"):
        tape.gradient(value, w)


def test_tapes_of_several_threads() -> None:
    """Each of its own."""
    found: list[Any] = []

    def work() -> None:
        x = tm.constant(lazy(DATA))
        with tm.GradientTape() as tape:
            tape.watch(x)
            value = np.sum(x**2)
        found.append(tape.gradient(value, x).compute(scheduler="synchronous").numpy())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for each in found:
        np.testing.assert_allclose(each, 2 * DATA)


def test_lazy_values_beside_large_arrays() -> None:
    """A tape drops dead records of arrays, and counts no bytes of lazy values, which take none."""
    x, w = tm.constant(da.ones((10**6, 10**3), chunks=10**6)), tm.Variable(np.ones(10**6))
    tape = tm.GradientTape(persistent=True)
    with tape:
        tape.watch(x)
        kept = [x * k for k in range(5)]
        for _ in range(20):
            np.sin(w)
    assert len(tape.records) < 20
    assert len(kept) == 5


def test_import_tapemagic_does_not_import_dask() -> None:
    """Neither does a program of arrays, with Dask installed or not."""
    lines = (
        "import sys, numpy as np, tapemagic as tm; x = tm.Variable([1.0, 2.0])\n"
        "with tm.GradientTape() as tape: y = np.sum(x * x)\n"
        "tape.gradient(y, x), tm.constant([[1.0]]), repr(y)\n"
        "assert not {'dask', 'distributed', 'tapemagic.lazy'} & set(sys.modules)\n"
    )
    for first in ("", "import sys; sys.modules['dask'] = None\n"):
        check = first + (lines if not first else lines.replace("'dask', ", ""))
        subprocess.run([sys.executable, "-c", check], check=True)


def test_numbers_of_a_value_that_was_changed_in_place() -> None:
    """What arrives after an operation in place is not kept: it is of the value before."""
    x = tm.constant(da.from_array(np.array([1, 2]), chunks=1))
    value = x._value
    join, args = x.__dask_postcompute__()
    np.add(value, 1, out=value)
    assert join([np.array([1]), np.array([2])], *args).numpy().tolist() == [1, 2]
    assert value.computed is None
