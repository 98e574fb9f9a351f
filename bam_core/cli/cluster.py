# SPDX-License-Identifier: Apache-2.0
"""The option ``--cluster`` of commands whose work others can do."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Executor


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="have a Dask cluster do the work, with the same results: the address of its scheduler, such as "
        "tcp://host:8786, or local:N for N workers on this machine; workers need the same version of "
        "bam_bench (default: this process, on all processors)",
    )


def executor_for(cluster: str | None) -> AbstractContextManager[Executor | None]:
    """Return the executor of the option, as a context; None where it was not given."""
    if cluster is None:
        return nullcontext()
    from bam_core.identification.executors import open_cluster

    return open_cluster(cluster)
