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

from tapemagic.engine.events import Place
from tapemagic.explain.expressions import TEXT, Expressions, Parts, on, path_of, root_of
from tapemagic.explain.program_text import (
    EMPTY,
    SCOPES,
    Function,
    around,
    bound_on,
    calls_unknown,
    expression_of,
    handed_over,
    innermost_function,
    is_assignment,
    names_read,
    own_names,
    parameters,
    sources,
    text_of,
    written_by,
)

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
    place: Place | None,
    how: str,
    value: str,
    source: str,
    asked: Place | None,
    steps: bool = False,
    objects: bool = False,
    assignments: bool = True,
) -> Certainty:
    """Find whether what left the tape at a place, by a conversion such as ``"float()"``, goes into a value.

    The value goes by its name on the line that asks; the first line of a file stands for its end. A value that is
    bound to the source is no loss. With `steps`, what changes in steps counts, too; with `objects`, every attribute of
    an object that was made of it, such as the result of an optimization; without `assignments`, none to a Variable.
    """
    tree, line = text_of(place)
    if place is None or not around(tree, line):
        return Certainty.PERHAPS
    other, asking = text_of(asked)
    if asked is None or asked.file == place.file or other is EMPTY:
        other = tree
    asking = asking if asking > 1 else 0
    return _flow_into(tree, line, other, how, value, source, asking, steps, objects, assignments)


@lru_cache(512)
def _flow_into(
    tree: ast.Module,
    line: int,
    other: ast.Module,
    how: str,
    value: str,
    source: str,
    asked: int,
    steps: bool,
    objects: bool,
    assignments: bool,
) -> Certainty:
    """The same for programs that have been parsed: the one in which a value left, and the one that asks."""
    wanted = expression_of(value)
    if wanted is None:
        return Certainty.PERHAPS
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and on(node, line))
    exact = [call for call in calls if _converts(call, how)]
    asking = [scope for scope in around(other, asked) if isinstance(scope, Function)]
    read_last = asking[-1] if asking else other
    elsewhere = other is not tree
    last = _end_of_loops(read_last, asked) if asked and (elsewhere or asked > line) else inf
    known: set[str] = set()
    shared: set[str] = set()
    written: set[str] = set()
    for _ in range(PASSES):
        size = len(known)
        for program, at in ((tree, line), (other, 0))[: 1 + elsewhere]:
            for scope, owner in _scopes(program):
                end = last if scope is read_last else inf
                reading = Statements(at, exact, source, set(), steps, how in TEXTS, objects, end)
                reading.assignments = assignments
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
                if elsewhere:
                    calls_of += [f".{call}" for call in calls_of if not call.startswith(".")]
                known |= {call + part for call in calls_of for part in reading.returned}
        if len(known) == size:
            break
    goes_on = elsewhere and any(sources(scope.body, value) for scope in (other, *asking))
    unclear = goes_on or _may_flow(tree, line, value, [] if elsewhere else asking, written)
    return Certainty.PERHAPS if unclear else Certainty.NO


def flow_through_unknown_call(
    place: Place | None, how: str, value: str, source: str, asked: Place | None
) -> bool:
    """Whether what left goes into the result of a function that is handed over, and an unknown call makes the value.

    The text does not tell which function a parameter, or the target of a loop, is.
    """
    tree, line = text_of(place)
    function = innermost_function(tree, line)
    if function is None or not calls_unknown(asked, value):
        return False
    if not handed_over(function, tree, text_of(asked)[0]):
        return False
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and on(node, line))
    exact = [call for call in calls if _converts(call, how)]
    reading = Statements(line, exact, source, set(), text=how in TEXTS)
    if isinstance(function, ast.Lambda):
        return reading.reaches(function.body)
    reading.run(function.body)
    return any(not part.endswith(TEXT) for part in reading.returned)


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
    if isinstance(node, Function | ast.Module):
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
    """Taint while statements are read."""

    last: float = inf  # the line that asks
    assignments: bool = True  # read those to Variables
    shared: Iterable[str] = ()  # tainted paths that functions share, from where they are defined
    written: set[str] = field(
        default_factory=set
    )  # names in calls that may write the value into one
    returned: Parts = field(default_factory=set)  # tainted parts of the result of a function

    def reaches(self, value: ast.expr) -> bool:
        """Whether a value is tainted, and not as text alone."""
        return any(not part.endswith(TEXT) for part in self.parts(value))

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Read statements, up to the line that asks."""
        for statement in body:
            began = self.tainted or self.shared or on(statement, self.line)
            if began and statement.lineno <= self.last:
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
            case ast.For() | ast.AsyncFor() | ast.While():
                self.repeat(statement)
                self.run(statement.orelse)
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

    def repeat(self, loop: ast.For | ast.AsyncFor | ast.While) -> None:
        """Read a loop until nothing changes any more."""
        for _ in range(PASSES):
            before = self.tainted
            if not isinstance(loop, ast.While):
                self.bind(loop.target, self.elements(loop.iter))
            self.either(loop.body, [])
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
        if not self.assignments and is_assignment(value):
            return
        into, given = written_by(value)
        if into is not None:
            if any(map(self.carries, given)) or (isinstance(value, ast.Call) and self.hit(value)):
                self.tainted |= {path_of(into)} - {"", self.source}
        elif isinstance(value, ast.Call) and path_of(value.func) != "print":
            if any(map(self.carries, value.args)):
                self.written |= names_read(value)
        else:
            self.parts(value)

    def stored(self, target: ast.expr, value: ast.expr) -> Parts:
        """The taint of a target that is written into, if the value left by that."""
        writes = isinstance(target, ast.Subscript) and on(target, self.line) and not self.exact
        return {""} if writes and not isinstance(value, ast.Constant) else set()
