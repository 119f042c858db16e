"""Writing of a program as Python statements: which values get a statement, and where comments and blocks go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tapemagic.engine.effects import has_effect
from tapemagic.programs.passes.separate_results import base
from tapemagic.programs.program import (
    Constant,
    Guard,
    Input,
    Loop,
    Node,
    Program,
    Site,
    Store,
    arguments_of,
    statement_of,
)
from tapemagic.programs.text.comments import Comments, NoComments
from tapemagic.programs.text.expressions import (
    ATOM,
    AUGMENTED,
    Expression,
    Expressions,
    calls_numpy_alone,
    takes_float,
)
from tapemagic.programs.text.formatting import WIDTH, laid_out
from tapemagic.programs.text.literals import literal, quoted
from tapemagic.programs.text.local_names import LocalNames, ModuleNames
from tapemagic.programs.text.naming import identifier, returned
from tapemagic.programs.text.use_counts import Uses

MAX_LENGTH = 72
"""Maximum number of characters of an expression with nested expressions."""

MAX_DEPTH = 10
"""Maximum depth of calls and operators in one statement."""

UNREAD = "# nothing reads this value, but its call may raise an error"
"""The comment above a call whose result isn't read."""

UNREAD_DRAW = "# nothing reads this value, but later draws depend on this one"
"""The comment above an effect whose result isn't read."""


@dataclass(slots=True)
class Line:
    """A line of the source, the user's statement it comes from, and the nodes that it computes."""

    text: str
    site: Site | None = None
    nodes: Sequence[Node] = ()


@dataclass(slots=True)
class Pending:
    """A node, guard or store whose expression may be nested in another expression.

    - `reads`: The values that the expression names.
    - `inside`: The nodes whose expressions are nested in this one.
    """

    node: Any
    expression: Expression
    reads: list[Node]
    inside: Sequence[Node] = ()


