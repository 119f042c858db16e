"""The text of a program: one line of NumPy for each call, in the user's names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.replay.loop_text import loop_lines, store_line
from tapemagic.replay.program import Constant, Guard, Input, Loop, Node, Program, Store
from tapemagic.replay.symbol import BINARY, COMPARISONS, UNARY, Method

SIGNS = {
    np.add: "+", np.subtract: "-", np.multiply: "*", np.divide: "/", np.floor_divide: "//",
    np.remainder: "%", operator.pow: "**", np.matmul: "@", np.less: "<", np.less_equal: "<=",
    np.greater: ">", np.greater_equal: ">=", np.equal: "==", np.not_equal: "!=",
    np.bitwise_and: "&", np.bitwise_or: "|", np.bitwise_xor: "^",
}  # fmt: skip
MINUS = {np.negative: "-", np.invert: "~", np.positive: "+"}


class Text:
    """The text of a program, and the objects to which its names refer.

    Attributes
    ----------
    lines : list of str
    namespace : dict of str to object
    """

    def __init__(self, program: Program) -> None:
        self.namespace: dict[str, Any] = {"np": np, "operator": operator}
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set()
        parameters = [self._name(node, "x") for node in program.inputs]
        self.lines = [f"def {program.name}({', '.join(parameters)}):"]
        for entry in program.body:
            self.lines += [f"    {line}" for line in self._statement(entry)]
        values = [self._value(x) for x in (*program.results, *(n for _, n in program.assigned))]
        self.lines.append(f"    return {', '.join(values)}" + "," * (len(values) == 1))

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _name(self, node: Node, letter: str = "t") -> str:
        name = self._names.get(node)
        if name is None:
            name = node.name if node.name.isidentifier() else letter
            k = 1
            while name in self._taken:
                k += 1
                name = f"{node.name or letter}_{k}"
            self._taken.add(name)
            self._names[node] = name
        return name

    def _statement(self, entry: Any) -> list[str]:
        if isinstance(entry, Guard):
            self.namespace["Retrace"] = Retrace
            negation = "not " if entry.expected else ""
            return [f"if {negation}{self._value(entry.condition)}:", "    raise Retrace"]
        if isinstance(entry, Loop):
            self._name(entry.start), self._name(entry.part)
            body = [line for inner in entry.body for line in self._statement(inner)]
            return loop_lines(entry, self._name, body)
        if isinstance(entry, Store):
            return [store_line(entry, self._value, self._value)]
        return [f"{self._name(entry)} = {self._call(entry)}"]

    def _call(self, node: Node) -> str:
        function, args = node.function, [self._value(x) for x in node.args]
        if function in SIGNS and len(args) == 2 and not node.kwargs:
            return f"{args[0]} {SIGNS[function]} {args[1]}"
        if function in MINUS and not node.kwargs:
            return f"{MINUS[function]}{args[0]}"
        if function is list:
            return "[]"
        if function is operator.getitem:
            return f"{args[0]}[{args[1]}]"
        args += [f"{key}={self._value(x)}" for key, x in node.kwargs.items()]
        if isinstance(function, Method):
            return f"{args[0]}.{function.__name__}({', '.join(args[1:])})"
        return f"{self._function(function)}({', '.join(args)})"

    def _function(self, function: Any) -> str:
        name = getattr(function, "__name__", "call")
        if getattr(np, name, None) is function:
            return f"np.{name}"
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"np.{owner.__name__}.{name}"
        for part in ("linalg", "fft"):
            if getattr(getattr(np, part), name, None) is function:
                return f"np.{part}.{name}"
        return self._object(function, name)

    def _object(self, value: Any, name: str) -> str:
        for known, other in self.namespace.items():
            if other is value:
                return known
        k, wanted = 1, name
        while name in self.namespace or name in self._taken:
            k += 1
            name = f"{wanted}_{k}"
        self.namespace[name] = value
        return name

    def _value(self, x: Any) -> str:
        if isinstance(x, Constant):
            return self._object(x.value, x.name or "constant")
        if isinstance(x, Node):
            return self._name(x)
        if x.__class__ is tuple:
            return f"({', '.join(map(self._value, x))}{',' * (len(x) == 1)})"
        if x.__class__ is list:
            return f"[{', '.join(map(self._value, x))}]"
        if isinstance(x, dict):
            return f"{{{', '.join(f'{k!r}: {self._value(v)}' for k, v in x.items())}}}"
        if isinstance(x, slice):
            return f"slice({', '.join(map(self._value, (x.start, x.stop, x.step)))})"
        if x is None or isinstance(x, bool | int | str):
            return repr(x)
        if isinstance(x, float) and np.isfinite(x):
            return repr(x)
        if x is Ellipsis:
            return "..."
        if callable(x):
            return self._function(x)
        return self._object(x, "value")


class Retrace(Exception):  # noqa: N818 (no error, but a turn in the way through a function)
    """Raised by a program where the user's function would take another way."""


__all__ = ["BINARY", "COMPARISONS", "UNARY", "Input", "Retrace", "Text"]
