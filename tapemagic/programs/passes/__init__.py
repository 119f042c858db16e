"""Passes: each makes a program shorter or quicker, and computes the same to the bit, but for sums in blocks.

A pass is a function from Program to Program. Those which look at one call and its arguments at a time are rules for
`rewritten`, and make one walk together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tapemagic.programs.passes import constant_folding, factors, identities, reductions
from tapemagic.programs.passes import scalar_operands as literals
from tapemagic.programs.passes import shape_rules as shapes
from tapemagic.programs.passes.blocking import in_blocks
from tapemagic.programs.passes.dead_code import without_dead_code
from tapemagic.programs.passes.rewriting import Rule, Rules, RuleTable, rewritten
from tapemagic.programs.passes.separate_results import with_separate_results
from tapemagic.programs.program import Program


def together(*some: Rules) -> RuleTable:
    """The rules of several passes for one walk, in this order."""
    found: defaultdict[Any, list[Rule]] = defaultdict(list)
    for rules in some:
        for function, each in rules.items():
            found[function] += each
    return RuleTable(found)


RULES = together(
    constant_folding.RULES,
    shapes.RULES,
    reductions.RULES,
    identities.RULES,
    factors.RULES,
    literals.RULES,
)
"""All rules that are applied in the walk that merges equal calls."""


def simplified(program: Program) -> Program:
    """A program after all passes."""
    needed = without_dead_code(program)
    shorter = without_dead_code(rewritten(needed, RULES, merge=True))
    return in_blocks(with_separate_results(shorter, program) or needed)


__all__ = ["RULES", "rewritten", "simplified", "together"]
