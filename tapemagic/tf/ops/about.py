"""Questions about the way in which programs run."""

from __future__ import annotations

import logging

from tapemagic.tf.core.name_scope import current


def executing_eagerly() -> bool:
    """True: every operation runs at once."""
    return True


def inside_function() -> bool:
    """False: there are no graphs."""
    return False


def get_logger() -> logging.Logger:
    """The logger of tapemagic."""
    return logging.getLogger("tapemagic")


def get_current_name_scope() -> str:
    """The prefix of names, without its last slash."""
    return current().removesuffix("/")
