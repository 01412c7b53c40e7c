# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Maps, and their peers: programs that are called as bench/programs/map_program.hpp says."""

import pathlib
import shutil

from contestant import PEER_BUILD, PEER_SOURCES, PROGRAM_SOURCES, Ours, Peer, compile_peer
from container_contestants import measured, run_limited


class MapProgram:
    """A run fills a map and works on it. One that is kept in files is filled by a process of its
    own, and opened with cold caches by another."""
    kept_in_files = False

    def call(self, name):
        """Runs the program, for a benchmark or to fill the map, on the contestant's folder."""
        task = self._task
        inputs = [task.input] if task.benchmark.input_program else []
        return run_limited(task, self.entry,
                           [self.binary, name, task.size_bytes, task.memory_bytes, task.threads,
                            self.folder, *inputs],
                           [*inputs, *self.folder.iterdir()])

    @property
    def folder(self):
        return self._task.directory / f"{self.name}-map"

    def run(self):
        benchmark = self._task.benchmark
        self.folder.mkdir()
        try:
            if self.kept_in_files and not benchmark.input_program:
                with_room = benchmark.name.startswith("map-insert")
                self.call("map-fill-with-room" if with_room else "map-fill")
            self.report, found = measured(self.call(benchmark.name))
        finally:
            shutil.rmtree(self.folder)
        return found


class Map(MapProgram, Ours):
    """bench/programs/maps.cpp"""
    kept_in_files = True

    @property
    def binary(self):
        return self._task.tool.parent / "bench_maps"

    def prepare(self):
        Ours.prepare(self)
        self.entry["flags"] = self._task.benchmark.about


class MapPeer(MapProgram, Peer):
    """bench/peers/NAME_map.cpp"""
    compile_flags = ("-std=c++17", "-O3", "-DNDEBUG")
    headers = (*PROGRAM_SOURCES.glob("map_*.hpp"), PEER_SOURCES / "big_endian.hpp")
    package = ""      # of Debian
    header = ""       # of that package
    linked = ""      # the library
    how = ""

    @classmethod
    def missing(cls):
        installed = pathlib.Path("/usr/include", cls.header).exists()
        return None if installed else f"{cls.package}: not installed"

    @classmethod
    def is_ready(cls):
        return cls.missing() is None and cls.program().exists()

    @classmethod
    def program(cls):
        return PEER_BUILD / f"{cls.name}_map"

    @property
    def binary(self):
        return self.program()

    def prepare(self):
        compile_peer(self.program(), self.compile_flags, [self.linked], self.headers)
        self.entry["flags"] = f"g++ {' '.join(self.compile_flags)}; {self.how}"

    def run(self):
        found = super().run()
        self.entry["version"] = self.report["version"]
        return found


class StxxlMap(MapPeer):
    name, package, header, linked = "stxxl", "libstxxl-dev", "stxxl/map", "stxxl"
    compile_flags = (*MapPeer.compile_flags, "-fopenmp")
    how = "nodes and leaves of 32 KiB, direct I/O by system calls"


class BerkeleyDb(MapPeer):
    name, package, header, linked = "bdb", "libdb5.3-dev", "db.h", "db-5.3"
    kept_in_files = True
    how = "B-tree, pages of 4 KiB, no transactions"


class Lmdb(MapPeer):
    name, package, header, linked = "lmdb", "liblmdb-dev", "lmdb.h", "lmdb"
    kept_in_files = True
    how = "MDB_NOSYNC until the end, MDB_APPEND in bulk, MDB_NORDAHEAD at random"


class RocksDb(MapPeer):
    name, package, header, linked = "rocksdb", "librocksdb-dev", "rocksdb/db.h", "rocksdb"
    kept_in_files = True
    how = "no compression, no log, direct I/O, files ingested in bulk"
