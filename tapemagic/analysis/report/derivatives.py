"""The derivatives of a recording, order by order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from tapemagic.analysis.formatting import bare
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Tensor

Named = tuple[str, Any]

DIFFERENTIAL = re.compile(r"d+[^\W\d]?[\d₀-₉]*")


@dataclass(frozen=True)
class Derivative:
    """One entry of the table of gradients: a value, or the reason why there is none."""

    target: str
    source: str
    order: int
    shape: tuple[int, ...]
    text: str | None
    reason: str | None = None
    summed: str = ""
    """What it is the derivative of the sum of, if that is an array: the target, or the derivative before."""

    @property
    def symbol(self) -> str:
        """The derivative as it is written: d²y/dx²."""
        return symbol(self.target, self.source, self.order)

    @property
    def note(self) -> str:
        """What tells it from a full matrix of derivatives."""
        return f"the gradient of the sum of {self.summed}" if self.summed else ""


def summed(target: Named, source: Named, order: int) -> str:
    """What a derivative of an order is taken of the sum of; empty if that is one number."""
    if order > 1 and source[1].size != 1:
        return symbol(target[0], source[0], order - 1)
    return target[0] if target[1].size != 1 else ""


def symbol(target: str, source: str, order: int) -> str:
    """The derivative of a given order as it is written: d²y/dx²."""
    power = "" if order == 1 else "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(order))
    return f"d{power}{_operand(target)}/d{_operand(source)}{power}"


def mixed_symbol(target: str, first: str, second: str) -> str:
    """A second derivative with respect to two variables as it is written: d²y/dx dw."""
    return f"d²{_operand(target)}/d{_operand(first)} d{_operand(second)}"


def _operand(name: str) -> str:
    """What stands behind a d: in brackets if it would be taken for another derivative, as d, dy or dw1 would be."""
    return f"({name})" if DIFFERENTIAL.fullmatch(name) else bracketed(name)


def bracketed(name: str) -> str:
    """A name as it is, any other expression in brackets."""
    return name if bare(name).isidentifier() else f"({name})"


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


def ask(tape: Tape, found: Found, target: Any, sources: Sequence[Any], keys: Sequence[Key]) -> None:
    """Take gradients; a rule that fails is a reason for None, and does not hide what else was found."""
    try:
        gradients = tape.gradient(target, sources)
    except Exception as error:  # noqa: BLE001 -- a rule may call anything, and LinAlgError is no ValueError
        gradients = [None] * len(keys)
        found.problems.update((key, failure(error)) for key in keys)
    found.gradients.update(zip(keys, gradients, strict=True))


def failure(error: Exception) -> str:
    """An error as the reason for a None."""
    return f"computing it failed with {type(error).__name__}: {error}"
