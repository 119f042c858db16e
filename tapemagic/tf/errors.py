"""Exceptions under TensorFlow's names, ``tf.errors``, which derive from those of `tapemagic.errors`."""

from __future__ import annotations

from functools import cache
from typing import Any

from tapemagic.errors import DtypeError, TapeError
from tapemagic.tf.core.missing import missing

__all__ = [
    "AlreadyExistsError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "UnimplementedError",
]


class OpError(TapeError):
    """The base class of errors that an operation raises.

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
    """An operation was given values, shapes or dtypes that it does not take."""


class MixedDtypesError(InvalidArgumentError, DtypeError):
    """Tensors of two dtypes were given to one operation."""


class OutOfRangeError(OpError, IndexError):
    """An index, or an iterator, ran over the end."""


class NotFoundError(OpError, LookupError):
    """Something that was asked for is not there."""


class AlreadyExistsError(OpError):
    """Something that was to be made is there already."""


class FailedPreconditionError(OpError, RuntimeError):
    """An operation was called in a state in which it cannot run."""


class UnimplementedError(OpError, NotImplementedError):
    """An operation is not available for these arguments."""


class InternalError(OpError, RuntimeError):
    """Something went wrong that never should."""


@cache
def _also(kind: Any) -> type[InvalidArgumentError]:
    """The InvalidArgumentError that is also an exception of another class."""
    return type("InvalidArgumentError", (InvalidArgumentError, kind), {"__module__": __name__})


def invalid_argument(error: Exception) -> InvalidArgumentError:
    """An error of NumPy or of the engine as an InvalidArgumentError, which is also still of its own class.

    Examples
    --------
    >>> raise invalid_argument(IndexError("index 3 is out of bounds"))
    Traceback (most recent call last):
    tapemagic.tf.errors.InvalidArgumentError: index 3 is out of bounds
    """
    if isinstance(error, InvalidArgumentError):
        return error
    kind: Any = type(error)
    if issubclass(InvalidArgumentError, kind):
        return InvalidArgumentError(*error.args)
    return _also(kind)(*error.args)


__getattr__ = missing(__name__, __all__)
