"""Large arrays in blocks: the same results, in loops whose intermediate results are short."""

from __future__ import annotations

import operator
import tracemalloc
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.kernels import aligned_like
from tapemagic.programs.passes import cutting
from tapemagic.programs.passes.blocking import in_blocks
from tapemagic.programs.program import Constant, Guard, Input, Loop, Node, Program, kind_of
from tapemagic.programs.text.source import Retrace, Text
from tapemagic.programs.tracing.symbol import method
from tests.programs.running import in_driver


class Builder:
    """Makes a program, and computes with values on the way for the kinds of its nodes."""

    def __init__(self, *values: Any) -> None:
        self.values = values
        self._held: dict[Any, Any] = {}
        self.body: list[Any] = []
        self.inputs = [Input(k, kind_of(x), f"x{k}") for k, x in enumerate(values)]
        self._held.update(zip(self.inputs, values, strict=True))

    def __call__(self, function: Any, *args: Any, **kwargs: Any) -> Node:
        """The node of a call."""
        result = function(
            *(self._held.get(x, x) if isinstance(x, Node) else x for x in args), **kwargs
        )
        node = Node(function, args, kwargs, kind_of(result))
        self._held[node] = result
        self.body.append(node)
        return node

    def constant(self, value: Any) -> Constant:
        """A value that is the same at each call."""
        node = Constant(value)
        self._held[node] = value
        return node

    def guard(self, condition: Node) -> None:
        """A guard that holds for the values."""
        self.body.append(Guard(condition, bool(self._held[condition]), None))

    def program(self, *results: Node) -> Program:
        """What was computed, in blocks from 8,000 bytes on."""
        return Program(self.inputs, self.body, list(results), [])


def run(program: Program, values: Any) -> Any:
    """What a program gives for values."""
    return in_driver(program)(*values)


def loops(program: Program) -> list[Loop]:
    """The loops of a program."""
    return [entry for entry in program.body if isinstance(entry, Loop)]


def both(build: Builder, *results: Node) -> tuple[Program, Any, Any]:
    """Return the program in blocks, and the results without and with blocks."""
    program = build.program(*results)
    blocked = in_blocks(program, least=8000)
    return blocked, run(program, build.values), run(blocked, build.values)


