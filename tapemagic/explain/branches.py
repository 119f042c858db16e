"""Find the branch that returned a constant, by reading the program's source.

If a target is a plain number although no call converted a tensor, a branch such as ``return 0.0`` returned it. The
source shows which one if exactly one constant among all branches equals the number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np

from tapemagic.engine.events import Place, origin_of
from tapemagic.engine.tensor.tensor import id_of
from tapemagic.explain.formatting import format_line, format_number
from tapemagic.explain.program_text import (
    around,
    innermost_function,
    names_read,
    statements,
    text_of,
)
from tapemagic.explain.query import Program, Question

MAX_DEPTH = 4
"""Maximum number of names and calls to follow."""

EXTREMES = {"max": "np.maximum", "min": "np.minimum"}
LOOPS = ast.For, ast.AsyncFor, ast.While
BRANCHING = (*LOOPS, ast.If, ast.Try, ast.Match)
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda


@dataclass(frozen=True)
class Constant:
    """A constant in the source that a value may come from.

    - `line`: The line that returns the constant or binds it to a name.
    - `function`: The function that returned it, or '' for the program itself.
    - `name`: The returned name, or '' if the function returns the number itself.
    - `loop`: The line of a loop that should have changed it and didn't.
    - `is_whole`: True if the constant is the value, False if the value was computed from it.
    """

    value: Any
    line: int
    function: str = ""
    file: str = ""
    name: str = ""
    loop: int | None = None
    is_whole: bool = True


@dataclass(frozen=True)
class Scope:
    """The body of a program or function, with the expressions of its arguments."""

    body: Sequence[ast.stmt]
    file: str
    function: str = ""
    arguments: Mapping[str, tuple[ast.expr, Scope]] = field(default_factory=dict)


def constant_branch(program: Program, name: str, value: Any, source: str) -> str:
    """Say which branch returned a plain number. Return '' if the source doesn't show which."""
    place = program.place
    if place is None:
        return ""
    scope = Scope(text_of(place)[0].body, place.file)
    candidates = list(dict.fromkeys(_of_name(name, scope, program, MAX_DEPTH)))
    exact = [c for c in candidates if c.is_whole and _is_equal(c.value, value)]
    chosen = exact or [c for c in candidates if not c.is_whole]
    # If two candidates equal the value, either of them may have run, and a sentence about the first may be wrong.
    return _sentence(chosen[0], name, source, place.file) if len(chosen) == 1 else ""


def constant_inside(program: Program, name: str, source: str, choices: Sequence[Place]) -> str:
    """Say which constant a function returned for use in a value. Return '' if that isn't certain.

    - `name`: The name of the value.
    - `source`: The name of the compared value.
    - `choices`: The places of the comparisons. The function must contain at least one of them.
    """
    if program.place is None:
        return ""
    scope = Scope(text_of(program.place)[0].body, program.place.file)
    constants = [
        constant
        for constant in dict.fromkeys(_of_name(name, scope, program, MAX_DEPTH))
        if not constant.is_whole and any(_chosen_by(constant, place) for place in choices)
    ]
    return _sentence(constants[0], name, source, program.place.file) if len(constants) == 1 else ""


