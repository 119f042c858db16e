"""The user's names for the values of a traced function, and the lines of the source from which they come."""

from __future__ import annotations

import builtins
import inspect
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import count
from keyword import iskeyword
from types import FunctionType
from typing import Any

import numpy as np

from tapemagic.engine.nest import is_leaf, ordered, pack
from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import Tensor
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.program import Input, Node, Program, Site
from tapemagic.programs.signature import LEAF, is_single, taken_apart
from tapemagic.programs.symbol import Symbol
from tapemagic.programs.text.statements import Statement, statements

LONGEST = 60
"""The number of characters of a name above which it is cut off."""

UNSHARED = frozenset(dir(builtins)) | {"np", "Retrace", "l", "O", "I", "_"}
"""Names that a value of a program never has: the last of them are hardly told from digits."""

PLAIN = (type(None), bool, int, float, complex, str)
"""The types of defaults that are told."""

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@cache
def identifier(text: str) -> str:
    """A name for a value, made of any text; empty if nothing of it can be a name.

    Examples
    --------
    >>> identifier("dense/kernel:0"), identifier("lambda"), identifier("sum"), identifier("...")
    ('dense_kernel_0', 'lambda_', 'sum_', '')
    """
    text = unicodedata.normalize("NFKC", text)
    name = re.sub(r"\W+_*", "_", text)[:LONGEST].strip("_")
    if not name or not name.isprintable():
        return ""
    if not name.isidentifier():
        name = f"x{name}" if name[0].isdigit() else ""
    return f"{name}_" if name in UNSHARED or iskeyword(name) else name


class Call:
    """A call of one of the user's functions, while it is traced.

    Attributes
    ----------
    frame : frame
    number : int
        How many calls began before it.
    lines : dict of int to Statement
    statement : Statement or None
        The one that runs.
    site : Site or None
        Its place.
    """

    __slots__ = ("before", "frame", "lasti", "lines", "number", "site", "statement", "time")

    def __init__(self, frame: Any, number: int, lines: dict[int, Statement]) -> None:
        self.frame = frame
        self.number = number
        self.lines = lines
        self.lasti = -1
        self.statement: Statement | None = None
        self.site: Site | None = None
        self.before: dict[str, Any] = {}
        self.time = 0


class Names:
    """The names that the user's statements give to values, read while a function is traced.

    Attributes
    ----------
    texts : dict of (str, int) to str
        The user's statements by their files and first lines.
    times : dict of (str, int) to int
        How often each of them has begun.
    functions : dict of (str, int) to str
        The names of the functions in which they stand.
    """

    def __init__(self) -> None:
        self.functions: dict[tuple[str, int], str] = {}
        self.texts: dict[tuple[str, int], str] = {}
        self._calls: dict[int, Call] = {}
        self._lines: dict[Any, dict[int, Statement]] = {}
        self._inner: set[tuple[str, int]] = set()
        self.times: dict[tuple[str, int], int] = {}

    def site(self, frame: Any) -> Site:
        """The statement that runs in a frame; what earlier ones of this frame assigned gets its name before."""
        call = self._calls.get(id(frame)) or self._begun(frame)
        lasti, line = frame.f_lasti, frame.f_lineno
        file = frame.f_code.co_filename
        now = call.lines.get(line) or self._unknown(file, line)
        earlier = call.statement
        again = now is not earlier or (lasti < call.lasti and not now.repeats)
        if lasti <= call.lasti or again:
            assigned = earlier is not None and self._read(call, earlier)
            again = again or (assigned and lasti == call.lasti and not now.repeats)
        call.lasti = lasti
        if again or call.site is None:
            self._begin(call, now, file)
            call.site = Site(file, now.line, call.number, call.time)
        return call.site

    def finish(self, constant: Callable[[Any], Node | None]) -> None:
        """Read the names under which values are known when their functions have returned, and forget the functions.

        Parameters
        ----------
        constant : callable
            The node of an array that is the same at each call; None for anything else.
        """
        for call in self._calls.values():
            if call.statement is not None:
                self._read(call, call.statement)
        for call in self._calls.values():
            for name, value in _known(call.frame):
                give_names(name, value)
                node = constant(value._value if is_tensor(value) else value)
                if node is not None:
                    give_name(node, name)
        self.forget()

    def forget(self) -> None:
        """Let go of the functions that were called."""
        self._calls.clear()

    def _begun(self, frame: Any) -> Call:
        code = frame.f_code
        lines = self._lines.get(code)
        if lines is None:
            lines = self._lines[code] = statements(code, frame.f_globals)
        call = self._calls[id(frame)] = Call(frame, len(self._calls) + 1, lines)
        return call

    def _begin(self, call: Call, now: Statement, file: str) -> None:
        place = file, now.line
        if call.frame.f_code.co_name in COMPREHENSIONS:
            self._inner.add(place)
            self.times.setdefault(place, 1)
        elif place in self._inner:
            self._inner.discard(place)
        else:
            self.times[place] = self.times.get(place, 0) + 1
        call.time = self.times[place]
        call.statement = now
        self.texts[place] = now.text
        self.functions[place] = call.frame.f_code.co_name
        call.before = {name: held_node(value) for name, value in _values(call.frame, now.names)}

    def _unknown(self, file: str, line: int) -> Statement:
        return Statement(self.texts.get((file, line), ""), (), line)

    @staticmethod
    def _read(call: Call, statement: Statement) -> bool:
        """Give the names that a statement assigned to their values; whether it assigned any."""
        found = False
        for name, value in _values(call.frame, statement.names):
            node = held_node(value)
            if node is None:
                give_names(name, value)
            elif node is not call.before.get(name):
                found = True
                call.before[name] = node
                give_name(node, name)
        return found


