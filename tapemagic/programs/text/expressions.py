"""Expressions: the text of one call of a program, with operators where they compute the same bits."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tapemagic import kernels
from tapemagic.programs.program import Constant, Kind, Node
from tapemagic.programs.text.literals import MAX_LENGTH, literal, weak_literal
from tapemagic.programs.tracing.symbol import Method, method

ATOM, POWER, SIGN = 20, 15, 14

SIGNS: dict[Any, tuple[str, int]] = {
    operator.pow: ("**", POWER), operator.mul: ("*", 13), operator.truediv: ("/", 13),
    operator.floordiv: ("//", 13), operator.mod: ("%", 13), operator.matmul: ("@", 13),
    operator.add: ("+", 12), operator.sub: ("-", 12),
    operator.lshift: ("<<", 11), operator.rshift: (">>", 11),
    operator.and_: ("&", 10), operator.xor: ("^", 9), operator.or_: ("|", 8),
    operator.lt: ("<", 6), operator.le: ("<=", 6), operator.gt: (">", 6),
    operator.ge: (">=", 6), operator.eq: ("==", 6), operator.ne: ("!=", 6),
    np.power: ("**", POWER),
    np.multiply: ("*", 13), np.divide: ("/", 13), np.floor_divide: ("//", 13),
    np.remainder: ("%", 13), np.matmul: ("@", 13),
    np.add: ("+", 12), np.subtract: ("-", 12),
    np.left_shift: ("<<", 11), np.right_shift: (">>", 11),
    np.bitwise_and: ("&", 10), np.bitwise_xor: ("^", 9), np.bitwise_or: ("|", 8),
    np.less: ("<", 6), np.less_equal: ("<=", 6), np.greater: (">", 6),
    np.greater_equal: (">=", 6), np.equal: ("==", 6), np.not_equal: ("!=", 6),
}  # fmt: skip
"""Functions with an operator: its text, and its precedence."""

PREFIXES: dict[Any, str] = {
    np.negative: "-", np.invert: "~", operator.neg: "-", operator.invert: "~", operator.pos: "+",
}  # fmt: skip

AUGMENTED: dict[Any, str] = {
    operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/=",
}  # fmt: skip
"""Functions that write into their first argument: statements, which can't be nested in an expression."""

PYTHON = frozenset(f for f in (*SIGNS, *PREFIXES) if not isinstance(f, np.ufunc))
"""Python operators, which also compute with plain numbers."""

POWERS_ARE_PRODUCTS = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
"""Whether ``np.power(x, 2)`` computes products for real arrays. Before NumPy 2.4 only ``x ** 2`` does."""

REDUCTIONS: dict[Any, str] = {
    np.add.reduce: "sum", np.multiply.reduce: "prod",
    np.maximum.reduce: "max", np.minimum.reduce: "min",
}  # fmt: skip
"""Reductions, and the methods of arrays that only call them."""

COMPARISON = 6
FLOAT64 = Kind((), np.dtype(np.float64), False)
SCALING = frozenset({"*", "/"})
"""Operators of the precedence of @. Parentheses make clear that Python evaluates from the left."""

NUMBERS = frozenset({bool, int, float, complex})
OPERATORS_OF_NUMBERS = {np.add, np.subtract, np.divide, np.multiply, np.floor_divide, np.remainder}
"""Functions that return the same bits for two real NumPy scalars as their operators."""

SWAPS = {np.swapaxes, method("swapaxes")}
TRANSPOSES = {np.transpose, method("transpose"), *SWAPS}

SIMPLE = re.compile(r"-?(?:\d[\w.]*(?:e[+-]\d+)?|[^\W\d][\w.]*)")
"""An operand of ** that formatters write without blanks."""

HOMES = "numpy", "numpy.linalg", "numpy.fft", "tapemagic", kernels.__name__, "scipy.special"
"""Modules that are searched for a function before the module in its ``__module__``."""

CALLED_BY = {"_zeta": ("scipy.special", "zeta")}
"""Private ufuncs, and the public functions that only call them for two arguments."""


@dataclass(slots=True)
class Expression:
    """A part of a statement.

    - `rank`: The precedence of its outermost operator.
    - `depth`: The depth to which calls and operators are nested.
    - `sign`: The outermost operator, if it has two operands, else ''.
    """

    text: str
    rank: int = ATOM
    depth: int = 0
    sign: str = ""

    def within(self, rank: int) -> str:
        """Return the text, in parentheses if its precedence is below `rank`."""
        return self.text if self.rank >= rank else f"({self.text})"


