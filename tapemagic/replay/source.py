"""The source of a program: NumPy as one would write it by hand, in the user's names. It is also what runs.

A value has the name by which the user's statements know it; one that has none stands inside the expression that reads
it, or is called ``t``. ``d_h`` is the derivative with respect to ``h`` of what a tape's gradient was asked for, and
``d2_h`` that of a second gradient, which differentiates the first one.

Above the lines that come from a statement of the user's stands this statement as a comment; above those of its
derivative, ``back through:`` and the statement. ``(2 of 3)`` behind it: it ran three times, in a loop or in a function
that was called again, and this is the second time.
"""

from __future__ import annotations

import operator
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.tensor.variable import Variable
from tapemagic.replay.expressions import AUGMENTED, Expression, Expressions, home_of
from tapemagic.replay.layout import WIDTH, laid_out
from tapemagic.replay.literals import literal, quoted
from tapemagic.replay.naming import UNSHARED, identifier
from tapemagic.replay.program import (
    Constant,
    Guard,
    Input,
    Loop,
    Node,
    Program,
    Site,
    Store,
    arguments_of,
    nodes_in,
    statement_of,
)
from tapemagic.replay.tracebacks import point_at_user

LONGEST = 72
"""The number of characters above which an expression is not written into another one."""

DEEPEST = 10
"""How deep calls and operators are nested in one statement."""

ORDERS = {1: "", 2: "second derivative, ", 3: "third derivative, "}


class Retrace(Exception):  # noqa: N818 (no error, but a turn in the way through a function)
    """Raised by a program where the user's function would take another way."""


RETRACE = '''class Retrace(Exception):
    """Raised where the function would take another way."""
'''


class Text:
    """The source of a program, and what its names stand for.

    Attributes
    ----------
    name : str
        The name of the function in the source.
    lines : list of str
    sites : dict of int to Site
        The user's statement behind each line of the source, counted from 1.
    nodes : dict of int to list of Node
        The nodes that a line of the source computes.
    namespace : dict of str to object
        What has no source: functions and objects that cannot be imported.
    fixed : tuple of Constant
        Arrays that have no source, and the user's own that he may write into: the last parameters of the function.
    single : bool
        Whether the function returns a value that is no tuple, because there is only one.
    """

    def __init__(self, program: Program) -> None:
        writer = Writer(program)
        self.name = writer.name
        self.lines = writer.lines
        self.sites = writer.sites
        self.nodes = writer.nodes
        self.namespace = writer.namespace
        self.fixed = tuple(writer.fixed)
        self.single = writer.single
        self._functions = program.notes.get("functions", {})
        self._file = ""

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"

    def function(self, file: str) -> Any:
        """The function that the source defines, as code of a file of that name; its last parameters are bound."""
        namespace = {"__name__": file, **self.namespace}
        exec(compile(str(self), file, "exec"), namespace)  # noqa: S102 (the text is our own)
        namespace["Retrace"] = Retrace
        made: Any = namespace[self.name]
        self._file = file
        made.__defaults__ = tuple(node.value for node in self.fixed) or None
        return made

    def point_at_user(self, error: BaseException) -> None:
        """Let the traceback of an error that the function raised show the user's statement."""
        point_at_user(error, self._file, self.sites, self._functions)


class Pending(NamedTuple):
    """A node whose expression waits for the one that reads it.

    Attributes
    ----------
    reads : list of Node
        The values that the expression names.
    """

    node: Node
    expression: Expression
    reads: list[Node]


