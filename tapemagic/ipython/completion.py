"""Tab completion in the lines of the magics: options with a hint, and names of variables and tensors."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.explain.formatting import format_shape
from tapemagic.ipython import names
from tapemagic.ipython.options import OPTIONS, Option
from tapemagic.ipython.session import Session
from tapemagic.ipython.watchable import is_number

# A line magic may be assigned, as in `report = %tape x**2`.
LINE = re.compile(r"\A\s*(?:[\w\s,.]+=\s*)?(%%?\w+)\s(.*)\Z", re.DOTALL)
"""A line up to the cursor: the name of a magic, and the rest."""
WORD = re.compile(r"[^\s,]*\Z")
# By a regular expression, because a cell that is being typed rarely parses.
ASSIGNED = re.compile(r"^([^\W\d]\w*(?:[ \t]*,[ \t]*[^\W\d]\w*)*)[ \t]*=(?!=)", re.MULTILINE)
"""An assignment at the top level of an unfinished cell."""
ORDERS = ("1", "2", "3")
NAME_OPTIONS = ("-t", "--what-if", "--plot")
"""Options that take names of variables."""


class Magics(Protocol):
    """The part of the magics that completion needs."""

    shell: InteractiveShell
    last: Session | None


@dataclass(frozen=True)
class Cursor:
    """Position of the cursor in the line of a magic.

    - `magic`: The name of the magic with its percent signs.
    - `words`: The words before the one at the cursor.
    - `word`: The beginning of the word at the cursor.
    - `body`: The lines below, that is the cell.
    """

    magic: str
    words: list[str]
    word: str
    body: str

    @property
    def option(self) -> Option | None:
        """The last option before the cursor."""
        options = {flag: option for option in OPTIONS[self.magic] for flag in option.flags}
        return next((options[word] for word in reversed(self.words) if word in options), None)

    @property
    def valued(self) -> Option | None:
        """The option whose value the cursor is in."""
        option = self.option
        if option is None or not option.metavar:
            return None
        is_next = bool(self.words) and self.words[-1] in option.flags
        return option if is_next or option.nargs == "+" else None


def cursor_in(context: CompletionContext) -> Cursor | None:
    """Locate the cursor; return None outside the lines of the magics."""
    above, below = _split(context.full_text, context.cursor_line)
    match = LINE.match(context.text_until_cursor)
    if match is None or match[1] not in OPTIONS:
        return None
    if match[1].startswith("%%") and (
        above.strip() or not context.text_until_cursor.startswith("%")
    ):
        return None
    word = WORD.search(match[2])
    assert word is not None  # noqa: S101 -- the pattern also matches an empty word
    words = match[2][: word.start()].replace(",", " ").split()
    return Cursor(match[1], words, word[0], below)


def _split(text: str, line: int) -> tuple[str, str]:
    lines = text.split("\n")
    return "\n".join(lines[:line]), "\n".join(lines[line + 1 :])


class Completion:
    """Completion of options and names in the lines of the magics.

    - `magics`: With the shell and the last %%tape cell.
    """

    def __init__(self, magics: Magics) -> None:
        self._magics = magics

    def install(self) -> None:
        """Register the completion with the shell."""
        # IPython asks these matchers besides its own.
        self._magics.shell.Completer.custom_matchers.append(self.matches)

    def remove(self) -> None:
        """Unregister the completion."""
        matchers = self._magics.shell.Completer.custom_matchers
        matchers[:] = [matcher for matcher in matchers if matcher != self.matches]

    @context_matcher(identifier="tapemagic", priority=100)
    def matches(self, context: CompletionContext) -> SimpleMatcherResult:
        """Return the completions at the cursor; these suppress other completions."""
        cursor = cursor_in(context)
        matches = [] if cursor is None else self._candidates(cursor)
        return {
            "completions": [SimpleCompletion(text, type=hint) for text, hint in matches],
            "matched_fragment": "" if cursor is None else cursor.word,
            # Otherwise IPython would add its own candidates, such as file names.
            "suppress": bool(matches),
            "ordered": True,
        }

    def _candidates(self, cursor: Cursor) -> list[tuple[str, str]]:
        """Return the completions with their hints."""
        if cursor.word.startswith("-"):
            candidates = _flags(cursor)
        elif cursor.valued and cursor.valued.names[0] == "-o":
            candidates = ((order, "order") for order in ORDERS)
        elif cursor.valued and cursor.valued.names[0] not in NAME_OPTIONS:
            return []
        else:
            candidates = self._names(cursor)
        return [
            (text, hint) for text, hint in dict(candidates).items() if text.startswith(cursor.word)
        ]

    def _names(self, cursor: Cursor) -> Iterator[tuple[str, str]]:
        if cursor.magic == "%%tape":
            candidates: Iterable[tuple[str, str]] = self._watchable(cursor)
        elif cursor.magic == "%tape" or (cursor.magic == "%check_gradient" and not cursor.words):
            return  # an expression: Python's own completion knows more
        elif cursor.magic == "%tape_function":
            candidates = [] if cursor.words else self._traced()
        else:
            candidates = self._recorded()
        yield from ((name, hint) for name, hint in candidates if name not in cursor.words)
        if not cursor.word and cursor.valued is None:
            yield from _flags(cursor)

    def _watchable(self, cursor: Cursor) -> Iterator[tuple[str, str]]:
        """Yield names to watch or to differentiate; for -t, names that the cell assigns come first."""
        own = [(name, "of this cell") for name in assigned_in(cursor.body, self._magics.shell)]
        variables = [
            (name, kind(value))
            for name, value in self._variables()
            if is_number(value) and np.dtype(getattr(value, "dtype", type(value))).kind in "fc"
        ]
        yield from [*own, *variables] if cursor.valued else [*variables, *own]

    def _recorded(self) -> Iterator[tuple[str, str]]:
        """Yield names of tensors of the last %%tape cell."""
        last = self._magics.last
        if last is not None:
            for name, value in self._variables():
                if last.observer.tracks(value):
                    yield name, kind(value)

    def _traced(self) -> Iterator[tuple[str, str]]:
        """Yield names of traced functions."""
        # Without an import: a function can only be traced if its module is loaded.
        module = sys.modules.get("tapemagic.programs.function")
        for name, value in self._variables():
            if module and isinstance(value, module.Function):
                yield name, "traced function"

    def _variables(self) -> list[tuple[str, Any]]:
        """Return the notebook's public variables in alphabetical order."""
        variables = self._magics.shell.user_ns
        return [(name, variables[name]) for name in sorted(variables) if not name.startswith("_")]


