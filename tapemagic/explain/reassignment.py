"""Find the line that replaced a Variable with a tensor, as ``w = w - rate * gradient`` does, and write it right."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tapemagic.engine.events import CELL_FILE, Place
from tapemagic.engine.recording import CONSTANT
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.explain.advice import MAX_REPLACEMENT, listed
from tapemagic.explain.formatting import format_line
from tapemagic.explain.program_text import (
    Function,
    around,
    expression_of,
    local_names,
    names_read,
    on_line,
    parameters,
    statements,
    text_of,
)
from tapemagic.explain.query import Question

METHODS = {ast.Sub: "assign_sub", ast.Add: "assign_add"}
"""The methods of a Variable that replace `w = w - x` and `w = w + x`."""


class Binding(NamedTuple):
    """A statement that assigns to a name, with the target and the value as written.

    - `value`: None if the statement doesn't show the value, as in ``for w in weights`` or ``w, b = step(w, b)``.
    """

    statement: ast.stmt
    target: ast.expr
    value: ast.expr | None


class Reassignment(NamedTuple):
    """A line that gave the name of a Variable to a new tensor.

    - `line`: The line as text.
    - `was_variable`: False if the name may have had another value before.
    - `instead`: The calls to write instead, as in ``w.assign_sub(rate * gradient)``.
    """

    line: str
    was_variable: bool
    instead: str


def reassignment(q: Question) -> Reassignment | None:
    """Find the line that replaced the Variable of the source's name with the source."""
    expression = expression_of(q.source_name)
    # A constant is never the result of an operation, so no update computed it.
    if expression is None or (isinstance(q.source, Traced) and id_of(q.source) == CONSTANT):
        return None
    replacing, was_variable = _replaced_in_cell(q, expression), _was_variable(q)
    for place, found in _bindings(q.program.place, expression):
        updates = [binding for binding in found if _reads_itself(binding)]
        if replacing is None and updates:
            replacing = place, updates[-1]
        elif replacing is None and found and not any(map(_creates_variable, found)):
            return None
        created = [binding for binding in found if _creates_variable(binding)]
        # Any other assignment in between may have bound the name to something else.
        if created or len(updates) < len(found):
            was_variable |= bool(created)
            break
    if replacing is None:
        return None
    place, binding = replacing
    line = format_line(place._replace(line=binding.statement.lineno))
    if q.program.place and place.file != q.program.place.file:
        line = f"{line} of another cell"
    # In `w, b = w - dw, b - db`, the advice for w leaves no line for b.
    parts = [part for part in _assigned(binding.statement) if _reads_itself(part)]
    others = [part for part in parts if _is_variable(q.program.place, part.target)]
    return Reassignment(line, was_variable, _instead(binding, others, q.source_name))


def _is_variable(place: Place | None, expression: ast.expr) -> bool:
    """Return True if the program assigns a Variable to an expression."""
    return any(
        _creates_variable(part) for _, found in _bindings(place, expression) for part in found
    )


def _was_variable(q: Question) -> bool:
    """Return True if the recorded program bound the name to a Variable before."""
    variables = {id_of(x) for x in q.snapshot.contents.variables} | q.program.variables
    return any(i in variables for i, _ in q.bindings)


def _replaced_in_cell(q: Question, expression: ast.expr) -> tuple[Place, Binding] | None:
    """Return the assignment of the source in the recorded cell, if the cell bound the name to a Variable before."""
    lines = [
        line
        for i, line in q.bindings
        if line and isinstance(q.source, Traced) and i == id_of(q.source)
    ]
    place = q.program.place
    if not lines or place is None or not _was_variable(q):
        return None
    here = on_line(text_of(place)[0], lines[-1])
    found = [binding for s in here for binding in _assigned(s) if _fits(binding.target, expression)]
    return (place, found[-1]) if found else None


def _bindings(place: Place | None, expression: ast.expr) -> Iterator[tuple[Place, list[Binding]]]:
    """Yield the assignments to an expression around a place, in its program, and in other cells, the newest first."""
    if place is None:
        return
    tree, line = text_of(place)
    name = ast.unparse(expression)
    passed_to: set[str] = set()
    for scope in reversed(around(tree, line)):
        if not isinstance(scope, Function):
            continue
        yield place, _assigned_in(scope.body, expression)
        if name in local_names(scope).difference(parameters(scope)):
            return
        if name in parameters(scope):
            passed_to.add(scope.name)
    yield place, _through(_assigned_in(tree.body, expression), passed_to)
    if not CELL_FILE.search(place.file):
        return
    # Of a copy, because a thread may add a cell meanwhile.
    for file in reversed([*linecache.cache]):
        if CELL_FILE.search(file) and file != place.file:
            other = Place(file, 1, "")
            yield other, _through(_assigned_in(text_of(other)[0].body, expression), passed_to)


def _assigned_in(body: Sequence[ast.stmt], expression: ast.expr) -> list[Binding]:
    """Return the assignments of a scope that change the value of an expression."""
    nodes: Iterable[ast.AST] = statements(body)
    # A method assigns to self.w, which other code calls model.w.
    if isinstance(expression, ast.Attribute):
        nodes = (node for statement in body for node in ast.walk(statement))
    stmts = (node for node in nodes if isinstance(node, ast.stmt))
    return [b for s in stmts for b in _assigned(s) if _fits(b.target, expression)]


