"""Changes of objects in reach of a function: their names in its code, on which line, and what to write instead."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from tapemagic.engine.tape.tape import Tape
from tapemagic.programs.closure import Closure
from tapemagic.programs.parameters import parameter_of
from tapemagic.programs.reading import names_in
from tapemagic.programs.reasons import UNCHANGED, line_of, with_place
from tapemagic.programs.signature import Call

OWN_TAPE = "make the tape inside of the function"


def change_in_words(
    changed: str, closure: Closure, function: Any, args: Any, kwargs: Any, call: Call
) -> str:
    """The reason why a function stays eager that changes something in reach.

    Parameters
    ----------
    changed : str
        The path of it, by which the closure knows it.
    """
    path, instead = changed, UNCHANGED
    owner, dot, attribute = changed.rpartition(".")
    if dot and attribute.startswith(
        "_"
    ):  # of an object of a library's: the user knows no more than the object
        x = next(
            (e.what() for e in closure.entries if e.role == "object" and e.path == owner), None
        )
        if type(x).__module__.partition(".")[0] == "tapemagic":
            path = owner
            instead = OWN_TAPE if isinstance(x, Tape) else UNCHANGED
    line = line_of(closure.site_of(path))
    return with_place(f"it changes {name_of(path, function, args, kwargs, call)}: {instead}", line)


def name_of(path: str, function: Any, args: Any, kwargs: Any, call: Call) -> str:
    """The name under which the function's code knows an object in reach: that of an argument is its parameter's.

    Examples
    --------
    >>> def step(x):
    ...     step.last = x
    >>> step.last = None
    >>> from tapemagic.programs.signature import signature
    >>> name_of("last", step, (), {}, signature((), {}))
    'step.last'
    """
    head = path.partition(".")[0].partition("[")[0]
    for x in call.objects:
        if type(x).__name__ == head:
            return (parameter_of(function, args, kwargs, x) or head) + path[len(head) :]
    if head not in getattr(function, "__dict__", ()) or isinstance(function, MethodType):
        return path
    if isinstance(function, FunctionType):
        known = {*function.__code__.co_freevars, *names_in(function.__code__).globals}
        return path if head in known else f"{function.__name__}.{path}"
    return f"self.{path}"
