"""Explain why a NumPy operation can't be computed with its operands, in one sentence."""

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
"""NumPy's message if an array of several elements is converted to a number."""

JOINING = {"concatenate", "hstack", "vstack", "dstack", "column_stack"}


@dataclass(frozen=True)
class Misfit:
    """A sentence on operands that don't fit together, and those operands."""

    sentence: str = ""
    operands: tuple[ast.AST, ...] = ()


NOTHING = Misfit()


def explain_shape_error(
    error: BaseException, node: ast.AST | None, names: Names, line: Sequence[ast.AST] = ()
) -> Misfit:
    """Explain why an operation failed.

    - `node`: The failing operation.
    - `line`: The statements on the failing line.

    Returns
    -------
    Misfit
        Empty if the message of the error needs no explanation.
    """
    if sentence := explain_name_error(error, node, names, line):
        return Misfit(sentence, (node,) if isinstance(node, ast.Name) else ())
    match node:
        case ast.BinOp(left, _, right) | ast.AugAssign(left, _, right):
            operands = [names.operand(left), names.operand(right)]
            misfit_found = _of_operator(error, node, operands, names)
            # `a += b` fails for shapes that fit if the result is larger than a.
            is_written = isinstance(node, ast.AugAssign) and isinstance(error, ValueError)
            return (
                misfit_found
                if misfit_found.sentence or not is_written
                else _of_writing(error, *operands)
            )
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
    operands: list[Operand],
    names: Names,
) -> Misfit:
    (left, right), operator = operands, node.op
    if isinstance(error, TypeError):
        if isinstance(operator, ast.BitXor) and any(_is_real(x.value) for x in operands):
            text = f"In Python, ^ is 'exclusive or' of bits. Write {_power(node, left, right)}."
            return _about(text, left, right)
        return _of_types(operands, names)
    if isinstance(error, ValueError):
        is_product = isinstance(operator, ast.MatMult)
        return _of_matmul("@", left, right, str(error)) if is_product else _of_elementwise(operands)
    return NOTHING


def _power(node: ast.BinOp | ast.AugAssign, left: Operand, right: Operand) -> str:
    """Return the power that ^ was meant to be, or only the operator if precedence differs, as in 2 * x ^ 2."""
    if isinstance(node, ast.AugAssign):
        return "**= instead of ^="
    first, last = left.node, right.node
    # If the operation begins before its left operand, there are parentheses around that operand.
    opened = (first.lineno, first.col_offset) != (node.lineno, node.col_offset)
    closed = (last.end_lineno, last.end_col_offset) != (node.end_lineno, node.end_col_offset)
    if (opened or _is_atom(left)) and (closed or _is_atom(right)):
        return f"{_factor(left)} ** {_factor(right)}"
    return "** instead of ^"


def _is_atom(x: Operand) -> bool:
    """Return True if an expression needs no parentheses next to any operator."""
    atoms = ast.Name | ast.Constant | ast.Attribute | ast.Subscript | ast.Call
    return isinstance(x.node, atoms)


def _factor(x: Operand) -> str:
    """Return an expression as an operand, in parentheses if necessary."""
    return x.text if _is_atom(x) else f"({x.text})"


def _is_real(value: Any) -> bool:
    return isinstance(value, float) or getattr(unwrap(value), "dtype", np.dtype(int)).kind == "f"


def _is_numeral(text: str) -> bool:
    """Return True if a string can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_types(operands: Sequence[Operand], names: Names) -> Misfit:
    """Explain an operand that isn't a number."""
    numbers = (Traced, np.ndarray, np.generic, bool, int, float, complex, list, tuple)
    for x in operands:
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
    unknown = [x for x in operands if x.value is not UNKNOWN and not isinstance(x.value, numbers)]
    # With two operands of other types, either may be the reason.
    if len(unknown) == 1:
        [x] = unknown
        return _about(f"{x.text} is {with_article(type(x.value).__name__)}, not a number.", x)
    return NOTHING


def _sizes(*operands: Operand) -> str:
    """Describe the shapes of operands: "A is 2×2, x is 3"."""
    return ", ".join(dict.fromkeys(f"{x.text} is {_size(x.shape)}" for x in operands))


