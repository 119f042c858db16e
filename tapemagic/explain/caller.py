"""Explain gradients in the names of the calling program: the expressions on the line that calls ``explain``."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.events import Place, origin_of
from tapemagic.engine.nest import is_leaf, leaves, tensors
from tapemagic.engine.tape.base_tape import contents_of
from tapemagic.engine.tape.observer import Observer
from tapemagic.engine.tape.tape import Tape
from tapemagic.engine.tensor.tensor import Traced, has_id, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.explain.explain import Explanation, explain
from tapemagic.explain.formatting import numbered, own_name
from tapemagic.explain.parts import items
from tapemagic.explain.program_text import loop_names
from tapemagic.explain.query import Program, Question
from tapemagic.explain.snapshot import Named, snapshot_of

Node = ast.expr | None


class Explanations(tuple[Explanation, ...]):
    """Several explanations, printed one per line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def explain_here(tape: Tape, target: Any, source: Any) -> Explanation | Explanations:
    """Explain a gradient in the names of the function that called ``tape.explain``.

    `target` and `source` may be structures of tensors, like those of ``tape.gradient``.
    """
    # Frame 0 is this function, frame 1 the method `explain` of the tape, frame 2 its caller.
    asking = sys._getframe(2)
    y, x = _arguments(asking, "explain", "source")
    caller = _Caller(tape, "explain", target, asking)
    targets, sources = caller.named(y, target, "the target"), caller.named(x, source, "the source")
    names = {id_of(value): name for name, value in [*caller.items, *sources] if has_id(value)}
    snapshot, program = snapshot_of(tape), caller.program
    return explain_each(
        targets,
        sources,
        lambda t, s: explain(Question(snapshot, t[1], s[1], t[0], s[0], names, program=program)),
    )


class _Caller:
    """The program that calls a method of a tape.

    - `items`: The names and values of the function that computed the target.
    """

    def __init__(self, tape: Tape, method: str, target: Any, asking: FrameType) -> None:
        frame = _program_of(asking, target)
        namespace = {**frame.f_globals, **frame.f_locals}
        place = Place(frame.f_code.co_filename, frame.f_lineno, "")
        tape_name = tape_name_at(asking, method) or "tape"
        self.program = Program(place, namespace, tape_name, isinstance(tape, Observer))
        own = {name for name, value in asking.f_locals.items() if namespace.get(name) is not value}
        # A loop variable names a different tensor in each iteration, so it can't name one of an earlier iteration.
        self._passing = own | loop_names(place)
        self.items = [(name, value) for name, value in [*namespace.items()] if name[:1].isalpha()]

    def _name_of(self, value: Any) -> str:
        matches = (
            name
            for name, bound in reversed(self.items)
            if bound is value and name not in self._passing
        )
        own = self.told_apart(own_name(value), value) if isinstance(value, Variable) else ""
        # The default name, which all unnamed Variables share, tells nothing.
        own = "" if own == "Variable" else own
        # Small integers, strings and None are shared, so a name of an equal object says nothing.
        return own if type(value) in (int, str, bool, type(None)) else next(matches, own)

    def told_apart(self, own: str, variable: Any) -> str:
        """Return a Variable's own name, or x₁ if the program has another value by the name x."""
        others = {name for name, value in self.items if value is not variable}
        return numbered(own, others) if own in others else own

    def named(self, node: Node, value: Any, default: str) -> list[Named]:
        """The tensors of a structure with their names in the program."""
        found = parts(node, value)
        # What a list computes, as in [f(k) for k in range(9)], is told apart by its place.
        defaults = [default] if len(found) == 1 else [f"{default}[{k}]" for k in range(len(found))]
        return [
            ((name not in self._passing and name) or self._name_of(x) or name or place, x)
            for place, (name, x) in zip(defaults, found, strict=True)
        ]

    def groups(self, node: Node, value: Any) -> Iterator[TargetGroup]:
        """Yield the targets, those in the same list together; a list that is written out has its elements instead."""
        if _given_names(value):
            for name, part in value.items():
                yield TargetGroup(name, part, [*_parts(None, name, part)])
        elif isinstance(node, ast.List | ast.Tuple) and len(node.elts) == len(value):
            for element, part in zip(node.elts, value, strict=True):
                yield TargetGroup(_written(element), part, self.named(element, part, "the target"))
        else:
            yield TargetGroup(_written(node), value, self.named(node, value, "the target"))

    def tensors(self) -> list[Named]:
        """The tensors that the program has under its names, also inside lists and dicts, oldest first."""
        named = [
            item
            for name, value in self.items
            if name not in self._passing
            and (isinstance(value, Traced) or type(value) in (list, tuple, dict))
            for item in parts(ast.Name(name, ast.Load()), value)
            if isinstance(item[1], Traced) and has_id(item[1])
        ]
        return sorted(named, key=lambda item: id_of(item[1]))


