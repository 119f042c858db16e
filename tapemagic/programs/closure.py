"""Everything that a function reads beside its arguments: global names, variables around it, attributes in reach."""

from __future__ import annotations

import builtins
import inspect
import io
import sys
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from itertools import chain
from operator import attrgetter, methodcaller
from types import (
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from tapemagic.engine.laziness import LAZY, is_lazy
from tapemagic.engine.program_state import registered
from tapemagic.engine.tensor.coercion import NUMBERS
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.effects import may_do_more
from tapemagic.programs.hidden import (
    ANY,
    BY_TEXT,
    CATCHES,
    HIDING,
    MAKES,
    NOT_SEEN,
    READERS,
    READING,
    TEXT,
    names_by_text,
    names_in_caller,
    names_in_text,
    shows,
    ways_of,
)
from tapemagic.programs.in_reach import (
    ABSENT,
    BOUND,
    CALLED,
    DATA,
    DEFAULT,
    DESCRIPTORS,
    INSIDE,
    KEPT,
    MAKING,
    PLAIN,
    SHOWN,
    Entry,
    Place,
    contents,
    data_kind,
    defaults_of,
    has_data,
    holds_objects,
    is_put_there,
    is_special,
    library_names,
    odd_array,
    plain_class,
    reference,
    slots_of,
)
from tapemagic.programs.object_kinds import (
    SHOWN_BY_TYPE,
    WRAPPERS,
    is_container,
    is_instance,
    is_leaf,
    is_user_class,
    is_user_code,
    is_user_module,
    keys_of,
    other_keys,
    other_parts,
    same_leaf,
    unwatchable,
    unwatched,
)
from tapemagic.programs.program import Site
from tapemagic.programs.randomness import GENERATORS
from tapemagic.programs.reading import ANYTHING, UNSEEN, Names, asks_for_types, names_in
from tapemagic.programs.reasons import line_of, with_place
from tapemagic.programs.text.local_names import PRIVATE

MOST = 20_000
"""The number of objects in reach above which a function stays eager."""

LARGE = 1 << 20
"""The bytes of an array above which its numbers are not compared at each call for a method of it that is in reach."""

FEW = 3
"""The number of inherited names up to which each of them is looked up in a class at each call."""


class Closure:
    """All objects that a function can reach beside its arguments, as they are now.

    Parameters
    ----------
    function : callable
    arguments : iterable of object
        Arguments that a program takes for granted by identity, such as a model.
    fixed : bool, optional
        Whether arrays in reach are constants of a program, of which the numbers are compared at each call.

    Attributes
    ----------
    entries : list of Entry
    lines : list of str
        Python code that breaks a loop if anything is another one now.
    namespace : dict of str to object
        What the names in these lines stand for.
    data : dict of int to (str, str)
        The local variable in these lines, and the path, of every array, tensor and variable, by its identity.
    places : list of Place
        Where arrays and tensors are.
    scopes : dict of int to dict
        The global names of code that asks for the types of values, by their identity.
    does_more : bool
        Whether something of a library is in reach that may do more than compute.
    unseen : str
        Why changes of something in reach could not be seen; empty if all can be.
    """

    def __init__(self, function: Any, arguments: Iterable[Any] = (), fixed: bool = False) -> None:
        self.function = function
        self.fixed = fixed
        self.arguments = [(reference(x), type(x).__name__) for x in arguments]
        self.names: set[str] = set()
        self.ways: set[str] = set()
        self.codes: dict[Any, Names] = {}
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType) and is_user_code(code):
            self.names |= names_in(code).attributes
        known = -1
        while len(self.names) + len(self.ways) > known:
            known = len(self.names) + len(self.ways)
            self._walk()

    @property
    def dynamic(self) -> bool:
        """Whether some code may read any attribute."""
        return ANY in self.ways

    def _walk(self) -> None:
        """Visit everything that is in reach by the names that are known so far."""
        self.entries: list[Entry] = []
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {}
        self.data: dict[int, tuple[str, str]] = {}
        self.objects: dict[int, Any] = {}
        self.places: list[Place] = []
        self.generators: list[Any] = []
        self.scopes: dict[int, dict[str, Any]] = {}
        self.unseen = ""
        self.does_more = False
        self._reads: list[tuple[Callable[[], Any], Any]] = []
        self._lengths: list[tuple[Any, int]] = []
        self._is_simple = True
        self._met: dict[int, tuple[str, Any]] = {}
        self._inside: set[int] = set()
        self._called: set[type] = set()
        self._classes: dict[type, tuple[str, set[str]]] = {}
        self._texts: dict[CodeType, str] = {}
        self._queue: deque[tuple[Callable[[str, Any, str], None], str, Any, str]] = deque()
        self._count = 0
        if isinstance(self.function, MethodType):
            self._argument(reference(self.function.__self__), "self")
        root = getattr(self.function, "__func__", self.function)
        self._queue.append((self._expand, self._constant("f", root), root, ""))
        for found, path in self.arguments:
            self._argument(found, path)
        self._look_at_program_state()
        while self._queue and not self.unseen:
            expand, local, x, path = self._queue.popleft()
            expand(local, x, path)
            if len(self.entries) > MOST:
                self.unseen = (
                    f"it can reach more than {MOST:,} objects: hold numbers in arrays, not in lists"
                )

    def path(self, x: Any) -> str:
        """The name of an object in reach, as the program would write it; empty if it has none."""
        found = (e.path for e in self.entries if e.role == "object" and e.what() is x)
        return next(found, "")

    def site_of(self, path: str) -> Site | None:
        """The line on which an object of a path is changed, or first read, as far as that can be told."""
        name = path.removeprefix(DEFAULT).rpartition(".")[2].partition("[")[0]
        for how in ("local",) if path.startswith(DEFAULT) else ("assigned", "read"):
            for code, names in self.codes.items():
                line = getattr(names, how).get(name)
                if line is not None:
                    return Site(code.co_filename, line)
        return None

    def _cannot_watch(self, path: str, reason: str) -> None:
        """Note that changes of an object could not be seen."""
        if not self.unseen:
            place = line_of(self.site_of(path))
            self.unseen = with_place(f"it reads {path or 'an argument'}, {reason}", place)

    def holds(self) -> bool:
        """Whether all is known to be as it was found, without another walk: that is so for names, cells and lists."""
        return (
            self._is_simple
            and all(read() is x for read, x in self._reads)
            and all(len(x) == length for x, length in self._lengths)
        )

    def texts(self) -> dict[CodeType, str]:
        """The code of methods that make text of an object and are not watched, if any may be called, with its class."""
        return self._texts if self._texts and any(map(shows, self.codes)) else {}

    def has(self, x: Any) -> bool:
        """Whether an object is in reach."""
        known = self._met.get(id(x))
        return known is not None and known[1] is x

    def local(self, x: Any) -> str:
        """The local variable in the lines for an object in reach."""
        return self._met[id(x)][0]

    def forget(self) -> None:
        """Let go of the objects that were found; weak references to them stay."""
        self.function = None
        self._is_simple = False
        self._reads.clear()
        self._lengths.clear()
        self.objects.clear()
        self._met.clear()
        self.places.clear()
        self.generators.clear()
        self.scopes.clear()
        self.codes.clear()
        self._texts.clear()

    def is_dead(self) -> bool:
        """Whether an object in reach does not exist any more, or the code of a function."""
        return any(
            entry.what() is None
            if entry.role in {"object", "variable"}
            else entry.role == "code"
            and getattr(entry.what[0](), "__code__", None) is not entry.what[1]
            for entry in self.entries
        )

    def _look_at_program_state(self) -> None:
        """Note the settings of this package, such as the dtype of layers."""
        for state in registered():
            if isinstance(state, list):
                for k, x in enumerate(state):
                    if is_leaf(x):
                        expression = f"{self._constant('s', state)}[{k}]"
                        self._look(expression, x, "a setting", Place(state, k))

    def _argument(self, found: Any, path: str) -> None:
        name = self._constant("r", found)
        self._look(f"{name}()", found(), path)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{PRIVATE}{letter}_{self._count}"

    def _constant(self, letter: str, value: Any) -> str:
        name = self._name(letter)
        self.namespace[name] = value
        return name

    def _require(self, condition: str) -> None:
        self.lines.append(f"if {condition}: break")

    def _look(self, expression: str, x: Any, path: str, place: Place | None = None) -> None:
        """Note one object, and what has to hold for it."""
        if place is None or x is None:
            self._is_simple = False
        else:
            self._reads.append((place.get, x))
        if not self.does_more and may_do_more(x):
            self.does_more = True
        met = self._met.get(id(x))
        if met is not None:
            self.entries.append(Entry(path, "again", met[0]))
            self._require(f"{expression} is not {met[0]}")
            if place is None and isinstance(x, KEPT):
                self._queue.append((self._keep, met[0], x, path))
            elif place is not None and place is not INSIDE and self._has_symbol(x):
                self.places.append(place)
        elif is_leaf(x):
            self._look_at_leaf(expression, x, path)
        else:
            self._look_at_object(expression, x, path, place)

    def _has_symbol(self, x: Any) -> bool:
        """Whether a trace puts something else into the places of an object that was met before."""
        return not isinstance(x, Variable) and (id(x) in self.data or id(x) in self._inside)

    def _look_at_object(self, expression: str, x: Any, path: str, place: Place | None) -> None:
        """Note an object that was not met before, and has contents or attributes."""
        local = self._name("v")
        if isinstance(x, DATA):
            self._look_at_data(local, expression, x, path, place)
        elif is_container(x):
            self.lines.append(f"{local} = {expression}")
            self.entries.append(Entry(path, "container", (type(x), len(x))))
            self._is_simple = self._is_simple and type(x) is list
            self._lengths.append((x, len(x)))
            kind = self._constant("k", type(x))
            self._require(f"{local}.__class__ is not {kind} or len({local}) != {len(x)}")
            self._queue.append((self._expand_container, local, x, path))
            if type(x) is tuple and place is not None and has_data(x):
                self.places.append(place)
                self._inside.add(id(x))
        else:
            reason = LAZY if is_lazy(x) else unwatchable(x)
            if reason:
                self._cannot_watch(path, reason)
                return
            self._object(local, expression, x, path)
            if isinstance(x, GENERATORS):
                self.generators.append(x)
            self._queue.append((self._expand, local, x, path))
        self._met[id(x)] = local, x

    def _look_at_leaf(self, expression: str, x: Any, path: str) -> None:
        self.entries.append(Entry(path, "leaf", x))
        self._require(f"{expression} is not {self._constant('k', x)}")
        if isinstance(x, CALLED):
            self._look_at_ways(x, path)
        if isinstance(x, ModuleType):
            self._queue.append((self._expand_module, expression, x, path))
        elif isinstance(x, WRAPPERS):
            self._queue.append((self._expand_wrapper, expression, x, path))
        elif isinstance(x, type):
            if is_user_class(x):
                self._called.add(x)
                self._queue.append((self._expand_class, self._constant("t", x), x, path))
        elif isinstance(x, BOUND):
            self._queue.append((self._expand_bound, expression, x, path))
        elif isinstance(x, attrgetter | methodcaller):
            names, given = names_in_caller(x)
            self.names |= names
            if given:
                self._look(self._constant("a", given), given, path)
        elif isinstance(x, DESCRIPTORS):
            self.names.add(x.__name__)
        elif isinstance(x, Enum) and is_user_class(type(x)):
            self._queue.append((self._expand_instance, expression, x, path))
        elif type(x) is str and not self.ways.isdisjoint({ANY, TEXT}):
            self.names.update(names_in_text(x))

    def _look_at_ways(self, x: Any, path: str) -> None:
        """Note a function that reads what is not named in the code that calls it."""
        if id(x) in READING:
            self.ways.add(ANY)
        elif id(x) in NOT_SEEN and not self.unseen:
            name = NOT_SEEN[id(x)]
            reason = f"it uses {name}(), {UNSEEN.get(name, ANYTHING)}"
            self.unseen = with_place(reason, line_of(self.site_of(path)))

    def _expand_bound(self, expression: str, x: Any, path: str) -> None:
        """Visit the object of a built-in method."""
        name, owner = x.__name__, x.__self__
        if name in READERS:
            self.ways.add(ANY)
        elif name in BY_TEXT:
            self.ways.add(TEXT)
        if owner is None or isinstance(owner, ModuleType | io.IOBase):
            return
        if isinstance(owner, np.ndarray) and owner.nbytes > LARGE:
            what = f"the method {name} of an array: call it as a method of the array itself"
            self._cannot_watch(path, what)
            return
        self._look(f"{expression}.__self__", owner, path)

    def _keep(self, local: str, x: Any, path: str) -> None:
        """Require an array or tensor to be as it is, which some code finds where no symbol can stand for it."""
        if isinstance(x, tuple):
            for part in x:
                if isinstance(part, KEPT) and self.has(part):
                    self._queue.append((self._keep, self.local(part), part, path))
        elif id(x) in self.data and not isinstance(x, Variable):
            if isinstance(x, np.ndarray):
                self._look_at_contents(local, x, path)
            else:
                found = reference(x)
                self.entries.append(Entry(path, "object", found))
                self._require(f"{local} is not {self._constant('r', found)}()")

    def _look_at_contents(self, local: str, x: Any, path: str) -> None:
        """Require the numbers of an array to be what they are."""
        held = contents(x)
        self.entries.append(Entry(path, "leaf", held))
        self._require(f"q_contents({local}) != {self._constant('w', held)}")

    def _object(self, local: str, expression: str, x: Any, path: str, role: str = "object") -> None:
        found = reference(x)
        self.entries.append(Entry(path, role, found))
        self.lines.append(f"{local} = {expression}")
        self._require(f"{local} is not {self._constant('r', found)}()")

    def _look_at_data(
        self, local: str, expression: str, x: Any, path: str, place: Place | None
    ) -> None:
        self.data[id(x)] = local, path
        self.objects[id(x)] = x
        if isinstance(x, Variable):
            self._object(local, expression, x, path, "variable")
            self.entries.append(Entry(f"{path}.trainable", "leaf", x.trainable))
            self._require(f"{local}._trainable is not {x.trainable}")
            return
        if is_lazy(unwrap(x)):
            self._cannot_watch(path, LAZY)
        elif isinstance(x, np.ndarray):
            reason = odd_array(x)
            if reason:
                self._cannot_watch(path, reason)
            if self.fixed or x.dtype.kind not in NUMBERS:
                place = None
        self._object(local, expression, x, path, "data" if place is not None else "object")
        if place is None:
            self._is_simple = False
            if isinstance(x, np.ndarray):
                self._look_at_contents(local, x, path)
            del self.data[id(x)]
        elif place is not INSIDE:
            self.places.append(place)

    def _expand(self, local: str, x: Any, path: str) -> None:
        """Visit the contents of a function, or of an object."""
        if isinstance(x, FunctionType):
            self._expand_function(local, x, path)
            return
        self._is_simple = False
        if isinstance(x, MethodType):
            self._look(f"{local}.__func__", x.__func__, path)
            self._look(f"{local}.__self__", x.__self__, f"{path}.__self__")
        elif isinstance(x, WRAPPERS):
            self._expand_wrapper(local, x, path)
        elif isinstance(x, type):
            self._expand_class(local, x, path)
        elif is_container(x):
            self._expand_container(local, x, path)
        elif is_instance(x):
            self._expand_instance(local, x, path)

    def _expand_wrapper(self, local: str, x: Any, path: str) -> None:
        self._is_simple = False
        if isinstance(x, classmethod):
            self.ways.add(MAKES)
        for name in ("__func__", "func", "args", "keywords", "fget", "fset"):
            part = getattr(x, name, None)
            if part is not None:
                self._look(f"{local}.{name}", part, path)
        if isinstance(x, partial):
            self._expand_attributes(local, x, path)

    def _expand_function(self, local: str, x: FunctionType, path: str) -> None:
        code = x.__code__
        self._look_at_ways(x, path)
        if is_user_code(code):
            self.codes[code] = names_in(code)
            self.entries.append(
                Entry(f"{path or x.__name__}.__code__", "code", (reference(x), code))
            )
            self._reads.append((partial(getattr, x, "__code__"), code))
            self._require(f"{local}.__code__ is not {self._constant('c', code)}")
        for k, (name, cell) in enumerate(
            zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        ):
            whole = f"{path}.{name}" if path and not is_user_code(x.__code__) else name
            try:
                value = cell.cell_contents
            except ValueError:
                self._is_simple = False
                self.entries.append(Entry(whole, "absent", None))
                self._require(f"not q_is_empty({self._constant('c', cell)})")
                continue
            if local.startswith(f"{PRIVATE}f_"):
                expression = f"{self._constant('c', cell)}.cell_contents"
            else:
                expression = f"{local}.__closure__[{k}].cell_contents"
            self._look(expression, value, whole, Place(cell, None))
        for name in ("__defaults__", "__kwdefaults__"):
            value = getattr(x, name)
            self._reads.append((partial(getattr, x, name), value))
            if value:
                self._require(f"len({local}.{name}) != {len(value)}")
        for parameter, part, value in defaults_of(x):
            self._look(f"{local}.{part}", value, f"{DEFAULT}{parameter}")
        self._lengths.append((x.__dict__, 0))
        if x.__dict__:
            self._expand_attributes(local, x, path)
        elif self.dynamic and code in self.codes:
            self._require(f"{local}.__dict__")
        if code in self.codes:
            self._expand_globals(x)

    def _expand_globals(self, x: FunctionType) -> None:
        found = self.codes[x.__code__]
        scope = x.__globals__
        self.names |= found.attributes
        self.ways.update(ways_of(x.__code__, found, scope))
        if not self.ways.isdisjoint({ANY, TEXT}):
            self.names |= names_by_text(x.__code__)
        for name in HIDING.keys() & found.attributes:
            self._cannot_see(x, found, name, f"it uses {name}, {HIDING[name]}")
        dictionary = self._constant("g", scope)
        where = "" if scope is self._own_globals() else f"{scope.get('__name__')}."
        for name in sorted(found.globals):
            if name in scope:
                place = Place(scope, name)
                self._look(f"{dictionary}[{name!r}]", scope[name], f"{where}{name}", place)
                continue
            self.entries.append(Entry(f"{where}{name}", "absent", None))
            self._reads.append((partial(scope.get, name, ABSENT), ABSENT))
            self._require(f"{name!r} in {dictionary}")
            if name == "type" and asks_for_types(x.__code__):
                self.scopes[id(scope)] = scope
            value = getattr(builtins, name, None)
            if name in UNSEEN and value is not None:
                self._cannot_see(x, found, name, f"it uses {name}(), {UNSEEN[name]}")
            elif is_put_there(name, value):
                place = Place(vars(builtins), name)
                self._look(f"{self._constant('b', vars(builtins))}[{name!r}]", value, name, place)
        for name in sorted(found.modules):
            module = sys.modules.get(name)
            if module is not None:
                self._look(self._constant("m", module), module, name)

    def _cannot_see(self, x: FunctionType, found: Names, name: str, reason: str) -> None:
        """Note that code uses a name by which it reads what cannot be watched."""
        line = found.read.get(name)
        site = None if line is None else Site(x.__code__.co_filename, line)
        self.unseen = self.unseen or with_place(reason, line_of(site))

    def _own_globals(self) -> Any:
        function = getattr(self.function, "__func__", self.function)
        return getattr(function, "__globals__", None)

    def _expand_module(self, local: str, x: ModuleType, path: str) -> None:
        """The names of a module of the user's that some code reads as attributes."""
        own, scope = is_user_module(x), vars(x)
        self._lengths.append((scope, len(scope)))
        if x is sys and "modules" in self.names:
            reason = "it uses sys.modules, in which it may find any module: import it"
            self.unseen = self.unseen or with_place(reason, line_of(self.site_of("modules")))
        names = self.names & scope.keys()
        if own and (self.dynamic or CATCHES in self.ways or "__getattr__" in scope):
            names |= {"__getattr__"} & scope.keys()
            self._require(f"len({local}.__dict__) != {self._constant('n', len(scope))}")
        for name in sorted(names):
            value, place = scope[name], Place(scope, name)
            if isinstance(value, CALLED) and path[:1] != "@":  # pytest's, in an assert
                self._look_at_ways(value, f"{path}.{name}")
            if own or is_put_there(name, value):
                self._look(f"{local}.__dict__[{name!r}]", value, f"{path}.{name}", place)
            else:
                self._reads.append((place.get, value))

    def _expand_class(self, local: str, x: type, path: str) -> None:
        """Visit what a class of the user's, its bases and its metaclass define, by the names that some code reads."""
        self._is_simple = False
        if len(x.__mro__) > PLAIN and x not in self._classes:
            self._require(f"{local}.__mro__ is not {self._constant('k', x.__mro__)}")
        names = self.names | library_names(x)
        skipped = MAKING if MAKES not in self.ways else SHOWN
        if x in self._called:
            skipped = frozenset()
        meta: Any = type(x)
        for kind in chain(x.__mro__, meta.__mro__):
            if is_user_class(kind):
                self._look_into_class(kind, names, skipped, path)

    def _look_into_class(
        self, x: type, names: set[str], skipped: frozenset[str], path: str
    ) -> None:
        """Look at what one class defines itself."""
        known = self._classes.get(x)
        if known is None:
            known = self._classes[x] = self._constant("p", vars(x)), set()
            self._look_at_names(known[0], x, names)
        local, seen = known
        for name, value in list(vars(x).items()):
            if name in seen:
                continue
            if name in skipped:
                inner = inspect.unwrap(value) if name in SHOWN else None
                if isinstance(inner, FunctionType):
                    self._texts[inner.__code__] = x.__name__
                continue
            data = self.dynamic and not (name.startswith("__") or callable(value))
            if data or name in names or is_special(name, value):
                seen.add(name)
                self._look(f"{local}[{name!r}]", value, f"{path}.{name}")

    def _look_at_names(self, local: str, x: type, names: set[str]) -> None:
        """Require that a class has the names that it has: another one may hide what it inherits."""
        own = vars(x)
        if self.dynamic:
            self._look_at_keys(local, list(own))
            return
        bases = map(vars, x.__mro__[1:-1])
        inherited = names.intersection(chain.from_iterable(bases)).difference(own)
        if len(inherited) > FEW:
            self._require(f"[*{local}] != {self._constant('n', list(own))}")
            return
        self._require(f"len({local}) != {self._constant('n', len(own))}")
        for name in sorted(inherited):
            self._require(f"{name!r} in {local}")

    def _expand_container(self, local: str, x: Any, path: str) -> None:
        if isinstance(x, dict):
            self._look_at_keys(local, list(x))
            for k, key in enumerate(list(x)):
                shown = repr(key) if is_leaf(key) else str(k)
                text = shown if type(key) in SHOWN_BY_TYPE else self._constant("k", key)
                place = Place(x, key)
                self._look(self._item(local, x, text), place.get(), f"{path}[{shown}]", place)
        elif isinstance(x, list | tuple | deque):
            inside = INSIDE if type(x) is tuple and id(x) in self._inside else None
            for k in range(plain_class(x).__len__(x)):
                place = Place(x, k)
                value = place.get()
                known = place if isinstance(x, list) else inside
                if type(value) is tuple and known is INSIDE:
                    self._inside.add(id(value))
                    known = None
                self._look(self._item(local, x, str(k)), value, f"{path}[{k}]", known)
        else:  # a set, a bytearray or an array of the standard library
            copy = type(x)(x) if not hasattr(x, "typecode") else x[:]
            self.entries.append(Entry(path, "leaf", copy))
            self._require(other_parts(local, copy, partial(self._constant, "k")))
        if getattr(x, "__dict__", None):
            self._expand_attributes(local, x, path)

    def _item(self, local: str, x: Any, key: str) -> str:
        """Code for what a container holds itself, also where a class of the user's gives something else for it."""
        plain = plain_class(x)
        if type(x).__getitem__ is plain.__getitem__:
            return f"{local}[{key}]"
        return f"{self._constant('h', plain.__getitem__)}({local}, {key})"

    def _look_at_keys(self, local: str, keys: list[Any]) -> None:
        self.entries.append(Entry("", "leaf", keys))
        self._require(other_keys(local, keys_of(keys), partial(self._constant, "k")))

    def _expand_instance(self, local: str, x: Any, path: str) -> None:
        kind = type(x)
        name = self._constant("t", kind)
        self._require(f"{local}.__class__ is not {name}")
        if is_user_class(kind):
            self._queue.append((self._expand_class, name, kind, kind.__name__))
        self._expand_attributes(local, x, path)
        for base in kind.__mro__:
            for slot in slots_of(base):
                if slot in self.names or self.dynamic:
                    try:
                        value = getattr(x, slot)
                    except AttributeError:
                        self._require(f"hasattr({local}, {slot!r})")
                        continue
                    self._look(f"{local}.{slot}", value, f"{path}.{slot}")

    def _expand_attributes(self, local: str, x: Any, path: str) -> None:
        """The attributes of an object that some code reads, or that hold variables or objects."""
        attributes = getattr(x, "__dict__", None)
        if attributes is None:
            return
        kind = type(x)
        ignored = unwatched(kind)
        names = self.names | library_names(kind)
        made_up = any("__getattr__" in vars(base) for base in kind.__mro__ if is_user_class(base))
        whole = self.dynamic or made_up
        d = self._name("d")
        self.lines.append(f"{d} = {local}.__dict__")
        if self.dynamic and not ignored:
            self._look_at_keys(d, list(attributes))
        elif made_up or (CATCHES in self.ways and not ignored):
            self._require(f"len({d}) != {self._constant('n', len(attributes))}")
        for name, value in list(attributes.items()):
            if name not in ignored and (whole or name in names or holds_objects(value)):
                dotted = f"{path}.{name}" if path else name
                self._look(f"{d}[{name!r}]", value, dotted, Place(attributes, name))
        for name in sorted(names - attributes.keys() - ignored):
            if hasattr(kind, name):
                self._require(f"{name!r} in {d}")


