"""The words of programs, and what is bound to each: names, attributes, and results of functions.

A `Binding` says that a word may get its value from an expression, or that its object may store one. Two assumptions
stand for all that isn't read: code that can't be read may keep, return and pass on everything it gets, and an object
that stores a value has it under all of its words.
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

from tapemagic.explain.known_functions import FRESH, REFLECTION, VIEWS
from tapemagic.explain.program_text import (
    COMPREHENSIONS,
    RETURNED,
    SCOPES,
    Function,
    around,
    captured,
    local_names,
    names_bound,
    parameters,
    within,
    written_by,
)

CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}
"""Methods that the call of a class runs."""

NEW = ast.BinOp | ast.Compare | ast.JoinedStr | ast.Lambda
"""Expressions for new objects that contain none of their operands."""

PROGRAM, ATTRIBUTES, SHARED = 0, 1, 2
"""The scopes of words that belong to no function. Attributes of all objects share a scope."""


class Word(NamedTuple):
    """A scope and a name in it.

    - `version`: How often statements that surely ran had bound the name before, or None for any number of times.
    """

    scope: int
    name: str
    version: int | None = None

    @property
    def plain(self) -> Word:
        """The word without its version."""
        return Word(self.scope, self.name)


ANYTHING = Word(SHARED, "*")
"""The word that every target reads: values bound to names that aren't known."""

EVERYTHING = Word(SHARED, "everything")
"""The word that reads all others."""

UNREAD = Word(SHARED, "unread")
"""The word of all arguments of calls that can't be read, which may pass them to functions they know."""

SPECIAL = Word(SHARED, "special")
"""The word of the results and the objects of special methods, which operators and statements call."""

CALLED = Word(SHARED, "called")
"""The word of the results of objects that can be called."""

PASSED = Word(SHARED, "passed")
"""The word of values that are raised, matched or returned by generators, and bound by other statements."""

Item = int | str | None
"""The constant index of an item, or None for any of them."""


class Part(NamedTuple):
    """An item of an expression's value, or with None any part of it."""

    node: ast.AST
    item: Item = None


class Arguments(NamedTuple):
    """The arguments of a call, and what it converts without a conversion's name."""

    call: ast.Call


Value = ast.AST | Word | Part | Arguments


class Binding(NamedTuple):
    """A value that a word may have, or with `is_stored` that its object may have stored.

    - `version`: The version of the word, or None for all.
    - `item`: The item of the object that is stored, or of which an alias stores, or None if it isn't known.
    - `call`: The call that binds a parameter, or None for a binding that belongs to no call.
    - `is_guess`: Whether only an assumption about code that isn't read says so.
    """

    value: Value
    version: int | None = None
    is_stored: bool = False
    item: Item = None
    call: ast.Call | None = None
    is_guess: bool = False


class Asked(NamedTuple):
    """The target: its expression, the program that asks, and the line, or 0 for its end."""

    value: ast.expr
    tree: ast.Module
    line: int


def on(node: Any, line: int) -> bool:
    """Return True if an expression or statement covers a line."""
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))


