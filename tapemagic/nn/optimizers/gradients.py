"""Checks of the gradients and variables that an optimizer is given, before it changes anything."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapemagic.engine.laziness import gates, is_lazy
from tapemagic.engine.tensor.messages import describe
from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.engine.tensor.variable import Slice, Variable
from tapemagic.errors import (
    DtypeError,
    NotATensorError,
    NotComputedError,
    OptionError,
    ShapeError,
)


def split_pairs(pairs: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """The gradients and the variables of pairs of them.

    Raises
    ------
    NotATensorError
        If something is no such pair.
    """
    if isinstance(pairs, (Traced, np.ndarray)) or not isinstance(pairs, Iterable):
        raise NotATensorError(f"{_PAIRS}; got {describe(pairs)}")
    gradients, variables = [], []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise NotATensorError(f"{_PAIRS}; among them is {describe(pair)}")
        gradient, variable = pair
        if isinstance(gradient, Variable) and not isinstance(variable, Variable):
            raise NotATensorError(
                f"the pairs are the other way round: the gradient comes first, then the variable {gradient.name!r}, "
                "as in optimizer.apply_gradients(zip(gradients, variables))"
            )
        gradients.append(gradient)
        variables.append(variable)
    return gradients, variables


_PAIRS = (
    "apply_gradients takes pairs of a gradient and its variable: write zip(gradients, variables)"
)


def require_trained(variables: Sequence[Any]) -> None:
    """Raise an error for what an optimizer cannot change.

    Raises
    ------
    NotATensorError
        If something is no variable.
    DtypeError
        If a variable does not hold floating-point numbers.
    """
    for variable in variables:
        if not isinstance(variable, Variable):
            what = "parts of them" if isinstance(variable, Slice) else describe(variable)
            raise NotATensorError(
                f"an optimizer changes variables, not {what}: make it a tapemagic.Variable(...)"
            )
        if variable.dtype.kind != "f":
            raise DtypeError(
                f"an optimizer changes variables of floating-point numbers, and {variable.name!r} is "
                f"{variable.dtype}: make it a Variable of dtype='float32', or leave it out"
            )


Explain = Callable[[Any], str]


def as_arrays(
    gradients: Sequence[Any], variables: Sequence[Variable]
) -> tuple[list[Any], list[Variable], list[Variable]]:
    """The gradients as arrays of the dtypes of their variables, these, and the variables whose gradient is None.

    Raises
    ------
    DtypeError
        If a gradient is complex, or not made of numbers.
    NotATensorError
        If a gradient is neither a tensor nor an array.
    NotComputedError
        If a gradient is lazy.
    ShapeError
        If a gradient has not the shape of its variable.
    """
    arrays, changed, missing = [], [], []
    for gradient, variable in zip(gradients, variables, strict=True):
        if gradient is None:
            missing.append(variable)
        else:
            arrays.append(_as_array(gradient, variable))
            changed.append(variable)
    return arrays, changed, missing


def none_at_all(missing: Sequence[Variable], explain: Explain | None) -> OptionError:
    """The error for gradients that are all None."""
    names = [variable.name for variable in missing]
    return OptionError(
        f"No gradients provided for any variable: those of {names} are all None.\n{_why(missing, explain)}"
    )


def warn_of(missing: Sequence[Variable], explain: Explain | None) -> None:
    """Warn that the gradients of some variables are None."""
    names = [variable.name for variable in missing]
    warnings.warn(
        f"Gradients do not exist for variables {names} when minimizing the loss, so that these stay as they are.\n"
        f"{_why(missing, explain)}",
        stacklevel=_depth(),
    )


def _why(missing: Sequence[Variable], explain: Explain | None) -> str:
    return "\n".join(map(explain, missing)) if explain else "tape.explain(loss, variable) says why"


def _depth() -> int:
    """The number of calls from a function of this module to the program that uses the package."""
    frame: Any = sys._getframe(1)
    depth = 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tapemagic."):
        frame, depth = frame.f_back, depth + 1
    return depth


def _as_array(gradient: Any, variable: Variable) -> Any:
    value, own = unwrap(gradient), unwrap(variable)
    if gates and is_lazy(value):
        raise NotComputedError(
            f"the gradient of {variable.name!r} is not computed: write (gradients,) = dask.compute(gradients) before "
            "the step, or take them from tapemagic.distributed.value_and_grad, which gives numbers"
        )
    if value.__class__ is np.ndarray and value.shape == own.shape and value.dtype is own.dtype:
        return value
    if not isinstance(gradient, (Traced, np.ndarray, np.generic, float, int)):
        raise NotATensorError(
            f"the gradient of {variable.name!r} is {describe(gradient)}: an optimizer takes gradients as "
            "tape.gradient gives them, tensors or arrays"
        )
    if not isinstance(value, np.generic):
        value = np.asarray(value)
    if value.shape != variable.shape:
        raise ShapeError(
            f"the gradient of {variable.name!r} has the shape {value.shape}, the variable {variable.shape}: they "
            "have to be equal, so take tape.gradient(loss, variable), or reduce or reshape it first"
        )
    dtype = variable.dtype
    if value.dtype == dtype:
        return value
    if value.dtype.kind not in "fiu":
        raise DtypeError(
            f"the gradient of {variable.name!r} is {value.dtype}, the variable {dtype}: give a gradient of real "
            "numbers, such as that of a real loss"
        )
    return value.astype(dtype)
