"""Texts of error messages that several modules share, and errors made of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.registry import OPERATIONS, Function
from tapemagic.engine.tensor.conversions import Reference, refuse_within_numpy
from tapemagic.errors import FunctionError, ImmutableError, NotNumbersError, TapeError

PUBLIC_PREFIXES = {
    "numpy": "np",
    "numpy.linalg": "np.linalg",
    "numpy.fft": "np.fft",
    "numpy.lib.scimath": "np.emath",
    "scipy.special": "scipy.special",
    "tapemagic": "tapemagic",
}
"""Modules whose functions have another `__module__`, with the prefix of their names in programs."""

HABITS = {
    "assign": "a Tensor never changes: bind the new value to the name, or keep it in a tapemagic.Variable",
    "assign_add": "a Tensor never changes: write x = x + y, or keep it in a tapemagic.Variable",
    "assign_sub": "a Tensor never changes: write x = x - y, or keep it in a tapemagic.Variable",
    "backward": "write g = tape.gradient(y, x), which gives the gradient back",
    "cpu": "values are NumPy's, in the computer's main memory",
    "cuda": "values are NumPy's, in the computer's main memory",
    "detach": "write tapemagic.stop_gradient(x), or x.numpy() for a plain array",
    "eval": "write x.numpy() for a plain array",
    "grad": "write g = tape.gradient(y, x), which gives the gradient back",
    "gradient": "the tape has it: write tape.gradient(y, x)",
    "permute": "write x.transpose(axes)",
    "requires_grad": "name it in the line of %%tape, write tape.watch(x), or make it a tapemagic.Variable",
    "requires_grad_": "name it in the line of %%tape, write tape.watch(x), or make it a tapemagic.Variable",
    "retain_grad": "write tape.gradient(y, x) for the gradient of any value",
    "unsqueeze": "write np.expand_dims(x, axis)",
    "zero_grad": "each tape.gradient(y, x) begins at zero, so there is nothing to reset",
}
"""The words to write in place of attributes that other libraries' tensors have."""

_OBJECT = np.dtype(object)


def shown(value: Any) -> str:
    """The repr of a value on one line, cut to 40 characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 (that of the user's type may raise anything)
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 40 else text[:37] + "..."


def describe(value: Any) -> str:
    """The repr of a value, cut to 40 characters, and its type."""
    return f"{shown(value)} of type {value.__class__.__name__}"


def tensor_advice(leaf: Any) -> str:
    """Advice on what to give in place of something that is no tensor, as a sentence after a space."""
    if leaf is None:
        return " A gradient that is None cannot be differentiated again: see why it is None first."
    if isinstance(leaf, Reference):
        return " Give what it stands for, with .deref()."
    if callable(leaf):
        return " Give what it returns, or differentiate the function with tapemagic.grad."
    if leaf.__class__.__module__ == "numpy":
        return (
            " A plain array can't be tracked. Write x = tapemagic.Variable(x) above the tape. Comparisons, argmax and "
            "similar functions return plain arrays, because they have no derivative."
        )
    if isinstance(leaf, str):
        return (
            f" Give the tensor itself, without quotation marks: {leaf}."
            if leaf.isidentifier()
            else ""
        )
    if is_lazy(leaf):
        return " Write x = tapemagic.constant(x) before the tape records, and watch it."
    if isinstance(leaf, Iterable) and not isinstance(leaf, bytes):
        return " Give several as a list, a tuple or a dict."
    return " Write x = tapemagic.Variable(x) above the tape."


def require_function(value: Any, error: type[TapeError] = FunctionError) -> None:
    """Raise an error unless a value can be called.

    Raises
    ------
    FunctionError
        Or `error` in its place.
    """
    if not callable(value):
        raise error(
            f"a function is to be given here, not {describe(value)}: give f itself, and not its value f(x)"
        )


def ragged_error(value: Any) -> NotNumbersError:
    """The error for nested lists whose rows differ in length or depth."""
    return NotNumbersError(
        f"{shown(value)} is no array, since its rows differ in length or depth: pad them to one length, or make "
        "a tensor of each"
    )


def not_numbers_error(what: str, x: Any) -> NotNumbersError:
    """The error for an array of objects or text."""
    return NotNumbersError(
        f"{what} {shown(x)} of dtype {getattr(x, 'dtype', _OBJECT)}, and tensors hold numbers: convert it with "
        ".astype(float), or leave the tape knowingly, with x.numpy()"
    )


@cache
def public_name(function: Function) -> str:
    """The name by which programs call a function: ``np.emath.sqrt``, ``scipy.special.erf``."""
    name = getattr(function, "__name__", str(function))
    if name.endswith(" (vectorized)"):
        return f"np.frompyfunc({name.removesuffix(' (vectorized)')}, ...)"
    for module, prefix in PUBLIC_PREFIXES.items():
        if vars(sys.modules.get(module, object)).get(name) is function:
            return f"{prefix}.{name}"
    method = getattr(function, "__self__", None)
    if isinstance(method, np.ufunc):
        return f"{public_name(method)}.{name}"
    module = getattr(function, "__module__", None) or "__main__"
    if module.startswith("tapemagic."):
        return _own_name(function, module)
    return name if module == "__main__" else f"{module}.{name}"


def _own_name(function: Function, module: str) -> str:
    """The name by which programs call a function of this package, such as the one in the place of NumPy's."""
    operation = OPERATIONS.get(function)
    name = operation.name if operation else function.__name__.strip("_")
    if name == "getitem":
        return "x[index]"
    if module.startswith("tapemagic.engine.rules"):
        for home, prefix in PUBLIC_PREFIXES.items():
            if hasattr(sys.modules.get(home), name.partition(".")[0]):
                return f"{prefix}.{name}"
    return name


def method_advice(ufunc: np.ufunc, method: str) -> str:
    """Advice on what to write in place of a method of a ufunc without a derivative rule."""
    name = public_name(ufunc)
    if method == "reduce":
        return f"write functools.reduce({name}, x)"
    if method == "accumulate":
        return f"write np.stack(list(itertools.accumulate(x, {name})))"
    if method == "reduceat":
        return f"write np.stack([functools.reduce({name}, x[i:j]) for i, j in zip(starts, stops)])"
    return "write it with broadcasting, as in x[:, None] - y"


def out_error(function: Function) -> ImmutableError:
    """The error for an array to write into, given as `out`."""
    refuse_within_numpy()
    return ImmutableError(
        f"{public_name(function)}(..., out=...) would write into an array, where no tape can follow: "
        "leave 'out' out, and bind the result to a name"
    )
