"""Rewriting: one walk through a program, in which each call is put as simply as the rules know."""

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
"""The rules for calls of each function; under None, those for calls of any."""

OF_NUMBERS: set[Rule] = set()
NUMBERS = frozenset({Constant, bool, int, float, complex})


def of_numbers(rule: Rule) -> Rule:
    """Mark a rule for calls with a constant or a number of Python's among their arguments: it is shown no others."""
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
        """The rules for a call: those of its function, and those for any."""
        without, all_rules = self._rules.get(node.function, self._general)
        for x in node.args:
            if x.__class__ in NUMBERS:
                return all_rules
        return without


def _by_arguments(rules: tuple[Rule, ...]) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules for calls without numbers among their arguments, and with some."""
    return tuple(rule for rule in rules if rule not in OF_NUMBERS), rules


class Rewriting:
    """A walk through a program, from the first line to the last.

    A rule is given a call whose arguments are as simple as they get. It returns a node that has the same value, to the
    bit, and the same memory layout; or None. It makes new calls by `call`, which are simplified in turn.

    Parameters
    ----------
    program : Program
    rules : RuleTable
    merge : bool
        Whether to make each call once only.

    Attributes
    ----------
    layouts : Layouts
    uniform : Uniform
    numpy_values : NumpyValues
    is_read : bool
        Whether the program is made to be read and copied: then no array becomes a constant that its text cannot hold.
    is_shown : bool
        Whether the call at which the walk is gives a result of a program that is made to be read: its numbers are no
        constants, so that one sees of what they are made.
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
        """A new call, which comes from the line that another one came from; or what it can be simplified to."""
        new = Node(function, args, kwargs, kind, like.site, like.back, errstate=like.errstate)
        return self._settled(new)

    def same(self, x: Any, node: Node) -> Node | None:
        """`x` in place of a new node with the same numbers, if they lie in memory alike; if not, it is remembered."""
        if not isinstance(x, Node) or x.kind != node.kind:
            return None
        if self.layouts.alike(x, node):
            return x
        self._copies[node] = x
        return None

    @property
    def has_copies(self) -> bool:
        """Whether any node is known to be a copy."""
        return bool(self._copies)

    def original(self, x: Any) -> Any:
        """The array of which an argument is a copy, in another layout perhaps; or the argument."""
        return self._copies.get(x, x) if isinstance(x, Node) else x

    @cached_property
    def is_pure(self) -> bool:
        """Whether all calls are of functions without an effect but their results."""
        return all(is_pure(x.function) for x in self._program.body if isinstance(x, Node))

    def uses(self, node: Node) -> int:
        """The number of calls that read a value, as far as it is known by now."""
        return self._uses[node]

    def place(self, node: Node) -> int:
        """A number that is the larger, the later a value is computed."""
        return self._places.get(node, -1)

    def known(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether a call has been made before."""
        return self._table is not None and self._table.holds(function, args)

    def done(self) -> Program:
        """The program that comes out."""
        guards: set[tuple[Node, bool]] = set()
        for entry in self._program.body:
            if isinstance(entry, Guard):
                condition = self._now(entry.condition)
                if (condition, entry.expected) not in guards and not _holds(condition, entry):
                    guards.add((condition, entry.expected))
                    self._body.append(Guard(condition, entry.expected, entry.site))
            else:
                self._instead[entry] = self._rewritten(entry)
        old = self._program
        results = [replaced(x, self._now) for x in old.results]
        assigned = [(variable, self._now(node)) for variable, node in old.assigned]
        return Program(old.inputs, self._body, results, assigned, old.name, old.notes)

    def _now(self, node: Node) -> Node:
        return self._instead.get(node, node)

    def _rewritten(self, entry: Node) -> Node:
        args, kwargs = self._changed(entry.args), entry.kwargs
        if kwargs:
            kwargs = {key: replaced(x, self._now) for key, x in kwargs.items()}
        back = entry.back
        if back is not None:
            now = self._instead.get
            of: Any = now(back.of, back.of)
            if of is not None and of.site is None:  # a constant does not come from a line
                of = back.of
            to: Any = now(back.to, back.to)
            if of is not back.of or to is not back.to:
                back = Back(of, back.order, to, back.sources, back.own)
        node = entry.with_arguments(args, kwargs)
        node.back = back
        self._uses[node] = 0
        self.is_shown = entry in self._results
        found = self._settled(node)
        self._uses[found] += self._uses[entry]
        if found is not node and not isinstance(found, Input | Constant):
            _inherit(found, node)
        return found

    def _changed(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        changed: list[Any] = []
        for x in args:
            if type(x) is Node:
                changed.append(self._instead.get(x, x))
            else:
                changed.append(replaced(x, self._now) if isinstance(x, NESTED) else x)
        return tuple(changed)

    def _settled(self, node: Node) -> Node:
        quiet = not node.errstate or not raises(node)
        if quiet and self.numpy_values.hold(node):
            for rule in self._rules.of(node):
                found = rule(node, self)
                if found is not None:
                    return found
        if quiet and self._table is not None:
            earlier = self._table.find(node)
            if earlier is not None and earlier.errstate == node.errstate:
                return earlier
        self._places[node] = len(self._body)
        self._body.append(node)
        self.layouts.note(node)
        self.uniform.note(node)
        self.numpy_values.note(node)
        return node


def _holds(condition: Node, guard: Guard) -> bool:
    known = isinstance(condition, Constant) and not condition.by_reference
    return known and bool(condition.value) is guard.expected  # type: ignore[attr-defined]


def _inherit(node: Node, other: Node) -> None:
    """Let a node that takes another's place have its name, and its part in a sweep, where it has none."""
    node.name = node.name or other.name
    if node.back is not None and node.back.to is None and other.back is not None:
        node.back = node.back._replace(to=other.back.to)


def rewritten(program: Program, rules: Rules | RuleTable, merge: bool = False) -> Program:
    """A program after a walk with some rules.

    Parameters
    ----------
    program : Program
    rules : RuleTable, or mapping of functions to rules
    merge : bool, optional
        Whether to make each call once only.
    """
    table = rules if isinstance(rules, RuleTable) else RuleTable(rules)
    return Rewriting(program, table, merge).done()
