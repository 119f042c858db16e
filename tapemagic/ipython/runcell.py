"""Run the body of a cell magic as IPython runs a cell: once, in the notebook's namespace, with its line numbers."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from inspect import CO_COROUTINE
from types import CodeType, FrameType
from typing import Any

import IPython
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.explain.formatting import clipped
from tapemagic.ipython import names
from tapemagic.ipython.result_display import user_frame

OLD_COUNT = IPython.version_info[0] < 9
"""True before IPython 9, where the execution count inside a magic is that of the cell, not of the next one."""

MAX_NAME_LENGTH = 48
"""Maximum length of an expression that is used as a name."""

BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)*")


@dataclass
class Cell:
    """A compiled cell.

    - `filename`: File name in its code objects and tracebacks.
    - `lines`: The cell as written, including the line of the magic.
    - `source`: The cell as Python code, with the same line numbers.
    - `assigned`, `read`: Names that it assigns at its top level, and global names that it reads.
    - `looped`: Names that it assigns as targets of loops.
    - `last`: Source of the last expression, or of its items if it is a list, tuple or dict display.
    - `is_display`: True if the last expression is a list, tuple or dict display.
    - `is_expression`: True if the cell consists of the last expression only.
    - `is_async`: True if it awaits something at its top level: see `run_async`.
    """

    namespace: dict[str, Any]
    filename: str
    lines: list[str]
    source: str
    assigned: set[str]
    read: set[str]
    looped: set[str]
    last: list[str]
    is_display: bool
    is_expression: bool
    is_async: bool
    _body: CodeType
    _end: CodeType | None

    def instruction(self) -> tuple[CodeType, int] | None:
        """Return the cell's running instruction, or the one that called the running code: (code object, offset)."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        return None if frame is None else (frame.f_code, frame.f_lasti)

    def run(self, named: Callable[[str, Any, int], Any]) -> Any:
        """Run the cell once, and return the value of the expression at its end.

        `named` is called with every name and value that the cell assigns, and the line; its result is bound to the
        name.
        """
        __tracebackhide__ = True
        with self._hooked(named):
            exec(self._body, self.namespace)
            return None if self._end is None else eval(self._end, self.namespace)

    async def run_async(self, named: Callable[[str, Any, int], Any]) -> Any:
        """Run a cell like `run`, and await what it awaits."""
        __tracebackhide__ = True
        with self._hooked(named):
            value = None
            for code in (self._body, self._end):
                if code is not None:
                    value = eval(code, self.namespace)
                    if code.co_flags & CO_COROUTINE:
                        value = await value
            return value

    @contextmanager
    def _hooked(self, named: Callable[[str, Any, int], Any]) -> Iterator[None]:
        """Have each assignment of the cell call `named`."""
        namespace = self.namespace

        def hook(name: str, line: int, *value: Any) -> Any:
            if value:
                return named(name, value[0], line)
            if name in namespace:
                before = namespace[name]
                after = named(name, before, line)
                if after is not before:
                    namespace[name] = after
            return None

        outer = namespace.get(names.HOOK)
        # In the namespace, since the inserted calls are ordinary code of the cell; an outer %%tape cell may have one.
        namespace[names.HOOK] = hook
        try:
            yield
        finally:
            namespace.pop(names.HOOK, None)
            if outer is not None:
                namespace[names.HOOK] = outer


class CellSyntaxError(Exception):
    """Syntax error in the body of a magic, shown without a stack as in any cell."""

    def __init__(self, shell: InteractiveShell, error: SyntaxError) -> None:
        super().__init__(str(error))
        self._shell = shell
        self._error = error

    def _render_traceback_(self) -> list[str]:
        return self._shell.SyntaxTB.structured_traceback(SyntaxError, self._error, None)


CellSyntaxError.__name__ = "SyntaxError"
"""The name that the front end shows above the error."""


def prepare(shell: InteractiveShell, above: Sequence[str], body: str) -> Cell:
    """Compile the body of a magic, below the lines `above`.

    Raises
    ------
    CellSyntaxError
        With the line numbers of the cell.
    UsageError
        If the cell awaits something at its top level, and the code that called the magic doesn't await it.
    """
    __tracebackhide__ = True
    written = "\n".join([*above, body])
    # transform_cell drops leading blank lines, which would shift all line numbers.
    blank = body.count("\n") - BLANK_LINES.sub("", body).count("\n")
    source = "\n" * (len(above) + blank) + shell.transform_cell(body)
    # The number that the traceback shows in "Cell In[n]".
    count = shell.execution_count - (0 if OLD_COUNT else 1)
    filename = shell.compile.cache(source, count, raw_code=written)
    try:
        return _compiled(shell, source, filename, written.splitlines())
    except SyntaxError as error:
        raise CellSyntaxError(shell, error) from None


def _compiled(shell: InteractiveShell, source: str, filename: str, lines: list[str]) -> Cell:
    tree = shell.compile.ast_parse(source, filename=filename)
    is_async = names.awaits(tree)
    caller = user_frame() if is_async else None
    if is_async and not (caller and caller.f_code.co_flags & CO_COROUTINE):
        raise UsageError(
            "%%tape cannot run 'await' at the top level of this cell: put %%tape on the first line, with %autoawait "
            "on, or await it in a cell of its own"
        )
    # AST transformers of extensions see the tree before the hooks are inserted, as in any cell.
    tree = shell.transform_ast(tree)
    assigned, read = names.assigned_names(tree), names.read_names(tree, filename)
    looped = names.loop_names(tree)
    end: Any = None
    last: list[str] = []
    parts = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        end = ast.Expression(tree.body.pop().value)
        parts = _written_items(end.body)
        last = [_source_of(source, part) for part in parts or [end.body]]
        names.insert_hooks(end)
    # A walrus assigns a name, so the cell is more than its expression.
    alone = end is not None and not tree.body and not assigned
    names.insert_hooks(tree)
    flags = shell.compile.extra_flags(names.AWAITS) if is_async else nullcontext()
    with flags:
        body_code = shell.compile(tree, filename, "exec")
        end_code = None if end is None else shell.compile(end, filename, "eval")
    return Cell(
        shell.user_ns,
        filename,
        lines,
        source,
        assigned,
        read,
        looped,
        last,
        parts is not None,
        alone,
        is_async,
        body_code,
        end_code,
    )


def _written_items(value: ast.expr) -> list[ast.expr] | None:
    """Return the items of a list, tuple or dict display, or None for other expressions and unpacked items."""
    match value:
        case ast.List(parts) | ast.Tuple(parts) if not any(
            isinstance(part, ast.Starred) for part in parts
        ):
            return parts
        case ast.Dict(keys, parts) if None not in keys:
            return parts
    return None


def _source_of(source: str, value: ast.expr) -> str:
    """Return the source of an expression on one line, clipped to `MAX_NAME_LENGTH` characters."""
    # As you wrote it: ast.unparse would add parentheses and normalize quotes.
    written = ast.get_source_segment(source, value)
    if not written or "\n" in written:
        written = ast.unparse(value)
    return clipped(written, MAX_NAME_LENGTH)
