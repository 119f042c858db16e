"""Advise the command "Run This Cell on a Tape" of JupyterLab, which asks in the notebook's kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np
from IPython.core.getipython import get_ipython
from IPython.display import JSON

from tapemagic.engine.tensor.tensor import Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.lazy_values import is_lazy_array
from tapemagic.explain.parts import tensors
from tapemagic.ipython import names
from tapemagic.report.bundle import TapeReport


def advise(source: str) -> JSON:
    """Return what to write in front of a cell, for the front end.

    The keys are "loaded", whether the magics are there; "names", what to watch; and "ready", whether the tape has
    something to watch.
    """
    shell: Any = get_ipython()
    try:
        tree: ast.Module | None = ast.parse(shell.transform_cell(source))
    except SyntaxError:
        # Running the cell shows the error with its line.
        tree = None
    watched, ready = ([], True) if tree is None else watch_list(tree, shell.user_ns)
    loaded = shell.find_cell_magic("tape") is not None
    return JSON({"loaded": loaded, "names": watched, "ready": ready})


def watch_list(tree: ast.Module, namespace: dict[str, Any]) -> tuple[list[str], bool]:
    r"""Return the names of floats and arrays that code reads from other cells, and whether a tape has sources.

    What the notebook's functions read that the code calls counts, too.

    A tape watches trainable Variables by itself. Code that reads some is training, so its arrays are data, and no names
    are returned.

    Examples
    --------
    >>> tree = ast.parse("y = w * x\nw = y + k")
    >>> watch_list(tree, {"w": 2.0, "x": np.ones(3), "y": 1.0, "k": 3})
    (['w', 'x'], True)
    """
    inputs = {name: namespace[name] for name in _inputs(tree) if name in namespace}
    waiting = [*inputs.values()]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, FunctionType) and value.__globals__ is namespace:
            more = names.globals_read(value.__code__) & namespace.keys() - inputs.keys()
            inputs |= {name: namespace[name] for name in sorted(more)}
            waiting += [namespace[name] for name in sorted(more)]
    # The same walk names the Variables of a report.
    found = (x for _, x in tensors(inputs.items(), TapeReport))
    if any(isinstance(x, Variable) and x.trainable for x in found):
        return [], True
    watched = [name for name, value in inputs.items() if _is_real(value)]
    return watched, bool(watched)


def _inputs(tree: ast.Module) -> Iterator[str]:
    """Yield the names that code reads before it assigns them, in the order of reading."""
    assigned: set[str] = set()
    for statement in tree.body:
        part = ast.Module([statement], [])
        read = names.read_names(part)
        # The body of a function runs later, when all names are assigned.
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            read -= names.assigned_names(tree)
            assigned.add(statement.name)
        order = {
            node.id: (node.lineno, node.col_offset)
            for node in ast.walk(statement)
            if isinstance(node, ast.Name)
        }
        yield from sorted(read - assigned, key=lambda name: order.get(name, (0, 0)))
        assigned |= names.assigned_names(part)


def _is_real(value: Any) -> bool:
    """Return True for a float, or an array or tensor of them, real or complex, that a tape can watch."""
    if isinstance(value, Variable):
        return False
    if type(value) is np.ndarray or isinstance(value, Traced) or is_lazy_array(value):
        return bool(value.dtype.kind in "fc")
    return isinstance(value, float | complex | np.inexact)
