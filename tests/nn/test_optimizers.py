"""Optimizers write into their variables' own arrays, refuse what is wrong before a change, and are saved."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.engine.tensor.variable import Variable, writable_array
from tapemagic.errors import (
    DtypeError,
    NotATensorError,
    NotNumbersError,
    OptionError,
    ShapeError,
    TapeError,
)
from tapemagic.nn.optimizers import schedules

CLASSES = ["SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "Nadam", "Lion"]


def made(kind: str, **options: Any) -> Any:
    """An optimizer of a class."""
    return getattr(nn.optimizers, kind)(**options)


def array_of(variable: Variable) -> Any:
    """The array in which a variable keeps its value."""
    return writable_array(variable)


def trained(optimizer: Any, variables: list[Variable], steps: int = 3) -> list[Any]:
    """The values of variables after steps towards 0."""
    for _ in range(steps):
        with tm.GradientTape() as tape:
            loss = sum(np.sum(v * v) for v in variables)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return [v.numpy() for v in variables]


# -- in place -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_a_training_loop_writes_into_the_same_arrays(kind: str) -> None:
    """The arrays of the variable and of all that is kept for it stay the same objects, and nothing is allocated."""
    w = tm.Variable(np.ones((200, 200), "float32"))
    g = tm.constant(np.full((200, 200), 0.5, "float32"))
    optimizer = made(kind, clipnorm=1.0)
    optimizer.apply([g], [w])
    arrays = [id(array_of(v)) for v in (w, *optimizer.variables) if v.ndim]

    tracemalloc.start()
    for _ in range(3):
        optimizer.apply([g], [w])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < w.numpy().nbytes / 4
    assert arrays == [id(array_of(v)) for v in (w, *optimizer.variables) if v.ndim]


@pytest.mark.parametrize("kind", CLASSES)
def test_a_large_variable_has_two_arrays_in_turns(kind: str) -> None:
    """Nothing is allocated then; a step is that of a small variable, and what was read before it keeps its numbers."""
    first = np.linspace(-1.0, 1.0, 1 << 17, dtype="float32").reshape(256, -1)
    w, small = tm.Variable(first), tm.Variable(first[:1])
    optimizer, alike, read = made(kind), made(kind), []
    for step in range(4):
        read.append((w.read_value(), w.numpy()))
        g = np.cos(w.numpy() + step)
        optimizer.apply([g], [w])
        alike.apply([g[:1]], [small])

    np.testing.assert_array_equal(w.numpy()[:1], small)
    for tensor, numbers in read:
        np.testing.assert_array_equal(tensor, numbers)

    gradient, arrays = tm.constant(g), []
    optimizer.apply([gradient], [w])
    tracemalloc.start()
    for _ in range(4):
        optimizer.apply([gradient], [w])
        arrays.append(id(array_of(w)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < first.nbytes / 4
    assert arrays[0] == arrays[2] != arrays[1] == arrays[3]


def test_a_model_is_trained_in_place() -> None:
    """In a loop with a tape, too, whose last tape, loss and gradients are still there."""
    model = nn.Sequential([nn.Dense(4, activation="relu"), nn.Dense(3)])
    x, labels = np.ones((5, 2), "float32"), np.arange(5) % 3
    model(x)
    variables, optimizer = model.trainable_variables, nn.optimizers.Adam()
    arrays = set()
    for _ in range(3):
        with tm.GradientTape() as tape:
            loss = np.mean(tm.sparse_softmax_cross_entropy(labels, model(x, training=True)))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        arrays.add(tuple(id(array_of(v)) for v in variables))

    assert len(arrays) == 1


def test_what_was_read_before_a_step_keeps_its_numbers() -> None:
    """A tensor, a view, an array of NumPy and a persistent tape see the values from before."""
    w = tm.Variable([1.0, 2.0])
    optimizer = nn.optimizers.SGD(0.25, momentum=0.5)
    with tm.GradientTape(persistent=True) as tape:
        read = w.read_value()
        part = w[:1]
        array = np.asarray(w)
        loss = np.sum(w * w)
    kept = optimizer.variables
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    velocity = optimizer.variables[-1].read_value()
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])

    assert len(kept) == 2
    np.testing.assert_array_equal(read, [1.0, 2.0])
    np.testing.assert_array_equal(part, [1.0])
    np.testing.assert_array_equal(array, [1.0, 2.0])
    np.testing.assert_array_equal(tape.gradient(loss, w), [2.0, 4.0])
    np.testing.assert_array_equal(velocity, [-0.5, -1.0])
    np.testing.assert_array_equal(w, [-0.25, -0.5])


def test_gradients_that_are_the_values_of_variables() -> None:
    """The gradient of a·b in b is a's own value: changing a first does not change it."""
    a, b = tm.Variable([2.0, 3.0]), tm.Variable([5.0, 7.0])
    with tm.GradientTape() as tape:
        loss = np.sum(a * b)
    nn.optimizers.SGD(1.0).apply(tape.gradient(loss, [a, b]), [a, b])

    np.testing.assert_array_equal(a, [-3.0, -4.0])
    np.testing.assert_array_equal(b, [3.0, 4.0])


