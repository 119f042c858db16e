"""The derivatives of a recording, order by order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tapemagic.analysis.observer import Observer
from tapemagic.engine.tensor import Tensor

Named = tuple[str, Any]


@dataclass(frozen=True)
class Derivative:
    """One entry of the table of gradients: a value, or the reason why there is none."""

    target: str
    source: str
    order: int
    shape: tuple[int, ...]
    text: str | None
    reason: str | None = None

    @property
    def symbol(self) -> str:
        """The derivative as it is written: d²y/dx²."""
        return symbol(self.target, self.source, self.order)


def symbol(target: str, source: str, order: int) -> str:
    """The derivative of a given order as it is written: d²y/dx²."""
    power = "" if order == 1 else "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    return f"d{power}{bracketed(target)}/d{bracketed(source)}{power}"


def mixed_symbol(target: str, first: str, second: str) -> str:
    """A second derivative with respect to two variables as it is written: d²y/dx dw."""
    return f"d²{bracketed(target)}/d{bracketed(first)} d{bracketed(second)}"


def bracketed(name: str) -> str:
    """A name as it is, any other expression in brackets."""
    return name if name.rstrip("₀₁₂₃₄₅₆₇₈₉").isidentifier() else f"({name})"


Key = tuple[int, int, int]
"""A derivative: the index of its target, that of its source, and its order."""


@dataclass
class Found:
    """Derivatives, and what went wrong where there are none."""

    gradients: dict[Key, Tensor | None] = field(default_factory=dict)
    problems: dict[Key, str] = field(default_factory=dict)


def differentiate(
    observer: Observer, targets: Sequence[Named], sources: Sequence[Named], order: int
) -> Found:
    """The derivatives of every order; those below the last are recorded on the observer."""
    found = Found()
    variables = [value for _, value in sources]
    for level in range(1, order + 1):
        with observer if level < order else nullcontext():
            for t, (_, target) in enumerate(targets):
                if level == 1:
                    ask(
                        observer,
                        found,
                        target,
                        variables,
                        [(t, s, 1) for s in range(len(variables))],
                    )
                    continue
                for s, x in enumerate(variables):
                    below = found.gradients[t, s, level - 1]
                    if below is None:
                        found.gradients[t, s, level] = None
                    else:
                        ask(observer, found, below, [x], [(t, s, level)])
    return found


def ask(
    observer: Observer, found: Found, target: Any, sources: Sequence[Any], keys: Sequence[Key]
) -> None:
    """Take gradients; a rule that fails is a reason for None, and does not hide what else was found."""
    try:
        gradients = observer.gradient(target, sources)
    except Exception as error:  # noqa: BLE001 -- a rule may call anything, and LinAlgError is no ValueError
        gradients = [None] * len(keys)
        found.problems.update((key, failure(error)) for key in keys)
    found.gradients.update(zip(keys, gradients, strict=True))


def failure(error: Exception) -> str:
    """An error as the reason for a None."""
    return f"computing it failed with {type(error).__name__}: {error}"