def _size(shape: Shape | None) -> str:
    return format_shape(shape) if shape else "a single number"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _of_matmul(name: str, left: Operand, right: Operand, message: str = "") -> Misfit:
    """Explain sizes that don't fit in a product of matrices."""
    a, b = left.shape, right.shape
    if a is None or b is None:
        sizes = CORE_SIZES.search(message)
        text = f"The inner sizes {sizes[2]} and {sizes[1]} differ." if sizes else ""
        return Misfit(text, (left.node, right.node)) if sizes else NOTHING
    if not a or not b:
        # np.dot and np.inner multiply numbers as well.
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
    if name in ("@", "matmul") and (clash := _clash([a[:-2], b[:-2]])):
        text = f"{_sizes(left, right)}: in the axes before the matrices, {clash[0]}."
        return _about(text, left, right)
    return NOTHING


def _clash(shapes: Sequence[Shape]) -> tuple[str, list[int]] | None:
    """Find the first sizes, from the last axis to the first, that NumPy can't broadcast, and their shapes."""
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = {k: shape[-back] for k, shape in enumerate(shapes) if len(shape) >= back}
        broadcast = [k for k, size in sizes.items() if size != 1]
        differing = [k for k in broadcast if sizes[k] != sizes[broadcast[0]]]
        if differing:
            pair = [broadcast[0], differing[0]]
            where = "the last axis has" if back == 1 else f"axis -{back} has"
            size_a, size_b = (sizes[k] for k in pair)
            return f"sizes must be equal, or one of them 1, but {where} {size_a} and {size_b}", pair
    return None


def _of_elementwise(operands: Sequence[Operand]) -> Misfit:
    """Explain shapes that can't be broadcast."""
    if any(x.shape is None for x in operands):
        return NOTHING
    clash = _clash([x.shape or () for x in operands])
    if clash is None:
        return NOTHING
    pair = [operands[k] for k in clash[1]]
    return _about(f"{_sizes(*pair)}, which can't be combined: {clash[0]}.", *pair)


def _of_writing(error: BaseException, left: Operand, right: Operand) -> Misfit:
    """Explain an array that is too small for a result of an in-place operation."""
    match = GROWN.search(str(error))
    if not match:
        return NOTHING
    old_size, new_size = (
        _size(tuple(int(n) for n in part.split(",") if n)) for part in match.groups()
    )
    text = f"{left.text} is {old_size}, but the result is {new_size}, which doesn't fit into it."
    return _about(text, left, right)


def _of_index(error: BaseException, owner: Operand, index: Operand) -> Misfit:
    """Explain an index that is out of range, or a key that doesn't exist."""
    if isinstance(error, KeyError) and type(owner.value) is dict:
        keys = [repr(key) for key in owner.value if type(key) in (str, int)]
        hint = (
            f"Its keys are {', '.join(keys[:6])}{', …' * (len(keys) > 6)}."
            if keys
            else "It is empty."
        )
        what = f"no key {error.args[0]!r}" if type(error.args[0]) in (str, int) else "no such key"
        return (
            _about(f"{owner.text} has {what}. {hint}", owner, index)
            if keys or not owner.value
            else NOTHING
        )
    if not isinstance(error, IndexError):
        return NOTHING
    if match := OUT_OF_BOUNDS.search(str(error)):
        number, axis, size = map(int, match.groups())
        return _about(_out_of_range(owner, number, size, f" along axis {axis}"), owner, index)
    shape = owner.shape
    if type(owner.value) in (list, tuple):
        if type(index.value) is int:
            return _about(_out_of_range(owner, index.value, len(owner.value), ""), owner, index)
    elif shape is not None and str(error).startswith(
        ("too many indices", "invalid index to scalar")
    ):
        axes = _count(len(shape), "axis").replace("axiss", "axes")
        index_count = len(index.node.elts) if isinstance(index.node, ast.Tuple) else 1
        what = f"{_size(shape)}, with {axes}" if shape else "a single number, without axes"
        indices = f"{index_count} indices" if index_count > 1 else "an index"
        return _about(f"{owner.text} is {what}, but the line uses {indices}.", owner, index)
    return NOTHING


def _out_of_range(owner: Operand, number: int, size: int, where: str) -> str:
    if not size:
        return f"{owner.text} is empty{where}, so it has no element {number}."
    return (
        f"{owner.text} has {_count(size, 'element')}{where}, numbered 0 to {size - 1}, or -{size} to -1 from the end, "
        f"but the line uses {number}."
    )


