"""What a function under tm.function closes over: changes are seen, effects keep it eager."""

# The functions are those of users, as they come.
# ruff: noqa: D102, PT031

from __future__ import annotations

import gc
import random
import time
import types
import warnings
import weakref
from array import array
from collections.abc import Callable
from contextlib import nullcontext
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import nn
from tapemagic.errors import EagerWarning

rate = 0.5
data = np.arange(3.0)
table = {"scale": np.ones(3), "shift": 1.0}
weight = tm.Variable(2.0, name="weight")
pair = (np.full(3, 2.0), 3.0)
numbers = np.random.default_rng(0)


def scaled(x: Any) -> Any:
    """A function that reads global names."""
    return x * rate * table["scale"] + table["shift"]


def eager(f: Any, *args: Any) -> Any:
    """The result of the function itself."""
    return f.python_function(*args)


def agrees(f: Any, *args: Any) -> bool:
    """Whether a call gives what the function itself gives, to the bit."""
    return bool(np.array_equal(np.asarray(eager(f, *args)), np.asarray(f(*args)), equal_nan=True))


def replays(f: Any, *args: Any) -> bool:
    """Whether calls with these arguments are programs."""
    for _ in range(3):
        assert agrees(f, *args)
    return bool(f.programs) and not f.why_eager


x = tm.constant([1.0, 2.0, 3.0])


def test_global_numbers_arrays_and_containers(monkeypatch: Any) -> None:
    """Rebound or changed, they are seen, also in functions that are called."""
    f = tm.function(scaled)
    assert replays(f, x)

    monkeypatch.setitem(globals(), "rate", 0.25)
    assert agrees(f, x)
    monkeypatch.setitem(table, "shift", 4.0)
    assert agrees(f, x)
    table["scale"][1] = 7.0
    assert agrees(f, x)
    monkeypatch.setitem(table, "scale", np.array([3.0, 1.0, 2.0]))
    assert agrees(f, x)
    table["scale"] = np.float32(2.0)
    assert agrees(f, x)
    assert not f.why_eager


def test_a_simple_namespace() -> None:
    """Its attributes are seen, as those of an object are."""
    settings = types.SimpleNamespace(
        rate=0.5, act=np.tanh, table={"a": [1.0, 2.0]}, shift=np.ones(3)
    )
    f = tm.function(
        lambda x: settings.act(x) * settings.rate * settings.table["a"][1] + settings.shift
    )
    assert replays(f, x)

    changes: list[Callable[[], Any]] = [
        lambda: setattr(settings, "rate", 2.0),
        lambda: setattr(settings, "act", np.sin),
        lambda: settings.table.update(a=[3.0, 4.0]),
        lambda: np.copyto(settings.shift, 5.0),
        lambda: setattr(settings, "shift", tm.constant(7.0)),
    ]
    for change in changes:
        change()
        assert replays(f, x)


def test_a_slice_of_arrays() -> None:
    """One that the function stores anew is a change, and comparable."""

    class Kept:
        part: Any = slice(np.ones(2))

    kept = Kept()

    @tm.function
    def f(x: Any) -> Any:
        kept.part = slice(np.asarray(x.numpy() * 2.0))
        return x * 2.0

    with pytest.warns(EagerWarning):
        found = [f(x) for _ in range(4)]
    assert all(np.array_equal(x * 2.0, each) for each in found)
    assert np.array_equal(x.numpy() * 2.0, kept.part.stop)


def test_an_array_of_the_same_kind_needs_no_new_program(monkeypatch: Any) -> None:
    """Written into or replaced, it is read anew by the same program; also inside of a tuple."""
    f = tm.function(lambda x: x * data + np.sum(pair[0]))
    assert replays(f, x)

    data[0] = 10.0
    assert agrees(f, x)
    pair[0][:] = 5.0
    assert agrees(f, x)
    monkeypatch.setitem(globals(), "data", np.array([5.0, 6.0, 7.0]))
    assert agrees(f, x)
    monkeypatch.setitem(globals(), "pair", (np.zeros(3), 3.0))
    assert agrees(f, x)
    assert 1 == len(f.programs)


shared = np.arange(3.0)
alias = shared
both = (shared, 1.0)
held = types.SimpleNamespace(same=shared, both=both, deep={"same": [shared]})
under_two_names: list[Callable[[Any], Any]] = [
    lambda x: x * shared + alias,
    lambda x: x * shared + held.same,
    lambda x: x * held.deep["same"][0] + held.same * 2.0,
    lambda x: x * shared + both[0],
    lambda x: x * both[0] + shared,
    lambda x: x * both[0] + held.both[0],
]


