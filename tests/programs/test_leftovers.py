"""What a traced function stores is what it stores without tracing, wherever it puts it: no symbols are left."""

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
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.engine.tensor.tensor import Traced
from tests.shares import ALL

pytestmark = pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning")

Pair = namedtuple("Pair", "first second")  # noqa: PYI024

Put = Callable[[Any], Any]
Get = Callable[[], Any]


class Owner:
    """An object, or a class, with attributes."""


class Slots:
    """An object with a slot."""

    __slots__ = ("kept",)


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


@dataclasses.dataclass(slots=True, frozen=True)
class Frozen:
    """A dataclass that cannot be changed."""

    kept: Any = None


stored: Any = None


def put_in_global(x: Any) -> None:
    """Store a value under a global name."""
    global stored
    stored = x


def in_list() -> tuple[Put, Get]:
    """A list."""
    kept: list[Any] = []
    return lambda x: kept.append(x), lambda: kept[-1]


def in_list_within() -> tuple[Put, Get]:
    """A list in a dict."""
    kept: dict[str, Any] = {"a": {"b": []}}
    return lambda x: kept["a"]["b"].append(x), lambda: kept["a"]["b"][-1]


def in_list_of_a_class() -> tuple[Put, Get]:
    """A list of another class."""
    kept = Names()
    return lambda x: kept.append(x), lambda: [*list.__iter__(kept)][-1]


def in_dict() -> tuple[Put, Get]:
    """A dict."""
    kept: dict[str, Any] = {}
    return lambda x: kept.update(loss=x), lambda: kept["loss"]


def in_defaultdict() -> tuple[Put, Get]:
    """A list that a defaultdict has made."""
    kept: Any = defaultdict(list)
    return lambda x: kept["loss"].append(x), lambda: kept["loss"][-1]


def in_tuple() -> tuple[Put, Get]:
    """A tuple in a tuple."""
    kept: list[Any] = []
    return lambda x: kept.append((len(kept), (x, x))), lambda: kept[-1][1][0]


def in_named_tuple() -> tuple[Put, Get]:
    """A named tuple."""
    kept: list[Any] = []
    return lambda x: kept.append(Pair(x, 1)), lambda: kept[-1].first


def in_deque() -> tuple[Put, Get]:
    """A deque of limited length."""
    kept: deque[Any] = deque(maxlen=2)
    return lambda x: kept.append(x), lambda: kept[-1]


def in_queue() -> tuple[Put, Get]:
    """A queue."""
    kept: queue.Queue[Any] = queue.Queue()
    return lambda x: kept.put(x), kept.get_nowait


def in_simple_queue() -> tuple[Put, Get]:
    """A queue that is written in C."""
    kept: queue.SimpleQueue[Any] = queue.SimpleQueue()
    return lambda x: kept.put(x), kept.get_nowait


def in_attribute() -> tuple[Put, Get]:
    """An attribute of an object."""
    owner = Owner()
    return lambda x: setattr(owner, "kept", x), lambda: owner.kept  # type: ignore[attr-defined]


def in_slot() -> tuple[Put, Get]:
    """A slot."""
    owner = Slots()
    return lambda x: setattr(owner, "kept", x), lambda: owner.kept  # type: ignore[attr-defined]


def in_class() -> tuple[Put, Get]:
    """An attribute of a class, which is read again and again."""

    class Kind:
        kept: Any = None

    def get() -> Any:
        return [Kind().kept for _ in range(50)][-1]

    def put(x: Any) -> None:
        Kind.kept = x

    get()
    return put, get


def in_dataclass() -> tuple[Put, Get]:
    """A field of a dataclass."""
    owner = Data()
    return lambda x: setattr(owner, "kept", x), lambda: owner.kept


def in_frozen() -> tuple[Put, Get]:
    """A field of a new dataclass that is frozen, and has slots."""
    kept: list[Any] = []
    return lambda x: kept.append(Frozen(x)), lambda: kept[-1].kept


def in_cell() -> tuple[Put, Get]:
    """A variable of an enclosing function."""
    kept = None

    def put(x: Any) -> None:
        nonlocal kept
        kept = x

    return put, lambda: kept


def in_global() -> tuple[Put, Get]:
    """A global variable."""
    return put_in_global, lambda: stored


def in_module() -> tuple[Put, Get]:
    """An attribute of a module."""
    module: Any = types.ModuleType("module")

    def put(x: Any) -> None:
        module.stored = x

    return put, lambda: module.stored


def in_default() -> tuple[Put, Get]:
    """A list that is a default."""

    def put(x: Any, kept: list[Any] = []) -> list[Any]:  # noqa: B006
        if x is not None:
            kept.append(x)
        return kept

    return put, lambda: put(None)[-1]


def in_lambda() -> tuple[Put, Get]:
    """A variable that a function closes over."""
    kept: list[Any] = []
    return lambda x: kept.append(lambda: x), lambda: kept[-1]()


def in_context() -> tuple[Put, Get]:
    """A context variable."""
    kept: contextvars.ContextVar[Any] = contextvars.ContextVar("kept")
    return lambda x: kept.set((x,)), lambda: kept.get()[0]


def in_error() -> tuple[Put, Get]:
    """The arguments of an error that is caught and stored."""
    kept: list[Any] = []

    def put(x: Any) -> None:
        try:
            raise KeyError(x, 1)
        except KeyError as error:
            kept.append(error)

    return put, lambda: kept[-1].args[0]


