"""The code of docs/how-to.md runs as it stands there, and gives what stands below it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.ipython.conftest import Run

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "how-to.md"
SECTION = re.compile(r"^## … (.+)$", re.MULTILINE)
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.DOTALL)

HEADINGS, SECTIONS = (
    SECTION.findall(DOCUMENT.read_text()),
    SECTION.split(DOCUMENT.read_text())[2::2],
)


@pytest.mark.parametrize("section", SECTIONS, ids=HEADINGS)
def test_a_how_to(
    run: Run, section: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shell: Any
) -> None:
    """All blocks of a section in their order, in a fresh namespace."""
    monkeypatch.chdir(tmp_path)
    value: Any = None
    for kind, block in BLOCK.findall(section):
        if kind == "python":
            shell.user_ns["_"] = value
            value = run(block)
        else:
            assert block.rstrip("\n") == repr(value)
