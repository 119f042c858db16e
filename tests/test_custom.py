"""custom_gradient, stop_gradient, recompute_grad, grad_pass_through: what TensorFlow does not say."""

from __future__ import annotations

import inspect
import logging
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import CustomGradientError, FunctionError, VariablesKeywordError
from tests.conformance.programs import raised_by

X = np.array([0.5, -1.0, 2.0])


class Pair(NamedTuple):
    """Two results with names."""

    first: Any
    second: Any


def tens(function: Any) -> Any:
    """A function whose gradient is ten, wherever it is."""
    return tm.custom_gradient(lambda x: (function(x), lambda u: 10.0 * u))


def gradient(function: Any, x: Any) -> Any:
    """The gradient of a function in one tensor."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


# -- what is returned -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [float, np.asarray, lambda x: [float(x)], lambda x: {"y": x.numpy()}, lambda x: Pair(x, 2.0)],
    ids=["float", "array", "list of a float", "dict of an array", "named tuple"],
)
def test_results_off_the_tape(convert: Any) -> None:
    """Results that are plain numbers or arrays become tensors, on the tape."""
    x = tm.constant(3.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = tm.custom_gradient(lambda x: (convert(x), lambda *us: 10.0 * sum(us)))(x)
    expected = convert(x)

    assert isinstance(y, (tm.Tensor, list, dict, Pair))
    assert not isinstance(expected, (list, dict, Pair)) or type(y) is type(expected)
    assert float(tape.gradient(y, x)) == (20.0 if isinstance(y, Pair) else 10.0)


def test_named_results() -> None:
    """The fields of a named tuple are results of their own."""
    function = tm.custom_gradient(lambda x: (Pair(x, [x * x]), lambda u, v: u + 10.0 * v))
    x = tm.constant(3.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        pair = function(x)

    assert type(pair) is Pair
    assert [1.0, 10.0] == [float(tape.gradient(y, x)) for y in (pair.first, pair.second[0])]


@pytest.mark.parametrize(
    "answer",
    [
        lambda: np.array([1.0, 2.0, 3.0]),
        lambda: [np.array([1.0, 2.0, 3.0])],
        lambda: (tm.Variable([1.0, 2.0, 3.0]),),
        lambda: tm.constant([1, 2, 3]),
        lambda: np.array([1.0, 2.0, 3.0], np.float32),
    ],
    ids=["array", "in a list", "variable", "whole numbers", "single precision"],
)
def test_answers(answer: Any) -> None:
    """A gradient may be anything that is one, and gets its argument's dtype."""
    function = tm.custom_gradient(lambda x: (np.sum(x), lambda _: answer()))
    for dtype in (np.float64, np.float32):
        found = gradient(function, tm.constant(X.astype(dtype)))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])


def test_answers_are_copied() -> None:
    """What grad_fn does with its array afterwards changes no gradient."""
    buffer = np.ones(3)
    found = gradient(tm.custom_gradient(lambda x: (x * 2.0, lambda _: buffer)), tm.constant(X))
    buffer[:] = 7.0

    np.testing.assert_array_equal(found, np.ones(3))


def test_no_answer() -> None:
    """None is no gradient: the path ends there."""
    assert gradient(tm.custom_gradient(lambda x: (x * 2.0, lambda _: None)), tm.constant(X)) is None


def test_one_answer_for_two_arguments() -> None:
    """The upstream itself may be the gradient of several arguments, and is not added up in place."""
    function = tm.custom_gradient(lambda a, b: (a + b, lambda u: (u, u)))
    x, big = tm.constant(X), tm.constant(np.ones(5000))
    for source in (x, big):
        with tm.GradientTape() as tape:
            tape.watch(source)
            h = source * 1.0
            y = function(h, function(h, h)) + h * 5.0
        np.testing.assert_array_equal(tape.gradient(y, source), np.full(source.shape, 8.0))


# -- arguments ------------------------------------------------------------------------------------


def test_plain_arguments() -> None:
    """Numbers, strings, None, arrays and truth values are arguments too, each with its place."""

    @tm.custom_gradient
    def function(x: Any, n: int, name: str, nothing: None, array: Any, flag: bool) -> Any:
        assert (n, name, nothing, flag) == (2, "name", None, True)
        return x**n * array, lambda u: (u * 10.0, None, None, None, None, None)

    found = gradient(lambda x: function(x, 2, "name", None, X, True), tm.constant(X))

    np.testing.assert_array_equal(found, np.full(3, 10.0))


