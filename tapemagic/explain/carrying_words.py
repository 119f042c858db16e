"""The words of a program that carry values which no tape tracks anymore: names, attributes, functions and operators.

An expression that reads a carrying word makes the words that it is bound to carry the values as well (see `dataflow`).
What a word carries is a set of bits, two for each conversion: as text, which matters only if it is parsed, and as a
number. Parameters of functions carry other bits, so that a call returns only what its own arguments carry.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

import numpy as np

from tapemagic.explain.known_functions import (
    CONVERTING,
    FLAT,
    MATH,
    PARSING,
    READING,
    REFLECTION,
    SHARING,
    SIZES,
    STORING,
    TEXTS,
    WRITING_TEXT,
)
from tapemagic.explain.program_text import (
    RETURNED,
    SCOPES,
    Function,
    around,
    is_assignment,
    names_bound,
    within,
    written_by,
)

SPECIAL = {
    "__getitem__": "Subscript", "__missing__": "Subscript", "__call__": "Call", "__new__": "Call",
    "__enter__": "With", "__aenter__": "AsyncWith", "__iter__": "For", "__next__": "For",
    "__getattr__": "Attribute", "__getattribute__": "Attribute", "__get__": "Attribute",
    "__str__": "JoinedStr", "__repr__": "JoinedStr", "__format__": "JoinedStr",
}  # fmt: skip
"""Special methods, and the syntax that calls them. All others that return numbers are called by operators."""

SHOWN_BY = {
    "__bool__", "__len__", "__hash__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
    "__init__", "__exit__", "__del__"
}  # fmt: skip
"""Special methods whose results change in steps."""

FIXED = {"fixed", "pure", "shows", "type"}
"""Kinds of names whose objects no call changes: see `known_functions.kind_of`."""

CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}
"""Methods that the call of a class runs."""

MAX_READINGS = 24
"""Maximum number of readings of a program. Each adds words that only a later statement passes to an earlier one."""

COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp
"""Expressions whose loop variables exist only inside them."""

NOTHING = 0
"""The bits of a value that no conversion had a part in."""

Carried = dict[str, int]
Word = tuple[int, str]
"""A scope and a name in it. Attributes of all objects share a scope, and so do operators."""

PROGRAM, ATTRIBUTES, OPERATORS = 0, 1, 2
"""The scopes of words that belong to no function."""

ANYTHING: Word = (OPERATORS, "*")
"""The word that everything reads, for values whose words aren't known."""

OUTPUT = re.compile(r"_{1,3}|_\d+|Out")
"""Names with which IPython keeps the values of cells."""

MANGLED = re.compile(r"^_[A-Za-z]\w*?(?=__)")
"""The start of a private attribute's name, seen from outside of its class."""


class Certainty(IntEnum):
    """The certainty that a plain value is used in another value."""

    NO = 0
    PERHAPS = 1
    LIKELY = 2
    YES = 3


class Exit(NamedTuple):
    """A conversion to a plain value: the program, the line and the name of the conversion."""

    tree: ast.Module
    line: int
    how: str


@lru_cache(1024)
def local_names(scope: Any) -> frozenset[str]:
    """Return the names that a function, a lambda or a class body binds itself."""
    if isinstance(scope, COMPREHENSIONS):
        targets = (x for part in scope.generators for x in ast.walk(part.target))
        return frozenset(x.id for x in targets if isinstance(x, ast.Name))
    bound, shared = set(), set()
    if (arguments := getattr(scope, "args", None)) is not None:
        bound |= {part.arg for part in ast.walk(arguments) if isinstance(part, ast.arg)}
    stack: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else [*scope.body]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                bound.add(name)
            case ast.Global(names) | ast.Nonlocal(names):
                shared.update(names)
            case ast.alias(name, asname):
                bound.add(asname or name.split(".")[0])
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
                bound.add(_captured(node))
        if isinstance(node, SCOPES):
            bound.add(node.name)
        elif not isinstance(node, ast.Lambda):
            stack += ast.iter_child_nodes(node)
    return frozenset(bound - shared)


def on(node: Any, line: int) -> bool:
    """Return True if an expression or statement covers a line."""
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))


class Asked:
    """The target: its expression, the program that asks, the function around the line that asks, and the last line.

    Statements after the last line can't have run before the question.
    """

    def __init__(self, value: ast.expr, tree: ast.Module, line: int) -> None:
        self.value, self.tree = value, tree
        self.functions = [s for s in around(tree, line) if isinstance(s, Function)]
        self.scope: Any = self.functions[-1] if self.functions else tree
        loops = (node for node in ast.walk(self.scope) if isinstance(node, (ast.For, ast.While)))
        ends = [line, *(loop.end_lineno or line for loop in loops if on(loop, line))]
        self.last = max(ends) if line else inf
        self.versions: dict[Word, int] | None = None


class Bits:
    """The bits of conversions: as text and as numbers, and the same for what parameters received.

    - `by_argument`: The bit of a value that depends on a parameter of the function around it.
    """

    def __init__(self, count: int) -> None:
        self.size = 2 * count
        self.own = (1 << self.size) - 1
        # A third of 0b1111 is 0b0101: every second bit.
        self.own_texts = self.own // 3
        self.texts = self.own_texts | self.own_texts << self.size
        self.numbers = self.texts << 1
        self.by_argument = 1 << 2 * self.size

    def as_text(self, carried: int) -> int:
        """Return what a value carries after it was written as text."""
        return (carried & self.numbers) >> 1 | carried & ~self.numbers

    def as_number(self, carried: int) -> int:
        """Return what a text carries after it was parsed."""
        return (carried & self.texts) << 1 | carried

    def outside(self, carried: int) -> int:
        """Return what a value carries outside of the function around it."""
        return (carried | carried >> self.size) & self.own

    def as_parameter(self, carried: int) -> int:
        """Return what a parameter carries, if its argument carries something."""
        return self.outside(carried) << self.size | self.by_argument


