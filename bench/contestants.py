# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Who takes part in benchmarks, by name."""

import os

from container_contestants import (ByHand, Container, Division, Product, StxxlContainer,
                                   StxxlGrowShrink, StxxlNormal)
from contestant import Ours
from independent_set_contestants import IndependentSet, StlSet, StxxlSet, StxxlStlSet
from map_contestants import BerkeleyDb, Lmdb, Map, RocksDb, StxxlMap
from memory_contestants import OneThread, OurMemorySort, StandardSort
from numeric_contestants import (FftwMmap, Involution, Overlap, Pipes, Sequential, Stages, Tbb,
                                 Transform)
from queue_contestants import (PriorityQueue, SingleItems, SorterForQueue, StxxlQueue,
                               StxxlSequentialQueue)
from sort_contestants import DuckDB, Gnu, Stxxl, TextSort, TypedSort, Without
from stream_contestants import LoopByHand, OneThreadFlow, Stream, StxxlStream
from virtual_contestants import (Mapped, MappedInTurns, OneWorker, OpenMpi, PlainSort, Ranks,
                                 VirtualProcessors)

OURS = {"tool": Ours, "container": Container, "division": Division,
        "independent-set": IndependentSet, "involution": Involution, "map": Map,
        "memory": OurMemorySort, "overlap": Overlap, "product": Product, "queue": PriorityQueue,
        "ranks": Ranks, "stages": Stages, "stream": Stream, "text": TextSort,
        "transform": Transform, "typed": TypedSort, "virtual-processors": VirtualProcessors}


def _by_name(*classes):
    return {peer.name: peer for peer in classes}


# Where ours is of another kind, a peer of the same name does another thing.
_PEERS_OF = {"container": _by_name(StxxlContainer, StxxlNormal, StxxlGrowShrink),
             "independent-set": _by_name(StxxlSet, StxxlStlSet, StlSet),
             "map": _by_name(StxxlMap, BerkeleyDb, Lmdb, RocksDb),
             "queue": _by_name(StxxlQueue, StxxlSequentialQueue, SorterForQueue, SingleItems),
             "ranks": _by_name(Mapped, MappedInTurns, OpenMpi),
             "stream": _by_name(StxxlStream, LoopByHand, OneThreadFlow),
             "virtual-processors": _by_name(PlainSort, OneWorker, Stxxl)}
_OTHER_PEERS = _by_name(ByHand, Gnu, Stxxl, DuckDB, Without, StandardSort, OneThread, Sequential,
                        Tbb, Pipes, FftwMmap)
PEER_NAMES = tuple(dict.fromkeys(name for peers in (_OTHER_PEERS, *_PEERS_OF.values())
                                 for name in peers))


def peer_of(benchmark, name):
    """The class of a peer, which may do different things in different benchmarks."""
    return _PEERS_OF.get(benchmark.ours, _OTHER_PEERS)[name]


def processors():
    return len(os.sched_getaffinity(0))