def check_same(build: Builder, *results: Node, count: int = 1) -> Program:
    """Whether a program gives the same to the bit in a number of loops."""
    blocked, whole, parts = both(build, *results)
    assert len(loops(blocked)) == count
    for x, y in zip(whole, parts, strict=True):
        assert type(x) is type(y)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert x.tobytes(order="K") == y.tobytes(order="K")
        assert x.flags.f_contiguous == y.flags.f_contiguous
    return blocked


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 256 numbers."""
    monkeypatch.setattr(cutting, "MAX_BLOCK_BYTES", 2048)


def numbers(*shape: int, dtype: Any = float, seed: int = 0) -> Any:
    """An array of normal numbers."""
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def test_a_chain_writes_its_last_result_alone() -> None:
    """The steps before it are as short as a block."""
    build = Builder(numbers(3001))
    x = build.inputs[0]
    y = build(np.add, build(np.exp, build(np.sin, x)), x)
    blocked = check_same(build, y)
    full = [x for x in blocked.body if isinstance(x, Node) and x.kind.shape == (3001,)]
    assert [x.function for x in full] == [np.empty_like]
    written = [x.args[0] for x in loops(blocked)[0].body if x.function is operator.getitem]
    assert written == [build.inputs[0], full[0]]


def test_small_arrays_and_single_calls_are_left_as_they_are() -> None:
    """A loop would cost more than it wins."""
    for size in (999, 5000):
        build = Builder(numbers(size))
        y = build(np.sin, build.inputs[0])
        if size < 1000:
            y = build(np.exp, build(np.sin, y))
        program = build.program(y)
        assert in_blocks(program, least=8000) is program


@pytest.mark.parametrize("shape", [(1200, 3), (3, 1200), (2, 700, 2), (4000, 1)])
def test_rows_columns_and_masks(shape: tuple[int, ...]) -> None:
    """Broadcasting, comparisons and mixed dtypes, cut along the first axis that is long enough."""
    row, column = numbers(*shape[-1:], seed=1), numbers(*shape[:-1], 1, seed=2)
    build = Builder(numbers(*shape, dtype=np.float32), row, column, np.float64(2))
    x, row, column, two = build.inputs
    t = build(np.multiply, build(np.add, x, row), column)
    mask = build(np.greater, t, 0)
    y = build(np.where, mask, build(np.exp, t), build(np.divide, t, two))
    check_same(build, y, mask, build(method("astype"), y, np.int16))


@pytest.mark.parametrize(
    "change", [np.asfortranarray, lambda x: x[:, ::2], lambda x: x[::-1], lambda x: x.T.copy().T]
)
def test_layouts_stay(change: Any) -> None:
    """Results have the same memory layout as without blocks, for strided and transposed arrays too."""
    build = Builder(change(numbers(1500, 4)))
    x = build.inputs[0]
    check_same(
        build,
        build(np.exp, build(np.sin, build(np.cos, x))),
        build(np.isnan, build(np.negative, x)),
    )


@pytest.mark.parametrize("change", [np.asfortranarray, lambda x: x[:, ::2], lambda x: x])
def test_the_method_copy_lies_in_the_usual_order(change: Any) -> None:
    """The method copies in C order, unlike np.copy, and results computed from the copy follow."""
    build = Builder(change(numbers(1500, 4)))
    x = build(np.exp, build.inputs[0])
    check_same(
        build,
        build(method("copy"), x),
        build(np.sin, build(method("copy"), build(np.negative, x))),
        build(np.cos, build(np.copy, x)),
    )


def test_sums_are_sums_of_blocks_and_extremes_are_exact() -> None:
    """Sums are within the bound that the docstring of the pass states."""
    build = Builder(numbers(20_011))
    square = build(np.multiply, *build.inputs, *build.inputs)
    blocked, whole, parts = both(
        build,
        build(np.sum, square),
        build(np.mean, square),
        build(np.max, square),
        build(np.min, square),
        build(np.any, build(np.less, square, 0)),
    )
    assert len(loops(blocked)) == 1
    assert whole[2:] == parts[2:]
    bound = 60 * np.finfo(float).eps / 2
    assert abs(whole[0] - parts[0]) <= 2 * bound * whole[0]
    assert abs(whole[1] - parts[1]) <= 2 * bound * whole[1]
    assert [type(x) for x in parts] == [type(x) for x in whole]


def test_sums_along_and_across_the_blocks() -> None:
    """Reductions along other axes than that of the blocks are exact, and stay inside the loop."""
    build = Builder(numbers(2000, 6))
    y = build(np.square, build(np.exp, build.inputs[0]))
    top = build(np.max, y, axis=1, keepdims=True)
    share = build(np.divide, y, top)
    rows = build(np.add.reduce, share, axis=1)
    check_same(build, rows, build(np.sqrt, rows))
    across = build(np.mean, share, axis=0)
    _, whole, parts = both(build, across)
    np.testing.assert_allclose(whole, parts, rtol=1e-14)
    assert parts.shape == (6,)


def test_float16_is_not_computed_in_blocks() -> None:
    """NumPy's algorithms depend on the order in memory there, and the parts of a sum would be rounded."""
    build = Builder(numbers(5000, dtype=np.float16))
    y = build(np.square, build(np.exp, build(np.sin, build.inputs[0])))
    check_same(build, build(np.sum, y), build(np.mean, y), count=0)


def test_what_needs_a_whole_result_waits_for_the_loop() -> None:
    """A cumulative sum stands between two loops."""
    build = Builder(numbers(3000))
    t = build(np.exp, build(np.sin, build(np.cos, build.inputs[0])))
    whole = build(np.cumsum, t)
    y = build(np.add, build(np.sin, build(np.negative, whole)), t)
    blocked = check_same(build, build(np.square, y), count=2)
    kinds = [type(x) if isinstance(x, Loop) else x.function for x in blocked.body]
    kinds = [x for x in kinds if x not in (operator.getitem, aligned_like)]
    assert kinds == [np.empty_like, Loop, np.cumsum, np.empty_like, Loop]


