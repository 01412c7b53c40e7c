# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Virtual processors: fibers of a program of ours, ranks of an MPI program, and their peers."""

import os
import re
import shutil

import child
from container_contestants import measured, run_limited
from contestant import PROJECT, Measurement, Ours, Peer
from process_memory import ProcessMemory
from sizes import MIB
from sort_contestants import Without


# ---- fibers ----

class VirtualProcessors(Ours):
    """bench/programs/virtual_processors.cpp"""
    programs = ("bench_virtual_processors",)

    @property
    def workers(self):
        task = self._task  # of processors that read and write files, one waits for a disk
        return task.threads + 1 if task.benchmark.generator else task.threads

    def prepare(self):
        super().prepare()
        self.entry["flags"] = f"{self._task.benchmark.about}; {self.workers} workers"

    def run(self):
        task = self._task
        output = task.directory / f"{self.name}.out"
        files = [task.input] if task.benchmark.generator else []
        task.workplace.settle(*files)
        self.report, found = measured(child.must_run(
            [task.tool.parent / self.programs[0], task.benchmark.name, task.size_bytes,
             task.memory_bytes, self.workers, task.directory,
             *((task.input, output) if files else ())]))
        if files:
            found.verified &= self.verify(output)
        task.work_seconds = self.report["work_seconds"]
        return found


class OneWorker(VirtualProcessors, Peer):
    """The same with one virtual processor at a time, and one thread."""
    name = "one-worker"
    workers = 1

    @staticmethod
    def missing():
        return None  # built with the tests


class PlainSort(Without):
    """The tool's sort of the same file, whose runs are not encoded either."""
    name = "sort"


# ---- ranks ----

class IntegerSort:
    """examples/mpi/integer_sort.c: all that ours and the peers share. The ranking is timed, as in
    the NAS benchmark; the program verifies it."""
    source = PROJECT / "examples/mpi/integer_sort.c"
    compile_flags = ("-std=c11", "-O2")
    most_bytes_per_key = 16   # three arrays, the counts of values (one for 16 keys), and room
    resolution_seconds = 0.001
    least_group_bytes = 96 * MIB   # of smoke runs: the processes by themselves take some memory

    @property
    def ranks(self):
        return self._task.benchmark.ranks or self._task.threads

    @property
    def group_bytes(self):
        """The limit of all memory together; None where the benchmark has none of its own."""
        if self._task.benchmark.limits_all:
            return max(self._task.memory_bytes, self.least_group_bytes)
        return None

    def compile(self, compiler):
        task = self._task
        self._program = task.directory / f"{self.name}-integer-sort"
        child.must_run([compiler, *self.compile_flags, self.source, "-o", self._program, "-lm"])
        self._words = [(task.size_bytes // self.most_bytes_per_key).bit_length() - 1,
                       task.benchmark.iterations]
        self.entry["flags"] = (f"{os.path.basename(compiler)} {' '.join(self.compile_flags)}; "
                               f"{' '.join(map(str, self.launcher()))} integer_sort "
                               f"{' '.join(map(str, self._words))}")

    def run(self):
        memory = ProcessMemory()
        done = run_limited(self._task, self.entry, [*self.place(), self._program, *self._words],
                           limit_bytes=self.group_bytes, watch=memory)
        said = re.search(r"ranking took ([\d.]+) s", done.stderr)
        seconds = max(float(said[1]), self.resolution_seconds)
        return Measurement(seconds, done.seconds, done.cpu_seconds, None, memory.peak_bytes,
                           done.read_bytes, done.written_bytes,
                           done.stdout.endswith("\nverified\n"))


class Ranks(IntegerSort, Ours):
    """outsize-run"""
    programs = ("outsize-run", "outsize-cc")
    bytes_beside_plan = 8 * MIB   # of the group: the engine, tables of pages, code

    @property
    def at_once(self):
        return min(self._task.benchmark.at_once or self._task.threads, self.ranks)

    def prepare(self):
        super().prepare()
        self.compile(self._task.tool.parent / "outsize-cc")

    def launcher(self):
        told_bytes = self._task.memory_bytes
        if self.group_bytes:
            told_bytes = min(told_bytes, self.group_bytes - self.bytes_beside_plan)
        return ["outsize-run", f"-v{self.ranks}", f"-k{self.at_once}", f"-m{told_bytes}"]

    def place(self):
        folder = self._task.directory
        return [self._task.tool.parent / "outsize-run", *self.launcher()[1:], "-T", folder]


class MappedInTurns(Ranks, Peer):
    """The same with arenas that are files: the kernel decides which pages are in memory."""
    name = "mmap-in-turns"

    @staticmethod
    def missing():
        return None  # built with the tests

    def launcher(self):
        return [*super().launcher(), "--swap=mmap"]


class Mapped(MappedInTurns):
    """All ranks compute at the same time, as under any other MPI."""
    name = "mmap"

    @property
    def at_once(self):
        return self.ranks


class OpenMpi(IntegerSort, Peer):
    """Ranks of Open MPI, by its shared memory."""
    name = "openmpi"

    @staticmethod
    def missing():
        absent = [name for name in ("mpicc.openmpi", "mpirun.openmpi") if not shutil.which(name)]
        return f"{absent[0]}: not installed" if absent else None

    def prepare(self):
        version = child.must_run(["mpirun.openmpi", "--version"]).stdout.splitlines()[0]
        self.entry["version"] = version.split()[-1]
        self.compile("mpicc.openmpi")

    def launcher(self):
        crowd = self.ranks > len(os.sched_getaffinity(0))
        return ["mpirun.openmpi", *(["--allow-run-as-root"] if os.geteuid() == 0 else []),
                *(["--oversubscribe"] if crowd else []), "-n", self.ranks]

    def place(self):
        return self.launcher()