def _chosen_by(constant: Constant, place: Place) -> bool:
    """Return True if a function compares at `place`, and then returns the constant or uses its arguments."""
    tree, _ = text_of(Place(constant.file, constant.line, ""))
    function = innermost_function(tree, constant.line)
    if function is None or function is not innermost_function(*text_of(place)):
        return False
    arguments = function.args
    names = {x.arg for x in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    inside = function.body
    body = [ast.Return(inside)] if isinstance(inside, ast.expr) else inside
    returned = list(_returned(Scope(body, constant.file)))
    computed = [value for value in returned if not isinstance(value, (ast.Constant, ast.UnaryOp))]
    return all(names_read(value) & {*names, constant.name} for value in computed)


def _is_equal(a: Any, b: Any) -> bool:
    """Return True if two plain numbers are equal, or both nan."""
    # nan is the only number that differs from itself.
    return not np.ndim(b) and bool(a == b or (a != a and b != b))  # noqa: PLR0124


def _sentence(constant: Constant, name: str, source: str, file: str) -> str:
    """Say which constant a value is, and which line it comes from."""
    number = format_number(constant.value)
    where = f"line {constant.line}"
    if constant.file != file:
        where += f" of the cell that defines {constant.function}"
    what = f"the constant {number}"
    if constant.function:
        if constant.name:
            what = f"{constant.name}, which was {what}"
        text = f"{constant.function} returned {what} ({where})"
    else:
        text = f"{name} is {what} from {where}"
    if constant.loop is not None:
        text += f", and the loop on line {constant.loop} didn't change it"
    part = "" if constant.is_whole else f", and {name} was computed from it"
    advice = ""
    if constant.function in EXTREMES:
        advice = f" Write {EXTREMES[constant.function]}, which the tape can track whichever value it takes."
    return f"{text}{part}. A constant doesn't depend on {source}, so the derivative is 0.{advice}"


def branch_taken(q: Question) -> str:
    """Return the end of a sentence that names the branch in which a function computed a target, or ''."""
    origins = q.snapshot.origins
    for position in range(min(len(origins.sites), len(q.snapshot.records)) - 1, -1, -1):
        if q.snapshot.records[position][-1] == id_of(q.target):
            _, call, offset, _ = origins.sites[position]
            code, name = origins.calls[call].code, origins.calls[call].name
            if not call or code is None or origin_of(code.co_filename) != "":
                return ""
            # The last expression of a cell has a separate code object, whose offsets start at 2**24 (callsites.END).
            if offset // 2 >= len(code.co_code) // 2:
                return ""
            line = list(code.co_positions())[offset // 2][0] or 0
            place = Place(code.co_filename, line, "")
            inside = [s for s in around(*text_of(place)) if s.lineno > code.co_firstlineno]
            is_branch = any(isinstance(s, ast.If | ast.Match) for s in inside)
            follows = len(list(_returns_before(place, code.co_firstlineno))) > 0
            if not (is_branch or follows):
                return ""
            return f": {name} ran the branch that ends on {format_line(place)}"
    return ""


def _returns_before(place: Place, first: int) -> Iterator[ast.stmt]:
    """Yield the return statements before a place, in the function that begins on line `first`."""
    tree, line = text_of(place)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            # co_firstlineno is the line of the first decorator, if there are decorators.
            lines = {node.lineno, *(decorator.lineno for decorator in node.decorator_list)}
            returns = [s for s in statements(node.body) if isinstance(s, ast.Return)]
            yield from (s for s in returns if first in lines and s.lineno < line)


def _of_name(name: str, scope: Scope, program: Program, depth: int) -> Iterator[Constant]:
    """Yield the constants that a name may refer to."""
    assignments = _last_assignments(scope.body, name)
    if not assignments and name in scope.arguments:
        node, outer = scope.arguments[name]
        yield from _of(node, outer, program, depth - 1)
        return
    if not assignments and not scope.function:
        # The "name" is then the text of the cell's last expression.
        ends = [s.value for s in scope.body[-1:] if isinstance(s, ast.Expr)]
        assignments = [end for end in ends if ast.unparse(end) == name != getattr(end, "id", "")]
    loops = [s for s in statements(scope.body) if isinstance(s, LOOPS)]
    changing = [loop.lineno for loop in loops if any(_assignments([loop], name))]
    for node in assignments:
        after = [line for line in changing if line > node.lineno]
        stays = after and isinstance(node, ast.Constant)
        for constant in _of(node, scope, program, depth - 1):
            yield replace(constant, loop=after[0]) if stays else constant


def _last_assignments(body: Sequence[ast.stmt], name: str) -> list[ast.expr]:
    """Return the expressions that a name may be bound to at the end of a body."""
    expressions: list[ast.expr] = []
    for statement in body:
        bound = list(_assignments([statement], name))
        # An assignment outside of branches always runs, so it replaces all earlier ones.
        if bound and not isinstance(statement, BRANCHING):
            expressions.clear()
        expressions += bound
    return expressions


def _of(node: ast.expr, scope: Scope, program: Program, depth: int) -> Iterator[Constant]:
    """Yield the constants that an expression may evaluate to."""
    if depth < 0:
        return
    match node:
        case ast.Constant(number) if isinstance(number, (int, float, complex)):
            yield Constant(number, node.lineno, "", scope.file)
        case ast.UnaryOp(ast.USub(), ast.Constant(number)) if isinstance(number, (int, float)):
            yield Constant(-number, node.lineno, "", scope.file)
        case ast.IfExp(_, body, orelse):
            yield from _of(body, scope, program, depth)
            yield from _of(orelse, scope, program, depth)
        case ast.Name(name):
            yield from _of_name(name, scope, program, depth)
        case ast.Call(ast.Name(name)) if (called := _called(node, scope, program)) is not None:
            for value in _returned(called):
                for constant in _of(value, called, program, depth - 1):
                    yield _through(constant, value, name, called.file)
        case ast.Call(ast.Name("max" | "min" as name)) if name not in program.namespace:
            for argument in node.args:
                for constant in _of(argument, scope, program, depth - 1):
                    yield replace(constant, function=name, line=node.lineno)
        case _:
            yield from _inside(node, scope, program, depth - 1)


def _inside(node: ast.expr, scope: Scope, program: Program, depth: int) -> Iterator[Constant]:
    """Yield the constants that calls of user functions inside an expression may return."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and _called(inner, scope, program) is not None:
            for constant in _of(inner, scope, program, depth):
                yield replace(constant, is_whole=False)


def _through(constant: Constant, value: ast.expr, function: str, file: str) -> Constant:
    """Add the returning function and line to a constant."""
    if constant.function:
        return constant
    name = value.id if isinstance(value, ast.Name) else ""
    return replace(constant, function=function, name=name, line=value.lineno, file=file)


def _called(node: ast.Call, scope: Scope, program: Program) -> Scope | None:
    """Return the body of the user function that an expression calls, or None for other functions."""
    name = getattr(node.func, "id", "")
    function = program.namespace.get(name)
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    if origin_of(code.co_filename) != "":
        return None
    tree, line = text_of(Place(code.co_filename, code.co_firstlineno, ""))
    definitions = [
        part
        for part in ast.walk(tree)
        if isinstance(part, FUNCTIONS) and part.lineno <= line <= (part.end_lineno or 0)
        if getattr(part, "name", "<lambda>") == code.co_name
    ]
    # Two lambdas on one line have the same name and the same line.
    if len(definitions) != 1 or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    definition = definitions[0]
    names = [part.arg for part in (*definition.args.posonlyargs, *definition.args.args)]
    arguments = {key: (value, scope) for key, value in zip(names, node.args, strict=False)}
    arguments |= {word.arg: (word.value, scope) for word in node.keywords if word.arg}
    inside = definition.body
    body: Any = (
        [ast.Return(inside, lineno=inside.lineno)] if isinstance(inside, ast.expr) else inside
    )
    return Scope(body, code.co_filename, name, arguments)


def _returned(scope: Scope) -> Iterator[ast.expr]:
    """Yield the expressions that a function returns, both sides of a conditional expression separately."""
    for statement in statements(scope.body):
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield from _choices(statement.value)


def _choices(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _choices(node.body)
        yield from _choices(node.orelse)
    else:
        yield node


def _assignments(body: Sequence[ast.AST], name: str) -> Iterator[ast.expr]:
    """Yield the expressions that statements bind to a name, ``name += x`` as ``name + x``."""
    for statement in statements(body):
        match statement:
            case ast.Assign(targets, value):
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    yield value
            case ast.AnnAssign(ast.Name(target), _, value) if value is not None and target == name:
                yield value
            case ast.AugAssign(ast.Name(target), _, value) if target == name:
                yield ast.BinOp(
                    ast.Name(name, ast.Load()), statement.op, value, lineno=statement.lineno
                )
