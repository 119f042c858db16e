"""What a function closes over: the global names and the variables of enclosing functions that it reads."""

from __future__ import annotations

from types import CodeType
from typing import Any

from tapemagic.engine.tensor.variable import Variable


class Closure:
    """The objects that a function can reach beside its arguments, as they were when it was traced."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._bindings = bindings(function)

    def holds(self) -> bool:
        """Whether everything is as it was."""
        now = bindings(self.function)
        return now.keys() == self._bindings.keys() and all(
            now[name] is value for name, value in self._bindings.items()
        )

    def variables(self) -> dict[str, Variable]:
        """The Variables in reach, by the names under which they are found."""
        found: dict[str, Variable] = {}
        for name, value in self._bindings.items():
            if isinstance(value, Variable):
                found[name] = value
            elif isinstance(value, list | tuple):
                for k, part in enumerate(value):
                    if isinstance(part, Variable):
                        found[f"{name}_{k}"] = part
        return found


def bindings(function: Any) -> dict[str, Any]:
    """The values of the names that a function does not define itself."""
    found: dict[str, Any] = {}
    if hasattr(function, "__self__"):
        found["self"] = function.__self__
        function = function.__func__
    code = function.__code__
    cells = function.__closure__ or ()
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    for name in names_in(code):
        if name in function.__globals__:
            found.setdefault(name, function.__globals__[name])
    return found


def names_in(code: CodeType) -> set[str]:
    """The names that a function, and the functions inside of it, look up among globals or attributes."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= names_in(constant)
    return found
