"""Guards: everything that a function reads besides its arguments, and Python code that notices if any of it changes.

A function is a program only if everything that it depends on can be seen by plain means: names in its code, and from
there attributes, items, cells and defaults, as deep as the code names them. Otherwise the function stays eager, and
`Guards.refusal` says why and on which line.
"""

from __future__ import annotations

import builtins
import datetime as dt
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from itertools import accumulate, chain
from operator import attrgetter, methodcaller
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from tapemagic.engine.laziness import LAZY, is_lazy
from tapemagic.engine.runtime import registered_states
from tapemagic.engine.tensor.coercion import NUMBERS
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.code_names import (
    COMPARES,
    MAKES_TEXT,
    READS_ANY,
    Names,
    names_in,
    names_in_string,
)
from tapemagic.programs.entries import (
    CHECKED,
    DATA,
    DEFAULT,
    INSIDE,
    KEPT,
    Entry,
    Location,
    contents,
    data_kind,
    defaults_of,
    has_data,
    has_objects,
    is_special,
    library_names,
    plain_class,
    reference,
    slots_of,
    why_unsupported_array,
)
from tapemagic.programs.object_kinds import (
    GENERATORS,
    INTERCHANGEABLE_TYPES,
    WRAPPERS,
    is_container,
    is_leaf,
    is_user_class,
    is_user_code,
    is_user_module,
    keys_changed_code,
    keys_of,
    same_leaf,
    unwatched,
)
from tapemagic.programs.program import Site
from tapemagic.programs.reasons import a_or_an, line_of, with_place
from tapemagic.programs.side_effects import (
    CATCHES,
    CLOCK,
    CURRENT_DATES,
    DATES,
    DRAWS,
    HIDING,
    NUMPY_FILES,
    NUMPY_GENERATORS,
    NUMPY_SETTINGS,
    OUTSIDE,
    REFUSED,
    TYPE,
    why_unwatchable,
)
from tapemagic.programs.text.local_names import PRIVATE

MAX_OBJECTS = 20_000
"""The maximum number of reachable objects; a function that reaches more stays eager."""

MAX_INHERITED_LOOKUPS = 3
"""The maximum number of inherited names that are looked up one by one; more are compared as a list."""

BASES = 2
"""The number of classes in the method resolution order of one that is derived from `object` only."""

NAMED = frozenset({"__name__", "__qualname__"})
DESCRIBED = NAMED | {"__doc__", "__module__", "__annotations__"}
"""The attributes of classes and of functions that can change and are not in their ``__dict__``."""

SHOWING = frozenset({"__repr__", "__str__", "__format__"})
"""Methods that run when objects are turned into text."""

MAKING = frozenset({"__init__", "__new__", "__post_init__", "__del__"})
"""Methods that run when objects are made or deleted, and not when they are used."""

FROZEN = frozenset({"__setattr__", "__delattr__"})
"""Methods that dataclasses write to raise an error."""


