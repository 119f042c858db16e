"""The source of a program: NumPy as one would write it by hand, in the user's names. Its statements are what runs.

A value has the name by which the user's statements know it; one that has none stands inside the expression that reads
it, or is called ``u1``, ``u2`` and so on. ``d_h`` is the derivative with respect to ``h`` of what a tape's gradient was
asked for, and ``d2_h`` that of a second gradient, which differentiates the first one.

Above the lines that come from a statement of the user's stands this statement as a comment, unless the line is the
statement; above those of its derivative, ``back through:`` and the statement. ``(2 of 3)`` behind it: it ran three
times, in a loop or in a function that was called again, and this is the second time.

The parameters are the arrays among the user's arguments, in their order; then the Variables that the program reads, as
it reads them; then other arrays of the user's, and constants too long to be written down. Results in nested lists,
tuples and dicts stand one after the other, as the user's function has them; the docstring tells the keys of dicts. The
new values of Variables come after them, in the order of the parameters.
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
from tapemagic.programs.trace import is_plain


class Retrace(Exception):  # noqa: N818 (no error, but a turn in the way through a function)
    """Raised by a program where the user's function would take another way."""


RETRACE = '''class Retrace(Exception):
    """Raised where the function would take another way, with the number of the condition."""
'''


class Text:
    """The source of a program, and what its names stand for.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    name : str
        The name of the function in the source.
    lines : list of str
    sites : dict of int to Site
        The user's statement behind each line of the source, counted from 1.
    nodes : dict of int to list of Node
        The nodes that a line of the source computes.
    namespace : dict of str to object
        What has no source: functions and objects that cannot be imported.
    fixed : tuple of Constant
        Arrays that have no source, and the user's own that he may write into: the last parameters of the function.
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
    """The lines above functions that share the names there: imports, constants, and the error for another way."""
    names = writers[-1].names
    lines = [f"{name} = {text}" for text, name in names.module.constants.items()]
    for name, value in list(names.module.namespace.items()):
        made = _constructed(value, names)
        if made:
            del names.module.namespace[name]
        lines.append(
            f"{name} = {made}" if made else f"# {name} is not written here: {_named(value)}"
        )
    body = [line.text for writer in writers for line in writer.body]
    code = [line for line in body if not line.lstrip().startswith("#")]
    used = any("np." in line for line in [*lines, *code])
    blocks = ["import numpy as np"] * used + names.imports(), lines
    found = [line for block in blocks if block for line in (*block, "")]
    if any(writer.guards for writer in writers):
        found += [""] * bool(found) + [*RETRACE.splitlines(), ""]
    return [*found, ""] if found else []


def _constructed(value: Any, names: LocalNames) -> str:
    """The call that makes a frozen record of numbers; empty for anything else."""
    kind = type(value)
    if not is_dataclass(value) or not is_plain(value) or home_of(kind) is None:
        return ""
    parts = [(each, literal(getattr(value, each.name))) for each in fields(value)]
    if any(text is None or not each.init for each, text in parts):
        return ""
    return f"{names.function(kind)}({', '.join(f'{x.name}={text}' for x, text in parts)})"


def _named(value: Any) -> str:
    kind, name = type(value).__name__, getattr(value, "__name__", "")
    known = isinstance(name, str) and name.isidentifier()
    return f"the {kind} {name}" if known else f"an object of type {kind}"


def head_of(writer: Writer) -> list[str]:
    """The first lines of the function, and its docstring."""
    lines = laid_out(f"def {writer.name}({', '.join(writer.parameters)})", "", ":")
    program = writer.program
    name = identifier(program.name) or writer.name
    return lines + docstring(program, name, writer.parameters, writer.fixed, writer.text)
