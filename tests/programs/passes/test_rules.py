"""Passes on small programs: what is left of a function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapemagic.programs.passes import (
    constant_folding,
    factors,
    identities,
    reductions,
    rewritten,
    scalar_operands,
    shape_rules,
    simplified,
)
from tapemagic.programs.passes.purity import without_dead_code
from tapemagic.programs.passes.separate_results import with_separate_results
from tapemagic.programs.program import Back, Constant, Guard, Input, Node, Program, kind_of
from tapemagic.programs.text.expressions import POWERS_ARE_PRODUCTS
from tests.programs.passes.small_programs import alone, calls, interpreted, passed, traced
from tests.programs.running import both_ways

X = np.linspace(-1.0, 1.0, 3)
M = np.arange(6.0).reshape(2, 3)
ONE = np.float64(0.5)


def left(f: Callable[..., Any], rules: Any, **arrays: Any) -> str:
    """The calls that some rules alone leave of a function, on one line."""
    return "; ".join(passed(f, by=alone(rules), **arrays))


def sine(x: Any) -> Any:
    """A new array, of which it is known how it lies in memory."""
    return np.sin(x)


def test_dead_code() -> None:
    """A value that nobody reads is not computed, unless its call may raise an error or is the user's own."""

    def f(x: Any) -> Any:
        np.cos(x)
        np.linalg.inv(x)
        x[np.argmax(x)]
        return np.exp(x)

    found = passed(f, by=without_dead_code, x=np.eye(2))

    assert found == ["a = inv(x)", "b = argmax(x)", "c = getitem(x, b)", "d = exp(x)", "return d"]


def test_common_subexpressions() -> None:
    """Equal calls become one call, in either order of summands and factors. Powers keep 2 and 2.0 apart."""

    def f(x: Any, y: Any) -> Any:
        first, second = np.sin(x) * y, y * np.sin(x)
        return first, second, x**2, x**2.0

    found = passed(f, by=lambda p: rewritten(p, {}, merge=True), x=X, y=X)

    assert found == [
        "a = sin(x)",
        "b = multiply(a, y)",
        "c = pow(x, 2)",
        "d = pow(x, 2.0)",
        "return b, b, c, d",
    ]


def test_signed_zeros_and_nan_are_different_constants() -> None:
    """Constants are compared by their bits."""

    def f(x: Any) -> Any:
        return x * np.array([0.0, 1, 1]), x * np.array([-0.0, 1, 1]), x * np.array([0.0, 1, 1])

    program = rewritten(traced(f, x=X), {}, merge=True)

    assert len(program.body) == 2
    assert program.results[0] is program.results[2]


def test_a_users_function_is_called_as_often_as_it_was() -> None:
    """Nothing is known of its effects."""

    def noted(x: Any) -> Any:
        return x + 1

    x = Input(0, kind_of(X), "x")
    first, second = (Node(noted, [x], {}, x.kind) for _ in range(2))
    program = Program([x], [first, second], [first], [])

    assert calls(simplified(program)) == ["a = noted(x)", "b = noted(x)", "return a"]


