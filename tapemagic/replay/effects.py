"""Effects of a call that a program would not have: something is printed, a file written, a clock read."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import get_ident
from types import BuiltinMethodType, CodeType, MappingProxyType, ModuleType
from typing import Any

from tapemagic.engine.events import origin_of, user_line
from tapemagic.replay import statements
from tapemagic.replay.kinds import is_user_module
from tapemagic.replay.reading import Names

OUTSIDE = "do that before or after the call"
GIVEN = "do that before the call, and give what comes of it as an argument"
PRINTS = "it prints: return the value, and print it after the call"
SHOWS = "it shows something: return it, and show it after the call"
PLOTS = "it draws a figure: return the numbers, and draw them after the call"
OPENS = f"it opens a file: {OUTSIDE}"
READS = f"it reads a file: {GIVEN}"
WRITES = f"it writes to a file: {OUTSIDE}"
CLOCK = f"it reads the clock: {GIVEN}"
DRAWS = f"it draws random numbers: {GIVEN}"
IN_WORDS = (
    "it makes text of an object of the class {}, whose changes cannot be seen there: use its attributes, or give the "
    "text as an argument"
)
THREAD = f"it asks on which thread it runs: {GIVEN}"

CALLS = {
    ("builtins", "print"): PRINTS,
    ("builtins", "input"): f"it asks for input: {GIVEN}",
    ("_io", "open"): OPENS,
    ("io", "open"): OPENS,
    ("_io", "write"): WRITES,
    ("_io", "writelines"): WRITES,
    ("time", "sleep"): f"it waits: {OUTSIDE}",
    ("time", ""): CLOCK,
    ("posix", "urandom"): DRAWS,
    ("nt", "urandom"): DRAWS,
    ("datetime", "now"): CLOCK,
    ("datetime", "today"): CLOCK,
    ("datetime", "utcnow"): CLOCK,
    ("_thread", "get_ident"): THREAD,
    ("_thread", "get_native_id"): THREAD,
    ("numpy", "fromfile"): READS,
    ("numpy", "tofile"): WRITES,
    ("numpy", "dump"): WRITES,
}
"""The effects of built-in functions, by their modules, or the modules of their objects' classes, and their names."""

REPEATING = frozenset({"dataclasses", "reprlib"})
"""The modules that ask for the thread to make text of objects which contain themselves."""

FILES = frozenset({OPENS, READS, WRITES, PRINTS})
"""The effects that this package has for the user alone, beside the reading of his source."""

WRITING = frozenset({"write", "writelines"})
"""The methods by which a stream is written to."""

SHOWING = {
    **dict.fromkeys(("IPython.core.display_functions", "IPython.core.display", "tqdm.std"), SHOWS),
    **dict.fromkeys(("matplotlib.pyplot", "matplotlib.figure", "matplotlib.artist"), PLOTS),
    **dict.fromkeys(("matplotlib.axes._axes", "matplotlib.axes._base"), PLOTS),
}
"""The effect of any function of a module that is there to show something."""

WORLD = frozenset(
    {"posix", "nt", "_io", "gc", "sys", "_warnings", "_socket", "_locale", "_posixsubprocess"}
)
"""The modules whose built-in functions tell of the world outside of the program, or change it."""

HARMLESS = frozenset({"fspath", "_getframe", "intern", "exc_info", "getsizeof", "text_encoding"})
"""The functions of these modules that do neither."""

SETTINGS = frozenset(
    {
        "get_printoptions",
        "set_printoptions",
        "printoptions",
        "geterr",
        "seterr",
        "geterrcall",
        "seterrcall",
    }
    | {"getbufsize", "setbufsize", "array2string", "array_repr", "array_str"}
)
"""The functions of NumPy that read or change its settings."""

ENVIRONMENT = frozenset(
    {"getenv", "__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__", "__contains__"}
)
"""The functions of the module os with which its environment is read or changed."""

SUSPECT = (
    frozenset(name for _, name in CALLS if name)
    | frozenset({"display", "clear_output", "publish_display_data"})
    | SETTINGS
    | frozenset(
        {"load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt"}
        | {"fromfile", "tofile", "memmap", "fromregex", "dump", "get_ident", "get_native_id"}
    )
)
"""Names in code at which its calls are observed."""

PURE = frozenset(
    {
        "numpy",
        "tapemagic",
        "builtins",
        "math",
        "cmath",
        "operator",
        "_operator",
        "itertools",
        "functools",
    }
    | {
        "collections",
        "dataclasses",
        "typing",
        "types",
        "abc",
        "enum",
        "numbers",
        "fractions",
        "copy",
    }
    | {
        "scipy",
        "string",
        "re",
        "bisect",
        "heapq",
        "contextlib",
        "__future__",
        "_functools",
        "_collections",
    }
)
"""The libraries whose functions compute and do no more; calls of code that uses another one are observed."""