def test_no_call_moves_before_its_guard() -> None:
    """What stands after a guard may warn or fail where the guard does not hold."""
    build = Builder(numbers(3000), numbers(3000, seed=1))
    x, z = build.inputs
    t = build(np.exp, build(np.sin, x))
    build.guard(build(np.any, build(np.greater, z, 0)))
    y = build(np.add, build(np.log, build(np.abs, z)), t)
    blocked = check_same(build, y, count=2)
    guard = next(k for k, entry in enumerate(blocked.body) if isinstance(entry, Guard))
    log = next(k for k, entry in enumerate(blocked.body) if entry is loops(blocked)[1])
    assert guard < log
    with pytest.raises(Retrace):
        run(blocked, (build.values[0], np.zeros(3000)))


def test_results_twice_and_constants_and_views() -> None:
    """Results that were a single array stay so, and a view of a result stays a view."""
    build = Builder(numbers(3000))
    x = build.inputs[0]
    known = build.constant(numbers(3000, seed=3))
    t = build(np.multiply, build(np.exp, build(np.sin, x)), known)
    turned = build(operator.getitem, t, slice(None, None, -1))
    blocked, whole, parts = both(build, t, t, turned)
    assert parts[0] is parts[1]
    assert parts[2].base is parts[0]
    assert (whole[2] == parts[2]).all()
    assert len(loops(blocked)) == 1


def test_a_factor_of_one_is_left_out() -> None:
    """``1.0 * x`` copies x; a block of x is read as it is, but not where the copy is a result."""
    build = Builder(numbers(3000, 2))
    one = build(np.multiply, 1.0, build.inputs[0])
    y = build(np.exp, build(np.sin, build(np.cos, one)))
    blocked = check_same(build, y)
    assert all(x.function is not np.multiply for x in loops(blocked)[0].body if isinstance(x, Node))
    blocked = check_same(build, y, one)
    assert any(x.function is np.multiply for x in loops(blocked)[0].body if isinstance(x, Node))


def test_the_text_is_a_plain_loop() -> None:
    """The loop is written in Python and NumPy."""
    build = Builder(numbers(3000))
    x = build.inputs[0]
    y = build(np.exp, build(np.sin, build(np.cos, x)))
    y.name = "y"
    text = str(Text(in_blocks(build.program(y, build(np.sum, build(np.add, x, 1))), least=8000)))
    assert (
        "    for start in range(0, 3_000, 256):\n        part = slice(start, start + 256)\n" in text
    )
    assert "        y_part = " not in text
    assert "        np.exp(u2, out=y[part])\n" in text
    assert "        parts.append(" in text


def test_groups_are_found_in_linear_time() -> None:
    """Thousands of calls fall into their loops."""
    build = Builder(numbers(1000))
    t = build.inputs[0]
    kept = []
    for k in range(2000):
        t = build(np.cumsum, t) if k % 50 == 49 else build(np.sin, t)
        kept.append(t)
    check_same(build, *kept[::7], count=40)


def test_memory_is_less_than_that_of_whole_arrays() -> None:
    """The result is the only array of full length."""
    build = Builder(numbers(400_000))
    t = build.inputs[0]
    for _ in range(6):
        t = build(np.sin, t)
    blocked = in_blocks(build.program(t), least=8000)
    tracemalloc.start()
    run(blocked, build.values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.1 * 400_000 * 8


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.max((2 * x - 1) ** 2),
        lambda x: np.std((2 * x - 1) ** 2),
        lambda x: np.var((x - 1) ** 2),
        lambda x: np.linalg.norm((2 * x - 1) ** 2),
        lambda x: np.max(1 / (1 + np.exp(-x))),
        lambda x: np.std(np.sin(x) * np.exp(-x)),
        lambda x: np.max((2 * x[1:] - x[:-1]) ** 2),
        lambda x: np.mean((x - np.mean(x)) ** 3) / np.std(x),
        lambda x: np.sum(x * np.max(x) - np.exp(-x) * np.std(x)),
    ],
)
def test_derivatives_of_expressions_without_names(f: Any) -> None:
    """A statement that writes into an adjoint's buffer is none that gives it another name, too."""

    def slope(x: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            z = f(x)
        return z, tape.gradient(z, x)

    program, x = tm.function(slope), tm.constant(np.linspace(-1.0, 2.0, 140_001))
    for _ in range(3):
        found = program(x)
    assert (1, "") == (len(program.programs), program.why_eager)
    for mine, eager in zip(found, slope(x), strict=True):
        np.testing.assert_allclose(mine.numpy(), eager.numpy(), rtol=1e-12, atol=1e-12)
