"""What a function under tm.function reads without naming it: seen, or the function stays eager and says why."""

# The functions are those of users, as they come.
# ruff: noqa: D103, B009, UP030, UP031, UP032

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import importlib
import operator
import sys
import types
from collections.abc import Callable
from operator import attrgetter as hidden_getter
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import EagerWarning
from tapemagic.programs.function import Function
from tests.programs.running import Case, changes_are_seen, numbers_stay_right, putting, setting

x = tm.constant([1.0, 2.0, 3.0])


class Model:
    """An object with a number, and a method."""

    j: Any

    def __init__(self, k: Any = 2.0) -> None:
        self.k = k

    def scaled(self, given: Any = 1.0, by: Any = 1.0) -> Any:
        """A method of a name that text has."""
        return self.k * given * by


@dataclasses.dataclass(slots=True)
class Slots:
    """An object with a slot."""

    a: Any = 2.0


table, slots = {"lr": 1.0}, Slots()
METHODS: list[tuple[Any, str, tuple[Any, ...], Callable[[Any], Any]]] = [
    (table, "get", ("lr",), lambda t: t.update(lr=9.0)),
    (table, "__getitem__", ("lr",), lambda t: t.update(lr=7.0)),
    (table, "__len__", (), lambda t: t.update(other=2.0)),
    ([1.0, 2.0], "__getitem__", (0,), lambda numbers: putting(numbers, 0, 9.0)()),
    ((np.ones(3), 2.0), "__getitem__", (0,), lambda pair: pair[0].fill(9.0)),
    (Model(), "__getattribute__", ("k",), lambda model: setattr(model, "k", 3.0)),
    ([], "__len__", (), lambda found: found.append(1)),
    (np.ones(3), "sum", (), lambda a: a.fill(5.0)),
    (np.array(2.0), "item", (), lambda a: a.fill(5.0)),
    (np.ones(3), "__mul__", (2.0,), lambda a: a.fill(5.0)),
    (np.eye(3), "__matmul__", (np.ones(3),), lambda a: a.fill(5.0)),
    (lambda: table["lr"], "__call__", (), lambda _: table.update(lr=11.0)),
    (Slots.a, "__get__", (slots,), lambda _: setattr(slots, "a", 9.0)),
]


@pytest.mark.parametrize(("owner", "name", "args", "change"), METHODS)
def test_a_method_that_was_kept_stays_eager(owner: Any, name: str, args: Any, change: Any) -> None:
    """Its object is not seen, also where a name reads it, too; the numbers are right after a change."""
    method = getattr(owner, name)
    why = f"it reads method, the method {name} of {type(owner).__name__}"
    numbers_stay_right(lambda x: x * method(*args), lambda: change(owner), x=np.ones(3), why=why)
    if isinstance(owner, np.ndarray | tuple):
        named = owner if isinstance(owner, np.ndarray) else owner[0]
        f = lambda x: x * named * method(*args) * named  # noqa: E731
        numbers_stay_right(f, lambda: change(owner), x=np.ones(3), why=why)


def an_array_and_a_partial_function() -> Case:
    a, b, c, d = np.ones(3), np.ones(3), np.ones(3), np.ones(3)

    slots = Slots(c)
    part = functools.partial(lambda k, y: k * y, a)
    bound = types.MethodType(lambda k, y: k * y, b)

    def f(x: Any, d_too: Any = d) -> Any:
        return x * a * part(2.0) * b * bound(2.0) * c * slots.a * d * d_too

    return f, *(putting(each, 0, 5.0) for each in (a, b, c, d))


def a_tensor_and_a_slot() -> Case:
    held = [tm.constant(2.0)]
    slots = Slots(held[0])

    def change() -> None:
        held[0] = slots.a = tm.constant(5.0)

    return lambda x: x * held[0] * slots.a, change


