"""Functions under tm.function: arguments and results of every kind, ways at guards, errors, bad input."""

# The functions are those of users, as they come.
# ruff: noqa: ARG005, PLW0108, PT031, PYI024, SIM108

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import threading
import traceback
from collections import OrderedDict, namedtuple
from itertools import product
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic import tf
from tapemagic.errors import EagerWarning, FunctionError, OptionError
from tapemagic.programs.function import Function
from tapemagic.programs.tracing import trace

Point = namedtuple("Point", "a b")
x, y = tm.constant([1.0, 2.0, 3.0]), tm.constant([4.0, 5.0, 6.0])


def same(a: Any, b: Any) -> bool:
    """Whether two results have the same structure, classes and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, tm.Tensor):
        return same(a._value, b._value)
    if isinstance(a, (np.ndarray, np.generic)):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return repr(a) == repr(b) if isinstance(a, float) else bool(a is b or a == b)


def replays(f: Any, *calls: Any) -> Any:
    """Make a program of a function with the first arguments, and compare with others."""
    g = tm.function(f)
    for args in (calls[0], calls[0], *calls):
        assert same(f(*args), g(*args)), args
    assert 1 == len(g.programs), g.why_eager
    assert not g.why_eager
    return g


def slope(x: Any, y: Any) -> Any:
    """The derivative of a product by both factors."""
    with tm.GradientTape() as tape:
        tape.watch([x, y])
        z = x * y
    return tape.gradient(z, [x, y])


@pytest.mark.parametrize(
    "result",
    [
        lambda x, y: (x + y, [x - y, {"b": x * y, "a": None}]),
        lambda x, y: Point(x + y, x),
        lambda x, y: [x, y, x],
        lambda x, y: {"k": np.sum(x), 1: 5, "s": "text"},
        lambda x, y: (),
        lambda x, y: None,
        lambda x, y: (x > y, np.argmax(x), 1.5, np.float32(2.0)),
        lambda x, y: ([], {}, (x * y,)),
        lambda x, y: np.ones(3),
        lambda x, y: x[0],
        lambda x, y: tm.constant(3.0),
    ],
)
def test_results(result: Any) -> None:
    """They have the structure and the classes that the function gives."""
    replays(result, (x, y), (y, x))


def test_a_result_that_is_an_argument_is_that_argument() -> None:
    """And a constant array is a fresh one each time."""
    g = replays(lambda x, a: (x, a, np.ones(3)), (x, np.arange(3.0)))
    a = np.zeros(3)

    found = g(y, a)

    assert found[0] is y
    assert found[1] is a
    found[2][0] = 9.0
    assert 1.0 == g(y, a)[2][0]


@pytest.mark.parametrize(
    ("f", "calls"),
    [
        (lambda a: a * 2 + np.sin(a), [(np.arange(3.0),), (np.ones(3),)]),
        (lambda a: a * 2, [(np.float32(2.0),), (np.float32(3.0),)]),
        (lambda p: p["x"] * p["y"][0], [({"y": [x], "x": y},), ({"y": [y], "x": x},)]),
        (lambda p: p.a + p.b, [(Point(x, 2.0),), (Point(y, 2.0),)]),
        (lambda p: p["x"] * 2, [(OrderedDict(x=x),), (OrderedDict(x=y),)]),
        (lambda *p, **k: p[0] * p[1][0], [(x, (y,)), (y, (y,))]),
        (lambda m: m @ m.T, [(tm.constant(np.eye(3)),), (tm.constant(np.ones((3, 3))),)]),
        (lambda x, s: x * len(s), [(x, "abc"), (y, "abc")]),
        (lambda z: z * z, [(tm.constant(1 + 2j),), (tm.constant(np.complex128(complex("nan"))),)]),
        (lambda e: np.sum(e), [(tm.constant(np.zeros((0, 3))),)]),
        (lambda n: n // 2, [(np.arange(4),), (np.arange(4) * 3,)]),
    ],
)
def test_arguments(f: Any, calls: Any) -> None:
    """Tensors, arrays and NumPy scalars are given at each call."""
    replays(f, *calls)


def test_keyword_arguments() -> None:
    """Given by name or by place, they lead to the same results."""
    f = tm.function(lambda x, y=None, k=2: x * k + (0 if y is None else y))

    for _ in range(3):
        assert same(f.python_function(x, y=y), f(x, y=y))
        assert same(f.python_function(x, y), f(x, y))
        assert same(f.python_function(x, k=3), f(x, k=3))
        assert same(f.python_function(x), f(x))
    assert 4 == len(f.programs)


def test_another_kind_of_argument_is_another_program() -> None:
    """Shape, dtype, class and layout belong to the signature, and the value of a Python number."""
    f = tm.function(lambda a: a * 2 + 1, max_programs=20)
    given = [1, 1.0, True, 0.0, -0.0, float("nan"), np.ones(2), np.ones(3), np.ones(3, "f")]
    given += [
        np.float64(1),
        tm.constant(1.0),
        tm.constant([1.0]),
        np.ones((2, 3)),
        np.ones((3, 2)).T,
    ]

    for _ in range(3):
        for a in given:
            assert same(f.python_function(a), f(a)), a
    assert len(given) == len(f.programs)


def test_another_layout_in_memory_is_another_program() -> None:
    """The order of sums depends on it."""

    def f(a: Any) -> Any:
        a = np.sin(a)
        a += np.ones(a.shape) / 3
        return np.sum(a), np.sum(a, axis=0)

    a = np.linspace(-3, 3, 411 * 74).reshape(411, 74)
    half = a[:, :37]
    g = tm.function(f)
    for x in (half.copy(), np.asfortranarray(half), half, a[:, ::2], a[:, 37:]):
        for _ in range(3):
            assert same(f(x), g(x))
    assert 4 == len(g.programs)


def test_the_same_tensor_twice() -> None:
    """Aliases have a program of their own, since a tape adds up both gradients."""
    f = tm.function(slope)
    for _ in range(3):
        for args in ((x, y), (x, x), (y, x)):
            assert same(slope(*args), f(*args))
    z = tm.constant([7.0, 8.0, 9.0])
    assert same(slope(z, z), f(z, z))
    assert 2 == len(f.programs)


def test_an_argument_that_is_also_closed_over() -> None:
    """A tape that watches it sees both."""

    def f(a: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(a)
            z = a * x
        return tape.gradient(z, a)

    g = tm.function(f)
    for _ in range(3):
        for a in (x, y):
            assert same(f(a), g(a))
    assert 2 == len(g.programs)


def test_variables_as_arguments() -> None:
    """They are assigned through the argument, and one given twice is another program."""

    def step(v: Any, w: Any) -> Any:
        v.assign_add(w * 2)
        w.assign(v * 3)
        return v + w

    f = tm.function(step)
    for _ in range(3):
        for count in (1, 2):
            mine = [tm.Variable([1.0, 2.0]), tm.Variable([3.0, 4.0])][:count] * (3 - count)
            other = [tm.Variable([1.0, 2.0]), tm.Variable([3.0, 4.0])][:count] * (3 - count)
            assert same(step(*mine), f(*other))
            assert np.array_equal(mine[0].numpy(), other[0].numpy())
            assert np.array_equal(mine[1].numpy(), other[1].numpy())
    assert 2 == len(f.programs)


def test_tensorflow_classes() -> None:
    """A function of TensorFlow's tensors gives such."""
    v = tf.Variable(2.0)

    def f(a: Any) -> Any:
        with tf.GradientTape() as tape:
            z = v * tf.sin(a)
        return tape.gradient(z, v), z, tf.reduce_sum(a)

    g = replays(f, (tf.constant([1.0, 2.0]),), (tf.constant([3.0, 4.0]),))
    assert type(g(tf.constant([1.0, 2.0]))[1]) is type(tf.constant(1.0))