class Writer:
    """Writes the source of a program, statement by statement."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.namespace: dict[str, Any] = {}
        self.fixed: list[Constant] = []
        self._imports: dict[str, str] = {}
        self._functions: dict[int, str] = {}
        self._objects: list[tuple[str, Any]] = []
        self._constants: list[str] = []
        self._reserved = set(UNSHARED)
        self._names: dict[Node, str] = {}
        self._holders: dict[str, Node] = {}
        self._statements: dict[Any, str] = program.notes.get("statements", {})
        self._times: dict[Any, int] = program.notes.get("times", {})
        self._usual: dict[str, str] = program.notes.get("errstate", {})
        self._pending: list[Pending] = []
        self._inside: dict[Any, list[Node]] = {}
        self._nodes: dict[int, list[Node]] = {}
        self._inlined: dict[Node, Expression] = {}
        self._body: list[tuple[str, Site | None]] = []
        self._said: Any = None
        self._errstate: Any = None
        self._margin = "    "
        self._guards = 0
        self._write = Expressions(self._read, self._function, self._thing)
        self.name = self._fresh(identifier(program.name) or "program")
        self._reserved.add(self.name)
        self._find_uses()
        self._name_functions()
        self._name_parameters()
        for entry in program.body:
            self._add(entry)
        self._flush()
        self._return()
        self._assemble()

    def _entries(self) -> Iterator[Any]:
        """All nodes, guards and stores, also those in loops."""
        for entry in self.program.body:
            if isinstance(entry, Loop):
                yield from entry.body
            else:
                yield entry

    # What is read where.

    def _find_uses(self) -> None:
        """Count how often each node is read, and by what, if by one alone."""
        self._uses: dict[Node, int] = {}
        self._consumers: dict[Node, Any] = {}
        for entry in self._entries():
            for node in arguments_of(entry):
                self._uses[node] = self._uses.get(node, 0) + 1
                self._consumers[node] = entry
        self.outputs = [*self.program.results, *(node for _, node in self.program.assigned)]
        for node in nodes_in(self.outputs):
            self._uses[node] = self._uses.get(node, 0) + 1
            self._consumers[node] = None
        backs = (x.back for x in self._entries() if isinstance(x, Node) and x.back is not None)
        self._differentiated = {back.to for back in backs if back.to is not None}
        self._parts: dict[Node, dict[int, Node]] = {}
        for entry in self._entries():
            if isinstance(entry, Node) and _takes_part(entry):
                self._parts.setdefault(entry.args[0], {})[entry.args[1]] = entry
        for node, parts in list(self._parts.items()):
            if self._uses[node] != len(parts) or len(parts) < 2:
                del self._parts[node]
        self._unpacked = {part for parts in self._parts.values() for part in parts.values()}

    # Names.

    def _fresh(self, wanted: str) -> str:
        """A name that nothing has."""
        name, k = wanted, 1
        while name in self._reserved or name in self._holders:
            k += 1
            name = f"{wanted}_{k}"
        return name

    def _name_functions(self) -> None:
        """Import functions and name objects before any value is named."""
        for entry in self._entries():
            if isinstance(entry, Node):
                self._write.call(entry)

    def _name_parameters(self) -> None:
        self.parameters: list[str] = []
        for node in self.program.inputs:
            self.parameters.append(self._called(node, identifier(node.name) or "x"))
            self._uses[node] = self._uses.get(node, 0) + 1
        constants: dict[Node, None] = {}
        known: dict[Any, str] = {}
        for entry in self._entries():
            constants |= dict.fromkeys(x for x in arguments_of(entry) if isinstance(x, Constant))
        constants |= dict.fromkeys(x for x in nodes_in(self.outputs) if isinstance(x, Constant))
        for node in sorted(constants, key=lambda node: not node.name):
            text = None if node.by_reference else literal(node.value)
            if text in known:
                self._names[node] = known[text]
            elif text is None:
                self.parameters.append(self._called(node, identifier(node.name) or "constant"))
                self.fixed.append(node)  # type: ignore[arg-type]
            elif isinstance(node.value, np.ndarray):  # type: ignore[attr-defined]
                word = text.partition("(")[0].removeprefix("np.")
                plain = word if word in {"zeros", "ones", "eye"} else "constant"
                name = self._called(node, identifier(node.name) or plain)
                self._constants.append(f"{name} = {text}")
                known[text] = name
            if node in self._names:
                self._reserved.add(self._names[node])
        self._done(self.program.inputs)

    def _called(self, node: Node, wanted: str) -> str:
        """Give a node a name: that of a value which is not read any more may serve again."""
        name, k = wanted, 1
        while name in self._reserved or self._is_kept(self._holders.get(name)):
            k += 1
            name = f"{wanted}_{k}"
        self._holders[name] = node
        self._names[node] = name
        return name

    def _is_kept(self, node: Node | None) -> bool:
        """Whether a value is still read, or its name in that of its derivative."""
        return node is not None and (
            self._uses.get(node, 0) > 0 or (not node.name and node in self._differentiated)
        )

    def _wanted(self, node: Node) -> str:
        """The name that a node should have."""
        name = identifier(node.name)
        if name:
            return name
        if node.back is None:
            return "t"
        known = self._known(node.back.to)
        return f"d{node.back.order if node.back.order > 1 else ''}_{known}" if known else "g"

    def _known(self, node: Node | None) -> str:
        """The name of a value of which an adjoint is to be named; empty for one that only the sweep knows."""
        if node is None or (not node.name and node.back is not None):
            return ""
        name = self._names.get(node, "")
        return name if self._holders.get(name) is node else identifier(node.name)

    # Expressions.

    def _read(self, node: Node) -> Expression:
        if node in self._inlined:
            return self._inlined[node]
        name = self._names.get(node)
        if name is not None:
            return Expression(name)
        if isinstance(node, Constant):
            return Expression(literal(node.value) or "constant")
        return Expression("t")  # while functions are named

    def _function(self, function: Any) -> str:
        known = self._functions.get(id(function))
        if known is None:
            known = self._functions[id(function)] = self._function_text(function)
        return known

    def _function_text(self, function: Any) -> str:
        if function is np.absolute:
            return "np.abs"
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"{self._function(owner)}.{function.__name__}"
        home = home_of(function)
        if home is None:
            return self._thing(function, getattr(function, "__name__", "function"))
        module, name = home
        if module == "numpy" or module.startswith("numpy."):
            return f"np{module.removeprefix('numpy')}.{name}"
        known = self._fresh(name)
        self._reserved.add(known)
        self._imports[known] = f"from {module} import {name}" + f" as {known}" * (known != name)
        return known

    def _thing(self, value: Any, name: str) -> str:
        for known, other in self.namespace.items():
            if other is value:
                return known
        name = self._fresh(identifier(name) or "value")
        self._reserved.add(name)
        self.namespace[name] = value
        return name

    # Statements.

    def _add(self, entry: Any) -> None:
        """Write a node or a guard, or keep a node's expression for the one that reads it."""
        if not isinstance(entry, Node):
            write: dict[Any, Any] = {Guard: self._guard, Loop: self._loop, Store: self._store}
            write[type(entry)](entry)
            return
        if entry in self._unpacked:
            return
        composed = self._composed(entry)
        if self._stands_inside(entry):
            self._pending.append(composed)
        else:
            self._flush()
            self._assign(composed)

    def _composed(self, entry: Any) -> Pending:
        """The expression of a node or a guard, with those of its arguments inside of it that were kept."""
        arguments = arguments_of(entry)
        taken = self._take(arguments)
        if taken:
            self._inlined = {part.node: part.expression for part in taken}
            found = self._expression(entry)
            self._inlined = {}
            if len(found.text) <= LONGEST and found.depth <= DEEPEST:
                inside = {part.node for part in taken}
                self._inside[entry] = [x for part in taken for x in self._written_with(part.node)]
                reads = [node for node in arguments if node not in inside]
                reads += [node for part in taken for node in part.reads]
                return Pending(entry, found, reads)
            self._pending += taken
            self._flush()
        return Pending(entry, self._expression(entry), arguments)

    def _expression(self, entry: Any) -> Expression:
        if isinstance(entry, Node):
            return self._write.call(entry)
        return self._read(entry.value if isinstance(entry, Store) else entry.condition)

    def _take(self, arguments: list[Node]) -> list[Pending]:
        """Take the kept expressions of arguments, if they are the last ones, in the order of the arguments."""
        waiting = {part.node for part in self._pending}
        wanted = [node for node in arguments if node in waiting] if waiting else []
        last = self._pending[len(self._pending) - len(wanted) :]
        if [part.node for part in last] != wanted:
            self._flush()
            return []
        del self._pending[len(self._pending) - len(wanted) :]
        return last

    def _stands_inside(self, node: Node) -> bool:
        """Whether a value has no statement of its own."""
        reader = self._consumers.get(node)
        if node.name or self._uses.get(node) != 1 or reader is None:
            return False
        if type(node.kind) is tuple and node in self._parts:
            return False
        if node.function in AUGMENTED:
            return False
        if "out" in node.kwargs or (isinstance(reader, Node) and "out" in reader.kwargs):
            return False
        if not self._is_intermediate(node, reader):
            return False
        if isinstance(reader, Guard):
            return reader.site == node.site and node.errstate is None
        if isinstance(reader, Store):
            return node.errstate is None
        same = reader.errstate == node.errstate
        return same and self._key(reader) == self._key(node)

    @staticmethod
    def _is_intermediate(node: Node, reader: Any) -> bool:
        """Whether a value is no adjoint of a value with a name, or only a part of one that the reader completes."""
        to = node.back and node.back.to
        if to is None or not (to.name or isinstance(to, Input)):
            return True
        return isinstance(reader, Node) and reader.back is not None and reader.back.to is to

    def _flush(self) -> None:
        """Write the expressions that were kept, each as a statement."""
        pending, self._pending = self._pending, []
        for each in pending:
            self._assign(each)

    def _done(self, reads: Iterable[Node]) -> None:
        """Note that values were read: the names of those that are not read again may serve others."""
        for node in reads:
            self._uses[node] -= 1

    def _assign(self, composed: Pending) -> None:
        node, expression, reads = composed
        self._comment(node)
        self._done(reads)
        if node.function in AUGMENTED:
            self._names[node] = name = self._names[node.args[0]]
            self._holders[name] = node
            self._line(expression.text, node.site)
            return
        if node in self._parts:
            parts = self._parts[node]
            targets = [
                self._called(parts[k], self._wanted(parts[k])) if k in parts else "_"
                for k in range(len(node.kind))
            ]
            target = ", ".join(targets)
        else:
            target = self._called(node, self._wanted(node))
        first = len(self._body)
        self._line(f"{target} = {expression.text}", node.site)
        self._nodes |= dict.fromkeys(range(first, len(self._body)), self._written_with(node))

    def _written_with(self, node: Node) -> list[Node]:
        """A node and those whose expressions stand inside of its own."""
        return [node, *self._inside.get(node, [])]

    def _guard(self, guard: Guard) -> None:
        _, expression, reads = self._composed(guard)
        self._flush()
        self._done(reads)
        self._errstate = None
        self._guards += 1
        site = guard.site
        if site is not None:
            self._say("", site, _way(self._text(site), guard.expected))
            self._said = (site.file, site.line, site.time), 0
        condition = expression.within(20) if guard.expected else expression.text
        self._line(f"if {'not ' * guard.expected}{condition}:", site)
        self._line(f"    raise Retrace({self._guards})", site)

    def _loop(self, loop: Loop) -> None:
        """Write a loop over blocks; what it reads from outside keeps its name until its end."""
        self._flush()
        outside = arguments_of(loop)
        for node in outside:
            self._uses[node] += 1
        self._uses[loop.start] = self._uses[loop.part] = len(loop.body) + 1
        start, part = (self._called(node, node.name) for node in (loop.start, loop.part))
        self._errstate, self._said = None, None
        self._line(f"for {start} in range(0, {loop.count:_}, {loop.step:_}):", None)
        self._margin += "    "
        self._line(f"{part} = slice({start}, {start} + {loop.step:_})", None)
        for entry in loop.body:
            self._add(entry)
        self._flush()
        self._errstate, self._said = None, None
        self._margin = self._margin[4:]
        self._uses[loop.start] = self._uses[loop.part] = 0
        self._done(outside)

    def _store(self, store: Store) -> None:
        """Write down what one round of a loop computed."""
        _, expression, reads = self._composed(store)
        self._flush()
        self._done(reads)
        self._errstate = None
        target = self._read(store.target).text
        site = store.value.site
        if store.index is None:
            self._line(f"{target}.append({expression.text})", site)
        else:
            self._line(f"{target}[{self._write.index(store.index)}] = {expression.text}", site)

    def _line(self, text: str, site: Site | None) -> None:
        margin = self._margin + "    " * (self._errstate is not None)
        self._body += [(line, site) for line in laid_out(text, margin)]

    def _return(self) -> None:
        self._errstate = None
        values = [self._result(x) for x in self.outputs]
        self.single = len(values) == 1
        text = ", ".join(values)
        if not values:
            text = "()"
        elif len(text) > WIDTH - 11:
            text = f"({text})"
        if self._said is not None and len(self._body) > 3:
            self._body.append(("", None))
        self._line(f"return {text}", None)

    def _result(self, x: Any) -> str:
        text = self._write.value(x).text
        if isinstance(x, Node) and shares_memory(x):
            return f"{text}.copy()"
        return text

    # Comments.

    def _key(self, node: Node) -> Any:
        """What the comment above a node says: the statement, the time that it ran, and the order of derivative."""
        return statement_of(node)

    def _comment(self, node: Node) -> None:
        key = self._key(node)
        errstate = self._changed(node)
        if key != self._said or errstate != self._errstate:
            self._errstate = None
        if key != self._said:
            place, order = key
            if self._said is not None and order != self._said[1]:
                self._body.append(("", None))
            back = f"{ORDERS.get(order, f'derivative of order {order}, ')}back through: "
            if place is not None:
                self._say(back if order else "", Site(place[0], place[1], 0, place[2]))
            self._said = key
        if errstate != self._errstate:
            options = ", ".join(f"{key}={quoted(value)}" for key, value in errstate.items())
            if len(errstate) == 4 and len(set(errstate.values())) == 1:
                options = f"all={quoted(next(iter(errstate.values())))}"
            self._line(f"with np.errstate({options}):", None)
            self._errstate = errstate

    def _changed(self, node: Node) -> dict[str, str] | None:
        """What np.errstate has to be for a node, where this is not as usual."""
        errstate = node.errstate or {}
        return {k: v for k, v in errstate.items() if self._usual.get(k) != v} or None

    def _text(self, site: Site) -> str:
        return self._statements.get((site.file, site.line), "")

    def _say(self, before: str, site: Site, after: str = "") -> None:
        """Write a comment: the user's statement, which time of several it is, and something before and after it."""
        text = self._text(site)
        if not text:
            return
        times = self._times.get((site.file, site.line), 1)
        notes = [f"{site.time} of {times}"] * (times > 1) + [after] * bool(after)
        end = f" ({', '.join(notes)})" if notes else ""
        margin = self._margin + "    " * (self._errstate is not None)
        room = WIDTH - len(margin) - len(before) - len(end) - 2
        if len(text) > room:
            text = f"{text[: room - 4].rstrip()} ..."
        self._body.append((f"{margin}# {before}{text}{end}", site))

    # The whole.

    def _assemble(self) -> None:
        head = laid_out(f"def {self.name}({', '.join(self.parameters)})", "", ":")
        body = [(line, None) for line in [*head, *self._docstring()]] + self._body
        above = [*self._constants, *self._unwritten()]
        retrace = RETRACE.splitlines() if self._guards else []
        used = "\n".join([*above, *(line for line, _ in self._body)])
        lines: list[str] = []
        imports = ["import numpy as np"] if "np." in used else []
        imports += sorted(self._imports.values(), key=str.lower)
        lines += [*imports, ""] if imports else []
        lines += [*above, ""] if above else []
        if retrace:
            lines += ["" for _ in lines[:1]] + [*retrace, ""]
        if lines:
            lines.append("")
        self.lines = lines + [line for line, _ in body]
        above_body = len(lines) + len(body) - len(self._body)
        self.nodes = {above_body + k + 1: nodes for k, nodes in self._nodes.items()}
        self.sites = {
            len(lines) + k + 1: site for k, (_, site) in enumerate(body) if site is not None
        }

    def _unwritten(self) -> list[str]:
        return [
            f"# {name} is not written here: {_kind_of_thing(value)}"
            for name, value in self.namespace.items()
        ]

    def _docstring(self) -> list[str]:
        """The docstring of the function: its arguments and results."""
        summary = self.program.notes.get("summary") or f"Do what {self.name} does, without a tape."
        lines = textwrap.wrap(f'    """{summary}', WIDTH, subsequent_indent="    ")
        parameters = [
            (name, described(node) + self._origin(node))
            for name, node in zip(self.parameters, self.program.inputs, strict=False)
        ]
        more = self.parameters[len(parameters) :]
        parameters += [
            (name, f"{described(node)}, the same at each call")
            for name, node in zip(more, self.fixed, strict=True)
        ]
        notes = self.program.notes
        if notes.get("brief") and not notes.get("inputs") and None not in self.program.results:
            return lines[:-1] + [f'{lines[-1]}"""'] if not notes.get("notes") else self._noted(lines)
        lines += _section("Parameters", parameters)
        lines += _section("Returns", list(self._returned()))
        return self._noted(lines)

    def _noted(self, lines: list[str]) -> list[str]:
        """A docstring with its notes, and its end."""
        notes = self.program.notes.get("notes", [])
        for k, note in enumerate(notes):
            lines += ["", "    Notes", "    -----"] if not k else [""]
            lines += textwrap.wrap(note, WIDTH, initial_indent="    ", subsequent_indent="    ")
        first, *rest = map(_harmless, lines)
        return [first.replace("...", '"""', 1), *rest, '    """']

    def _origin(self, node: Input) -> str:
        words = self.program.notes.get("inputs", {}).get(node)
        return f", {_harmless(words)}" if words else ", a Variable" * isinstance(node.origin, Variable)

    def _returned(self) -> Any:
        count = len(self.program.results)
        meanings = self.program.notes.get("results") or [""] * count
        for x, meaning in zip(self.program.results, meanings, strict=True):
            if isinstance(x, Node):
                words = f", {meaning}" if meaning else self._meaning(x)
                yield self._read(x).text, described(x) + words
            else:
                yield self._write.value(x).text, meaning or "the same at each call"
        for variable, node in self.program.assigned[: len(self.outputs) - count]:
            name = next(
                (self.parameters[k] for k, x in enumerate(self.program.inputs) if x.origin is variable),
                variable.name,
            )
            yield self._read(node).text, f"{described(node)}, the new value of {name}"

    def _meaning(self, node: Node) -> str:
        back = node.back
        if back is None or not isinstance(back.to, Node):
            return ""
        name = self._names.get(back.to) or back.to.name
        if not name:
            return ""
        if back.order == 1:
            return f", the gradient with respect to {name}"
        return f", a derivative of order {back.order}, the last one with respect to {name}"


