"""Code and classes that a function under tm.function reaches: replaced or hidden by others, they are seen."""

# The functions are those of users, as they come.
# ruff: noqa: D103, PLW0108

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from IPython.extensions.autoreload import update_class, update_generic

import tapemagic as tm
from tapemagic import nn
from tests.programs.running import Case, Change, changes_are_seen, numbers_stay_right, setting

x = tm.constant([1.0, 2.0, 3.0])


def code_of(old: Any, new: Any) -> Change:
    """Give a function the code of another one, as ``%autoreload 2`` does."""
    return lambda: setattr(old, "__code__", new.__code__)


def a_helper() -> Case:
    def scale(x: Any) -> Any:
        return x * 2

    return lambda x: scale(x), code_of(scale, lambda x: x * 7)


def the_function_itself() -> Case:
    def f(x: Any) -> Any:
        return x * 2

    return f, code_of(f, lambda x: x * 7)


def a_default() -> Case:
    def scale(x: Any) -> Any:
        return x * 2

    def f(x: Any, scale: Any = scale) -> Any:
        return scale(x)

    return f, code_of(scale, lambda x: x * 7)


def methods() -> Case:
    class Model:
        def step(self, x: Any) -> Any:
            return x * 2

        @property
        def k(self) -> float:
            return 2.0

        @staticmethod
        def shift(x: Any) -> Any:
            return x + 1

        @classmethod
        def turn(cls, x: Any) -> Any:
            return -x

        def __call__(self, x: Any) -> Any:
            return x / 2

    model = Model()
    return (
        lambda x: model.step(x) * model.k + model.shift(x) * Model.turn(x) - model(x),
        code_of(Model.step, lambda self, x: x * 3),  # noqa: ARG005
        code_of(Model.__dict__["k"].fget, lambda self: 5.0),  # noqa: ARG005
        code_of(Model.shift, lambda x: x + 4),
        code_of(Model.turn.__func__, lambda cls, x: x),  # type: ignore[attr-defined] # noqa: ARG005
        code_of(Model.__call__, lambda self, x: x / 4),  # noqa: ARG005
    )


def a_descriptor() -> Case:
    class Two:
        def __get__(self, owner: Any, kind: Any = None) -> float:
            return 2.0

    class Model:
        k = Two()

    model = Model()
    return lambda x: x * model.k, code_of(Two.__get__, lambda *_: 8.0)


def a_function_of_this_package() -> Case:
    class Model:
        @tm.function
        def __call__(self, x: Any) -> Any:
            return x * 2

    model = Model()
    inner = Model.__call__.python_function
    return lambda x: model(x), code_of(inner, lambda self, x: x * 3)  # noqa: ARG005


def a_layer() -> Case:
    state = {"k": 2.0}

    class Scaled(nn.Model):
        def call(self, x: Any) -> Any:
            return x * state["k"]

    class Derived(Scaled):
        pass

    model = Derived()
    return (
        lambda x: model(x),
        lambda: state.update(k=3.0),
        code_of(Scaled.call, lambda self, x: x * 4 * len(state)),  # noqa: ARG005
        setting(Derived, "call", lambda self, x: x * 5),  # noqa: ARG005
    )


def inherited_data() -> Case:
    class Base:
        rate = 0.1

    class Model(Base):
        pass

    model = Model()
    return (
        lambda x: x * model.rate,
        setting(Model, "rate", 0.5),
        lambda: delattr(Model, "rate"),
        setting(Base, "rate", 0.7),
    )


def one_name_for_another() -> Case:
    class Base:
        rate = 0.1

    class Model(Base):
        momentum = 0.9

    def change() -> None:
        del Model.momentum
        Model.rate = 0.5

    model = Model()
    return lambda x: x * model.rate, change


def many_inherited_names() -> Case:
    class Base:
        a, b, c, d, e = 1.0, 2.0, 3.0, 4.0, 5.0

    class Model(Base):
        momentum = 0.9

    def change() -> None:
        del Model.momentum
        Model.d = 7.0

    model = Model()
    return lambda x: x * model.a * model.b * model.c * model.d * model.e, change


def inherited_methods() -> Case:
    class Base:
        def step(self, x: Any) -> Any:
            return x * 2

        def __rmul__(self, x: Any) -> Any:
            return x * 3

    class Middle(Base):
        pass

    class Model(Middle):
        def step(self, x: Any) -> Any:
            return super().step(x) + 1

    model = Model()
    return (
        lambda x: model.step(x) + 2.0 * model,
        setting(Model, "__rmul__", lambda self, x: x * 5),  # noqa: ARG005
        setting(Middle, "step", lambda self, x: x * 7),  # noqa: ARG005
    )


def other_bases() -> Case:
    class One:
        k = 1.0

    class Two:
        k = 2.0

    class Middle(One):
        pass

    class Model(Middle):
        pass

    model = Model()
    return lambda x: x * model.k, setting(Middle, "__bases__", (Two,))


def nothing_by_hasattr() -> Case:
    class Model:
        pass

    model = Model()
    return lambda x: x * (2.0 if hasattr(model, "k") else 3.0), setting(Model, "k", 1.0)


def a_class_attribute_by_getattr() -> Case:
    class Model:
        def get_scale(self) -> float:
            return 2.0

        def get_shift(self) -> float:
            return 3.0

    model, kinds = Model(), ["get_scale"]
    return (
        lambda x: x * getattr(model, "k", 3.0) * getattr(model, kinds[0])(),
        setting(Model, "k", 1.0),
        setting(Model, "k", 2.0),
        setting(Model, "get_scale", lambda self: 5.0),  # noqa: ARG005
    )


