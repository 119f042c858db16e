"""The places in a running cell that record operations: the line, the call and the instruction."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from tapemagic.engine.events import origin_of
from tapemagic.engine.scopes import Scope, scope_called
from tapemagic.engine.tape.observer import Call, Site

END = 1 << 24
"""The offset of the expression at the end of a cell, which has a code object of its own."""


class CallSites:
    """The places in a running cell that record operations.

    Parameters
    ----------
    filename : str
        The file name in the code objects of the cell.

    Attributes
    ----------
    calls : list of Call
        The calls of the user's functions, and of layers, in which operations were recorded; the first is the top level
        of the cell.

    Notes
    -----
    The frame of a layer is that of its method `call`, whoever wrote it: so its loops are seen as the user's are.
    The frames of the last place are kept until `forget` is called, so that a new call has a frame of its own.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.calls = [Call()]
        self._chain: list[tuple[FrameType, int]] = []  # from the innermost frame to the top level
        self._frame: FrameType | None = None  # the innermost
        self._within: FrameType | None = None  # the innermost one of the cell
        self._call_index = self._start = 0
        self._layers: dict[Scope, int] = {}
        self._body: CodeType | None = None
        self._entry: FrameType | None = None
        self._run = 0

    def forget(self) -> None:
        """Drop the frames of the last place."""
        self._chain = []
        self._frame = self._within = self._entry = None

    def here(self) -> tuple[int | None, int, int, int]:
        """The place of the operation that is being recorded, in the order of `Site`."""
        entry = frame = sys._getframe(1)
        while not _is_place(frame):
            if frame.f_back is None:
                return Site()
            entry, frame = frame, frame.f_back
        if entry is not self._entry:
            self._entry = entry
            self._run += 1
        if frame is not self._frame:
            self._enter(frame)
        within = self._within
        line = None if within is None else within.f_lineno
        return line, self._call_index, self._start + frame.f_lasti, self._run

    def _enter(self, frame: FrameType) -> None:
        """Keep what is the same for all operations in one frame."""
        chain = self._chain = self._found(frame)
        self._frame, self._call_index = chain[0]
        self._within = self._cell_frame(chain)
        self._start = self._start_of(frame)

    def _start_of(self, frame: FrameType) -> int:
        """The offset at which the code of a frame begins; the expression at the end of a cell follows its body."""
        return END if self._is_top(frame) and frame.f_code is not self._body else 0

    def _found(self, frame: FrameType | None) -> list[tuple[FrameType, int]]:
        """The user's frames, and those of layers, from one to the top level, each with the index of its call."""
        known = {id(other): (other, call) for other, call in self._chain}
        new: list[FrameType] = []
        found: list[tuple[FrameType, int]] = []
        while frame is not None:
            if id(frame) in known:
                at = [other for other, _ in self._chain].index(frame)
                found = self._chain[at:]
                break
            if _is_place(frame):
                new.append(frame)
                if self._is_top(frame):
                    break
            frame = frame.f_back
        if frame is None:
            new = new[:1]  # no part of the cell, such as a thread
        for inner in reversed(new):
            found = [(inner, self._call(inner, found)), *found]
        return found

    def _is_top(self, frame: FrameType) -> bool:
        code = frame.f_code
        return code.co_filename == self._filename and code.co_name == "<module>"

    def _call(self, frame: FrameType, outer: list[tuple[FrameType, int]]) -> int:
        """The index of the call that a frame runs."""
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
            site = Site(line, call, self._start_of(above) + above.f_lasti, self._run)
        scope = scope_called(frame)
        if scope is None:
            self.calls.append(Call(code.co_name, code, site))
        elif scope in self._layers:  # whose method is no function of Python, but calls several
            return self._layers[scope]
        else:
            self._layers[scope] = len(self.calls)
            self.calls.append(Call(scope.name, code, site, scope if scope.kind else None))
        return len(self.calls) - 1

    def _cell_frame(self, chain: list[tuple[FrameType, int]]) -> FrameType | None:
        """The innermost frame of the cell."""
        inside = (frame for frame, _ in chain if frame.f_code.co_filename == self._filename)
        return next(inside, None)


def _is_place(frame: FrameType) -> bool:
    """Whether operations are recorded in the name of a frame: one of the user's, or of a layer."""
    return origin_of(frame.f_code.co_filename) == "" or scope_called(frame) is not None
