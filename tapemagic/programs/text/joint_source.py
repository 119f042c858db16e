"""Several programs of one function as one text: above each stands for which calls it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from tapemagic.engine.tensor.messages import shown
from tapemagic.programs.closure import same_closures
from tapemagic.programs.compiling import Compiled, path_of
from tapemagic.programs.program import Guard, Program
from tapemagic.programs.reasons import line_of
from tapemagic.programs.text.comments import statement_of_guard
from tapemagic.programs.text.docstring import described
from tapemagic.programs.text.formatting import WIDTH
from tapemagic.programs.text.local_names import ModuleNames
from tapemagic.programs.text.source import Text, above, head_of
from tapemagic.programs.text.writer import Writer
from tapemagic.programs.trace_comparison import GivenVariable


def text_of_all(found: Sequence[tuple[Compiled, Sequence[Any]]], as_run: bool = False) -> str:
    """The source of programs: functions ``f``, ``f_2`` and so on, with the same lines above them.

    Parameters
    ----------
    found : sequence of (Compiled, sequence of object)
        Programs, and the keys of their arguments.
    as_run : bool, optional
        Whether to show the calls that are made, with large arrays in blocks.
    """
    programs = [each.program if as_run else each.readable for each, _ in found]
    if len(programs) == 1:
        return str(Text(programs[0]))
    module = ModuleNames()
    writers = [Writer(program, module=module) for program in programs]
    lines = above(writers)
    labels = list(_labels(found))
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


def _labels(found: Sequence[tuple[Compiled, Sequence[Any]]]) -> Iterator[list[str]]:
    """The words about each program: its arguments, its way, and what it reads, if another one has the same words."""
    met: list[tuple[Compiled, list[str]]] = []
    names = {name for each, _ in found for name in each.program.notes["arguments"]}
    for each, key in found:
        left = each.program.notes["defaults"].items()
        known = [f"{name} = {shown(value)}" for name, value in left if name in names]
        words = [*_arguments(each.program, key), *known, *_way(each.program)]
        met.append((each, words))
    for each, words in met:
        twin = next((x for x, known in met if x is not each and known == words), None)
        path = None if twin is None else same_closures(twin.closure, each.closure)
        read = [] if path is None else [_reading(each, path)]
        yield [*words, *read] or ["the call without arguments"]


def _arguments(program: Program, key: Sequence[Any]) -> Iterator[str]:
    """The arguments of a program: arrays by their kinds, anything else by its value."""
    given = {}
    for node in program.inputs:
        place = node.origin.place if isinstance(node.origin, GivenVariable) else node.origin
        if isinstance(place, int):  # no key is made of a weak reference, which hashes its Variable
            given[place] = node
    places = range(len(program.notes["arguments"]))
    for what, same in groupby(places, lambda k: _argument(given.get(k), key[k])):
        names = ", ".join(program.notes["arguments"][k] for k in same)
        if what:
            yield f"{names}{what}"


def _argument(node: Any, key: Any) -> str:
    """The words behind the name of an argument; none for an object, which is the same at each call."""
    if node is not None:
        return f": {described(node)}"
    kind, value = key[:2]
    return "" if kind is object else f" = {value if kind in (float, complex) else shown(value)}"


def _way(program: Program) -> Iterator[str]:
    """The truth values of the conditions of a program, with their lines."""
    guards = [entry for entry in program.body if isinstance(entry, Guard)]
    ways: dict[Any, tuple[Guard, list[Any]]] = {}
    for guard, way in zip(guards, path_of(program), strict=True):
        place, order = statement_of_guard(guard)
        key = (place and place[:2], order)
        ways.setdefault(key, (guard, []))[1].append(way)
    for (place, order), (guard, values) in ways.items():
        text = program.notes["statements"].get(place, "").rstrip(":")
        what = f'"{text}" ({line_of(guard.site)})' if text else "a check"
        what = f"the derivative of {what}" if order else what
        yield f"{what} is {_times(values)}"


def _times(values: Sequence[Any]) -> str:
    """Truth values one after the other, as of the condition of a loop.

    Examples
    --------
    >>> _times([True, True, False]), _times([True])
    ('true 2 times, then false', 'true')
    """
    runs = [(value, len(list(run))) for value, run in groupby(values)]
    return ", then ".join(
        f"{_value(value)}{f' {count} times' if count > 1 else ''}" for value, count in runs
    )


def _value(way: Any) -> str:
    """A truth value in words; or a shape that depends on numbers."""
    return str(way).lower() if isinstance(way, bool) else f"of a shape {way[1]}"


def _reading(program: Compiled, path: str) -> str:
    """The words for a value that a program reads beside its arguments, and another one does not."""
    leaves = (x.what for x in program.closure.entries if x.path == path and x.role == "leaf")
    value = next(map(shown, leaves), "")
    return f"{path} = {value}" if value else f"another {path}"
