"""The badge of Binder on a notebook: below its title, once, with its own address."""

from __future__ import annotations

import pytest

from tools.badges import badge, with_badge

BADGE = badge("02-x.ipynb")


def test_the_address() -> None:
    """It opens the notebook in JupyterLab, from the repository that pyproject.toml names."""
    assert BADGE.startswith("[![Open on Binder](binder.svg)](https://mybinder.org/v2/gh/")
    assert BADGE.endswith("/HEAD?labpath=notebooks%2F02-x.ipynb)")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("# Title", f"# Title\n\n{BADGE}"),
        ("# Title\n\nA text.\n\n## More", f"# Title\n\n{BADGE}\n\nA text.\n\n## More"),
        ("# Title\nA text.", f"# Title\n\n{BADGE}\n\nA text."),
        (f"# Title\n\n{badge('01-old.ipynb')}\n\nA text.", f"# Title\n\n{BADGE}\n\nA text."),
    ],
)
def test_where_it_stands(source: str, wanted: str) -> None:
    """Below the title, in place of an old one, and a second time it changes nothing."""
    assert wanted == with_badge(source, "02-x.ipynb")
    assert wanted == with_badge(wanted, "02-x.ipynb")


def test_a_notebook_without_a_title() -> None:
    """There is nothing to put it below."""
    with pytest.raises(ValueError, match=r"02-x\.ipynb does not begin with a title"):
        with_badge("A text.", "02-x.ipynb")