class Guards:
    """Everything that a function can reach besides its arguments, at this moment.

    Parameters
    ----------
    function : callable
    arguments : iterable of object
        Arguments that a program takes for granted by identity, such as a model.
    fixed : bool, optional
        Whether reachable arrays are constants of a program, whose numbers are compared at each call.

    Attributes
    ----------
    entries : list of Entry
    lines : list of str
        Python code that breaks a loop if anything has changed.
    namespace : dict of str to object
        The objects that the names in these lines refer to.
    data : dict of int to (str, str)
        The local variable in these lines, and the path, of every array, tensor and variable, by its identity.
    places : list of Location
        Where arrays and tensors are stored.
    refusal : str
        Why the function must stay eager; '' if it can be a program.
    """

    def __init__(self, function: Any, arguments: Iterable[Any] = (), fixed: bool = False) -> None:
        self.function = function
        self.fixed = fixed
        self.arguments = [(reference(x), type(x).__name__) for x in arguments]
        self.names: set[str] = set()
        self.codes: dict[Any, Names] = {}
        self.reads_any = self.makes_text = self.names_methods = self.makes_objects = False
        self.compares = False
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if isinstance(code, CodeType) and is_user_code(code):
            self.codes[code] = self._note_code(code)
        progress: Any = None
        # What one name leads to may name others: the walk is repeated until it finds no new ones.
        while progress != (progress := self._progress()):
            self._walk()

    def _progress(self) -> tuple[Any, ...]:
        flags = self.reads_any, self.makes_text, self.names_methods, self.makes_objects
        return len(self.names), *flags, self.compares

    def _walk(self) -> None:
        """Visit everything that the names collected so far lead to."""
        self.entries: list[Entry] = []
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = {}
        self.data: dict[int, tuple[str, str]] = {}
        self.objects: dict[int, Any] = {}
        self.places: list[Location] = []
        self.refusal = ""
        self._visited: dict[int, tuple[str, Any]] = {}
        self._inside: set[int] = set()
        self._called: set[type] = set()
        self._classes: dict[type, tuple[str, set[str]]] = {}
        self._now_site: Site | None = None
        self._makes_dates = False
        self._libraries: list[tuple[ModuleType, str]] = []
        self._queue: deque[tuple[Callable[[str, Any, str], None], str, Any, str]] = deque()
        self._count = 0
        if isinstance(self.function, MethodType):
            self._visit_argument(reference(self.function.__self__), "self")
        root = getattr(self.function, "__func__", self.function)
        self._queue.append((self._expand, self._constant("f", root), root, ""))
        for argument, path in self.arguments:
            self._visit_argument(argument, path)
        for state in registered_states():  # settings of this package, such as the dtype of layers
            for k, x in enumerate(state if isinstance(state, list) else ()):
                if is_leaf(x):
                    setting = f"{self._constant('s', state)}[{k}]"
                    self._visit(setting, x, "a setting", Location(state, k))
        while self._queue and not self.refusal:
            # Breadth first, so that the path of an object is the shortest expression that leads to it.
            expand, local, x, path = self._queue.popleft()
            expand(local, x, path)
            if len(self.entries) > MAX_OBJECTS:
                self.refusal = f"it reaches more than {MAX_OBJECTS:,} objects: store numbers in arrays instead of lists"

        for module, path in self._libraries:
            self._look_at_library(module, path)
        if self._now_site and (self._makes_dates or self.site_of("datetime64")):
            self._refuse(CLOCK, self._now_site)

    # Queries.

    def path(self, x: Any) -> str:
        """Return the expression in the function's code that reads an object, or ''."""
        paths = (e.path for e in self.entries if e.role == "object" and e.what() is x)
        return next(paths, "")

    def site_of(self, path: str) -> Site | None:
        """Return the first line that assigns, or else reads, the last name of a path."""
        name = path.removeprefix(DEFAULT).rpartition(".")[2].partition("[")[0]
        for how in ("local",) if path.startswith(DEFAULT) else ("assigned", "read"):
            for code, names in self.codes.items():
                line = getattr(names, how).get(name)
                if line is not None:
                    return Site(code.co_filename, line)
        return None

    def is_reachable(self, x: Any) -> bool:
        """Return True if the function can reach an object."""
        visited = self._visited.get(id(x))
        return visited is not None and visited[1] is x

    def local(self, x: Any) -> str:
        """Return the local variable in the lines for a reachable object."""
        return self._visited[id(x)][0]

    def forget(self) -> None:
        """Let go of the objects that were found; weak references to them stay."""
        self.function = None
        for collection in (self.objects, self._visited, self.places, self.codes, self._called):
            collection.clear()
        self._classes.clear()

    def is_dead(self) -> bool:
        """Return True if a reachable object no longer exists, or the code of a function has changed."""
        return any(
            entry.what() is None
            if entry.role in {"object", "variable"}
            else entry.role == "code"
            and getattr(entry.what[0](), "__code__", None) is not entry.what[1]
            for entry in self.entries
        )

    # The walk: each object once, by its kind.

    def _visit_argument(self, argument: Any, path: str) -> None:
        self._visit(f"{self._constant('r', argument)}()", argument(), path)

    def _name(self, letter: str) -> str:
        self._count += 1
        return f"{PRIVATE}{letter}_{self._count}"

    def _constant(self, letter: str, value: Any) -> str:
        name = self._name(letter)
        self.namespace[name] = value
        return name

    def _require(self, condition: str) -> None:
        self.lines.append(f"if {condition}: break")

    def _refuse(self, reason: str, site: Site | None) -> None:
        self.refusal = self.refusal or with_place(reason, line_of(site))

    def _visit(self, expression: str, x: Any, path: str, place: Location | None = None) -> None:
        """Visit one object and require it to stay the same; a traced value can replace it at `place`."""
        visited = self._visited.get(id(x))
        if visited is not None:
            self.entries.append(Entry(path, "again", visited[0]))
            # Two expressions for one object are one input of the program, so they must stay one object.
            self._require(f"{expression} is not {visited[0]}")
            # A symbol replaces the object only at its first place. Here the trace reads its numbers, which
            # therefore have to stay the same.
            if place is None and isinstance(x, KEPT):
                self._queue.append((self._keep, visited[0], x, path))
            elif place is not None and place is not INSIDE and self._has_symbol(x):
                self.places.append(place)
            return
        reason = LAZY if is_lazy(x) else "" if isinstance(x, DATA) else why_unwatchable(x)
        if reason:
            self._refuse(f"it reads {path or 'an argument'}, {reason}", self.site_of(path))
        elif is_leaf(x):
            self._visit_leaf(expression, x, path, place)
        elif isinstance(x, DATA):
            self._visit_data(expression, x, path, place)
        elif is_container(x):
            local = self._remember(expression, x)
            self.entries.append(Entry(path, "container", (type(x), len(x))))
            kind = self._constant("k", type(x))
            self._require(f"{local}.__class__ is not {kind} or len({local}) != {len(x)}")
            self._queue.append((self._expand_container, local, x, path))
            if type(x) is tuple and place is not None and has_data(x):
                self.places.append(place)
                self._inside.add(id(x))
        else:
            local = self._remember(expression, x)
            self._require_identity(local, x, path)
            self._queue.append((self._expand, local, x, path))

    def _remember(self, expression: str, x: Any) -> str:
        """Assign an object to a local variable in the lines."""
        local = self._name("v")
        self.lines.append(f"{local} = {expression}")
        self._visited[id(x)] = local, x
        return local

    def _require_identity(self, local: str, x: Any, path: str, role: str = "object") -> None:
        identity = reference(x)
        self.entries.append(Entry(path, role, identity))
        self._require(f"{local} is not {self._constant('r', identity)}()")

    def _has_symbol(self, x: Any) -> bool:
        """Return True if a trace replaces an object that was found before, wherever it is stored."""
        return not isinstance(x, Variable) and (id(x) in self.data or id(x) in self._inside)

    def _visit_leaf(self, expression: str, x: Any, path: str, place: Location | None) -> None:
        self.entries.append(Entry(path, "leaf", x))
        # Identity is the quickest test. An equal number that is another object leads to `STALE`: then
        # `first_change` compares the values.
        self._require(f"{expression} is not {self._constant('k', x)}")
        if isinstance(x, ModuleType):
            self._queue.append((self._expand_module, expression, x, path))
        elif isinstance(x, WRAPPERS):
            self._queue.append((self._expand_wrapper, expression, x, path))
        elif isinstance(x, type):
            if is_user_class(x):
                # A class that only stands in isinstance(x, ...) makes no objects: its __init__ has no effect.
                if place is not CHECKED:
                    self._called.add(x)
                self._queue.append((self._expand_class, self._constant("t", x), x, path))
            else:  # attrgetter and str under any name
                self.reads_any = self.reads_any or x.__name__ in READS_ANY
                self.makes_text = self.makes_text or x.__name__ in MAKES_TEXT
        elif isinstance(x, BuiltinFunctionType | MethodWrapperType):
            self._visit_built_in(x, path)
        elif isinstance(x, attrgetter | methodcaller):
            reason = f"{a_or_an(type(x).__name__)}, which reads attributes: write them themselves"
            self._refuse(f"it reads {path}, {reason}", self.site_of(path))
        elif isinstance(x, Enum) and is_user_class(type(x)):
            self._queue.append((self._expand_instance, expression, x, path))
        elif isinstance(x, dt.date) and not self.names.isdisjoint(CURRENT_DATES | {"utcnow"}):
            self._refuse(CLOCK, self.site_of(min(self.names & (CURRENT_DATES | {"utcnow"}))))
        elif type(x) is str:
            self._visit_text(x, self.site_of(path))
        elif isinstance(x, np.dtype | np.datetime64) or x is np.datetime64:
            self._makes_dates = self._makes_dates or np.dtype(getattr(x, "dtype", x)).kind == "M"

    def _visit_text(self, text: str, site: Site | None) -> None:
        """Visit a string, which may name attributes, a dtype of dates, or the current time."""
        if text.lower() in CURRENT_DATES:
            self._now_site = self._now_site or site
        elif DATES.match(text):
            self._makes_dates = True
        self.makes_text = self.makes_text or "%" in text
        if self.reads_any:
            self.names.update(names_in_string(text))

    def _visit_built_in(self, x: Any, path: str) -> None:
        """Visit a built-in function under any name."""
        name, owner = x.__name__, x.__self__
        if owner is None or isinstance(owner, ModuleType):
            if name in REFUSED and getattr(owner, "__name__", "") == "builtins":
                self._refuse(f"it uses {name}(), {REFUSED[name]}", self.site_of(path))
            self.reads_any = self.reads_any or name in READS_ANY
            self.makes_text = self.makes_text or name in MAKES_TEXT
            self.compares = self.compares or name in COMPARES
        elif not isinstance(owner, type):
            reason = f"the method {name} of {type(owner).__name__}: call it as a method"
            self._refuse(f"it reads {path}, {reason}", self.site_of(path))
        elif is_user_class(owner):
            self._visit(self._constant("o", owner), owner, path)

    def _visit_data(self, expression: str, x: Any, path: str, place: Location | None) -> None:
        local = self._remember(expression, x)
        self.data[id(x)] = local, path
        self.objects[id(x)] = x
        if isinstance(x, Variable):
            self._require_identity(local, x, path, "variable")
            self.entries.append(Entry(f"{path}.trainable", "leaf", x.trainable))
            self._require(f"{local}._trainable is not {x.trainable}")
            return
        reason = LAZY if is_lazy(unwrap(x)) else ""
        if isinstance(x, np.ndarray):
            self._makes_dates = self._makes_dates or x.dtype.kind == "M"
            reason = reason or why_unsupported_array(x)
            if self.fixed or reason or x.dtype.kind not in NUMBERS:
                place = None
        if reason:
            self._refuse(f"it reads {path or 'an argument'}, {reason}", self.site_of(path))
            return
        self._require_identity(local, x, path, "data" if place is not None else "object")
        if place is not None and isinstance(x, np.ndarray):
            # NumPy allows `x.shape = ...` and `x.dtype = ...`: the same object is then another array.
            kind = self._constant("k", x.dtype)
            self._require(f"{local}.shape != {x.shape} or {local}.dtype is not {kind}")
        if place is None:
            if isinstance(x, np.ndarray):
                self._require_contents(local, x, path)
            del self.data[id(x)]
        elif place is not INSIDE:
            self.places.append(place)

    def _require_contents(self, local: str, x: Any, path: str) -> None:
        """Require the numbers of an array to be the same."""
        numbers = contents(x)
        self.entries.append(Entry(path, "leaf", numbers))
        self._require(f"q_contents({local}) != {self._constant('w', numbers)}")

    def _keep(self, local: str, x: Any, path: str) -> None:
        """Require that an array or tensor stays the same, because a symbol cannot replace all references."""
        if isinstance(x, tuple):
            for part in x:
                if isinstance(part, KEPT) and self.is_reachable(part):
                    self._queue.append((self._keep, self.local(part), part, path))
        elif id(x) in self.data and not isinstance(x, Variable):
            if isinstance(x, np.ndarray):
                self._require_contents(local, x, path)
            else:
                self._require_identity(local, x, path)

    def _expand(self, local: str, x: Any, path: str) -> None:
        """Visit the parts of a function, or of an object."""
        if isinstance(x, FunctionType):
            self._expand_function(local, x, path)
        elif isinstance(x, MethodType):
            self._visit(f"{local}.__func__", x.__func__, path)
            self._visit(f"{local}.__self__", x.__self__, f"{path}.__self__")
        elif isinstance(x, WRAPPERS):
            self._expand_wrapper(local, x, path)
        elif isinstance(x, type):
            self._expand_class(local, x, path)
        elif is_container(x):
            self._expand_container(local, x, path)
        else:
            self._expand_instance(local, x, path)

    def _expand_wrapper(self, local: str, x: Any, path: str) -> None:
        """Visit the parts of a partial function, a property or the like."""
        self.makes_objects = self.makes_objects or isinstance(x, classmethod)
        for name in ("__func__", "func", "args", "keywords", "fget", "fset"):
            part = getattr(x, name, None)
            if part is not None:
                self._visit(f"{local}.{name}", part, path)
        if isinstance(x, partial):
            self._expand_attributes(local, x, path)

    def _expand_function(self, local: str, x: FunctionType, path: str) -> None:
        code = x.__code__
        is_own = is_user_code(code)
        if is_own:
            self.codes[code] = self._note_code(code)
            code_path = f"{path or x.__name__}.__code__"
            self.entries.append(Entry(code_path, "code", (reference(x), code)))
            self._require(f"{local}.__code__ is not {self._constant('c', code)}")
        elif x.__name__ in READS_ANY:  # dataclasses.asdict under any name
            self.reads_any = True
        for k, (name, cell) in enumerate(zip(code.co_freevars, x.__closure__ or (), strict=True)):
            variable = f"{path}.{name}" if path and not is_own else name
            try:
                value = cell.cell_contents
            except ValueError:
                self.entries.append(Entry(variable, "absent", None))
                self._require(f"not q_is_empty({self._constant('c', cell)})")
                continue
            expression = f"{local}.__closure__[{k}].cell_contents"
            # The root function is a constant of these lines, so its cells can be constants as well. Another
            # function may be replaced by one with other cells.
            if local.startswith(f"{PRIVATE}f_"):
                expression = f"{self._constant('c', cell)}.cell_contents"
            self._visit(expression, value, variable, Location(cell, None))
        for name in ("__defaults__", "__kwdefaults__"):
            value = getattr(x, name)
            if value:
                self._require(f"len({local}.{name}) != {len(value)}")
        for parameter, part, value in defaults_of(x):
            self._visit(f"{local}.{part}", value, f"{DEFAULT}{parameter}")
        if is_own:
            self._visit_names(local, x, path)
        if x.__dict__:
            self._expand_attributes(local, x, path)
        elif self.reads_any and is_own:
            self._require(f"{local}.__dict__")
        if is_own:
            self._visit_globals(x, self.codes[code])

    def _visit_names(self, local: str, x: Any, path: str) -> None:
        """Visit the names of a function or class, which are not in its ``__dict__``."""
        described = DESCRIBED if isinstance(x, FunctionType) else NAMED
        for name in sorted(described & self.names):
            self._visit(f"{local}.{name}", getattr(x, name), f"{path}.{name}")

    def _note_code(self, code: CodeType) -> Names:
        """Collect the names in a function's code."""
        names = names_in(code)
        self.names |= names.attributes
        self.makes_text = self.makes_text or names.makes_text
        self.compares = self.compares or names.compares
        # The methods that dataclasses write name `__class__`, and make no objects.
        is_written = code.co_filename == "<string>"
        if "type" in names.globals or ("__class__" in names.attributes and not is_written):
            self.makes_objects = True
        if names.reads_any and not (is_written and code.co_name in FROZEN):
            self.reads_any = True
            self.names_methods = self.names_methods or names.joins_text
        return names

    def _visit_globals(self, x: FunctionType, code_names: Names) -> None:
        """Visit the global names in the code of a function, and refuse what it may not do."""
        code, scope = x.__code__, x.__globals__
        for text in code_names.texts:
            self._visit_text(text, Site(code.co_filename, code.co_firstlineno))
        self._refuse_code(x, code_names)
        own = getattr(getattr(self.function, "__func__", self.function), "__globals__", None)
        dictionary = self._constant("g", scope)
        where = "" if scope is own else f"{scope.get('__name__')}."
        for name in sorted(code_names.globals):
            if name.startswith("@"):  # pytest's, in an assert that it has rewritten
                continue
            if name in scope:
                value = scope[name]
                is_called = name not in code_names.checked or not isinstance(value, type)
                place = Location(scope, name) if is_called else CHECKED
                self._visit(f"{dictionary}[{name!r}]", value, f"{where}{name}", place)
                continue
            self.entries.append(Entry(f"{where}{name}", "absent", None))
            self._require(f"{name!r} in {dictionary}")
            value = vars(builtins).get(name)
            if name in REFUSED:
                site = Site(code.co_filename, code_names.read.get(name, code.co_firstlineno))
                self._refuse(f"it uses {name}(), {REFUSED[name]}", site)
            elif value is not None and getattr(value, "__module__", "") != "builtins":
                # IPython puts its `display` there, and gettext its `_`.
                names = self._constant("b", vars(builtins))
                self._visit(f"{names}[{name!r}]", value, name, Location(vars(builtins), name))
        for name in sorted(modules_of(code_names.modules, scope)):
            loaded = self._constant("m", sys.modules)
            self._visit(f"{loaded}[{name!r}]", sys.modules[name], name)

    def _refuse_code(self, x: FunctionType, names: Names) -> None:
        """Refuse code that does what no guard can watch."""
        file = x.__code__.co_filename
        if names.catches:
            self._refuse(CATCHES, Site(file, names.catches))
        if x.__name__ == "__exit__":
            self._refuse(CATCHES, Site(file, x.__code__.co_firstlineno))
        if names.asks_type and "type" not in x.__globals__:
            self._refuse(TYPE, Site(file, names.asks_type))
        for name in sorted(HIDING.keys() & names.attributes):
            self._refuse(f"it uses {name}, {HIDING[name]}", Site(file, names.read.get(name, 0)))

    def _expand_module(self, local: str, x: ModuleType, path: str) -> None:
        """Visit the names of a module that some code reads as attributes."""
        scope = vars(x)
        if not is_user_module(x):
            self._libraries.append((x, path))
            return
        names = self.names & scope.keys()
        if self.reads_any or "__getattr__" in scope:
            names = names | ({"__getattr__"} & scope.keys())
            self._require(f"len({local}.__dict__) != {self._constant('n', len(scope))}")
        for name in sorted(names):
            place = Location(scope, name)
            self._visit(f"{local}.__dict__[{name!r}]", scope[name], f"{path}.{name}", place)

    def _look_at_library(self, x: ModuleType, path: str) -> None:
        """Refuse functions of a library that read files or settings, draw, or belong to another library."""
        elsewhere = set().union(*(names.elsewhere for names in self.codes.values()))
        if self.reads_any:
            elsewhere |= self.names
        if x.__name__.partition(".")[0] == "numpy":
            refused = {name: f"it calls np.{name}(): {OUTSIDE}" for name in NUMPY_SETTINGS}
            refused |= {name: f"it uses a file by {name}(): {OUTSIDE}" for name in NUMPY_FILES}
            if x.__name__ == "numpy.random" or "random" in elsewhere:
                refused |= dict.fromkeys(NUMPY_GENERATORS, DRAWS)
            for name in sorted(refused.keys() & elsewhere):
                self._refuse(refused[name], self.site_of(name))
        for name in sorted(elsewhere & vars(x).keys()):
            part = vars(x)[name]
            reason = why_unwatchable(part) if isinstance(part, ModuleType | FunctionType) else ""
            if reason:
                self._refuse(f"it reads {path}.{name}, {reason}", self.site_of(name))

    def _expand_class(self, local: str, x: type, path: str) -> None:
        """Visit the parts of a user class and its bases whose names some code reads."""
        # A class derived only from `object` inherits no names that could change.
        if len(x.__mro__) > BASES and x not in self._classes:
            self._require(f"{local}.__mro__ is not {self._constant('k', x.__mro__)}")
        self._visit_names(local, x, path)
        names = self.names | library_names(x)
        skipped = frozenset() if x in self._called or self.makes_objects else MAKING
        skipped |= frozenset() if self.makes_text else SHOWING
        for kind in x.__mro__:
            if is_user_class(kind):
                self._expand_class_body(kind, names, skipped, path)

    def _expand_class_body(
        self, x: type, names: set[str], skipped: frozenset[str], path: str
    ) -> None:
        """Visit the parts that one class defines itself."""
        entry = self._classes.get(x)
        if entry is None:
            entry = self._classes[x] = self._constant("p", vars(x)), set()
            self._require_names(entry[0], x, names)
        local, seen = entry
        for name, value in list(vars(x).items()):
            if name in seen or name in skipped:
                continue
            takes_all = self.reads_any and (self.names_methods or not callable(value))
            takes_all = takes_all and not name.startswith("__")
            if takes_all or name in names or is_special(name, value):
                seen.add(name)
                # dataclasses wrap __repr__ in a function that reads the thread id
                inner = inspect.unwrap(value) if name in SHOWING else value
                expression = f"{local}[{name!r}]" + ".__wrapped__" * (inner is not value)
                self._visit(expression, inner, f"{path}.{name}")

    def _require_names(self, local: str, x: type, names: set[str]) -> None:
        """Require that a class defines the same names: a new name may hide an inherited attribute."""
        own = vars(x)
        if self.reads_any:
            self._require_keys(local, list(own))
            return
        bases = map(vars, x.__mro__[1:-1])
        inherited = names.intersection(chain.from_iterable(bases)).difference(own)
        # A class rarely gets new names: their number and a few lookups are enough, and quicker than the list.
        if len(inherited) > MAX_INHERITED_LOOKUPS:
            self._require(f"[*{local}] != {self._constant('n', list(own))}")
            return
        self._require(f"len({local}) != {self._constant('n', len(own))}")
        for name in sorted(inherited):
            self._require(f"{name!r} in {local}")

    def _expand_container(self, local: str, x: Any, path: str) -> None:
        plain = plain_class(x)
        if plain is dict:
            self._require_keys(local, list(x))
            for k, key in enumerate(list(x)):
                shown = repr(key) if is_leaf(key) else str(k)
                text = shown if type(key) in INTERCHANGEABLE_TYPES else self._constant("k", key)
                place = Location(x, key)
                self._visit(f"{local}[{text}]", place.get(), f"{path}[{shown}]", place)
            factory = getattr(x, "default_factory", None)
            if factory is not None:
                self._visit(f"{local}.default_factory", factory, f"{path}.default_factory")
        else:
            inside = INSIDE if type(x) is tuple and id(x) in self._inside else None
            for k in range(plain.__len__(x)):
                place = Location(x, k)
                value = place.get()
                location = place if plain is list else inside
                if type(value) is tuple and location is INSIDE:
                    self._inside.add(id(value))
                    location = None
                self._visit(f"{local}[{k}]", value, f"{path}[{k}]", location)
        if is_user_class(type(x)):
            kind = self._constant("t", type(x))
            self._queue.append((self._expand_class, kind, type(x), type(x).__name__))
        self._expand_attributes(local, x, path)

    def _require_keys(self, local: str, keys: list[Any]) -> None:
        self.entries.append(Entry("", "leaf", keys))
        self._require(keys_changed_code(local, keys_of(keys), partial(self._constant, "k")))

    def _expand_instance(self, local: str, x: Any, path: str) -> None:
        kind = type(x)
        name = self._constant("t", kind)
        self._require(f"{local}.__class__ is not {name}")
        if is_user_class(kind):
            self._queue.append((self._expand_class, name, kind, kind.__name__))
        self._expand_attributes(local, x, path)
        for base in kind.__mro__:
            for slot in slots_of(base):
                if slot in self.names or self.reads_any:
                    try:
                        value = getattr(x, slot)
                    except AttributeError:
                        self._require(f"hasattr({local}, {slot!r})")
                        continue
                    self._visit(f"{local}.{slot}", value, f"{path}.{slot}")

    def _expand_attributes(self, local: str, x: Any, path: str) -> None:
        """Visit the attributes of an object that some code reads, or that are variables or objects."""
        attributes = getattr(x, "__dict__", None)
        if attributes is None:
            return
        kind = type(x)
        is_own = kind.__module__.partition(".")[0] == "tapemagic"
        ignored = unwatched(kind)
        names = self.names | library_names(kind)
        # The == and the text of a namespace are written in C, and read all attributes.
        is_whole = isinstance(x, SimpleNamespace) and (self.compares or self.makes_text)
        reads_any = self.reads_any or is_whole
        d = self._name("d")
        self.lines.append(f"{d} = {local}.__dict__")
        if reads_any and not ignored:
            self._require_keys(d, list(attributes))
        for name, value in list(attributes.items()):
            is_read = reads_any or name in names or has_objects(value)
            if not is_read or name in ignored or name == "__signature__":
                continue
            if is_own and isinstance(value, GENERATORS):  # layers say themselves that they draw
                self._require(f"{d}[{name!r}] is not {self._constant('k', value)}")
                continue
            dotted = f"{path}.{name}" if path else name
            self._visit(f"{d}[{name!r}]", value, dotted, Location(attributes, name))
        for name in sorted(names - attributes.keys() - ignored):
            if hasattr(kind, name):
                self._require(f"{name!r} in {d}")


