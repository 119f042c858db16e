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
from tapemagic.explain.program_text import MAX_PARSED, SCOPES, around, expression_of, text_of

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
        kinds = _kinds(trees, cells, namespace or {})
        flows = _flows_into(trees, cells, read, source, asked, steps, assignments, kinds)
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
    trees: tuple[ast.Module, ...],
    cells: tuple[str, ...],
    exits: tuple[Exit, ...],
    source: str,
    asked: tuple[ast.expr, ast.Module, int],
    steps: bool,
    assignments: bool,
    kinds: frozenset[tuple[str, str]],
) -> list[Certainty]:
    """Answer `flows_into` for parsed programs, so that answers can be cached."""
    others = [_tree_of(cell) for cell in reversed(cells)]
    options = exits, source, steps, assignments, dict(kinds)
    own = programs = _with_definitions(trees, others, asked[0])
    while True:
        reading = Reading(programs, *options, Asked(*asked), is_narrow=False)
        wide = reading.flows()
        # Cells that use a carrying word may pass the value on.
        words = reading.carrying_names()
        new = [x for x in others if x not in programs and words & words_of(x)]
        if not new:
            break
        programs = _with_definitions((*programs, *new), others, asked[0])
        if len(programs) > MAX_PROGRAMS:
            wide = [True] * len(exits)
            break
    narrow = wide
    if any(wide):
        # Cells that only use a carrying word may be older versions of others.
        narrow = Reading(own, *options, Asked(*asked), is_narrow=True).flows()
    certainties = (Certainty.NO, Certainty.PERHAPS, Certainty.LIKELY)
    return [certainties[a + (a and b)] for a, b in zip(wide, narrow, strict=True)]


def _with_definitions(
    trees: Sequence[ast.Module], others: Sequence[ast.Module], value: ast.expr
) -> tuple[ast.Module, ...]:
    """Add to some programs the modules of the user and, of other cells, those that define what they call.

    - `others`: The cells, the newest first: the newest definition of a function counts.
    - `value`: The target, whose names count as well.
    """
    programs = dict.fromkeys(trees)
    asked = {x.id for x in ast.walk(value) if isinstance(x, ast.Name)}
    while True:
        new = [x for tree in programs for x in modules_of(tree) if x not in programs]
        known = {name for tree in programs for name in bound_in(tree)}
        wanted = asked | {name for tree in programs for name in words_of(tree)}
        for other in others:
            defined = defined_in(other) | imported_in(other)
            named = bound_in(other) | defined if asked & bound_in(other) else defined
            if (named & wanted) - known:
                new.append(other)
                known |= named
        new = [x for x in new if x not in programs]
        if not new or len(programs) > MAX_PROGRAMS:
            return tuple(programs)
        programs |= dict.fromkeys(new)


def _tree_of(file: str) -> ast.Module:
    return text_of(Place(file, 1, ""))[0]


@lru_cache(MAX_PARSED)
def words_of(tree: ast.Module) -> frozenset[str]:
    """Return the names and attributes that a program uses."""
    nodes = (x for x in ast.walk(tree) if isinstance(x, ast.Name | ast.Attribute))
    return frozenset(x.id if isinstance(x, ast.Name) else x.attr for x in nodes)


@lru_cache(MAX_PARSED)
def defined_in(tree: ast.Module) -> frozenset[str]:
    """Return the names of the functions, methods and classes that a program defines."""
    return frozenset(x.name for x in ast.walk(tree) if isinstance(x, SCOPES))


@lru_cache(MAX_PARSED)
def bound_in(tree: ast.Module) -> frozenset[str]:
    """Return the names that a program binds to values, functions and classes."""
    nodes = (x for x in ast.walk(tree) if isinstance(x, ast.Name))
    return defined_in(tree) | {x.id for x in nodes if isinstance(x.ctx, ast.Store)}


def imported_in(tree: ast.Module) -> set[str]:
    """Return the names that a program imports from the user's own modules."""
    nodes = (x for x in imports_in(tree) if _modules_by(x))
    return {alias.asname or alias.name for node in nodes for alias in node.names}


def modules_of(tree: ast.Module) -> list[ast.Module]:
    """Return the programs of the user's own modules that a program imports."""
    return [module for node in imports_in(tree) for module in _modules_by(node)]


def _modules_by(node: ast.Import | ast.ImportFrom) -> list[ast.Module]:
    """Return the programs of the user's own modules that a statement imports."""
    names = [getattr(node, "module", None) or alias.name for alias in node.names]
    files = (getattr(sys.modules.get(name), "__file__", None) for name in names)
    return [_tree_of(file) for file in files if file and origin_of(file) == ""]


def _kinds(
    trees: Sequence[ast.Module], cells: Sequence[str], namespace: Mapping[str, Any]
) -> frozenset[tuple[str, str]]:
    """Return the kinds of the names in programs."""
    programs = dict.fromkeys([*trees, *map(_tree_of, cells)])
    bound = Counter(name for tree in programs for name in bound_names(tree))
    kinds = {name: kind_of(value) for name, value in _roots(programs, namespace)}
    # The value of a name that is bound again says nothing on its earlier values.
    return frozenset((x, kind) for x, kind in kinds.items() if kind != "fixed" or bound[x] < 2)


@lru_cache(MAX_PARSED)
def bound_names(tree: ast.Module) -> Sequence[str]:
    """Return each name that a program binds to a value, once for each place."""
    nodes = (x for x in ast.walk(tree) if isinstance(x, ast.Name))
    return [x.id for x in nodes if isinstance(x.ctx, ast.Store)]


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
        for node in imports_in(tree):
            for alias in node.names:
                library = getattr(node, "module", None) or alias.name
                if module := sys.modules.get(library.split(".")[0]):
                    bound = alias.asname or alias.name.split(".")[0]
                    yield bound, getattr(module, alias.name, module)


@lru_cache(MAX_PARSED)
def imports_in(tree: ast.Module) -> Sequence[ast.Import | ast.ImportFrom]:
    """Return the import statements of a program."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
