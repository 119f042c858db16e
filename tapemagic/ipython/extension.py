"""Load and unload the IPython extension."""

from __future__ import annotations

import logging

from IPython.core.interactiveshell import InteractiveShell
from traitlets import TraitError

from tapemagic.ipython.magics import TapeMagics
from tapemagic.ipython.settings import Setting

MAGICS = {"cell": ("tape",), "line": ("tape", "gradient", "why", "check_gradient", "tape_graph")}


def load(shell: InteractiveShell) -> None:
    """Register the magics, their settings for %config and their tab completion."""
    _drop_invalid_settings(shell)
    magics = TapeMagics(shell)
    shell.register_magics(magics)
    magics.completion.install()


def _drop_invalid_settings(shell: InteractiveShell) -> None:
    """Log and remove invalid settings in IPython's configuration."""
    # traitlets would raise for them while the magics are made, and then no magic would exist at all.
    settings = shell.config.get(TapeMagics.__name__, {})
    # shell.config is a dict of raw values: traitlets validates them only when the object is created.
    for name, trait in TapeMagics.class_traits(config=True).items():
        try:
            if name in settings and isinstance(trait, Setting):
                trait.validate(None, settings[name])
        except TraitError as error:
            logging.getLogger("tapemagic").error("%s; it is %r now", error, trait.default_value)
            del settings[name]


def unload(shell: InteractiveShell) -> None:
    """Unregister the magics, their settings and their tab completion."""
    # IPython can register magics but has no call to remove them, so the tables are edited.
    for kind, magic_names in MAGICS.items():
        for name in magic_names:
            shell.magics_manager.magics[kind].pop(name, None)
    for magics in shell.configurables:
        if isinstance(magics, TapeMagics):
            magics.completion.remove()
    shell.configurables[:] = [x for x in shell.configurables if not isinstance(x, TapeMagics)]
