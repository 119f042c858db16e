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
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tapemagic.engine.events import CELL_FILE, EVALUATED, Place, origin_of, source_lines
from tapemagic.explain.carrying_words import Asked, Certainty, Exit, Reading
from tapemagic.explain.known_functions import kind_of
from tapemagic.explain.program_text import MAX_PARSED, around, expression_of, text_of

MAX_PROGRAMS = 100
"""Maximum number of programs to read; with more, it isn't known which words carry a value into the target."""


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
        cells = _cells(files | {asking_place.file} if asking_place is not None else files)
        kinds = _kinds(trees, cells, namespace or {})
        after = _cells_after(files, cells)
        flows = _flows_into(trees, cells, after, read, source, asked, steps, assignments, kinds)
        found = dict(zip(read, flows, strict=True))
    return [Certainty.PERHAPS if x is None else found.get(x, Certainty.PERHAPS) for x in known]


def _exit(place: Place | None, how: str) -> Exit | None:
    """Return a conversion in a program that can be read, or None."""
    tree, line = text_of(place)
    if place is None or place.file == EVALUATED or not around(tree, line):
        return None
    return Exit(tree, line, how)


class Cell(NamedTuple):
    """A cell of the notebook, which IPython keeps as a file, with its source."""

    file: str
    text: str


def _cells(files: Collection[str]) -> tuple[Cell, ...]:
    """Return the cells of the notebook, the last run first, or nothing if none of some files is a cell."""
    if not any(map(CELL_FILE.search, files)):
        return ()
    # Of a copy, because a thread may add a cell meanwhile.
    cells = [file for file in reversed([*linecache.cache]) if CELL_FILE.search(file)]
    # Where IPython doesn't count, the order in which the cells became known stays.
    cells.sort(key=_number_of, reverse=True)
    return tuple(Cell(file, "".join(source_lines(file))) for file in cells)


def _cells_after(files: Collection[str], cells: Sequence[Cell]) -> frozenset[Cell]:
    """Return the cells that may have run after the first of some files, those with the conversions.

    Cells that ran before that can't have computed with a converted value, except in functions that they define.
    """
    own = [k for k, cell in enumerate(cells) if cell.file in files]
    return frozenset(cells[: max(own)] if len(own) == len(files) else cells)


def _number_of(file: str) -> int:
    """Return the number of a cell's last run: 5 for In[5], or 0 if IPython doesn't know it."""
    shell = getattr(builtins, "get_ipython", lambda: None)()
    named = shell.compile.format_code_name(file) if shell is not None else None
    return int(named[1].strip("In[]")) if named else 0


@lru_cache(64)
def _flows_into(
    trees: tuple[ast.Module, ...],
    cells: tuple[Cell, ...],
    after: frozenset[Cell],
    exits: tuple[Exit, ...],
    source: str,
    asked: tuple[ast.expr, ast.Module, int],
    steps: bool,
    assignments: bool,
    kinds: frozenset[tuple[str, str]],
) -> list[Certainty]:
    """Answer `flows_into` for parsed programs, so that answers can be cached."""
    options = exits, source, steps, assignments, dict(kinds)
    own = programs = _with_definitions(trees, cells, asked[0])
    while True:
        reading = Reading(programs[:MAX_PROGRAMS], *options, Asked(*asked), is_narrow=False)
        wide = reading.flows()
        if len(programs) > MAX_PROGRAMS:
            wide = reading.carried_anywhere()
            break
        # Later cells with a carrying word may pass the value on; earlier ones may have named an object that stores it.
        words, storing = reading.carrying_names(), reading.storing_names()
        named = [x for x in cells if (words if x in after else storing) & names_of_cell(x).used]
        new = [x for x in (_tree_of(cell.file) for cell in named) if x not in programs]
        if not new:
            break
        programs = _with_definitions((*programs, *new), cells, asked[0])
    narrow = wide
    if any(wide):
        # Cells that only use a carrying word may be older versions of others.
        narrow = Reading(own[:MAX_PROGRAMS], *options, Asked(*asked), is_narrow=True).flows()
    certainties = (Certainty.NO, Certainty.PERHAPS, Certainty.LIKELY)
    return [certainties[a + (a and b)] for a, b in zip(wide, narrow, strict=True)]


