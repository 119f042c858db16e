"""Tab completion in the lines of the magics."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from IPython.core.completer import CompletionContext
from IPython.core.interactiveshell import InteractiveShell

from tests.ipython.conftest import Run

Complete = Callable[[str], list[str]]


@pytest.fixture
def complete(shell: InteractiveShell, run: Run) -> Complete:
    """Completes a cell at the place of ``|``; the completions, without options where there are others."""
    run(
        "x, n, text, big = 3.0, 2, 'x', np.ones((3, 2))\nw = tm.Variable(2.0)\n_hidden = 1.0\nwhole = np.arange(3)"
    )
    [matcher] = shell.Completer.custom_matchers

    def complete(cell: str) -> list[str]:
        before, _, after = cell.partition("|")
        line = before.count("\n")
        column = len(before.rpartition("\n")[2])
        result = matcher(CompletionContext("", before + after, column, line, None))
        assert before.endswith(result["matched_fragment"])
        found = [completion.text for completion in result["completions"]]
        assert bool(found) == result["suppress"]
        return [text for text in found if not text.startswith("-")] or found

    return complete


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%tape --he|", ["--hessian"]),
        ("%%tape x -t y --j|", ["--jacobian"]),
        ("%%tape --hessian --h|", []),
        ("%%tape |", ["big", "w", "x"]),
        ("%%tape |\ny = x\nfor z in q: pass\ndef f():\n    a = 1", ["big", "w", "x", "y", "z"]),
        ("%%tape |\ny, z = x, 2\nfor z in [", ["big", "w", "x", "y", "z"]),
        ("%%tape x, b|", ["big"]),
        ("%%tape x | -o 2", ["big", "w"]),
        ("%%tape x -t |\ny = x", ["y", "big", "w"]),
        ("%%tape x --what-if |\ny = x", ["y", "big", "w"]),
        ("%%tape x -t y |\ny = x\nz = y", ["z", "big", "w"]),
        ("%%tape x -o |", ["1", "2", "3"]),
        ("%%tape x -o 2 |", ["big", "w"]),
        ("%%tape x -n |", []),
        ("%%tape|", []),
        ("%%tape x\ny = |", []),
        ("y = 1\n%%tape |", []),
        ("%tape |", []),
        ("%tape --|", ["--order"]),
        ("%why |", []),
        ("%other |", []),
        ("%tape_graph --i|", ["--iteration"]),
    ],
)
def test_before_any_cell(complete: Complete, cell: str, expected: list[str]) -> None:
    """Options, and names of real numbers, arrays and Variables; elsewhere Python's completion is left alone."""
    assert expected == complete(cell)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%why |", ["loss", "w", "x", "y"]),
        ("r = %why lo|", ["loss"]),
        ("if x:\n    %why loss |", ["w", "x", "y"]),
        ("%gradient loss w |", ["x", "y"]),
        ("%tape_graph |", ["loss", "w", "x", "y"]),
        ("%check_gradient |", []),
        ("%check_gradient 2*x lo|", ["loss"]),
        ("%%tape |", ["big", "loss", "w", "x", "y"]),
    ],
)
def test_after_a_cell(run: Run, complete: Complete, cell: str, expected: list[str]) -> None:
    """The names of the tensors of the last %%tape cell."""
    run("%%tape x\ny = x * w\nloss = y + 1")

    assert expected == complete(cell)


@pytest.mark.usefixtures("complete")
def test_hints(shell: InteractiveShell) -> None:
    """Each completion has a few words beside it."""
    [matcher] = shell.Completer.custom_matchers

    found = matcher(CompletionContext("", "%%tape ", 7, 0, None))["completions"]

    assert ("big", "array 3×2") == (found[0].text, found[0].type)
    assert ("--target", "what to differentiate") == (found[3].text, found[3].type)
    assert all(completion.type for completion in found)
