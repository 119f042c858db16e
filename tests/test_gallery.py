"""The gallery is what its cells show now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.gallery import DOCUMENT, ROOT
from tools.gallery_cells import CELLS


@pytest.mark.thorough
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="programs write powers otherwise"
)
def test_the_text() -> None:
    """Every sentence and number of every report; the pictures differ between versions of Graphviz."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.gallery", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip

    assert (0, "") == (done.returncode, done.stdout + done.stderr), "make gallery writes it anew"


def test_the_pictures() -> None:
    """Each cell has a picture of its graph, and no picture is left over."""
    shown = re.findall(r"\]\(([^)]+\.svg)\)", DOCUMENT.read_text(encoding="utf-8"))

    assert [f"gallery/{cell.name}.svg" for cell in CELLS] == shown
    assert {Path(name).name for name in shown} == {
        path.name for path in (DOCUMENT.parent / "gallery").iterdir()
    }
    for name in shown:
        assert (DOCUMENT.parent / name).read_text(encoding="utf-8").startswith("<svg")
