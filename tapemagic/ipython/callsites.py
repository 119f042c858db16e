"""Find the line, the call and the instruction of a running cell that record an operation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

from tapemagic.engine.events import origin_of
from tapemagic.engine.scopes import SCOPE_CODE, Scope, scope_called
from tapemagic.engine.tape.observer import Call, Site

# Instructions are compared as integers, so one offset orders two code objects that both start at 0.
TRAILING_EXPRESSION_OFFSET = 1 << 24
"""Offset added to instructions of the expression at the end of a cell, which is compiled separately.

2**24 is more bytecode than any cell has, so that its instructions sort after those of the body.
"""


class CallSites:
    """Call sites in a running cell that record operations.

    - `filename`: The file name in the code objects of the cell.

    - `calls`: Calls of user functions, and of layers, that recorded operations; the first is the top level of the cell.

    The frame of a layer is that of its method `call`, even if tapemagic defines it, so that its loops count as user
    loops do. The frames of the last call site stay alive until `forget` is called: otherwise a new call could get a
    frame with the same id.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.calls = [Call()]
        # The frames themselves, not their ids: a frame that is alive keeps its id.
        self._chain: list[tuple[FrameType, int]] = []  # from the innermost frame to the top level
        self._frame: FrameType | None = None  # the innermost
        self._cell_frame_now: FrameType | None = None  # the innermost one of the cell
        self._call_index = self._start = 0
        self._layers: dict[Scope, int] = {}
        # The lines by instruction, of the innermost frame of the cell.
        self._lines: dict[int, int | None] = {}
        self._lines_by_code: dict[int, tuple[CodeType, dict[int, int | None]]] = {}
        self._recorded_files: dict[str, bool] = {}
        self._body: CodeType | None = None
        self._entry: FrameType | None = None
        self._run = self._runs = 0
        # Running functions of a library through which your code was called: the function and its caller by the id of
        # the function, with the run of the caller's instruction.
        self._through: dict[int, tuple[FrameType, FrameType, int]] = {}

    def forget(self) -> None:
        """Drop the frames of the last call site."""
        self._chain = []
        self._through = {}
        self._frame = self._cell_frame_now = self._entry = None

    def here(self) -> tuple[int | None, int, int, int]:
        """Return the call site of the current operation, in the order of `Site`; for a function of the engine."""
        # The hot path of a recording cell: no call, no generator, and what is computed from code is looked up.
        recorded = self._recorded_files
        entry = frame = sys._getframe(2)
        code = frame.f_code
        while True:
            is_recorded = recorded.get(code.co_filename)
            if is_recorded:
                break
            if is_recorded is None:
                file = code.co_filename
                recorded[file] = origin_of(file) == ""
                continue
            outer = frame.f_back
            if outer is None:
                return Site()
            code = outer.f_code
            if code is SCOPE_CODE:
                break
            entry, frame = frame, outer
        last = self._entry, self._run
        if entry is not self._entry:
            self._entry = entry
            # Another entry into the engine from the same line: a new run of the line, such as an iteration.
            self._runs += 1
            self._run = self._runs
            if self._through:
                self._return(frame, entry)
        if frame is not self._frame:
            self._enter(frame, last)
        within = self._cell_frame_now
        line = None
        if within is not None:
            instruction = within.f_lasti
            line = self._lines.get(instruction)
            if line is None:
                line = self._lines[instruction] = within.f_lineno
        return line, self._call_index, self._start + frame.f_lasti, self._run

    def _return(self, frame: FrameType, entry: FrameType) -> None:
        """Continue the run of an instruction if the library function that it called goes on after calling your code.

        So a sweep with a custom gradient in it, or a function that has one, isn't several iterations of a loop.
        """
        through = self._through.get(id(entry))
        if through is not None:
            self._run = through[-1]
        self._through = {
            i: item for i, item in self._through.items() if item[1] is not frame or item[0] is entry
        }

    def _run_through(
        self,
        above: FrameType,
        callee: FrameType,
        frame: FrameType,
        last: tuple[FrameType | None, int],
    ) -> int:
        """Return the run of the instruction of `above` that called `callee`, through which `frame` is called."""
        if callee is frame:
            return self._run
        through = self._through.get(id(callee))
        if through is None:
            # The library function may have recorded something before, such as the begin of a sweep.
            run = last[1] if callee is last[0] else self._run
            through = self._through[id(callee)] = callee, above, run
        return through[-1]

    def _enter(self, frame: FrameType, last: tuple[FrameType | None, int]) -> None:
        """Cache what all operations of a frame share, because most operations repeat the last frame.

        - `last`: The entry and the run of the last call site.
        """
        chain = self._chain = self._user_frames(frame, last)
        self._frame, self._call_index = chain[0]
        within = self._cell_frame_now = self._cell_frame(chain)
        if within is not None:
            # By identity: hashing a code object takes long. The dict of a code object refers to it, so its identity
            # isn't reused.
            code = within.f_code
            _, self._lines = self._lines_by_code.setdefault(id(code), (code, {}))
        self._start = self._start_of(frame)

    def _start_of(self, frame: FrameType) -> int:
        """Return the offset of a frame's code: the last expression of a cell comes after its body."""
        return (
            TRAILING_EXPRESSION_OFFSET
            if self._is_top(frame) and frame.f_code is not self._body
            else 0
        )

    def _user_frames(
        self, frame: FrameType | None, last: tuple[FrameType | None, int]
    ) -> list[tuple[FrameType, int]]:
        """Return the user and layer frames from `frame` up to the top level, each with its call index."""
        indices = {id(inner): (inner, call) for inner, call in self._chain}
        new: list[FrameType] = []
        frames: list[tuple[FrameType, int]] = []
        # What each frame has called.
        callees: dict[int, Any] = {}
        callee = self._entry
        while frame is not None:
            callees[id(frame)] = callee
            # Frames that the last call site shares with this one keep their call index; only the new inner frames are
            # entered.
            if id(frame) in indices:
                position = [inner for inner, _ in self._chain].index(frame)
                frames = self._chain[position:]
                break
            if _is_recorded_frame(frame):
                new.append(frame)
                if self._is_top(frame):
                    break
            callee, frame = frame, frame.f_back
        if frame is None:
            new = new[:1]  # not called by the cell, for example a thread
        running = {id(outer) for outer, _ in frames}
        # Functions of a library that have ended go.
        self._through = {
            i: item
            for i, item in self._through.items()
            if id(item[1]) in running and callees.get(id(item[1]), item[0]) is item[0]
        }
        for inner in reversed(new):
            frames = [(inner, self._call(inner, frames, callees, last)), *frames]
        return frames

    def _is_top(self, frame: FrameType) -> bool:
        code = frame.f_code
        return code.co_filename == self._filename and code.co_name == "<module>"

    def _call(
        self,
        frame: FrameType,
        outer: list[tuple[FrameType, int]],
        callees: Mapping[int, FrameType],
        last: tuple[FrameType | None, int],
    ) -> int:
        """Return the index of a frame's call, adding the call if it is new."""
        code = frame.f_code
        if self._is_top(frame):
            if self._body is None:
                self._body = code
                self.calls[0] = Call("", code)
            return 0
        site = Site()
        if outer:
            above, call = outer[0]
            within = self._cell_frame(outer)
            line = None if within is None else within.f_lineno
            run = self._run_through(above, callees[id(above)], frame, last)
            site = Site(line, call, self._start_of(above) + above.f_lasti, run)
        scope = scope_called(frame)
        if scope is None:
            self.calls.append(Call(code.co_name, code, site))
        elif scope in self._layers:  # its method is not a Python function, but calls several
            return self._layers[scope]
        else:
            self._layers[scope] = len(self.calls)
            self.calls.append(Call(scope.name, code, site, scope if scope.kind else None))
        return len(self.calls) - 1

    def _cell_frame(self, chain: list[tuple[FrameType, int]]) -> FrameType | None:
        """Return the innermost frame of the cell."""
        inside = (frame for frame, _ in chain if frame.f_code.co_filename == self._filename)
        return next(inside, None)


def _is_recorded_frame(frame: FrameType) -> bool:
    """Return True if operations are attributed to a frame: that of user code, or of a layer."""
    return origin_of(frame.f_code.co_filename) == "" or scope_called(frame) is not None
