"""Load and unload the IPython extension."""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable

from IPython.core.interactiveshell import InteractiveShell
from traitlets import TraitError

from tapemagic.ipython import names
from tapemagic.ipython.magics import TapeMagics
from tapemagic.ipython.settings import Setting

TAPE_CELL = "get_ipython().run_cell_magic('tape', "
"""The code to which IPython translates a cell that begins with ``%%tape``."""

MAGICS = {"cell": ("tape",), "line": ("tape", "gradient", "why", "check_gradient", "tape_graph")}


def load(shell: InteractiveShell) -> None:
    """Register the magics, their settings for %config and their tab completion."""
    _drop_invalid_settings(shell)
    magics = TapeMagics(shell)
    shell.register_magics(magics)
    magics.completion.install()
    shell.input_transformers_post.append(awaiting(shell))


def awaiting(shell: InteractiveShell) -> Callable[[list[str]], list[str]]:
    """Return an input transformer that awaits ``%%tape`` if its cell awaits something at the top level.

    IPython runs a cell as a coroutine only if it finds an await in its code, and to IPython a magic's body is text.
    """

    def await_tape(lines: list[str]) -> list[str]:
        code = "".join(lines)
        # Most cells end here.
        if not code.startswith(TAPE_CELL) or not shell.autoawait:
            return lines
        try:
            [statement] = ast.parse(code).body
            body = ast.literal_eval(statement.value.args[2])  # type: ignore[attr-defined]
            is_async = names.awaits(ast.parse(shell.transform_cell(body)))
        except (SyntaxError, ValueError):
            return lines  # the magic reports errors in the cell
        return [f"await {code}"] if is_async else lines

    return await_tape


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
    transformers = shell.input_transformers_post
    transformers[:] = [x for x in transformers if getattr(x, "__module__", "") != __name__]
    shell.configurables[:] = [x for x in shell.configurables if not isinstance(x, TapeMagics)]
