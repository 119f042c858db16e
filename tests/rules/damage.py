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
    rules, joint = operation.rules, operation.joint_rule
    if joint is not None:
        operation.joint_rule = _with_one_broken(joint, operation.rule_for(position), position, damage)
    else:
        rule = rules[position]
        assert rule is not None
        operation.rules = (*rules[:position], damage(rule), *rules[position + 1 :])
    operation._unread.clear()
    try:
        yield
    finally:
        operation.rules, operation.joint_rule = rules, joint
        operation._unread.clear()


def _with_one_broken(joint: Rule, alone: Any, position: int, damage: Callable[[Rule], Rule]) -> Rule:
    """A rule for all arguments that is broken for the one at `position`."""
    broken = damage(alone)

    def rule(argnums: Any, *args: Any, **params: Any) -> list[Any]:
        found = list(joint(argnums, *args, **params))
        if position in argnums:
            found[list(argnums).index(position)] = broken(*args, **params)
        return found

    return rule
