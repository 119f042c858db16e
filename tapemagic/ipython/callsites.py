"""The places in a running cell that record operations: the line, the call and the instruction."""

from __future__ import annotations

import sys
from types import CodeType, FrameType

from tapemagic.engine.events import origin_of
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
        The calls of the user's functions in which operations were recorded; the first is the top level of the cell.

    Notes
    -----
    The frames of the last place are kept until `forget` is called, so that a new call has a frame of its own.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self.calls = [Call()]
        self._chain: list[tuple[FrameType, int]] = []  # from the innermost frame to the top level
        self._body: CodeType | None = None
        self._entry: FrameType | None = None
        self._run = 0

    def forget(self) -> None:
        """Drop the frames of the last place."""
        self._chain, self._entry = [], None

    def here(self) -> tuple[int | None, int, int, int]:
        """The place of the operation that is being recorded, in the order of `Site`."""
        entry = frame = sys._getframe(1)
        while origin_of(frame.f_code.co_filename) != "":
            if frame.f_back is None:
                return Site()
            entry, frame = frame, frame.f_back
        if entry is not self._entry:
            self._entry = entry
            self._run += 1
        chain = self._chain
        if not chain or chain[0][0] is not frame:
            chain = self._chain = self._found(frame)
        return self._line(chain), chain[0][1], self._offset(frame), self._run

    def _offset(self, frame: FrameType) -> int:
        """The offset of the instruction that is running; the expression at the end of a cell follows its body."""
        is_end = self._is_top(frame) and frame.f_code is not self._body
        return frame.f_lasti + is_end * END

    def _found(self, frame: FrameType | None) -> list[tuple[FrameType, int]]:
        """The user's frames from one to the top level, each with the index of its call."""
        known = {id(other): (other, call) for other, call in self._chain}
        new: list[FrameType] = []
        found: list[tuple[FrameType, int]] = []
        while frame is not None:
            if id(frame) in known:
                at = [other for other, _ in self._chain].index(frame)
                found = self._chain[at:]
                break
            if origin_of(frame.f_code.co_filename) == "":
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
            site = Site(self._line(outer), call, self._offset(above), self._run)
        self.calls.append(Call(code.co_name, code, site))
        return len(self.calls) - 1

    def _line(self, chain: list[tuple[FrameType, int]]) -> int | None:
        """The line of the cell that is running, or that called what is running."""
        for frame, _ in chain:
            if frame.f_code.co_filename == self._filename:
                return frame.f_lineno
        return None
