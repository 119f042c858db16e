"""``%%tape?`` and the help of the other magics."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from tapemagic.ipython.help import USAGE
from tapemagic.ipython.options import OPTIONS
from tests.ipython.conftest import Run


def help_of(shell: InteractiveShell, magic: str) -> str:
    """The docstring of a magic, as the notebook shows it."""
    return str(shell.object_inspect(magic)["docstring"])


@pytest.mark.parametrize("magic", USAGE)
def test_help(shell: InteractiveShell, magic: str) -> None:
    """It has the usage, every option, examples, and magics that exist, in 80 columns, with single percent signs."""
    shown = help_of(shell, magic)

    assert shown.startswith(f"Usage::\n\n  {magic} ")
    for option in OPTIONS[magic]:
        for name in option.flags:
            assert name in shown
    assert "\nExamples\n--------\n" in shown
    assert all(len(line) <= 82 for line in shown.splitlines())
    assert "%%%" not in shown
    named = set(re.findall(r"(?<!\w)%%?[a-z_]+", shown))
    assert named <= {*USAGE, "%config"}


def test_examples(shell: InteractiveShell, run: Run, variables: dict[str, Any]) -> None:
    """The examples of %%tape? run as they stand."""
    run("import dask.array, tapemagic\nw, b = tapemagic.Variable(0.5), tapemagic.Variable(0.0)")
    variables |= {"data": np.arange(3.0), "labels": np.array([1.0, 3.0, 5.0])}
    examples = help_of(shell, "%%tape").partition("Examples\n")[2].partition("See also")[0]
    cells = re.findall(r"(?:^  .*\n|^\n(?=    ))+", examples, re.MULTILINE)
    cells = [cell for cell in cells if cell.lstrip().startswith("%%tape")]

    reports = [run(re.sub("^  ", "", cell, flags=re.MULTILINE)) for cell in cells]

    assert ["y", "loss", "z", "y", "y", "y", "loss", "loss", "y"] == [
        report.findings.targets[0] for report in reports
    ]
    assert [2, 1, 1, 3, 1, 1, 1, 1, 1] == [report.findings.order for report in reports]
    assert abs(float(variables["w"]) - 2) < 0.5
