"""Inline styles of the HTML in a report, legible on a light and on a dark page.

Inline styles can't know whether a notebook is light or dark. So text has the color of the notebook, secondary text is
fainter, and important text has a background color, as in the graph.
"""

from __future__ import annotations

NAME = "font-family:Menlo,Consolas,monospace;white-space:pre"
CODE = f"{NAME}-wrap"
TITLE = "margin-top:14px;font-weight:600"
QUIET = "opacity:0.72"
SMALL = f"{QUIET};font-size:12px"
GROUND = "#7f7f7f"
"""The gray of lines and text in a picture without background: as far from white as from black."""
LIVE_GROUND = "var(--jp-ui-font-color2,#6b7280)"
"""The gray of such lines and text in a live page, which has a theme."""
RULE = "1px solid #7f7f7f66"
_CHIP = "border-radius:3px;padding:0 5px;font-weight:600"
WATCHED = f"background-color:#dbeafe;color:#1e3a8a;{_CHIP}"
TARGET = f"background-color:#fef3c7;color:#78350f;{_CHIP}"
GOOD = f"background-color:#dcfce7;color:#14532d;{_CHIP}"
BAD = f"background-color:#fee2e2;color:#991b1b;{_CHIP}"
WARN = f"background-color:#ffedd5;color:#7c2d12;{_CHIP}"
