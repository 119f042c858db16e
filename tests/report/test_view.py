"""The parts of a recording that a view opens."""

from __future__ import annotations

from tapemagic.engine.scopes import Scope
from tapemagic.report.folding import Block
from tapemagic.report.tabs.graph.view import (
    Fold,
    FoldOverrides,
    FoldPolicy,
    Frame,
    Item,
    Plan,
    kept_iterations,
    plan,
)


def loop(start: int, iterations: int, size: int = 1) -> Block:
    """A loop of operations from a position on."""
    ends = range(start, start + iterations * size, size)
    return Block("loop", tuple(Block("iteration", tuple(range(k, k + size))) for k in ends))


def cell(*parts: int | Block) -> Block:
    """A recording."""
    return Block("cell", parts)


def shown(found: Plan) -> list[str]:
    """Each item: an operation by its position, a fold by what it is of; with the frame that it is in."""
    return [
        f"{_what(item)} in {item.frame}" if item.frame is not None else _what(item)
        for item in found.items
    ]


def _what(item: Item) -> str:
    what = item.what
    if isinstance(what, int):
        return str(what)
    first, last = what.positions[0], what.positions[-1]
    return f"{what.kind} {what.first}: {first}-{last}"


def test_short_loops() -> None:
    """All iterations of a short loop are open; of a longer one the last, behind a fold of the others."""
    short = plan(cell(0, loop(1, 4), 5), FoldPolicy(), 6)
    long = plan(cell(0, loop(1, 5), 6), FoldPolicy(), 7)
    wide = plan(cell(loop(0, 2, 9)), FoldPolicy(), 18)

    assert ["0", "1 in 0", "2 in 1", "3 in 2", "4 in 3", "5"] == shown(short)
    assert ["0", "loop 1: 1-4", "5 in 0", "6"] == shown(long)
    assert [Frame("iteration", number=5, total=5, key="1")] == long.frames
    assert ["loop 1: 0-8", *(f"{k} in 0" for k in range(9, 18))] == shown(wide)


def test_a_chosen_iteration() -> None:
    """It stands between folds of those before and behind; a number out of range is the nearest."""
    tree = cell(loop(0, 9))

    assert ["loop 1: 0-2", "3 in 0", "loop 5: 4-8"] == shown(plan(tree, FoldPolicy(), 9, 4))
    assert ["0 in 0", "loop 2: 1-8"] == shown(plan(tree, FoldPolicy(), 9, 1))
    assert ["loop 1: 0-7", "8 in 0"] == shown(plan(tree, FoldPolicy(), 9, 99))
    assert ["loop 1: 0-2", "3 in 0", "loop 5: 4-8"] == shown(plan(tree, FoldPolicy("none"), 9, 4))


def test_the_iteration_is_one_of_the_outermost_loop() -> None:
    """Loops inside of it are drawn as ever."""
    inner = [loop(7 * k, 7) for k in range(6)]
    tree = cell(Block("loop", tuple(Block("iteration", (x,)) for x in inner)))

    found = plan(tree, FoldPolicy("one"), 42, 2)

    assert ["loop 1: 0-6", "loop 1: 7-12 in 0", "13 in 1", "loop 3: 14-41"] == shown(found)
    assert [(2, None), (7, 0)] == [(frame.number, frame.parent) for frame in found.frames]


def test_calls() -> None:
    """They are open down to the depth of the view."""
    tree = cell(Block("call", (0, Block("call", (1, 2), "inner")), "outer"), 3)

    assert ["0 in 0", "1 in 1", "2 in 1", "3"] == shown(plan(tree, FoldPolicy(), 4))
    assert ["0 in 0", "call 1: 1-2 in 0", "3"] == shown(plan(tree, FoldPolicy(calls=1), 4))
    assert ["call 1: 0-2", "3"] == shown(plan(tree, FoldPolicy(calls=0), 4))


