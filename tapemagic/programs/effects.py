"""Effects of a call that a program would not have: something is printed, a file written, a clock read."""

from __future__ import annotations

import ast
import dis
import gc
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import get_ident
from types import BuiltinMethodType, CodeType, MappingProxyType, ModuleType
from typing import Any

import numpy as np

from tapemagic.engine import events
from tapemagic.engine.events import origin_of, user_line
from tapemagic.programs.calls import running, value_of
from tapemagic.programs.object_kinds import is_user_module
from tapemagic.programs.program import Site
from tapemagic.programs.randomness import GENERATORS
from tapemagic.programs.reading import Names, codes_in

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

PROFILES = f"it starts or stops a profiler: {OUTSIDE}"

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
    ("_uuid", ""): DRAWS,
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

REPLAY = "tapemagic.programs."

LOOKING = frozenset({events.__name__, "tapemagic.engine.tracebacks"})
"""The modules of the engine that look at files and frames, as those of `tapemagic.programs` do."""

CALLING = frozenset({"trace", "symbol", "call_tracing", "program_cache", "function"})
"""The modules of `tapemagic.programs` that call functions of the user's and of NumPy's."""

IMPORTS = frozenset(
    {"importlib", "importlib._bootstrap", "importlib._bootstrap_external", "zipimport"}
    | {"_frozen_importlib", "_frozen_importlib_external"}
)
"""The modules that import others, which happens at one call alone."""

WARNINGS = frozenset({"warnings", "_py_warnings"})
"""The modules that show warnings, which is noted where they are given."""

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

MAKING = frozenset({"random", "default_rng", "Generator", "RandomState"})
"""Names in code that makes generators of NumPy's, or uses its global one."""

NOW = frozenset({"now", "today"})
"""The texts of which a date is made that is another one later."""

DATES = frozenset({"datetime64", "Timestamp", "to_datetime", "DatetimeIndex", "Period"})
"""The functions that make dates of texts."""

DATE_TYPE = re.compile("[<>=|]?(M8|datetime64)")
"""The beginning of a dtype of dates."""

THREADS = {
    "threading": frozenset({"active_count", "activeCount", "enumerate"}),
    "multiprocessing.process": frozenset({"active_children", "current_process", "parent_process"}),
}
"""The functions of Python's that tell of threads and processes, by their modules."""

