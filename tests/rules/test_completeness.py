"""Every entry of the rule table has its cases, and every case its entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from tapemagic.engine.recording import Record
from tapemagic.engine.registry import COMPOSITES, OPERATIONS, PLAIN, Operation, is_known
from tests.rules import checks, harness


def functions(kind: str) -> set[Callable[..., Any]]:
    """What the entries of a kind are cases of."""
    return {entry.function for entry in harness.collect(kind).values()}


def names(found: Any) -> str:
    """Functions by name, for a message that can be read."""
    return ", ".join(sorted(map(harness.name_of, found)))


def pairs(found: set[tuple[Operation, Any]]) -> str:
    """Operations, each with an argument or a keyword, for a message that can be read."""
    return ", ".join(sorted(f"{operation.name} {part}" for operation, part in found))


def assert_none(found: str) -> None:
    """Fail with all that was found: a comparison would cut it short."""
    assert not found, found


ELSEWHERE = ("tapemagic.distributed", "tapemagic.engine.tape.input_gradient")
"""The modules of operations on Dask arrays, which have their cases in tests/distributed and tests/lazy."""


def operations() -> list[Operation]:
    """The operations that have rules."""
    return [
        operation
        for operation in OPERATIONS.values()
        if (operation.rules or operation.joint_rule) and not harness.module_of(operation.function).startswith(ELSEWHERE)
    ]


@cache
def records() -> tuple[tuple[Record, list[int]], ...]:
    """Every record of every smooth or special case, with the positions of its tracked inputs."""
    return tuple(_records())


def _records() -> Iterator[tuple[Record, list[int]]]:
    for kind in ("CASES", "SPECIAL"):
        for entry in harness.collect(kind).values():
            with checks.silence():
                tape, _, _ = checks.run(entry)
            yield from checks.asked(tape)


def test_every_operation_has_a_case() -> None:
    """Each NumPy function with rules has a case of its own; our own primitives appear in one."""
    seen = {record.operation.function for record, _ in records()}
    own = {function for function in seen if harness.module_of(function).startswith("tapemagic")}
    missing = {operation.function for operation in operations()} - functions("CASES") - own

    assert_none(names(missing))


def test_every_composite_has_a_case() -> None:
    """Each function that is computed out of others has a case, or is always refused."""
    assert_none(names(set(COMPOSITES) - functions("CASES") - functions("REFUSED")))


def test_every_plain_function_has_a_case() -> None:
    """Each function without derivative has a case that says so."""
    assert_none(names(PLAIN - functions("PLAIN")))


def test_every_case_has_an_entry() -> None:
    """No case is of a function that the table does not know, or knows as something else."""
    cases, specials, plains = map(functions, ("CASES", "SPECIAL", "PLAIN"))

    assert_none(names(function for function in cases | specials if not is_known(function)))
    assert_none(names(cases & PLAIN))
    assert_none(names(plains - PLAIN))


def test_every_argument_has_a_case() -> None:
    """Each rule is asked for its gradient in some case."""
    asked = {(record.operation, position) for record, tracked in records() for position in tracked}
    rules = {(entry, k) for entry in operations() for k, rule in enumerate(entry.rules) if rule}
    missing = rules - asked

    assert_none(pairs(missing))


def test_every_parameter_has_a_case() -> None:
    """Each keyword that a rule understands is given in some case."""
    given = {(record.operation, name) for record, _ in records() for name in record.params or ()}
    understood = {(operation, name) for operation in operations() for name in operation.accepts}

    assert_none(pairs(understood - given))
