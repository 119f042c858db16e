"""Lists, tuples, named tuples and dicts: as sources, targets, output gradients and watched."""

from __future__ import annotations

from collections import ChainMap, OrderedDict, defaultdict
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import pytest

import tapemagic as tm
from tapemagic.errors import NotATensorError, ShapeError
from tests.conformance.programs import encode, raised_by


class Point(NamedTuple):
    """Two leaves with names."""

    x: Any
    y: Any


class Layers(list):  # type: ignore[type-arg]
    """A list of its own kind."""


A, B = tm.constant(3.0), tm.constant(4.0)

STRUCTURES = {
    "tensor": A,
    "list": [A, B],
    "tuple": (B, A),
    "list of one": [A],
    "named tuple": Point(B, A),
    "dict": {"b": B, "a": A},
    "dict with numbers as keys": {2: A, 1: B},
    "OrderedDict": OrderedDict([("b", B), ("a", A)]),
    "defaultdict": defaultdict(list, {"b": B, "a": A}),
    "mapping proxy": MappingProxyType({"b": B, "a": A}),
    "subclass of list": Layers([B, A]),
    "nested": [A, (B, {"p": Point([A], {"q": (B,)})}), []],
    "empty list": [],
    "empty tuple": (),
    "empty dict": {},
    "empties": {"a": [], "b": ({}, ())},
}

every_structure = pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES.keys())


def recorded() -> tuple[tm.GradientTape, tm.Tensor]:
    """A persistent tape that watched A and B, and y = A·A·B: its gradients are 24 and 9."""
    with tm.GradientTape(persistent=True) as tape:
        tape.watch([A, B])
        y = A * A * B
    return tape, y


def mapped(structure: Any) -> Any:
    """The structure with 24 for A and 9 for B, built by hand."""
    if structure is A:
        return 24.0
    if structure is B:
        return 9.0
    if isinstance(structure, Point):
        return Point(*map(mapped, structure))
    if isinstance(structure, (list, tuple)):
        return type(structure)(map(mapped, structure))
    return {key: mapped(part) for key, part in structure.items()}


@every_structure
def test_sources(structure: Any) -> None:
    """Gradients come in exactly the structure of the sources: types, keys and their order."""
    tape, y = recorded()

    actual = tape.gradient(y, structure)

    assert type(structure) is type(actual) or isinstance(actual, tm.Tensor)
    assert actual == mapped(structure)
    if isinstance(structure, (dict, MappingProxyType)):
        assert list(structure) == list(actual)


@every_structure
def test_sources_are_not_changed(structure: Any) -> None:
    """The structure given is read only."""
    tape, y = recorded()
    before = encode(structure)

    tape.gradient(y, structure)

    assert encode(structure) == before


def test_default_factory_survives() -> None:
    """A defaultdict of gradients has the default of the sources'."""
    tape, y = recorded()

    actual = tape.gradient(y, defaultdict(list, {"a": A}))

    assert actual["new"] == []


def test_named_tuple_fields() -> None:
    """A named tuple of gradients is read by the same field names."""
    tape, y = recorded()

    actual = tape.gradient(y, Point(x=A, y=[B]))

    assert (float(actual.x), float(actual.y[0])) == (24.0, 9.0)


def test_none_in_structures() -> None:
    """None, or zeros, stand in the places of unconnected sources."""
    tape, y = recorded()
    stranger = tm.constant([1.0, 2.0])

    plain = tape.gradient(y, {"a": A, "s": Point(stranger, [stranger])})
    zeros = tape.gradient(y, {"s": stranger}, unconnected_gradients="zero")

    assert plain == {"a": 24.0, "s": Point(None, [None])}
    assert encode(zeros) == {"dict": [["s", [0.0, 0.0]]]}


class Named(dict):  # type: ignore[type-arg]
    """A dict whose constructor takes its name first."""

    def __init__(self, name: str, **parts: Any) -> None:
        super().__init__(parts)
        self.name = name


def test_dict_of_its_own_type() -> None:
    """A dict of gradients is a copy of the dict of sources with other values, whatever its constructor takes."""
    tape, y = recorded()

    actual = tape.gradient(y, Named("n", b=B, a=A))

    assert Named is type(actual)
    assert "n" == actual.name
    assert [("b", 9.0), ("a", 24.0)] == [(key, float(part)) for key, part in actual.items()]


