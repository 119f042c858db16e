"""Write the pages of the reference: the docstring of every public name of every public module."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

MODULES = ("tapemagic", "tapemagic.distributed", "tapemagic.errors", "tapemagic.nn", "tapemagic.tf")
"""Modules with public names, and packages whose exported modules have some."""

TOPICS = {
    "tapemagic.tape": "Tape and values",
    "tapemagic.engine.tensor": "Tape and values",
    "tapemagic.engine.tape": "Tape and values",
    "tapemagic.engine.functions": "Derivatives of functions",
    "tapemagic.engine.gradcheck": "Checks",
    "tapemagic.engine.functions.custom_gradient": "Your own derivatives",
    "tapemagic.engine.functions.recompute_grad": "Your own derivatives",
    "tapemagic.engine.functions.stop_gradient": "Your own derivatives",
    "tapemagic.engine.operations.primitive": "Your own derivatives",
    "tapemagic.programs": "Programs",
    "tapemagic.engine.operations.logistic": "Activations",
    "tapemagic.engine.operations.sparse_losses": "Losses",
    "tapemagic.engine.operations.errorfunction": "Exponentials and error functions",
    "tapemagic.engine.operations.exponentials": "Exponentials and error functions",
    "tapemagic.engine.operations.gathering": "Gathering and selection",
    "tapemagic.engine.operations.scatter": "Gathering and selection",
    "tapemagic.engine.operations.selection": "Gathering and selection",
    "tapemagic.nn.layer": "Base class",
    "tapemagic.nn.layers.recurrent": "Recurrent layers",
    "tapemagic.nn.layers.dot_attention": "Attention",
    "tapemagic.nn.layers.depthwise_convolution": "Convolution",
    "tapemagic.nn.layers.transposed_convolution": "Convolution",
    "tapemagic.tf.core": "Tensors and dtypes",
    "tapemagic.tf.ops.about": "Settings",
    "tapemagic.tf.compat": "Settings",
    "tapemagic.engine.functions.tensorflow": "Older names of TensorFlow",
}
"""The topics of modules whose name doesn't say it. Of a long page, the table has a part for each topic."""

MODULES_TOPIC = "Modules"

LONG = 40
"""Minimum number of names of a page whose table is divided by topics."""

REFERENCE = re.compile(r" ?\[\d+\]_")
"""The mark of a footnote."""

Homes = dict[tuple[str, int], str]
"""The module in which a name is explained, by the name and the identity of what it names."""


def module_pages() -> dict[str, str]:
    """Map the name of each public module to its page, in reStructuredText."""
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
    """List the names in ``__all__``, or else those that the module defines or re-exports by ``import x as x``."""
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
    """Add a module, and the modules that it exports."""
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
    """The page of a module: its docstring, a table of its names, and the docstrings of the names that belong to it."""
    here, names = module.__name__, public_names(module)
    rows, bodies = dict[str, list[str]](), []
    for name in names:
        value = getattr(module, name)
        home = homes.get((name, id(value)), "")
        link = f":py:obj:`{name} <{home}.{name}>`"
        if inspect.ismodule(value):
            link = f":doc:`{name} <{value.__name__}>`"
        elif home == here:
            bodies.append("\n".join(_body(here, name, value, homes)))
        topic = _topic(value) if len(names) >= LONG else ""
        rows.setdefault(topic, []).append(f"   * - {link}\n     - {_summary(value)}")
    described = f".. automodule:: {here}\n   :no-members:"
    return "\n\n".join([_heading(here, "="), described, *_tables(rows), *bodies]) + "\n"


def _tables(rows: dict[str, list[str]]) -> Iterator[str]:
    """Yield the tables of the topics, in the order of `TOPICS`, the modules last."""
    order = {topic: k for k, topic in enumerate(dict.fromkeys(TOPICS.values()))}
    last = len(order)
    for topic in sorted(rows, key=lambda x: (x == MODULES_TOPIC, order.get(x, last), x)):
        if topic:
            yield f".. rubric:: {topic}"
        yield "\n".join([".. list-table::", "   :widths: auto", "", *rows[topic]])


def _topic(value: Any) -> str:
    """The topic of what a name means: that of the module that defines it."""
    if inspect.ismodule(value):
        return MODULES_TOPIC
    module = getattr(value, "__module__", "")
    found = [x for x in TOPICS if module == x or module.startswith(f"{x}.")]
    name = module.rpartition(".")[2].replace("_", " ").capitalize()
    if module == "tapemagic":
        return "Notebooks"
    return TOPICS[max(found, key=len)] if found else name or "Values"


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}"


def _summary(value: Any) -> str:
    """The first paragraph of a docstring, on a line."""
    first = (inspect.getdoc(value) or "").split("\n\n")[0]
    return REFERENCE.sub("", first).replace("\n", " ")


def _body(module: str, name: str, value: Any, homes: Homes) -> list[str]:
    """The Sphinx directives that document an object."""
    if inspect.isclass(value):
        return _class_lines(module, name, value, homes)
    if inspect.isroutine(value):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. py:data:: {module}.{name}", f"   :value: {value!r}", "", f"   {_summary(value)}"]


def _class_lines(module: str, name: str, value: type, homes: Homes) -> list[str]:
    """The directives for a class, without the members of base classes that have their own entry."""
    if issubclass(value, BaseException):
        return [f".. autoexception:: {module}.{name}", "   :show-inheritance:"]
    bases = [base for base in value.__mro__[1:] if (base.__name__, id(base)) in homes]
    documented = ", ".join(base.__name__ for base in (*bases, object))
    lines = [f".. autoclass:: {module}.{name}", f"   :inherited-members: {documented}"]
    if bases:
        home = homes[bases[0].__name__, id(bases[0])]
        link = f":py:obj:`{bases[0].__name__} <{home}.{bases[0].__name__}>`"
        lines += ["", f"   It also has the members of {link}."]
    return lines


def magics_page() -> str:
    """The page of the magics, with the help text of each."""
    from tapemagic.ipython.magics import TapeMagics

    parts = [_heading("Magics", "="), "``%load_ext tapemagic`` brings them into a notebook."]
    for kind, prefix in (("cell", "%%"), ("line", "%")):
        for name in sorted(TapeMagics.magics[kind]):
            method: Callable[..., Any] = getattr(TapeMagics, str(TapeMagics.magics[kind][name]))
            text = textwrap.indent(inspect.getdoc(method) or "", "   ")
            parts += [_heading(f"``{prefix}{name}``", "-"), f".. code-block:: text\n\n{text}"]
    return "\n\n".join(parts) + "\n"
