"""Streams of output, and whether somebody watches them."""

from __future__ import annotations

import sys
from typing import Any


def is_live(stream: Any) -> bool:
    """Whether a stream goes to somebody who watches: a terminal, or a notebook in a front end that takes input.

    Programs that run notebooks, such as nbconvert and nbval, take none; so no bar is left in what they save.
    """
    try:
        if stream.isatty():
            return True
    except (AttributeError, ValueError):
        return False
    if not type(stream).__module__.startswith("ipykernel") or "IPython" not in sys.modules:
        return False
    kernel = getattr(sys.modules["IPython"].get_ipython(), "kernel", None)
    return bool(getattr(kernel, "_allow_stdin", False))
