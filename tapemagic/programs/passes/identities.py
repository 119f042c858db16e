"""Identities: calls whose result is an argument, or that a cheaper call replaces, with the same bits.

They hold for signed zeros, infinities and nan. The sign and payload of a nan don't count, because NumPy doesn't define
them. ``x + 0.0`` isn't an identity, because it turns -0.0 into 0.0; ``x - 0.0`` and ``x + -0.0`` are. Complex products
aren't, because ``(a + bi) * (1 + 0i)`` multiplies infinities by 0.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapemagic.programs.passes.known_numbers import fill_of, number
from tapemagic.programs.passes.known_signs import never_negative_zero
from tapemagic.programs.passes.layout import lines, repeats
from tapemagic.programs.passes.rewriting import Rewriting, Rules, of_numbers
from tapemagic.programs.program import Constant, Kind, Node
from tapemagic.programs.text.expressions import POWERS_ARE_PRODUCTS
from tapemagic.programs.tracing.symbol import method


@of_numbers
def times_one(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x * 1`` by ``x``, and ``x * -1`` by ``-x``."""
    # Exact: IEEE 754 multiplies significands and signs separately, so 0, inf and nan included, only the sign changes.
    if _is_other(node) or node.kind.dtype.kind == "c":
        return None
    for x, factor in (node.args, node.args[::-1]):
        value = number(factor)
        if value is None:
            continue
        if value == 1:
            return rewriting.same(x, node)
        if value == -1 and _is(x, node) and node.kind.dtype.kind in "fi":
            return _without_number(np.negative, (x,), factor, node, rewriting)
    return None


