"""Explain names that don't exist and habits from other libraries, and say what to write instead."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterable
from keyword import iskeyword
from types import ModuleType
from typing import Any

import numpy as np

from tapemagic.report.failure.operands import Names, written

IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "plt": "import matplotlib.pyplot as plt",
    "pd": "import pandas as pd",
    "sp": "import scipy as sp",
    "scipy": "import scipy",
    "tm": "import tapemagic as tm",
    "tapemagic": "import tapemagic",
}
"""The imports of modules by their usual names."""

LIBRARIES = {
    "tf": "TensorFlow",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "jnp": "JAX",
    "autograd": "autograd",
    "anp": "autograd",
}
"""Other libraries for automatic differentiation, by the names of their modules."""

OF_LIBRARIES = {
    "Tensor": "tapemagic.constant",
    "as_tensor": "tapemagic.constant",
    "cat": "np.concatenate",
    "clip_by_value": "np.clip",
    "convert_to_tensor": "tapemagic.constant",
    "concat": "np.concatenate",
    "from_numpy": "tapemagic.constant",
    "mm": "np.matmul",
    "mul": "np.multiply",
    "no_grad": "tape.stop_recording",
    "norm": "np.linalg.norm",
    "pow": "np.power",
    "reduce_max": "np.max",
    "reduce_mean": "np.mean",
    "reduce_min": "np.min",
    "reduce_prod": "np.prod",
    "reduce_sum": "np.sum",
    "tensor": "tapemagic.constant",
    "to_float": "float",
}
"""Replacements for functions of other libraries that have a different name here."""


MIN_SIMILARITY, MIN_SIMILARITY_SHORT = 0.75, 0.65
"""Minimum similarity of names, and of names with up to `SHORT` letters: three letters, one of which differs."""

SHORT = 4

HIDDEN = {"In", "Out", "get_ipython", "exit", "quit", "open"}
"""The names that IPython adds to every notebook."""

OWN = {
    "GradientTape", "Variable", "constant", "custom_gradient", "grad", "hessian", "jacobian", "jacfwd", "jacrev", "jvp",
    "one_hot", "relu", "sigmoid", "softmax", "softplus", "stop_gradient", "value_and_grad", "vjp",
}  # fmt: skip
"""Functions of this package that have the same name in other libraries."""


def explain_name_error(
    error: BaseException, node: ast.AST | None, names: Names, line: Iterable[ast.AST]
) -> str:
    """Write a sentence on a name that doesn't exist, or on a habit from another library.

    - `node`: The failing expression.
    - `line`: The statements on the failing line.

    Returns
    -------
    str
        Empty for other errors.
    """
    # UnboundLocalError is a NameError, so it comes first.
    if isinstance(error, UnboundLocalError):
        return _unbound(error)
    if isinstance(error, NameError):
        return _unknown_name(error, names, line)
    if isinstance(error, AttributeError):
        return _unknown_attribute(error, node, names)
    match node:
        case ast.Call(ast.Attribute(_, "gradient") as function, [target], []) if isinstance(
            error, TypeError
        ) and "'sources'" in str(error):
            call = f"{written(function)}({written(target)}"
            return f"gradient() needs a target and its sources. Write {call}, x), or {call}, [w, b]) for several."
    return ""


def _similar(name: str, candidates_in: Iterable[str]) -> str:
    """Ask whether the most similar names were meant, ignoring case. Return '' if no name is similar."""
    candidates_in = (
        candidate
        for candidate in candidates_in
        if candidate[:1].isalpha() and not iskeyword(candidate)
    )
    candidates = {candidate.lower(): candidate for candidate in candidates_in}
    matches = difflib.get_close_matches(
        name.lower(),
        sorted(candidates),
        3,
        MIN_SIMILARITY if len(name) > SHORT else MIN_SIMILARITY_SHORT,
    )
    scores = [
        difflib.SequenceMatcher(None, candidate, name.lower()).ratio() for candidate in matches
    ]
    best = [candidates[x] for x, score in zip(matches, scores, strict=True) if score == scores[0]]
    return f"Did you mean {' or '.join(best)}?" if best else ""


def _unbound(error: UnboundLocalError) -> str:
    # The attribute `name` of an UnboundLocalError is None in Python 3.11, but the message has the name in quotes.
    name = str(error).split("'")[1:2]
    if not name:
        return ""
    return (
        f"The function assigns {name[0]} somewhere, so {name[0]} is a local name, and it has no value yet when this "
        "line runs."
    )


def _unknown_name(error: NameError, names: Names, line: Iterable[ast.AST]) -> str:
    name = error.name or ""
    # A missing import explains more than a similar name.
    if name in LIBRARIES:
        return f"{LIBRARIES[name]} isn't imported here.{_of_library(name, line)}"
    if name in IMPORTS or name in sys.stdlib_module_names:
        return (
            f"The module {name} isn't imported. Write {IMPORTS.get(name, f'import {name}')} above."
        )
    near = _similar(name, names.namespace.keys() - HIDDEN)
    if near:
        return f"The name {name} doesn't exist here. {near}"
    is_numpy = callable(vars(np).get(name))
    return f"The name {name} doesn't exist here. Write np.{name}." if is_numpy else ""


def _of_library(name: str, line: Iterable[ast.AST]) -> str:
    """Return the advice to replace a function of another library, as a sentence after a space, or ''."""
    parts = (part for statement in line for part in ast.walk(statement))
    dotted = (ast.unparse(part) for part in parts if isinstance(part, ast.Attribute))
    used = next((text for text in dotted if text.startswith(f"{name}.")), "")
    last = used.rpartition(".")[2]
    home = "tapemagic" if last in OWN else "np" if callable(vars(np).get(last)) else ""
    instead = OF_LIBRARIES.get(last) or (f"{home}.{last}" if home else "")
    return f" Write {instead} instead of {used}." if instead else ""


def _unknown_attribute(error: AttributeError, node: ast.AST | None, names: Names) -> str:
    name, owner = error.name or "", error.obj
    if not name or not isinstance(node, ast.Attribute | ast.Call):
        return ""
    attribute = node if isinstance(node, ast.Attribute) else node.func
    if not isinstance(attribute, ast.Attribute) or attribute.attr != name:
        return ""
    text = written(attribute.value)
    if owner is None:
        reason = names.reason(attribute.value)
        return (
            f"{text} is None, because {reason}"
            if reason
            else f"{text} is None, which has no {name}."
        )
    names_known = list(vars(owner)) if isinstance(owner, ModuleType) else _stored(owner)
    # Then a property or __getattr__ raised the error.
    if name in names_known:
        return ""
    near = _similar(name, names_known)
    return f"{text} has no {name}. {near}" if near else ""


def _stored(owner: Any) -> list[str]:
    """List the attributes that an object and its classes store."""
    # dir() would run the __dir__ of a user class.
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        own = {}
    return [*own, *(name for kind in type(owner).__mro__ for name in vars(kind))]