@pytest.mark.parametrize("f", under_two_names)
def test_an_array_under_two_names_is_read_by_both(f: Any) -> None:
    """Written into, it is another one wherever it is computed with, also where nothing else is."""
    g = tm.function(f)
    assert replays(g, x)
    for _ in range(3):
        shared[0] += 2.0
        assert agrees(g, x)
    assert len(g.programs) == 1


def test_what_is_computed_from_an_array_alone_is_seen(monkeypatch: Any) -> None:
    """No constant is made of an array that may change."""
    monkeypatch.setitem(globals(), "data", np.arange(3.0))
    f = tm.function(lambda x: x + data[1] ** 2 + data.mean() + np.max(data))
    assert replays(f, x)

    data[1] = 9.0

    assert agrees(f, x)


int64 = tm.constant(np.int64(3))


def numbers_in(x: Any, keys: Any) -> list[Any]:
    """Numbers whose types and signs show those of the keys."""
    flat = [each for key in keys for each in (key if isinstance(key, tuple) else (key,))]
    return [x * each if each else np.arctan2(each * 0, x * -1) for each in flat]


equal_of_another_type: list[Any] = [
    ({1: None}, {1.0: None}),
    ({1: None, 2: None}, {True: None, 2: None}),
    ({0.0: None}, {-0.0: None}),
    ({(1, 2): None}, {(1, 2.0): None}),
    ({np.int64(1): None}, {(1, 2): None}),
    ({1, 2}, {1.0, 2}),
    (frozenset({1}), frozenset({1.0})),
    (array("i", [1]), array("d", [1.0])),
]


@pytest.mark.parametrize(("one", "other"), equal_of_another_type)
@pytest.mark.parametrize("is_given", [True, False])
def test_equal_values_of_another_type(one: Any, other: Any, is_given: bool) -> None:
    """Keys and contents that are equal, and compute something else, are told from each other."""
    held = {"keys": one}
    f = tm.function(numbers_in if is_given else lambda x: numbers_in(x, held["keys"]))
    for held["keys"] in (one, other, one):
        args = (int64, held["keys"]) if is_given else (int64,)
        for _ in range(3):
            with warnings.catch_warnings(action="ignore"):
                found = f(*args)
            wanted = eager(f, *args)
            assert [repr(y.numpy()) for y in found] == [repr(y.numpy()) for y in wanted]


class Model:
    """A model with a Variable, a number, and a list of arrays."""

    step = 1.0

    def __init__(self) -> None:
        self.w = tm.Variable([1.0, 2.0, 3.0])
        self.parts = [np.ones(3), np.ones(3)]
        self.calls = 0
        self.seen: list[Any] = []

    @tm.function
    def __call__(self, x: Any) -> Any:
        return x * self.w * self.step + self.parts[0] - self.shift(x)

    def shift(self, x: Any) -> Any:
        """A method that is called."""
        return x * self.parts[1] / 4

    def run(self, x: Any) -> None:
        """Call, and note it: these attributes are none of the function's."""
        self.calls += 1
        self.seen.append(self(x))


def test_attributes() -> None:
    """Those of self and of the class, also in methods that are called."""
    model = Model()

    def both() -> bool:
        expected = x * model.w * model.step + model.parts[0] - model.shift(x)
        return bool(np.array_equal(expected, model(x)))

    for _ in range(3):
        assert both()
    assert model.__call__.programs
    model.w.assign([3.0, 4.0, 5.0])
    assert both()
    model.step = 3.0
    assert both()
    del model.step
    model.parts[1] = np.zeros(3)
    assert both()
    model.parts[0][:] = 8.0
    assert both()
    model.w = tm.Variable([0.0, 0.0, 1.0])
    assert both()
    model.parts.insert(0, np.full(3, 4.0))
    assert both()
    Model.step = 5.0
    assert both()
    Model.step = 1.0
    assert both()
    assert not model.__call__.why_eager


def test_attributes_that_the_function_does_not_read_change_freely() -> None:
    """A loop around the function may count and collect."""
    model = Model()

    for _ in range(20):
        model.run(x)

    assert 1 == len(model.__call__.programs)
    assert not model.__call__.why_eager


def test_each_object_has_programs_of_its_own_and_is_not_kept() -> None:
    """A method's programs are those of one object, and do not keep it alive."""
    one, two = Model(), Model()
    two.w.assign([5.0, 6.0, 7.0])
    for _ in range(3):
        assert np.array_equal(one(x), x * one.w + one.parts[0] - x / 4)
        assert np.array_equal(two(x), x * two.w + two.parts[0] - x / 4)
    gone = weakref.ref(one), weakref.ref(one.w), weakref.ref(one.parts[0])

    del one
    gc.collect()

    assert [None] * 3 == [each() for each in gone]
    assert two.__call__.programs