class Writer:
    """Writes the source of a program, statement by statement.

    - `bare`: Whether to write the statements as they run: without comments, each on one line, with global function
      names.
    - `module`: The names above other functions, if the function shares them.

    - `parameters`: The names of the inputs, in their order, and of constants without a literal.
    - `fixed`: The constants without a literal.
    - `arrays`: Constants that are defined above the function.
    - `body`: The statements, with ``return`` unless `bare`.
    - `returned`: The expressions of the results in the order of the program. ``return`` has the user's order.
    """

    def __init__(
        self, program: Program, bare: bool = False, module: ModuleNames | None = None
    ) -> None:
        self.program = program
        self.uses = Uses(program)
        module = module or ModuleNames(bound={} if bare else None)
        self.names = LocalNames(self.uses, module)
        self.comments = NoComments() if bare else Comments(program)
        self._bare = bare
        self.fixed: list[Constant] = []
        self.parameters: list[str] = []
        self.arrays: dict[str, Any] = {}
        self.body: list[Line] = []
        self.guards = 0
        self._usual: dict[str, str] = program.notes.get("errstate", {})
        self._pending: list[Pending] = []
        self._inlined: dict[Node, Expression] = {}
        self._errstate: dict[str, str] = {}
        self._indent = "    "
        self._floats: dict[Node, str] = {}
        self._several = several_floats(self.uses.entries()) if bare else set()
        as_float = self._as_float if bare else None
        self._write = Expressions(self._read, self.names.function, self.names.object_name, as_float)
        self.name = self.names.reserve_above(identifier(program.name) or "program")
        for entry in self.uses.entries():
            if isinstance(entry, Node) and not calls_numpy_alone(entry):
                # Functions and imports get their names first. A value of the user's called `relu` becomes `relu_2`.
                self._write.call(entry)
        self._name_parameters()
        for entry in program.body:
            self._add(entry)
        self._flush()
        self.returned = [f"{self.text(x)}{'.copy()' * shares_memory(x)}" for x in self.uses.outputs]
        if not bare:
            self._return()

    def objects(self) -> dict[str, Any]:
        """Return the functions, constants and other objects by their names in the statements."""
        module = self.names.module
        fixed = self.parameters[len(self.program.inputs) :]
        constants = zip(fixed, (node.value for node in self.fixed), strict=True)
        return {**module.namespace, **(module.bound or {}), **self.arrays, **dict(constants)}

    def text(self, x: Any) -> str:
        """Return the expression of a result."""
        return self._write.value(x).text

    def _name_parameters(self) -> None:
        for node in self.program.inputs:
            self.parameters.append(self.names.assign_name(node, identifier(node.name) or "x"))
            self.uses.keep([node])  # until all parameters have names, so that no two share one
        shared = self.names.module.constants
        for constant in self.uses.constants:
            text = None if constant.by_reference else literal(constant.value)
            if text is None:
                name = self.names.reserve(identifier(constant.name) or plain_name(constant))
                self.parameters.append(name)
                self.fixed.append(constant)
            elif not isinstance(constant.value, np.ndarray):
                continue
            elif text in shared:
                name = shared[text]
            else:
                written = self.program.notes.get("statements", {}).values()
                name = identifier(constant.name) or plain_name(constant, text, written)
                name = shared[text] = self.names.reserve_above(name)
                self.arrays[name] = constant.value
            self.names.share(constant, name)
        self._take_floats(self.program.inputs)
        self.uses.done(self.program.inputs)

    def _read(self, node: Node) -> Expression:
        if node in self._inlined:
            return self._inlined[node]
        name = self.names.of(node)
        if name is None and isinstance(node, Constant):
            name = literal(node.value)
        return Expression(name or "u1")  # without a name only while functions are named

    def _as_float(self, node: Node, text: str) -> str:
        """Return the text of a float64 number as a Python float."""
        return self._floats.get(node) or f"float({text})"

    def _take_floats(self, nodes: Iterable[Node]) -> None:
        """Convert numbers that several functions take as Python floats once."""
        for node in [x for x in nodes if x in self._several]:
            name = self.names.of(node)
            self._floats[node] = self.names.reserve(f"{name}_float")
            self._line(f"{self._floats[node]} = float({name})", node.site)

    # Entries of the body, and nested expressions.

    def _add(self, entry: Any) -> None:
        """Write an entry of the body, or keep a node's expression for its reader."""
        if not isinstance(entry, Node):
            write: dict[Any, Any] = {Guard: self._guard, Loop: self._loop, Store: self._store}
            write[type(entry)](entry)
            return
        if entry in self.uses.unpacked:
            return
        composed = self._composed(entry)
        if self._stands_inside(entry):
            self._pending.append(composed)
            return
        if self._pending:
            self._flush()
        self._assign(composed)

    def _composed(self, entry: Any) -> Pending:
        """Return the expression of a node, guard or store, with nested expressions of arguments."""
        arguments = arguments_of(entry)
        taken = self._take(arguments) if self._pending else []
        if taken:
            self._inlined = {part.node: part.expression for part in taken}
            expression = self._expression(entry)
            self._inlined = {}
            if len(expression.text) <= MAX_LENGTH and expression.depth <= MAX_DEPTH:
                inside = {part.node for part in taken}
                reads = [node for node in arguments if node not in inside]
                reads += [node for part in taken for node in part.reads]
                nodes = [node for part in taken for node in (part.node, *part.inside)]
                return Pending(entry, expression, reads, nodes)
            self._pending += taken
            self._flush()
        return Pending(entry, self._expression(entry), arguments)

    def _expression(self, entry: Any) -> Expression:
        if isinstance(entry, Node):
            return self._write.call(entry)
        return self._read(entry.value if isinstance(entry, Store) else entry.condition)

    def _take(self, arguments: list[Node]) -> list[Pending]:
        """Take kept expressions of arguments: the last ones, if they have the order of the arguments."""
        # Python evaluates arguments from left to right, and so runs nested calls in the order of the arguments. Nesting
        # kept expressions in another order would reorder calls, and with them their errors and warnings.
        kept = [part.node for part in self._pending]
        waiting = set(kept)
        nested = [node for node in arguments if node in waiting]
        count = len(nested)
        while kept[len(kept) - count :] != nested[len(nested) - count :]:
            count -= 1
        taken = self._pending[len(kept) - count :]
        del self._pending[len(kept) - count :]
        if count < len(nested):
            self._flush()
        return taken

    def _stands_inside(self, node: Node) -> bool:
        """Return True if the expression of a value is nested in the expression of its reader."""
        reader = self.uses.only_reader(node)
        if node.name or reader is None or node in self.uses.parts or node.function in AUGMENTED:
            return False
        # Nested in another expression, two effects could change places.
        if has_effect(node.function):
            return False
        if "out" in node.kwargs:
            return False
        if not self._is_intermediate(node, reader):
            return False
        # A nested call runs under the np.errstate of its reader, and below the comment of the reader's statement.
        if isinstance(reader, Guard):
            return bool(reader.site == node.site and node.errstate is None)
        if isinstance(reader, Store):
            return node.errstate is None
        same = reader.errstate == node.errstate
        return bool(same and statement_of(reader) == statement_of(node))

    @staticmethod
    def _is_intermediate(node: Node, reader: Any) -> bool:
        """Return True if a value isn't the adjoint of a value with a name, or if its reader completes the adjoint."""
        to = node.back and node.back.to
        if to is None or not (to.name or isinstance(to, Input)):
            return True
        return isinstance(reader, Node) and reader.back is not None and reader.back.to is to

    def _flush(self) -> None:
        """Write each kept expression as a statement."""
        pending, self._pending = self._pending, []
        for each in pending:
            self._assign(each)

    # Statements.

    def _assign(self, composed: Pending) -> None:
        node = composed.node
        self.uses.done(composed.reads)
        line = composed.expression.text
        if node.kind != () and not self._reuse_name(node):
            line = f"{self._target(node)} = {line}"
        self._begin(node, line)
        if line.startswith("_ = ") and not self._bare:
            why = UNREAD_DRAW if has_effect(node.function) else UNREAD
            self.body.append(Line(f"{self._margin}{why}", node.site))
        self._line(line, node.site, [node, *composed.inside])
        self._take_floats([node])

    def _reuse_name(self, node: Node) -> bool:
        """Name a value after the array it's written into, and return True, unless it needs a new name."""
        is_statement = node.function in AUGMENTED
        written = node.args[0] if is_statement else node.kwargs.get("out")
        if written is None or (self.names.preferred_name(node) and not is_statement):
            return False
        # A part of an array, such as y[part], has no name. Its value needs one only if something reads it.
        if self.names.of(written) is None:
            return not self.uses.is_kept(node)
        self.names.pass_on(written, node)
        return True

    def _target(self, node: Node) -> str:
        """Return the names of the results of a call, with _ for results that nothing reads."""
        parts = self.uses.parts.get(node)
        if parts is None:
            return self.names.assign_name(node) if self.uses.is_kept(node) else "_"
        results = (parts.get(k) for k in range(len(node.kind)))
        return ", ".join(
            self.names.assign_name(x) if x and self.uses.is_kept(x) else "_" for x in results
        )

    def _begin(self, node: Node, line: str) -> None:
        """Write the comment above a node's line, and the head of a ``with np.errstate`` block."""
        errstate: dict[str, str] = {}
        if node.errstate:
            errstate = {k: v for k, v in node.errstate.items() if self._usual.get(k) != v}
        # A comment of a new statement ends the block of np.errstate, because comments are outside it.
        if self._errstate and (
            errstate != self._errstate or statement_of(node) != self.comments.statement
        ):
            self._errstate = {}
        for text in self.comments.above(node, self._margin, "" if errstate else line):
            self.body.append(Line(text, node.site))
        if errstate != self._errstate:
            options = ", ".join(f"{key}={quoted(value)}" for key, value in errstate.items())
            if len(errstate) == 4 and len(set(errstate.values())) == 1:
                options = f"all={quoted(errstate['over'])}"
            self._line(f"with np.errstate({options}):")
            self._errstate = errstate

    def _guard(self, guard: Guard) -> None:
        composed = self._composed(guard)
        self._flush()
        self.uses.done(composed.reads)
        self._errstate = {}
        self.guards += 1  # Retrace reports the number of the guard, from 1
        site, expression = guard.site, composed.expression
        self.body += [Line(text, site) for text in self.comments.above_guard(guard, self._margin)]
        condition = expression.within(ATOM) if guard.expected else expression.text
        self._line(f"if {'not ' * guard.expected}{condition}:", site)
        self._line(f"    raise Retrace({self.guards})", site)

    def _loop(self, loop: Loop) -> None:
        """Write a loop over blocks."""
        # Values from outside the loop are read in each iteration, so their names stay in use until its end.
        self._flush()
        kept = [*arguments_of(loop), loop.start, loop.part]
        self.uses.keep(kept)
        start, part = self.names.assign_name(loop.start), self.names.assign_name(loop.part)
        self._errstate, self.comments.statement = {}, None
        self._line(f"for {start} in range(0, {loop.count:_}, {loop.step:_}):")
        self._indent += "    "
        self._line(f"{part} = slice({start}, {start} + {loop.step:_})")
        self._shorten(loop, start)
        for entry in loop.body:
            self._add(entry)
        self._flush()
        self._errstate, self.comments.statement = {}, None
        self._indent = self._indent[4:]
        self.uses.done(kept)

    def _shorten(self, loop: Loop, start: str) -> None:
        """Write that a shorter last block uses a part of the buffers."""
        rest = loop.count % loop.step
        if not rest or not loop.buffers:
            return
        self._line(f"if {start} == {loop.count - rest:_}:")
        names = [(str(self.names.of(buffer)), axis) for buffer, axis in loop.buffers]
        parts = [f"{name}[{':, ' * axis}:{rest:_}]" for name, axis in names]
        self._indent += "    "
        self._line(f"{', '.join(name for name, _ in names)} = {', '.join(parts)}")
        self._indent = self._indent[4:]

    def _store(self, store: Store) -> None:
        """Write the line that stores the result of one iteration of a loop."""
        composed = self._composed(store)
        self._flush()
        self.uses.done(composed.reads)
        self._errstate = {}
        target, value = self._read(store.target).text, composed.expression.text
        text = f"{target}.append({value})"
        if store.index is not None:
            text = f"{target}[{self._write.index(store.index)}] = {value}"
        self._line(text, store.value.site, composed.inside)

    def _return(self) -> None:
        self._errstate = {}
        order = [k for k, _ in returned(self.program)]
        order += range(len(order), len(self.returned))
        text = ", ".join(self.returned[k] for k in order) or "()"
        if len(text) > WIDTH - len("    return "):
            text = f"({text})"  # `laid_out` breaks lines at brackets only
        if self.comments.statement is not None and len(self.body) > 3:
            self.body.append(Line(""))
        self._line(f"return {text}")

    @property
    def _margin(self) -> str:
        return self._indent + "    " * bool(self._errstate)

    def _line(self, text: str, site: Site | None = None, nodes: Sequence[Node] = ()) -> None:
        if self._bare:
            self.body.append(Line(self._margin + text, site, nodes))
        else:
            self.body += [Line(line, site, nodes) for line in laid_out(text, self._margin)]


