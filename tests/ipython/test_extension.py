"""%load_ext, %unload_ext and %reload_ext."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic import ipython
from tapemagic.ipython.extension import MAGICS
from tapemagic.ipython.magics import TapeMagics
from tests.ipython.conftest import Run


def known(shell: InteractiveShell) -> tuple[set[str], set[str], int, int]:
    """The line and cell magics, how many things %config knows, and how many complete what is typed."""
    magics, matchers = shell.magics_manager.magics, shell.Completer.custom_matchers
    return set(magics["line"]), set(magics["cell"]), len(shell.configurables), len(matchers)


def test_unload_undoes_load(plain_shell: InteractiveShell) -> None:
    """After %unload_ext everything is as before, and %load_ext works again."""
    plain_shell.run_cell("%reload_ext tapemagic\n%unload_ext tapemagic").raise_error()
    before = known(plain_shell)

    for _ in range(2):
        plain_shell.run_cell("%load_ext tapemagic").raise_error()
        line, cell, count, completers = known(plain_shell)
        assert set(MAGICS["line"]) == line - before[0]
        assert {"tape"} == cell - before[1]
        assert (before[2] + 1, before[3] + 1) == (count, completers)
        plain_shell.run_cell("%unload_ext tapemagic").raise_error()
        assert before == known(plain_shell)


def test_loading_twice(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """A second %load_ext is told that there is nothing to do, and changes nothing."""
    before = known(shell)

    shell.run_cell("%load_ext tapemagic").raise_error()

    assert "already loaded" in capsys.readouterr().out
    assert before == known(shell)


def test_reload(run: Run, shell: InteractiveShell) -> None:
    """%reload_ext leaves one set of magics, which work on what the notebook holds."""
    run("x = 3.0")
    run("%%tape x\ny = x**2")
    before = known(shell)

    run("%reload_ext tapemagic")

    assert before == known(shell)
    assert 1 == sum(isinstance(part, TapeMagics) for part in shell.configurables)
    assert "dw/dx = 2.0" in repr(run("%%tape x\nw = x * 2"))


def test_nothing_is_put_into_the_namespace(plain_shell: InteractiveShell) -> None:
    """Loading gives the notebook magics, and no names."""
    before = set(plain_shell.user_ns)

    plain_shell.run_cell("%load_ext tapemagic").raise_error()
    plain_shell.run_cell("%unload_ext tapemagic").raise_error()

    assert before == set(plain_shell.user_ns)


def test_configuration_file(
    plain_shell: InteractiveShell, caplog: pytest.LogCaptureFixture
) -> None:
    """``c.TapeMagics`` in ipython_config.py holds; what is invalid there is told, and the default holds."""
    plain_shell.config.TapeMagics.digits = 3
    plain_shell.config.TapeMagics.max_nodes = 3

    plain_shell.run_cell("%load_ext tapemagic").raise_error()

    [magics] = [part for part in plain_shell.configurables if isinstance(part, TapeMagics)]
    assert (3, 60) == (magics.digits, magics.max_nodes)
    assert ["max_nodes must be an integer from 20 to 2000, not 3; it is 60 now"] == caplog.messages
    plain_shell.run_cell("%unload_ext tapemagic").raise_error()
    del plain_shell.config.TapeMagics


@pytest.mark.parametrize("cell", ["# a comment\n%%tape x\nx", "import math\n%%tape x\nx"])
def test_the_magic_comes_first(shell: Any, cell: str) -> None:
    """As for all cell magics, nothing may stand above it."""
    result = shell.run_cell(cell)

    assert not result.success


def test_every_magic_is_listed() -> None:
    """Where the magics are listed, none is missing."""
    for name in MAGICS["line"]:
        assert f"%{name}" in str(TapeMagics.__doc__)
        assert f"%{name}" in str(ipython.__doc__)