class TargetGroup(NamedTuple):
    """A target, or the targets in a list, tuple or dict.

    - `name`: The name of the list in the program, or '' if that computes it.
    - `structure`: The list.
    - `parts`: The targets with their names.
    """

    name: str
    structure: Any
    parts: list[Named]


class RecordedNames(NamedTuple):
    """A target and sources with their names in the program that asks for a report.

    - `tensors`: The names and values of all tensors of the program, oldest first.
    - `arrays`: The names and values of its arrays.
    """

    groups: list[TargetGroup]
    sources: list[Named]
    tensors: list[Named]
    arrays: list[Named]
    program: Program

    @property
    def targets(self) -> list[Named]:
        """The targets one by one."""
        return [part for group in self.groups for part in group.parts]


def recorded_names(tape: Tape, method: str, target: Any, sources: Any) -> RecordedNames:
    """Find the names of values in the function that called a tape's method with a target and sources.

    Names may also be given, as the keys of a dict. Without sources, they are the named values that the tape watches.

    Raises NotATensorError if a target or source isn't a tensor.
    """
    asking = sys._getframe(2)
    y, x = _arguments(asking, method, "sources")
    caller = _Caller(tape, method, target, asking)
    named = caller.tensors()
    has_targets = tensors(target, f"the target of {method}()")
    groups = list(caller.groups(y, target)) if has_targets else []
    if sources is None:
        contents = contents_of(tape)
        # Variables of objects, such as a model, have no name here. Those that nobody named share one, and are counted.
        own = [own_name(variable) for variable in contents.variables]
        by_id = {
            id_of(x): (f"{name} {k}" if own.count(name) > 1 else caller.told_apart(name, x), x)
            for k, (name, x) in enumerate(zip(own, contents.variables, strict=True), 1)
        }
        # Reversed, so that the first name of a tensor with several wins.
        by_id |= {id_of(value): (name, value) for name, value in reversed(named)}
        found = [by_id[i] for i in sorted(contents.leaves) if i in by_id]
    elif tensors(sources, f"the sources of {method}()"):
        found = _given_names(sources) or caller.named(x, sources, "the source")
    else:
        found = []
    arrays = [(name, value) for name, value in caller.items if type(value) is np.ndarray]
    return RecordedNames(groups, found, named, arrays, caller.program)


def _given_names(structure: Any) -> list[Named]:
    """The names and tensors of a dict whose keys are names; nothing for another structure."""
    if type(structure) is not dict or not all(type(key) is str for key in structure):
        return []
    return [item for name, value in structure.items() for item in _parts(None, name, value)]


def _program_of(frame: FrameType, target: Any) -> FrameType:
    """Return the frame that computed the target: no comprehension, and no function that received the target."""
    outer, code = frame.f_back, frame.f_code
    if outer is None or code.co_name == "<module>" or origin_of(outer.f_code.co_filename) != "":
        return frame
    parameters_ = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] + code.co_freevars
    own = [value for name, value in frame.f_locals.items() if name not in parameters_]
    outside = [*(frame.f_locals.get(name) for name in parameters_), *frame.f_globals.values()]
    computed = any(x is target for x in own) or not any(x is target for x in outside)
    return frame if computed and code.co_name[0] != "<" else _program_of(outer, target)


class NamesHere(NamedTuple):
    """The caller's names for the recorded values.

    - `target`: The expression for the target, or '' if it computes something.
    - `names`: Names of values, by their ids.
    - `arrays`: List of (str, array). Names and values of arrays, and of tensors that no tape tracks.
    """

    target: str
    names: dict[int, str]
    arrays: list[tuple[str, Any]]


