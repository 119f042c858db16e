"""Large arrays that are written into an argument which is not read again."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.function import function
from tapemagic.programs.passes.in_place import MIN_REUSED_BYTES, in_place
from tapemagic.programs.program import Guard, Input, Kind, Node, Program

LARGE = Kind((MIN_REUSED_BYTES // 8,), np.dtype(float), True)
x = Input(0, LARGE, "x")


def call(f: Any, *args: Any, kind: Kind = LARGE) -> Node:
    """A node on large arrays."""
    return Node(f, args, {}, kind)


def targets(*body: Any, results: Any = None) -> list[int | None]:
    """For each call, the place of the call whose result it overwrites; the program itself stays the same."""
    program = Program([x], list(body), results or [body[-1]], [])
    new = in_place(program)
    assert not any(n.kwargs for n in program.body if isinstance(n, Node))
    known = {*new.body, *new.inputs}
    assert all(n in known or not n.function for entry in new.body for n in entry.reads())
    assert all(n in known for n in new.results)
    return [
        new.body.index(n.kwargs["out"]) if isinstance(n, Node) and n.kwargs else None
        for n in new.body
    ]


def test_the_last_reader_overwrites_what_it_reads() -> None:
    """Only sums, products and the like do so."""
    a = call(np.sin, x)
    b = call(np.multiply, a, 2.0)
    c = call(np.add, a, b)
    assert [None, None, 0, None] == targets(a, b, c, call(np.exp, c))
    assert [None, 0, 1] == targets(a, b, call(np.negative, b))


def test_guards_read_the_overwritten_memory() -> None:
    """A guard on a value that was written into an argument names the new call."""
    a = call(np.sin, x)
    b = call(np.multiply, a, 2.0)
    total = call(np.add.reduce, b, kind=Kind((), LARGE.dtype, False))
    assert [None, 0, None, None] == targets(a, b, total, Guard(total, True, None), results=[total])


@pytest.mark.parametrize(
    "case", ["input", "result", "view", "small", "kind", "other", "where", "complex"]
)
def test_what_is_not_overwritten(case: str) -> None:
    """Arguments, results, what a view shares or a function may keep, small arrays, other kinds, complex numbers."""
    small, single = Kind((8,), LARGE.dtype, True), Kind(LARGE.shape, np.dtype(np.float32), True)
    double = Kind(LARGE.shape, np.dtype(complex), True)
    kind = {"small": small, "complex": double}.get(case, LARGE)
    a = x if case == "input" else call(np.sin, x, kind=kind)
    reads = {"view": operator.getitem, "other": np.sort, "where": np.where}.get(case, np.cos)
    other = call(reads, a, *[slice(None)] * (case == "view"), kind=kind)
    b = call(np.multiply, a, 2.0, kind=single if case == "kind" else kind)
    body = [n for n in (a, other, b) if n is not x]

    overwritten = targets(*body, results=[other, b, *([a] if case == "result" else [])])

    assert overwritten[-1] == (0 if case == "where" else None)


def test_matrices_are_overwritten_only_by_results_of_their_layout() -> None:
    """The layout of a result follows from that of an input, where that is checked."""
    kind = Kind((MIN_REUSED_BYTES // 64, 8), np.dtype(float), True)
    w = Input(1, kind, "w")
    for known in (False, True):
        w.contiguous = known
        product = call(np.matmul, Input(2, kind), Input(3, kind), kind=kind)
        half = call(np.multiply, 0.5, product, kind=kind)
        difference = call(np.subtract, w, half, kind=kind)

        assert [None, 0, 1 if known else None] == targets(product, half, difference)


def test_steps_with_large_weights_of_any_layout() -> None:
    """A weight that gets another layout gets another program; both return the tape's results."""
    rng = np.random.default_rng(0)
    xs, first = rng.normal(size=(4, 160)), rng.normal(size=(160, 120))
    assert first.nbytes >= MIN_REUSED_BYTES

    def steps(w: tm.Variable, run: Any, orders: str) -> list[Any]:
        results = []
        for order in orders:
            w.assign(np.asarray(first, order=order))
            for _ in range(2):
                before = w.numpy()
                kept = before.copy()
                loss = run(w, tm.constant(xs))
                assert (before == kept).all()
                results += [loss.numpy(), w.numpy(), w.numpy().flags.f_contiguous]
        return results

    def step(w: tm.Variable, x: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = np.sum(np.tanh(x @ w) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    def with_closed_over(run: Any) -> list[Any]:
        w = tm.Variable(first)
        replay = run(lambda x: step(w, x))
        results = steps(w, lambda _, x: replay(x), "CCCFFFC")
        if run is function:
            assert not replay.why_eager
            assert len(replay.programs) == 2
        return results

    program = function(step)
    for results, expected in (
        (steps(tm.Variable(first), program, "CC"), steps(tm.Variable(first), step, "CC")),
        (with_closed_over(function), with_closed_over(lambda f: f)),
    ):
        assert all(np.array_equal(a, b) for a, b in zip(results, expected, strict=True))
    written = "np.subtract(Variable, d_Variable, out=d_Variable)"
    assert written in program.source(as_run=True)
    assert "out=" not in program.source()
