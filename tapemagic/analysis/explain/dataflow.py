"""Data flow from the line where a value left a tape into another value, by the text of the program.

Statements are walked through in their own order: a name that is bound anew forgets what it held. The parts of lists,
dicts and objects are told apart. What changes in steps carries nothing on: comparisons, indices, lengths. Text does
where it is read as a number again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from math import inf

from tapemagic.analysis.explain.expressions import TEXT, Parts, Reading, on, path_of, root_of
from tapemagic.analysis.explain.program_text import (
    CHANGING,
    FUNCTIONS,
    SCOPES,
    WRITING,
    around,
    bound_on,
    names_read,
    own_names,
    parameters,
    sources,
    tree_of,
)
from tapemagic.analysis.formatting import without_subscript
from tapemagic.engine.events import Place

MATH = {"math", "cmath"}
CONVERTING = {
    "float()": {"float", "float64", "float32", "fsum"},
    "complex()": {"complex", "complex128"},
    "np.asarray": {"array", "asarray", "asanyarray", "ascontiguousarray"},
}
"""Names of the calls by which a conversion happens, where they differ from its own."""

TEXTS = {"repr()", "format()", "pickle"}
"""The conversions to text or bytes."""

PASSES = 4
"""How often a loop is walked through, and the functions of a program."""


class Feeds(IntEnum):
    """Whether what happens on a line goes into a value."""

    NO = 0
    PERHAPS = 1
    YES = 2


def flow_into(
    place: Place | None,
    how: str,
    value: str,
    source: str,
    asked: Place | None,
    steps: bool = False,
    objects: bool = False,
) -> Feeds:
    """Whether what left the tape at a place is carried on into a value.

    Parameters
    ----------
    place : Place or None
        Where it left.
    how : str
        By what: ``"float()"``.
    value, source : str
        What the program calls the value, and what it is differentiated with respect to: that is no loss.
    asked : Place or None
        Where the program knows the value by this name.
    steps : bool, optional
        Whether what changes in steps counts, too.
    objects : bool, optional
        Whether every attribute counts of an object made of it, such as the result of an optimization.
    """
    tree = tree_of(place)
    if tree is None or place is None or not around(tree, place.line):
        return Feeds.PERHAPS
    beside = asked is not None and asked.file != place.file
    other = tree_of(asked) if beside else None
    inside = asked.line if asked and not beside and asked.line > place.line else 0
    return _flow_into(tree, place.line, other, how, value, source, inside, steps, objects)


@lru_cache(512)
def _flow_into(
    tree: ast.Module,
    line: int,
    other: ast.Module | None,
    how: str,
    value: str,
    source: str,
    inside: int,
    steps: bool,
    objects: bool,
) -> Feeds:
    """The same for programs that have been parsed: the one in which a value left, and perhaps one that goes on."""
    try:
        wanted = ast.parse(without_subscript(value), mode="eval").body
    except SyntaxError:
        return Feeds.PERHAPS
    exact = [call for call in _calls(tree, line) if _converts(call, how)]
    text = how in TEXTS
    asking = [scope for scope in around(tree, inside) if isinstance(scope, FUNCTIONS)]
    known: set[str] = set()
    shared: set[str] = set()
    given_away: set[str] = set()
    for _ in range(PASSES):
        size = len(known)
        for program, at in ((tree, line), (other, 0)):
            if program is None:
                continue
            for function, owner in _functions(program):
                walk = Walk(
                    at,
                    exact,
                    source,
                    known - _own(function, known),
                    steps,
                    text,
                    objects,
                    inside or inf,
                )
                walk.run(function.body)
                if function in asking:
                    given_away |= walk.given_away
                    if walk.reaches(wanted):
                        return Feeds.YES
                shared |= _outside(function, walk.held)
                for called in _called(program, function, owner):
                    known |= {called + part for part in walk.returned}
                    if other is not None and not owner:
                        known |= {f".{called}{part}" for part in walk.returned}
            known |= shared
            walk = Walk(at, exact, source, set(known), steps, text, objects, inside or inf, shared)
            walk.run(program.body)
            if walk.reaches(wanted):
                return Feeds.YES
            given_away |= walk.given_away
            known |= walk.held
        if len(known) == size:
            break
    goes_on = other is not None and bool(sources(other.body, value))
    return (
        Feeds.PERHAPS if goes_on or _may_feed(tree, line, value, asking, given_away) else Feeds.NO
    )


def _may_feed(
    tree: ast.Module,
    line: int,
    value: str,
    asking: Sequence[ast.FunctionDef | ast.AsyncFunctionDef],
    given_away: set[str],
) -> bool:
    """Whether a line may feed a value by ways that a walk cannot follow: through other functions and cells."""
    made = set().union(*(sources(body, value) for body in (tree.body, *(f.body for f in asking))))
    if given_away & made:
        return True
    scopes = [scope for scope in around(tree, line) if isinstance(scope, SCOPES)]
    beside = bool(made) and (not scopes or scopes[-1] in asking)
    uncalled = bool(made) and made.isdisjoint(scope.name for scope in scopes)
    return not beside and not uncalled and bound_on(tree, line)


def _calls(tree: ast.AST, line: int) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and on(node, line)]


def _converts(call: ast.Call, how: str) -> bool:
    """Whether a call is by its name the one through which a value left."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))