def modules_of(imported: Iterable[str], scope: dict[str, Any]) -> set[str]:
    """Return the loaded modules that imports in a function may refer to, also relative to its package."""
    package = scope.get("__package__") or ""
    # The name in `from . import x` is relative to any package above the module.
    above = [*accumulate(package.split("."), "{}.{}".format)] if package else []
    names: set[str] = set()
    for name in imported:
        names.update(accumulate(name.split("."), "{}.{}".format))
        names.update(f"{each}.{name}".rstrip(".") for each in above)
    return names & sys.modules.keys()


def first_change(a: Guards, b: Guards, strictly: bool = False) -> str | None:
    """Return the path of the first difference between two states of reachable objects, if any.

    Parameters
    ----------
    strictly : bool, optional
        Whether another array or tensor of the same kind is a difference as well.
    """
    for x, y in zip(a.entries, b.entries, strict=False):
        if x.path != y.path:
            return min(x.path, y.path, key=len) or x.path or y.path
        if x.role != y.role or not is_same_entry(x, y, strictly):
            return x.path
    if len(a.entries) != len(b.entries) or a.lines != b.lines:
        # `zip` stopped at the end of the shorter list.
        longer = max(a.entries, b.entries, key=len)
        k = min(len(a.entries), len(b.entries))
        return longer[k].path if len(longer) > k else "what it can reach"
    return None


def is_same_entry(x: Entry, y: Entry, strictly: bool) -> bool:
    """Return True if two entries under one path are the same object, or can replace each other."""
    if x.role == "leaf":
        return same_leaf(x.what, y.what)
    if x.role in {"object", "variable"}:
        return x.what() is not None and x.what() is y.what()
    if x.role == "code":
        return x.what[1] is y.what[1]
    if x.role == "data":
        first, second = x.what(), y.what()
        return (first is second and first is not None) or (
            not strictly and data_kind(first) == data_kind(second)
        )
    return bool(x.what == y.what)
