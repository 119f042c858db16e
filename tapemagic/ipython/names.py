"""Find the names that a cell assigns and reads, and insert a hook after each assignment."""

from __future__ import annotations

import ast
import dis
import warnings
from collections.abc import Iterable, Iterator
from inspect import CO_OPTIMIZED
from types import CodeType

HOOK = "__tape_named__"
"""Name of the hook in the cell's namespace while it runs."""

AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
"""The flag with which a cell is compiled that awaits at its top level."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
# A comprehension binds its loop variables for itself, but a walrus in it binds a name outside (PEP 572): hence two
# lists.
NEW_SCOPES = (*SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# LOAD_FROM_DICT_OR_GLOBALS is new in Python 3.12, for class bodies and annotation scopes.
READS = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
"""Bytecode instructions that may read a global name."""

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def assigned_names(tree: ast.AST) -> set[str]:
    """Return the names that code assigns at its top level, in loops and branches but not in functions."""
    names = _bound(_descendants(tree, NEW_SCOPES))
    return names | {
        node.target.id for node in _descendants(tree, SCOPES) if isinstance(node, ast.NamedExpr)
    }


def loop_names(tree: ast.AST) -> set[str]:
    """Return the targets of ``for`` loops at the top level of code."""
    loops = [
        node for node in _descendants(tree, SCOPES) if isinstance(node, (ast.For, ast.AsyncFor))
    ]
    return {name for loop in loops for name in _bound(ast.walk(loop.target))}


def read_names(tree: ast.Module | ast.Expression, filename: str = "<cell>") -> set[str]:
    """Return the global names that code reads, also inside functions, classes and comprehensions.

    Raises SyntaxError if the code does not compile; with a line of `filename`.
    """
    mode = "eval" if isinstance(tree, ast.Expression) else "exec"
    with warnings.catch_warnings(
        action="ignore"
    ):  # they are shown when the cell itself is compiled
        code = compile(tree, filename, mode, AWAITS, dont_inherit=True)
    return globals_read(code)


def globals_read(code: CodeType, in_class: bool = False) -> set[str]:
    """Return the global names that a code object reads, without names that a class body defines itself."""
    # From the bytecode: Python itself decides there which names are global, also in nested scopes.
    steps = list(dis.get_instructions(code))
    names = {step.argval for step in steps if step.opname in READS}
    if in_class:
        # Every class body starts by reading __name__ for its __module__.
        names -= {step.argval for step in steps if step.opname == "STORE_NAME"} | {"__name__"}
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    # Functions and comprehensions are CO_OPTIMIZED; among nested code objects only class bodies are not.
    return names.union(*(globals_read(part, not part.co_flags & CO_OPTIMIZED) for part in inner))


def _module_of(nodes: Iterable[ast.AST]) -> ast.Module:
    """Build a module whose children are these nodes."""
    return ast.Module(list(nodes), [])  # type: ignore[arg-type]


def awaits(tree: ast.AST) -> bool:
    """Return True if code has an await at its top level."""
    return any(
        isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith))
        or (isinstance(node, ast.comprehension) and bool(node.is_async))
        for node in _descendants(tree, SCOPES)
    )


def insert_hooks(tree: ast.AST) -> None:
    """Insert a call of the hook after every assignment at the top level of code (modifies the tree).

    After ``y = ...`` on line 3 comes ``__tape_named__('y', 3)``; ``(y := ...)`` becomes
    ``(y := __tape_named__('y', 3, ...))``.
    """
    for node in list(_descendants(tree, SCOPES)):
        if isinstance(node, ast.NamedExpr):
            node.value = _hook_call(node.target.id, node, node.value)
    if isinstance(tree, ast.Module):
        tree.body = _with_hooks(tree.body)


def _descendants(node: ast.AST, closed: tuple[type[ast.AST], ...]) -> Iterator[ast.AST]:
    """Yield the descendants of a node without descending into nodes of the types `closed`."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, closed):
            yield from _descendants(child, closed)


def _bound(nodes: Iterator[ast.AST]) -> set[str]:
    """Return the names that these nodes bind."""
    names: set[str | None] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest)
    return {name for name in names if name}


def _with_hooks(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements with a call of the hook after each one that binds a name."""
    result: list[ast.stmt] = []
    for statement in body:
        result.append(statement)
        if isinstance(statement, SCOPES):
            continue
        # A loop binds its target before each iteration, so the hook for names in a header comes first in the body.
        blocks = list(_blocks(statement))
        for holder, field in blocks:
            inner = _with_hooks(getattr(holder, field))
            if field == "body":
                headers = _bound_by_header(statement) | _bound_by_header(holder)
                loop = statement if isinstance(statement, ast.For | ast.AsyncFor) else None
                inner = _hook_calls(headers, loop.target if loop else inner[0]) + inner
            setattr(holder, field, inner)
        if not blocks:
            result += _hook_calls(_bound_by_header(statement), statement)
    return result


def _blocks(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """Yield the blocks of a compound statement, each as a node and the name of its field."""
    holders = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    for holder in holders:
        for field in ("body", "orelse", "finalbody"):
            if getattr(holder, field, None):
                yield holder, field


def _bound_by_header(node: ast.AST) -> set[str]:
    """Return the names that a statement binds outside its blocks, such as the target of a loop."""
    headers = [getattr(node, field) for field in node._fields if field not in BLOCKS]
    parts = [
        part for header in headers for part in (header if isinstance(header, list) else [header])
    ]
    outer = _module_of(part for part in parts if isinstance(part, ast.AST))
    # (y := ...) got its hook inside the expression already.
    walrus = {
        part.target for part in _descendants(outer, SCOPES) if isinstance(part, ast.NamedExpr)
    }
    nodes = _descendants(outer, NEW_SCOPES)
    return _bound(part for part in nodes if part not in walrus)


def _hook_calls(names: set[str], place: ast.AST) -> list[ast.stmt]:
    """Build a call of the hook for each name, at the line of `place`."""
    return [ast.copy_location(ast.Expr(_hook_call(name, place)), place) for name in sorted(names)]


def _hook_call(name: str, place: ast.AST, *value: ast.expr) -> ast.Call:
    arguments = [ast.Constant(name), ast.Constant(place.lineno), *value]  # type: ignore[attr-defined]
    call = ast.Call(ast.Name(HOOK, ast.Load()), arguments, [])
    # At the line of the assignment, so that errors and call sites name it, not line 1.
    return ast.fix_missing_locations(ast.copy_location(call, place))
