"""The results of steps as plain numbers, and the options that fit and evaluate share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapemagic.engine.tensor.messages import shown
from tapemagic.engine.tensor.tensor import unwrap
from tapemagic.errors import OptionError
from tapemagic.nn.callbacks.progress import Progress

Logs = dict[str, Any]


def plain_logs(logs: Any) -> Logs:
    """Results as floats, the loss first; those of dicts among them by their own names."""
    if logs is None:
        return {}
    if not isinstance(logs, Mapping):
        raise OptionError(
            f"train_step and test_step return a dict of results by their names, not {shown(logs)}: write return "
            "{'loss': loss}"
        )
    found: Logs = {}
    for name, value in logs.items():
        if isinstance(value, Mapping):
            found.update(plain_logs(value))
        else:
            array = np.asarray(unwrap(value))
            found[name] = array.item() if array.ndim == 0 else array
    return found


def one_or_all(logs: Logs) -> Any:
    """The results as a list; the loss alone, if there is nothing else."""
    values = list(logs.values())
    return values[0] if len(values) == 1 else values


def listed(callbacks: Any) -> list[Any]:
    """Callbacks as a list, for one, several or none."""
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, list | tuple) else [callbacks]


def verbosity(verbose: Any) -> Any:
    """The option `verbose`, after it was found to be one.

    Raises
    ------
    OptionError
        If it is none.
    """
    if verbose not in ("auto", 0, 1, 2):
        raise OptionError(f"verbose is 'auto', 0, 1 or 2, not {verbose!r}")
    return verbose


def whole(value: Any, name: str, least: int) -> int:
    """A whole number that is not too small.

    Raises
    ------
    OptionError
        If it is something else.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise OptionError(
        f"{name} is a whole number from {least} on, not {value!r}: write {max(least, 1)}"
    )


@contextmanager
def closed(progress: list[Progress]) -> Iterator[None]:
    """Rub out the bar at the end, whatever ends the block."""
    try:
        yield
    finally:
        for bar in progress:
            bar.close()
