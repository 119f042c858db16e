"""Reasons: why a trace is no program, in words, and what to write instead."""

from __future__ import annotations

EXIT = "takes a value out of the program"

NUMBER = f"{EXIT}: compute with the tensor itself, or return it"
TEXT = f"{EXIT}: return it, and print it after the call"
ARRAY = f"{EXIT}: call NumPy's functions on the tensor itself"
RESULT = (
    "no program returns: return tensors, arrays and numbers, or lists, tuples and dicts of them"
)

WORDS: dict[str, str] = {
    **dict.fromkeys(("float()", "int()", "complex()", "round()", ".item()", ".tolist()"), NUMBER),
    **dict.fromkeys(("repr()", "str()", "format()"), TEXT),
    **dict.fromkeys(("np.asarray", "np.array"), ARRAY),
    "x[mask]": "has a shape that depends on numbers: use np.where(mask, x, 0)",
    "x[i] = ...": "writes into an array: make a new one, by np.where or np.concatenate",
}
"""What follows the name of what values left the trace by."""

BEGINNINGS: dict[str, str] = {
    "more than": "are too many for one program: make a program of a part, such as one step of a loop",
    "a result of type": RESULT,
    "a result that": "no program returns",
    "a list as a result": "no program returns: return a new one",
    "a dict as a result": "no program returns: return a new one",
    "a Variable as a result": "no program returns: return its value, such as v + 0",
    "an argument of type": "cannot be written in a program",
    "a change of": "cannot be part of a program: return a new one",
    "an operation in place": "cannot be part of a program: write x = x + y in place of x += y",
    "np.errstate": "cannot be part of a program",
    "warnings.": "cannot be part of a program: call the function inside of it",
}
"""The same by how it begins."""


def in_words(how: str) -> str:
    """The sentence about what values left a trace by.

    Examples
    --------
    >>> in_words("float()")
    'float() takes a value out of the program: compute with the tensor itself, or return it'
    >>> in_words("np.unique()")
    'np.unique() takes a value out of the program'
    """
    if how in WORDS:
        return f"{how} {WORDS[how]}"
    for beginning, words in BEGINNINGS.items():
        if how.startswith(beginning):
            return f"{how} {words}"
    if ": " in how:  # it says already what to write
        what, instead = how.split(": ", 1)
        return f"{what} cannot be part of a program: {instead}"
    if how.endswith((" into an array", " from numbers", " of np.cov", "(out=...)")):
        return f"{how} cannot be part of a program"
    return f"{how} {EXIT}"
