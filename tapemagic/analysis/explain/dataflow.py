"""Taint analysis of a program's text: the flow of a value from the line where it left a tape into another value.

Statements are read in their own order: a name that is bound anew is no longer tainted. The parts of lists, dicts and
objects are told apart. What changes in steps passes nothing on: comparisons, indices, lengths. Text does where it is
read as a number again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from math import inf

from tapemagic.analysis.explain.expressions import (
    TEXT,
    Expressions,
    Parts,
    on,
    path_of,
    root_of,
)
from tapemagic.analysis.explain.program_text import (
    CHANGING,
    FUNCTIONS,
    SCOPES,
    WRITING,
    Function,
    around,
    bound_on,
    names_read,
    own_names,
    parameters,
    sources,
    tree_of,
)  # fmt: skip
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
"""The number of readings of a loop, and of the functions of a program."""


class Certainty(IntEnum):
    """The certainty with which what happens on a line goes into a value."""

    NO = 0
    PERHAPS = 1
    YES = 2


def flow_into(
    place: Place | None, how: str, value: str, source: str, asked: Place | None, steps: bool = False
) -> Certainty:
    """Find whether what left the tape at a place goes into a value.

    Parameters
    ----------
    place : Place or None
        The line on which it left.
    how : str
        The conversion: ``"float()"``.
    value, source : str
        The program's names for the value, and for what it is differentiated with respect to: that is no loss.
    asked : Place or None
        The line on which the program knows the value by this name; the first of a file stands for its end.
    steps : bool, optional
        Whether what changes in steps counts, too.
    """
    tree = tree_of(place)
    if tree is None or place is None or not around(tree, place.line):
        return Certainty.PERHAPS
    other = tree_of(asked) if asked and asked.file != place.file else None
    asking = asked.line if asked and asked.line > 1 else 0
    return _flow_into(tree, place.line, other, how, value, source, asking, steps)


@lru_cache(512)
def _flow_into(
    tree: ast.Module,
    line: int,
    other: ast.Module | None,
    how: str,
    value: str,
    source: str,
    asked: int,
    steps: bool,
) -> Certainty:
    """The same for programs that have been parsed: the one in which a value left, and perhaps one that goes on."""
    try:
        wanted = ast.parse(without_subscript(value), mode="eval").body
    except SyntaxError:
        return Certainty.PERHAPS
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and on(node, line))
    exact = [call for call in calls if _converts(call, how)]
    asking = [scope for scope in around(other or tree, asked) if isinstance(scope, FUNCTIONS)]
    read_last = asking[-1] if asking else other or tree
    last = _end_of_loops(read_last, asked) if asked and (other or asked > line) else inf
    programs = [(tree, line)] + ([(other, 0)] if other else [])
    known: set[str] = set()
    shared: set[str] = set()
    written: set[str] = set()
    for _ in range(PASSES):
        size = len(known)
        for program, at in programs:
            for scope, owner in _scopes(program):
                end = last if scope is read_last else inf
                reading = Statements(at, exact, source, set(), steps, how in TEXTS, end)
                if isinstance(scope, ast.Module):
                    known |= shared
                    reading.tainted, reading.shared = set(known), shared
                else:
                    given = parameters(scope) - {"self"}
                    reading.tainted = {path for path in known if root_of(path) not in given}
                reading.run(scope.body)
                if isinstance(scope, ast.Module) or scope in asking:
                    written |= reading.written
                    if reading.reaches(wanted):
                        return Certainty.YES
                if isinstance(scope, ast.Module):
                    known |= reading.tainted
                    continue
                own = own_names(scope) - {"self"}
                shared |= {path for path in reading.tainted if root_of(path) not in own}
                calls_of = _calls_of(program, scope, owner)
                if other is not None:
                    calls_of += [f".{call}" for call in calls_of if not call.startswith(".")]
                known |= {call + part for call in calls_of for part in reading.returned}
        if len(known) == size:
            break
    goes_on = other is not None and any(sources(scope.body, value) for scope in (other, *asking))
    unclear = goes_on or _may_flow(tree, line, value, [] if other else asking, written)
    return Certainty.PERHAPS if unclear else Certainty.NO


def _end_of_loops(scope: Function | ast.Module, line: int) -> int:
    """The last line that runs before a line is reached again: the end of the loops around it, or the line itself."""
    loops = (node for node in ast.walk(scope) if isinstance(node, (ast.For, ast.While)))
    return max([line, *(loop.end_lineno or line for loop in loops if on(loop, line))])


def _may_flow(
    tree: ast.Module, line: int, value: str, asking: Sequence[Function], written: set[str]
) -> bool:
    """Whether a line may go into a value by ways that are not read: through other functions and cells."""
    made = set().union(*(sources(body, value) for body in (tree.body, *(f.body for f in asking))))
    if written & made:
        return True
    scopes = [scope for scope in around(tree, line) if isinstance(scope, SCOPES)]
    beside = not scopes or scopes[-1] in asking
    uncalled = made.isdisjoint(scope.name for scope in scopes)
    return not (made and (beside or uncalled)) and bound_on(tree, line)


def _converts(call: ast.Call, how: str) -> bool:
    """Whether a call is by its name the one through which a value left."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))