class Reading:
    """The words that carry converted values, found by reading programs.

    What an expression carries is a dict of bits: by ``""`` for the value itself, by ``"[0]"`` or ``"['a']"`` for items.

    - `is_narrow`: Whether to follow only what the programs show, and not what code may do that isn't read.
    """

    def __init__(
        self,
        programs: Sequence[ast.Module],
        exits: Sequence[Exit],
        source: str,
        steps: bool,
        assignments: bool,
        kinds: Mapping[str, str],
        asked: Asked,
        is_narrow: bool,
    ) -> None:
        self.programs, self.source, self.asked = programs, source, asked
        self.steps, self.assignments, self.is_narrow = steps, assignments, is_narrow
        self.kinds, self.local_kinds = dict(kinds), dict[Word, str]()
        self.bits, self.count = Bits(len(exits)), len(exits)
        # The calls that converted values; without any, all operations on the line count.
        self.exact: dict[ast.AST, int] = {}
        self.on_lines: dict[tuple[ast.Module, int], int] = {}
        self.stored: dict[tuple[ast.Module, int], int] = {}
        self._find_exits(exits)
        self.carried: dict[Word, dict[str, int]] = {}
        # Words whose object has stored a value.
        self.changed: set[Word] = set()
        self.bound: set[Word] = set()
        # How often statements that surely ran have bound a name.
        self.versions: dict[Word, int] = {}
        self.scopes: list[Any] = [*asked.functions]
        self.source_owner = self.owner(source)
        self.scopes = []
        self.tree = programs[0]
        self.defined: dict[str, list[Any]] = {}
        self.methods: dict[str, list[Any]] = {}
        self.classes: dict[Any, ast.ClassDef] = {}
        # Functions and lambdas that the programs use as values, so that unread code may call them.
        self.handed: list[Any] = []
        self._find_functions()

    def _find_exits(self, exits: Sequence[Exit]) -> None:
        calls: dict[tuple[ast.Module, int], list[ast.Call]] = {}
        lines = {(exit_.tree, exit_.line) for exit_ in exits}
        for tree in {exit_.tree for exit_ in exits}:
            for call in (x for x in ast.walk(tree) if isinstance(x, ast.Call)):
                for line in _lines(call):
                    if (tree, line) in lines:
                        calls.setdefault((tree, line), []).append(call)
        for k, (tree, line, how) in enumerate(exits):
            here = tree, line
            number = 2 << 2 * k
            exact = [call for call in calls.get(here, ()) if _converts(call, how)]
            if how in TEXTS:
                self.on_lines[here] = self.on_lines.get(here, 0) | number >> 1
                continue
            # An array may convert what it stores, on a line that also calls float for something else.
            self.stored[here] = self.stored.get(here, 0) | number
            for call in exact:
                self.exact[call] = self.exact.get(call, 0) | number
            if not exact:
                self.on_lines[here] = self.on_lines.get(here, 0) | number

    def _find_functions(self) -> None:
        called, used = set[int](), set[str]()
        lambdas: list[Any] = []
        for node in (node for program in self.programs for node in ast.walk(program)):
            if isinstance(node, ast.ClassDef):
                self.classes |= {x: node for x in node.body if isinstance(x, Function)}
            if isinstance(node, ast.Call):
                called.add(id(node.func))
            elif isinstance(node, ast.Lambda):
                lambdas.append(node)
        for node in (node for program in self.programs for node in ast.walk(program)):
            if isinstance(node, SCOPES):
                table = self.methods if node in self.classes else self.defined
                table.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Name | ast.Attribute) and id(node) not in called:
                used.add(node.id if isinstance(node, ast.Name) else node.attr)
        functions = [f for table in (self.defined, self.methods) for x in table.values() for f in x]
        self.handed = [f for f in functions if isinstance(f, Function) and f.name in used] + lambdas

    def flows(self) -> list[bool]:
        """Return for each conversion whether the target may carry its value as a number."""
        for _ in range(MAX_READINGS):
            before = {word: dict(parts) for word, parts in self.carried.items()}, set(self.changed)
            for program in self.programs:
                self.tree = program
                self.read_scope(program)
            if before == (self.carried, self.changed):
                break
        else:
            # Words that only further readings would find aren't known.
            if not self.is_narrow:
                return self.carried_anywhere()
        self.tree, self.scopes = self.asked.tree, [*self.asked.functions]
        self.versions = self.asked.versions or {}
        carried = self.level(self.asked.value)
        # A name that no program binds comes from code that wasn't read.
        if not (self.is_narrow or self._is_bound(self.asked.value)):
            carried |= self.bits.as_number(self.everything)
        return self._numbers_in(carried)

    def carried_anywhere(self) -> list[bool]:
        """Return for each conversion whether any word carries its value."""
        return self._numbers_in(self.bits.as_number(self.everything))

    def _numbers_in(self, carried: int) -> list[bool]:
        outside = self.bits.outside(carried)
        return [bool(outside >> 2 * k & 2) for k in range(self.count)]

    def _is_bound(self, value: ast.AST) -> bool:
        """Return True if the programs bind all names of an expression, or its attribute."""
        if isinstance(value, ast.Attribute) and (ATTRIBUTES, value.attr) in self.bound:
            return True
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
        return all((self.owner(name), name) in self.bound or self.kinds.get(name) for name in names)

    @property
    def everything(self) -> int:
        """The bits that any word carries."""
        return _union(level for parts in self.carried.values() for level in parts.values())

    def carrying_names(self) -> set[str]:
        """Return the names of programs and attributes that carry something, for code that wasn't read."""
        scopes = {PROGRAM, ATTRIBUTES}
        words = {
            name
            for (scope, name), parts in self.carried.items()
            if scope in scopes and any(parts.values())
        }
        return (words | self.storing_names()) - {RETURNED, "Out"}

    def storing_names(self) -> set[str]:
        """Return the names of programs and attributes whose object has stored a value, for code that wasn't read."""
        scopes = {PROGRAM, ATTRIBUTES}
        return {_split(name)[0] for scope, name in self.changed if scope in scopes}

    # -- statements ----------------------------------------------------------------------------------

    def read_scope(self, scope: Any) -> None:
        """Read a program, a function or a class from its start."""
        key = PROGRAM if isinstance(scope, ast.Module) else id(scope)
        self.versions = {word: k for word, k in self.versions.items() if word[0] != key}
        if key:
            self.scopes.append(scope)
        self.read(scope.body, scope, is_certain=True)
        if scope is self.asked.scope and self.asked.versions is None:
            self.asked.versions = dict(self.versions)
        if key:
            self.scopes.pop()

    def read(self, body: Iterable[ast.stmt], scope: Any, is_certain: bool = False) -> None:
        """Read statements, which surely run if the first statement of their scope runs, or may not run."""
        for statement in body:
            if scope is self.asked.scope and statement.lineno > self.asked.last:
                if self.asked.versions is None:
                    self.asked.versions = dict(self.versions)
                if self.is_narrow:
                    return
            self.effects_of(statement)
            self.statement(statement, scope, is_certain)

    def statement(  # noqa: PLR0912, PLR0915 (a case per statement of Python)
        self, statement: ast.stmt, scope: Any, is_certain: bool
    ) -> None:
        """Read one statement, and the statements inside it."""
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.define(statement)
            case ast.ClassDef(name, bases, keywords, _, decorators):
                made = [*bases, *decorators, *(word.value for word in keywords)]
                self.bind(ast.Name(name, ast.Store()), {"": self.most(made)})
                self.read_scope(statement)
            case ast.Assign(targets, value):
                carried = self.value(value)
                for target in targets:
                    self.assign(target, carried, value, is_certain)
                    if isinstance(target, ast.Name) and self.kind(value) == "shows":
                        self.local_kinds[self.owner(target.id), target.id] = "shows"
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.assign(target, self.value(value), value, is_certain)
            case ast.AugAssign(target, _, value):
                level = self.level(value)
                self.assign(target, {"": self.level(target) | level}, value)
                if level and not self.is_narrow:
                    self.change(target, level)  # an array is changed in place
            case ast.For(target, reach, body, orelse) | ast.AsyncFor(target, reach, body, orelse):
                self.iterate(target, reach)
                self.read([*body, *orelse], scope)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    if item.optional_vars:
                        level = self.level(item.context_expr) | self.operator(statement)
                        self.assign(item.optional_vars, {"": level}, item.context_expr)
                # A context manager may suppress an error, and with it the rest of the block.
                names = {_called(x) for i in items for x in ast.walk(i) if isinstance(x, ast.Call)}
                self.read(body, scope, is_certain and names.isdisjoint({"suppress", "raises"}))
            case ast.Match(subject, cases):
                level = self.level(subject)
                for part in (x for case in cases for x in ast.walk(case.pattern)):
                    level |= self.everything if isinstance(part, ast.MatchClass) else 0
                for part in (x for case in cases for x in ast.walk(case.pattern)):
                    self.bind(ast.Name(_captured(part), ast.Store()), {"": level})
                for guard in filter(None, (case.guard for case in cases)):
                    self.effects_of(ast.Expr(guard))
                self.read(within(statement), scope)
            case ast.Raise(value) | ast.Assert(_, value):
                self.add((OPERATORS, "except"), self.level(value))
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                for handler in handlers:
                    level = self.whole((OPERATORS, "except"))
                    self.bind(ast.Name(_captured(handler), ast.Store()), {"": level})
                self.read(within(statement), scope)
            case ast.Return(ast.expr() as value):
                self.give_back(value)
            case ast.Expr(value) if not self.scopes:
                self.add((PROGRAM, "Out"), self.level(value))
            case ast.Import(names) | ast.ImportFrom(_, names):
                for name in (alias.asname or alias.name.split(".")[0] for alias in names):
                    word = self.owner(name), name
                    self.bound.add(word)
                    self.local_kinds[word] = self.kinds.get(name, "")
            case _:
                self.read(within(statement), scope)

    def define(self, function: Any) -> None:
        """Read a function: what calls of it return, and its decorators, defaults and body."""
        self.read_defaults(function)
        name = ast.copy_location(ast.Name(function.name, ast.Store()), function)
        level = self.most(function.decorator_list) | self.whole((id(function), RETURNED))
        self.bind(name, {"": level})
        for decorator in function.decorator_list:
            if not self.is_narrow:  # it may store the function
                call = ast.Call(decorator, [ast.Name(function.name, ast.Load())], [])
                self.effects(ast.copy_location(call, decorator))
        for part in ast.walk(function.args):
            if isinstance(part, ast.arg):
                self.bound.add((id(function), part.arg))
                self.add_parameter((id(function), part.arg), NOTHING)
        self.read_scope(function)

    def read_defaults(self, function: Any) -> None:
        """Bind parameters to their default values, which are no arguments of a call."""
        for parameter, default in _defaults(function.args):
            parts = self.carried.setdefault((id(function), parameter), {})
            parts["#0"] = parts.get("#0", NOTHING) | self.bits.outside(self.level(default))

    def give_back(self, value: ast.expr) -> None:
        """Read the result of the function around: its callers get it, or the operator that calls the function."""
        function = next((x for x in reversed(self.scopes) if isinstance(x, Function)), None)
        if function is None:
            return
        carried, name, bits = self.value(value), function.name, self.bits
        self.alias((id(function), RETURNED), value)
        parts = self.carried.setdefault((id(function), RETURNED), {})
        for part, level in carried.items():
            # What an argument carries belongs to the call.
            parts[part] = parts.get(part, NOTHING) | level & (bits.own | bits.by_argument)
        if name.startswith("__") and name.endswith("__") and name not in SHOWN_BY:
            self.add((OPERATORS, SPECIAL.get(name, "BinOp")), _union(carried.values()))

    def iterate(self, target: ast.expr, reach: ast.expr) -> None:
        """Bind the target of a loop to the elements of an iterable."""
        self.assign(target, {"": self.level(reach) | self.whole((OPERATORS, "For"))}, reach)

    # -- words ---------------------------------------------------------------------------------------

    def owner(self, name: str) -> int:
        """Return the scope that a name belongs to, seen from the scopes around."""
        for scope in reversed(self.scopes):
            # Methods don't see the names of their class.
            is_hidden = isinstance(scope, ast.ClassDef) and scope is not self.scopes[-1]
            if not is_hidden and name in local_names(scope):
                return id(scope)
        return PROGRAM

    @property
    def inner_scopes(self) -> set[int]:
        """The innermost function, lambda, class or program, and the comprehensions in it."""
        scopes = set[int]()
        for scope in reversed(self.scopes):
            scopes.add(id(scope))
            if not isinstance(scope, COMPREHENSIONS):
                return scopes
        return scopes | {PROGRAM}

    def word(self, node: ast.AST | None) -> Word | None:
        """Return the word of a name, an attribute or a constant item of one, or None for other expressions."""
        match node:
            case ast.Name(name, context):
                owner = self.owner(name)
                version = self.versions.get((owner, name), 0)
                # Functions inside may use a name at any time, and other cells bind it, so all its bindings are one.
                is_inside = owner not in self.inner_scopes
                is_elsewhere = owner == PROGRAM and not version and isinstance(context, ast.Load)
                return owner, name if is_inside or is_elsewhere else f"{name}#{version}"
            case ast.Attribute(_, name):
                return ATTRIBUTES, MANGLED.sub("", name)
            case ast.Subscript(ast.Name() as inner, ast.Constant(str() as key)):
                scope, name = self.word(inner) or ANYTHING
                return scope, f"{name}[{key!r}]"
        return None

    def parts_of(self, word: Word) -> Carried:
        """Return what a word carries, and its items, seen from the function that is read."""
        (name, version, item), carried = _split(word[1]), Carried()
        is_outside = word[0] not in self.inner_scopes
        for part, level in self.carried.get((word[0], name), {}).items():
            _, other_version, other_item = _split(part)
            # What functions inside bind a name to counts for each of its bindings.
            is_same = not (version and other_version) or version == other_version
            if is_same and other_item.startswith(item):
                rest = other_item.removeprefix(item)
                carried[rest] = carried.get(rest, NOTHING) | (
                    self.bits.outside(level) if is_outside else level
                )
        return carried

    def whole(self, word: Word) -> int:
        """Return what a word or any of its items carries."""
        return _union(self.parts_of(word).values())

    def add(self, word: Word, level: int) -> None:
        """Let a word carry values."""
        if level:
            name, version, item = _split(word[1])
            level = level if word[0] in self.inner_scopes else self.bits.outside(level)
            parts = self.carried.setdefault((word[0], name), {})
            part = f"#{version}{item}" if version else item
            parts[part] = parts.get(part, NOTHING) | level

    def add_parameter(self, word: Word, level: int) -> None:
        """Let a parameter of a function carry what an argument carries."""
        parts = self.carried.setdefault(word, {})
        parts["#0"] = parts.get("#0", NOTHING) | self.bits.as_parameter(level)

    def assign(
        self, target: ast.expr, carried: Carried, value: ast.expr, is_certain: bool = False
    ) -> None:
        """Read an assignment of a value that carries something, or nothing."""
        if is_certain:
            for name in names_bound([target]):
                key = self.owner(name), name
                self.versions[key] = self.versions.get(key, 0) + 1
        self.bind(target, carried)
        if isinstance(target, ast.Subscript) and not isinstance(value, ast.Constant):
            # NumPy converts the elements that it stores.
            own = _union(self.exact.get(x, NOTHING) for x in ast.walk(value))
            self.change(target.value, self.at_line(target, self.stored) & ~own)
        for part in getattr(target, "elts", [target]):
            if word := self.word(
                getattr(part, "value", part) if isinstance(part, ast.Starred) else part
            ):
                self.alias(word, value)

    def bind(self, target: ast.expr, carried: Carried) -> None:
        """Let the words of a target carry a value."""
        level = _union(carried.values())
        match target:
            case ast.Tuple(elements) | ast.List(elements):
                is_starred = any(isinstance(element, ast.Starred) for element in elements)
                for k, element in enumerate(elements):
                    own = carried.get("", NOTHING) | carried.get(f"[{k}]", NOTHING)
                    self.bind(element, {"": level if is_starred else own})
            case ast.Starred(inner):
                self.bind(inner, carried)
            case ast.Name(name) if name and not self._is_source(name):
                scope, word = self.word(target) or ANYTHING
                self.bound.add((scope, name))
                for part, part_level in carried.items():
                    self.add((scope, word + part), part_level)
                if self.scopes and isinstance(self.scopes[-1], ast.ClassDef):
                    self.bind(ast.Attribute(target, name), carried)
            case ast.Attribute(_, name):
                name = MANGLED.sub("", name)
                self.bound.add((ATTRIBUTES, name))
                for part, part_level in carried.items():
                    self.add((ATTRIBUTES, name + part), part_level)
            case ast.Subscript(owner) if level:
                if _names(owner, REFLECTION) and not self.is_narrow:
                    self.reflect(target, level)
                elif (item := self.word(target)) is not None:
                    self.add(item, level)
                    self.changed.add(item)
                else:
                    self.change(owner, level)

    def _is_source(self, name: str) -> bool:
        """Return True if a name is that of the source, whose new values are no loss."""
        return name == self.source and self.owner(name) == self.source_owner

    def change(self, owner: ast.AST, level: int) -> None:  # noqa: PLR0912 (a case per expression)
        """Let the object of an expression store a value, and with it all words for the same object."""
        match owner:
            case _ if not level:
                return
            case ast.Name(name) if self._is_source(name) or self.kind_of(name) in FIXED:
                return
            case ast.Starred(inner) | ast.NamedExpr(_, inner):
                self.change(inner, level)
            case ast.Subscript(inner) if self.word(owner) is None:
                self.change(inner, level)
            case ast.IfExp() | ast.BoolOp() | ast.Tuple() | ast.List() | ast.Dict():
                for part in ast.iter_child_nodes(owner):
                    self.change(part, level)
            case ast.Call(function, arguments) if not self.is_narrow:
                for f in self.functions(owner) or ():
                    self.changed.add((id(f), RETURNED))
                if _called(owner) == "super":
                    self.change(self._own_self(), level)
                elif _called(owner) in SHARING:
                    for part in (*arguments, function):
                        self.change(part, level)
                elif isinstance(function, ast.Attribute):
                    self.change(function, level)
        if isinstance(owner, ast.Attribute) and not self.is_narrow:
            is_part = any(hasattr(x, owner.attr) for x in (list, dict, set, np.ndarray))
            if is_part or owner.attr in SHARING:
                self.change(owner.value, level)  # a method such as h.append, or a view such as h.T
        if (word := self.word(owner)) is not None:
            self.changed.add(word)
            self.add(word, level)

    def _own_self(self) -> ast.expr:
        """Return the first parameter of the method around, the object that super() stands for."""
        method = next((x for x in reversed(self.scopes) if x in self.classes), None)
        names = _parameters(method.args) if method is not None else []
        return ast.Name(names[0] if names else "self", ast.Load())

    def stores(self, word: Word) -> bool:
        """Return True if the object of a word, or an item of it, has stored a value."""
        name, version, item = _split(word[1])
        for scope, other in self.changed:
            if scope == word[0]:
                other_name, other_version, other_item = _split(other)
                is_same = not (version and other_version) or version == other_version
                if other_name == name and is_same and other_item.startswith(item):
                    return True
        return False

    def alias(self, word: Word, value: ast.AST) -> None:
        """Note that a word may name the same object as a value: what one of them stores, the other has."""
        if not self.is_narrow and self.stores(word) and not isinstance(value, ast.Lambda):
            self.change(value, self.whole(word))

    # -- expressions ---------------------------------------------------------------------------------

    def most(self, nodes: Iterable[ast.AST | None]) -> int:
        """Return what any of some expressions carries."""
        return _union(map(self.level, nodes))

    def level(self, node: ast.AST | None) -> int:
        """Return what the value of an expression or any of its items carries."""
        return _union(self.value(node).values()) if node is not None else NOTHING

    def operator(self, node: ast.AST) -> int:
        """Return what the special methods that this syntax calls return."""
        return self.whole((OPERATORS, type(node).__name__))

    def at_line(self, node: ast.AST, table: Mapping[tuple[ast.Module, int], int]) -> int:
        """Return the conversions on the lines of a part of a program."""
        return (
            _union(table.get((self.tree, line), NOTHING) for line in _lines(node)) if table else 0
        )

    def hit(self, node: ast.AST) -> int:
        """Return the conversions to numbers on the lines of an operation, if no call there has their names."""
        return self.at_line(node, self.on_lines) & self.bits.numbers

    def written(self, node: ast.AST, inside: int) -> int:
        """Return what a text carries that is written from values, or by a conversion on this line."""
        texts = self.at_line(node, self.on_lines) & self.bits.texts
        return texts | self.bits.as_text(inside | self.whole((OPERATORS, "JoinedStr")))

    def value(self, node: ast.AST) -> Carried:
        """Return what the value of an expression carries, and its items."""
        if anything := self.whole(ANYTHING):
            return {"": anything}
        match node:
            case ast.Tuple(items) if not any(isinstance(x, ast.Starred) for x in items):
                return {f"[{k}]": self.level(item) for k, item in enumerate(items)}
            case ast.Dict(keys, items) if all(isinstance(key, ast.Constant) for key in keys):
                pairs = zip(keys, items, strict=True)
                return {f"[{key.value!r}]": self.level(x) for key, x in pairs}  # type: ignore[union-attr]
            case ast.Call(ast.Name("dict"), [], words) if all(word.arg for word in words):
                return {f"[{word.arg!r}]": self.level(word.value) for word in words}
            case ast.Call() if (functions := self.functions(node)) and self._are_plain(functions):
                return self.returned(node, functions)
            case ast.Name(name) if OUTPUT.fullmatch(name) and not self.is_narrow:
                return {"": self.whole((PROGRAM, "Out"))}
            case ast.Name():
                return self.parts_of(self.word(node) or ANYTHING)
        return {"": self.plain_value(node)}

    def _are_plain(self, functions: Sequence[Any]) -> bool:
        """Return True if calls of functions surely return what their statements return."""
        return all(isinstance(f, Function) and not f.decorator_list for f in functions)

    def returned(self, node: ast.Call, functions: Sequence[Any]) -> Carried:
        """Return what the result of a call of functions that can be read carries."""
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        arguments = self.most([receiver, *_arguments(node)])
        result = Carried()
        for function in functions:
            for part, level in self.carried.get((id(function), RETURNED), {}).items():
                own = self.bits.outside(level & self.bits.own)
                own |= arguments if level & self.bits.by_argument else NOTHING
                result[part] = result.get(part, NOTHING) | own
        return result

    def plain_value(self, node: ast.AST) -> int:  # noqa: PLR0912 (a case per expression)
        """Return what the value of an expression carries, without telling its items apart."""
        is_smooth = not self.steps
        match node:
            case ast.Attribute(inner, name):
                own, owner = self.whole(self.word(node) or ANYTHING), self.level(inner)
                if name in SIZES:
                    return own
                if name in READING and not self.is_narrow:
                    return self.everything
                # Other attributes of an object that was computed from a number may be anything.
                is_array = hasattr(np.ndarray, name)
                follows = not self.is_narrow or self.steps or is_array
                texts = owner & (self.bits.texts | self.bits.by_argument)
                return own | self.operator(node) | (owner if follows else texts)
            case ast.Subscript(owner, index):
                most = self.operator(node) | (NOTHING if is_smooth else self.level(index))
                if word := self.word(node):
                    own = self.parts_of(self.word(owner) or ANYTHING).get("", NOTHING)
                    return most | self.whole(word) | own
                return most | self._item(owner, index) | self.hit(node)
            case ast.Call():
                return self.result(node)
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BinOp(_, ast.FloorDiv()) if is_smooth:
                return NOTHING
            case ast.JoinedStr() | ast.BinOp(ast.Constant(str()), ast.Mod()) if is_smooth:
                return self.written(node, self.most(ast.iter_child_nodes(node)))
            case ast.IfExp(_, body, other) if is_smooth:
                return self.level(body) | self.level(other)
            case ast.Lambda(_, body):
                self.read_defaults(node)
                self.scopes.append(node)
                most = self.level(body)
                self.scopes.pop()
                # A lambda may be called with anything later, so what its defaults carry counts as its own.
                return self.bits.outside(most)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self.scopes.append(node)
                for part in node.generators:
                    self.iterate(part.target, part.iter)
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                most = self.most(parts)
                self.scopes.pop()
                return most
        most = self.most(ast.iter_child_nodes(node))
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
            most |= self.whole((OPERATORS, "BinOp")) | self.hit(node)
        return most

    def _item(self, owner: ast.expr, index: ast.expr) -> int:
        """Return what an item of a value carries."""
        carried = self.value(owner)
        is_known = isinstance(index, ast.Constant) and f"[{index.value!r}]" in carried
        if is_known and all(part.startswith("[") for part in carried if part):
            return carried[f"[{index.value!r}]"] | carried.get("", NOTHING)  # type: ignore[attr-defined]
        return _union(carried.values())

    def result(self, node: ast.Call) -> int:  # noqa: PLR0912 (a case per function)
        """Return what the result of a call carries."""
        name, kind, functions = _called(node), self.kind(node.func), self.functions(node)
        # The condition of np.where only chooses.
        most = self.most(_arguments(node)[name == "where" and not self.steps :])
        if node in self.exact:
            return most | self.exact[node]
        if name == "print" and kind == "shows":
            return NOTHING
        words = {word.arg for word in node.keywords}
        names = {getattr(x, "id", getattr(x, "attr", "")) for x in node.args}
        if not functions and not self.steps:
            if name in WRITING_TEXT:
                return self.written(node, most | self.level(node.func))
            if name in FLAT and "weights" not in words and (name != "type" or len(node.args) < 2):
                return NOTHING
        if not functions and (name in PARSING or names & PARSING or "dtype" in words):
            most = self.bits.as_number(most | (self.level(node.func) if name == "astype" else 0))
        # A call with `key=`, such as sorted(), only compares.
        if (node.args or words) and "key" not in words:
            most |= self.hit(node)
        if name in READING and not self.is_narrow:
            return self.everything
        result = self.level(node.func)
        for function in functions or ():
            if isinstance(function, ast.ClassDef):
                # What the constructor stores in the object itself.
                methods = (x for x in function.body if isinstance(x, Function))
                own = (x for x in methods if x.name in CONSTRUCTORS)
                selves = (
                    (id(x), n)
                    for x in own
                    for n in _parameters(x.args)[:1]
                    if (id(x), f"{n}#0") in self.changed
                )
                result |= _union(self.bits.outside(self.whole_parameter(word)) for word in selves)
        if functions:
            result |= _union(self.returned(node, functions).values())
        elif kind != "pure":
            result |= self.operator(node)
        # Functions may iterate over their arguments, compute with them and convert them.
        result |= self.whole((OPERATORS, "For")) | self.whole((OPERATORS, "BinOp"))
        is_object = isinstance(node.func, ast.Name) and (functions or name[:1].isupper())
        if self.is_narrow and is_object and not self.steps:
            return result
        # Code that can't be read may parse text.
        is_known = kind == "pure" or self.is_narrow
        return result | (most if is_known else self.bits.as_number(most))

    def whole_parameter(self, word: Word) -> int:
        """Return what a parameter carries."""
        return _union(self.carried.get(word, {}).values())

    def functions(self, node: ast.AST) -> list[Any] | None:
        """Return the functions and classes of the programs that a call may mean, or None for others."""
        match node:
            case ast.Call(ast.Name(name)):
                # A parameter may be any function, and a name that is bound again another one.
                owner = self.owner(name)
                scope = next((x for x in self.scopes if id(x) == owner), None)
                is_parameter = name in _parameters(getattr(scope, "args", None))
                is_bound = self.versions.get((owner, name), 0) > 0
                return None if is_parameter or is_bound else self.defined.get(name)
            case ast.Call(ast.Attribute(owner, name)):
                if self.kind(owner) in {"pure", "shows"}:
                    return None
                is_class = isinstance(owner, ast.Name) and owner.id in self.defined
                is_own = isinstance(owner, ast.Name) and self.kind_of(owner.id) == "own"
                is_own = is_own or is_class or _called(owner) == "super"
                containers = (list, dict, set, np.ndarray)
                # A list may have a method of the same name.
                if not is_own and any(hasattr(x, name) for x in containers):
                    return None
                return self.methods.get(name) or self.defined.get(name)
        return None

    def kind_of(self, name: str) -> str:
        """Return the kind of the library that a name belongs to: see `known_functions.kind_of`."""
        owner = self.owner(name)
        local = self.local_kinds.get((owner, name))
        return local if local is not None else self.kinds.get(name, "") if owner == PROGRAM else ""

    def kind(self, node: ast.AST | None) -> str:
        """Return the kind of the library at the root of an expression."""
        root = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        kind = self.kind_of(root.id) if isinstance(root, ast.Name) else ""
        if kind == "type":  # list(x) changes nothing, list.append(x, y) does
            return "pure" if root is node and not _names(node, {"super"}) else ""
        return kind if kind in {"pure", "shows"} else ""

    # -- effects of calls ----------------------------------------------------------------------------

    def effects_of(self, node: ast.AST) -> None:
        """Read the effects of all calls and ``:=`` in a statement, but not in the statements inside it."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                continue
            has_names = isinstance(child, (ast.Lambda, *COMPREHENSIONS))
            self.scopes += [child] if has_names else []
            self.effects_of(child)
            if has_names:
                self.scopes.pop()
            match child:
                case ast.NamedExpr(target, value):
                    self.assign(target, self.value(value), value)
                case ast.Yield(ast.expr() as value) | ast.YieldFrom(value):
                    self.give_back(value)
                case ast.Call():
                    self.effects(child)

    def effects(self, node: ast.Call) -> None:
        """Read where a call stores values."""
        functions, kind, name = self.functions(node), self.kind(node.func), _called(node)
        for function in functions or ():
            self.pass_arguments(node, function)
        if (functions and self._are_plain(functions)) or (
            is_assignment(node) and not self.assignments
        ):
            return
        if kind == "shows":
            return
        arguments = _arguments(node)
        level = self.most(arguments) | self.hit(node)
        into, values = written_by(node)
        if into is not None and not self.is_narrow and _names(into, REFLECTION):
            self.reflect(node, level)
        elif into is not None and self.kind(into) != "pure":
            self.change(into, self.most(values) | self.hit(node))
        elif self.is_narrow or not level:
            return
        elif name in REFLECTION:
            self.reflect(node, level)
        else:
            self.unread_call(node, kind, level)

    def unread_call(self, node: ast.Call, kind: str, level: int) -> None:
        """Read a call of code that can't be read: it may store its arguments, and call functions with them."""
        stored = [word.value for word in node.keywords if word.arg in {"out", "dst", "file"}]
        # A function such as np.add writes into its third argument, and list.append into its first.
        stored += node.args[2:] if kind == "pure" else []
        if kind != "pure" or _called(node) in STORING:
            stored = [*_arguments(node), node.func]
            if isinstance(node.func, ast.Attribute):
                stored.append(node.func.value)
        for argument in stored:
            self.change(argument, level)
        for argument in _arguments(node):
            if isinstance(argument, ast.Attribute):  # a method such as h.append
                self.change(argument, level)
        is_calling = kind != "pure" or any(self._may_be_called(x) for x in _arguments(node))
        for function in self.handed if is_calling else ():
            for parameter in _parameters(function.args):
                self.add_parameter((id(function), parameter), level)

    def _may_be_called(self, node: ast.AST) -> bool:
        name = getattr(node, "id", getattr(node, "attr", ""))
        return isinstance(node, ast.Lambda) or name in self.defined or name in self.methods

    def reflect(self, node: ast.expr, level: int) -> None:
        """Read a call or an assignment that binds a name in a string."""
        strings = {str(x.value) for x in ast.walk(node) if isinstance(x, ast.Constant)}
        strings |= {str(x.arg) for x in ast.walk(node) if isinstance(x, ast.keyword)}
        names = {name for name in strings if name.isidentifier()}
        words = {(scope, name) for name in names for scope in (ATTRIBUTES, PROGRAM)}
        is_code = isinstance(node, ast.Call) and _called(node) in {"exec", "eval"}
        for word in {ANYTHING} if is_code or not words else words:
            self.add(word, self.bits.as_number(level))
        self.bound |= words

    def pass_arguments(self, node: ast.Call, function: Any) -> None:
        """Bind the parameters of a function, or of a class's constructor, to the arguments of a call."""
        if isinstance(function, ast.ClassDef):
            # A class without __init__, such as a dataclass, stores its arguments under the names that it declares.
            fields = [x.target for x in function.body if isinstance(x, ast.AnnAssign)]
            pairs = [*zip(fields, node.args, strict=False)]
            pairs += [(ast.Name(word.arg), word.value) for word in node.keywords if word.arg]
            for field, argument in pairs:
                self.bind(ast.Attribute(field, getattr(field, "id", "")), self.value(argument))
            for method in function.body:
                if isinstance(method, Function) and method.name in CONSTRUCTORS:
                    self.pass_to(method, _parameters(method.args)[1:], node)
            return
        names = _parameters(function.args)
        is_static = any(getattr(x, "id", "") == "staticmethod" for x in function.decorator_list)
        if function in self.classes and isinstance(node.func, ast.Attribute) and not is_static:
            owner = node.func.value
            # super().f(v) and m.f(v) pass the object, Class.f(m, v) names it.
            if not (isinstance(owner, ast.Name) and owner.id in self.defined):
                owner = self._own_self() if _called(owner) == "super" else owner
                self.pass_argument(function, names[:1], owner)
                names = names[1:]
        self.pass_to(function, names, node)

    def pass_to(self, function: Any, names: Sequence[str], node: ast.Call) -> None:
        """Bind parameters, by position and by name, to the arguments of a call."""
        every = {*names, *(x.arg for x in ast.walk(function.args) if isinstance(x, ast.arg))}
        for k, argument in enumerate(node.args):
            is_single = k < len(names) and not isinstance(argument, ast.Starred)
            self.pass_argument(function, [names[k]] if is_single else every, argument)
        for word in node.keywords:
            self.pass_argument(function, [word.arg] if word.arg in every else every, word.value)

    def pass_argument(self, function: Any, names: Iterable[str], argument: ast.expr) -> None:
        """Bind parameters of a function to an argument: an object that stores a value has it in both."""
        own, level = self.word(argument), self.level(argument)
        for parameter in ((id(function), name) for name in names):
            self.add_parameter(parameter, level)
            if own and self.stores(own):
                self.changed.add(parameter)
            if not self.is_narrow and self.stores(parameter):
                self.change(argument, self.bits.outside(self.whole_parameter(parameter)))


