"""The words of a program that carry a value which no tape tracks anymore: names, attributes, functions and operators.

An expression that reads a carrying word makes the words that it is bound to carry the value as well (see `dataflow`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np

from tapemagic.explain.program_text import (
    EMPTY,
    RETURNED,
    SCOPES,
    Function,
    around,
    is_assignment,
    names_bound,
    within,
    written_by,
)

STEPS = (
    "all allclose any argmax argmin argpartition argsort array_equal bool ceil count_nonzero digitize fix flatnonzero "
    "floor format id int isclose isfinite isinf isinstance isnan len nonzero print range repr rint round searchsorted "
    "sign signbit stop_gradient str trunc type zeros_like ones_like hash callable bincount histogram exists time"
)
FLAT = frozenset(STEPS.split())
"""Functions whose result doesn't change, or isn't meant to, if their arguments change slightly."""

SIZES = {"shape", "ndim", "size", "dtype"}
REFLECTION = {"globals", "vars", "locals", "__dict__", "setattr", "__setattr__", "exec", "eval"}
"""Names with which a program binds names that stand in a string."""

WRITING_TEXT = {"str", "repr", "format", "ascii", "bytes", "join", "dumps", "array2string", "array_str"}  # fmt: skip
PARSING = {
    "float", "complex", "eval", "literal_eval", "loads", "load", "fromstring", "float64", "Decimal", "Fraction"
}  # fmt: skip
TEXTS = {"repr()", "str()", "format()", "pickle"}
"""Conversions to text or bytes."""

MATH = {"math", "cmath"}
CONVERTING = {
    "float()": {"float", "float64", "float32", "fsum"},
    "complex()": {"complex", "complex128"},
    "np.asarray": {"array", "asarray", "asanyarray", "ascontiguousarray"},
}
"""Names of the calls that run a conversion, if they differ from its own name."""

SPECIAL = {
    "__getitem__": ast.Subscript, "__missing__": ast.Subscript, "__call__": ast.Call, "__new__": ast.Call,
    "__enter__": ast.With, "__aenter__": ast.AsyncWith, "__iter__": ast.For, "__next__": ast.For,
    "__getattr__": ast.Attribute, "__getattribute__": ast.Attribute, "__get__": ast.Attribute,
}  # fmt: skip
"""Special methods, and the syntax that calls them. All others that return numbers are called by operators."""

SHOWN_BY = {
    "__repr__", "__str__", "__format__", "__bool__", "__len__", "__hash__", "__contains__",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__init__", "__exit__", "__del__"
}  # fmt: skip
"""Special methods whose results are text, or change in steps."""

MAX_READINGS = 12
"""Maximum number of readings of a program. Each adds words that only a later statement passes to an earlier one."""

COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp
NOTHING, TEXT, NUMBER = 0, 1, 2
"""What a value carries in order of weight: nothing, the number as text, which matters only if parsed, the number."""

Carried = dict[str, int]
Word = tuple[int, str]
"""A scope and a name in it. Attributes of all objects share a scope, and so do operators."""

PROGRAM, ATTRIBUTES, OPERATORS = 0, 1, 2
ANYTHING: Word = (OPERATORS, "*")
"""The word that everything reads, for values whose words aren't known."""


class Certainty(IntEnum):
    """The certainty that a plain value is used in another value."""

    NO = 0
    PERHAPS = 1
    LIKELY = 2
    YES = 3


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


