"""Trait types for ``%config TapeMagics``, with errors in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from traitlets import TraitError, TraitType

from tapemagic.ipython.memory_limit import format_bytes, parse_size, total_memory

MIN_MEMORY = 1 << 20
"""The smallest budget: one step of a small network takes a few megabytes."""

Value = TypeVar("Value")
Word = TypeVar("Word", bound=str)


class Setting(TraitType[Value, Value]):
    """Setting whose error message states the valid values."""

    def validate(self, obj: Any, value: Any) -> Value:
        """Return the value to store.

        Raises TraitError if the value is invalid.
        """
        raise NotImplementedError


class WholeNumber(Setting[int]):
    """Integer within limits.

    Examples
    --------
    >>> from traitlets import HasTraits
    >>> class Example(HasTraits):
    ...     digits = WholeNumber(6, 1, 17)
    >>> Example(digits=18)
    Traceback (most recent call last):
    traitlets.traitlets.TraitError: digits must be an integer from 1 to 17, not 18
    """

    def __init__(self, default: int, minimum: int, maximum: int, help: str = "") -> None:  # noqa: A002 -- as in traitlets
        self._minimum, self._maximum = minimum, maximum
        super().__init__(default, help=help, config=True)

    def validate(self, obj: Any, value: Any) -> int:  # noqa: ARG002 -- as in traitlets
        """Return the value if it is an integer within the limits."""
        # Not isinstance: True is an int.
        if type(value) is int and self._minimum <= value <= self._maximum:
            return value
        raise TraitError(
            f"{self.name} must be an integer from {self._minimum} to {self._maximum}, not {value!r}"
        )


# Not traitlets.Bool, Int and Enum: their messages name Python types and the class of the object, not the valid values.
class Switch(Setting[bool]):
    """True or False.

    Examples
    --------
    >>> from traitlets import HasTraits
    >>> class Example(HasTraits):
    ...     code = Switch(False)
    >>> Example(code="yes")
    Traceback (most recent call last):
    traitlets.traitlets.TraitError: code is True or False, not 'yes'
    """

    def __init__(self, default: bool, help: str = "") -> None:  # noqa: A002 -- as in traitlets
        super().__init__(default, help=help, config=True)

    def validate(self, obj: Any, value: Any) -> bool:  # noqa: ARG002 -- as in traitlets
        """Return the value if it is a bool."""
        if isinstance(value, bool):
            return value
        raise TraitError(f"{self.name} is True or False, not {value!r}")


class MemorySize(Setting[Any]):
    """Size in memory: a number of bytes, text such as '500 MB', or None for the default.

    Examples
    --------
    >>> from traitlets import HasTraits
    >>> class Example(HasTraits):
    ...     memory = MemorySize()
    >>> Example(memory="500 MB").memory, Example().memory
    (524288000, None)
    >>> Example(memory="-1 GB")
    Traceback (most recent call last):
    traitlets.traitlets.TraitError: memory is a size above 0, such as '500 MB' or 500_000_000, or None, not '-1 GB'
    """

    def __init__(self, help: str = "") -> None:  # noqa: A002 -- as in traitlets
        super().__init__(None, help=help, config=True, allow_none=True)

    def validate(self, obj: Any, value: Any) -> Any:  # noqa: ARG002 -- as in traitlets
        """Return the bytes if they are a size that this process may have."""
        size: Any = parse_size(value) if isinstance(value, str) else value
        if type(size) not in (int, float) or not 0 < size < math.inf:
            raise TraitError(
                f"{self.name} is a size above 0, such as '500 MB' or 500_000_000, or None, not {value!r}"
            )
        if size < MIN_MEMORY:
            raise TraitError(
                f"{self.name} is {value!r}, less than a recording needs: at least {format_bytes(MIN_MEMORY)}"
            )
        if size > total_memory():
            raise TraitError(
                f"{self.name} is {value!r}, but this process may use {format_bytes(total_memory())} in all: write less"
            )
        return int(size)


class Choice(Setting[Word]):
    """Choice of one word; case does not matter.

    Examples
    --------
    >>> from traitlets import HasTraits
    >>> class Example(HasTraits):
    ...     theme = Choice(["auto", "light", "dark"], "auto")
    >>> Example(theme="Dark").theme
    'dark'
    """

    def __init__(self, choices: Sequence[Word], default: Word, help: str = "") -> None:  # noqa: A002 -- as in traitlets
        self._choices = tuple(choices)
        super().__init__(default, help=help, config=True)

    def validate(self, obj: Any, value: Any) -> Word:  # noqa: ARG002 -- as in traitlets
        """Return the choice that the value names."""
        for choice in self._choices:
            if isinstance(value, str) and value.strip().lower() == choice.lower():
                return choice
        *leading, last = map(repr, self._choices)
        raise TraitError(f"{self.name} is {', '.join(leading)} or {last}, not {value!r}")