def other_names_for_getattr() -> Case:
    one, two, three = Model(), Model(), Model()
    read, part = getattr, functools.partial(getattr, two, "k")
    return (
        lambda x: x * read(one, "k") * part() * builtins.getattr(three, "k"),
        setting(one, "k", 3.0),
        setting(two, "k", 4.0),
        setting(three, "k", 5.0),
    )


def attrgetters() -> Case:
    one, two, three = Model(), Model(), Model()
    two.j = Model()
    read = operator.attrgetter("j.k")
    return (
        lambda x: x * operator.attrgetter("k")(one) * read(two) * hidden_getter("k")(three),
        setting(one, "k", 3.0), setting(two.j, "k", 4.0), setting(two, "j", Model(5.0)), setting(three, "k", 6.0),
    )  # fmt: skip


def methodcallers() -> Case:
    class Derived(Model): ...

    def halved(self: Any, given: Any = 1.0, by: Any = 2.0) -> Any:
        return self.k * given / by

    model, given, by = Derived(), np.ones(3), [2.0]
    call = operator.methodcaller("scaled", given, by=by[0])
    return (
        lambda x: x * call(model) * operator.methodcaller("scaled")(model),
        putting(given, 0, 5.0), setting(model, "k", 7.0), setting(Derived, "scaled", halved),
    )  # fmt: skip


def formats() -> Case:
    one, two, three = Model(), Model(), Model(1)
    text, bound = "{0.k}", "{0.k:.{width.k}f}".format
    two.j = [Model(4.0)]
    return (
        lambda x: x * float("{0.k:.0f}{1.j[0].k}".format(one, two)) * float(text.format(two))
        * float(bound(two, width=three)),
        setting(one, "k", 3.0), setting(two, "k", 5.25), setting(two.j[0], "k", 6.0), setting(three, "k", 0),
    )  # fmt: skip


def attributes_as_a_dict() -> Case:
    @dataclasses.dataclass
    class Settings:
        first: float = 2.0

    one, two = Settings(), Settings()
    as_dict = dataclasses.asdict
    return (
        lambda x: x * dataclasses.astuple(one)[0] * as_dict(two)["first"],
        setting(one, "first", 3.0),
        setting(two, "first", 4.0),
    )


def members_of_an_enum() -> Case:
    state = {"k": 2.0}

    class Mode(enum.Enum):
        FAST = 1

        def scale(self) -> float:
            return state["k"] * self.extra  # type: ignore[no-any-return]

    Mode.FAST.extra = 1.0  # type: ignore[attr-defined]
    model = Model(Mode.FAST)
    return (
        lambda x: x * model.k.scale(),
        putting(state, "k", 9.0),
        setting(Mode.FAST, "extra", 4.0),
    )


def modules() -> Case:
    state = {"k": 2.0}
    made, empty = types.ModuleType("made"), types.ModuleType("empty")

    def __getattr__(name: str) -> float:  # noqa: N807
        if name.startswith("__"):
            raise AttributeError(name)
        return state["k"]

    made.__getattr__ = __getattr__  # type: ignore[method-assign]
    return (
        lambda x: x * made.rate * (2.0 if hasattr(empty, "rate") else 3.0),
        putting(state, "k", 9.0),
        setting(made, "rate", 4.0),
        setting(empty, "rate", 4.0),
    )


def attributes_of_functions() -> Case:
    def helper() -> None:
        pass

    return lambda x: x * getattr(helper, "k", 2.0), setting(helper, "k", 3.0)


def names_among_the_built_in_ones() -> Case:
    vars(builtins)["k_of_test"] = 2.0
    scope = {"__builtins__": builtins}
    f = eval("lambda x: x * k_of_test", scope)  # noqa: S307
    return f, setting(builtins, "k_of_test", 3.0)


