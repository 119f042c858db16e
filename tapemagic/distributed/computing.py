"""The graph of a map-reduce, and its computation by Dask's current scheduler."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import dask
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.diagnostics.progress import ProgressBar
from dask.highlevelgraph import HighLevelGraph
from dask.utils import parse_bytes

from tapemagic.distributed.partitions import Partitions
from tapemagic.distributed.task import CALLED, Partial, Problem, SentProblem
from tapemagic.errors import TapeError


def compute(
    problem: Problem, partitions: Partitions, split_every: int, progress: bool
) -> Partial | None:
    """The result on all partitions, by Dask's current scheduler; None if there are no rows."""
    sent = SentProblem(problem)
    result = reduced(sent, partitions, split_every)
    client = current_client(result)
    if client is None:
        with _explained("Dask's scheduler in this process"):
            return _computed_here(result, progress)
    size = len(sent.content)
    with _explained(repr(client)), _without_warning_of(size):
        return _computed_by(client, result) if progress else result.compute()


def _computed_here(result: Delayed, progress: bool) -> Any:
    if not progress:
        return result.compute()
    with ProgressBar():
        return result.compute()


def _computed_by(client: Any, result: Delayed) -> Any:
    from distributed import progress

    future = client.compute(result)
    try:
        progress(future, notebook=False)
        print()  # noqa: T201 (Dask's bar leaves the line open)
        return future.result()
    finally:
        future.release()


@contextmanager
def _explained(scheduler: str) -> Iterator[None]:
    """Add to an error that the loss did not raise where it came from."""
    try:
        yield
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        if not isinstance(error, TapeError) and not any(CALLED in note for note in notes):
            error.add_note(
                f"The loss did not raise this, but what reads the data, or {scheduler}. Data that were persisted on a "
                "cluster need the client that persisted them, still open and current."
            )
        raise


@contextmanager
def _without_warning_of(size: int) -> Iterator[None]:
    """Spare the user Dask's warning of a large graph if it is large by parameters of so many bytes."""
    limit = parse_bytes(dask.config.get("distributed.admin.large-graph-warning-threshold", "10MB"))
    with warnings.catch_warnings():
        if size > limit // 2:
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


def reduced(problem: SentProblem, partitions: Partitions, split_every: int) -> Delayed:
    """The result on all partitions, to be computed later: a tree of sums over the results on each."""
    name = f"value-and-grad-{uuid4().hex}"
    sent = delayed(problem, name=f"problem-{name}", traverse=False)
    keys, tasks, sources = partitions.mapped(SentProblem.partial, sent, name)
    level = 0
    while len(keys) > 1:
        groups = [keys[k : k + split_every] for k in range(0, len(keys), split_every)]
        keys = [
            group[0] if len(group) == 1 else f"sum-{name}-{level}-{k}"
            for k, group in enumerate(groups)
        ]
        pairs = zip(keys, groups, strict=True)
        tasks |= {
            key: (SentProblem.combined, sent.key, group) for key, group in pairs if len(group) > 1
        }
        level += 1
    if not tasks:
        return sources[0]
    layer = f"sum-{name}"
    used: list[Any] = [sent, *sources]
    graph = HighLevelGraph.from_collections(layer, tasks, dependencies=used)
    return Delayed(keys[0], graph, layer=layer)


def current_client(result: Delayed) -> Any:
    """The client of a cluster that would compute, None if a scheduler of this process would."""
    scheduler = get_scheduler(collections=[result])
    owner = getattr(scheduler, "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None
