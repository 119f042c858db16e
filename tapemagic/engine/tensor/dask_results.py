"""The numbers that Dask computes of lazy tensors: the arrays keep them, also where another process computes them."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary, finalize

_expected: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Lazy arrays of this process whose numbers were asked for, by the names by which Dask knows them."""

_names: dict[int, str] = {}
"""The names of what tensors of this process were computed from that another process expects, by the tensors' `id`."""


def expect(value: Any) -> str:
    """Let a lazy array keep its numbers once a tensor of them is there; the name by which Dask knows it."""
    name: str = value.name
    _expected[name] = value
    return name


def received(results: Any, kind: Any, join: Any, args: Any, name: str) -> Any:
    """A tensor with the numbers of computed chunks, made in this process or by a worker."""
    tensor = kind(join(results, *args))
    if not _kept(name, tensor):
        _names[id(tensor)] = name
        finalize(tensor, _names.pop, id(tensor)).atexit = False
    return tensor


def pickled(tensor: Any, kind: Any) -> Any:
    """The result of ``__reduce__`` for a tensor: with the name of the lazy array, where another process expects it."""
    name = _names.get(id(tensor))
    return (kind, (tensor._value,)) if name is None else (_arrived, (kind, tensor._value, name))


def _arrived(kind: Any, numbers: Any, name: str) -> Any:
    """A tensor with numbers that a worker has computed."""
    tensor = kind(numbers)
    _kept(name, tensor)
    return tensor


def _kept(name: str, tensor: Any) -> bool:
    """Whether the lazy array of a name is in this process; it keeps the numbers, if it is still known by this name."""
    value = _expected.get(name)
    if value is None:
        return False
    if value.name == name:  # else an operation in place has given it other values
        value.keep(tensor._value)
    return True