def test_if_and_while() -> None:
    """There is a program for each way, and each gives the right result."""

    def f(x: Any) -> Any:
        if np.sum(x) > 0:
            x = x * 2
        else:
            x = -x
        while np.max(x) < 10:
            x = x * 3
        return x

    g = tm.function(f, max_programs=20)
    for _ in range(2):
        for k in (-0.5, 0.1, 1.0, 3.0, 20.0, -40.0):
            for _ in range(3):
                assert same(f(x * k), g(x * k)), k
    assert not g.why_eager
    assert 4 <= len(g.programs) <= 8


def test_a_way_that_is_no_program() -> None:
    """It stays eager; the others are programs."""

    def f(x: Any) -> Any:
        if x[0] > 0:
            return x * 2
        return x * float(x[1])

    g = tm.function(f)
    for _ in range(4):
        assert same(f(x), g(x))
    with pytest.warns(EagerWarning, match=r"float\(\)"):
        for _ in range(4):
            assert same(f(-x), g(-x))
    assert same(f(x), g(x))
    assert 1 == len(g.programs)


def test_too_many_kinds_of_calls() -> None:
    """Above max_programs, one warning says what to do."""
    f = tm.function(lambda x, k: x * k, max_programs=3)

    with pytest.warns(EagerWarning, match="pass changing numbers as arrays") as warned:
        for k in range(10):
            for _ in range(2):
                assert same(x * k, f(x, k))

    assert 1 == len(warned)
    assert __file__ == warned[0].filename
    assert 3 == len(f.programs)
    assert 3 == len(f._programs._signatures)


