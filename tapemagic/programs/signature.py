"""Signatures of calls: everything that a program assumes about its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tapemagic.engine.laziness import LAZY, is_lazy
from tapemagic.engine.nest import ordered
from tapemagic.engine.tensor.coercion import NUMBERS, PLAIN_ARRAYS
from tapemagic.engine.tensor.tensor import Tensor, Traced, id_of, unwrap
from tapemagic.engine.tensor.variable import Variable
from tapemagic.programs.object_kinds import (
    exact_key,
    has_parts,
    is_leaf,
    keys_of,
    overridden_method,
)
from tapemagic.programs.side_effects import CLOCK, CURRENT_DATES, why_unwatchable

LEAF = "leaf"
"""The structure of an argument other than a list, tuple or dict."""

# A set of classes is one lookup; `isinstance` of an abstract class such as Mapping is much slower.
SINGLE = frozenset({Tensor, Variable, np.ndarray, np.float64, int, float, bool})
"""Common classes of leaves, for which a slower test is skipped."""

STRUCTURES = (list, tuple, Mapping)

LASTING = frozenset({Tensor, np.float64, np.float32, int, float, bool, str, type(None)})
"""Classes of leaves whose keys never change."""

BEARING = (Traced, np.ndarray)
"""Classes of leaves that may be there twice, as one object."""


class Call(NamedTuple):
    """The arguments of a call, taken apart.

    - `key`: Two calls with the same key may be given the same program.
    - `structure`: The nested lists, tuples and dicts, with `LEAF` in the places of leaves.
    - `objects`: The leaves that are compared by identity, such as models.
    - `odd`: The argument that no program can have, and why; '' if all are fine.
    - `args`, `kwargs`: The arguments themselves.
    """

    key: tuple[Any, ...]
    structure: Any
    leaves: list[Any]
    objects: list[Any]
    odd: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
    """Take the arguments of a call apart into structure, leaves and key.

    Examples
    --------
    >>> call = signature((1.0, [np.arange(3)]), {})
    >>> call.structure
    (<class 'tuple'>, 'leaf', (<class 'list'>, 'leaf'))
    >>> call.key == signature((1.0, [np.zeros(3, int)]), {}).key
    True
    """
    leaves: list[Any] = []
    objects: list[Any] = []
    try:
        structure = taken_apart(args, leaves)
        if kwargs:
            structure = structure, taken_apart(kwargs, leaves)
    except RecursionError:
        return Call((), None, [], [], "a list that contains itself", args, kwargs)
    places: dict[Any, int] = {}
    keys: list[Any] = [structure]
    odd = ""
    for k, x in enumerate(leaves):
        key = leaf_key(x, objects)
        if key.__class__ is str:
            odd = odd or str(key)
        elif isinstance(x, BEARING):
            key = key, alias(x, k, places)
        keys.append(key)
    return Call(tuple(keys), structure, leaves, objects, odd, args, kwargs)


def without_identities(key: tuple[Any, ...]) -> list[Any]:
    """Remove the identities of objects from a key.

    Examples
    --------
    >>> class Model:
    ...     rate = 0.1
    >>> one, other = (signature((Model(), 1.0), {}).key for _ in range(2))
    >>> without_identities(one) == without_identities(other)
    True
    """
    return [x[:1] if type(x) is tuple and x and x[0] is object else x for x in key]


def may_change(call: Call) -> bool:
    """Return True if a function could change these arguments, so that their key differs afterwards.

    Examples
    --------
    >>> may_change(signature((1.0, Tensor(2.0)), {})), may_change(signature(([1.0],), {}))
    (False, True)
    """
    if call.structure[0] is not tuple or call.structure.count(LEAF) < len(call.structure) - 1:
        return True
    return not LASTING.issuperset(map(type, call.leaves))


def taken_apart(x: Any, leaves: list[Any]) -> Any:
    """Return the structure of nested lists, tuples and dicts, and append their leaves in the order of `engine.nest`."""
    kind = type(x)
    if kind is tuple or kind is list:
        return (kind, *[taken_apart(part, leaves) for part in x])
    if is_single(x):
        leaves.append(x)
        return LEAF
    if isinstance(x, Mapping):
        return kind, keys_of(x), *[taken_apart(x[key], leaves) for key in ordered(x)]
    return (kind, *[taken_apart(part, leaves) for part in x])


def is_single(x: Any) -> bool:
    """Return True for a leaf: any argument but a list, tuple or dict whose methods are Python's.

    Examples
    --------
    >>> is_single(1.0), is_single([1.0])
    (True, False)
    """
    kind: Any = type(x)
    if kind in SINGLE or isinstance(x, Traced) or not isinstance(x, STRUCTURES):
        return True
    return bool(overridden_method(kind))


def alias(x: Any, place: int, places: dict[Any, int]) -> int:
    """Return the place of the first leaf that is the same object, or has the same id on tapes."""
    first = places.setdefault(id(x), place)
    if isinstance(x, Tensor) and id_of(x) > 0:
        first = min(first, places.setdefault(("id", id_of(x)), place))
    return first


def leaf_key(x: Any, objects: list[Any]) -> Any:
    """Return the kind or value of one leaf; a string is the reason why no program takes this leaf."""
    if is_lazy(unwrap(x)):
        return LAZY
    if isinstance(x, Variable):
        return type(x), x.trainable, *value_key(unwrap(x))
    if isinstance(x, Tensor):
        return type(x), *value_key(unwrap(x))
    if is_data(x) and x.dtype.kind in NUMBERS:
        return value_key(x)
    if is_data(x) and isinstance(x, np.ndarray):
        return f"an array of {x.dtype}: pass an array of numbers"
    if isinstance(x, np.ndarray):
        return f"an array of the class {type(x).__name__}: pass np.asarray(x)"
    if type(x) in LASTING:
        return (
            "a string with which " + CLOCK
            if type(x) is str and x.lower() in CURRENT_DATES
            else static_key(x)
        )
    reason = why_unwatchable(x)
    if reason:
        return reason
    if is_leaf(x) and not has_parts(x):
        return static_key(x)
    objects.append(x)
    return object, id(x)


def is_data(x: Any) -> bool:
    """Return True for an array of a plain class, and for a NumPy scalar."""
    return isinstance(x, np.generic) or type(x) in PLAIN_ARRAYS or x.__class__ is np.ndarray


def value_key(value: Any) -> tuple[Any, ...]:
    """Return the class, shape, dtype and layout of an array or NumPy scalar."""
    return type(value), value.shape, value.dtype, strides_of(value)


def strides_of(value: Any) -> tuple[int, ...] | None:
    """Return the strides of an array on which results may depend, or None if it is C-contiguous."""
    return None if value.ndim < 2 or is_lazy(value) or value.flags.c_contiguous else value.strides


def is_contiguous(value: Any) -> bool:
    """Return True for a C-contiguous array with at least two axes."""
    return value.ndim > 1 and strides_of(value) is None


def static_key(x: Any) -> tuple[Any, ...]:
    """Return the type and value of a number or text, as a key that can be compared."""
    try:
        hash(x)
    except TypeError:
        return type(x), repr(x)
    return exact_key(x)
