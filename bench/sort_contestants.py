# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sorting items of C++ types, and the peers that sort."""

import json
import pathlib
import shutil

import child
from contestant import (PEER_BUILD, PEER_PYTHON, PEER_SOURCES, PROGRAM_SOURCES, Measurement, Ours,
                        Peer, check_output, compile_peer, typed_sort)
from sizes import MIB


class TypedSort(Ours):
    """outsize::sort on items of a C++ type."""

    def prepare(self):
        super().prepare()
        self.entry["flags"] = f"outsize::sort, {self._task.benchmark.about}"

    def run(self):
        task = self._task
        output = task.directory / "outsize.out"
        task.workplace.settle(task.input)
        done = child.must_run([typed_sort(task), "sort", task.benchmark.typed, task.input, output,
                               task.memory_bytes, task.threads, task.directory])
        self.report = json.loads(done.stdout)
        return Measurement(
            self.report["seconds"], done.seconds, done.cpu_seconds,
            self.report["io_wait_seconds"], done.peak_rss_bytes, self.report["read_bytes"],
            self.report["written_bytes"], self.verify(output))


class TextSort(Ours):
    """The tool on lines of a text; the output is what GNU sort makes of it, byte for byte."""

    def prepare(self):
        super().prepare()
        task = self._task
        self._expected = task.directory / "text.expected"
        child.must_run(["sort", "-S", f"{task.memory_bytes}b", "-T", task.directory, task.input,
                        "-o", self._expected], environment={"LC_ALL": "C"})

    def verify(self, output):
        same = child.run(["cmp", "-s", output, self._expected]).exit_code == 0
        output.unlink()
        return same


class Without(Ours, Peer):
    """The tool without what the benchmark is about."""
    name = "without"

    @staticmethod
    def missing():
        return None

    @property
    def words(self):
        benchmark = self._task.benchmark
        return "sort", *benchmark.sort_flags, *benchmark.without


class Gnu(Peer):
    """GNU sort in the C locale. Writes through the page cache; the input is read from the disk."""
    name = "gnu"

    @staticmethod
    def missing():
        return None if shutil.which("sort") else "sort: not found"

    def prepare(self):
        task = self._task
        first_line = child.must_run(["sort", "--version"]).stdout.splitlines()[0]
        self.entry["version"] = first_line.split()[-1]
        self._flags = [*task.benchmark.gnu_flags, "-S", f"{task.memory_bytes}b",
                       f"--parallel={task.threads}"]
        self.entry["flags"] = "LC_ALL=C sort " + " ".join(self._flags)

    def run(self):
        task = self._task
        output = task.directory / "gnu.out"
        task.workplace.settle(task.input)
        done = child.must_run(
            ["sort", *self._flags, "-T", task.directory, task.input, "-o", output],
            environment={"LC_ALL": "C"})
        return Measurement(done.seconds, done.seconds, done.cpu_seconds, None, done.peak_rss_bytes,
                           done.read_bytes, done.written_bytes, check_output(task, output))


class Stxxl(Peer):
    """stxxl::sort in place on a copy of the input; the copy is made before the clock starts."""
    name = "stxxl"
    program = PEER_BUILD / "stxxl_sort"
    compile_flags = ("-std=c++17", "-O3", "-DNDEBUG", "-fopenmp")

    @staticmethod
    def missing():
        if not pathlib.Path("/usr/include/stxxl/sort").exists():
            return "libstxxl-dev: not installed"
        return None

    @classmethod
    def is_ready(cls):
        return cls.missing() is None and cls.program.exists()

    @classmethod
    def build(cls):
        compile_peer(cls.program, cls.compile_flags, ["stxxl"],
                     [PROGRAM_SOURCES / "typed_items.hpp"])

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; stxxl::sort, "
                               f"M={self._task.memory_bytes}, linuxaio direct, "
                               f"OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        task = self._task
        data = task.directory / "stxxl.data"
        kind = task.benchmark.typed or ("records" if task.benchmark.item_bytes == 100 else "u64")
        shutil.copyfile(task.input, data)
        task.workplace.settle(data)
        # STXXL writes its log into the working directory.
        done = child.must_run([self.program, kind, data, task.directory, task.memory_bytes],
                              cwd=task.directory,
                              environment={"OMP_NUM_THREADS": str(task.threads)})
        report = json.loads(done.stdout.splitlines()[-1])
        self.entry["version"] = report["version"]
        return Measurement(report["seconds"], done.seconds, done.cpu_seconds,
                           report["io_wait_seconds"], done.peak_rss_bytes,
                           report["read_bytes"], report["written_bytes"],
                           check_output(task, data))


class DuckDB(Peer):
    """CREATE TABLE … ORDER BY, from table to table of one database file; loading is not timed."""
    name = "duckdb"
    program = PEER_SOURCES / "duckdb_sort.py"
    least_memory_bytes = 64 * MIB   # it starts with less, and then fails in the middle of a sort

    def __init__(self, task):
        super().__init__(task)
        self._database = task.directory / "duckdb.db"
        self._memory_bytes = max(task.memory_bytes, self.least_memory_bytes)

    @staticmethod
    def missing():
        if PEER_PYTHON.exists():
            if child.run([PEER_PYTHON, "-c", "import duckdb, numpy"]).exit_code == 0:
                return None
        return f"{PEER_PYTHON}: no duckdb and numpy"

    def _step(self, *words):
        return child.run([PEER_PYTHON, self.program, *words])

    def prepare(self):
        done = self._step("load", self._database, self._task.input)
        if done.exit_code != 0:
            raise child.ChildFailed(f"duckdb load: {done.last_words()}")
        self.entry["version"] = json.loads(done.stdout)["version"]

    def run(self):
        task = self._task
        done = self._sort_with_enough_memory()
        self.entry["flags"] = (f"memory_limit={self._memory_bytes}B threads={task.threads}; "
                               "CREATE TABLE AS SELECT ORDER BY, table to table")
        if self._memory_bytes != task.memory_bytes:
            self.entry["remark"] = (f"given {self._memory_bytes} bytes of memory: "
                                    f"it cannot sort this with {task.memory_bytes}")
        checked = self._step("check", self._database, task.input)
        if checked.exit_code != 0:
            raise child.ChildFailed(f"duckdb check: {checked.last_words()}")
        return Measurement(json.loads(done.stdout)["seconds"], done.seconds, done.cpu_seconds,
                           None, done.peak_rss_bytes, done.read_bytes, done.written_bytes,
                           json.loads(checked.stdout)["verified"])

    def _sort_with_enough_memory(self):
        """Raises the limit by quarters until DuckDB can sort at all; it sticks for later runs."""
        task = self._task
        for _ in range(8):
            task.workplace.settle(self._database)
            done = self._step("sort", self._database, task.directory / "duckdb.tmp",
                              self._memory_bytes, task.threads)
            if done.exit_code == 0:
                return done
            if done.exit_code != 3:
                break
            self._memory_bytes += self._memory_bytes // 4
        raise child.ChildFailed(f"duckdb sort: {done.last_words()}")
