"""The user's names for values of a traced function, and the source lines that compute the values."""

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
from tapemagic.programs.text.statements import Statement, statements
from tapemagic.programs.tracing.symbol import Symbol

MAX_LENGTH = 60
"""Maximum number of characters of a name."""

UNSHARED = frozenset(dir(builtins)) | {"np", "Retrace", "l", "O", "I", "_"}
"""Names that a value of a program never gets. In many fonts, l, O and I look like digits (PEP 8)."""

PLAIN = (type(None), bool, int, float, complex, str)
"""The types of defaults that a label of a program mentions."""

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


@cache
def identifier(text: str) -> str:
    """Return a name for a value from any text, or '' if no part of the text can be a name.

    Examples
    --------
    >>> identifier("dense/kernel:0"), identifier("lambda"), identifier("sum"), identifier("...")
    ('dense_kernel_0', 'lambda_', 'sum_', '')
    """
    # Python normalizes identifiers to NFKC, so "ﬁ" and "fi" are one name.
    text = unicodedata.normalize("NFKC", text)
    name = re.sub(r"\W+_*", "_", text)[:MAX_LENGTH].strip("_")
    if not name or not name.isprintable():
        return ""
    if not name.isidentifier():
        name = f"x{name}" if name[0].isdigit() else ""
    return f"{name}_" if name in UNSHARED or iskeyword(name) else name


class Call:
    """A call of a user function while it is traced.

    - `number`: The position of the call among all calls, from 1.
    - `statement`: The statement that runs.
    - `site`: The place of the statement.
    - `before`: The nodes under the names that the statement assigns, before it ran.
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
    """The names that user statements assign to values, collected while a function is traced.

    - `texts`: Dict of (str, int) to str. The user's statements by their files and first lines.
    - `times`: Dict of (str, int) to int. The number of runs of each statement.
    - `functions`: Dict of (str, int) to str. The names of the functions that contain the statements.
    """

    def __init__(self) -> None:
        self.functions: dict[tuple[str, int], str] = {}
        self.texts: dict[tuple[str, int], str] = {}
        self._calls: dict[int, Call] = {}
        self._lines: dict[Any, dict[int, Statement]] = {}
        self._inner: set[tuple[str, int]] = set()
        self.times: dict[tuple[str, int], int] = {}

    def site(self, frame: Any) -> Site:
        """Return the place of the statement that runs in a frame, and name the values that the last one assigned."""
        # A statement has begun again if the bytecode offset (f_lasti) didn't grow, except inside a comprehension. With
        # an equal offset, as in a loop of one statement, only an assigned name tells.
        call = self._calls.get(id(frame)) or self._begun(frame)
        lasti, line = frame.f_lasti, frame.f_lineno
        file = frame.f_code.co_filename
        statement = call.lines.get(line) or self._unknown(file, line)
        earlier = call.statement
        again = statement is not earlier or (lasti < call.lasti and not statement.repeats)
        if lasti <= call.lasti or again:
            assigned = earlier is not None and self._read(call, earlier)
            again = again or (assigned and lasti == call.lasti and not statement.repeats)
        call.lasti = lasti
        if again or call.site is None:
            self._begin(call, statement, file)
            call.site = Site(file, statement.line, call.number, call.time)
        return call.site

    def finish(self, constant: Callable[[Any], Node | None]) -> None:
        """Read the names of values after their functions have returned, and forget the functions.

        - `constant`: Returns the node of an array that is the same at each call, and None for other values.
        """
        for call in self._calls.values():
            if call.statement is not None:
                self._read(call, call.statement)
        # Values that get a name only from a parameter or a global name.
        for call in self._calls.values():
            for name, value in _variables(call.frame):
                give_names(name, value)
                node = constant(value._value if is_tensor(value) else value)
                if node is not None:
                    give_name(node, name)
        self.forget()

    def forget(self) -> None:
        """Drop the frames of the calls, which keep their variables alive."""
        self._calls.clear()

    def _begun(self, frame: Any) -> Call:
        code = frame.f_code
        lines = self._lines.get(code)
        if lines is None:
            lines = self._lines[code] = statements(code, frame.f_globals)
        call = self._calls[id(frame)] = Call(frame, len(self._calls) + 1, lines)
        return call

    def _begin(self, call: Call, statement: Statement, file: str) -> None:
        place = file, statement.line
        # A generator expression has a frame, and before Python 3.12 (PEP 709) any comprehension. Its iterations don't
        # count as runs of the statement.
        if call.frame.f_code.co_name in COMPREHENSIONS:
            self._inner.add(place)
            self.times.setdefault(place, 1)
        elif place in self._inner:
            self._inner.discard(place)
        else:
            self.times[place] = self.times.get(place, 0) + 1
        call.time = self.times[place]
        call.statement = statement
        self.texts[place] = statement.text
        self.functions[place] = call.frame.f_code.co_name
        call.before = {
            name: held_node(value) for name, value in _values(call.frame, statement.names)
        }

    def _unknown(self, file: str, line: int) -> Statement:
        return Statement(self.texts.get((file, line), ""), (), line)

    @staticmethod
    def _read(call: Call, statement: Statement) -> bool:
        """Name the values that a statement assigned, and return True if it assigned any."""
        assigned = False
        for name, value in _values(call.frame, statement.names):
            node = held_node(value)
            if node is None:
                give_names(name, value)
            elif node is not call.before.get(name):
                assigned = True
                call.before[name] = node
                give_name(node, name)
        return assigned


def _variables(frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield the variables of a frame, and the global names that its code reads."""
    code, values = frame.f_code, frame.f_globals
    if code.co_name != "<module>":
        yield from list(frame.f_locals.items())
    yield from ((name, values[name]) for name in code.co_names if name in values)


