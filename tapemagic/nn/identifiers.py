"""Names of activations, losses, initializers and the like as text, as in ``activation="relu"``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from tapemagic.errors import OptionError


def find(identifier: Any, table: Mapping[str, Any], what: str) -> Any:
    """The thing that an identifier stands for: a text is looked up, a class is called, anything callable is itself.

    Parameters
    ----------
    identifier : str, type or callable
    table : mapping of str to callable
        The classes or functions by their names.
    what : str
        The kind of thing with its article, for error messages, such as "an activation".

    Raises
    ------
    OptionError
        If there is no such name, or the identifier is nothing of this kind.

    Examples
    --------
    >>> find("absolute", {"absolute": abs}, "an activation")(-1)
    1
    """
    if isinstance(identifier, str):
        try:
            value = table[identifier]
        except KeyError:
            raise OptionError(_unknown(identifier, table, what)) from None
    elif callable(identifier):
        value = identifier
    else:
        raise OptionError(
            f"{what} is given by its name, as a function or an object, not as {identifier!r}: "
            f"write one of {', '.join(map(repr, table))}"
        )
    return value() if isinstance(value, type) else value


def snake_case(name: str) -> str:
    """The name of a class as a name in lower case, as Keras makes it.

    Examples
    --------
    >>> snake_case("SparseCategoricalAccuracy"), snake_case("R2Score"), snake_case("AUC")
    ('sparse_categorical_accuracy', 'r2_score', 'auc')
    """
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


def _unknown(name: str, table: Mapping[str, Any], what: str) -> str:
    near = get_close_matches(name, table, n=1)
    if near:
        return f"{what} named {name!r} is not known: did you mean {near[0]!r}?"
    return f"{what} named {name!r} is not known: write one of {', '.join(map(repr, table))}"
