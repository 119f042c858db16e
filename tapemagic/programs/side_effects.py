"""Side effects of a call: which libraries only compute, random draws, output."""

from __future__ import annotations

import io
import random
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.effects import is_performing
from tapemagic.engine.events import user_line
from tapemagic.engine.tape.tape import Tape
from tapemagic.programs.object_kinds import (
    CONTAINERS,
    GENERATORS,
    IMMUTABLE_TYPES,
    is_instance,
    is_leaf,
    is_user_class,
    is_user_code,
    is_user_module,
    overridden_method,
)
from tapemagic.programs.reasons import a_or_an

OUTSIDE = "do that before or after the call"
RESULT_AS_ARGUMENT = "do that before the call, and pass the result as an argument"
PRINTS = "it prints: return the value, and print it after the call"
DRAWS = f"it draws random numbers: {RESULT_AS_ARGUMENT}"
CLOCK = f"it reads the clock: {RESULT_AS_ARGUMENT}"
ANYTHING = "with which it may read anything: write the names themselves"

# An allowlist, because any other library may do more than compute.
PURE = frozenset(
    {"numpy", "tapemagic", "builtins", "math", "cmath", "operator", "_operator", "itertools"}
    | {"functools", "_functools", "collections", "_collections", "_collections_abc", "dataclasses"}
    | {"typing", "types", "abc", "_abc", "enum", "numbers", "fractions", "copy", "scipy", "string"}
    | {"re", "bisect", "_bisect", "heapq", "_heapq", "__future__"}
)
"""The libraries whose functions compute and do nothing else. Code that uses another one stays eager."""

# scipy.stats draws random numbers, scipy.optimize does with some methods, scipy.io reads files.
PURE_SCIPY = frozenset({"special", "linalg", "fft", "ndimage", "signal", "constants", "_lib"})
"""The parts of SciPy that only compute."""

REFUSED = {
    **dict.fromkeys(("eval", "exec", "globals", "locals", "__import__", "get_ipython"), ANYTHING),
    "compile": ANYTHING,
    "id": "which differs for each object: pass a name or number that identifies the object as an argument",
    "open": f"which opens a file: {OUTSIDE}",
    "input": f"which asks for input: {RESULT_AS_ARGUMENT}",
    "breakpoint": "which starts a debugger",
}
"""Built-in functions with which a function stays eager, and why."""

TYPE = "it uses type(x), which is different for traced arrays: write isinstance(x, ...)"
CATCHES = "it catches errors, and a program cannot branch on them: test the condition with if"
HIDING = {
    **dict.fromkeys(("__globals__", "f_globals", "f_locals", "f_builtins", "_getframe"), ANYTHING),
    **dict.fromkeys(
        ("save_weights", "load_weights", "save_model", "load_model"),
        f"which uses a file: {OUTSIDE}",
    ),
    "__subclasses__": "which finds classes without their names: write the names",
}
"""Attributes that make everything readable, and the words about them."""

