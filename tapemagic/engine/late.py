"""Rules for a package that may be installed or not: loaded when somebody imports it, at no cost before.

A finder stands first on Python's path of finders, and knows the names in `LATE` only. For these it lets the
others find the module, and has the rules loaded right after the module has run. So the table knows SciPy's
functions from the moment on that there are any.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

LATE = {"scipy.special": "tapemagic.engine.rules.special"}
"""Modules, and where the rules of their functions are."""


class Finder:
    """Finds the modules of `LATE` with everybody else's help, and loads their rules after them."""

    def __init__(self) -> None:
        self._sought: set[str] = set()

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """The specification of a module of `LATE`; None for all others, and while the others are asked."""
        if name not in LATE or name in self._sought:
            return None
        self._sought.add(name)
        try:
            spec = find_spec(name)
        finally:
            self._sought.remove(name)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader, LATE[name])
        return spec


def _follow(loader: Any, rules: str) -> None:
    """Have a loader import `rules` each time after it has run its module."""
    run = loader.exec_module

    def run_both(module: ModuleType) -> None:
        run(module)
        import_module(rules)

    loader.exec_module = run_both


sys.meta_path.insert(0, Finder())
for _name in LATE.keys() & sys.modules.keys():
    import_module(LATE[_name])