def several_floats(entries: Iterable[Any]) -> set[Node]:
    """Return the float64 numbers that several calls take as Python floats."""
    # A number that one call takes is converted in that call: a line saved.
    once: set[Node] = set()
    several: set[Node] = set()
    for entry in entries:
        if isinstance(entry, Node) and takes_float(entry):
            x = entry.args[0]
            (several if x in once else once).add(x)
    return several


MAKERS = {"zeros": ("zeros",), "ones": ("ones",), "eye": ("eye", "identity")}
"""Names for constants, and the NumPy functions that create them."""


def plain_name(constant: Constant, text: str = "", written: Iterable[str] = ()) -> str:
    """Return a name for a constant without a user's name.

    - `text`: The literal of the constant.
    - `written`: The user's statements. A user's array is only called ``ones`` if they call np.ones: its numbers may be
      1 by chance.
    """
    if constant.kind.dtype == bool:
        return "mask"
    # "zeros" or "ones", also for np.broadcast_to(0.0, 3), which repeats one element in memory.
    word = text.partition("(")[0].removeprefix("np.")
    if word == "broadcast_to":
        word = {0: "zeros", 1: "ones"}.get(constant.value.flat[0], "")
    if word not in MAKERS:
        return "constant"
    calls = [f"{maker}{end}(" for maker in MAKERS[word] for end in ("", "_like")]
    by_chance = constant.from_user and not any(call in line for line in written for call in calls)
    return "constant" if by_chance else word


def shares_memory(x: Any) -> bool:
    """Return True if a result is, or may be a view of, an array of the program that the caller could write into."""
    root = base(x) if isinstance(x, Node) else None
    return isinstance(root, Constant) and not root.by_reference and root.kind.is_array
