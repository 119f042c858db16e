"""Functions of two arrays and more, whose shapes broadcast in any way that NumPy allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tapemagic import constant
from tests.properties.laws import check_linear, check_multilinear, check_smooth, gradient
from tests.properties.strategies import KINDS, apart, masks, several_shapes, shapes, whole

pytestmark = pytest.mark.thorough

Pair = tuple[Any, Any]

PAIRS = several_shapes(2, most=3)


def operands(found: Any, kind: Any = float) -> list[Any]:
    """Whole numbers in these shapes."""
    return [whole(np.empty(shape, kind), seed=k) for k, shape in enumerate(found)]


@given(several_shapes(2), KINDS)
def test_linear(found: Any, kind: Any) -> None:
    """Sums and differences add the gradient up over what was broadcast."""
    xs = operands(found, kind)

    check_linear(lambda a, b: a + b, *xs)
    check_linear(lambda a, b: 2.0 * a - b * 3.0, *xs)


@given(several_shapes(3, most=3), KINDS)
def test_product(found: Any, kind: Any) -> None:
    """A product of three is linear in each."""
    check_multilinear(lambda a, b, c: a * b * c, *operands(found, kind))


@pytest.mark.parametrize(
    "function",
    [np.divide, np.power, np.float_power, np.arctan2, np.hypot, np.logaddexp, np.logaddexp2],
)
@given(PAIRS)
def test_smooth(function: Callable[..., Any], found: Any) -> None:
    """Functions of two positive numbers."""
    check_smooth(function, *(apart(s, 0.5, 2.0, seed=k) for k, s in enumerate(found)))


@pytest.mark.parametrize(
    "function", [np.maximum, np.minimum, np.fmax, np.fmin, np.copysign, np.heaviside]
)
@given(PAIRS)
def test_smooth_apart_from_jumps(function: Callable[..., Any], found: Any) -> None:
    """Functions that choose, at points where they do not change their mind."""
    x, y = operands(found)

    check_smooth(lambda a, b: function(a, b) ** 2, x / 2 + 0.25, y / 2 + 0.125)


@pytest.mark.parametrize("function", [np.remainder, np.fmod])
@given(PAIRS)
def test_remainders(function: Callable[..., Any], found: Any) -> None:
    """Remainders of quotients that are not near a whole number."""
    x, y = operands(found)
    y = np.where(y < 0, -0.5, 1.0)[()]

    check_smooth(lambda a, b: function(a, b) ** 2, x / 2 + 0.25, y)


@given(several_shapes(3, most=3), st.data())
def test_where(found: Any, data: st.DataObject) -> None:
    """``np.where`` with a condition that broadcasts, too."""
    condition = data.draw(masks(found[0]))

    check_linear(lambda a, b: np.where(condition, a, b), *operands(found[1:]))


@given(several_shapes(3, most=3))
def test_clip(found: Any) -> None:
    """``np.clip`` between limits that broadcast, or have one only."""
    x, low, high = operands(found)
    x, low, high = x / 2 + 0.25, -np.abs(low) / 2, np.abs(high) / 2 + 0.125

    check_smooth(lambda a, b, c: np.clip(a, b, c) ** 2, x, low, high)
    check_smooth(lambda a, b: np.clip(a, b, None) ** 2, x, low)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        check_smooth(lambda a, c: np.clip(a, max=c) ** 2, x, high)
    check_smooth(lambda a, c: np.clip(a, None, c) ** 2, x, high)


@given(PAIRS)
def test_one_operand_is_no_tensor(found: Any) -> None:
    """A plain array, or list, on either side is a constant."""
    x, y = operands(found)
    more = y.tolist()

    check_linear(lambda a: a * y, x)
    check_linear(lambda a: y * a, x)
    check_linear(lambda a: more - a if isinstance(more, float) else np.subtract(0 * y, a), x)


@given(PAIRS)
def test_an_operand_twice(found: Any) -> None:
    """A tensor on both sides gets the gradients of both."""
    x, y = operands(found)
    total = gradient(lambda a: a * y * a, x, None).numpy()
    expected = np.broadcast_to(2.0 * x * y, np.broadcast_shapes(*found))
    extra = tuple(range(expected.ndim - np.ndim(x)))
    summed = np.sum(expected, axis=extra)
    longer = tuple(k for k, n in enumerate(np.shape(x)) if n != summed.shape[k])

    np.testing.assert_array_equal(total, np.sum(summed, axis=longer, keepdims=True))


@pytest.mark.parametrize(
    "name", [name for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)]
)
@given(data=st.data(), kind=KINDS)
def test_products_of_stacks(name: str, data: st.DataObject, kind: Any) -> None:
    """Products of stacks of matrices and vectors, which broadcast in front of their last axes."""
    function = getattr(np, name)
    drawn = hnp.mutually_broadcastable_shapes(
        signature=function.signature, max_dims=2, min_side=0, max_side=3
    )
    xs = operands(data.draw(drawn).input_shapes, kind)

    check_multilinear(function, *xs)


@given(shapes(), KINDS)
def test_a_number_with_an_array(shape: Any, kind: Any) -> None:
    """A single number gets the sum over all elements, in its own shape."""
    x = whole(np.empty(shape, kind))
    number = whole(np.empty((), kind), seed=1)

    check_multilinear(np.multiply, x, number)
    check_multilinear(lambda a: number * a * 2, x)
    assert () == gradient(lambda a: a * constant(x), number, None).shape
