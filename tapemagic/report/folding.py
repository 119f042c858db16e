"""Folding: the operations of a recording as a tree of loops, iterations, calls of functions and layers, derivatives."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, groupby, repeat
from types import CodeType
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from tapemagic.engine.events import origin_of
from tapemagic.engine.registry import NUMBERED
from tapemagic.engine.scopes import Scope
from tapemagic.engine.tape.observer import Call, Origins
from tapemagic.engine.tape.turns import Loop, Turn, calls_at, loops_in
from tapemagic.explain.snapshot import Snapshot

Part: TypeAlias = "int | Block"
"""The position of an operation in the recording, or operations that belong together."""

BlockKind = Literal["cell", "loop", "iteration", "call", "layer", "derivative"]


# eq=False: blocks are keys of dictionaries, and hashing a tree part by part would take long.
@dataclass(frozen=True, eq=False)
class Block:
    """Operations that belong together.

    - `kind`: {'cell', 'loop', 'iteration', 'call', 'layer', 'derivative'}. The whole recording; a loop, whose parts are
      its iterations; one iteration; a call of a function that the user wrote; one of a layer; the operations of one
      reverse sweep.
    - `parts`: Tuple of int and Block. In the order of the tape.
    - `name`: The name of the function or layer, without those of the layers around it.
    - `order`: The order of a derivative.
    - `lines`: (int, int) or None. The first and the last line of the cell that its operations belong to.
    - `scope`: The call of a layer.
    - `holds_layers`: Whether there is a layer in it.
    - `skipped`: Of an iteration, the number of iterations before it that the recording has let go, or that a graph
      doesn't draw.
    """

    kind: BlockKind
    parts: tuple[Part, ...]
    name: str = ""
    order: int = 0
    lines: tuple[int, int] | None = None
    scope: Scope | None = None
    holds_layers: bool = False
    skipped: int = 0

    @cached_property
    def numbers(self) -> Sequence[int]:
        """Of a loop, the number of each iteration in it, counted from 1 in the loop that really ran."""
        skipped = (part.skipped if isinstance(part, Block) else 0 for part in self.parts)
        return list(accumulate(1 + count for count in skipped))

    @property
    def total(self) -> int:
        """Of a loop, the number of iterations that really ran."""
        return self.numbers[-1] if self.parts else 0

    # Most blocks of a long recording are iterations that hold only operations, so they need no memory for this.
    @cached_property
    def positions(self) -> tuple[int, ...]:
        """The positions of all its operations, in the order of the tape."""
        if Block not in set(map(type, self.parts)):
            return cast("tuple[int, ...]", self.parts)
        return positions_of(self.parts)


def pruned(block: Block, kept: Container[int]) -> Block:
    """Return a block with some of its operations, and without parts that have none of them.

    The iterations of a loop keep their numbers: those before one that is kept count as skipped.
    """
    parts: list[Part] = []
    skipped = 0
    for part in block.parts:
        if not isinstance(part, Block):
            parts += [part] * (part in kept)
        elif (rest := pruned(part, kept)).parts:
            is_iteration = part.kind == "iteration"
            parts.append(replace(rest, skipped=part.skipped + skipped) if is_iteration else rest)
            skipped = 0
        else:
            skipped += 1 + part.skipped
    return replace(block, parts=tuple(parts))


def positions_of(parts: Iterable[Part]) -> tuple[int, ...]:
    """The positions of all operations in parts of a recording."""
    nested = (part.positions if isinstance(part, Block) else (part,) for part in parts)
    return tuple(chain.from_iterable(nested))


SEVERAL = 3
"""The number of repetitions by one instruction from which they are a loop."""


Repeats = Literal["", "sum", "generator"]


class _Entry(NamedTuple):
    """A part of a call, with its recording instruction."""

    offset: int
    run: int
    part: Part | None
    call: int = 0
    """The index of the call, if the part is one, else 0."""
    repeats: Repeats = ""
    """The reason why one call, such as ``sum(...)``, makes many operations: it adds, or runs a generator."""
    lines: tuple[int, int] | None = None
    layer: str = ""
    """The path of the layer, if the part is a call of one, else ''."""


def fold(snapshot: Snapshot, positions: Iterable[int] | None = None) -> Block:
    """Group the operations of a recording in a tree of loops, calls, layers and derivatives.

    - `positions`: The positions of the operations, in the order of the tape; all if left out.

    If an instruction comes before the last one that recorded an operation in the same call, a new iteration of the
    innermost loop around both begins. So if the inner one of two nested loops makes all operations, only the inner one
    is found.

    Returns
    -------
    Block
        It has the kind 'cell'. A loop of one iteration isn't a block, and neither is a call of a lambda function, a
        comprehension, or a recursive function. A loop over different layers, each called once, isn't one either.
    """
    calls = snapshot.origins.calls
    inside = _entries(snapshot, range(len(snapshot.records)) if positions is None else positions)
    folded: list[list[_Entry]] = [[] for _ in calls]
    # From the last call to the first: a call is recorded before the calls that it makes.
    for number in range(len(calls) - 1, -1, -1):
        code = calls[number].code
        entries: list[_Entry] = []
        for entry in inside[number]:
            if not entry.call:
                entries.append(entry)
                continue
            inner = folded[entry.call]
            if _is_transparent(entry.call, calls):
                kind: Repeats = "generator" if calls[entry.call].name == "<genexpr>" else ""
                entries += [
                    _Entry(
                        entry.offset, entry.run, x.part, 0, kind, x.lines or entry.lines, x.layer
                    )
                    for x in inner
                ]
            else:
                entries.append(_entry_of_call(entry, inner, snapshot.origins))
        folded[number] = _folded(entries, loops_in(code), code, snapshot.origins)
    return _block("cell", folded[0])


def _entry_of_call(entry: _Entry, entries: Sequence[_Entry], origins: Origins) -> _Entry:
    """Put the operations of a call in a block."""
    name, _, site, scope = origins.calls[entry.call]
    if scope is None:
        return entry._replace(part=_block("call", entries, name))
    around = origins.layer_around(site.call)
    block = _block("layer", entries, name.removeprefix(f"{around}/") if around else name)
    # Operations inside a layer may be on no line of the cell; then the line of the call is shown.
    block = replace(block, scope=scope, lines=block.lines or entry.lines)
    return entry._replace(part=block, lines=entry.lines or block.lines, layer=name)


def _entries(snapshot: Snapshot, positions: Iterable[int]) -> list[list[_Entry]]:
    """Return the operations and inner calls of each call, in the order of the tape."""
    sites, orders, calls = snapshot.origins.sites, snapshot.origins.orders, snapshot.origins.calls
    entries: list[list[_Entry]] = [[] for _ in calls]
    placed = {0}

    def place(call: int) -> None:
        """Add a call, and the calls around it, at the position of its first operation."""
        while call not in placed:
            placed.add(call)
            line, outer, offset, run = calls[call].site
            entries[outer].append(_Entry(offset, run, None, call, lines=_one_line(line)))
            call = outer

    def sweep_of(position: int) -> tuple[Any, ...] | None:
        """Return the instruction and the order of an operation of a reverse sweep, or None for another operation."""
        order = orders[position]
        return (*sites[position][1:], order) if order else None

    records = snapshot.records
    for sweep, members in groupby(positions, sweep_of):
        if sweep is None:
            for p in members:
                line, call, offset, run = sites[p]
                if call not in placed:
                    place(call)
                repeats: Repeats = "sum" if NUMBERED[records[p][0]].name == "add" else ""
                entries[call].append(_Entry(offset, run, p, 0, repeats, _one_line(line)))
            continue
        # Operations of one reverse sweep arrive together, because a sweep runs at one instruction.
        call, offset, run, order = sweep
        place(call)
        block = Block("derivative", tuple(members), order=order)
        block = replace(block, lines=_one_line(sites[block.positions[0]][0]))
        entries[call].append(_Entry(offset, run, block, lines=block.lines))
    return entries


def _one_line(line: int | None) -> tuple[int, int] | None:
    return None if line is None else (line, line)


def _block(kind: BlockKind, entries: Sequence[_Entry], name: str = "") -> Block:
    parts = tuple([entry.part for entry in entries if entry.part is not None])
    return _block_of(kind, parts, {entry.lines for entry in entries}, name)


def _block_of(
    kind: BlockKind, parts: tuple[Part, ...], lines: set[tuple[int, int] | None], name: str = ""
) -> Block:
    """Return a block of parts that belong to some lines."""
    known = {pair for pair in lines if pair}
    # The operations of a short loop are on one line.
    extent = known.pop() if len(known) == 1 else None
    if known:
        extent = min(a for a, _ in known), max(b for _, b in known)
    layers = any(isinstance(x, Block) and (x.scope or x.holds_layers) for x in parts)
    return Block(kind, parts, name, lines=extent, holds_layers=layers)


def _is_transparent(number: int, calls: Sequence[Call]) -> bool:
    """Return True if the operations of a call belong to its caller: a lambda, a comprehension, a recursion."""
    call = calls[number]
    if call.scope is not None:
        return False
    if call.name.startswith("<"):
        return True
    # A recursive function would nest one box in the other, as deep as the recursion goes.
    outer = call.site.call
    while outer:
        if calls[outer].code is call.code:
            return True
        outer = calls[outer].site.call
    return False


def _folded(
    entries: Sequence[_Entry], loops: Sequence[Loop], code: CodeType | None, origins: Origins
) -> list[_Entry]:
    """Return the parts of a call or iteration, with a block for the parts of each loop."""
    offsets = {entry.offset for entry in entries}
    # An instruction that recorded one operation repeats nothing.
    if not loops and (len(offsets) == len(entries) or not any(entry.repeats for entry in entries)):
        return list(entries)
    folded: list[_Entry] = []
    outermost = {offset: _outermost(offset, loops) for offset in offsets}
    for loop, group in groupby(entries, lambda entry: outermost[entry.offset]):
        if loop is None:
            for _, same in groupby(group, lambda entry: entry.offset):
                folded += _repeated(list(same))
        else:
            folded += _looped(list(group), loop, loops, code, origins)
    return folded


def _repeated(entries: list[_Entry]) -> list[_Entry]:
    """Put repeated operations of one instruction, such as those of sum(), in a loop."""
    iterations: list[list[_Entry]] = []
    run = -1
    by_generator = any(entry.repeats == "generator" for entry in entries)
    for entry in entries:
        if not entry.repeats:
            return entries
        # sum() of a generator computes an item, then adds it: the addition belongs to the iteration of its item.
        begins = entry.repeats == "generator" if by_generator else True
        if not iterations or (begins and entry.run != run):
            iterations.append([])
            run = entry.run
        iterations[-1].append(entry)
    return entries if len(iterations) < SEVERAL else [_loop(iterations)]


def _skipped(
    iterations: Sequence[Sequence[_Entry]], loop: Loop, code: CodeType | None, origins: Origins
) -> list[int]:
    """Return, for each iteration, the number of iterations before it that the recording has let go."""
    if not origins.turns:
        return [0] * len(iterations)
    counts = []
    last: Turn | None = None
    for iteration in iterations:
        parts = (part for entry in iteration if (part := entry.part) is not None)
        part = next(parts, None)
        position = next(iter(part.positions), None) if isinstance(part, Block) else part
        innermost = (
            None if position is None or position >= len(origins.turns) else origins.turns[position]
        )
        turns = innermost.chain() if innermost is not None else ()
        turn = next(
            (x for x in turns if x.run.loop == loop and origins.calls[x.run.call].code is code),
            None,
        )
        counts.append(0 if turn is None or turn is last else turn.skipped)
        last = turn
    return counts


def _loop(groups: Sequence[Sequence[_Entry]], skipped: Iterable[int] = repeat(0)) -> _Entry:
    """Put the iterations of a loop in one block."""
    iterations = tuple(
        replace(_block("iteration", group), skipped=count)
        for group, count in zip(groups, skipped, strict=False)
    )
    loop = _block_of("loop", iterations, {iteration.lines for iteration in iterations})
    return groups[0][0]._replace(part=loop, call=0, lines=loop.lines, layer="")


def _outermost(offset: int, loops: Sequence[Loop]) -> Loop | None:
    return next((loop for loop in reversed(loops) if loop[0] <= offset <= loop[1]), None)


def _looped(
    entries: list[_Entry],
    loop: Loop,
    loops: Sequence[Loop],
    code: CodeType | None,
    origins: Origins,
) -> list[_Entry]:
    """Return the parts of a loop as one block; those of a single iteration are returned unchanged."""
    inner = [x for x in loops if x != loop and loop[0] <= x[0] and x[1] <= loop[1]]
    repeats = calls_at(code) if code and len({entry.offset for entry in entries}) > 1 else ()
    iterations: list[list[_Entry]] = [[]]
    last = entries[0]
    for entry in entries:
        back = entry.offset < last.offset
        again = entry.offset == last.offset and entry.run != last.run
        # One CALL instruction, such as sum(xs), makes several additions; they are not iterations of the loop around.
        if again and entry.repeats and entry.offset in repeats:
            again = False
        # Both mean that a loop has jumped back: this one, unless a loop inside of it contains both instructions.
        if (back or again) and _outermost_of_both(entry.offset, last.offset, inner) is None:
            iterations.append([])
        iterations[-1].append(entry)
        last = entry
    folded = [_folded(iteration, inner, code, origins) for iteration in iterations]
    skipped = _skipped(iterations, loop, code, origins)
    if len(folded) == 1 and not any(skipped):
        return folded[0]
    # The layers of a Sequential are called in a loop, but a reader knows them one by one.
    if _is_stack(folded):
        return [entry for iteration in folded for entry in iteration]
    block = _loop(folded, skipped)
    if code and origin_of(code.co_filename) != "":  # the loop of a layer is on no line of the cell
        block = block._replace(part=replace(block.part, lines=None))  # type: ignore[type-var]
    return [block]


def _is_stack(iterations: Sequence[Sequence[_Entry]]) -> bool:
    """Return True if each iteration of a loop calls a layer, and no layer is called in two iterations."""
    layers = [{entry.layer for entry in iteration if entry.layer} for iteration in iterations]
    return all(layers) and sum(map(len, layers)) == len(set().union(*layers))


def _outermost_of_both(a: int, b: int, loops: Sequence[Loop]) -> Loop | None:
    return next((loop for loop in loops if loop[0] <= min(a, b) and max(a, b) <= loop[1]), None)
