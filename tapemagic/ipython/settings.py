"""Trait types for ``%config TapeMagics``, with errors in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from traitlets import TraitError, TraitType

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
