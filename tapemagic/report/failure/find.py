"""Failure: the line at which a cell stopped, with the shapes of its operands and what does not fit."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tapemagic.engine.events import Place
from tapemagic.explain.formatting import printable
from tapemagic.explain.program_text import lines_of_file, names_bound, on_line, text_of
from tapemagic.report.failure.operands import SCOPES, Names, Operand, operands_on
from tapemagic.report.failure.shape_errors import Misfit, explain_shape_error

MOST_LINES = 6
"""The number of lines shown of a statement."""

WIDEST = 100
"""The number of characters shown of a line."""

Span = tuple[int, int, int, int]
"""First and last line, and first and last column in bytes, of an instruction."""


@dataclass(frozen=True)
class Mark:
    """An operand on a line: its columns, a label such as its shape, and whether it does not fit."""

    start: int
    end: int
    label: str
    bad: bool = False


@dataclass(frozen=True)
class FailedLine:
    """A line of a program with marks under it."""

    number: int
    text: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Failure:
    """The line at which a cell stopped.

    Attributes
    ----------
    line : int or None
        The line at the top level of the cell that failed, or that called what failed.
    error : str
        The type of the error.
    message : str
        The first line of its message; empty if `sentence` says it.
    where : str
        Where the lines are, if they are not at the top level of the cell: "in f".
    lines : tuple of FailedLine
    sentence : str
        What does not fit; empty if that is not known.
    """

    line: int | None
    error: str
    message: str = ""
    where: str = ""
    lines: tuple[FailedLine, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class StopSite:
    """The place at which a program stopped.

    Attributes
    ----------
    error : BaseException
    line : int or None
        The line of the cell.
    place : Place or None
        The line of the program that failed.
    span : tuple of int or None
        The part of the program that was running.
    namespace : mapping of str to object
        The names at that line.
    where : str
    arguments : sequence of object
        The values that were given to the operation that failed, if they are known.
    in_comprehension : bool
        Whether the namespace is that of a comprehension.
    why_none : callable
        Gives the reason why the value of an expression at that line is None, or an empty string.
    """

    error: BaseException
    line: int | None = None
    place: Place | None = None
    span: Span | None = None
    namespace: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    arguments: Sequence[Any] = ()
    in_comprehension: bool = False
    why_none: Callable[[ast.expr], str] = lambda _: ""


def failure_of(stop: StopSite) -> Failure:
    """The line at which a program stopped, with the shapes of its operands and what does not fit."""
    error = stop.error
    lines: tuple[FailedLine, ...] = ()
    found = Misfit()
    if stop.place is not None:
        tree, line = text_of(stop.place)
        node, scope = _running(tree, stop.span)
        statements = [scope] if scope is not None else on_line(tree, line)
        arguments = stop.arguments or _shapes_told(error)
        given, uncertain = _given(node, arguments), _uncertain(stop, tree, line)
        names = Names(stop.namespace, given, uncertain, stop.why_none)
        found = explain_shape_error(error, node, names, statements)
        plain = isinstance(error, Exception)
        operands = [x for part in statements for x in operands_on(part, names) if plain]
        lines = tuple(_lines(stop.place, node, operands, found.operands))
    return Failure(
        stop.line,
        type(error).__name__,
        "" if found.sentence else printable(message_of(error).partition("\n")[0]),
        stop.where,
        lines,
        printable(found.sentence),
    )


def message_of(error: BaseException) -> str:
    """The message of an error; empty if it cannot be had."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 -- a class of the user's own may raise anything
        return ""


def _running(tree: ast.AST, span: Span | None) -> tuple[ast.AST | None, ast.AST | None]:
    """The node that an instruction runs, and the comprehension or lambda around it, if there is one."""
    node = scope = None
    for part in ast.walk(tree):
        place = tuple(
            getattr(part, name, None)
            for name in ("lineno", "end_lineno", "col_offset", "end_col_offset")
        )
        if place == span and not isinstance(part, ast.Expr):
            node = part
    if node is not None:
        for part in ast.walk(tree):
            if isinstance(part, SCOPES) and isinstance(part, ast.expr) and _is_within(node, part):
                scope = part
    return node, scope


def _is_within(node: ast.AST, outer: ast.AST) -> bool:
    return node is not outer and any(part is node for part in ast.walk(outer))