def _of_call(error: BaseException, node: ast.Call, names: Names) -> Misfit:
    """Explain a failed call of a NumPy function, of float() or similar, or of a tensor's method."""
    # With *args, arguments and expressions don't correspond.
    if any(isinstance(x, ast.Starred) for x in node.args):
        return NOTHING
    operands = [names.operand(x) for x in node.args]
    words = {word.arg: names.operand(word.value) for word in node.keywords if word.arg}
    function = names.value(node.func)
    name = getattr(node.func, "attr", "")
    if function is UNKNOWN and isinstance(node.func, ast.Attribute):
        owner = names.operand(node.func.value)
        if not isinstance(owner.value, Traced | np.ndarray):
            return NOTHING
        operands = [owner, *operands]
        # The message of assign() says everything, so only the operands are marked.
        if name in ("assign", "assign_add", "assign_sub") and isinstance(error, ValueError):
            return _about("", *operands[:2])
        if name == "item" and isinstance(error, ValueError) and len(operands) == 1 and owner.shape:
            return _about(f"item() needs one number, but {_sizes(owner)}. {_one_of(owner)}.", owner)
        # x.reshape(2, 3) means x.reshape((2, 3)).
        if name == "reshape" and len(operands) > 2:
            lengths = ast.Tuple([x.node for x in operands[1:]], ast.Load())
            operands = [owner, names.operand(lengths)]
    elif isinstance(function, Traced | np.ndarray | float | int) and not callable(function):
        text = f"{written(node.func)} isn't a function. Write * for a product, or [...] for an element."
        return Misfit(text, (node.func,)) if isinstance(error, TypeError) else NOTHING
    elif by_math := math_function(node.func, names.namespace):
        return _of_plain_number(error, by_math, operands, math_instead(node, by_math))
    elif function is float or function is int or function is complex:
        return _of_plain_number(error, f"{function.__name__}()", operands)
    else:
        name = _numpy_name(function)
    return _of_numpy(error, name, operands, words, names) if name else NOTHING


def _numpy_name(function: Any) -> str:
    """Return the name of a NumPy function, or '' for other functions."""
    name = getattr(function, "__name__", "") if callable(function) else ""
    homes = (np, np.linalg)
    return name if any(getattr(home, name, None) is function for home in homes if name) else ""


def _one_of(x: Operand) -> str:
    return f"Use one element, or reduce it to one number: np.sum({x.text})"


def _of_plain_number(
    error: BaseException, function: str, operands: Sequence[Operand], instead: str = ""
) -> Misfit:
    """Explain an array as the argument of float(), int() or a function of math."""
    if not isinstance(error, TypeError | ValueError):
        return NOTHING
    arrays = [x for x in operands if x.shape and isinstance(x.value, Traced | np.ndarray)]
    if arrays:
        advice = instead or _one_of(arrays[0])
        return _about(f"{function} needs one number, but {_sizes(arrays[0])}. {advice}.", arrays[0])
    if len(operands) == 1 and (isinstance(error, RankError) or NOT_ONE in str(error)):
        return _about(f"{function} needs one number. {instead or _one_of(operands[0])}.", *operands)
    return NOTHING


def _of_numpy(
    error: BaseException,
    name: str,
    operands: Sequence[Operand],
    words: Mapping[str, Operand],
    names: Names,
) -> Misfit:
    """Explain a failed call of a NumPy function."""
    if isinstance(error, np.exceptions.AxisError):
        return _of_axis(error, operands)
    if isinstance(error, IndexError) and operands and (match := OUT_OF_BOUNDS.search(str(error))):
        number, axis, size = map(int, match.groups())
        return _about(_out_of_range(operands[0], number, size, f" along axis {axis}"), *operands)
    if isinstance(error, TypeError) and isinstance(getattr(np, name, None), np.ufunc):
        return _of_types(operands, names)
    if isinstance(error, np.linalg.LinAlgError) and operands and operands[0].shape is not None:
        return _of_matrix(name, operands[0], operands[0].shape)
    if not isinstance(error, ValueError) or not operands:
        return NOTHING
    if name in ("matmul", "dot", "inner", "vdot") and len(operands) == 2:
        return _of_matmul(name, operands[0], operands[1])
    if name == "reshape":
        return _of_reshape(
            [*operands, *(words[word] for word in ("shape", "newshape") if word in words)]
        )
    if name == "stack" or name in JOINING:
        return _of_joining(name, operands, words)
    if isinstance(getattr(np, name, None), np.ufunc) or name in ("where", "isclose", "allclose"):
        return _of_elementwise(operands)
    return NOTHING


