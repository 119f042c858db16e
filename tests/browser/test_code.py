"""The Code face in JupyterLab: asked for when it is opened, its lines lit up by the steps, legible in both themes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.jupyter import Lab, report_of
from tests.browser.looks import keep, serious, turn_to, wider

CELLS = [
    "%load_ext tapemagic\nimport numpy as np\nimport tapemagic as tm",
    (
        "w, b = tm.Variable([0.5, -1.0]), tm.Variable(0.1)\n"
        "x, y = np.arange(6.0).reshape(3, 2), np.array([1.0, 2.0, 3.0])"
    ),
    "%%tape\nerror = np.tanh(x @ w + b) - y\nloss = np.mean(error**2)",
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_program(lab: Lab, axe: str, theme: str) -> None:
    """Each step lights up its lines, forward and in reverse; everybody can read them."""
    with lab.notebook(f"code-{theme}", CELLS, theme=theme) as page:
        report = report_of(page, 2)
        panel = turn_to(report, "Code")
        lines = panel.locator("[data-k]")
        lit = panel.locator(".tm-now")
        expect(lines.first).to_be_visible()
        report.get_by_label("First step").click()
        seen = []
        for _ in range(40):
            report.get_by_label("Step forward").click()
            seen += [
                (way, line)
                for way in report.locator(".tm-way").all_text_contents()
                for line in lit.all_text_contents()
            ]
            if report.get_by_label("Step forward").get_attribute("aria-disabled") == "true":
                break
        forward = [line.strip() for way, line in seen if way == "forward"]
        reverse = [line.strip() for way, line in seen if way == "backward"]
        assert re.match(
            r"\w+ = np.tanh\(x @ w \+ b\)$|error = np.tanh\(x @ w \+ b\) - y$", forward[0]
        )
        assert any("loss" in line for line in forward)
        assert all(re.match(r"d_|u\d", line) for line in reverse)
        assert any(line.startswith("d_w") for line in reverse)
        for _ in range(4):
            report.get_by_label("Step back").click()
        keep(report, f"code-{theme}")
        assert [] == serious(report, axe)
        assert [] == wider(report)