@of_numbers
def over_one(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x / 1`` by ``x``, and an array divided by a power of two by a product, which is faster."""
    # The inverse of a power of two is exact, so the quotient and the product round the same real number.
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, by = node.args
    divisor = number(by)
    if divisor is None or isinstance(divisor, complex | np.complexfloating):
        return None
    if divisor == 1:
        return rewriting.same(x, node)
    if not node.kind.is_array or not _is(x, node) or not is_power_of_two(divisor):
        return None
    # The inverse must be a normal number of the dtype; 2**14 is also one in float16.
    inverse = 1.0 / float(divisor)
    if not np.finfo(node.kind.dtype).smallest_normal <= abs(inverse) <= 2.0**14:
        return None
    return _without_number(np.multiply, (x, inverse), by, node, rewriting)


def is_power_of_two(x: Any) -> bool:
    """Return True if a number is ±2**n for an integer n."""
    value = float(x)
    return bool(np.isfinite(value)) and abs(np.frexp(value)[0]) == 0.5


@of_numbers
def plus_zero(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x + -0.0`` by ``x``, and ``x + 0.0`` if x is never -0.0, and ``x + 0`` for integers."""
    # 0.0 + -0.0 is 0.0, and -0.0 + -0.0 is -0.0, so -0.0 is the neutral element.
    if _is_other(node):
        return None
    for x, zero in (node.args, node.args[::-1]):
        value = number(zero)
        if value is None or value != 0:
            continue
        exact = node.kind.dtype.kind in "iu" or _is_negative_zero(value, node)
        if exact or (node.kind.dtype.kind == "f" and never_negative_zero(x)):
            return rewriting.same(x, node)
    return None


@of_numbers
def minus_zero(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x - 0.0`` by ``x``, and ``x - -0.0`` if x is never -0.0."""
    # x - 0.0 is x + -0.0, see `plus_zero`.
    if _is_other(node):
        return None
    x, zero = node.args
    value = number(zero)
    if value is None or value != 0:
        return None
    exact = node.kind.dtype.kind == "f" and (not np.signbit(value) or never_negative_zero(x))
    return rewriting.same(x, node) if exact or node.kind.dtype.kind in "iu" else None


def _is_negative_zero(value: Any, node: Node) -> bool:
    return node.kind.dtype.kind == "f" and bool(np.signbit(value))


def plus(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x + -y`` by ``x - y``, and ``x + -y * z`` by ``x - y * z``."""
    # IEEE 754 defines x - y as x + (-y), and the sign of a product is never rounded.
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    for x, y in (node.args, node.args[::-1]):
        difference = _with_opposite(np.subtract, x, y, node, rewriting)
        if difference is not None:
            return difference
    return None


def minus(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x - -y`` by ``x + y``, and ``x - -y * z`` by ``x + y * z``, as in `plus`."""
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, y = node.args
    return _with_opposite(np.add, x, y, node, rewriting)


def _with_opposite(function: Any, x: Any, y: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """Return the sum or difference with the opposite of `y` as the replacement of a node, if possible."""
    opposite = _opposite(y, node, rewriting) if _is(x, node) else None
    if opposite is None:
        return None
    if rewriting.layouts.contiguous(y) and rewriting.layouts.contiguous(opposite):
        return rewriting.call(function, (x, opposite), node.kind, node)
    return _layout_kept(function, (x, opposite), node, rewriting)


def _opposite(x: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """Return ``x`` for an argument ``-x`` of a sum that no other call reads, and None for other arguments."""
    if not _is(x, node) or x.kwargs or len(x.args) > 2:
        return None
    if x.function is np.negative:
        return x.args[0] if _is(x.args[0], node) else None
    if x.function not in PRODUCTS or x.name or rewriting.uses(x) > 1:
        return None
    for k, part in enumerate(x.args):
        opposite: Any = None
        if part.__class__ in (int, float) and part < 0:  # not -0.0
            opposite = -part
        elif _is_negative(part) and part.kind.dtype.kind == "f":
            opposite = part.args[0]
        elif isinstance(part, Node) and part.function in PRODUCTS:
            opposite = _opposite(part, part, rewriting)
        if opposite is not None:
            args = (opposite, x.args[1]) if k == 0 else (x.args[0], opposite)
            return _layout_kept(x.function, args, x, rewriting)
    return None


def twice_negative(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``-(-x)`` by ``x``."""
    x = node.args[0]
    if node.kwargs or node.kind.dtype.kind not in "fi":
        return None
    return rewriting.same(x.args[0], node) if _is_negative(x) else None


def signs_of_factors(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``-x * y`` by ``-(x * y)``, whose sign a sum can take over, and ``-x * -y`` by ``x * y``."""
    if not any(map(_is_negative, node.args)) or _is_other(node) or node.kind.dtype.kind != "f":
        return None
    signs = [_is_negative(x) and x.kind == node.kind and _is(x.args[0], node) for x in node.args]
    x, y = (a.args[0] if negative else a for a, negative in zip(node.args, signs, strict=True))
    if all(signs):
        return _layout_kept(node.function, (x, y), node, rewriting)
    k = signs.index(True) if any(signs) else None
    if k is None or number((y, x)[k]) is not None:
        return None
    if rewriting.uses(node.args[k]) > 1 and not rewriting.contains(node.function, (x, y)):
        return None
    product = _layout_kept(node.function, (x, y), node, rewriting)
    if product is None:
        return None
    return rewriting.call(np.negative, (product,), node.kind, node)


def square(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``np.square(x)`` by ``x * x`` for real numbers."""
    # NumPy's loops for real dtypes compute in1 * in1.
    (x,) = node.args
    if node.kwargs or not _is(x, node) or node.kind.dtype.kind not in "iuf":
        return None
    return rewriting.call(np.multiply, (x, x), node.kind, node)


@of_numbers
def power(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``x ** 2`` by ``x * x`` for arrays, ``x ** 1`` by ``x``, and ``x ** 0`` by 1, even for nan."""
    # The ** of arrays has fast paths for these exponents, and np.power since NumPy 2.4. For single numbers ** calls the
    # C library's pow, whose last bit may differ for 2, but not for 1 and 0.
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, exponent = node.args
    value = number(exponent)
    if value is None or not _is(x, node) or (isinstance(exponent, Node) and exponent.kind.shape):
        return None
    by_operator = node.function is operator.pow
    if value == 1 and (by_operator or POWERS_ARE_PRODUCTS):
        return rewriting.same(x, node)
    if value == 0 and by_operator and not node.kind.is_array:
        return Constant(node.kind.dtype.type(1))
    if not (node.kind.is_array if by_operator else POWERS_ARE_PRODUCTS):
        return None
    if value == 0 and node.kind.is_array and len(node.kind.shape) == 1:
        return Constant(np.broadcast_to(node.kind.dtype.type(1), node.kind.shape))
    if value == 2 and (node.function is np.power or node.kind.is_array):
        return rewriting.call(np.multiply, (x, x), node.kind, node)
    return None


def itself(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``+x``, and the conjugate or real part of a real number, by ``x``."""
    x = node.args[0]
    if len(node.args) > 1 or node.kwargs or node.kind.dtype.kind == "c":
        return None
    return rewriting.same(x, node)


def copy(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace a copy by the original, if both have the same layout and no user function may write into the copy."""
    # `with_separate_results` copies results again that would share memory.
    plain = len(node.args) == 1 and not node.kwargs and rewriting.is_pure
    return rewriting.same(node.args[0], node) if plain else None


def where(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``np.where`` by the argument that it chooses, if the condition is a constant."""
    if len(node.args) != 3 or node.kwargs:
        return None
    condition, x, y = node.args
    value = condition if isinstance(condition, bool) else fill_of(condition)
    if value is None and x is not y:
        return None
    chosen = x if value is None or bool(value) else y
    return rewriting.same(chosen, node)


def truths(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace ``a & True``, ``a | False`` and ``a | (b & False)`` by ``a`` for bools."""
    if _is_other(node) or node.kind.dtype.kind != "b":
        return None
    neutral = node.function is np.bitwise_and
    for x, operand in (node.args, node.args[::-1]):
        if _bool(operand) is neutral or (not neutral and _is_false(operand, node)):
            return rewriting.same(x, node)
    return None


def _bool(x: Any) -> Any:
    value = x if isinstance(x, bool) else fill_of(x)
    return bool(value) if isinstance(value, bool | np.bool_) else None


def _is_false(x: Any, node: Node) -> bool:
    """Return True if an argument is a conjunction with False."""
    both = isinstance(x, Node) and x.function is np.bitwise_and and not x.kwargs and _is(x, node)
    return both and any(_bool(part) is False for part in x.args)


def of_originals(node: Node, rewriting: Rewriting) -> Node | None:
    """Replace copies among the operands by their originals, if this can't change the layout of the result."""
    if not rewriting.has_copies or node.kwargs or node.kind.__class__ is not Kind:
        return None
    if lines(node.kind.shape) > 1:
        return None
    args = tuple(map(rewriting.original, node.args))
    return None if args == node.args else rewriting.call(node.function, args, node.kind, node)


PRODUCTS = frozenset({np.multiply, np.divide})
"""Functions of two arguments whose result changes sign with one argument, with the same bits otherwise."""


def _is_other(node: Node) -> bool:
    """Return True if a call doesn't have exactly two arguments and one result."""
    return len(node.args) != 2 or bool(node.kwargs) or node.kind.__class__ is not Kind


def _is(x: Any, node: Node) -> bool:
    """Return True if an argument has the kind of the result."""
    return isinstance(x, Node) and x.kind == node.kind


def _is_negative(x: Any) -> bool:
    return isinstance(x, Node) and x.function is np.negative and not x.kwargs


def _layout_kept(function: Any, args: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """Return a call as the replacement of a node, if both results have the same memory layout."""
    layouts = rewriting.layouts
    new = Node(function, args, {}, node.kind)
    if not (layouts.would_be_contiguous(node) and layouts.would_be_contiguous(new)):
        return None
    return rewriting.call(function, args, node.kind, node)


def _without_number(
    function: Any, args: Any, dropped: Any, node: Node, rewriting: Rewriting
) -> Node | None:
    """Like `_layout_kept`, for a call without an array of one number, which may affect the layout of the result."""
    if not isinstance(dropped, Constant) or not dropped.kind.shape or repeats(dropped):
        return rewriting.call(function, args, node.kind, node)
    return _layout_kept(function, args, node, rewriting)


RULES: Rules = {
    np.multiply: (times_one, of_originals, signs_of_factors),
    np.divide: (over_one, of_originals, signs_of_factors),
    np.add: (plus_zero, of_originals, plus),
    np.subtract: (minus_zero, of_originals, minus),
    np.negative: (twice_negative, of_originals),
    np.square: (square,),
    np.power: (power,),
    operator.pow: (power,),
    np.positive: (itself,),
    np.conjugate: (itself,),
    np.real: (itself,),
    np.copy: (copy,),
    method("copy"): (copy,),
    np.where: (where,),
    np.bitwise_and: (truths,),
    np.bitwise_or: (truths,),
}
