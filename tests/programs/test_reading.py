"""The names in a piece of code, read from its operations."""

from __future__ import annotations

import argparse
import dataclasses
import dis
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tapemagic.programs.reading import OPERATIONS, codes_in, named, names_in

MANY = "\n".join(f"    x.a{k} = v{k} = g{k}(v{k - 1})" for k in range(1, 300))

TEXTS = {
    "more names than fit into a byte": f"def f(x, v0):\n{MANY}\n    return lambda: v299",
    "comprehensions": "def f(x):\n    return [x + k for k in range(3)], {k: lambda: k for k in x}",
    "classes": "class A(B):\n    k = n\n    def f(self, x=1):\n        return super().f(x).k + super().m",
    "imports": "import a.b\ndef f():\n    from c import d\n    global e\n    import e\n    return d",
    "variables around": "def f(x):\n    y = 1\n    def g():\n        nonlocal y\n        y = x\n        del y",
    "two variables at once": "def f(x, y):\n    for a, b in x:\n        z = a\n        y = z, y\n    return x, y",
    "a variable that may have no value": "def f(x):\n    if x:\n        y = x.z\n    del x\n    return y",
}


def operations(code: CodeType) -> Iterator[tuple[Any, str, int]]:
    """The operations that have a name, by the module dis."""
    cells = {*code.co_cellvars, *code.co_freevars}
    for each in dis.get_instructions(code):
        if each.opcode in OPERATIONS:
            several = each.argval if type(each.argval) is tuple else (each.argval,)
            line = each.positions and each.positions.lineno
            loads = [part for part in re.findall("LOAD|STORE", each.opname) if len(several) > 1]
            for name, part in zip_longest(several, loads, fillvalue="LOAD"):
                makes_closure = each.opname.startswith("LOAD_FAST") and name in cells
                if part == "LOAD" and not makes_closure:
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


LOCAL = {
    "a comprehension with a variable of the same name": (
        "def f(x, a):\n    y = [0 for a in x]\n    return a, y",
        {"x": 2, "a": 3, "y": 3},
    ),
    "assigned and read at once": (
        "def f(x, y):\n    z = 1\n    y\n    z\n    return x",
        {"y": 3, "z": 4, "x": 5},
    ),
    "assigned and read, each on its line": (
        "def f(x, y):\n    z = len(x)\n    return z, y",
        {"x": 2, "z": 3, "y": 3},
    ),
    "given to a function inside": (
        "def f(x, y):\n    def g():\n        return x\n    return y, g",
        {"y": 4, "g": 4},
    ),
}


@pytest.mark.parametrize("text", LOCAL)
def test_the_line_on_which_a_variable_is_read(text: str) -> None:
    """Whatever operations the machine makes of it: of two variables at once, or for a comprehension in its place."""
    source, expected = LOCAL[text]
    code = compile(source, "file", "exec").co_consts[0]
    found = dict(names_in(code).local)
    found.pop(".0", None)  # what a comprehension goes through, where it is a function
    assert found == expected


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_names_read_with_parameters_of_types() -> None:
    """The names that a generic class and a generic function read are global ones."""
    text = "def f():\n    class A[T]:\n        z = g\n    def inner[T](x: T = d): return x * h\n"
    code = compile(text, "file", "exec").co_consts[0]
    assert {"g", "d", "h"} <= names_in(code).globals
    assert names_in(code).read["g"] == 3
