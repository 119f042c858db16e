"""Docstrings begin with a noun phrase or an imperative."""

import re
from pathlib import Path

import pytest

import tapemagic

ROOT = Path(tapemagic.__file__).parent
QUESTION = re.compile(
    r'^[ \t]*r?"""\s*((?:What|Who|Whose|Where|When|Which|Why|How)\b.*)', re.MULTILINE
)


def questions(source: str) -> list[tuple[int, str]]:
    """The lines at which a docstring begins with What, Where, How or their like, with its text."""
    return [(source.count("\n", 0, m.start()) + 1, m[1]) for m in QUESTION.finditer(source)]


def test_docstrings_begin_with_no_question_word():
    """No docstring of a module, class, function or constant begins with such a word."""
    found = {path: questions(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}

    assert len(found) > 100
    assert {str(path.relative_to(ROOT)): lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('"""What is here."""', 1),
        ('x = 1\n"""Where it is."""', 2),
        ('def f():\n    r"""\n    How: by hand.\n    """', 2),
    ],
)
def test_a_question_word_is_found(source, line):
    """The check above can fail."""
    assert [line] == [number for number, _ in questions(source)]


def test_other_words_are_not():
    """A noun may begin like a question word, and a question may stand further down."""
    assert [] == questions('"""Whatever.\n\nWhat is more."""\nWhere = 1\n"""The place."""')
