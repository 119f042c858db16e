"""Find the values of the expressions on a line of a program without running any code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.explain.formatting import clipped, format_number, format_shape, printable
from tapemagic.explain.lazy_values import has_numbers

UNKNOWN = object()
"""The value of an expression that can't be found without running code."""

MAX_EXPRESSION = 40
"""Maximum number of characters to show of an expression."""

SCOPES = (
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef,
    ast.ClassDef,
)  # fmt: skip
"""Parts of a program with local names."""

MAX_DEPTH = 8
"""Maximum depth of nested lists whose shape is determined."""

KEYS = (str, int, float, bool, type(None))
"""The types of keys whose hash runs no user code."""


@dataclass(frozen=True)
class Operand:
    """An expression with its value.

    - `text`: The expression as source code on one line.
    - `value`: `UNKNOWN` if finding it would run code.
    """

    node: ast.expr
    text: str
    value: Any

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of an array, a number or a list, or None for other values."""
        return shape_of(self.value)

    @property
    def label(self) -> str:
        """A short description of the value, such as its shape, or '' for functions and other objects."""
        return label(self.value)


@dataclass(frozen=True)
class Names:
    """The names of a program at a line, and the arguments of the running call.

    Attributes
    ----------
    namespace : mapping of str to object
    arguments : mapping of node to object
        The values of expressions that are known because a call received them.
    uncertain : collection of str
        The names that may have been assigned again since the line ran.
    why_none : callable
        Returns the reason why an expression is None, or ''.
    """

    namespace: Mapping[str, Any]
    arguments: Mapping[ast.AST, Any] = field(default_factory=dict)
    uncertain: Collection[str] = ()
    why_none: Callable[[ast.expr], str] = lambda _: ""

    def reason(self, node: ast.expr) -> str:
        """Return the reason why an expression is None, or '' if it isn't known."""
        return self.why_none(node)

    def operand(self, node: ast.expr) -> Operand:
        """Return an expression with its value."""
        return Operand(node, written(node), self.value(node))

    def value(self, node: ast.AST) -> Any:
        """Return the value of a name, a constant, an attribute or an element, or `UNKNOWN` for other expressions."""
        if node in self.arguments:
            return self.arguments[node]
        match node:
            case ast.Name(name) if name not in self.uncertain:
                return self.namespace.get(name, UNKNOWN)
            case ast.Constant(constant):
                return constant
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
                return -number
            case ast.Attribute(owner, name):
                return _attribute(self.value(owner), name)
            case ast.Subscript(owner, index):
                return _element(self.value(owner), self._index(index))
            case ast.List(parts) | ast.Tuple(parts):
                values = [self.value(part) for part in parts]
                return UNKNOWN if any(x is UNKNOWN for x in values) else values
        return UNKNOWN

    def _index(self, node: ast.AST) -> Any:
        match node:
            case ast.Tuple(parts):
                values = tuple(map(self._index, parts))
                return UNKNOWN if any(x is UNKNOWN for x in values) else values
            case ast.Slice(lower, upper, step):
                values = tuple(
                    None if end is None else self._index(end) for end in (lower, upper, step)
                )
                return (
                    slice(*values) if all(type(x) in (int, type(None)) for x in values) else UNKNOWN
                )
        value = self.value(node)
        return value if type(value) in KEYS else UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    """Return a stored attribute, or `UNKNOWN` for a property or a computed attribute."""
    if isinstance(owner, Traced | np.ndarray):
        return np.transpose(unwrap(owner)) if name == "T" else UNKNOWN
    if isinstance(owner, ModuleType | type):
        return vars(owner).get(name, UNKNOWN)
    try:
        stored = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return UNKNOWN
    # A class may define its own __dict__, whose get() would be user code.
    return stored.get(name, UNKNOWN) if type(stored) is dict else UNKNOWN


def _element(owner: Any, index: Any) -> Any:
    """Return an element of a list, tuple, dict or array, or `UNKNOWN` if there is no such element."""
    # Exact types only: a subclass may override __getitem__.
    if index is UNKNOWN or not (
        type(owner) in (list, tuple, dict) or isinstance(owner, Traced | np.ndarray)
    ):
        return UNKNOWN
    try:
        return unwrap(owner)[index] if isinstance(owner, Traced) else owner[index]
    except (LookupError, TypeError, ValueError):
        return UNKNOWN


def written(node: ast.AST) -> str:
    """Return an expression on one line, cut to `MAX_EXPRESSION` characters."""
    return clipped(printable(ast.unparse(node)), MAX_EXPRESSION)


def shape_of(value: Any, depth: int = 0) -> tuple[int, ...] | None:
    """Return the shape of an array, a number or nested lists, or None for other values."""
    if isinstance(value, Traced | np.ndarray | np.generic):
        return tuple(np.shape(unwrap(value)))
    if isinstance(value, bool | int | float | complex):
        return ()
    if type(value) in (list, tuple) and depth < MAX_DEPTH:
        # The first items are enough for a label, and a list may have millions.
        shapes = {shape_of(x, depth + 1) for x in value[:1000]}
        if len(shapes) == 1 and (shape := shapes.pop()) is not None:
            return (len(value), *shape)
    return None


def label(value: Any) -> str:
    """Describe a value in a word or two, such as its shape. Return '' for functions and other objects."""
    match value:
        case None:
            return "None"
        case str():
            return "text"
        case bool() | int() | float() | complex():
            return f"={format_number(value)}"
        case list() | tuple() | dict():
            return f"{type(value).__name__} of {len(value):,}"
    if not isinstance(value, Traced | np.ndarray | np.generic):
        return ""
    array = unwrap(value)
    if array.dtype.kind not in "biufc":
        return f"{format_shape(array.shape)} {array.dtype}"
    if array.shape or not has_numbers(array):
        return format_shape(array.shape)
    return f"={format_number(array[()])}"


def operands_on(root: ast.AST, names: Names) -> Iterator[Operand]:
    """Yield the outermost expressions with a known value below a node, in the order of the source.

    Constants are omitted, and so are functions, comprehensions and classes, which have local names.
    """
    for node in _parts(root):
        if isinstance(node, (ast.Constant, *SCOPES)) or _is_negative_number(node):
            continue
        value = (
            names.value(node) if isinstance(node, ast.expr) and _is_read(node, root) else UNKNOWN
        )
        is_display = isinstance(node, ast.List | ast.Tuple)
        # The items of a list display say more than the list.
        if value is UNKNOWN or is_display:
            yield from operands_on(node, names)
        elif label(value):
            yield Operand(node, written(node), value)  # type: ignore[arg-type]


def _is_negative_number(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


def _parts(root: ast.AST) -> Sequence[ast.AST]:
    """Return the parts of a node, without the statements in its body."""
    inner = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return [part for part in ast.iter_child_nodes(root) if not isinstance(part, inner)]


def _is_read(node: ast.expr, parent: ast.AST) -> bool:
    """Return True if the value of an expression is read, False if a name or an element is assigned."""
    # The target of += is read too, although its context is Store.
    return isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or isinstance(
        parent, ast.AugAssign
    )
