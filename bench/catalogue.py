# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The benchmarks by name: what is done, how, against whom, and what the disk must do at least.

A new benchmark is a row in BENCHMARKS. A sort from file to file reads and writes every byte twice,
so its floor is two passes of N bytes read and N written at once; see bench/README.md.
"""

from dataclasses import dataclass

from sizes import GIB, MIB


@dataclass(frozen=True)
class Benchmark:
    name: str
    about: str
    generator: str            # KIND of `outsize gen`; empty: there is no input, or another's
    item_bytes: int           # 0: items of varying length
    sort_flags: tuple         # of `outsize sort` and, where it knows the format, `outsize check`
    gnu_flags: tuple          # of GNU sort; None: it cannot do this
    peers: tuple
    default_size_bytes: int = 4 * GIB
    default_memory_bytes: int = 512 * MIB
    floor_passes: int = 2     # N read and N written at once, so many times, unless ours tells; 0,
                              # and no moves: there is no floor
    floor_moves: tuple = ()   # instead: N moved alone, for each "read" and "first_write";
                              # "mixed": N read and N written at once
    command: tuple = ()       # of the tool, if it is not `outsize sort` with the flags
    ours: str = "tool"        # which of contestants.OURS runs it
    typed: str = ""           # KIND of bench/programs/typed_sort.cpp
    disk_per_input_byte: float = 3.2  # input, output, temporary files and a little more
    least_share_of_floor: object = None  # what is aimed at, if anything is
    own_flags: tuple = ()     # of `outsize sort` beside those that say what is sorted
    without: tuple = ()       # likewise, of the peer that does without what the benchmark is about
    input_program: str = ""   # which makes the input, of so many bytes, into a file
    smoke_size_bytes: int = 32 * MIB
    smoke_memory_bytes: int = 8 * MIB
    text: str = ""            # the input is this one of ./dev demo, but for smoke runs
    bulk_items: int = 0       # of queues: the items of a bulk, or the most of a random one; 0: a
                              # call for each item
    ranks: int = 0            # of an MPI program; 0: as many as threads
    at_once: int = 0          # ranks that compute at the same time; 0: likewise
    iterations: int = 10      # of an MPI program
    limits_all: bool = False  # the memory is that of all processes, page cache included

    @property
    def words(self):
        return self.command or ("sort", *self.sort_flags, *self.own_flags)


_MAP_PEERS = ("stxxl", "bdb", "lmdb", "rocksdb")
_DIVIDED = (   # what share a storage with no word about memory
    ("sort-back", "a vector sorted to the back of another"),
    ("two-sorters", "two sorters filled in turns and read in turns"),
    ("sorter-map", "a sorter, a map filled from it, a sorter filled from that"),
    ("eight-containers", "eight containers touched at random in turns"),
    ("map-scan", "a map filled from a sorter while a vector is scanned"),
    ("count-sort", "an unordered_map that counts while a sorter is filled"),
    ("sort-in-loop", "sorts inside a loop over a sorter"),
    ("after-sorter", "containers made after a sorter was read"),
    ("graph", "a graph of twelve nodes, four of them sorts"),
    ("small-containers", "10^4 small containers made and dropped"),
)
_ENDS = (("", "u32", 4), ("-32", "32 bytes", 32))   # of stacks, queues and deques
_STXXL_QUEUES = ("stxxl", "stxxl-sequential")
_QUEUE_WAYS = {    # bulk_items, floor_moves, peers beside STXXL's queues
    "single": (0, ("first_write", "read"), ("sorter",)),
    "bulk": (1 << 24, ("first_write", "read"), ("sorter", "single")),
    "rewrite": (640_000, ("mixed",), ("single",)),
}


def _queues(name, about, way, **more):
    """A benchmark of the paper of 2015 with its items of 8 and of 24 bytes."""
    bulk_items, moves, peers = _QUEUE_WAYS[way]
    return (Benchmark(f"{name}{suffix}", f"{items} {about}", "", item_bytes, (), None,
                      (*_STXXL_QUEUES, *peers), floor_moves=moves, ours="queue",
                      disk_per_input_byte=2.2, bulk_items=bulk_items, smoke_size_bytes=16 * MIB,
                      **more)
            for suffix, items, item_bytes in (("", "u64", 8), ("-24", "24 bytes", 24)))


BENCHMARKS = {row.name: row for row in (
    Benchmark("sort-u64", "random u64, file to file", "u64", 8,
              ("--format", "u64"), None, ("stxxl", "duckdb"), least_share_of_floor=0.9),
    Benchmark("sort-u64-plain", "the same, runs not encoded", "u64", 8,
              ("--format", "u64"), None, ("stxxl", "duckdb"), least_share_of_floor=0.9,
              own_flags=("--run-codec", "none")),
    Benchmark("sort-u64-checksums", "the same, with and without checksums of blocks", "u64", 8,
              ("--format", "u64"), None, ("without",), without=("--no-block-checksums",)),
    Benchmark("sort-memory", "random u64 that fit in memory, only the sorting", "u64", 8,
              ("--format", "u64"), None, ("std", "one-thread"), 512 * MIB, 2 * GIB,
              floor_passes=0, ours="memory", disk_per_input_byte=2.2, smoke_size_bytes=2 * MIB),
    Benchmark("sort-records", "100 bytes, 10-byte key, file to file", "records", 100,
              ("--format", "bytes:100", "--key", "0:10"), ("-s", "-k1.1,1.10"), ("stxxl", "gnu"),
              least_share_of_floor=0.92),
    Benchmark("sort-lines", "lines of 20 to 200 bytes, whole line, file to file", "lines", 0,
              (), (), ("gnu",)),
    Benchmark("sort-text", "source text of Linux, whole line, file to file", "lines", 0,
              (), (), ("gnu",), 1_300_000_000, 128 * MIB, ours="text",
              text="linux-source-6.1.txt", disk_per_input_byte=4.2),
    Benchmark("sort-pair", "u64 key and u64 payload, comparator on the key, file to file", "pairs",
              16, (), None, ("stxxl",), ours="typed", typed="pair", least_share_of_floor=0.9),
    Benchmark("sort-lambda", "u64 and two u32, a lambda on all three, file to file", "triples", 16,
              (), None, ("stxxl",), ours="typed", typed="lambda"),
    Benchmark("sort-sorted", "ascending u64, file to file", "u64-asc", 8,
              ("--format", "u64"), None, ("stxxl",), floor_passes=1, least_share_of_floor=0.87),
    Benchmark("sort-reversed", "descending u64, file to file", "u64-desc", 8,
              ("--format", "u64"), None, ("stxxl",), floor_passes=1, least_share_of_floor=0.87),
    Benchmark("sort-near", "u64 up to 1023 places away, file to file", "u64-near", 8,
              ("--format", "u64"), None, ("stxxl",), floor_passes=1),
    Benchmark("sort-few", "u64 of 16 distinct values, file to file", "u64-few", 8,
              ("--format", "u64"), None, ("stxxl",), least_share_of_floor=0.9),
    Benchmark("sort-equal", "u64 of one value, file to file", "u64-same", 8,
              ("--format", "u64"), None, ("stxxl",), least_share_of_floor=0.9),
    Benchmark("columnsort", "random u64, three passes, file to file", "u64", 8,
              ("--format", "u64"), None, (), floor_passes=3, command=("columnsort",)),
    Benchmark("bmmc", "u64 to bit-reversed places, file to file", "u64", 8, (), None, (),
              4 * GIB, 256 * MIB, floor_passes=1,
              command=("permute", "--record", "8", "--bit-reversal"), ours="involution"),
    Benchmark("pipeline-overlap", "read, work and write 2 MiB buffers, file to file", "u64", 8,
              (), None, ("sequential",), 2 * GIB, 256 * MIB, floor_passes=1, ours="overlap"),
    Benchmark("pipeline-stages", "16 stages shaped like an FFT, 128 KiB buffers, file to file",
              "f64", 8, (), None, ("tbb", "pipes"), 1 * GIB, 256 * MIB, floor_passes=1,
              ours="stages"),
    Benchmark("fft", "2^k complex doubles, natural order, file to file", "f64", 8, (), None,
              ("fftw-mmap",), 2 * GIB, 256 * MIB, command=("fft",), ours="transform",
              disk_per_input_byte=4.2),
    Benchmark("vector-fill", "vector of u64 filled by iterators, and flushed", "", 8, (), None,
              ("stxxl",), 8 * GIB, 256 * MIB, floor_moves=("first_write",), ours="container",
              disk_per_input_byte=1.1, least_share_of_floor=0.95),
    Benchmark("vector-scan", "vector of u64 summed up by constant iterators", "", 8, (), None,
              ("stxxl",), 8 * GIB, 256 * MIB, floor_moves=("read",), ours="container",
              disk_per_input_byte=1.1, least_share_of_floor=0.95),
    Benchmark("vector-both-ways", "vector of u64 summed up by iterators, forward and backward", "",
              8, (), None, ("stxxl",), 8 * GIB, 256 * MIB, floor_passes=0, ours="container",
              disk_per_input_byte=1.1, least_share_of_floor=0.90),
    Benchmark("vector-random", "10^6 random items of a vector of u64, 10^5 at a time", "", 8, (),
              None, (), 4 * GIB, 256 * MIB, floor_passes=0, ours="container",
              disk_per_input_byte=1.1, least_share_of_floor=0.90),
    *(Benchmark(f"stack{suffix}", f"{items}, all pushed, then all popped", "", item_bytes, (), None,
                ("stxxl", "stxxl-normal", "stxxl-grow-shrink"), 4 * GIB, 128 * MIB,
                floor_moves=("first_write", "read"), ours="container", disk_per_input_byte=1.1,
                least_share_of_floor=0.95) for suffix, items, item_bytes in _ENDS),
    *(Benchmark(f"queue{suffix}", f"{items}, all pushed, then all popped", "", item_bytes, (), None,
                ("stxxl",), 4 * GIB, 128 * MIB, floor_moves=("first_write", "read"),
                ours="container", disk_per_input_byte=1.1, least_share_of_floor=0.95)
      for suffix, items, item_bytes in _ENDS),
    *(Benchmark(f"deque{suffix}", f"{items}, all pushed at the front, then all popped at the back",
                "", item_bytes, (), None, ("stxxl",), 4 * GIB, 128 * MIB,
                floor_moves=("first_write", "read"), ours="container",
                disk_per_input_byte=2.2,  # of STXXL, which doubles it
                least_share_of_floor=0.90) for suffix, items, item_bytes in _ENDS),
    Benchmark("map-bulk", "map of u64 to 32 bytes, built from a sorted file", "", 40, (), None,
              _MAP_PEERS, floor_passes=1, ours="map", disk_per_input_byte=2.5,
              least_share_of_floor=0.80, input_program="bench_map_input",
              smoke_size_bytes=8 * MIB),
    Benchmark("map-insert", "10^6 entries at random put into a map", "", 40, (), None, _MAP_PEERS,
              floor_passes=0, ours="map", disk_per_input_byte=2.5, smoke_size_bytes=8 * MIB),
    Benchmark("map-insert-many", "10^6 entries at random put into a map, 10^4 at a time", "",
              40, (), None, _MAP_PEERS, floor_passes=0, ours="map", disk_per_input_byte=2.5,
              smoke_size_bytes=8 * MIB),
    Benchmark("map-find", "10^6 keys at random, one by one", "", 40, (), None, _MAP_PEERS,
              floor_passes=0, ours="map", disk_per_input_byte=1.5, smoke_size_bytes=8 * MIB),
    Benchmark("map-find-many", "10^6 keys at random, ten thousand at a time", "", 40, (), None,
              _MAP_PEERS, floor_passes=0, ours="map", disk_per_input_byte=1.5,
              smoke_size_bytes=8 * MIB),
    Benchmark("map-find-all", "10^6 keys at random, all at once", "", 40, (), None, _MAP_PEERS,
              floor_passes=0, ours="map", disk_per_input_byte=1.5, smoke_size_bytes=8 * MIB),
    Benchmark("map-insert-all", "10^6 entries at random put into a map, all at once", "", 40, (),
              None, _MAP_PEERS, floor_passes=0, ours="map", disk_per_input_byte=2.5,
              smoke_size_bytes=8 * MIB),
    Benchmark("map-erase-all", "10^6 keys at random erased from a map, all at once", "", 40, (),
              None, _MAP_PEERS, floor_passes=0, ours="map", disk_per_input_byte=2.5,
              smoke_size_bytes=8 * MIB),
    Benchmark("map-scan", "all entries of a map in order", "", 40, (), None, _MAP_PEERS,
              floor_moves=("read",), ours="map", disk_per_input_byte=1.5,
              least_share_of_floor=0.85, smoke_size_bytes=8 * MIB),
    Benchmark("map-erase", "10^6 keys at random erased from a map", "", 40, (), None, _MAP_PEERS,
              floor_passes=0, ours="map", disk_per_input_byte=2.5, smoke_size_bytes=8 * MIB),
    Benchmark("map-erase-many", "10^6 keys at random erased from a map, ten thousand at a time",
              "", 40, (), None, _MAP_PEERS, floor_passes=0, ours="map", disk_per_input_byte=2.5,
              smoke_size_bytes=8 * MIB),
    *(Benchmark(f"memory-division-{name}", about, "", 8, (), None, ("by-hand",), 640 * MIB,
                64 * MIB, floor_passes=0, ours="division", disk_per_input_byte=3.2,
                least_share_of_floor=None, smoke_size_bytes=8 * MIB) for name, about in _DIVIDED),
    Benchmark("stream-scan", "vector of u64, transformed, filtered and summed up by a flow", "", 8,
              (), None, ("by-hand",), 4 * GIB, 256 * MIB, floor_moves=("read",), ours="stream",
              disk_per_input_byte=1.1, least_share_of_floor=0.90),
    Benchmark("random-graph", "edges made, sorted, and put into a vector without repeats", "", 16,
              (), None, ("stxxl",), floor_moves=("first_write", "mixed"), ours="stream",
              disk_per_input_byte=2.2, least_share_of_floor=0.85),
    Benchmark("diamond", "pairs forked, sorted twice each way, and joined, file to file", "u64", 8,
              (), None, ("stxxl",), floor_moves=("mixed", "first_write", *["mixed"] * 4),
              ours="stream", disk_per_input_byte=7.2, least_share_of_floor=0.85),
    Benchmark("distribute", "numbers worked on by several threads, in order", "", 8, (), None,
              ("one-thread",), 1 * GIB, 256 * MIB, floor_passes=0, ours="stream",
              disk_per_input_byte=0.1, smoke_size_bytes=4 * MIB),
    Benchmark("random-input", "costly numbers made by several threads, put into a vector", "", 8,
              (), None, ("one-thread",), 4 * GIB, 256 * MIB, floor_moves=("first_write",),
              ours="stream", disk_per_input_byte=1.1),
    *_queues("pq-random", "pushed at random, and popped", "single"),
    *_queues("pq-random-bulk", "pushed at random and popped in bulks", "bulk"),
    *_queues("pq-ascending", "pushed in order, and popped", "single", least_share_of_floor=0.80),
    *_queues("pq-ascending-bulk", "pushed in order and popped in bulks", "bulk",
             least_share_of_floor=0.80),
    Benchmark("pq-monotone", "filled by push, pop, push, emptied by pop, push, pop", "", 8, (),
              None, _STXXL_QUEUES, 2 * GIB, 512 * MIB, floor_passes=0, ours="queue",
              disk_per_input_byte=2.2),
    Benchmark("pq-intermixed", "a third pushes, two thirds pops, of a full queue", "", 8, (), None,
              _STXXL_QUEUES, 2 * GIB, 512 * MIB, floor_passes=0, ours="queue",
              disk_per_input_byte=2.2),
    *_queues("pq-rbulk-rewrite", "in bulks of up to 640 000 popped and pushed behind", "rewrite",
             least_share_of_floor=0.80),
    *_queues("pq-bulk-rewrite", "in bulks of 640 000 popped and pushed behind", "rewrite",
             least_share_of_floor=0.80),
    *(Benchmark(f"mis{suffix}", f"edges made, sorted, made unique, independent set{remark}", "",
                16, (), None, ("stxxl", "stxxl-stl", "stl"), 2000 * MIB, 512 * MIB,
                floor_moves=("first_write", "read"), ours="independent-set",
                disk_per_input_byte=4.2)  # of STXXL's vector, which is doubled when it is full
      for suffix, remark in (("", ""), ("-plain", "; runs not encoded"))),
    Benchmark("matrix-multiply", "product of square matrices of doubles, each of the size", "", 8,
              (), None, (), 2 * GIB, 512 * MIB, floor_moves=("read", "read", "first_write"),
              ours="product", least_share_of_floor=0.80),
    Benchmark("bsp-sort", "random u64 sorted by 64 virtual processors, file to file", "u64", 8,
              ("--format", "u64"), None, ("sort", "one-worker", "stxxl"),
              ours="virtual-processors", without=("--run-codec", "none"),
              disk_per_input_byte=4.2),
    Benchmark("bsp-overlap", "64 virtual processors compute for as long as their memory moves", "",
              8, (), None, (), 2 * GIB, 256 * MIB, floor_passes=0, ours="virtual-processors",
              disk_per_input_byte=1.2, least_share_of_floor=0.87),
    Benchmark("bsp-workers", "64 virtual processors that compute longer than memory moves", "", 8,
              (), None, ("one-worker",), 1 * GIB, 512 * MIB, floor_passes=0,
              ours="virtual-processors", disk_per_input_byte=1.2),
    *(Benchmark(f"bsp-is{suffix}", f"integer sort in MPI, {ranks} ranks, {at_once} at a time", "",
                16, (), None, ("mmap", "mmap-in-turns"), 1 * GIB, 256 * MIB, floor_passes=0,
                ours="ranks", ranks=ranks, at_once=at_once, iterations=3, limits_all=True,
                disk_per_input_byte=2.2, smoke_size_bytes=8 * MIB, smoke_memory_bytes=24 * MIB)
      for suffix, ranks, at_once in (("", 16, 1), ("-k2", 32, 2))),
    *(Benchmark(f"bsp-memory{suffix}", f"integer sort in MPI that fits in memory{remark}", "", 16,
                (), None, ("openmpi",), 1 * GIB, 4 * GIB, floor_passes=0, ours="ranks",
                ranks=ranks, disk_per_input_byte=0.1, smoke_size_bytes=8 * MIB,
                smoke_memory_bytes=32 * MIB)
      for suffix, remark, ranks in (("", "", 0), ("-v8", ", 8 ranks", 8))),
)}