@pytest.mark.parametrize("length", [2, 100_000])
def test_arguments_that_are_no_numbers(length: int) -> None:
    """A dtype, or any other object, is an argument of which the tape keeps nothing."""
    function = tm.custom_gradient(
        lambda x, dtype, *_: (x.astype(dtype), lambda u: (u, *4 * [None]))
    )
    x = tm.constant(np.ones(length))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = function(x, np.float32, object(), [], "name", np.ndarray)
    tape._drop_dead()

    assert tape.records[0].values[1:] == (None, None, None, None)
    np.testing.assert_array_equal(tape.gradient(y, x), np.ones(length))


def test_untracked_arguments() -> None:
    """The gradient of an argument that no tape watches is of no interest."""
    function = tm.custom_gradient(lambda a, b: (a * b, lambda u: (u * 10.0, u * 20.0)))

    assert float(gradient(lambda x: function(2.0, x), tm.constant(3.0))) == 20.0
    assert float(gradient(lambda x: function(x, np.float64(1.0)), tm.constant(3.0))) == 10.0


def test_methods_of_classes_and_objects() -> None:
    """A callable object can be decorated; signature and docstring are the function's."""

    class Adder:
        def __call__(self, x: Any) -> Any:
            return x + 1.0, lambda u: u * 10.0

    def function(x: Any, power: int = 2) -> Any:
        """A power."""
        return x**power, lambda u: u

    decorated = tm.custom_gradient(function)

    assert float(gradient(tm.custom_gradient(Adder()), tm.constant(3.0))) == 10.0
    assert inspect.signature(decorated) == inspect.signature(function)
    assert (decorated.__name__, decorated.__doc__) == ("function", "A power.")
    assert decorated.__wrapped__ is function


def test_methods_keep_apart() -> None:
    """Each instance has its own method; called on the class, the instance is an argument."""

    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @tm.custom_gradient
        def apply(self, x: Any) -> Any:
            """Scale."""
            return x * self.factor, lambda u: u * self.factor * 10.0

    x = tm.constant(1.0)
    one, two = Scale(1.0).apply, Scale(2.0).apply

    assert [10.0, 20.0] == [float(gradient(one, x)), float(gradient(two, x))]
    assert two.__doc__ == "Scale."
    error = raised_by(lambda: gradient(lambda x: Scale.apply(Scale(3.0), x), x))
    assert "expected to return 2 gradients" in str(error)


# -- how often grad_fn is asked -------------------------------------------------------------------


def test_asked_once_a_gradient() -> None:
    """grad_fn is asked once for all arguments, and again for each gradient."""
    calls = []

    @tm.custom_gradient
    def function(a: Any, b: Any, c: Any) -> Any:
        def grad(u: Any) -> Any:
            calls.append(u)
            return u, u * 2.0, u * 3.0

        return a * b * c, grad

    a, b, c = map(tm.constant, (1.0, 2.0, 3.0))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch([a, b, c])
        y = function(a, b, c)
    weight = tm.constant(5.0)
    counts = []
    for sources in ([a, b, c], [a], [c], [c, a]):
        tape.gradient(y, sources, weight)
        counts.append(len(calls))

    assert counts == [1, 2, 3, 4]


def test_asked_again_after_a_change() -> None:
    """The same weights do not bring back an older answer."""
    factor = [1.0]
    function = tm.custom_gradient(lambda x, y: (x * y, lambda u: (u * factor[0], u * factor[0])))
    x, y, weight = map(tm.constant, (1.0, 2.0, 5.0))
    with tm.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        z = function(x, y)
    first = tape.gradient(z, x, weight)
    factor[0] = 2.0
    second = tape.gradient(z, y, weight)

    assert [5.0, 10.0] == [float(first), float(second)]


def test_each_outer_tape_hears_grad_fn() -> None:
    """The same weights under one tape after another: each of them records what grad_fn computes."""
    function = tm.custom_gradient(lambda x: (x * x, lambda u: u * 2.0 * x))
    x, weight = tm.constant(X), tm.constant([1.0, 1.0, 1.0])
    with tm.GradientTape(persistent=True) as inner:
        inner.watch(x)
        y = function(x)
    found = []
    for _ in range(2):
        with tm.GradientTape() as outer:
            outer.watch(weight)
            g = inner.gradient(y, x, output_gradients=weight)
        found.append(outer.gradient(g, weight).numpy())

    np.testing.assert_array_equal(found, [2 * X, 2 * X])


