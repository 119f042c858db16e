"""Numbers that Dask computes of lazy tensors: lazy arrays keep the results, also if a worker computes the tensors."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary, finalize

_expected: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Lazy arrays of this process whose numbers were requested, by their Dask names."""

_names: dict[int, str] = {}
"""For tensors of this process by `id`: the name of the lazy array in another process that awaits their numbers."""


def expect(value: Any) -> str:
    """Let a lazy array keep its numbers once a tensor with them exists; return its Dask name."""
    name: str = value.name
    _expected[name] = value
    return name


def received(results: Any, kind: Any, join: Any, args: Any, name: str) -> Any:
    """Return a tensor with the numbers of computed chunks, in this process or on a worker."""
    tensor = kind(join(results, *args))
    if not _keep_in_lazy_array(name, tensor):
        _names[id(tensor)] = name
        # atexit=False: when the process ends, the names needn't be removed.
        finalize(tensor, _names.pop, id(tensor)).atexit = False
    return tensor


def pickled(tensor: Any, kind: Any) -> Any:
    """Return the result of ``__reduce__`` for a tensor.

    If a lazy array of another process awaits the numbers, its name is sent along.
    """
    name = _names.get(id(tensor))
    return (kind, (tensor._value,)) if name is None else (_unpickled, (kind, tensor._value, name))


def _unpickled(kind: Any, numbers: Any, name: str) -> Any:
    """Create a tensor from numbers that a worker has computed."""
    tensor = kind(numbers)
    _keep_in_lazy_array(name, tensor)
    return tensor


def _keep_in_lazy_array(name: str, tensor: Any) -> bool:
    """Let the lazy array of a name keep the numbers of a tensor; return False if the array isn't in this process.

    An array whose name has changed keeps nothing.
    """
    value = _expected.get(name)
    if value is None:
        return False
    if value.name == name:  # an in-place operation gives the array other values, and another name
        value.keep(tensor._value)
    return True
