"""The docstring of a program: its arguments and results, with their shapes and dtypes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from keyword import iskeyword
from typing import Any
from weakref import ref

from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.program import Constant, Input, Node, Program
from tapemagic.programs.text.derivatives import meaning
from tapemagic.programs.text.formatting import WIDTH
from tapemagic.programs.text.naming import returned
from tapemagic.programs.tracing.trace_comparison import ArgumentVariable


def docstring(
    program: Program,
    name: str,
    parameters: Sequence[str],
    fixed: Sequence[Node],
    text: Callable[[Any], str],
) -> list[str]:
    """Write the docstring of a program, by lines.

    - `name`: The name of the function.
    - `parameters`: The names of the inputs of the program, then of `fixed`.
    - `fixed`: Arrays that are the same at each call.
    - `text`: Returns the expression of a result.
    """
    summary = program.notes.get("summary") or _summary(program, name)
    lines = textwrap.wrap(f"    ...{summary}", WIDTH, subsequent_indent="    ")
    notes = program.notes
    named = all(_is_name(text(x)) for x in program.results)
    if notes.get("brief") and not (notes.get("inputs") or fixed) and named:
        return _closed(lines, notes)
    words = [f"{described(node)}{_origin(program, node)}" for node in program.inputs]
    words += [f"{described(node)}, {_always(program)}" for node in fixed]
    lines += _section("Parameters", list(zip(parameters, words, strict=True)))
    lines += _section("Returns", list(_results(program, parameters, text)))
    return _closed(lines, notes)


def _summary(program: Program, name: str) -> str:
    """Return the first sentence for programs whose notes have no summary."""
    what = [f"what {name} returns"] * bool(program.results)
    what += ["the new values of the Variables that it assigns"] * bool(program.assigned)
    return f"Compute {', and '.join(what) or 'nothing'}, without a tape."


def _closed(lines: list[str], notes: dict[str, Any]) -> list[str]:
    """Append the notes of a program to its docstring, and add the quotation marks."""
    for k, note in enumerate(notes.get("notes", [])):
        lines += ["", "    Notes", "    -----"] if not k else [""]
        lines += textwrap.wrap(note, WIDTH, initial_indent="    ", subsequent_indent="    ")
    # `_harmless` replaces quotation marks, so the opening ones are "..." until here.
    first, *rest = map(_harmless, lines)
    first = first.replace("...", '"""', 1)
    return [first, *rest, '    """'] if rest else [f'{first}"""']


def described(node: Node) -> str:
    """Describe the shape and dtype of a value.

    Examples
    --------
    >>> from tapemagic.programs.program import Kind
    >>> import numpy as np
    >>> described(Input(0, Kind((2, 3), np.dtype("f4"), True)))
    'array of shape (2, 3), float32'
    """
    kind = node.kind
    return f"array of shape {kind.shape}, {kind.dtype}" if kind.is_array else f"{kind.dtype}"


def _origin(program: Program, node: Input) -> str:
    words = program.notes.get("inputs", {}).get(node)
    is_variable = isinstance(node.origin, Variable | ref | ArgumentVariable)
    return f", {words}" if words else ", the value of a Variable" * is_variable


def _always(program: Program) -> str:
    """Return the words for values that no argument changes."""
    if program.notes.get("read"):
        return "the value when this was recorded"
    return "the same at each call"


def _results(
    program: Program, parameters: Sequence[str], text: Callable[[Any], str]
) -> Iterator[tuple[str, str]]:
    meanings: list[str] = program.notes.get("results") or [""] * len(program.results)
    for k, keys in returned(program):
        x, description = program.results[k], meanings[k]
        written, words, kind = text(x), description or _always(program), ""
        if isinstance(x, Node):
            words = description or meaning(x) or _always(program) * isinstance(x, Constant)
            kind = described(x) if _is_name(written) else ""
        yield written, ", ".join(filter(None, (kind, words, keys)))
    names = {_key(x.origin): name for x, name in zip(program.inputs, parameters, strict=False)}
    assigned: list[Any] = program.assigned
    for variable, node in assigned:
        target = variable() if isinstance(variable, ref) else variable
        name = names.get(_key(variable)) or getattr(target, "name", "a Variable")
        yield text(node), f"{described(node)}, the new value of {name}"


def _key(origin: Any) -> Any:
    """Return a key for a Variable: its place among the arguments, or its identity."""
    # Python makes one weak reference without a callback for each object, so its id identifies the Variable. The
    # reference itself is no key: it hashes its Variable, which raises UnhashableError.
    return origin if isinstance(origin, ArgumentVariable) else id(origin)


def _section(title: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """Write a section of a docstring in NumPy's style, with successive names of one kind on one line.

    A result without a name, such as None, is written as its value.
    """
    if not items:
        return []
    joined: list[tuple[list[str], str]] = []
    for name, what in items:
        if joined and joined[-1][1] == what and _is_name(name):
            joined[-1][0].append(name)
        else:
            joined.append(([name], what))
    lines = ["", f"    {title}", f"    {'-' * len(title)}"]
    for names, what in joined:
        text = f"{', '.join(names)}{' : ' if _is_name(names[0]) else ', '}{what}"
        lines += textwrap.wrap(
            text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_long_words=True
        )
    return lines


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def _harmless(line: str) -> str:
    """Return a line with escaped backslashes, and without quotation marks that would end the docstring."""
    return line.replace("\\", "\\\\").replace('"""', "...")