def _known(frame: Any) -> Iterator[tuple[str, Any]]:
    """The variables of a function, and the global names that it reads."""
    code, values = frame.f_code, frame.f_globals
    if code.co_name != "<module>":
        yield from list(frame.f_locals.items())
    yield from ((name, values[name]) for name in code.co_names if name in values)


def _values(frame: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if names:
        held = frame.f_locals
        yield from ((name, held[name]) for name in names if name in held)


def is_tensor(value: Any) -> bool:
    """Whether a value, which may be any object of the user's, is a tensor, and no Variable."""
    return issubclass(type(value), Tensor) and not issubclass(type(value), Variable)


def held_node(value: Any) -> Node | None:
    """The node of the program for a tensor or symbol."""
    kind = type(value)
    if kind is not Symbol:
        if kind is not Tensor and not is_tensor(value):
            return None
        value = value._value
    return value._node if type(value) is Symbol else None


def give_name(node: Node, name: str) -> None:
    """Name a node, if it has no name."""
    if not node.name:
        node.name = identifier(name)


def give_names(name: str, value: Any) -> None:
    """Name a value, or those in a structure: ``h_0``, ``h_1``; adjoints are named by what they belong to."""
    node = held_node(value)
    if node is not None:
        if node.back is None or node.back.to is None:
            give_name(node, name)
    elif type(value) in (list, tuple, dict) and len(value) <= 100:
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in parts:
            node = held_node(part)
            if node is not None and node.back is None:
                give_name(node, f"{name}_{key}")


def name_inputs(program: Program, function: Any, args: Any, kwargs: Any) -> None:
    """Name the arguments of a program by the parameters of its function, and Variables as the user knows them."""
    names = program.notes["arguments"] = argument_names(function, args, kwargs)
    program.notes["defaults"] = defaults(function, args, kwargs)
    for node in program.inputs:
        if isinstance(node.origin, Variable):
            node.name = identifier(variable_name(node.origin, node.name, function))
        elif isinstance(node.origin, int) and node.origin < len(names):
            node.name = identifier(names[node.origin])
    for variable, value in program.assigned:
        if not value.name and not isinstance(value, Input):
            held = next((x.name for x in program.inputs if x.origin is variable), "")
            give_name(value, f"new_{held or variable.name}")


def name_results(program: Program) -> None:
    """Name the results that have no name: ``result``, or ``result_w`` for the value of a dictionary at "w"."""
    paths = _paths(program.notes["structure"], "result")
    for x, path in zip(program.results, paths, strict=False):  # of a result that is none, one path
        if not isinstance(x, Node) or x.name or x.function is None:
            continue
        if x.function is np.conjugate and x.back is None and isinstance(x.args[0], Node):
            x.back = x.args[0].back  # as the gradient of a complex number is given to the user
        if x.back is None or x.back.to is None:
            give_name(x, path)


def _paths(structure: Any, path: str) -> Iterator[str]:
    """The path of dictionaries' keys to each leaf of a structure."""
    if structure == LEAF:
        yield path
        return
    if not issubclass(structure[0], Mapping):
        for part in structure[1:]:
            yield from _paths(part, path)
        return
    for key, part in zip(ordered(dict.fromkeys(structure[1])), structure[2:], strict=True):
        yield from _paths(part, f"{path}_{key}")


def returned(program: Program) -> list[tuple[int, str]]:
    """The positions of a program's results in the order in which the user's function returns them, and their keys.

    That is the order of the user's dicts, where `Program.results` has that of sorted keys. The keys are in words:
    ``under the key 'w' of 'gradients'``; empty outside of dicts.
    """
    structure = program.notes.get("structure", LEAF)
    if structure == LEAF:
        return [(k, "") for k in range(len(program.results))]
    return list(_returned(structure, count(), ""))


def _returned(structure: Any, positions: Iterator[int], keys: str) -> Iterator[tuple[int, str]]:
    if structure == LEAF:
        yield next(positions), f"under the key {keys}" if keys else ""
    elif not issubclass(structure[0], Mapping):
        for part in structure[1:]:
            yield from _returned(part, positions, keys)
    else:
        found = {}
        for key, part in zip(ordered(dict.fromkeys(structure[1])), structure[2:], strict=True):
            words = f"{shown(key)} of {keys}" if keys else shown(key)
            found[key] = list(_returned(part, positions, words))
        for key in structure[1]:
            yield from found[key]


def variable_name(variable: Variable, known_as: str, function: Any) -> str:
    """The name under which the user knows a Variable: his own for it, or its path in a model, if it has one.

    Examples
    --------
    >>> kernel = Variable(1.0, name="dense/kernel")
    >>> variable_name(kernel, "layers_0", lambda: layers), variable_name(kernel, "k", lambda: k)
    ('dense/kernel', 'k')
    """
    code = getattr(function, "__code__", None)
    direct = code is not None and known_as in {*code.co_names, *code.co_freevars}
    if known_as and (direct or "/" not in variable.name):
        return known_as
    return variable.name


def argument_names(function: Any, args: Any, kwargs: Any) -> list[str]:
    """A name for each leaf of the arguments of a call, made of its parameter and the path to it.

    Examples
    --------
    >>> argument_names(lambda x, *rest, k=0: x, ({"w": 1, "b": 2}, 3, 4), {"k": 5})
    ['x_b', 'x_w', 'rest_0', 'rest_1', 'k']
    """
    if type(function) is FunctionType and not kwargs and not hasattr(function, "__wrapped__"):
        known = function.__code__.co_varnames[: function.__code__.co_argcount]
        if len(args) <= len(known) and all(map(is_leaf, args)):
            return list(known[: len(args)])
    found: list[Any] = []
    taken_apart((args, kwargs), found)
    names = [""] * len(found)
    numbered_args, numbered_kwargs = pack((args, kwargs), range(len(found)), is_single)
    try:
        bound = inspect.signature(function).bind(*numbered_args, **numbered_kwargs).arguments
    except (TypeError, ValueError):
        bound = {"x": numbered_args, **numbered_kwargs}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    for name, value in bound.items():
        kind = getattr(parameters.get(name), "kind", None)
        if kind is inspect.Parameter.VAR_KEYWORD:
            for key, part in value.items():
                _name_leaves(str(key), part, names)
        else:
            _name_leaves(name, value, names)
    return names


def defaults(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """The parameters that a call leaves out, and their values, if these are numbers, texts or None.

    Examples
    --------
    >>> defaults(lambda x, k=3.0, *, up=True: x, (1.0,), {}), defaults(lambda x, k=3.0: x, (1.0, 2.0), {})
    ({'k': 3.0, 'up': True}, {})
    """
    if type(function) is FunctionType and not (function.__defaults__ or function.__kwdefaults__):
        return {}
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    left = ((name, x.default) for name, x in signature.parameters.items() if name not in given)
    return {name: value for name, value in left if isinstance(value, PLAIN)}


def _name_leaves(path: str, value: Any, names: list[str]) -> None:
    if is_leaf(value):
        names[value] = path
        return
    if isinstance(value, Mapping):
        parts: Any = value.items()
    elif hasattr(value, "_fields"):
        parts = zip(value._fields, value, strict=True)
    else:
        parts = enumerate(value)
    for key, part in parts:
        _name_leaves(f"{path}_{key}", part, names)
