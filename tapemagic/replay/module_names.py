"""Names at the top of a source, which all its functions share: imports, constants, and objects that have no source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


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
    objects: dict[Any, str] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
