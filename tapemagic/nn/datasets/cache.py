"""The folder in which downloaded data are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """``$TAPEMAGIC_DATA``, or ``tapemagic`` in the folder which the system has for caches."""
    if chosen := os.environ.get("TAPEMAGIC_DATA"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) / "tapemagic" if local else Path.home() / "AppData/Local/tapemagic"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/tapemagic"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tapemagic"
