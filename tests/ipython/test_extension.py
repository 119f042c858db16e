"""%load_ext, %unload_ext, %reload_ext, %config and the help."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic import ipython
from tapemagic.ipython.extension import MAGICS
from tapemagic.ipython.magics import TapeMagics
from tests.ipython.conftest import Run


def known(shell: InteractiveShell) -> tuple[set[str], set[str], int]:
    """The line and cell magics, and how many things %config knows."""
    magics = shell.magics_manager.magics
    return set(magics["line"]), set(magics["cell"]), len(shell.configurables)


def test_unload_undoes_load(plain_shell: InteractiveShell) -> None:
    """After %unload_ext everything is as before, and %load_ext works again."""
    plain_shell.run_cell("%reload_ext tapemagic\n%unload_ext tapemagic").raise_error()
    before = known(plain_shell)

    for _ in range(2):
        plain_shell.run_cell("%load_ext tapemagic").raise_error()
        line, cell, count = known(plain_shell)
        assert set(MAGICS["line"]) == line - before[0]
        assert {"tape"} == cell - before[1]
        assert count == before[2] + 1
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


def test_config(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The number of nodes can be set for a whole notebook; one that is too small is as good as 20."""
    run("x = 0.5")
    cell = "%%tape x\ny = x\nfor i in range(50):\n    y = np.sin(y)"
    whole = run(cell).graph

    run("%config TapeMagics.max_nodes = 20")
    small = run(cell).graph
    run("%config TapeMagics.max_nodes = 3")
    smallest = run(cell).graph

    assert 50 < whole.nodes <= 60
    assert 10 < small.nodes <= 20
    assert small == smallest
    assert 50 == sum(not step.elided for step in small.steps) + small.elided
    run("%config TapeMagics")
    assert "How many nodes a picture has room for" in capsys.readouterr().out


def test_help(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """``%%tape?`` explains the options."""
    run("%%tape?")

    shown = capsys.readouterr().out
    assert "Run a cell of NumPy on a recording tape" in shown
    for option in ("--target", "--order", "--persistent", "--name", "--no-auto-watch"):
        assert option in shown


@pytest.mark.parametrize("cell", ["# a comment\n%%tape x\nx", "import math\n%%tape x\nx"])
def test_the_magic_comes_first(shell: Any, cell: str) -> None:
    """As for all cell magics, nothing may stand above it."""
    result = shell.run_cell(cell)

    assert not result.success


def test_usage(shell: InteractiveShell) -> None:
    """The usage shows an order that works, and names every magic where they are listed."""
    usage = str(shell.magics_manager.magics["cell"]["tape"].__doc__)

    assert "\n  %%tape [NAME ...] [-t NAME ...] [-o ORDER] [-p]" in usage
    assert "\n  %tape [-o ORDER] EXPRESSION\n" in usage
    assert "or else the last value that the cell assigned" in usage
    for name in MAGICS["line"]:
        assert f"%{name}" in str(TapeMagics.__doc__)
        assert f"%{name}" in str(ipython.__doc__)
