"""Passes: functions from Program to Program that make programs shorter or faster.

Passes that look at one call and its arguments at a time are rules for `rewritten`, which applies them in one walk.
`simplified` changes no bit of a result and makes a program easier to read. `in_blocks` and `in_place`, through which a
program runs before it is compiled, make it harder to read; `in_blocks` rounds sums differently.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tapemagic.programs.passes import (
    constant_folding,
    factors,
    identities,
    reductions,
    scalar_operands,
    shape_rules,
)
from tapemagic.programs.passes.purity import without_dead_code
from tapemagic.programs.passes.rewriting import Rule, Rules, RuleTable, rewritten
from tapemagic.programs.passes.separate_results import with_separate_results
from tapemagic.programs.program import Program


def together(*some: Rules) -> RuleTable:
    """Combine the rules of several passes, in this order, for one walk."""
    table: defaultdict[Any, list[Rule]] = defaultdict(list)
    for rules in some:
        for function, each in rules.items():
            table[function] += each
    return RuleTable(table)


RULES = together(
    constant_folding.RULES,
    shape_rules.RULES,
    reductions.RULES,
    identities.RULES,
    factors.RULES,
    scalar_operands.RULES,
)
"""The rules for the walk that merges equal calls."""

# Which passes earn their place: times without a pass, over times with all, best rows of benchmarks.programs (Nov 2026):
# merging equal calls 3.5, dead code 2.2, blocks 1.9 to 4, buffers 1.5, reductions 1.5, factors 1.5, identities 1.2,
# overwritten arguments 1.2, shape rules 1.1. Constant folding and scalar operands gain no time, but shorten the text of
# `source`.


def simplified(program: Program) -> Program:
    """Apply all passes except `in_blocks` and `in_place`."""
    needed = without_dead_code(program)
    shorter = without_dead_code(rewritten(needed, RULES, merge=True))
    return with_separate_results(shorter, program) or needed


__all__ = ["RULES", "rewritten", "simplified", "together"]
