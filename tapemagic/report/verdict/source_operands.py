"""Find the operands of an operation in the source code of its line."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType

from tapemagic.engine.events import Place
from tapemagic.explain.program_text import formula_text, on_line, operation_at, text_of
from tapemagic.report.subject import Subject

OPERATORS: Mapping[str, type[ast.operator]] = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "divide": ast.Div,
    "floor_divide": ast.FloorDiv,
    "remainder": ast.Mod,
    "power": ast.Pow,
    "square": ast.Pow,
    "matmul": ast.MatMult,
}
"""The operators that operations are written with."""

NAMES = {
    "absolute": {"abs", "absolute"},
    "divide": {"divide", "true_divide"},
    "power": {"power", "pow"},
}
"""The names of functions that operations are written with, if they differ from the operation's name."""

LONGEST = 40
"""Maximum number of characters in an operand that is used as a name."""


def operands_at(
    code: CodeType | None,
    offset: int,
    operation: str,
    write: Callable[[ast.AST], str] = ast.unparse,
) -> Sequence[str]:
    """Return the operands of the operation that an instruction computes, as the program writes them.

    Literals and long expressions become ''. Empty if the instruction computes something else, such as a call of a
    library that recorded several operations.
    """
    node = None if code is None else operation_at(code, offset)
    return [] if node is None else [short(x, write) for x in _operands(node, operation)]


def constants_in_text(subject: Subject, position: int) -> Sequence[str]:
    """Return, for each input of a recorded operation, the expression of a constant in the program, or ''.

    Values on the tape have names or symbols, so theirs is ''.
    """
    record, origins = subject.records[position], subject.snapshot.origins
    empty = [""] * len(record.ids)
    # A derivative is recorded with the line that took it, but its operations aren't written there.
    if (
        not origins.sites
        or origins.orders[position]
        or all(map(subject.snapshot.tracks, record.ids))
    ):
        return empty
    _, call, offset, _ = origins.sites[position]
    written = operands_at(origins.calls[call].code, offset, record.name, formula_text)
    if len(written) != len(record.ids):
        return empty
    # A number that the program replaces by a tensor, such as y = 0.0 before y = y + x, must not share its name.
    names = subject.once("names of tensors", lambda: frozenset(subject.stems.values()))
    return [
        "" if subject.snapshot.tracks(i) or text in names else text
        for i, text in zip(record.ids, written, strict=True)
    ]


def operands_on(place: Place | None, operation: str) -> Sequence[str]:
    """Return the operands of an operation as a line writes them. Literals and long expressions become ''.

    Empty unless the line has exactly one such operation.
    """
    # With two such operations on the line, the records don't show which of them a record belongs to.
    operations = [
        operands
        for statement in on_line(*text_of(place))
        for node in ast.walk(statement)
        if (operands := _operands(node, operation))
    ]
    return list(map(short, operations[0])) if len(operations) == 1 else []


def _operands(node: ast.AST, operation: str) -> Sequence[ast.expr]:
    """Return the operands of an expression, or () if it isn't the operation."""
    match node:
        case ast.BinOp(left, op, right) if isinstance(op, OPERATORS.get(operation, ())):
            return left, right
        case ast.AugAssign(target, op, value) if isinstance(op, OPERATORS.get(operation, ())):
            return target, value
        case ast.Call(ast.Attribute(_, name) | ast.Name(name), arguments) if name in NAMES.get(
            operation, {operation}
        ):
            return arguments
    return ()


def short(node: ast.expr, write: Callable[[ast.AST], str] = ast.unparse) -> str:
    """Return a short expression as text, or '' for literals and long expressions."""
    if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Starred):
        return ""
    if isinstance(node, ast.Call) and node.args and _is_literal(node.args[0]):
        return ""
    # A negative literal is a UnaryOp in Python's syntax tree.
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ""
    text = write(node)
    return text if len(text) <= LONGEST else ""


def _is_literal(node: ast.expr) -> bool:
    """Return True for a list of numbers, which says no more about an array than its elements do."""
    names = any(isinstance(part, ast.Name) for part in ast.walk(node))
    return isinstance(node, ast.List | ast.Tuple) and not names
