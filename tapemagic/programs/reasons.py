"""Reasons why a function stays eager, as text, with what to write instead."""

from __future__ import annotations

import os
from itertools import chain
from typing import Any

from tapemagic.engine.events import CELL_FILE
from tapemagic.programs.tracing.dynamic_shapes import BY_NUMBERS, SELECTING

EXIT = "takes a value out of the program"
NO_PART = "cannot be part of a program"
NO_RESULT = "cannot be a result of a program"

NUMBER = EXIT, "compute with the tensor itself, or return it"
TEXT = EXIT, "return it, and print it after the call"
ARRAY = EXIT, "call NumPy's functions on the tensor itself"
NEW = NO_RESULT, "return a new one"
UNCHANGED = "return the new value, and store it after the call"
NEW_ARRAY = "make a new array of the result"
BY_IF = "test with if whether it would be raised"
COMPUTE_BEFORE = "compute it before the call, and pass it as an argument"
DATA = "return tensors, arrays and numbers, or lists, tuples and dicts of them"

DRAWS_AT_EACH_CALL = (
    "it draws initial weights, or the order of batches: make the layers, or call fit, outside of it"
)

MASKED = "has a shape that depends on numbers", "use np.where(mask, x, 0)"
SHAPE = MASKED[0], COMPUTE_BEFORE

WRITES = "writes into an array"
BYTES = EXIT, "do that with the result, after the call"
MEMORY_ATTRIBUTES = (
    "flags",
    "strides",
    "base",
    "ctypes",
    "data",
    "__array_interface__",
    "__array_struct__",
)
MEMORY = "reads an array's memory", COMPUTE_BEFORE

SET = {
    "shape": "x.reshape(shape)",
    "dtype": "x.view(dtype)",
    "real": "y + 1j * x.imag",
    "imag": "x.real + 1j * y",
    "flat": "np.full_like(x, y)",
    "strides": "np.lib.stride_tricks.sliding_window_view",
}
"""The calls that replace an assignment to an attribute of an array."""

CHANGED = {
    "sort": "np.sort(x)",
    "partition": "np.partition(x, k)",
    "fill": "np.full_like(x, y)",
    "put": "np.where(mask, y, x)",
    "resize": "np.resize(x, shape)",
    "byteswap": "x.astype(dtype)",
}
"""The calls that replace methods which change an array."""

VERBS = (SHAPE[0],)
"""Endings of reasons that have a verb already."""

EXACT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("float()", "int()", "complex()", "round()", ".item()", ".tolist()"), NUMBER),
    **dict.fromkeys(("repr()", "str()", "format()"), TEXT),
    **dict.fromkeys(("np.asarray", "np.array"), ARRAY),
    **dict.fromkeys((f"np.{f.__name__}" for f in BY_NUMBERS | SELECTING), SHAPE),
    **dict.fromkeys(("x[mask]", "np.where", "np.nonzero"), MASKED),
    "x[a:b]": (MASKED[0], "pass a and b as Python numbers"),
    "x[i] = ...": (WRITES, "make a new one, by np.stack, np.where or np.concatenate"),
    **{f"x.{name} = ...": (WRITES, f"make a new one, by {new}") for name, new in SET.items()},
    **{f".{name}()": (WRITES, f"make a new one, by {new}") for name, new in CHANGED.items()},
    "del x[i]": (WRITES, "make a new one, by np.delete"),
    "hash()": (EXIT, "return it, and use it as a key after the call"),
    ".flat": (EXIT, "write x.ravel()"),
    ".nonzero()": SHAPE,
    **dict.fromkeys((".tobytes()", "bytes()", ".tofile()", ".dump()", "pickle"), BYTES),
    **dict.fromkeys((f".{name}" for name in MEMORY_ATTRIBUTES), MEMORY),
    ".setflags()": MEMORY,
}
"""The obstacles that stop a trace, each with a verb and what to write instead."""

BEGINNINGS: dict[str, tuple[str, str]] = {
    "more than": ("are too many", "make a program of a part, such as one step of a loop"),
    "a result of type": (NO_RESULT, DATA),
    "a result that": (NO_RESULT, DATA),
    "a list as a result": NEW,
    "a dict as a result": NEW,
    "a Variable as a result": (NO_RESULT, "return its value, such as v + 0"),
    "an argument of type": (NO_PART, ""),
    "a change of": (NO_PART, "return a new one"),
    "an operation in place": (NO_PART, "write x = x + y instead of x += y"),
    "a warning": (NO_PART, ""),
    "a Jacobian": (NO_PART, ""),
    "np.errstate": (NO_PART, ""),
    "warnings.": (NO_PART, "write it around the call"),
    "np.": (NO_PART, COMPUTE_BEFORE),
}
"""Reasons by their beginning."""

ENDINGS = {
    "that the function catches": (NO_PART, BY_IF),
    "into an array": (NO_PART, NEW_ARRAY),
    "= from numbers": (NO_PART, "pass it as a Python number"),
}
"""Reasons by their ending."""


def in_words(how: str, where: str = "") -> str:
    """The sentence about an operation that no program can contain, and its line.

    Examples
    --------
    >>> in_words("float()", "line 3 of a.py")
    'float() takes a value out of the program (line 3 of a.py): compute with the tensor itself, or return it'
    >>> in_words("np.set_printoptions")
    'np.set_printoptions cannot be part of a program: compute it before the call, and pass it as an argument'
    """
    what, _, instead = how.partition(": ")
    if instead and what.endswith(VERBS):
        return with_place(how, where)
    words = (NO_PART, instead) if instead else EXACT.get(how)
    if words is None:
        ends = (x for end, x in ENDINGS.items() if how.endswith(end))
        begins = (x for start, x in BEGINNINGS.items() if how.startswith(start))
        words = next(chain(ends, begins), (EXIT, ""))
    verb, instead = words
    return with_place(f"{what} {verb}{': ' * bool(instead)}{instead}", where)


def a_or_an(word: str) -> str:
    """A word with its article.

    Examples
    --------
    >>> a_or_an("IndexError"), a_or_an("tuple")
    ('an IndexError', 'a tuple')
    """
    return f"{'an' if word[:1] in 'aeiouAEIO' else 'a'} {word}"


def line_of(site: Any) -> str:
    """A line of user code as text; '' if it is unknown.

    Parameters
    ----------
    site : Site, Place or None
    """
    if site is None:
        return ""
    is_cell = CELL_FILE.search(site.file)
    file = "its cell" if is_cell else os.path.basename(site.file)  # noqa: PTH119 (may be <stdin>)
    return f"line {site.line} of {file}"


def with_place(reason: str, where: str) -> str:
    """Insert the line into a reason, before what to write instead.

    Examples
    --------
    >>> with_place("it prints: return the value, and print it after the call", "line 3 of a.py")
    'it prints (line 3 of a.py): return the value, and print it after the call'
    """
    what, colon, instead = reason.partition(": ")
    return f"{what}{f' ({where})' * bool(where)}{colon}{instead}"
