"""Purity of functions: which calls may be dropped, merged, or computed in advance."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import numpy as np

from tapemagic.engine.effects import has_effect
from tapemagic.programs.program import Constant, Guard, Kind, Node, Program, arguments_of, nodes_in
from tapemagic.programs.tracing.symbol import Method

_NAMES = (
    "abs absolute all amax amin any append argmax argmin argsort around array asarray astype atleast_1d atleast_2d "
    "atleast_3d average broadcast_to clip column_stack concatenate conj conjugate copy cumprod cumsum diag diagonal "
    "diff dot dstack einsum empty_like expand_dims fabs flatten flip fliplr flipud full_like hstack imag inner isclose "
    "kron matrix_transpose max mean min moveaxis nan_to_num nanmax nanmean nanmin nansum ones_like outer pad "
    "permute_dims prod ptp ravel real repeat reshape roll rollaxis rot90 round sort split squeeze stack std sum "
    "swapaxes tensordot tile trace transpose trapezoid tril triu unstack vander var vdot vecdot view vstack where "
    "zeros_like"
)
RAISING_NOTHING = frozenset(_NAMES.split())
"""NumPy functions and methods, besides ufuncs, that raise no error because of numbers in their arguments."""


@cache
def is_pure(function: Any) -> bool:
    """Return True for functions of NumPy or this package whose only effect is their result.

    Examples
    --------
    >>> is_pure(np.sin), is_pure(np.add.reduce), is_pure(print)
    (True, True, False)
    """
    if isinstance(function, np.ufunc | Method | operator.attrgetter | operator.itemgetter):
        return True
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return True
    if has_effect(function):
        return False
    module = _module(function)
    top = module.partition(".")[0]
    return top in {"numpy", "tapemagic", "_operator", "operator"} and "random" not in module


def raises(node: Node) -> bool:
    """Return True if a call runs under an np.errstate that raises errors."""
    return node.errstate is not None and "raise" in node.errstate.values()


def may_be_left_out(node: Node) -> bool:
    """Return True if a call can be dropped when nothing reads its result.

    Such a call has no effect, and raises no error that depends on numbers, as an inverse does, or a check of labels.
    """
    function = node.function
    if raises(node) or not is_pure(function):
        return False
    if isinstance(function, np.ufunc) or isinstance(getattr(function, "__self__", None), np.ufunc):
        # np.power raises for negative integer exponents of integers.
        return function is not np.power or not _reads_integers(node)
    if function is operator.getitem and all(map(_is_fixed, nodes_in(node.args[1]))):
        return True
    if function is operator.getitem or _module(function).startswith("tapemagic"):
        return not _reads_integers(node)
    if isinstance(function, operator.attrgetter):
        return True
    if function is operator.pow:
        return all(x.kind.dtype.kind in "fc" for x in arguments_of(node))
    return (isinstance(function, Method) and function.__name__ in RAISING_NOTHING) or _is_safe(
        function
    )


def without_dead_code(program: Program) -> Program:
    """Drop the calls on which no result, assignment or guard depends.

    A call that may raise an error because of its numbers, such as an inverse, stays, and so does a user function.

    Examples
    --------
    >>> import numpy as np
    >>> from tapemagic.programs.program import Input, Kind
    >>> x = Input(0, Kind((3,), np.dtype(float), True), "x")
    >>> y, z = (Node(f, [x], {}, x.kind) for f in (np.sin, np.cos))
    >>> without_dead_code(Program([x], [y, z], [z], [])).body == [z]
    True
    """
    needed: set[Node] = {*nodes_in(program.results), *(node for _, node in program.assigned)}
    body: list[Any] = []
    for entry in reversed(program.body):
        if entry in needed or isinstance(entry, Guard) or not may_be_left_out(entry):
            needed.update(entry.reads())
            body.append(entry)
    old = program
    return Program(old.inputs, body[::-1], old.results, old.assigned, old.name, old.notes)


def _is_fixed(x: Node) -> bool:
    """Return True if an index is the same at each call, so it's never out of bounds."""
    return isinstance(x, Constant) and not x.by_reference


def _reads_integers(node: Node) -> bool:
    kinds = (x.kind for x in arguments_of(node))
    return any(kind.__class__ is Kind and kind.dtype.kind in "iu" for kind in kinds)


@cache
def _is_safe(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    return name in RAISING_NOTHING and getattr(np, name, None) is function


def _module(function: Any) -> str:
    return getattr(function, "__module__", None) or ""
