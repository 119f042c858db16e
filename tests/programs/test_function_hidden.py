"""What a function under tm.function reads without naming it: seen, or the function stays eager and says why."""

# The functions are those of users, as they come.
# ruff: noqa: D103, B009, PT031, UP030, UP031, UP032

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


def methods_of_a_dict() -> Case:
    table = {"lr": 1.0}
    get, item, count = table.get, table.__getitem__, table.__len__
    return (
        lambda x: x * get("lr") * item("lr") * count(),  # type: ignore[operator]
        putting(table, "lr", 9.0),
        putting(table, "other", 2.0),
    )


def a_method_of_a_list() -> Case:
    numbers = [1.0, 2.0]
    item = numbers.__getitem__
    return lambda x: x * item(0), putting(numbers, 0, 9.0)


def a_method_of_a_tuple() -> Case:
    array = np.ones(3)
    pair = (array, (2.0, array))
    item = pair.__getitem__
    return (
        lambda x: x * pair[0] * pair[1][1] * item(0) * item(1)[1],  # type: ignore[index]
        putting(array, 0, 9.0),
    )


def methods_of_objects() -> Case:
    one, two, three = Model(), Model(), Model()
    get = one.__getattribute__
    return (
        lambda x: x * get("k") * two.__getattribute__("k") * object.__getattribute__(three, "k"),
        setting(one, "k", 3.0),
        setting(two, "k", 4.0),
        setting(three, "k", 5.0),
    )


def methods_of_an_array() -> Case:
    a, b, c = np.ones(3), np.array(2.0), np.eye(3)
    total, item, times, matmul = a.sum, b.item, a.__mul__, c.__matmul__
    return (
        lambda x: matmul(times(x)) * total() * item(),
        putting(a, 0, 5.0),
        putting(b, (), 3.0),
        putting(c, (0, 0), 7.0),
    )


def an_array_and_its_method() -> Case:
    a, b = np.ones(3), np.ones(3)
    of_a, of_b = a.sum, b.sum
    return (lambda x: x * a * of_a() * of_b() * b, putting(a, 0, 5.0), putting(b, 0, 5.0))


def an_array_and_a_partial_function() -> Case:
    a, b, c, d = np.ones(3), np.ones(3), np.ones(3), np.ones(3)

    class Slots:
        __slots__ = ("a",)

        def __init__(self) -> None:
            self.a = c

    slots = Slots()
    part = functools.partial(lambda k, y: k * y, a)
    bound = types.MethodType(lambda k, y: k * y, b)

    def f(x: Any, d_too: Any = d) -> Any:
        return x * a * part(2.0) * b * bound(2.0) * c * slots.a * d * d_too

    return f, *(putting(each, 0, 5.0) for each in (a, b, c, d))


def a_tensor_and_a_slot() -> Case:
    class Slots:
        __slots__ = ("a",)

        def __init__(self) -> None:
            self.a = held[0]

    held = [tm.constant(2.0)]
    slots = Slots()

    def change() -> None:
        held[0] = slots.a = tm.constant(5.0)

    return lambda x: x * held[0] * slots.a, change


def a_function_by_its_method() -> Case:
    state = {"k": 2.0}
    call = (lambda: state["k"]).__call__
    return lambda x: x * call(), putting(state, "k", 9.0)


def a_slot_by_its_descriptor() -> Case:
    class Slots:
        __slots__ = ("k",)

        def __init__(self) -> None:
            self.k = 2.0

    slots = Slots()
    read = Slots.k.__get__  # type: ignore[attr-defined]
    return lambda x: x * read(slots), setting(slots, "k", 9.0)


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

    class Settings:
        of_class = 2.0

    settings, of_class = Settings(), operator.attrgetter("of_class")
    return (
        lambda x: x * operator.attrgetter("k")(one) * read(two) * hidden_getter("k")(three) + of_class(settings),
        setting(one, "k", 3.0),
        setting(two.j, "k", 4.0),
        setting(two, "j", Model(5.0)),
        setting(three, "k", 6.0),
        setting(Settings, "of_class", 7.0),
    )  # fmt: skip


def methodcallers() -> Case:
    class Derived(Model):
        pass

    model, given, by = Derived(), np.ones(3), [2.0]
    call = operator.methodcaller("scaled", given, by=by)

    class Halved(Model):
        def scaled(self, given: Any = 1.0, by: Any = 1.0) -> Any:  # noqa: ARG002
            return self.k / 2

    def scaled(self: Any, given: Any = 1.0, by: Any = (1.0,)) -> Any:
        return self.k * given * by[0] + 1

    Derived.scaled = lambda self, given=1.0, by=(1.0,): self.k * given * by[0]  # type: ignore[method-assign]
    halved = Halved()
    return (
        lambda x: x * call(model) * operator.methodcaller("scaled")(halved),
        putting(given, 0, 5.0),
        putting(by, 0, 3.0),
        setting(model, "k", 7.0),
        setting(halved, "k", 9.0),
        setting(Derived, "scaled", scaled),
    )


def formats() -> Case:
    one, two, three = Model(), Model(), Model(1)
    text, bound = "{0.k}", "{0.k:.{width.k}f}".format
    two.j = [Model(4.0)]
    return (
        lambda x: (
            x * float("{0.k:.0f}{1.j[0].k}".format(one, two)) * float(text.format(two)) * float(bound(two, width=three))
        ),
        setting(one, "k", 3.0),
        setting(two, "k", 5.25),
        setting(two.j[0], "k", 6.0),
        setting(three, "k", 0),
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
        (methods_of_a_dict, "the method __len__ of dict"),
        (a_method_of_a_list, "it reads item, the method __getitem__ of list"),
        (a_method_of_a_tuple, "it reads item, the method __getitem__ of tuple"),
        (methods_of_objects, "it reads get, the method __getattribute__ of Model"),
        (methods_of_an_array, "it reads item, the method item of ndarray"),
        (an_array_and_its_method, "it reads of_a, the method sum of ndarray"),
        (a_function_by_its_method, "it reads call, the method __call__ of function"),
        (a_slot_by_its_descriptor, "it reads read, the method __get__ of member_descriptor"),
        (attrgetters, "it reads of_class, an attrgetter, which reads attributes"),
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


def test_effects_by_bound_methods() -> None:
    """They happen at each call."""
    seen: list[Any] = []
    add = seen.append

    def f(x: Any) -> Any:
        add(1)
        return x * 2

    g = tm.function(f)
    with pytest.warns(EagerWarning, match="it reads add, the method append"):
        for _ in range(6):
            g(x)

    assert 6 == len(seen)