def names_here(method: str, target: Any, sources: Any) -> NamesHere:
    """Find the names of values in the function that called a tape's method with a target and sources."""
    asking = sys._getframe(2)
    y, x = _arguments(asking, method, "sources")
    frame = _program_of(asking, target)
    namespace_items = [
        (name, value)
        for name, value in {**frame.f_globals, **frame.f_locals, **asking.f_locals}.items()
        if name[:1].isalpha()
    ]
    names: dict[int, str] = {}
    for name, value in namespace_items:
        if has_id(value):
            names.setdefault(id_of(value), name)
    tensor_names = {id(value): name for name, value in namespace_items if isinstance(value, Traced)}
    for node, structure in ((y, target), (x, sources)):
        for name, part in parts(node, structure):
            best = tensor_names.get(id(part)) or name
            if has_id(part) and best:
                names[id_of(part)] = best
            elif has_id(part) and isinstance(part, Variable):
                names.setdefault(id_of(part), own_name(part))
    arrays = [
        (name, unwrap(value))
        for name, value in namespace_items
        if isinstance(value, np.ndarray) or (isinstance(value, Traced) and not has_id(value))
    ]
    targets = [tensor_names.get(id(part)) or name for name, part in parts(y, target)]
    return NamesHere(targets[0] if len(targets) == 1 else "", names, arrays)


def explain_each(
    targets: list[Named], sources: list[Named], ask: Callable[[Named, Named], Explanation]
) -> Explanation | Explanations:
    """Explain each pair of a target and a source, or return the only explanation itself."""
    explanations = [ask(t, s) for t, s in itertools.product(targets, sources)]
    return explanations[0] if len(explanations) == 1 else Explanations(explanations)


def parts(node: Node, value: Any) -> list[Named]:
    """List the tensors of a structure, each with its expression, or '' if that computes something.

    A structure without tensors is returned as a single value.
    """
    if not any(isinstance(leaf, Traced) for leaf in leaves(value)):
        return [(_written(node), value)]
    return list(_parts(node, _written(node), value))


def _parts(node: Node, name: str, value: Any) -> Iterator[Named]:
    if isinstance(value, Traced):
        yield name, value
    elif not is_leaf(value):
        elements = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        # `{**more}` has the key None, `[*more]` a Starred element: expressions and values don't correspond.
        unpacked = [*getattr(node, "keys", ()), *map(type, elements)]
        if None in unpacked or ast.Starred in unpacked or len(elements) != len(value):
            elements = [None] * len(value)
        for element, (step, part) in zip(elements, items(value), strict=True):
            yield from _parts(element, _written(element) if element else name and name + step, part)


def is_plain(node: ast.AST) -> bool:
    """Return True if an expression consists only of names, attributes and subscripts, and computes nothing."""
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
    """Return an expression as text, or '' if it computes something."""
    return ast.unparse(node) if node is not None and is_plain(node) else ""


def tape_name_at(frame: FrameType, method: str = "explain") -> str:
    """Return the caller's name for the tape whose method it is calling, or '' if that isn't clear."""
    call = _call_at(frame, method)
    return _written(getattr(call.func, "value", None)) if call else ""


def _arguments(frame: FrameType, method: str, second: str) -> tuple[Node, Node]:
    """Find the expressions for the first two arguments, ``target`` and `second`, in a call of a tape's method."""
    call = _call_at(frame, method)
    if call is None or any(isinstance(node, ast.Starred) for node in call.args):
        return None, None
    arguments = {word.arg: word.value for word in call.keywords}
    arguments |= dict(zip(("target", second), call.args, strict=False))
    return arguments.get("target"), arguments.get(second)


def _call_at(frame: FrameType, method: str) -> ast.Call | None:
    """Find the call of a tape's method that a frame is running, if its source is known."""
    # Imported here, since only explanations need it.
    from executing import Source

    running: Any = Source.executing(frame)
    # `node` is None if `executing` can't match the bytecode to one expression. One such call in the statement will do.
    statements = running.statements or () if running.node is None else ()
    calls = [
        node
        for node in [running.node, *(part for s in statements for part in ast.walk(s))]
        if isinstance(node, ast.Call)
        and method in (getattr(node.func, "attr", ""), getattr(node.func, "id", ""))
    ]
    return calls[0] if len(calls) == 1 else None
