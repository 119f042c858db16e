"""The checker itself has to notice a wrong rule, and to say what is wrong."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.gradcheck import check as gradcheck
from tapemagic.engine.gradcheck.check import check_gradients
from tapemagic.engine.registry import OPERATIONS
from tapemagic.errors import GradientError, NotATensorError, TapeError
from tests.rules.damage import DAMAGES, damaged, detached, scaled
from tests.rules.harness import normal, positive

pytestmark = pytest.mark.thorough

CALLS: dict[str, tuple[Any, Callable[..., Any], tuple[Any, ...]]] = {
    "sin": (np.sin, np.sin, (normal(3),)),
    "multiply": (np.multiply, np.multiply, (normal(2, 3), normal(3, seed=1))),
    "divide": (np.divide, np.divide, (normal(3), positive(2, 3))),
    "power": (np.power, np.power, (positive(3), normal(2, 3))),
    "matmul": (np.matmul, np.matmul, (normal(2, 3), normal(3, 2, seed=1))),
    "sum": (np.sum, lambda x: np.sum(x, axis=0), (normal(2, 3),)),
    "mean": (np.mean, np.mean, (normal(2, 3),)),
    "maximum": (np.maximum, np.maximum, (normal(2, 3), normal(2, 3, seed=1))),
    "complex multiply": (np.multiply, np.multiply, (normal(3) + 1j, 2.0 - 1j * normal(3, seed=1))),
    "complex exp": (np.exp, np.exp, (normal(3) * (1 + 1j),)),
}

ARGUMENTS = [(name, k) for name, (_, _, inputs) in CALLS.items() for k in range(len(inputs))]


@pytest.mark.parametrize("name", CALLS)
def test_right_rules_pass(name: str) -> None:
    """The operations that the other tests break are right before, to third order."""
    _, call, inputs = CALLS[name]

    report = check_gradients(call, *inputs, order=3)

    assert len(report.errors) == 3
    assert max(report.errors) < 1e-7


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize(("name", "position"), ARGUMENTS)
def test_damage_is_noticed(name: str, position: int, damage: Any) -> None:
    """A rule that is broken in one argument fails."""
    function, call, inputs = CALLS[name]

    with damaged(OPERATIONS[function], position, damage), pytest.raises(GradientError):
        check_gradients(call, *inputs)


@pytest.mark.parametrize(("name", "position"), ARGUMENTS)
def test_first_order_does_not_see_a_detached_rule(name: str, position: int) -> None:
    """A rule that no outer tape can follow is right to first order, and wrong to second."""
    function, call, inputs = CALLS[name]

    with damaged(OPERATIONS[function], position, detached):
        check_gradients(call, *inputs, order=1)
        with pytest.raises(GradientError, match="order 2"):
            check_gradients(call, *inputs)


def test_the_conjugate_of_a_complex_gradient_is_noticed() -> None:
    """The convention for complex inputs is checked, not only the modulus."""
    with damaged(OPERATIONS[np.exp], 0, lambda rule: lambda *args: np.conjugate(rule(*args))):
        check_gradients(np.exp, normal(3))
        with pytest.raises(GradientError):
            check_gradients(np.exp, normal(3) * (1 + 1j))


def test_the_damage_is_undone() -> None:
    """Breaking a rule for a test leaves no trace."""
    rules = OPERATIONS[np.sin].rules
    with damaged(OPERATIONS[np.sin], 0, scaled):
        assert OPERATIONS[np.sin].rules != rules

    assert OPERATIONS[np.sin].rules == rules


def test_message() -> None:
    """A failure names the input, the order, and both values."""
    with damaged(OPERATIONS[np.multiply], 1, scaled), pytest.raises(GradientError) as caught:
        check_gradients(np.multiply, 2.0, 3.0)
    message = str(caught.value)

    assert message.startswith("derivative of order 1 in input 1")
    assert ": the tape says 2.002, finite differences 2 " in message
    assert message.endswith("(relative error 0.000999, tolerance 1e-07)")
    assert isinstance(caught.value, TapeError)
    assert isinstance(caught.value, AssertionError)


def test_message_of_a_weight() -> None:
    """A failure in the cotangent is named as such."""
    rule_broken = damaged(OPERATIONS[np.add], 0, detached)

    with rule_broken, pytest.raises(GradientError, match="the weight of output 0"):
        check_gradients(lambda x: x + 1.0, 2.0)


def test_lost_path() -> None:
    """A function that leaves the tape has a gradient of zero, which is wrong."""
    with pytest.raises(GradientError, match="the tape says 0, "):
        check_gradients(lambda x: np.sin(x.numpy()), 0.5)


def test_kink() -> None:
    """At a kink there is no derivative to agree upon."""
    with pytest.raises(GradientError):
        check_gradients(np.absolute, [1.0, 0.0])


def test_nan() -> None:
    """A value that is not a number agrees with nothing."""
    with np.errstate(invalid="ignore"), pytest.raises(GradientError, match="nan"):
        check_gradients(np.sqrt, -1.0)


def test_several_outputs() -> None:
    """Each output counts, also in nested structures, and beside those without derivative."""

    def function(x: Any) -> Any:
        return {"a": np.sin(x), "b": [x * x, np.argmax(x)]}

    assert max(check_gradients(function, [1.0, 2.0]).errors) < 1e-7
    with damaged(OPERATIONS[np.sin], 0, scaled), pytest.raises(GradientError):
        check_gradients(function, [1.0, 2.0])


def test_unconnected_input_and_empty_array() -> None:
    """Where nothing depends on an input, its derivative is zero, and that is right."""
    assert max(check_gradients(lambda x, _: x * 2.0, [1.0], [3.0]).errors) < 1e-7
    assert check_gradients(np.sin, np.zeros((0,))).errors == (0.0, 0.0)


def test_inputs_of_all_kinds() -> None:
    """Numbers, lists, tensors and single precision will do, and are not changed."""
    single = np.array([0.5, 2.0], np.float32)

    check_gradients(lambda a, b, c, d: a * b * c * d, 0.5, [1.0, 2.0], tm.constant(3.0), single)

    assert single.dtype == np.float32


@pytest.mark.parametrize("order", ["A", "K"])
def test_layout_in_memory(order: Any) -> None:
    """Steps leave an array's layout in memory as it is, which some functions can see."""
    columns = np.asfortranarray(normal(2, 3))

    check_gradients(lambda x: np.ravel(x, order) * np.arange(6.0), columns)


def test_small_and_large_values() -> None:
    """The steps follow the size of the inputs."""
    for scale in (1e-2, 1.0, 1e6):
        check_gradients(np.sqrt, positive(3) * scale)
        check_gradients(lambda x: x * x, normal(3) * scale)


def test_whole_numbers_are_refused() -> None:
    """Whole numbers have no gradient, neither as inputs nor as results."""
    with pytest.raises(NotATensorError, match=r"input 1 .* write 3\.0 for 3"):
        check_gradients(np.multiply, 2.0, 3)
    with pytest.raises(NotATensorError, match="no real or complex tensor"):
        check_gradients(np.argmax, [1.0, 2.0])


def test_seed() -> None:
    """The directions are random, but the same each time."""
    first, again = (check_gradients(np.sin, normal(3)) for _ in range(2))

    assert first == again
    assert first != check_gradients(np.sin, normal(3), seed=1)


def test_examples() -> None:
    """The examples in the docstrings are true."""
    failed, attempted = doctest.testmod(gradcheck, optionflags=doctest.ELLIPSIS)

    assert (failed, attempted > 0) == (0, True)
