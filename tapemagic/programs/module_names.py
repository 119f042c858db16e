"""Names at the top of a source, which all its functions share: imports, constants, and objects that have no source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PRIVATE = "q_"
"""The beginning of the names of a driver's own values: no value of a program that runs in it has such a name."""


@dataclass
class ModuleNames:
    """The lines above the functions of a source, by their names.

    Attributes
    ----------
    imports : dict of str to list of str
        What is imported from each module.
    namespace : dict of str to object
        What cannot be imported.
    functions : dict of callable to str
        The text by which each is called.
    bound : dict of str to object, or None
        Functions of modules by names of their own, ``np_sin`` for ``np.sin``: to look for one in NumPy takes a third of
        the time of a call on numbers. None in a source that is read.
    objects : dict of object to str
        The names in `namespace`, by what they stand for.
    constants : dict of str to str
        The names of arrays by their texts.
    reserved : set of str
        All names that stand for something.
    """

    imports: dict[str, list[str]] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    functions: dict[Any, str] = field(default_factory=dict)
    bound: dict[str, Any] | None = None
    objects: dict[Any, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