def test_guards_are_made_once() -> None:
    """A guard on the same truth value says nothing new."""

    def f(x: Any) -> Any:
        return 1.0 if x > 0 and x > 0 else np.sin(x)

    program = simplified(traced(f, x=ONE))

    assert sum(isinstance(entry, Guard) for entry in program.body) == 1


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (lambda x: np.ones_like(x) * np.sin(x), "a = sin(x); b = multiply(float64(1.0), a); return b"),
        (lambda x: np.full(3, 2.0) - x, "a = subtract(float64(2.0), x); return a"),
        (lambda x: np.broadcast_to(x[0], (3,)) * x, "a = getitem(x, 0); b = multiply(a, x); return b"),
        (lambda x: np.zeros_like(x) + 1.0, "return array([1.0, 1.0, 1.0])"),
        (lambda x: np.array([1.0, 2.0, 3.0]) * x, "a = multiply(array([1.0, 2.0, 3.0]), x); return a"),
        (lambda x: np.ones_like(x) * 1e308 * 0.0, "return array([0.0, 0.0, 0.0])"),
        (lambda x: np.ones_like(x) * 1e-308 * 0.1, "a = multiply(array([1e-308, 1e-308, 1e-308]), 0.1); return a"),
        (lambda x: np.ones((2, 3)) * x, "a = multiply(array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), x); return a"),
    ],
)  # fmt: skip
def test_constant_folding(f: Callable[..., Any], rest: str) -> None:
    """Arrays of one number are that number, as long as the shape stays; what warns is left to the call."""
    assert left(f, constant_folding.RULES, x=X) == rest


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (lambda x: sine(x) * 1, "a = sin(x); return a"),
        (lambda x: 1.0 * sine(x) / 1, "a = sin(x); return a"),
        (lambda x: -1 * sine(x), "a = sin(x); b = negative(a); return b"),
        (lambda x: sine(x) / 4, "a = sin(x); b = multiply(a, 0.25); return b"),
        (lambda x: sine(x) / 3, "a = sin(x); b = divide(a, 3); return b"),
        (lambda x: sine(x) - 0.0, "a = sin(x); return a"),
        (lambda x: sine(x) + -0.0, "a = sin(x); return a"),
        (lambda x: sine(x) + 0.0, "a = sin(x); b = add(a, 0.0); return b"),
        (lambda x: sine(x) - -0.0, "a = sin(x); b = subtract(a, -0.0); return b"),
        (lambda x: np.exp(x) + 0.0, "a = exp(x); return a"),
        (lambda x: 0.0 - sine(x), "a = sin(x); b = subtract(0.0, a); return b"),
        (lambda x: 0.0 * sine(x), "a = sin(x); b = multiply(0.0, a); return b"),
        (lambda x: np.negative(-sine(x)), "a = sin(x); return a"),
        (lambda x: sine(x) + -x, "a = sin(x); b = subtract(a, x); return b"),
        (lambda x: sine(x) - -x, "a = sin(x); b = add(a, x); return b"),
        (lambda x: x + -sine(x) * x, "a = sin(x); b = multiply(a, x); c = subtract(x, b); return c"),
        (np.square, "a = multiply(x, x); return a"),
        (lambda x: x**2, "a = multiply(x, x); return a"),
        (lambda x: x**3, "a = pow(x, 3); return a"),
        (lambda x: np.where(np.bool_(True), sine(x), x), "a = sin(x); return a"),
        (lambda x: x * 1, "a = multiply(x, 1); return a"),
        (lambda x: (x * 1) * 3, "a = multiply(x, 3); return a"),
    ],
)  # fmt: skip
def test_identities(f: Callable[..., Any], rest: str) -> None:
    """Only what is exact for signed zeros too; an input may lie in memory anyhow, so ``x * 1`` is a new array."""
    assert left(f, identities.RULES, x=X) == rest


def test_a_negative_product_next_to_the_product_itself() -> None:
    """A negative product is merged with the product, even if another call reads the negative factor."""

    def f(x: Any) -> Any:
        less = -x
        return np.exp(less), x * x, np.sin(x) + x * less

    assert passed(f, x=X) == [
        "a = negative(x)",
        "b = exp(a)",
        "c = multiply(x, x)",
        "d = sin(x)",
        "e = subtract(d, c)",
        "return b, c, e",
    ]


def test_powers_of_numbers_by_the_operator_stay() -> None:
    """Python's operator computes the power of a NumPy number with another algorithm than a product."""
    assert passed(lambda x: x**2, x=ONE) == ["a = pow(x, 2)", "return a"]
    assert passed(lambda x: 3 * x**1, x=ONE) == passed(lambda x: 3 * x, x=ONE)
    for kind, bits in (np.float16, np.uint16), (np.float32, np.uint32), (np.float64, np.uint64):
        ends = np.finfo(kind)
        for x in map(
            kind, (0.0, -0.0, ends.tiny, ends.smallest_subnormal, -ends.max, -np.inf, 0.1)
        ):
            assert (x**1).view(bits) == x.view(bits)
            assert x**0 == 1
    assert passed(lambda x: 3 * x**0, x=ONE) == passed(lambda x: 3 * np.ones_like(x), x=ONE)
    square = "multiply(x, x)" if POWERS_ARE_PRODUCTS else "power(x, 2)"
    for x in (X, ONE):
        assert passed(lambda x: np.power(x, 2), x=x) == [f"a = {square}", "return a"]