def _functions(
    tree: ast.AST, owner: str = ""
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """All functions, inner ones first, with the class that they are methods of."""
    for node in ast.iter_child_nodes(tree):
        yield from _functions(node, node.name if isinstance(node, ast.ClassDef) else "")
        if isinstance(node, FUNCTIONS):
            yield node, owner


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef, known: Iterable[str]) -> set[str]:
    """The known paths that begin with a function's own parameters."""
    return {path for path in known if root_of(path) in parameters(function) - {"self"}}


def _outside(function: ast.FunctionDef | ast.AsyncFunctionDef, held: Iterable[str]) -> set[str]:
    """The paths that begin with names from outside a function, or with its ``self``."""
    return {path for path in held if root_of(path) not in own_names(function) - {"self"}}


def _called(
    tree: ast.AST, function: ast.FunctionDef | ast.AsyncFunctionDef, owner: str
) -> list[str]:
    """The ways to write what a function gives."""
    if not owner:
        return [f"{function.name}()"]
    if function.name == "__call__":
        made = [
            s for s in ast.walk(tree) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)
        ]
        own = [s for s in made if path_of(s.value) == f"{owner}()"]
        return [f"{path_of(target)}()" for s in own for target in s.targets] + [f"{owner}()()"]
    is_property = any("property" in ast.unparse(decorator) for decorator in function.decorator_list)
    return [f".{function.name}" + "()" * (not is_property)]


@dataclass
class Walk(Reading):
    """A walk through statements, and which paths hold what left the tape on a line.

    Attributes
    ----------
    last : float
        The line that asks.
    shared : iterable of str
        The paths through which functions share what left, from where they are defined.
    given_away : set of str
        The names in calls of other functions that were given it: one may be written into.
    returned : set of str
        The parts of what a function returns that hold it.
    """

    last: float = inf
    shared: Iterable[str] = ()
    given_away: set[str] = field(default_factory=set)
    returned: Parts = field(default_factory=set)

    def reaches(self, value: ast.expr) -> bool:
        """Whether a value holds what left, and not as text alone."""
        return any(not part.endswith(TEXT) for part in self.parts(value))

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Walk through statements, up to the line that asks."""
        for statement in body:
            if statement.lineno <= self.last and (
                self.held or self.shared or on(statement, self.line)
            ):
                self.step(statement)

    def step(self, statement: ast.stmt) -> None:
        """Walk through one statement, and those inside of it."""
        match statement:
            case ast.Assign(targets, value):
                parts = self.parts(value)
                for target in targets:
                    self.bind(target, parts | self.stored(target, value))
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.bind(target, self.parts(value))
            case ast.AugAssign(target, _, value):
                held = self.parts(target) | self.parts(value) | self.stored(target, value)
                self.bind(target, {""} if held else set())
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                self.held |= set(self.shared)
                if any(map(self.parts, [*statement.args.defaults, *statement.args.kw_defaults])):
                    self.held.add(name)
            case ast.Return(ast.expr() as value) | ast.Expr(
                ast.Yield(ast.expr() as value) | ast.YieldFrom(value)
            ):
                self.returned |= self.parts(value)
            case ast.Expr(value):
                self.change(value)
            case _:
                self.inside(statement)

    def inside(self, statement: ast.stmt) -> None:
        """Walk through the statements inside of a loop, a branch or a block."""
        match statement:
            case ast.For(target, reach) | ast.AsyncFor(target, reach):
                self.repeat(statement.body, target, reach)
                self.run(statement.orelse)
            case ast.While():
                self.repeat(statement.body)
            case ast.If(test):
                self.parts(test)
                self.either(statement.body, statement.orelse)
            case ast.With(items) | ast.AsyncWith(items):
                for item in items:
                    if item.optional_vars:
                        self.bind(item.optional_vars, self.parts(item.context_expr))
                self.run(statement.body)
            case ast.Try():
                self.either([*statement.body, *statement.orelse], [])
                self.either(*(handler.body for handler in statement.handlers), [])
                self.run(statement.finalbody)
            case ast.Match(_, cases):
                self.either(*(case.body for case in cases), [])

    def repeat(
        self,
        body: Sequence[ast.stmt],
        target: ast.expr | None = None,
        reach: ast.expr | None = None,
    ) -> None:
        """Walk through a loop until nothing changes any more."""
        for _ in range(PASSES):
            before = self.held
            if target is not None and reach is not None:
                self.bind(target, self.elements(reach))
            self.either(body, [])
            if self.held == before:
                break

    def either(self, *bodies: Iterable[ast.stmt]) -> None:
        """Walk through branches, of which one is taken."""
        before, after = self.held, set()
        for body in bodies:
            self.held = set(before)
            self.run(body)
            after |= self.held
        self.held = after

    def change(self, value: ast.expr) -> None:
        """A call that may put its arguments into what it is called on."""
        match value:
            case ast.Call(ast.Attribute(owner, method), given) if method in CHANGING:
                words = [word.value for word in value.keywords]
                if any(map(self.carries, [*given, *words])):
                    path = path_of(owner)
                    self.held |= {path} - {"", self.source}
            case ast.Call(ast.Attribute(_, function), [first, *rest]) if function in WRITING:
                if any(map(self.carries, rest)) or self.hit(value):
                    self.held |= {path_of(first)} - {"", self.source}
            case ast.Call(function, given) if path_of(function) != "print":
                if any(map(self.carries, given)):
                    self.given_away |= names_read(value)
            case _:
                self.parts(value)

    def stored(self, target: ast.expr, value: ast.expr) -> Parts:
        """Whether writing into an array is what made a value leave."""
        writes = isinstance(target, ast.Subscript) and on(target, self.line) and not self.exact
        return {""} if writes and not isinstance(value, ast.Constant) else set()