class Pair(tuple):  # type: ignore[type-arg]
    """A tuple whose constructor takes its parts one by one."""

    __slots__ = ()

    def __new__(cls, first: Any, second: Any) -> Self:
        """Of its parts."""
        return tuple.__new__(cls, (first, second))


class Backwards(list):  # type: ignore[type-arg]
    """A list whose constructor turns around what it is given."""

    def __init__(self, parts: Any) -> None:
        super().__init__(reversed(list(parts)))


@pytest.mark.parametrize(
    ("sources", "expected"),
    [(Pair(A, B), (24.0, 9.0)), (Backwards([B, A]), [24.0, 9.0]), ([Pair(A, Pair(B, A))], [(24.0, (9.0, 24.0))])],
    ids=["tuple", "list", "nested"],
)  # fmt: skip
def test_types_made_of_something_else(sources: Any, expected: Any) -> None:
    """Where a type cannot be made of its parts, gradients come in a plain list or tuple."""
    tape, y = recorded()

    actual = tape.gradient(y, sources)

    assert type(actual) is type(expected)
    assert actual == expected
    assert not isinstance(expected, dict) or list(actual) == list(expected)


def test_chain_map() -> None:
    """The keys of a ChainMap come in its own order."""
    tape, y = recorded()
    sources = ChainMap({"b": B}, {"c": A, "a": A})

    actual = tape.gradient(y, sources)

    assert [("c", 24.0), ("a", 24.0), ("b", 9.0)] == list(actual.items())


def test_deep_structures() -> None:
    """A structure that can be taken apart can be put together again."""
    tape, y = recorded()
    depth = 600
    structure: Any = {"a": A}
    for _ in range(depth):
        structure = [structure]

    actual = tape.gradient(y, structure)
    for _ in range(depth):
        [actual] = actual

    assert {"a": 24.0} == actual


@every_structure
def test_targets(structure: Any) -> None:
    """Targets of any structure are summed."""
    tape, y = recorded()
    count = len(list(encode_leaves(structure)))
    wanted = [y] * count

    actual = tape.gradient(refilled(structure, iter(wanted)), A)

    assert (None if count == 0 else 24.0 * count) == (None if actual is None else float(actual))


@every_structure
def test_output_gradients(structure: Any) -> None:
    """output_gradients of the target's structure weigh leaf by leaf."""
    tape, y = recorded()
    count = len(list(encode_leaves(structure)))
    target = refilled(structure, iter([y] * count))
    weights = refilled(structure, iter([tm.constant(float(10**i)) for i in range(count)]))

    actual = tape.gradient(target, A, output_gradients=weights)

    expected = 24.0 * sum(10**i for i in range(count)) if count else None
    assert expected == (None if actual is None else float(actual))


@every_structure
def test_watch(structure: Any) -> None:
    """watch finds the leaves of every structure."""
    with tm.GradientTape() as tape:
        tape.watch(structure)
        y = A * A * B
    leaves = list(encode_leaves(structure))

    actual = tape.gradient(y, [A, B])

    assert [
        24.0 if any(leaf is A for leaf in leaves) else None,
        9.0 if any(leaf is B for leaf in leaves) else None,
    ] == [None if g is None else float(g) for g in actual]


def test_output_gradients_of_dicts_go_by_key() -> None:
    """output_gradients of a dict target are matched by key, not by order."""
    tape, y = recorded()
    z = A

    actual = tape.gradient({"y": y, "z": z}, A, output_gradients={"z": 5.0, "y": 2.0})

    assert float(actual) == 2.0 * 24.0 + 5.0


def test_output_gradients_of_another_structure() -> None:
    """output_gradients may be a flat list for a nested target, in its order."""
    tape, y = recorded()

    actual = tape.gradient({"y": [y], "z": (A, y)}, A, output_gradients=[2.0, 5.0, 1.0])

    assert float(actual) == 3.0 * 24.0 + 5.0