def _of_axis(error: np.exceptions.AxisError, operands: Sequence[Operand]) -> Misfit:
    """Explain an axis that an array doesn't have."""
    owner = next(
        (x for x in operands[:1] if x.shape is not None and len(x.shape) == error.ndim), None
    )
    if owner is None or error.axis is None:
        return NOTHING
    if not error.ndim:
        return _about(f"{owner.text} is a single number, so it has no axis {error.axis}.", owner)
    axes = "axis 0 only" if error.ndim == 1 else f"axes 0 to {error.ndim - 1}"
    return _about(
        f"{owner.text} is {_size(owner.shape)}, with {axes}, so it has no axis {error.axis}.", owner
    )


def _of_matrix(name: str, x: Operand, shape: Shape) -> Misfit:
    """Explain an argument that isn't a square matrix."""
    if len(shape) >= 2 and shape[-1] != shape[-2]:
        return _about(f"{_sizes(x)}, but np.linalg.{name} needs a square matrix.", x)
    return (
        _about(f"{_sizes(x)}, but np.linalg.{name} needs a matrix.", x)
        if len(shape) < 2
        else NOTHING
    )


def _of_reshape(operands: Sequence[Operand]) -> Misfit:
    """Explain a new shape with a different number of elements."""
    if len(operands) < 2 or operands[0].shape is None:
        return NOTHING
    x, target = operands[:2]
    lengths = list(target.value) if isinstance(target.value, list | tuple) else [target.value]
    if not all(isinstance(n, int | np.integer) for n in lengths):
        return NOTHING
    size, rest = math.prod(x.shape or ()), math.prod(n for n in lengths if n != -1)
    has = f"{x.text} has {_count(size, 'element')}" + f" ({_size(x.shape)})" * (
        len(x.shape or ()) > 1
    )
    shape = "×".join(str(n) if n != -1 else "?" for n in lengths)
    parts = target.node.elts if isinstance(target.node, ast.Tuple) else [target.node]
    if lengths.count(-1) == 1 and rest > 0 and size % rest:
        text = f"{has}, but {shape} needs a multiple of {rest}."
    elif -1 not in lengths and min(lengths, default=0) >= 0 and rest != size:
        text = f"{has}, but {_size(tuple(map(int, lengths)))} needs {rest:,}."
    else:
        return NOTHING
    return Misfit(text, (x.node, *parts))


def _of_joining(name: str, operands: Sequence[Operand], words: Mapping[str, Operand]) -> Misfit:
    """Explain arrays that can't be joined."""
    parts = [*_parts_of(operands[0])]
    shapes = [x.shape for x in parts]
    if len(parts) < 2 or any(shape is None for shape in shapes):
        return NOTHING
    if name == "stack":
        position = next((k for k, shape in enumerate(shapes) if shape != shapes[0]), None)
        if position is None:
            return NOTHING
        pair = parts[0], parts[position]
        return _about(f"np.stack needs arrays of one shape, but {_sizes(*pair)}.", *pair)
    option = words.get("axis", operands[1] if len(operands) > 1 else None)
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
    """Yield the items of a list, named by their expressions, or by their indices if the list has only a name."""
    if not isinstance(x.value, list | tuple):
        return
    nodes = getattr(x.node, "elts", [])
    for k, value in enumerate(x.value):
        own = len(nodes) == len(x.value)
        yield Operand(
            nodes[k] if own else x.node, written(nodes[k]) if own else f"{x.text}[{k}]", value
        )


def _as_joined(name: str, shape: Shape) -> Shape:
    """Return the shape that a function extends an array to before it joins arrays."""
    if name == "concatenate":
        return shape
    shape = shape or (1,)
    if name == "column_stack" and len(shape) == 1:
        return (*shape, 1)
    if name in ("vstack", "dstack") and len(shape) == 1:
        shape = (1, *shape)
    return (*shape, 1) if name == "dstack" and len(shape) == 2 else shape


def _not_joined(name: str, axis: int, first: Shape, second: Shape) -> str:
    """Return the reason why two arrays can't be joined along an axis, or '' if they can."""
    if not first or not second:
        return (
            "np.concatenate joins arrays along an axis, but a number has no axis. Write np.stack."
        )
    if len(first) != len(second):
        return f"np.{name} joins arrays with the same number of axes, but these have {len(first)} and {len(second)}."
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        if a != b and k != axis % len(first):
            return f"np.{name} needs equal sizes along all other axes, but these are {a} and {b}."
    return ""
