"""The registry of tabs: their order, the tab that is open at first, and which is omitted for lack of room.

A tab is a folder here and an entry in `TABS`. For the tab *Graph*, ``graph/find_graph.py`` has ``find(subject)``, which
returns frozen data and knows nothing of screens; ``graph/show_graph.py`` has ``text(findings)`` and ``html(findings)``,
which are empty if there is nothing to show; and ``graph/live_graph.py``, only for a tab that differs in the widget, has
``html(screen)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

NOTHING_RECORDED = "Nothing was recorded: no operation used a watched value. Name your variables on the %%tape line."
NO_TARGET = "There is nothing to differentiate."


@dataclass(frozen=True)
class Tab:
    """A tab of a report.

    - `name`: Its folder.
    - `importance`: Where there is no room for all tabs, the least important are omitted.
    - `applies`: Returns True if a `ReportRequest` needs the tab; by default, always.
    - `is_long`: Whether a reader of the static HTML can close it.
    - `is_live`: Whether its folder has a module for the widget.
    - `asks_kernel`: Whether the widget may ask the kernel for it later; saved pages, which have no kernel, omit it
      then.
    - `runs_cell`: Whether finding its data runs the cell again.
    - `picture`: The picture that its HTML shows: an attribute of `html.Pictures`.
    - `text_after`: In the text, the name of the tab that it comes after, if it differs from the order here.
    - `if_empty`: The words in the tab of the widget where there is nothing to show; without them, there is no tab.
    """

    name: str
    title: str
    importance: int
    applies: Callable[[Any], bool] = lambda _request: True
    is_long: bool = False
    is_live: bool = False
    asks_kernel: bool = False
    runs_cell: bool = False
    picture: str = ""
    text_after: str = ""
    if_empty: str = ""

    # These modules are imported when they are needed: finding loads nothing that draws, and a program's text is
    # imported, with all of `tapemagic.programs`, only for reports that show it.

    @property
    def find(self) -> Callable[[Any], Any]:
        """The function that finds the data of the tab in a `Subject`."""
        return _module(self.name, "find").find  # type: ignore[no-any-return]

    @property
    def show(self) -> Any:
        """The module with ``text`` and ``html``."""
        return _module(self.name, "show")

    @property
    def live(self) -> Any:
        """The module with ``html`` for the widget, or None if the widget shows the static HTML."""
        return _module(self.name, "live") if self.is_live else None


@cache
def _module(name: str, part: str) -> Any:
    return import_module(f"{__name__}.{name}.{part}_{name}")


# The importance: tabs that repeat the numbers of other tabs are omitted first, the gradients last.
TABS = (
    Tab("variables", "Variables", 5, if_empty=NOTHING_RECORDED),
    Tab(
        "graph",
        "Graph",
        7,
        is_live=True,
        picture="drawing",
        text_after="plot",
        if_empty=NOTHING_RECORDED,
    ),
    Tab("gradients", "Gradients", 8, is_live=True, if_empty=NO_TARGET),
    Tab("paths", "Paths", 0, is_long=True),
    Tab(
        "plot",
        "Plot",
        6,
        lambda request: request.plot is not None,
        is_live=True,
        runs_cell=True,
        picture="curves",
    ),
    Tab("trace", "Trace", 2, is_long=True, is_live=True),
    Tab("lines", "Lines", 1, is_long=True, is_live=True),
    Tab(
        "code",
        "Code",
        4,
        lambda request: request.code,
        is_long=True,
        is_live=True,
        asks_kernel=True,
    ),
    Tab("training", "Training", 3, is_long=True),
)
"""The tabs from left to right."""

DEFAULT_FIRST = "Graph"
"""The title of the tab that is open at first, unless `first_tab` finds a better one."""

TITLE_OF = {tab.name: tab.title for tab in TABS}
"""The titles by the names of the folders."""

TITLES = tuple(tab.title for tab in TABS)
"""The titles of the tabs from left to right."""

LEAST_IMPORTANT = tuple(tab.title for tab in sorted(TABS, key=lambda tab: tab.importance))
"""The titles in the order in which tabs are omitted where there is no room for all of them."""


def first_tab(shown: Sequence[str], data: Mapping[str, Any], preferred: str) -> str:
    """Return the title of the tab that is open at first.

    It is the one that the setting ``first_tab`` prefers. Without a preference it is the plot, if one was requested,
    the training of a cell that trains, and otherwise the graph.

    - `shown`: The titles of the tabs of this report.
    - `data`: The data of the tabs by their names, as `Findings.tabs` has them.
    - `preferred`: The setting.
    """
    if preferred == DEFAULT_FIRST:
        better = (name for name in ("plot", "training") if data.get(name))
        preferred = TITLE_OF[next(better, "graph")]
    return preferred if preferred in shown else DEFAULT_FIRST


def in_text() -> list[Tab]:
    """Return the tabs in the order of the text."""
    ordered = [tab for tab in TABS if not tab.text_after]
    for tab in TABS:
        if tab.text_after:
            names = [earlier.name for earlier in ordered]
            ordered.insert(names.index(tab.text_after) + 1, tab)
    return ordered