def test_gradients_are_not_written_into() -> None:
    """Clipping and decay leave the gradient as it was."""
    g = np.array([3.0, 4.0])
    nn.optimizers.AdamW(clipnorm=1.0).apply([g], [tm.Variable([1.0, 2.0])])

    np.testing.assert_array_equal(g, [3.0, 4.0])


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_stay(kind: str, dtype: str) -> None:
    """Numbers and arrays, also those without elements, keep their dtype; a gradient of another dtype is cast."""
    variables = [tm.Variable(np.ones(shape, dtype)) for shape in ((), (2, 3), (0,))]
    optimizer = made(kind, learning_rate=0.1, global_clipnorm=1.0, weight_decay=0.1, use_ema=True)
    for _ in range(2):
        optimizer.apply([np.ones(v.shape) for v in variables], variables)

    assert {str(v.dtype) for v in variables} == {dtype}
    assert {str(v.dtype) for v in optimizer.variables} <= {dtype, "float32", "int64"}
    assert all(np.all(v.numpy() < 1) for v in variables)


def test_a_step_under_a_tape_is_seen_by_it() -> None:
    """A read after the step starts a new path, as after assign."""
    w = tm.Variable([3.0])
    with tm.GradientTape() as tape:
        first = w * w
        nn.optimizers.SGD(1.0).apply([np.array([1.0])], [w])
        second = w * w

    np.testing.assert_array_equal(first, [9.0])
    np.testing.assert_array_equal(second, [4.0])
    np.testing.assert_array_equal(tape.gradient(second, w), [4.0])


# -- what is wrong --------------------------------------------------------------------------------


def test_missing_gradients_warn() -> None:
    """The variables of gradients that are None stay, and are named once."""
    a, b = tm.Variable(1.0, name="a"), tm.Variable(2.0, name="b")
    optimizer = nn.optimizers.SGD(0.5)
    with pytest.warns(
        UserWarning, match=r"Gradients do not exist for variables \['b'\] when minimizing"
    ):
        optimizer.apply_gradients([(tm.constant(1.0), a), (None, b)])

    optimizer.apply_gradients([(tm.constant(1.0), a), (None, b)])
    assert (float(a), float(b)) == (0.0, 2.0)


def test_minimize_says_why_a_gradient_is_missing() -> None:
    """The tape knows that the loss does not depend on the variable."""
    a, b = tm.Variable(1.0, name="a"), tm.Variable(2.0, name="b")
    with pytest.warns(UserWarning, match="/db is None: b wasn't used while the tape recorded"):
        nn.optimizers.SGD().minimize(lambda: a * a, [a, b])
    with pytest.raises(OptionError, match="/db is None: b wasn't used while the tape recorded"):
        nn.optimizers.SGD().minimize(lambda: a * a, [b])


GOOD = tm.constant([1.0, 1.0])

