"""Conversions of tensors to NumPy arrays, Python numbers and text, and conversions that are rejected."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tapemagic.engine.events import origin_of, record_exit, record_text
from tapemagic.engine.laziness import is_lazy, require_computed
from tapemagic.engine.recording import live
from tapemagic.errors import DtypeError, ImmutableError, RankError, UnsupportedArgumentError

if TYPE_CHECKING:
    from tapemagic.engine.tensor.result_types import HasResults, R_co

MAX_LAZY_ROWS = 10_000
"""The maximum number of rows of a lazy tensor in a for loop."""

ARRAYS = (np.ndarray, np.generic, list, tuple, int, float, complex)


def kind_of(x: Any) -> str:
    """Return ``"Variable"`` or ``"Tensor"``, also for a part of a variable, for error messages."""
    return "Variable" if hasattr(x, "trainable") else "Tensor"


def _is_tracked(x: Any) -> bool:
    """Return True if a live tape tracks a tensor, or watches this variable when it is read."""
    tapes = live()
    i = x._read()._id if tapes else 0
    return any(i in tape._tracked for tape in tapes)


def _matplotlib_asks() -> bool:
    """Return True if Matplotlib iterates over a tensor to find out whether it contains numbers."""
    frame: Any = sys._getframe(2)
    if frame.f_code.co_name == "iterable":  # np.iterable
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "matplotlib.units"


class Reference:
    """A hashable stand-in for one tensor: a key for dicts and sets, which a tensor itself can't be."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """Return the tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._tensor is self._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"Reference({self._tensor!r})"


def refuse_within_numpy() -> None:
    """Raise a more specific error if NumPy, called by user code, tried to write into a tensor.

    NumPy looks for a tensor's protocols only in the main arguments of a function. If only another argument is a tensor,
    NumPy computes as with plain arrays, until it writes into the tensor.
    """
    frame: Any = sys._getframe(1)
    outermost = None
    while frame is not None and (origin := origin_of(frame.f_code.co_filename)) in {None, "numpy"}:
        if origin:
            outermost = frame
        frame = frame.f_back
    if outermost is None or not outermost.f_code.co_argcount:
        return
    code = outermost.f_code
    first = code.co_varnames[0]
    # NumPy dispatches on its main arguments; if the first of these is an array, the tensor was
    # another argument.
    if isinstance(outermost.f_locals.get(first), ARRAYS):
        raise UnsupportedArgumentError(
            f"NumPy's {code.co_name.strip('_')} only looks for tensors in its first argument: make "
            f"that a tensor as well, with tapemagic.constant({first})"
        )


