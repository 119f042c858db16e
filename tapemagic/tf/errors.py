"""Exceptions with TensorFlow's names (``tf.errors``), derived from those of `tapemagic.errors`."""

from __future__ import annotations

from functools import cache
from typing import Any

from tapemagic.errors import DtypeError, TapeError
from tapemagic.tf.core.missing import missing

__all__ = [
    "AlreadyExistsError", "FailedPreconditionError", "InternalError", "InvalidArgumentError",
    "NotFoundError", "OpError", "OutOfRangeError", "UnimplementedError",
]  # fmt: skip


class OpError(TapeError):
    """Base class of errors raised by operations.

    Attributes
    ----------
    message : str
    node_def, op : None
        There are no graphs.
    """

    node_def = None
    op = None

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self.args[0]) if self.args else ""


class InvalidArgumentError(OpError, ValueError):
    """Invalid values, shapes or dtypes were passed to an operation."""


class MixedDtypesError(InvalidArgumentError, DtypeError):
    """Tensors of different dtypes were passed to one operation."""


class OutOfRangeError(OpError, IndexError):
    """An index or an iterator went past the end."""


class NotFoundError(OpError, LookupError):
    """Something that was requested does not exist."""


class AlreadyExistsError(OpError):
    """Something that should be created exists already."""


class FailedPreconditionError(OpError, RuntimeError):
    """An operation cannot run in the current state."""


class UnimplementedError(OpError, NotImplementedError):
    """An operation is not available for these arguments."""


class InternalError(OpError, RuntimeError):
    """An internal invariant was violated."""


# Code written for NumPy catches ValueError or IndexError, code written for TensorFlow InvalidArgumentError: both work.
@cache
def _also(kind: Any) -> type[InvalidArgumentError]:
    """Return a subclass of InvalidArgumentError and another exception class."""
    return type("InvalidArgumentError", (InvalidArgumentError, kind), {"__module__": __name__})


def invalid_argument(error: Exception) -> InvalidArgumentError:
    """Convert a NumPy or engine error to an InvalidArgumentError that keeps its original class as well.

    Examples
    --------
    >>> raise invalid_argument(IndexError("index 3 is out of bounds"))
    Traceback (most recent call last):
    tapemagic.tf.errors.InvalidArgumentError: index 3 is out of bounds
    """
    if isinstance(error, InvalidArgumentError):
        return error
    kind: Any = type(error)
    # A plain ValueError needs no new class: InvalidArgumentError is one already.
    if issubclass(InvalidArgumentError, kind):
        return InvalidArgumentError(*error.args)
    return _also(kind)(*error.args)


__getattr__ = missing(__name__, __all__)
