"""Misfits: why an operation of NumPy cannot be computed with its operands, in one sentence."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from tapemagic.engine.tensor.tensor import Traced, unwrap
from tapemagic.errors import RankError
from tapemagic.explain.advice import math_function, math_instead, with_article
from tapemagic.explain.formatting import format_shape
from tapemagic.report.failure.name_errors import explain_name_error
from tapemagic.report.failure.operands import UNKNOWN, Names, Operand, written

Shape = tuple[int, ...]

OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")

CORE_SIZES = re.compile(r"^matmul: Input operand 1 has .*\(size (\d+) is different from (\d+)\)$")

GROWN = re.compile(
    r"^non-broadcastable output operand with shape \(([\d,]*)\) doesn't match the broadcast shape \(([\d,]*)\)$"
)

NOT_ONE = "arrays can be converted to Python scalars"
"""The words of NumPy where an array of several elements is to be one number."""

JOINING = {"concatenate", "hstack", "vstack", "dstack", "column_stack"}


@dataclass(frozen=True)
class Misfit:
    """A sentence on what does not fit, and the operands that it is about."""

    sentence: str = ""
    operands: tuple[ast.AST, ...] = ()


NOTHING = Misfit()


def explain_shape_error(
    error: BaseException, node: ast.AST | None, names: Names, line: Sequence[ast.AST] = ()
) -> Misfit:
    """The misfit in the operation that a program could not compute.

    Parameters
    ----------
    error : BaseException
    node : node or None
        The operation.
    names : Names
    line : sequence of node
        The statements on the line that failed.

    Returns
    -------
    Misfit
        Empty if there is nothing to say that the message of the error does not say.
    """
    if said := explain_name_error(error, node, names, line):
        return Misfit(said, (node,) if isinstance(node, ast.Name) else ())
    match node:
        case ast.BinOp(left, _, right) | ast.AugAssign(left, _, right):
            given = [names.operand(left), names.operand(right)]
            found = _of_operator(error, node, given, names)
            is_written = isinstance(node, ast.AugAssign) and isinstance(error, ValueError)
            return found if found.sentence or not is_written else _of_writing(error, *given)
        case ast.Compare(left, [_], [right]):
            return _of_elementwise([names.operand(left), names.operand(right)])
        case ast.Subscript(value, index):
            return _of_index(error, names.operand(value), names.operand(index))
        case ast.Call():
            return _of_call(error, node, names)
    return NOTHING


def _about(text: str, *operands: Operand) -> Misfit:
    return Misfit(text, tuple(x.node for x in operands))


def _of_operator(
    error: BaseException,
    node: ast.BinOp | ast.AugAssign,
    given: list[Operand],
    names: Names,
) -> Misfit:
    (left, right), operator = given, node.op
    if isinstance(error, TypeError):
        if isinstance(operator, ast.BitXor) and any(_is_real(x.value) for x in given):
            text = f"In Python, ^ is 'exclusive or' of bits. Write {_power(node, left, right)}."
            return _about(text, left, right)
        return _of_types(given, names)
    if isinstance(error, ValueError):
        is_product = isinstance(operator, ast.MatMult)
        return _of_matmul("@", left, right, str(error)) if is_product else _of_elementwise(given)
    return NOTHING


def _power(node: ast.BinOp | ast.AugAssign, left: Operand, right: Operand) -> str:
    """The power that was meant by ^; only its sign where ^ binds more than is meant, as in 2 * x ^ 2."""
    if isinstance(node, ast.AugAssign):
        return "**= instead of ^="
    first, last = left.node, right.node
    opened = (first.lineno, first.col_offset) != (node.lineno, node.col_offset)
    closed = (last.end_lineno, last.end_col_offset) != (node.end_lineno, node.end_col_offset)
    if (opened or _is_atom(left)) and (closed or _is_atom(right)):
        return f"{_factor(left)} ** {_factor(right)}"
    return "** instead of ^"


def _is_atom(x: Operand) -> bool:
    """Whether an expression needs no brackets beside any operator."""
    atoms = ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.Call
    return isinstance(x.node, atoms)


def _factor(x: Operand) -> str:
    """An expression to stand beside an operator, in brackets where it needs them."""
    return x.text if _is_atom(x) else f"({x.text})"


def _is_real(value: Any) -> bool:
    return isinstance(value, float) or getattr(unwrap(value), "dtype", np.dtype(int)).kind == "f"


def _is_numeral(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_types(given: Sequence[Operand], names: Names) -> Misfit:
    """An operand that is no number."""
    numbers = (Traced, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
    for x in given:
        if isinstance(x.value, str):
            advice = f" Write float({x.text})." if _is_numeral(x.value) else ""
            return _about(f"{x.text} is a str, not a number.{advice}", x)
        if x.value is None:
            reason = names.reason(x.node)
            return _about(
                f"{x.text} is None, because {reason}"
                if reason
                else f"{x.text} is None, not a number.",
                x,
            )
        if isinstance(x.value, FunctionType | BuiltinFunctionType | np.ufunc):
            return _about(f"{x.text} is a function, not a number. Call it: {x.text}(x).", x)
        if isinstance(x.value, Traced | np.ndarray) and unwrap(x.value).dtype.kind in "OSU":
            what = f"an array of dtype {unwrap(x.value).dtype}"
            return _about(f"{x.text} is {what}, not of numbers. Convert it with .astype(float).", x)
    others = [x for x in given if x.value is not UNKNOWN and not isinstance(x.value, numbers)]
    if len(others) == 1:
        [x] = others
        return _about(f"{x.text} is {with_article(type(x.value).__name__)}, not a number.", x)
    return NOTHING


def _sizes(*given: Operand) -> str:
    """The shapes of operands: "A is 2×2, x is 3"."""
    return ", ".join(dict.fromkeys(f"{x.text} is {_size(x.shape)}" for x in given))


def _size(shape: Shape | None) -> str:
    return format_shape(shape) if shape else "a single number"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _of_matmul(name: str, left: Operand, right: Operand, message: str = "") -> Misfit:
    """Sizes that do not fit in a product of matrices."""
    a, b = left.shape, right.shape
    if a is None or b is None:
        told = CORE_SIZES.search(message)
        text = f"The inner sizes {told[2]} and {told[1]} differ." if told else ""
        return Misfit(text, (left.node, right.node)) if told else NOTHING
    if not a or not b:
        if name not in ("@", "matmul"):
            return NOTHING
        text = (
            f"but {name} multiplies vectors and matrices. Write {_factor(left)} * {_factor(right)}."
        )
        number = left if not a else right
        return _about(f"{number.text} is a single number, {text}", number)
    inner = a[-1], b[-1] if name == "inner" else b[-2:][0]
    if inner[0] != inner[1]:
        what = "last" if name == "inner" else "inner"
        text = f"{_sizes(left, right)}: the {what} sizes {inner[0]} and {inner[1]} differ."
        return _about(text, left, right)
    if name in ("@", "matmul") and (found := _clash([a[:-2], b[:-2]])):
        text = f"{_sizes(left, right)}: in the axes before the matrices, {found[0]}."
        return _about(text, left, right)
    return NOTHING


def _clash(shapes: Sequence[Shape]) -> tuple[str, list[int]] | None:
    """The first pair of sizes, from the last axis on, that NumPy cannot broadcast, and the shapes that have them."""
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {k: shape[-back] for k, shape in enumerate(shapes) if len(shape) >= back}
        others = [k for k, size in sizes.items() if size != 1]
        differing = [k for k in others if sizes[k] != sizes[others[0]]]
        if differing:
            pair = [others[0], differing[0]]
            where = "the last axis has" if back == 1 else f"axis -{back} has"
            one, two = (sizes[k] for k in pair)
            return f"sizes must be equal, or one of them 1, but {where} {one} and {two}", pair
    return None


def _of_elementwise(given: Sequence[Operand]) -> Misfit:
    """Shapes that cannot be broadcast."""
    if any(x.shape is None for x in given):
        return NOTHING
    found = _clash([x.shape or () for x in given])
    if found is None:
        return NOTHING
    pair = [given[k] for k in found[1]]
    return _about(f"{_sizes(*pair)}, which can't be combined: {found[0]}.", *pair)


def _of_writing(error: BaseException, left: Operand, right: Operand) -> Misfit:
    """An array that would have to grow to hold a result."""
    found = GROWN.search(str(error))
    if not found:
        return NOTHING
    held, made = (_size(tuple(int(n) for n in part.split(",") if n)) for part in found.groups())
    text = f"{left.text} is {held}, but the result is {made}, which doesn't fit into it."
    return _about(text, left, right)


def _of_index(error: BaseException, owner: Operand, index: Operand) -> Misfit:
    """An index that is out of range, or a key that does not exist."""
    if isinstance(error, KeyError) and type(owner.value) is dict:
        keys = [repr(key) for key in owner.value if type(key) in (str, int)]
        known = (
            f"Its keys are {', '.join(keys[:6])}{', …' * (len(keys) > 6)}."
            if keys
            else "It is empty."
        )
        what = f"no key {error.args[0]!r}" if type(error.args[0]) in (str, int) else "no such key"
        return (
            _about(f"{owner.text} has {what}. {known}", owner, index)
            if keys or not owner.value
            else NOTHING
        )
    if not isinstance(error, IndexError):
        return NOTHING
    if found := OUT_OF_BOUNDS.search(str(error)):
        number, axis, size = map(int, found.groups())
        return _about(_out_of_range(owner, number, size, f" along axis {axis}"), owner, index)
    shape = owner.shape
    if type(owner.value) in (list, tuple):
        if type(index.value) is int:
            return _about(_out_of_range(owner, index.value, len(owner.value), ""), owner, index)
    elif shape is not None and str(error).startswith(
        ("too many indices", "invalid index to scalar")
    ):
        axes = _count(len(shape), "axis").replace("axiss", "axes")
        given = len(index.node.elts) if isinstance(index.node, ast.Tuple) else 1
        what = f"{_size(shape)}, with {axes}" if shape else "a single number, without axes"
        many = f"{given} indices" if given > 1 else "an index"
        return _about(f"{owner.text} is {what}, but the line uses {many}.", owner, index)
    return NOTHING


def _out_of_range(owner: Operand, number: int, size: int, where: str) -> str:
    if not size:
        return f"{owner.text} is empty{where}, so it has no element {number}."
    return (
        f"{owner.text} has {_count(size, 'element')}{where}, numbered 0 to {size - 1}, or -{size} to -1 from the end, "
        f"but the line uses {number}."
    )


def _of_call(error: BaseException, node: ast.Call, names: Names) -> Misfit:
    """The misfit in a call of a function of NumPy, of Python's numbers, or of a tensor's method."""
    if any(isinstance(x, ast.Starred) for x in node.args):
        return NOTHING
    given = [names.operand(x) for x in node.args]
    words = {word.arg: names.operand(word.value) for word in node.keywords if word.arg}
    function = names.value(node.func)
    name = getattr(node.func, "attr", "")
    if function is UNKNOWN and isinstance(node.func, ast.Attribute):
        owner = names.operand(node.func.value)
        if not isinstance(owner.value, Traced | np.ndarray):
            return NOTHING
        given = [owner, *given]
        if name in ("assign", "assign_add", "assign_sub") and isinstance(error, ValueError):
            return _about("", *given[:2])
        if name == "item" and isinstance(error, ValueError) and len(given) == 1 and owner.shape:
            return _about(f"item() needs one number, but {_sizes(owner)}. {_one_of(owner)}.", owner)
        if name == "reshape" and len(given) > 2:
            lengths = ast.Tuple([x.node for x in given[1:]], ast.Load())
            given = [owner, names.operand(lengths)]
    elif isinstance(function, Traced | np.ndarray | float | int) and not callable(function):
        text = f"{written(node.func)} isn't a function. Write * for a product, or [...] for an element."
        return Misfit(text, (node.func,)) if isinstance(error, TypeError) else NOTHING
    elif by_math := math_function(node.func, names.namespace):
        return _of_plain_number(error, by_math, given, math_instead(node, by_math))
    elif function is float or function is int or function is complex:
        return _of_plain_number(error, f"{function.__name__}()", given)
    else:
        name = _numpy_name(function)
    return _of_numpy(error, name, given, words, names) if name else NOTHING


def _numpy_name(function: Any) -> str:
    """The name of a function of NumPy; empty for any other."""
    name = getattr(function, "__name__", "") if callable(function) else ""
    homes = (np, np.linalg)
    return name if any(getattr(home, name, None) is function for home in homes if name) else ""


def _one_of(x: Operand) -> str:
    return f"Use one element, or reduce it to one number: np.sum({x.text})"


def _of_plain_number(
    error: BaseException, function: str, given: Sequence[Operand], instead: str = ""
) -> Misfit:
    """An array in a call of float(), int() or a function of math."""
    if not isinstance(error, TypeError | ValueError):
        return NOTHING
    arrays = [x for x in given if x.shape and isinstance(x.value, Traced | np.ndarray)]
    if arrays:
        advice = instead or _one_of(arrays[0])
        return _about(f"{function} needs one number, but {_sizes(arrays[0])}. {advice}.", arrays[0])
    if len(given) == 1 and (isinstance(error, RankError) or NOT_ONE in str(error)):
        return _about(f"{function} needs one number. {instead or _one_of(given[0])}.", *given)
    return NOTHING


def _of_numpy(
    error: BaseException,
    name: str,
    given: Sequence[Operand],
    words: Mapping[str, Operand],
    names: Names,
) -> Misfit:
    """The misfit in a call of a function of NumPy."""
    if isinstance(error, np.exceptions.AxisError):
        return _of_axis(error, given)
    if isinstance(error, IndexError) and given and (found := OUT_OF_BOUNDS.search(str(error))):
        number, axis, size = map(int, found.groups())
        return _about(_out_of_range(given[0], number, size, f" along axis {axis}"), *given)
    if isinstance(error, TypeError) and isinstance(getattr(np, name, None), np.ufunc):
        return _of_types(given, names)
    if isinstance(error, np.linalg.LinAlgError) and given and given[0].shape is not None:
        return _of_matrix(name, given[0], given[0].shape)
    if not isinstance(error, ValueError) or not given:
        return NOTHING
    if name in ("matmul", "dot", "inner", "vdot") and len(given) == 2:
        return _of_matmul(name, given[0], given[1])
    if name == "reshape":
        return _of_reshape(
            [*given, *(words[word] for word in ("shape", "newshape") if word in words)]
        )
    if name == "stack" or name in JOINING:
        return _of_joining(name, given, words)
    if isinstance(getattr(np, name, None), np.ufunc) or name in ("where", "isclose", "allclose"):
        return _of_elementwise(given)
    return NOTHING


def _of_axis(error: np.exceptions.AxisError, given: Sequence[Operand]) -> Misfit:
    """An axis that an array does not have."""
    owner = next((x for x in given[:1] if x.shape is not None and len(x.shape) == error.ndim), None)
    if owner is None or error.axis is None:
        return NOTHING
    if not error.ndim:
        return _about(f"{owner.text} is a single number, so it has no axis {error.axis}.", owner)
    axes = "axis 0 only" if error.ndim == 1 else f"axes 0 to {error.ndim - 1}"
    return _about(
        f"{owner.text} is {_size(owner.shape)}, with {axes}, so it has no axis {error.axis}.", owner
    )


def _of_matrix(name: str, x: Operand, shape: Shape) -> Misfit:
    """A matrix that is not square, or something that is no matrix."""
    if len(shape) >= 2 and shape[-1] != shape[-2]:
        return _about(f"{_sizes(x)}, but np.linalg.{name} needs a square matrix.", x)
    return (
        _about(f"{_sizes(x)}, but np.linalg.{name} needs a matrix.", x)
        if len(shape) < 2
        else NOTHING
    )


def _of_reshape(given: Sequence[Operand]) -> Misfit:
    """A shape that has not as many elements as an array."""
    if len(given) < 2 or given[0].shape is None:
        return NOTHING
    x, wanted = given[:2]
    lengths = list(wanted.value) if isinstance(wanted.value, list | tuple) else [wanted.value]
    if not all(isinstance(n, int | np.integer) for n in lengths):
        return NOTHING
    size, rest = math.prod(x.shape or ()), math.prod(n for n in lengths if n != -1)
    has = f"{x.text} has {_count(size, 'element')}" + f" ({_size(x.shape)})" * (
        len(x.shape or ()) > 1
    )
    shape = "×".join(str(n) if n != -1 else "?" for n in lengths)
    parts = wanted.node.elts if isinstance(wanted.node, ast.Tuple) else [wanted.node]
    if lengths.count(-1) == 1 and rest > 0 and size % rest:
        text = f"{has}, but {shape} needs a multiple of {rest}."
    elif -1 not in lengths and min(lengths, default=0) >= 0 and rest != size:
        text = f"{has}, but {_size(tuple(map(int, lengths)))} needs {rest:,}."
    else:
        return NOTHING
    return Misfit(text, (x.node, *parts))


def _of_joining(name: str, given: Sequence[Operand], words: Mapping[str, Operand]) -> Misfit:
    """Arrays that cannot be joined."""
    parts = [*_parts_of(given[0])]
    shapes = [x.shape for x in parts]
    if len(parts) < 2 or any(shape is None for shape in shapes):
        return NOTHING
    if name == "stack":
        other = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), None)
        if other is None:
            return NOTHING
        pair = parts[0], parts[other]
        return _about(f"np.stack needs arrays of one shape, but {_sizes(*pair)}.", *pair)
    option = words.get("axis", given[1] if len(given) > 1 else None)
    axis: Any = 0 if option is None else option.value
    seen = [_as_joined(name, shape or ()) for shape in shapes]
    if name != "concatenate":
        axis = {"vstack": 0, "dstack": 2, "column_stack": 1}.get(name, int(len(seen[0]) > 1))
    if type(axis) is not int:
        return NOTHING
    for part, shape in zip(parts[1:], seen[1:], strict=True):
        text = _not_joined(name, axis, seen[0], shape)
        if text:
            return _about(f"{_sizes(parts[0], part)}: {text}", parts[0], part)
    return NOTHING


def _parts_of(x: Operand) -> Iterator[Operand]:
    """The items of a list, by the expressions in it or else by their numbers."""
    if not isinstance(x.value, list | tuple):
        return
    nodes = getattr(x.node, "elts", [])
    for k, value in enumerate(x.value):
        own = len(nodes) == len(x.value)
        yield Operand(
            nodes[k] if own else x.node, written(nodes[k]) if own else f"{x.text}[{k}]", value
        )


def _as_joined(name: str, shape: Shape) -> Shape:
    """The shape to which a function extends an array before it joins it with others."""
    if name == "concatenate":
        return shape
    shape = shape or (1,)
    if name == "column_stack" and len(shape) == 1:
        return (*shape, 1)
    if name in ("vstack", "dstack") and len(shape) == 1:
        shape = (1, *shape)
    return (*shape, 1) if name == "dstack" and len(shape) == 2 else shape


def _not_joined(name: str, axis: int, one: Shape, other: Shape) -> str:
    """The reason why two arrays cannot be joined along an axis; empty if they can be."""
    if not one or not other:
        return (
            "np.concatenate joins arrays along an axis, but a number has no axis. Write np.stack."
        )
    if len(one) != len(other):
        return f"np.{name} joins arrays with the same number of axes, but these have {len(one)} and {len(other)}."
    for k, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b and k != axis % len(one):
            return f"np.{name} needs equal sizes along all other axes, but these are {a} and {b}."
    return ""
