"""Passes: functions from Program to Program that make programs shorter or faster.

Passes that look at one call and its arguments at a time are rules for `rewritten`, which applies them in one walk.
`simplified` changes no bit of a result and makes a program easier to read. `in_blocks`, which a program runs through
before it is compiled, makes it harder to read, and rounds sums differently.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tapemagic.programs.passes import constant_folding, factors, identities, reductions
from tapemagic.programs.passes import scalar_operands as literals
from tapemagic.programs.passes import shape_rules as shapes
from tapemagic.programs.passes.purity import without_dead_code
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
    """Apply all passes except `in_blocks`."""
    needed = without_dead_code(program)
    shorter = without_dead_code(rewritten(needed, RULES, merge=True))
    return with_separate_results(shorter, program) or needed


__all__ = ["RULES", "rewritten", "simplified", "together"]
