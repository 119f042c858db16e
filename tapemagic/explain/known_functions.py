"""Known functions: what those of Python, NumPy and common libraries do with their arguments, by name or by library.

All others count as code that can't be read: see `carrying_words`.
"""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.events import origin_of
from tapemagic.engine.tensor.tensor import Tensor

SHOWING = {
    "matplotlib", "seaborn", "plotly", "bokeh", "tqdm", "logging", "warnings", "IPython", "ipywidgets", "rich", "print"
}  # fmt: skip
"""Libraries, and the function print, that show or store values, and return no results that a program computes with."""

PURE = {"numpy", "math", "cmath", "scipy", "builtins", "statistics", "json", "pickle", "itertools"}
"""Modules whose functions change none of their arguments, apart from those that `written_by` knows."""

NUMBERS = int, float, complex, str, bytes, np.generic
"""Types of values that no call changes."""

STEPS = (
    "all allclose any argmax argmin argpartition argsort array_equal bool ceil count_nonzero digitize fix flatnonzero "
    "floor format id int isclose isfinite isinf isinstance isnan len nonzero print range repr rint round searchsorted "
    "sign signbit stop_gradient str trunc type zeros_like ones_like hash callable bincount histogram exists time"
)
FLAT = frozenset(STEPS.split())
"""Functions whose result doesn't change, or isn't meant to, if their arguments change slightly."""

SIZES = {"shape", "ndim", "size", "dtype"}
"""Attributes of arrays that don't change with their numbers."""

REFLECTION = {"globals", "vars", "locals", "__dict__", "setattr", "__setattr__", "exec", "eval"}
"""Names with which a program binds names that are strings."""

READING = (REFLECTION - {"setattr", "__setattr__"}) | {"getattr", "asdict", "astuple", "attrgetter"}
"""Names with which a program reads names that are strings."""

VIEWS = (
    "ravel reshape asarray asanyarray atleast_1d atleast_2d atleast_3d transpose squeeze swapaxes view diagonal nditer "
    "memoryview iter next min max reversed enumerate zip items values get setdefault nullcontext loc iloc at iat super"
)
SHARING = frozenset(VIEWS.split())
"""Functions and attributes whose result may share memory, or items, with their argument or owner."""

WRITING_TEXT = {"str", "repr", "format", "ascii", "bytes", "join", "dumps", "array2string", "array_str"}  # fmt: skip
"""Functions and methods that return text."""

PARSING = {
    "float", "complex", "eval", "literal_eval", "loads", "load", "fromstring", "float64", "Decimal", "Fraction"
}  # fmt: skip
"""Functions that read numbers in text."""

STORING = {
    "dump", "save", "savez", "savetxt", "setitem", "iadd", "isub", "imul", "write", "writerow", "fill", "sort",
    "__setitem__"
}  # fmt: skip
"""Functions of modules, and methods of classes, that write into an argument."""

TEXTS = {"repr()", "str()", "format()", "pickle"}
"""Conversions to text or bytes."""

MATH = {"math", "cmath"}
"""Modules whose functions convert their arguments."""

CONVERTING = {
    "float()": {"float", "float64", "float32", "fsum"},
    "complex()": {"complex", "complex128"},
    "np.asarray": {"array", "asarray", "asanyarray", "ascontiguousarray"},
}
"""Names of the calls that run a conversion, if they differ from its own name."""


def kind_of(value: Any) -> str:
    """Return what calls of a value, or of its methods, do with their arguments.

    Returns 'shows' for a library that shows values, 'pure' for functions that change no argument, 'type' for a class
    of Python, 'fixed' for a value that no call changes, 'own' for an object of a user class, and '' for all others.
    """
    if value is print:
        return "shows"
    if isinstance(value, ModuleType):
        name = value.__name__
    elif isinstance(value, (*NUMBERS, Tensor)) or value is None:
        return "fixed"
    else:
        is_function = callable(value) and hasattr(value, "__module__")
        name = getattr(value if is_function else type(value), "__module__", None) or ""
    package = name.split(".")[0]
    if package in SHOWING:
        return "shows"
    if package == "builtins":
        is_known = any(value is known for known in vars(builtins).values())
        return ("type" if isinstance(value, type) else "pure") if is_known else ""
    is_code = isinstance(value, ModuleType) or callable(value)
    if package in PURE and is_code:
        return "pure"
    file = getattr(sys.modules.get(type(value).__module__), "__file__", None)
    is_own = package == "__main__" or (file and origin_of(file) == "")
    return "own" if is_own and not is_code else ""
