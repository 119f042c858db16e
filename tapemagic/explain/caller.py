"""Explanations in the words of the program that asks: its names for tensors are those of the line that calls."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Place, origin_of
from tapemagic.engine.nest import is_leaf, leaves
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.explain import Explanation, explain
from tapemagic.explain.formatting import own_name
from tapemagic.explain.parts import items
from tapemagic.explain.program_text import loop_names
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import Named, snapshot_of

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
    y, x = _arguments(asking, "explain", "source")
    frame = _program_of(asking, target)
    namespace = {**frame.f_globals, **frame.f_locals}
    place = Place(frame.f_code.co_filename, frame.f_lineno, "")
    program = Program(place, namespace, tape_name_at(asking) or "tape", isinstance(tape, Observer))
    own = {name for name, value in asking.f_locals.items() if namespace.get(name) is not value}
    passing = own | loop_names(place)

    known = [(name, value) for name, value in namespace.items() if name[:1].isalpha()]

    def name_of(value: Any) -> str:
        found = (name for name, other in reversed(known) if other is value and name not in passing)
        own = own_name(value) if isinstance(value, Variable) else ""
        own = "" if own == "Variable" else own
        return own if type(value) in (int, str, bool, type(None)) else next(found, own)

    def named(node: Node, value: Any, default: str) -> list[Named]:
        return [
            ((name not in passing and name) or name_of(x) or name or default, x)
            for name, x in parts(node, value)
        ]

    targets, sources = named(y, target, "the target"), named(x, source, "the source")
    names = {id_of(value): name for name, value in [*known, *sources] if has_id(value)}
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


class NamesHere(NamedTuple):
    """The caller's names for what a tape recorded.

    Attributes
    ----------
    target : str
        The expression for the target; empty if it is none of names alone.
    names : dict of int to str
        Names of values, by their ids.
    arrays : list of (str, array)
        Arrays, and tensors that no tape follows, by name.
    """

    target: str
    names: dict[int, str]
    arrays: list[tuple[str, Any]]


def names_here(method: str, target: Any, sources: Any) -> NamesHere:
    """The names of values in the function that called a tape's method with a target and sources."""
    asking = sys._getframe(2)
    y, x = _arguments(asking, method, "sources")
    frame = _program_of(asking, target)
    known = [
        (name, value)
        for name, value in {**frame.f_globals, **frame.f_locals, **asking.f_locals}.items()
        if name[:1].isalpha()
    ]
    names: dict[int, str] = {}
    for name, value in known:
        if has_id(value):
            names.setdefault(id_of(value), name)
    found = {id(value): name for name, value in known if isinstance(value, Traced)}
    for node, given in ((y, target), (x, sources)):
        for name, part in parts(node, given):
            best = found.get(id(part)) or name
            if has_id(part) and best:
                names[id_of(part)] = best
            elif has_id(part) and isinstance(part, Variable):
                names.setdefault(id_of(part), own_name(part))
    arrays = [
        (name, unwrap(value))
        for name, value in known
        if isinstance(value, np.ndarray) or (isinstance(value, Traced) and not has_id(value))
    ]
    targets = [found.get(id(part)) or name for name, part in parts(y, target)]
    return NamesHere(targets[0] if len(targets) == 1 else "", names, arrays)


def explain_each(
    targets: list[Named], sources: list[Named], ask: Callable[[Named, Named], Explanation]
) -> Explanation | Explanations:
    """The explanation of a target and a source, or, if there are several, those of all pairs."""
    found = [ask(t, s) for t, s in itertools.product(targets, sources)]
    return found[0] if len(found) == 1 else Explanations(found)


def parts(node: Node, value: Any) -> list[Named]:
    """The tensors of a structure, each with its expression, which is empty if there is none of names alone.

    A structure without a tensor stays whole.
    """
    if not any(isinstance(leaf, Traced) for leaf in leaves(value)):
        return [(_written(node), value)]
    return list(_parts(node, _written(node), value))


def _parts(node: Node, name: str, value: Any) -> Iterator[Named]:
    if isinstance(value, Traced):
        yield name, value
    elif not is_leaf(value):
        elements = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        unpacked = [*getattr(node, "keys", ()), *map(type, elements)]
        if None in unpacked or ast.Starred in unpacked or len(elements) != len(value):
            elements = [None] * len(value)
        for element, (step, part) in zip(elements, items(value), strict=True):
            yield from _parts(element, _written(element) if element else name and name + step, part)


def is_plain(node: ast.AST) -> bool:
    """Whether an expression is made of names, attributes and subscripts alone, and computes nothing."""
    if isinstance(node, ast.Subscript):
        return is_plain(node.value) and _is_index(node.slice)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and is_plain(node.value))


def _is_index(node: ast.AST) -> bool:
    match node:
        case ast.Tuple(parts):
            return all(map(_is_index, parts))
        case ast.Constant() | ast.Name() | ast.UnaryOp(ast.USub(), ast.Constant() | ast.Name()):
            return True
    return False


def _written(node: Node) -> str:
    """An expression of names alone as text; empty for any other."""
    return ast.unparse(node) if node is not None and is_plain(node) else ""


def tape_name_at(frame: FrameType) -> str:
    """The caller's name for the tape whose method ``explain`` it is calling; empty if that cannot be told."""
    call = _call_at(frame, "explain")
    return _written(getattr(call.func, "value", None)) if call else ""


def _arguments(frame: FrameType, method: str, second: str) -> tuple[Node, Node]:
    """The expressions for the first two arguments, ``target`` and another one, in a call of a tape's method."""
    call = _call_at(frame, method)
    if call is None or any(isinstance(node, ast.Starred) for node in call.args):
        return None, None
    given = {word.arg: word.value for word in call.keywords}
    given |= dict(zip(("target", second), call.args, strict=False))
    return given.get("target"), given.get(second)


def _call_at(frame: FrameType, method: str) -> ast.Call | None:
    """The call of a tape's method that a function is in the middle of, if its source is known."""
    from executing import Source

    running: Any = Source.executing(frame)
    statements = running.statements or () if running.node is None else ()
    calls = [
        node
        for node in [running.node, *(part for s in statements for part in ast.walk(s))]
        if isinstance(node, ast.Call)
        and method in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))
    ]
    return calls[0] if len(calls) == 1 else None
