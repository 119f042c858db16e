"""What `check_gradients` reports: where a derivative is wrong, by how much, and why."""

from __future__ import annotations

import doctest
import heapq
import json
import math
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapemagic as tm
from tapemagic import check_gradients
from tapemagic.engine.gradcheck import cause, finite_differences
from tapemagic.engine.gradcheck import check as gradcheck
from tapemagic.engine.gradcheck import report as gradreport
from tapemagic.engine.registry import OPERATIONS
from tapemagic.errors import GradientError, NotATensorError, OptionError, TapeError
from tests.rules.damage import damaged, detached, scaled

X = np.array([0.5, 1.0, -2.0])
Z = np.array([0.5 + 0.5j, 1.0 - 2.0j])


def report(function: Any, *inputs: Any, **options: Any) -> Any:
    """The report, whatever it says."""
    return check_gradients(function, *inputs, raises=False, **options)


def loses(x: Any, index: Any) -> Any:
    """The square of a tensor, of which one entry has half its derivative."""
    mask = np.zeros(x.shape)
    mask[index] = 1.0
    return x**2 * (1 - mask) + x * x.numpy() * mask


# -- a report without failures


def test_agreement() -> None:
    """Every order, input and weight has its line, and the numbers are within the tolerance."""
    found = report(lambda a, b: np.sin(a) / b, X, 2.0)

    assert found.ok
    assert () == found.failures
    assert 0 < found.max_error == found.worst.error == max(found.errors) < 1e-9
    assert [(1, 0, "a"), (1, 1, "b"), (2, 0, "a"), (2, 1, "b")] == [
        (check.order, check.position, check.name) for check in found.derivatives[:4]
    ]
    assert (2, None, (3,)) == tuple(
        getattr(found.derivatives[4], name) for name in ("order", "position", "shape")
    )
    assert str(found) == repr(found)
    assert str(found).splitlines() == [
        "check_gradients: 5 derivatives agree with finite differences (tolerance 1e-07)",
        "  order 1 in input 0 (a) of shape (3,): agrees",
        "  order 1 in input 1 (b): agrees",
        "  order 2 in input 0 (a) of shape (3,): agrees",
        "  order 2 in input 1 (b): agrees",
        "  order 2 in the weight of output 0 at order 1 of shape (3,): agrees",
    ]
    found.raise_for_errors()


def test_a_report_is_frozen() -> None:
    """Nobody writes into a report."""
    found = report(np.sin, 0.5)

    for part in (found, found.worst):
        with pytest.raises(AttributeError):
            part.order = 5


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_any_order(order: int) -> None:
    """Each order is compared with a difference quotient of the one below."""
    found = check_gradients(lambda x: np.sum(np.sin(x) * x), X, order=order)

    assert order == len(found.errors)
    assert found.max_error < 1e-7


def test_names() -> None:
    """An input is called by its position, and by its name if the function has one for it."""

    def named(first: Any, /, second: Any, *rest: Any) -> Any:
        return first * second * rest[0]

    labels = [check.label for check in report(named, 1.0, 2.0, 3.0, order=1).derivatives]
    assert ["input 0 (first)", "input 1 (second)", "input 2"] == labels
    [check] = report(type("Model", (), {"__call__": lambda _, x: x})(), 1.0, order=1).derivatives
    assert "input 0 (x)" == check.label
    nameless = type("Nameless", (), {"__call__": lambda _, x: x, "__signature__": "unknown"})()
    for function in (lambda *args: args[0], nameless):
        [check] = report(function, 1.0, order=1).derivatives
        assert "input 0" == check.label


# -- where it is wrong


@pytest.mark.thorough
@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.data())
def test_the_wrong_entry_is_found(data: st.DataObject) -> None:
    """Wherever it is, in input and output."""
    shape = data.draw(arrays.array_shapes(max_dims=3, max_side=8))
    index = tuple(data.draw(st.integers(0, side - 1)) for side in shape)
    x = np.random.default_rng(0).uniform(1.0, 2.0, shape)

    several = report(lambda x: loses(x, index), x).worst
    single = report(lambda x: np.sum(loses(x, index)), x).worst

    assert index == several.index == single.index
    assert f"the output at {list(index)}" == several.output
    assert "" == single.output
    for check in (several, single):
        assert math.isclose(check.tape, x[index])
        assert math.isclose(check.quotient, 2 * x[index])
        assert math.isclose(check.error, 0.5)


