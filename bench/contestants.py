# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Who takes part in benchmarks, by name."""

import os

from container_contestants import Container, StxxlContainer
from contestant import Ours
from numeric_contestants import (FftwMmap, Involution, Overlap, Pipes, Sequential, Stages, Tbb,
                                 Transform)
from sort_contestants import DuckDB, Gnu, Stxxl, TypedSort

OURS = {"tool": Ours, "container": Container, "involution": Involution, "overlap": Overlap,
        "stages": Stages, "transform": Transform, "typed": TypedSort}
PEERS = {peer.name: peer for peer in (Gnu, Stxxl, DuckDB, Sequential, Tbb, Pipes,
                                    FftwMmap)}
CONTAINER_PEERS = {peer.name: peer for peer in (StxxlContainer,)}


def peer_of(benchmark, name):
    """The class of a peer, which may do different things in different benchmarks."""
    return (CONTAINER_PEERS if benchmark.ours == "container" else PEERS)[name]


def processors():
    return len(os.sched_getaffinity(0))
