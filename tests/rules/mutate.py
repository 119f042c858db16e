"""Break every rule of the table in four ways, and list the damage that no case notices.

Run it with ``python -m tests.rules.mutate [WORD ...]``; a word is part of an operation's name. It
ends with status 1 if there is such damage. Rules whose gradient is zero everywhere cannot be broken
by a factor: they are listed, but do not count.
"""

# ruff: noqa: T201 (a script talks to its terminal)

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

import tapemagic  # noqa: F401  (fills the table)
from tapemagic.engine.registry import OPERATIONS, Operation
from tests.rules import checks, harness
from tests.rules.damage import DAMAGES, damaged

Place = tuple[Operation, int]


def users() -> tuple[dict[Place, list[Any]], set[Place]]:
    """For each rule the cases that ask it, its own ones first; and the rules that are not zero."""
    asking: dict[Place, list[Any]] = defaultdict(list)
    alive: set[Place] = set()
    for name, entry in (harness.collect("CASES") | harness.collect("SPECIAL")).items():
        if notices(entry):
            print(f"{name} is left out, since it fails as it is")
            continue
        with checks.silence():
            tape, _, _ = checks.run(entry)
        for record, tracked in checks.asked(tape):
            for place in ((record.operation, k) for k in tracked):
                if entry not in asking[place]:
                    own = entry.function is record.operation.function
                    asking[place].insert(0 if own else len(asking[place]), entry)
                g = checks.cotangent(record.output)
                if place not in alive and np.any(checks.ask(record, place[1], g)):
                    alive.add(place)
    return asking, alive


def rules(asked: set[Place]) -> Iterator[Place]:
    """Every rule of the table; of operations on any number of arrays, two that are asked."""
    for operation in list(OPERATIONS.values()):
        if operation.joint_rule:
            positions = sorted(k for other, k in asked if other is operation)[:2] or [0]
        else:
            positions = [k for k, rule in enumerate(operation.rules) if rule]
        yield from ((operation, k) for k in positions)


def notices(entry: Any) -> bool:
    """Whether an entry fails as things are."""
    check = checks.check_special if isinstance(entry, harness.Special) else checks.check_derivatives
    try:
        with checks.silence():
            check(entry)
    except Exception:  # noqa: BLE001 (however it fails, it has noticed)
        return True
    return False


def unnoticed(place: Place, entries: list[Any]) -> list[str]:
    """The damages to a rule with which all `entries` still pass."""
    found = []
    for damage in DAMAGES:
        with damaged(*place, damage):
            if not any(map(notices, entries)):
                found.append(damage.__name__)
    return found


def main(words: list[str]) -> int:
    """Print the damage that nobody notices; its amount, without rules that are zero everywhere."""
    survivors = 0
    asking, alive = users()
    for place in rules(set(asking)):
        operation, position = place
        if words and not any(word in operation.name for word in words):
            continue
        found = unnoticed(place, asking[place])
        zero = bool(asking[place]) and place not in alive
        if found:
            note = " (zero everywhere)" if zero else ""
            what = ", ".join(found)
            print(f"{operation.name}, argument {position}: {what} unnoticed{note}", flush=True)
        survivors += 0 if zero else len(found)
    print(f"{survivors} damages unnoticed")
    return survivors


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
