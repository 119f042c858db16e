"""The source of a program: NumPy as you'd write it by hand, with the user's names.

A value has the user's name for it. A value without a name is nested in the expression that reads it, or is called
``u1``, ``u2`` and so on. ``d_h`` is the derivative of the target with respect to ``h``, and ``d2_h`` a derivative of a
gradient.

The user's statement is a comment above the lines that compute it, unless the line is the statement. ``back through:``
and the statement are the comment above the lines of its derivative. ``(2 of 3)`` after a statement means that it ran
three times, in a loop or in a function that was called again, and that this is the second run.

The parameters are the arrays among the user's arguments in their order, then the Variables in the order in which the
program reads them, then other arrays, and constants that are too long for a literal. The results are flat, in the order
of the user's nested lists, tuples and dicts, and the docstring names the keys of dicts. The new values of Variables
follow, in the order of the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from tapemagic.programs.program import Program
from tapemagic.programs.text.docstring import docstring
from tapemagic.programs.text.expressions import home_of
from tapemagic.programs.text.formatting import laid_out
from tapemagic.programs.text.literals import literal
from tapemagic.programs.text.local_names import LocalNames
from tapemagic.programs.text.naming import identifier
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.tracing.trace import is_plain


class Retrace(Exception):  # noqa: N818 (not an error: the function takes another branch)
    """Raised by a program where the user's function would take another branch."""


RETRACE = '''class Retrace(Exception):
    """Raised where the function would take another branch, with the number of the condition."""
'''


class Text:
    """The source of a program, and the objects that its names refer to.

    - `name`: The name of the function in the source.
    - `sites`: The user's statement for each line of the source, counted from 1.
    - `nodes`: The nodes that a line of the source computes.
    - `namespace`: Functions and objects that have no source and can't be imported.
    - `fixed`: Arrays without a literal, and arrays that the user may write into: the last parameters of the function.
    """

    def __init__(self, program: Program) -> None:
        writer = Writer(program)
        self.name = writer.name
        self.namespace = writer.names.module.namespace
        self.fixed = tuple(writer.fixed)
        head = [*above([writer]), *head_of(writer)]
        self.lines = head + [line.text for line in writer.body]
        body = list(enumerate(writer.body, len(head) + 1))
        self.sites = {k: line.site for k, line in body if line.site is not None}
        self.nodes = {k: list(line.nodes) for k, line in body if line.nodes}

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


def above(writers: Sequence[Writer]) -> list[str]:
    """Return the lines above functions that share them: imports, constants, and the class `Retrace`."""
    names = writers[-1].names  # all writers share its `module`
    lines = [f"{name} = {text}" for text, name in names.module.constants.items()]
    for name, value in list(names.module.namespace.items()):
        call = _constructed(value, names)
        if call:
            del names.module.namespace[name]
        lines.append(
            f"{name} = {call}" if call else f"# {name} is not written here: {_named(value)}"
        )
    body = [line.text for writer in writers for line in writer.body]
    # Comments are the user's statements, whose "np." needs no import.
    code = [line for line in body if not line.lstrip().startswith("#")]
    used = any("np." in line for line in [*lines, *code])
    blocks = ["import numpy as np"] * used + names.imports(), lines
    head = [line for block in blocks if block for line in (*block, "")]
    if any(writer.guards for writer in writers):
        head += [""] * bool(head) + [*RETRACE.splitlines(), ""]
    return [*head, ""] if head else []


def _constructed(value: Any, names: LocalNames) -> str:
    """Return the call that creates a frozen dataclass of numbers, or '' for other objects."""
    kind = type(value)
    if not is_dataclass(value) or not is_plain(value) or home_of(kind) is None:
        return ""
    parts = [(each, literal(getattr(value, each.name))) for each in fields(value)]
    if any(text is None or not each.init for each, text in parts):
        return ""
    return f"{names.function(kind)}({', '.join(f'{x.name}={text}' for x, text in parts)})"


def _named(value: Any) -> str:
    kind, name = type(value).__name__, getattr(value, "__name__", "")
    has_name = isinstance(name, str) and name.isidentifier()
    return f"the {kind} {name}" if has_name else f"an object of type {kind}"


def head_of(writer: Writer) -> list[str]:
    """Return the ``def`` line of the function, and its docstring."""
    lines = laid_out(f"def {writer.name}({', '.join(writer.parameters)})", "", ":")
    program = writer.program
    name = identifier(program.name) or writer.name
    return lines + docstring(program, name, writer.parameters, writer.fixed, writer.text)
