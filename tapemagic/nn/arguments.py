"""Checks of the arguments that layers are made with: each gives the value back, or says what to write."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import each
from tapemagic.errors import OptionError


def positive(value: Any, what: str) -> int:
    """A whole number from 1 on.

    Examples
    --------
    >>> positive(3, "units of Dense")
    3
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0:
        return int(value)
    near = f": write {what.split(maxsplit=1)[0]}={max(1, round(value))}" if _is_real(value) else ""
    raise OptionError(f"{what} has to be a positive whole number, not {value!r}{near}")


def share(value: Any, what: str) -> float:
    """A number from 0 on that is less than 1, such as the rate of dropout."""
    if _is_real(value) and 0 <= value < 1:
        return float(value)
    raise OptionError(f"{what} has to be a number from 0 on and less than 1, not {value!r}")


def number(value: Any, what: str, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """A finite number between two limits, as a float; also from a NumPy number, or an array without axes.

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
    if _is_real(plain) and minimum <= plain <= maximum:
        return float(plain)
    raise OptionError(f"{what} has to be {_range(minimum, maximum)}, not {value!r}")


def _range(minimum: float, maximum: float) -> str:
    if math.isinf(maximum):
        return "a finite number" if math.isinf(minimum) else f"a number from {minimum:g} on"
    return f"a number between {minimum:g} and {maximum:g}"


def choice(value: Any, what: str, names: Collection[str]) -> str:
    """One of several names, in small letters."""
    if isinstance(value, str) and value.lower() in names:
        return value.lower()
    raise OptionError(f"{what} has to be {' or '.join(map(repr, names))}, not {value!r}")


def lengths(value: Any, what: str, rank: int) -> tuple[int, ...]:
    """A positive whole number for each of `rank` axes, from one for each or one for all."""
    return each(value, rank, what)


def axis(value: Any, what: str) -> int:
    """A whole number, negative or not.

    Examples
    --------
    >>> axis(-1, "axis of Concatenate")
    -1
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise OptionError(f"{what} has to be a whole number, not {value!r}: write axis=-1")


def channels_last(data_format: Any, kind: str) -> None:
    """Refuse any layout but that with channels last."""
    if data_format not in {None, "channels_last"}:
        raise OptionError(
            f"{kind} takes images with channels last, not data_format={data_format!r}: leave it out, and move the "
            "axis with np.moveaxis(x, 1, -1)"
        )


def _is_real(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return real and math.isfinite(value)
    except OverflowError:  # a whole number too large for a float
        return False


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


def refuse_unknown(kind: str, unknown: Mapping[str, Any], names: tuple[str, ...]) -> None:
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
        near = get_close_matches(name, names, n=1)
        meant = _FORMER.get(name, near[0] if near else "")
        advice = f"write {meant}={value!r}" if meant in names else f"it takes {', '.join(names)}"
        raise OptionError(f"{kind} takes no {name!r}: {advice}")
