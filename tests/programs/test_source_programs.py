"""The source of random and of hostile programs, given as data."""

from __future__ import annotations

import ast
import operator
import random

import numpy as np
import pytest

from tapemagic.programs.program import (
    Back,
    Constant,
    Guard,
    Input,
    Kind,
    Loop,
    Node,
    Program,
    Site,
    Store,
    kind_of,
)
from tapemagic.programs.text.local_names import PRIVATE
from tapemagic.programs.text.source import Text
from tapemagic.programs.text.writer import Writer
from tests.programs.running import both_ways, in_driver, pasted

NUMBER = Kind((2,), np.dtype(float), True)
FILE = "file"


def run(program, *given):
    """What a program computes, node by node."""
    values = dict(zip(program.inputs, given, strict=True))

    def value(x):
        if isinstance(x, Constant):
            return x.value
        return values[x] if isinstance(x, Node) else x

    for node in program.body:
        values[node] = node.function(*map(value, node.args))
    return [value(x) for x in program.results]


def random_program(seed):
    """A program of many names that collide, read in any order, and what was called in which order."""
    choose = random.Random(seed)  # noqa: S311 (no secret)
    log = []

    def noted(x, y):
        log.append((float(np.ravel(x)[0]), float(np.ravel(y)[0])))
        return x - 0.5 * y

    inputs = [Input(k, NUMBER, choose.choice(["x", "h", "t"])) for k in range(3)]
    known = [*inputs, Constant(np.float64(0.3)), Constant(np.array([0.1, -0.7]), name="h")]
    body = []
    for _ in range(60):
        function = choose.choice([np.add, np.subtract, np.multiply, np.maximum, noted, noted])
        recent = known[-4:] if choose.random() < 0.7 else known
        args = [choose.choice(recent), choose.choice(recent)]
        site = Site(FILE, choose.choice([1, 1, 2]))
        back = (
            Back(choose.choice(known), 1, choose.choice(known)) if choose.random() < 0.4 else None
        )
        name = choose.choice(["", "", "h", "x", "u2"])
        node = Node(function, args, {}, NUMBER, site, back, name)
        body.append(node)
        known.append(node)
    results = [choose.choice(known) for _ in range(4)]
    notes = {"statements": {(FILE, 1): "h = f(x)", (FILE, 2): "x = g(h)"}}
    return Program(inputs, body, results, [], "f", notes), log


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_compute_what_they_say_in_their_order(seed):
    """Names that serve again, and expressions inside of others, change neither values nor the order of calls."""
    program, log = random_program(seed)
    given = [np.array([1.25, -2.0]), np.array([0.5, 3.0]), np.array([-1.0, 0.75])]
    wanted, order = run(program, *given), log[:]
    log.clear()

    for found in both_ways(program, *given):
        assert [x.tobytes() for x in found] == [np.asarray(x).tobytes() for x in wanted]
    assert log == order * 2


HOSTILE = [
    "np", "lambda", "d_x", "__class__", "a b", "x\n; import os", "1x", "", "ß", "ℌ", "l", "print", "Retrace",
    "f", "q_x0", "np_maximum",
]  # fmt: skip


def test_hostile_names_are_harmless():
    """Names are identifiers, shadow nothing that is used, and are never code."""
    inputs = [Input(k, NUMBER, name) for k, name in enumerate(HOSTILE * 2)]
    total = inputs[0]
    body = []
    for x in inputs[1:]:
        total = Node(np.maximum, [total, x], {}, NUMBER, Site("a\nb", 1), name="np.max(x) #")
        body.append(total)
    notes = {"statements": {("a\nb", 1): "fmt: off"}}
    program = Program(inputs, body, [total], [], "def", notes)
    given = [np.full(2, float(k)) for k in range(len(inputs))]

    names = [arg.arg for arg in ast.parse(str(Text(program))).body[-1].args.args]
    assert len({*names}) == len(inputs)
    assert not {*names} & {"np", "print", "Retrace", "lambda", "l"}
    for found in both_ways(program, *given):
        assert found.tolist() == [len(inputs) - 1.0] * 2
    apart = Writer(program, bare=True).parameters
    assert len({*apart}) == len(inputs)
    assert not any(name.startswith((PRIVATE, "np_")) for name in apart)


@pytest.mark.thorough
def test_twenty_thousand_calls_are_written_and_compiled():
    """No nesting becomes too deep for Python's parser, whatever the chain."""
    x = Input(0, NUMBER, "x")
    node, body = x, []
    for k in range(20_000):
        node = Node((np.negative, np.sin)[k % 2], [node], {}, NUMBER)
        body.append(node)
    program = Program([x], body, [node], [], "f")

    assert max(map(len, Text(program).lines)) <= 100
    for found in both_ways(program, np.ones(2)):
        assert np.isfinite(found).all()


