"""The front end as it was built from front_end/: an ES module, and its style sheet."""

from __future__ import annotations

from importlib import resources

STATIC = resources.files("tapemagic.display") / "static"
ESM = (STATIC / "report.js").read_text(encoding="utf-8")
CSS = (STATIC / "report.css").read_text(encoding="utf-8")
FRONT_END = (ESM, CSS)
