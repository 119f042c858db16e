"""Rewriting: one walk through a program that applies rules to each call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from tapemagic.programs.passes.common_subexpressions import Table
from tapemagic.programs.passes.known_numbers import Uniform
from tapemagic.programs.passes.layout import Layouts
from tapemagic.programs.passes.numpy_values import NumpyValues
from tapemagic.programs.passes.purity import is_pure, raises
from tapemagic.programs.program import (
    NESTED,
    Back,
    Constant,
    Guard,
    Input,
    Node,
    Program,
    nodes_in,
    replaced,
)

Rule = Callable[[Node, "Rewriting"], "Node | None"]
Rules = Mapping[Any, Iterable[Rule]]
"""The rules for calls of each function. The key None has the rules for calls of any function."""

OF_NUMBERS: set[Rule] = set()
NUMBERS = frozenset({Constant, bool, int, float, complex})


def of_numbers(rule: Rule) -> Rule:
    """Mark a rule that only applies to calls with a constant or a Python number among their arguments."""
    OF_NUMBERS.add(rule)
    return rule


class RuleTable:
    """Rules for calls, ready to be looked up.

    Parameters
    ----------
    rules : mapping of functions to rules
    """

    def __init__(self, rules: Rules) -> None:
        general = tuple(rules.get(None, ()))
        self._general = _by_arguments(general)
        self._rules = {f: _by_arguments((*each, *general)) for f, each in rules.items()}

    def of(self, node: Node) -> tuple[Rule, ...]:
        """Return the rules for a call: the rules of its function, and the general rules."""
        without, all_rules = self._rules.get(node.function, self._general)
        for x in node.args:
            if x.__class__ in NUMBERS:
                return all_rules
        return without


def _by_arguments(rules: tuple[Rule, ...]) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """Return the rules for calls without numbers among their arguments, and for calls with numbers."""
    return tuple(rule for rule in rules if rule not in OF_NUMBERS), rules


class Rewriting:
    """A walk through a program, from the first line to the last.

    A rule receives a call whose arguments are already simplified. It returns a node with the same bits and memory
    layout, or None. It creates new calls by `call`, which simplifies them.

    - `merge`: Whether equal calls become one call.

    - `is_read`: Whether the program is for readers only. Then no array without a literal becomes a constant.
    - `is_shown`: Whether the current call is a result of a program for readers. It isn't folded, so readers see its
      operands.
    """

    def __init__(self, program: Program, rules: RuleTable, merge: bool) -> None:
        self.layouts = Layouts()
        self.uniform = Uniform()
        self.numpy_values = NumpyValues()
        self.is_read = bool(program.notes.get("read"))
        self.is_shown = False
        self._results = set(nodes_in(program.results)) if self.is_read else set()
        self._program = program
        self._rules = rules
        self._table = Table() if merge else None
        self._body: list[Any] = []
        self._instead: dict[Node, Node] = {}
        self._copies: dict[Node, Node] = {}
        self._places: dict[Node, int] = {}
        self._uses: Counter[Node] = Counter()
        uses = self._uses
        for entry in program.body:
            for x in entry.reads():
                uses[x] = uses.get(x, 0) + 1

    def call(
        self, function: Any, args: tuple[Any, ...], kind: Any, like: Node, **kwargs: Any
    ) -> Node:
        """Return a new call with the line of another call, or what it's simplified to."""
        new = Node(function, args, kwargs, kind, like.site, like.back, errstate=like.errstate)
        return self._finish(new)

    def same(self, x: Any, node: Node) -> Node | None:
        """Return `x` as the replacement of a node with the same elements, if both have the same layout."""
        if not isinstance(x, Node) or x.kind != node.kind:
            return None
        if self.layouts.has_same_layout(x, node):
            return x
        self._copies[node] = x  # rules whose result doesn't depend on the layout use the original
        return None

    @property
    def has_copies(self) -> bool:
        """Return True if any node is a copy that has another layout than its original."""
        return bool(self._copies)

    def original(self, x: Any) -> Any:
        """Return the array that an argument is a copy of, or the argument."""
        return self._copies.get(x, x) if isinstance(x, Node) else x

    @cached_property
    def is_pure(self) -> bool:
        """Return True if no call of the program has an effect besides its result."""
        return all(is_pure(x.function) for x in self._program.body if isinstance(x, Node))

    def uses(self, node: Node) -> int:
        """Return the number of calls that read a value, as counted so far."""
        return self._uses[node]

    def place(self, node: Node) -> int:
        """Return the position at which a value is computed, or -1 for inputs and constants."""
        return self._places.get(node, -1)

    def contains(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Return True if the program already has a call."""
        return self._table is not None and self._table.contains(function, args)

    def done(self) -> Program:
        """Return the rewritten program."""
        guards: set[tuple[Node, bool]] = set()
        for entry in self._program.body:
            if isinstance(entry, Guard):
                condition = self._new(entry.condition)
                is_checked = (condition, entry.expected) in guards
                if not is_checked and not _always_passes(condition, entry):
                    guards.add((condition, entry.expected))
                    self._body.append(Guard(condition, entry.expected, entry.site))
            else:
                self._instead[entry] = self._rewritten(entry)
        old = self._program
        results = [replaced(x, self._new) for x in old.results]
        assigned = [(variable, self._new(node)) for variable, node in old.assigned]
        return Program(old.inputs, self._body, results, assigned, old.name, old.notes)

    def _new(self, node: Node) -> Node:
        return self._instead.get(node, node)

    def _rewritten(self, entry: Node) -> Node:
        args, kwargs = self._changed(entry.args), entry.kwargs
        if kwargs:
            kwargs = {key: replaced(x, self._new) for key, x in kwargs.items()}
        back = entry.back
        if back is not None:
            new = self._instead.get
            of: Any = new(back.of, back.of)
            if of is not None and of.site is None:  # a constant does not come from a line
                of = back.of
            to: Any = new(back.to, back.to)
            if of is not back.of or to is not back.to:
                back = Back(of, back.order, to, back.sources, back.own)
        node = entry.with_arguments(args, kwargs)
        node.back = back
        self._uses[node] = 0
        self.is_shown = entry in self._results
        result = self._finish(node)
        self._uses[result] += self._uses[entry]
        if result is not node and not isinstance(result, Input | Constant):
            _inherit(result, node)
        return result

    def _changed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        changed: list[Any] = []
        for x in args:
            if type(x) is Node:
                changed.append(self._instead.get(x, x))
            else:
                changed.append(replaced(x, self._new) if isinstance(x, NESTED) else x)
        return tuple(changed)

    def _finish(self, node: Node) -> Node:
        """Apply the rules to a call whose arguments are simplified, and add it to the program if it stays."""
        # A call under np.errstate(...="raise") stays, because a simpler call may not raise.
        quiet = not node.errstate or not raises(node)
        if quiet and self.numpy_values.all_numpy(node):
            for rule in self._rules.of(node):
                replacement = rule(node, self)
                if replacement is not None:
                    return replacement
        if quiet and self._table is not None:
            earlier = self._table.find(node)
            if earlier is not None and earlier.errstate == node.errstate:
                return earlier
        self._places[node] = len(self._body)
        self._body.append(node)
        self.layouts.record(node)
        self.uniform.record(node)
        self.numpy_values.record(node)
        return node


def _always_passes(condition: Node, guard: Guard) -> bool:
    is_fixed = isinstance(condition, Constant) and not condition.by_reference
    return is_fixed and bool(condition.value) is guard.expected  # type: ignore[attr-defined]


def _inherit(node: Node, replaced_node: Node) -> None:
    """Give a node the name and the adjoint of the node that it replaces, unless it has its own."""
    node.name = node.name or replaced_node.name
    if node.back is not None and node.back.to is None and replaced_node.back is not None:
        node.back = node.back._replace(to=replaced_node.back.to)


def rewritten(program: Program, rules: Rules | RuleTable, merge: bool = False) -> Program:
    """Return a program after a walk with some rules.

    Parameters
    ----------
    program : Program
    rules : RuleTable, or mapping of functions to rules
    merge : bool, optional
        Whether equal calls become one call.
    """
    table = rules if isinstance(rules, RuleTable) else RuleTable(rules)
    return Rewriting(program, table, merge).done()
