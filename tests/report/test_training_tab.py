"""The training of a report as text and HTML."""

from __future__ import annotations

from dataclasses import replace

from tapemagic.report.tabs.training import show_training as face
from tapemagic.report.tabs.training.find_training import Training
from tapemagic.report.tabs.training.series import series_of
from tests.report.recordings import square, with_contents

LOSS = series_of("loss", [4.0, 1.0])
SHORT = Training(
    2,
    5,
    LOSS,
    (series_of("|dloss/dw|", [2.0, 1.0]),),
    ("step", "loss", "|dloss/dw|", "w"),
    (("1", "4.0", "2.0", "-2.0"), ("2", "1.0", "1.0", "-1.0")),
    ("dead relu: <b>", ),
    1,
)  # fmt: skip


def test_text() -> None:
    """A table with a row for each step, and a sentence for each flag."""
    assert face.text(with_contents(square(), training=SHORT)).splitlines() == [
        f"2 steps, each a value of loss with its gradients, taken on line 5; {face.SIZES}",
        "step  loss  |dloss/dw|     w",
        "1      4.0         2.0  -2.0",
        "2      1.0         1.0  -1.0",
        "Note: dead relu: <b>.",
        "Not shown: the Variables with smaller gradients, 1 in number.",
    ]


def test_many_columns_become_rows() -> None:
    """A wide table would not fit on a page."""
    names = tuple(f"w{k}" for k in range(10))
    rows = tuple((*row, *names) for row in SHORT.rows)
    wide = replace(SHORT, headings=(*SHORT.headings, *names), rows=rows)

    lines = face.text(with_contents(square(), training=wide)).splitlines()
    assert lines[1:3] == ["step           1     2", "loss         4.0   1.0"]


def test_html() -> None:
    """A picture for the loss and for each gradient, and all that the text says."""
    html = face.html(with_contents(square(), training=SHORT))

    assert html.count("<img alt=") == 2
    assert "loss over 2 steps, from 4 to 1" in html
    assert "dead relu: &lt;b&gt;." in html
    assert html.count("<td>") == 8
    assert len(html) < 5000


def test_nothing_to_show() -> None:
    """A report without training has no such face."""
    assert face.text(square()) == face.html(square()) == ""
