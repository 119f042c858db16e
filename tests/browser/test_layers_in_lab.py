"""The layers of a model in JupyterLab: boxes that open with the kernel's help."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.jupyter import Lab, report_of
from tests.browser.looks import keep, serious, turn_to, wider

SETUP = """%load_ext tapemagic
import numpy as np
import tapemagic as tm
from tapemagic import nn
X = np.ones((4, 3))
model = nn.Sequential([nn.Dense(8, activation="relu", name="hidden"), nn.Dense(1, name="output")], name="model")"""
STEP = "%%tape\nloss = nn.losses.MeanSquaredError(name='error')(np.ones((4, 1)), model(X))"


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (700, "dark")])
def test_layers_open_and_close(lab: Lab, axe: str, width: int, theme: str) -> None:
    """A click on + shows what a layer computes, one on − folds it again, and so the whole model."""
    with lab.notebook("layers", [SETUP, STEP], width=width, theme=theme) as page:
        report = report_of(page, 1)
        picture = turn_to(report, "Graph").locator(".tm-picture")
        expect(picture).to_contain_text("Dense, 32 parameters")
        expect(picture).not_to_contain_text("hidden/kernel")
        keep(report, f"lab-layers-closed-{width}-{theme}")

        report.get_by_role("button", name="Open hidden").click()

        expect(picture).to_contain_text("hidden (Dense, 32 parameters)")
        expect(picture).to_contain_text("hidden/kernel")
        expect(picture).not_to_contain_text("output/kernel")
        assert [] == serious(report, axe)
        assert [] == wider(report)
        turn_to(report, "Graph")
        keep(report, f"lab-layers-open-{width}-{theme}")
        report.get_by_role("button", name="Close hidden (Dense, 32 parameters)").click()
        expect(picture).not_to_contain_text("hidden/kernel")
        report.get_by_role("button", name="Close model (Sequential, 41 parameters)").click()
        expect(picture).to_contain_text("Sequential, 41 parameters")
        expect(picture).not_to_contain_text("Dense, 32 parameters")