def same_closures(a: Closure, b: Closure, strictly: bool = False) -> str | None:
    """The path of the first difference of two states of what a function can reach; None if there is none.

    Parameters
    ----------
    strictly : bool, optional
        Whether another array or tensor of the same kind is a difference, too.
    """
    for one, other in zip(a.entries, b.entries, strict=False):
        if one.path != other.path:
            return min(one.path, other.path, key=len) or one.path or other.path
        if one.role != other.role or not same_entry(one, other, strictly):
            return one.path
    if len(a.entries) != len(b.entries) or a.lines != b.lines:
        longer = max(a.entries, b.entries, key=len)
        k = min(len(a.entries), len(b.entries))
        return longer[k].path if len(longer) > k else "what it can reach"
    return None


def same_entry(one: Entry, other: Entry, strictly: bool) -> bool:
    """Whether two entries under one path are of the same object, or as good."""
    if one.role == "leaf":
        return same_leaf(one.what, other.what)
    if one.role in {"object", "variable"}:
        return one.what() is not None and one.what() is other.what()
    if one.role == "code":
        return one.what[1] is other.what[1]
    if one.role == "data":
        x, y = one.what(), other.what()
        return (x is y and x is not None) or (not strictly and data_kind(x) == data_kind(y))
    return bool(one.what == other.what)