CASES = (
    an_array_and_a_partial_function, a_tensor_and_a_slot, other_names_for_getattr, attributes_as_a_dict,
    members_of_an_enum, modules, attributes_of_functions, names_among_the_built_in_ones,
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_changes_are_seen(case: Callable[[], Case]) -> None:
    """A program is made, and no value is stale."""
    changes_are_seen(*case(), x=x)


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (attrgetters, "it reads read, an attrgetter, which reads attributes"),
        (methodcallers, "it reads call, a methodcaller, which reads attributes"),
        (formats, "it reads bound, the method format of str"),
    ],
)
def test_what_is_kept_by_another_name_stays_eager(case: Callable[[], Case], why: str) -> None:
    """The numbers are right after each change."""
    numbers_stay_right(*case(), x=x, why=why)


class Shown:
    """An object whose text depends on what is elsewhere."""

    def __init__(self, state: dict[str, float]) -> None:
        self._read = lambda: state["k"]

    def __repr__(self) -> str:
        return str(self._read())


@dataclasses.dataclass
class Fields:
    """An object with text that Python has made for it."""

    k: float = 2.0


state = {"k": 2.0}
shown, fields = Shown(state), Fields()
evaluated = eval
module = sys.modules[__name__]


class Parent:
    """A class whose derived ones are found by it."""


class Child(Parent):
    """Such a class."""

    k = 2.0


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (lambda x: x * Shown.__init__.__globals__["state"]["k"], "it uses __globals__, with which"),
        (lambda x: x * Parent.__subclasses__()[0].k, "it uses __subclasses__, which finds"),  # type: ignore[attr-defined]
        (lambda x: x * evaluated("state")["k"], r"it uses eval\(\), with which"),
        (lambda x: x * importlib.import_module(__name__).state["k"], "it reads importlib, of the lib"),
        (lambda x: x * sys.modules[__name__].state["k"], "it reads sys, of the library"),
        (lambda x: x * sys._getframe().f_globals["state"]["k"], "it uses _getframe, with which"),
    ],
)  # fmt: skip
def test_what_cannot_be_watched(f: Any, reason: str) -> None:
    """The function stays eager, and says what it reads."""
    g = tm.function(f)

    with pytest.warns(EagerWarning, match=reason):
        assert np.array_equal(f(x), g(x))

    assert "line " in g.why_eager


TEXTS: list[Callable[[Any], Any]] = [
    lambda x: x * float(repr(shown)),
    lambda x: x * float(f"{shown}"),
    lambda x: x * float("%s" % shown),
    lambda x: x * float("{}".format(shown)),
    lambda x: x * float([*map(str, [shown])][0]),  # noqa: RUF015
]


@pytest.mark.parametrize("f", TEXTS)
def test_the_text_of_an_object_is_watched(f: Any) -> None:
    """What its methods read is seen."""
    changes_are_seen(f, putting(state, "k", 5.0), putting(state, "k", 7.0), x=x)
    state["k"] = 2.0


def test_the_text_of_a_dataclass_is_watched() -> None:
    """Its fields are."""
    fields = Fields()
    changes_are_seen(lambda x: x * len(f"{fields}"), setting(fields, "k", 25.125), x=x)


def test_text_that_is_not_made_is_no_reason() -> None:
    """An f-string for an error that is not raised, or of numbers."""

    def f(x: Any) -> Any:
        if x.shape[0] != 3:
            raise ValueError(f"{fields} and {shown} are for three numbers")
        return x * fields.k * len(f"{x.shape[0]:3d}")

    g = tm.function(f)
    for _ in range(3):
        assert np.array_equal(f(x), g(x))

    assert g.programs
    assert not g.why_eager


def test_other_objects_change_freely() -> None:
    """Where a function reads attributes by text, all are watched."""
    model, other = Model(), Model()
    other.j = 0

    def f(x: Any) -> Any:
        return x * float("{0.k}".format(model)) * operator.itemgetter(0)([other.k])

    g = Function(f, warns=False)
    for k in range(20):
        other.j = k
        assert np.array_equal(x * 4, g(x))
