"""Questions about a running program: eager mode, graphs, name scopes."""

from __future__ import annotations

import logging

from tapemagic.tf.core.name_scope import current


def executing_eagerly() -> bool:
    """Return True: every operation runs immediately."""
    return True


def inside_function() -> bool:
    """Return False: there are no graphs."""
    return False


def get_logger() -> logging.Logger:
    """Return the logger of tapemagic."""
    return logging.getLogger("tapemagic")


def get_current_name_scope() -> str:
    """Return the current prefix of names, without its last slash."""
    return current().removesuffix("/")
