"""Nested lists, tuples, named tuples and dicts of tensors: taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from tapemagic.engine.tensor.coercion import shown
from tapemagic.engine.tensor.conversions import Reference
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import FunctionError, NotATensorError, ShapeError, TapeError

KINDS = frozenset({Tensor, Variable})
"""The types of tensors, but for subclasses of these."""


def is_leaf(structure: Any) -> bool:
    """Whether something is no list, tuple or dict."""
    return isinstance(structure, Traced) or not isinstance(structure, (list, tuple, Mapping))


def leaves(
    structure: Any,
    error: type[NotATensorError] = NotATensorError,
    is_leaf: Callable[[Any], bool] = is_leaf,
) -> list[Any]:
    """The leaves of a nested structure in TensorFlow's order: that of a dict's values is the one of its sorted keys.

    Raises
    ------
    NotATensorError
        If the structure contains itself, or `error` in its place.
    """
    found: list[Any] = []
    try:
        _gather(structure, found, is_leaf)
    except RecursionError:
        raise endless(structure, error) from None
    return found


def endless(structure: Any, error: type[NotATensorError] = NotATensorError) -> NotATensorError:
    """The error for a structure that contains itself."""
    return error(
        f"a {type(structure).__name__} of tensors contains itself, or is nested too deeply: "
        "give the tensors in a flat list"
    )


def _gather(structure: Any, found: list[Any], is_leaf: Callable[[Any], bool]) -> None:
    if is_leaf(structure):
        found.append(structure)
        return
    for part in parts_of(structure):
        _gather(part, found, is_leaf)


def parts_of(structure: Any) -> Sequence[Any]:
    """The items of a list or tuple, or the values of a dict, one level deep."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in ordered(structure)]
    return structure  # type: ignore[no-any-return]


def ordered(mapping: Mapping[Any, Any]) -> list[Any]:
    """The keys of a dict: sorted, as in TensorFlow, or in the order of insertion where they cannot be."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def pack(structure: Any, values: Iterable[Any], is_leaf: Callable[[Any], bool] = is_leaf) -> Any:
    """The nested structure with `values` in place of its leaves, which are in the order of `leaves`."""
    return _packed(structure, iter(values), is_leaf)


def _packed(structure: Any, values: Iterator[Any], is_leaf: Callable[[Any], bool]) -> Any:
    if is_leaf(structure):
        return next(values)
    if isinstance(structure, Mapping):
        packed = {}
        for key in ordered(structure):  # no comprehension, which would nest twice as deep
            packed[key] = _packed(structure[key], values, is_leaf)
        return _rebuilt(structure, {key: packed[key] for key in structure})
    parts = []
    for part in structure:
        parts.append(_packed(part, values, is_leaf))  # noqa: PERF401
    return _rebuilt(structure, parts)


def _rebuilt(structure: Any, parts: Any) -> Any:
    """A list, tuple or dict of a structure's own type; a plain one, if that type is made of something else."""
    kind = type(structure)
    if kind is list or kind is dict:
        return parts
    try:
        if hasattr(structure, "_fields"):
            made = kind(*parts)
        elif isinstance(structure, dict):
            made = copy(structure)
            made.update(parts)
        else:
            made = kind(parts)
        if _content(made) == _content(parts):
            return made
    except Exception:  # noqa: BLE001, S110 (whatever the constructor of the user's type does)
        pass
    return tuple(parts) if isinstance(structure, tuple) else parts


def _content(structure: Any) -> list[Any]:
    """The contents of a list, tuple or dict in their order, for a comparison."""
    if isinstance(structure, Mapping):
        return [(key, id(part)) for key, part in structure.items()]
    return [id(part) for part in structure]


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
    found = leaves(structure, error)
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
    """Advice for an error message: what to write in place of something that is no tensor."""
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
    """Raise an error if something cannot be called.

    Raises
    ------
    FunctionError
        Or `error` in its place.
    """
    if not callable(value):
        raise error(
            f"a function is to be given here, not {describe(value)}: give f itself, and not its value f(x)"
        )


def matched(structure: Any, template: Any, targets: Sequence[Traced]) -> list[Any]:
    """The output gradient of each target, where the targets are the leaves of `template`.

    One of another structure is flattened, as in TensorFlow, if its leaves then have the targets' shapes.

    Raises
    ------
    ShapeError
        If there are more or fewer than there are targets, or it is not clear what belongs to which.
    """
    found = _fitting(structure, template)
    if found is not None:
        return found
    found = leaves(structure)
    if len(found) != len(targets):
        raise ShapeError(
            f"output_gradients has {len(found)} entries for {len(targets)} targets: give one for each target"
        )
    if any(getattr(g, "shape", ()) != x.shape for g, x in zip(found, targets, strict=True)):
        raise ShapeError(
            f"output_gradients is {shown(structure)}, of which it is not clear what belongs to which of "
            f"{len(targets)} targets: give one for each target, in a flat list or in the targets' own structure"
        )
    return found


def _fitting(structure: Any, template: Any) -> list[Any] | None:
    """The parts of a structure in the places of the template's leaves; None if the structures differ."""
    if isinstance(template, Traced):
        return _fitting_one(structure, template)
    models = parts_of(template)
    if isinstance(structure, Mapping) and isinstance(template, Mapping):
        _require_keys(structure, template)
        given: Sequence[Any] = [structure[key] for key in ordered(template)]
    else:
        given = [structure] if is_leaf(structure) else parts_of(structure)
    if len(given) != len(models):
        models = leaves(template)
    if len(given) != len(models):
        return None
    found: list[Any] = []
    for part, model in zip(given, models, strict=True):
        one = _fitting(part, model)
        if one is None:
            return None
        found += one
    return found


def _fitting_one(structure: Any, target: Traced) -> list[Any] | None:
    """The output gradient of a single target: a list of numbers is an array, and so stays whole."""
    if is_leaf(structure):
        return [structure]
    found = leaves(structure)
    whole = all(isinstance(x, Traced) or getattr(x, "ndim", 0) for x in found)
    if found and (whole or not target.ndim or isinstance(structure, Mapping)):
        return found if len(found) == 1 else None
    return [structure] if target.ndim else None


def _require_keys(structure: Mapping[Any, Any], template: Mapping[Any, Any]) -> None:
    if structure.keys() != template.keys():
        raise ShapeError(
            f"output_gradients has the keys {sorted(map(str, structure))}, the target {sorted(map(str, template))}"
        )