@pytest.mark.parametrize(
    ("f", "how"),
    [
        (lambda x: x * float(x[0]), "float()"),
        (lambda x: x * np.asarray(x), "np.asarray"),
        (lambda x: x[x > 1], "x["),
        (lambda x: x * x[0].item(), "item"),
        (lambda x: x * len(str(x)), "str"),
        (lambda x: {x.shape[0]: x * 2, (1, 2): [set()]}, "set"),
        (lambda x: iter([x]), "iterator"),
    ],
)
def test_exits(f: Any, how: str) -> None:
    """A value that leaves the program keeps the function eager; the reason names the line."""
    g = tm.function(f)

    with pytest.warns(EagerWarning) as warned:
        for k in range(1, 5):
            mine, eager = g(x * k), f(x * k)
            assert type(mine) is type(eager)

    assert 1 == len(warned)
    assert how in g.why_eager
    assert "of test_function.py" in g.why_eager
    with pytest.raises(FunctionError, match="no program"):
        g.source(x)


def test_an_error_half_way_assigns_nothing() -> None:
    """Traced or replayed; and its traceback shows the user's line."""
    v = tm.Variable([1.0, 2.0, 3.0])

    def f(x: Any, m: Any) -> Any:
        v.assign_add(x)
        return np.linalg.inv(m) @ v  # the line

    good, bad = tm.constant(np.eye(3)), tm.constant(np.zeros((3, 3)))
    for calls in (0, 1, 3):
        g = tm.function(f)
        for _ in range(calls):
            g(x, good)
        v.assign([1.0, 2.0, 3.0])
        with pytest.raises(np.linalg.LinAlgError) as caught:
            g(x, bad)
        assert np.array_equal([1.0, 2.0, 3.0], v.numpy())
        shown = traceback.extract_tb(caught.value.__traceback__)
        assert any("# the line" in (entry.line or "") for entry in shown)
    assert type(v._value) is np.ndarray


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_trace(error: Any) -> None:
    """Everything is put back."""
    v, box = tm.Variable(1.0), {"a": np.ones(3), "t": x}
    stops = [True]

    def f(a: Any) -> Any:
        v.assign(5.0)
        z = box["a"] * v * a * box["t"]
        if stops[0]:
            raise error
        return z

    g = tm.function(f)
    for _ in range(2):
        with pytest.raises(error):
            g(x)
        assert 1.0 == float(v)
        assert type(box["a"]) is np.ndarray
        assert box["t"] is x
    stops[0] = False
    for _ in range(3):
        assert same(x * 5.0 * x, g(x))
        assert type(v._value) is np.float64


def test_recursion() -> None:
    """A recursive function is one program; one without end raises as it does without tm.function."""
    v = tm.Variable(1.0)

    @tm.function
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    @tm.function
    def endless(x: Any) -> Any:
        v.assign_add(1.0)
        return endless(x)

    for _ in range(3):
        assert same(x * (x * x), power(x, 3))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)  # less to do than a thousand
    try:
        with pytest.raises(RecursionError):
            endless(x)
    finally:
        sys.setrecursionlimit(limit)
    assert 1.0 == float(v)


