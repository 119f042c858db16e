"""Find out whether a cell reads a name first or assigns it first."""

from __future__ import annotations

import ast
import dis
import warnings
from types import CodeType
from typing import Literal

# At a cell's top level every name is global: STORE_FAST occurs only inside functions and, since PEP 709, for the
# variables of inlined comprehensions.
STORES = {"STORE_NAME", "STORE_GLOBAL"}
LOADS = {"LOAD_NAME", "LOAD_GLOBAL"}
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""Names of code objects that run where they are written, unlike functions."""


def first_use(source: str, name: str) -> Literal["read", "assigned"] | None:
    """Return what a program's top level does first with a name: "read", "assigned", or None for neither.

    Examples
    --------
    >>> first_use("x = x + 1", "x"), first_use("x = 1; y = x", "x"), first_use("y = 2", "x")
    ('read', 'assigned', None)
    """
    # Warnings, such as those of invalid escapes, are shown when the cell itself is compiled.
    with warnings.catch_warnings(action="ignore"):
        code = compile(source, "<cell>", "exec", dont_inherit=True)
    return _first_use(code, name)


def _first_use(code: CodeType, name: str) -> Literal["read", "assigned"] | None:
    # Bytecode, not the syntax tree: it lists reads and assignments in the order in which they run.
    for step in dis.get_instructions(code):
        # The first use in the bytecode, which need not run: a branch may skip it. `overwriting_line` and
        # `assigns_before_use` are strict instead.
        if step.argval == name and step.opname in LOADS:
            return "read"
        if step.argval == name and step.opname in STORES:
            return "assigned"
        inner = step.argval
        runs_here = isinstance(inner, CodeType) and inner.co_name in COMPREHENSIONS
        if runs_here and (first := _first_use(inner, name)):
            return first
    return None


def overwriting_line(source: str, name: str) -> int | None:
    r"""Find the line that surely overwrites a name's first value before the program uses that value.

    Examples
    --------
    >>> overwriting_line("a = 1.0\nb = 2.0\na = 3.0", "a")
    3
    >>> overwriting_line("a = 1.0\na = a * 2", "a"), overwriting_line("a = 1.0\nif b:\n    a = 2.0", "a")
    (None, None)
    """
    uses = [
        (statement, contexts)
        for statement in ast.parse(source).body
        if (contexts := _contexts(statement, name))
    ]
    # Only plain assignments at the top level surely run; one in a branch, a loop or a try block may not.
    if len(uses) < 2 or any(not _only_assigns(*use) for use in uses[:2]):
        return None
    return uses[1][0].lineno


def assigns_before_use(source: str, name: str) -> bool:
    r"""Return True if a program surely assigns a name before using the old value.

    Examples
    --------
    >>> assigns_before_use("a = 1.0; b = a", "a"), assigns_before_use("if b:\n    a = 1.0", "a")
    (True, False)
    """
    for statement in ast.parse(source).body:
        if contexts := _contexts(statement, name):
            return _only_assigns(statement, contexts)
    return False


def chained_lines(source: str, name: str) -> set[int]:
    r"""Return the lines of chained assignments to a name, such as ``a = b = 1.0``.

    Examples
    --------
    >>> chained_lines("a = b = 1.0\na, b = 1.0, 2.0", "a")
    {1}
    """
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign)
        # a, b = 1.0, 2.0 has one target, a tuple; a = b = 1.0 has two.
        and len(node.targets) > 1
        and ast.Store in _contexts(node, name)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _contexts(statement: ast.stmt, name: str) -> set[type[ast.expr_context]]:
    """Return how a statement uses a name: load, store, delete."""
    return {
        type(node.ctx)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    }


def _only_assigns(statement: ast.stmt, contexts: set[type[ast.expr_context]]) -> bool:
    # `x: float` declares without assigning.
    assigns = isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
    return assigns and contexts == {ast.Store}