def _through(bindings: list[Binding], functions: set[str]) -> list[Binding]:
    """Select the assignments that concern a parameter of functions, as ``w = step(w)`` concerns that of ``step``."""
    if not functions:
        return bindings
    return [b for b in bindings if _creates_variable(b) or functions & names_read(b.statement)]


def _assigned(statement: ast.stmt) -> Iterator[Binding]:
    """Yield what a statement itself assigns, and not the statements inside it."""
    match statement:
        case ast.Assign(targets, value):
            for target in targets:
                yield from _unpacked(statement, target, value)
        case ast.AnnAssign(target, _, value) if value is not None:
            yield Binding(statement, target, value)
        case ast.AugAssign(target, op, value):
            yield Binding(statement, target, ast.BinOp(target, op, value))
        case ast.For(target) | ast.AsyncFor(target):
            yield from _unpacked(statement, target, None)
        case ast.With(items) | ast.AsyncWith(items):
            for item in items:
                if item.optional_vars:
                    yield from _unpacked(statement, item.optional_vars, None)


def _unpacked(statement: ast.stmt, target: ast.expr, value: ast.expr | None) -> Iterator[Binding]:
    """Yield the parts of an assignment to a tuple, each with its own value if the program shows it."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield Binding(statement, target, value)
        return
    values = getattr(value, "elts", [])
    starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *values])
    if starred or len(values) != len(target.elts):
        # The value of each part isn't written, but the statement shows what all of them are computed from.
        values = [None] * len(target.elts)
    for part, written in zip(target.elts, values, strict=True):
        yield from _unpacked(statement, part, written)


def _fits(target: ast.expr, expression: ast.expr) -> bool:
    """Return True if an assignment to a target changes the value of an expression."""
    match target, expression:
        case ast.Subscript(owner, ast.Name()), ast.Subscript(own):
            return ast.unparse(owner) == ast.unparse(own)  # params[k], with any k
        case ast.Attribute(_, attribute), ast.Attribute(_, own_attribute):
            return attribute == own_attribute
    while True:
        if ast.unparse(target) == ast.unparse(expression):
            return True
        # A new list has new elements: params = [...] changes params[0].
        if not isinstance(expression, ast.Subscript):
            return False
        expression = expression.value


def _reads_itself(binding: Binding) -> bool:
    """Return True if the new value is computed from the old one, as in ``w = w - x``."""
    read = binding.value if binding.value is not None else getattr(binding.statement, "value", None)
    return (
        read is not None
        and not _creates_variable(binding)
        and bool(_names(binding.target) & names_read(read))
    )


def _names(target: ast.expr) -> set[str]:
    """Return the name at the start of a target: params in ``params[0]``."""
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def _creates_variable(binding: Binding) -> bool:
    """Return True if the new value is a Variable, or contains Variables."""
    value = (
        binding.value if binding.value is not None else getattr(binding.statement, "value", None)
    )
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call)) if value else ()
    return any(ast.unparse(call.func).split(".")[-1] == "Variable" for call in calls)


def _instead(binding: Binding, others: list[Binding], name: str) -> str:
    """Write the calls that change the Variables instead of replacing them."""
    targets = [binding, *(part for part in others if part != binding)]
    calls = [call for part in targets if (call := _call(part))]
    if len(calls) == len(targets) and sum(map(len, calls)) <= MAX_REPLACEMENT:
        return listed(calls)
    return _short_call(binding) or f"{name}.assign(...) with the new value"


def _target(node: ast.expr) -> str:
    """Write the target of a loop, without the parentheses that ast.unparse puts around a tuple."""
    text = ast.unparse(node)
    return text[1:-1] if isinstance(node, ast.Tuple) else text


def _short_call(binding: Binding) -> str:
    """Return the call without its argument, which is too long to repeat."""
    call = _call(binding)
    return f"{call.partition('(')[0]}(...)" if call and ":" not in call.partition("(")[0] else ""


def _call(binding: Binding) -> str:
    """Write the call that replaces one assignment, or '' if the program doesn't show the value."""
    target, value = ast.unparse(binding.target), binding.value
    match value:
        case None:
            return ""
        case ast.BinOp(left, op, right) if type(op) in METHODS and ast.unparse(left) == target:
            return f"{target}.{METHODS[type(op)]}({ast.unparse(right)})"
        case ast.ListComp(ast.BinOp(left, op, right), [loop]) | ast.DictComp(
            _, ast.BinOp(left, op, right), [loop]
        ) if type(op) in METHODS and not loop.ifs:
            # Only a Variable from the loop itself can be assigned: p of `for p, g in zip(params, grads)`.
            if _names(left) & (_names(loop.target) | _names(binding.target)):
                call = f"{ast.unparse(left)}.{METHODS[type(op)]}({ast.unparse(right)})"
                return f"for {_target(loop.target)} in {ast.unparse(loop.iter)}: {call}"
            return ""
        case ast.List() | ast.Tuple() | ast.Dict() | ast.ListComp() | ast.DictComp():
            return ""
    return f"{target}.assign({ast.unparse(value)})"
