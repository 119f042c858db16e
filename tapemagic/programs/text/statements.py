"""Statements of the user's source: the text of each, and the names that it assigns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.engine.events import source_lines

BLOCKS = "body", "orelse", "finalbody", "handlers", "cases"
"""Parts of statements that hold others."""

LONGEST = 200
"""The number of characters of a statement above which it is cut off."""


MOST = 256
"""The number of functions of which the statements are kept."""

_by_code: dict[int, tuple[CodeType, dict[int, Statement]]] = {}


class Statement(NamedTuple):
    """A statement of the user's source.

    Attributes
    ----------
    text : str
        On one line; of a compound statement its head alone, such as ``while x > 0:``.
    names : tuple of str
        Those that it assigns.
    line : int
        Its first.
    repeats : bool
        Whether a part of it may run several times, as in ``[f(x) for x in xs]``.
    """

    text: str
    names: tuple[str, ...]
    line: int
    repeats: bool = False


def statements(code: CodeType, module: dict[str, Any]) -> dict[int, Statement]:
    """The statements of a function, or of a whole module, by each of their lines; none if there is no source.

    Parameters
    ----------
    code : code
        That of the function.
    module : dict
        The global names of the function, by which Python finds its source in an archive.
    """
    known = _by_code.get(id(code))
    if known is not None and known[0] is code:
        return known[1]
    found = _read(code, module)
    if len(_by_code) >= MOST:
        _by_code.clear()
    if found:
        _by_code[id(code)] = code, found
    return found


def _read(code: CodeType, module: dict[str, Any]) -> dict[int, Statement]:
    lines = source_lines(code.co_filename, module)
    first = code.co_firstlineno
    if code.co_name == "<module>":
        first, last = 1, len(lines)
    else:
        last = min(_last_line(code), len(lines))
    for end in range(last, min(last + 30, len(lines)) + 1):  # brackets are closed further down
        found = _found("".join(lines[first - 1 : end]), first)
        if found is not None:
            return found
    return {}


def statements_in(lines: list[str]) -> dict[int, Statement]:
    """The statements of a text by each of their lines; none if it is no Python."""
    return _found("".join(lines), 1) or {}


def _last_line(code: CodeType) -> int:
    inner = [_last_line(part) for part in code.co_consts if type(part) is CodeType]
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return max(code.co_firstlineno, *lines, *inner)


@lru_cache(maxsize=256)
def _found(text: str, first: int) -> dict[int, Statement] | None:
    """The statements in a part of a file that begins with line `first`; None if it is no whole statement."""
    margin = text[: len(text) - len(text.lstrip(" \t"))]
    text = f"if True:\n{text}" if margin else text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: dict[int, Statement] = {}
    shift = first - 1 - bool(margin)
    lines = text.split("\n")
    todo: list[ast.AST] = [*(tree.body[0].body if margin else tree.body)]  # type: ignore[attr-defined]
    for node in todo:
        if isinstance(node, ast.stmt):
            made, end = _statement(node, lines, shift)
            found |= dict.fromkeys(range(made.line, end + 1), made)
        for part in BLOCKS:
            todo += getattr(node, part, ())
    return found


def _statement(node: ast.stmt, lines: list[str], shift: int) -> tuple[Statement, int]:
    """A statement, and its last line, or that of its head."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    start, line = node.lineno, lines[node.lineno - 1]
    end = max(start, _first_line(body[0]) - 1 if body else node.end_lineno or start)
    text = line.strip()
    if not body and end > start:
        text = ast.unparse(node).partition("\n")[0]
    elif not body and ";" not in text:
        text = line.encode()[node.col_offset : node.end_col_offset].decode()
    else:
        text = text.partition("  #")[0].rstrip()
    inner = _inside(getattr(node, "value", None) or getattr(node, "test", None), lines)
    names = [*_assigned(node), *(x.target.id for x in inner if isinstance(x, ast.NamedExpr))]
    repeats = hasattr(node, "value") and any(isinstance(x, COMPREHENSIONS) for x in inner)
    return Statement(_shown(text), tuple(names), start + shift, repeats), end + shift


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _inside(value: ast.expr | None, lines: list[str]) -> list[ast.AST]:
    """The parts of a statement's value, if its lines show that a comprehension or an assignment may be among them."""
    if value is None:
        return []
    text = "\n".join(lines[value.lineno - 1 : value.end_lineno])
    return [*ast.walk(value)] if "for" in text or ":=" in text else []


def _first_line(node: Any) -> int:
    """The line of a statement's first decorator, or of the statement; of a case, that of its pattern."""
    node = getattr(node, "pattern", node)
    lines: list[int] = [node.lineno, *(x.lineno for x in getattr(node, "decorator_list", ()))]
    return min(lines)


def _assigned(node: ast.stmt) -> Iterator[str]:
    """The names to which a statement assigns as a whole."""
    targets: list[ast.AST] = [*getattr(node, "targets", ())]
    targets += [x for x in (getattr(node, "target", None),) if x is not None]
    targets += [x.optional_vars for x in getattr(node, "items", ()) if x.optional_vars]
    for target in targets:
        for part in (target,) if isinstance(target, ast.Name) else ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _shown(text: str) -> str:
    """A text on one line, free of characters that are not seen."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
