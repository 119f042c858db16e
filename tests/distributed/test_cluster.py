"""A cluster of two worker processes with little memory: the same gradients, and nothing left on the workers."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

import tapemagic as tm
from tapemagic import errors
from tapemagic.distributed import map_blocks, value_and_grad
from tapemagic.engine.tensor.tensor import unwrap
from tests.distributed import module_of_worker

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.thorough

LIMIT = 340_000_000
"""The bytes that a worker may use: of these, 180 million are for what Dask imports."""

BLOCKS, ROWS, COLUMNS = 54, 25_000, 128
"""Data of four times that."""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """The client of a cluster on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=LIMIT,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def factors(k: int) -> tuple[Any, Any]:
    """The numbers of a chunk of data are the products of these two vectors, one for its rows, one for its columns."""
    return np.sin(np.arange(ROWS) + k), np.linspace(0.5, 1.5, COLUMNS)


def data() -> tuple[da.Array, da.Array]:
    """Inputs and targets, neither of which is anywhere in memory."""
    rows = (ROWS,) * BLOCKS
    x = da.map_blocks(
        lambda block_id: np.outer(*factors(block_id[0])),
        chunks=(rows, (COLUMNS,)),
        dtype=float,
        meta=np.empty((0, 0)),
    )
    y = da.map_blocks(
        lambda block_id: factors(block_id[0])[0] + 1.0,
        chunks=(rows,),
        dtype=float,
        meta=np.empty(0),
    )
    return x, y


@pytest.mark.parametrize("way", ["a tape on each partition", "one tape of lazy tensors"])
def test_more_data_than_memory(client: Any, way: str) -> None:
    """Four times the memory of a worker passes without a spill, a pause or a restart, and leaves nothing behind."""
    x, y = data()
    assert x.nbytes >= 4 * LIMIT
    w = tm.Variable(np.linspace(-1, 1, COLUMNS))

    def loss(w: Any, x: Any, y: Any) -> Any:
        return np.mean((x @ w - y) ** 2)

    before = pids(client)
    if way == "a tape on each partition":
        found, gradient = value_and_grad(loss, (x, y))(w)
    else:
        with tm.GradientTape() as tape:
            lazy = loss(w, tm.constant(x), tm.constant(y))
        found, gradient = dask.compute(lazy, tape.gradient(lazy, w))

    assert before == pids(client)
    assert_quiet(client)
    pairs = [factors(k) for k in range(BLOCKS)]
    a, b = np.concatenate([pair[0] for pair in pairs]), pairs[0][1]
    error = a * (b @ w.numpy()) - a - 1.0
    np.testing.assert_allclose(found.numpy(), np.mean(error**2))
    np.testing.assert_allclose(gradient.numpy(), 2 * np.mean(error * a) * b)


def pids(client: Any) -> dict[str, int]:
    """The processes of the workers."""
    found: dict[str, int] = client.run(os.getpid)
    return found


def assert_quiet(client: Any) -> None:
    """No worker has spilled, is paused, or keeps anything."""
    spilled = client.run(lambda dask_worker: len(dask_worker.data.slow or ()))
    states = client.run(lambda dask_worker: dask_worker.status.name)
    logs = [text for lines in client.get_worker_logs().values() for _, text in lines]

    assert {0} == set(spilled.values())
    assert {"running"} == set(states.values())
    words = ("pausing", "spill", "restart", "exceeded")
    assert [text for text in logs if any(word in text.lower() for word in words)] == []
    wait_until(lambda: not any(client.has_what().values()))


def wait_until(holds: Any) -> None:
    """Wait for up to ten seconds."""
    for _ in range(100):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it does not come true")