def test_complex_products_with_one_stay() -> None:
    """A complex product with 1 multiplies infinities by zero."""
    assert len(passed(lambda x: np.sin(x) * 1, x=X.astype(complex))) == 3


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (lambda x: 2 * (4 * x), "a = multiply(8.0, x); return a"),
        (lambda x: 0.1 * (2 * x), "a = multiply(2, x); b = multiply(0.1, a); return b"),
        (lambda x: 2 * (0.1 * x), "a = multiply(0.1, x); b = multiply(2, a); return b"),
        (lambda x: 0.5 * (0.5 * x), "a = multiply(0.5, x); b = multiply(0.5, a); return b"),
        (lambda x: 0.1 * (2 * np.sin(x)), "a = sin(x); b = multiply(0.2, a); return b"),
        (lambda x: -(3 * x), "a = multiply(-3.0, x); return a"),
        (lambda x: 3 * -x, "a = multiply(-3.0, x); return a"),
        (lambda x: x + x, "a = multiply(2.0, x); return a"),
        (lambda x: x + x + x + x + x, "a = multiply(5.0, x); return a"),
        (lambda x: x + x + x + x + x + x, "a = multiply(5.0, x); b = add(a, x); return b"),
    ],
)  # fmt: skip
def test_factors(f: Callable[..., Any], rest: str) -> None:
    """Factors meet where that is exact."""
    assert left(f, factors.RULES, x=X) == rest


def test_equal_products_of_small_numbers_meet() -> None:
    """``2 s * c`` and ``2 c * s`` are the same number."""

    def f(x: Any) -> Any:
        s, c = np.sin(x), np.cos(x)
        return 2 * s * c + 2 * c * s

    assert passed(f, x=X) == [
        "a = sin(x)",
        "b = cos(x)",
        "c = multiply(2, a)",
        "d = multiply(c, b)",
        "e = multiply(2.0, d)",
        "return e",
    ]


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (np.mean, "a = add.reduce(x, axis=None); b = divide(a, 6.0); return b"),
        (lambda x: np.sum(x, axis=1, keepdims=True), "a = add.reduce(x, axis=1, keepdims=True); return a"),
        (lambda x: x.max(axis=0), "a = maximum.reduce(x, axis=0); return a"),
        (lambda x: np.sum(x, dtype=np.float32), "a = sum(x, dtype=dtype('float32')); return a"),
        (lambda x: np.sum(x, axis=0, keepdims=False), "a = add.reduce(x, axis=0); return a"),
    ],
)  # fmt: skip
def test_reductions(f: Callable[..., Any], rest: str) -> None:
    """The one call that NumPy makes inside, where there are no other options."""
    assert left(f, reductions.RULES, x=M) == rest.replace(
        "dtype=dtype('float32')", f"dtype={np.float32!r}"
    )


def test_a_sum_of_one_number() -> None:
    """A sum of one number is the number, except that -0.0 becomes 0.0."""

    def f(function: Any) -> str:
        return left(lambda x: np.add.reduce(function(x), axis=0), reductions.RULES, x=M[:1])

    assert f(np.exp) == "a = exp(x); b = reshape(a, (3,)); return b"
    assert f(np.sin) == "a = sin(x); b = add.reduce(a, axis=0); return b"


@pytest.mark.parametrize(
    ("f", "rest"),
    [
        (lambda x: np.copy(np.sin(x[0])), "a = getitem(x, 0); b = sin(a); return b"),
        (lambda x: np.copy(np.sin(x)), "a = sin(x); b = copy(a); return b"),
        (np.copy, "a = copy(x); return a"),
        (lambda x: np.matmul(x, x.T).astype(float), "a = transpose(x); b = matmul(x, a); return b"),
        (lambda x: np.copy(np.sin(x.ravel()), "F"), "a = ravel(x); b = sin(a); c = copy(b, 'F'); return c"),
        (lambda x: np.ravel(np.matmul(x, x.T).reshape(4, 1), "F"), "a = transpose(x); b = matmul(x, a); c = reshape(b, 4, 1); d = ravel(c, 'F'); return d"),  # noqa: E501
        (lambda x: np.ravel(np.matmul(x, x.T).reshape(4, 1)), "a = transpose(x); b = matmul(x, a); c = reshape(b, (4,)); return c"),  # noqa: E501
        (lambda x: np.sin(x)[()], "a = sin(x); return a"),
        (lambda x: np.transpose(x.T), "return x"),
        (lambda x: np.swapaxes(x, 0, 1).T, "return x"),
        (lambda x: np.sin(x).reshape(2, 3), "a = sin(x); return a"),
        (lambda x: np.matmul(x, x.T).reshape(4).reshape(2, 2), "a = transpose(x); b = matmul(x, a); return b"),
        (lambda x: np.broadcast_to(np.broadcast_to(x, (1, 2, 3)), (4, 2, 3)), "a = broadcast_to(x, (4, 2, 3)); return a"),  # noqa: E501
    ],
)  # fmt: skip
def test_shapes(f: Callable[..., Any], rest: str) -> None:
    """A call that changes nothing is left out, if the values are known to lie in memory alike."""
    assert left(f, shape_rules.RULES, x=M) == rest


