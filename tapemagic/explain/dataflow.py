"""Find out from a program's source whether a plain value, such as the result of ``float(x)``, may be used in another.

A tape can't see where a plain number goes. The rule is the same for every kind of program: a value that left the tape
is carried by *words*, which are names, attributes, functions and operators; an expression that reads a carrying word
makes the words that it is bound to carry it as well. Three readings of the source apply that rule. The first assumes
that code it can't read keeps and returns its arguments: if the target doesn't read a carrying word there, the value did
no harm. The second follows only what the source shows, so it finds the likely cause of a None. The third follows only
statements that surely ran, one after the other, so what it finds is certain.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.events import EVALUATED, Place
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.explain.carrying_words import Asked, Certainty, Reading
from tapemagic.explain.program_text import around, cell_that_binds, expression_of, text_of

SHOWING = {
    "matplotlib", "seaborn", "plotly", "bokeh", "tqdm", "logging", "warnings", "IPython", "ipywidgets", "rich", "print"
}  # fmt: skip
"""Libraries, and the function print, that show or store values, and return no results that a program computes with."""

PURE = {
    "numpy", "math", "cmath", "scipy", "builtins", "statistics", "operator", "json", "pickle", "itertools"
}  # fmt: skip
"""Modules whose functions change none of their arguments, apart from those that `written_by` knows."""

NUMBERS = int, float, complex, str, bytes, np.generic
"""Types of values that no call changes."""

MAX_CELLS = 32
"""Maximum number of other cells to read."""


def flow_into(
    place: Place | None,
    how: str,
    value: str,
    source: str,
    asking_place: Place | None,
    steps: bool = False,
    assignments: bool = True,
    namespace: Mapping[str, Any] | None = None,
) -> Certainty:
    """Return how certain it is that the result of a conversion is used in a value.

    - `place`: The line of the conversion.
    - `how`: The name of the conversion, such as ``"float()"``.
    - `value`, `source`: The expressions for the value and for the source, on the asking line. Results bound to the
      source's name don't count.
    - `asking_place`: The line that asks. The first line of a file means its end.
    - `steps`: Bool, default: False. Count results that change in steps.
    - `assignments`: Bool, default: True. Count values assigned to Variables.
    - `namespace`: The values of the program's names, which tell which of them belong to libraries.
    """
    tree, line = text_of(place)
    expression = expression_of(value)
    if place is None or expression is None or place.file == EVALUATED or not around(tree, line):
        return Certainty.PERHAPS
    asking_tree, asking = text_of(asking_place)
    if asking_place is None or asking_place.file == place.file:
        asking_tree = tree
    elif not asking_tree.body:
        asking_tree, asking = tree, 0
    programs = _programs(tree, asking_tree, value, place, asking_place)
    names = (x for program in programs for x in ast.walk(program) if isinstance(x, ast.Name))
    bound = Counter(name.id for name in names if isinstance(name.ctx, ast.Store))
    kinds = frozenset(
        (name, kind)
        for name, v in _roots(programs, namespace or {})
        # The value of a name that is bound again says nothing on its earlier values.
        if (kind := kind_of(v)) != "fixed" or bound[name] < 2
    )
    asking = asking if asking > 1 else 0
    asked = expression, asking_tree, asking
    return _flow_into(programs, line, how, source, asked, steps, assignments, kinds)


@lru_cache(512)
def _flow_into(
    programs: tuple[ast.Module, ...],
    line: int,
    how: str,
    source: str,
    asked: tuple[ast.expr, ast.Module, int],
    steps: bool,
    assignments: bool,
    kinds: frozenset[tuple[str, str]],
) -> Certainty:
    """Answer `flow_into` for parsed programs, so that answers can be cached."""
    certainty = Certainty.NO
    for wanted in (Certainty.PERHAPS, Certainty.LIKELY, Certainty.YES):
        reading = Reading(
            programs, line, how, source, steps, assignments, dict(kinds), Asked(*asked), wanted
        )
        if not reading.reaches_target():
            break
        certainty = wanted
    return certainty


def _programs(
    tree: ast.Module, asking_tree: ast.Module, value: str, *places: Place | None
) -> tuple[ast.Module, ...]:
    """Return the program of a conversion, that of the question, and the cells that bind the names in both."""
    programs = {tree: None, asking_tree: None}
    unread = [
        *names_of(tree),
        *names_of(asking_tree),
        value.split(".", maxsplit=1)[0].split("[", maxsplit=1)[0],
    ]
    seen: set[str] = set()
    read = [*places]
    while unread and len(programs) < MAX_CELLS:
        name = unread.pop()
        if name in seen or not name.isidentifier():
            continue
        seen.add(name)
        cell = cell_that_binds(name, *read)
        if cell is not None:
            other = text_of(cell)[0]
            read.append(cell)
            programs[other] = None
            unread += names_of(other)
    # The program of the conversion comes first, since its line is meant.
    return tuple(programs)


@lru_cache(256)
def names_of(tree: ast.AST) -> frozenset[str]:
    """Return all names in a program."""
    return frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _roots(
    programs: Iterable[ast.Module], namespace: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the names of programs with their values, as far as these are known: imported, built in, or bound."""
    for tree in programs:
        for name in names_of(tree):
            if name in namespace:
                yield name, namespace[name]
            elif hasattr(builtins, name):
                yield name, getattr(builtins, name)
        # A function may import a library itself.
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    library = getattr(node, "module", None) or alias.name
                    if module := sys.modules.get(library.split(".")[0]):
                        bound = alias.asname or alias.name.split(".")[0]
                        yield bound, getattr(module, alias.name, module)


def kind_of(value: Any) -> str:
    """Return what calls of a value, or of its methods, do with their arguments.

    Returns 'shows' for a library that shows values, 'pure' for functions that change no argument, 'fixed' for a value
    that no call changes, and '' for everything else.
    """
    if value is print:
        return "shows"
    if isinstance(value, ModuleType):
        name = value.__name__
    elif isinstance(value, (*NUMBERS, Tensor)) or value is None:
        return "fixed"
    else:
        is_function = callable(value) and hasattr(value, "__module__")
        name = getattr(value if is_function else type(value), "__module__", None) or ""
    package = name.split(".")[0]
    if package in SHOWING:
        return "shows"
    if package == "builtins":
        return "pure" if any(value is known for known in vars(builtins).values()) else ""
    is_code = isinstance(value, ModuleType) or callable(value)
    return "pure" if package in PURE and is_code else ""
