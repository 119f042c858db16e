"""The graph of a map-reduce, and its computation by Dask's current scheduler."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import dask
from dask.delayed import Delayed

from tapemagic.distributed.partitions import Partitions
from tapemagic.distributed.task import Partial, Problem


def reduced(problem: Problem, partitions: Partitions, split_every: int) -> Delayed:
    """The result on all partitions, to be computed later: a tree of sums over the results on each."""
    sent = dask.delayed(problem, name=f"problem-{uuid4().hex}", traverse=False)
    partials = partitions.mapped(Problem.partial, sent)
    combine = dask.delayed(Problem.combined, pure=False)
    while len(partials) > 1:
        groups = [partials[k : k + split_every] for k in range(0, len(partials), split_every)]
        partials = [combine(sent, group) if len(group) > 1 else group[0] for group in groups]
    return partials[0]


def computed(result: Delayed, progress: bool) -> Partial | None:
    """Compute the result by Dask's current scheduler."""
    client = current_client(result)
    if not progress:
        return result.compute()
    if client is None:
        from dask.diagnostics import ProgressBar

        with ProgressBar():
            return result.compute()
    import distributed

    future = client.compute(result)
    distributed.progress(future, notebook=False)
    print()
    return future.result()


def current_client(result: Delayed) -> Any:
    """The client of a cluster that would compute, None if a scheduler of this process would."""
    scheduler = dask.base.get_scheduler(collections=[result])
    owner = getattr(scheduler, "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None
