"""Training steps under tm.function: programs whose values are the eager ones to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tests.nn.program_cases import LAYERS, LOSSES, METRICS, OPTIMIZERS, STATEFUL, step_of

pytestmark = pytest.mark.thorough

LABELS = np.array([0, 1, 2, 0])


def as_it_stands(step: Any) -> Any:
    """The step itself."""
    return step


def bits(values: Any) -> list[bytes]:
    """The bits of values."""
    return [np.asarray(getattr(x, "_value", x)).tobytes() for x in values]


def trained(optimizer: Any, decorate: Any, steps: int = 8) -> Any:
    """The losses of some steps, all values of variables after them, and the step."""
    rng = np.random.default_rng(0)
    x = tm.constant(rng.random((4, 5), dtype="float32"))
    model = nn.Sequential([nn.Dense(3)])
    model.build((None, 5))
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    loss_of = nn.losses.SparseCategoricalCrossentropy(from_logits=True)
    variables = model.trainable_variables

    def step(x: Any, labels: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = loss_of(labels, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    step = decorate(step)
    losses = [step(x, LABELS) for _ in range(steps)]
    return [*losses, *model.variables, *optimizer.variables], step


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_steps_of_an_optimizer(make: Any) -> None:
    """Steps of an optimizer."""
    eager, _ = trained(make(), as_it_stands)
    replayed, step = trained(make(), tm.function)
    assert step.why_eager == ""
    assert step.programs
    assert bits(replayed) == bits(eager)


def test_the_program_of_a_step_with_adam_reads_as_by_hand() -> None:
    """The program of a step with adam reads as by hand."""
    _, step = trained(nn.optimizers.Adam(), tm.function, steps=3)
    source = step.source()
    assert "learning_rate * np.sqrt(1 - 0.999**u" in source
    assert "empty_like" not in source
    assert "np.copy" not in source


@pytest.mark.parametrize(("shape", "make"), LAYERS.values(), ids=LAYERS)
def test_steps_through_layers(shape: Any, make: Any) -> None:
    """Steps through layers."""
    results = []
    for decorate in (as_it_stands, tm.function):
        nn.set_random_seed(0)
        x = np.random.default_rng(1).random(shape, dtype="float32")
        step, variables = step_of(make(), x, decorate)
        losses = [step(x) for _ in range(5)]
        results.append(bits([*losses, *variables]))
    assert step.why_eager == ""
    assert results[0] == results[1]


def test_steps_through_an_embedding() -> None:
    """Steps through an embedding."""
    results = []
    for decorate in (as_it_stands, tm.function):
        nn.set_random_seed(0)
        words = np.arange(12).reshape(3, 4) % 7
        model = nn.Sequential([nn.Embedding(7, 3), nn.GlobalAveragePooling1D(), nn.Dense(2)])
        step, variables = step_of(model, words, decorate)
        losses = [step(words) for _ in range(5)]
        results.append(bits([*losses, *variables]))
    assert step.why_eager == ""
    assert results[0] == results[1]
    with pytest.raises(tm.errors.OptionError, match="vectors for the numbers from 0 to 6"):
        step(words + 1)


DRAWING = [
    nn.Dropout(0.5), nn.Dropout(0.5, noise_shape=(None, 1)), nn.GaussianNoise(0.1),
    nn.GaussianDropout(0.3), nn.AlphaDropout(0.3),
]  # fmt: skip


@pytest.mark.parametrize("layer", DRAWING, ids=lambda layer: type(layer).__name__)
def test_layers_that_draw_random_numbers_draw_again_at_each_call(layer: Any) -> None:
    """A program draws the numbers that the function draws."""
    x = np.ones((4, 3), "float32")
    results = []
    for decorate in (as_it_stands, tm.function):
        nn.set_random_seed(0)
        step, variables = step_of(nn.Sequential([nn.Dense(3), layer]), x, decorate)
        losses = [step(x) for _ in range(5)]
        results.append(bits([*losses, *variables]))
    assert results[0] == results[1]
    assert len(step.programs) == 1
    assert len(set(map(float, losses))) == 5


@pytest.mark.parametrize(("make", "y_true", "y_pred"), LOSSES.values(), ids=LOSSES)
def test_losses(make: Any, y_true: Any, y_pred: Any) -> None:
    """Losses."""
    loss_of = make()

    def f(y_true: Any, y_pred: Any, weights: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(y_pred)
            loss = loss_of(y_true, y_pred, sample_weight=weights)
        return loss, tape.gradient(loss, y_pred)

    weights = np.linspace(0.5, 1, len(y_true), dtype="float32")
    given = y_true, tm.constant(y_pred), weights
    traced = tm.function(f)
    for _ in range(3):
        found = traced(*given)
    assert len(traced.programs) == 1, traced.why_eager
    assert bits(found) == bits(f(*given))


@pytest.mark.parametrize(("make", "y_true", "y_pred"), METRICS.values(), ids=METRICS)
def test_metrics(make: Any, y_true: Any, y_pred: Any) -> None:
    """Metrics."""
    metric = make()

    def f(y_true: Any, y_pred: Any) -> Any:
        metric.update_state(y_true, y_pred)
        return metric.result()

    eager = [f(y_true, y_pred) for _ in range(5)] + [v.numpy() for v in metric.variables]
    metric.reset_state()
    traced = tm.function(f)
    replayed = [traced(y_true, y_pred) for _ in range(5)] + metric.variables
    assert len(traced.programs) == 1, traced.why_eager
    assert bits(replayed) == bits(eager)


def test_a_label_that_is_no_class_is_an_error_also_after_replays() -> None:
    """A label that is no class is an error also after replays."""
    _, step = trained(nn.optimizers.SGD(), tm.function, steps=3)
    x = tm.constant(np.zeros((4, 5), "float32"))
    with pytest.raises(tm.errors.OptionError, match="the label 3 at"):
        step(x, LABELS + 1)


@pytest.mark.parametrize("number", STATEFUL)
def test_what_is_assigned_between_steps_counts(number: Any) -> None:
    """A learning rate that is assigned between steps counts."""
    results = []
    for decorate in (as_it_stands, tm.function):
        optimizer = nn.optimizers.Adam(0.1)
        _, step = trained(optimizer, decorate, steps=4)
        optimizer.learning_rate = number
        x = tm.constant(np.ones((4, 5), "float32"))
        results.append(bits([step(x, LABELS), *optimizer.variables]))
    assert results[0] == results[1]
