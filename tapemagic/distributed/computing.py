"""The Dask graph of a map-reduce, and its computation by the current scheduler."""

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
    """Compute the result on all partitions by Dask's current scheduler, or None if there are no rows."""
    sent = SentProblem(problem)
    result = map_reduce(sent, partitions, split_every)
    client = current_client(result)
    if client is None:
        with _with_note("Dask's scheduler in this process"):
            return _compute_locally(result, progress)
    size = len(sent.content)
    with _with_note(repr(client)), _without_warning_of(size):
        return _compute_on_cluster(client, result) if progress else result.compute()


def _compute_locally(result: Delayed, progress: bool) -> Any:
    if not progress:
        return result.compute()
    with ProgressBar():
        return result.compute()


def _compute_on_cluster(client: Any, result: Delayed) -> Any:
    # Dask's own ProgressBar only works with local schedulers; on a cluster it's another function.
    from distributed import progress

    future = client.compute(result)
    try:
        progress(future, notebook=False)
        print()  # noqa: T201 (Dask's bar leaves the line open)
        return future.result()
    finally:
        future.release()


@contextmanager
def _with_note(scheduler: str) -> Iterator[None]:
    """Add a note to errors that the loss didn't raise, which names their probable origin."""
    try:
        yield
    except Exception as error:
        notes = getattr(error, "__notes__", [])
        if not isinstance(error, TapeError) and not any(CALLED in note for note in notes):
            error.add_note(
                f"The loss didn't raise this error, but the reading of the data, or {scheduler}. Data that was "
                "persisted on a cluster needs the client that persisted it, still open and current."
            )
        raise


@contextmanager
def _without_warning_of(size: int) -> Iterator[None]:
    """Suppress Dask's warning about a large graph if `size` bytes of parameters are the reason."""
    limit = parse_bytes(dask.config.get("distributed.admin.large-graph-warning-threshold", "10MB"))
    with warnings.catch_warnings():
        if size > limit // 2:
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        yield


def map_reduce(problem: SentProblem, partitions: Partitions, split_every: int) -> Delayed:
    """Return the delayed result on all partitions: a tree of sums over the results of each partition."""
    # A tree, not one sum: partial sums are added on the workers as they arrive, and each task holds at most
    # `split_every` gradients in memory.
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
    """Return the client of the cluster that would compute, or None for a scheduler in this process."""
    scheduler = get_scheduler(collections=[result])
    owner = getattr(scheduler, "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None
