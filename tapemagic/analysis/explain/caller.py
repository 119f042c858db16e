"""Explanations in the words of the program that asks: its names for tensors are those of the line that calls."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

from tapemagic.analysis.explain.explain import Explanation, explain
from tapemagic.analysis.explain.program_text import loop_names
from tapemagic.analysis.explain.query import Program, Question
from tapemagic.analysis.parts import items
from tapemagic.analysis.snapshot import Named, snapshot_of
from tapemagic.engine.events import Place, origin_of
from tapemagic.engine.nest import is_leaf, leaves
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of
from tapemagic.engine.tensor.variable import Variable

Node = ast.expr | None


class Explanations(tuple[Explanation, ...]):
    """Several explanations, which print one below the other."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def explain_here(tape: Tape, target: Any, source: Any) -> Explanation | Explanations:
    """Explain a gradient in the names of the function that called ``tape.explain``.

    A structure of tensors stands for each of them, as it does for ``tape.gradient``.
    """
    asking = sys._getframe(2)
    y, x = _arguments(asking)
    frame = _program_of(asking, target)
    namespace = {**frame.f_globals, **frame.f_locals}
    place = Place(frame.f_code.co_filename, frame.f_lineno, "")
    program = Program(place, namespace, tape_name_at(asking) or "tape", isinstance(tape, Observer))
    passing = loop_names(place).union(asking.f_code.co_varnames if asking is not frame else ())

    def named(node: Node, value: Any, default: str) -> list[Named]:
        return [
            (
                name
                if name and name not in passing
                else _name_of(x, namespace, passing) or name or default,
                x,
            )
            for name, x in parts(node, value)
        ]

    targets, sources = named(y, target, "the target"), named(x, source, "the source")
    names = {
        id_of(value): name
        for name, value in namespace.items()
        if has_id(value) and name[:1].isalpha()
    }
    names |= {id_of(value): name for name, value in sources if has_id(value)}
    snapshot = snapshot_of(tape)
    return explain_each(
        targets,
        sources,
        lambda t, s: explain(Question(snapshot, t[1], s[1], t[0], s[0], names, program=program)),
    )


def _program_of(frame: FrameType, target: Any) -> FrameType:
    """The call of a function that computed the target: not of a comprehension, or of one that was given it."""
    outer, code = frame.f_back, frame.f_code
    if outer is None or code.co_name == "<module>" or origin_of(outer.f_code.co_filename) != "":
        return frame
    given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] + code.co_freevars
    own = [value for name, value in frame.f_locals.items() if name not in given]
    others = [*(frame.f_locals.get(name) for name in given), *frame.f_globals.values()]
    computed = any(x is target for x in own) or not any(x is target for x in others)
    return frame if computed and code.co_name[0] != "<" else _program_of(outer, target)


def explain_each(
    targets: list[Named], sources: list[Named], ask: Callable[[Named, Named], Explanation]
) -> Explanation | Explanations:
    """The explanation of a target and a source, or, if there are several, those of all pairs."""
    found = [ask(t, s) for t, s in itertools.product(targets, sources)]
    return found[0] if len(found) == 1 else Explanations(found)


def parts(node: Node, value: Any) -> list[Named]:
    """The tensors of a structure, each with its expression, which is empty if there is none of names alone.

    A structure without a tensor stays whole.

    Examples
    --------
    >>> import tapemagic as tm
    >>> params = {"w": [tm.constant(1.0)], "b": tm.constant(2.0)}
    >>> [name for name, _ in parts(ast.Name("params"), params)]
    ["params['w'][0]", "params['b']"]
    """
    if not any(isinstance(leaf, Traced) for leaf in leaves(value)):
        return [(_written(node), value)]
    return list(_parts(node, _written(node), value))


def _parts(node: Node, name: str, value: Any) -> Iterator[Named]:
    if isinstance(value, Traced):
        yield name, value
    elif not is_leaf(value):
        elements = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        unpacked = None in getattr(node, "keys", ()) or any(
            isinstance(e, ast.Starred) for e in elements
        )
        if unpacked or len(elements) != len(value):
            elements = [None] * len(value)
        for element, (step, part) in zip(elements, items(value), strict=True):
            yield from _parts(element, _written(element) if element else name and name + step, part)


def is_plain(node: ast.AST) -> bool:
    """Whether an expression is made of names, attributes and subscripts alone, and computes nothing."""
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and _is_index(node.slice)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_plain(node.value))


def _is_index(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Tuple):
        return all(map(_is_index, node.elts))
    return isinstance(node, (ast.Constant, ast.Name))


def _written(node: Node) -> str:
    """An expression of names alone as text; empty for any other."""
    return ast.unparse(node) if node is not None and is_plain(node) else ""


def tape_name_at(frame: FrameType) -> str:
    """The caller's name for the tape whose method ``explain`` it is calling; empty if that cannot be told."""
    call = _call_at(frame)
    return _written(getattr(call.func, "value", None)) if call else ""


def _arguments(frame: FrameType) -> tuple[Node, Node]:
    """The expressions for target and source in a call of ``explain``."""
    call = _call_at(frame)
    if call is None or any(isinstance(node, ast.Starred) for node in call.args):
        return None, None
    given = {word.arg: word.value for word in call.keywords}
    given |= dict(zip(("target", "source"), call.args, strict=False))
    return given.get("target"), given.get("source")


def _call_at(frame: FrameType) -> ast.Call | None:
    """The call of ``explain`` that a function is in the middle of, if its source is known."""
    from executing import Source

    running = Source.executing(frame)
    node: Any = running.node
    statements: Any = running.statements if node is None else ()
    nodes = [node, *(part for statement in statements or () for part in ast.walk(statement))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and _explains(node)]
    return calls[0] if len(calls) == 1 else None


def _explains(call: ast.Call) -> bool:
    return "explain" in (getattr(call.func, "attr", ""), getattr(call.func, "id", ""))


def _name_of(value: Any, namespace: dict[str, Any], but: Collection[str]) -> str:
    """The program's name for an object, but for some names; a variable without a name there goes by its own."""
    if type(value) not in (int, str, bool, type(None)):
        for name, other in reversed(namespace.items()):
            if other is value and name[:1].isalpha() and name not in but:
                return name
    return value.name if isinstance(value, Variable) and value.name != "Variable" else ""
