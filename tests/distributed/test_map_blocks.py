"""A function of blocks as an operation on the tape, against the same function of whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from threading import Lock
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic import errors
from tapemagic.distributed import map_blocks

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(7, 4))
ROW = RANDOM.normal(size=4)
CUT = ((3, 0, 4), (1, 3))


@pytest.fixture(autouse=True)
def synchronous() -> Iterator[None]:
    """No threads, which these small arrays do not need."""
    with dask.config.set(scheduler="synchronous"):
        yield


def refuse(*_args: Any, **_options: Any) -> Any:
    """A scheduler that computes nothing."""
    raise AssertionError("something was computed")


def both(run: Callable[..., Any], *arrays: Any, cut: Any = CUT) -> tuple[list[Any], list[Any]]:
    """The results of a program on whole arrays, and on blocks, which are computed all at once."""
    want = run(lambda f, *args, **_: f(*args), *map(tm.constant, arrays))
    lazy = [tm.constant(da.from_array(x, chunks=cut[-x.ndim :] if x.ndim else ())) for x in arrays]
    with dask.config.set(scheduler=refuse):
        got = run(map_blocks, *lazy)
    return [np.asarray(x) for x in want], [x.numpy() for x in dask.compute(*got)]


def assert_same(pair: tuple[list[Any], list[Any]]) -> None:
    """All results are equal up to rounding, and have the same dtypes."""
    for a, b in zip(*pair, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-14)


def f(x: Any, v: Any, s: Any) -> Any:
    """Of a block, of what is added to each of its rows, and of two numbers in memory."""
    return np.sin(x * s[0]) * v + s[1] * x**2


@pytest.mark.parametrize("order", [1, 2])
def test_gradients(order: int) -> None:
    """First and second derivatives, in lazy tensors, in those that are broadcast, and in variables."""
    s = tm.Variable([0.3, 0.7])

    def run(apply: Any, x: Any, v: Any) -> Any:
        with tm.GradientTape(persistent=True) as outer:
            outer.watch([x, v])
            with tm.GradientTape() as tape:
                tape.watch([x, v])
                loss = np.sum(apply(f, x, v, s) ** 2)
            first = tape.gradient(loss, [x, v, s])
            norm = np.sum(np.cos(first[0])) + np.sum(first[1] ** 2) + np.sum(first[2] ** 3)
        return [loss, *first] if order == 1 else outer.gradient(norm, [x, v, s])

    assert_same(both(run, X, ROW))


@pytest.mark.parametrize("part", range(3))
def test_second_derivatives_of_one_part(part: int) -> None:
    """The gradient of one of several gradients, the others of which nothing depends on."""
    s = tm.Variable([0.3, 0.7])

    def run(apply: Any, x: Any, v: Any) -> Any:
        with tm.GradientTape() as outer:
            outer.watch([x, v])
            with tm.GradientTape() as tape:
                tape.watch([x, v])
                loss = np.sum(apply(f, x, v, s))
            norm = np.sum(tape.gradient(loss, [x, v, s])[part] ** 2)
        return outer.gradient(norm, [x, v, s], unconnected_gradients="zero")

    assert_same(both(run, X, ROW))


def test_several_gradients_at_once() -> None:
    """The rule takes gradients with one more axis in front, as the rows of a Jacobian are."""
    x, s = tm.constant(da.from_array(X, chunks=CUT)), tm.Variable([0.3, 0.7])
    with tm.GradientTape() as tape:
        tape.watch(x)
        map_blocks(lambda x, s: s[0] * x**2 + s[1], x, s)
    record = tape.records[0]
    rows = tm.constant(
        da.stack([da.ones((7, 4), chunks=CUT), da.arange(28.0).reshape(7, 4).rechunk(CUT)])
    )
    rule: Any = record.operation.joint_rule

    found = rule((0, 1), rows, tm.constant(record.output), x, s.value(), **record.params)

    weights = np.stack([np.ones((7, 4)), np.arange(28.0).reshape(7, 4)])
    got = [g.numpy() for g in dask.compute(*found)]
    np.testing.assert_allclose(got[0], weights * 0.6 * X)
    sums = [[(g * X**2).sum(), g.sum()] for g in weights]
    np.testing.assert_allclose(got[1], sums)


def test_complex_numbers() -> None:
    """Complex gradients follow the convention of tapes."""
    w = tm.Variable([0.5 - 2j])

    def run(apply: Any, z: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(z)
            loss = np.sum(np.abs(apply(lambda z, w: np.exp(z) * w[0] * z, z, w)) ** 2)
        return [loss, *tape.gradient(loss, [z, w])]

    assert_same(both(run, X + 1j * X[::-1]))


def test_float32() -> None:
    """The dtypes are those of the function."""

    def run(apply: Any, x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = apply(np.exp, x)
        return [y, tape.gradient(y, x)]

    want, got = both(run, X.astype("f"))
    assert [np.float32] * 2 == [x.dtype for x in got]
    np.testing.assert_allclose(got[1], want[1], rtol=1e-6)


def test_one_tensor_twice() -> None:
    """A tensor given twice has the sum of both gradients."""

    def run(apply: Any, x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = apply(lambda a, b: a * np.sin(b), x, x)
        return [tape.gradient(y, x)]

    assert_same(both(run, X))


def test_what_is_not_used() -> None:
    """The gradient of an argument that the function ignores is zeros; of a result that is constant, too."""
    x, w = tm.constant(da.ones((4,), chunks=2)), tm.Variable(2.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = map_blocks(lambda x, _: x * 1.0, x, w)
        constant = map_blocks(lambda x, _: np.ones(x.shape), x, w)

    assert 0.0 == tape.gradient(y, w).compute().numpy()
    assert [0.0] * 4 == tape.gradient(constant, x).compute().numpy().tolist()


def test_axes_that_come_and_go() -> None:
    """Axes in one block may be dropped, new ones added, and lengths of blocks changed."""
    x = tm.constant(da.from_array(X, chunks=((3, 4), (4,))))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        rows = map_blocks(lambda x: np.linalg.norm(x, axis=1), x, drop_axis=1)
        pairs = map_blocks(
            lambda x: np.stack([x[:, 0], x[:, 1] ** 2]),
            x,
            drop_axis=-1,
            new_axis=0,
            chunks=(2, (3, 4)),
        )
        halves = map_blocks(lambda x: x[::2] ** 2, x, chunks=((2, 2), (4,)))
    gradients = [tape.gradient(y, x) for y in (rows, pairs, halves)]
    got = [y.numpy() for y in dask.compute(rows, pairs, halves, *gradients)]

    norms = np.linalg.norm(X, axis=1)
    zeros, kept = np.zeros((7, 2)), np.isin(np.arange(7), [0, 2, 3, 5])[:, None]
    want = [norms, np.stack([X[:, 0], X[:, 1] ** 2]), X[kept[:, 0]] ** 2]
    want += [X / norms[:, None], np.c_[np.ones(7), 2 * X[:, 1], zeros], 2 * X * kept]
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a)


def test_what_dask_does_not_know() -> None:
    """A function with no lazy way of its own, row by row."""

    def run(apply: Any, x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = apply(lambda x: np.sort(x, axis=1) * np.arange(4.0), x, dtype=float)
        return [y, tape.gradient(y, x)]

    assert_same(both(run, X, cut=((3, 4), (4,))))


def test_values_at_the_call() -> None:
    """The function keeps what it refers to as it was, although it is computed later."""
    scale = tm.Variable(2.0)
    y = map_blocks(lambda x: scale * x, da.ones(3, chunks=2))
    scale.assign(5.0)

    assert [2.0] * 3 == y.compute().numpy().tolist()


GLOBAL = tm.Variable(3.0)


def ignoring(_: Any, x: Any) -> Any:
    """The second argument."""
    return x


def reads_global(x: Any) -> Any:
    """A function of this module, which is pickled by its name."""
    return GLOBAL * x


def test_variables_of_modules() -> None:
    """A variable of an imported module is refused when the function reads it: it may differ by then, and elsewhere."""
    y = map_blocks(reads_global, da.ones(3))

    with pytest.raises(errors.UnsupportedArgumentError, match="'Variable' of an imported module"):
        y.compute()


def test_variables_that_a_tape_watches() -> None:
    """A gradient that would get lost is refused."""
    w, x = tm.Variable(2.0), tm.constant(da.ones(3))
    with tm.GradientTape(), pytest.raises(errors.UnsupportedArgumentError, match="as an argument"):
        map_blocks(lambda x: w * x, x)
    with tm.GradientTape(watch_accessed_variables=False):
        assert (3,) == map_blocks(lambda x: w * x, x).shape


UNKNOWN = da.ones(3)[da.ones(3) > 0]
LAZY = tm.constant(da.ones((6, 4), chunks=(2, 2)))
BAD_CALLS = {
    "no function": (errors.FunctionError, "a function", (3.0, LAZY), {}),
    "nothing lazy": (errors.OptionError, "needs a lazy argument", (np.sin, X), {}),
    "no arguments": (errors.OptionError, "needs a lazy argument", (np.sin,), {}),
    "text": (errors.NotNumbersError, "argument 1", (np.add, LAZY, "x"), {}),
    "cut differently": (errors.ShapeError, "rechunk", (np.add, LAZY, da.ones((6, 4), chunks=(3, 2))), {}),
    "other axes": (errors.ShapeError, "the last", (np.add, da.ones((6, 4), chunks=(2, 4)), da.ones(6, chunks=2)), {}),
    "a lock": (errors.FunctionError, "can't be pickled", (partial(ignoring, Lock()), LAZY), {}),
    "no dtype": (errors.OptionError, "write dtype='float64'", (lambda x: x[:, 1], LAZY), {}),
    "a bad dtype": (errors.DtypeError, "dtype", (np.sin, LAZY), {"dtype": "text"}),
    "a cut axis": (errors.OptionError, r"rechunk\({1: -1}\)", (np.sin, LAZY), {"drop_axis": 1}),
    "no such axis": (errors.OptionError, "2 axes", (np.sin, LAZY), {"drop_axis": 2}),
    "no axis": (errors.OptionError, "drop_axis must be an axis", (np.sin, LAZY), {"drop_axis": "rows"}),
    "a far axis": (errors.OptionError, "count from 0", (np.sin, LAZY), {"new_axis": 5}),
    "few chunks": (errors.OptionError, "2 axes of the result", (np.sin, LAZY), {"chunks": (2,)}),
    "odd chunks": (errors.OptionError, "axis of 3 blocks", (np.sin, LAZY), {"chunks": ((2, 2), 2)}),
    "unknown chunks": (errors.UnsupportedArgumentError, "compute_chunk_sizes", (np.sin, UNKNOWN), {}),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CALLS)
def test_bad_calls(kind: str) -> None:
    """What does not fit is refused at once, with words on what to write."""
    error, words, args, options = BAD_CALLS[kind]

    with pytest.raises(error, match=words):
        map_blocks(*args, **options)


def test_blocks_with_an_axis_less() -> None:
    """A block with another number of axes is refused with the options that say so."""
    y = map_blocks(lambda x: np.sum(x, axis=0), LAZY)

    with pytest.raises(errors.ShapeError, match=r"returned shape \(2,\).*drop_axis=.*new_axis="):
        y.compute(scheduler="sync")


def test_blocks_of_another_shape() -> None:
    """A block that is not as the result was declared is refused where it is computed, with its number."""
    y = map_blocks(lambda x: x[:1], LAZY)

    with pytest.raises(
        errors.ShapeError, match=r"shape \(1, 2\) for block \(\d, \d\), where \(2, 2\)"
    ):
        y.compute()


def test_an_error_on_one_block() -> None:
    """It is raised as it is, with a note."""

    def fails(x: Any) -> Any:
        if len(x) == 4:
            raise ZeroDivisionError("four")
        return x

    y = map_blocks(fails, da.from_array(X, chunks=CUT))
    with pytest.raises(ZeroDivisionError, match="four") as caught:
        y.compute()
    assert "fails was called on block (1, " in caught.value.__notes__[0]


def test_a_new_axis_of_length_1_beside_one_that_is_cut() -> None:
    """The result is broadcast, also where Dask would fuse the functions of both."""
    x = np.arange(24.0).reshape(12, 2)
    lazy, pair = (tm.constant(da.from_array(one, chunks=2)) for one in (x, np.array([3.0, 4.0])))

    scale = tm.distributed.map_blocks(
        lambda part: np.reshape(np.sum(part), (1, 1)), pair, drop_axis=0, new_axis=(0, 1)
    )

    sums = np.sum(lazy * scale + lazy, axis=0).compute(scheduler="sync")
    np.testing.assert_allclose(sums, (x * 7 + x).sum(axis=0))
