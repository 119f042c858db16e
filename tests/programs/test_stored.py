"""What a traced function stores or leaves is what it is without tracing, wherever it is put."""

# The functions are those of users, as they come.
# ruff: noqa: PLW0603, PLW0108

from __future__ import annotations

import contextlib
import contextvars
import copy
import dataclasses
import functools
import itertools
import json
import pickle
import queue
import statistics
import types
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tensor.tensor import Traced
from tests.shares import ALL

pytestmark = pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning")

Pair = namedtuple("Pair", "first second")  # noqa: PYI024
Place = tuple[Callable[[], Any], Callable[[Any, Any], Any], Callable[[Any], Any]]


class Names(list[Any]):
    """A list of a class of its own, that hides what it holds."""

    def __iter__(self) -> Any:
        return iter("abc")

    def __getitem__(self, k: Any) -> Any:
        return "abc"[k]


@dataclasses.dataclass
class Data:
    """A dataclass."""

    kept: Any = None


@dataclasses.dataclass(slots=True)
class Slots(Data):
    """An object with a slot."""

    kept: Any = None


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    """A dataclass that cannot be changed."""

    kept: Any = None


def in_global(x: Any) -> None:
    """Store a value under a global name."""
    global stored
    stored = x


class Cell:
    """Functions around a variable."""

    def __init__(self) -> None:
        kept = None

        def put(x: Any) -> None:
            nonlocal kept
            kept = x

        self.put, self.get = put, lambda: kept


def with_default() -> Any:
    """A function that stores a value in a list that is a default."""

    def put(x: Any, kept: list[Any] = []) -> list[Any]:  # noqa: B006
        if x is not None:
            kept.append(x)
        return kept

    return put


def in_error(kept: list[Any], x: Any) -> None:
    """Store an error that is caught, with a value as one of its arguments."""
    try:
        raise KeyError(x, 1)
    except KeyError as error:
        kept.append(error)


class Remembered:
    """Results that a cache remembers."""

    def __init__(self, size: int | None = None) -> None:
        self.given: list[Any] = []
        self.cached = functools.lru_cache(size)(lambda k: self.given[k])

    def put(self, x: Any) -> None:
        """Store a value, and its result."""
        self.given.append(x)
        self.get()

    def get(self) -> Any:
        """The result of the last value."""
        return self.cached(len(self.given) - 1)


def appended(kept: Any, x: Any) -> None:
    """Append a value to whatever has such a method."""
    kept.append(x)


def assigned(kept: Any, x: Any) -> None:
    """Assign an attribute."""
    kept.kept = x


def last(kept: Any) -> Any:
    """The last of several."""
    return kept[-1]


