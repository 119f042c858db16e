"""Machines with other fonts: fontconfig files that name one folder of fonts each."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import matplotlib as mpl

BUNDLED = Path(mpl.get_data_path()) / "fonts/ttf"
LIBERATION = (
    *map(Path, filter(None, [os.environ.get("LIBERATION_FONTS")])),
    Path("/usr/share/fonts/truetype/liberation"),
    Path("/usr/share/fonts/truetype/liberation2"),
)
"""The folders where Liberation Sans may be; that of a font that is unpacked only for tests comes first."""
CONFIGURATION = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{folder}/cache</cachedir>
<include ignore_missing="yes">/etc/fonts/conf.d</include>
</fontconfig>
"""


def font_sets(folder: Path) -> dict[str, Path]:
    """Write a fontconfig file for each set of fonts that is there, to be named in the variable FONTCONFIG_FILE.

    Matplotlib brings DejaVu Sans and Computer Modern, so there are always two with different widths.
    """
    sets = {
        "DejaVu": [BUNDLED / "DejaVuSans.ttf"],
        "Computer Modern": [BUNDLED / "cmr10.ttf"],
        "Liberation": [font for place in LIBERATION for font in sorted(place.glob("LiberationSans-*.ttf"))],
    }  # fmt: skip
    return {name: _configured(folder / name, fonts) for name, fonts in sets.items() if fonts}


def _configured(folder: Path, fonts: list[Path]) -> Path:
    """The fontconfig file of a folder with copies of some fonts."""
    folder.mkdir()
    for font in fonts:
        shutil.copy(font, folder)
    file = folder / "fonts.conf"
    file.write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
    return file
