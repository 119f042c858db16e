"""fit with steps that are programs: the same values, histories and errors as with steps that run as they stand."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import NonFiniteError
from tapemagic.nn.models import training
from tapemagic.nn.models.train_steps import programs_of_steps

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(0)
X = RNG.random((22, 4), dtype="float32")
Y = RNG.integers(0, 3, 22)


def network(*between: Any) -> Any:
    """A model of two layers, with others between them."""
    return nn.Sequential([nn.Dense(6, activation="relu"), *between, nn.Dense(3)])


def programs_of(model: Any) -> Any:
    """The programs of a model's steps."""
    return programs_of_steps().__get__(model).programs


def fitted(eager: Any, model: Any = None, callbacks: Any = None, **options: Any) -> Any:
    """A model after training, and all values that it has then."""
    nn.set_random_seed(1)
    model = model or network()
    loss = nn.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(nn.optimizers.Adam(0.01), loss, metrics=["accuracy"], run_eagerly=eager)
    history = model.fit(X, Y, batch_size=8, verbose=0, callbacks=callbacks, **options).history
    return model, [*history.values(), *model.get_weights(), *model.optimizer.variables]


def same(a: Any, b: Any) -> bool:
    """Whether all arrays of two lists are equal."""
    return all(np.array_equal(np.asarray(x), np.asarray(y)) for x, y in zip(a, b, strict=True))


def halving() -> Any:
    """A callback that halves the learning rate at each epoch."""
    return [nn.callbacks.LearningRateScheduler(lambda _, rate: rate / 2)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"callbacks": halving()},
        {"validation_split": 0.2},
        {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}},
        {"shuffle": False, "callbacks": [nn.callbacks.EarlyStopping("loss", patience=1)]},
    ],
    ids=["plain", "rates", "validation", "weights", "stopping"],
)
def test_values_are_those_of_steps_as_they_stand(options: Any) -> None:
    """Values are those of steps as they stand."""
    model, found = fitted(False, epochs=4, **options)
    assert model.why_eager == ""
    assert programs_of(model)
    assert same(found, fitted(True, epochs=4, **options)[1])


def test_long_training_is_replayed_for_whole_batches(monkeypatch: Any) -> None:
    """Long training is replayed for whole batches."""
    assert not programs_of(fitted(None, epochs=3)[0])
    monkeypatch.setattr(training, "MIN_STEPS_TO_TRACE", 12)
    model, found = fitted(None, epochs=4)
    assert len(programs_of(model)) == 1
    assert same(found, fitted(True, epochs=4)[1])


def test_batch_normalization_and_penalties() -> None:
    """Batch normalization and penalties."""

    def made() -> Any:
        return nn.Sequential([nn.Dense(3, kernel_regularizer="l2"), nn.BatchNormalization()])

    model, found = fitted(False, made(), epochs=4)
    assert programs_of(model)
    assert same(found, fitted(True, made(), epochs=4)[1])


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.GaussianNoise(0.1), nn.Dropout(0.5, seed=3)])
def test_layers_that_draw_are_part_of_a_program_and_draw_the_same_numbers(layer: Any) -> None:
    """Layers that draw are part of a program, and draw the same numbers."""
    state = None if layer._own is None else layer._own.bit_generator.state
    model, found = fitted(False, network(layer), epochs=4)
    assert programs_of(model)
    assert model.why_eager == ""
    if state is not None:
        layer._own.bit_generator.state = state
    assert same(found, fitted(True, network(layer), epochs=4)[1])


def test_a_loss_that_is_not_finite_leaves_the_weights_as_before_the_step() -> None:
    """A loss that is not finite leaves the weights as before the step."""
    model, _ = fitted(False, epochs=3)
    before = [*model.get_weights(), *(v.numpy() for v in model.optimizer.variables)]
    broken = X.copy()
    broken[5, 2] = np.nan
    stop = nn.callbacks.TerminateOnNaN(raise_error=True)
    with pytest.raises(NonFiniteError, match=r"step 1, example 5 .*x is nan at \[5, 2\]"):
        model.fit(broken[:8], Y[:8], batch_size=8, verbose=0, shuffle=False, callbacks=[stop])
    assert same([*model.get_weights(), *model.optimizer.variables], before)
    model.layers[0].kernel.assign(np.full((4, 6), np.nan))
    with pytest.raises(NonFiniteError, match="A weight was already nan or infinite"):
        model.fit(X, Y, batch_size=8, verbose=0, callbacks=[stop])


def test_weights_and_layers_may_be_changed_between_trainings() -> None:
    """Weights and layers may be changed between trainings."""
    found = []
    for eager in (True, False):
        model, _ = fitted(eager, epochs=3)
        model.set_weights([np.zeros_like(w) for w in model.get_weights()])
        model.layers[0].trainable = False
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
        found.append(model.get_weights())
    assert same(*found)


def test_a_step_of_a_class_of_ones_own_is_called_each_time() -> None:
    """A step of a class of one's own is called each time."""

    class Counting(nn.Sequential):
        steps = 0

        def train_step(self, data: Any) -> Any:
            type(self).steps += 1
            return super().train_step(data)

    fitted(False, Counting([nn.Dense(3)]), epochs=2)
    assert Counting.steps == 6


def test_a_tape_that_is_live_records_the_steps() -> None:
    """A tape that is live records the steps."""
    model, _ = fitted(False, epochs=3)
    with tm.GradientTape(persistent=True) as tape:
        model.fit(X[:8], Y[:8], batch_size=8, verbose=0)
        y = model(X[:2])
    assert tape.gradient(y, model.layers[0].kernel) is not None


@pytest.mark.parametrize("eager", [True, False])
def test_threads_that_train_one_model_lose_no_step(eager: bool) -> None:
    """Threads that train one model lose no step."""
    model, _ = fitted(eager, epochs=2)
    before = int(model.optimizer.iterations)

    def train() -> None:
        for _ in range(10):
            model.train_on_batch(X, Y)

    threads = [threading.Thread(target=train) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(model.optimizer.iterations) == before + 30
