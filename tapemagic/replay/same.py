"""Comparison of two traces of one function: they are the same program, or something in it changes by itself."""

from __future__ import annotations

from typing import Any

from tapemagic.replay.program import Constant, Guard, Input, Node, Program


def same_programs(a: Program, b: Program) -> bool:
    """Whether two traces made the same calls with the same constants.

    Examples
    --------
    >>> same_programs(Program([], [], [1], []), Program([], [], [2], []))
    False
    """
    if len(a.body) != len(b.body) or len(a.inputs) != len(b.inputs):
        return False
    twin: dict[Any, Any] = dict(zip(a.inputs, b.inputs, strict=True))
    for one, other in zip(a.body, b.body, strict=True):
        if type(one) is not type(other):
            return False
        if isinstance(one, Guard):
            if one.expected != other.expected or twin.get(one.condition) is not other.condition:
                return False
            continue
        if one.function != other.function or one.kind != other.kind:
            return False
        if not _same((one.args, one.kwargs), (other.args, other.kwargs), twin):
            return False
        twin[one] = other
    assigned = [node for _, node in a.assigned], [node for _, node in b.assigned]
    return _same(a.results, b.results, twin) and _same(*assigned, twin)


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
    if isinstance(a, float | complex):
        return repr(a) == repr(b)
    return a is b or bool(a == b)


def same_values(a: Any, b: Any) -> bool:
    """Whether two arrays or NumPy scalars are the same to the bit."""
    return (
        type(a) is type(b)
        and a.shape == b.shape
        and a.dtype == b.dtype
        and (a is b or a.tobytes() == b.tobytes())
    )


__all__ = ["Input", "same_programs", "same_values"]
