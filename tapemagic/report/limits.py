"""The limit on the size of what a notebook stores of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Together less than 150 kB, which tests/report/test_stored_size.py checks: notebooks store all three.
PAGE, WORDS, PAPER = 90_000, 25_000, 30_000
"""The most characters of a report as HTML, as text and as LaTeX."""
HEADLINE = 12_000
"""The most characters of the verdict, which is shortened, but never left out."""


def fits(parts: Mapping[str, str], room: int, least_important: Sequence[str]) -> list[str]:
    """The titles of the parts to show, so that they fit into some room.

    Left out is the least important part that makes the others fit, or, where none of them does, the largest one first.

    - `parts`: The parts by their titles.
    - `room`: The number of characters that there is room for.
    - `least_important`: The titles, the least important first.

    Examples
    --------
    >>> fits({"a": "1234567", "b": "12345", "c": "123"}, 10, ["c", "b", "a"])
    ['a', 'c']
    """
    left = dict(parts)
    while (excess := sum(map(len, left.values())) - room) > 0:
        # One part that suffices goes before several that would suffice only together.
        enough = [title for title in least_important if len(left.get(title, "")) >= excess]
        del left[enough[0] if enough else max(left, key=lambda title: len(left[title]))]
    return list(left)


def omission_note(title: str) -> str:
    """Return the sentence that replaces an omitted tab."""
    return f"{title}: omitted, because the report would be too large to store."


def shortened(text: str, room: int) -> str:
    """Return text, cut off with a note if it is longer than `room`."""
    return text if len(text) <= room else f"{text[:room]} … ({len(text):,} characters, cut off)"
