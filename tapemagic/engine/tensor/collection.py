"""Tensors as Dask collections: with lazy values, ``dask.compute(loss, gradients)`` computes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from tapemagic.engine.events import record_exit
from tapemagic.engine.laziness import is_lazy
from tapemagic.errors import UnsupportedArgumentError


class Collection:
    """The protocol of Dask's collections, and its usual methods; a tensor with NumPy values is none."""

    __slots__ = ()

    _value: Any
    _new: Callable[..., Any]

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the pieces along each axis of a lazy value."""
        return self._lazy("chunks").chunks  # type: ignore[no-any-return]

    def compute(self, **options: Any) -> Any:
        """A tensor with the numbers, computed by Dask: a knowing exit from the tape."""
        value = self._lazy("compute()")
        record_exit(self, ".compute()")
        numbers = value.to_dask_array().compute(**options)
        value.keep(numbers)
        return self._new(numbers)

    def persist(self, **options: Any) -> Any:
        """A lazy tensor whose chunks are computed, and kept in memory by the scheduler."""
        value = self._lazy("persist()")
        record_exit(self, ".persist()")
        return self._new(value.to_dask_array().persist(**options))

    def _lazy(self, what: str) -> Any:
        if not is_lazy(self._value):
            raise UnsupportedArgumentError(
                f"{what} is for lazy values, and this one is computed already: write x.numpy()"
            )
        return self._value

    def __dask_graph__(self) -> Any:
        value = self._value
        return value.__dask_graph__() if is_lazy(value) else None

    def __dask_keys__(self) -> Any:
        return self._value.__dask_keys__()

    def __dask_layers__(self) -> Any:
        return self._value.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, self._value.__dask_tokenize__()

    @property
    def __dask_optimize__(self) -> Any:
        return self._value.__dask_optimize__

    @property
    def __dask_scheduler__(self) -> Any:
        return self._value.__dask_scheduler__

    def __dask_postcompute__(self) -> Any:
        finalize, args = self._value.__dask_postcompute__()
        return _computed, (type(self), finalize, args, _Keeper(self._value))

    def __dask_postpersist__(self) -> Any:
        rebuild, args = self._value.__dask_postpersist__()
        return _persisted, (type(self), rebuild, args)


class _Keeper:
    """Lets a lazy array keep its numbers; it refers to nothing any more where a cluster has sent it to a worker."""

    def __init__(self, value: Any = None) -> None:
        self._value = None if value is None else ref(value)

    def keep(self, numbers: Any) -> None:
        value = None if self._value is None else self._value()
        if value is not None:
            value.keep(numbers)

    def __reduce__(self) -> Any:
        return _Keeper, ()

    def __dask_tokenize__(self) -> Any:
        return "keeper"


def _computed(results: Any, kind: Any, finalize: Any, args: Any, keeper: _Keeper) -> Any:
    numbers = finalize(results, *args)
    keeper.keep(numbers)
    return kind.result_class(numbers)


def _persisted(dsk: Any, kind: Any, rebuild: Any, args: Any, *, rename: Any = None) -> Any:
    return kind.result_class(rebuild(dsk, *args, rename=rename))
