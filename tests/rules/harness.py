"""How the cases of the rule table are written down, and where they are found."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from tapemagic import GradientTape

BROADCAST = (
    ((), ()), ((3,), (3,)), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((3,), (2, 3)), ((2, 1), (1, 3)),
    ((0,), (1,)),
)  # fmt: skip
"""Pairs of shapes that broadcast against each other."""

KINDS = ("CASES", "SPECIAL", "PLAIN", "REFUSED")


@dataclass(frozen=True, eq=False)
class Case:
    """A call that is smooth around its inputs, to be compared with difference quotients.

    `function` is its key in the table, `call` is called with the `inputs`: float64 or complex128.
    """

    function: Callable[..., Any]
    call: Callable[..., Any]
    inputs: tuple[Any, ...]
    label: str = ""


@dataclass(frozen=True, eq=False)
class Special:
    """A call at a special point, with the gradients of its sum written down (None: no gradient)."""

    function: Callable[..., Any]
    call: Callable[..., Any]
    inputs: tuple[Any, ...]
    expected: tuple[Any, ...]
    label: str = ""
    warns: bool = False


@dataclass(frozen=True, eq=False)
class Plain:
    """A call without derivative: NumPy's value, and nothing for a tape to follow."""

    function: Callable[..., Any]
    call: Callable[..., Any]
    inputs: tuple[Any, ...]
    label: str = ""


@dataclass(frozen=True, eq=False)
class Refused:
    """A call that has to raise `error`, with a message that `match` matches."""

    function: Callable[..., Any]
    call: Callable[..., Any]
    inputs: tuple[Any, ...]
    error: type[Exception]
    match: str
    label: str = ""


def case(function: Callable[..., Any], call: Callable[..., Any] | None = None, *inputs: Any, label: str = "") -> Case:
    """A `Case`; without `call`, the function itself is called."""
    return Case(function, call or function, inputs, label)


def special(
    function: Callable[..., Any],
    call: Callable[..., Any] | None,
    inputs: Any,
    expected: Any,
    label: str = "",
    warns: bool = False,
) -> Special:
    """A `Special`: `expected` has a gradient for each input; `warns` if NumPy warns there."""
    return Special(function, call or function, tuple(inputs), tuple(expected), label, warns)


def plain(function: Callable[..., Any], call: Callable[..., Any] | None = None, *inputs: Any, label: str = "") -> Plain:
    """A `Plain`; without `call`, the function itself is called."""
    return Plain(function, call or function, inputs, label)


def refused(
    function: Callable[..., Any],
    call: Callable[..., Any] | None,
    inputs: Any,
    error: type[Exception],
    match: str,
    label: str = "",
) -> Refused:
    """A `Refused`; without `call`, the function itself is called."""
    return Refused(function, call or function, tuple(inputs), error, match, label)


def normal(*shape: int, seed: int = 0) -> Any:
    """Normally distributed numbers, the same ones for the same seed and shape."""
    return np.random.default_rng(seed).normal(size=shape or None) * np.float64(1)


def positive(*shape: int, seed: int = 0) -> Any:
    """Numbers between 1/2 and 2."""
    return between(0.5, 2.0, *shape, seed=seed)


def between(low: float, high: float, *shape: int, seed: int = 0) -> Any:
    """Evenly distributed numbers between `low` and `high`."""
    return np.random.default_rng(seed).uniform(low, high, size=shape or None) * np.float64(1)


def complexes(*shape: int, seed: int = 0) -> Any:
    """Complex numbers with normally distributed parts."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 100)


def derivative(call: Callable[..., Any], order: int = 1) -> Callable[..., Any]:
    """The gradient of the sum of a function of one argument, as a function; or that of the gradient, and so on."""
    if order == 0:
        return call

    def gradient(x: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        return tape.gradient(y, x)

    return derivative(gradient, order - 1)


def quietly(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function without NumPy's warnings that a way to call it is deprecated."""

    def called(*arguments: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return call(*arguments)

    return called


def load() -> dict[str, Any]:
    """The modules ``cases_<word>.py`` by their words; where one fails to load, its exception."""
    found: dict[str, Any] = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        try:
            module = importlib.import_module(f"tests.rules.{path.stem}")
            entries = {kind: getattr(module, kind, []) for kind in KINDS}
            found[path.stem.removeprefix("cases_")] = SimpleNamespace(**entries)
        except Exception as error:  # noqa: BLE001 (a test of its own raises it)
            found[path.stem.removeprefix("cases_")] = error
    return found


def collect(kind: str) -> dict[str, Any]:
    """All entries of a kind, by names such as ``elementwise-multiply-broadcast``."""
    named: dict[str, Any] = {}
    for word, module in load().items():
        for entry in getattr(module, kind, []):
            label = f"-{entry.label}" if entry.label else ""
            name = base = f"{word}-{name_of(entry.function)}{label}"
            count = 1
            while name in named:
                count += 1
                name = f"{base}-{count}"
            named[name] = entry
    return named


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called in the names of tests."""
    return getattr(function, "__name__", str(function))


def module_of(function: Callable[..., Any]) -> str:
    """Where a function is from."""
    return getattr(function, "__module__", None) or "numpy"