def test_gradients_clipped_by_the_norm_of_all_are_part_of_a_program() -> None:
    """The unit in which their squares do not overflow is computed for each call, too."""
    w, b = tm.Variable([1.0, 2.0]), tm.Variable(np.float32(1.0))

    def step(x: Any) -> Any:
        with tm.GradientTape() as tape:
            loss = np.sum((x * w + b) ** 2)
        return tm.clip_by_global_norm(tape.gradient(loss, [w, b]), 0.1)

    f = tm.function(step)
    for scale in (1.0, -3.0, 1e-3, 1e170, 0.0, np.inf):
        with np.errstate(all="ignore"):
            found, wanted = (g(scale * np.array([1.0, 2.0])) for g in (f, step))
        for y, z in zip([*found[0], found[1]], [*wanted[0], wanted[1]], strict=True):
            assert y.dtype == z.dtype
            assert y.numpy().tobytes() == z.numpy().tobytes()
    assert len(f.programs) == 1, f.why_eager


def test_under_a_live_tape_and_inside_another_function() -> None:
    """The tape records it; a function inside of another is a part of that program."""
    square = tm.function(lambda x: x * x)
    outer = tm.function(lambda x: square(x) * 2)
    for _ in range(3):
        assert same(x * x * 2, outer(x))
        assert same(x * x, square(x))
        with tm.GradientTape() as tape:
            tape.watch(x)
            z = square(x)
        assert same(x * 2.0, tape.gradient(z, x))
    assert 1 == len(outer.programs)


def test_more_than_the_largest_number_of_operations(monkeypatch: Any) -> None:
    """It stays eager."""
    monkeypatch.setattr(trace, "MAX_NODES", 200)

    def f(x: Any) -> Any:
        for _ in range(210):
            x = x + 1.0
        return x

    g = tm.function(f)
    with pytest.warns(EagerWarning, match="more than 200 operations"):
        assert same(f(x), g(x))


def test_threads() -> None:
    """Many threads that trace and replay at once give the right results, and see no symbols."""
    v = tm.Variable(2.0)
    f = tm.function(slope, max_programs=50)
    g = tm.function(lambda x: x * v)
    failed: list[Any] = []
    sizes = range(1, 9)
    start = threading.Barrier(8)

    def work(n: int) -> None:
        try:
            start.wait()
            for k in range(30):
                a, b = tm.constant(np.full(n, float(k))), tm.constant(np.ones(n))
                assert same(slope(a, b), f(a, b))
                assert same(a * 2.0, g(a))
                assert 2.0 == float(v)
                assert np.array_equal(2.0 * np.ones(n), (v * b).numpy())
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in sizes]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert [] == failed
    assert len(sizes) == len(f.programs)
    assert not f.why_eager
    assert type(v._value) is np.float64


def test_an_assignment_of_another_thread_while_it_traces_is_not_lost() -> None:
    """The trace puts back only what it put there."""
    v, w = tm.Variable(1.0), tm.Variable(1.0)
    inside: list[Any] = []
    done: list[Any] = []

    def other() -> None:
        while not inside:
            pass
        w.assign_add(10.0)
        done.append(1)

    thread = threading.Thread(target=other)

    def f(x: Any) -> Any:
        inside.append(1)
        while not done:
            pass
        return x * v

    thread.start()
    tm.function(f)(x)
    thread.join()

    assert 11.0 == float(w)
    assert type(w._value) is np.float64


def test_a_changed_argument_is_changed() -> None:
    """A list that the function appends to gets its values at each call."""

    def f(found: Any, x: Any) -> Any:
        found.append(x * 2)
        return x

    g, mine = tm.function(f), [x]
    with pytest.warns(EagerWarning, match="change"):
        for _ in range(3):
            g(mine, x)

    assert 4 == len(mine)
    assert mine[0] is x
    assert all(type(each._value) is np.ndarray for each in mine)


def test_an_argument_that_is_written_into() -> None:
    """The caller's own array is changed at each call."""

    def f(a: Any) -> Any:
        a += 1.0
        return a

    g, a = tm.function(f), np.zeros(3)
    with pytest.warns(EagerWarning):
        for _ in range(4):
            assert g(a) is a

    assert np.array_equal([4.0, 4.0, 4.0], a)


@pytest.mark.parametrize(
    ("argument", "what"),
    [
        ((k for k in [1.0]), "a generator"),
        (iter([1.0]), "a list_iterator"),
        (sys.stdout, "a"),
        (np.array(["a"]), "an array of <U1"),
        (np.ma.masked_array([1.0]), "class MaskedArray"),
    ],
)
def test_odd_arguments(argument: Any, what: str) -> None:
    """They stay eager, and the reason says what they are."""
    g = tm.function(lambda x, odd: x * 2)

    with pytest.warns(EagerWarning, match=what):
        for _ in range(3):
            assert same(x * 2, g(x, argument))


