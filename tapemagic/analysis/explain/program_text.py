"""The names that a program binds and reads, by its text: from which names a value is made."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tapemagic.analysis.formatting import without_subscript
from tapemagic.engine.events import Place

_CHANGING = (
    "add append appendleft assign assign_add assign_sub extend fill insert put setdefault update"
)
CHANGING = frozenset(_CHANGING.split())
"""Methods that put their arguments into what they are called on."""

WRITING = {"at", "copyto", "fill_diagonal", "place", "put", "putmask"}
"""Functions of NumPy that put their arguments into the first one."""

RETURNED = "return"
"""Stands for what a function returns: no name can be this word."""

MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef)


class Flow(NamedTuple):
    """The names that one statement binds, or changes the objects of, and those that it reads."""

    bound: set[str]
    read: set[str]


def made_from(place: Place | None, value: str) -> set[str]:
    """The names from which the program makes a value, by what it does around a place; its own is among them."""
    tree = tree_of(place)
    if tree is None or place is None:
        return set()
    scopes = [s for s in reversed(around(tree, place.line)) if isinstance(s, FUNCTIONS)]
    bodies = [*(scope.body for scope in scopes), tree.body]
    return next(filter(None, (sources(body, value) for body in bodies)), set())


def made_before(place: Place | None, one: str, other: str) -> bool:
    """Whether the program binds a name nowhere after it first binds another: not for the next round of a loop."""
    tree = tree_of(place)
    flows = [(s.lineno, _flow(s).bound) for s in _statements(tree.body if tree else [])]
    ones, others = ([line for line, bound in flows if name in bound] for name in (one, other))
    return bool(ones and others) and max(ones) < min(others)


def only_branch(place: Place | None, value: str, source: str) -> ast.expr | None:
    """The condition of the only branch in which a program makes a value from a name; None if there is no such."""
    tree = tree_of(place)
    wanted = names_in(source)
    if tree is None or not wanted & sources(tree.body, value):
        return None
    for node in ast.walk(tree):
        for branch in (node.body, node.orelse) if isinstance(node, ast.If) else ():
            if not wanted & sources(tree.body, value, set(_statements(branch))):
                return (
                    node.test if isinstance(node, ast.If) and branch is node.body else _else(node)
                )
    return None


def _else(node: ast.AST) -> ast.expr:
    """The negation of a condition."""
    test = node.test if isinstance(node, ast.If) else ast.Constant(value=True)
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def sources(
    body: Sequence[ast.stmt], value: str, but: Collection[ast.stmt] = frozenset()
) -> set[str]:
    """The names from which statements, `but` for some, make a value, its own first; none if they do not make it."""
    flows = [_flow(statement) for statement in _statements(body) if statement not in but]
    found = {value} if value == RETURNED else names_in(value)
    if not any(flow.bound & found for flow in flows):
        return set()
    size = 0
    while len(found) > size:
        size = len(found)
        for flow in flows:
            if flow.bound & found:
                found |= flow.read
    return found


def reads_of(tree: ast.AST, name: str) -> int:
    """The number of times that a program reads a name to bind something, or to return it."""
    found = 0
    for statement in ast.walk(tree):
        simple = isinstance(statement, ast.stmt) and not hasattr(statement, "body")
        if simple and _flow(statement).bound:
            nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            found += sum(node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)
    return found


def given_to(place: Place | None, words: Collection[str]) -> set[str]:
    """The names that are read in calls of functions of certain names, and in the functions given to them."""
    tree = tree_of(place)
    found: set[str] = set()
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call):
            method = getattr(node.func, "attr", "")
            called = {method, f".{method}", getattr(node.func, "id", "")}
            found |= set() if called.isdisjoint(words) else names_read(node)
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)] if tree else []
    for function in functions:
        found |= names_read(function) if function.name in found else set()
    return found


def tree_of(place: Place | None) -> ast.Module | None:
    """The program of which a place is a line, if its text is known."""
    return _parsed("".join(linecache.getlines(place.file))) if place else None


@lru_cache(16)
def _parsed(text: str) -> ast.Module | None:
    """A program; the lines that are magics stand still."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree: Any = compile(MAGIC.sub(r"\1pass", text), "<text>", "exec", flags)
    except (SyntaxError, ValueError):
        return None
    return tree  # type: ignore[no-any-return]


