"""Failure: the line at which a cell stopped, the shapes of its operands, and why they don't fit together."""

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

MAX_LINES = 6
"""Maximum number of lines to show of a statement."""

MAX_WIDTH = 100
"""Maximum number of characters to show of a line."""

NOT_AN_ARRAY = re.compile(r"must be numpy\.ndarray, not (?:Tensor|Variable)$")
"""The end of CPython's message on a C function, such as those of SciPy's solvers, that received a tensor."""

Span = tuple[int, int, int, int]
"""First and last line, and first and last column in bytes, of an instruction."""


@dataclass(frozen=True)
class Mark:
    """An operand on a line: its columns, a label such as its shape, and whether it is the problem."""

    start: int
    end: int
    label: str
    bad: bool = False


@dataclass(frozen=True)
class FailedLine:
    """A line of a program, with marks to draw below."""

    number: int
    text: str
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Failure:
    """The line at which a cell stopped.

    - `line`: The line at the top level of the cell that failed, or that called a failing function.
    - `error`: The type of the error.
    - `message`: The first line of its message, or '' if `sentence` replaces it.
    - `where`: The place of the lines, if it isn't the top level of the cell: "in f".
    - `sentence`: The explanation, or '' if the reason isn't known.
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

    - `line`: The line of the cell.
    - `place`: The line of the program that failed.
    - `span`: The part of the program that was running.
    - `namespace`: The names at that line.
    - `arguments`: The arguments of the failing operation, if they are known.
    - `in_comprehension`: True if the namespace belongs to a comprehension.
    - `why_none`: Returns the reason why an expression on that line is None, or ''.
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
    """Describe the line at which a program stopped, and explain the error."""
    error = stop.error
    lines: tuple[FailedLine, ...] = ()
    misfit = Misfit()
    if stop.place is not None:
        tree, line = text_of(stop.place)
        node, scope = _running(tree, stop.span)
        # Names inside a comprehension or lambda aren't those of the whole line.
        statements = [scope] if scope is not None else on_line(tree, line)
        arguments = stop.arguments or _shapes_told(error)
        operand_values, uncertain = _operand_values(node, arguments), _uncertain(stop, tree, line)
        names = Names(stop.namespace, operand_values, uncertain, stop.why_none)
        misfit = explain_shape_error(error, node, names, statements)
        # A KeyboardInterrupt or SystemExit has nothing to do with the operands.
        plain = isinstance(error, Exception)
        operands = [x for part in statements for x in operands_on(part, names) if plain]
        lines = tuple(_lines(stop.place, node, operands, misfit.operands))
    sentence = misfit.sentence or _explain_tensor_in_c(error)
    return Failure(
        stop.line,
        type(error).__name__,
        "" if sentence else printable(message_of(error).partition("\n")[0]),
        stop.where,
        lines,
        printable(sentence),
    )


def _explain_tensor_in_c(error: BaseException) -> str:
    """Return the advice for a C function that received a tensor instead of an array, or ''."""
    if not isinstance(error, TypeError) or not NOT_AN_ARRAY.search(message_of(error)):
        return ""
    return (
        "This function needs a plain array, but received a tensor: the tape follows what it was computed from. Run the "
        "function inside 'with tape.stop_recording():', and return y.numpy() where you compute with a tape of your own"
    )


def message_of(error: BaseException) -> str:
    """Return the message of an error, or '' if reading it fails."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 (a user class may raise anything)
        return ""


def _running(tree: ast.AST, span: Span | None) -> tuple[ast.AST | None, ast.AST | None]:
    """Find the syntax node that an instruction runs, and the comprehension or lambda around that node."""
    node = scope = None
    # Since Python 3.11 (PEP 657), instructions know the exact lines and columns of their expression.
    for part in ast.walk(tree):
        place = tuple(
            getattr(part, name, None)
            for name in ("lineno", "end_lineno", "col_offset", "end_col_offset")
        )
        # A statement that is only an expression has the same span as the expression.
        if place == span and not isinstance(part, ast.Expr):
            node = part
    if node is not None:
        for part in ast.walk(tree):
            if isinstance(part, SCOPES) and isinstance(part, ast.expr) and _is_within(node, part):
                scope = part
    return node, scope


def _is_within(node: ast.AST, outer: ast.AST) -> bool:
    return node is not outer and any(part is node for part in ast.walk(outer))