def _given(node: ast.AST | None, arguments: Sequence[Any]) -> dict[ast.AST, Any]:
    """The values of the operands of a node, by the arguments that its operation was given."""
    match node:
        case ast.BinOp(left, _, right):
            parts = [left, right]
        case ast.AugAssign(target, _, value):
            parts = [target, value]
        case ast.Subscript(value, index):
            parts = [value, index]
        case ast.Call(ast.Attribute(owner), given) if len(arguments) == len(given) + 1:
            parts = [owner, *given]
        case ast.Call(_, given):
            parts = [*given]
        case _:
            return {}
    if len(parts) != len(arguments) or any(isinstance(part, ast.Starred) for part in parts):
        return {}
    found: dict[ast.AST, Any] = {}
    for part, value in zip(parts, arguments, strict=True):
        if not isinstance(part, ast.Constant | ast.Slice | ast.Tuple):
            found[part] = value
        if isinstance(part, ast.List | ast.Tuple) and isinstance(value, list | tuple):
            plain = not any(isinstance(x, ast.Starred) for x in part.elts)
            if plain and len(part.elts) == len(value):
                found.update(zip(part.elts, value, strict=True))
    return found


def _shapes_told(error: BaseException) -> Sequence[Any]:
    """Arrays of the shapes that NumPy names where it cannot broadcast them."""
    text = message_of(error)
    if not text.startswith("operands could not be broadcast together with shapes "):
        return ()
    shapes = re.findall(r"\(([\d,]*)\)", text)
    return [np.broadcast_to(0.0, [int(n) for n in shape.split(",") if n]) for shape in shapes]


def _uncertain(stop: StopSite, tree: ast.Module, line: int) -> Collection[str]:
    """The names that clauses behind a failing line bind, and those of comprehensions whose names are gone."""
    found: set[str] = set()
    if not stop.in_comprehension:
        here = (node for statement in on_line(tree, line) for node in ast.walk(statement))
        found |= names_bound([node.target for node in here if isinstance(node, ast.comprehension)])
    for node in ast.walk(tree):
        if isinstance(node, ast.Try | ast.TryStar) and any(
            part.lineno <= line <= (part.end_lineno or 0) for part in node.body
        ):
            found |= names_bound([*node.handlers, *node.finalbody])
    return found


def _lines(
    place: Place, node: ast.AST | None, operands: Sequence[Operand], bad: Collection[ast.AST]
) -> Iterator[FailedLine]:
    """The lines of the part that failed, without their common indentation, with marks."""
    text = lines_of_file(place)
    first = getattr(node, "lineno", place.line)
    last = min(getattr(node, "end_lineno", None) or first, first + MOST_LINES - 1)
    rows = {n: text[n - 1].rstrip() for n in range(first, last + 1) if 0 < n <= len(text)}
    indent = min((len(row) - len(row.lstrip()) for row in rows.values() if row), default=0)
    for number, row in rows.items():
        marks = _marks(number, row, operands, bad)
        left, right = _window(row, indent, marks)
        cut = "…" * (left > indent)
        shown = f"{cut}{printable(row[left:right])}{'…' * (right < len(row))}"
        shift = left - len(cut)
        inside = [m for m in marks if left <= m.start and m.end <= right]
        moved = [replace(m, start=m.start - shift, end=m.end - shift) for m in inside]
        yield FailedLine(number, shown, tuple(moved))


def _marks(
    number: int, row: str, operands: Sequence[Operand], bad: Collection[ast.AST]
) -> list[Mark]:
    """The marks on one line, from left to right."""
    known: dict[ast.AST, str] = {x.node: x.label for x in operands}
    found: list[Mark] = []
    for node in [*known, *(node for node in bad if node not in known)]:
        if getattr(node, "lineno", None) == getattr(node, "end_lineno", None) == number:
            start, end = (
                len(row.encode()[: getattr(node, name)].decode(errors="ignore"))
                for name in ("col_offset", "end_col_offset")
            )
            if all(end <= other.start or other.end <= start for other in found):
                found.append(Mark(start, end, known.get(node, ""), node in bad))
    return sorted(found, key=lambda mark: mark.start)


def _window(row: str, indent: int, marks: Sequence[Mark]) -> tuple[int, int]:
    """The columns to show of a long line: those round the first mark of what does not fit."""
    if len(row) - indent <= WIDEST:
        return indent, len(row)
    first = next((m for m in marks if m.bad), marks[0] if marks else Mark(indent, indent, ""))
    left = max(indent, min(first.start - WIDEST // 4, len(row) - WIDEST))
    return left, min(left + WIDEST, len(row))