def is_suspect(codes: Iterable[Names]) -> bool:
    """Whether code names a function that may do more than compute."""
    return any(not SUSPECT.isdisjoint(found.globals | found.attributes) for found in codes)


def may_do_more(x: Any) -> bool:
    """Whether something is of a library which may do more than compute, so that calls are observed.

    Examples
    --------
    >>> import math, random
    >>> may_do_more(math.sin), may_do_more(random.random)
    (False, True)
    """
    name = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None)
    if not isinstance(name, str):
        owner = x.__self__ if isinstance(x, BuiltinMethodType) else x  # random.random is a method
        name = type(owner).__module__
    if name.partition(".")[0] in PURE:
        return False
    module = x if isinstance(x, ModuleType) else sys.modules.get(name)
    return module is None or not is_user_module(module)


def effect(frame: Any, event: str, what: Any) -> str:
    """The effect of a call beside computing, or what it depends on beside its arguments; empty if there is nothing."""
    home, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
    if event == "c_call":
        owner = getattr(what, "__self__", None)
        kind = type(owner) if not isinstance(owner, type) else owner
        module, name = what.__module__ or getattr(kind, "__module__", ""), what.__name__
        found = CALLS.get((module, name)) or CALLS.get((module, "")) or ""
        if home in REPEATING and found == THREAD:
            return ""
        if name in WRITING and is_screen(owner):
            found = PRINTS
        if not found and module in WORLD and name not in HARMLESS:
            found = (
                f"it calls {module.strip('_')}.{name}(), which does more than compute from its arguments: "
                f"{OUTSIDE}"
            )
    elif name in WRITING and is_screen(first_argument(frame)):
        found = PRINTS
    elif home in SHOWING:
        found = SHOWING[home]
    elif home == "logging":
        found = f"it writes to a log: {OUTSIDE}"
    elif home == "os" and name in ENVIRONMENT:
        found = f"it uses os.environ: {GIVEN}"
    elif home.startswith("numpy.") and name in SETTINGS:
        found = f"it calls np.{name}(): {OUTSIDE}"
    else:
        return ""
    return found if found in FILES or (found and is_asked_for(frame)) else ""


def is_screen(x: Any) -> bool:
    """Whether something is a stream to the screen, as notebooks and tests put one of their own in its place."""
    return x is not None and (x is sys.stdout or x is sys.stderr)


def first_argument(frame: Any) -> Any:
    """The first argument of a call that begins."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def is_asked_for(frame: Any) -> bool:
    """Whether the user's code calls what runs in a frame, and not this package or an import."""
    while frame is not None and (origin := origin_of(frame.f_code.co_filename)) != "":
        if origin is None or "importlib" in frame.f_globals.get("__name__", ""):
            return False
        frame = frame.f_back
    return frame is not None


def reads_source(frame: Any) -> bool:
    """Whether a call in a frame is a part of reading the user's own source, for the names in it."""
    while frame is not None and frame.f_globals.get("__name__") in {"linecache", "tokenize"}:
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == statements.__name__


@contextmanager
def observed_calls(
    found: dict[str, Any], texts: Mapping[CodeType, str] = MappingProxyType({})
) -> Iterator[None]:
    """Note what built-in functions do beside computing, while the block runs; nothing under a profiler.

    Parameters
    ----------
    found : dict
        Gets the effects, and the place on which the first of a kind happens.
    texts : mapping of code to str, optional
        The code of methods that make text of an object, which is not watched for that, and the name of its class.
    """

    def observe(frame: Any, event: str, what: Any) -> None:
        if collecting or event not in ("call", "c_call"):
            return
        shown = texts.get(frame.f_code) if event == "call" else None
        reason = effect(frame, event, what) if shown is None else IN_WORDS.format(shown)
        if reason and reason not in found and not reads_source(frame):
            found[reason] = user_line()

    if sys.getprofile() is not None:
        yield
        return
    with collections_noted() as collecting:
        sys.setprofile(observe)
        try:
            yield
        finally:
            sys.setprofile(None)


@contextmanager
def collections_noted() -> Iterator[list[str]]:
    """A list that is not empty while this thread collects garbage.

    That happens anywhere, and what `gc.callbacks` and finalizers do then is nothing that the function does.
    """
    collecting: list[str] = []
    here = get_ident()

    def starts(phase: str, _: Any) -> None:
        if phase == "start" and get_ident() == here:
            collecting.append(phase)

    def stops(phase: str, _: Any) -> None:
        if phase == "stop" and get_ident() == here:
            collecting.clear()

    gc.callbacks.insert(0, starts)
    gc.callbacks.append(stops)
    try:
        yield collecting
    finally:
        gc.callbacks.remove(starts)
        gc.callbacks.remove(stops)