def test_a_global_variable_is_not_kept(monkeypatch: Any) -> None:
    """Deleted and made anew, it has another program."""
    monkeypatch.setitem(globals(), "weight", tm.Variable(3.0))
    f = tm.function(lambda x: x * weight)
    assert replays(f, x)
    gone = weakref.ref(weight)

    globals()["weight"] = tm.Variable(7.0)
    gc.collect()

    assert gone() is None
    assert agrees(f, x)
    assert agrees(f, x)


def fill(x: Any, known: Any = {}) -> Any:  # noqa: B006
    """Change a default."""
    known[len(known)] = 1
    return x * 2


def test_an_array_that_leaves_the_program_is_a_constant() -> None:
    """Its numbers are compared at each call."""
    labels = np.array([0, 2, 1])
    f = tm.function(lambda x: x * float(labels[1]) + np.asarray(labels))
    assert replays(f, x)

    labels[1] = 1

    assert agrees(f, x)
    assert not f.why_eager


def test_an_effect_on_a_default_keeps_a_function_eager() -> None:
    """It happens at each call, and the reason names it."""
    f = tm.function(fill)
    before = len(fill.__defaults__[0])  # type: ignore[index]

    with pytest.warns(EagerWarning, match="without a program"):
        for _ in range(6):
            f(x)

    assert before + 6 == len(fill.__defaults__[0])  # type: ignore[index]
    assert "it changes the default of " in f.why_eager
    assert "test_function_closures.py" in f.why_eager


def test_a_clock_by_its_own_name() -> None:
    """It keeps a function eager, by whatever name it is called."""
    read = time.perf_counter
    f = tm.function(lambda x: x * read())
    with pytest.warns(EagerWarning):
        f(x)
    assert "time" in f.why_eager


@pytest.mark.parametrize("draw", [random.random, random.gauss, partial(random.randint, 1, 1)])
def test_a_generator_of_random_numbers_among_the_arguments(draw: Any) -> None:
    """What an argument draws is seen, also where the number is the same twice."""
    f = tm.function(lambda x, draw: x * (draw() > -1e9))
    g = tm.function(lambda x: x * (draw() > -1e9))

    with pytest.warns(EagerWarning):
        for _ in range(3):
            f(x, draw), g(x)

    assert "random" in f.why_eager
    assert "random" in g.why_eager


def test_layers_are_built_in_the_first_call() -> None:
    """The first calls make Variables; later ones are a program."""

    class Lazy:
        def __init__(self) -> None:
            self.w: Any = None

        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = tm.Variable(np.full(3, 2.0))
            return x * self.w

    lazy = Lazy()
    f = tm.function(lazy)

    for k in range(5):
        assert np.array_equal(x * 2, f(x)), k
    assert type(lazy.w._value) is np.ndarray
    assert f.programs
    assert not f.why_eager


