"""Checks of the gradients and variables that an optimizer receives, before it changes anything."""

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
    """Return the gradients and the variables of pairs (gradient, variable), or raise NotATensorError."""
    # Tensors are iterable, too, but a tensor isn't a list of pairs.
    if isinstance(pairs, (Traced, np.ndarray)) or not isinstance(pairs, Iterable):
        raise NotATensorError(f"{_PAIRS}; got {describe(pairs)}")
    gradients, variables = [], []
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise NotATensorError(f"{_PAIRS}; among them is {describe(pair)}")
        gradient, variable = pair
        if isinstance(gradient, Variable) and not isinstance(variable, Variable):
            raise NotATensorError(
                f"the pairs are in the wrong order: the gradient comes first, then the variable {gradient.name!r}, "
                "as in optimizer.apply_gradients(zip(gradients, variables))"
            )
        gradients.append(gradient)
        variables.append(variable)
    return gradients, variables


_PAIRS = (
    "apply_gradients takes pairs of a gradient and its variable: write zip(gradients, variables)"
)


def require_trained(variables: Sequence[Any]) -> None:
    """Raise NotATensorError or DtypeError for objects that aren't floating-point variables."""
    for variable in variables:
        if not isinstance(variable, Variable):
            what = "parts of them" if isinstance(variable, Slice) else describe(variable)
            raise NotATensorError(
                f"an optimizer changes variables, not {what}: write tapemagic.Variable(...)"
            )
        if variable.dtype.kind != "f":
            raise DtypeError(
                f"an optimizer changes variables of floating-point numbers, and {variable.name!r} is "
                f"{variable.dtype}: create it with dtype='float32', or omit it"
            )


Explain = Callable[[Any], str]


def as_arrays(
    gradients: Sequence[Any], variables: Sequence[Variable]
) -> tuple[list[Any], list[Variable], list[Variable]]:
    """Return gradients as arrays of their variables' dtypes, these variables, and variables without a gradient."""
    arrays, changed, missing = [], [], []
    for gradient, variable in zip(gradients, variables, strict=True):
        if gradient is None:
            missing.append(variable)
        else:
            arrays.append(_as_array(gradient, variable))
            changed.append(variable)
    return arrays, changed, missing


def no_gradients_error(missing: Sequence[Variable], explain: Explain | None) -> OptionError:
    """Return the error for the case that no variable has a gradient."""
    names = [variable.name for variable in missing]
    return OptionError(
        f"No gradients provided for any variable: those of {names} are all None.\n{_why(missing, explain)}"
    )


def warn_missing(missing: Sequence[Variable], explain: Explain | None) -> None:
    """Warn that some variables have no gradient."""
    names = [variable.name for variable in missing]
    warnings.warn(
        f"Gradients do not exist for variables {names} when minimizing the loss, so these don't change.\n"
        f"{_why(missing, explain)}",
        stacklevel=depth_of_user(),
    )


def _why(missing: Sequence[Variable], explain: Explain | None) -> str:
    return "\n".join(map(explain, missing)) if explain else "tape.explain(loss, variable) says why"


def depth_of_user() -> int:
    """Return the number of frames up to the user's program, so that the warning shows its line."""
    # warnings.warn(skip_file_prefixes=...) does this since Python 3.12; 3.11 is supported.
    frame: Any = sys._getframe(1)
    depth = 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("tapemagic."):
        frame, depth = frame.f_back, depth + 1
    return depth


def _as_array(gradient: Any, variable: Variable) -> Any:
    value, own = unwrap(gradient), unwrap(variable)
    if gates and is_lazy(value):
        raise NotComputedError(
            f"the gradient of {variable.name!r} isn't computed: write (gradients,) = dask.compute(gradients) before "
            "the step, or take them from tapemagic.distributed.value_and_grad, which returns numbers"
        )
    # The usual case first: gradients from a tape have the variable's shape and dtype. `is` suffices, because NumPy's
    # built-in dtypes are singletons.
    if value.__class__ is np.ndarray and value.shape == own.shape and value.dtype is own.dtype:
        return value
    if not isinstance(gradient, (Traced, np.ndarray, np.generic, float, int)):
        raise NotATensorError(
            f"the gradient of {variable.name!r} is {describe(gradient)}: an optimizer takes tensors or arrays, such as "
            "the result of tape.gradient"
        )
    if not isinstance(value, np.generic):
        value = np.asarray(value)
    if value.shape != variable.shape:
        raise ShapeError(
            f"the gradient of {variable.name!r} has the shape {value.shape}, the variable {variable.shape}: they "
            "must be equal, so take tape.gradient(loss, variable), or reduce or reshape it first"
        )
    dtype = variable.dtype
    if value.dtype == dtype:
        return value
    if value.dtype.kind not in "fiu":
        raise DtypeError(
            f"the gradient of {variable.name!r} is {value.dtype}, the variable {dtype}: pass a gradient of real "
            "numbers, such as the gradient of a real loss"
        )
    return value.astype(dtype)
