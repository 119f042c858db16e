"""Find the operands of an operation in the source code of its line."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tapemagic.engine.events import Place
from tapemagic.explain.program_text import on_line, text_of

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


def short(node: ast.expr) -> str:
    """Return a short expression as text, or '' for literals and long expressions."""
    if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Starred):
        return ""
    # A negative literal is a UnaryOp in Python's syntax tree.
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST else ""
