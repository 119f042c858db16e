"""The file of stored values fits the programs."""

from __future__ import annotations

import importlib
import json

from tests.conformance.programs import PROGRAMS, SECTIONS, STORED


def test_every_program_has_a_stored_value() -> None:
    """make_expected.py was run after the last change of the programs' names."""
    for section in SECTIONS:
        importlib.import_module(f"tests.conformance.test_{section}")
    content = json.loads(STORED.read_text())

    assert set(content["values"]) == set(PROGRAMS)
    assert content["tensorflow"] == "2.21.0"
