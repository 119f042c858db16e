"""Questions about a running program: eager mode, graphs, name scopes."""

from __future__ import annotations

import logging

from tapemagic.engine.tracing import tracer
from tapemagic.tf.core.name_scope import current


def executing_eagerly() -> bool:
    """Return True, except while a function is traced for `tf.function`."""
    return not inside_function()


def inside_function() -> bool:
    """Return True while a function is traced for `tf.function`."""
    return hasattr(tracer(), "name_of")


def get_logger() -> logging.Logger:
    """Return the logger of tapemagic."""
    return logging.getLogger("tapemagic")


def get_current_name_scope() -> str:
    """Return the current prefix of names, without its last slash."""
    return current().removesuffix("/")
