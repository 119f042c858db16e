"""Large arrays that are written into an argument which is not read again."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.function import function
from tapemagic.programs.passes.in_place import LEAST, in_place
from tapemagic.programs.program import Input, Kind, Node, Program

LARGE = Kind((LEAST // 8,), np.dtype(float), True)
x = Input(0, LARGE, "x")


def call(f: Any, *args: Any, kind: Kind = LARGE) -> Node:
    """A node on large arrays."""
    return Node(f, args, {}, kind)


def targets(*body: Node, results: Any = None) -> list[int | None]:
    """The place of the call into whose result each call writes."""
    in_place(Program([x], list(body), results or [body[-1]], []))
    return [body.index(n.kwargs["out"]) if n.kwargs else None for n in body]


def test_the_last_reader_writes_into_what_it_reads() -> None:
    """Another function than a sum or product does not, nor one before the last."""
    a = call(np.sin, x)
    b = call(np.multiply, a, 2.0)
    c = call(np.add, a, b)
    assert targets(a, b, c, call(np.exp, c)) == [None, None, 0, None]


@pytest.mark.parametrize(
    "way", ["input", "result", "view", "small", "kind", "other", "where", "complex"]
)
def test_what_is_not_written_into(way: str) -> None:
    """Arguments, results, what a view shares or a function may keep, small arrays, other kinds, complex numbers."""
    small, single = Kind((8,), LARGE.dtype, True), Kind(LARGE.shape, np.dtype(np.float32), True)
    double = Kind(LARGE.shape, np.dtype(complex), True)
    kind = {"small": small, "complex": double}.get(way, LARGE)
    a = x if way == "input" else call(np.sin, x, kind=kind)
    reads = {"view": operator.getitem, "other": np.sort, "where": np.where}.get(way, np.cos)
    other = call(reads, a, *[slice(None)] * (way == "view"), kind=kind)
    b = call(np.multiply, a, 2.0, kind=single if way == "kind" else kind)
    body = [n for n in (a, other, b) if n is not x]
    found = targets(*body, results=[other, b, *([a] if way == "result" else [])])
    assert found[-1] == (0 if way == "where" else None)


def test_matrices_are_written_into_in_their_own_order_alone() -> None:
    """Where an input may lie otherwise, the result may; a number does not matter."""
    kind = Kind((LEAST // 64, 8), np.dtype(float), True)
    w = Input(1, kind, "w")
    for known in (False, True):
        w.contiguous = known
        product = call(np.matmul, Input(2, kind), Input(3, kind), kind=kind)
        half = call(np.multiply, 0.5, product, kind=kind)
        assert targets(product, half, call(np.subtract, w, half, kind=kind)) == [
            None,
            0,
            1 if known else None,
        ]


def test_steps_with_large_weights_in_any_order() -> None:
    """A weight that comes to lie otherwise in memory gets another program; both give the tape's results."""
    rng = np.random.default_rng(0)
    xs, first = rng.normal(size=(4, 160)), rng.normal(size=(160, 120))
    assert first.nbytes >= LEAST

    def steps(w: tm.Variable, run: Any, orders: str) -> list[Any]:
        found = []
        for order in orders:
            w.assign(np.asarray(first, order=order))
            for _ in range(2):
                before = w.numpy()
                kept = before.copy()
                loss = run(w, tm.constant(xs))
                assert (before == kept).all()
                found += [loss.numpy(), w.numpy(), w.numpy().flags.f_contiguous]
        return found

    def step(w: tm.Variable, x: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = np.sum(np.tanh(x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    def with_closed_over(run: Any) -> list[Any]:
        w = tm.Variable(first)
        replay = run(lambda x: step(w, x))
        found = steps(w, lambda _, x: replay(x), "CCCFFFC")
        if run is function:
            assert not replay.why_eager
            assert len(replay.programs) == 2
        return found

    program = function(step)
    for found, right in (
        (steps(tm.Variable(first), program, "CC"), steps(tm.Variable(first), step, "CC")),
        (with_closed_over(function), with_closed_over(lambda f: f)),
    ):
        assert all(np.array_equal(a, b) for a, b in zip(found, right, strict=True))
    assert " = np.subtract(Variable, d_Variable, out=d_Variable)" in program.source()
