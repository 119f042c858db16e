"""Calls that write into an argument which is not read again."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tapemagic.replay.passes.buffers import in_place
from tapemagic.replay.program import Back, Input, Kind, Node, Store

FLOATS = Kind((8,), np.dtype(float), True)
x = Input(0, FLOATS, "x")
y = Input(1, FLOATS, "y")
result = Input(2, FLOATS, "result")


def call(function: Any, *args: Any, kind: Kind = FLOATS, name: str = "", back: Any = None) -> Node:
    """A node on eight numbers."""
    return Node(function, args, {}, kind, back=back, name=name)


def functions(*body: Any) -> list[Any]:
    """The functions of the body afterwards, ended by the writing of its last value."""
    made = in_place([*body, Store(result, slice(8), body[-1])])
    return [entry.function for entry in made[:-1]]


def test_a_variable_is_written_into_where_it_is_read_last() -> None:
    """A second call may follow in the same memory; the first one to read a value may not."""
    t = call(np.sin, x)
    early, late = call(np.multiply, t, y), call(np.multiply, y, t)
    later = call(np.subtract, late, early)
    last = call(np.exp, later)
    assert functions(t, early, late, later, last)[1:4] == [
        np.multiply,
        operator.imul,
        operator.isub,
    ]


def test_a_step_of_an_expression_stays_one() -> None:
    """Values that stand inside of an expression have no statement."""
    inner = call(np.multiply, x, y)
    outer = call(np.add, inner, y)
    assert functions(inner, outer, call(np.exp, outer))[1] is np.add


@pytest.mark.parametrize("way", ["named", "argument named", "adjoint", "kind", "order", "view"])
def test_what_is_not_written_into(way: str) -> None:
    """Names of the user's, other kinds, first arguments that are no sums, and what a view shares."""
    t = call(np.sin, x, name="t" if way == "argument named" else "")
    read = call(operator.getitem if way == "view" else np.exp, t)
    kind = Kind((8,), np.dtype(np.float32), True) if way == "kind" else FLOATS
    args = (y, t) if way == "order" else (t, y)
    back = Back(x, 1, y) if way == "adjoint" else None
    used = call(np.subtract, *args, kind=kind, name="u" if way == "named" else "", back=back)
    last = call(np.add, used, read)
    assert functions(t, read, used, last, call(np.exp, last))[2] is np.subtract


def test_what_a_list_keeps_is_not_written_into() -> None:
    """A block's result that was appended to a list stays."""
    t = call(np.sin, x)
    other = call(np.exp, t)
    used = call(np.add, t, other)
    kept = Store(result, None, t)
    made = in_place([t, kept, other, used, Store(result, slice(8), call(np.exp, used))])
    assert made[3].function is np.add


def test_complex_products_keep_their_order() -> None:
    """A product of complex numbers may round otherwise the other way round."""
    kind = Kind((8,), np.dtype(complex), True)
    z = Input(0, kind, "z")
    t = call(np.sin, z, kind=kind)
    other = call(np.exp, t, kind=kind)
    body = [t, other, call(np.multiply, z, t, kind=kind)]
    last = call(np.add, body[2], other, kind=kind)
    assert functions(*body, last)[2] is np.multiply