def _flags(cursor: Cursor) -> Iterator[tuple[str, str]]:
    """Yield the options that are not in the line yet, long forms first."""
    options = [x for x in OPTIONS[cursor.magic] if x.flags and not {*x.flags} & {*cursor.words}]
    yield from ((option.flags[-1], option.hint) for option in options)
    if cursor.word == "-":
        yield from ((flag, option.hint) for option in options for flag in option.flags[:-1])


def kind(value: Any) -> str:
    """Describe a number, array or tensor in a hint: its kind and shape.

    Examples
    --------
    >>> kind(np.zeros((3, 2))), kind(2.5)
    ('array 3×2', 'number')
    """
    shape = np.shape(value)
    if isinstance(value, Traced):
        what = "tensor" if isinstance(value, Tensor) else type(value).__name__
    else:
        what = "array" if shape else "number"
    return f"{what} {format_shape(shape)}" if shape else what


def assigned_in(body: str, shell: InteractiveShell) -> Sequence[str]:
    """Return the names that a cell assigns at its top level, even if the cell is unfinished."""
    try:
        return sorted(names.assigned_names(ast.parse(shell.transform_cell(body))))
    except (SyntaxError, ValueError):
        matches = ASSIGNED.findall(body)
    return sorted({name.strip() for targets in matches for name in targets.split(",")})