@pytest.mark.parametrize("index", [0, 31, 32, 4000, 9999])
def test_a_large_input(index: int) -> None:
    """Entries are halved, so that few calls of the function find the wrong one of many."""
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        return loses(x, index)

    check = report(function, np.linspace(1.0, 2.0, 10_000)).worst

    assert (index,) == check.index
    assert f"the output at [{index}]" == check.output
    assert len(calls) < 1000


def test_the_worst_of_several_entries() -> None:
    """Of several wrong entries, the one with the largest relative error; the first if they are equal."""

    def function(x: Any) -> Any:
        return np.stack([x[0] * x[0].numpy(), x[1], x[2] * x[2].numpy() ** 2])

    assert (2,) == report(function, X).worst.index
    assert (1,) == report(lambda x: loses(x, [1, 2]), X).worst.index


def test_the_text_of_a_failure() -> None:
    """What a student reads: where, both values with six digits, and what was not checked."""
    w = np.array([[0.75, 0.25], [0.25, 1.25]])
    found = report(lambda w, x: np.tanh(w @ x) * w.numpy()[:, 0], w, [0.5, 1.0])

    y = math.tanh(0.25 * 0.5 + 1.25)
    tape = (1 - y**2) * 0.5 * 0.25
    numbers = f"the tape says {tape:.6g}, finite differences {tape + y:.6g}"
    assert str(found).splitlines() == [
        "check_gradients: 1 of 2 derivatives differs from finite differences",
        "  order 1 in input 0 (w) of shape (2, 2) at [1, 0], of the output at [1]: DIFFERS",
        f"    {numbers} (relative error {y / (tape + y):.3g}, tolerance 1e-07)",
        f"    {found.worst.note}",
        "  order 1 in input 1 (x) of shape (2,): agrees",
        "  order 2 isn't checked, because order 1 differs",
    ]
    assert not found.ok
    assert (found.worst,) == found.failures


def test_several_outputs() -> None:
    """The output is named by its number, in the order of the structure."""

    def function(x: Any) -> Any:
        return {"right": np.sin(x), "wrong": [x[0], loses(x, 1)]}

    assert "output 2 at [1]" == report(function, X).worst.output


def test_complex_numbers() -> None:
    """A derivative in a complex entry is complex; of a complex output it is that of one part."""
    conjugated = damaged(OPERATIONS[np.exp], 0, lambda rule: lambda *x: np.conjugate(rule(*x)))
    with conjugated:
        check = report(lambda z: np.exp(1j * z).real, Z, order=1).worst
        other = report(np.exp, Z, order=1).worst

    assert check.output.startswith("the output at ")
    i = check.index[0]
    expected = np.conjugate(1j * np.exp(1j * Z[i]))
    assert np.isclose(expected, check.quotient, rtol=1e-9)
    assert not np.isclose(expected, check.tape)
    assert f"finite differences {gradreport.digits(check.quotient)} " in check.numbers(1e-7)
    assert other.output in {
        f"the {part} part of the output at {list(other.index)}" for part in ("real", "imaginary")
    }


def test_second_derivatives_of_a_number() -> None:
    """Those of a function with one real result are shown as they are."""
    with damaged(OPERATIONS[np.sin], 0, detached):
        found = report(lambda x: np.sum(np.sin(x)), X)

    first, second, weight = found.derivatives
    assert first.error < 1e-7
    assert (0,) == second.index
    assert "the derivative of order 1 in input 0 (x) at [0]" == second.output
    assert 0.0 == second.tape
    assert math.isclose(-math.sin(0.5), second.quotient, rel_tol=1e-9)
    assert math.isclose(math.cos(0.5), weight.quotient, rel_tol=1e-9)
    assert None is weight.position
    assert "the weight of output 0 at order 1" == weight.label


def test_second_derivatives_of_an_array() -> None:
    """Those of a function with a larger result are of its numbers, weighed at random."""
    with damaged(OPERATIONS[np.sin], 0, detached):
        check = report(lambda x: 1.0 * np.sin(x), X).failures[0]

    expected = "the derivative of order 1 in input 0 (x) at [0], with random weights of the outputs"
    assert expected == check.output