def _operand_values(node: ast.AST | None, arguments: Sequence[Any]) -> dict[ast.AST, Any]:
    """Match the operands of a node with the arguments that its operation received."""
    match node:
        case ast.BinOp(left, _, right):
            parts = [left, right]
        case ast.AugAssign(target, _, value):
            parts = [target, value]
        case ast.Subscript(value, index):
            parts = [value, index]
        case ast.Call(ast.Attribute(owner), arguments_written) if (
            len(arguments) == len(arguments_written) + 1
        ):
            parts = [owner, *arguments_written]
        case ast.Call(_, arguments_written):
            parts = [*arguments_written]
        case _:
            return {}
    if len(parts) != len(arguments) or any(isinstance(part, ast.Starred) for part in parts):
        return {}
    values: dict[ast.AST, Any] = {}
    # Constants have no label, and for a slice or tuple the argument isn't what the source shows.
    for part, value in zip(parts, arguments, strict=True):
        if not isinstance(part, ast.Constant | ast.Slice | ast.Tuple):
            values[part] = value
        if isinstance(part, ast.List | ast.Tuple) and isinstance(value, list | tuple):
            plain = not any(isinstance(x, ast.Starred) for x in part.elts)
            if plain and len(part.elts) == len(value):
                values.update(zip(part.elts, value, strict=True))
    return values


def _shapes_told(error: BaseException) -> Sequence[Any]:
    """Return arrays of the shapes in NumPy's message about a failed broadcast."""
    text = message_of(error)
    if not text.startswith("operands could not be broadcast together with shapes "):
        return ()
    shapes = re.findall(r"\(([\d,]*)\)", text)
    # A broadcast number takes no memory, whatever its shape.
    return [np.broadcast_to(0.0, [int(n) for n in shape.split(",") if n]) for shape in shapes]


def _uncertain(stop: StopSite, tree: ast.Module, line: int) -> Collection[str]:
    """Return the names whose values may have changed since the failing line ran."""
    names: set[str] = set()
    # The names that a comprehension binds are gone, so a name of the same spelling has another value.
    if not stop.in_comprehension:
        here = (node for statement in on_line(tree, line) for node in ast.walk(statement))
        names |= names_bound([node.target for node in here if isinstance(node, ast.comprehension)])
    for node in ast.walk(tree):
        # The except and finally clauses of a try around the line ran after it.
        if isinstance(node, ast.Try | ast.TryStar) and any(
            part.lineno <= line <= (part.end_lineno or 0) for part in node.body
        ):
            names |= names_bound([*node.handlers, *node.finalbody])
    return names


def _lines(
    place: Place, node: ast.AST | None, operands: Sequence[Operand], bad: Collection[ast.AST]
) -> Iterator[FailedLine]:
    """Yield the lines of the failing expression, without their common indentation, with marks."""
    text = lines_of_file(place)
    first = getattr(node, "lineno", place.line)
    last = min(getattr(node, "end_lineno", None) or first, first + MAX_LINES - 1)
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
    """Return the marks on one line, from left to right."""
    labels: dict[ast.AST, str] = {x.node: x.label for x in operands}
    marks: list[Mark] = []
    for node in [*labels, *(node for node in bad if node not in labels)]:
        if getattr(node, "lineno", None) == getattr(node, "end_lineno", None) == number:
            # ast counts columns in bytes of UTF-8.
            start, end = (
                len(row.encode()[: getattr(node, name)].decode(errors="ignore"))
                for name in ("col_offset", "end_col_offset")
            )
            # Of nested operands, the outermost is marked.
            if all(end <= mark.start or mark.end <= start for mark in marks):
                marks.append(Mark(start, end, labels.get(node, ""), node in bad))
    return sorted(marks, key=lambda mark: mark.start)


def _window(row: str, indent: int, marks: Sequence[Mark]) -> tuple[int, int]:
    """Return the columns to show of a long line: those around the first bad operand."""
    if len(row) - indent <= MAX_WIDTH:
        return indent, len(row)
    first = next((m for m in marks if m.bad), marks[0] if marks else Mark(indent, indent, ""))
    # A quarter of the width shows what precedes the operand.
    left = max(indent, min(first.start - MAX_WIDTH // 4, len(row) - MAX_WIDTH))
    return left, min(left + MAX_WIDTH, len(row))
