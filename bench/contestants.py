# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The programs that are measured: outsize and its peers, each behind the same few calls.

    missing()   what is not installed, or None (of a peer: before it is made)
    is_ready()  whether it could run now without building anything (of a peer)
    prepare()   untimed, once, before the first run
    run()       one measured run on the input; returns a Measurement, verified
    entry       version, flags and remarks for the report

Every contestant gets the same input file, memory, threads and disk, and leaves nothing but what
prepare() made. Outputs are verified after each run, outside the timed region.
"""

import json
import os
import pathlib
import shutil
from dataclasses import dataclass

import child
from sizes import MIB

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PEER_SOURCES = PROJECT / "bench" / "peers"
PEER_BUILD = PROJECT / "build" / "bench-peers"
PEER_PYTHON = PROJECT / ".venv" / "bin" / "python"


@dataclass
class Task:
    """What all contestants of one benchmark are given."""
    benchmark: object
    tool: pathlib.Path
    workplace: object
    input: pathlib.Path
    memory_bytes: int
    threads: int
    work_seconds: float = 0       # what must be computed at least, where a benchmark says so
    work_rounds: int = 0

    @property
    def directory(self):
        return self.workplace.path


@dataclass
class Measurement:
    seconds: float            # of the timed region
    process_seconds: float    # from the program's start to its end
    cpu_seconds: float
    io_wait_seconds: object   # None where the program does not tell
    peak_rss_bytes: int
    read_bytes: int
    written_bytes: int
    verified: bool


def check_output(task, output):
    """Whether `output` is in order and has the items of the input; it is deleted."""
    command = [task.tool, "check", *task.benchmark.sort_flags, output, "--against", task.input]
    finished = child.run(command)
    output.unlink()
    if finished.exit_code not in (0, 1):
        raise child.ChildFailed(f"outsize check: {finished.last_words()}")
    return finished.exit_code == 0


class Ours:
    name = "outsize"

    def __init__(self, task):
        self._task = task
        self.report = {}
        self.entry = {}

    def missing(self):
        return None if self._task.tool.exists() else f"{self._task.tool}: not built"

    def prepare(self):
        task = self._task
        self.entry["version"] = child.must_run([task.tool, "--version"]).stdout.strip()
        self.entry["flags"] = " ".join(
            [*task.benchmark.words, f"-S {task.memory_bytes}b",
             f"--parallel {task.threads}"])

    def run(self):
        task = self._task
        output, report = task.directory / "outsize.out", task.directory / "outsize.json"
        task.workplace.settle(task.input)
        done = child.must_run(
            [task.tool, *task.benchmark.words, "-S", f"{task.memory_bytes}b",
             "--parallel", task.threads, "-T", task.directory, task.input, "-o", output,
             "--json", report])
        self.report = json.loads(report.read_text())
        return Measurement(
            self.report["seconds"], done.seconds, done.cpu_seconds,
            self.report["io_wait_seconds"], done.peak_rss_bytes, self.report["read_bytes"],
            self.report["written_bytes"], self.verify(output))

    def verify(self, output):
        return check_output(self._task, output)


class Involution(Ours):
    """A command that, applied to its own output, gives the input back."""

    def verify(self, output):
        task = self._task
        back = task.directory / "outsize.back"
        child.must_run([task.tool, *task.benchmark.words, "-S", f"{task.memory_bytes}b",
                        "-T", task.directory, output, "-o", back])
        same = child.run(["cmp", back, task.input]).exit_code == 0
        moved = child.run(["cmp", "-s", output, task.input]).exit_code != 0
        output.unlink()
        back.unlink()
        return same and moved


class OverlapProgram:
    """bench/programs/pipeline_overlap.cpp: how it is called and what it tells."""

    def __init__(self, task):
        self._task = task
        self.report = {}
        self.entry = {}

    @property
    def program(self):
        return self._task.tool.parent / "bench_pipeline_overlap"

    def call(self, mode, *words):
        task = self._task
        return child.run([self.program, mode, task.input, task.directory / "overlap.out",
                          task.threads, *words],
                         environment={"OUTSIZE_TMPDIR": str(task.directory)})

    def measure(self, mode):
        """One timed run in this mode, verified."""
        task = self._task
        task.workplace.settle(task.input)
        done = self.call(mode, task.work_rounds)
        if done.exit_code != 0:
            raise child.ChildFailed(f"{self.program.name} {mode}: {done.last_words()}")
        self.report = json.loads(done.stdout)
        verified = self.call("verify", task.work_rounds).exit_code == 0
        (task.directory / "overlap.out").unlink()
        return Measurement(self.report["seconds"], done.seconds, done.cpu_seconds, None,
                           done.peak_rss_bytes, self.report["read_bytes"],
                           self.report["written_bytes"], verified)


class Overlap(OverlapProgram):
    """A network of read, work and write. The work is tuned to take as long as the I/O alone."""
    name = "outsize"

    def prepare(self):
        task = self._task
        task.workplace.settle(task.input)
        done = self.call("calibrate")
        if done.exit_code != 0:
            raise child.ChildFailed(f"{self.program.name} calibrate: {done.last_words()}")
        found = json.loads(done.stdout)
        task.work_rounds, task.work_seconds = found["rounds"], found["work_seconds"]
        self.entry["flags"] = f"16 buffers of 1 MiB, {task.work_rounds} rounds of work on each word"

    def run(self):
        return self.measure("ours")


class Peer:
    """What the peers share."""

    def __init__(self, task):
        self._task = task
        self.entry = {}

    @classmethod
    def is_ready(cls):
        return cls.missing() is None


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
        source = PEER_SOURCES / "stxxl_sort.cpp"
        if cls.program.exists() and cls.program.stat().st_mtime >= source.stat().st_mtime:
            return
        PEER_BUILD.mkdir(parents=True, exist_ok=True)
        child.must_run(["g++", *cls.compile_flags, source, "-o", cls.program, "-lstxxl"])

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; stxxl::sort, "
                               f"M={self._task.memory_bytes}, linuxaio direct, "
                               f"OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        task = self._task
        data = task.directory / "stxxl.data"
        kind = "records" if task.benchmark.item_bytes == 100 else "u64"
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


class Sequential(Peer):
    """The same program on one buffer, one step after another."""
    name = "sequential"

    def __init__(self, task):
        super().__init__(task)
        self._program = OverlapProgram(task)

    @staticmethod
    def missing():
        return None  # built with the tests

    def prepare(self):
        self.entry["flags"] = "one buffer of 1 MiB: read, work, write"

    def run(self):
        return self._program.measure("sequential")


OURS = {"tool": Ours, "involution": Involution, "overlap": Overlap}
PEERS = {peer.name: peer for peer in (Gnu, Stxxl, DuckDB, Sequential)}


def processors():
    return len(os.sched_getaffinity(0))