def test_higher_orders_of_a_wrong_gradient_are_not_checked() -> None:
    """An order that fails is the last one."""
    with damaged(OPERATIONS[np.sin], 0, detached):
        found = report(np.sin, X, order=4)

    assert 2 == len(found.errors)
    assert str(found).endswith("\n  order 3 isn't checked, because order 2 differs")


def test_a_rule_that_does_not_read_its_cotangent() -> None:
    """What is right with a weight of one shows in the weighed result alone."""
    with damaged(OPERATIONS[np.sin], 0, lambda _: lambda _g, _y, x: np.cos(x)):
        check = report(np.sin, X).worst

    assert "the result with random weights" == check.output
    assert check.error > 0.1


def test_entrywise() -> None:
    """A random direction can miss an entry beside much larger ones; each by itself does not."""

    def function(x: Any) -> Any:
        return 1e9 * x[0] + x[1].numpy() ** 2

    assert report(function, [1.0, 1.0]).ok
    found = report(function, [1.0, 1.0], entrywise=True)
    assert (1,) == found.worst.index
    assert report(np.sin, X, entrywise=True).ok
    assert (0.0, 0.0) == report(np.sin, np.zeros((0, 3)), entrywise=True).errors


def test_entrywise_calls() -> None:
    """Six calls for each entry, on top of those for the input as a whole."""

    def calls(entrywise: bool) -> int:
        count = []
        report(lambda x: count.append(1) or np.sin(x), X, order=1, entrywise=entrywise)
        return len(count)

    assert 3 * 6 <= calls(entrywise=True) - calls(entrywise=False) <= 4 * 6


# -- why it is wrong

