"""Loading and unloading of the IPython extension."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython.magics import TapeMagics

MAGICS = {"cell": ("tape",), "line": ("tape", "gradient", "why", "check_gradient", "tape_graph")}


def load(shell: InteractiveShell) -> None:
    """Register the magics, also with %config."""
    shell.register_magics(TapeMagics(shell))


def unload(shell: InteractiveShell) -> None:
    """Remove the magics."""
    for kind, magic_names in MAGICS.items():
        for name in magic_names:
            shell.magics_manager.magics[kind].pop(name, None)
    shell.configurables[:] = [x for x in shell.configurables if not isinstance(x, TapeMagics)]
