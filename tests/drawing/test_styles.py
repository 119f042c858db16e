"""What a report says can be read in a light notebook and in a dark one."""

from __future__ import annotations

import re

import pytest

from tapemagic.drawing import matrices, styles
from tapemagic.drawing.dot import INK, QUIET, STYLES
from tapemagic.report import html
from tapemagic.report.live import details_html

LIGHT, DARK = "#ffffff", "#212121"
ENOUGH = 4.5
"""What WCAG 2.1 asks for between text and its ground (success criterion 1.4.3)."""


def channels(colour: str) -> list[int]:
    """Red, green and blue."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(rgb: list[int]) -> float:
    """The relative luminance of a colour, as WCAG defines it."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in rgb)
    ]
    return sum(part * c for part, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: list[int], other: list[int]) -> float:
    """Between 1, for the same, and 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def faded(text: str, ground: str, opacity: float) -> list[int]:
    """The colour of text that lets its ground through."""
    pairs = zip(channels(text), channels(ground), strict=True)
    return [round(opacity * a + (1 - opacity) * b) for a, b in pairs]


@pytest.mark.parametrize(
    "style", [styles.WATCHED, styles.TARGET, styles.GOOD, styles.BAD, styles.WARN]
)
def test_words_with_a_ground_of_their_own(style: str) -> None:
    """They are the same everywhere."""
    ground, text = re.findall("#[0-9a-f]{6}", style)

    assert contrast(channels(ground), channels(text)) >= ENOUGH


@pytest.mark.parametrize(("text", "ground"), [("#212121", LIGHT), ("#e0e0e0", DARK)])
def test_quiet_words(text: str, ground: str) -> None:
    """They are in the notebook's own colour, fainter."""
    opacity = float(styles.QUIET.removeprefix("opacity:"))

    assert contrast(faded(text, ground, opacity), channels(ground)) >= ENOUGH


@pytest.mark.parametrize("role", STYLES)
def test_boxes(role: str) -> None:
    """Boxes have a ground of their own, too."""
    style = STYLES[role]  # type: ignore[index]

    assert contrast(channels(style["fillcolor"]), channels(style.get("fontcolor", INK))) >= ENOUGH


@pytest.mark.parametrize("ground", [LIGHT, DARK])
def test_words_in_a_picture(ground: str) -> None:
    """An image cannot know what is behind it. No colour has a contrast of more than 4.01 with both."""
    assert contrast(channels(styles.GROUND), channels(ground)) >= 4


def test_nothing_else_is_coloured() -> None:
    """There is no colour in the pages but those that were looked at here."""
    known = {"#1e3a8a", "#78350f", "#14532d", "#991b1b", "#dbeafe", "#fef3c7", "#dcfce7", "#fee2e2"}
    known |= {"#ffedd5", "#7c2d12"}
    words = [
        str(value)
        for module in (html, matrices, details_html, styles)
        for value in vars(module).values()
    ]

    found = {
        colour for text in words if len(text) < 500 for colour in re.findall("#[0-9a-f]{6}", text)
    }

    assert found <= known | {styles.GROUND, QUIET}
