"""Who is called what: the names that a cell assigns and reads, and a way to hear of every assignment."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import Any

HOOK = "__tape_named__"
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CLOSED = (*SCOPES, *COMPREHENSIONS)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
Kinds = tuple[type[ast.AST], ...]


def assigned(tree: ast.AST) -> set[str]:
    """The names that code assigns at its top level: loops and branches included, functions not."""
    names = _bound(_here(tree, CLOSED))
    return names | {
        node.target.id for node in _here(tree, SCOPES) if isinstance(node, ast.NamedExpr)
    }


def read(tree: ast.AST, own: Container[str] = ()) -> set[str]:
    """The names of the notebook that code reads, functions included, whose own names are not the notebook's."""
    names: set[str] = set()
    for node in _here(tree, CLOSED):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
            names.add(node.id)
        elif isinstance(node, CLOSED):
            names |= _read_through(node)
    return names


def _read_through(scope: Any) -> set[str]:
    """The names that a function, a class or a comprehension reads from around it."""
    if isinstance(scope, COMPREHENSIONS):
        targets = _block(part.target for part in scope.generators)
        return (read(scope) - _bound(_here(targets, ()))) | read(_block([scope.generators[0].iter]))
    body = scope.body if isinstance(scope.body, list) else [scope.body]
    head = _block(child for child in ast.iter_child_nodes(scope) if child not in body)
    inside = _block(body)
    if isinstance(scope, ast.ClassDef):
        return read(head) | read(inside, own=_local(inside))
    parameters = {node.arg for node in _here(scope.args, CLOSED) if isinstance(node, ast.arg)}
    return read(head) | (read(inside) - parameters - _local(inside))


def _local(block: ast.AST) -> set[str]:
    """The names that belong to a function with this body."""
    names, outer = assigned(block), set()
    for node in _here(block, CLOSED):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Global):
            outer.update(node.names)
    return names - outer


def _block(nodes: Iterable[ast.AST]) -> ast.Module:
    """Some nodes, as the children of one."""
    return ast.Module(list(nodes), [])  # type: ignore[arg-type]


def awaits(tree: ast.AST) -> bool:
    """Whether code awaits something at its top level."""
    return any(
        isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith))
        or (isinstance(node, ast.comprehension) and bool(node.is_async))
        for node in _here(tree, SCOPES)
    )


def announce(tree: ast.AST) -> None:
    """Change code so that it calls the hook at every assignment at its top level.

    After ``y = ...`` comes ``__tape_named__('y')``; ``(y := ...)`` becomes ``(y := __tape_named__('y', ...))``.
    """
    for node in list(_here(tree, SCOPES)):
        if isinstance(node, ast.NamedExpr):
            node.value = _call(node.target.id, node, node.value)
    if isinstance(tree, ast.Module):
        tree.body = _announced(tree.body)


def _here(node: ast.AST, closed: Kinds) -> Iterator[ast.AST]:
    """The nodes inside of a node, but not those inside of `closed` ones."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, closed):
            yield from _here(child, closed)


def _bound(nodes: Iterator[ast.AST]) -> set[str]:
    """The names to which nodes bind something."""
    names: set[str | None] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            names.add(node.rest)
    return {name for name in names if name}


def _announced(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements, with a call of the hook where a name was bound."""
    result: list[ast.stmt] = []
    for statement in body:
        result.append(statement)
        if isinstance(statement, SCOPES):
            continue
        blocks = list(_blocks(statement))
        for holder, field in blocks:
            inner = _announced(getattr(holder, field))
            if field == "body":
                heads = _heads(statement) | _heads(holder)
                inner = _hooks(heads, inner[0]) + inner
            setattr(holder, field, inner)
        if not blocks:
            result += _hooks(_heads(statement), statement)
    return result


def _blocks(statement: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """The blocks of statements inside a statement: the node that holds each, and its field."""
    holders = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
    for holder in holders:
        for field in ("body", "orelse", "finalbody"):
            if getattr(holder, field, None):
                yield holder, field


def _heads(node: ast.AST) -> set[str]:
    """The names that a statement binds outside of its blocks: a loop's target, say."""
    heads = [getattr(node, field) for field in node._fields if field not in BLOCKS]
    parts = [part for head in heads for part in (head if isinstance(head, list) else [head])]
    outer = _block(part for part in parts if isinstance(part, ast.AST))
    walrus = {part.target for part in _here(outer, SCOPES) if isinstance(part, ast.NamedExpr)}
    found = _here(outer, CLOSED)
    return _bound(part for part in found if part not in walrus)


def _hooks(names: set[str], place: ast.stmt) -> list[ast.stmt]:
    """A call of the hook for each name, at the line of `place`."""
    return [ast.copy_location(ast.Expr(_call(name, place)), place) for name in sorted(names)]


def _call(name: str, place: ast.AST, *value: ast.expr) -> ast.Call:
    call = ast.Call(ast.Name(HOOK, ast.Load()), [ast.Constant(name), *value], [])
    return ast.fix_missing_locations(ast.copy_location(call, place))