def in_cache() -> tuple[Put, Get]:
    """A result that is remembered."""
    given: list[Any] = []
    cached = functools.lru_cache(None)(lambda k: given[k])

    def put(x: Any) -> None:
        given.append(x)
        cached(len(given) - 1)

    return put, lambda: cached(len(given) - 1)


PLACES = {
    made.__doc__.rstrip(".").lower(): made  # type: ignore[union-attr]
    for name, made in [*globals().items()]
    if name.startswith("in_")
}


def gradient(x: Any) -> Any:
    """A gradient."""
    with tm.GradientTape() as tape:
        tape.watch(x)
        y = np.sum(x**3)
    return tape.gradient(y, x)


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "number": lambda x, a: np.mean(x**2).numpy(),  # noqa: ARG005
    "array": lambda x, a: (x * 2).numpy(),  # noqa: ARG005
    "tensor": lambda x, a: x * 2,  # noqa: ARG005
    "gradient": lambda x, a: gradient(x),  # noqa: ARG005
    "value": lambda x, a: (x * 2)._value,  # noqa: ARG005
    "argument": lambda x, a: x,  # noqa: ARG005
    "array that is an argument": lambda x, a: a,  # noqa: ARG005
    "number of an array": lambda x, a: np.max(a),  # noqa: ARG005
}


def check(expected: Any, found: Any) -> None:
    """Compare what is stored with what is stored without tracing."""
    assert type(found) is type(expected)
    assert np.array_equal(expected, found)
    if isinstance(found, Traced):
        assert type(found._value) is type(expected._value)
    if type(found) is np.float64:
        assert json.dumps([found]) == json.dumps([expected])


STORED = [
    (place, kind)
    for k, place in enumerate(PLACES)
    for j, kind in enumerate(KINDS)
    if ALL or (k + j) % 3 == 0
]
"""Each search goes through all objects of the process, of which there are many while all tests run."""


@pytest.mark.parametrize(("place", "kind"), STORED)
def test_what_is_stored(place: str, kind: str, request: pytest.FixtureRequest) -> None:
    """It has the classes and numbers as without tracing, at each call; an argument is the same object."""
    if PLACES[place] is in_error and kind != "array":
        request.getfixturevalue("nothing_is_frozen")
    (put, get), (eager_put, eager_get) = PLACES[place](), PLACES[place]()
    value = KINDS[kind]

    @tm.function
    def f(x: Any, a: Any) -> Any:
        put(value(x, a))
        return np.sum(x * a)

    for k in range(4):
        x, a = tm.constant([1.0 + k, 2.0]), np.array([3.0, 4.0 + k])
        assert float(f(x, a)) == float(np.sum(x * a))
        found = get()
        eager_put(value(x, a))
        check(eager_get(), found)
        if kind.endswith("argument"):
            assert found is (x if kind == "argument" else a)


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
    assert {type(loss) for loss in losses} == {np.float64}
    assert json.loads(json.dumps(losses)) == [2.5, 4.0, 6.5, 10.0, 14.5]
    assert statistics.mean(losses) == 7.5
    assert type(max(losses)) is np.float64


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
    """Tensors in sets are the same objects."""
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


@pytest.mark.usefixtures("nothing_is_frozen")
@pytest.mark.parametrize("caught", [True, False])
def test_errors(caught: bool) -> None:
    """The attributes of an error, and what was stored before it, are as without tracing."""
    kept: list[Any] = []
    given: list[Any] = []

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


def test_many() -> None:
    """As many values as are better searched for together."""
    kept: list[Any] = []

    @tm.function
    def f(x: Any) -> Any:
        for k in range(300):
            kept.append(np.sum(x * k).numpy())
            kept.append((x * k,))
        return x * 2

    for _ in range(3):
        f(tm.constant([1.0, 2.0]))
    assert {type(each) for each in kept[::2]} == {np.float64}
    assert {type(each._value) for (each,) in kept[1::2]} == {np.ndarray}


def test_tapes_that_live_on() -> None:
    """A tape of an earlier call gives gradients of plain numbers."""
    kept: list[Any] = []

    @tm.function
    def f(x: Any) -> Any:
        with tm.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) * x[0])
        kept.append((tape, y))
        return y

    for k in range(4):
        x = tm.constant([1.0 + k, 2.0])
        f(x)
        tape, y = kept[-1]
        found = tape.gradient(y, x)
        assert type(found._value) is np.ndarray
        with tm.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) * x[0])
        assert np.array_equal(tape.gradient(y, x), found)


def test_results_that_are_remembered() -> None:
    """A cache of limited size gives plain values, too."""
    given: list[Any] = []

    @functools.lru_cache(maxsize=8)
    def cached(k: int) -> Any:
        return given[k]

    @tm.function
    def f(x: Any) -> Any:
        given.append(np.sum(x).numpy())
        cached(len(given) - 1)
        return x * 2

    for k in range(4):
        f(tm.constant([1.0, 2.0]))
        assert type(cached(k)) is np.float64


def loaded(x: Any) -> Any:
    """What a pickle of something gives."""
    return pickle.loads(pickle.dumps(x))  # noqa: S301 (made just now)


@pytest.mark.usefixtures("nothing_is_frozen")
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
        assert repr(first) == "array([1., 2.])"
        for copied in (copy.deepcopy(first), copy.copy(first), loaded(first)):
            assert type(copied) is np.ndarray
        for copied in (
            copy.deepcopy(number),
            copy.copy(number),
            loaded(number),
        ):
            assert type(copied) is np.float64
        assert repr(number) == "np.float64(3.0)"


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
