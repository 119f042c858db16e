"""The number of threads that the compared libraries may use; only JAX takes as many as there are processors."""

from __future__ import annotations

import argparse
import sys

from threadpoolctl import threadpool_limits


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads`` to the options of a benchmark."""
    parser.add_argument(
        "--threads", type=int, default=2, help="how many threads each library may use, but for JAX"
    )


def limit(threads: int) -> None:
    """Let NumPy's matrix products, and PyTorch if it is loaded, use so many threads from now on."""
    threadpool_limits(threads)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
