"""Checks of the numbers that optimizers and schedules are made with."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from tapemagic.errors import OptionError
from tapemagic.nn.arguments import number

_FORMER = {"lr": "learning_rate", "beta1": "beta_1", "beta2": "beta_2", "eps": "epsilon"}


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
    raise OptionError(f"{name} has to be a number above {least:g}, not {value!r}")


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
    raise OptionError(f"{name} has to be a whole number from {least} on, not {value!r}")


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