def _union(levels: Iterable[int]) -> int:
    carried = NOTHING
    for level in levels:
        carried |= level
    return carried


def _lines(node: Any) -> Sequence[int]:
    first = getattr(node, "lineno", None)
    return () if first is None else range(first, (node.end_lineno or first) + 1)


@lru_cache(4096)
def _split(word: str) -> tuple[str, str, str]:
    """Split a word into its name, the number of the binding, and the item."""
    name, bracket, item = word.partition("[")
    name, _, version = name.partition("#")
    return name, version, bracket + item


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(word.value for word in node.keywords)]


def _parameters(arguments: ast.arguments | None) -> list[str]:
    """Return the names of a function's parameters, those by position first."""
    if arguments is None:
        return []
    rest = [arguments.vararg] if arguments.vararg else []
    rest += [*arguments.kwonlyargs, *([arguments.kwarg] if arguments.kwarg else [])]
    return [part.arg for part in (*arguments.posonlyargs, *arguments.args, *rest)]


def _defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    """Return the parameters with default values."""
    positional = [*arguments.posonlyargs, *arguments.args]
    by_position = zip(reversed(positional), reversed(arguments.defaults), strict=False)
    by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [(part.arg, default) for part, default in (*by_position, *by_name) if default]


def _captured(node: ast.AST) -> str:
    """Return the name that an ``except`` clause or a pattern binds, or ''."""
    return getattr(node, "name", None) or getattr(node, "rest", None) or ""


def _names(node: ast.AST | None, names: set[str]) -> bool:
    """Return True if an expression uses one of some names or attributes."""
    parts = ast.walk(node) if node is not None else ()
    return any(getattr(x, "attr", getattr(x, "id", "")) in names for x in parts)


def _called(node: ast.AST) -> str:
    """Return the name of the function or method that a call calls."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def _converts(call: ast.Call, how: str) -> bool:
    """Return True if the name of a call fits a conversion."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))
