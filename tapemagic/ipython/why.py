"""%why: the explanation of a gradient of the last %%tape cell."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from IPython.core.error import UsageError

from tapemagic.engine.recording import time_of
from tapemagic.engine.tensor.tensor import Traced, id_of
from tapemagic.explain.caller import Explanations, explain_each, is_plain, parts
from tapemagic.explain.explain import Explanation
from tapemagic.ipython.session import Session

GAP = re.compile(r"[\s,]+")
LAST = "%why asks the last %%tape cell"


def why(
    line: str, session: Session | None, namespace: Mapping[str, Any]
) -> Explanation | Explanations:
    """Explain a gradient of the last %%tape cell.

    - `line`: The line after ``%why``: target and source, each a name, an attribute or a subscript.
    - `session`: The last %%tape cell.
    - `namespace`: Values of the names.

    Returns
    -------
    Explanation or Explanations
        Several if target or source contain several tensors.

    Raises UsageError if the line cannot be parsed, or the cell did not record target and source.
    """
    __tracebackhide__ = True
    if session is None:
        raise UsageError(f"{LAST}, and none has run yet: run one first")
    y, x = parse(line)
    targets, sources = (parts(node, _value(node, namespace)) for node in (y, x))
    if not any(_may_belong(session, value) for _, value in targets + sources):
        target, source = ast.unparse(y), ast.unparse(x)
        raise UsageError(
            f"{LAST}, and that one knows neither {target} nor {source}: for a tape of your own, write "
            f"tape.explain({target}, {source})"
        )
    return explain_each(targets, sources, lambda t, s: session.explain(*t, *s))


def parse(line: str) -> tuple[ast.expr, ast.expr]:
    """Parse target and source, separated by spaces or a comma.

    Raises UsageError unless the line contains two names, attributes or subscripts.

    Examples
    --------
    >>> [ast.unparse(node) for node in parse('loss, params["w"]')]
    ['loss', "params['w']"]
    """
    line = line.strip().rstrip("; ")
    # A subscript may contain spaces and commas, as in w[0, 1]: try each gap until both sides parse.
    for gap in GAP.finditer(line):
        pair = _expression(line[: gap.start()]), _expression(line[gap.end() :])
        if pair[0] is not None and pair[1] is not None:
            return _checked(pair[0]), _checked(pair[1])
    raise UsageError("%why needs a target and a source, as in %why loss w")


def _expression(text: str) -> ast.expr | None:
    """Parse text as a single expression; return None for anything else."""
    try:
        # A tuple at the top is no answer: `loss, w` must become two expressions.
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return None if isinstance(node, ast.Tuple) else node


def _checked(node: ast.expr) -> ast.expr:
    if not is_plain(node):
        text = ast.unparse(node)
        what = "a call" if isinstance(node, ast.Call) else "no name"
        raise UsageError(
            f"%why: {text} is {what}, and would be computed anew: give what the %%tape cell computed a name there, "
            "and ask by that name, or by an attribute or subscript such as model.w or params['w']"
        )
    return node


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """Look up the value of a plain expression in the notebook."""
    try:
        return _lookup(node, namespace)
    except (AttributeError, LookupError, TypeError) as error:
        raise UsageError(
            f"%why: {ast.unparse(node)!r} does not exist in the notebook "
            f"({type(error).__name__}: {error})"
        ) from None


def _lookup(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(name):
            if name not in namespace:
                raise UsageError(f"%why: {name!r} does not exist in the notebook")
            return namespace[name]
        case ast.Attribute(value, name):
            # Looked up step by step instead of by eval: %why must not run calls.
            return getattr(_lookup(value, namespace), name)
        case ast.Subscript(value, index):
            return _lookup(value, namespace)[_lookup(index, namespace)]
        # An index such as -1 is a constant under a minus sign in the syntax tree.
        case ast.UnaryOp(_, operand):
            return -_lookup(operand, namespace)
        case ast.Tuple(elements):
            return tuple(_lookup(element, namespace) for element in elements)
        case ast.Constant(constant):
            return constant
    raise TypeError(f"{type(node).__name__} is no plain expression")


def _may_belong(session: Session, value: Any) -> bool:
    """Return True if a value may belong to the cell; for a value that is not a tensor this is unknown."""
    if not isinstance(value, Traced):
        return True
    if session.observer.tracks(value) or any(value is assigned for _, assigned in session.history):
        return True
    return session.snapshot().recording_at(time_of(id_of(value)))
