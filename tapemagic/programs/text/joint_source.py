"""The source of several programs of one function, with a comment above each that says which calls it serves."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tapemagic.engine.tensor.messages import shown
from tapemagic.programs.compiling import Compiled, path_of
from tapemagic.programs.guards import first_change
from tapemagic.programs.program import Guard, Program
from tapemagic.programs.reasons import line_of
from tapemagic.programs.text.comments import statement_of_guard
from tapemagic.programs.text.docstring import described
from tapemagic.programs.text.formatting import WIDTH
from tapemagic.programs.text.local_names import ModuleNames
from tapemagic.programs.text.source import Text, above, head_of
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.tracing.trace_comparison import ArgumentVariable


def joint_source(programs: Sequence[tuple[Compiled, Sequence[Any]]], as_run: bool = False) -> str:
    """Write programs as functions ``f``, ``f_2`` and so on that share imports and constants.

    - `programs`: Sequence of (Compiled, sequence of object). The programs, with the keys of their arguments.
    - `as_run`: Whether to write the programs that run, with large arrays in blocks.
    """
    shown_programs = [each.program if as_run else each.readable for each, _ in programs]
    if len(programs) == 1:
        return str(Text(shown_programs[0]))
    module = ModuleNames()
    writers = [Writer(program, module=module) for program in shown_programs]
    lines = above(writers)
    labels = list(_labels(programs))
    for writer, words in zip(writers, labels, strict=True):
        label = textwrap.wrap(
            f"{writer.name} is for {'; '.join(words)}",
            WIDTH,
            initial_indent="# ",
            subsequent_indent="#     ",
            break_on_hyphens=False,
        )
        body = [line.text for line in writer.body]
        lines += [*label, *head_of(writer), *body, "", ""]
    return "\n".join(lines[:-1])


def _labels(programs: Sequence[tuple[Compiled, Sequence[Any]]]) -> Iterator[list[str]]:
    """Describe each program by its arguments and its path, and by a value that it reads if that is ambiguous."""
    labels: list[tuple[Compiled, list[str]]] = []
    names = {name for each, _ in programs for name in each.program.notes["arguments"]}
    for each, key in programs:
        # Defaults are said where another call passes the parameter.
        defaults = each.program.notes["defaults"].items()
        left = [f"{name} = {shown(value)}" for name, value in defaults if name in names]
        labels.append((each, [*_arguments(each.program, key), *left, *_path_label(each.program)]))
    for each, words in labels:
        twin = next((x for x, same in labels if x is not each and same == words), None)
        path = None if twin is None else first_change(twin.guards, each.guards)
        read = [] if path is None else [_reading(each, path)]
        yield [*words, *read] or ["the call without arguments"]


def _arguments(program: Program, key: Sequence[Any]) -> Iterator[str]:
    """Describe the arguments of a program: arrays by shape and dtype, anything else by its value."""
    inputs = {}
    for node in program.inputs:
        place = node.origin.place if isinstance(node.origin, ArgumentVariable) else node.origin
        # The origin of a Variable that is read is a weak reference. As a key it would hash the Variable, which raises.
        if isinstance(place, int):
            inputs[place] = node
    places = range(len(program.notes["arguments"]))
    for what, same in groupby(places, lambda k: _argument(inputs.get(k), key[k])):
        names = ", ".join(program.notes["arguments"][k] for k in same)
        if what:
            yield f"{names}{what}"


def _argument(node: Any, key: Any) -> str:
    """Describe an argument after its name. Return '' for an object, which is the same at each call."""
    if node is not None:
        return f": {described(node)}"
    kind, value = key[:2]
    return "" if kind is object else f" = {value if kind in (float, complex) else shown(value)}"


def _path_label(program: Program) -> Iterator[str]:
    """Describe the values of the conditions of a program, with their lines."""
    guards = [entry for entry in program.body if isinstance(entry, Guard)]
    conditions: dict[Any, tuple[Guard, list[Any]]] = {}
    for guard, value in zip(guards, path_of(program), strict=True):
        place, order = statement_of_guard(guard)
        key = (place and place[:2], order)
        conditions.setdefault(key, (guard, []))[1].append(value)
    for (place, order), (guard, values) in conditions.items():
        text = program.notes["statements"].get(place, "").rstrip(":")
        what = f'"{text}" ({line_of(guard.site)})' if text else "a check"
        what = f"the derivative of {what}" if order else what
        yield f"{what} is {_times(values)}"


def _times(values: Sequence[Any]) -> str:
    """Describe successive values of one condition, such as that of a loop.

    Examples
    --------
    >>> _times([True, True, False]), _times([True])
    ('true 2 times, then false', 'true')
    """
    runs = [(value, len(list(run))) for value, run in groupby(values)]
    return ", then ".join(
        f"{_value(value)}{f' {count} times' if count > 1 else ''}" for value, count in runs
    )


def _value(value: Any) -> str:
    """Describe a bool, or a shape that depends on numbers."""
    return str(value).lower() if isinstance(value, bool) else f"of a shape {value[1]}"


def _reading(program: Compiled, path: str) -> str:
    """Describe a value outside the arguments that only this program reads."""
    leaves = (x.what for x in program.guards.entries if x.path == path and x.role == "leaf")
    value = next(map(shown, leaves), "")
    return f"{path} = {value}" if value else f"another {path}"
