"""Taint analysis of source code: follow a plain value from the line of its conversion into other values.

A tape can't see where a plain number goes, but the program's source shows it. Statements are read in order, and a name
that is assigned again is no longer tainted. Items of lists and dicts and attributes of objects are distinguished.
Results that change in steps, such as comparisons, indices and lengths, aren't tainted. Text is, if it is parsed into a
number again.
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
    cell_that_binds,
    expression_of,
    handed_over,
    innermost_function,
    is_assignment,
    names_in,
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
"""Names of the calls that run a conversion, if they differ from its own name."""

TEXTS = {"repr()", "str()", "format()", "pickle"}
"""Conversions to text or bytes."""

PASSES = 4
"""Maximum number of readings of a loop, or of a program's functions, to find what later statements pass to earlier."""


class Certainty(IntEnum):
    """The certainty that a plain value is used in another value."""

    NO = 0
    PERHAPS = 1
    YES = 2


def flow_into(
    place: Place | None,
    how: str,
    value: str,
    source: str,
    asking_place: Place | None,
    steps: bool = False,
    objects: bool = False,
    assignments: bool = True,
) -> Certainty:
    """Return how certain it is that the result of a conversion is used in a value.

    - `place`: The line of the conversion.
    - `how`: The name of the conversion, such as ``"float()"``.
    - `value`, `source`: The expressions for the value and for the source, on the asking line. Results bound to the
      source's name don't count.
    - `asking_place`: The line that asks. The first line of a file means its end.
    - `steps`: Bool, default: False. Count results that change in steps.
    - `objects`: Bool, default: False. Count all attributes of an object that was computed from the result, such as the
      report of an optimizer.
    - `assignments`: Bool, default: True. Count values assigned to Variables.
    """
    tree, line = text_of(place)
    if place is None or not around(tree, line):
        return Certainty.PERHAPS
    asking_tree, asking = text_of(asking_place)
    if asking_place is None or asking_place.file == place.file or asking_tree is EMPTY:
        asking_tree = tree
    asking = asking if asking > 1 else 0
    # The cell that recorded, the cell that called it, and the cell that asks may be three.
    cells = (cell_that_binds(name, place, asking_place) for name in names_in(value))
    others = tuple(text_of(cell)[0] for cell in cells if cell is not None)
    return _flow_into(
        tree, line, asking_tree, others, how, value, source, asking, steps, objects, assignments
    )


@lru_cache(512)
def _flow_into(
    tree: ast.Module,
    line: int,
    asking_tree: ast.Module,
    others: tuple[ast.Module, ...],
    how: str,
    value: str,
    source: str,
    asking_line: int,
    steps: bool,
    objects: bool,
    assignments: bool,
) -> Certainty:
    """Answer `flow_into` for the parsed programs of both places, so that answers can be cached."""
    expression = expression_of(value)
    if expression is None:
        return Certainty.PERHAPS
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and on(node, line))
    exact = [call for call in calls if _converts(call, how)]
    asking = [scope for scope in around(asking_tree, asking_line) if isinstance(scope, Function)]
    read_last = asking[-1] if asking else asking_tree
    elsewhere = asking_tree is not tree or bool(others)
    last = (
        _end_of_loops(read_last, asking_line)
        if asking_line and (elsewhere or asking_line > line)
        else inf
    )
    all_tainted: set[str] = set()
    shared: set[str] = set()
    written: set[str] = set()
    # A function may taint a name that another one reads, and be read before it, so repeat until nothing is added.
    for _ in range(PASSES):
        size = len(all_tainted)
        programs = dict.fromkeys([tree, *others, asking_tree])
        for program in programs:
            at = line if program is tree else 0
            for scope, owner in _scopes(program):
                end = last if scope is read_last else inf
                reading = Statements(at, exact, source, set(), steps, how in TEXTS, objects, end)
                reading.assignments = assignments
                if isinstance(scope, ast.Module):
                    all_tainted |= shared
                    reading.tainted, reading.shared = set(all_tainted), shared
                else:
                    own_parameters = parameters(scope) - {"self"}
                    reading.tainted = {
                        path for path in all_tainted if root_of(path) not in own_parameters
                    }
                    # A function inside this one may change the names of this one.
                    reading.shared, reading.nested = shared, True
                reading.run(scope.body)
                if isinstance(scope, ast.Module) or scope in asking:
                    written |= reading.written
                    if reading.reaches(expression):
                        return Certainty.YES
                if isinstance(scope, ast.Module):
                    all_tainted |= reading.tainted
                    continue
                own = own_names(scope) - {"self"}
                shared |= {path for path in reading.tainted if root_of(path) not in own}
                # What a method assigns to self.loss, other code calls model.loss.
                all_tainted |= {
                    path.removeprefix("self")
                    for path in reading.tainted
                    if owner and path.startswith("self.")
                }
                calls_of = _calls_of(program, scope, owner)
                if elsewhere:
                    calls_of += [f".{call}" for call in calls_of if not call.startswith(".")]
                all_tainted |= {call + part for call in calls_of for part in reading.returned}
        if len(all_tainted) == size:
            break
    goes_on = elsewhere and any(sources(scope.body, value) for scope in (asking_tree, *asking))
    unclear = goes_on or _may_flow(tree, line, value, [] if elsewhere else asking, written)
    return Certainty.PERHAPS if unclear else Certainty.NO


