"""Whether libraries agree on a program: to double precision, relative to the size of what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.crosscheck.answers import Answers, Arrays
from benchmarks.crosscheck.by_tapemagic import Noisy, tapemagic
from benchmarks.crosscheck.programs import Library, Program, by_turns, by_value

Backend = Callable[[Program], Answers]

TOLERANCE = 1e-10
"""The relative error that needs no explanation."""

IMPRECISE = 1e-5
"""If the other libraries are further from each other, one of them is not imprecise but wrong, which excuses nobody."""

SMALLEST = 1e-3
"""Arrays whose numbers are all smaller than this are compared as if one of them were as large."""

EPSILON = float(np.finfo(float).eps)


@dataclass
class Verdict:
    """What came of comparing.

    Attributes
    ----------
    comparisons : int
        How many arrays were compared with another library's.
    worst : float
        The largest relative error among those that agree.
    failures : list of str
        What differs, and from whom.
    quarrels : list of str
        Where tapemagic agrees with one of the other libraries only, or these are about as far from each other.
    sensitive : list of str
        Where rounding alone explains a difference.
    missing : dict of str to str
        What other libraries raised.
    warned : list of str
        What tapemagic warned of.
    """

    comparisons: int = 0
    worst: float = 0.0
    failures: list[str] = field(default_factory=list)
    quarrels: list[str] = field(default_factory=list)
    sensitive: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    warned: list[str] = field(default_factory=list)


def compare(program: Program, others: Mapping[str, Backend]) -> Verdict:
    """Run a program in tapemagic and in the other libraries."""
    verdict = Verdict()
    try:
        ours = tapemagic(program)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is a failure)
        verdict.failures.append(f"tapemagic raised {type(error).__name__}: {error}")
        return verdict
    verdict.warned = ours.warned
    answers = {}
    for name, run in others.items():
        try:
            answers[name] = run(program).found
        except Exception as error:  # noqa: BLE001 (it is counted)
            verdict.missing[name] = f"{type(error).__name__}: {error}"
    for what, found in ours.found.items():
        theirs = {name: answer[what] for name, answer in answers.items() if what in answer}
        _judge(program, what, what, found, theirs, verdict)
    for what, found in ours.again.items():
        kind = what.partition(",")[0]
        _judge(program, kind, what, found, {"tapemagic itself": ours.found[kind]}, verdict)
    return verdict


def _judge(
    program: Program,
    kind: str,
    what: str,
    ours: Arrays,
    theirs: Mapping[str, Arrays],
    verdict: Verdict,
) -> None:
    """Compare one kind of arrays, and enter the result into the verdict."""
    errors = {name: error(ours, arrays) for name, arrays in theirs.items()}
    verdict.comparisons += len(ours) * len(theirs)
    if not max(errors.values(), default=0.0) <= TOLERANCE:
        noise = rounding(program, kind, ours)
        far = [name for name, e in errors.items() if not e <= TOLERANCE + 100 * noise]
        note = f"{what}: " + ", ".join(f"{e:.2g} from {name}" for name, e in errors.items())
        if not far:
            verdict.sensitive.append(f"{note} (rounding: {noise:.2g})")
        elif len(far) < len(errors) or min(errors.values()) < 10 * _apart(theirs) < IMPRECISE:
            verdict.quarrels.append(note)
        else:
            verdict.failures.append(note)
    verdict.worst = max([verdict.worst, *(e for e in errors.values() if e <= TOLERANCE)])


def error(a: Arrays, b: Arrays) -> float:
    """The largest difference, relative to the largest number."""
    if [x.shape for x in a] != [x.shape for x in b] or not all(map(_finite, (*a, *b))):
        return float("inf")
    size = max((np.max(np.abs(x), initial=SMALLEST) for x in (*a, *b)), default=1.0)
    differences = (np.max(np.abs(x - y), initial=0.0) for x, y in zip(a, b, strict=True))
    return float(max(differences, default=0.0) / size)


def _apart(theirs: Mapping[str, Arrays]) -> float:
    """How far the other libraries are from each other."""
    found = list(theirs.values())
    return error(found[0], found[-1])


def _finite(x: Any) -> bool:
    return bool(np.all(np.isfinite(x)))


def rounding(program: Program, kind: str, ours: Arrays) -> float:
    """How much the answers change when each operation is rounded differently."""
    changes = [0.0]
    for seed in range(3):
        library = Library(Noisy(EPSILON, seed), by_turns, by_value)
        with suppress(np.linalg.LinAlgError):
            changes.append(error(ours, tapemagic(program, library).found[kind]))
    return max(filter(np.isfinite, changes))
