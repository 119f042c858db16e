"""Which cases of large tables are tried: a share of them in CI, all of them with ``TAPEMAGIC_ALL_CASES=1``."""

from __future__ import annotations

import os
from typing import Any

ALL = bool(os.environ.get("TAPEMAGIC_ALL_CASES"))
"""Whether to try every case in every way, which takes minutes: ``make rule-table``."""

PART = 6
"""Of so many cases one is tried in CI."""


def each(step: int) -> int:
    """A step through a table that leaves a share of what it would reach otherwise."""
    return step if ALL else step * PART


def share(entries: dict[str, Any], place: int = 0) -> dict[str, Any]:
    """One in six of the cases of each function, at least one of them, and other ones for each place; or all of them."""
    if ALL:
        return entries
    cases: dict[Any, list[str]] = {}
    for name, entry in entries.items():
        cases.setdefault(entry.function, []).append(name)
    chosen = [names[place % min(PART, len(names)) :: PART] for names in cases.values()]
    return {name: entries[name] for names in chosen for name in names}
