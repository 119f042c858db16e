"""The order in which the top level of a cell reads a name and assigns it."""

from __future__ import annotations

import ast
import dis
import warnings
from types import CodeType
from typing import Literal

STORES = {"STORE_NAME", "STORE_GLOBAL"}
LOADS = {"LOAD_NAME", "LOAD_GLOBAL"}
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
"""The names of code objects that run where they stand."""


def first_use(source: str, name: str) -> Literal["read", "assigned"] | None:
    """Whether the top level of a program reads a name first, or assigns it; None if it does neither.

    Examples
    --------
    >>> first_use("x = x + 1", "x"), first_use("x = 1; y = x", "x"), first_use("y = 2", "x")
    ('read', 'assigned', None)
    """
    with warnings.catch_warnings(action="ignore"):
        code = compile(source, "<cell>", "exec", dont_inherit=True)
    return _first_use(code, name)


def _first_use(code: CodeType, name: str) -> Literal["read", "assigned"] | None:
    for step in dis.get_instructions(code):
        if step.argval == name and step.opname in LOADS:
            return "read"
        if step.argval == name and step.opname in STORES:
            return "assigned"
        inner = step.argval
        runs_here = isinstance(inner, CodeType) and inner.co_name in COMPREHENSIONS
        if runs_here and (found := _first_use(inner, name)):
            return found
    return None


def overwritten_on(source: str, name: str) -> int | None:
    r"""The line that surely gives a name its second value before any line of the program mentions the first.

    Examples
    --------
    >>> overwritten_on("a = 1.0\nb = 2.0\na = 3.0", "a")
    3
    >>> overwritten_on("a = 1.0\na = a * 2", "a"), overwritten_on("a = 1.0\nif b:\n    a = 2.0", "a")
    (None, None)
    """
    uses = [
        (statement, contexts)
        for statement in ast.parse(source).body
        if (contexts := _contexts(statement, name))
    ]
    if len(uses) < 2 or any(not _only_assigns(*use) for use in uses[:2]):
        return None
    return uses[1][0].lineno


def begins_anew(source: str, name: str) -> bool:
    r"""Whether a program surely assigns a name before any of its lines mentions it otherwise.

    Examples
    --------
    >>> begins_anew("a = 1.0; b = a", "a"), begins_anew("if b:\n    a = 1.0", "a")
    (True, False)
    """
    for statement in ast.parse(source).body:
        if contexts := _contexts(statement, name):
            return _only_assigns(statement, contexts)
    return False


def chained_on(source: str, name: str) -> set[int]:
    r"""The lines of assignments that give a name and others one value, as ``a = b = 1.0`` does.

    Examples
    --------
    >>> chained_on("a = b = 1.0\na, b = 1.0, 2.0", "a")
    {1}
    """
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assign)
        and len(node.targets) > 1
        and ast.Store in _contexts(node, name)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _contexts(statement: ast.stmt, name: str) -> set[type[ast.expr_context]]:
    """The ways in which a statement mentions a name."""
    return {
        type(node.ctx)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    }


def _only_assigns(statement: ast.stmt, contexts: set[type[ast.expr_context]]) -> bool:
    assigns = isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
    return assigns and contexts == {ast.Store}