WRONG: dict[str, tuple[Any, type[TapeError], str]] = {
    "nothing": ([], OptionError, "no variables to change"),
    "all None": ([(None, "w")], OptionError, "No gradients provided for any variable"),
    "no pairs": ([GOOD, GOOD], NotATensorError, r"zip\(gradients, variables\)"),
    "a tensor": (GOOD, NotATensorError, r"zip\(gradients, variables\)"),
    "three": ([(GOOD, "w", 1)], NotATensorError, "pairs"),
    "wrong order": ([("w", GOOD)], NotATensorError, "wrong order"),
    "foreign": (
        [(GOOD, "w"), (GOOD, tm.Variable(1.0, name="new"))],
        OptionError,
        "wasn't built for the variable 'new'",
    ),
    "no variable": ([(GOOD, "w"), (GOOD, GOOD)], NotATensorError, "changes variables"),
    "a part": ([(GOOD, "w"), (GOOD, tm.Variable([1.0, 2.0])[:1])], NotATensorError, "parts of them"),
    "integers": ([(GOOD, "w"), (1, tm.Variable(1, name="n"))], DtypeError, "'n' is int64"),
    "shape": ([(GOOD, "w"), (tm.constant([1.0]), "v")], ShapeError, r"'v' has the shape \(1,\), the variable \(2,\)"),
    "complex": ([(GOOD, "w"), (np.array([1j, 1]), "v")], DtypeError, "gradient of 'v' is complex128"),
    "text": ([(GOOD, "w"), ("no", "v")], NotATensorError, "'no' of type str"),
    "list": ([(GOOD, "w"), ([1.0, 1.0], "v")], NotATensorError, "gradient of 'v'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_gradients_change_nothing(case: str) -> None:
    """Everything is looked at before the first variable is changed."""
    pairs, error, message = WRONG[case]
    named = {name: tm.Variable([1.0, 2.0], name=name) for name in ("w", "v")}
    optimizer = nn.optimizers.Adam()
    optimizer.build(named.values())
    if isinstance(pairs, list) and all(isinstance(pair, tuple) for pair in pairs):
        pairs = [
            tuple(named.get(x, x) if isinstance(x, str) else x for x in pair) for pair in pairs
        ]

    with pytest.raises(error, match=message):
        optimizer.apply_gradients(pairs)

    assert all(v.numpy().tolist() == [1.0, 2.0] for v in named.values())
    assert int(optimizer.iterations) == 0
    assert all(not np.any(v.numpy()) for v in optimizer.variables[2:])


def test_a_failed_first_step_builds_nothing() -> None:
    """The optimizer can be used for other variables after that."""
    optimizer = nn.optimizers.Adam()
    with pytest.raises(ShapeError):
        optimizer.apply([tm.constant(1.0)], [tm.Variable([1.0, 2.0])])
    optimizer.apply([tm.constant(1.0)], [tm.Variable(1.0)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.optimizers.SGD(lr=0.1), "SGD doesn't take 'lr': write learning_rate=0.1"),
        (lambda: nn.optimizers.Adam(beta1=0.5), "write beta_1=0.5"),
        (lambda: nn.optimizers.Adam(wings=2), "Adam doesn't take 'wings': it takes learning_rate"),
        (lambda: nn.optimizers.SGD("fast"), "not 'fast': pass a number such as 0.01, a schedule"),
        (lambda: nn.optimizers.SGD(float("nan")), "a finite number, not nan"),
        (lambda: nn.optimizers.SGD(True), "not True"),
        (lambda: nn.optimizers.SGD(momentum=1.5), "momentum must be a number between 0 and 1, not 1.5"),
        (lambda: nn.optimizers.SGD(clipnorm=1, clipvalue=1), "pass one of clipnorm, clipvalue"),
        (lambda: nn.optimizers.SGD(clipnorm=-1), "clipnorm must be a number above 0, not -1"),
        (lambda: nn.optimizers.AdamW(weight_decay=None), "weight_decay must be a number of at least 0, not None"),
        (lambda: nn.optimizers.SGD(ema_overwrite_frequency=0), "an integer of at least 1"),
        (lambda: nn.optimizers.SGD(name=3), "a name must be"),
        (lambda: nn.optimizers.get("adm"), "did you mean 'adam'"),
        (lambda: nn.optimizers.get(3), "an optimizer is a name"),
        (lambda: nn.optimizers.SGD().minimize(tm.constant(1.0), []), "tape=tape"),
        (lambda: nn.optimizers.SGD().apply([1.0]), "doesn't know its variables yet"),
        (lambda: nn.optimizers.SGD().apply([1.0], []), "1 gradients for 0 variables"),
        (lambda: nn.optimizers.SGD().set_state({}), "isn't built yet"),
        (lambda: schedules.ExponentialDecay(0.1, 0, 0.9), "decay_steps must be a number above 0"),
        (lambda: schedules.PiecewiseConstantDecay([2, 1], [1, 2, 3]), "boundaries must increase"),
        (lambda: schedules.PiecewiseConstantDecay([1], [1]), "1 boundaries need 2 values, not 1"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(call: Any, message: str) -> None:
    """The message says what is taken instead."""
    with pytest.raises(OptionError, match=message.replace("(", r"\(")):
        call()


def test_a_schedule_of_text_is_refused() -> None:
    """A step is a number."""
    with pytest.raises(NotNumbersError, match="a number of steps"):
        schedules.CosineDecay(0.1, 10)("one")


def test_a_learning_rate_that_turns_bad() -> None:
    """A function that gives no number stops the step before it changes anything."""
    w = tm.Variable(1.0)
    with pytest.raises(OptionError, match="not nan"):
        nn.optimizers.SGD(lambda: float("nan")).apply([1.0], [w])
    assert float(w) == 1.0


# -- state ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_a_saved_state_goes_on_alike(kind: str) -> None:
    """State, copy, deep copy and pickle each continue as the original does."""
    w = tm.Variable(np.array([1.0, -2.0], "float32"), name="w")
    optimizer = made(kind, learning_rate=0.1)
    trained(optimizer, [w])

    again = type(optimizer).from_config(optimizer.get_config())
    mine = tm.Variable(w.numpy())
    again.build([mine])
    again.set_state(dict(zip(again.get_state(), optimizer.get_state().values(), strict=True)))
    deep, deep_w = copy.deepcopy([optimizer, w])
    pickled, pickled_w = pickle.loads(pickle.dumps([optimizer, w]))  # noqa: S301 (its own)
    same = copy.copy(optimizer)
    before = w.numpy()
    expected = trained(optimizer, [w])

    for other, variable in ((again, mine), (deep, deep_w), (pickled, pickled_w)):
        np.testing.assert_array_equal(trained(other, [variable]), expected)
    w.assign(before)
    np.testing.assert_array_equal(trained(same, [w]), expected)
    assert int(same.iterations) == int(optimizer.iterations) == 6


def test_a_state_of_another_optimizer() -> None:
    """Nothing is taken over of a state that does not fit."""
    a, b = nn.optimizers.Adam(), nn.optimizers.Adam()
    a.build([tm.Variable([1.0], name="w")])
    b.build([tm.Variable([1.0, 2.0], name="w")])
    with pytest.raises(ShapeError, match="shapes"):
        a.set_state(b.get_state())
    with pytest.raises(OptionError, match="unknown"):
        nn.optimizers.Adam().set_state(b.get_state())


def test_learning_rates_may_change() -> None:
    """A number, a schedule in its place, and a function."""
    optimizer = nn.optimizers.SGD(1.0)
    w = tm.Variable(0.0)
    optimizer.learning_rate = 0.5
    optimizer.apply([1.0], [w])
    optimizer.learning_rate = schedules.PiecewiseConstantDecay([1], [0.25, 0.125])
    optimizer.apply([1.0], [w])
    optimizer.apply([1.0], [w])
    assert float(w) == -0.875
    assert float(optimizer.learning_rate) == 0.125
    with pytest.raises(OptionError, match="follows PiecewiseConstantDecay"):
        optimizer.learning_rate = 0.5


def test_excluded_variables_do_not_decay() -> None:
    """By themselves or by a part of their names."""
    a, b, c = (tm.Variable(1.0, name=name) for name in ("dense/kernel", "dense/bias", "scale"))
    optimizer = nn.optimizers.SGD(1.0, weight_decay=0.5)
    optimizer.exclude_from_weight_decay([c], ["bias"])
    optimizer.apply([0.0, 0.0, 0.0], [a, b, c])
    assert [float(v) for v in (a, b, c)] == [0.5, 1.0, 1.0]


def test_an_optimizer_of_ones_own() -> None:
    """Keras's way: what is kept is made in build, and update_step assigns."""

    class Momentum(nn.optimizers.Optimizer):
        def build(self, variables: Any) -> None:
            super().build(variables)
            self.momenta = self.add_optimizer_variables(variables, "momentum")

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            (m,) = self.momenta
            self.assign(m, m * 0.5 - gradient * learning_rate)
            self.assign_add(variable, m)

    w, v = tm.Variable([1.0, 2.0]), tm.Variable([1.0, 2.0])
    expected = trained(nn.optimizers.SGD(0.1, momentum=0.5, clipnorm=1.0), [w])
    found = trained(Momentum(learning_rate=0.1, clipnorm=1.0), [v])

    np.testing.assert_allclose(found, expected)
