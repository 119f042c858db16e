"""The ways on which a function under tm.function reaches values: changes at their ends are seen."""

# The functions are those of users, as they come.
# ruff: noqa: PLW0108, RUF015

from __future__ import annotations

import contextvars
import dataclasses
import functools
import threading
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import EagerWarning
from tests.programs import reach
from tests.programs.running import Change, changes_are_seen, putting, setting

x = tm.constant([1.0, 2.0, 3.0])


class Base:
    """A class with data and a property."""

    data = np.ones(3)
    k = 1.0

    def __init__(self) -> None:
        self.b = 2.0

    @property
    def product(self) -> float:
        """A number of the object and one of the class."""
        return self.b * Base.k


@dataclasses.dataclass
class Rates:
    """Numbers."""

    first: float = 0.1
    count: int = 3


@dataclasses.dataclass(slots=True)
class Slots:
    """A number in a slot."""

    first: float = 0.1


def around() -> tuple[Any, Change, Any]:
    """A function that reads variables around it, a change of one, and an array."""
    k, array = 2.0, np.ones(3)

    def inner(x: Any) -> Any:
        return x * k * array

    def change() -> None:
        nonlocal k
        k += 1.0

    return inner, change, array


def cases() -> dict[str, tuple[Any, ...]]:
    """Functions by name, each with changes of what it reads."""
    base, rates, slots = Base(), Rates(), Slots()
    inner, change, array = around()
    gradient = tm.grad(lambda y: np.sum(inner(y) * y))
    partial = functools.partial(lambda a, k=1.0: a * k, array)
    functions, entries = [np.sin], {"a": 1.0, "b": 2.0}
    nested = [tm.constant(1.0), (tm.constant(2.0), np.ones(3))]
    whole = np.arange(5.0)
    view = whole[:3]
    words = np.array(["a", "b"])

    def imports(x: Any) -> Any:
        from tests.programs import reach as imported

        return x * imported.rate

    def imports_a_name(x: Any) -> Any:
        from tests.programs.reach import rate

        return x * rate

    return {
        "attributes of modules": (
            lambda x: x * reach.rate * reach.array,
            setting(reach, "rate", 0.7), putting(reach.array, 0, 5.0),
            setting(reach, "array", np.zeros(3)), setting(reach, "array", np.full(3, 2.0)),
        ),
        "variables of modules": (
            lambda x: x * reach.weight,
            lambda: reach.weight.assign(7.0), setting(reach, "weight", tm.Variable(9.0)),
        ),
        "functions of modules": (
            lambda x: reach.helper(x), setting(reach, "rate", 0.9),
            setting(reach, "helper", lambda x: x + 1),
        ),
        "classes of modules": (lambda x: x * reach.Settings.k, setting(reach.Settings, "k", 3.0)),
        "imports": (imports, setting(reach, "rate", 0.2)),
        "imported names": (imports_a_name, setting(reach, "rate", 0.3)),
        "class attributes and properties": (
            lambda x: x * base.data * base.product, putting(Base.data, 1, 8.0),
            setting(Base, "k", 5.0), setting(base, "b", 4.0), setting(base, "data", np.zeros(3)),
        ),
        "getattr": (lambda x: x * getattr(base, "b"), setting(base, "b", 9.0)),  # noqa: B009
        "vars": (lambda x: x * vars(base)["b"], setting(base, "b", 10.0)),
        "cells": (lambda x: inner(x) + 1, change, putting(array, 0, 9.0)),
        "functions of functions": (lambda x: gradient(x), change, putting(array, 0, 3.0)),
        "lists of functions": (lambda x: functions[0](x), putting(functions, 0, np.cos)),
        "the order of dicts": (
            lambda x: x * list(entries.values())[0],
            lambda: entries.update(a=entries.pop("a")),
        ),
        "dataclasses": (
            lambda x: x * rates.first * rates.count,
            setting(rates, "first", 0.2), setting(rates, "count", 5),
        ),
        "slots": (lambda x: x * slots.first, setting(slots, "first", 0.2)),
        "partial functions": (
            lambda x: x * partial(),
            putting(array, 0, 4.0), putting(partial.keywords, "k", 3.0),
        ),
        "tensors and arrays in tuples": (
            lambda x: x * nested[0] * nested[1][0] + nested[1][1],
            putting(nested, 0, tm.constant(4.0)), putting(nested[1][1], 0, 5.0),
            putting(nested, 1, (tm.constant(3.0), np.zeros(3))),
        ),
        "views": (lambda x: x * view, putting(whole, 0, 77.0)),
        "text": (lambda x: x * (2.0 if words[0] == "a" else 3.0), putting(words, 0, "c")),
    }  # fmt: skip


@pytest.mark.parametrize("name", cases())
def test_changes_are_seen(name: str) -> None:
    """A program is made, and no value is stale."""
    changes_are_seen(*cases()[name], x=x)


def test_classes_modules_and_partial_functions_as_arguments() -> None:
    """Changes of what they hold are seen."""

    class Settings:
        k = 2.0

    module = types.ModuleType("made_here")
    module.k = 2.0  # type: ignore[attr-defined]
    for given in (Settings, module, functools.partial(lambda: None)):
        given.k = 2.0  # type: ignore[attr-defined]
        f = tm.function(lambda settings, x: x * settings.k)
        for k in (2.0, 3.0):
            given.k = k  # type: ignore[attr-defined]
            for _ in range(3):
                assert np.array_equal(x * k, f(given, x))
        assert f.programs


local = threading.local()
local.k = 2.0
variable = contextvars.ContextVar("variable", default=2.0)
objects = np.array([2.0, "a"], dtype=object)
masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (lambda x: x * local.k, "it reads local, a _local"),
        (lambda x: x * variable.get(), "it reads variable, a ContextVar"),
        (lambda x: x * objects[0], "it reads objects, an array of objects"),
        (lambda x: x * float(masked.sum()), "it reads masked, an array of the class MaskedArray"),
        (lambda x: x * len(globals()), r"it uses globals\(\)"),
    ],
)
def test_what_cannot_be_watched(f: Any, reason: str) -> None:
    """The function stays eager, and says what it reads."""
    g = tm.function(f)

    with pytest.warns(EagerWarning, match=reason):
        assert np.array_equal(f(x), g(x))


def test_a_built_in_function_that_is_replaced(monkeypatch: Any) -> None:
    """A global name that hides it is seen."""
    f = tm.function(lambda x: abs(x))
    for _ in range(3):
        assert np.array_equal(x, f(x))

    monkeypatch.setitem(globals(), "abs", lambda x: x * 5)

    assert np.array_equal(x * 5, f(x))


def test_variables_that_could_not_be_made() -> None:
    """An error that is kept, as a notebook keeps the last one, keeps what it was about."""
    with pytest.raises(tm.errors.OptionError) as kept:
        tm.Variable(1.0, name=3)  # type: ignore[arg-type]

    f = tm.function(lambda x: x * 2.0)

    assert [f(tm.constant(x)).numpy() for x in (1.0, 2.0, 3.0)] == [2.0, 4.0, 6.0]
    assert "not 3" in str(kept.value)


class Pair(NamedTuple):
    """Two values."""

    first: Any
    second: Any


def test_named_tuples_are_made_and_read_inside() -> None:
    """Their fields are found by place, and never change."""
    f = tm.function(lambda pair: Pair(pair.second * 2, pair.first))
    for _ in range(3):
        found = f(Pair(x, x + 1))
        assert type(found) is Pair
        np.testing.assert_array_equal(found.first, [4.0, 6.0, 8.0])
    assert f.why_eager == ""