def flow_through_unknown_call(
    place: Place | None, how: str, value: str, source: str, asking_place: Place | None
) -> bool:
    """Return True if a function passed as an argument returns the plain value, and an unknown call makes `value`.

    The source doesn't show which function a parameter or a loop variable refers to.
    """
    tree, line = text_of(place)
    function = innermost_function(tree, line)
    if function is None or not calls_unknown(asking_place, value):
        return False
    if not handed_over(function, tree, text_of(asking_place)[0]):
        return False
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and on(node, line))
    exact = [call for call in calls if _converts(call, how)]
    reading = Statements(line, exact, source, set(), text=how in TEXTS)
    if isinstance(function, ast.Lambda):
        return reading.reaches(function.body)
    reading.run(function.body)
    return any(not part.endswith(TEXT) for part in reading.returned)


def _end_of_loops(scope: Function | ast.Module, line: int) -> int:
    """Return the last line that may run before a line runs again: the end of the loops around it, or the line."""
    loops = (node for node in ast.walk(scope) if isinstance(node, (ast.For, ast.While)))
    return max([line, *(loop.end_lineno or line for loop in loops if on(loop, line))])


def _may_flow(
    tree: ast.Module, line: int, value: str, asking: Sequence[Function], written: set[str]
) -> bool:
    """Return True if a line may affect a value in ways that aren't analyzed: through other functions or cells."""
    origins = set().union(
        *(sources(body, value) for body in (tree.body, *(f.body for f in asking)))
    )
    if written & origins:
        return True
    scopes = [scope for scope in around(tree, line) if isinstance(scope, SCOPES)]
    in_same_scope = not scopes or scopes[-1] in asking
    uncalled = origins.isdisjoint(scope.name for scope in scopes)
    return not (origins and (in_same_scope or uncalled)) and bound_on(tree, line)


def _converts(call: ast.Call, how: str) -> bool:
    """Return True if the name of a call fits a conversion."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))


def _scopes(node: ast.AST, owner: str = "") -> Iterator[tuple[Function | ast.Module, str]]:
    """Yield all functions, inner ones first, each with the name of its class or '', and then the program itself."""
    for child in ast.iter_child_nodes(node):
        yield from _scopes(child, node.name if isinstance(node, ast.ClassDef) else "")
    if isinstance(node, Function | ast.Module):
        yield node, owner


def _calls_of(tree: ast.AST, function: Function, owner: str) -> list[str]:
    """Return the expressions that calls of a function are written as."""
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
    """Taint of names, updated while statements are read in order."""

    last: float = inf  # the line that asks
    assignments: bool = True  # count values assigned to Variables
    shared: Iterable[str] = ()  # tainted paths that all functions see, once they are defined
    nested: bool = False  # a function's statements: only functions inside it share names with it
    written: set[str] = field(
        default_factory=set
    )  # names in calls that may store the value in one of them
    returned: Parts = field(default_factory=set)  # tainted parts of the function's result

    def reaches(self, value: ast.expr) -> bool:
        """Return True if a value is tainted, and not only as text."""
        return any(not part.endswith(TEXT) for part in self.parts(value))

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Read statements up to the asking line."""
        for statement in body:
            # Statements before the conversion can't use its result.
            began = self.tainted or self.shared or on(statement, self.line)
            if began and statement.lineno <= self.last:
                self.step(statement)

    def step(self, statement: ast.stmt) -> None:
        """Read one statement, including nested statements."""
        match statement:
            case ast.Assign(targets, value):
                parts = self.parts(value)
                for target in targets:
                    self.bind(target, parts | self.stored(target, value))
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.bind(target, self.parts(value))
            case ast.AugAssign(target, _, value):
                parts = self.parts(target) | self.parts(value) | self.stored(target, value)
                self.bind(target, {""} if parts else set())
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                if self.nested:
                    inside = names_read(statement)
                    self.tainted |= {path for path in self.shared if root_of(path) in inside}
                else:
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
        """Read the statements inside a loop, a branch or a block."""
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
        """Read a loop until another iteration changes nothing."""
        for _ in range(PASSES):
            before = self.tainted
            if not isinstance(loop, ast.While):
                self.bind(loop.target, self.elements(loop.iter))
            self.either(loop.body, [])
            if self.tainted == before:
                break

    def either(self, *bodies: Iterable[ast.stmt]) -> None:
        """Read the branches, of which one runs. A name that any of them taints counts as tainted."""
        before, after = self.tainted, set()
        for body in bodies:
            self.tainted = set(before)
            self.run(body)
            after |= self.tainted
        self.tainted = after

    def change(self, value: ast.expr) -> None:
        """Read a call that may store its arguments in an object."""
        if not self.assignments and is_assignment(value):
            return
        into, values = written_by(value)
        if into is not None:
            if any(map(self.carries, values)) or (isinstance(value, ast.Call) and self.hit(value)):
                self.tainted |= {path_of(into)} - {"", self.source}
        elif isinstance(value, ast.Call) and path_of(value.func) != "print":
            if any(map(self.carries, value.args)):
                self.written |= names_read(value)
        else:
            self.parts(value)

    def stored(self, target: ast.expr, value: ast.expr) -> Parts:
        """Return the taint of an array whose element is assigned, if that assignment is the conversion."""
        writes = isinstance(target, ast.Subscript) and on(target, self.line) and not self.exact
        return {""} if writes and not isinstance(value, ast.Constant) else set()
