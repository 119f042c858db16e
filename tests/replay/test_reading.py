"""The names in a piece of code, read from its operations."""

from __future__ import annotations

import argparse
import dataclasses
import dis
import inspect
import typing
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tapemagic.replay.reading import OPERATIONS, codes_in, named, names_in

MANY = "\n".join(f"    x.a{k} = v{k} = g{k}(v{k - 1})" for k in range(1, 300))

TEXTS = {
    "more names than fit into a byte": f"def f(x, v0):\n{MANY}\n    return lambda: v299",
    "comprehensions": "def f(x):\n    return [x + k for k in range(3)], {k: lambda: k for k in x}",
    "classes": "class A(B):\n    k = n\n    def f(self, x=1):\n        return super().f(x).k + super().m",
    "imports": "import a.b\ndef f():\n    from c import d\n    global e\n    import e\n    return d",
    "variables around": "def f(x):\n    y = 1\n    def g():\n        nonlocal y\n        y = x\n        del y",
    "a variable that may have no value": "def f(x):\n    if x:\n        y = x.z\n    del x\n    return y",
}


def operations(code: CodeType) -> Iterator[tuple[Any, str, int]]:
    """The operations that have a name, by the module dis."""
    for each in dis.get_instructions(code):
        if each.opcode in OPERATIONS:
            several = each.argval if type(each.argval) is tuple else (each.argval,)
            line = each.positions and each.positions.lineno
            for name in several:
                yield OPERATIONS[each.opcode], name, line or code.co_firstlineno


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_operations_of_code_are_those_that_dis_finds(text: str) -> None:
    """Arguments of more than one byte, two variables in one operation, and flags beside the index of a name."""
    code = compile(text, "file", "exec")
    for each in codes_in(code):
        assert list(named(each)) == list(operations(each))


@pytest.mark.parametrize("module", [argparse, dataclasses, inspect, typing])
def test_operations_of_modules_are_those_that_dis_finds(module: ModuleType) -> None:
    """Whole modules, in which all operations are."""
    file = Path(str(module.__file__))
    code = compile(file.read_bytes(), str(file), "exec")
    for each in codes_in(code):
        assert list(named(each)) == list(operations(each))


def test_a_name_belongs_to_the_kind_of_operation_that_has_it() -> None:
    """A line is that of the first operation of the kind."""
    text = (
        "def f(x):\n    import m\n    x.a = g(x).b\n    def inner():\n        nonlocal y\n        y = x\n"
        "    global h\n    h = 1\n    y = 2\n    return inner"
    )
    found = names_in(compile(text, "file", "exec").co_consts[0])
    assert (found.globals, found.attributes, found.modules) == ({"g", "h"}, {"a", "b"}, {"m"})
    assert found.assigned == {"a": 3, "h": 8, "y": 9}
    assert found.read == {"m": 2, "g": 3, "b": 3, "x": 3}
    assert found.local == {"inner": 10}
