"""Visualize automatic differentiation: tf.GradientTape on NumPy, and a %%tape cell magic that shows the report.

Examples
--------
>>> import numpy as np, tapemagic as tm
>>> x = tm.Variable(3.0)
>>> with tm.GradientTape() as tape:
...     y = x * np.sin(x)
>>> tape.gradient(y, x)
Tensor(-2.8288575)
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from typing import Any

from tapemagic.engine import laziness as _laziness
from tapemagic.engine import rules as _rules  # noqa: F401 (fills the table)
from tapemagic.version import __version__ as __version__


def _load_gate() -> Any:
    """Load the gate for Dask arrays, at the first lazy tensor."""
    return import_module("tapemagic.lazy.gate").GATE


_laziness.LOAD.append(_load_gate)


@cache
def _modules() -> dict[str, str]:
    """Return the module of each public name, as the stub ``__init__.pyi`` declares it, in alphabetical order."""
    stub = __spec__.loader.get_data(f"{__file__.rpartition('.')[0]}.pyi")
    modules = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.ImportFrom):
            modules.update((alias.name, node.module) for alias in node.names if alias.asname)
        elif isinstance(node, ast.FunctionDef):
            modules[node.name] = __name__
    return dict(sorted(modules.items()))


def __getattr__(name: str) -> Any:
    """Import a public name, or the list of all public names, at its first use."""
    # PEP 562: Python calls this only for names that the module doesn't have yet, so a loaded name costs nothing.
    if name == "__all__":
        return list(_modules())
    module = _modules().get(name)
    if module is None:
        raise AttributeError(f"module 'tapemagic' has no attribute {name!r}")
    if module == __name__:
        return import_module(f"{module}.{name}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return list(_modules())


def load_ipython_extension(shell: Any) -> None:
    """Register the magics, such as %%tape; called by ``%load_ext tapemagic``.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell

    Examples
    --------
    ::

        %load_ext tapemagic
    """
    from tapemagic.ipython.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the magics; called by ``%unload_ext tapemagic``.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell

    Examples
    --------
    ::

        %unload_ext tapemagic
    """
    from tapemagic.ipython.extension import unload

    unload(shell)
