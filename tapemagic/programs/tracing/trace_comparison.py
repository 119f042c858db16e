"""Compare two traces of one function: a difference shows that a value changes from call to call."""

from __future__ import annotations

import weakref
from itertools import zip_longest
from typing import Any, NamedTuple

from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.object_kinds import same_leaf
from tapemagic.programs.program import Constant, Guard, Input, Node, Program, Site

CHANGES = (
    "a value differs between two calls with arguments of the same kinds, as a random number does, or the time: "
    "pass it as an argument"
)
"""The reason if a constant of a function differs at the second call."""

OTHERWISE = (
    "two calls with arguments of the same kinds run different operations: pass everything that they depend on as an "
    "argument"
)


class ArgumentVariable(NamedTuple):
    """The origin of an input: the value of a Variable among the arguments."""

    place: int


class Difference(NamedTuple):
    """The first difference of two traces.

    - `site`: The line of user code at which they diverge.
    """

    reason: str
    site: Site | None


def first_difference(a: Program, b: Program) -> Difference | None:
    """Return the first difference of two traces, or None if their calls and constants are equal.

    Examples
    --------
    >>> first_difference(Program([], [], [1], []), Program([], [], [1], [])) is None
    True
    >>> first_difference(Program([], [], [1.5], []), Program([], [], [2.5], [])).site is None
    True
    """
    if origins(a) != origins(b):
        return Difference(OTHERWISE, None)
    # Maps each node of `a` to the node of `b` that the same call made.
    twin: dict[Any, Any] = dict(zip(a.inputs, b.inputs, strict=True))
    for x, y in zip_longest(a.body, b.body):
        if type(x) is not type(y):
            return Difference(OTHERWISE, getattr(y, "site", None))
        site = y.site
        if type(x) is Guard:
            if x.expected != y.expected or twin.get(x.condition) is not y.condition:
                return Difference(OTHERWISE, site)
            continue
        if x.function != y.function or x.errstate != y.errstate:
            return Difference(OTHERWISE, site)
        if not _same_arguments(x.args, y.args, twin):
            return Difference(CHANGES, site)
        if (x.kwargs or y.kwargs) and not _same(x.kwargs, y.kwargs, twin):
            return Difference(CHANGES, site)
        if x.kind is not y.kind and x.kind != y.kind:
            return Difference(CHANGES, site)
        twin[x] = y
    last = next((x.site for x in reversed(b.body) if x.site is not None), None)
    if [type(x) for x in a.results] != [type(x) for x in b.results]:
        return Difference(OTHERWISE, last)
    if not _same(a.results, b.results, twin):
        return Difference(CHANGES, last)
    x, y = ([identity(variable, each) for variable, _ in each.assigned] for each in (a, b))
    if x != y:
        return Difference(OTHERWISE, last)
    ends = [[node for _, node in each.assigned] for each in (a, b)]
    return None if _same(ends[0], ends[1], twin) else Difference(CHANGES, last)


def origins(program: Program) -> list[Any]:
    """Return the origins of the inputs of a program, for a comparison."""
    return [(identity(node.origin, program), node.kind) for node in program.inputs]


def identity(origin: Any, program: Program) -> Any:
    """Return the place of a Variable among the arguments or its identity; any other origin unchanged."""
    if isinstance(origin, Variable):
        place = program.notes["given"].get(id(origin))
        return id(origin) if place is None else ArgumentVariable(place)
    return id(origin()) if isinstance(origin, weakref.ref) else origin


def _same_arguments(a: Any, b: Any, twin: dict[Any, Any]) -> bool:
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):
        kind = type(x)
        if not (twin.get(x) is y if kind is Node or kind is Input else _same(x, y, twin)):
            return False
    return True


def _same(a: Any, b: Any, twin: dict[Any, Any]) -> bool:
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is Node:
        return twin.get(a) is b
    if kind is Constant:
        return a.value is b.value or (not a.by_reference and same_values(a.value, b.value))
    if isinstance(a, Node):
        return twin.get(a) is b
    if isinstance(a, tuple | list):
        if len(a) != len(b):
            return False
        for k, x in enumerate(a):  # noqa: SIM110 (quicker than a generator)
            if not _same(x, b[k], twin):
                return False
        return True
    if kind is dict:
        return a.keys() == b.keys() and all(_same(a[key], b[key], twin) for key in a)
    if kind is slice:
        return _same((a.start, a.stop, a.step), (b.start, b.stop, b.step), twin)
    # == would take 0.0 for -0.0.
    return same_leaf(a, b) or bool(a == b and not isinstance(a, float | complex))


def same_values(a: Any, b: Any) -> bool:
    """Return True if two arrays or NumPy scalars have the same bits.

    Examples
    --------
    >>> import numpy as np
    >>> same_values(np.float64(0.0), np.float64(-0.0))
    False
    """
    return (
        type(a) is type(b)
        and a.shape == b.shape
        and a.dtype == b.dtype
        and (a is b or a.tobytes() == b.tobytes())
    )
