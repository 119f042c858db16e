"""What tensors refuse: objects and text, and to be written into."""

from __future__ import annotations

import sys
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from tapemagic.engine.registry import Function, Operation
from tapemagic.engine.tensor.coercion import NUMBERS, shown
from tapemagic.engine.tensor.conversions import refuse_within_numpy
from tapemagic.errors import ImmutableError, NotNumbersError, TapeError

PUBLIC = {
    "numpy": "np",
    "numpy.linalg": "np.linalg",
    "numpy.fft": "np.fft",
    "numpy.lib.scimath": "np.emath",
    "scipy.special": "scipy.special",
}
"""Modules whose functions do not say themselves where they are found, and what one writes before their names."""

_FLOAT, _OBJECT = np.dtype(float), np.dtype(object)


def require_numbers(operation: Operation, values: list[Any], error: Exception) -> None:
    """Find objects and text among the arrays of an operation that failed, if that is not explained yet."""
    odd = [x for x in values if getattr(x, "dtype", _FLOAT).kind not in NUMBERS]
    if odd and not isinstance(error, TapeError):
        raise no_numbers(f"{operation.name} was given", odd[0]) from None


def no_numbers(what: str, x: Any) -> NotNumbersError:
    """The error for objects and text, with which NumPy may well compute."""
    return NotNumbersError(
        f"{what} {shown(x)} of dtype {getattr(x, 'dtype', _OBJECT)}, and tensors hold numbers: convert it with "
        ".astype(float), or leave the tape knowingly, with x.numpy()"
    )


def public_name(function: Function) -> str:
    """What one writes to call a function: ``np.emath.sqrt``, ``scipy.special.erf``."""
    name = getattr(function, "__name__", str(function))
    for module, prefix in PUBLIC.items():
        if vars(sys.modules.get(module, object)).get(name) is function:
            return f"{prefix}.{name}"
    module = getattr(function, "__module__", None) or "__main__"
    return name if module == "__main__" else f"{module}.{name}"


def in_place_of_method(ufunc: np.ufunc, method: str) -> str:
    """What to write for a method of a ufunc that has no derivative rule."""
    name = public_name(ufunc)
    if method == "reduce":
        return f"write functools.reduce({name}, x)"
    if method == "accumulate":
        return f"write np.stack(list(itertools.accumulate(x, {name})))"
    if method == "reduceat":
        return f"write np.stack([functools.reduce({name}, x[i:j]) for i, j in zip(starts, stops)])"
    return "write it with broadcasting, as in x[:, None] - y"


def refused_out(function: Function) -> ImmutableError:
    """The error for an array to write into."""
    refuse_within_numpy()
    return ImmutableError(
        f"{public_name(function)}(..., out=...) cannot write where a tape is watching: "
        "leave 'out' out, and bind the result to a name"
    )


@cache
def place_of_out(function: Function) -> int:
    """Where a function takes `out` by position; far beyond its arguments if it does not."""
    try:
        parameters = signature(function).parameters
    except (TypeError, ValueError):  # a function written in C
        return sys.maxsize
    out = parameters.get("out")
    by_place = out is not None and out.kind is out.POSITIONAL_OR_KEYWORD
    return list(parameters).index("out") if by_place else sys.maxsize
