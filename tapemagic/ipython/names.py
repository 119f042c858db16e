"""Who is called what: the names that a cell assigns and reads, and a way to hear of every assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterator

HOOK = "__tape_named__"
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def assigned(tree: ast.AST) -> set[str]:
    """The names that code assigns at its top level: loops and branches included, functions not."""
    return {node.id for node in _here(tree) if isinstance(node, ast.Name) and _stored(node)}


def read(tree: ast.AST) -> set[str]:
    """The names that code reads, anywhere in it."""
    nodes = ast.walk(tree)
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def awaits(tree: ast.AST) -> bool:
    """Whether code awaits something at its top level."""
    return any(isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) for node in _here(tree))


def announce(tree: ast.Module) -> ast.Module:
    """Code in which every assignment of a name ``y`` is followed by ``y = __tape_named__('y', y)``."""
    tree.body = _announced(tree.body)
    return tree


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _here(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run at the top level."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*SCOPES, *COMPREHENSIONS)):
            yield from _here(child)


def _announced(body: list[ast.stmt]) -> list[ast.stmt]:
    result = []
    for statement in body:
        result.append(statement)
        if isinstance(statement, (*SCOPES, ast.Delete, ast.Global, ast.Nonlocal)):
            continue
        blocks = _blocks(statement)
        heads = _head_names(statement)
        for holder, field in blocks:
            inner = _announced(getattr(holder, field))
            if field == "body":
                inner = _hooks(heads | _head_names(holder), inner[0]) + inner
            setattr(holder, field, inner)
        if not blocks:
            result += _hooks(heads, statement)
    return result


def _blocks(statement: ast.stmt) -> list[tuple[ast.AST, str]]:
    """The blocks of statements inside a statement: the node that holds each, and its field."""
    holders: list[ast.AST] = [statement]
    holders += getattr(statement, "handlers", [])
    holders += getattr(statement, "cases", [])
    fields = ("body", "orelse", "finalbody")
    return [(holder, field) for holder in holders for field in fields if getattr(holder, field, None)]


def _head_names(node: ast.AST) -> set[str]:
    """The names that a statement assigns outside of its blocks: a loop's target, say."""
    names: set[str] = set()
    for field, value in ast.iter_fields(node):
        if field in ("body", "orelse", "finalbody", "handlers", "cases"):
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                names |= assigned(ast.Expression(part))  # type: ignore[arg-type]
    return names


def _hooks(names: set[str], place: ast.stmt) -> list[ast.stmt]:
    """An announcement of each name, at the line of `place`."""
    hooks = []
    for name in sorted(names):
        call = ast.Call(ast.Name(HOOK, ast.Load()), [ast.Constant(name), ast.Name(name, ast.Load())], [])
        hook = ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], call), place)
        hooks.append(ast.fix_missing_locations(hook))
    return hooks
