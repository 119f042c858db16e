"""Known functions: what those of Python, NumPy and common libraries do with their arguments, by name or by library.

All others count as code that can't be read: see `word_bindings`.
"""

from __future__ import annotations

from types import BuiltinMethodType, MethodType, ModuleType
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHOWING = _words("matplotlib seaborn plotly bokeh tqdm logging warnings IPython ipywidgets rich")
"""Libraries that show or store values, and return no results that a program computes with."""

PURE = _words("numpy math cmath scipy builtins statistics json pickle itertools")
"""Modules whose functions change none of their arguments, apart from ``out=`` and where nobody uses their result."""

FLAT = _words(
    "all allclose any argmax argmin argpartition argsort array_equal bool ceil count_nonzero digitize fix flatnonzero "
    "floor id int isclose isfinite isinf isinstance isnan len nonzero print range rint round searchsorted "
    "sign signbit stop_gradient trunc type zeros_like ones_like hash callable bincount histogram exists time"
)
"""Functions whose result doesn't change, or isn't meant to, if their arguments change slightly."""

SIZES = _words("shape ndim size dtype")
"""Attributes of arrays that don't change with their numbers."""

REFLECTION = _words(
    "globals vars locals __dict__ setattr __setattr__ exec eval getattr asdict astuple attrgetter exc_info"
)
"""Names with which a program binds or reads names that are strings, or all names."""

VIEWS = _words("loc iloc at iat T flat data ravel reshape transpose squeeze view diagonal fill put")
"""Attributes of tables and arrays that share their items, or store in them."""

FRESH = FLAT | _words("str repr format join dumps float complex float64")
"""Functions that return numbers or texts, which can't store anything."""

TEXTS = frozenset(["repr()", "str()", "format()", "pickle"])
"""Conversions to text or bytes."""

MATH = frozenset(["math", "cmath"])
"""Modules whose functions convert their arguments."""

CONVERTING = {
    "float()": {"float", "__float__", "float64", "float32", "fsum"},
    "complex()": {"complex", "complex128"},
    "np.asarray": {"array", "asarray", "asanyarray", "ascontiguousarray"},
}
"""Names of the calls that run a conversion, if they differ from its own name."""


def kind_of(value: Any) -> str:
    """Return what calls of a value, or of its methods, do with their arguments.

    Returns 'shows' for a library that shows values, 'pure' for functions that change no argument, or ''.
    """
    if value is print:
        return "shows"
    # A method such as h.append belongs to an object, a function of C to a module.
    is_method = isinstance(value, MethodType | BuiltinMethodType) and not isinstance(
        value.__self__, ModuleType
    )
    is_code = isinstance(value, ModuleType) or (callable(value) and not is_method)
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    package = (module or type(value).__module__).split(".")[0]
    if package in SHOWING:
        return "shows"
    return "pure" if package in PURE and is_code else ""
