"""Find out from a program's source whether a plain value, such as the result of ``float(x)``, may be used in another.

A tape can't see where a plain number goes. The rule is the same for every kind of program: a value that left the tape
is carried by *words*, which are names, attributes, functions and operators; an expression that reads a carrying word
makes the words that it is bound to carry it as well. Two readings of the source apply that rule. The first assumes that
code it can't read keeps and returns its arguments: if the target doesn't read a carrying word there, the value did no
harm. The second follows only what the source shows, so it finds the likely cause of a None.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from tapemagic.engine.events import CELL_FILE, EVALUATED, Place, origin_of
from tapemagic.explain.carrying_words import Asked, Certainty, Exit, Reading
from tapemagic.explain.known_functions import kind_of
from tapemagic.explain.program_text import MAX_PARSED, around, expression_of, text_of

MAX_PROGRAMS = 256
"""Maximum number of programs to read; with more, it isn't known where values go."""


def flows_into(
    exits: Sequence[tuple[Place | None, str]],
    value: str,
    source: str,
    asking_place: Place | None,
    steps: bool = False,
    assignments: bool = True,
    namespace: Mapping[str, Any] | None = None,
) -> list[Certainty]:
    """Return for each conversion how certain it is that its result is used in a value.

    - `exits`: The lines and names of the conversions; a name is for example ``"float()"``.
    - `value`, `source`: The expressions for the value and for the source, on the asking line. Results bound to the
      source's name don't count.
    - `asking_place`: The line that asks. The first line of a file means its end.
    - `steps`: Bool, default: False. Count results that change in steps.
    - `assignments`: Bool, default: True. Count values assigned to Variables.
    - `namespace`: The values of the program's names, which tell which of them belong to libraries.
    """
    expression = expression_of(value)
    found = dict[Exit, Certainty]()
    known = [_exit(place, how) for place, how in exits]
    read = tuple(dict.fromkeys(exit_ for exit_ in known if exit_ is not None))
    if expression is not None and read:
        asking_tree, asking = text_of(asking_place)
        files = {place.file for place, _ in exits if place is not None}
        if asking_place is None or (asking_place.file in files and len(files) == 1):
            asking_tree = read[0].tree
        elif not asking_tree.body:
            asking_tree, asking = read[0].tree, 0
        trees = tuple(dict.fromkeys([*(exit_.tree for exit_ in read), asking_tree]))
        asked = expression, asking_tree, asking if asking > 1 else 0
        # Of a copy, because a thread may add a cell meanwhile.
        files |= {asking_place.file} if asking_place is not None else set()
        in_notebook = any(map(CELL_FILE.search, files))
        cells = tuple(x for x in [*linecache.cache] if in_notebook and CELL_FILE.search(x))
        programs = _programs(trees, value, cells)
        if len(programs) <= MAX_PROGRAMS:
            kinds = _kinds(programs, namespace or {})
            flows = _flows_into(programs, read, source, asked, steps, assignments, kinds)
            found = dict(zip(read, flows, strict=True))
    return [Certainty.PERHAPS if x is None else found.get(x, Certainty.PERHAPS) for x in known]


def _exit(place: Place | None, how: str) -> Exit | None:
    """Return a conversion in a program that can be read, or None."""
    tree, line = text_of(place)
    if place is None or place.file == EVALUATED or not around(tree, line):
        return None
    return Exit(tree, line, how)


@lru_cache(64)
def _flows_into(
    programs: tuple[ast.Module, ...],
    exits: tuple[Exit, ...],
    source: str,
    asked: tuple[ast.expr, ast.Module, int],
    steps: bool,
    assignments: bool,
    kinds: frozenset[tuple[str, str]],
) -> list[Certainty]:
    """Answer `flows_into` for parsed programs, so that answers can be cached."""
    options = source, steps, assignments, dict(kinds)
    wide = Reading(programs, exits, *options, Asked(*asked), is_narrow=False).flows()
    narrow = wide
    if any(wide):
        # Other cells may be older versions of these.
        own = tuple(dict.fromkeys([*(exit_.tree for exit_ in exits), asked[1]]))
        narrow = Reading(own, exits, *options, Asked(*asked), is_narrow=True).flows()
    certainties = (Certainty.NO, Certainty.PERHAPS, Certainty.LIKELY)
    return [certainties[a + (a and b)] for a, b in zip(wide, narrow, strict=True)]


@lru_cache(64)
def _programs(
    trees: tuple[ast.Module, ...], value: str, cells: tuple[str, ...]
) -> tuple[ast.Module, ...]:
    """Add to some programs the cells that share names with them, and the user's own modules that they import."""
    programs = dict.fromkeys(trees)
    bound = {*value.replace("[", ".").split("."), *(x for tree in trees for x in bound_in(tree))}
    used = {x for tree in trees for x in names_of(tree)}
    others = [text_of(Place(file, 1, ""))[0] for file in cells]
    while True:
        new = [
            x for x in others if x not in programs and (used & bound_in(x) or bound & names_of(x))
        ]
        new += [x for tree in programs for x in modules_of(tree) if x not in programs]
        if not new or len(programs) > MAX_PROGRAMS:
            return tuple(programs)
        programs |= dict.fromkeys(new)
        bound |= {x for tree in new for x in bound_in(tree)}
        used |= {x for tree in new for x in names_of(tree)}


@lru_cache(MAX_PARSED)
def bound_in(tree: ast.Module) -> frozenset[str]:
    """Return the names that a program binds, apart from those of libraries."""
    names = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store()):
                names.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                names.add(name)
            case ast.Import() | ast.ImportFrom() if modules_of(ast.Module([node], [])):
                names |= {alias.asname or alias.name for alias in node.names}
    return frozenset(names)


@lru_cache(MAX_PARSED)
def modules_of(tree: ast.Module) -> list[ast.Module]:
    """Return the programs of the user's own modules that a program imports."""
    trees = list[ast.Module]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or alias.name for alias in node.names]
            files = (getattr(sys.modules.get(name), "__file__", None) for name in names)
            trees += [
                text_of(Place(file, 1, ""))[0] for file in files if file and origin_of(file) == ""
            ]
    return trees


def _kinds(
    programs: Sequence[ast.Module], namespace: Mapping[str, Any]
) -> frozenset[tuple[str, str]]:
    """Return the kinds of the names in programs."""
    names = (x for program in programs for x in ast.walk(program) if isinstance(x, ast.Name))
    bound = Counter(name.id for name in names if isinstance(name.ctx, ast.Store))
    kinds = {name: kind_of(value) for name, value in _roots(programs, namespace)}
    # The value of a name that is bound again says nothing on its earlier values.
    return frozenset((x, kind) for x, kind in kinds.items() if kind != "fixed" or bound[x] < 2)


@lru_cache(MAX_PARSED)
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
