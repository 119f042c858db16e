"""Nested lists, tuples, named tuples and dicts of tensors: taken apart, and put together again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tapemagic.engine.conversions import Reference
from tapemagic.engine.tensor import Tensor, Traced
from tapemagic.engine.values import shown
from tapemagic.engine.variable import Variable
from tapemagic.errors import FunctionError, NotATensorError, ShapeError, TapeError

KINDS = frozenset({Tensor, Variable})
"""The types of tensors, but for subclasses of these."""


def leaves(structure: Any) -> list[Any]:
    """What a structure holds, in order; a dict's values in the order of its keys' insertion.

    Raises
    ------
    NotATensorError
        If the structure contains itself.
    """
    found: list[Any] = []
    try:
        _gather(structure, found)
    except RecursionError:
        raise NotATensorError(
            f"a {type(structure).__name__} of tensors contains itself, or is nested too deeply: "
            "give the tensors in a flat list"
        ) from None
    return found


def _gather(structure: Any, found: list[Any]) -> None:
    if isinstance(structure, Traced) or not isinstance(structure, (list, tuple, Mapping)):
        found.append(structure)
        return
    for part in structure.values() if isinstance(structure, Mapping) else structure:
        _gather(part, found)


def pack(structure: Any, values: Iterable[Any]) -> Any:
    """The structure again, with `values` in the places of its leaves."""
    return _packed(structure, iter(values))


def _packed(structure: Any, values: Iterator[Any]) -> Any:
    if isinstance(structure, Traced) or not isinstance(structure, (list, tuple, Mapping)):
        return next(values)
    if isinstance(structure, Mapping):
        packed = {key: _packed(part, values) for key, part in structure.items()}
        if isinstance(structure, defaultdict):
            return type(structure)(structure.default_factory, packed)
        return packed if type(structure) is dict else type(structure)(packed)  # type: ignore[call-arg]
    parts = [_packed(part, values) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)


def tensors(
    structure: Any, role: str, error: type[NotATensorError] = NotATensorError
) -> Sequence[Traced]:
    """The leaves of a structure, each of which has to be a tensor; a list of tensors is its own leaves.

    Raises
    ------
    NotATensorError
        If a leaf is anything else, or `error` in its place; the message names the `role` it was to play.
    """
    if isinstance(structure, Traced):
        return [structure]
    if structure.__class__ is list and KINDS.issuperset(map(type, structure)):
        return structure
    found = leaves(structure)
    for leaf in found:
        if not isinstance(leaf, Traced):
            raise error(
                f"{role} has to be a Tensor or a Variable, not {describe(leaf)}.{advice(leaf)}"
            )
    return found


def describe(value: Any) -> str:
    """A value as an error message names it."""
    return f"{shown(value)} of type {type(value).__name__}"


def advice(leaf: Any) -> str:
    """What to write instead of something that is no tensor."""
    if leaf is None:
        return " A gradient that is None cannot be differentiated again: see why it is None first."
    if isinstance(leaf, Reference):
        return " Give what it stands for, with .deref()."
    if callable(leaf):
        return " Give what it returns, or differentiate the function with tapemagic.grad."
    if type(leaf).__module__ == "numpy":
        return (
            " Plain arrays are not on the tape: make it one with tapemagic.constant(...) before the tape records, "
            "and watch it. Comparisons, argmax and the like give plain arrays, since they have no derivative."
        )
    if isinstance(leaf, Iterable) and not isinstance(leaf, (str, bytes)):
        return " Give several as a list, a tuple or a dict."
    return " Make it one with tapemagic.constant(...) before the tape records, and watch it."


def require_function(value: Any, error: type[TapeError] = FunctionError) -> None:
    """Refuse what cannot be called.

    Raises
    ------
    FunctionError
        Or `error` in its place.
    """
    if not callable(value):
        raise error(
            f"a function is to be given here, not {describe(value)}: give f itself, and not its value f(x)"
        )


def matched(structure: Any, template: Any, count: int) -> list[Any]:
    """The leaves of `structure` in the order of `template`'s, one for each of its `count` leaves.

    Raises
    ------
    ShapeError
        If there are more or fewer leaves than the template has.
    """
    found = list(_in_order(structure, template))
    if len(found) != count:
        raise ShapeError(
            f"output_gradients has {len(found)} entries for {count} targets: give one for each target"
        )
    return found


def _in_order(structure: Any, template: Any) -> Iterator[Any]:
    if isinstance(structure, Mapping) and isinstance(template, Mapping):
        if structure.keys() != template.keys():
            raise ShapeError(
                f"output_gradients has the keys {sorted(map(str, structure))}, the target {sorted(map(str, template))}"
            )
        for key, part in template.items():
            yield from _in_order(structure[key], part)
    elif isinstance(structure, (list, tuple)) and isinstance(template, (list, tuple)):
        if len(structure) == len(template):
            for part, model in zip(structure, template, strict=True):
                yield from _in_order(part, model)
        else:
            yield from leaves(structure)
    elif isinstance(template, Traced) and not _of_arrays(structure):
        yield structure
    else:
        yield from leaves(structure)


def _of_arrays(structure: Any) -> bool:
    """Whether a structure holds whole arrays; a list of numbers is an array itself."""
    found = list(leaves(structure))
    return bool(found) and all(isinstance(x, Traced) or getattr(x, "ndim", 0) for x in found)
