"""Memory: what nobody has a name for is freed at once, without the help of the garbage collector."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import ModelError
from tapemagic.nn.models.batches import ArrayBatches, ChunkedBatches

X = np.ones((8, 3), "float32")

pytestmark = pytest.mark.usefixtures("no_collector")


def stack() -> nn.Model:
    """A model that is built by a call."""
    return nn.Sequential([nn.Dense(3), nn.BatchNormalization(), nn.Dropout(0.1), nn.Dense(1)])


def declared() -> nn.Model:
    """A model whose input is declared."""
    return nn.Sequential([nn.Input((3,)), nn.Dense(3), nn.Dense(1)])


def functional() -> nn.Model:
    """A model between symbolic tensors, with an operator."""
    x = nn.Input((3,))
    return nn.Model(x, nn.Dense(1)(nn.Dense(3)(x) + x))


MODELS: list[Callable[[], nn.Model]] = [stack, declared, functional]


def fitted(model: nn.Model) -> list[Any]:
    """What was made for a training that is over."""
    model.compile("adam", "mse", metrics=["mae"])
    stopping = nn.callbacks.EarlyStopping(restore_best_weights=True)
    history = model.fit(X, X[:, :1], verbose=0, validation_split=0.5, callbacks=[stopping])
    model.evaluate(X, X[:, :1], verbose=0)
    model.predict(X, verbose=0)
    return [history, model.optimizer, model.optimizer.variables[-1]]


def stepped(model: nn.Model) -> list[Any]:
    """What was made for a training by an own loop."""
    optimizer = nn.optimizers.Adam(clipnorm=1.0)
    for _ in range(2):
        with tm.GradientTape() as tape:
            loss = np.mean(model(X, training=True) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return [tape, optimizer, optimizer.variables[-1]]


@pytest.mark.parametrize("use", [fitted, stepped])
@pytest.mark.parametrize("make", MODELS)
def test_models_are_freed(
    make: Callable[[], nn.Model], use: Callable[[nn.Model], list[Any]]
) -> None:
    """Models, weights, optimizers, tapes and histories go with their names."""

    def used() -> list[weakref.ref[Any]]:
        model = make()
        model(X)
        return [weakref.ref(x) for x in (*use(model), model, *model.variables)]

    assert [None] * 3 == [reference() for reference in used()[:3]]
    assert all(reference() is None for reference in used())


@pytest.mark.thorough
def test_training_needs_no_more_memory_with_time() -> None:
    """Neither fit nor an own loop leaves anything behind, nor cycles that the garbage collector has to find."""
    model = stack()
    fitted(model)
    stepped(model)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(30):
            fitted(model)
            stepped(model)
        cycles = gc.collect()  # which empties Python's lists of free objects, too
        growth = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert cycles == 0
    assert growth < 100_000


def test_a_history_alone_does_not_keep_the_model() -> None:
    """It says so; copies of a model have histories that know the copy."""
    model = stack()
    history = fitted(model)[0]
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert other.history.model is other
    assert history.model is model
    del model, other
    with pytest.raises(ModelError, match="the model of this History is gone"):
        _ = history.model


@pytest.mark.parametrize("in_chunks", [False, True])
@pytest.mark.parametrize("steps", [None, 6])
@pytest.mark.parametrize("count", [1, 4])
def test_batches_are_freed_after_an_epoch(in_chunks: bool, steps: int | None, count: int) -> None:
    """Also after one that stops early, and where the next one goes on: they hold no generator that holds them."""
    x = pytest.importorskip("dask.array").from_array(X, chunks=3) if in_chunks else X
    kind: Any = ChunkedBatches if in_chunks else ArrayBatches
    batches = kind(x, None, None, 2, steps=steps)
    gone = weakref.ref(batches)
    epoch = batches.epoch()
    for _ in range(count):
        next(epoch)
    del epoch, batches

    assert gone() is None
