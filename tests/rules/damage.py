"""Four ways to break a derivative rule, for tests of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tapemagic.engine.registry import Operation
from tapemagic.engine.tensor.tensor import unwrap

Rule = Callable[..., Any]


def scaled(rule: Rule) -> Rule:
    """Too large by a thousandth."""
    return lambda *args, **params: rule(*args, **params) * 1.001


def negated(rule: Rule) -> Rule:
    """Of the wrong sign."""
    return lambda *args, **params: -rule(*args, **params)


def zeroed(rule: Rule) -> Rule:
    """Nothing at all."""
    return lambda *args, **params: rule(*args, **params) * 0.0


def detached(rule: Rule) -> Rule:
    """The right value, but computed where no outer tape can see it."""
    return lambda *args, **params: unwrap(rule(*map(unwrap, args), **params))


DAMAGES = (scaled, negated, zeroed, detached)


@contextmanager
def damaged(operation: Operation, position: int, damage: Callable[[Rule], Rule]) -> Iterator[None]:
    """Meanwhile, the rule of an operation for one argument is broken."""
    rules, each = operation.rules, operation.each
    if each is not None:
        broken = damage(each)
        operation.each = lambda *args, **params: (broken if args[0] == position else each)(
            *args, **params
        )
    else:
        rule = rules[position]
        assert rule is not None
        operation.rules = (*rules[:position], damage(rule), *rules[position + 1 :])
    operation._unread.clear()
    try:
        yield
    finally:
        operation.rules, operation.each = rules, each
        operation._unread.clear()