def test_an_object_as_argument() -> None:
    """It is known by its identity, and its attributes are watched."""

    class Model:
        def __init__(self) -> None:
            self.w = tm.Variable(2.0)
            self.k = 3.0

    def f(model: Any, x: Any) -> Any:
        model.w.assign_add(1.0)
        return model.w * model.k * x

    g = tm.function(f)
    models = [Model(), Model()]
    twins = [Model(), Model()]
    for k in range(3):
        for mine, twin in zip(models, twins, strict=True):
            assert same(f(twin, x), g(mine, x))
            mine.k = twin.k = 3.0 + (k > 1)
    for mine, twin in zip(models, twins, strict=True):
        assert same(f(twin, x), g(mine, x))


@pytest.mark.parametrize("bad", [0, -1, 2.0, "8", True, None])
def test_bad_max_programs(bad: Any) -> None:
    """It is a whole number from 1 on."""
    with pytest.raises(OptionError, match="write max_programs=8"):
        tm.function(lambda x: x, max_programs=bad)


def test_what_is_no_function() -> None:
    """Generators, coroutines, classes and values are refused."""

    def generator() -> Any:
        yield 1

    async def asynchronous() -> None:
        pass

    async def both() -> Any:
        yield 1

    for bad in (generator, asynchronous, both):
        with pytest.raises(FunctionError, match="takes no function that is"):
            tm.function(bad)
    for bad in (3, "f", int, staticmethod(slope), classmethod(slope)):
        with pytest.raises(OptionError, match="takes a function, not"):
            tm.function(bad)


@tm.function
def decorated(x: Any) -> Any:
    """Twice a number."""
    return x * 2


def test_decorators_and_attributes() -> None:
    """With and without arguments; names and documentation are the function's."""
    assert "decorated" == decorated.__name__
    assert "Twice a number." == decorated.__doc__
    assert isinstance(tm.function(max_programs=3)(slope), Function)
    assert slope is tm.function(slope).python_function
    assert slope is tm.function(tm.function(slope)).python_function
    f = tm.function(slope)
    with pytest.raises(FunctionError, match="call it twice"):
        f.source(x, y)
    assert repr(f) == "<tapemagic.function slope: 0 programs>"
    for _ in range(3):
        f(x, y)
    assert "1 program>" in repr(f)
    assert "def slope(x, y)" in f.source()
    assert f.source(x, y) == f.source()
    f.reset()
    assert [] == f.programs


def test_copies_and_pickles() -> None:
    """They have no programs; a function of a module is found by its name."""
    decorated(x)
    decorated(x)

    assert pickle.loads(pickle.dumps(decorated)) is decorated  # noqa: S301
    for made in (copy.copy(decorated), copy.deepcopy(decorated)):
        assert [] == made.programs
        assert same(x * 2, made(x))
    part = tm.function(np.sin)
    assert same(np.sin(x), pickle.loads(pickle.dumps(part))(x))  # noqa: S301


def test_class_and_static_methods() -> None:
    """Above tm.function, they are as usual."""

    class Some:
        k = 3.0

        @staticmethod
        @tm.function
        def plain(x: Any) -> Any:
            return x * 2

        @classmethod
        @tm.function
        def of_class(cls, x: Any) -> Any:
            return x * cls.k

    for _ in range(3):
        assert same(x * 2, Some.plain(x))
        assert same(x * 3.0, Some.of_class(x))
        assert same(x * 3.0, Some().of_class(x))
    Some.k = 4.0
    assert same(x * 4.0, Some.of_class(x))


def test_a_debugger() -> None:
    """A trace function of Python's does not disturb."""
    lines = []
    before = sys.gettrace()
    sys.settrace(lambda *event: lines.append(event[1]))
    try:
        g = tm.function(slope)
        found = [g(x, y) for _ in range(4)]
    finally:
        sys.settrace(before)

    assert all(same(slope(x, y), each) for each in found)
    assert lines


def test_endless_structures() -> None:
    """A list that contains itself stays eager."""
    endless: list[Any] = [x]
    endless.append(endless)

    with pytest.warns(EagerWarning, match="contains itself"):
        assert same(x, tm.function(lambda e: e[0])(endless))


