"""The contract of tm.function, by pitfalls as users write them: a program or eager, and right numbers in any case."""

# The functions are those of users, as they come.
# ruff: noqa: B006, D101, D102, D103, NPY002, PLW0108, PLW0603, PTH123, T201

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import logging
import os
import random
import sys
import tempfile
import time
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import tapemagic as tm
from tapemagic import nn, tf
from tapemagic.programs.function import Function
from tests.programs.running import Case, putting, setting

FOLDER = tempfile.TemporaryDirectory()

rate = 0.5
count = 0


def set_rate(value: float) -> None:
    global rate
    rate = value


class Config:
    lr = 0.1
    layers: Any = None


class Dense:
    def __init__(self, n: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.w = tm.Variable(rng.normal(size=(n, n)))
        self.activation: Any = np.tanh

    def __call__(self, x: Any) -> Any:
        return self.activation(x @ self.w)


class Network:
    def __init__(self, seed: int) -> None:
        self.layers = [Dense(3, seed), Dense(3, seed + 1)]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


# Programs.


def a_global_number() -> Case:
    return lambda x: x * rate, [lambda: set_rate(0.25), lambda: set_rate(2)]


def an_attribute_of_a_class() -> Case:
    class Settings(Config):
        lr = 0.1

    return lambda x: x * Settings.lr, [setting(Settings, "lr", 0.2), setting(Config, "lr", 3.0)]


def a_nested_dict() -> Case:
    h: Any = {"lr": 0.1, "decay": {"k": 2.0}}
    return lambda x: x * h["lr"] * h["decay"]["k"], [
        putting(h["decay"], "k", 3.0),
        putting(h, "lr", 1),
    ]


def a_mutable_default() -> Case:
    def f(x: Any, scale: list[float] = [2.0]) -> Any:
        return x * scale[0]

    return f, [putting(f.__defaults__[0], 0, 5.0)]  # type: ignore[index]


def a_flag_that_hides_a_print() -> Case:
    c = Config()
    c.verbose = False  # type: ignore[attr-defined]

    def f(x: Any) -> Any:
        if c.verbose:  # type: ignore[attr-defined]
            print(x)
        return x * c.lr

    return f, [setting(c, "lr", 0.7)]


def an_array_written_in_place() -> Case:
    a = np.ones(3)
    view = a[1:]
    return lambda x: x * a, [putting(a, 0, 5.0), putting(view, 1, 7.0)]


def an_attribute_changed_outside() -> Case:
    c = Config()
    return lambda x: x * c.lr, [setting(c, "lr", 0.3)]


def a_step_of_an_own_optimizer() -> Case:
    w = tm.Variable([1.0, 2.0, 3.0])
    c = Config()

    def f(x: Any) -> Any:
        with tm.GradientTape() as tape:
            y = np.sum((w * x - 1.0) ** 2)
        w.assign_sub(c.lr * tape.gradient(y, w))
        return y

    return f, [setting(c, "lr", 0.01)]


def a_schedule_of_the_package() -> Case:
    schedule = nn.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    optimizer, w = nn.optimizers.SGD(schedule), tm.Variable([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        with tm.GradientTape() as tape:
            y = np.sum((w * x - 1.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(y, w), w)])
        return y

    return f, []


def a_schedule_stepped_outside() -> Case:
    class Schedule:
        step = 1

        def rate(self) -> float:
            return 1.0 / self.step

    s = Schedule()
    return lambda x: x * s.rate(), [setting(s, "step", 2)]


def a_learning_rate_of_an_optimizer() -> Case:
    optimizer, w = nn.optimizers.SGD(0.1), tm.Variable([1.0, 2.0, 3.0])

    def f(x: Any) -> Any:
        with tm.GradientTape() as tape:
            y = np.sum((w * x - 1.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(y, w), w)])
        return y

    return f, [setting(optimizer, "learning_rate", 0.01)]


def a_model_that_is_built_again() -> Case:
    box = Config()
    box.layers = Network(0)
    return lambda x: box.layers(x), [lambda: setattr(box, "layers", Network(5))]


def weights_that_are_set() -> Case:
    nn.set_random_seed(0)
    model = nn.Sequential([nn.Dense(3)])
    model(np.ones((1, 3)))
    weights = [np.full(w.shape, 0.5) for w in model.get_weights()]
    return lambda x: model(np.reshape(x, (1, 3))), [lambda: model.set_weights(weights)]


def a_layer_that_is_exchanged() -> Case:
    class Model(nn.Model):
        def __init__(self) -> None:
            super().__init__()
            self.head: Any = nn.Dense(3)

        def call(self, x: Any) -> Any:
            return self.head(x)

    nn.set_random_seed(0)
    model = Model()
    model(np.ones((1, 3)))
    other = nn.Dense(3, activation="tanh")
    other(np.ones((1, 3)))
    return lambda x: model(np.reshape(x, (1, 3))), [setting(model, "head", other)]


def a_dataclass() -> Case:
    @dataclasses.dataclass
    class Rates:
        lr: float = 0.1

    c = Rates()
    return lambda x: x * c.lr, [setting(c, "lr", 0.3)]


def a_frozen_dataclass() -> Case:
    @dataclasses.dataclass(frozen=True)
    class Rates:
        lr: float = 0.1

    box = Config()
    box.layers = Rates()
    return lambda x: x * box.layers.lr, [
        lambda: setattr(box, "layers", dataclasses.replace(box.layers, lr=0.2))
    ]


def a_module_of_settings() -> Case:
    module: Any = types.ModuleType("settings")
    module.lr = 0.1
    return lambda x: x * module.lr, [setting(module, "lr", 0.4)]


def a_property() -> Case:
    class Model:
        def __init__(self) -> None:
            self.k = 2.0

        @property
        def scale(self) -> float:
            return self.k * rate

    m = Model()
    return lambda x: x * m.scale, [setting(m, "k", 3.0), lambda: set_rate(0.1)]


def closures_over_a_loop() -> Case:
    fs = [lambda x: x * k for k in range(3)]  # noqa: B023
    return lambda x: sum(f(x) for f in fs), [putting(fs, 0, lambda x: x - 7.0)]


def recursion() -> Case:
    def power(x: Any, n: int) -> Any:
        return x if n == 0 else power(x, n - 1) * rate

    return lambda x: power(x, 4), [lambda: set_rate(0.25)]


def a_memo_of_numbers() -> Case:
    memo = {1: 2.0}
    return lambda x: x * memo.get(1, 1.0), [putting(memo, 1, 3.0)]


def a_generator_inside() -> Case:
    def parts(x: Any) -> Iterator[Any]:
        for k in range(3):
            yield x * k * rate

    return lambda x: sum(parts(x)), [lambda: set_rate(0.3)]


def asserts_and_branches() -> Case:
    def f(x: Any) -> Any:
        assert x.shape == (3,)
        if np.sum(x) > 8:
            return x * 2
        return x / 2 if rate < 0.4 else x - 1.0

    return f, [lambda: set_rate(0.25)]


def a_variable_added_to_a_list() -> Case:
    ws = [tm.Variable(2.0)]
    return lambda x: sum(w * x for w in ws), [lambda: ws.append(tm.Variable(3.0))]


def a_variable_replaced_in_a_dict() -> Case:
    ws = {"a": tm.Variable(2.0)}
    return lambda x: ws["a"] * x, [
        lambda: ws["a"].assign(5.0), putting(ws, "a", tm.Variable(3.0)),
    ]  # fmt: skip


def a_partial_function() -> Case:
    data = np.ones(3)

    def f(x: Any, k: float, a: Any) -> Any:
        return x * k * a

    g = functools.partial(f, k=2.0, a=data)
    return g, [putting(data, 0, 4.0), putting(g.keywords, "k", 3.0)]


def an_attribute_of_the_function() -> Case:
    def f(x: Any) -> Any:
        return x * f.rate  # type: ignore[attr-defined]

    f.rate = 0.5  # type: ignore[attr-defined]
    return f, [setting(f, "rate", 0.75)]


def an_own_iterable() -> Case:
    class Parts:
        def __init__(self) -> None:
            self.ks = [1.0, 2.0]

        def __iter__(self) -> Iterator[float]:
            yield from self.ks

    p = Parts()
    return lambda x: sum(x * k for k in p), [lambda: p.ks.append(4.0)]


def attributes_by_a_getter_of_another_name() -> Case:
    from operator import attrgetter as pick

    c = Config()
    return lambda x: x * pick("lr")(c), [setting(c, "lr", 0.3)]


def text_by_a_class_of_another_name() -> Case:
    class Named(Config):
        def __str__(self) -> str:
            return "a" * int(self.lr)

    c, words = Named(), {"show": str}
    return lambda x: x * len(words["show"](c)), [setting(c, "lr", 3.0)]


def namespaces_that_are_compared() -> Case:
    a, b = types.SimpleNamespace(lr=1.0), types.SimpleNamespace(lr=1.0)
    return lambda x: x * (2.0 if a == b else 3.0), [setting(a, "lr", 2.0), setting(b, "lr", 2.0)]


def the_text_of_a_namespace() -> Case:
    a = types.SimpleNamespace(lr=1.0)
    return lambda x: x * len(f"{a}"), [setting(a, "lr", 0.125), setting(a, "momentum", 0.9)]


def an_array_with_another_shape_in_place() -> Case:
    a = np.arange(6.0)

    def change(name: str, value: Any) -> Callable[[], Any]:
        def deprecated_by_numpy() -> None:
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
                setattr(a, name, value)

        return deprecated_by_numpy

    return lambda x: x * len(a), [change("shape", (2, 3)), change("dtype", np.int64)]


def a_module_imported_inside_and_loaded_again() -> Case:
    def load(value: float) -> None:
        sys.modules["settings_of_a_test"] = types.ModuleType("settings_of_a_test")
        sys.modules["settings_of_a_test"].lr = value  # type: ignore[attr-defined]

    def f(x: Any) -> Any:
        import settings_of_a_test  # type: ignore[import-not-found]

        return x * settings_of_a_test.lr

    load(2.0)
    return f, [lambda: load(3.0), lambda: load(4.0)]


def an_own_list_class() -> Case:
    class Layers(list[Any]):
        scale = 1.0

        def __call__(self, x: Any) -> Any:
            for layer in self:
                x = layer(x) * self.scale
            return x

    layers = Layers([np.sin])
    return lambda x: layers(x), [setting(layers, "scale", 3.0), setting(Layers, "scale", 2.0)]


def the_annotations_of_a_function() -> Case:
    def scaled(x: Any) -> Any:
        return x * len(scaled.__annotations__) * len(scaled.__doc__ or "")

    scaled.__doc__ = "short"
    changes = [setting(scaled, "__doc__", "longer"), putting(scaled.__annotations__, "y", 1.0)]
    return scaled, changes


def an_activation_by_its_name() -> Case:
    c: Any = Config()
    c.act = "tanh"
    return lambda x: getattr(np, c.act)(x), [setting(c, "act", "sin")]


def methods_by_composed_names() -> Case:
    class Model:
        def stage0(self, x: Any) -> Any:
            return x * rate

        def stage1(self, x: Any) -> Any:
            return x - rate

        def __call__(self, x: Any) -> Any:
            for k in range(2):
                x = getattr(self, f"stage{k}")(x)
            return x

    return Model(), [lambda: set_rate(0.25)]


def attributes_of_all_kinds() -> Case:
    c: Any = Config()
    c.a, c.b = 1.0, 2.0
    return lambda x: sum(x * v for v in vars(c).values()), [
        setting(c, "b", 3.0),
        setting(c, "d", 4.0),
    ]


def the_text_of_an_object() -> Case:
    class Shown:
        k = 2.0

        def __repr__(self) -> str:
            return f"{self.k}"

    shown = Shown()
    return lambda x: x * float(repr(shown)), [setting(shown, "k", 3.5)]


def an_enum() -> Case:
    class Mode(enum.Enum):
        FAST = 2.0
        SLOW = 3.0

    c: Any = Config()
    c.mode = Mode.FAST
    return lambda x: x * c.mode.value, [setting(c, "mode", Mode.SLOW)]


def a_named_tuple() -> Case:
    class Pair(NamedTuple):
        a: Any
        b: Any

    box: Any = Config()
    box.pair = Pair(np.ones(3), 2.0)
    return lambda x: x * box.pair.a * box.pair.b, [
        putting(box.pair.a, 0, 5.0), lambda: setattr(box, "pair", Pair(np.zeros(3), 3.0)),
    ]  # fmt: skip


def a_helper_that_is_edited() -> Case:
    def helper(x: Any) -> Any:
        return x * 2

    return lambda x: helper(x), [setting(helper, "__code__", (lambda x: x * 5).__code__)]


def a_method_that_is_replaced() -> Case:
    class Model:
        def call(self, x: Any) -> Any:
            return x * 2

    m = Model()
    return lambda x: m.call(x), [setting(Model, "call", lambda self, x: x * 5)]  # noqa: ARG005


def inheritance_with_super() -> Case:
    class Base:
        k = 2.0

        def call(self, x: Any) -> Any:
            return x * self.k

    class Derived(Base):
        def call(self, x: Any) -> Any:
            return super().call(x) + 1

    m = Derived()
    return m.call, [setting(Base, "k", 3.0), setting(Derived, "k", 4.0)]


def an_own_dict_class() -> Case:
    class Table(dict[str, Any]):
        def __missing__(self, key: str) -> float:
            return rate

        def total(self) -> Any:
            return self["a"] + self["b"]

    table = Table(a=1.0)
    return lambda x: x * table.total(), [putting(table, "a", 2.0), lambda: set_rate(0.25)]


def the_type_of_self() -> Case:
    class Named:
        def __call__(self, x: Any) -> Any:
            return x * len(type(self).__name__)

    return Named(), [setting(Named, "__name__", "Another")]


def a_class_asked_for_by_isinstance() -> Case:
    layer = Dense(3, 0)  # its __init__ draws random numbers, and is not called
    return lambda x: layer(x) if isinstance(layer, Dense) else x, [
        setting(layer, "activation", np.sin)
    ]


def a_tensorflow_model() -> Case:
    tf.random.set_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model(np.ones((1, 3)))
    return lambda x: model(np.reshape(x, (1, 3))), [lambda: model.layers[0].bias.assign([1.0, 2.0])]


def a_branch_on_the_package_s_random_number() -> Case:
    tf.random.set_seed(3)
    return lambda x: x if tf.random.uniform([]) < 0.5 else -x, []


def dropout() -> Case:
    nn.set_random_seed(3)
    drop = nn.Dropout(0.5)
    return lambda x: drop(x, training=True), []


PROGRAMS: tuple[Callable[[], Case], ...] = (
    a_branch_on_the_package_s_random_number, dropout,
    a_global_number, an_attribute_of_a_class, a_nested_dict, a_mutable_default, a_flag_that_hides_a_print,
    an_array_written_in_place, an_attribute_changed_outside, a_step_of_an_own_optimizer, a_schedule_of_the_package,
    a_schedule_stepped_outside, a_learning_rate_of_an_optimizer, a_model_that_is_built_again, weights_that_are_set,
    a_layer_that_is_exchanged, a_dataclass, a_frozen_dataclass, a_module_of_settings, a_property, closures_over_a_loop,
    recursion, a_memo_of_numbers, a_generator_inside, asserts_and_branches, a_variable_added_to_a_list,
    a_variable_replaced_in_a_dict, a_partial_function, an_attribute_of_the_function, an_own_iterable,
    attributes_by_a_getter_of_another_name,
    text_by_a_class_of_another_name,
    namespaces_that_are_compared,
    the_text_of_a_namespace,
    an_array_with_another_shape_in_place,
    a_module_imported_inside_and_loaded_again,
    an_own_list_class,
    the_annotations_of_a_function,
    an_activation_by_its_name, methods_by_composed_names, attributes_of_all_kinds, the_text_of_an_object, an_enum,
    a_named_tuple, a_helper_that_is_edited, a_method_that_is_replaced, inheritance_with_super, an_own_dict_class,
    the_type_of_self, a_class_asked_for_by_isinstance, a_tensorflow_model,
)  # fmt: skip

# Eager functions.


def random_numbers_of_numpy() -> Case:
    np.random.seed(3)
    return lambda x: x * np.random.normal(), []


def a_branch_on_a_random_number() -> Case:
    np.random.seed(3)
    return lambda x: x if np.random.rand() < 0.5 else -x, []


def a_branch_on_scipy_s_random_number() -> Case:
    np.random.seed(3)
    return lambda x: x if stats.uniform.rvs() < 0.5 else -x, []


def a_seed_of_numpy() -> Case:
    def f(x: Any) -> Any:
        np.random.seed(0)
        return x + np.random.normal(size=3)

    return f, []


def a_generator_around_it() -> Case:
    rng = np.random.default_rng(3)
    return lambda x: x * rng.normal(), []


def random_numbers_of_python() -> Case:
    random.seed(3)
    return lambda x: x * random.random(), []  # noqa: S311


def a_print() -> Case:
    return lambda x: (print("step"), x * 2)[1], []


def the_clock() -> Case:
    return lambda x: x * (time.time() > 0), []


def a_tensor_that_is_appended() -> Case:
    h: list[Any] = []

    def f(x: Any) -> Any:
        h.append(np.sum(x))
        return sum(h)

    return f, []


def a_number_that_is_appended() -> Case:
    h: list[float] = []

    def f(x: Any) -> Any:
        h.append(1.0)
        return x * len(h)

    return f, []


def a_nonlocal_counter() -> Case:
    n = 0

    def f(x: Any) -> Any:
        nonlocal n
        n += 1
        return x * n

    return f, []


def a_global_counter() -> Case:
    global count
    count = 0

    def f(x: Any) -> Any:
        global count
        count += 1
        return x * count

    return f, []


def a_counter_of_an_object() -> Case:
    class Model:
        n = 0

        def __call__(self, x: Any) -> Any:
            self.n += 1
            return x * self.n

    return Model(), []


def the_last_value_of_an_object() -> Case:
    class Model:
        last: Any = 1.0

        def __call__(self, x: Any) -> Any:
            before, self.last = self.last, x
            return x * before

    return Model(), []


def a_schedule_with_a_counter() -> Case:
    class Schedule:
        step = 0

        def rate(self) -> float:
            self.step += 1
            return 1.0 / self.step

    s = Schedule()
    return lambda x: x * s.rate(), []


def the_next_value_of_an_iterator() -> Case:
    it = iter(range(100))
    return lambda x: x * next(it), []


def an_array_that_it_writes_into() -> Case:
    a = np.zeros(3)

    def f(x: Any) -> Any:
        a[0] += 1.0
        return x * a

    return f, []


def a_try() -> Case:
    table = {"a": 2.0}

    def f(x: Any) -> Any:
        try:
            return x * table["b"]
        except KeyError:
            return x

    return f, [putting(table, "b", 3.0)]


def a_finally() -> Case:
    def f(x: Any) -> Any:
        try:
            return x * rate
        finally:
            pass

    return f, [lambda: set_rate(0.25)]


def suppressed_errors() -> Case:
    table = {"a": 2.0}

    def f(x: Any) -> Any:
        with contextlib.suppress(KeyError):
            return x * table["b"]
        return x

    return f, [putting(table, "b", 3.0)]


def an_own_context() -> Case:
    class Ignored:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> bool:
            return True

    table = {"a": 2.0}

    def f(x: Any) -> Any:
        with Ignored():
            return x * table["b"]
        return x

    return f, [putting(table, "b", 3.0)]


def a_deque() -> Case:
    q = deque([1.0, 2.0])
    return lambda x: x * q[0], [lambda: q.rotate()]


def a_set() -> Case:
    s = {1.0}
    return lambda x: x * len(s), [lambda: s.add(2.0)]


def a_cache() -> Case:
    state = {"k": 2.0}
    cached = functools.lru_cache(lambda: state["k"])
    return lambda x: x * cached(), [lambda: (state.update(k=3.0), cached.cache_clear())]


def the_environment() -> Case:
    os.environ["TEST_RATE"] = "2"
    return lambda x: x * float(os.environ["TEST_RATE"]), [putting(os.environ, "TEST_RATE", "3")]


def a_log() -> Case:
    log = logging.getLogger("test_contract")
    return lambda x: (log.debug("step"), x * 2)[1], []


def a_file() -> Case:
    def f(x: Any) -> Any:
        with open(__file__, encoding="utf-8") as file:
            return x * len(file.read())

    return f, []


def numpy_s_file() -> Case:
    path = os.path.join(FOLDER.name, "numbers.npy")  # noqa: PTH118
    np.save(path, np.ones(3))
    return lambda x: x * np.load(path), [lambda: np.save(path, np.zeros(3))]


def a_type() -> Case:
    return lambda x: x * (2.0 if type(x) is tm.Tensor else 3.0), []


def an_identity() -> Case:
    return lambda x: x * (id(x) > 0), []


def evaluated_text() -> Case:
    return lambda x: x * eval("rate"), [lambda: set_rate(0.25)]  # noqa: S307


def made_up_attributes() -> Case:
    class Settings:
        def __getattr__(self, name: str) -> Any:
            return rate

    s = Settings()
    return lambda x: x * s.anything, [lambda: set_rate(0.25)]


def a_table_of_another_library() -> Case:
    pandas = pytest.importorskip("pandas")
    df = pandas.DataFrame({"a": [1.0, 2.0, 3.0]})

    def change() -> None:
        df["a"] = 2.0

    return lambda x: x * df["a"].to_numpy(), [change]


def a_rate_that_changes_before_each_call() -> Case:
    c = Config()
    changes = [setting(c, "lr", 1.0 / (k + 2)) for k in range(20)]
    return lambda x: x * c.lr, changes


def a_date_of_now() -> Case:
    return lambda x: x * (2.0 if np.datetime64("now") > np.datetime64("2000") else 3.0), []


def a_stored_method() -> Case:
    table = {"a": 2.0}
    get = table.get
    return lambda x: x * get("a"), [putting(table, "a", 3.0)]


EAGER: tuple[tuple[Callable[[], Case], str], ...] = (
    (random_numbers_of_numpy, "it draws random numbers (line"),
    (a_branch_on_a_random_number, "it draws random numbers (line"),
    (a_branch_on_scipy_s_random_number, "it reads stats, of the library scipy, which may do more than compute (line"),
    (a_seed_of_numpy, "it draws random numbers (line"),
    (a_generator_around_it, "it reads rng, a Generator, which draws random numbers (line"),
    (random_numbers_of_python, "it reads random, which draws random numbers (line"),
    (a_print, "it prints (line"),
    (the_clock, "it reads time, of the library time, which may do more than compute (line"),
    (a_tensor_that_is_appended, "it changes h (line"),
    (a_number_that_is_appended, "it changes h (line"),
    (a_nonlocal_counter, "it changes n (line"),
    (a_global_counter, "it changes count (line"),
    (a_counter_of_an_object, "it changes self.n (line"),
    (the_last_value_of_an_object, "it changes self.last (line"),
    (a_schedule_with_a_counter, "it changes s.step (line"),
    (
        the_next_value_of_an_iterator,
        "it reads it, a range_iterator, which returns a different item each time (line",
    ),
    (an_array_that_it_writes_into, "it changes a (line"),
    (a_try, "it catches errors, and a program cannot branch on them (line"),
    (a_finally, "it catches errors, and a program cannot branch on them (line"),
    (
        suppressed_errors,
        "it reads contextlib, of the library contextlib, which may do more than compute (line",
    ),
    (an_own_context, "it catches errors, and a program cannot branch on them (line"),
    (a_deque, "it reads q, a deque, whose changes cannot be seen (line"),
    (a_set, "it reads s, a set, whose changes cannot be seen (line"),
    (a_cache, "it reads cached, a _lru_cache_wrapper, whose changes cannot be seen (line"),
    (the_environment, "it reads os, of the library os, which may do more than compute (line"),
    (a_log, "it reads log, a Logger of the library logging (line"),
    (a_file, "it uses open(), which opens a file (line"),
    (numpy_s_file, "it uses a file by load() (line"),
    (a_type, "it uses type(x), which is different for traced arrays (line"),
    (an_identity, "it uses id(), which differs for each object (line"),
    (evaluated_text, "it uses eval(), with which it may read anything (line"),
    (made_up_attributes, "it reads s, a Settings, whose class has its own __getattr__ (line"),
    (a_table_of_another_library, "it reads df, a DataFrame of the library pandas (line"),
    (a_rate_that_changes_before_each_call, "c.lr, which it reads, changes between calls"),
    (a_date_of_now, "it reads the clock (line"),
    (a_stored_method, "it reads get, the method get of dict (line"),
)  # fmt: skip


def results(case: Callable[[], Case], wrap: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """The results of calls between which something changes, and the function that was called."""
    set_rate(0.5)
    f, changes = case()
    g = wrap(f)
    found: list[Any] = []
    for change in (lambda: None, *changes):
        change()
        calls = range(4 if len(changes) < 10 else 1)
        found += [np.asarray(g(tm.constant([1.0 + k, 2.0, 3.0]))) for k in calls]
    return found, g


def same(a: list[Any], b: list[Any]) -> bool:
    return all(map(np.array_equal, a, b)) and len(a) == len(b)


@pytest.mark.parametrize("case", PROGRAMS)
def test_a_program(case: Callable[[], Case]) -> None:
    """There is one, and after each change it gives what the function gives."""
    expected, _ = results(case, lambda f: f)
    found, g = results(case, tm.function)
    assert same(expected, found)
    assert g.programs
    assert g.why_eager == ""


@pytest.mark.parametrize(("case", "why"), EAGER)
def test_an_eager_function(case: Callable[[], Case], why: str) -> None:
    """The reason names the line, and the function runs as it is written."""
    expected, _ = results(case, lambda f: f)
    found, g = results(case, lambda f: Function(f, warns=False))
    assert same(expected, found)
    assert why in g.why_eager
    assert not g.programs or "changes between" in why
