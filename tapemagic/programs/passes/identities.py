"""Identities: calls that give an argument back, or that a cheaper call replaces, to the bit.

They hold for signed zeros, infinities and nan (whose sign and payload, which NumPy itself does not fix, do not count):
``x + 0.0`` is no identity, for it makes 0.0 of -0.0; ``x - 0.0`` and ``x + -0.0`` are. Complex products are not, since
``(a + bi) * (1 + 0i)`` multiplies infinities by 0.
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
from tapemagic.programs.symbol import method
from tapemagic.programs.text.expressions import POWERS_ARE_PRODUCTS


@of_numbers
def times_one(node: Node, rewriting: Rewriting) -> Node | None:
    """``x * 1`` is ``x``, and ``x * -1`` is ``-x``."""
    if _is_other(node) or node.kind.dtype.kind == "c":
        return None
    for x, factor in (node.args, node.args[::-1]):
        known = number(factor)
        if known is None:
            continue
        if known == 1:
            return rewriting.same(x, node)
        if known == -1 and _is(x, node) and node.kind.dtype.kind in "fi":
            return _without_number(np.negative, (x,), factor, node, rewriting)
    return None


@of_numbers
def over_one(node: Node, rewriting: Rewriting) -> Node | None:
    """``x / 1`` is ``x``; a quotient by a power of two is a product, for arrays."""
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, by = node.args
    known = number(by)
    if known is None or isinstance(known, complex | np.complexfloating):
        return None
    if known == 1:
        return rewriting.same(x, node)
    if not node.kind.is_array or not _is(x, node) or not is_power_of_two(known):
        return None
    inverse = 1.0 / float(known)
    if not np.finfo(node.kind.dtype).smallest_normal <= abs(inverse) <= 2.0**14:
        return None
    return _without_number(np.multiply, (x, inverse), by, node, rewriting)


def is_power_of_two(x: Any) -> bool:
    """Whether a finite number is 2 to some integer, or minus that."""
    value = float(x)
    return bool(np.isfinite(value)) and abs(np.frexp(value)[0]) == 0.5


@of_numbers
def plus_zero(node: Node, rewriting: Rewriting) -> Node | None:
    """``x + -0.0`` is ``x``; so is ``x + 0.0`` if x is never -0.0, and ``x + 0`` for integers."""
    if _is_other(node):
        return None
    for x, zero in (node.args, node.args[::-1]):
        known = number(zero)
        if known is None or known != 0:
            continue
        whole = node.kind.dtype.kind in "iu" or _is_negative_zero(known, node)
        if whole or (node.kind.dtype.kind == "f" and never_negative_zero(x)):
            return rewriting.same(x, node)
    return None


@of_numbers
def minus_zero(node: Node, rewriting: Rewriting) -> Node | None:
    """``x - 0.0`` is ``x``."""
    if _is_other(node):
        return None
    x, zero = node.args
    known = number(zero)
    if known is None or known != 0:
        return None
    exact = node.kind.dtype.kind == "f" and (not np.signbit(known) or never_negative_zero(x))
    return rewriting.same(x, node) if exact or node.kind.dtype.kind in "iu" else None


def _is_negative_zero(known: Any, node: Node) -> bool:
    return node.kind.dtype.kind == "f" and bool(np.signbit(known))


def plus(node: Node, rewriting: Rewriting) -> Node | None:
    """``x + -y`` is ``x - y``, and ``x + -y * z`` is ``x - y * z``."""
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    for x, y in (node.args, node.args[::-1]):
        found = _with_opposite(np.subtract, x, y, node, rewriting)
        if found is not None:
            return found
    return None


def minus(node: Node, rewriting: Rewriting) -> Node | None:
    """``x - -y`` is ``x + y``, and ``x - -y * z`` is ``x + y * z``."""
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, y = node.args
    return _with_opposite(np.add, x, y, node, rewriting)


def _with_opposite(function: Any, x: Any, y: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """A sum as a difference with the value of which `y` is the negative, or the other way round."""
    opposite = _opposite(y, node, rewriting) if _is(x, node) else None
    if opposite is None:
        return None
    if rewriting.layouts.contiguous(y) and rewriting.layouts.contiguous(opposite):
        return rewriting.call(function, (x, opposite), node.kind, node)
    return _layout_kept(function, (x, opposite), node, rewriting)


def _opposite(x: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """The value of which an argument of a sum is the negative; None if it is none, or another call reads it, too."""
    if not _is(x, node) or x.kwargs or len(x.args) > 2:
        return None
    if x.function is np.negative:
        return x.args[0] if _is(x.args[0], node) else None
    if x.function not in PRODUCTS or x.name or rewriting.uses(x) > 1:
        return None
    for k, part in enumerate(x.args):
        known: Any = None
        if part.__class__ in (int, float) and part < 0:
            known = -part
        elif _is_negative(part) and part.kind.dtype.kind == "f":
            known = part.args[0]
        elif isinstance(part, Node) and part.function in PRODUCTS:
            known = _opposite(part, part, rewriting)
        if known is not None:
            args = (known, x.args[1]) if k == 0 else (x.args[0], known)
            return _layout_kept(x.function, args, x, rewriting)
    return None


def twice_negative(node: Node, rewriting: Rewriting) -> Node | None:
    """``-(-x)`` is ``x``."""
    x = node.args[0]
    if node.kwargs or node.kind.dtype.kind not in "fi":
        return None
    return rewriting.same(x.args[0], node) if _is_negative(x) else None


def signs_of_factors(node: Node, rewriting: Rewriting) -> Node | None:
    """``-x * y`` is ``-(x * y)``, and ``-x * -y`` is ``x * y``: outside, a sum can take the sign in."""
    if not any(map(_is_negative, node.args)) or _is_other(node) or node.kind.dtype.kind != "f":
        return None
    signs = [_is_negative(x) and x.kind == node.kind and _is(x.args[0], node) for x in node.args]
    x, y = (a.args[0] if negative else a for a, negative in zip(node.args, signs, strict=True))
    if all(signs):
        return _layout_kept(node.function, (x, y), node, rewriting)
    k = signs.index(True) if any(signs) else None
    if k is None or number((y, x)[k]) is not None:
        return None
    if rewriting.uses(node.args[k]) > 1 and not rewriting.known(node.function, (x, y)):
        return None
    product = _layout_kept(node.function, (x, y), node, rewriting)
    if product is None:
        return None
    return rewriting.call(np.negative, (product,), node.kind, node)


def square(node: Node, rewriting: Rewriting) -> Node | None:
    """``np.square(x)`` is ``x * x`` for real numbers."""
    (x,) = node.args
    if node.kwargs or not _is(x, node) or node.kind.dtype.kind not in "iuf":
        return None
    return rewriting.call(np.multiply, (x, x), node.kind, node)


@of_numbers
def power(node: Node, rewriting: Rewriting) -> Node | None:
    """``x ** 2`` is ``x * x`` for an array, ``x ** 1`` is ``x``, and ``x ** 0`` is 1, also of nan.

    So it is with `np.power` in new versions of NumPy.

    The operator calls another function for numbers, and for arrays of exponents, which may differ in the last bit, but
    not for the exponents 1 and 0.
    """
    if _is_other(node) or node.kind.dtype.kind != "f":
        return None
    x, exponent = node.args
    known = number(exponent)
    if known is None or not _is(x, node) or (isinstance(exponent, Node) and exponent.kind.shape):
        return None
    by_operator = node.function is operator.pow
    if known == 1 and (by_operator or POWERS_ARE_PRODUCTS):
        return rewriting.same(x, node)
    if known == 0 and by_operator and not node.kind.is_array:
        return Constant(node.kind.dtype.type(1))
    if not (node.kind.is_array if by_operator else POWERS_ARE_PRODUCTS):
        return None
    if known == 0 and node.kind.is_array and len(node.kind.shape) == 1:
        return Constant(np.broadcast_to(node.kind.dtype.type(1), node.kind.shape))
    if known == 2 and (node.function is np.power or node.kind.is_array):
        return rewriting.call(np.multiply, (x, x), node.kind, node)
    return None


def itself(node: Node, rewriting: Rewriting) -> Node | None:
    """``+x`` is ``x``, and so is the conjugate or the real part of a real number."""
    x = node.args[0]
    if len(node.args) > 1 or node.kwargs or node.kind.dtype.kind == "c":
        return None
    return rewriting.same(x, node)


def copy(node: Node, rewriting: Rewriting) -> Node | None:
    """A copy is what it is a copy of, if both lie in memory alike, and no function of the user's may write into it.

    Results that would share memory through it are copied again afterwards.
    """
    plain = len(node.args) == 1 and not node.kwargs and rewriting.is_pure
    return rewriting.same(node.args[0], node) if plain else None


def where(node: Node, rewriting: Rewriting) -> Node | None:
    """The argument that ``np.where`` takes, if its condition is known."""
    if len(node.args) != 3 or node.kwargs:
        return None
    condition, x, y = node.args
    known = condition if isinstance(condition, bool) else fill_of(condition)
    if known is None and x is not y:
        return None
    taken = x if known is None or bool(known) else y
    return rewriting.same(taken, node)


def truths(node: Node, rewriting: Rewriting) -> Node | None:
    """``a & True``, ``a | False`` and ``a | (b & False)`` are ``a`` for truth values."""
    if _is_other(node) or node.kind.dtype.kind != "b":
        return None
    neutral = node.function is np.bitwise_and
    for x, other in (node.args, node.args[::-1]):
        if _truth(other) is neutral or (not neutral and _is_false(other, node)):
            return rewriting.same(x, node)
    return None


def _truth(x: Any) -> Any:
    known = x if isinstance(x, bool) else fill_of(x)
    return bool(known) if isinstance(known, bool | np.bool_) else None


def _is_false(x: Any, node: Node) -> bool:
    """Whether an argument is a conjunction with False."""
    both = isinstance(x, Node) and x.function is np.bitwise_and and not x.kwargs and _is(x, node)
    return both and any(_truth(part) is False for part in x.args)


def of_originals(node: Node, rewriting: Rewriting) -> Node | None:
    """Arithmetic with copies is arithmetic with what they are copies of, where the layout of the result is fixed."""
    if not rewriting.has_copies or node.kwargs or node.kind.__class__ is not Kind:
        return None
    if lines(node.kind.shape) > 1:
        return None
    args = tuple(map(rewriting.original, node.args))
    return None if args == node.args else rewriting.call(node.function, args, node.kind, node)


PRODUCTS = frozenset({np.multiply, np.divide})
"""Functions of two arguments whose result has the opposite sign where one of these has, to the bit."""


def _is_other(node: Node) -> bool:
    """Whether a call is not just of two arguments."""
    return len(node.args) != 2 or bool(node.kwargs) or node.kind.__class__ is not Kind


def _is(x: Any, node: Node) -> bool:
    """Whether an argument has the kind of the result."""
    return isinstance(x, Node) and x.kind == node.kind


def _is_negative(x: Any) -> bool:
    return isinstance(x, Node) and x.function is np.negative and not x.kwargs


def _layout_kept(function: Any, args: Any, node: Node, rewriting: Rewriting) -> Node | None:
    """A new call in place of a node; None if its result may lie in memory otherwise."""
    layouts = rewriting.layouts
    new = Node(function, args, {}, node.kind)
    if not (layouts.would_be_contiguous(node) and layouts.would_be_contiguous(new)):
        return None
    return rewriting.call(function, args, node.kind, node)


def _without_number(
    function: Any, args: Any, known: Any, node: Node, rewriting: Rewriting
) -> Node | None:
    """A new call in place of one with an array of one number, which may have a say in the layout of the result."""
    if not isinstance(known, Constant) or not known.kind.shape or repeats(known):
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