class Reading:
    """The words that carry a converted value, found by reading programs.

    What an expression carries is a dict: by ``""`` what the value itself carries, and by ``"[0]"`` or ``"['a']"`` what
    an item does.
    """

    def __init__(
        self,
        programs: Sequence[ast.Module],
        line: int,
        how: str,
        source: str,
        steps: bool,
        assignments: bool,
        kinds: Mapping[str, str],
        asked: Asked,
        certainty: Certainty,
    ) -> None:
        self.programs, self.line, self.source = programs, line, source
        self.steps, self.assignments = steps, assignments
        self.is_narrow, self.is_sure = certainty > Certainty.PERHAPS, certainty == Certainty.YES
        self.kinds, self.asked = dict(kinds), asked
        self.is_text = how in TEXTS
        calls = [x for x in ast.walk(programs[0]) if isinstance(x, ast.Call) and on(x, line)]
        # The calls that may have converted the value; without any, all operations on the line count.
        self.exact = set() if self.is_text else {call for call in calls if _converts(call, how)}
        self.carried: dict[Word, int] = {}
        # Words whose object has stored the value.
        self.changed: set[Word] = set()
        self.bound: set[Word] = set()
        # How often statements that surely ran have bound a name.
        self.versions: dict[Word, int] = {}
        self.scopes: list[Any] = []
        self.defined: dict[str, list[Any]] = {}
        for node in (node for program in programs for node in ast.walk(program)):
            if isinstance(node, SCOPES):
                self.defined.setdefault(node.name, []).append(node)

    def reaches_target(self) -> bool:
        """Return True if the target carries the value as a number."""
        for _ in range(MAX_READINGS):
            before = dict(self.carried), set(self.changed)
            for program in self.programs:
                self.is_first = program is self.programs[0]
                self.read_scope(program)
            if before == (self.carried, self.changed):
                break
        self.is_first, self.scopes = self.asked.tree is self.programs[0], [*self.asked.functions]
        self.versions = self.asked.versions or {}
        if self.level(self.asked.value) == NUMBER:
            return True
        # A name that no program binds comes from code that wasn't read.
        return bool(self.carried) and not (self.is_narrow or self._is_bound(self.asked.value))

    def _is_bound(self, value: ast.AST) -> bool:
        """Return True if the programs bind all names of an expression, or its attribute."""
        if isinstance(value, ast.Attribute) and (ATTRIBUTES, value.attr) in self.bound:
            return True
        names = [node.id for node in ast.walk(value) if isinstance(node, ast.Name)]
        return all((self.owner(name), name) in self.bound or self.kinds.get(name) for name in names)

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
        for statement in body if is_certain or not self.is_sure else ():
            if scope is self.asked.scope and statement.lineno > self.asked.last:
                if self.asked.versions is None:
                    self.asked.versions = dict(self.versions)
                if self.is_narrow:
                    return
            self.effects_of(statement)
            self.statement(statement, scope, is_certain)
            if self.is_sure and _may_leave(statement):
                return

    def statement(  # noqa: PLR0912 (a case per statement of Python)
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
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.assign(target, self.value(value), value, is_certain)
            case ast.AugAssign(target, _, value):
                self.assign(target, {"": max(self.level(target), self.level(value))}, value)
            case ast.For(target, reach, body, orelse) | ast.AsyncFor(target, reach, body, orelse):
                self.iterate(target, reach)
                self.read([*body, *orelse], scope)
            case ast.With(items, body) | ast.AsyncWith(items, body):
                for item in items:
                    if item.optional_vars:
                        level = max(self.level(item.context_expr), self.operator(statement))
                        self.assign(item.optional_vars, {"": level}, item.context_expr)
                # A context manager may suppress an error, and with it the rest of the block.
                names = {_called(x) for i in items for x in ast.walk(i) if isinstance(x, ast.Call)}
                self.read(body, scope, is_certain and names.isdisjoint({"suppress", "raises"}))
            case ast.Match(subject, cases):
                for part in (x for case in cases for x in ast.walk(case.pattern)):
                    self.bind(ast.Name(_captured(part), ast.Store()), {"": self.level(subject)})
                self.read(within(statement), scope)
            case ast.Raise(value) | ast.Assert(_, value):
                self.add((OPERATORS, "except"), self.level(value))
            case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
                for handler in handlers:
                    level = self.carried.get((OPERATORS, "except"), NOTHING)
                    self.bind(ast.Name(_captured(handler), ast.Store()), {"": level})
                self.read(within(statement), scope)
            case ast.Return(ast.expr() as value) | ast.Expr(
                ast.Yield(ast.expr() as value) | ast.YieldFrom(value)
            ):
                self.give_back(value)
            case ast.Import(names) | ast.ImportFrom(_, names):
                for name in (alias.asname or alias.name.split(".")[0] for alias in names):
                    self.bound.add((self.owner(name), name))
            case _:
                self.read(within(statement), scope)

    def define(self, function: Any) -> None:
        """Read a function: what calls of it return, and its decorators, defaults and body."""
        parts = function.args
        positional = [*parts.posonlyargs, *parts.args][-len(parts.defaults) or None :]
        defaults = [*parts.defaults, *parts.kw_defaults]
        parameters = positional[: len(parts.defaults)] + parts.kwonlyargs
        for parameter, default in zip(parameters, defaults, strict=True):
            if not self.is_sure:
                self.add((id(function), f"{parameter.arg}#0"), self.level(default))
        result = self.most(function.decorator_list)
        self.bind(
            ast.Name(function.name, ast.Store()),
            {"": max(result, self.whole((id(function), RETURNED)))},
        )
        self.bound |= {(id(function), x.arg) for x in ast.walk(parts) if isinstance(x, ast.arg)}
        self.read_scope(function)

    def give_back(self, value: ast.expr) -> None:
        """Read the result of the function around: its callers get it, or the operator that calls the function."""
        function = next((x for x in reversed(self.scopes) if isinstance(x, Function)), None)
        if function is None:
            return
        carried, name = self.value(value), function.name
        self.alias((id(function), RETURNED), value)
        for part, level in carried.items():
            self.add((id(function), RETURNED + part), level)
        if name.startswith("__") and name.endswith("__") and name not in SHOWN_BY:
            syntax = SPECIAL.get(name, ast.BinOp)
            self.add((OPERATORS, syntax.__name__), max(carried.values(), default=NOTHING))

    def iterate(self, target: ast.expr, reach: ast.expr) -> None:
        """Bind the target of a loop to the elements of an iterable."""
        level = max(self.level(reach), self.carried.get((OPERATORS, "For"), NOTHING))
        self.assign(target, {"": level}, reach)

    # -- words ---------------------------------------------------------------------------------------

    def owner(self, name: str) -> int:
        """Return the scope that a name belongs to, seen from the scopes around."""
        for scope in reversed(self.scopes):
            # Methods don't see the names of their class.
            is_hidden = isinstance(scope, ast.ClassDef) and scope is not self.scopes[-1]
            if not is_hidden and name in local_names(scope):
                return id(scope)
        return PROGRAM

    def word(self, node: ast.AST | None) -> Word | None:
        """Return the word of a name, an attribute or a constant item of one, or None for other expressions."""
        match node:
            case ast.Name(name, context):
                owner = self.owner(name)
                scope = next(
                    (x for x in reversed(self.scopes) if not isinstance(x, COMPREHENSIONS)), None
                )
                version = self.versions.get((owner, name), 0)
                # Functions inside may use a name at any time, and other cells bind it, so all its bindings are one.
                is_inside = owner not in (
                    PROGRAM if scope is None else id(scope),
                    id(self.scopes[-1:] and self.scopes[-1]),
                )
                is_elsewhere = owner == PROGRAM and not version and isinstance(context, ast.Load)
                return owner, name if is_inside or is_elsewhere else f"{name}#{version}"
            case ast.Attribute(_, name):
                return ATTRIBUTES, name
            case ast.Subscript(inner, ast.Constant(str() | int() as key)) if word := self.word(
                inner
            ):
                return word[0], f"{word[1]}[{key!r}]"
        return None

    def whole(self, word: Word) -> int:
        """Return the most that a word or any of its items carries."""
        return max(
            (k for other, k in self.carried.items() if _covers(word, other)), default=NOTHING
        )

    def add(self, word: Word, level: int) -> None:
        """Let a word carry the value."""
        if level > self.carried.get(word, NOTHING):
            self.carried[word] = level

    def assign(
        self, target: ast.expr, carried: Carried, value: ast.expr, is_certain: bool = False
    ) -> None:
        """Read an assignment of a value that carries something, or nothing."""
        if is_certain:
            for name in names_bound([target]):
                key = self.owner(name), name
                self.versions[key] = self.versions.get(key, 0) + 1
        self.bind(target, carried)
        is_hit = not (self.exact or self.is_text) and self.is_first and on(target, self.line)
        match target:
            case ast.Subscript(owner) if is_hit and not isinstance(value, ast.Constant):
                self.change(owner)  # NumPy converts the elements that it stores
            case ast.Name(name) if self.kind(value) == "shows":
                self.kinds.setdefault(name, "shows")
        if (word := self.word(target)) is not None:
            self.alias(word, value)

    def bind(self, target: ast.expr, carried: Carried) -> None:  # noqa: PLR0912 (a case per target)
        """Let the words of a target carry a value."""
        match target:
            case ast.Tuple(elements) | ast.List(elements):
                starred = any(isinstance(element, ast.Starred) for element in elements)
                most = max(carried.values(), default=NOTHING)
                for k, element in enumerate(elements):
                    own = max(carried.get("", NOTHING), carried.get(f"[{k}]", NOTHING))
                    self.bind(element, {"": most if starred else own})
            case ast.Starred(inner):
                self.bind(inner, carried)
            case ast.Name(name) if name and name != self.source:
                scope, word = self.word(target) or ANYTHING
                self.bound.add((scope, name))
                for part, level in carried.items():
                    self.add((scope, word + part), level)
                if self.scopes and isinstance(self.scopes[-1], ast.ClassDef):
                    self.bind(ast.Attribute(target, name), carried)
            case ast.Attribute(_, name):
                self.bound.add((ATTRIBUTES, name))
                for part, level in carried.items() if not self.is_sure else ():
                    self.add((ATTRIBUTES, name + part), level)
            case ast.Subscript(owner) if level := max(carried.values(), default=NOTHING):
                if self.is_sure:
                    return
                if _reflects(owner) and not self.is_narrow:
                    self.reflect(target)
                elif (item := self.word(target)) is not None:
                    self.add(item, level)
                    self.changed.add(item)
                else:
                    self.change(owner)

    def change(self, owner: ast.AST) -> None:
        """Let the object of an expression store the value, and with it all words for the same object."""
        match owner:
            case ast.Name(name) if name == self.source or self.is_sure or self.is_fixed(name):
                return
            case ast.Subscript(inner) | ast.Starred(inner) if self.word(owner) is None:
                self.change(inner)
            case ast.Attribute(inner, name) if any(hasattr(x, name) for x in (list, dict, set)):
                self.change(inner)  # a method such as h.append
            case ast.Call(function) if not self.is_narrow:
                for node in ast.walk(function):
                    self.change(node if isinstance(node, ast.Name | ast.Attribute) else ast.Pass())
                self.changed |= {(id(f), RETURNED) for f in self.functions(owner) or ()}
        if (word := self.word(owner)) is not None:
            self.changed.add(word)
            self.add(word, NUMBER)

    def is_fixed(self, name: str) -> bool:
        """Return True if no call changes the object of a name."""
        return self.owner(name) == PROGRAM and bool(self.kinds.get(name))

    def alias(self, word: Word, value: ast.AST) -> None:
        """Note that a word may name the same object as a value: what one of them stores, the other has."""
        if self.is_narrow or not any(_covers(word, other) for other in self.changed):
            return
        match value:
            case (
                ast.IfExp() | ast.BoolOp() | ast.Tuple() | ast.List() | ast.Dict() | ast.NamedExpr()
            ):
                for part in ast.iter_child_nodes(value):
                    self.alias(word, part)
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Starred() | ast.Call():
                self.change(value)

    # -- expressions ---------------------------------------------------------------------------------

    def most(self, nodes: Iterable[ast.AST | None]) -> int:
        """Return the most that any of some expressions carries."""
        return max(map(self.level, nodes), default=NOTHING)

    def level(self, node: ast.AST | None) -> int:
        """Return the most that the value of an expression or any of its items carries."""
        return max(self.value(node).values(), default=NOTHING) if node is not None else NOTHING

    def operator(self, node: ast.AST) -> int:
        """Return what the special methods that this syntax calls return."""
        return self.carried.get((OPERATORS, type(node).__name__), NOTHING)

    def hit(self, node: Any, is_text: bool = False) -> int:
        """Return what an operation on the line of the conversion carries, if no call there has its name."""
        is_hit = (
            self.is_first and not self.exact and on(node, self.line) and is_text == self.is_text
        )
        return (TEXT if is_text else NUMBER) if is_hit else NOTHING

    def value(self, node: ast.AST) -> Carried:
        """Return what the value of an expression carries, and its items."""
        if ANYTHING in self.carried:
            return {"": NUMBER}
        match node:
            case ast.Tuple(items) | ast.List(items) if not any(
                isinstance(x, ast.Starred) for x in items
            ):
                return {f"[{k}]": self.level(item) for k, item in enumerate(items)}
            case ast.Dict(keys, items) if all(isinstance(key, ast.Constant) for key in keys):
                pairs = zip(keys, items, strict=True)
                return {f"[{key.value!r}]": self.level(x) for key, x in pairs}  # type: ignore[union-attr]
            case ast.Call(function) if functions := self.functions(node):
                words = [(id(f), RETURNED) for f in functions]
                is_plain = all(isinstance(f, Function) and not f.decorator_list for f in functions)
                if is_plain and self.level(function) <= max(map(self.whole, words)):
                    return self.parts_of(*words)
            case ast.Name():
                return self.parts_of(self.word(node) or ANYTHING)
            case ast.IfExp() | ast.BoolOp() if self.is_sure:
                return {}
        return {"": self.plain_value(node)}

    def parts_of(self, *words: Word) -> Carried:
        """Return what words carry, and their items."""
        carried: Carried = {}
        for word in words:
            for other, level in self.carried.items():
                if _covers(word, other):
                    part = _split(other[1])[2].removeprefix(_split(word[1])[2])
                    carried[part] = max(level, carried.get(part, NOTHING))
        return carried

    def plain_value(self, node: ast.AST) -> int:
        """Return what the value of an expression carries, without telling its items apart."""
        is_smooth = not self.steps
        match node:
            case ast.Attribute(inner, name):
                # Other attributes of an object that was computed from the number may be anything.
                owner = self.level(inner)
                follows = (
                    not self.is_narrow or self.steps or owner == TEXT or hasattr(np.ndarray, name)
                )
                own = max(self.whole((ATTRIBUTES, name)), self.operator(node))
                return NOTHING if name in SIZES else max(own, owner if follows else NOTHING)
            case ast.Subscript(owner, index):
                most = max(self.operator(node), NOTHING if is_smooth else self.level(index))
                if isinstance(owner, ast.Name) and (word := self.word(node)):
                    own = self.parts_of(self.word(owner) or ANYTHING).get("", NOTHING)
                    return max(most, self.whole(word), own)
                return max(most, self.level(owner), self.hit(node))
            case ast.Call():
                return self.result(node)
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BinOp(_, ast.FloorDiv()) if is_smooth:
                return NOTHING
            case ast.JoinedStr() | ast.BinOp(ast.Constant(str()), ast.Mod()) if is_smooth:
                inside = self.most(ast.iter_child_nodes(node))
                return min(TEXT, max(inside, self.hit(node, is_text=True)))
            case ast.Lambda(_, body):
                self.scopes.append(node)
                most = max(self.most(ast.iter_child_nodes(node.args)), self.level(body))
                self.scopes.pop()
                return most
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
            most = max(most, self.carried.get((OPERATORS, "BinOp"), NOTHING), self.hit(node))
        return most

    def result(self, node: ast.Call) -> int:
        """Return what the result of a call carries."""
        name, kind, functions = _called(node), self.kind(node.func), self.functions(node)
        # The condition of np.where only chooses.
        arguments = node.args[name == "where" and not self.steps :]
        most = self.most([*arguments, *(word.value for word in node.keywords)])
        if kind == "shows":
            return NOTHING
        if node in self.exact:
            return NUMBER
        if not functions and not self.steps:
            if name in WRITING_TEXT:
                return min(TEXT, max(most, self.level(node.func), self.hit(node, is_text=True)))
            if name in FLAT:
                return NOTHING
        if name in PARSING and most == TEXT:
            return NUMBER
        words = {word.arg for word in node.keywords}
        # A call with `key=`, such as sorted(), only compares.
        if self.hit(node) and (node.args or words) and "key" not in words:
            return NUMBER
        result = self.level(node.func)
        if functions:
            result = max(result, *(self.whole((id(f), RETURNED)) for f in functions))
        elif kind != "pure":
            result = max(result, self.operator(node))
        # Functions may iterate over their arguments, compute with them and convert them.
        called = (self.carried.get((OPERATORS, name), NOTHING) for name in ("For", "BinOp"))
        result = max(result, *called)
        is_object = isinstance(node.func, ast.Name) and (functions or name[:1].isupper())
        if self.is_narrow and is_object and not self.steps:
            return result
        if functions and self.is_sure:
            return result
        # Code that can't be read may parse text.
        is_parsed = most == TEXT and not (kind or self.is_narrow)
        return max(result, NUMBER if is_parsed else most)

    def functions(self, node: ast.AST) -> list[Any] | None:
        """Return the functions and classes of the programs that a call may mean, or None for others."""
        match node:
            case ast.Call(ast.Name(name)):
                # A parameter may be any function.
                owner = self.owner(name)
                scope = next((x for x in self.scopes if id(x) == owner), None)
                arguments = getattr(scope, "args", EMPTY)
                is_parameter = any(getattr(x, "arg", "") == name for x in ast.walk(arguments))
                return None if is_parameter else self.defined.get(name)
            case ast.Call(ast.Attribute(_, name)) if not (
                hasattr(np.ndarray, name) or hasattr(list, name) or self.kind(node)
            ):
                return self.defined.get(name)
        return None

    def kind(self, node: ast.AST | None) -> str:
        """Return the kind of the library at the root of an expression: see `kind_of`."""
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        kind = self.kinds.get(node.id, "") if isinstance(node, ast.Name) else ""
        return "" if kind == "fixed" else kind

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
            if isinstance(child, ast.NamedExpr):
                self.assign(child.target, self.value(child.value), child.value)
            elif isinstance(child, ast.Call):
                self.effects(child)

    def effects(self, node: ast.Call) -> None:  # noqa: PLR0912 (a case per kind of function)
        """Read where a call stores the value."""
        functions, kind = self.functions(node), self.kind(node.func)
        # Another call may have other arguments.
        for function in () if self.is_sure else functions or ():
            self.pass_arguments(node, function)
        is_read = functions and all(isinstance(f, Function) for f in functions)
        is_ignored = is_assignment(node) and not self.assignments
        if is_read or is_ignored or kind == "shows":
            return
        arguments = [*node.args, *(word.value for word in node.keywords)]
        into, values = written_by(node)
        if into is not None and not self.is_narrow and _reflects(into):
            self.reflect(node)
        elif into is not None and not self.kind(into):
            level = max(self.most(values), self.hit(node))
            if level == NUMBER:
                self.change(into)
            elif level and (word := self.word(into)):
                self.add(word, level)
        elif self.is_narrow or not (self.most(arguments) or self.hit(node)):
            return
        elif _called(node) in REFLECTION:
            self.reflect(node)
        else:
            # Code that can't be read may store an argument in another one, or in the object whose method it is.
            stored = [word.value for word in node.keywords if word.arg == "out"]
            if kind != "pure":
                stored = [*arguments, getattr(node.func, "value", node.func)]
            # It may call a function with the value.
            called = (f for x in arguments for f in self.defined.get(getattr(x, "id", ""), ()))
            for function in called:
                for part in ast.walk(getattr(function, "args", EMPTY)):
                    self.add((id(function), f"{getattr(part, 'arg', '')}#0"), NUMBER)
            for argument in stored:
                self.change(argument if self.word(argument) else ast.Pass())

    def reflect(self, node: ast.expr) -> None:
        """Read a call or an assignment that binds a name in a string."""
        strings = {str(x.value) for x in ast.walk(node) if isinstance(x, ast.Constant)}
        strings |= {str(x.arg) for x in ast.walk(node) if isinstance(x, ast.keyword)}
        names = {name for name in strings if name.isidentifier()}
        words = {(scope, name) for name in names for scope in (ATTRIBUTES, PROGRAM)}
        is_code = isinstance(node, ast.Call) and _called(node) in {"exec", "eval"}
        self.carried |= dict.fromkeys({ANYTHING} if is_code or not words else words, NUMBER)
        self.bound |= words

    def pass_arguments(self, node: ast.Call, function: Any) -> None:
        """Bind the parameters of a function, or of the class's ``__init__``, to the arguments of a call."""
        if isinstance(function, ast.ClassDef):
            # A class without __init__, such as a dataclass, stores its arguments under the names that it declares.
            fields = [x.target for x in function.body if isinstance(x, ast.AnnAssign)]
            pairs = [*zip(fields, node.args, strict=False)]
            pairs += [(ast.Name(word.arg), word.value) for word in node.keywords if word.arg]
            for field, argument in pairs:
                self.bind(ast.Attribute(field, getattr(field, "id", "")), self.value(argument))
            for method in function.body:
                if isinstance(method, Function) and method.name in {"__init__", "__new__"}:
                    self.pass_arguments(node, method)
            return
        parts = function.args
        names = [part.arg for part in (*parts.posonlyargs, *parts.args)]
        is_method = isinstance(node.func, ast.Attribute) or function.name.startswith("__")
        names = names[1:] if names[:1] in (["self"], ["cls"]) and is_method else names
        rest = [part.arg for part in (parts.vararg, parts.kwarg) if part]
        every = [*names, *(part.arg for part in parts.kwonlyargs), *rest]
        for k, argument in enumerate(node.args):
            is_single = k < len(names) and not isinstance(argument, ast.Starred)
            self.pass_argument(function, [names[k]] if is_single else every, argument)
        for word in node.keywords:
            names = [word.arg] if word.arg in every else every
            self.pass_argument(function, names, word.value)

    def pass_argument(self, function: Any, names: Iterable[str], argument: ast.expr) -> None:
        """Bind parameters of a function to an argument: an object that stores the value keeps it in both."""
        own = self.word(argument)
        for parameter in ((id(function), f"{name}#0") for name in names):
            self.add(parameter, self.level(argument))
            if own and any(_covers(own, other) for other in self.changed):
                self.changed.add(parameter)
            self.alias(parameter, argument)


def _covers(word: Word, other: Word) -> bool:
    """Return True if another word is a word itself, an item of it, or one of its bindings.

    What functions inside bind a name to counts for each of its bindings.
    """
    if word[0] != other[0]:
        return False
    (name, version, part), (other_name, other_version, other_part) = map(
        _split, (word[1], other[1])
    )
    is_same = not (version and other_version) or version == other_version
    return name == other_name and is_same and other_part.startswith(part)


@lru_cache(4096)
def _split(word: str) -> tuple[str, str, str]:
    """Split a word into its name, the number of the binding, and the item."""
    name, bracket, item = word.partition("[")
    name, _, version = name.partition("#")
    return name, version, bracket + item


def _may_leave(statement: ast.stmt) -> bool:
    """Return True if the statements after this one may not run."""
    leaving = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
    return not isinstance(statement, SCOPES) and any(
        isinstance(x, leaving) for x in ast.walk(statement)
    )


def _captured(node: ast.AST) -> str:
    """Return the name that an ``except`` clause or a pattern binds, or ''."""
    return getattr(node, "name", None) or getattr(node, "rest", None) or ""


def _reflects(owner: ast.AST) -> bool:
    """Return True if an expression is a dict of names, such as ``globals()`` or ``m.__dict__``."""
    parts = (getattr(node, "attr", getattr(node, "id", "")) for node in ast.walk(owner))
    return not REFLECTION.isdisjoint(parts)


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _converts(call: ast.Call, how: str) -> bool:
    """Return True if the name of a call fits a conversion."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))