# Something made anew for each test, how a value gets into it, and how it is read.
PLACES: dict[str, Place] = {
    "list": (list, appended, last),
    "list within": (lambda: {"a": {"b": []}}, lambda d, x: d["a"]["b"].append(x), lambda d: d["a"]["b"][-1]),
    "list of a class": (Names, appended, lambda kept: [*list.__iter__(kept)][-1]),
    "dict": (dict, lambda kept, x: kept.update(loss=x), lambda kept: kept["loss"]),
    "defaultdict": (lambda: defaultdict(list), lambda d, x: d["loss"].append(x), lambda d: d["loss"][-1]),
    "tuple": (list, lambda kept, x: kept.append((len(kept), (x, x))), lambda kept: kept[-1][1][0]),
    "named tuple": (list, lambda kept, x: kept.append(Pair(x, 1)), lambda kept: kept[-1].first),
    "deque": (lambda: deque(maxlen=2), appended, last),
    "queue": (queue.Queue, lambda kept, x: kept.put(x), lambda kept: kept.get_nowait()),
    "simple queue": (queue.SimpleQueue, lambda kept, x: kept.put(x), lambda kept: kept.get_nowait()),
    "attribute": (types.SimpleNamespace, assigned, lambda kept: kept.kept),
    "attribute by setattr": (Data, lambda kept, x: setattr(kept, "kept", x), lambda kept: kept.kept),
    "slot": (Slots, assigned, lambda kept: kept.kept),
    "class": (lambda: type("Kind", (Data,), {}), assigned, lambda kind: [kind.kept for _ in range(50)][-1]),
    "dataclass": (Data, assigned, lambda kept: kept.kept),
    "frozen dataclass": (list, lambda kept, x: kept.append(Frozen(x)), lambda kept: kept[-1].kept),
    "cell": (Cell, lambda kept, x: kept.put(x), lambda kept: kept.get()),
    "global name": (
        lambda: types.FunctionType(in_global.__code__, {}),  # its own names: gc.freeze hides those of test modules
        lambda put, x: put(x), lambda put: put.__globals__["stored"],
    ),
    "module": (lambda: types.ModuleType("module"), assigned, lambda kept: kept.kept),
    "default": (with_default, lambda put, x: put(x), lambda put: put(None)[-1]),
    "lambda": (list, lambda kept, x: kept.append(lambda: x), lambda kept: kept[-1]()),
    "context": (lambda: contextvars.ContextVar("kept"), lambda v, x: v.set((x,)), lambda v: v.get()[0]),
    "error": (list, in_error, lambda kept: kept[-1].args[0]),
    "cache": (Remembered, lambda kept, x: kept.put(x), lambda kept: kept.get()),
    "limited cache": (lambda: Remembered(8), lambda kept, x: kept.put(x), lambda kept: kept.get()),
}  # fmt: skip


