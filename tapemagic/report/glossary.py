"""The terms of reports and their meanings, which tooltips show; docs/glossary.md explains them at greater length."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

# Each meaning is the beginning of a row of docs/glossary.md, so that reports and documentation never say two different
# things. Keep them short: a notebook stores every tooltip, and a report has a size limit (see `limits`).
MEANINGS: Mapping[str, str] = {
    "Variable": "a tensor whose value you can change, with assign",
    "watched": "the tape tracks this value: it records every operation that uses it",
    "target": "the result that you differentiate, usually the loss",
    "source": "the value that you differentiate with respect to",
    "gradient": "how much the target changes per unit change of a value",
    "local derivative": "the derivative of a single operation, such as cos(x) for sin(x)",
    "forward pass": "computes the values, from the first operation to the last",
    "backward pass": "computes the gradients, from the target back to the sources",
    "computed": "a value between source and target",
    "constant": "a value that doesn't depend on any watched value",
    "not tracked": "a value became a plain Python number or NumPy array, so the tape can't follow it",
    "fold": "one box for many operations, such as the iterations of a loop or a layer",
    "finite differences": "the slope measured by changing the input slightly",
    "program": "the NumPy code that tm.function replays instead of your function",
    "eager": "executed as ordinary Python",
}
"""The meanings of terms, as plain text."""


def tooltip(term: str, html: str) -> str:
    """Show the meaning of a term as the tooltip of some HTML.

    Examples
    --------
    >>> tooltip("eager", "eagerly")
    '<span title="executed as ordinary Python">eagerly</span>'
    """
    # Notebook viewers keep the attribute `title` even where they strip scripts and classes.
    return f'<span title="{escape(MEANINGS[term])}">{html}</span>'


def explained(html: str, *terms: str) -> str:
    """Give terms a tooltip where they first occur in escaped text without tags.

    Examples
    --------
    >>> explained("program, programs", "program")
    '<span title="the NumPy code that tm.function replays instead of your function">program</span>, programs'
    """
    left = set(terms)

    def explain(match: re.Match[str]) -> str:
        if match[1] not in left:
            return match[0]
        left.discard(match[1])
        return tooltip(match[1], match[0])

    # In one pass: a second one would find terms in the tooltips of the first. Longer terms win over their own parts,
    # and endings belong to the word: "folded", "local derivatives".
    choices = "|".join(sorted(map(re.escape, terms), key=len, reverse=True))
    return re.sub(rf"\b({choices})\w*", explain, html)