def a_property_above_an_attribute() -> Case:
    class Model:
        k: Any

    model = Model()
    model.k = 2.0
    return lambda x: x * model.k, setting(Model, "k", property(lambda self: 9.0))  # noqa: ARG005


def metaclasses() -> Case:
    state = {"k": 2.0}

    class Meta(type):
        @property
        def k(cls) -> float:
            return state["k"]

        def __call__(cls) -> Any:
            made = super().__call__()
            made.j = state["j"]
            return made

    class Model(metaclass=Meta):
        j: float

    state["j"] = 3.0
    return (
        lambda x: x * Model.k * Model().j,
        lambda: state.update(k=5.0),
        lambda: state.update(j=7.0),
        setting(Meta, "k", property(lambda cls: 11.0)),  # noqa: ARG005
    )


def class_hooks() -> Case:
    state = {"sub": 2.0, "item": 3.0, "new": 5.0}

    class Base:
        k: float

        def __init_subclass__(cls) -> None:
            cls.k = state["sub"]

        def __class_getitem__(cls, item: Any) -> float:
            return state["item"]

        def __new__(cls) -> Any:
            made = super().__new__(cls)
            made.j = state["new"]  # type: ignore[attr-defined]
            return made

    def f(x: Any) -> Any:
        class Derived(Base):
            pass

        return x * Derived.k * Base[0] * Base().j  # type: ignore[type-arg,operator,attr-defined]

    return (
        f,
        lambda: state.update(sub=7.0),
        lambda: state.update(item=11.0),
        lambda: state.update(new=13.0),
    )


CASES = (
    a_helper, the_function_itself, a_default, methods, a_descriptor, a_function_of_this_package, a_layer,
    inherited_data, one_name_for_another, many_inherited_names, inherited_methods, other_bases,
    nothing_by_hasattr, a_class_attribute_by_getattr, a_property_above_an_attribute, class_hooks,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_changes_are_seen(case: Callable[[], Case]) -> None:
    """A program is made, and no value is stale."""
    changes_are_seen(*case(), x=x)


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (metaclasses, "a class that has its own metaclass (line "),
    ],
)
def test_what_stays_eager(case: Callable[[], Case], why: str) -> None:
    """The numbers are right after each change."""
    numbers_stay_right(*case(), x=x, why=why)


def test_a_method_under_tm_function() -> None:
    """Its own code, and what the class of its object inherits."""

    class Base:
        rate = 0.1

    class Model(Base):
        @tm.function
        def step(self, x: Any) -> Any:
            return x * self.rate

    model = Model()
    for _ in range(3):
        assert np.array_equal(x * 0.1, model.step(x))

    Model.rate = 0.5
    assert np.array_equal(x * 0.5, model.step(x))
    Model.step.python_function.__code__ = (lambda self, x: x + self.rate).__code__
    for _ in range(3):
        assert np.array_equal(x + 0.5, model.step(x))

    assert model.step.programs
    assert not model.step.why_eager


def test_what_autoreload_does() -> None:
    """A function and a class that IPython changes in place, as ``%autoreload 2`` does."""

    def versions() -> tuple[Any, Any]:
        def scale(x: Any) -> Any:
            return x * 2

        class Base:
            rate = 0.1

            def step(self, x: Any) -> Any:
                return x * self.rate

        class Model(Base):
            momentum = 0.9

        return scale, Model

    def edited() -> tuple[Any, Any]:
        def scale(x: Any) -> Any:
            return x * 7

        class Base:
            rate = 0.1

        class Model(Base):
            rate = 0.5

            def step(self, x: Any) -> Any:
                return x / self.rate

        return scale, Model

    (scale, model_class), (new_scale, new_class) = versions(), edited()
    model = model_class()
    f = tm.function(lambda x: scale(x) + model.step(x))
    for _ in range(3):
        assert np.array_equal(x * 2 + x * 0.1, f(x))

    update_generic(scale, new_scale)
    assert np.array_equal(x * 7 + x * 0.1, f(x))
    update_class(model_class, new_class)
    assert np.array_equal(x * 7 + x / 0.5, f(x))
    assert not f.why_eager


def test_code_that_is_edited_often_needs_no_more_programs() -> None:
    """The programs of code that is no more are dropped."""

    def scale(x: Any) -> Any:
        return x * 2

    f = tm.function(lambda x: scale(x), max_programs=3)
    for k in range(10):
        scale.__code__ = eval(f"lambda x: x * {k}").__code__  # noqa: S307
        for _ in range(3):
            assert np.array_equal(x * k, f(x))
        assert f.programs
    assert not f.why_eager


def test_other_names_in_a_class_need_no_new_program() -> None:
    """What no code reads may come and go."""

    class Base:
        rate = 2.0

    class Model(Base):
        calls = 0

    model = Model()
    f = tm.function(lambda x: x * model.rate)
    for k in range(20):
        setattr(Model, f"seen_{k}", k)
        Model.calls += 1
        assert np.array_equal(x * 2, f(x))

    assert 1 == len(f.programs)
    assert not f.why_eager


def test_objects_of_classes_are_not_kept() -> None:
    """Their classes alone are."""

    class Model:
        k = 2.0

        def step(self, x: Any) -> Any:
            return x * self.k

    model = Model()
    gone = weakref.ref(model)
    f = tm.function(lambda model, x: model.step(x))
    for _ in range(3):
        assert np.array_equal(x * 2, f(model, x))

    del model
    gc.collect()

    assert gone() is None
