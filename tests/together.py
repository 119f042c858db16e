"""Many small cases in one test: pytest takes longer to start and to report a test than most of them take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def check_each(cases: Mapping[str, Any], check: Callable[[Any], None]) -> None:
    """Try all cases; an error has those of all that failed, each with the name of its case."""
    failed = []
    for name, case in cases.items():
        try:
            check(case)
        except Exception as error:  # noqa: BLE001 (it is raised below)
            error.add_note(f"in the case {name}")
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {len(cases)} cases", failed)