class Conversions:
    """Conversions of a tensor to something else. All except iteration end the path of a tape."""

    __slots__ = ()

    _value: Any
    result_class: type

    def numpy(self) -> NDArray[Any]:
        """Copy the value to a NumPy array or scalar, which no tape tracks.

        Returns
        -------
        numpy.ndarray or numpy.generic
            Writable, and not connected to any tape.

        Examples
        --------
        >>> import tapemagic as tm
        >>> tm.constant([1.0, 2.0]).numpy()
        array([1., 2.])
        """
        require_computed(self._value, ".numpy()")
        record_exit(self, ".numpy()")
        return self._value.copy()  # type: ignore[no-any-return] # a NumPy scalar has the same interface

    def item(self, *index: int) -> Any:
        """Return one element as a plain Python number, which no tape tracks."""
        require_computed(self._value, ".item()")
        record_exit(self, ".item()")
        return self._value.item(*index)

    def tolist(self) -> Any:
        """Return the elements as nested lists of plain Python numbers, which no tape tracks."""
        require_computed(self._value, ".tolist()")
        record_exit(self, ".tolist()")
        return self._value.tolist()

    def ref(self) -> Reference:
        """Return a key for dicts and sets that identifies this tensor, independent of its value.

        Returns
        -------
        Reference
            Its method ``deref()`` returns the tensor.

        Examples
        --------
        >>> import tapemagic as tm
        >>> v = tm.Variable(1.0)
        >>> steps = {v.ref(): 0.1}
        >>> steps[v.ref()]
        0.1
        """
        return Reference(self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        require_computed(self._value, "np.asarray()")
        record_exit(self, "np.asarray")
        # NumPy 2: copy=False must not copy. The view is read-only, because tapes and other tensors
        # share the memory.
        if copy is False:
            view = np.asarray(self._value, dtype=dtype, copy=False).view()
            view.flags.writeable = False
            return view
        return np.array(self._value, dtype=dtype)

    # NumPy, PyTorch and JAX ask for DLPack in their from_dlpack. Not __array_interface__: np.asarray would prefer it to
    # __array__, and no tape would notice.
    def __dlpack__(self, **options: Any) -> Any:
        require_computed(self._value, "from_dlpack()")
        if _is_tracked(self):
            raise UnsupportedArgumentError(
                f"from_dlpack() would take a {kind_of(self)} off the tape that is recording: write x.numpy() if you "
                "need no gradient, or keep to NumPy's functions"
            )
        if options.get("copy") is False:
            raise BufferError(
                f"a {kind_of(self)} shares its memory with tapes, so from_dlpack() copies it: leave out copy=False"
            )
        record_exit(self, "from_dlpack()")
        # A copy, because other libraries may write into what they receive.
        return np.array(self._value).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU, the only device

    def __setitem__(self, index: Any, value: Any) -> None:
        refuse_within_numpy()
        raise ImmutableError(
            f"a {kind_of(self)} cannot be written into: build a new one with np.where or "
            "np.concatenate, or keep the state in a tapemagic.Variable and use its assign()"
        )

    def __delitem__(self, index: Any) -> None:
        raise ImmutableError(
            f"nothing can be deleted from a {kind_of(self)}: build a new one with np.delete or indexing"
        )

    def __getitem__(self: HasResults[R_co], index: Any) -> R_co:
        raise NotImplementedError

    def __iter__(self: HasResults[R_co]) -> Iterator[R_co]:
        # On an axis with categories or dates, Matplotlib converts everything whose first element isn't a Python or
        # NumPy number (units._is_natively_supported, 3.11), and can't convert tensors.
        if "matplotlib.units" in sys.modules and _matplotlib_asks():
            return iter(np.ravel(self._value))
        if not self._value.ndim:
            raise RankError(
                f"a {kind_of(self)} of one number cannot be iterated over: it has no axes"
            )
        rows = len(self._value)
        if rows > MAX_LAZY_ROWS and is_lazy(self._value):
            raise UnsupportedArgumentError(
                f"a loop over {rows:,} rows that aren't computed would create Dask tasks for each row: compute with "
                "entire arrays, such as np.sum(x, axis=0) for a loop that adds up, or write x.compute() first"
            )
        # Without __iter__, Python would evaluate x[0], x[1], ... until an IndexError: a loop over a
        # tensor without axes would silently be empty.
        return (self[i] for i in range(rows))  # type: ignore[index]

    def __len__(self) -> int:
        if not self._value.ndim:
            raise RankError(f"a {kind_of(self)} of one number has no len(): it has no axes")
        return len(self._value)

    def __contains__(self, item: Any) -> bool:
        require_computed(self._value, "in")
        require_computed(item, "in")
        return bool(np.any(self._value == getattr(item, "_value", item)))

    def __bool__(self) -> bool:
        try:
            return bool(self._value)
        except ValueError:
            raise RankError(
                f"the truth value of a {kind_of(self)} of shape {self._value.shape} is ambiguous: write "
                "np.any(x > 0) or np.all(x > 0), or np.where for a choice element by element"
            ) from None

    def _number(self, kind: Any) -> Any:
        """Return the value as one plain Python number."""
        require_computed(self._value, f"{kind.__name__}()")
        try:
            number = kind(self._value)
        except (TypeError, ValueError):
            self._require_one_number(kind.__name__)
            raise
        record_exit(self, f"{kind.__name__}()")
        return number

    def _require_one_number(self, kind: str) -> None:
        if self._value.ndim:
            raise RankError(
                f"{kind}() needs a single number, but this {kind_of(self)} has shape {self._value.shape}: take one "
                "element, x[0], or compute with all elements, with np.sin(x) instead of math.sin(x)"
            )

    def __float__(self) -> float:
        return self._number(float)  # type: ignore[no-any-return]

    def __int__(self) -> int:
        return self._number(int)  # type: ignore[no-any-return]

    def __complex__(self) -> complex:
        return self._number(complex)  # type: ignore[no-any-return]

    def __index__(self) -> int:
        require_computed(self._value, "an index")
        try:
            number = operator.index(self._value)
        except TypeError:
            self._require_one_number("int")
            raise DtypeError(
                f"a {kind_of(self)} of {self._value.dtype} isn't an integer: write int(x) to use it as an index, or "
                "float(x) where a plain number is required"
            ) from None
        record_exit(self, "int()")
        return number

    def __trunc__(self) -> int:
        return self._number(int)  # type: ignore[no-any-return]

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return the number as an exact fraction, as `statistics` and `fractions` require.

        Raises UnsupportedArgumentError for arrays and Variables, and if a live tape tracks it: fractions have no
        derivative.
        """
        # statistics.mean calls the class of its arguments with the result, which would create a Variable.
        if self.__class__ is not self.result_class or self._value.ndim or _is_tracked(self):
            raise UnsupportedArgumentError(
                f"a {kind_of(self)} isn't an exact fraction, which Python's statistics and fractions require: write "
                "np.mean(np.stack([x, y])) instead of statistics.mean([x, y]), or x.item() if you need no gradient"
            )
        return self._value.item().as_integer_ratio()  # type: ignore[no-any-return]

    def __round__(self, digits: int | None = None) -> Any:
        # Python's round(x) returns an int, which a tape can't track.
        if digits is None and not (self._value.ndim or is_lazy(self._value) or _is_tracked(self)):
            return round(self._value.item())
        return np.round(self, digits or 0)

    # Text is that of the number or array, as files, tables and f-strings need it; repr names the class. Tensors of
    # `tapemagic.tf` have their own text.
    def __str__(self) -> str:
        record_text(self, "str()")
        return str(self._value)

    def __format__(self, spec: str) -> str:
        if not spec:
            record_text(self, "format()")
            return format(self._value, "")
        if self._value.ndim:
            raise RankError(
                f"the format {spec!r} is for a single number, but this tensor has shape {self._value.shape}: "
                "format its elements, or print it without a format"
            )
        require_computed(self._value, f"the format {spec!r}")
        record_text(self, "format()")
        return format(self._value.item(), spec)
