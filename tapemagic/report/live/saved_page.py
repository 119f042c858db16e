"""A report as one HTML page that works offline: the front end, all that it shows, and answers in advance."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from errno import EACCES
from hashlib import sha256
from html import escape
from pathlib import Path

from tapemagic.errors import SaveError
from tapemagic.explain.formatting import clipped, printable
from tapemagic.report.live.answers import Answers
from tapemagic.report.live.content import Content
from tapemagic.report.live.front_end import CSS, ESM
from tapemagic.report.live.precomputed import Precomputed, left_out_words
from tapemagic.report.live.size_limit import fitted
from tapemagic.report.tabs import TABS

PAGE = 240_000
"""The most bytes of a page."""
CONTENT = 110_000
"""The most bytes of what it shows at first."""
FRAME = 5_000
"""The bytes of the page around all this."""
EXPORT = re.compile(r"export\s*\{\s*([\w$]+) as default\s*\}\s*;?\s*\Z")
"""The end of the front end's module."""
STYLE = (
    "body{margin:0 auto;max-width:1400px;padding:12px 20px;background:Canvas;color:CanvasText;"
    "font-family:system-ui,sans-serif;font-size:13px;line-height:1.45}"
    ":root{--jp-ui-font-color2:#4b5563}@media(prefers-color-scheme:dark){:root{--jp-ui-font-color2:#9ca3af}}"
    "h1{font-size:17px}footer{margin-top:16px;font-size:12px;opacity:.72}"
    "@media print{[role=tabpanel]{max-height:none!important;overflow:visible!important}"
    ".tm-bar,.tm-buttons,.tm-words:not(:has(.tm-way)){display:none!important}}"
)
SCHEMES = {"auto": "light dark", "light": "light", "dark": "dark"}
START = """
const tapemagicData = JSON.parse(document.getElementById("tapemagic-data").textContent);
const tapemagicPlace = document.getElementById("tapemagic-report");
const tapemagicModel = {get: (name) => tapemagicData[name], on() {}, off() {}, send() {}};
%s.render({model: tapemagicModel, el: tapemagicPlace}).catch((error) => {
  tapemagicPlace.textContent = `This browser cannot show the report: ${error.message}`;
});
"""
POLICY = (
    "default-src 'none'; script-src '{}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def page(
    title: str, content: Content, answers: Answers, cached: Mapping[str, str], static: str
) -> str:
    """A report as an HTML page; what it runs and loads is in itself, and its policy allows nothing else.

    - `answers`: The most likely questions are answered in advance, while there is room.
    - `cached`: Packed answers from the widget.
    - `static`: The report as HTML for browsers without scripts.
    """
    need_kernel = {tab.title for tab in TABS if tab.asks_kernel}
    there = [face for face in content["faces"] if face["html"] or face["title"] not in need_kernel]
    _, text = fitted({**content, "faces": there, "live": False}, CONTENT)
    script = _script()
    rest = len(script) + len(CSS) + len(text) + FRAME
    static_size = len(static.encode())
    if rest + static_size > PAGE:
        static, static_size = "<p>This report needs a browser with scripts.</p>", 100
    ahead = Precomputed(replace(answers, may_run=False), PAGE - rest - static_size)
    ahead.add_cached(cached)
    why = answers.why_gone
    if why:
        ahead.left_out.clear()
    elif content["view"] is not None:
        ahead.add_all(content["view"])
    folded = answers.findings.graph.folded if not why else 0
    words = " ".join(filter(None, [why, left_out_words(ahead.left_out, folded)]))
    # "<" would let text from the cell close the script element.
    data = json.dumps({"content": text, "answers": ahead.packed}).replace("<", "\\u003c")
    # The policy allows only the script with this digest, so nothing that slipped through escaping could run.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = POLICY.format(f"sha256-{digest}")
    heading = escape(clipped(printable(title), 120))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="{SCHEMES[content["theme"]]}">\n'
        f"<title>{heading}</title>\n"
        f"<style>:root{{color-scheme:{SCHEMES[content['theme']]}}}{STYLE}\n{CSS}</style>\n</head>\n<body>\n"
        f'<main>\n<h1>{heading}</h1>\n<div id="tapemagic-report"></div>\n'
        f"<noscript>{static}</noscript>\n</main>\n"
        f"<footer>Saved by tapemagic. {escape(words)}</footer>\n"
        f'<script type="application/json" id="tapemagic-data">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def _script() -> str:
    """The front end, and the lines that start it, as the text of a script element."""
    export = EXPORT.search(ESM)
    if export is None:
        raise RuntimeError("the front end does not end with its export")
    # A script in a page has no importer: it calls its `render` itself.
    script = ESM[: export.start()] + START % export[1]
    # In an HTML script element, "</script" and "<!--" end or change parsing, even inside of strings.
    return re.sub("<(?=/script|!--)", "\\\\x3c", script, flags=re.IGNORECASE)


def written(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file, whole or not at all; return the file's path.

    Raises SaveError if it cannot be written there.
    """
    name = os.fsdecode(path)
    chosen = Path(name if Path(name).suffix else f"{name}.html")
    try:
        chosen = chosen.expanduser()
        folder = Path(name).expanduser()
        if not name or name.endswith(("/", os.sep)) or folder.is_dir() or chosen.is_dir():
            what = "this is a folder" if name else "the name is empty"
            raise SaveError(
                f"cannot save to {name!r}: {what}; write the name of a file, such as 'report.html'"
            )
        # Through symbolic links, so that the link stays and its target is replaced.
        target = Path(os.path.realpath(chosen))
        if target.exists() and not target.is_file():
            raise SaveError(
                f"cannot save to {name!r}: this is no ordinary file; write another path"
            )
        # Renaming needs only a writable folder, so it would replace a write-protected file.
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(EACCES, "the file is write-protected")
        if not target.parent.is_dir():
            raise SaveError(
                f"cannot save to {name!r}: there is no folder {str(chosen.parent)!r}; make it, or write another path"
            )
        _write(page, target)
    except SaveError:
        raise
    except (OSError, ValueError, RuntimeError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise SaveError(
            f"cannot save to {clipped(repr(name), 200)}: {words[:1].lower()}{words[1:]}; write another path, "
            "such as 'report.html'"
        ) from error
    return chosen


def _write(page: str, target: Path) -> None:
    """Write a temporary file, then rename it, so that half a page is never read."""
    # In the same folder: renaming is atomic only inside of one file system.
    beside = target.with_name(f".{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.write(page)
        # The temporary file has the default mode; a file that is replaced keeps its own.
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
