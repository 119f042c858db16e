"""Nested lists, tuples, named tuples and dicts of tensors: flattened to a list of leaves, and packed again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

from tapemagic.engine.tensor.messages import describe, shown, tensor_advice
from tapemagic.engine.tensor.tensor import Tensor, Traced
from tapemagic.engine.tensor.variable import Variable
from tapemagic.errors import NotATensorError, ShapeError

KINDS = frozenset({Tensor, Variable})
"""The types of most tensors; subclasses are found by `isinstance`, which is slower."""


def is_leaf(structure: Any) -> bool:
    """Return True if a value isn't a list, tuple or dict."""
    return isinstance(structure, Traced) or not isinstance(structure, (list, tuple, Mapping))


def leaves(
    structure: Any,
    error: type[NotATensorError] = NotATensorError,
    is_leaf: Callable[[Any], bool] = is_leaf,
) -> list[Any]:
    """Return the leaves of a nested structure in TensorFlow's order, which sorts the keys of dicts.

    Raises NotATensorError if the structure contains itself. `error` replaces this class.
    """
    gathered: list[Any] = []
    try:
        _gather(structure, gathered, is_leaf)
    except RecursionError:
        raise recursive_structure_error(structure, error) from None
    return gathered


def recursive_structure_error(
    structure: Any, error: type[NotATensorError] = NotATensorError
) -> NotATensorError:
    """Return the error for a structure that contains itself."""
    return error(
        f"a {type(structure).__name__} of tensors contains itself, or is nested too deeply: "
        "pass the tensors in a flat list"
    )


def _gather(structure: Any, gathered: list[Any], is_leaf: Callable[[Any], bool]) -> None:
    if is_leaf(structure):
        gathered.append(structure)
        return
    for part in parts_of(structure):
        _gather(part, gathered, is_leaf)


def parts_of(structure: Any) -> Sequence[Any]:
    """Return the items of a list or tuple, or the values of a dict, one level deep."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in ordered(structure)]
    return structure  # type: ignore[no-any-return]


def ordered(mapping: Mapping[Any, Any]) -> list[Any]:
    """Return the keys of a dict, sorted as in TensorFlow if they can be, else in the order of insertion."""
    try:
        return sorted(mapping)
    except TypeError:
        return list(mapping)


def pack(structure: Any, values: Iterable[Any], is_leaf: Callable[[Any], bool] = is_leaf) -> Any:
    """Rebuild a nested structure with `values` as its leaves, in the order of `leaves`."""
    return _packed(structure, iter(values), is_leaf)


def _packed(structure: Any, values: Iterator[Any], is_leaf: Callable[[Any], bool]) -> Any:
    if is_leaf(structure):
        return next(values)
    if isinstance(structure, Mapping):
        packed = {}
        # Before Python 3.12, a comprehension has its own frame, which would halve the depth that
        # recursion can reach.
        for key in ordered(structure):
            packed[key] = _packed(structure[key], values, is_leaf)
        return _rebuilt(structure, {key: packed[key] for key in structure})
    parts = []
    for part in structure:
        parts.append(_packed(part, values, is_leaf))  # noqa: PERF401
    return _rebuilt(structure, parts)


def _rebuilt(structure: Any, parts: Any) -> Any:
    """Rebuild a list, tuple or dict in the structure's own type, or as a plain one if its constructor fails."""
    kind = type(structure)
    if kind is list or kind is dict:
        return parts
    try:
        if hasattr(structure, "_fields"):
            rebuilt = kind(*parts)
        elif isinstance(structure, dict):
            rebuilt = copy(structure)
            rebuilt.update(parts)
        else:
            rebuilt = kind(parts)
        # A constructor may accept the parts and store something else, so the result is compared
        # with them.
        if _content(rebuilt) == _content(parts):
            return rebuilt
    except Exception:  # noqa: BLE001, S110 (a user type may raise anything)
        pass
    return tuple(parts) if isinstance(structure, tuple) else parts


def _content(structure: Any) -> list[Any]:
    """Return the contents of a list, tuple or dict in order, with the identities of their values, for a comparison."""
    if isinstance(structure, Mapping):
        return [(key, id(part)) for key, part in structure.items()]
    return [id(part) for part in structure]


def tensors(
    structure: Any, role: str, error: type[NotATensorError] = NotATensorError
) -> Sequence[Traced]:
    """Return the leaves of a structure, each of which must be a tensor; a list of tensors is returned unchanged.

    Raises NotATensorError if a leaf isn't a tensor. `error` replaces this class; the message calls the structure
    `role`.
    """
    if isinstance(structure, Traced):
        return [structure]
    if structure.__class__ is list and KINDS.issuperset(map(type, structure)):
        return structure
    flat = leaves(structure, error)
    for leaf in flat:
        if not isinstance(leaf, Traced):
            raise error(
                f"{role} must be a Tensor or a Variable, not {describe(leaf)}.{tensor_advice(leaf, role)}"
            )
    return flat


def matched(structure: Any, template: Any, targets: Sequence[Traced]) -> list[Any]:
    """Return the output gradient of each target, where the targets are the leaves of `template`.

    As in TensorFlow, a different structure is flattened if its leaves then have the shapes of the targets.

    Raises ShapeError if the numbers of gradients and targets differ, or their assignment is ambiguous.
    """
    results = _fitting(structure, template)
    if results is not None:
        return results
    results = leaves(structure)
    if len(results) != len(targets):
        raise ShapeError(
            f"output_gradients has {len(results)} entries for {len(targets)} targets: pass one for each target"
        )
    if any(getattr(g, "shape", ()) != x.shape for g, x in zip(results, targets, strict=True)):
        raise ShapeError(
            f"output_gradients is {shown(structure)}, which can't be assigned to "
            f"{len(targets)} targets: pass one for each target, in a flat list or in the structure of the targets"
        )
    return results


def _fitting(structure: Any, template: Any) -> list[Any] | None:
    """Return the parts of a structure at the positions of the template's leaves, or None if the structures differ."""
    if isinstance(template, Traced):
        return _fitting_one(structure, template)
    models = parts_of(template)
    if isinstance(structure, Mapping) and isinstance(template, Mapping):
        _require_keys(structure, template)
        parts: Sequence[Any] = [structure[key] for key in ordered(template)]
    else:
        parts = [structure] if is_leaf(structure) else parts_of(structure)
    if len(parts) != len(models):
        models = leaves(template)
    if len(parts) != len(models):
        return None
    leaf_parts: list[Any] = []
    for part, model in zip(parts, models, strict=True):
        nested_parts = _fitting(part, model)
        if nested_parts is None:
            return None
        leaf_parts += nested_parts
    return leaf_parts


def _fitting_one(structure: Any, target: Traced) -> list[Any] | None:
    """Return the output gradient of a single target: a list of numbers is one array, so it isn't flattened."""
    if is_leaf(structure):
        return [structure]
    flat = leaves(structure)
    are_arrays = all(isinstance(x, Traced) or getattr(x, "ndim", 0) for x in flat)
    if flat and (are_arrays or not target.ndim or isinstance(structure, Mapping)):
        return flat if len(flat) == 1 else None
    return [structure] if target.ndim else None


def _require_keys(structure: Mapping[Any, Any], template: Mapping[Any, Any]) -> None:
    if structure.keys() != template.keys():
        raise ShapeError(
            f"output_gradients has the keys {sorted(map(str, structure))}, the target {sorted(map(str, template))}"
        )
