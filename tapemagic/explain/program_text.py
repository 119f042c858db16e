"""Read a program's source: which names its statements bind and read, and which names a value is computed from."""

from __future__ import annotations

import ast
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from tapemagic.engine.events import Place, source_lines
from tapemagic.explain.formatting import without_subscript

CHANGING = {
    "add", "append", "appendleft", "assign", "assign_add", "assign_sub", "extend", "fill", "insert", "put",
    "setdefault", "update",
}  # fmt: skip
"""Methods that store their arguments in an object."""

WRITING = {"at", "copyto", "fill_diagonal", "place", "putmask"}
"""NumPy functions that write into their first argument."""

RETURNED = "return"
"""The name of a function's result. No variable can have this name."""

MAGIC = re.compile(r"^([ \t]*)[%!?].*$", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef
SUMS = ast.Add | ast.Sub
SCOPES = Function | ast.ClassDef
EMPTY = ast.Module([], [])
COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp
"""Expressions whose loop variables exist only inside them."""

MAX_PARSED = 512
"""Maximum number of programs whose syntax is kept: a question on a cell may read all cells of a notebook."""

BODIES = "body", "handlers", "orelse", "finalbody", "cases"
"""The fields of a syntax node that may contain statements."""


class Flow(NamedTuple):
    """The names that a statement binds or whose objects it changes, and the names that it reads."""

    bound: set[str]
    read: set[str]


def made_from(place: Place | None, value: str) -> set[str]:
    """Return the names that a value is computed from, by the source around a place. Includes its own name."""
    return next(filter(None, (sources(scope.body, value) for scope in _scopes(place))), set())


def made_before(place: Place | None, first: str, second: str) -> bool:
    """Return True if the program binds the first name only before it binds the second name.

    A later binding would be for the next iteration of a loop.
    """
    for scope in _scopes(place):
        flows = [(s.lineno, _flow(s).bound) for s in statements(scope.body)]
        first_lines, second_lines = (
            [line for line, bound in flows if name in bound] for name in (first, second)
        )
        if first_lines and second_lines:
            return max(first_lines) < min(second_lines)
    return False


def _scopes(place: Place | None) -> list[Function | ast.Module]:
    """Return the functions around a place, the innermost first, and then the program."""
    tree, line = text_of(place)
    return [*(s for s in reversed(around(tree, line)) if isinstance(s, Function)), tree]


def only_branch(place: Place | None, value: str, source: str) -> ast.expr | None:
    """Return the condition of the only branch that computes a value from a name, or None if others do too."""
    tree, source_names = text_of(place)[0], names_in(source)
    if source_names & sources(tree.body, value):
        for node in ast.walk(tree):
            if isinstance(node, ast.If):
                negation = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
                for test, branch in ((node.test, node.body), (negation, node.orelse)):
                    if not source_names & sources(tree.body, value, set(statements(branch))):
                        return test
    return None


def sources(body: Sequence[ast.stmt], value: str, but: Collection[ast.stmt] = ()) -> set[str]:
    """Return the names that a value is computed from, including its own, ignoring the statements in `but`.

    Empty if no statement binds the value.
    """
    flows: dict[str, list[Flow]] = {}
    for statement in statements(body):
        if statement not in but:
            flow = _flow(statement)
            for name in flow.bound:
                flows.setdefault(name, []).append(flow)
    names = {value} if value == RETURNED else names_in(value)
    if flows.keys().isdisjoint(names):
        return set()
    stack = [*names]
    while stack:  # names are read by statements that bind other names, and so on
        for flow in flows.pop(stack.pop(), ()):
            stack += flow.read - names
            names |= flow.read
    return names


def reads_of(place: Place | None, name: str) -> int:
    """Count how often the function around a place, or else the program, reads a name to compute something."""
    nodes = ast.walk(_scopes(place)[0])
    simple = (s for s in nodes if isinstance(s, ast.stmt) and not hasattr(s, "body"))
    inner = (node for statement in simple if _flow(statement).bound for node in ast.walk(statement))
    parts = (node for node in inner if isinstance(node, ast.Name | ast.Attribute))
    names = (node for node in parts if ast.unparse(node) == name)
    return sum(isinstance(node.ctx, ast.Load) for node in names)


def given_to(place: Place | None, words: Collection[str]) -> set[str]:
    """Return the names used in calls of certain functions, and in the functions passed there."""
    # Python normalizes identifiers with NFKC, so the text must be normalized before it is searched.
    text = unicodedata.normalize("NFKC", _text(place))
    if not any(word.lstrip(".") in text for word in words):
        return set()
    nodes = [*ast.walk(text_of(place)[0])]
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            method = getattr(node.func, "attr", "")
            if {method, f".{method}", getattr(node.func, "id", "")} & set(words):
                names |= names_read(node)
    for node in nodes:
        if isinstance(node, Function) and node.name in names:
            names |= names_read(node)
    return names


def lines_of_file(place: Place) -> list[str]:
    """Return the lines of the program that contains a place."""
    return source_lines(place.file)


def names_bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that parts of a program bind."""
    names = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store | ast.Del)}


def text_of(place: Place | None) -> tuple[ast.Module, int]:
    """Return the program that contains a place, and the line. The program is empty if its source isn't known."""
    return (EMPTY, 0) if place is None else (_parsed(_text(place)), place.line)


def _text(place: Place | None) -> str:
    return "" if place is None else "".join(source_lines(place.file))


@lru_cache(MAX_PARSED)
def _parsed(text: str) -> ast.Module:
    """Parse a program, after replacing its magics by ``pass``, which keeps the line numbers."""
    # Cells may use await at the top level.
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        tree: ast.Module = compile(MAGIC.sub(r"\1pass", text), "<text>", "exec", flags)
    except (SyntaxError, ValueError):
        return EMPTY
    return tree


MODULES = frozenset({"np", "numpy", "tm", "tapemagic"})
"""The names of modules that formulas omit."""


class Statement(NamedTuple):
    """A statement of a program that computes something, or an operand in it: its place in the text, and its formula."""

    start: tuple[int, int]
    formula: str


@lru_cache(1024)
def statement_at(code: CodeType, offset: int, operands: bool = False) -> Statement | None:
    """Return the assignment, ``return`` or expression to which an instruction belongs, or None for any other.

    Its formula is its text without the names of modules: ``h = tanh(X @ W + b)``.

    - `operands`: Return the operand of the statement's last operation instead, such as ``X @ W + b``, or None for that
      operation. All terms of a sum are operands.
    """
    if (extent := _extent_of(code, offset)) is None:
        return None
    begin, end = extent
    statements = _statements(text_of(Place(code.co_filename, 1, ""))[0])
    k = bisect_right(statements, begin, key=_start) - 1
    node: ast.AST | None = statements[k] if k >= 0 else None
    if node is not None and operands:
        parts = _operands(getattr(node, "value", None))
        node = next((x for x in parts if _start(x) <= begin and end <= _end(x)), None)
    if node is None or end > _end(node):
        return None
    return Statement(_start(node), formula_text(node))


@lru_cache(4096)
def formula_text(node: ast.AST) -> str:
    """Return a part of a program as a formula: its text without the names of modules."""
    text = ast.unparse(node)
    # Parsed again instead of copied: nodes share their contexts, on which the tracebacks of IPython store whole trees.
    try:
        return ast.unparse(_WithoutModules().visit(ast.parse(text)))
    except (SyntaxError, MemoryError, RecursionError):  # an operand such as *x isn't a program
        return text


def _extent_of(code: CodeType, offset: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the begin and the end, in the text of a program, of what an instruction computes."""
    positions = _positions(code)
    # What a library called may be recorded with an instruction of other code.
    if not 0 <= offset // 2 < len(positions):
        return None
    line, end_line, column, end_column = positions[offset // 2]
    if None in (line, end_line, column, end_column):
        return None
    return (line or 0, column or 0), (end_line or 0, end_column or 0)


def text_at(code: CodeType, offset: int) -> str:
    """Return what an instruction computes, as the program writes it, or '' if that isn't known, or spans lines."""
    if (extent := _extent_of(code, offset)) is None:
        return ""
    (line, start), (last, end) = extent
    lines = lines_of_file(Place(code.co_filename, 1, ""))
    # Columns count bytes.
    is_known = line == last and line <= len(lines)
    return lines[line - 1].encode()[start:end].decode(errors="replace") if is_known else ""


@lru_cache(16)
def _positions(code: CodeType) -> Sequence[tuple[int | None, int | None, int | None, int | None]]:
    """Return the extents of all instructions: Python decodes them from the first one to the last."""
    return list(code.co_positions())


@lru_cache(1024)
def operation_at(code: CodeType, offset: int) -> ast.AST | None:
    """Return the expression, or the ``+=``, that an instruction computes, or None if the text isn't known."""
    if (extent := _extent_of(code, offset)) is None:
        return None
    statements = _statements(text_of(Place(code.co_filename, 1, ""))[0])
    k = bisect_right(statements, extent[0], key=_start) - 1
    # A statement that is an expression begins and ends as the expression does.
    nodes = ast.walk(statements[k]) if k >= 0 else iter(())
    kinds = (ast.BinOp, ast.AugAssign, ast.Call)
    return next((x for x in nodes if isinstance(x, kinds) and (_start(x), _end(x)) == extent), None)


@lru_cache(16)
def _statements(tree: ast.Module) -> Sequence[ast.stmt]:
    kinds = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return)
    return sorted((node for node in ast.walk(tree) if isinstance(node, kinds)), key=_start)


def _operands(node: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the operands of the last operation of an expression, or the terms of a sum."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Call):
        yield from node.args
    while isinstance(node, ast.BinOp):
        yield node.right
        left = node.left
        if not (
            isinstance(node.op, SUMS) and isinstance(left, ast.BinOp) and isinstance(left.op, SUMS)
        ):
            yield left
            return
        node = left


def _start(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: Any) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset


class _WithoutModules(ast.NodeTransformer):
    """Replaces np.tanh by tanh."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in MODULES:
            return ast.Name(node.attr)
        self.generic_visit(node)
        return node


def names_in(expression: str) -> set[str]:
    """Return the names in an expression."""
    tree = expression_of(expression)
    return set() if tree is None else names_read(tree)


@lru_cache(512)
def expression_of(text: str) -> ast.expr | None:
    """Parse text as an expression, or return None, for example for the name of a Variable, which may be any string."""
    try:
        return ast.parse(without_subscript(text), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


@lru_cache(512)
def around(tree: ast.AST, line: int) -> tuple[ast.stmt, ...]:
    """Return the statements around a line, the outermost first."""
    enclosing: list[ast.stmt] = []
    level: Sequence[ast.AST] = [tree]
    while level:
        inside = [statement for node in level for statement in within(node)]
        here = [s for s in inside if s.lineno <= line <= (s.end_lineno or line)]
        enclosing += here
        level = here
    return tuple(enclosing)


def loop_names(place: Place | None) -> set[str]:
    """Return the names that loops around a place, and comprehensions on its line, bind in each iteration."""
    tree, line = text_of(place)
    loops = [s for s in around(tree, line) if isinstance(s, ast.For | ast.AsyncFor)]
    nodes = (node for statement in on_line(tree, line) for node in ast.walk(statement))
    comprehensions = [node for node in nodes if isinstance(node, ast.comprehension)]
    return _bases([loop.target for loop in [*loops, *comprehensions]])


def on_line(tree: ast.AST, line: int) -> list[ast.stmt]:
    """Return the innermost statements on a line."""
    # Semicolons put several statements on one line. A statement over several lines has only its first in `lineno`.
    innermost = [*around(tree, line)[-1:]]
    simple = [s for s in statements([tree]) if s.lineno == line and not hasattr(s, "body")]
    return simple if innermost and innermost[0] in simple else innermost


def statements(body: Sequence[ast.AST]) -> Iterator[ast.stmt]:
    """Yield all statements, including those inside loops and branches, but not those inside functions and classes."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, SCOPES):
            yield from statements(within(node))


def within(node: ast.AST) -> list[ast.stmt]:
    """Return the statements in the body and in all branches of a node."""
    parts = [part for name in BODIES for part in getattr(node, name, ())]
    return [s for part in parts for s in ([part] if isinstance(part, ast.stmt) else within(part))]


@lru_cache(4096)
def _flow(statement: ast.stmt) -> Flow:
    """Return the names that a statement binds and reads. Only the first line of a compound statement counts."""
    match statement:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return Flow({name}, names_read(statement))
        case ast.Assign(targets):
            inside = _names(statement)
            return Flow(_bases(targets) | inside.bound, inside.read)
        case ast.AugAssign(target) | ast.AnnAssign(target):
            bound, inside = _bases([target]), _names(statement)
            return Flow(bound | inside.bound, bound | inside.read)
        case ast.For(target, reach) | ast.AsyncFor(target, reach):
            return Flow(_bases([target]), names_read(reach))
        case ast.With(items) | ast.AsyncWith(items):
            targets = [item.optional_vars for item in items if item.optional_vars]
            return Flow(_bases(targets), set().union(*map(names_read, items)))
        case ast.If(test) | ast.While(test):
            return _names(test)
        case ast.Return() | ast.Expr(ast.Yield() | ast.YieldFrom()):
            inside = _names(statement)
            return Flow({RETURNED} | inside.bound, inside.read)
        case ast.Expr(value):
            into = written_by(value)[0]
            changed, inside = _bases([into] if into else []), _names(statement)
            return Flow(changed | inside.bound, inside.read)
    return Flow(set(), set())


def written_by(value: ast.expr) -> tuple[ast.expr | None, list[ast.expr]]:
    """Return the object that a call stores its arguments in, and those arguments, or None and an empty list."""
    match value:
        case ast.Call(ast.Attribute(ast.Name("np" | "numpy"), "put"), [first, *given]):
            return first, given
        case ast.Call(ast.Attribute(owner, method), given, words) if method in CHANGING:
            return owner, [*given, *(word.value for word in words)]
        case ast.Call(ast.Attribute(_, function), [first, *given]) if function in WRITING:
            return first, given
    return None, []


def _bases(targets: Sequence[ast.expr]) -> set[str]:
    """Return the names that assignments to these targets bind, or whose objects they change."""
    names: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Name):
            names.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            names |= _bases(target.elts)
        elif isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
            names |= _bases([target.value])
    return names


def names_read(node: ast.AST) -> set[str]:
    """Return the names that a part of a program reads."""
    return _names(node).read


def _names(node: ast.AST) -> Flow:
    """Return the names that a part of a program reads, and those that it binds with ``:=``."""
    flow = Flow(set(), set())
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                flow.read.add(part.id)
            continue
        if isinstance(part, ast.NamedExpr):
            flow.bound.add(part.target.id)
        for field in part._fields:
            child = getattr(part, field, None)
            if isinstance(child, ast.AST):
                stack.append(child)
            elif isinstance(child, list):
                stack += [each for each in child if isinstance(each, ast.AST)]
    return flow


def parameters(function: Any) -> list[str]:
    """Return the names of a function's parameters, those by position first."""
    arguments = function.args
    rest = [arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    every = (*arguments.posonlyargs, *arguments.args, *filter(None, rest))
    return [part.arg for part in every]


@lru_cache(1024)
def local_names(scope: Any) -> frozenset[str]:
    """Return the names that a function, a lambda, a class body or a comprehension binds itself."""
    if isinstance(scope, COMPREHENSIONS):
        return frozenset(names_bound(part.target for part in scope.generators))
    bound, shared = set(parameters(scope) if hasattr(scope, "args") else ()), set[str]()
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
        if name := captured(node):
            bound.add(name)
        if not isinstance(node, ast.Lambda | SCOPES):
            stack += ast.iter_child_nodes(node)
    return frozenset(bound - shared)


def captured(node: ast.AST) -> str:
    """Return the name that a definition, an ``except`` clause or a pattern binds, or ''."""
    kinds = SCOPES | ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping
    name = getattr(node, "name", None) or getattr(node, "rest", None)
    return name if name and isinstance(node, kinds) else ""


def innermost_function(tree: ast.Module, line: int) -> Function | ast.Lambda | None:
    """Return the innermost function or lambda around a line."""
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function | ast.Lambda) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(functions, key=lambda node: (node.lineno, node.col_offset), default=None)