def small() -> tuple[da.Array, da.Array, Any]:
    """Data of a few numbers, and parameters."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    params = [tm.Variable([0.3, -1.0, 2.0]), tm.Variable(0.5)]
    return da.from_array(x, chunks=(7, 3)), da.from_array(y, chunks=7), params


def mean_loss(params: Any, x: Any, y: Any) -> Any:
    """The mean of squares of a model with a nonlinearity."""
    return np.mean((np.tanh(x @ params[0]) + params[1] - y) ** 2)


def test_both_ways_agree(client: Any) -> None:
    """A tape on each partition, and one tape for lazy tensors, computed by the cluster, and NumPy's."""
    x, y, params = small()
    with dask.config.set(scheduler="synchronous"):
        whole = [tm.constant(part) for part in dask.compute(x, y)]
    with tm.GradientTape() as tape:
        tape_loss = mean_loss(params, *whole)
    want = [tape_loss, *tape.gradient(tape_loss, params)]

    loss, gradients = value_and_grad(mean_loss, (x, y))(params)
    with tm.GradientTape() as lazy_tape:
        lazy_loss = mean_loss(params, tm.constant(x), tm.constant(y))
    lazy = dask.compute(lazy_loss, *lazy_tape.gradient(lazy_loss, params))
    for a, b, c in zip(want, [loss, *gradients], lazy, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy())
        np.testing.assert_allclose(c.numpy(), a.numpy())
    assert_quiet(client)


def test_blocks(client: Any) -> None:
    """A function of blocks and its gradient, in one computation."""
    x, _, (w, _) = small()
    with tm.GradientTape() as tape:
        y = np.sum(map_blocks(lambda x, w: np.sin(x * w), x, w))
    loss, gradient = dask.compute(y, tape.gradient(y, w))

    numbers = x.compute()
    np.testing.assert_allclose(loss.numpy(), np.sin(numbers * w.numpy()).sum())
    np.testing.assert_allclose(
        gradient.numpy(), (np.cos(numbers * w.numpy()) * numbers).sum(axis=0)
    )
    del y, loss, gradient, tape
    assert_quiet(client)


def test_an_error_is_shown_once(client: Any) -> None:
    """The loss raises on a worker: its own error arrives, with the partition."""
    x, y, params = small()

    with pytest.raises(ZeroDivisionError, match="four rows") as caught:
        value_and_grad(fails, (x, y))(params)

    shown = "".join(traceback.format_exception(caught.value))
    assert 1 == shown.count("ZeroDivisionError: four rows")
    assert ["fails was called on partition 8 of 9, counted from 0."] == caught.value.__notes__
    wait_until(lambda: not any(client.has_what().values()))


def test_many_parameters_are_sent_without_a_warning(client: Any) -> None:
    """Parameters of more than the size of graph of which Dask warns."""
    w = tm.Variable(np.ones(2_000_000))
    loss, gradient = value_and_grad(lambda w, x: np.mean(x) * np.mean(w), da.ones(9, chunks=3))(w)

    assert 1.0 == loss.numpy()
    np.testing.assert_allclose(gradient.numpy(), 5e-7)
    assert_quiet(client)


class Counted:
    """Something that a loss refers to, and that counts how often it is pickled in this process."""

    pickles = 0

    def __reduce__(self) -> Any:
        Counted.pickles += 1
        return Counted, ()


def test_parameters_are_sent_once(client: Any) -> None:
    """The loss with its parameters is pickled once for all partitions of a call."""
    x, y, params = small()
    content = Counted()

    def loss(params: Any, x: Any, y: Any) -> Any:
        assert isinstance(content, object)
        return mean_loss(params, x, y)

    value_and_grad(loss, (x, y))(params)

    assert 1 == Counted.pickles
    assert_quiet(client)


def fails(params: Any, x: Any, y: Any) -> Any:
    """A loss that raises on the last partition."""
    if len(x) == 4:
        raise ZeroDivisionError("four rows")
    return mean_loss(params, x, y)


def test_a_pool_of_processes() -> None:
    """Dask's scheduler of processes without a cluster."""
    x, y, params = small()
    with dask.config.set(scheduler="synchronous"):
        want = value_and_grad(mean_loss, (x, y))(params)
    with dask.config.set(scheduler="processes", num_workers=2):
        got = value_and_grad(mean_loss, (x, y))(params)
        with pytest.raises(ZeroDivisionError, match="four rows") as caught:
            value_and_grad(fails, (x, y))(params)

    assert ["fails was called on partition 8 of 9, counted from 0."] == caught.value.__notes__
    assert want[0].numpy() == got[0].numpy()
    for a, b in zip(want[1], got[1], strict=True):
        np.testing.assert_array_equal(b.numpy(), a.numpy())


