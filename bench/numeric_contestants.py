# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Programs on networks, and their peers."""

import json
import pathlib

import child
from contestant import PEER_BUILD, PROGRAM_SOURCES, Measurement, Ours, Peer, compile_peer
from memory_group import MemoryGroup


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
        task.work_rounds = json.loads(done.stdout)["rounds"]
        self.entry["flags"] = f"16 buffers of 2 MiB, {task.work_rounds} rounds of work on each word"

    def run(self):
        measured = self.measure("ours")
        # In the same minute, as the probe of the disk.
        alone = self.call("work", self._task.work_rounds)
        self._task.work_seconds = json.loads(alone.stdout)["work_seconds"]
        return measured


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
        self.entry["flags"] = "one buffer of 2 MiB: read, work, write"

    def run(self):
        return self._program.measure("sequential")


class StagesProgram:
    """bench/programs/pipeline_stages.cpp: the same 16 stages in three ways."""
    mode = ""
    flags = ""

    def __init__(self, task):
        self._task = task
        self.report = {}
        self.entry = {"flags": self.flags}

    def prepare(self):
        pass

    def program(self, mode):
        return [self._task.tool.parent / "bench_pipeline_stages", mode]

    def call(self, program):
        task = self._task
        return child.run([*program, task.input, task.directory / "stages.out", task.threads],
                         environment={"OUTSIZE_TMPDIR": str(task.directory)})

    def run(self):
        self._task.workplace.settle(self._task.input)
        done = self.call(self.program(self.mode))
        if done.exit_code != 0:
            raise child.ChildFailed(f"pipeline-stages, {self.name}: {done.last_words()}")
        verified = self.call(StagesProgram.program(self, "verify")).exit_code == 0
        (self._task.directory / "stages.out").unlink()
        return Measurement(json.loads(done.stdout)["seconds"], done.seconds, done.cpu_seconds,
                           None, done.peak_rss_bytes, done.read_bytes, done.written_bytes,
                           verified)


class Stages(StagesProgram):
    name = "outsize"
    mode = "ours"
    flags = "a network, 32 buffers, files through the page cache"


class Tbb(StagesProgram, Peer):
    """oneTBB's parallel_pipeline with a filter for each stage."""
    name = "tbb"
    binary = PEER_BUILD / "tbb_stages"
    compile_flags = ("-std=c++20", "-O3", "-DNDEBUG")
    flags = f"g++ {' '.join(compile_flags)}; parallel_pipeline, serial_in_order filters, 32 tokens"

    @staticmethod
    def missing():
        found = pathlib.Path("/usr/include/oneapi/tbb/parallel_pipeline.h").exists()
        return None if found else "libtbb-dev: not installed"

    @classmethod
    def is_ready(cls):
        return cls.missing() is None and cls.binary.exists()

    def prepare(self):
        compile_peer(self.binary, self.compile_flags, ["tbb"], [PROGRAM_SOURCES / "stages.hpp"])

    def program(self, mode):
        return [self.binary]


class Pipes(StagesProgram, Peer):
    """A process for each stage, pipes of 1 MiB between them."""
    name = "pipes"
    mode = "pipes"
    flags = "16 processes"

    @staticmethod
    def missing():
        return None


class Reference:
    """bench/programs/fft_reference.cpp: FFTW alone, and the values that a transform should have."""

    def __init__(self, task):
        self._task = task
        self.expected = task.directory / "fft.expected"

    def call(self, mode, *paths, run=child.run):
        task = self._task
        return run([task.tool.parent / "bench_fft_reference", mode, *paths, task.threads])

    def make_expected(self):
        if not self.expected.exists():
            self.call("memory", self._task.input, self.expected, run=child.must_run)

    def verify(self, output):
        """Whether the relative L2 error is at most 1e-13; the output is deleted."""
        done = self.call("compare", output, self.expected)
        output.unlink()
        return done.exit_code == 0, json.loads(done.stdout)["relative_error"]


class Transform(Ours):
    """outsize fft; its output is compared with what FFTW computes in memory."""

    def prepare(self):
        super().prepare()
        self._reference = Reference(self._task)
        self._reference.make_expected()

    def verify(self, output):
        good, self.entry["relative_error"] = self._reference.verify(output)
        return good


class FftwMmap(Peer):
    """FFTW on mapped files, in a memory group of the same size; the kernel moves the pages."""
    name = "fftw-mmap"
    least_group_bytes = 64 << 20  # code and stacks of the program, with a sanitizer's too

    @staticmethod
    def missing():
        return MemoryGroup.missing()

    def prepare(self):
        self._reference = Reference(self._task)
        self._reference.make_expected()
        self._group_bytes = max(self._task.memory_bytes, self.least_group_bytes)
        self.entry["flags"] = (f"FFTW_ESTIMATE, out of place, {self._task.threads} threads, files "
                               f"mapped, in a cgroup of {self._group_bytes} bytes")

    def run(self):
        task = self._task
        output = task.directory / "fftw.out"
        task.workplace.settle(task.input)
        with MemoryGroup(self._group_bytes) as group:
            done = self._reference.call("mmap", task.input, output,
                                        run=lambda words: child.must_run(group.prefix(words)))
        report = json.loads(done.stdout)
        self.entry["version"] = report["version"]
        good, self.entry["relative_error"] = self._reference.verify(output)
        return Measurement(report["seconds"], done.seconds, done.cpu_seconds, None,
                           done.peak_rss_bytes, done.read_bytes, done.written_bytes, good)