def test_a_number_that_was_made_an_array() -> None:
    """An array of a number, indexed by (), is the number."""
    assert left(lambda x: np.copy(x)[()], shape_rules.RULES, x=ONE) == "return x"


@pytest.mark.parametrize(
    ("f", "x", "rest"),
    [
        (lambda x: np.float32(0.1) * x, X.astype("f4"), "a = multiply(0.1, x); return a"),
        (lambda x: np.float32(0.1) * x, X, "a = multiply(float32(0.10000000149011612), x); return a"),
        (lambda x: np.float64(0.1) * x, X.astype("f4"), "a = multiply(float64(0.1), x); return a"),
        (lambda x: x > np.float64(np.inf), X, "a = greater(x, float64(inf)); return a"),
    ],
)  # fmt: skip
def test_literals(f: Callable[..., Any], x: Any, rest: str) -> None:
    """A number is written as Python's only where it keeps its dtype."""
    assert left(f, scalar_operands.RULES, x=x) == rest


def test_results_stay_apart() -> None:
    """A result that was a new array is no input, constant or other result afterwards."""

    def f(x: Any) -> Any:
        y = np.sin(x)
        return y * 1, y - 0.0, np.ones_like(x), x, y.T

    program = simplified(traced(f, x=X))
    first, second, ones, same, _ = interpreted(program, [X])
    arrays = [first, second, ones, interpreted(program, [X])[2]]

    assert same is X
    assert not any(
        np.may_share_memory(a, b) for k, a in enumerate(arrays) for b in [X, *arrays[:k]]
    )


def test_names_and_places_stay() -> None:
    """A value that takes the place of one with a name, or of an adjoint, gets its name."""
    program = traced(lambda x: [np.sin(x), np.sin(x) * 1], x=X)
    unnamed, _, product = program.body
    product.name = "y"
    product.back = Back(unnamed, 1, program.inputs[0])
    unnamed.back = Back(None, 1)

    shorter = rewritten(program, {**identities.RULES}, merge=True)

    assert [(node.name, node.back.to) for node in shorter.body] == [("y", program.inputs[0])]
    assert unnamed.name == ""


def test_an_error_state_that_raises_keeps_its_calls() -> None:
    """Neither are they left out nor merged."""

    def f(x: Any) -> Any:
        with np.errstate(over="raise"):
            np.exp(x)
            return np.exp(x) * 1

    assert len(simplified(traced(f, x=X)).body) == 3


def test_work_is_linear() -> None:
    """A long program takes one look at each call, however deep it nests."""

    def f(x: Any) -> Any:
        for _ in range(2000):
            x = np.broadcast_to(x, (3,)) * 0.5 + 0.25 if x.ndim else x
        return x

    assert len(simplified(traced(f, x=X)).body) == 4000


def separately(program: Program) -> Program:
    """The pass alone, which then has nothing to do."""
    found = with_separate_results(program, program)
    assert found is not None
    return found


def test_separate_results_alone() -> None:
    """Memory that was shared before may be shared."""
    assert passed(lambda x: (x, x, x.T), by=separately, x=M) == [
        "a = transpose(x)",
        "return x, x, a",
    ]


def test_powers_and_complex_products_keep_their_rounding() -> None:
    """NumPy computes a square in several ways, and rounds complex products by the order of their factors."""
    rng = np.random.default_rng(0)
    real, c, d = rng.normal(size=300), *rng.normal(size=(2, 150)).astype(np.float32).view("F")
    twos = np.full(300, 2.0)
    for f, given in (
        (lambda x: (np.power(x, 2), np.power(x, 2.0), np.power(x, twos), x**2, x**twos), [real]),
        (lambda x: (np.power(x, 2), x**2, np.square(x), np.power(x, 1)), [real.astype("f4")]),
        (lambda x: (np.power(x, 2), x**2, np.square(x), np.power(x, 3)), [c]),
        (lambda x, y: (x * y, y * x, x + y, y + x), [c, d]),
        (np.square, list(c[:1])),
    ):
        program = simplified(traced(f, *given))
        for found in both_ways(program, *given):
            assert np.array_equal(np.array(found), np.array(f(*given)))


