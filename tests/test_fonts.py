"""tools/fonts.py: a command runs as on a machine with other fonts, or with the other Graphviz."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ipython.kernels import kernel
from tools import fonts

FAMILIES = {"dejavu": "DejaVu Sans", "liberation": "Liberation Sans"}


@pytest.mark.parametrize("name", fonts.SETS)
def test_a_set_of_fonts(name: str, tmp_path: Path) -> None:
    """Fontconfig then chooses from this set, whatever else is installed."""
    place = tmp_path / "ä & b"
    environment = fonts.font_environment(name, place)
    if not environment or shutil.which("fc-match") is None:
        pytest.skip(f"no {FAMILIES[name]}, or no fontconfig here")

    found = subprocess.run(
        ["fc-match", "--format=%{family}", "Helvetica"],  # noqa: S607 -- where the PATH says
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert FAMILIES[name] in found


def test_fonts_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the fonts, nothing is selected; CI fails rather than run twice with the same fonts."""
    monkeypatch.setitem(fonts.SETS, "liberation", "NoSuchFont.ttf")
    monkeypatch.setattr(sys, "argv", ["fonts.py", "liberation", sys.executable, "-c", ""])

    assert {} == fonts.font_environment("liberation", tmp_path)
    monkeypatch.delenv("TAPEMAGIC_NO_SKIP", raising=False)
    assert 0 == fonts.main()
    monkeypatch.setenv("TAPEMAGIC_NO_SKIP", "1")
    assert 1 == fonts.main()


@pytest.mark.kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_an_engine(tmp_path: Path) -> None:
    """Kernels read the setting."""
    environment = fonts.settings_environment(tmp_path)
    fonts.select_engine("pygraphviz", environment)
    with kernel(Path(environment["IPYTHONDIR"])) as started:
        assert "'pygraphviz'" == started.show("%config TapeMagics.engine")
