"""Turns: the iterations of a program's loops, found from the instructions that recorded operations."""

from __future__ import annotations

import dis
from collections.abc import Sequence
from functools import cache
from types import CodeType
from typing import Any, TypeAlias

from tapemagic.engine.registry import NUMBERED

Loop: TypeAlias = tuple[int, int]
"""The offsets of the first and the last instruction of a loop."""

FEW_TURNS = 8
"""The number of turns of a loop that are all kept, and about the number that is kept between the first and the last."""


@cache
def loops_in(code: CodeType | None) -> tuple[Loop, ...]:
    """The loops in a code object, inner ones first."""
    if code is None:
        return ()
    ends: dict[int, int] = {}
    for step in dis.get_instructions(code):
        # Loops jump backwards at their end. Opcode names differ between Python versions (JUMP_BACKWARD since 3.11).
        is_jump = "JUMP" in step.opname and isinstance(step.argval, int)
        if is_jump and step.argval < step.offset:
            ends[step.argval] = max(step.offset, ends.get(step.argval, 0))
    return tuple(sorted(ends.items(), key=lambda loop: loop[1] - loop[0]))


@cache
def calls_at(code: CodeType) -> frozenset[int]:
    """The offsets of the instructions of a code object that call something."""
    return frozenset(step.offset for step in dis.get_instructions(code) if "CALL" in step.opname)


class LoopRun:
    """One execution of a loop.

    - `call`, `loop`: The index of the call whose code has the loop, and its offsets.
    - `around`: The turn of the loop around it, or None.
    - `count`: The number of turns so far.
    - `offsets`: The instructions that recorded operations.
    - `is_by_call`: For a loop in a library: whether each turn calls the same code.
    """

    __slots__ = ("around", "call", "count", "is_by_call", "loop", "offsets")

    def __init__(self, call: int, loop: Loop, around: Turn | None, offsets: set[int]) -> None:
        self.call = call
        self.loop = loop
        self.around = around
        self.count = 0
        self.offsets = offsets
        self.is_by_call = False


