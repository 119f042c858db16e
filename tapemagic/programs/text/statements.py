"""Statements of user code: their texts, and the names that they assign."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.engine.events import source_lines

BLOCKS = "body", "orelse", "finalbody", "handlers", "cases"
"""Fields of compound statements that contain statements."""

MAX_LENGTH = 200
"""Maximum number of characters of a statement."""

MAX_CACHED_FUNCTIONS = 256
"""Maximum number of functions whose statements are cached."""

_by_code: dict[int, tuple[CodeType, dict[int, Statement]]] = {}


class Statement(NamedTuple):
    """A statement of user code.

    - `text`: The statement on one line. For a compound statement, its head: ``while x > 0:``.
    - `names`: The names that it assigns.
    - `line`: Its first line.
    - `repeats`: Whether a part of it may run several times, like ``f(x)`` in ``[f(x) for x in xs]``.
    """

    text: str
    names: tuple[str, ...]
    line: int
    repeats: bool = False


def statements(code: CodeType, module: dict[str, Any]) -> dict[int, Statement]:
    """Return the statements of a function or a module by line. The dict is empty if there is no source.

    - `code`: The code of the function.
    - `module`: The global names of the function, by which Python finds its source in an archive.
    """
    # The key is an id, because hashing a code object reads its bytecode each time. Keeping the code keeps the id valid.
    cached = _by_code.get(id(code))
    if cached is not None and cached[0] is code:
        return cached[1]
    by_line = _read(code, module)
    if len(_by_code) >= MAX_CACHED_FUNCTIONS:
        _by_code.clear()
    if by_line:
        _by_code[id(code)] = code, by_line
    return by_line


def _read(code: CodeType, module: dict[str, Any]) -> dict[int, Statement]:
    lines = source_lines(code.co_filename, module)
    first = code.co_firstlineno
    if code.co_name == "<module>":
        first, last = 1, len(lines)
    else:
        last = min(_last_line(code), len(lines))
    # The line table ends with the last line that has code, so closing brackets may follow further down.
    for end in range(last, min(last + 30, len(lines)) + 1):
        by_line = _parsed("".join(lines[first - 1 : end]), first)
        if by_line is not None:
            return by_line
    return {}


def statements_in(lines: list[str]) -> dict[int, Statement]:
    """Return the statements of a text by line. The dict is empty if the text isn't Python."""
    return _parsed("".join(lines), 1) or {}


def _last_line(code: CodeType) -> int:
    inner = [_last_line(part) for part in code.co_consts if type(part) is CodeType]
    lines = [line for _, _, line in code.co_lines() if line is not None]
    return max(code.co_firstlineno, *lines, *inner)


@lru_cache(maxsize=256)
def _parsed(text: str, first: int) -> dict[int, Statement] | None:
    """Return the statements by line of a part of a file that starts at line `first`, if it can be parsed."""
    # An indented function, such as a method, parses only inside a block.
    margin = text[: len(text) - len(text.lstrip(" \t"))]
    text = f"if True:\n{text}" if margin else text
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    by_line: dict[int, Statement] = {}
    shift = first - 1 - bool(margin)
    lines = text.split("\n")
    todo: list[ast.AST] = [*(tree.body[0].body if margin else tree.body)]  # type: ignore[attr-defined]
    for node in todo:
        if isinstance(node, ast.stmt):
            statement, end = _statement(node, lines, shift)
            by_line |= dict.fromkeys(range(statement.line, end + 1), statement)
        for part in BLOCKS:
            todo += getattr(node, part, ())
    return by_line


def _statement(node: ast.stmt, lines: list[str], shift: int) -> tuple[Statement, int]:
    """Return a statement, and its last line or the last line of its head."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    start, line = node.lineno, lines[node.lineno - 1]
    end = max(start, _first_line(body[0]) - 1 if body else node.end_lineno or start)
    text = line.strip()
    if not body and end > start:
        text = ast.unparse(node).partition("\n")[0]
    elif not body and ";" not in text:
        text = line.encode()[node.col_offset : node.end_col_offset].decode()  # ast counts bytes
    else:
        # The columns of a head, or of one of several statements on a line, don't say where a comment starts.
        text = text.partition("  #")[0].rstrip()
    inner = _inside(getattr(node, "value", None) or getattr(node, "test", None), lines)
    names = [*_assigned(node), *(x.target.id for x in inner if isinstance(x, ast.NamedExpr))]
    repeats = hasattr(node, "value") and any(isinstance(x, COMPREHENSIONS) for x in inner)
    return Statement(_shown(text), tuple(names), start + shift, repeats), end + shift


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _inside(value: ast.expr | None, lines: list[str]) -> list[ast.AST]:
    """Return the parts of a statement's value if a comprehension or := may be among its parts, else []."""
    if value is None:
        return []
    # ast.walk is slow, and few statements have either.
    text = "\n".join(lines[value.lineno - 1 : value.end_lineno])
    return [*ast.walk(value)] if "for" in text or ":=" in text else []


def _first_line(node: Any) -> int:
    """Return the line of a statement's first decorator, of the statement, or of the pattern of a case."""
    node = getattr(node, "pattern", node)
    lines: list[int] = [node.lineno, *(x.lineno for x in getattr(node, "decorator_list", ()))]
    return min(lines)


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement assigns."""
    targets: list[ast.AST] = [*getattr(node, "targets", ())]
    targets += [x for x in (getattr(node, "target", None),) if x is not None]
    targets += [x.optional_vars for x in getattr(node, "items", ()) if x.optional_vars]
    for target in targets:
        for part in (target,) if isinstance(target, ast.Name) else ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _shown(text: str) -> str:
    """Return a text on one line, without unprintable characters."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 4] + " ..."
