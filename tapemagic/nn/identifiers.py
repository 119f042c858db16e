"""Lookup of activations, losses, initializers and others by name, as in ``activation="relu"``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from tapemagic.errors import OptionError
from tapemagic.nn.custom_objects import get_registered_object
from tapemagic.nn.object_configs import deserialize_keras_object


def find(identifier: Any, table: Mapping[str, Any], what: str) -> Any:
    """Return the object for an identifier: look a string up, call a class, return any other callable unchanged.

    A registered class or function has a name as well, and a dict is a config that `get_config` returned.

    Raises OptionError for an unknown name, or for an object that can't be called.

    Parameters
    ----------
    identifier : str, type or callable
    table : mapping of str to callable
        The classes or functions by name.
    what : str
        The kind of object with its article, for messages, such as "an activation".

    Examples
    --------
    >>> find("absolute", {"absolute": abs}, "an activation")(-1)
    1
    """
    if isinstance(identifier, Mapping) and "class_name" in identifier:
        value = deserialize_keras_object(identifier)
    elif isinstance(identifier, str):
        try:
            value = table[identifier]
        except KeyError:
            value = get_registered_object(identifier)
            if value is None:
                raise OptionError(_unknown(identifier, table, what)) from None
    elif callable(identifier):
        value = identifier
    else:
        raise OptionError(
            f"{what} is a name, a function or an object, not {identifier!r}: "
            f"write one of {', '.join(map(repr, table))}"
        )
    # Keras accepts classes, too: optimizer=nn.optimizers.Adam means Adam with its defaults.
    return value() if isinstance(value, type) else value


def snake_case(name: str) -> str:
    """Convert the name of a class to snake case, by Keras's rules.

    Examples
    --------
    >>> snake_case("SparseCategoricalAccuracy"), snake_case("R2Score"), snake_case("AUC")
    ('sparse_categorical_accuracy', 'r2_score', 'auc')
    """
    # Two passes, as in keras.src.utils.naming.to_snake_case: acronyms stay together ("AUC" -> "auc").
    parted = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", re.sub(r"\W+", "", name))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()


def _unknown(name: str, table: Mapping[str, Any], what: str) -> str:
    near = get_close_matches(name, table, n=1)
    if near:
        return f"there isn't {what} named {name!r}: did you mean {near[0]!r}?"
    return f"there isn't {what} named {name!r}: write one of {', '.join(map(repr, table))}"