class Bindings:
    """The bindings of the words of programs.

    - `of`: The bindings of each word.
    - `sharing`: For each word, the words that may name its object or a part of it, and may store in it.
    - `uses`: The word of each name, and for ``super()`` that of the object.
    - `kinds`: The kind of the function of each call: see `known_functions.kind_of`.
    """

    def __init__(
        self, programs: Sequence[ast.Module], source: str, names: Mapping[str, str], asked: Asked
    ) -> None:
        self.source, self.names, self.asked = source, names, asked
        self.of = defaultdict[Word, list[Binding]](list)
        self.sharing = defaultdict[Word, list[Binding]](list)
        self.uses: dict[ast.AST, Word] = {}
        self.kinds: dict[ast.AST, str] = {}
        self.functions: dict[int, Any] = {}
        self._imported: set[Word] = set()
        self._unused: set[ast.AST] = set()
        self._later: list[Callable[[], None]] = []
        self._versions: dict[Word, int] = {}
        self._asked_versions: dict[Word, int] = {}
        functions = [s for s in around(asked.tree, asked.line) if isinstance(s, Function)]
        scope: ast.AST = functions[-1] if functions else asked.tree
        loops = (x for x in ast.walk(scope) if isinstance(x, ast.For | ast.While))
        ends = [loop.end_lineno or 0 for loop in loops if on(loop, asked.line)]
        # Statements after the line and the loops around it can't have run before the question.
        self._last = max([asked.line, *ends]) or inf
        self._scopes: list[Any] = [*functions]
        self._source_word = self._word(source).plain
        for program in programs:
            self._scopes, self._versions = [], {}
            self._tree = program
            self._read(program.body)
        self._scopes, self._versions = functions, self._asked_versions
        self._read_expression(asked.value)
        self._hand_over(programs)
        # The functions that a call may mean are known only after all programs are read.
        for action in self._later:
            action()

    def binds(self, value: ast.AST) -> bool:
        """Return True if the programs bind all names of an expression, or its attribute."""
        if isinstance(value, ast.Attribute) and attribute_word(value.attr) in self.of:
            return True
        words = [self.uses[x] for x in ast.walk(value) if isinstance(x, ast.Name)]
        return all(x.plain in self.of or x.name == self.source for x in words)

    def stored_values(self) -> list[Value]:
        """Return the values that objects store."""
        return [b.value for bound in self.of.values() for b in bound if b.is_stored]

    def storing_names(self, values: Collection[Value]) -> set[str]:
        """Return the names of programs and attributes whose object stores one of some values."""
        stores = [(x, b.value) for x, bound in self.of.items() for b in bound if b.is_stored]
        storing, size = {word for word, value in stores if value in values}, -1
        while len(storing) > size:
            size = len(storing)
            storing |= {x for x, y in self.sharing.items() if any(b.value in storing for b in y)}
        return {word.name for word in storing if word.scope in {PROGRAM, ATTRIBUTES}}

    def _hand_over(self, programs: Sequence[ast.Module]) -> None:
        """Let code that can't be read call the functions that programs use as values."""
        nodes = [node for program in programs for node in ast.walk(program)]
        called = {getattr(x, "func", None) for x in nodes}
        used = {getattr(x, "id", getattr(x, "attr", "")) for x in nodes if x not in called}
        for node in nodes:
            if isinstance(node, ast.Lambda) or (isinstance(node, Function) and node.name in used):
                for name in parameters(node):
                    self._alias(Word(id(node), name), UNREAD)

    # -- statements ----------------------------------------------------------------------------------

    def _read(self, body: Iterable[ast.stmt], is_certain: bool = True) -> None:
        """Read statements, which surely run if the first statement of their scope runs, or may not run."""
        for statement in body:
            if isinstance(statement, SCOPES):
                self._define(statement)
                continue
            self._read_expression(statement)
            self._bind_targets(statement, is_certain)
            # A context manager may suppress an error, and with it the rest of the block.
            names = {called_name(x.context_expr) for x in getattr(statement, "items", ())}
            is_block = isinstance(statement, ast.With | ast.AsyncWith)
            is_whole = is_block and names.isdisjoint({"suppress", "raises"})
            self._read(within(statement), is_certain and is_whole)

    def _bind_targets(self, statement: ast.stmt, is_certain: bool) -> None:
        """Read what a statement binds."""
        match statement:
            case ast.Assign(targets, value):
                for target in targets:
                    self._assign(target, value, is_certain)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self._assign(target, value, is_certain)
            case ast.AugAssign(target):
                self._assign(target, Part(statement))
                # An array is changed in place.
                self._later.append(partial(self._store, target, Part(statement), is_guess=True))
            case ast.For(target, reach) | ast.AsyncFor(target, reach):
                self._assign(target, Part(reach))
            case ast.Return(ast.expr() as value):
                self._return(value)
            case ast.Raise(ast.expr() as value) | ast.Assert(_, ast.expr() as value):
                self._add(PASSED, Binding(Part(value)))
            case ast.Match(subject):
                self._add(PASSED, Binding(Part(subject)))
            case ast.Expr(value):
                self._unused.add(value)
            case ast.Import(names) | ast.ImportFrom(_, names):
                words = (self._word(x.asname or x.name.split(".")[0]).plain for x in names)
                self._imported.update(words)

    def _define(self, scope: Any) -> None:
        """Read a function or a class: what calls of it return, and its decorators, defaults and body."""
        name = ast.copy_location(ast.Name(scope.name, ast.Load()), scope)
        result = Word(id(scope), RETURNED)
        self.functions[id(scope)] = scope
        self._bind(name, result)
        # A decorator returns another function, and may store this one.
        made = [ast.Call(x, [name], []) for x in scope.decorator_list]
        words = getattr(scope, "keywords", ())
        for part in (*made, *getattr(scope, "bases", ()), *(x.value for x in words)):
            self._read_expression(part)
            self._bind(name, Part(part))
        if isinstance(scope, Function):
            self._read_defaults(scope)
            owner = self._scopes[-1] if self._scopes else None
            if isinstance(owner, ast.ClassDef) and scope.name.startswith("__"):
                is_constructor = scope.name in CONSTRUCTORS
                # What special methods store in the object.
                for word in (Word(id(scope), x) for x in parameters(scope)[:1]):
                    self._alias(Word(id(owner), RETURNED) if is_constructor else SPECIAL, word)
        versions, self._versions = self._versions, dict(self._versions)
        self._scopes.append(scope)
        self._read(scope.body)
        self._scopes.pop()
        self._versions = versions

    def _read_defaults(self, function: Any) -> None:
        for default in ast.iter_child_nodes(function.args):
            if isinstance(default, ast.expr):
                self._read_expression(default)
                for name in parameters(function):
                    self._alias(Word(id(function), name), Part(default))

    def _return(self, value: ast.expr) -> None:
        """Read the result of the function around: its callers get it, or the operator that calls the function."""
        function = next((x for x in reversed(self._scopes) if isinstance(x, Function)), None)
        if function is not None:
            self._alias(Word(id(function), RETURNED), value)
            self._add(PASSED, Binding(Part(value)))
            if function.name.startswith("__"):
                self._add(CALLED if function.name == "__call__" else SPECIAL, Binding(Part(value)))

    # -- words ---------------------------------------------------------------------------------------

    def _word(self, name: str, is_read: bool = True) -> Word:
        """Return the word of a name in the scope that is read."""
        word, is_inner = Word(PROGRAM, name), True
        for scope in reversed(self._scopes):
            # Methods don't see the names of their class.
            is_hidden = isinstance(scope, ast.ClassDef) and scope is not self._scopes[-1]
            if not is_hidden and name in local_names(scope):
                word = Word(id(scope), name)
                break
            is_inner &= isinstance(scope, COMPREHENSIONS)
        version = self._versions.get(word, 0)
        # Functions inside may use a name at any time, and other cells bind it, so all its bindings are one.
        is_elsewhere = word.scope == PROGRAM and not version and is_read
        return word._replace(version=version) if is_inner and not is_elsewhere else word

    def _add(self, word: Word, binding: Binding) -> None:
        self.of[word.plain].append(binding._replace(version=word.version))

    def _alias(self, word: Word, value: Value, call: ast.Call | None = None) -> None:
        """Bind a word to a value. What one of them stores later, the other has."""
        self._add(word, Binding(value, call=call, is_guess=value is UNREAD))
        self._later.append(partial(self._share, word, value, call))

    def _share(self, word: Word, value: Value, call: ast.Call | None) -> None:
        for owner, item in self._places(value):
            binding = Binding(word, owner.version, item=item, call=call, is_guess=True)
            self.sharing[owner.plain].append(binding)

    def _assign(self, target: ast.expr, value: Value, is_certain: bool = False) -> None:
        for name in names_bound([target]) if is_certain else ():
            word = self._word(name).plain
            self._versions[word] = self._versions.get(word, 0) + 1
            if self._tree is self.asked.tree and target.lineno <= self._last:
                self._asked_versions[word] = self._versions[word]
        self._bind(target, value)

    def _bind(self, target: ast.expr, value: Value) -> None:
        """Let the words of a target have a value."""
        match target:
            case ast.Tuple(elements) | ast.List(elements):
                values = [*getattr(value, "elts", ())]
                is_starred = any(isinstance(x, ast.Starred) for x in (*elements, *values))
                parts: list[Any] = [value for _ in elements]
                if len(values) == len(elements) and not is_starred:
                    parts = values
                elif isinstance(value, ast.AST):
                    parts = [Part(value, None if is_starred else k) for k in range(len(elements))]
                for element, part in zip(elements, parts, strict=True):
                    self._bind(element, part)
            case ast.Starred(inner):
                self._bind(inner, value)
            case ast.Name(name) if not self._is_source(self._word(name)):
                self._alias(self._word(name, is_read=False), value)
                if self._scopes and isinstance(self._scopes[-1], ast.ClassDef):
                    self._alias(attribute_word(name), value)
            case ast.Attribute(_, name):
                self._alias(attribute_word(name), value)
            case ast.Subscript(owner):
                if uses_names(owner, REFLECTION):
                    self._add(ANYTHING, Binding(value))
                # NumPy converts the elements that it stores.
                for stored in (value, Part(target)):
                    self._later.append(partial(self._store, target, stored))

    def _is_source(self, word: Word) -> bool:
        """Return True if a word is that of the source, whose new values are no loss."""
        return word.plain == self._source_word

    def _store(self, owner: ast.AST, value: Value, is_guess: bool = False) -> None:
        """Let the object of an expression store a value."""
        for word, item in self._places(owner):
            self._add(word, Binding(value, is_stored=True, item=item, is_guess=is_guess))

    def _places(self, owner: Value) -> Iterator[tuple[Word, Item]]:
        """Yield the words, and items of them, for the object that an expression gives, or objects that contain it."""
        inside: Iterable[ast.AST] = ()
        match owner:
            case Word(_, name) if name != RETURNED:  # a function is another object than its result
                yield owner, None
            case Part(node):
                inside = [node]
            case ast.Name():
                if not (self._is_source(self.uses[owner]) or self._kind(owner)):
                    yield self.uses[owner], None
            case ast.Subscript(inner, index):
                key = item_of(index)
                for word, item in self._places(inner):
                    yield word, key if item is None and isinstance(key, str) else item
            case ast.Attribute(inner, name):
                yield attribute_word(name), None
                if name in VIEWS or any(hasattr(x, name) for x in (list, dict, set, deque)):
                    inside = [inner]  # a method such as h.append, or a view such as h.T
            case ast.Call(function, arguments):
                yield from ((word, None) for word in self.results(function))
                yield from ((word, None) for word in [self.uses.get(owner)] if word)
                # Numbers and texts store nothing.
                inside = [] if called_name(owner) in FRESH else [*arguments, function]
            case ast.expr() if not isinstance(owner, NEW):
                inside = ast.iter_child_nodes(owner)
        for part in inside:
            yield from self._places(part)

    # -- expressions ---------------------------------------------------------------------------------

    def _read_expression(self, node: ast.AST) -> None:
        """Read the names, the calls and the bindings in an expression, or in the head of a statement."""
        has_names = isinstance(node, (ast.Lambda, *COMPREHENSIONS))
        if isinstance(node, ast.Lambda):
            self._read_defaults(node)
        self._scopes += [node] if has_names else []
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt | ast.arguments):
                self._read_expression(child)
        self._scopes = self._scopes[: len(self._scopes) - has_names]
        match node:
            case ast.Name(name):
                self.uses[node] = self._word(name)
            case ast.Lambda(_, body):
                self.functions[id(node)] = node
                self._alias(made_by(node), body)
            case ast.comprehension(target, value) | ast.withitem(value, ast.expr() as target):
                self._assign(target, Part(value))
                self._assign(target, SPECIAL)
            case ast.NamedExpr(target, value):
                self._assign(target, value)
            case ast.Yield(ast.expr() as value) | ast.YieldFrom(value):
                self._return(value)
            case ast.MatchClass():
                self._add(PASSED, Binding(EVERYTHING))
            case ast.Call():
                self.kinds[node] = self._kind(node.func)
                self._later.append(partial(self._read_effects, node))
                method = next((x for x in reversed(self._scopes) if isinstance(x, Function)), None)
                if called_name(node) == "super" and method is not None and parameters(method):
                    self.uses[node] = Word(id(method), parameters(method)[0])
        if (name := captured(node)) and not isinstance(node, SCOPES):
            self._assign(ast.Name(name, ast.Store()), PASSED)

    def results(self, function: ast.AST) -> list[Word]:
        """Return the words of the results of the functions and classes that an expression may mean."""
        words = [self.uses[function]] if function in self.uses else []
        if isinstance(function, ast.Attribute) and not self._kind(function):
            words = [attribute_word(function.attr), Word(PROGRAM, function.attr)]
        bound = (made_by(b.value) for word in words for b in self.of.get(word.plain, ()))
        return [x for x in dict.fromkeys(bound) if isinstance(x, Word) and x.name == RETURNED]

    def is_plain(self, function: ast.AST) -> bool:
        """Return True if the call of an expression surely runs functions of the programs, and nothing else."""
        word = self.uses.get(function)
        bound = [made_by(b.value) for b in self.of.get(word.plain, ())] if word else []
        functions = (self.functions.get(x.scope) if isinstance(x, Word) else None for x in bound)
        return bool(bound) and all(isinstance(f, Function | ast.Lambda) for f in functions)

    def _kind(self, node: ast.AST) -> str:
        """Return the kind of the library at the root of an expression."""
        root, is_result = node, False
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            is_result |= isinstance(root, ast.Call)
            root = root.func if isinstance(root, ast.Call) else root.value
        word = self.uses.get(root)
        is_known = word is not None and (word.scope == PROGRAM or word.plain in self._imported)
        kind = self.names.get(word.name, "") if word is not None and is_known else ""
        # The result of a function such as np.zeros is any object.
        return kind if kind == "shows" or not is_result else ""

    def _read_effects(self, node: ast.Call) -> None:
        """Read where a call stores values, and which parameters it binds."""
        for result in self.results(node.func):
            self._pass_arguments(node, self.functions[result.scope])
        kind, arguments = self.kinds[node], arguments_of(node)
        if self.is_plain(node.func):
            return
        into = written_by(node)[0]
        if uses_names(into or node.func, REFLECTION):
            self._add(ANYTHING, Binding(Arguments(node)))
        elif into is not None and not self._kind(into):
            self._store(into, Arguments(node))
        else:
            # Code that can't be read may store its arguments in each other, and call functions with them.
            stored = [word.value for word in node.keywords if word.arg in {"out", "dst", "file"}]
            # A function such as np.add writes into its third argument.
            stored += node.args[2:] if kind == "pure" else []
            # Of json.dump(x, file) or list.append(h, x), nobody uses the result.
            is_storing = not kind or (kind == "pure" and node in self._unused)
            if arguments and (is_storing or into is not None):
                stored = [*arguments, node.func, getattr(node.func, "value", node.func)]
            for argument in stored:
                self._store(argument, Arguments(node), is_guess=True)
            is_calling = not kind or any(
                isinstance(x, ast.Lambda) or self.results(x) for x in arguments
            )
            for argument in arguments:
                if isinstance(argument, ast.Attribute):  # such as h.append
                    self._store(argument, Arguments(node), is_guess=True)
                    self._store(argument, Part(node.func), is_guess=True)
                if is_calling:
                    self._alias(UNREAD, Part(argument))

    def _pass_arguments(self, node: ast.Call, function: Any) -> None:
        """Bind the parameters of a function, or of a class's constructors, to the arguments of a call."""
        if isinstance(function, ast.ClassDef):
            for method in function.body:
                if isinstance(method, Function) and method.name in CONSTRUCTORS:
                    self._pass_to(method, parameters(method)[1:], node)
        else:
            names = parameters(function)
            self._pass_to(function, names, node)
            # m.f(v) and super().f(v) pass the object as well, unlike Class.f(m, v) and lib.f(v).
            if isinstance(node.func, ast.Attribute) and names:
                self._alias(Word(id(function), names[0]), node.func.value, node)
                self._pass_to(function, names[1:], node)

    def _pass_to(self, function: Any, names: Sequence[str], node: ast.Call) -> None:
        """Bind parameters, by position and by name, to the arguments of a call."""
        every, rest = parameters(function), function.args
        count = len(names) - len(rest.kwonlyargs) - bool(rest.vararg) - bool(rest.kwarg)
        pairs = [(names[k] if k < count else "", x) for k, x in enumerate(node.args)]
        for name, argument in pairs + [(x.arg or "", x.value) for x in node.keywords]:
            is_single = name in every and not isinstance(argument, ast.Starred)
            for parameter in [name] if is_single else every:
                value = argument if is_single else Part(argument)
                self._alias(Word(id(function), parameter), value, node)


def made_by(value: Any) -> Any:
    """Return the word of the result of a lambda, or another value unchanged."""
    return Word(id(value), RETURNED) if isinstance(value, ast.Lambda) else value


def attribute_word(name: str) -> Word:
    """Return the word of an attribute."""
    # From outside of its class, __a is _Class__a.
    return Word(ATTRIBUTES, name.rpartition("__")[2] or name)


def item_of(index: ast.expr) -> Item:
    """Return the constant index of an item, or None for any other index."""
    value = index.value if isinstance(index, ast.Constant) else None
    is_known = isinstance(value, str) or (type(value) is int and value >= 0)
    return value if is_known else None  # type: ignore[return-value]


def arguments_of(node: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call, by position and by name."""
    return [*node.args, *(word.value for word in node.keywords)]


def called_name(node: ast.AST) -> str:
    """Return the name of the function or method that a call calls, or ''."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def uses_names(node: ast.AST, names: Collection[str]) -> bool:
    """Return True if an expression uses one of some names or attributes."""
    return any(getattr(x, "attr", getattr(x, "id", "")) in names for x in ast.walk(node))
