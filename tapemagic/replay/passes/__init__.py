"""Passes: each makes a program shorter or quicker, and computes the same."""

from __future__ import annotations

from tapemagic.replay.passes.blocking import in_blocks
from tapemagic.replay.passes.dead_code import without_dead_code
from tapemagic.replay.program import Program

PASSES = (without_dead_code, in_blocks)
"""All passes, in the order in which they are made."""


def simplified(program: Program) -> Program:
    """A program after all passes."""
    for make in PASSES:
        program = make(program)
    return program
