"""Loading and unloading of the IPython extension."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython.magics import TapeMagics

MAGICS = {"cell": ("tape",), "line": ("tape", "gradient", "why", "check_gradient", "tape_graph")}


def load(shell: InteractiveShell) -> None:
    """Register the magics, also with %config, and their tab completion.

    Raises
    ------
    TraitError
        If a setting in the configuration of IPython is invalid.
    """
    try:
        magics = TapeMagics(shell)
    except Exception:
        _forget(shell)
        raise
    shell.register_magics(magics)
    magics.completion.install()


def unload(shell: InteractiveShell) -> None:
    """Remove the magics, with their settings and their tab completion."""
    for kind, magic_names in MAGICS.items():
        for name in magic_names:
            shell.magics_manager.magics[kind].pop(name, None)
    _forget(shell)


def _forget(shell: InteractiveShell) -> None:
    """Remove the magics from what %config knows, and from tab completion."""
    for magics in shell.configurables:
        if isinstance(magics, TapeMagics):
            magics.completion.remove()
    shell.configurables[:] = [x for x in shell.configurables if not isinstance(x, TapeMagics)]
