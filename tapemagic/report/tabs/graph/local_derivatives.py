"""Formulas of local derivatives: those of an operation's result with respect to each of its inputs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache

from tapemagic.engine.recording import Record
from tapemagic.report.tabs.trace.formulas import INPUTS, formula_of
from tapemagic.report.tabs.trace.notation import Symbol, rendered

SHAPING = {"like", "spread", "total"}
"""Functions in formulas that act on more than one element."""


def local_derivative(record: Record, position: int, inputs: Sequence[Symbol], y: Symbol) -> str:
    """The local derivative of an elementwise operation as a formula; empty if it is a number, or not known.

    Parameters
    ----------
    record : Record
    position : int
        Of the input.
    inputs : sequence of Symbol
    y : Symbol
        The symbol of the result.
    """
    formula = formula_of(record)
    written = formula and position < len(formula.adjoints) and formula.adjoints[position]
    slope = _slope(written) if written else ""
    if not slope:
        return ""
    names = dict(zip(INPUTS, inputs, strict=False)) | {"y": y, "pi": Symbol("π", r"\pi")}
    try:
        return rendered(slope, names).text
    except KeyError:
        return ""


@cache
def _slope(adjoint: str) -> str:
    """The formula of what an operation passes on, without the adjoint of the result.

    Examples
    --------
    >>> _slope("-(g * sin(a))"), _slope("g / (2 * y)"), _slope("g")
    ('-sin(a)', '1 / (2 * y)', '')
    """
    tree = ast.parse(adjoint, mode="eval").body
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    matrices = any(isinstance(node, (ast.MatMult, ast.Attribute)) for node in ast.walk(tree))
    if matrices or named & SHAPING or "g" not in named:
        return ""
    slope = _WithoutG().visit(tree)
    is_number = not any(isinstance(node, ast.Name) for node in ast.walk(slope))
    return "" if is_number else ast.unparse(slope)


class _WithoutG(ast.NodeTransformer):
    """Puts 1 in the place of g, and drops it as a factor."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(1) if node.id == "g" else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Mult):
            for one, other in ((left, right), (right, left)):
                if isinstance(one, ast.Constant) and one.value == 1:
                    return other  # type: ignore[no-any-return]
        return ast.BinOp(left, node.op, right)
