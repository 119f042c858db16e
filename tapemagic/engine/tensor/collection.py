"""Tensors as Dask collections: ``dask.compute(loss, gradients)`` computes tensors with lazy values."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from tapemagic.engine.events import origin_of, record_exit
from tapemagic.engine.laziness import is_lazy
from tapemagic.engine.recording import is_id, live
from tapemagic.engine.tensor.dask_results import expect, received
from tapemagic.errors import UnsupportedArgumentError

ARRAY_FUNCTIONS = f"{os.sep}dask{os.sep}array{os.sep}"
"""The folder of the functions of ``dask.array``, which can't record on a tape."""

DELAYED = f"{os.sep}dask{os.sep}delayed.py"

PLAIN = {"array", "asarray", "asanyarray"}
"""NumPy functions that return a plain array for a tensor."""


class Collection:
    """The protocol and the usual methods of Dask collections; a tensor with NumPy values isn't a collection.

    Dask functions that return the same values with another graph, such as ``persist``, return a tensor with the id of
    the original, so that tapes treat both as one value and gradients pass through.
    """

    __slots__ = ()

    _value: Any
    _id: int
    _with: Callable[[Any], Any]
    result_class: Any

    @property
    def chunks(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of the chunks along each axis of a lazy value."""
        if not is_lazy(self._value):
            raise AttributeError(
                "only lazy values have chunks, and this value is a NumPy array", name="chunks"
            )
        return self._value.chunks  # type: ignore[no-any-return]

    def compute(self, **options: Any) -> Any:
        """Compute the numbers with Dask, and return them in a new tensor that isn't on any tape.

        Raises UnsupportedArgumentError if the value isn't lazy.

        Parameters
        ----------
        **options
            Options of ``dask.compute``, such as ``scheduler="threads"``.

        Returns
        -------
        Tensor
            Not connected to any tape.

        Examples
        --------
        >>> import numpy as np, dask.array as da, tapemagic as tm
        >>> x = tm.constant(da.arange(6.0, chunks=2))
        >>> np.sum(x * x)
        Tensor(dask.array<shape=(), dtype=float64, chunksize=()>)
        >>> np.sum(x * x).compute()
        Tensor(55.0)
        """
        value = self._lazy("compute()")
        record_exit(self, ".compute()")
        numbers = value.compute(**options)
        value.keep(numbers)
        return self.result_class(numbers)

    def persist(self, **options: Any) -> Any:
        """Compute the chunks and keep them in the scheduler's memory; return a lazy tensor that is still on the tape.

        Raises UnsupportedArgumentError if the value isn't lazy.

        Parameters
        ----------
        **options
            Options of ``dask.persist``, such as ``scheduler="threads"``.

        Returns
        -------
        Tensor
        """
        return _persisted(self._lazy("persist()").persist(**options), self)

    def rechunk(self, *chunks: Any, **options: Any) -> Any:
        """Return the values in other chunks, still on the tape.

        Raises UnsupportedArgumentError if the value isn't lazy.

        Parameters
        ----------
        *chunks, **options
            Arguments of ``dask.array.Array.rechunk``, for example ``x.rechunk({1: -1})`` for one chunk along axis 1.

        Returns
        -------
        Tensor

        Examples
        --------
        >>> import dask.array as da, tapemagic as tm
        >>> tm.constant(da.ones((4, 6), chunks=2)).rechunk({1: -1}).chunks
        ((2, 2), (6,))
        """
        return self._with(self._lazy("rechunk()").rechunk(*chunks, **options))

    def to_dask_array(self) -> Any:
        """Return the Dask array of a lazy value that no tape tracks.

        Raises UnsupportedArgumentError if a recording tape tracks the value, or the value isn't lazy.

        Returns
        -------
        dask.array.Array
        """
        if _is_tracked(self) or not is_lazy(self._value):
            _refuse(self, "to_dask_array()")
        return self._value.to_dask_array()

    def _lazy(self, what: str) -> Any:
        if not is_lazy(self._value):
            raise UnsupportedArgumentError(
                f"{what} is for lazy values, but this value is computed already: write x.numpy()"
            )
        return self._value

    @property
    def _meta(self) -> Any:
        """An empty array of the chunks' type, from which ``dask.array`` infers the type of its results."""
        if not is_lazy(self._value):
            raise AttributeError("a NumPy array has no meta", name="_meta")
        if _is_tracked(self):
            _refuse(self)
        return self._value._meta

    def __dask_graph__(self) -> Any:
        value = self._value
        if not is_lazy(value):
            return None
        # da.from_array(tensor) would embed the tensor in a graph that no tape sees.
        if any(name == "from_array" and ARRAY_FUNCTIONS in file for file, name in _frames()):
            _refuse(self)
        return value.__dask_graph__()

    def __dask_keys__(self) -> Any:
        return self._value.__dask_keys__()

    def __dask_layers__(self) -> Any:
        return self._value.__dask_layers__()

    def __dask_tokenize__(self) -> Any:
        """Return a name that is equal for equal values with the same id; reject functions that embed values."""
        if array_function():
            _refuse(self)
        value, kind = self._value, type(self)
        name = value.__dask_tokenize__() if is_lazy(value) else _digest(value)
        return f"{kind.__module__}.{kind.__qualname__}", self._id if is_id(self._id) else 0, name

    @property
    def __dask_optimize__(self) -> Any:
        return self._value.__dask_optimize__

    @property
    def __dask_scheduler__(self) -> Any:
        return self._value.__dask_scheduler__

    def __dask_postcompute__(self) -> Any:
        if array_function():
            _refuse(self)
        frames = tuple(_frames())
        if any(name == "compute" for _, name in frames):
            record_exit(self, "dask.compute()")
        elif any(file.endswith(DELAYED) for file, _ in frames):
            record_exit(self, "dask.delayed()")
        finalize, args = self._value.__dask_postcompute__()
        return received, (self.result_class, finalize, args, expect(self._value))

    def __dask_postpersist__(self) -> Any:
        rebuild, args = self._value.__dask_postpersist__()
        return _rebuilt, (self, rebuild, args)


def _rebuilt(dsk: Any, x: Any, rebuild: Any, args: Any, *, rename: Any = None) -> Any:
    """Return a tensor with the same numbers and another graph, as Dask's functions require."""
    value = rebuild(dsk, *args, rename=rename)
    return x._with(value) if rename else _persisted(value, x)


def _persisted(value: Any, x: Any) -> Any:
    """Return a tensor with persisted chunks, which the backward pass reads instead of the recorded tensor."""
    for tape in live():
        if x._id in tape._tracked:
            tape._replace_output(x._id, value)
    return x._with(value)


def _is_tracked(x: Any) -> bool:
    """Return True if a live tape tracks a value, so that converting it would lose a path of gradients."""
    tapes = live()
    if not tapes:
        return False
    i = x._read()._id
    return any(tape._tracked.get(i, sys.maxsize) < sys.maxsize for tape in tapes)


def _digest(value: Any) -> tuple[str, str, tuple[int, ...]]:
    """Return a hash of the numbers of an array, its dtype and its shape."""
    import hashlib

    return hashlib.sha256(value.tobytes()).hexdigest(), str(value.dtype), value.shape


def _frames() -> Iterator[tuple[str, str]]:
    """Yield file and name of the running functions, from the innermost one out to user code."""
    frame: Any = sys._getframe(1)
    # Frames of Dask and of this package are inspected, up to the first frame of user code.
    while frame is not None and origin_of(frame.f_code.co_filename) != "":
        name = frame.f_code.co_name
        if (
            name == "__call__"
        ):  # of dask.array.ufunc.ufunc, which has the function's name as an attribute
            name = getattr(frame.f_locals.get("self"), "__name__", name)
        yield frame.f_code.co_filename, name
        frame = frame.f_back


def array_function() -> str:
    """Return the name of the function of ``dask.array`` that user code has called, or ''."""
    called = ""
    for file, name in _frames():
        if ARRAY_FUNCTIONS in file:
            called = name
        elif called and origin_of(file) is None:
            called = ""  # this package has called it, and handles the tape itself
    return called


def _refuse(x: Any, call: str = "") -> NoReturn:
    """Raise the error for a tensor that was passed to ``dask.array``, or that would become a Dask array."""
    name, lazy, tracked = array_function(), is_lazy(x._value), _is_tracked(x)
    what = f"da.{name}" if name.isidentifier() and not name.startswith("_") else "dask.array"
    if hasattr(np, name) and name not in PLAIN:
        advice = f"write np.{name}, which returns a tensor on the tape"
    elif tracked:
        out = "tapemagic.stop_gradient(x).to_dask_array()" if lazy else "x.numpy()"
        advice = (
            "write NumPy functions, or use tapemagic.distributed.map_blocks; or, if you need no gradient, "
            f"write {out}"
        )
    else:
        advice = f"write {'x.to_dask_array()' if lazy else 'x.numpy()'} instead of the tensor"
    if name:
        raise UnsupportedArgumentError(f"{what} doesn't support tensors and tapes: {advice}")
    if not lazy:
        raise UnsupportedArgumentError(
            f"{call} is for lazy values, but this value is computed already: write x.numpy()"
        )
    raise UnsupportedArgumentError(
        f"{call or 'a Dask array'} would take the value off the tape that is recording: {advice}"
    )
