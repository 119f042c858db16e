"""Cells that await at their top level: recorded like others, once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.engine.recording import live
from tests.ipython.conftest import Run

SETUP = """
import asyncio
x = 3.0
async def square(v):
    await asyncio.sleep(0)
    return v * v
async def numbers():
    for k in range(3):
        yield k
class Context:
    async def __aenter__(self): return 2.0
    async def __aexit__(self, *error): pass
"""


@pytest.mark.parametrize(
    ("cell", "gradient"),
    [
        ("y = await square(x)", 6.0),
        ("await square(x) + x", 7.0),
        ("y = x\nasync for k in numbers():\n    y = y + k * x", 4.0),
        ("async with Context() as c:\n    y = c * x", 2.0),
        ("y = [v async for v in numbers()][2] * x", 2.0),
        ("a, b = await asyncio.gather(square(x), square(2 * x))\ny = a + b", 30.0),
        ("task = asyncio.ensure_future(square(x))\ny = await task\nz = y * await square(x)", 108.0),
    ],
)
def test_gradient(run: Run, variables: dict[str, Any], cell: str, gradient: float) -> None:
    """A coroutine that the cell awaits is on its tape, also as a task."""
    run(SETUP)

    report = run(f"%%tape x\n{cell}")

    assert float(str(report).splitlines()[1].rpartition("/dx = ")[2]) == gradient
    assert float(variables["x"]) == 3.0
    assert live() == ()


def test_lines_and_end(run: Run) -> None:
    """The reasons name the lines of the cell; a semicolon hides the report, whose tape is there."""
    run(SETUP)

    assert run("%%tape x\n\ny = float(await square(x))\nz = y * x;") is None
    assert float(run("tape.gradient(z, x)")) == 9.0
    assert "on line 3 (y = float(await square(x)))" in " ".join(str(run("%why z x")).split())


def test_an_error_shows_the_report_up_to_it(
    shell: InteractiveShell, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error is that of the cell, with its line, after what was recorded."""
    run(SETUP)
    result = shell.run_cell("%%tape x\ny = await square(x)\nz = await square('text')")

    printed = capsys.readouterr().out
    assert isinstance(result.error_in_exec, TypeError)
    assert "The cell stopped at line 3 with TypeError" in printed
    assert "y = 9.0; dy/dx = 6.0" in printed
    assert live() == ()


@pytest.mark.parametrize("option", ["--plot x=1:2", "--what-if x"])
def test_options_that_run_the_cell_again(
    run: Run, refused: Callable[[str], str], option: str
) -> None:
    """A coroutine can't be run again in the middle of another cell."""
    run(SETUP)
    name = option.partition(" ")[0]

    assert f"{name} runs the cell again, but a cell that awaits runs only once" in refused(
        f"%%tape x {option}\ny = await square(x)"
    )


def test_check(run: Run) -> None:
    """The recorded operations are checked, and the report says why the cell isn't run again."""
    run(SETUP)

    text = " ".join(str(run("%%tape x --check\ny = await square(x)")).split())

    assert "The gradient matches finite differences" in text
    assert "it awaits, and so runs only once; await in a cell before it" in text


@pytest.mark.parametrize(
    "cell",
    [
        "await f()", "y = await f()", "async for i in f():\n    pass", "async with f():\n    pass",
        "[i async for i in f()]", "[await i for i in f()]", "if x:\n    z = (await f()) + 1",
    ],
)  # fmt: skip
def test_nothing_awaits_the_magic(run: Run, refused: Callable[[str], str], cell: str) -> None:
    """Code that calls the magic itself, and doesn't await it, gets one line that says what to write."""
    run("x = 3.0\nshell = get_ipython()")

    words = refused(f"shell.run_cell_magic('tape', 'x', {cell!r})")
    assert re.match(
        r"%%tape cannot run 'await' at the top level .*: put %%tape on the first line", words
    )


def test_without_autoawait(run: Run, refused: Callable[[str], str]) -> None:
    """Where IPython awaits nothing, the magic says so."""
    run("x = 3.0")
    run("%autoawait False")
    try:
        assert "with %autoawait on" in refused("%%tape x\nawait f()")
    finally:
        run("%autoawait True")


def test_unloading(shell: InteractiveShell, run: Run) -> None:
    """The extension leaves IPython's transformers as they were."""
    before = [*shell.input_transformers_post]
    run("%unload_ext tapemagic")

    assert len(shell.input_transformers_post) == len(before) - 1
    run("%load_ext tapemagic")
    assert len(shell.input_transformers_post) == len(before)
