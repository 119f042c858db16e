"""Runs the body of a cell magic the way IPython runs a cell: once, in the user's namespace, with true line numbers."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import IPython
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython import names

OLD_COUNT = IPython.version_info[0] < 9
"""Before IPython 9, the execution count inside a magic was not yet one ahead."""


@dataclass
class Cell:
    """A cell that is ready to run.

    Attributes
    ----------
    tree : ast.Module
        Its code, with the line numbers of the notebook's cell.
    filename : str
        What its code objects and tracebacks call the file.
    lines : list of str
        The cell as it was written, the magic's line included.
    """

    shell: InteractiveShell
    tree: ast.Module
    filename: str
    lines: list[str]

    @property
    def last(self) -> str | None:
        """The source of the last expression, if the cell ends with one."""
        end = self.tree.body[-1] if self.tree.body else None
        return ast.unparse(end.value) if isinstance(end, ast.Expr) else None

    def line(self) -> int | None:
        """The line of this cell that is running now, however deep below it."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def run(self, named: Callable[[str, Any], Any]) -> Any:
        """Run the cell once, telling `named` of every assignment; the value of its last expression."""
        __tracebackhide__ = True
        shell = self.shell
        tree = self.tree
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
        tree = names.announce(tree)
        namespace = shell.user_ns
        namespace[names.HOOK] = named
        try:
            exec(shell.compile(tree, self.filename, "exec"), namespace)
            return None if last is None else eval(shell.compile(last, self.filename, "eval"), namespace)
        finally:
            namespace.pop(names.HOOK, None)


def prepare(shell: InteractiveShell, magic: str, body: str) -> Cell:
    """Parse the body of a cell magic whose first line is `magic`.

    Raises
    ------
    SyntaxError
        With the line numbers of the cell.
    UsageError
        If the cell awaits something at its top level.
    """
    __tracebackhide__ = True
    source = shell.transform_cell(body)
    count = shell.execution_count - (0 if OLD_COUNT else 1)
    blank = len(body) - len(body.lstrip("\n"))
    padded = "\n" * (blank + 1) + source
    filename = shell.compile.cache(padded, count, raw_code=f"{magic}\n{body}")
    tree = shell.compile.ast_parse(padded, filename=filename)
    if names.awaits(tree):
        raise UsageError("%%tape cannot run 'await' at the top level of a cell: await it in a cell of its own")
    tree = shell.transform_ast(tree)
    return Cell(shell, tree, filename, [magic, *body.splitlines()])
