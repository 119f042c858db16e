"""Find out from a program's source whether a plain value, such as the result of ``float(x)``, may be used in another.

A tape can't see where a plain number goes. Programs are read into *bindings* of words, which are names, attributes and
results of functions; code that can't be read counts as if it kept and returned its arguments (see `word_bindings`). A
search follows the target's words back: a conversion that it doesn't reach did no harm (see `carrying_words`). A second
search follows only what the source shows, so it finds the likely cause of a None.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tapemagic.engine.events import CELL_FILE, EVALUATED, Place, origin_of, source_lines
from tapemagic.explain.carrying_words import Certainty, Conversions, Exit, Search
from tapemagic.explain.known_functions import kind_of
from tapemagic.explain.program_text import MAX_PARSED, SCOPES, around, expression_of, text_of
from tapemagic.explain.word_bindings import ANYTHING, EVERYTHING, Asked, Bindings

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
    asking, conversions = Asked(*asked), Conversions(exits)
    own = programs = _with_definitions(trees, cells, asking.value)
    read = partial(Bindings, source=source, names=dict(kinds), asked=asking)
    while True:
        bindings = read(programs[:MAX_PROGRAMS])
        search = partial(Search, bindings, conversions, steps, assignments)
        # A name that no program binds comes from code that wasn't read.
        is_whole = len(programs) <= MAX_PROGRAMS and bindings.binds(asking.value)
        wide = search(asking.value, ANYTHING if is_whole else EVERYTHING)
        # Later cells may bind a word of the target's; earlier ones may have named an object that stores a value.
        words = wide.names()
        lost = search(*bindings.stored_values()).carrying() if cells else set()
        storing = bindings.storing_names(lost)
        named = [x for x in cells if (words if x in after else storing) & names_of_cell(x).used]
        new = {_tree_of(cell.file) for cell in named}.difference(programs)
        if not new or len(programs) > MAX_PROGRAMS:
            break
        programs = _with_definitions((*programs, *new), cells, asked[0])
    likely = set[Exit]()
    if wide.found:
        # Cells that only use one of the words may be older versions of others.
        shown = bindings if programs == own else read(own[:MAX_PROGRAMS])
        likely = Search(shown, conversions, steps, assignments, asking.value, is_narrow=True).found
    certainties = (Certainty.NO, Certainty.PERHAPS, Certainty.LIKELY)
    return [certainties[(x in wide.found) + (x in wide.found & likely)] for x in exits]


def _with_definitions(
    trees: Sequence[ast.Module], cells: Sequence[Cell], value: ast.expr
) -> tuple[ast.Module, ...]:
    """Add to some programs the modules of the user and, of other cells, those that define what they call.

    - `cells`: The cells, the newest first: the newest definition of a function counts.
    - `value`: The target, whose names count as well.
    """
    programs, more = dict[ast.Module, None](), [*trees]
    asked, known = {x.id for x in ast.walk(value) if isinstance(x, ast.Name)}, set[str]()
    wanted = set(asked)
    while more and len(programs) <= MAX_PROGRAMS:
        programs |= dict.fromkeys(more)
        for names in map(names_of, more):
            known |= names.defined | names.bound
            wanted |= names.used
        more = [tree for names in map(names_of, more) for tree in modules_of(names)]
        for cell in cells:
            names = names_of_cell(cell)
            defined = names.defined | (names.bound if asked & names.bound else set())
            # A module of the user that a cell imports defines names as well.
            defined |= {bound for module, bound in names.imports if _module_of(module)}
            if (defined & wanted) - known:
                more.append(_tree_of(cell.file))
                known |= defined
        more = [tree for tree in more if tree not in programs]
    return tuple(programs)


def _tree_of(file: str) -> ast.Module:
    return text_of(Place(file, 1, ""))[0]


class Names(NamedTuple):
    """The names in a program: those that it uses, with attributes, defines as functions or classes, and binds.

    `imports` are the modules that it imports, or imports from, with the names that this binds.
    """

    used: frozenset[str]
    defined: frozenset[str]
    bound: frozenset[str]
    imports: frozenset[tuple[str, str]]


@lru_cache(MAX_PARSED)
def names_of(tree: ast.Module) -> Names:
    """Return the names in a program."""
    nodes = [*ast.walk(tree)]
    names = [x for x in nodes if isinstance(x, ast.Name)]
    imports = {
        (getattr(node, "module", None) or x.name, x.asname or x.name.split(".")[0])
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for x in node.names
    }
    return Names(
        frozenset({x.id for x in names} | {x.attr for x in nodes if isinstance(x, ast.Attribute)}),
        frozenset(x.name for x in nodes if isinstance(x, SCOPES)),
        frozenset(x.id for x in names if isinstance(x.ctx, ast.Store)),
        frozenset(imports),
    )


@lru_cache(8192)
def names_of_cell(cell: Cell) -> Names:
    """Return the names in a cell. Thousands of cells are asked for their names, whose syntax would take much memory."""
    return names_of.__wrapped__(_tree_of(cell.file))


def modules_of(names: Names) -> list[ast.Module]:
    """Return the programs of the user's own modules that a program imports."""
    files = {_module_of(module): None for module, _ in names.imports}
    return [_tree_of(file) for file in files if file]


def _module_of(name: str) -> str:
    """Return the file of a module, or '' if it isn't the user's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file if file and origin_of(file) == "" else ""


def _kinds(
    trees: Sequence[ast.Module], cells: Sequence[Cell], namespace: Mapping[str, Any]
) -> frozenset[tuple[str, str]]:
    """Return the kinds of the names in programs and cells whose values are known."""
    values, known = dict[str, Any](), {**vars(builtins), **namespace}
    for names in (*map(names_of, trees), *map(names_of_cell, cells)):
        values |= {name: known[name] for name in names.used & known.keys()}
        # A function may import a library itself.
        modules = ((bound, sys.modules.get(x.split(".")[0])) for x, bound in names.imports)
        values |= {bound: module for bound, module in modules if module and bound not in known}
    return frozenset((name, kind) for name, x in values.items() if (kind := kind_of(x)))
