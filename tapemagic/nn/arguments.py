"""Checks of options: each function returns the value, or raises an error that says what to write."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from tapemagic.engine.operations.windows import each
from tapemagic.errors import OptionError


def positive(value: Any, what: str) -> int:
    """Return a positive integer, or raise OptionError.

    Examples
    --------
    >>> positive(3, "units of Dense")
    3
    """
    # bool is a subclass of int in Python: Dense(True) would otherwise be a layer of one unit.
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0:
        return int(value)
    near = f": write {what.split(maxsplit=1)[0]}={max(1, round(value))}" if _is_real(value) else ""
    raise OptionError(f"{what} must be a positive integer, not {value!r}{near}")


def share(value: Any, what: str) -> float:
    """Return a share of at least 0 and less than 1, such as the rate of dropout, or raise OptionError."""
    if _is_real(value) and 0 <= value < 1:
        return float(value)
    raise OptionError(f"{what} must be at least 0 and less than 1, not {value!r}")


def number(value: Any, what: str, minimum: float = -math.inf, maximum: float = math.inf) -> float:
    """Return a finite number between two limits as a float, or raise OptionError.

    Examples
    --------
    >>> number(1, "momentum", 0, 1)
    1.0
    """
    # Only NumPy's own scalars are unpacked. A Tensor is refused: as a float it would no longer be tracked.
    plain = value.item() if isinstance(value, np.ndarray | np.generic) and not value.ndim else value
    if _is_real(plain) and minimum <= plain <= maximum:
        return float(plain)
    raise OptionError(f"{what} must be {_range(minimum, maximum)}, not {value!r}")


def _range(minimum: float, maximum: float) -> str:
    if math.isinf(maximum):
        return "a finite number" if math.isinf(minimum) else f"a number of at least {minimum:g}"
    return f"a number between {minimum:g} and {maximum:g}"


def choice(value: Any, what: str, names: Collection[str]) -> str:
    """Return one of several names in lower case, or raise OptionError."""
    if isinstance(value, str) and value.lower() in names:
        return value.lower()
    raise OptionError(f"{what} must be {' or '.join(map(repr, names))}, not {value!r}")


def lengths(value: Any, what: str, rank: int) -> tuple[int, ...]:
    """Return a positive integer for each of `rank` axes, from one for each axis or one for all."""
    return each(value, rank, what)


def axis(value: Any, what: str) -> int:
    """Return the number of an axis, which may be negative, or raise OptionError.

    Examples
    --------
    >>> axis(-1, "axis of Concatenate")
    -1
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    raise OptionError(f"{what} must be an integer, not {value!r}: write axis=-1")


def channels_last(data_format: Any, kind: str) -> None:
    """Raise OptionError for any layout except channels last."""
    if data_format not in {None, "channels_last"}:
        raise OptionError(
            f"{kind} takes images with channels last, not data_format={data_format!r}: omit it, and move the axis with "
            "np.moveaxis(x, 1, -1)"
        )


def _is_real(value: Any) -> bool:
    """Return True if `value` is a real number that a float can hold."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return real and math.isfinite(value)
    except OverflowError:  # an integer above 1.8e308, the largest float
        return False


_FORMER = {"lr": "learning_rate", "beta1": "beta_1", "beta2": "beta_2", "eps": "epsilon"}


def above_zero(value: Any, name: str) -> float:
    """Return a finite positive number as a float, or raise OptionError.

    Examples
    --------
    >>> above_zero(2, "clipnorm")
    2.0
    """
    if number(value, name) > 0:
        return float(value)
    raise OptionError(f"{name} must be a number above 0, not {value!r}")


def integer(value: Any, name: str, minimum: int) -> int:
    """Return an integer that isn't less than a limit, or raise OptionError.

    Examples
    --------
    >>> integer(3, "epochs", 0)
    3
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= minimum:
        return int(value)
    raise OptionError(
        f"{name} must be an integer of at least {minimum}, not {value!r}: write {max(minimum, 1)}"
    )


def refuse_unknown(kind: str, unknown: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Raise OptionError for the first keyword that a class doesn't take.

    Examples
    --------
    >>> refuse_unknown("SGD", {}, ("learning_rate",))
    """
    # Keras 2 and PyTorch spell some options differently ("lr", "eps"): get_close_matches would miss these.
    for name, value in unknown.items():
        near = get_close_matches(name, names, n=1)
        meant = _FORMER.get(name, near[0] if near else "")
        advice = f"write {meant}={value!r}" if meant in names else f"it takes {', '.join(names)}"
        raise OptionError(f"{kind} doesn't take {name!r}: {advice}")
