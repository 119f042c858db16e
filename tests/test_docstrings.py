"""Docstrings begin with a noun phrase or an imperative."""

import ast
import re
from pathlib import Path

import pytest

import tapemagic

ROOT = Path(tapemagic.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
QUESTION = re.compile(r"(What|Who|Whose|Where|When|Which|Why|How)\b")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_begin_with_no_question_word(path):
    """No docstring of a module, class, function or constant begins with What, Where, How or their like."""
    texts = [
        (node.lineno, node.value.value.strip())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    assert [(line, text[:60]) for line, text in texts if QUESTION.match(text)] == []