def _values(frame: Any, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if names:
        variables = frame.f_locals
        yield from ((name, variables[name]) for name in names if name in variables)


def is_tensor(value: Any) -> bool:
    """Return True if a value is a tensor, but not a Variable."""
    # `isinstance` would read `__class__`, which user objects may override.
    return issubclass(type(value), Tensor) and not issubclass(type(value), Variable)


def held_node(value: Any) -> Node | None:
    """Return the node of a tensor or symbol, if any."""
    kind = type(value)
    if kind is not Symbol:
        if kind is not Tensor and not is_tensor(value):
            return None
        value = value._value
    return value._node if type(value) is Symbol else None


def give_name(node: Node, name: str) -> None:
    """Name a node that has no name."""
    if not node.name:
        node.name = identifier(name)


def give_names(name: str, value: Any) -> None:
    """Name a value, or the values in a structure (``h_0``, ``h_1``). Adjoints are named after their value."""
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
    """Name the arguments of a program after parameters, and Variables by the user's names."""
    names = program.notes["arguments"] = argument_names(function, args, kwargs)
    program.notes["defaults"] = defaults(function, args, kwargs)
    for node in program.inputs:
        if isinstance(node.origin, Variable):
            node.name = identifier(variable_name(node.origin, node.name, function))
        elif isinstance(node.origin, int) and node.origin < len(names):
            node.name = identifier(names[node.origin])
    for variable, value in program.assigned:
        if not value.name and not isinstance(value, Input):
            name = next((x.name for x in program.inputs if x.origin is variable), "")
            give_name(value, f"new_{name or variable.name}")


def name_results(program: Program) -> None:
    """Name the results without a name: ``result``, or ``result_w`` for the value under the key "w"."""
    paths = _paths(program.notes["structure"], "result")
    # A result None has a path, but isn't a leaf.
    for x, path in zip(program.results, paths, strict=False):
        if not isinstance(x, Node) or x.name or x.function is None:
            continue
        if x.function is np.conjugate and x.back is None and isinstance(x.args[0], Node):
            # A complex gradient is returned as the conjugate of the adjoint.
            x.back = x.args[0].back
        if x.back is None or x.back.to is None:
            give_name(x, path)


def _paths(structure: Any, path: str) -> Iterator[str]:
    """Yield the path of dict keys to each leaf of a structure."""
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
    """Return the positions of a program's results in the order of the user's dicts, with their keys.

    `Program.results` has the order of sorted keys. Keys are described as ``under the key 'w' of 'gradients'``, and ''
    outside dicts.
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
        by_key = {}
        for key, part in zip(ordered(dict.fromkeys(structure[1])), structure[2:], strict=True):
            words = f"{shown(key)} of {keys}" if keys else shown(key)
            by_key[key] = list(_returned(part, positions, words))
        for key in structure[1]:
            yield from by_key[key]


def variable_name(variable: Variable, users_name: str, function: Any) -> str:
    """Return the user's name for a Variable if the function's code contains it, or the path in a model.

    Examples
    --------
    >>> kernel = Variable(1.0, name="dense/kernel")
    >>> variable_name(kernel, "layers_0", lambda: layers), variable_name(kernel, "k", lambda: k)
    ('dense/kernel', 'k')
    """
    code = getattr(function, "__code__", None)
    direct = code is not None and users_name in {*code.co_names, *code.co_freevars}
    if users_name and (direct or "/" not in variable.name):
        return users_name
    return variable.name


def argument_names(function: Any, args: Any, kwargs: Any) -> list[str]:
    """Return a name for each leaf of the arguments of a call: its parameter, and the path inside the argument.

    Examples
    --------
    >>> argument_names(lambda x, *rest, k=0: x, ({"w": 1, "b": 2}, 3, 4), {"k": 5})
    ['x_b', 'x_w', 'rest_0', 'rest_1', 'k']
    """
    if type(function) is FunctionType and not kwargs and not hasattr(function, "__wrapped__"):
        # The common case, without inspect.signature, which takes longer than the rest.
        parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        if len(args) <= len(parameters) and all(map(is_leaf, args)):
            return list(parameters[: len(args)])
    leaves: list[Any] = []
    taken_apart((args, kwargs), leaves)
    names = [""] * len(leaves)
    numbered_args, numbered_kwargs = pack((args, kwargs), range(len(leaves)), is_single)
    kinds: dict[str, Any] = {}
    try:
        signature = inspect.signature(function)
        kinds = {name: x.kind for name, x in signature.parameters.items()}
        bound = signature.bind(*numbered_args, **numbered_kwargs).arguments
    except (TypeError, ValueError):  # built-in functions may have no signature
        bound = {"x": numbered_args, **numbered_kwargs}
    for name, value in bound.items():
        kind = kinds.get(name)
        if kind is inspect.Parameter.VAR_KEYWORD:
            for key, part in value.items():
                _name_leaves(str(key), part, names)
        else:
            _name_leaves(name, value, names)
    return names


def defaults(function: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the numbers, strings and None among the defaults that a call uses.

    Examples
    --------
    >>> defaults(lambda x, k=3.0, *, up=True: x, (1.0,), {}), defaults(lambda x, k=3.0: x, (1.0, 2.0), {})
    ({'k': 3.0, 'up': True}, {})
    """
    if type(function) is FunctionType and not (function.__defaults__ or function.__kwdefaults__):
        return {}
    try:
        signature = inspect.signature(function)
        passed = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return {}
    left = ((name, x.default) for name, x in signature.parameters.items() if name not in passed)
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
