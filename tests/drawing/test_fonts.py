"""A graph is laid out without the fonts of the machine, and its text fits into its boxes in any browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib import ft2font
from matplotlib.ft2font import FT2Font

from tapemagic.drawing.dot import dot
from tapemagic.drawing.inserts import Inserts
from tapemagic.drawing.labels import WIDTHS, text_width
from tapemagic.drawing.picture import UNIT, Inset, Item, Outline, Words, read
from tests.drawing.fonts import BUNDLED, LIBERATION, font_sets
from tests.drawing.layouts import ENGINES, graphs
from tests.drawing.test_dot import NASTY

ROOT = Path(__file__).parents[2]
Layouts = dict[str, list[str]]


@pytest.fixture(scope="module")
def layouts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Layouts]:
    """How each engine lays out graphs with each set of fonts. The fonts of a process never change."""
    sets = font_sets(tmp_path_factory.mktemp("fonts"))
    return {name: _with_fonts(configuration) for name, configuration in sets.items()}


def _with_fonts(configuration: Path) -> Layouts:
    done = subprocess.run(
        [sys.executable, "-m", "tests.drawing.layouts"],
        cwd=ROOT,
        env={**os.environ, "FONTCONFIG_FILE": str(configuration)},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: Layouts = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_with_all_fonts(layouts: dict[str, Layouts], engine: str) -> None:
    """Every place in a picture is the same, although the fonts have other widths."""
    (control, *pictures), *others = [drawn[engine] for drawn in layouts.values()]

    assert others
    for other_control, *others_pictures in others:
        assert control != other_control
        assert pictures == others_pictures


def items() -> Iterator[tuple[Item, Item]]:
    """The nodes and the frames of all graphs, as both engines draw them."""
    for found in graphs():
        inserts = Inserts(found.graph)
        source = dot(found.graph, found.lines, inserts)
        first, second = (
            {item.name: item for item in read(engine(source), inserts.by_number).items}
            for engine in ENGINES.values()
        )
        assert first.keys() == second.keys()
        yield from ((item, second[name]) for name, item in first.items() if item.kind == "node")


def test_the_same_with_all_versions() -> None:
    """A box has one size, and its text one place in it, in all versions of Graphviz; the box may be elsewhere."""
    for one, other in items():
        assert len(one.parts) == len(other.parts)
        for a, b in zip(map(_place, one.parts), map(_place, other.parts), strict=True):
            origin, other_origin = _place(one.parts[0])[:2], _place(other.parts[0])[:2]
            moved = [x - y for x, y in zip(a[:2], origin, strict=True)]
            other_moved = [x - y for x, y in zip(b[:2], other_origin, strict=True)]
            assert moved == pytest.approx(other_moved, abs=1)
            assert a[2:] == pytest.approx(b[2:], abs=1)


def _place(part: object) -> list[float]:
    """The left and top of a part, and its width and height if it has any."""
    if isinstance(part, Words | Inset):
        return [part.x, part.y]
    assert isinstance(part, Outline)
    if part.steps[0][0] == "E":
        x, y, rx, ry = part.steps[0][1]
        return [x - rx, y - ry, 2 * rx, 2 * ry]
    xs = [x for _, points in part.steps for x in points[::2]]
    ys = [y for _, points in part.steps for y in points[1::2]]
    return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]


def width_in(font: FT2Font, text: str, size: float) -> float:
    """The width of text in a font, in points."""
    flags = getattr(ft2font, "LoadFlags", None)  # since Matplotlib 3.10
    no_hinting = flags.NO_HINTING if flags else ft2font.LOAD_NO_HINTING
    font.set_size(1000, 72)
    glyphs = (font.load_char(ord(letter), flags=no_hinting) for letter in text)
    return sum(glyph.linearHoriAdvance for glyph in glyphs) / 65536 * size / 1000


def test_text_fits_in_a_wide_font() -> None:
    """A browser without Helvetica and the like shows DejaVu Sans, which is wider."""
    font = FT2Font(str(BUNDLED / "DejaVuSans.ttf"))
    for one, _ in items():
        left, _, width, _ = _place(one.parts[0])
        for part in one.parts:
            if isinstance(part, Words) and part.text.isascii():
                size = float(dict(part.style).get("font-size", 10 * UNIT))
                wide = width_in(font, part.text, size)
                assert left <= part.x - wide / 2, part.text
                assert part.x + wide / 2 <= left + width, part.text


def test_the_widths() -> None:
    """The table has the widths of Liberation Sans, or more for signs that are wider elsewhere."""
    assert set(map(chr, range(32, 127))) <= WIDTHS.keys()
    fonts = [font for place in LIBERATION for font in place.glob("LiberationSans-Regular.ttf")]
    if not fonts:
        pytest.skip("Liberation Sans is not installed; LIBERATION_FONTS may name its folder")
    font = FT2Font(str(fonts[0]))

    narrow = [
        letter for letter, width in WIDTHS.items() if width < width_in(font, letter, 1) - 0.001
    ]

    assert [] == narrow


@pytest.mark.parametrize("name", [*NASTY, "e\u0301", "変数", "👩‍🔬", "\u202e", "½ﬁ…"])
def test_every_text_has_a_width(name: str) -> None:
    """Also what Helvetica has no letters for."""
    assert 0 <= text_width(name, 10) <= 11 * max(1, 2 * len(name))
    assert text_width(name + "x", 10) > text_width(name, 10)


def test_wide_characters() -> None:
    """Emoji, wide Cyrillic letters and letters of mathematical fonts: widths of DejaVu Sans and Noto Color Emoji."""
    for text, width in {
        "🔥": 1.25,
        "❤\ufe0f": 1.25,
        "Ж": 1.08,
        "Щ": 1.09,
        "Ш": 1.07,
        "𝔸": 0.8,
    }.items():
        assert width - 0.03 <= text_width(text, 1) <= 1.45