class Turn:
    """One iteration of a loop.

    - `run`: The execution of the loop that it belongs to.
    - `index`: Its number in it, starting at 0.
    - `records`: The number of its records that are left, and of the turns of inner loops of which something is left.
    - `skipped`: The number of turns before it of which nothing is left, up to the turn before it of which something is.
    - `is_swept`: True if a gradient was taken in it.
    - `is_pinned`: True if something happened in it that a report needs.
    """

    __slots__ = ("before", "index", "is_pinned", "is_swept", "next", "records", "run", "skipped")

    def __init__(self, run: LoopRun, before: Turn | None) -> None:
        self.run = run
        self.index = run.count
        run.count += 1
        self.records = self.skipped = 0
        self.is_pinned = self.is_swept = False
        self.next: Turn | None = None
        if before is not None and not before.records:
            self.skipped = before.skipped + 1
            before = before.before
        self.before: Turn | None = before
        if before is not None:
            before.next = self

    def chain(self) -> list[Turn]:
        """The turn and the turns around it, innermost first."""
        turns = []
        turn: Turn | None = self
        while turn is not None:
            turns.append(turn)
            turn = turn.run.around
        return turns

    def is_recent(self) -> bool:
        """Return True for the last two turns of their loop so far."""
        return self.index >= self.run.count - 2

    def is_sample(self, samples: int, at_edge: bool) -> bool:
        """Return True if the turn is one of those that a report keeps of its loop.

        `samples` is about the number of turns between the first and the last. `at_edge` is False inside a turn that is
        itself one of those between.
        """
        index, count = self.index, self.run.count
        if self.is_pinned or count <= FEW_TURNS or index == 0 or index >= count - 2:
            return True
        if not samples or not at_edge:
            return False
        # Strides double, so the turns that are kept later are among those kept before.
        return index % (1 << (count // samples).bit_length()) == 0

    def added(self) -> None:
        """Count one record more."""
        self.records += 1
        if self.records == 1 and self.run.around is not None:
            self.run.around.added()

    def swept(self) -> None:
        """Note that a gradient was taken in it, and so in the turns around it."""
        for turn in self.chain():
            turn.is_swept = True

    def dropped(self) -> None:
        """Count one record less, and unlink the turn if nothing is left of it."""
        self.records -= 1
        if self.records:
            return
        if self.next is not None:
            self.next.skipped += self.skipped + 1
            self.next.before = self.before
            if self.before is not None:
                self.before.next = self.next
        if self.run.around is not None:
            self.run.around.dropped()


Level: TypeAlias = tuple[int, int, int]
"""A call, and the offset and run of an instruction in it."""


class Turns:
    """Finds the turn of each record from its site, in the order of the tape.

    - `calls`: The calls to which sites refer; see `Observer`.
    """

    def __init__(self, calls: Sequence[Any]) -> None:
        self._calls = calls
        self._open: list[Turn] = []  # outermost first
        self._levels: list[Level] = [(0, -1, 0)]
        self._loops: Sequence[Loop] = ()
        self._is_simple = False
        self._outer: dict[int, list[Level]] = {0: []}
        # By the identity of code, because hashing a code object takes long; the calls keep the code alive.
        self._offsets: dict[tuple[int, Loop], set[int]] = {}
        self._around: dict[int, dict[int, Sequence[Loop]]] = {}
        self._shared: dict[tuple[int, Sequence[Loop]], Sequence[Loop]] = {}

    def place(
        self, site: tuple[int | None, int, int, int], operation: int, after_sweep: bool
    ) -> Turn | None:
        """Return the innermost turn of the next record, or None outside of loops.

        - `operation`: The number of the operation. A single call such as ``sum(xs)`` may make several additions.
        - `after_sweep`: Whether the record is the first one after a reverse sweep.
        """
        _, call, offset, run = site
        loops = self._loops_at(call, offset)
        if (
            call == self._levels[-1][0]
            and loops is self._loops
            and not after_sweep
            and self._is_simple
        ):
            last = self._levels[-1]
            self._levels[-1] = (call, offset, run)
            if offset > last[1] or (offset == last[1] and run == last[2]):
                return self._open[-1] if self._open else None
            if offset < last[1] and loops:
                turn = self._open[-1] = Turn(self._open[-1].run, self._open[-1])
                return turn
            self._levels[-1] = last
        self._loops = loops
        levels = [*self._levels_around(call), (call, offset, run)]
        kept, jumped = self._still_open(levels, operation)
        del self._open[kept:]
        if not jumped:
            kept = self._hidden_turn(levels, kept, after_sweep)
        self._enter(levels, kept)
        self._levels = levels
        innermost = self._open[-1] if self._open else None
        # Then only jumps in the innermost loop, of the same call, need to be found.
        self._is_simple = (
            not loops
            if innermost is None or innermost.run.call != call
            else bool(loops) and innermost.run.loop == loops[-1]
        )
        return innermost

    def _levels_around(self, call: int) -> list[Level]:
        levels = self._outer.get(call)
        if levels is None:
            if len(self._outer) > 1 << 10:  # most are of calls that have ended
                self._outer = {0: []}
            site = self._calls[call].site
            levels = [*self._levels_around(site.call), (site.call, site.offset, site.run)]
            self._outer[call] = levels
        return levels

    def _loops_at(self, call: int, offset: int) -> Sequence[Loop]:
        """The loops around an instruction, outermost first; the same object for all instructions of a loop."""
        code = self._calls[call].code
        by_offset = self._around.get(id(code))
        if by_offset is None:
            by_offset = self._around[id(code)] = {}
        around = by_offset.get(offset)
        if around is None:
            around = tuple([x for x in reversed(loops_in(code)) if x[0] <= offset <= x[1]])
            around = by_offset[offset] = self._shared.setdefault((id(code), around), around)
        return around

    def _still_open(self, levels: Sequence[Level], operation: int) -> tuple[int, bool]:
        """Return how many of the open turns contain the next record, and whether a loop has jumped back."""
        by_call = {level[0]: level for level in levels}
        before = {level[0]: level for level in self._levels}
        for k, turn in enumerate(self._open):
            level = by_call.get(turn.run.call)
            (start, end), run = turn.run.loop, turn.run
            if level is None or not start <= level[1] <= end:
                return k, False
            if start == end:  # a hidden loop stays as long as its instruction runs
                continue
            last = before[run.call]
            again = level[1] == last[1] and level[2] != last[2]
            if again and level is levels[-1] and len(run.offsets) > 1 and _is_sum(operation):
                again = level[1] not in calls_at(self._calls[run.call].code)
            # The jump belongs to the innermost loop around both instructions.
            if (level[1] < last[1] or again) and not any(
                inner != run.loop and inner[0] <= last[1] <= inner[1]
                for inner in self._loops_at(level[0], level[1])
                if run.loop[0] <= inner[0] and inner[1] <= run.loop[1]
            ):
                self._open[k] = Turn(run, turn)
                del self._open[k + 1 :]
                return k + 1, True
        return len(self._open), False

    def _hidden_turn(self, levels: Sequence[Level], kept: int, after_sweep: bool) -> int:
        """Begin a turn of a loop in a library, which repeats what one instruction of the program does.

        It calls the same code again, such as that of a model or of a function to minimize, or goes on after a sweep.
        """
        for level, now, last, before in zip(
            levels, [*levels[1:], None], self._levels, [*self._levels[1:], None], strict=False
        ):
            if level[:2] != last[:2]:
                return kept
            calls = self._calls
            by_call = now and before and now[0] != before[0]
            if by_call and calls[now[0]].code is not calls[before[0]].code:  # type: ignore[index]
                by_call = None
            if not by_call and not (after_sweep and before is None):
                continue
            innermost = self._open[-1] if self._open else None
            key = level[0], (level[1], level[1])
            if innermost is not None and (innermost.run.call, innermost.run.loop) == key:
                # Where the loop calls code, that alone begins its turns.
                if by_call or not innermost.run.is_by_call:
                    self._open[-1] = Turn(innermost.run, innermost)
                    innermost.run.is_by_call = bool(by_call)
            else:
                run = LoopRun(*key, innermost, set())
                run.is_by_call = bool(by_call)
                self._open.append(Turn(run, None))
            return len(self._open)
        return kept

    def _enter(self, levels: Sequence[Level], kept: int) -> None:
        """Open the loops around the next record that aren't open yet."""
        opened = {(turn.run.call, turn.run.loop): turn.run for turn in self._open[:kept]}
        for level in levels:
            code = id(self._calls[level[0]].code)
            for loop in self._loops_at(level[0], level[1]):
                run = opened.get((level[0], loop))
                if run is None:
                    offsets = self._offsets.setdefault((code, loop), set())
                    around = self._open[-1] if self._open else None
                    run = LoopRun(level[0], loop, around, offsets)
                    self._open.append(Turn(run, None))
                run.offsets.add(level[1])


def _is_sum(operation: int) -> bool:
    return NUMBERED[operation].name == "add"
