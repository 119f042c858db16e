"""Program: the straight-line sequence of NumPy calls that a traced function made, as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Kind(NamedTuple):
    """The shape and dtype of a value, and whether it is an array or a NumPy scalar."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_array: bool

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def kind_of(value: Any) -> Kind:
    """Return the kind of an array, a NumPy scalar or a plain Python number.

    Examples
    --------
    >>> kind_of(np.float32(1))
    Kind(shape=(), dtype=dtype('float32'), is_array=False)
    """
    kind = SINGLE.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, np.ndarray):
        return Kind(value.shape, value.dtype, True)
    if isinstance(value, np.generic):
        return Kind((), value.dtype, False)
    return Kind((), np.dtype(type(value)), False)


SINGLE: dict[Any, Kind] = {
    kind: Kind((), np.dtype(kind), False)
    for kind in (np.float64, np.float32, np.bool_, np.intp, bool, int, float, complex)
}
"""The kinds of single numbers of the usual classes."""


class Site(NamedTuple):
    """A line of user code.

    - `file`, `line`: Str and int. The first line of the statement.
    - `frame`: The number of the call of the function in which the line stands: two calls of one function are two.
    - `time`: How often the statement has begun, over all calls: above 1 in a loop, and in a function called again.
    """

    file: str
    line: int
    frame: int = 1
    time: int = 1


class Back(NamedTuple):
    """The part of a reverse sweep that made a node.

    - `of`: The value whose operation is differentiated, or None for the assembly of gradients.
    - `order`: The order of the sweep: 1 for a gradient, 2 for a gradient of a gradient, ...
    - `to`: The value whose adjoint it is, or None for an intermediate result of a rule.
    - `sources`: The inputs whose complete adjoint it is at the end of the sweep: several may share it.
    - `own`: Whether user code made it, such as a function for `custom_gradient`.
    """

    of: Any
    order: int
    to: Any = None
    sources: tuple[Any, ...] = ()
    own: bool = False

    def reaching(self, node: Node) -> Back:
        """Return a copy as the adjoint of a value: the first value, or the first one with a name."""
        is_named = self.to is not None and (self.to.name or isinstance(self.to, Input))
        if is_named or (self.to is not None and not node.name and not isinstance(node, Input)):
            return self
        return Back(self.of, self.order, node, self.sources, self.own)

    def of_source(self, source: Input) -> Back:
        """Return a copy as the complete adjoint of an input."""
        partial = isinstance(self.to, Input) and not self.sources
        to = source if partial else self.to
        return Back(self.of, self.order, to, (*self.sources, source), self.own)


class Node:
    """A value of a program: the result of one call.

    - `function`: A NumPy function, a `Method`, one of `operator` where Python's operator is something else than NumPy's
      function (``operator.pow``, ``operator.getitem``, and all on plain Python numbers), or one of this package.
    - `args`, `kwargs`: Tuple and dict. Of nodes, of constants (arrays that are known are `Constant` nodes), and of
      lists, tuples, dicts and slices of these.
    - `kind`: Kind, or tuple of Kind. The kind of the result, or of each result if the call returns a tuple.
    - `site`: The line of user code that made the call.
    - `back`: The reverse sweep that made it, or None for a call of the user's lines.
    - `name`: The name of the value in user code, or ''.
    - `errstate`: Dict of str to str, or None. The arguments of np.errstate under which the call was made, if they have
      changed since the trace began.
    """

    __slots__ = ("_reads", "args", "back", "errstate", "function", "kind", "kwargs", "name", "site")

    def __init__(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        kind: Any,
        site: Site | None = None,
        back: Back | None = None,
        name: str = "",
        errstate: dict[str, str] | None = None,
    ) -> None:
        self.function = function
        self.args = tuple(args)
        self.kwargs = kwargs
        self.kind = kind
        self.site = site
        self.back = back
        self.name = name
        self.errstate = errstate
        self._reads: list[Node] | None = None

    def reads(self) -> list[Node]:
        """The nodes among its arguments."""
        if self._reads is None:
            nodes = self._reads = []
            for x in (*self.args, *self.kwargs.values()) if self.kwargs else self.args:
                if isinstance(x, Node):
                    nodes.append(x)
                elif isinstance(x, NESTED):
                    nodes += nodes_in(x)
        return self._reads

    def write_into(self, target: Node) -> None:
        """Let the call write its result into an array."""
        self.kwargs = {**self.kwargs, "out": target}
        self._reads = None

    def with_arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Node:
        """Return this call with other arguments."""
        return Node(
            self.function, args, kwargs, self.kind, self.site, self.back, self.name, self.errstate
        )

    def __repr__(self) -> str:
        called = getattr(self.function, "__name__", str(self.function))
        return f"<{self.name or 'node'} = {called} {self.kind}>"


class Input(Node):
    """An input of a program, passed at each call.

    - `origin`: A `Variable`; or a number, the place among the leaves of the arguments; or a `Reached`.
    - `contiguous`: Whether it is a matrix, or an array of more axes, that is C-contiguous at each call.
    """

    __slots__ = ("contiguous", "origin")

    def __init__(self, origin: Any, kind: Kind, name: str = "") -> None:
        super().__init__(None, (), {}, kind, name=name)
        self.origin = origin
        self.contiguous = False