NUMPY_FILES = frozenset(
    {"load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "open_memmap"}
    | {"save", "savez", "savez_compressed", "savetxt", "tofile", "dump"}
)
NUMPY_SETTINGS = frozenset(
    {"get_printoptions", "set_printoptions", "printoptions", "geterr", "seterr", "geterrcall"}
    | {"seterrcall", "getbufsize", "setbufsize", "array2string", "array_repr", "array_str"}
)
NUMPY_GENERATORS = frozenset(
    {"default_rng", "Generator", "RandomState", "SeedSequence", "BitGenerator", "MT19937"}
    | {"PCG64", "PCG64DXSM", "Philox", "SFC64", "shuffle", "seed", "set_state"}
)
"""Names in NumPy that read files or settings, or whose draws no global state shows.

After a seed, the state is the same at the end of each call, whatever was drawn.

A shuffle exchanges the elements of a list; on a traced array it would exchange views.
"""

CURRENT_DATES = frozenset({"now", "today"})
"""Strings that NumPy turns into the current date, in upper or lower case."""

DATES = re.compile("[<>=|]?(M8|datetime64)")
"""The beginning of a dtype of dates."""


def is_pure(module: str) -> bool:
    """Return True if the functions of a module only compute.

    Examples
    --------
    >>> is_pure("math"), is_pure("numpy.linalg"), is_pure("scipy.stats"), is_pure("time")
    (True, True, False, False)
    """
    top, _, below = module.partition(".")
    if top == "scipy" and below:
        return below.partition(".")[0] in PURE_SCIPY
    return top in PURE and not module.startswith("numpy.random")


def impure_library(x: Any) -> str:
    """Return the library of an object that may do more than compute, or ''.

    Examples
    --------
    >>> import math, time
    >>> impure_library(math.sin), impure_library(time.time), impure_library(time)
    ('', 'time', 'time')
    """
    if isinstance(x, ModuleType):
        # Draws of NumPy's global generator are seen by its state.
        name = "numpy" if x.__name__ == "numpy.random" else x.__name__
        is_user = is_user_module(x)
    elif isinstance(x, FunctionType):
        # By its code: functools.wraps copies `__module__`.
        name, is_user = str(x.__globals__.get("__name__")), is_user_code(x.__code__)
    elif isinstance(x, type):
        name, is_user = x.__module__, is_user_class(x)
        if is_user:
            return next(filter(None, map(impure_library, x.__mro__[1:])), "")
    elif isinstance(x, (IMMUTABLE_TYPES, MethodType)):
        return ""
    else:
        name = str(getattr(x, "__module__", None) or "")
        owner = x.__self__ if isinstance(x, BuiltinFunctionType) else x
        if not name or not isinstance(x, BuiltinFunctionType):
            return impure_library(owner if isinstance(owner, type) else type(owner))
        is_user = name in sys.modules and is_user_module(sys.modules[name])
    return "" if is_user or is_pure(name) else name.partition(".")[0].lstrip("_")


def state_of(generator: Any) -> Any:
    """Return the state of a generator of NumPy or Python, in a form that can be compared.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> before = state_of(rng)
    >>> _ = rng.random()
    >>> state_of(rng) == before
    False
    """
    if isinstance(generator, random.Random):
        # The generator of the operating system has no state: each draw differs.
        is_system = isinstance(generator, random.SystemRandom)
        return object() if is_system else generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return _frozen(generator.get_state(legacy=False))
    return _frozen(getattr(generator, "bit_generator", generator).state)


def random_states() -> Any:
    """Return the states of the global generators of NumPy and Python, which differ after each draw."""
    # NumPy's normal numbers come in pairs: the second one changes only `has_gauss`, so the whole state is compared.
    return _frozen(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002


def _frozen(state: Any) -> Any:
    """Convert a state of dicts and arrays to a form that can be compared."""
    if isinstance(state, dict):
        return [(key, _frozen(part)) for key, part in state.items()]
    return state.tobytes() if isinstance(state, np.ndarray) else state


class NotedStream:
    """A wrapper of sys.stdout or sys.stderr that records the first line of user code that writes."""

    def __init__(self, stream: Any, effects: dict[str, Any]) -> None:
        self._stream = stream
        self._effects = effects
        self._thread = get_ident()

    def write(self, text: Any) -> Any:
        """Write a string."""
        self._note()
        return self._stream.write(text)

    def writelines(self, lines: Any) -> Any:
        """Write several strings."""
        self._note()
        return self._stream.writelines(lines)

    def _note(self) -> None:
        # Output of other threads isn't a side effect of this function.
        # What tf.print writes is a call of the program.
        if get_ident() != self._thread or PRINTS in self._effects or is_performing():
            return
        # Frames 0 and 1 are `_note` and `write`.
        frame: Any = sys._getframe(2)
        while frame is not None:
            # A warning is shown once for its line, whether or not there is a program.
            if frame.f_globals.get("__name__") in {"warnings", "_py_warnings"}:
                return
            frame = frame.f_back
        self._effects[PRINTS] = user_line()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def output_noted(effects: dict[str, Any]) -> Iterator[None]:
    """Record the line of the first output of the block on this thread, under `PRINTS`."""
    before = sys.stdout, sys.stderr
    noted: Any = tuple(None if each is None else NotedStream(each, effects) for each in before)
    sys.stdout, sys.stderr = noted
    try:
        yield
    finally:
        # The function may have replaced the stream itself.
        if sys.stdout is noted[0]:
            sys.stdout = before[0]
        if sys.stderr is noted[1]:
            sys.stderr = before[1]


def why_unwatchable(x: Any) -> str:
    """Return the reason why changes or side effects of an object cannot be seen, or ''.

    Examples
    --------
    >>> why_unwatchable([1.0]), why_unwatchable({1.0})
    ('', 'a set, whose changes cannot be seen: pass arrays or numbers instead')
    """
    what = a_or_an(type(x).__name__)
    if isinstance(x, GENERATORS):
        return f"{what}, which draws random numbers: {RESULT_AS_ARGUMENT}"
    if isinstance(x, io.IOBase | Path):
        return f"{what}: read the file before the call, and pass its contents as an argument"
    if hasattr(type(x), "__next__"):
        return f"{what}, which returns a different item each time: make a list of it"
    if isinstance(x, Tape):
        return f"{what}, which each call changes: make the tape inside the function"
    library = impure_library(x)
    if library in {"numpy", "random"}:
        return f"which draws random numbers: {RESULT_AS_ARGUMENT}"
    if library and not callable(x) and not isinstance(x, ModuleType):
        return f"{what} of the library {library}: pass arrays or numbers instead"
    if library:
        return f"of the library {library}, which may do more than compute: {RESULT_AS_ARGUMENT}"
    if isinstance(x, FunctionType | MethodType | np.ndarray):
        return ""
    if isinstance(x, type) and is_user_class(type(x)):
        return "a class that has its own metaclass: write a function instead"
    return "" if is_leaf(x) else _why_hiding(x, what)


def _why_hiding(x: Any, what: str) -> str:
    """Return the reason why user code may compute the attributes or items of an object, or ''."""
    kind: Any = type(x)
    own = [base for base in kind.__mro__ if is_user_class(base)]
    for name in ("__getattr__", "__getattribute__"):
        if any(name in vars(base) for base in own):
            return f"{what}, whose class has its own {name}: write the attributes themselves"
    if own and is_user_class(type(kind)):
        return f"{what}, whose class has its own metaclass: pass arrays or numbers instead"
    method = overridden_method(kind)
    if method:
        return f"{what}, whose class has its own {method}: pass a dict or list instead"
    if isinstance(x, CONTAINERS) or is_instance(x):
        return ""
    return f"{what}, whose changes cannot be seen: pass arrays or numbers instead"
