"""Whether a function still reaches what it reached."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.programs.guards import Guards, first_change
from tests.programs import reach

rate = 2.0


def made() -> tuple[Any, SimpleNamespace]:
    """A function, and what it reaches."""
    k, items, weight, array = 1.0, [1.0, 2.0], tm.Variable(1.0), np.ones(3)

    def helper(x: Any) -> Any:
        return x * rate

    def f(x: Any) -> Any:
        return helper(x) * k * items[0] * weight * array * reach.rate * len(items)

    def change(value: Any) -> None:
        nonlocal k
        k = value

    return f, SimpleNamespace(items=items, weight=weight, helper=helper, change=change)


CHANGES: dict[str, Callable[[Any, Any], None]] = {
    "a variable around it": lambda _, s: s.change(3.0),
    "a list that grows": lambda _, s: s.items.append(3.0),
    "an element of a list": lambda _, s: s.items.__setitem__(1, 5.0),
    "an attribute of the function": lambda f, _: setattr(f, "cache", 1.0),
    "a default": lambda _, s: setattr(s.helper, "__defaults__", (1.0,)),
    "code": lambda _, s: setattr(s.helper, "__code__", (lambda x: x / rate).__code__),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(change: Callable[[Any, Any], None]) -> None:
    """What was found holds until something changes."""
    f, state = made()
    guards = Guards(f)

    assert first_change(guards, Guards(f), strictly=True) is None
    change(f, state)

    assert first_change(guards, Guards(f), strictly=True) is not None


@pytest.mark.parametrize("name", ["rate", "len"])
def test_a_global_name_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is assigned, and one that hides a built-in function."""
    f, _ = made()
    guards = Guards(f)

    assert first_change(guards, Guards(f), strictly=True) is None
    monkeypatch.setitem(globals(), name, 5.0)

    assert first_change(guards, Guards(f), strictly=True) is not None


def test_attributes_of_modules_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a module of the user's."""
    f, _ = made()
    guards = Guards(f)

    assert first_change(guards, Guards(f), strictly=True) is None
    monkeypatch.setattr(reach, "rate", 0.25)

    assert first_change(guards, Guards(f), strictly=True) is not None


def test_nothing_is_kept() -> None:
    """Guards that were forgotten know no arrays."""
    guards = Guards(made()[0])
    assert guards.objects
    guards.forget()

    assert not (guards.objects)
    assert not (guards.places)
    assert not (guards.codes)