# -- variables ------------------------------------------------------------------------------------


def test_variables_in_order() -> None:
    """Variables that were read come in the order in which they were made, each once, not those among the arguments."""
    a, b, c, d = (tm.Variable(float(k), name=name) for k, name in enumerate("abcd"))
    seen = []

    @tm.custom_gradient
    def function(x: Any) -> Any:
        def grad(u: Any, variables: Any) -> Any:
            seen.append([v.name for v in variables])
            return u, [u * 10.0 for _ in variables]

        return d * b * x * b * a, grad

    with tm.GradientTape() as tape:
        y = function(c) + a * 100.0
    found = tape.gradient(y, [a, b, c, d])

    assert seen == [["a", "b", "d"]]
    assert [110.0, 10.0, 1.0, 10.0] == [float(g) for g in found]


def test_variables_of_an_inner_function() -> None:
    """What a custom function inside reads, the outer one reads."""
    v, x = tm.Variable(2.0, name="v"), tm.constant(3.0)
    inner = tm.custom_gradient(lambda x: (x * v, lambda u, variables: (u, [u] * len(variables))))
    outer = tm.custom_gradient(lambda x: (inner(x), lambda u: u))

    error = raised_by(lambda: outer(x))

    assert isinstance(error, VariablesKeywordError)
    assert "'v'" in str(error)


def test_variables_do_not_count_where_the_function_reads_none() -> None:
    """A grad_fn may take variables, and be given none."""
    seen = []

    def grad(u: Any, variables: Any = None) -> Any:
        seen.append(variables)
        return u * 10.0

    found = gradient(tm.custom_gradient(lambda x: (x * x, grad)), tm.constant(3.0))

    assert (float(found), seen) == (10.0, [None])


def test_assigned_results() -> None:
    """A function that assigns: its result is the value, on the tape."""
    v, x = tm.Variable(1.0), tm.constant(3.0)

    @tm.custom_gradient
    def keep(x: Any) -> Any:
        v.assign(x * 2.0)
        return v, lambda u, variables=None: (u * 10.0, [None] * len(variables or ()))

    found = gradient(lambda x: keep(x) * 2.0, x)
    v.assign(100.0)

    assert float(found) == 20.0