def names_in(expression: str) -> set[str]:
    """The names in an expression."""
    try:
        return names_read(ast.parse(without_subscript(expression), mode="eval"))
    except SyntaxError:
        return set()


def around(tree: ast.AST, line: int) -> list[ast.stmt]:
    """The statements around a line, the outermost first."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            inner = around(node, line)
            if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
                return [node, *inner]
            if inner:
                return inner
    return []


def loop_names(place: Place | None) -> set[str]:
    """The names that the loops around a place bind anew in every turn."""
    tree = tree_of(place)
    loops = around(tree, place.line) if tree and place else []
    return _bases([loop.target for loop in loops if isinstance(loop, (ast.For, ast.AsyncFor))])


def on_line(tree: ast.AST, line: int) -> list[ast.stmt]:
    """The innermost statements that have a part of themselves on a line."""
    innermost = around(tree, line)[-1:]
    others = [s for s in _statements([tree]) if s.lineno == line and not hasattr(s, "body")]
    return others if innermost and innermost[0] in others else innermost


def bound_on(tree: ast.AST, line: int) -> bool:
    """Whether a line binds a name, returns a value, or holds a function without a name that does."""
    here = on_line(tree, line)
    lambdas = (
        node for statement in here for node in ast.walk(statement) if isinstance(node, ast.Lambda)
    )
    return any(_flow(statement).bound for statement in here) or any(lambdas)


def _statements(body: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """All statements, those inside of loops and branches too, but not those of functions and classes."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, SCOPES):
            children = ast.iter_child_nodes(node)
            nested = (ast.stmt, ast.ExceptHandler, ast.match_case)
            yield from _statements([child for child in children if isinstance(child, nested)])


@lru_cache(4096)
def _flow(statement: ast.stmt) -> Flow:
    """The names that a statement itself binds and reads; of one with a body, its first line."""
    match statement:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return Flow({name}, names_read(statement))
        case ast.Assign(targets):
            return Flow(_bases(targets) | _walrus(statement), names_read(statement))
        case ast.AugAssign(target) | ast.AnnAssign(target):
            return Flow(
                _bases([target]) | _walrus(statement), names_read(statement) | _bases([target])
            )
        case ast.For(target, reach) | ast.AsyncFor(target, reach):
            return Flow(_bases([target]), names_read(reach))
        case ast.With(items) | ast.AsyncWith(items):
            held = [item.optional_vars for item in items if item.optional_vars]
            return Flow(_bases(held), set().union(*map(names_read, items)))
        case ast.If(test) | ast.While(test):
            return Flow(_walrus(test), names_read(test))
        case ast.Return() | ast.Expr(ast.Yield() | ast.YieldFrom()):
            return Flow({RETURNED} | _walrus(statement), names_read(statement))
        case ast.Expr(value):
            return Flow(_changed(value) | _walrus(statement), names_read(statement))
    return Flow(set(), set())


def _changed(value: ast.expr) -> set[str]:
    """The names whose objects a call that is a statement writes its arguments into."""
    match value:
        case ast.Call(ast.Attribute(owner, method)) if method in CHANGING:
            return _bases([owner])
        case ast.Call(ast.Attribute(_, function), [first, *_]) if function in WRITING:
            return _bases([first])
    return set()


def _bases(targets: Sequence[ast.expr]) -> set[str]:
    """The names that assignments to these targets bind, or change the objects of."""
    found: set[str] = set()
    for target in targets:
        match target:
            case ast.Name(name):
                found.add(name)
            case ast.Tuple(parts) | ast.List(parts):
                found |= _bases(parts)
            case ast.Attribute(owner) | ast.Subscript(owner) | ast.Starred(owner):
                found |= _bases([owner])
    return found


def _walrus(node: ast.AST) -> set[str]:
    return {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}


def names_read(node: ast.AST) -> set[str]:
    """The names that are read in a part of a program."""
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Load)}


def parameters(function: Function) -> set[str]:
    """The names of what a function is given."""
    return {part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}


def own_names(function: Function) -> set[str]:
    """The names that a function binds for itself, its parameters among them."""
    bound, shared = parameters(function), set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
    return bound - shared
