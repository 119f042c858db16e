"""The rule table in the state in which a user meets it: not completed, as tests/conftest.py does it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules import fresh
from tests.shares import each

pytestmark = pytest.mark.thorough


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs copies of a process")
@pytest.mark.parametrize("seed", range(0, 3, each(1)))
def test_gradients_before_the_table_is_complete(seed: int) -> None:
    """Whichever function is the first one, and in whatever order others follow, no gradient is another one."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.rules.fresh", str(seed)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    counts = [int(count) for count in re.findall(r"^(\d+) compared$", run.stdout, re.MULTILINE)]
    assert run.stdout == "".join(f"{count} compared\n" for count in counts), run.stdout
    assert run.returncode == 0, run.stderr
    assert len(fresh.WORDS) + 1 == len(counts), run.stderr
    assert counts[-1] > 250
