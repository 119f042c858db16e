"""Inline styles that several faces of a report share."""

from __future__ import annotations

NAME = "font-family:ui-monospace,Menlo,Consolas,monospace;white-space:pre"
CODE = f"{NAME}-wrap"
TITLE = "margin:14px 0 4px;font-weight:600"
QUIET = "color:#6b7280"
SMALL = f"{QUIET};font-size:12px"
