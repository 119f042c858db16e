"""Names within a program: one for each value, and for each function and object that it calls or reads."""

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
from tapemagic.programs.trace import is_plain

PRIVATE = "q_"
"""The beginning of the names of a driver's own values: no value of a program that runs in it has such a name."""

SMALL = 1024
"""The most bytes of an array that is kept until the end of a short program."""

NUMPYS = "np_"
"""The beginning of the names that functions of NumPy's have of their own."""


@dataclass
class ModuleNames:
    """The lines above the functions of a source, by their names.

    Attributes
    ----------
    imports : dict of str to list of str
        What is imported from each module.
    namespace : dict of str to object
        What cannot be imported.
    functions : dict of callable to str
        The text by which each is called.
    bound : dict of str to object, or None
        Functions of modules by names of their own, ``np_sin`` for ``np.sin``: to look for one in NumPy takes a third of
        the time of a call on numbers. None in a source that is read.
    objects : dict of object to str
        The names in `namespace`, by what they stand for.
    constants : dict of str to str
        The names of arrays by their texts.
    reserved : set of str
        All names that stand for something.
    """

    imports: dict[str, list[str]] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    functions: dict[Any, str] = field(default_factory=dict)
    bound: dict[str, Any] | None = None
    objects: dict[Any, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)


class LocalNames:
    """The names in the source of a program: none stands for two things at a time.

    Parameters
    ----------
    uses : Uses
    module : ModuleNames
        Names that stand above the function, and maybe above others.
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
        """The statements that import functions, but for NumPy's, in order."""
        found = sorted(self.module.imports.items(), key=lambda item: item[0].lower())
        lines = []
        for module, names in found:
            line = f"from {module} import {', '.join(sorted(names))}"
            long = f"from {module} import ({', '.join(sorted(names))})"
            lines += [line] if len(line) <= WIDTH else laid_out(long)
        return lines

    def of(self, node: Node) -> str | None:
        """The name that a node got; None if it has none yet."""
        return self._names.get(node)

    def reserve(self, wanted: str) -> str:
        """A name that nothing has, and nothing else will have."""
        wanted = self._apart(wanted)
        name, k = wanted, 1
        while name in self._reserved or name in UNSHARED or name in self._holders:
            k += 1
            name = f"{wanted}_{k}"
        self._reserved.add(name)
        return name

    def reserve_above(self, wanted: str) -> str:
        """The same, for what stands above the function."""
        name = self.reserve(wanted)
        self.module.reserved.add(name)
        return name

    def share(self, node: Node, name: str) -> None:
        """Give a node a name that was reserved."""
        self._names[node] = name

    def pass_on(self, before: Node, node: Node) -> None:
        """Give a node the name of the array into which it is written, which nobody reads afterwards, or is a buffer."""
        name = self._names[node] = self._names[before]
        if self._holders.get(name) is before and not self._uses.is_kept(before):
            self._holders[name] = node

    def give(self, node: Node, wanted: str = "") -> str:
        """Give a node a name: that of a value which is not read any more may serve again."""
        wanted = self._apart(wanted or self.wanted(node))
        self._take_back()
        free = self._free.setdefault(wanted, [])
        name = ""
        while free and not name:
            name = self._numbered(wanted, heappop(free))
            if self._is_taken(name, wanted):
                name = ""
        if not name:
            k = self._next.get(wanted, 1)
            name = self._numbered(wanted, k)
            while self._is_taken(name, wanted):
                k += 1
                name = self._numbered(wanted, k)
            self._next[wanted] = k + 1
            self._numbers[name] = wanted, k
        self._holders[name] = node
        self._names[node] = name
        if not self._uses.is_kept(node):
            self._uses.freed.append(node)
        return name

    def _apart(self, wanted: str) -> str:
        """A name that begins otherwise than those of a driver, in which the program runs, and of functions there."""
        if self.module.bound is not None and wanted.startswith((PRIVATE, NUMPYS)):
            return f"x_{wanted}"
        return wanted

    def _take_back(self) -> None:
        """Let the names of values that are not read any more serve again."""
        freed, self._uses.freed = self._uses.freed, []
        for node in freed:
            name = self._names.get(node, "")
            if self._holders.get(name) is node and name in self._numbers:
                wanted, k = self._numbers[name]
                if wanted or self._is_worth_its_memory(node):
                    heappush(self._free[wanted], k)

    def _is_taken(self, name: str, wanted: str) -> bool:
        """Whether something has a name, or the user's own value that he did not call so."""
        theirs = name != wanted and name in self._users
        if theirs or name in self._reserved or name in UNSHARED:
            return True
        return self._uses.is_kept(self._holders.get(name))

    def _is_worth_its_memory(self, node: Node) -> bool:
        """Whether the name of a value serves again, and so its memory: in a long program, or for a large array."""
        kind: Any = node.kind
        kinds = kind if type(kind) is tuple else (kind,)
        return self._uses.is_long or any(x.size * x.dtype.itemsize > SMALL for x in kinds)

    @staticmethod
    def _numbered(wanted: str, k: int) -> str:
        """``x``, ``x_2``, ``x_3``; ``u1``, ``u2``, ``u3`` for values without a name."""
        if not wanted:
            return f"u{k}"
        return wanted if k == 1 else f"{wanted}_{k}"

    def wanted(self, node: Node) -> str:
        """The name that a node should have; empty if it has none."""
        name = identifier(node.name)
        if name or node.back is None:
            return name
        known = self.known(node.back.to)
        return derivative_name(node.back.order, known) if known else ""

    def known(self, node: Node | None) -> str:
        """The name of a value of which an adjoint is to be named; empty for one that only the sweep knows."""
        if node is None or (not node.name and node.back is not None):
            return ""
        name = self._names.get(node, "")
        return name if self._holders.get(name) is node else identifier(node.name)

    def function(self, function: Any) -> str:
        """The text by which a function is called; it is imported, if it is none of NumPy's."""
        try:
            known = self.module.functions
            if function not in known:
                known[function] = self._named(function)
            return known[function]
        except TypeError:  # of the user's, and not hashable
            return self._named(function)

    def _named(self, function: Any) -> str:
        """The text by which a function is called, or its own name, which stands for it from then on."""
        text, bound = self._text_of(function), self.module.bound
        if bound is None:
            return text
        name = text.replace(".", "_")
        bound[name] = function
        return name

    def _text_of(self, function: Any) -> str:
        if is_numpys(function):
            return f"np.{function.__name__}" if function is not np.absolute else "np.abs"
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ufunc):
            return f"{self.function(owner)}.{function.__name__}"
        home = home_of(function)
        if home is None:
            return self.thing(function, str(getattr(function, "__name__", "function")))
        module, name = home
        if module == "builtins":
            return name
        if module == "numpy" or module.startswith("numpy."):
            return f"np{module.removeprefix('numpy')}.{name}"
        known = self.reserve_above(name)
        self.module.imports.setdefault(module, []).append(name + f" as {known}" * (known != name))
        return known

    def thing(self, value: Any, name: str) -> str:
        """The name of an object that has no source."""
        key = (type(value), value) if is_plain(value) else id(value)
        known = self.module.objects.get(key)
        if known is None:
            known = self.module.objects[key] = self.reserve_above(identifier(name) or "value")
            self.module.namespace[known] = value
        return known
