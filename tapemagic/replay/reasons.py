"""Reasons: why a trace is no program, in words, and what to write instead."""

from __future__ import annotations

EXIT = "takes a value out of the program"
NO_PART = "cannot be part of a program"
NO_RESULT = "cannot come out of a program"

NUMBER = EXIT, "compute with the tensor itself, or return it"
TEXT = EXIT, "return it, and print it after the call"
ARRAY = EXIT, "call NumPy's functions on the tensor itself"
NEW = NO_RESULT, "return a new one"
DATA = "return tensors, arrays and numbers, or lists, tuples and dicts of them"

KNOWN: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("float()", "int()", "complex()", "round()", ".item()", ".tolist()"), NUMBER),
    **dict.fromkeys(("repr()", "str()", "format()"), TEXT),
    **dict.fromkeys(("np.asarray", "np.array"), ARRAY),
    "x[mask]": ("has a shape that depends on numbers", "use np.where(mask, x, 0)"),
    "x[a:b]": ("has a shape that depends on numbers", "give a and b as numbers of Python's"),
    "x[i] = ...": ("writes into an array", "make a new one, by np.where or np.concatenate"),
}
"""By what values left a trace: the words about it, and what to write instead."""

BEGINNINGS: dict[str, tuple[str, str]] = {
    "more than": ("are too many", "make a program of a part, such as one step of a loop"),
    "a result of type": (NO_RESULT, DATA),
    "a result that": (NO_RESULT, DATA),
    "a list as a result": NEW,
    "a dict as a result": NEW,
    "a Variable as a result": (NO_RESULT, "return its value, such as v + 0"),
    "an argument of type": (NO_PART, ""),
    "a change of": (NO_PART, "return a new one"),
    "an operation in place": (NO_PART, "write x = x + y in place of x += y"),
    "a warning": (NO_PART, ""),
    "a Jacobian": (NO_PART, ""),
    "np.errstate": (NO_PART, ""),
    "warnings.": (NO_PART, "call the function inside of it"),
    "np.": (NO_PART, ""),
}
"""The same by how it begins."""


def in_words(how: str, where: str = "") -> str:
    """The sentence about what values left a trace by, and where.

    Examples
    --------
    >>> in_words("float()", "line 3 of a.py")
    'float() takes a value out of the program (line 3 of a.py): compute with the tensor itself, or return it'
    >>> in_words("np.unique")
    'np.unique cannot be part of a program'
    """
    what, _, instead = how.partition(": ")
    found = (NO_PART, instead) if instead else KNOWN.get(how)
    if found is None:
        found = next((x for start, x in BEGINNINGS.items() if how.startswith(start)), (EXIT, ""))
    verb, instead = found
    return f"{what} {verb}{f' ({where})' * bool(where)}{': ' * bool(instead)}{instead}"
