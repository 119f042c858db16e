"""Pages of the reference: every public name of every public module, as its docstring explains it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES = ("tapemagic", "tapemagic.distributed", "tapemagic.errors", "tapemagic.nn", "tapemagic.tf")
"""Where the public names are; packages among them are followed into what they export."""

REFERENCE = re.compile(r" ?\[\d+\]_")
"""The mark of a footnote."""

Homes = dict[tuple[str, int], str]
"""The module in which a name is explained, by the name and the identity of what it names."""


def module_pages() -> dict[str, str]:
    """A page for each public module, in reStructuredText, by the module's name."""
    modules = public_modules()
    homes = _homes(modules)
    return {name: _page(module, homes) for name, module in modules.items()}


def public_modules() -> dict[str, ModuleType]:
    """The public modules by their names."""
    modules: dict[str, ModuleType] = {}
    for name in MODULES:
        _add(modules, import_module(name))
    return modules


def public_names(module: ModuleType) -> list[str]:
    """The names of ``__all__``, or those that the module imports ``as`` themselves and those that it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    tree = ast.parse(inspect.getsource(module))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names if alias.asname == alias.name)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return sorted(name for name in names if not name.startswith("_"))


def _add(modules: dict[str, ModuleType], module: ModuleType) -> None:
    """Note a module, and those that it exports."""
    modules[module.__name__] = module
    for name in public_names(module):
        value = getattr(module, name)
        if inspect.ismodule(value) and value.__name__ not in modules:
            _add(modules, value)


def _homes(modules: dict[str, ModuleType]) -> Homes:
    """The module in which each name is explained: of the first package that has it, the innermost."""

    def order(name: str) -> tuple[int, int, str]:
        package = max(i for i, x in enumerate(MODULES) if name == x or name.startswith(f"{x}."))
        return package, -name.count("."), name

    homes: Homes = {}
    for module in sorted(modules, key=order):
        for name in public_names(modules[module]):
            homes.setdefault((name, id(getattr(modules[module], name))), module)
    return homes


def _page(module: ModuleType, homes: Homes) -> str:
    """A module: what it is, a table of its names, and their docstrings where they are at home here."""
    here = module.__name__
    rows, bodies = [], []
    for name in public_names(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            rows.append(f"   * - :doc:`{name} <{value.__name__}>`\n     - {_summary(value)}")
            continue
        home = homes[name, id(value)]
        rows.append(f"   * - :py:obj:`{name} <{home}.{name}>`\n     - {_summary(value)}")
        if home == here:
            bodies.append("\n".join(_body(here, name, value, homes)))
    table = "\n".join([".. list-table::", "   :widths: auto", "", *rows])
    described = f".. automodule:: {here}\n   :no-members:"
    return "\n\n".join([_heading(here, "="), described, table, *bodies]) + "\n"


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _summary(value: Any) -> str:
    """The first paragraph of a docstring, on a line."""
    first = (inspect.getdoc(value) or "").split("\n\n")[0]
    return REFERENCE.sub("", first).replace("\n", " ")


def _body(module: str, name: str, value: Any, homes: Homes) -> list[str]:
    """What has Sphinx explain an object; a value that is neither class nor function is only named."""
    if inspect.isclass(value):
        return _class_lines(module, name, value, homes)
    if inspect.isroutine(value):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. py:data:: {module}.{name}", f"   :value: {value!r}", "", f"   {_summary(value)}"]


def _class_lines(module: str, name: str, value: type, homes: Homes) -> list[str]:
    """A class with its members, but for those of bases that have an explanation of their own."""
    if issubclass(value, BaseException):
        return [f".. autoexception:: {module}.{name}", "   :show-inheritance:"]
    bases = [base for base in value.__mro__[1:] if (base.__name__, id(base)) in homes]
    known = ", ".join(base.__name__ for base in (*bases, object))
    lines = [f".. autoclass:: {module}.{name}", f"   :inherited-members: {known}"]
    if bases:
        home = homes[bases[0].__name__, id(bases[0])]
        link = f":py:obj:`{bases[0].__name__} <{home}.{bases[0].__name__}>`"
        lines += ["", f"   It has the members of {link}, too."]
    return lines


def magics_page() -> str:
    """The magics with their options, as ``%%tape?`` shows them."""
    from tapemagic.ipython.magics import TapeMagics

    parts = [_heading("Magics", "="), "``%load_ext tapemagic`` brings them into a notebook."]
    for kind, prefix in (("cell", "%%"), ("line", "%")):
        for name in sorted(TapeMagics.magics[kind]):
            method: Callable[..., Any] = getattr(TapeMagics, str(TapeMagics.magics[kind][name]))
            text = textwrap.indent(inspect.getdoc(method) or "", "   ")
            parts += [_heading(f"``{prefix}{name}``", "-"), f".. code-block:: text\n\n{text}"]
    return "\n\n".join(parts) + "\n"