ERRORS = {
    "no pair for variables": (
        lambda v: lambda x: (x * v, lambda u, variables: [u, u]),  # noqa: ARG005
        ["must return a pair, the gradients of the arguments and a list", "of type list"],
    ),
    "gradient of another shape for a variable": (
        lambda v: lambda x: (np.sum(x * v), lambda u, variables: (u, [u])),  # noqa: ARG005
        ["shape ()", "argument 0 of shape (3,)"],
    ),
    "another shape": (
        lambda _: lambda x: (np.sum(x), lambda u: u),
        ["grad_fn of <lambda> returned a gradient of shape ()", "shape (3,)", "must be equal"],
    ),
    "complex where all is real": (
        lambda _: lambda x: (x * x, lambda u: u * 1j),
        ["a complex128 gradient for argument 0, but argument and result are float64", "np.real(...)"],
    ),
    "an object": (lambda _: lambda x: (x * x, lambda _: object()), ["as the gradient of argument 0"]),
    "a ragged list": (
        lambda _: lambda x: (x * x, lambda _: np.array([None, 1.0, 2.0])),
        ["of type ndarray", "as the gradient of argument 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), ERRORS.values(), ids=ERRORS.keys())
def test_wrong_answers(make: Any, words: list[str]) -> None:
    """What grad_fn returns wrongly is said when it is asked."""
    v, x = tm.Variable(np.ones(3)), tm.constant(X)
    error = raised_by(lambda: gradient(tm.custom_gradient(make(v)), x))

    assert isinstance(error, CustomGradientError)
    assert [] == [word for word in words if word not in str(error)], str(error)


@pytest.mark.parametrize(
    "returned", [lambda x: x, lambda x: (x, x), lambda x: (x,), lambda _: None]
)
def test_no_pair(returned: Any) -> None:
    """A function that does not return a result and a function is told so at once."""
    error = raised_by(lambda: tm.custom_gradient(returned)(tm.constant(X)))

    assert isinstance(error, CustomGradientError)
    assert "must return a pair" in str(error)


# -- on tapes -------------------------------------------------------------------------------------


def test_records() -> None:
    """On the tape it is one operation of the function's name; explain tells of it."""

    @tm.custom_gradient
    def my_square(x: Any) -> Any:
        return tm.constant(x.numpy() ** 2), lambda u: 2.0 * u * x

    x = tm.Variable(3.0)
    with tm.GradientTape(persistent=True) as tape:
        y = my_square(x)

    assert [record.name for record in tape.records] == ["my_square"]
    assert "my_square" in str(tape.explain(y, x))


def test_not_recorded_where_nothing_listens() -> None:
    """Under stop_recording, and without a watched argument, the result is a constant."""
    function, x, c = tens(np.square), tm.Variable(3.0), tm.constant(3.0)
    with tm.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            y = function(x)
        z = function(c)

    assert tape.records == ()
    assert [tape.gradient(y, x), tape.gradient(z, c)] == [None, None]


def test_complex_and_real() -> None:
    """Of a complex result, a complex gradient of a real argument has its real part; upstream is complex, too."""
    kinds = []

    def grad(u: Any) -> Any:
        kinds.append(u.dtype.kind)
        return u * (1.0 + 5.0j)

    function = tm.custom_gradient(lambda x: (x * (1.0 + 1.0j), grad))
    found = gradient(lambda x: np.real(function(x)), tm.constant(2.0))

    assert (float(found), kinds) == (1.0, ["c"])


# -- stop_gradient --------------------------------------------------------------------------------


def test_stop_keeps_structure() -> None:
    """Of a structure with tensors in it each part is stopped; numbers beside them become tensors."""
    x = tm.Variable(X)
    with tm.GradientTape() as tape:
        stopped = tm.stop_gradient({"a": [x * 2.0, 3.0], "b": Pair(x, X)})
        y = np.sum(stopped["a"][0] * x) + stopped["a"][1] + np.sum(stopped["b"].first)

    assert type(stopped["b"]) is Pair
    assert isinstance(stopped["a"][1], tm.Tensor)
    np.testing.assert_array_equal(stopped["b"].second, X)
    np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], X, np.float32(2.0), [[1, 2], [3, 4]], 1j])
def test_stop_of_plain_values(value: Any) -> None:
    """Of numbers, lists of numbers and arrays, a tensor."""
    stopped = tm.stop_gradient(value)

    assert isinstance(stopped, tm.Tensor)
    assert stopped.dtype == np.asarray(value).dtype
    np.testing.assert_array_equal(stopped, value)


def test_stop_explains_itself() -> None:
    """explain says that the path was stopped on purpose."""
    x = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = tm.stop_gradient(x * x) * 2.0

    assert "stop_gradient" in str(tape.explain(y, x))