def test_dicts_go_by_sorted_keys() -> None:
    """A dict beside a list is one in the order of its keys; where these cannot be sorted, in that of insertion."""
    tape, y = recorded()

    def weighed(target: Any, weights: Any) -> float:
        return float(tape.gradient(target, A, output_gradients=weights))

    assert 24.0 + 10.0 == weighed({"z": y, "a": A}, [10.0, 1.0])
    assert 10.0 * 24.0 + 1.0 == weighed([y, A], {"z": 1.0, "a": 10.0})
    assert 10.0 * 24.0 + 1.0 == weighed({"z": y, 1: A}, [10.0, 1.0])
    assert 10.0 * 24.0 + 1.0 == weighed({"z": y, 1: A}, {1: 1.0, "z": 10.0})


@pytest.mark.parametrize("weight", [[2.0], (2.0,), [np.array(2.0)], {"a": 2.0}, [[2]], [A - 1.0]])
def test_one_number_in_a_structure(weight: Any) -> None:
    """One number in a structure weighs one number, alone or beside others."""
    tape, y = recorded()

    assert float(tape.gradient(y, A, output_gradients=weight)) == 48.0
    assert float(tape.gradient([y, A], A, output_gradients=[weight, weight])) == 50.0


def test_numbers_in_lists_for_arrays() -> None:
    """Arrays written out belong to the targets, one to each; numbers in another structure to nothing."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    flat = tape.gradient({"y": [y], "z": (y, y)}, x, output_gradients=[[1.0, 2.0], [0, 0], [0, 1]])

    error = raised_by(lambda: tape.gradient([y, [y]], x, output_gradients=[[1.0, 1.0]]))

    assert encode(flat) == [2.0, 12.0]
    assert isinstance(error, ShapeError)
    assert "can't be assigned to 2 targets" in str(error)


@pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], {"y": 1.0}, {"y": 1.0, "q": 2.0}])
def test_output_gradients_that_do_not_match(weights: Any) -> None:
    """output_gradients with too few, too many, or other keys are refused."""
    tape, y = recorded()
    error = raised_by(lambda: tape.gradient({"y": y, "z": A}, A, output_gradients=weights))

    assert isinstance(error, ShapeError)
    assert "output_gradients" in str(error)


@pytest.mark.parametrize(
    "array", [[10.0, 20.0], (10.0, 20.0), [10, 20], [np.float64(10.0), np.float64(20.0)]]
)
def test_lists_of_numbers_are_arrays(array: Any) -> None:
    """A list of numbers is the array for a vector target, alone or within a structure."""
    x = tm.constant([1.0, 2.0])
    with tm.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x

    alone = tape.gradient(y, x, output_gradients=array)
    within = tape.gradient([y, (y,)], x, output_gradients=[array, (1.0,)])

    assert encode(alone) == [20.0, 80.0]
    assert encode(within) == [22.0, 84.0]


@pytest.mark.parametrize("bad", [{1.0, 2.0}, iter([A]), "a", None, 1.0, np.ones(2), object])
def test_bad_leaves(bad: Any) -> None:
    """Something that is no tensor is refused wherever it stands in a structure."""
    tape, y = recorded()
    structure = [A, {"k": (B, bad)}]
    errors = [
        raised_by(lambda: tape.gradient(y, structure)),
        raised_by(lambda: tape.gradient(structure, A)),
        raised_by(lambda: tm.GradientTape().watch(structure)),
    ]

    assert all(isinstance(error, NotATensorError) for error in errors)
    assert ["a source", "a target", "the argument of watch()"] == [
        str(error).partition(" must be")[0] for error in errors
    ]


def encode_leaves(structure: Any) -> Any:
    """The leaves of a structure, found by hand."""
    if isinstance(structure, tm.Tensor):
        yield structure
        return
    parts = structure.values() if hasattr(structure, "values") else structure
    for part in parts:
        yield from encode_leaves(part)


def refilled(structure: Any, values: Any) -> Any:
    """The structure with other leaves, built by hand."""
    if isinstance(structure, tm.Tensor):
        return next(values)
    if hasattr(structure, "values"):
        return {key: refilled(part, values) for key, part in structure.items()}
    parts = [refilled(part, values) for part in structure]
    return (
        Point(*parts)
        if isinstance(structure, Point)
        else tuple(parts)
        if isinstance(structure, tuple)
        else parts
    )