def test_errors_that_np_errstate_asks_for_are_raised() -> None:
    """A result that nobody reads is computed, too."""

    def f(x: Any) -> Any:
        np.log(x - x)
        return x * 2

    g = tm.function(f)
    with np.errstate(divide="raise"):
        for _ in range(4):
            with pytest.raises(FloatingPointError, match="divide by zero"):
                g(tm.constant([1.0, 2.0]))
    with np.errstate(divide="raise"):
        h = tm.function(lambda x: (np.log(x), x * 2)[1])
        for _ in range(3):
            h(tm.constant([1.0, 2.0]))
        with pytest.raises(FloatingPointError, match="divide by zero"):
            h(tm.constant([0.0, 2.0]))
    assert h.programs


def test_comparisons_with_text_are_no_calls() -> None:
    """The order of a norm may be an array, which NumPy compares with the names of norms."""
    order = np.array(3)
    f = tm.function(lambda x: tm.grad(lambda y: np.sum(np.linalg.norm(y, ord=order, axis=0)))(x))
    x = tm.constant(np.arange(6.0).reshape(2, 3) + 1)
    for _ in range(3):
        assert same(f.python_function(x), f(x))
    assert f.programs


def stretched(a: Any) -> Any:
    """Two new arrays, and a view of the second."""
    b = np.sin(a)
    c = b * 1
    return b, c, c.T


@pytest.mark.parametrize(
    "f",
    [stretched, lambda a: (a / 1, a.T), lambda a: np.ravel(a[0]), lambda a: (a[:, 1].ravel(), a)],
)
def test_results_share_the_memory_that_they_share_without_a_program(f: Any) -> None:
    """The caller may write into any of them."""
    g = tm.function(f)

    def shared(call: Any) -> list[bool]:
        a = np.arange(8.0).reshape(2, 4)[:, ::2]
        found = call(a)
        arrays = [a, *(found if isinstance(found, tuple) else [found])]
        return [np.shares_memory(b, c) for b in arrays for c in arrays]

    for _ in range(3):
        assert shared(f) == shared(g)
    assert g.why_eager == ""


@pytest.mark.parametrize("operation", [np.multiply, np.divide])
@pytest.mark.parametrize("number", [1.0, -1.0, 2.0])
def test_an_array_of_one_number_has_its_say_in_the_order_of_a_result(
    operation: Any, number: float
) -> None:
    """The order in memory, on which the rounding of later sums depends, is that of both arguments."""

    def f(a: Any) -> Any:
        return operation(a, np.full((3, 4), number))

    g = tm.function(f)
    a = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    assert all(f(a).strides == g(a).strides for _ in range(3))


@pytest.mark.parametrize("choice", [np.fmax, np.fmin, np.maximum, np.minimum])
def test_the_signs_of_zeros_beside_an_array_of_one_number(choice: Any) -> None:
    """NumPy's loops over two arrays and over an array and a number take another one of two zeros."""
    for zero, n in product((0.0, -0.0), (1, 2, 3, 33)):
        f = lambda a, zero=zero: choice(a, np.full(a.shape, zero, np.float32))  # noqa: E731
        g = tm.function(f)
        for x in (1.0, 2.0, -0.0, 0.0):
            a = np.full(n, x, np.float32)
            assert same(f(a), g(a))


def test_powers_of_numbers_are_rounded_as_on_the_tape() -> None:
    """Traced, their derivatives are made of the same calls."""

    def f(a: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(a)
            b = np.power(a, a)
        return tape.gradient(b, a)

    g = tm.function(f)
    for k in range(100):
        a = tm.constant(1.7 + k / 100)
        assert same(f(a), g(a))


def test_a_program_that_cannot_be_written_leaves_the_function_eager(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call has its result, and the reason says that this is no fault of the user's."""

    def fails(*_: Any) -> Any:
        raise SyntaxError("invalid syntax")

    monkeypatch.setattr("tapemagic.programs.compiling.Driver", fails)
    g = tm.function(lambda x: x * x)
    with pytest.warns(EagerWarning, match="defect of tapemagic"):
        assert [9.0] * 4 == [float(g(tm.constant(3.0))) for _ in range(4)]
    assert "SyntaxError: invalid syntax" in g.why_eager
