"""Loops whose calls write into buffers: which of them do, and which buffers they share."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from tapemagic.kernels import aligned_like
from tapemagic.programs.passes.buffers import with_buffers
from tapemagic.programs.program import Back, Input, Kind, Loop, Node, Store

BLOCK = Kind((8, 2), np.dtype(float), True)
WHOLE = Input(0, Kind((80, 2), np.dtype(float), True), "x")
RESULT = Input(1, WHOLE.kind, "result")
x = Input(2, BLOCK, "x_part")
y = Input(3, BLOCK, "y_part")


def call(function: Any, *args: Any, kind: Kind = BLOCK, name: str = "", back: Any = None) -> Node:
    """A node on eight rows."""
    return Node(function, args, {}, kind, back=back, name=name)


def written(*body: Any, orders: Any = None) -> tuple[list[str], Loop]:
    """What the calls of a loop are, and where they write, by the numbers of the buffers; its last value is stored."""
    loop = Loop(80, 8)
    loop.body = [*body, Store(RESULT, loop.part, body[-1])]
    nodes = [entry for entry in body if isinstance(entry, Node)]
    with_buffers(loop, dict.fromkeys(nodes, WHOLE) if orders is None else orders)
    names = {node: f"u{k + 1}" for k, (node, _) in enumerate(loop.buffers)}
    found = []
    for entry in loop.body:
        if isinstance(entry, Store):
            found.append("store")
        elif entry.function is not operator.getitem or entry.args[0] is not RESULT:
            out = entry.kwargs.get("out")
            place = "" if out is None else names.get(out, "result")
            found.append(f"{entry.function.__name__} {place}".strip())
    return found, loop


def test_a_buffer_is_written_into_where_it_is_read_last() -> None:
    """Sums and products write into an argument; other functions into a buffer that is free."""
    t = call(np.sin, x)
    early, late = call(np.multiply, t, y), call(np.multiply, y, t)
    later = call(np.subtract, late, early)
    more = call(np.exp, later)
    body = [t, early, late, later, more, call(np.exp, more)]
    found, loop = written(*body)
    assert found == ["sin u1", "multiply u2", "multiply u1", "isub", "exp u2", "exp result"]
    assert len(loop.buffers) == 2


def test_a_named_value_keeps_its_own_statement() -> None:
    """A value with a name, and an adjoint of one, isn't merged into an augmented assignment."""
    t = call(np.sin, x)
    named = call(np.add, t, y, name="named")
    adjoint = call(np.add, named, y, back=Back(x, 1, named))
    found, _ = written(t, named, adjoint, call(np.exp, adjoint))
    assert found == ["sin u1", "add u1", "add u1", "exp result"]


@pytest.mark.parametrize("way", ["view", "list", "kind", "order", "complex"])
def test_what_is_not_written_into(way: str) -> None:
    """What a view shares, what a list keeps, other kinds, and other orders in memory have memory of their own."""
    kinds = {"kind": np.float32, "complex": complex}
    kind = Kind((8, 2), np.dtype(kinds.get(way, float)), True)
    t = call(np.sin, x, kind=kind if way == "complex" else BLOCK)
    read = call(operator.getitem if way == "view" else np.exp, t)
    used = call(np.add, t, y, kind=kind)
    kept = [Store(call(list, kind=BLOCK), None, t)] if way == "list" else []
    last = call(np.add, used, read)
    body = [t, *kept, read, used, last]
    orders = dict.fromkeys([t, used, last], WHOLE)
    if way == "order":
        orders[used] = Input(4, WHOLE.kind, "z")
    found, _ = written(*body, orders=orders)
    assert f"add u{1 if way in {'view', 'list'} else 2}" in found
    assert found[0] == ("sin" if way in {"view", "list"} else "sin u1")


@pytest.mark.parametrize("way", ["one axis", "contiguous"])
def test_orders_that_are_known_share_buffers(way: str) -> None:
    """Vectors have one order only; that of other inputs is known where it is checked."""
    kind = Kind((8,), np.dtype(float), True) if way == "one axis" else BLOCK
    likes = [Input(k, Kind((80, *kind.shape[1:]), kind.dtype, True)) for k in range(2)]
    for like in likes:
        like.contiguous = way == "contiguous"
    t, other = call(np.sin, x, kind=kind), call(np.cos, y, kind=kind)
    product = call(np.multiply, other, 2.0, kind=kind)
    last = call(np.exp, product, kind=kind)
    body = [t, call(np.square, t, kind=kind), other, product, last]
    orders = dict(zip(body, [likes[0], likes[0], likes[1], likes[1], likes[1]], strict=True))
    found, _ = written(*body, orders=orders)
    assert found == ["sin u1", "square u2", "cos u1", "imul", "exp result"]


def test_a_value_that_is_read_again_is_read_where_it_is_stored() -> None:
    """A second array gets it by a store; what takes no ``out=`` is stored as well."""
    t = call(np.sin, x)
    other = Store(Input(4, WHOLE.kind, "other"), slice(8), t)
    where = call(np.where, call(np.greater, t, y, kind=Kind((8, 2), np.dtype(bool), True)), t, x)
    found, loop = written(t, Store(RESULT, slice(8), t), other, where.args[0], where)
    assert found == ["sin result", "store", "greater u1", "where", "store"]
    assert loop.body[1].kwargs["out"] is loop.body[0]


def test_products_keep_their_order() -> None:
    """A product of complex numbers may round otherwise the other way round."""
    t = call(np.sin, x)
    product = call(np.multiply, y, t)
    _, loop = written(t, product, call(np.exp, product))
    assert loop.body[1].args[0] is y


def test_the_last_block_takes_a_part_of_the_buffers() -> None:
    """Along the axis of the blocks, which the loop notes for each buffer."""
    kind = Kind((3, 8), np.dtype(np.float32), True)
    like = Input(0, Kind((3, 80), np.dtype(float), True), "x")
    t = call(np.sin, x, kind=kind)
    loop = Loop(80, 8)
    loop.body = [t, Store(RESULT, None, call(np.add.reduce, t))]
    block, made = with_buffers(loop, {t: like})
    assert (block.args[1], made.kwargs) == ((slice(None), slice(None, 8)), {"dtype": np.float32})
    assert loop.buffers == [(made, 1)]


def test_aligned_arrays_lie_in_memory_as_others_do() -> None:
    """Only the start address differs from that of ``np.empty_like``."""
    base = np.ones((6, 4, 5))
    for like in (base, base.T, base[::2, ::-1], base.transpose(1, 0, 2), base[:0], base[0, 0, 0]):
        for dtype in (None, np.int8, np.complex128):
            made, usual = aligned_like(like, dtype), np.empty_like(like, dtype)
            assert made.ctypes.data % 64 == 0
            assert made.flags.writeable
            assert (made.shape, made.dtype, made.strides) == (
                usual.shape,
                usual.dtype,
                usual.strides,
            )