def number(text: str) -> Expression:
    """Return a literal as an expression. A minus sign lowers its precedence."""
    return Expression(text, SIGN if text.startswith("-") else ATOM)


class Expressions:
    """Writes calls as expressions.

    - `read`: Returns the expression of a node among the arguments.
    - `function`: Returns the text of a function.
    - `object_name`: Returns the name of any other object that has no literal.
    - `as_float`: Returns the text of a float64 number, given as node and text, as a Python float. By default, numbers
      stay NumPy scalars.
    """

    def __init__(
        self,
        read: Callable[[Node], Expression],
        function: Callable[[Any], str],
        object_name: Callable[[Any, str], str],
        as_float: Callable[[Node, str], str] | None = None,
    ) -> None:
        self._as_float = as_float
        self._read = read
        self._function = function
        self._object_name = object_name

    def call(self, node: Node) -> Expression:
        """Return the expression of a node."""
        function = node.function
        if function in SIGNS and not node.kwargs and len(node.args) == 2 and operates(node):
            return self._binary(node)
        if function is operator.getitem and len(node.args) == 2:
            value, depth = self.value(node.args[0]), self._depth(node)
            return Expression(f"{value.within(ATOM)}[{self.index(node.args[1])}]", depth=depth)
        if function is list and not node.args:
            return Expression("[]")
        if isinstance(function, operator.attrgetter):
            attribute = function.__reduce__()[1][0]
            return Expression(f"{self.value(node.args[0]).within(ATOM)}.{attribute}")
        if function in REDUCTIONS and len(node.args) == 1 and is_array(node.args[0]):
            return self._reduced(node)
        if is_plain_transpose(node):
            return Expression(f"{self.value(node.args[0]).within(ATOM)}.T", depth=self._depth(node))
        if function in AUGMENTED:
            left, right = map(self.value, node.args)
            return Expression(f"{left.text} {AUGMENTED[function]} {right.text}", 0, right.depth)
        if function in PREFIXES and not node.kwargs and len(node.args) == 1 and negates(node):
            return self._prefixed(node)
        return self._called(node)

    def _binary(self, node: Node) -> Expression:
        sign, rank = SIGNS[node.function]
        left, right = self._operands(node)
        if rank == POWER:
            power = left.within(ATOM), right.within(SIGN)
            gap = "" if all(SIMPLE.fullmatch(x) for x in power) else " "
            text = f"{power[0]}{gap}**{gap}{power[1]}"
        else:
            # Python chains comparisons: a < b < c means (a < b) and (b < c).
            apart = rank == COMPARISON or (sign == "@" and left.sign in SCALING)
            text = f"{left.within(rank + apart)} {sign} {right.within(rank + 1)}"
        return Expression(text, rank, 1 + max(left.depth, right.depth), sign)

    def _prefixed(self, node: Node) -> Expression:
        inner, sign = self.value(node.args[0]), PREFIXES[node.function]
        # Python reads --x and -x**2 as -(-x) and -(x**2); the parentheses spare readers the doubt.
        apart = inner.text.startswith(sign) or inner.rank == POWER
        text = inner.within(ATOM if apart else SIGN)
        return Expression(f"{sign}{text}", SIGN, inner.depth + 1)

    def _reduced(self, node: Node) -> Expression:
        """Return a reduction as a method of the array."""
        # A ufunc's `reduce` takes axis 0 by default, the method of an array takes all axes.
        options = {"axis": node.kwargs.get("axis", 0), **node.kwargs}
        axis = options["axis"]
        if axis is None or (node.args[0].kind.shape == () and axis == ()):
            del options["axis"]
        elif axis.__class__ is tuple and len(axis) == 1:
            options["axis"] = axis[0]
        text = ", ".join(f"{key}={self.value(x).text}" for key, x in options.items())
        of, name = self.value(node.args[0]), REDUCTIONS[node.function]
        if node.args[0].function is list:  # lists have no method `sum`
            return Expression(f"np.{name}({', '.join(filter(None, [of.text, text]))})", depth=1)
        return Expression(f"{of.within(ATOM)}.{name}({text})", depth=self._depth(node))

    def _called(self, node: Node) -> Expression:
        function = node.function
        args = self._operands(node)
        texts = [x.text for x in args]
        if isinstance(function, Method):
            called = f"{args[0].within(ATOM)}.{function.__name__}"
            texts = texts[1:]
        else:
            called = self._function(function)
            if self._as_float is not None and takes_float(node):
                texts[0] = self._as_float(node.args[0], texts[0])
        depths = [x.depth for x in args]
        for key, x in node.kwargs.items():
            option = self.value(x)
            texts.append(f"{key}={option.text}")
            depths.append(option.depth)
        return Expression(f"{called}({', '.join(texts)})", ATOM, 1 + max(depths, default=0))

    def _operands(self, node: Node) -> list[Expression]:
        """Return the positional arguments, with NumPy scalars as Python numbers where the result is the same."""
        constants = Constant in map(type, node.args)
        if not constants or not isinstance(node.function, np.ufunc) or "dtype" in node.kwargs:
            return [self._read(x) if isinstance(x, Node) else self.value(x) for x in node.args]
        kinds = tuple(_operand(x) for x in node.args)
        numbers = [is_number(x) for x in node.args]
        operands = []
        for place, x in enumerate(node.args):
            text = None
            if isinstance(x, Constant) and numbers[place] and not all(numbers):
                text = weak_literal(x.value, node.function, kinds, place, node.kind)
            operands.append(number(text) if text is not None else self.value(x))
        return operands

    def _depth(self, node: Node) -> int:
        return 1 + self.value(node.args[0]).depth

    def value(self, x: Any) -> Expression:
        """Return the expression of any argument."""
        if isinstance(x, Node):
            return self._read(x)
        if x.__class__ is tuple:
            parts = [self.value(part) for part in x]
            text = f"({', '.join(p.text for p in parts)}{',' * (len(parts) == 1)})"
            return Expression(text, depth=1 + max((p.depth for p in parts), default=0))
        if x.__class__ is list:
            parts = [self.value(part) for part in x]
            text = f"[{', '.join(p.text for p in parts)}]"
            return Expression(text, depth=1 + max((p.depth for p in parts), default=0))
        if x.__class__ is dict:
            items = ", ".join(f"{self.value(k).text}: {self.value(v).text}" for k, v in x.items())
            return Expression(f"{{{items}}}", depth=1)
        if x.__class__ is slice:
            bounds = [x.start, x.stop, x.step]
            if x.step is None:
                bounds = bounds[x.start is None : 2]
            return Expression(f"slice({', '.join(self.value(v).text for v in bounds)})", depth=1)
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            fields = ", ".join(self.value(part).text for part in x)
            return Expression(f"{self._function(type(x))}({fields})", depth=1)
        short = literal(x)
        if short is not None and len(short) <= MAX_LENGTH:
            return number(short)
        if callable(x):
            return Expression(self._function(x))
        return Expression(self._object_name(x, type(x).__name__.lower()))

    def index(self, x: Any) -> str:
        """Return the text of an index without its brackets."""
        if x.__class__ is tuple and x:
            return ", ".join(self._axis(part) for part in x) + "," * (len(x) == 1)
        return self._axis(x)

    def _axis(self, x: Any) -> str:
        if x.__class__ is not slice:
            return self.value(x).text
        last = () if x.step is None else (x.step,)
        bounds = ["" if v is None else self.value(v).text for v in (x.start, x.stop, *last)]
        if all(SIMPLE.fullmatch(bound) or not bound for bound in bounds):
            return ":".join(bounds)
        return " : ".join(bounds).replace(":  :", "::").strip()