def test_stop_is_no_source() -> None:
    """What is stopped has no gradient, and explain says so; the record stays, for pictures."""
    x = tm.constant(3.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        s = tm.stop_gradient(x * x)
        y = s * x

    assert [9.0, None] == tape.gradient(y, [x, s])
    assert tape.jacobian(y, s) is None
    assert "stop_gradient" in [record.name for record in tape.records]
    assert tape.explain(y, s).cause


def test_stop_on_one_of_two_tapes() -> None:
    """A tape that watches what another one stopped differentiates it."""
    x = tm.constant(3.0)
    with tm.GradientTape() as outer, tm.GradientTape() as inner:
        inner.watch(x)
        s = tm.stop_gradient(x * x)
        outer.watch(s)
        y = s * x

    assert [9.0, None] == inner.gradient(y, [x, s])
    assert [None, 3.0] == outer.gradient(y, [x, s])


# -- recompute_grad -------------------------------------------------------------------------------


def test_recompute_is_the_same() -> None:
    """Gradients to second order are those of the function itself, in arguments and variables."""
    v = tm.Variable([2.0, 0.5, -1.0])

    def function(x: Any, y: Any) -> Any:
        return np.sin(x * v) * np.exp(y), np.sum(x * y)

    def orders(f: Any) -> list[Any]:
        x, y = tm.constant(X), tm.constant(0.3)
        with tm.GradientTape(persistent=True) as outer:
            outer.watch([x, y])
            with tm.GradientTape() as inner:
                inner.watch([x, y])
                a, b = f(x, y)
                z = np.sum(a**2) * b
            first = inner.gradient(z, [x, y, v])
        return [*first, *(outer.jacobian(g, s) for g in first for s in (x, y, v))]

    for a, b in zip(orders(function), orders(tm.recompute_grad(function)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_recompute_passes_the_check() -> None:
    """check_gradients finds nothing wrong with it, to third order."""
    tm.check_gradients(tm.recompute_grad(lambda x: np.sin(x) * np.sum(x)), X, order=3)


def test_recompute_calls() -> None:
    """Once forward, once for each gradient, once for each row of a Jacobian; not where nothing asks."""
    calls = []

    @tm.recompute_grad
    def function(x: Any) -> Any:
        calls.append(1)
        return x * x

    x = tm.constant(X)
    counts = []
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
        function(tm.constant(X))
    for ask in (tape.gradient, tape.gradient, tape.jacobian, lambda *_: tape.gradient(x, x)):
        before = len(calls)
        ask(y, x)
        counts.append(len(calls) - before)

    assert (len(calls) - sum(counts), counts) == (2, [1, 1, 3, 0])


def test_recompute_keyword_structures() -> None:
    """Tensors inside structures count, by position and by keyword."""
    function = tm.recompute_grad(lambda pair, *, weights: pair[0] * weights["w"] * pair[1])
    a, w = tm.constant(3.0), tm.Variable(5.0)
    with tm.GradientTape() as tape:
        tape.watch(a)
        y = function([a, 2.0], weights={"w": w})

    assert [10.0, 6.0] == [float(g) for g in tape.gradient(y, [a, w])]


def test_recompute_of_other_arguments() -> None:
    """Strings, None, flags and functions are passed on again as they were; arrays as they were then."""
    seen = []
    array = np.array([1.0, 2.0, 3.0])

    @tm.recompute_grad
    def function(
        x: Any, name: str, nothing: None, map_: Any, factor: Any, flag: bool = False
    ) -> Any:
        seen.append((name, nothing, map_, flag))
        return map_(x) * factor

    def program(x: Any) -> Any:
        y = function(x, "name", None, np.sin, array, flag=True)
        array[:] = 100.0
        return y

    found = gradient(program, tm.constant(X))

    assert seen == [("name", None, np.sin, True)] * 2
    np.testing.assert_allclose(found, np.cos(X) * [1.0, 2.0, 3.0])


def test_recompute_constant_results() -> None:
    """Results that are constants, and whole numbers, have their places among the others."""
    function = tm.recompute_grad(lambda x: (np.ones(2), x * x, np.argmax(x), 2.0))
    x = tm.constant(X)
    with tm.GradientTape() as tape:
        tape.watch(x)
        one, square, place, two = function(x)
        y = np.sum(one) * square * two

    assert int(place) == 2
    np.testing.assert_array_equal(tape.gradient(y, x), 8 * X)


def test_recompute_with_values_of_then() -> None:
    """It computes with the values that variables had, also those that are not trainable."""
    v, frozen = tm.Variable(3.0), tm.Variable(10.0, trainable=False)
    x = tm.constant(2.0)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = tm.recompute_grad(lambda x: x * x * v * frozen)(x)
        v.assign(-1.0)
        frozen.assign(-1.0)
    found = tape.gradient(y, [x, v])

    assert [120.0, 40.0] == [float(g) for g in found]
    assert [-1.0, -1.0] == [float(v), float(frozen)]


def test_recompute_of_assignments() -> None:
    """What the function assigns it assigns once; it is undone when it is done again."""
    steps, x = tm.Variable(0.0, trainable=False), tm.constant(2.0)

    @tm.recompute_grad
    def function(x: Any) -> Any:
        y = x * (steps + 1.0) * x
        steps.assign_add(1.0)
        return y

    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(function(x))
    found = [float(tape.gradient(y, x)) for _ in range(2)]

    assert found == [2 * 4 * 8.0] * 2
    assert float(steps) == 2.0


def test_recompute_restores_after_an_error() -> None:
    """Variables are as they were when the function fails the second time."""
    v, x = tm.Variable(3.0), tm.constant(2.0)
    calls = []

    @tm.recompute_grad
    def function(x: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("mine")
        return x * v

    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = function(x)
    v.assign(7.0)

    assert isinstance(raised_by(lambda: tape.gradient(y, x)), KeyError)
    assert float(v) == 7.0
    assert [3.0, 2.0] == [float(g) for g in tape.gradient(y, [x, v])]


def test_recompute_argument_that_it_reads_too() -> None:
    """A variable that is an argument, and read besides, counts in both places."""
    v = tm.Variable(3.0)
    with tm.GradientTape() as tape:
        y = tm.recompute_grad(lambda x: x * v)(v)

    assert float(tape.gradient(y, v)) == 6.0


def test_recompute_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Whole numbers among arguments and variables are no reason for a warning."""
    n, index, x = tm.Variable([1, 2]), tm.constant(1), tm.Variable([3.0, 4.0])
    with caplog.at_level(logging.WARNING), tm.GradientTape() as tape:
        y = tm.recompute_grad(lambda x, index: x[index] * n[index])(x, index)
        found = tape.gradient(y, [x, n])

    assert caplog.messages == []
    np.testing.assert_array_equal(found[0], [0.0, 2.0])
    assert found[1] is None


def test_recompute_in_recompute() -> None:
    """Blocks inside blocks, as methods of an object."""

    class Network:
        def __init__(self) -> None:
            self.v = tm.Variable(2.0)

        @tm.recompute_grad
        def inner(self, x: Any) -> Any:
            return np.sin(x) * self.v

        @tm.recompute_grad
        def outer(self, x: Any) -> Any:
            return self.inner(self.inner(x))

    network, x = Network(), tm.constant(0.5)
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = network.outer(x)
    gx, gv = tape.gradient(y, [x, network.v])
    h = 2 * np.sin(0.5)

    np.testing.assert_allclose(gx, 2 * np.cos(h) * 2 * np.cos(0.5))
    np.testing.assert_allclose(gv, np.sin(h) + 2 * np.cos(h) * np.sin(0.5))


# -- grad_pass_through ----------------------------------------------------------------------------


def test_pass_through_names() -> None:
    """It has the name of the function, in pictures too, and takes its options."""
    rounded = tm.grad_pass_through(np.round)
    x = tm.Variable(2.345)
    with tm.GradientTape(persistent=True) as tape:
        y = rounded(x, decimals=1)

    assert rounded.__name__ == "round"
    assert tape.records[-1].name == "round"
    assert [2.3, 1.0] == [float(y), float(tape.gradient(y, x))]


def test_pass_through_second_order() -> None:
    """An identity has no second derivative."""
    x = tm.constant(X)

    np.testing.assert_array_equal(tm.jacobian(tm.grad_pass_through(np.sign))(x), np.eye(3))
    np.testing.assert_array_equal(
        tm.hessian(lambda x: np.sum(tm.grad_pass_through(np.sign)(x)))(x), np.zeros((3, 3))
    )


def test_pass_through_structures() -> None:
    """Structures of results, each of its argument's shape."""
    function = tm.grad_pass_through(lambda p: {"w": np.floor(p["w"]), "b": np.ceil(p["b"])})
    w, b = tm.constant(X), tm.constant(0.5)
    with tm.GradientTape() as tape:
        tape.watch([w, b])
        result = function({"w": w, "b": b})
        y = result["w"] * result["b"]

    assert [np.sum(np.floor(X)), 3] == [
        float(tape.gradient(y, [w, b])[1]),
        len(result["w"].numpy()),
    ]


def test_constants_made_of_stopped_values() -> None:
    """What is computed from stopped values alone is no source, as in TensorFlow, unless it is watched itself."""
    x = tm.constant(2.0)
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = tm.stop_gradient(x) * 2.0
        parts = np.split(np.stack([z, z]), 2)
        y = z * x + np.sum(parts[0])
        watched = tm.stop_gradient(x) * 3.0
        before = watched * watched
        tape.watch(watched)
        after = watched * watched
        mixed = z + x
        u = mixed * mixed

    assert [4.0, None, None] == tape.gradient(y, [x, z, parts[0]])
    assert "stop_gradient" == tape.explain(y, z).cause
    assert tape.jacobian(y, z) is None
    assert tape.gradient(before, watched) is None
    assert 12.0 == tape.gradient([before, after], watched)
    assert [12.0, 12.0, None] == tape.gradient(u, [x, mixed, z])


def test_recompute_of_random_numbers() -> None:
    """A gradient of other random numbers than those of the result would be wrong, so there is none."""
    rng = np.random.default_rng(0)
    x = tm.constant(np.ones(20))
    masked = tm.recompute_grad(lambda x: x * (rng.random(20) < 0.5))
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = masked(x)

    with pytest.raises(FunctionError, match="random numbers, such as those of dropout"):
        tape.gradient(y, x)
