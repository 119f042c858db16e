"""Constant folding: calls whose arguments are constants become constants, and arrays of one number become numbers.

A call that warns or raises an error stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.known_numbers import as_scalar, fill_of
from tapemagic.programs.passes.layout import lines, repeats
from tapemagic.programs.passes.purity import is_pure
from tapemagic.programs.passes.rewriting import Rewriting, Rules
from tapemagic.programs.program import (
    Constant,
    Kind,
    Node,
    arguments_of,
    is_array,
    kind_of,
    replaced,
)
from tapemagic.programs.text.literals import literal

MAX_FOLDED_SIZE = 1 << 16
"""Maximum number of elements of a result that becomes a constant, unless its elements are equal."""

BY_LOOPS = frozenset({np.power, np.fmax, np.fmin})
"""Functions whose bits for a number and for an array of it may differ: powers, and the signs of zeros."""

BY_SHAPE = {np.ones_like: 1, np.zeros_like: 0}
"""Functions whose result only depends on the shape and dtype of their argument."""


def folded(node: Node, rewriting: Rewriting) -> Node | None:
    """Return the result of a call whose arguments are constants."""
    for x in node.args:
        if isinstance(x, Node) and x.__class__ is not Constant:
            return None
    read = arguments_of(node)
    if node.kind.__class__ is not Kind or not all(x.__class__ is Constant for x in read):
        return None
    if not read or any(x.by_reference for x in read) or not is_pure(node.function):  # type: ignore[attr-defined]
        return None
    if node.kind.size > MAX_FOLDED_SIZE and not all(fill_of(x) is not None for x in read):
        return None
    args, kwargs = replaced(node.args, _value), replaced(node.kwargs, _value)
    # A call that warns must warn at each call of the program, so warnings are errors here.
    try:
        with np.errstate(all="raise"):
            value = node.function(*args, **kwargs)
    except Exception:  # noqa: BLE001 (each call of the program raises the same error)
        return None
    if not isinstance(value, np.ndarray | np.generic) or kind_of(value) != node.kind:
        return None
    # A view of a constant would become a copy, and a result of the program could no longer share memory with it.
    if isinstance(value, np.ndarray) and any(np.may_share_memory(value, _value(x)) for x in read):
        return None
    is_users = any(x.from_user for x in read)  # type: ignore[attr-defined]
    if rewriting.is_read and isinstance(value, np.ndarray) and literal(value) is None:
        return None
    if rewriting.is_shown and is_users:
        return None
    return Constant(value, name=node.name, from_user=is_users)


def _value(node: Any) -> Any:
    return node.value


def filled(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``ones_like(x)`` and ``zeros_like(x)`` by constants."""
    if len(node.args) != 1 or node.kwargs:
        return None
    # The result has the layout of the argument (order="K").
    if lines(node.kind.shape) > 1 and not rewriting.layouts.contiguous(node.args[0]):
        return None
    value = np.full(node.kind.shape, BY_SHAPE[node.function], node.kind.dtype)
    return Constant(value, name=node.name)


def with_numbers(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace arrays of one number by numbers, if the result keeps its shape, dtype and layout."""
    if not is_array(node) or node.kwargs:
        return None
    if len(node.args) < 2 or not isinstance(node.function, np.ufunc) or node.function.signature:
        return None
    if node.function in BY_LOOPS:
        return None
    left = [x for x in node.args if not rewriting.uniform.contains(x)]
    if not left or len(left) == len(node.args) or not any(map(is_array, node.args)):
        return None
    if not _same_shape(node, left):
        return None
    args = tuple(
        as_scalar(x, rewriting.call) if is_array(x) and x not in left else x for x in node.args
    )
    if args == node.args:
        return None
    new = Node(node.function, args, {}, node.kind)
    layouts = rewriting.layouts
    repeated = all(x is y or _repeats(x) for x, y in zip(node.args, args, strict=True))
    if not repeated and not (
        layouts.would_be_contiguous(node) and layouts.would_be_contiguous(new)
    ):
        return None
    return rewriting.call(node.function, args, node.kind, node)


def _repeats(x: Any) -> bool:
    """Return True if an array doesn't affect the layout of results, because all of its strides are 0."""
    if isinstance(x, Constant):
        return repeats(x)
    return isinstance(x, Node) and (x.function is np.broadcast_to or x.kind.size == 1)


def _same_shape(node: Node, left: list[Any]) -> bool:
    shapes = [x.kind.shape for x in left]
    return bool(np.broadcast_shapes(*shapes) == node.kind.shape)


RULES: Rules = {np.ones_like: (filled,), np.zeros_like: (filled,), None: (folded, with_numbers)}
