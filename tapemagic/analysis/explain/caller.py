"""Explanations in the words of the program that asks: its names for tensors are those of the line that calls."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from types import FrameType
from typing import Any

from tapemagic.analysis.explain.explain import Explanation, explain
from tapemagic.analysis.explain.program_text import loop_names
from tapemagic.analysis.explain.query import Program, Question
from tapemagic.analysis.snapshot import snapshot_of
from tapemagic.engine.events import Place
from tapemagic.engine.nest import leaves
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of
from tapemagic.engine.tensor.variable import Variable

Named = tuple[str, Any]
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
    frame = sys._getframe(2)
    names, (y, x) = _names(frame), _arguments(frame)
    snapshot = snapshot_of(tape)
    place = Place(frame.f_code.co_filename, frame.f_lineno, "")
    held = {**frame.f_globals, **frame.f_locals}
    program = Program(place, held, tape_name_at(frame) or "tape", isinstance(tape, Observer))

    looped = loop_names(place)

    def named(node: Node, value: Any, default: str) -> list[Named]:
        return [
            (_called(_written(part), x, frame, looped) or default, x)
            for part, x in parts(node, value)
        ]

    targets, sources = named(y, target, "the target"), named(x, source, "the source")
    names |= {id_of(held): name for name, held in sources if has_id(held)}
    return explain_each(
        targets,
        sources,
        lambda t, s: explain(Question(snapshot, t[1], s[1], t[0], s[0], names, program=program)),
    )


def explain_each(
    targets: list[Named], sources: list[Named], ask: Callable[[Named, Named], Explanation]
) -> Explanation | Explanations:
    """The explanation of a target and a source, or, if there are several, those of all pairs."""
    found = [ask(t, s) for t, s in itertools.product(targets, sources)]
    return found[0] if len(found) == 1 else Explanations(found)


def parts(node: Node, value: Any) -> list[tuple[Node, Any]]:
    """The tensors of a structure, with the expression for each if there is one for the structure.

    What holds no tensor stays whole.

    Examples
    --------
    >>> import tapemagic as tm
    >>> params = {"w": [tm.constant(1.0)], "b": tm.constant(2.0)}
    >>> [ast.unparse(node) for node, _ in parts(ast.Name("params"), params)]
    ["params['w'][0]", "params['b']"]
    """
    if isinstance(value, Traced) or not any(isinstance(leaf, Traced) for leaf in leaves(value)):
        return [(node, value)]
    return list(_parts(node, value))


def _parts(node: Node, value: Any) -> Iterator[tuple[Node, Any]]:
    if isinstance(value, Traced):
        yield node, value
    elif isinstance(value, (list, tuple, Mapping)):
        held = value.values() if isinstance(value, Mapping) else value
        for expression, part in zip(_expressions(node, value), held, strict=True):
            yield from _parts(expression, part)


def _expressions(node: Node, value: Any) -> list[Node]:
    """The expressions for the parts of a structure: what stands in its brackets, or subscripts and attributes of it."""
    written = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    unpacked = None in getattr(node, "keys", []) or any(isinstance(e, ast.Starred) for e in written)
    if len(written) == len(value) and not unpacked:
        return [*written]
    if node is None or not is_plain(node):
        return [None] * len(value)
    if hasattr(value, "_fields"):
        return [ast.Attribute(node, field) for field in value._fields]
    keys = value if isinstance(value, Mapping) else range(len(value))
    return [ast.Subscript(node, ast.Constant(key)) for key in keys]


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
    """An expression as a name, if it serves as one."""
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


def _names(frame: FrameType) -> dict[int, str]:
    """The caller's names for tensors, by their ids; a variable without a name there goes by its own."""
    held = {**frame.f_globals, **frame.f_locals}
    return {
        id_of(value): name for name, value in held.items() if has_id(value) and name[:1].isalpha()
    }


def _called(written: str, value: Any, frame: FrameType, looped: set[str]) -> str:
    """The name of a tensor: as it is written, unless a loop binds that name to many in turns."""
    if not written or written in looped:
        return _name_of(value, frame, looped) or written
    return written


def _name_of(value: Any, frame: FrameType, but: Collection[str]) -> str:
    """The caller's name for an object, but for some names."""
    held = {**frame.f_globals, **frame.f_locals}
    if type(value) not in (int, str, bool, type(None)):
        for name, other in reversed(held.items()):
            if other is value and name[:1].isalpha() and name not in but:
                return name
    return value.name if isinstance(value, Variable) and value.name != "Variable" else ""