def _with_definitions(
    trees: Sequence[ast.Module], cells: Sequence[Cell], value: ast.expr
) -> tuple[ast.Module, ...]:
    """Add to some programs the modules of the user and, of other cells, those that define what they call.

    - `cells`: The cells, the newest first: the newest definition of a function counts.
    - `value`: The target, whose names count as well.
    """
    programs = dict.fromkeys(trees)
    asked = {x.id for x in ast.walk(value) if isinstance(x, ast.Name)}
    while True:
        known, wanted = set[str](), set(asked)
        for names in map(names_of, programs):
            known |= names.defined.union(names.bound)
            wanted |= names.used
        new = [x for tree in programs for x in modules_of(names_of(tree)) if x not in programs]
        for cell in cells:
            names = names_of_cell(cell)
            # A module of the user that a cell imports defines names as well.
            defined = names.defined.union(x.bound for x in names.imports if modules_of(names, x))
            named = defined | set(names.bound) if asked & set(names.bound) else defined
            if (named & wanted) - known:
                new.append(_tree_of(cell.file))
                known |= named
        new = [x for x in new if x not in programs]
        if not new or len(programs) > MAX_PROGRAMS:
            return tuple(programs)
        programs |= dict.fromkeys(new)


def _tree_of(file: str) -> ast.Module:
    return text_of(Place(file, 1, ""))[0]


class Import(NamedTuple):
    """An imported name: the module that the statement names, the name in it, and the name that it binds."""

    module: str
    name: str
    bound: str


class Names(NamedTuple):
    """The names in a program: those that it uses, with attributes, defines as functions or classes, binds and imports.

    A name is in `bound` once for each place that binds it to a value.
    """

    used: frozenset[str]
    defined: frozenset[str]
    bound: Sequence[str]
    imports: Sequence[Import]


@lru_cache(MAX_PARSED)
def names_of(tree: ast.Module) -> Names:
    """Return the names in a program."""
    used, defined = set[str](), set[str]()
    bound, imports = list[str](), list[Import]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, context):
                used.add(name)
                if isinstance(context, ast.Store):
                    bound.append(name)
            case ast.Attribute(_, name):
                used.add(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                defined.add(name)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                for x in aliases:
                    module = getattr(node, "module", None) or x.name
                    imports.append(Import(module, x.name, x.asname or x.name.split(".")[0]))
    return Names(frozenset(used), frozenset(defined), bound, imports)


@lru_cache(8192)
def names_of_cell(cell: Cell) -> Names:
    """Return the names in a cell. Thousands of cells are asked for their names, whose syntax would take much memory."""
    return names_of.__wrapped__(_tree_of(cell.file))


def modules_of(names: Names, *imports: Import) -> list[ast.Module]:
    """Return the programs of the user's own modules that a program, or some imports of it, name."""
    modules = dict.fromkeys(x.module for x in imports or names.imports)
    files = (getattr(sys.modules.get(name), "__file__", None) for name in modules)
    return [_tree_of(file) for file in files if file and origin_of(file) == ""]


def _kinds(
    trees: Sequence[ast.Module], cells: Sequence[Cell], namespace: Mapping[str, Any]
) -> frozenset[tuple[str, str]]:
    """Return the kinds of the names in programs and cells."""
    programs = [*map(names_of, trees), *map(names_of_cell, cells)]
    bound = Counter(name for names in programs for name in names.bound)
    kinds = {name: kind_of(value) for name, value in _roots(programs, namespace)}
    # The value of a name that is bound again says nothing on its earlier values.
    return frozenset((x, kind) for x, kind in kinds.items() if kind != "fixed" or bound[x] < 2)


def _roots(programs: Sequence[Names], namespace: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names of programs with their values, as far as these are known: imported, built in, or bound."""
    for name in frozenset[str]().union(*(names.used for names in programs)):
        if name in namespace:
            yield name, namespace[name]
        elif hasattr(builtins, name):
            yield name, getattr(builtins, name)
    # A function may import a library itself.
    for x in (x for names in programs for x in names.imports):
        if module := sys.modules.get(x.module.split(".")[0]):
            yield x.bound, getattr(module, x.name, module)
