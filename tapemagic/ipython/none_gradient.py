"""Explain why a name is None, for names that were assigned a gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from tapemagic.engine.events import Place
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import has_id, id_of
from tapemagic.explain.explain import explain
from tapemagic.explain.formatting import derivative_symbol
from tapemagic.explain.program_text import (
    Function,
    around,
    names_bound,
    names_read,
    parameters,
    text_of,
)
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import snapshot_of
from tapemagic.ipython.session import Session
from tapemagic.report.failure.operands import UNKNOWN, Names, written


def why_none_at(
    place: Place, node: ast.expr, namespace: Mapping[str, Any], session: Session
) -> str:
    """Explain why an expression has the value None: its gradient is missing.

    - `place`: The line.
    - `namespace`: The names at that line.

    Returns
    -------
    str
        Empty unless the program binds the name once, to a gradient, and the names in that call still have their
        values: otherwise the explanation might be about other values.
    """
    tree, line = text_of(place)
    name = _owner(node)
    binding = [part for part in ast.walk(tree) if _binds(part, name)]
    # With two bindings only the run knows which one counts; guessing could name the wrong tape.
    match binding:
        case [
            ast.Assign(
                [target], ast.Call(ast.Attribute(taker, "gradient"), [y, sources, *_])
            ) as taken
        ]:
            x = _source_of(node, target, sources)
        case [ast.For(target, iterable) | ast.comprehension(target, iterable)]:
            item = _item_of(name, target, iterable, namespace)
            return why_none_at(place, item, namespace, session) if item else ""
        case _:
            return ""
    used = {*names_read(taker), *names_read(y), *names_read(sources)}
    between = (part for part in ast.walk(tree) if taken.lineno < getattr(part, "lineno", 0) < line)
    # In another function the same name may be another variable, and a later line has not run yet.
    if x is None or _functions(tree, line) != _functions(tree, taken.lineno) or line < taken.lineno:
        return ""
    # A name that was bound again in between no longer has the value that the gradient was taken of.
    if names_bound(between) & used or name in _parameters(tree, line):
        return ""
    values = [Names(namespace).value(part) for part in (taker, y, x)]
    if any(value is UNKNOWN for value in values) or not isinstance(values[0], Tape):
        return ""
    return _reason(
        values[0],
        written(taker),
        (written(y), values[1]),
        (written(x), values[2]),
        place,
        namespace,
        session,
    )


def _owner(node: ast.expr) -> str:
    """Return the name in front of all indices and attributes, or '' for any other expression."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _item_of(
    name: str, target: ast.expr, iterable: ast.expr, namespace: Mapping[str, Any]
) -> ast.expr | None:
    """Return the first item that is None, as grads[0], of the list that a loop reads into a name."""
    match target, iterable:
        case ast.Tuple(targets), ast.Call(ast.Name("zip"), lists):
            pairs = [*zip(targets, lists, strict=False)]
        case _:
            pairs = [(target, iterable)]
    for part, container in pairs:
        if isinstance(part, ast.Name) and part.id == name:
            values = Names(namespace).value(container)
            # Exact types only: a subclass may override __getitem__.
            if type(values) in (list, tuple) and None in map(_none, values):
                index = [*map(_none, values)].index(None)
                return ast.Subscript(container, ast.Constant(index), ast.Load())
    return None


def _none(value: Any) -> bool | None:
    """Return None for None, and False for all else: == of tensors isn't a bool."""
    return None if value is None else False


def _binds(node: ast.AST, name: str) -> bool:
    """Return True if a node itself, and not a node inside it, binds a name."""
    match node:
        case ast.Assign(targets):
            return name in names_bound(targets)
        case ast.AugAssign(target) | ast.AnnAssign(target) | ast.NamedExpr(target):
            return name in names_bound([target])
        case ast.For(target) | ast.AsyncFor(target) | ast.comprehension(target):
            return name in names_bound([target])
        case ast.withitem(_, ast.expr() as target):
            return name in names_bound([target])
        case ast.ExceptHandler(_, bound) | ast.MatchAs(_, bound) | ast.MatchStar(bound):
            return bound == name
        case ast.Global(names) | ast.Nonlocal(names):
            return name in names
    return False


def _functions(tree: ast.Module, line: int) -> list[Any]:
    """Return the functions around a line, outermost first."""
    return [s for s in around(tree, line) if isinstance(s, Function)]


def _parameters(tree: ast.Module, line: int) -> set[str]:
    return set().union(*map(parameters, _functions(tree, line)))


def _source_of(node: ast.expr, target: ast.expr, sources: ast.expr) -> ast.expr | None:
    """Return the source whose gradient an assignment binds to an expression."""
    matches = (x for name, x in _assigned(target, sources) if name == written(node))
    if x := next(matches, None):
        return x
    # The gradients with respect to a list or dict have its structure: grads[k] belongs to params[k].
    match node:
        case ast.Subscript(owner, index) if written(owner) == written(target):
            if not isinstance(sources, ast.List | ast.Tuple | ast.Dict):
                return ast.Subscript(sources, index, ast.Load())
    return None


def _assigned(target: ast.expr, sources: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the expressions that receive gradients, each with the expression of its source."""
    parts = sources.elts if isinstance(sources, ast.List | ast.Tuple) else None
    if isinstance(target, ast.List | ast.Tuple):
        for k, name in enumerate(target.elts):
            index = ast.Subscript(sources, ast.Constant(k), ast.Load())
            if parts is None or len(parts) == len(target.elts):
                yield written(name), parts[k] if parts else index
        return
    if parts is None:
        yield written(target), sources
        return
    for k, source in enumerate(parts):
        yield f"{written(target)}[{k}]", source


def _reason(
    tape: Tape,
    name: str,
    target: tuple[str, Any],
    source: tuple[str, Any],
    place: Place,
    namespace: Mapping[str, Any],
    session: Session,
) -> str:
    """Explain why a tape has no gradient; return "" if there is a gradient."""
    (y, goal), (x, value) = target, source
    if tape is session.tape:
        explanation = session.explain(y, goal, x, value)
    else:
        names = {id_of(x): key for key, x in [*namespace.items()] if has_id(x)}
        program = Program(place, namespace, name, variables=session.program().variables)
        bindings = session.bindings.get(x, ())
        explanation = explain(
            Question(snapshot_of(tape), goal, value, y, x, names, bindings, program)
        )
    symbol = derivative_symbol(y, x, 1)
    return f"{symbol} is None: {explanation.reason}" if explanation.cause else ""