def gradient(x: Any) -> Any:
    """A gradient."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x**3)
    return tape.gradient(y, x)


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "number": lambda x, _: np.mean(x**2).numpy(),
    "array": lambda x, _: (x * 2).numpy(),
    "tensor": lambda x, _: x * 2,
    "gradient": lambda x, _: gradient(x),
    "value": lambda x, _: (x * 2)._value,
    "argument": lambda x, _: x,
    "array that is an argument": lambda _, a: a,
    "number of an array": lambda _, a: np.max(a),
}
STORED = [
    (place, kind)
    for k, place in enumerate(PLACES)
    for j, kind in enumerate(KINDS)
    if ALL or (k + j) % 3 == 0
]


@pytest.mark.parametrize(("place", "kind"), STORED)
def test_what_is_stored(place: str, kind: str) -> None:
    """It has the classes and numbers as without tracing, at each call; an argument is the same object."""
    make, put, get = PLACES[place]
    kept, kept_eagerly, value = make(), make(), KINDS[kind]

    @tm.function
    def f(x: Any, a: Any) -> Any:
        put(kept, value(x, a))
        return np.sum(x * a)

    for k in range(4):
        x, a = tm.constant([1.0 + k, 2.0]), np.array([3.0, 4.0 + k])
        assert float(f(x, a)) == float(np.sum(x * a))
        found = get(kept)
        put(kept_eagerly, value(x, a))
        expected = get(kept_eagerly)
        assert type(found) is type(expected)
        assert np.array_equal(expected, found)
        if isinstance(found, Traced):
            assert type(found._value) is type(expected._value)
        if type(found) is np.float64:
            assert json.dumps([found]) == json.dumps([expected])
        if kind.endswith("argument"):
            assert found is (x if kind == "argument" else a)


def doubled(x: Any) -> Iterator[Any]:
    """A generator with a variable of its own."""
    y = x
    while y.sum() < 100.0:
        yield y
        y = y * 2.0


def seen_by_another(x: Any) -> Iterator[Any]:
    """A generator with a variable that a function inside of it reads."""
    y = x * 2.0

    def further(k: float) -> Any:
        return y + k

    yield further(0.0)
    yield further(1.0)


def started(x: Any) -> Iterator[Any]:
    """A generator that waits in a loop over a tuple, which no name refers to."""
    for part in (x, x * 2.0):  # noqa: UP028
        yield part


def after_the_first(parts: Iterator[Any]) -> Iterator[Any]:
    """An iterator of which one value is taken."""
    next(parts)
    return parts


ITERATORS: dict[str, Callable[[Any], Any]] = {
    "generator": doubled,
    "generator that waits": lambda x: after_the_first(doubled(x)),
    "variable around a function": lambda x: after_the_first(seen_by_another(x)),
    "list": lambda x: iter([x, x * 2.0]),
    "tuple": lambda x: iter((x, x * 2.0)),
    "later in a tuple": lambda x: after_the_first(iter((x, x * 2.0))),
    "dict": lambda x: iter({"a": x, "b": x * 2.0}.values()),
    "reversed": lambda x: reversed((x, x * 2.0)),
    "expression": lambda x: (part + 1.0 for part in (x, x * 2.0)),
    "map": lambda x: map(np.square, (x, x * 2.0)),
    "filter": lambda x: filter(np.any, (x, x * 2.0)),
    "zip": lambda x: (a + b for a, b in zip((x, x), [x * 2.0, x], strict=True)),
    "nested": lambda x: map(np.add, iter((x, x * 2.0)), reversed((x, x * 3.0))),
    "enumerate": lambda x: (part for _, part in enumerate((x, x * 2.0))),
    "started": lambda x: after_the_first(started(x)),
    "cycle": lambda x: itertools.islice(itertools.cycle((x, x * 2.0)), 3),
}


@pytest.mark.parametrize("name", ITERATORS)
def test_iterators_that_are_stored_and_returned(name: str) -> None:
    """They give the values that they give without tracing; those that are returned hold plain arrays."""
    made = ITERATORS[name]
    kept: list[Any] = []
    stores, returns = tm.function(lambda x: kept.append(made(x))), tm.function(lambda x: made(x))
    for k in range(3):
        x = np.arange(1.0, 4.0) + k
        stores(x)
        assert np.array_equal([*made(x)], [*kept.pop()])
        found = [*returns(x)]
        assert np.array_equal([*made(x)], found)
        assert {type(part) for part in found} == {np.ndarray}


def test_the_losses_of_a_course() -> None:
    """A list of losses is one of numbers, for whatever asks about classes."""
    losses: list[Any] = []

    @tm.function
    def step(x: Any) -> Any:
        loss = np.mean(x**2)
        losses.append(loss.numpy())
        return loss

    for k in range(5):
        step(tm.constant([1.0 + k, 2.0]))
    assert {type(loss) for loss in losses} == {np.float64} == {type(max(losses))}
    assert json.loads(json.dumps(losses)) == [2.5, 4.0, 6.5, 10.0, 14.5]
    assert statistics.mean(losses) == 7.5


def test_lists_and_dicts_that_are_arguments() -> None:
    """What is put into them is as without tracing, and they stay the objects that are in them."""
    kept: list[Any] = []

    def f(a: Any, b: Any, x: Any) -> Any:
        a.append(x * 2)
        b["h"].append(x)
        kept.append((a, b["h"], b["pair"], b))
        return x * 3

    g = tm.function(f)
    for k in range(4):
        x, y = tm.constant([1.0 + k]), tm.constant([2.0])
        inner = [y]
        for a, b in (([], {"h": [], "pair": (1, 2)}), ([y, inner], {"h": [y], "pair": (x, y)})):
            pair, within = b["pair"], b["h"]
            g(a, b, x)
            assert type(a[-1]._value) is np.ndarray
            assert b["h"] is within
            assert within[-1] is x
            assert [id(each) for each in kept[-1]] == [*map(id, (a, within, pair, b))]
            assert a[:-1] == [] or (a[0] is y and a[1] is inner and inner[0] is y)


def test_sets() -> None:
    """Numbers in sets are numbers."""
    kept: set[Any] = set()
    frozen: list[Any] = []

    @tm.function
    def f(x: Any) -> Any:
        kept.add(np.mean(x).numpy())
        frozen.append(frozenset({x.numpy().sum(), 7.0}))
        return x * 2

    for k in range(4):
        f(tm.constant([1.0, k]))
        assert {type(each) for each in kept} == {np.float64}
        assert 0.5 + k / 2 in kept
        assert {type(each) for each in frozen[-1]} == {np.float64, float}


@pytest.mark.parametrize("caught", [True, False])
def test_errors(caught: bool) -> None:
    """The attributes of an error, and what was stored before it, are as without tracing."""
    kept: list[Any] = []

    def f(x: Any, given: list[Any]) -> Any:
        kept.append(np.sum(x).numpy())
        given.append(x)
        try:
            error: Any = ValueError(np.sum(x).numpy(), x, 2)
            error.doubled = x * 2
            raise error
        except ValueError as same:
            if not caught:
                raise
            kept.append(same)
        return x * 2

    g = tm.function(f)
    for k in range(4):
        x = tm.constant([1.0, k])
        given = [] if k % 2 else [tm.constant(0.0)]
        with contextlib.nullcontext() if caught else pytest.raises(ValueError, match="2") as raised:
            g(x, given)
        error: Any = kept[-1] if caught else raised.value  # type: ignore[union-attr]
        assert type(error.args[0]) is np.float64
        assert error.args[1] is x
        assert type(error.doubled._value) is np.ndarray
        assert {type(each) for each in kept if not isinstance(each, Exception)} == {np.float64}
        assert given[-1] is x


def test_tapes_that_live_on() -> None:
    """A tape of an earlier call gives gradients of plain numbers."""
    kept: list[Any] = []

    def recorded(x: Any) -> Any:
        with tm.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) * x[0])
        return tape, y

    f = tm.function(lambda x: kept.append(recorded(x)))
    for k in range(4):
        x = tm.constant([1.0 + k, 2.0])
        f(x)
        (tape, y), (same_tape, same_y) = kept[-1], recorded(x)
        found = tape.gradient(y, x)
        assert type(found._value) is np.ndarray
        assert np.array_equal(same_tape.gradient(same_y, x), found)


def test_what_cannot_be_replaced() -> None:
    """A value in an iterator into which nobody can look is shown, copied and pickled as the array is."""
    kept: list[Any] = []

    @tm.function
    def f(x: Any) -> Any:
        kept.append(itertools.islice((x.numpy(), x), 2))
        kept.append(itertools.islice((np.sum(x).numpy(),), 1))
        return x * 2

    for _ in range(3):
        f(tm.constant([1.0, 2.0]))
        (number,) = kept.pop()
        first, second = kept.pop()
        assert type(second._value) is type(first * 2) is np.ndarray
        assert (repr(first), repr(number)) == ("array([1., 2.])", "np.float64(3.0)")
        for made in (copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))):  # noqa: S301
            assert type(made(first)) is np.ndarray
            assert type(made(number)) is np.float64


def test_an_ordinary_trace_is_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stores nothing leaves nothing, of which the references to the trace tell."""
    monkeypatch.setattr("tapemagic.programs.tracing.call_tracing.put_values", None)
    v, data = tm.Variable([1.0, 2.0]), (np.ones(2), tm.constant([2.0, 3.0]))

    @tm.function
    def f(x: Any, parameters: Any) -> Any:
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(x * v * data[0] * data[1] * parameters["a"][0] * parameters["b"])
        v.assign_sub(tape.gradient(y, v))
        return {"y": y, "all": [tm.jacobian(np.sin)(x), y.numpy()]}

    for _ in range(4):
        f(tm.constant([1.0, 2.0]), {"a": (tm.constant(2.0), 1), "b": np.ones(2)})
