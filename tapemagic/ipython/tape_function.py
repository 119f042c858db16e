"""%tape_function: the programs of a traced function, or why it runs eagerly."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError

from tapemagic.errors import TapeError
from tapemagic.explain.caller import is_plain
from tapemagic.explain.formatting import printable
from tapemagic.ipython.why import GAP
from tapemagic.report.function_code import FunctionCode

USAGE = "%tape_function needs a function, as in %tape_function step, or %tape_function step x, y"


def tape_function(line: str, namespace: Mapping[str, Any]) -> FunctionCode:
    """Look up the programs of a function.

    - `line`: The line after ``%tape_function``: a function, and optionally expressions for arguments.
    - `namespace`: Values of the names.

    Raises UsageError if the line cannot be parsed, or there is nothing to show yet.
    """
    __tracebackhide__ = True
    from tapemagic.programs.function import BoundFunction, Function

    name, call = parse(line)
    words = ast.unparse(name)
    function: Any = _evaluated(name, namespace, words)
    if not isinstance(function, Function | BoundFunction):
        raise UsageError(
            f"%tape_function: {words} is of type {type(function).__name__}, and no function that is traced: "
            f"write @tapemagic.function above its definition, or {_plain_name(words)} = tapemagic.function({words}), "
            "and call it"
        )
    args, kwargs = _arguments(call, namespace)
    traced: Any = function
    has_arguments = bool(args or kwargs)
    try:
        text = traced.source(*args, **kwargs)
    except TapeError as error:
        if has_arguments or not traced.why_eager:
            raise UsageError(f"%tape_function: {printable(str(error))}") from None
        text = ""
    return FunctionCode(words, text, "" if has_arguments else traced.why_eager)


def _message(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _plain_name(words: str) -> str:
    return words if words.isidentifier() else "traced"


def parse(line: str) -> tuple[ast.expr, ast.Call]:
    """Parse a line into a function and a call with its arguments.

    Examples
    --------
    >>> name, call = parse("step x, lr=0.1")
    >>> ast.unparse(name), ast.unparse(call)
    ('step', '_(x, lr=0.1)')
    >>> [ast.unparse(parse(line)[1]) for line in ("step x y[0]", "step(x, y[0])")]
    ['_(x, y[0])', '_(x, y[0])']
    """
    line = line.strip().rstrip("; ")
    line_expression = _expression(line)
    if isinstance(line_expression, ast.Call) and is_plain(line_expression.func):
        return line_expression.func, ast.Call(
            ast.Name("_", ast.Load()), line_expression.args, line_expression.keywords
        )
    name, _, rest = line.partition(" ")
    node = _expression(name.rstrip(","))
    if not isinstance(node, ast.expr) or not is_plain(node):
        raise UsageError(USAGE)
    # Python's parser reads the arguments as those of a call named _, so keywords and stars work as usual.
    call = _expression(f"_({rest})") or _space_separated(rest)
    if not isinstance(call, ast.Call):
        raise UsageError(
            f"%tape_function: {rest.strip()!r} are no arguments: write them as in a call, with commas, as in "
            f"%tape_function {name} x, y"
        )
    return node, call


def _space_separated(words: str) -> ast.expr | None:
    """Parse arguments separated by spaces as those of a call; return None if that fails."""
    parts = [part for part in GAP.split(words) if part]
    return _expression(f"_({', '.join(parts)})")


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _arguments(call: ast.Call, namespace: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Evaluate the arguments of a call in the notebook."""
    __tracebackhide__ = True
    taken = "(arguments)"  # not an identifier, so it cannot clash
    node = ast.Call(ast.Name(taken, ast.Load()), call.args, call.keywords)
    names = {**namespace, taken: lambda *args, **kwargs: (args, kwargs)}
    words = ast.unparse(call)[2:-1]
    args, kwargs = _evaluated(ast.fix_missing_locations(node), names, words)
    return args, kwargs


def _evaluated(node: ast.expr, namespace: Mapping[str, Any], words: str) -> Any:
    """Evaluate an expression in the notebook."""
    __tracebackhide__ = True
    try:
        return eval(compile(ast.Expression(node), "<%tape_function>", "eval"), dict(namespace))
    except Exception as error:  # noqa: BLE001 -- a user expression may raise anything
        raise UsageError(
            f"%tape_function: {words} cannot be computed ({type(error).__name__}: {printable(_message(error))})"
        ) from None
