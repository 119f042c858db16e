"""The ways out of a tensor: to NumPy, to Python's numbers, to text; and the ones that are closed."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from tapemagic.engine.events import left
from tapemagic.errors import ImmutableError


class Reference:
    """A stand-in for one tensor, by identity: a key for dicts and sets, which a tensor itself cannot be."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def deref(self) -> Any:
        """The tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._tensor is self._tensor

    def __hash__(self) -> int:
        return id(self._tensor)

    def __repr__(self) -> str:
        return f"Reference({self._tensor!r})"


class Conversions:
    """What turns a tensor into something else. All of it leaves the tape, but iteration."""

    __slots__ = ()

    _value: Any

    def numpy(self) -> Any:
        """A copy of the value as a NumPy array, or as a NumPy scalar: a knowing exit from the tape.

        Returns
        -------
        numpy.ndarray or numpy.generic
            Writable, and no longer connected to any tape.

        Examples
        --------
        >>> import tapemagic as tm
        >>> tm.constant([1.0, 2.0]).numpy()
        array([1., 2.])
        """
        left(self, ".numpy()")
        return self._value.copy()

    def item(self, *index: int) -> Any:
        """One element as a plain Python number: a knowing exit from the tape."""
        left(self, ".item()")
        return self._value.item(*index)

    def tolist(self) -> Any:
        """The elements as nested lists of plain Python numbers: a knowing exit from the tape."""
        left(self, ".tolist()")
        return self._value.tolist()

    def ref(self) -> Reference:
        """A key for dicts and sets that stands for this very tensor, whatever its value.

        Returns
        -------
        Reference
            With a method ``deref()`` that gives the tensor back.

        Examples
        --------
        >>> import tapemagic as tm
        >>> v = tm.Variable(1.0)
        >>> steps = {v.ref(): 0.1}
        >>> steps[v.ref()]
        0.1
        """
        return Reference(self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Any:
        left(self, "np.asarray")
        if copy is False:
            view = np.asarray(self._value, dtype=dtype, copy=False).view()
            view.flags.writeable = False
            return view
        return np.array(self._value, dtype=dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise ImmutableError(
            f"a {type(self).__name__} cannot be written into: build a new one with np.where or "
            "np.concatenate, or keep the state in a tapemagic.Variable and use its assign()"
        )

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        if not self._value.ndim:
            raise TypeError(f"a {type(self).__name__} of one number cannot be iterated over")
        return (self[i] for i in range(len(self._value)))

    def __len__(self) -> int:
        if not self._value.ndim:
            raise TypeError(f"a {type(self).__name__} of one number has no len()")
        return len(self._value)

    def __contains__(self, item: Any) -> bool:
        return bool(np.any(self._value == getattr(item, "_value", item)))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __float__(self) -> float:
        left(self, "float()")
        return float(self._value)

    def __int__(self) -> int:
        left(self, "int()")
        return int(self._value)

    def __complex__(self) -> complex:
        left(self, "complex()")
        return complex(self._value)

    def __index__(self) -> int:
        left(self, "int()")
        return operator.index(self._value)

    def __round__(self, digits: int = 0) -> Any:
        return np.round(self, digits)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self._value.ndim:
            raise TypeError(
                f"the format {spec!r} is for one number, and this tensor has shape {self._value.shape}: "
                "format its elements, or print it whole"
            )
        return format(self._value.item(), spec)