def test_a_guard_raises_where_the_function_would_take_another_way():
    """The comment says whether the condition of the user's statement is true."""
    x = Input(0, Kind((), np.dtype(float), False), "x")
    positive = Node(np.greater, [x, 0], {}, Kind((), np.dtype(bool), False), Site(FILE, 1))
    program = Program([x], [positive, Guard(positive, True, Site(FILE, 1))], [x], [], "f")
    program.notes["statements"] = {(FILE, 1): "if x > 0:"}
    text = Text(program)

    assert text.lines[-4:-1] == [
        "    # if x > 0: (true in this program)",
        "    if not (x > 0):",
        "        raise Retrace(1)",
    ]
    for f in (pasted(program), in_driver(program)):
        assert f(np.float64(1)) == 1
        with pytest.raises(Exception, match="1") as found:
            f(np.float64(-1))
        assert type(found.value).__name__ == "Retrace"


def test_an_error_state_is_written_around_its_lines():
    """Only what differs from the state in which the function was traced."""
    x = Input(0, NUMBER, "x")
    state = {"divide": "ignore", "over": "warn", "under": "ignore", "invalid": "ignore"}
    inverse = Node(np.divide, [1.0, x], {}, NUMBER, Site(FILE, 1), name="y", errstate=state)
    product = Node(np.multiply, [inverse, x], {}, NUMBER, Site(FILE, 1))
    program = Program([x], [inverse, product], [product], [], "f")
    program.notes["errstate"] = {
        "divide": "warn",
        "over": "warn",
        "under": "ignore",
        "invalid": "warn",
    }
    text = Text(program)

    assert text.lines[-4:] == [
        '    with np.errstate(divide="ignore", invalid="ignore"):',
        "        y = 1.0 / x",
        "    u1 = y * x",
        "    return u1",
    ]
    for f in (pasted(program), in_driver(program)):
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            f(np.zeros(2))


def test_a_loop_over_blocks_keeps_what_it_reads():
    """Names from outside serve nothing else before the loop is over."""
    x = Input(0, Kind((4,), np.dtype(float), True), "x")
    y = Node(np.negative, [x], {}, x.kind, name="h")
    out = Node(np.empty, [4], {}, x.kind)
    loop = Loop(4, 2)
    part = Node(np.multiply, [y, 2.0], {}, x.kind, name="h")
    block = Node(operator.getitem, [part, loop.part], {}, Kind((2,), x.kind.dtype, True))
    loop.body += [part, block, Store(out, loop.part, block)]
    for found in both_ways(Program([x], [y, out, loop], [out], [], "f"), np.arange(4.0)):
        assert found.tolist() == [0.0, -2.0, -4.0, -6.0]


def test_constants_of_the_program_do_not_leave_it():
    """Writing into a result doesn't change the results of later calls."""
    constant = Constant(np.array([1.0, 2.0]))
    view = Node(np.reshape, [constant, (2, 1)], {}, Kind((2, 1), np.dtype(float), True))
    program = Program([], [view], [constant, view], [], "f")
    for f in [pasted(program), in_driver(program)] * 2:
        one, other = f()
        assert one.tolist() == [1.0, 2.0]
        assert other.tolist() == [[1.0], [2.0]]
        one[:] = other[:] = 9


def test_large_arrays_and_the_users_own_are_parameters():
    """Such arrays are bound by reference when the program is compiled."""
    x = Input(0, NUMBER, "x")
    own = np.array([1.0, 2.0])
    reference = Constant(own, by_reference=True, name="table")
    total = Node(np.add, [x, reference], {}, NUMBER)
    program = Program([x], [total], [total], [], "f")
    runs = pasted(program), in_driver(program)
    own[0] = 5.0

    assert "def f(x, table):" in Text(program).lines
    for f in runs:
        assert f(np.zeros(2)).tolist() == [5.0, 2.0]
    assert kind_of(own) == NUMBER


@pytest.mark.parametrize(
    "ufunc", [u for u in vars(np).values() if isinstance(u, np.ufunc) and u.nin == 1]
)
def test_functions_of_one_number_take_it_as_a_float_of_pythons(ufunc):
    """Results are the same to the bit, and of the same class: where that is so, it takes half the time."""
    x = Input(0, Kind((), np.dtype(float), False), "x")
    numbers = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 5e-324, 1e308, 0.1])
    with np.errstate(all="ignore"):
        for value in numbers:
            try:
                wanted = ufunc(value)
            except TypeError:
                return  # none of numbers
            kinds = tuple(map(kind_of, wanted)) if isinstance(wanted, tuple) else kind_of(wanted)
            y = Node(ufunc, [x], {}, kinds)
            found = in_driver(Program([x], [y], [y], [], "f"))(value)
            both = [r if isinstance(r, tuple) else (r,) for r in (found, wanted)]
            for a, b in zip(*both, strict=True):
                assert type(a) is type(b)
                assert a.tobytes() == b.tobytes()
