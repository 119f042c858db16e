"""Comparison of two traces of one function: they are the same program, or something in it changes by itself."""

from __future__ import annotations

import weakref
from itertools import zip_longest
from typing import Any, NamedTuple

from tapemagic.engine.tensor.variable import Variable
from tapemagic.replay.kinds import same_leaf
from tapemagic.replay.program import Constant, Guard, Node, Program, Site

CHANGES = (
    "a value differs between two calls with arguments of the same kinds, as a random number does, or the time: "
    "give it as an argument"
)
"""The reason for which a function stays eager, if a constant of its program is another one at the second call."""

OTHERWISE = "two calls with arguments of the same kinds compute something else: give what they depend on as an argument"


class Difference(NamedTuple):
    """The first difference of two traces.

    Attributes
    ----------
    reason : str
    site : Site or None
        The user's line at which they part.
    """

    reason: str
    site: Site | None


def difference(a: Program, b: Program) -> Difference | None:
    """The first difference of two traces; None if they made the same calls with the same constants.

    Examples
    --------
    >>> difference(Program([], [], [1], []), Program([], [], [1], [])) is None
    True
    >>> difference(Program([], [], [1.5], []), Program([], [], [2.5], [])).site is None
    True
    """
    if list(map(origin_of, a.inputs)) != list(map(origin_of, b.inputs)):
        return Difference(OTHERWISE, None)
    twin: dict[Any, Any] = dict(zip(a.inputs, b.inputs, strict=True))
    for one, other in zip_longest(a.body, b.body):
        site = getattr(other or one, "site", None)
        if type(one) is not type(other):
            return Difference(OTHERWISE, site)
        if isinstance(one, Guard):
            if one.expected != other.expected or twin.get(one.condition) is not other.condition:
                return Difference(OTHERWISE, site)
            continue
        if one.function != other.function or one.errstate != other.errstate:
            return Difference(OTHERWISE, site)
        if not _same((one.args, one.kwargs), (other.args, other.kwargs), twin):
            return Difference(CHANGES, site)
        if one.kind != other.kind:
            return Difference(CHANGES, site)
        twin[one] = other
    last = next((x.site for x in reversed(b.body) if x.site is not None), None)
    if [type(x) for x in a.results] != [type(x) for x in b.results]:
        return Difference(OTHERWISE, last)
    if not _same(a.results, b.results, twin):
        return Difference(CHANGES, last)
    one, other = ([identity(variable) for variable, _ in each.assigned] for each in (a, b))
    if one != other:
        return Difference(OTHERWISE, last)
    assigned = ([node for _, node in each.assigned] for each in (a, b))
    return None if _same(*assigned, twin) else Difference(CHANGES, last)


def origin_of(node: Any) -> Any:
    """What an input of a program is given, for a comparison."""
    return identity(node.origin), node.kind


def identity(origin: Any) -> Any:
    """The identity of a Variable, also of one that is referred to weakly; any other origin itself."""
    if isinstance(origin, weakref.ref):
        return id(origin())
    return id(origin) if isinstance(origin, Variable) else origin


def _same(a: Any, b: Any, twin: dict[Any, Any]) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Constant):
        return a.value is b.value or (not a.by_reference and same_values(a.value, b.value))
    if isinstance(a, Node):
        return twin.get(a) is b
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(_same(x, y, twin) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], twin) for key in a)
    if isinstance(a, slice):
        return _same((a.start, a.stop, a.step), (b.start, b.stop, b.step), twin)
    return same_leaf(a, b) or bool(a == b and not isinstance(a, float | complex))


def same_values(a: Any, b: Any) -> bool:
    """Whether two arrays or NumPy scalars are the same to the bit.

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