def test_constants_that_repeat_along_one_axis_are_numbers() -> None:
    """NumPy chooses the order of a product's axes without those along which an operand repeats."""
    row, c_order = np.full(5, 0.2), np.arange(25.0).reshape(5, 5)
    for constant in (np.broadcast_to(row, (5, 5)), np.broadcast_to(row[:, None], (5, 5))):
        for x in (c_order, c_order.T):
            assert (constant * x).strides == (0.2 * x).strides
        x = Input(0, kind_of(c_order), "x")
        x.contiguous = True
        y = Node(np.multiply, [Constant(constant), x], {}, x.kind)
        program = simplified(Program([x], [y], [y], []))
        assert (0.2, x) == program.body[0].args


@pytest.mark.parametrize(
    ("f", "calls_left"),
    [
        (lambda x, y: x + -sine(y) * y, "a = sin(y); b = multiply(a, y); c = subtract(x, b); return c"),
        (lambda x, y: -2.0 * y + x, "a = multiply(2.0, y); b = subtract(x, a); return b"),
        (lambda x, y: x - x / -y * 2.0, "a = divide(x, y); b = multiply(a, 2.0); c = add(x, b); return c"),
        (lambda x, y: x + -0.0 * y, "a = multiply(-0.0, y); b = add(x, a); return b"),
    ],
)  # fmt: skip
def test_sums_with_negative_products(f: Callable[..., Any], calls_left: str) -> None:
    """The sign of a factor goes into the sum; -0.0 is no negative number."""
    y = np.array([1.0, 2.0, 3.0])
    assert left(f, identities.RULES, x=X, y=y) == calls_left
    program = traced(f, x=X, y=y)
    made = without_dead_code(rewritten(program, identities.RULES))
    special = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, 5e-324, 1e300, np.pi])
    for x, y in np.ndindex(len(special), len(special)):
        given = np.full(3, special[x]), np.full(3, special[y])
        with np.errstate(all="ignore"):
            before, after = (interpreted(each, given)[0] for each in (program, made))
        assert np.isnan(before).all() == np.isnan(after).all()
        assert np.isnan(before).any() or before.tobytes() == after.tobytes()


def test_the_negative_of_a_product_that_is_read_twice_stays() -> None:
    """Or the product would be computed twice."""

    def f(x: Any, y: Any) -> Any:
        product = -2.0 * y
        return x + product, x * product

    assert "add" in left(f, identities.RULES, x=X, y=X)


def test_differences_of_matrices_lie_in_memory_as_the_sums_did() -> None:
    """A matrix product is as contiguous as its negative, for any other summand."""

    def f(x: Any, y: Any) -> Any:
        return x.T + -(x @ y), x.T + -y.T

    found = left(f, identities.RULES, x=np.eye(2), y=np.eye(2))
    assert found.count("subtract") == 1
    assert found.count("negative") == 1


def shown_to(x: Any) -> Any:
    """A function that is none of NumPy's."""
    return x


def test_copies_that_nobody_can_tell_from_the_original() -> None:
    """Not that of an array whose layout is not known, and not those that are returned."""

    def f(x: Any) -> Any:
        y = np.sin(x)
        return np.exp(y.copy()), np.cos(np.copy(y)), y.T.copy() * 2

    assert left(f, identities.RULES, x=X).count("copy") == 0
    assert "copy" not in "".join(passed(f, x=X))
    assert left(lambda x: np.exp(x.copy()), identities.RULES, x=X).count("copy") == 1

    program = traced(lambda x: np.exp(np.sin(x).copy()), x=X)
    program.body[-1].function = shown_to  # which may write into it
    assert "copy" in "".join(calls(alone(identities.RULES)(program)))

    def returned(x: Any) -> Any:
        y = np.sin(x)
        return y, y.copy()

    first, second = interpreted(simplified(traced(returned, x=X)), [X])
    assert not np.shares_memory(first, second)
