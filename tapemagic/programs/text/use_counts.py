"""Counts of the readers of each node of a program."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from tapemagic.programs.program import Constant, Loop, Node, Program, arguments_of, nodes_in

MAX_SHORT_PROGRAM = 200
"""Maximum number of calls and loops of a program that counts as short."""


class Uses:
    """The readers of each node of a program.

    - `outputs`: The values that the program returns: its results, and the new values of Variables.
    - `parts`: For each call with several results that are only read one by one, its results by position.
    - `unpacked`: All results in `parts`.
    - `constants`: In the order in which they are read, constants with a name first.
    - `freed`: Nodes whose last reader is written, until their names are released.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._entries: list[Any] = []
        for entry in program.body:
            self._entries += entry.body if isinstance(entry, Loop) else (entry,)
        self._left: dict[Node, int] = {}
        self._readers: dict[Node, Any] = {}
        self.freed: list[Node] = []
        self.outputs = [*program.results, *(node for _, node in program.assigned)]
        self._count()
        self._differentiated = {
            x.back.to for x in self.entries() if isinstance(x, Node) and x.back is not None
        }
        self._differentiated.discard(None)
        self.parts = self._find_parts()
        self.unpacked = {part for parts in self.parts.values() for part in parts.values()}
        constants = dict.fromkeys(x for x in self._left if isinstance(x, Constant))
        self.constants = sorted(constants, key=lambda node: not node.name)

    def entries(self) -> list[Any]:
        """Return the nodes, guards and stores of the program, including those in loops."""
        return self._entries

    def names(self) -> set[str]:
        """Return the user's names for inputs, constants and computed values."""
        computed = [entry for entry in self._entries if isinstance(entry, Node)]
        return {node.name for node in (*self._program.inputs, *self._left, *computed) if node.name}

    @property
    def is_long(self) -> bool:
        """Return True if a program is too long to be read at a glance."""
        return len(self._program.body) > MAX_SHORT_PROGRAM

    def _count(self) -> None:
        left, readers = self._left, self._readers
        for entry in self.entries():
            for node in arguments_of(entry):
                left[node] = left.get(node, 0) + 1
                readers[node] = entry
        for node in nodes_in(self.outputs):
            self._left[node] = self._left.get(node, 0) + 1
            self._readers[node] = None

    def _find_parts(self) -> dict[Node, dict[int, Node]]:
        by_call: dict[Node, dict[int, Node]] = {}
        for entry in self.entries():
            if isinstance(entry, Node) and _is_part(entry):
                by_call.setdefault(entry.args[0], {})[entry.args[1]] = entry
        return {
            node: parts
            for node, parts in by_call.items()
            if self._left[node] == len(parts) and len(parts) > 1
        }

    def only_reader(self, node: Node) -> Any:
        """Return the only entry of the body that reads a node, if any. Outputs are read by the caller."""
        return self._readers.get(node) if self._left.get(node) == 1 else None

    def is_kept(self, node: Node | None) -> bool:
        """Return True if a later line reads a node, or if its name is part of the name of its derivative."""
        return node is not None and (
            self._left.get(node, 0) > 0 or (not node.name and node in self._differentiated)
        )

    def done(self, reads: Iterable[Node]) -> None:
        """Count one read of each node."""
        for node in reads:
            self._left[node] -= 1
            if not self._left[node]:
                self.freed.append(node)

    def keep(self, nodes: Iterable[Node]) -> None:
        """Expect one more read of each node."""
        for node in nodes:
            self._left[node] = self._left.get(node, 0) + 1


def _is_part(node: Node) -> bool:
    """Return True if a node is a single result of a call with several results."""
    if node.function is not operator.getitem or type(node.args[1]) is not int:
        return False
    return isinstance(node.args[0], Node) and type(node.args[0].kind) is tuple
