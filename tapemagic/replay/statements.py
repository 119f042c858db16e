"""Statements of the user's source: the text of each, and the names that it assigns."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

LONGEST = 200
"""The number of characters of a statement above which it is cut off."""


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
    lines = linecache.getlines(code.co_filename, module)
    first = code.co_firstlineno
    if code.co_name == "<module>":
        first, last = 1, len(lines)
    else:
        last = min(_last_line(code), len(lines))
    for end in range(
        last, min(last + 30, len(lines)) + 1
    ):  # closing brackets have lines of their own
        tree = _parsed(lines[first - 1 : end])
        if tree is not None:
            return dict(_found(tree, lines, first))
    return {}


def statements_in(lines: list[str]) -> dict[int, Statement]:
    """The statements of a text by each of their lines; none if it is no Python."""
    tree = _parsed(lines)
    return dict(_found(tree, lines, 1)) if tree is not None else {}


def _last_line(code: CodeType) -> int:
    last = max((line for *_, line in code.co_lines() if line is not None), default=0)
    inner = (_last_line(part) for part in code.co_consts if isinstance(part, CodeType))
    return max(last, *inner, code.co_firstlineno)


def _parsed(lines: list[str]) -> ast.Module | None:
    if not lines:
        return None
    text = "".join(lines)
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if margin:
        text = "if True:\n" + text
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _found(tree: ast.Module, lines: list[str], first: int) -> Iterator[tuple[int, Statement]]:
    wrapped = isinstance(tree.body[0], ast.If) and not lines[first - 1].lstrip().startswith("if ")
    shift = first - 1 - wrapped
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        body = getattr(node, "body", None)
        start = node.lineno
        end = body[0].lineno - 1 if body else node.end_lineno or start
        if start + shift < first:
            continue
        text = lines[start + shift - 1].strip()
        if not body and end > start:
            text = ast.unparse(node).partition("\n")[0]
        elif not body and ";" not in text:
            text = lines[start + shift - 1].encode()[node.col_offset : node.end_col_offset].decode()
        elif "#" in text:
            text = text.partition("  #")[0]
        made = Statement(_shown(text), tuple(_assigned(node)), start + shift, _repeats(node))
        for line in range(start, max(start, end) + 1):
            yield line + shift, made


def _assigned(node: ast.stmt) -> Iterator[str]:
    """The names that a statement assigns itself."""
    targets: list[ast.AST] = [*getattr(node, "targets", ())]
    targets += [x for x in (getattr(node, "target", None),) if x is not None]
    targets += [x.optional_vars for x in getattr(node, "items", ()) if x.optional_vars]
    for target in targets:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
    value = getattr(node, "value", None) or getattr(node, "test", None)
    if value is not None:
        yield from (x.target.id for x in ast.walk(value) if isinstance(x, ast.NamedExpr))


def _repeats(node: ast.stmt) -> bool:
    kinds = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    value = getattr(node, "value", None)
    return value is not None and any(isinstance(part, kinds) for part in ast.walk(value))


def _shown(text: str) -> str:
    """A text on one line, free of characters that are not seen."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
