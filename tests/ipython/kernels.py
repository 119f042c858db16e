"""A real Jupyter kernel, and what comes out of the cells that it runs."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

import tapemagic

if TYPE_CHECKING:  # the import takes seconds, and most runs of the tests start no kernel
    from nbclient import NotebookClient

ROOT = Path(tapemagic.__file__).parents[1]
PATHS = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
VIEW = "application/vnd.jupyter.widget-view+json"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
FIRST = "import numpy as np\nimport tapemagic as tm\n%load_ext tapemagic"


@dataclass
class Ran:
    """What a cell gave."""

    outputs: list[Any]
    stopped: bool

    @property
    def stdout(self) -> str:
        """What it printed."""
        return self._stream("stdout")

    @property
    def stderr(self) -> str:
        """What it said on the error stream."""
        return self._stream("stderr")

    def _stream(self, name: str) -> str:
        streams = [out for out in self.outputs if out.output_type == "stream" and out.name == name]
        return "".join(out.text for out in streams)

    @property
    def shown(self) -> list[Any]:
        """The MIME bundles that it showed."""
        return [
            out.data
            for out in self.outputs
            if out.output_type in {"execute_result", "display_data"}
        ]

    @property
    def text(self) -> str:
        """The text of all that it showed."""
        return "\n".join(data["text/plain"] for data in self.shown)

    @property
    def errors(self) -> list[str]:
        """The tracebacks, without colours."""
        found = [out for out in self.outputs if out.output_type == "error"]
        return [COLOURS.sub("", "\n".join(out.traceback)) for out in found]


class Kernel:
    """A kernel that runs one cell after another, as a notebook does.

    Attributes
    ----------
    strays : list of dict
        The outputs that came while widgets were answering.
    """

    def __init__(self, client: NotebookClient) -> None:
        self._client = client
        self.strays: list[Any] = []

    def run(self, source: str) -> Ran:
        """Run a cell, whether it succeeds or not."""
        from nbclient.exceptions import CellExecutionError
        from nbformat.v4 import new_code_cell

        cells = self._client.nb.cells
        cells.append(new_code_cell(source))
        stopped = False
        try:
            self._client.execute_cell(cells[-1], len(cells) - 1)
        except CellExecutionError:
            stopped = True
        return Ran(cells[-1].outputs, stopped)

    def show(self, source: str) -> str:
        """Run a cell that succeeds and says nothing on the error stream; the text that it showed."""
        ran = self.run(source)
        assert [] == ran.errors
        assert "" == ran.stderr
        return ran.text or ran.stdout

    def complete(self, source: str) -> list[str]:
        """The completions at the end of a text, as a front end asks for them."""
        from nbclient.util import run_sync

        async def reply() -> Any:
            return await self._client.kc.complete(source, len(source), reply=True, timeout=30)

        return list(run_sync(reply)()["content"]["matches"])

    def send(self, model: str, message: Any, interrupt: float = 0) -> Any:
        """Send a message to a widget, as its front end does; the newest state that comes back, or None.

        The kernel is interrupted after so many seconds, if that is not 0.
        """
        from nbclient.util import run_sync

        async def answer() -> Any:
            client = self._client.kc
            content = {"comm_id": model, "data": {"method": "custom", "content": message}}
            sent = client.session.msg("comm_msg", content)
            client.shell_channel.send(sent)
            if interrupt:
                self.interrupt_after(interrupt)
            state = None
            while True:
                heard = await client.get_iopub_msg(timeout=30)
                if heard["parent_header"].get("msg_id") != sent["header"]["msg_id"]:
                    continue
                kind, body = heard["msg_type"], heard["content"]
                self.strays += [heard] * (kind not in {"status", "comm_msg"})
                if kind == "comm_msg" and body["data"].get("method") == "update":
                    state = {**(state or {}), **body["data"]["state"]}
                if kind == "status" and body["execution_state"] == "idle":
                    return state

        return run_sync(answer)()

    def interrupt_after(self, seconds: float) -> None:
        """Interrupt what the kernel runs then, as the square button does."""
        stop = partial(os.kill, self._client.km.provisioner.pid, signal.SIGINT)
        Timer(seconds, stop).start()


@contextmanager
def kernel(folder: Path) -> Iterator[Kernel]:
    """A kernel with the extension loaded, which has no settings."""
    environment = os.environ | {"PYTHONPATH": PATHS, "IPYTHONDIR": str(folder)}
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook

    client = NotebookClient(new_notebook(), timeout=60, kernel_name="python3")
    with client.setup_kernel(env=environment, cwd=str(folder)):
        started = Kernel(client)
        assert "" == started.show(FIRST)
        yield started