def described(node: Node) -> str:
    """The shape and dtype of a value.

    Examples
    --------
    >>> described(Input(0, Kind((2, 3), np.dtype("f4"), True)))
    'array of shape (2, 3), float32'
    """
    kind = node.kind
    if not kind.is_array:
        return f"{kind.dtype}"
    return f"array of shape {kind.shape}, {kind.dtype}"


def shares_memory(node: Node) -> bool:
    """Whether a result is an array of the program's own, or may be a view of one, that the caller could write into."""
    while node.function in VIEWS and node.args and isinstance(node.args[0], Node):
        node = node.args[0]
    return isinstance(node, Constant) and not node.by_reference and node.kind.is_array


VIEWS: frozenset[Any] = frozenset(
    {np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.ravel}
    | {np.broadcast_to, np.real, np.imag, np.diagonal, np.asarray, np.flip, np.atleast_1d}
)


def _harmless(line: str) -> str:
    """A line of a docstring that neither ends it nor escapes anything."""
    return line.replace("\\", "\\\\").replace('"""', "...")


def _way(statement: str, expected: bool) -> str:
    """What is said of a condition: it is that of a statement, or a part of it, or a check of a function's."""
    words = statement.split()
    whole = words[:1] and words[0] in {"if", "elif", "while", "assert"}
    what = "" if whole else "a check that is "
    if {"and", "or", "not", "if"} & set(words[1:]):
        what = "a part of it is "
    return f"{what}{str(expected).lower()} in this program"


def _takes_part(node: Node) -> bool:
    """Whether a node is one of the results of a call that has several."""
    if node.function is not operator.getitem or type(node.args[1]) is not int:
        return False
    return isinstance(node.args[0], Node) and type(node.args[0].kind) is tuple


def _kind_of_thing(value: Any) -> str:
    kind = type(value).__name__
    name = getattr(value, "__name__", "")
    return f"the {kind} {name}" if name.isidentifier() else f"an object of type {kind}"


def _section(title: str, items: list[tuple[str, str]]) -> list[str]:
    """A section of a docstring in NumPy's style, with successive names of one kind in one line."""
    if not items:
        return []
    joined: list[list[Any]] = []
    for name, what in items:
        if joined and joined[-1][1] == what:
            joined[-1][0].append(name)
        else:
            joined.append([[name], what])
    lines = ["", f"    {title}", f"    {'-' * len(title)}"]
    for names, what in joined:
        text = f"{', '.join(names)} : {what}"
        lines += textwrap.wrap(
            text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_long_words=True
        )
    return lines