def _scopes(node: ast.AST, owner: str = "") -> Iterator[tuple[Function | ast.Module, str]]:
    """All functions, inner ones first, with the class that they are methods of; then the program itself."""
    for child in ast.iter_child_nodes(node):
        yield from _scopes(child, node.name if isinstance(node, ast.ClassDef) else "")
    if isinstance(node, (*FUNCTIONS, ast.Module)):
        yield node, owner


def _calls_of(tree: ast.AST, function: Function, owner: str) -> list[str]:
    """The expressions for the result of a function."""
    if not owner:
        return [f"{function.name}()"]
    if function.name == "__call__":
        assigned = (s for s in ast.walk(tree) if isinstance(s, ast.Assign))
        own = [s for s in assigned if path_of(s.value) == f"{owner}()"]
        return [f"{path_of(target)}()" for s in own for target in s.targets] + [f"{owner}()()"]
    is_property = any("property" in ast.unparse(decorator) for decorator in function.decorator_list)
    return [f".{function.name}" + "()" * (not is_property)]


@dataclass
class Statements(Expressions):
    """Taint while statements are read.

    Attributes
    ----------
    last : float
        The line that asks.
    shared : iterable of str
        The tainted paths that functions share, from where they are defined.
    written : set of str
        The names in calls of other functions with a tainted argument: one may be written into.
    returned : set of str
        The tainted parts of the result of a function.
    """

    last: float = inf
    shared: Iterable[str] = ()
    written: set[str] = field(default_factory=set)
    returned: Parts = field(default_factory=set)

    def reaches(self, value: ast.expr) -> bool:
        """Whether a value is tainted, and not as text alone."""
        return any(not part.endswith(TEXT) for part in self.parts(value))

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Read statements, up to the line that asks."""
        for statement in body:
            if statement.lineno <= self.last and (
                self.tainted or self.shared or on(statement, self.line)
            ):
                self.step(statement)

    def step(self, statement: ast.stmt) -> None:
        """Read one statement, and those inside of it."""
        match statement:
            case ast.Assign(targets, value):
                parts = self.parts(value)
                for target in targets:
                    self.bind(target, parts | self.stored(target, value))
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.bind(target, self.parts(value))
            case ast.AugAssign(target, _, value):
                found = self.parts(target) | self.parts(value) | self.stored(target, value)
                self.bind(target, {""} if found else set())
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                self.tainted |= set(self.shared)
                if any(map(self.parts, [*statement.args.defaults, *statement.args.kw_defaults])):
                    self.tainted.add(name)
            case ast.Return(ast.expr() as value) | ast.Expr(
                ast.Yield(ast.expr() as value) | ast.YieldFrom(value)
            ):
                self.returned |= self.parts(value)
            case ast.Expr(value):
                self.change(value)
            case _:
                self.inside(statement)

    def inside(self, statement: ast.stmt) -> None:
        """Read the statements inside of a loop, a branch or a block."""
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
        """Read a loop until nothing changes any more."""
        for _ in range(PASSES):
            before = self.tainted
            if target is not None and reach is not None:
                self.bind(target, self.elements(reach))
            self.either(body, [])
            if self.tainted == before:
                break

    def either(self, *bodies: Iterable[ast.stmt]) -> None:
        """Read branches, of which one is taken."""
        before, after = self.tainted, set()
        for body in bodies:
            self.tainted = set(before)
            self.run(body)
            after |= self.tainted
        self.tainted = after

    def change(self, value: ast.expr) -> None:
        """Read a call that may write its arguments into an object."""
        match value:
            case ast.Call(ast.Attribute(owner, method), given) if method in CHANGING:
                words = [word.value for word in value.keywords]
                if any(map(self.carries, [*given, *words])):
                    path = path_of(owner)
                    self.tainted |= {path} - {"", self.source}
            case ast.Call(ast.Attribute(_, function), [first, *rest]) if function in WRITING:
                if any(map(self.carries, rest)) or self.hit(value):
                    self.tainted |= {path_of(first)} - {"", self.source}
            case ast.Call(function, given) if path_of(function) != "print":
                if any(map(self.carries, given)):
                    self.written |= names_read(value)
            case _:
                self.parts(value)

    def stored(self, target: ast.expr, value: ast.expr) -> Parts:
        """The taint of a target that is written into, if the value left by that."""
        writes = isinstance(target, ast.Subscript) and on(target, self.line) and not self.exact
        return {""} if writes and not isinstance(value, ast.Constant) else set()
