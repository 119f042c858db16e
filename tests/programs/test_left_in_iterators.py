"""Iterators and generators that a traced function leaves give the values that they give without tracing."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapemagic as tm

pytestmark = [
    pytest.mark.filterwarnings("ignore::tapemagic.errors.EagerWarning"),
    pytest.mark.usefixtures("nothing_is_frozen"),
]


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


MADE: dict[str, Callable[[Any], Any]] = {
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
}


def is_same(x: Any, y: Any) -> bool:
    """Whether two lists have the same arrays, and nothing that passes for one."""
    return all(type(part) is np.ndarray for part in y) and np.array_equal(x, y)


@pytest.mark.parametrize("name", MADE)
def test_iterators_that_are_stored(name: str) -> None:
    """The next values are the same, in whatever stands in for arrays there."""
    made = MADE[name]
    kept: list[Any] = []

    @tm.function
    def f(x: Any) -> Any:
        kept.append(made(x))
        return x

    for k in range(3):
        x = np.arange(1.0, 4.0) + k
        f(x)
        assert np.array_equal([*made(x)], [*kept.pop()])


@pytest.mark.parametrize("name", [*MADE, "started", "cycle"])
def test_iterators_that_are_returned(name: str) -> None:
    """Also those into which nobody can look: the call is made once more."""
    further = {
        "started": lambda x: after_the_first(started(x)),
        "cycle": lambda x: itertools.islice(itertools.cycle((x, x * 2.0)), 3),
    }
    made = MADE.get(name) or further[name]
    f = tm.function(lambda x: made(x))  # noqa: PLW0108
    for k in range(3):
        x = np.arange(1.0, 4.0) + k
        assert is_same([*made(x)], [*f(x)])
