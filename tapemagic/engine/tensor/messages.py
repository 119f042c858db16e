"""Text that error messages of several modules share, and errors with such text."""

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
"""Modules whose functions report another `__module__`, with the prefix under which programs use them."""

ADVICE_BY_ATTRIBUTE = {
    "assign": "a Tensor never changes: bind the new value to the name, or keep it in a tapemagic.Variable",
    "assign_add": "a Tensor never changes: write x = x + y, or keep it in a tapemagic.Variable",
    "assign_sub": "a Tensor never changes: write x = x - y, or keep it in a tapemagic.Variable",
    "backward": "write g = tape.gradient(y, x), which gives the gradient back",
    "cpu": "values are NumPy arrays, in main memory",
    "cuda": "values are NumPy arrays, in main memory",
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
"""Advice on what to write instead of attributes that tensors of other libraries have."""

_OBJECT = np.dtype(object)


def shown(value: Any) -> str:
    """Return the repr of a value on one line, shortened to 40 characters."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 (the repr of a user type may raise anything)
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 40 else text[:37] + "..."


def describe(value: Any) -> str:
    """Return the repr of a value, shortened to 40 characters, and its type."""
    return f"{shown(value)} of type {value.__class__.__name__}"


def tensor_advice(leaf: Any, role: str = "") -> str:
    """Return advice on what to pass instead of something that isn't a tensor, as a sentence after a space.

    - `role`: Its role in the message, such as ``"a target"``.
    """
    if leaf is None:
        return (
            " A gradient that is None can't be differentiated again: find out why it is None first."
        )
    if isinstance(leaf, Reference):
        return " Pass its tensor, with .deref()."
    if callable(leaf):
        return " Pass its result, or differentiate the function with tapemagic.grad."
    if hasattr(getattr(leaf, "data", None), "_read"):  # a DataArray of xarray
        return " Pass its tensor, with .data."
    is_array = leaf.__class__.__module__ == "numpy" or hasattr(leaf, "to_numpy")  # pandas
    is_number = is_array or isinstance(leaf, int | float | complex)
    if role == "a target" and is_number:
        return (
            " Plain arrays aren't on the tape: compute the target from tensors. Comparisons and argmax return plain "
            "arrays, because they have no derivative. tape.explain(target, source) says where the tensors ended."
        )
    if is_array:
        return (
            " Plain arrays aren't on the tape: write x = tapemagic.Variable(x) above the tape. Comparisons and argmax "
            "return plain arrays, because they have no derivative."
        )
    if isinstance(leaf, str):
        return (
            f" Pass the tensor itself, without quotation marks: {leaf}."
            if leaf.isidentifier()
            else ""
        )
    if is_lazy(leaf):
        return " Write x = tapemagic.constant(x) before the tape records, and watch it."
    if isinstance(leaf, Iterable) and not isinstance(leaf, bytes):
        return " Pass several tensors as a list, a tuple or a dict."
    return " Write x = tapemagic.Variable(x) above the tape."


def require_function(value: Any, error: type[TapeError] = FunctionError) -> None:
    """Raise an error unless a value is callable.

    Raises FunctionError if `value` isn't callable. `error` replaces this class.
    """
    if not callable(value):
        raise error(
            f"expected a function, not {describe(value)}: pass f itself, not its value f(x)"
        )


def ragged_error(value: Any) -> NotNumbersError:
    """Return the error for nested lists whose rows differ in length or depth."""
    return NotNumbersError(
        f"{shown(value)} isn't an array, because its rows differ in length or depth: pad them to one length, or create "
        "a tensor for each"
    )


def not_numbers_error(what: str, x: Any) -> NotNumbersError:
    """Return the error for an array of objects or text."""
    return NotNumbersError(
        f"{what} {shown(x)} of dtype {getattr(x, 'dtype', _OBJECT)}, but tensors hold numbers: convert it with "
        ".astype(float), or write x.numpy() if you need no gradient"
    )


@cache
def public_name(function: Function) -> str:
    """Return the name by which programs call a function, such as ``np.emath.sqrt`` or ``scipy.special.erf``."""
    name = getattr(function, "__name__", str(function))
    # np.frompyfunc marks its ufuncs only by this suffix of their name.
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
    """Return the name of a function of this package, or of the NumPy function that it replaces."""
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
    """Return advice on what to write instead of a ufunc method that has no derivative rule."""
    name = public_name(ufunc)
    if method == "reduce":
        return f"write functools.reduce({name}, x)"
    if method == "accumulate":
        return f"write np.stack(list(itertools.accumulate(x, {name})))"
    if method == "reduceat":
        return f"write np.stack([functools.reduce({name}, x[i:j]) for i, j in zip(starts, stops)])"
    return "write it with broadcasting, as in x[:, None] - y"


def out_error(function: Function) -> ImmutableError:
    """Return the error for an `out` argument, an array to write the result into."""
    refuse_within_numpy()
    return ImmutableError(
        f"{public_name(function)}(..., out=...) would write into an array, which no tape can track: "
        "omit 'out', and assign the result to a name, as in a = a + x instead of a += x"
    )
