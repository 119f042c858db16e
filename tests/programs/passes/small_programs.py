"""Small programs for tests: functions of arrays traced without a tape, shown as lists of calls, and interpreted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapemagic.programs.passes import rewritten, simplified
from tapemagic.programs.passes.purity import without_dead_code
from tapemagic.programs.program import Constant, Guard, Node, Program, replaced
from tapemagic.programs.tracing.symbol import concrete
from tapemagic.programs.tracing.trace import tracing

Pass = Callable[[Program], Program]


def traced(f: Callable[..., Any], *args: Any, **arrays: Any) -> Program:
    """The program of a function of arrays, which computes with NumPy."""
    given = {**{f"x{k}": x for k, x in enumerate(args)}, **arrays}
    with tracing() as trace:
        symbols = [trace.input(k, x, name) for k, (name, x) in enumerate(given.items())]
        found = f(*symbols)
        found = found if isinstance(found, list | tuple) else [found]
        results = [trace.node(x) for x in found]
        assert not [how for how, _ in trace.reasons if "that the function catches" not in how]
    return Program(list(trace.inputs), trace.body, results, [])


def passed(f: Callable[..., Any], *, by: Pass = simplified, **arrays: Any) -> list[str]:
    """The calls that are left of a function, as text; the last line tells what is returned.

    Examples
    --------
    >>> passed(lambda x: x - 0.0 + np.sin(x), x=np.float64(1.0))
    ['a = sin(x)', 'b = add(x, a)', 'return b']
    """
    return calls(by(traced(f, **arrays)))


def alone(rules: Any) -> Pass:
    """The pass that some rules are, by themselves."""
    return lambda program: without_dead_code(rewritten(program, rules))


def calls(program: Program) -> list[str]:
    """A program as text."""
    names = {node: node.name for node in program.inputs}

    def text(x: Any) -> str:
        if isinstance(x, Constant):
            value = x.value
            if isinstance(value, np.ndarray):
                return f"array({value.tolist()})"
            return f"{value.dtype}({value})"
        if isinstance(x, Node):
            return names[x]
        return repr(replaced(x, lambda node: _Bare(text(node))))

    lines = []
    for entry in program.body:
        if isinstance(entry, Guard):
            lines.append(f"guard {text(entry.condition)} is {entry.expected}")
            continue
        names[entry] = "abcdefghijklmnopqrstuvwyz"[len(names) - len(program.inputs)]
        owner = getattr(entry.function, "__self__", None)
        name = f"{owner.__name__}." if isinstance(owner, np.ufunc) else ""
        args = [*map(text, entry.args), *(f"{key}={text(x)}" for key, x in entry.kwargs.items())]
        lines.append(f"{names[entry]} = {name}{entry.function.__name__}({', '.join(args)})")
    return [*lines, f"return {', '.join(map(text, program.results))}"]


class _Bare:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def interpreted(program: Program, values: list[Any]) -> list[Any]:
    """The results of a program for other inputs, call by call."""
    known: dict[Node, Any] = dict(zip(program.inputs, values, strict=True))

    def value(node: Node) -> Any:
        return node.value if isinstance(node, Constant) else known[node]

    for entry in program.body:
        if isinstance(entry, Guard):
            assert bool(value(entry.condition)) is entry.expected
            continue
        args, kwargs = replaced(entry.args, value), replaced(entry.kwargs, value)
        known[entry] = entry.function(*args, **kwargs)
    return [replaced(x, value) for x in program.results]


def same_bits(a: Any, b: Any) -> bool:
    """Whether two results are of one type, shape and dtype and the same to the bit; a nan is a nan."""
    if concrete(a) is not a or type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.all(a == b))
    real = a.dtype.char.lower()
    a, b = (np.ascontiguousarray(x).reshape(-1).view(real) for x in (a, b))
    words = f"u{a.dtype.itemsize}"
    return bool(np.all((a.view(words) == b.view(words)) | (np.isnan(a) & np.isnan(b))))
