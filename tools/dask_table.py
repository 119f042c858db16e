"""Write tools/dask_table.json: which of NumPy's functions are computed on Dask arrays, by the cases of the rule table.

Each case is recorded and differentiated, without being computed: cut along the first axis, and in one chunk.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.lazy.lazy_cases import REFUSALS, gradient, lazy, rows, whole
from tests.rules import harness
from tools.coverage_table import STORED, callables

YES, ONE_CHUNK, PARTLY, REFUSED = "yes", "along axes in one chunk", "some arguments", "refused"


def refusal(entry: Any, cut: Any) -> str:
    """The text of the error for a case; empty if there is none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            gradient(entry.call, lazy(list(entry.inputs), cut))
        except REFUSALS as error:
            return str(error)
    return ""


def classify(entries: Iterable[Any]) -> str:
    """The class of a function by its cases."""
    entries = list(entries)
    cut = [refusal(entry, rows) for entry in entries]
    if not any(cut):
        return YES
    joined = [refusal(entry, whole) for entry in entries]
    if all(joined):
        return REFUSED
    return PARTLY if any(joined) else ONE_CHUNK


def cases() -> dict[Callable[..., Any], list[Any]]:
    """The cases of each function."""
    found: dict[Callable[..., Any], list[Any]] = {}
    for entry in harness.collect("CASES").values():
        found.setdefault(entry.function, []).append(entry)
    return found


def classes() -> Iterator[tuple[str, str]]:
    """The functions that have cases, and their classes."""
    known = {function: classify(entries) for function, entries in cases().items()}
    for _, name, function in callables():
        try:
            kind = known.get(function)
        except TypeError:  # no hash
            continue
        if kind:
            yield name, kind


if __name__ == "__main__":
    found = dict(classes())
    STORED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{STORED.name}: {len(found)} functions")