class Constant(Node):
    """An array or NumPy scalar that is the same at each call.

    - `by_reference`: Whether it is a user array, which may be written into between calls; otherwise it is a private
      copy.
    - `from_user`: Whether it came from user code, so that equal numbers may be a coincidence.
    - `uniform`: Whether all elements have the same bits; None until this is computed.
    """

    __slots__ = ("by_reference", "from_user", "uniform", "value")

    def __init__(
        self, value: Any, by_reference: bool = False, name: str = "", from_user: bool = False
    ) -> None:
        super().__init__(None, (), {}, kind_of(value), name=name)
        self.value = value
        self.by_reference = by_reference
        self.from_user = from_user
        self.uniform: bool | None = None


class Guard:
    """A bool on which user code branched: the program is valid only while it has the expected value."""

    __slots__ = ("condition", "expected", "site")

    def __init__(self, condition: Node, expected: bool, site: Site | None) -> None:
        self.condition = condition
        self.expected = expected
        self.site = site

    def reads(self) -> list[Node]:
        """The nodes that it reads."""
        return [self.condition]


class Store:
    """The writing of a value that one round of a loop computed.

    - `target`: An array that was made before the loop, or a list.
    - `index`: The place in the array, or None to append the value to a list.
    """

    __slots__ = ("index", "target", "value")

    def __init__(self, target: Node, index: Any, value: Node) -> None:
        self.target = target
        self.index = index
        self.value = value

    def reads(self) -> list[Node]:
        """The nodes that it reads."""
        return [self.target, *nodes_in(self.index), self.value]


class Loop:
    """A part of a program that runs for one block of its arrays after the other.

    - `start`, `part`: The first row of a block, and the slice of its rows: known only inside the loop.
    - `count`, `step`: The number of rows in all, and in a block.
    - `body`: List of Node and Store. In the order of execution; no node outside reads these.
    - `buffers`: List of (Node, int). Arrays made before the loop into which its calls write, and the axis of each along
      which the last block, if it is shorter, takes a part.
    """

    __slots__ = ("body", "buffers", "count", "part", "start", "step")

    def __init__(self, count: int, step: int) -> None:
        index = Kind((), np.dtype(np.intp), False)
        self.start = Input("start", index, "start")
        self.part = Input("part", index, "part")
        self.count = count
        self.step = step
        self.body: list[Any] = []
        self.buffers: list[tuple[Node, int]] = []

    def reads(self) -> list[Node]:
        """The nodes from outside that it reads, each once."""
        inner = {self.start, self.part, *(x for x in self.body if isinstance(x, Node))}
        read = (x for part in self.body for x in arguments_of(part))
        return list(dict.fromkeys(x for x in read if x not in inner))


@dataclass
class Program:
    """The calls of a traced function, in order, and the values that they begin with and lead to.

    - `body`: List of Node, Guard and Loop. In the order of execution. A node stands after those in its arguments;
      inputs and constants are not listed. Loops come last, of the pass `blocking`: the others meet none.
    - `results`: The leaves of the function's result; one that isn't a node is the same at each call.
    - `assigned`: List of (Variable, Node). The values that Variables get after the last line. A program that is ready
      to run refers to them weakly.
    - `name`: The name of the function.
    """

    inputs: list[Input]
    body: list[Any]
    results: list[Any]
    assigned: list[tuple[Any, Node]]
    name: str = "program"
    notes: dict[str, Any] = field(default_factory=dict)


def statement_of(node: Node) -> tuple[tuple[str, int, int] | None, int]:
    """Return the user statement of a node (file, line, time), and its order of differentiation."""
    site, order, back = node.site, 0, node.back
    if back is not None:
        order = back.order if back.of is not None else 0
        while back is not None and back.of is not None and not back.own:
            site, back = back.of.site, back.of.back
    return None if site is None else (site.file, site.line, site.time), order


def is_array(x: Any) -> bool:
    """Return True if an argument or a result is one array, and neither a number nor several values."""
    return isinstance(x, Node) and x.kind.__class__ is Kind and x.kind.is_array


SEQUENCES = (list, tuple)


def nodes_in(value: Any) -> Iterator[Node]:
    """Yield the nodes among nested arguments."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, SEQUENCES):
        for part in value:
            yield from nodes_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from nodes_in(part)
    elif isinstance(value, slice):
        yield from nodes_in((value.start, value.stop, value.step))


NESTED = (list, tuple, dict, slice)
"""The classes of arguments that hold others."""


def arguments_of(entry: Node | Guard | Store | Loop) -> list[Node]:
    """Return the nodes that an entry of a body reads; for a loop, the ones from outside, each once."""
    return entry.reads()


def replaced(value: Any, change: Callable[[Node], Any]) -> Any:
    """Replace each node in nested arguments."""
    if isinstance(value, Node):
        return change(value)
    if value.__class__ is tuple or value.__class__ is list:
        return value.__class__(replaced(part, change) for part in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(replaced(part, change) for part in value))
    if isinstance(value, dict):
        return {key: replaced(part, change) for key, part in value.items()}
    if isinstance(value, slice):
        return slice(*(replaced(x, change) for x in (value.start, value.stop, value.step)))
    return value