def test_derivatives() -> None:
    """Those of the report have a frame each, and one around the computation; those of the cell may be folded."""
    tree = cell(
        0,
        Block("derivative", (1, 2), order=1),
        Block("derivative", (3, 4), order=1),
        Block("derivative", (5,), order=2),
    )

    found = plan(tree, FoldPolicy(), 3)

    assert ["0 in 0", "1 in 1", "2 in 1", "3 in 2", "4 in 2", "5 in 3"] == shown(found)
    assert ["computation", "derivative", "derivative", "derivative"] == [
        frame.kind for frame in found.frames
    ]
    assert [None, 0, None, None] == [frame.parent for frame in found.frames]
    closed = plan(tree, FoldPolicy(derivatives=False, order=1), 3)
    assert ["0 in 0", "derivative 1: 1-2 in 0", "3 in 1", "4 in 1", "derivative 1: 5-5"] == shown(
        closed
    )
    assert ["0", "derivative 1: 1-2", "derivative 1: 3-4", "derivative 1: 5-5"] == shown(
        plan(tree, FoldPolicy(derivatives=False, order=0), 3)
    )


def test_without_middle() -> None:
    """All but the ends are one fold, with the operations of the folds in it; a single item is no middle."""
    tree = cell(*range(5), loop(5, 9), *range(14, 20))

    found = plan(tree, FoldPolicy("none"), 20, openings=FoldOverrides(ends=2))

    assert ["0", "1", "elided 1: 2-17", "18", "19"] == shown(found)
    assert 16 == len(_fold(found).positions)
    assert plan(tree, FoldPolicy("none"), 20) == plan(
        tree, FoldPolicy("none"), 20, openings=FoldOverrides(ends=6)
    )


def _fold(found: Plan) -> Fold:
    [fold] = [item.what for item in found.items if isinstance(item.what, Fold)]
    return fold


def test_kept_iterations() -> None:
    """Of the outermost loops that with the most, also inside of a function; 0 where there is none."""
    outer = Block("loop", (Block("iteration", (loop(0, 9),)), Block("iteration", (loop(9, 9),))))

    assert (0, set()) == kept_iterations(cell(0, 1))
    assert (2, {1, 2}) == kept_iterations(cell(outer))
    assert (5, {1, 2, 3, 4, 5}) == kept_iterations(cell(outer, Block("call", (loop(20, 5),), "f")))


def layer(*parts: int | Block) -> Block:
    """A call of a layer."""
    holds = any(isinstance(part, Block) for part in parts)
    return Block("layer", parts, "layer", scope=Scope("layer", "Layer"), holds_layers=holds)


def test_layers() -> None:
    """Those that hold layers are open down to a depth; others are closed, whatever room there is."""
    tree = cell(layer(layer(0, 1), layer(layer(2), 3)), layer(4), 5)

    assert ["layer 1: 0-1 in 0", "layer 1: 2-3 in 0", "layer 1: 4-4", "5"] == shown(
        plan(tree, FoldPolicy(), 6)
    )
    assert ["layer 1: 0-3", "layer 1: 4-4", "5"] == shown(plan(tree, FoldPolicy(layers=0), 6))
    deeper = shown(plan(tree, FoldPolicy(layers=2), 6))
    assert ["layer 1: 0-1 in 0", "layer 1: 2-2 in 1", "3 in 1"] == deeper[:3]


def test_layers_that_are_opened() -> None:
    """One level at a time: layers in the one that is opened stay closed."""
    tree = cell(layer(layer(0, 1), layer(layer(2), 3)), layer(4), 5)

    found = plan(tree, FoldPolicy(layers=0), 6, openings=FoldOverrides({"0": 1, "1": 1}))
    assert ["layer 1: 0-1 in 0", "layer 1: 2-3 in 0", "4 in 1", "5"] == shown(found)
    inner = plan(tree, FoldPolicy(), 6, openings=FoldOverrides({"0.1": 1}))
    assert ["layer 1: 0-1 in 0", "layer 1: 2-2 in 1", "3 in 1"] == shown(inner)[:3]