def test_variables_of_modules(client: Any) -> None:  # noqa: ARG001 (is current)
    """A variable that a worker imports anew is refused, since it lacks what was assigned here."""
    module_of_worker.SCALE.assign(5.0)

    with pytest.raises(errors.UnsupportedArgumentError, match="'SCALE' of an imported module"):
        value_and_grad(module_of_worker.scaled, da.ones(4, chunks=2))(1.0)


@pytest.mark.parametrize("way", ["a cluster", "a pool of processes"])
def test_computed_values_are_kept(client: Any, way: str) -> None:  # noqa: ARG001 (is current)
    """What another process computes by ``dask.compute`` appears in reports of this one."""
    options = {"scheduler": "processes"} if way == "a pool of processes" else {}
    x, w = tm.constant(da.ones((6, 2), chunks=2)), tm.Variable([1.0, 2.0])
    with tm.GradientTape() as tape:
        loss = np.sum((x @ w) ** 2)
    gradient = tape.gradient(loss, w)
    found = dask.compute(loss, {"w": gradient}, **options)

    assert isinstance(found[0], tm.Tensor)
    assert 54.0 == found[0] == unwrap(loss).computed
    np.testing.assert_array_equal(unwrap(gradient).computed, [36.0, 36.0])
    np.testing.assert_array_equal(found[1]["w"], [36.0, 36.0])


def test_progress(client: Any, capsys: Any) -> None:
    """Dask's bar for clusters."""
    x, y, params = small()
    value_and_grad(mean_loss, (x, y), progress=True)(params)

    assert "Completed" in capsys.readouterr().out
    assert_quiet(client)


def test_a_closed_client(client: Any) -> None:
    """Dask's own error, with a sentence on the scheduler."""
    x, y, params = small()
    with distributed.Client(client.cluster) as second:
        closed = second
    with (
        dask.config.set(scheduler=closed),
        pytest.raises(Exception, match="Client is closed") as caught,
    ):
        value_and_grad(mean_loss, (x, y))(params)

    assert "<Client: No scheduler connected>" in caught.value.__notes__[0]


def test_a_worker_is_killed(client: Any, tmp_path: Any) -> None:
    """Its partitions are computed anew by another one, with the same result."""
    x, y, params = small()
    want = value_and_grad(mean_loss, (x, y))(params)
    marker = tmp_path / "killed"

    def loss(params: Any, x: Any, y: Any) -> Any:
        if len(x) == 4 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return mean_loss(params, x, y)

    got = value_and_grad(loss, (x, y))(params)

    assert marker.exists()
    assert want[0].numpy() == got[0].numpy()
    for a, b in zip(want[1], got[1], strict=True):
        np.testing.assert_array_equal(b.numpy(), a.numpy())
    client.wait_for_workers(2, timeout=30)


def test_overlapping_results_are_computed_at_the_same_time(client: Any) -> None:
    """The graphs have tasks in common, and other bundles of them."""
    rows = np.random.default_rng(0).normal(size=(24, 3))
    w = tm.Variable([0.5, -1.0, 2.0])

    def results(x: Any) -> Any:
        with tm.GradientTape() as tape:
            z = x @ w
            loss = np.sum(np.tanh(z)) * np.mean(np.exp(z)) + np.sqrt(np.sum(z**2))
        return loss, tape.gradient(loss, w)

    halves = [da.from_array(part, chunks=(2, 3)) for part in (rows[:12], rows[12:])]
    loss, gradient = results(tm.constant(da.concatenate(halves)))
    futures = [client.compute(part) for part in ([loss], [loss, gradient], [gradient])]
    expected = results(tm.constant(rows))
    for future, wanted in zip(futures, (expected[:1], expected, expected[1:]), strict=True):
        for one, other in zip(client.gather(future), wanted, strict=True):
            np.testing.assert_allclose(one, other)