def is_array(x: Any) -> bool:
    """Return True if an argument is an array, or a list of numbers or arrays."""
    return isinstance(x, Node) and getattr(x.kind, "is_array", False)


def is_plain_transpose(node: Node) -> bool:
    """Return True if a call swaps the axes of a matrix."""
    if node.function not in TRANSPOSES or not is_array(node.args[0]) or node.kwargs:
        return False
    axes = node.args[1:]
    if len(node.args[0].kind.shape) != 2 or not all(map(_is_static, axes)):
        return False
    if len(axes) == 1 and axes[0].__class__ is tuple:
        axes = axes[0]
    swapped = [axis % 2 for axis in axes if axis is not None]
    if node.function in SWAPS:
        return sorted(swapped) == [0, 1]
    return swapped in ([], [1, 0])


def _is_static(x: Any) -> bool:
    parts = x if x.__class__ is tuple else (x,)
    return all(part is None or part.__class__ is int for part in parts)


def is_number(x: Any) -> bool:
    """Return True if an argument is a number that is the same at each call."""
    if isinstance(x, Node):
        return isinstance(x, Constant) and not x.by_reference and x.kind.shape == ()
    return isinstance(x, bool | int | float | complex)


def _operand(x: Any) -> Any:
    """Return the dtype of an operand, or its Python type if it is, or may be, a Python number."""
    if isinstance(x, Node):
        return type(x.kind.dtype.type(0).item()) if may_be_python(x) else x.kind.dtype
    return type(x) if type(x) in (int, float, complex) else np.asarray(x).dtype


