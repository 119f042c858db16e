"""Factors: constant factors that follow each other become one, where this is exact.

A product with a power of two that is not below 1 rounds nothing, unless it overflows. So ``2 * (4 * x)`` is ``8 * x``
(where one overflows the other does), and ``c * (2 * x)`` is ``(2 * c) * x`` where x is known to be small, such as a
sine. It is not otherwise: ``0.001 * (2 * x)`` is infinite for ``x = 1e308``, and ``2 * (0.1 * x)`` rounds among
subnormal numbers.
Of equal summands up to five add up to their multiple exactly: the rounding of ``3 * x`` is too small to move ``4 * x``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapemagic.programs.passes.identities import is_power_of_two
from tapemagic.programs.passes.known_numbers import PYTHON, number
from tapemagic.programs.passes.known_signs import largest
from tapemagic.programs.passes.rewriting import Rewriting, Rules, of_numbers
from tapemagic.programs.program import Constant, Kind, Node


@of_numbers
def merged(node: Node, rewriting: Rewriting) -> Node | None:
    """``a * (b * x)`` is ``(a * b) * x``, if b is a power of two and nothing can overflow."""
    outer = scaled(node)
    inner = outer and scaled(outer[1])
    if not outer or not inner or outer[1].kind != node.kind:
        return None
    (a, _), (b, x) = outer, inner
    info = np.finfo(node.kind.dtype)
    product = a * b
    if not abs(b) >= 1 or not is_power_of_two(b) or not abs(product) < float(info.max) / 4:
        return None
    doubles = abs(a) >= 1 and is_power_of_two(a)
    if not doubles and not abs(b) * largest(x) < float(info.max) / 4:
        return None
    return _product(product, x, node, rewriting)


def ordered(node: Node, rewriting: Rewriting) -> Node | None:
    """``(2 * y) * x`` is ``(2 * x) * y`` for small numbers.

    The value that is computed earlier has the factor, so that equal products are found to be equal.
    """
    if not _is_product(node):
        return None
    for one, y in (node.args, node.args[::-1]):
        inner = scaled(one)
        if not inner or not isinstance(y, Node) or isinstance(y, Constant) or y.kind != node.kind:
            continue
        c, x = inner
        if rewriting.place(y) >= rewriting.place(x) or one.kind != node.kind:
            continue
        most = float(np.finfo(node.kind.dtype).max) / 4
        if not abs(c) >= 1 or not is_power_of_two(c):
            continue
        if not abs(c) * largest(x) < most or not abs(c) * largest(y) < most:
            continue
        if rewriting.uses(one) > 1 and not rewriting.known(np.multiply, (c, y)):
            continue
        factor = _product(c, y, node, rewriting)
        if factor is not None and rewriting.layouts.alike(factor, node):
            return rewriting.call(np.multiply, (factor, x), node.kind, node)
    return None


def negative(node: Node, rewriting: Rewriting) -> Node | None:
    """``-(c * x)`` is ``(-c) * x``."""
    inner = scaled(node.args[0])
    if not inner or node.kwargs or node.args[0].kind != node.kind:
        return None
    return _product(-inner[0], inner[1], node, rewriting)


@of_numbers
def of_negative(node: Node, rewriting: Rewriting) -> Node | None:
    """``c * -x`` is ``(-c) * x``."""
    outer = scaled(node)
    if not outer:
        return None
    c, x = outer
    if x.function is not np.negative or x.kwargs or x.args[0].__class__ is Constant:
        return None
    return _product(-c, x.args[0], node, rewriting)


def equal_summands(node: Node, rewriting: Rewriting) -> Node | None:
    """``x + x`` is ``2 * x``, and ``k * x + x`` is ``(k + 1) * x`` for k up to 4."""
    if len(node.args) != 2 or node.kwargs or not _is_real(node):
        return None
    for many, x in (node.args, node.args[::-1]):
        if not isinstance(x, Node) or isinstance(x, Constant) or x.kind != node.kind:
            continue
        if many is x:
            return _product(2.0, x, node, rewriting)
        inner = scaled(many)
        if inner and inner[1] is x and many.kind == node.kind and inner[0] in {2.0, 3.0, 4.0}:
            return _product(inner[0] + 1, x, node, rewriting)
    return None


def equal_subtrahends(node: Node, rewriting: Rewriting) -> Node | None:
    """``-x - x`` is ``-2 * x``, and ``-k * x - x`` is ``-(k + 1) * x`` for k up to 4."""
    if len(node.args) != 2 or node.kwargs or not _is_real(node):
        return None
    many, x = node.args
    if not (isinstance(many, Node) and isinstance(x, Node)) or isinstance(x, Constant):
        return None
    if many.kind != node.kind or x.kind != node.kind:
        return None
    if many.function is np.negative and not many.kwargs and many.args[0] is x:
        return _product(-2.0, x, node, rewriting)
    inner = scaled(many)
    if inner and inner[1] is x and inner[0] in {-2.0, -3.0, -4.0}:
        return _product(inner[0] - 1, x, node, rewriting)
    return None


def scaled(node: Any) -> tuple[float, Node] | None:
    """The factor and the value of a product with a finite real number of the same kind; None for anything else."""
    if not _is_product(node):
        return None
    for c, x in (node.args, node.args[::-1]):
        if c.__class__ not in PYTHON and c.__class__ is not Constant:
            continue
        if not isinstance(x, Node) or isinstance(x, Constant) or x.kind != node.kind:
            continue
        known = number(c)
        if known is None or isinstance(known, complex) or known == 0:
            continue
        exact = node.kind.dtype.type(known)
        if np.isfinite(exact) and exact == known:
            return float(exact), x
    return None


def _is_product(node: Any) -> bool:
    if not isinstance(node, Node) or node.function is not np.multiply:
        return False
    return len(node.args) == 2 and not node.kwargs and _is_real(node)


def _is_real(node: Node) -> bool:
    return node.kind.__class__ is Kind and node.kind.dtype.char in "efd"


def _product(c: float, x: Node, node: Node, rewriting: Rewriting) -> Node | None:
    """``c * x`` in place of a node, in its dtype and layout."""
    factor = node.kind.dtype.type(c)
    if float(factor) != c or x.kind != node.kind:
        return None
    new = Node(np.multiply, (c, x), {}, node.kind)
    layouts = rewriting.layouts
    if not (layouts.would_be_contiguous(node) and layouts.would_be_contiguous(new)):
        return None
    return rewriting.call(np.multiply, new.args, node.kind, node)


RULES: Rules = {
    np.multiply: (of_negative, merged, ordered),
    np.negative: (negative,),
    np.add: (equal_summands,),
    np.subtract: (equal_subtrahends,),
}
