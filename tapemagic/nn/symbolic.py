"""Symbolic tensors: shapes without values, from which a model is built before there is data."""

from __future__ import annotations

from typing import Any


class SymbolicTensor:
    """The shape and dtype of an array that a model is to be called on, or that one of its layers is to give."""


def has_symbolic(args: Any) -> bool:
    """Whether there is a symbolic tensor among the arguments of a call, also in lists, tuples and dicts."""
    for x in args:
        if isinstance(x, SymbolicTensor):
            return True
        if isinstance(x, list | tuple) and has_symbolic(x):
            return True
        if isinstance(x, dict) and has_symbolic(x.values()):
            return True
    return False


def call_symbolically(layer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Build a layer for symbolic tensors; the symbolic tensors that it gives."""
    raise NotImplementedError