def may_be_python(node: Node) -> bool:
    """Return True if a value may be a plain Python number, not a NumPy scalar."""
    # Python operators return a NumPy scalar or array as soon as one operand is known to be one.
    if node.function not in PYTHON or node.kind.is_array:
        return False
    return not any(
        x.kind.is_array or x.function is None or isinstance(x.function, np.ufunc)
        for x in node.args
        if isinstance(x, Node)
    )


def takes_float(node: Node) -> bool:
    """Return True if a call is that of a ufunc on one float64 number, which is faster with a Python float.

    The results have the same bits and the same class.
    """
    # A ufunc converts a NumPy scalar to an array first: 8 % of the time of "two gradients" in benchmarks.programs.
    if len(node.args) != 1 or node.kwargs or not isinstance(node.function, np.ufunc):
        return False
    x = node.args[0]
    return isinstance(x, Node) and x.kind == FLOAT64


def operates(node: Node) -> bool:
    """Return True if the operator of a node's function returns the same bits as the function."""
    # Operators between NumPy scalars don't call the ufunc (NumPy's `scalarmath` code), and the ** of arrays has fast
    # paths for some exponents.
    function, args = node.function, node.args
    if function in PYTHON:
        return True
    kinds = [x.kind for x in args if isinstance(x, Node)]
    numbers = {x.__class__ for x in args if not isinstance(x, Node)}
    if not kinds or not numbers <= NUMBERS:
        return False
    if node.kind.is_array and node.kind.shape and function is not np.power:
        return True
    if function is np.power:
        base, exponent = args
        value = exponent.value if isinstance(exponent, Constant) else exponent
        real = isinstance(base, Node) and base.kind.dtype.kind != "c"
        special = (0.5, -1) if real and POWERS_ARE_PRODUCTS else (-1, 0, 0.5, 1, 2)
        if isinstance(value, Node) or np.ndim(value) or value in special:
            return False
        return isinstance(base, Node) and base.kind.is_array and base.kind.shape != ()
    real = complex not in numbers
    for kind in kinds:
        if kind.is_array and kind.shape:
            return True
        real = real and kind.dtype.kind == "f"
    return SIGNS[function][1] == COMPARISON or (real and function in OPERATORS_OF_NUMBERS)


def negates(node: Node) -> bool:
    """Return True if a sign before the operand returns the same bits as the function of a node."""
    kind = node.args[0].kind if isinstance(node.args[0], Node) else None
    return node.function in PYTHON or (
        kind is not None and ((kind.is_array and kind.shape != ()) or kind.dtype.kind in "fc")
    )


def calls_numpy_alone(node: Node) -> bool:
    """Return True if a call is that of a NumPy ufunc whose arguments are only nodes and numbers."""
    if node.kwargs or not is_numpys(node.function):
        return False
    numbers = {x.__class__ for x in node.args if not isinstance(x, Node)}
    return numbers <= {int, float}


def is_numpys(function: Any) -> bool:
    """Return True if a function is a ufunc that ``numpy`` has under the ufunc's name."""
    return function.__class__ is np.ufunc and _is_in_numpy(function)


@cache
def _is_in_numpy(function: Any) -> bool:
    return home_of(function) == ("numpy", function.__name__)


def home_of(function: Any) -> tuple[str, str] | None:
    """Return the module from which a function can be imported, and the name to import.

    Examples
    --------
    >>> home_of(np.linalg.solve), home_of(np.add)
    (('numpy.linalg', 'solve'), ('numpy', 'add'))
    """
    name = getattr(function, "__name__", None)
    if not isinstance(name, str) or not name.isidentifier():
        return None
    own = getattr(function, "__module__", None)
    for module in (*HOMES, own):
        if not isinstance(module, str) or module == "__main__" or "<" in module:
            continue
        loaded = sys.modules.get(module)
        if loaded is None:
            continue
        member = vars(loaded).get(name)
        if member is function or (member is None and _lazy(loaded, name) is function):
            return module, name
    return CALLED_BY.get(name) if isinstance(function, np.ufunc) else None


def _lazy(module: Any, name: str) -> Any:
    """Return the value of a name that a module loads on first use."""
    return getattr(module, name, None) if name in getattr(module, "__all__", ()) else None
