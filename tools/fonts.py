"""Run a command as on a machine with other fonts: ``python tools/fonts.py [--engine NAME] SET COMMAND ...``.

Fontconfig, from which Graphviz gets its fonts, then knows only one family. With ``--engine pygraphviz``, kernels
draw with the Graphviz inside pygraphviz instead of the ``dot`` program. Reports must not depend on either. The settings
of this user in Jupyter, IPython and matplotlib have no effect on the command.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
SETS = {"dejavu": "DejaVuSans.ttf", "liberation": "LiberationSans-Regular.ttf"}
"""The sets of fonts, each with a file that shows where it is."""
CONFIGURATION = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{fonts}</dir>
<cachedir>{cache}</cachedir>
<include ignore_missing="yes">/etc/fonts/conf.d</include>
</fontconfig>
"""
LIST_FONTS = (
    "import contextlib\nwith contextlib.suppress(ImportError): import matplotlib.font_manager"
)
SETTINGS = "c.TapeMagics.engine = {engine!r}\n"


def folder_of(name: str) -> Path | None:
    """Find the folder of a set of fonts; None if it isn't installed."""
    data = os.environ.get("XDG_DATA_HOME", "~/.local/share")
    places = [os.environ.get(f"{name.upper()}_FONTS", ""), f"{data}/fonts"]
    places += ["/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts"]
    for place in filter(None, places):
        for file in sorted(Path(os.path.expanduser(place)).rglob(SETS[name])):  # noqa: PTH111
            return file.parent
    return None


def font_environment(name: str, build: Path = ROOT / "build") -> dict[str, str]:
    """Write the fontconfig file of a set of fonts.

    Parameters
    ----------
    name : {'dejavu', 'liberation'}
    build : Path, optional
        The folder to write it into.

    Returns
    -------
    dict of str to str
        Environment variables that select these fonts, or nothing if they aren't installed.
    """
    fonts = folder_of(name)
    if fonts is None:
        return {}
    folder = build / "fonts" / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "fonts.conf"
    paths = {"fonts": escape(str(fonts)), "cache": escape(str(folder / "cache"))}
    file.write_text(CONFIGURATION.format(**paths), encoding="utf-8")
    return {"FONTCONFIG_FILE": str(file)}


def settings_environment(folder: Path) -> dict[str, str]:
    """Return environment variables with which Jupyter and IPython keep their settings in a folder.

    Otherwise a kernel named python3 of this user would run instead of this Python, and IPython warns if it can't write
    to the home folder.
    """
    jupyter = {f"JUPYTER_{name}_DIR": str(folder / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    return {"IPYTHONDIR": str(folder / "ipython"), **jupyter}


def select_engine(engine: str, environment: dict[str, str]) -> None:
    """Write the setting of kernels that selects how they draw, for such an environment."""
    profile = Path(environment["IPYTHONDIR"], "profile_default")
    profile.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS.format(engine=engine)
    (profile / "ipython_kernel_config.py").write_text(settings, encoding="utf-8")


def main() -> int:
    """Run the command; its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--engine", choices=["dot", "pygraphviz"])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()

    environment = font_environment(options.set)
    settings = ROOT / "build" / "fonts" / f"settings-{options.set}"
    if not environment:
        print(f"The fonts {options.set} aren't installed: those of this machine serve", flush=True)
        if os.environ.get("TAPEMAGIC_NO_SKIP"):
            return 1
    environment |= settings_environment(settings) | {"MPLCONFIGDIR": str(settings / "matplotlib")}
    shutil.rmtree(environment["IPYTHONDIR"], ignore_errors=True)
    if options.engine:
        select_engine(options.engine, environment)
    environment = os.environ | environment
    environment.pop(
        "MPLBACKEND", None
    )  # where it is set, kernels do not show the plots of matplotlib
    # Matplotlib lists the fonts once for each MPLCONFIGDIR. A kernel in which that takes more than 5 s says so on the
    # error stream, as an output of its cell.
    subprocess.run([sys.executable, "-c", LIST_FONTS], env=environment, check=False)
    return subprocess.run(options.command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