NOTES = {
    "kink": (lambda x: np.where(x > 0, x, 0.0), [1.0, 0.0], (1,), "a kink or a jump"),
    "cusp": (lambda x: np.where(x > 1, 3 * x - 2, x**2), [1.0, 0.5], (0,), "a kink or a jump"),
    "jump": (lambda x: np.where(x > 1, x, 0.0), [1.0, 2.0], (0,), "a kink or a jump"),
    "edge": (np.sqrt, [4.0, 0.0], (1,), "nan or infinite next to this point"),
    "single": (lambda x: np.sin(x.astype(np.float32)), X, None, "computes in float32"),
    "lost": (lambda x: np.sin(x.numpy()), X, None, ".numpy() on line "),
    "lost in part": (
        lambda x: x**2 + math.sin(x),
        1.0,
        (),
        (
            "(lambda x: x**2 + math.sin(x),) turned this input into a plain number, so the tape's gradient may "
            "lack a part: compute with the tensor itself, with np.sin(x) instead of math.sin(x)"
        ),
    ),
    "lost on the way": (lambda x: np.sum(x) * float(np.prod(x)), X, None, "float() on"),
    "lost as an array": (lambda x: np.array([x[0], x[1]]) * x[0], X, None, "float() on line"),
    "lost and returned": (lambda x: [x, float(x[0])], X, (0,), "turned this input into a plain number"),
    "lost without a word": (
        lambda x: np.sin(x._value),
        X,
        None,
        "did .numpy(), float(x) or np.asarray(x) turn it into a plain number",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NOTES)
def test_the_likely_cause(name: str) -> None:
    """What can be seen from outside is said in a line of its own, and in the error."""
    function, x, index, words = NOTES[name]

    found = report(function, x)

    assert index in (None, found.worst.index)
    assert words in found.worst.note
    assert f"\n    {found.worst.note}\n" in str(found)
    with pytest.raises(GradientError) as caught:
        check_gradients(function, x)
    assert str(caught.value).endswith(f"): {found.worst.note}")


@pytest.mark.parametrize("x", [[0.5, 1.0], [0.0, 1e-3], [10.0, -20.0]])
@pytest.mark.parametrize("function", [np.sin, np.cos, np.square, lambda x: x**4 - x])
def test_no_cause_is_made_up(function: Any, x: Any) -> None:
    """A smooth function with a wrong rule has no kink, wherever it is."""
    for operation in (np.sin, np.cos, np.square, np.power):
        with damaged(OPERATIONS[operation], 0, scaled):
            for check in report(function, x).failures:
                assert "" == check.note


def test_exits_that_do_not_matter() -> None:
    """What is converted after the result, or from another input, takes no part away."""

    def prints(x: Any, y: Any) -> Any:
        result = np.sin(x) + y.numpy()
        result.numpy()
        return result

    with damaged(OPERATIONS[np.sin], 0, scaled):
        first, second = report(prints, X, X).failures

    assert "" == first.note
    assert second.note.startswith(".numpy() on line ")
    assert "(result = np.sin(x) + y.numpy()) turned" in second.note


def test_an_exit_in_a_custom_gradient() -> None:
    """A gradient that leaves the tape has no derivative itself, which shows in the second order."""

    @tm.custom_gradient
    def cube(x: Any) -> Any:
        return x**3, lambda g: g * 3 * x.numpy() ** 2

    [check] = report(cube, 2.0).failures

    assert 2 == check.order
    assert "(return x**3, lambda g: g * 3 * x.numpy() ** 2) turned this input" in check.note


# -- raising


def test_the_error() -> None:
    """It names the first failure, and how many there are."""
    found = report(lambda x, y: [loses(x, 1), loses(y, 2)], X, X)

    with pytest.raises(GradientError) as caught:
        found.raise_for_errors()

    assert str(caught.value) == (
        "derivative of order 1 in input 0 (x) of shape (3,) at [1], of output 0 at [1]: "
        "the tape says 1, finite differences 2 (relative error 0.5, tolerance 1e-07): "
        f"{found.failures[0].note}; and 1 more of 2 derivatives"
    )
    with pytest.raises(GradientError) as again:
        check_gradients(lambda x, y: [loses(x, 1), loses(y, 2)], X, X)
    assert str(again.value) == str(caught.value)


def test_tolerance() -> None:
    """A larger one lets more pass."""
    with damaged(OPERATIONS[np.multiply], 1, scaled):
        assert not report(np.multiply, 2.0, 3.0).ok
        assert report(np.multiply, 2.0, 3.0, tolerance=0.01).ok


REFUSED: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], type[TapeError], str]] = {
    "no inputs": (lambda: 1.0, (), {}, OptionError, r"as in check_gradients\(np.sin, 0.5\)"),
    "order 0": (np.sin, (1.0,), {"order": 0}, OptionError, "at least 1, not 0: write order=2"),
    "order 1.5": (np.sin, (1.0,), {"order": 1.5}, OptionError, "an integer of at least 1, not 1.5"),
    "order True": (np.sin, (1.0,), {"order": True}, OptionError, "at least 1, not True"),
    "order '2'": (np.sin, (1.0,), {"order": "2"}, OptionError, "at least 1, not '2'"),
    "tolerance 0": (np.sin, (1.0,), {"tolerance": 0.0}, OptionError, "positive number, not 0.0"),
    "tolerance nan": (np.sin, (1.0,), {"tolerance": math.nan}, OptionError, "number, not nan"),
    "int": (lambda x, n: x * n, (2.0, 3), {}, NotATensorError, r"input 1 \(n\) .* 3\.0 for 3"),
    "bool": (lambda x: x, (True,), {}, NotATensorError, r"not True of type bool"),
    "text": (lambda x: x, ("one",), {}, NotATensorError, r"input 0 \(x\) .* 'one' of type str"),
    "ragged": (lambda x: x, ([[1.0], [1.0, 2.0]],), {}, NotATensorError, "each array as a separate input"),
    "dict": (lambda x: x, ({"w": 1.0},), {}, NotATensorError, "each array as a separate input"),
    "None": (lambda x: x, (None,), {}, NotATensorError, "not None of type NoneType"),
    "nan": (np.sin, (1.0, [[1.0, math.nan]]), {}, GradientError, r"input 1.* at \[0, 1\] is nan"),
    "inf": (lambda x: x, (math.inf,), {}, GradientError, r"input 0 \(x\) is inf, so there is no"),
    "value": (lambda x: x / [0.0, 1.0], ([0.0, 1.0],), {}, GradientError, r"function at \[0\] is nan"),
    "returns None": (lambda _: None, (1.0,), {}, NotATensorError, "end it with 'return'"),
    "returns int": (lambda _: 3, (1.0,), {}, NotATensorError, "3 of type int: integers"),
    "returns bool": (lambda x: x > 1, (1.0,), {}, NotATensorError, "integers and bools have no derivative"),
    "returns text": (lambda x: [x, "a"], (1.0,), {}, NotATensorError, "'a' of type str, not numbers"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, raises: bool) -> None:
    """Where there is nothing to compare, the error says what to write, whether or not failures raise."""
    function, inputs, options, error, match = REFUSED[name]

    with pytest.raises(error, match=match):
        check_gradients(function, *inputs, raises=raises, **options)


def test_random_numbers() -> None:
    """A function that gives something else each time is told about."""
    rng = np.random.default_rng(0)

    with pytest.raises(
        GradientError, match=r"returned 0\.\d+, then -?0\.\d+ \(the output at \[1\]\)"
    ):
        check_gradients(lambda x: x * np.stack([1.0, rng.normal()]), [0.5, 1.0])
    check_gradients(lambda x: x * np.random.default_rng(0).normal(), 0.5)


def test_memory_from_call_to_call() -> None:
    """The same where it is the shape that grows, or a value that is lost."""
    kept: list[Any] = []

    def grows(x: Any) -> Any:
        kept.append(x)
        return np.stack([x] * len(kept))

    with pytest.raises(GradientError, match=r"shapes \[\(1, 3\)\], then \[\(2, 3\)\]: seed random"):
        check_gradients(grows, X)
    values = iter([1.0, math.nan])
    with pytest.raises(GradientError, match=r"returned 0\.5, then nan"):
        check_gradients(lambda x: x * next(values), 0.5)


def test_rounding_is_not_randomness() -> None:
    """A sum in another order is the same value."""
    orders = iter([1, -1] * 100)

    check_gradients(
        lambda x: np.sum(x[:: next(orders)]), np.random.default_rng(0).normal(size=999), order=1
    )


@pytest.mark.parametrize("module", [gradcheck, cause, gradreport, finite_differences])
def test_examples(module: Any) -> None:
    """The examples in the docstrings are true."""
    assert 0 == doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed


@pytest.mark.parametrize(
    ("value", "floor", "text"),
    [
        (2.0, 0.0, "2"), (-0.0, 0.0, "0"), (1 / 3, 0.0, "0.333333"), (1e-12, 1e-9, "0"),
        (1e-12, math.inf, "1e-12"), (math.nan, math.nan, "nan"), (1 + 2j, 0.0, "1+2j"),
        (1 / 3 - 1e-12j, 1e-9, "0.333333+0j"), (-2.5j, 0.0, "0-2.5j"),
    ],
)  # fmt: skip
def test_digits(value: Any, floor: float, text: str) -> None:
    """Six significant digits, and no rounding errors."""
    assert text == gradreport.digits(value, floor)


def test_public() -> None:
    """The function is the package's."""
    assert check_gradients is tm.check_gradients is gradcheck.check_gradients


def attribute(x: Any) -> Any:
    """A value leaves through an attribute."""

    class Model:
        def __init__(self, v: Any) -> None:
            self.v = float(v)

    return Model(x).v * x


def heap(x: Any) -> Any:
    """A value leaves through a heap."""
    waiting: list[float] = []
    heapq.heappush(waiting, float(x))
    return heapq.heappop(waiting) * x


def stored(x: Any) -> Any:
    """A value leaves through text that stands for an object."""
    return json.loads(json.dumps([float(x)]))[0] * x


def as_text(x: Any) -> Any:
    """A value leaves as text."""
    return float(f"{x:.17g}") * x


def printing(x: Any) -> Any:
    """One of two conversions does harm."""
    k = float(x)
    str(float(x))
    return k * x


@pytest.mark.parametrize(
    ("function", "ways"),
    [
        (attribute, ["float() on line"]),
        (heap, ["float() on line"]),
        (stored, ["float() on line"]),
        (as_text, ["format() on line"]),
        (printing, ["(k = float(x)) or float() on line", "(str(float(x)))"]),
    ],
)
def test_what_left_inside_of_the_function(function: Any, ways: list[str]) -> None:
    """The function itself runs with other inputs, so a part that it loses is found, with its line."""
    found = report(function, 1.3)

    [check] = found.failures
    assert (check.tape, pytest.approx(2.6)) == (1.3, check.quotient)
    assert all(way in check.note for way in ways)
