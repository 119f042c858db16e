"""Checks of the numbers that optimizers and schedules are made with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from tapemagic.errors import OptionError

_FORMER = {"lr": "learning_rate", "beta1": "beta_1", "beta2": "beta_2", "eps": "epsilon"}


def number(value: Any, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number between two limits, as a float.

    Raises
    ------
    OptionError
        If it is something else.

    Examples
    --------
    >>> number(1, "momentum", 0, 1)
    1.0
    """
    plain = value.item() if isinstance(value, np.ndarray | np.generic) and not value.ndim else value
    if isinstance(plain, int | float) and not isinstance(plain, bool):
        try:
            found = float(plain)
        except OverflowError:
            found = math.inf
        if math.isfinite(found) and least <= found <= most:
            return found
    raise OptionError(f"{name} is {_range(least, most)}, not {value!r}")


def above(value: Any, name: str, least: float = 0.0) -> float:
    """A finite number above a limit, as a float.

    Raises
    ------
    OptionError
        If it is something else.

    Examples
    --------
    >>> above(2, "clipnorm")
    2.0
    """
    if number(value, name) > least:
        return float(value)
    raise OptionError(f"{name} is a number above {least:g}, not {value!r}")


def count(value: Any, name: str, least: int) -> int:
    """A whole number that is not less than a limit.

    Raises
    ------
    OptionError
        If it is something else.

    Examples
    --------
    >>> count(3, "ema_overwrite_frequency", 1)
    3
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise OptionError(f"{name} is a whole number from {least} on, not {value!r}")


def refuse_unknown(kind: str, unknown: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise an error for keywords that a class does not take.

    Raises
    ------
    OptionError
        If there are any.

    Examples
    --------
    >>> refuse_unknown("SGD", {}, ("learning_rate",))
    """
    for name, value in unknown.items():
        near = get_close_matches(name, known, n=1)
        meant = _FORMER.get(name, near[0] if near else "")
        advice = f"write {meant}={value!r}" if meant in known else f"it takes {', '.join(known)}"
        raise OptionError(f"{kind} takes no {name!r}: {advice}")


def _range(least: float, most: float) -> str:
    if math.isinf(least) and math.isinf(most):
        return "a finite number"
    if math.isinf(most):
        return f"a number from {least:g} on"
    return f"a number between {least:g} and {most:g}"