SUSPECT = (
    frozenset(name for _, name in CALLS if name)
    | frozenset({"display", "clear_output", "publish_display_data"})
    | SETTINGS
    | frozenset(
        {"load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt"}
        | {"fromfile", "tofile", "memmap", "fromregex", "dump", "get_ident", "get_native_id"}
    )
    | frozenset(
        {"default_rng", "SeedSequence", "RandomState", "Generator", "BitGenerator", "MT19937"}
        | {"PCG64", "PCG64DXSM", "Philox", "SFC64", "Sobol", "Halton", "LatinHypercube"}
        | {"PoissonDisk"}
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


def clocks_in(codes: Iterable[CodeType]) -> dict[str, Any]:
    """The effect, and its line, of code that makes a date of the text 'now' or 'today', as np.datetime64 does.

    Examples
    --------
    >>> list(clocks_in([(lambda: np.datetime64("today")).__code__])) == [CLOCK]
    True
    >>> clocks_in([(lambda: np.datetime64("2000-01-01")).__code__, (lambda: "today").__code__])
    {}
    """
    found = next(filter(None, map(clock_in, codes)), None)
    return {} if found is None else {CLOCK: found}


@lru_cache(4096)
def clock_in(whole: CodeType) -> Site | None:
    """The line on which a function's code makes such a date; None if it makes none."""
    for code in codes_in(whole):
        texts = {x for x in flat(code.co_consts) if isinstance(x, str)}
        if not NOW.isdisjoint(texts) and (
            not DATES.isdisjoint(code.co_names) or any(map(DATE_TYPE.match, texts))
        ):
            return Site(code.co_filename, line_of_text(code))
    return None


def shuffles(
    codes: dict[Any, Names], generators: Iterable[Any], given: Iterable[Any]
) -> Site | None:
    """The line on which code shuffles by a generator of NumPy's, which knows of no symbols; None if none does.

    Parameters
    ----------
    codes : dict of code to Names
    generators, given : iterable of object
        The generators in reach, and the arguments.
    """
    has_one = any(isinstance(x, GENERATORS) for x in (*generators, *given))
    for code, names in codes.items():
        found = names.globals | names.attributes
        if "shuffle" in found and (has_one or not MAKING.isdisjoint(found)):
            return Site(code.co_filename, names.read["shuffle"])
    return None


def line_of_text(code: CodeType) -> int:
    """The line on which code reads a text that stands for the time."""
    for each in dis.get_instructions(code):
        is_read = each.opname.startswith("LOAD_CONST") and not NOW.isdisjoint(flat([each.argval]))
        if is_read and each.positions is not None and each.positions.lineno:
            return each.positions.lineno
    return code.co_firstlineno


def flat(constants: Iterable[Any]) -> Iterator[Any]:
    """Constants of code, also those in tuples and sets of such."""
    for x in constants:
        if isinstance(x, tuple | frozenset):
            yield from flat(x)
        else:
            yield x


def may_do_more(x: Any) -> bool:
    """Whether something is of a library which may do more than compute, so that calls are observed.

    Examples
    --------
    >>> import math, random
    >>> may_do_more(math.sin), may_do_more(random.random)
    (False, True)

    A generator that is made without a seed asks the system for one.

    >>> may_do_more(np.random.default_rng(0)), may_do_more(np.random.PCG64)
    (False, True)
    """
    name = x.__name__ if isinstance(x, ModuleType) else getattr(x, "__module__", None)
    if not isinstance(name, str):
        owner = x.__self__ if isinstance(x, BuiltinMethodType) else x  # random.random is a method
        name = type(owner).__module__
    if name.partition(".")[0] in PURE:
        return isinstance(x, type | ModuleType) and name.startswith("numpy.random")
    module = x if isinstance(x, ModuleType) else sys.modules.get(name)
    return module is None or not is_user_module(module)


def effect(frame: Any, event: str, what: Any) -> str:
    """The effect of a call beside computing, or what it depends on beside its arguments; empty if there is nothing."""
    found = _of_built_in(what, frame) if event == "c_call" else _of_function(frame)
    return found if found and is_asked_for(frame, found in FILES) else ""


def _of_built_in(what: Any, frame: Any) -> str:
    """The effect of a built-in function that a frame calls."""
    owner = getattr(what, "__self__", None)
    kind = type(owner) if not isinstance(owner, type) else owner
    module, name = what.__module__ or getattr(kind, "__module__", ""), what.__name__
    found = CALLS.get((module, name)) or CALLS.get((module, "")) or ""
    if frame.f_globals.get("__name__", "") in REPEATING and found == THREAD:
        return ""
    if name in WRITING and is_screen(owner):
        return PRINTS
    if not found and module in WORLD and name not in HARMLESS:
        return (
            f"it calls {module.strip('_')}.{name}(), which does more than compute from its arguments: "
            f"{OUTSIDE}"
        )
    return "" if found == DRAWS and makes_a_seeded_state(frame) else found


def _of_function(frame: Any) -> str:
    """The effect of a function of Python's whose frame begins to run."""
    home, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
    if name in WRITING and is_screen(first_argument(frame)):
        return PRINTS
    if home in SHOWING:
        return SHOWING[home]
    if home == "random" and name == "seed" and frame.f_locals.get("a", 0) is None:
        return DRAWS
    if home in THREADS and name in THREADS[home]:
        return f"it asks which threads or processes there are: {GIVEN}"
    if home == "logging":
        return f"it writes to a log: {OUTSIDE}"
    if home == "os" and name in ENVIRONMENT:
        return f"it uses os.environ: {GIVEN}"
    if home.startswith("numpy.") and name in SETTINGS:
        return f"it calls np.{name}(): {OUTSIDE}"
    return ""


def is_screen(x: Any) -> bool:
    """Whether something is a stream to the screen, as notebooks and tests put one of their own in its place."""
    return x is not None and (x is sys.stdout or x is sys.stderr)


def first_argument(frame: Any) -> Any:
    """The first argument of a call that begins."""
    code = frame.f_code
    return frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None


def makes_a_seeded_state(frame: Any) -> bool:
    """Whether the system is asked for numbers by ``np.random.RandomState(seed)``, which then does not use them."""
    while frame is not None and frame.f_globals.get("__name__") in {"random", "secrets"}:
        frame = frame.f_back
    called = running(frame)[1] if frame is not None else None
    if not isinstance(called, ast.Call):
        return False
    given = [*called.args, *(each.value for each in called.keywords)][:1]
    return value_of(called.func, frame) is np.random.RandomState and any(
        value_of(seed, frame) is not None for seed in given
    )


def is_asked_for(frame: Any, is_file: bool = False) -> bool:
    """Whether the user's code asks for what runs in a frame: no import does, no warning, and not this package.

    Parameters
    ----------
    frame : frame
    is_file : bool, optional
        Whether it is something that this package does for the user alone, but where it reads his source.
    """
    while frame is not None and (origin := origin_of(frame.f_code.co_filename)) != "":
        home = frame.f_globals.get("__name__", "")
        if origin is None:
            if not is_file or reads_the_program(home):
                return False
        elif home in IMPORTS or (home in WARNINGS and frame.f_code.co_name == "_showwarnmsg"):
            return False
        frame = frame.f_back
    return frame is not None


def reads_the_program(home: str) -> bool:
    """Whether a module of this package looks at the user's program, and calls none of his functions and no NumPy.

    Examples
    --------
    >>> reads_the_program("tapemagic.engine.events"), reads_the_program("tapemagic.programs.text.naming")
    (True, True)
    >>> reads_the_program("tapemagic.tf.ops.output"), reads_the_program("tapemagic.programs.trace")
    (False, False)
    """
    return home in LOOKING or (home.startswith(REPLAY) and home.removeprefix(REPLAY) not in CALLING)


@contextmanager
def observed_calls(
    found: dict[str, Any], texts: Mapping[CodeType, str] = MappingProxyType({})
) -> Iterator[None]:
    """Note what built-in functions do beside computing, while the block runs; there may be no other profiler.

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
        if reason and reason not in found:
            found[reason] = user_line()

    with collections_noted() as collecting:
        sys.setprofile(observe)
        try:
            yield
        finally:
            if sys.getprofile() is observe:
                sys.setprofile(None)
            else:
                found.setdefault(PROFILES, None)


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
