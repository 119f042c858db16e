"""A report saved as one HTML page."""

from __future__ import annotations

import json
import os
import re
import stat
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapemagic.errors import SaveError, TapeError
from tapemagic.report.bundle import TapeReport
from tapemagic.report.live import saved_page
from tapemagic.report.live.packing import packed, unpacked
from tapemagic.report.live.precomputed import openings, parts_of
from tests.report.details import details_of

HOSTILE = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\u202e"


class Page(HTMLParser):
    """The elements of a page: the texts of its scripts, its title, and the addresses that it names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.title = ""
        self.policy = ""
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        found = dict(attrs)
        self.tags.append(tag)
        self._inside = str(found.get("type")) if tag == "script" else tag
        self.addresses += [str(found[name]) for name in ("src", "href") if name in found]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = str(found["content"])

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 -- the parser calls it so
        """Leave an element."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """Note text."""
        if self._inside == "title":
            self.title += data
        elif "/" in self._inside or self._inside == "module":
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data


def report(name: str = "y") -> TapeReport:
    """A report with a name for its target."""
    found, details = details_of(lambda a, b: np.sin(a * b) + a, 2.0, 3.0)
    assert found.targets == ("y",)
    if name != "y":
        found = found.__class__(**{**vars(found), "targets": (name,)})
    return TapeReport(found, details=details)


def test_the_page(tmp_path: Path) -> None:
    """It holds the front end, the content, and what may be asked first."""
    path = report().save(tmp_path / "x.html")

    text = path.read_text(encoding="utf-8")
    page = Page(text)
    data = json.loads(page.scripts["application/json"])
    content = unpacked(data["content"])
    assert (tmp_path / "x.html", "tapemagic report: y") == (path, page.title)
    assert not content["live"]
    keys = {value["key"] for value in content["view"]["values"]}
    assert {f"value:{key}" for key in keys} | {"check"} == data["answers"].keys()
    assert "dy/da" in text.partition("<noscript>")[2].partition("</noscript>")[0]


def test_it_needs_nothing_from_elsewhere_and_allows_nothing_else(tmp_path: Path) -> None:
    """The only script that may run is its own."""
    page = Page(report(HOSTILE).save(tmp_path / "x.html").read_text(encoding="utf-8"))

    digest = b64encode(sha256(page.scripts["module"].encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}';" in page.policy
    assert 2 == page.tags.count("script")
    assert all(address.startswith("data:") for address in page.addresses)


def test_hostile_names(tmp_path: Path) -> None:
    """They are text, in the title as well."""
    text = report(HOSTILE).save(tmp_path / "x.html").read_text(encoding="utf-8")

    page = Page(text)
    assert HOSTILE.replace("\u202e", " ") == page.title.removeprefix("tapemagic report: ")
    assert "<img src=x" not in text
    assert "\u202e" not in page.title


def test_the_front_end_ends_with_its_export() -> None:
    """The page puts its own lines in that place, and no end of a script is inside."""
    script = saved_page._script()

    assert "export" not in script
    assert re.search(r"\w+\.render\(\{model: tapemagicModel", script)
    assert not re.search("</script|<!--", script, re.IGNORECASE)


def test_openings_in_advance() -> None:
    """The nearest ones of each part first, each once; and the number of all."""
    frame = {"label": "", "fold": "1", "iteration": (9, 9)}
    fold: dict[str, Any] = {"fold": "1", "iterations": (1, 8, 9)}
    call = {"fold": "2", "iterations": None}
    inside = {"label": "", "fold": "3", "iteration": None}
    view: Any = {
        "frames": [frame, inside],
        "operations": [fold, call, {"fold": "", "iterations": None}],
    }

    found = list(openings(view))

    assert [("1", 1), ("3", 0), ("2", 1), ("1", 0), ("1", 8), ("1", 2)] == found[:6]
    assert len(found) == len(set(found)) == sum(part.choices for part in parts_of(view))
    assert {("1", k) for k in range(9)} <= set(found)


def test_a_page_that_would_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does not hold is counted."""
    shown = report()
    front_end = len(saved_page._script()) + len(saved_page.CSS)
    least = saved_page.FRAME + front_end + len(packed(shown.content()))
    monkeypatch.setattr(saved_page, "PAGE", least + 1_200)

    text = shown.save(tmp_path / "x.html").read_text(encoding="utf-8")

    assert len(text.encode()) < saved_page.PAGE
    assert "This report needs a browser with scripts." in text
    assert re.search(
        r"Omitted to keep this page small and quick to make: \d of \d values in full", text
    )


def test_without_a_recording(tmp_path: Path) -> None:
    """The page says why nothing can be asked."""
    found, details = details_of(lambda a: a * 2.0, 2.0)
    details.close("The recording is gone.")

    text = TapeReport(found, details=details).save(tmp_path / "x").read_text(encoding="utf-8")

    assert "<footer>Saved by tapemagic. The recording is gone.</footer>" in text
    assert {} == json.loads(Page(text).scripts["application/json"])["answers"]


def test_names_of_files(tmp_path: Path) -> None:
    """A name without an ending gets one; what was there is replaced; text and paths do."""
    (tmp_path / "x.html").write_text("before")

    for path in (tmp_path / "x", str(tmp_path / "x.html"), str(tmp_path / "x").encode()):
        assert tmp_path / "x.html" == report().save(path)
        assert "before" != (tmp_path / "x.html").read_text(encoding="utf-8")

    assert ["x.html"] == [path.name for path in tmp_path.iterdir()]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(plain.stat().st_mode) == stat.S_IMODE((tmp_path / "x.html").stat().st_mode)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "the name is empty"), (".", "this is a folder"), ("new/", "this is a folder"),
        ("nowhere/x.html", "there is no folder"), ("x" * 300, "too long"), ("a\0b", "null"),
    ],
)  # fmt: skip
def test_places_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, words: str
) -> None:
    """An error says why, and nothing is left behind."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SaveError, match=words) as caught:
        report().save(path)

    assert isinstance(caught.value, TapeError)
    assert isinstance(caught.value, OSError)
    assert [] == list(tmp_path.iterdir())


def test_files_of_special_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A private file stays private; a protected file and a pipe are not replaced; ~ is the user's folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    private = tmp_path / "x.html"
    private.touch(0o600)
    private.chmod(0o600)
    assert private == report().save("~/x.html")
    assert 0o600 == stat.S_IMODE(private.stat().st_mode)

    before = private.read_bytes()
    monkeypatch.setattr(saved_page.os, "access", lambda *_: False)  # root may write everywhere
    with pytest.raises(SaveError, match="write-protected"):
        report().save(private)
    assert before == private.read_bytes()

    pipe = tmp_path / "pipe.html"
    os.mkfifo(pipe)
    with pytest.raises(SaveError, match="no ordinary file"):
        report().save(pipe)
    assert pipe.is_fifo()


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written whole or not at all."""
    target = tmp_path / "x.html"
    target.write_text("before")

    def fail(*_args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(SaveError, match="no space left on device"):
        report().save(target)

    assert "before" == target.read_text()
    assert [target] == list(tmp_path.iterdir())