def test_a_model_that_is_made_anew_again_and_again() -> None:
    """As often as a cell of a notebook is run: its first calls, which build it, do not keep the function eager."""
    held = types.SimpleNamespace()

    @tm.function
    def step(x: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = np.mean(held.model(x) ** 2)
        weights = held.model.trainable_variables
        held.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    for _ in range(4):
        held.model, held.optimizer = nn.Dense(2), nn.optimizers.Adam()
        with warnings.catch_warnings(action="error"):
            for k in range(5):
                step(np.full((4, 3), k + 1.0))
        assert step.programs
        assert not step.why_eager


def test_a_number_that_changes_at_each_call(monkeypatch: Any) -> None:
    """The warning names it, once."""
    f = tm.function(scaled)

    with pytest.warns(EagerWarning, match="rate, which it reads, changes between calls") as warned:
        for k in range(20):
            monkeypatch.setitem(globals(), "rate", k / 2)
            assert agrees(f, x)

    assert 1 == len(warned)


class Summing(nn.Model):
    """A model that is built in its first call, and a list around it."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(2)
        self.seen: list[float] = []

    def call(self, inputs: Any) -> Any:
        """The sum of the outputs."""
        return np.sum(self.dense(inputs))


def test_a_model() -> None:
    """Layers draw their weights in the first call; weights, settings and frozen layers are watched."""
    model = Summing()
    f = tm.function(model)
    given = tm.constant(np.ones((2, 3)), dtype="float32")

    for _ in range(6):
        model.seen.append(float(f(given)))

    assert 1 == len(f.programs)
    assert not f.why_eager
    model.dense.kernel.assign(model.dense.kernel * 2)
    assert np.array_equal(model(given), f(given))
    assert 1 == len(f.programs)
    kernel = weakref.ref(model.dense.kernel)
    del model, f
    gc.collect()
    assert kernel() is None


def test_a_variable_out_of_reach_is_noticed() -> None:
    """It is read in a way that no name shows."""
    hidden = vars(__import__("types")).setdefault("hidden_by_test", (tm.Variable(2.0),))
    import types

    f = tm.function(lambda x: x * (types.hidden_by_test[0] * 3.0))
    with pytest.warns(EagerWarning, match="not by a name in its code"):
        for value in (2.0, 3.0, 4.0, 5.0):
            hidden[0].assign(value)
            assert agrees(f, x)
    del types.hidden_by_test


def test_a_local_variable() -> None:
    """A Variable made by the function is a value of the program."""

    def f(x: Any) -> Any:
        v = tm.Variable(x)
        v.assign_add(x)
        with tm.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)

    assert replays(tm.function(f), x)


def test_trainable_is_watched() -> None:
    """A frozen Variable has no gradient."""
    v = tm.Variable(3.0)

    def f() -> Any:
        with tm.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)

    g = tm.function(f)
    for _ in range(3):
        assert 6.0 == float(g())
    tm.engine.tensor.variable.set_trainable(v, False)

    assert g() is None


def test_methods_partials_and_callables() -> None:
    """Whatever can be called."""
    model = Model()
    bound = tm.function(model.shift)
    part = tm.function(partial(np.multiply, np.full(3, 2.0)))
    assert replays(bound, x)
    assert replays(part, x)
    assert replays(tm.function(np.sin), x)
    model.parts[1][:] = 9.0

    assert agrees(bound, x)


class Checked(dict[str, Any]):
    """A dict that counts what is put into it."""

    puts = 0

    def __setitem__(self, key: str, value: Any) -> None:
        Checked.puts += 1
        super().__setitem__(key, value)


class Doubled(dict[str, Any]):
    """A dict that gives something else than what it holds."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key) * 2.0


class Round(list[Any]):
    """A list without an end, into which nothing is put."""

    def __getitem__(self, k: Any) -> Any:
        return super().__getitem__(k % len(self))

    def __setitem__(self, k: Any, value: Any) -> None:
        raise TypeError("it is not to be changed")


class Level(IntEnum):
    """Keys."""

    ONE = 1


of_own_classes: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (Checked(a=np.ones(3)), lambda x, held: x * held["a"]),
    (Doubled(a=np.ones(3)), lambda x, held: x * held["a"]),
    (Round([np.ones(3)]), lambda x, held: x * held[5]),
    ({Level.ONE: np.ones(3)}, lambda x, held: x * held[1]),
]


@pytest.mark.parametrize(("held", "f"), of_own_classes)
@pytest.mark.parametrize("is_given", [True, False])
def test_containers_of_the_users_classes(held: Any, f: Any, is_given: bool) -> None:
    """With methods of their own they stay eager, which run as often as without a trace."""
    g = tm.function(f if is_given else lambda x: f(x, held))
    args = (x, held) if is_given else (x,)
    is_own = isinstance(held, Checked | Doubled | Round)
    before = Checked.puts
    with pytest.warns(EagerWarning) if is_own else nullcontext():
        assert replays(g, *args) is not is_own
    for one in list.__iter__(held) if isinstance(held, list) else held.values():
        one[1] += 7.0
    assert agrees(g, *args)
    assert len(g.programs) == (not is_own)
    assert before == Checked.puts


def test_a_mapping_that_cannot_be_changed_is_an_argument() -> None:
    """It is taken apart as a dict is."""
    g = tm.function(lambda held: held["a"] * 2 + held["b"])
    for k in range(4):
        held = types.MappingProxyType({"b": np.ones(2), "a": np.full(2, k + 1.0)})
        assert agrees(g, held)
    assert len(g.programs) == 1


class Counted:
    """A class attribute that counts how often it is read, by the dict of the instance."""

    def __get__(self, owner: Any, kind: Any = None) -> float:
        owner.__dict__["reads"] += 1
        return 2.0


class Meter:
    """Has such an attribute."""

    scale = Counted()

    def __init__(self) -> None:
        self.reads = 0


def test_an_attribute_that_changes_its_instance_does_so_at_each_call() -> None:
    """Code that reads ``__dict__`` may change any attribute, as with `vars`."""
    meter = Meter()
    f = tm.function(lambda x: x * meter.scale)
    with pytest.warns(EagerWarning, match="it changes meter.reads"):
        for _ in range(6):
            f(x)
    assert meter.reads == 6
