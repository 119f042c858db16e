"""Names in the text of a program: for values, functions, and other objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from tapemagic.programs.program import Node
from tapemagic.programs.text.derivatives import derivative_name
from tapemagic.programs.text.expressions import home_of, is_numpys
from tapemagic.programs.text.formatting import WIDTH, laid_out
from tapemagic.programs.text.naming import UNSHARED, identifier
from tapemagic.programs.text.use_counts import Uses
from tapemagic.programs.tracing.trace import is_plain

PRIVATE = "q_"
"""Prefix of the names in generated drivers. No value of a program has such a name, because programs run in drivers."""

MAX_KEPT_BYTES = 1024
"""Maximum bytes of an array whose memory a short program keeps until its end, so that its name stays unique."""

NUMPYS = "np_"
"""Prefix of the names of NumPy functions in drivers."""


@dataclass
class ModuleNames:
    """Names at the top of a source, shared by its functions: imports, constants, and objects without source.

    - `imports`: The names to import from each module.
    - `namespace`: Objects that can't be imported.
    - `functions`: The text of each function.
    - `bound`: Dict of str to object, or None. Functions of modules under global names, ``np_sin`` for ``np.sin``, in a
      driver. None in a source for readers.
    - `objects`: The names in `namespace` by object.
    - `constants`: The names of arrays by their texts.
    - `reserved`: All names in use.
    """

    # `bound`: looking up the attribute of `np` takes a third of the time of a call on numbers.

    imports: dict[str, list[str]] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    functions: dict[Any, str] = field(default_factory=dict)
    bound: dict[str, Any] | None = None
    objects: dict[Any, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)


class LocalNames:
    """The names in the source of a program. At any line, a name has one meaning.

    - `module`: Names above the function, which other functions may share.
    """

    def __init__(self, uses: Uses, module: ModuleNames) -> None:
        self.module = module
        self._uses = uses
        self._reserved = {*module.reserved}
        self._holders: dict[str, Node] = {}
        self._names: dict[Node, str] = {}
        self._users = {identifier(name) for name in uses.names()}
        self._free: dict[str, list[int]] = {}
        self._next: dict[str, int] = {}
        self._numbers: dict[str, tuple[str, int]] = {}

    def imports(self) -> list[str]:
        """Return the sorted import statements, without ``import numpy as np``."""
        lines = []
        for module, names in sorted(self.module.imports.items(), key=lambda item: item[0].lower()):
            line = f"from {module} import {', '.join(sorted(names))}"
            long = f"from {module} import ({', '.join(sorted(names))})"
            lines += [line] if len(line) <= WIDTH else laid_out(long)
        return lines

    def of(self, node: Node) -> str | None:
        """Return the name that was assigned to a node, if any."""
        return self._names.get(node)

    def reserve(self, word: str) -> str:
        """Return a new name, such as the given word, that no other object or value gets."""
        word = self._without_prefix(word)
        name, k = word, 1
        while name in self._reserved or name in UNSHARED or name in self._holders:
            k += 1
            name = f"{word}_{k}"
        self._reserved.add(name)
        return name

    def reserve_above(self, word: str) -> str:
        """Like `reserve`, for an object that is defined above the function."""
        name = self.reserve(word)
        self.module.reserved.add(name)
        return name

    def share(self, node: Node, name: str) -> None:
        """Assign a reserved name to a node."""
        self._names[node] = name

    def pass_on(self, before: Node, node: Node) -> None:
        """Assign the name of an array to the node that is written into the array, which nothing reads afterwards."""
        name = self._names[node] = self._names[before]
        # A buffer is read again in the next iteration, so it stays the holder of its name.
        if self._holders.get(name) is before and not self._uses.is_kept(before):
            self._holders[name] = node

    def assign_name(self, node: Node, word: str = "") -> str:
        """Name a node, maybe by the name of a value that no later line reads."""
        word = self._without_prefix(word or self.preferred_name(node))
        self._release_names()
        free = self._free.setdefault(word, [])
        name = ""
        # The lowest free number first (a heap), as you'd write it: u1, u2, then u1 again.
        while free and not name:
            name = self._numbered(word, heappop(free))
            if self._is_taken(name, word):
                name = ""
        if not name:
            k = self._next.get(word, 1)
            name = self._numbered(word, k)
            while self._is_taken(name, word):
                k += 1
                name = self._numbered(word, k)
            self._next[word] = k + 1
            self._numbers[name] = word, k
        self._holders[name] = node
        self._names[node] = name
        if not self._uses.is_kept(node):
            self._uses.freed.append(node)
        return name

    def _without_prefix(self, word: str) -> str:
        """Return a word that can't be the name of a value or a function of the driver around the program."""
        if self.module.bound is not None and word.startswith((PRIVATE, NUMPYS)):
            return f"x_{word}"
        return word

    def _release_names(self) -> None:
        """Make the names of values that no later line reads available again."""
        freed, self._uses.freed = self._uses.freed, []
        for node in freed:
            name = self._names.get(node, "")
            if self._holders.get(name) is node and name in self._numbers:
                word, k = self._numbers[name]
                if word or self._is_worth_its_memory(node):
                    heappush(self._free[word], k)

    def _is_taken(self, name: str, word: str) -> bool:
        """Return True if a name is in use, or if it's a numbered word that the user's code has as a name."""
        is_users = name != word and name in self._users
        if is_users or name in self._reserved or name in UNSHARED:
            return True
        return self._uses.is_kept(self._holders.get(name))

    def _is_worth_its_memory(self, node: Node) -> bool:
        """Return True if a later value should take the name of this one, which frees its memory."""
        # In short programs, one name for each small value is easier to read.
        kind: Any = node.kind
        kinds = kind if type(kind) is tuple else (kind,)
        return self._uses.is_long or any(x.size * x.dtype.itemsize > MAX_KEPT_BYTES for x in kinds)

    @staticmethod
    def _numbered(word: str, k: int) -> str:
        """Return ``x``, ``x_2``, ``x_3``, or ``u1``, ``u2``, ``u3`` for values without a name."""
        if not word:
            return f"u{k}"
        return word if k == 1 else f"{word}_{k}"

    def preferred_name(self, node: Node) -> str:
        """Return the user's name for a node, or ``d_x`` for a derivative, or ''."""
        name = identifier(node.name)
        if name or node.back is None:
            return name
        source = self._source_name(node.back.to)
        return derivative_name(node.back.order, source) if source else ""

    def _source_name(self, node: Node | None) -> str:
        """Return the name of a value whose derivative gets a name, or '' for a value that only the sweep computes."""
        if node is None or (not node.name and node.back is not None):
            return ""
        name = self._names.get(node, "")
        return name if self._holders.get(name) is node else identifier(node.name)

    def function(self, function: Any) -> str:
        """Return the text of a function. A function that isn't NumPy's is imported."""
        try:
            texts = self.module.functions
            if function not in texts:
                texts[function] = self._named(function)
            return texts[function]
        except TypeError:  # a user function that isn't hashable
            return self._named(function)

    def _named(self, function: Any) -> str:
        """Return the text of a function, or its global name in a driver."""
        text, bound = self._text_of(function), self.module.bound
        if bound is None:
            return text
        name = text.replace(".", "_")
        # A driver runs only while nothing records, and its values aren't lazy: a `primitive` needn't look for tensors.
        bound[name] = getattr(function, "on_values", function)
        return name

    def _text_of(self, function: Any) -> str:
        if is_numpys(function):
            return f"np.{function.__name__}" if function is not np.absolute else "np.abs"
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"{self.function(owner)}.{function.__name__}"
        home = home_of(function)
        if home is None:
            return self.object_name(function, str(getattr(function, "__name__", "function")))
        module, name = home
        if module == "builtins":
            return name
        if module == "numpy" or module.startswith("numpy."):
            return f"np{module.removeprefix('numpy')}.{name}"
        alias = self.reserve_above(name)
        self.module.imports.setdefault(module, []).append(name + f" as {alias}" * (alias != name))
        return alias

    def object_name(self, value: Any, word: str) -> str:
        """Return the name of an object that has no source."""
        # The key has the type, because 1, 1.0 and True are equal. `namespace` keeps the object, so its id stays valid.
        key = (type(value), value) if is_plain(value) else id(value)
        name = self.module.objects.get(key)
        if name is None:
            name = self.module.objects[key] = self.reserve_above(identifier(word) or "value")
            self.module.namespace[name] = value
        return name
