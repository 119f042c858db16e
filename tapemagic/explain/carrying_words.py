"""Find the conversions whose plain values may be used in a target, by following its words back through programs.

From the target, the search goes to all that its words are bound to (see `word_bindings`), and so on. A conversion that
it never reaches did no harm.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tapemagic.explain.known_functions import (
    CONVERTING,
    FLAT,
    MATH,
    REFLECTION,
    SIZES,
    TEXTS,
)
from tapemagic.explain.word_bindings import (
    ATTRIBUTES,
    CALLED,
    EVERYTHING,
    PROGRAM,
    SHARED,
    SPECIAL,
    UNREAD,
    Arguments,
    Binding,
    Bindings,
    Item,
    Part,
    Value,
    Word,
    arguments_of,
    attribute_word,
    called_name,
    item_of,
    made_by,
)

OUTPUT = re.compile(r"_{1,3}|_\d+|Out")
"""Names with which IPython keeps the values of cells."""

OPERATIONS = (
    ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript | ast.JoinedStr | ast.AugAssign
)
"""Syntax that may convert a value."""


ASSIGNING = {"assign", "assign_add", "assign_sub"}
"""Methods that change a Variable."""


class Certainty(IntEnum):
    """The certainty that a plain value is used in another value."""

    NO = 0
    PERHAPS = 1
    LIKELY = 2
    YES = 3


class Exit(NamedTuple):
    """A conversion to a plain value: the program, the line and the name of the conversion."""

    tree: ast.Module
    line: int
    how: str


class Conversions:
    """The exits at each operation of a program.

    - `calls`: The calls with the name of a conversion.
    """

    def __init__(self, exits: Iterable[Exit]) -> None:
        self.at = defaultdict[ast.AST, set[Exit]](set)
        self.calls: set[ast.AST] = set()
        for exit_ in exits:
            nodes = _operations(exit_.tree).get(exit_.line, ())
            calls = [x for x in nodes if isinstance(x, ast.Call) and _converts(x, exit_.how)]
            self.calls.update(calls if exit_.how not in TEXTS else ())
            for node in nodes:
                # Without a call of that name, any operation may have converted the value. An array converts what it
                # stores, also on a line that calls float for something else.
                is_store = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
                if node in calls or is_store or (not calls and _may_convert(node, exit_.how)):
                    self.at[node].add(exit_)


class State(NamedTuple):
    """A value that the search has reached, and how.

    - `item`: The item of the value that the target may use, or None for any.
    - `call`: The call of the function that the value is inside of, or None for any call.
    - `only_stored`: Whether only the values that the object has stored count.
    """

    value: Value
    item: Item = None
    call: ast.Call | None = None
    only_stored: bool = False


class Search:
    """The exits that some values may have come from.

    - `is_narrow`: Whether to follow only what the programs show, and not what code may do that isn't read.
    - `steps`: Whether results that change in steps count.
    - `assignments`: Whether values assigned to Variables count.
    - `found`: The exits.
    - `words`: The words that the values may have come from.
    """

    def __init__(
        self,
        bindings: Bindings,
        conversions: Conversions,
        steps: bool,
        assignments: bool,
        *starts: Value,
        is_narrow: bool = False,
    ) -> None:
        self.bindings, self.conversions = bindings, conversions
        self.steps, self.assignments, self.is_narrow = steps, assignments, is_narrow
        self.found: set[Exit] = set()
        self.words: set[Word] = set()
        self._stack = [*map(State, starts)]
        # The states that convert, and from which states the search came to each.
        self._converting: set[State] = set()
        self._origins = defaultdict[State, list[State]](list)
        seen = set[State]()
        while self._stack:
            self._now = self._stack.pop()
            if self._now not in seen:
                seen.add(self._now)
                self._follow(self._now.value, self._now.item)

    def carrying(self) -> set[Value]:
        """Return the values that came from a conversion, among those in which the search began or which it reached."""
        carrying, stack = set(self._converting), [*self._converting]
        while stack:
            new = set(self._origins[stack.pop()]) - carrying
            carrying |= new
            stack += new
        return {state.value for state in carrying if state == State(state.value)}

    def names(self) -> set[str]:
        """Return the names of programs and attributes that the values may have come from."""
        names = {x.name for x in self.words if x.scope in {PROGRAM, ATTRIBUTES}}
        return names.difference(self.bindings.names)

    def _go(self, *values: Value | None, item: Item = None, **changes: Any) -> None:
        """Follow values later."""
        for value in values:
            if value is not None:
                now = self._now._replace(value=value, item=item, only_stored=False)
                then = now._replace(**changes) if changes else now
                self._stack.append(then)
                self._origins[then].append(self._now)

    def _convert(self, node: ast.AST) -> None:
        """Note the exits at an operation."""
        if exits := self.conversions.at.get(node):
            self.found |= exits
            self._converting.add(self._now)

    def _follow(self, value: Value, item: Item) -> None:  # noqa: PLR0912 (a case per expression)
        """Go on to all values that a value was computed from."""
        is_smooth = not self.steps
        match value:
            case Word():
                self._follow_word(value, item)
            case Part(node, own):
                self._go(node, item=own)
            case Arguments(call) if called_name(call) in ASSIGNING and not self.assignments:
                pass
            case Arguments(call):
                if call not in self.conversions.calls:
                    self._convert(call)
                self._go(*arguments_of(call))
            case ast.Tuple(items) if isinstance(item, int) and item < len(items):
                self._go(
                    *(items if any(isinstance(x, ast.Starred) for x in items) else [items[item]])
                )
            case ast.Dict(keys, items) if isinstance(item, str):
                values = {getattr(key, "value", key): x for key, x in zip(keys, items, strict=True)}
                is_known = item in values and all(isinstance(key, ast.Constant) for key in keys)
                self._go(*([values[item]] if is_known else items))
            case ast.Name(name):
                word = self.bindings.uses[value]
                is_output = OUTPUT.fullmatch(name) and word.plain not in self.bindings.of
                self._go(EVERYTHING if is_output else word, item=item)
            case ast.Attribute(inner, name):
                self._go(attribute_word(name), item=item)
                self._go(EVERYTHING if name in REFLECTION else None)
                # Other attributes of an object that was computed from a number may be anything.
                is_known = self.steps or hasattr(np.ndarray, name)
                if name not in SIZES and (is_known or not self.is_narrow):
                    self._go(inner, SPECIAL)
            case ast.Subscript(owner, index):
                self._convert(value)
                self._go(SPECIAL, index if self.steps else None)
                self._go(owner, item=item_of(index))
            case ast.Call():
                self._follow_call(value, item)
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BinOp(_, ast.FloorDiv()) if is_smooth:
                pass
            case ast.IfExp(_, body, other) if is_smooth:
                self._go(body, other, item=item)
            case ast.NamedExpr(_, inner) | ast.Await(inner):
                self._go(inner, item=item)
            case ast.Lambda():
                self._go(made_by(value))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._go(*(x for x in ast.iter_child_nodes(value) if isinstance(x, ast.expr)))
            case _:
                self._convert(value)
                self._go(SPECIAL if isinstance(value, OPERATIONS) else None)
                self._go(*ast.iter_child_nodes(value))

    def _follow_word(self, word: Word, item: Item) -> None:
        """Go on to all that is bound to a word, and to all that its object has stored."""
        if word == EVERYTHING and not self.is_narrow:
            self._go(*self.bindings.of)
        self.words.add(word.plain)
        call = self._now.call if word.scope not in {PROGRAM, ATTRIBUTES, SHARED} else None
        bindings = self._select(self.bindings.of, word, item)
        # If the word is a parameter of the function that was called, only the arguments of this call count.
        is_own = any(b.call is call for b in bindings) if call is not None else False
        for b in bindings:
            is_other = is_own and (b.call not in {call, None} or b.value == UNREAD)
            if not is_other and (b.is_stored or not self._now.only_stored):
                inner = call if b.call is None else None
                self._go(b.value, item=None if b.is_stored else item, call=inner)
        for b in self._select(self.bindings.sharing, word, item):
            self._go(b.value, call=b.call, only_stored=True)

    def _select(self, bindings: dict[Word, list[Binding]], word: Word, item: Item) -> list[Binding]:
        """Select the bindings that count for a version of a word, and for an item."""
        return [
            b
            for b in bindings.get(word.plain, ())
            if not (self.is_narrow and b.is_guess)
            if None in (b.version, word.version) or b.version == word.version
            if b.item is None or b.item == item or not isinstance(item, str)
        ]

    def _follow_call(self, node: ast.Call, item: Item) -> None:
        """Go on to all that the result of a call may be computed from."""
        name, words = called_name(node), {word.arg for word in node.keywords}
        results = self.bindings.results(node.func)
        self._go(*results, item=item, call=node)
        is_other = not (results or self.steps or node in self.conversions.calls)
        # np.bincount(weights=) and type(name, bases, members) compute with their arguments.
        is_flat = name in FLAT and "weights" not in words and (name != "type" or len(node.args) < 2)
        if self.bindings.is_plain(node.func) or (is_other and is_flat):
            return
        if name == "dict" and item in words and not node.args:
            self._go(*(word.value for word in node.keywords if word.arg == item))
            return
        self._convert(node)
        self._go(EVERYTHING if name in REFLECTION else None)
        # A method computes with its object.
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        self._go(node.func, owner, SPECIAL, None if results else CALLED)
        # The condition of np.where only chooses.
        self._go(*arguments_of(node)[name == "where" and not self.steps :])


@lru_cache(64)
def _operations(tree: ast.Module) -> dict[int, list[ast.AST]]:
    """Return the operations of a program by their lines."""
    by_line: dict[int, list[ast.AST]] = {}
    for node in (x for x in ast.walk(tree) if isinstance(x, OPERATIONS)):
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            by_line.setdefault(line, []).append(node)
    return by_line


def _may_convert(node: ast.AST, how: str) -> bool:
    """Return False for a call with ``key=``, such as sorted(), which only compares, and for one without arguments."""
    if not isinstance(node, ast.Call):
        is_text = isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "op", None), ast.Mod)
        return is_text or how not in TEXTS
    words = {word.arg for word in node.keywords}
    return "key" not in words and bool(node.args or words)


def _converts(call: ast.Call, how: str) -> bool:
    """Return True if the name of a call fits a conversion."""
    *owners, name = ast.unparse(call.func).split(".")
    named = CONVERTING.get(how, {how.removesuffix("()").split(".")[-1]})
    return name in named or (how in CONVERTING and not MATH.isdisjoint(owners))
