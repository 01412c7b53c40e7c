# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sorts a file of u64 with DuckDB, table to table, as a peer of the benchmarks.

    duckdb_sort.py load DATABASE FILE
    duckdb_sort.py sort DATABASE SCRATCH_DIRECTORY MEMORY_BYTES THREADS
    duckdb_sort.py check DATABASE FILE

Each step is a process of its own, so that the peak memory of `sort` is that of the sort. Only the
statement `CREATE TABLE sorted AS SELECT k FROM t ORDER BY k` is timed: loading is not, nor is the
start of the program. Both tables live in one database file. `sort` exits 3 if DuckDB says that the
memory does not suffice; the caller then tries again with more and says so. `check` reads `sorted`
in its order and holds order, count and multiset checksum against FILE. Each step prints a JSON
object.
"""

import json
import sys
import time

import duckdb
import numpy

CHUNK_ITEMS = 1 << 23


def checksum(keys):
    """The sum over all keys of a mixed key, modulo 2^64: the same for any order."""
    mixed = keys ^ (keys >> numpy.uint64(31))
    mixed *= numpy.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> numpy.uint64(29)
    mixed *= numpy.uint64(0xBF58476D1CE4E5B9)
    return int(mixed.sum(dtype=numpy.uint64))


def chunks_of_file(path):
    with open(path, "rb") as file:
        while True:
            keys = numpy.fromfile(file, dtype="<u8", count=CHUNK_ITEMS)
            if keys.size == 0:
                return
            yield keys


def load(database, path):
    connection = duckdb.connect(database)
    connection.execute("CREATE TABLE t (k UBIGINT)")
    for keys in chunks_of_file(path):
        connection.register("chunk", {"k": keys})
        connection.execute("INSERT INTO t SELECT k FROM chunk")
        connection.unregister("chunk")
    connection.execute("CHECKPOINT")
    connection.close()
    return {"version": duckdb.__version__}


def sort(database, scratch_directory, memory_bytes, threads):
    connection = duckdb.connect(database, config={
        "memory_limit": f"{memory_bytes}B",
        "threads": int(threads),
        "temp_directory": scratch_directory,
    })
    connection.execute("SET enable_progress_bar = false")
    begin = time.monotonic()
    try:
        connection.execute("CREATE TABLE sorted AS SELECT k FROM t ORDER BY k")
    except duckdb.OutOfMemoryException as failure:
        print(failure, file=sys.stderr)
        sys.exit(3)
    seconds = time.monotonic() - begin
    connection.close()
    return {"seconds": seconds, "version": duckdb.__version__}


def check(database, path):
    """Consumes the table: drops it, so that the database can be sorted again."""
    connection = duckdb.connect(database)
    count, total, ordered, last = 0, 0, True, None
    items = connection.execute("SELECT count(*) FROM sorted").fetchone()[0]
    for first in range(0, items, CHUNK_ITEMS):
        rows = connection.execute(
            "SELECT k FROM sorted WHERE rowid >= ? AND rowid < ?", [first, first + CHUNK_ITEMS])
        keys = rows.fetchnumpy()["k"]
        ordered &= bool((keys[1:] >= keys[:-1]).all())
        ordered &= last is None or bool(last <= keys[0])
        last = keys[-1]
        count += keys.size
        total += checksum(keys)
    want_count, want_total = 0, 0
    for keys in chunks_of_file(path):
        want_count += keys.size
        want_total += checksum(keys)
    connection.execute("DROP TABLE sorted")
    connection.execute("CHECKPOINT")
    connection.close()
    same = count == want_count and (total - want_total) % 2**64 == 0
    return {"verified": ordered and same, "items": count}


def main():
    steps = {"load": (load, 2), "sort": (sort, 4), "check": (check, 2)}
    if len(sys.argv) < 2 or sys.argv[1] not in steps or len(sys.argv) - 2 != steps[sys.argv[1]][1]:
        sys.exit("usage: duckdb_sort.py load|sort|check ...")
    print(json.dumps(steps[sys.argv[1]][0](*sys.argv[2:])))


if __name__ == "__main__":
    main()
