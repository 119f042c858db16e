"""The operands of an operation as they are written on a line of a program."""

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
"""The operators by which operations are written."""

NAMES = {
    "absolute": {"abs", "absolute"},
    "divide": {"divide", "true_divide"},
    "power": {"power", "pow"},
}
"""The names of the functions by which operations are written, where they differ from their own."""

LONGEST = 40
"""The number of characters of an operand that serves as a name."""


def operands_on(place: Place | None, operation: str) -> Sequence[str]:
    """The operands of an operation as a line writes them; empty unless the line has just one such operation.

    Literals, and what is too long for a name, are empty texts.
    """
    found = [
        operands
        for statement in on_line(*text_of(place))
        for node in ast.walk(statement)
        if (operands := _operands(node, operation))
    ]
    return list(map(short, found[0])) if len(found) == 1 else []


def _operands(node: ast.AST, operation: str) -> Sequence[ast.expr]:
    """The operands of an expression, if it is an operation."""
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
    """An expression as text if it is short and no literal; empty otherwise."""
    if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Starred):
        return ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ""
    text = ast.unparse(node)
    return text if len(text) <= LONGEST else ""
