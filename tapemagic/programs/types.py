"""Types of values while a function is traced: those of the arrays, and not of the symbols that stand for them."""

from __future__ import annotations

from typing import Any

from tapemagic.programs.symbol import Symbol


class Answering(type):
    """The class of `Type`, which does what is done with the built-in one."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """The class of a value, or a new class."""
        if cls is not Type:
            return super().__call__(*args, **kwargs)
        kind = type(*args, **kwargs)
        return args[0].__class__ if kind is Symbol else kind

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, type) if cls is Type else super().__instancecheck__(x)

    def __subclasscheck__(cls, x: Any) -> bool:
        return issubclass(x, type) if cls is Type else super().__subclasscheck__(x)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (cls is Type and other is type)

    def __hash__(cls) -> int:
        return hash(type) if cls is Type else super().__hash__()


class Type(type, metaclass=Answering):
    """Stands for the built-in ``type`` among the global names of the user's code while it is traced.

    Everything else asks a value for its ``__class__``, which a symbol can answer; ``type(x)`` asks nobody.

    Examples
    --------
    >>> import numpy as np
    >>> Type(Symbol(None, None, np.ones(2))) is np.ndarray, Type(1.0) is float
    (True, True)
    >>> isinstance(int, Type), isinstance(1, Type), Type == type, Type("New", (), {}).__name__
    (True, False, True, 'New')
    """
