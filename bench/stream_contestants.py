# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Flows and graphs, and the same with STXXL's stream layer, by hand and with one thread."""

import child
from container_contestants import Container, measured, run_limited
from contestant import PROGRAM_SOURCES, Peer, compile_peer
from sort_contestants import Stxxl


class FlowProgram:
    """What the programs share. Processor seconds are those of the timed part."""

    @property
    def streams(self):
        return self._task.tool.parent / "bench_streams"

    def call(self, program, name, threads=(), environment=None):
        """Runs a program. Where there is an input there is an output, which is checked against it
        and deleted."""
        task = self._task
        files = ([task.input, task.directory / f"{self.name}.out"]
                 if task.benchmark.generator else [])
        report, found = measured(run_limited(
            task, self.entry, [program, name, task.size_bytes, task.memory_bytes, *threads,
                               task.directory, *files], files[:1], environment))
        found.cpu_seconds = report["cpu_seconds"]
        if files:
            found.verified &= child.run([self.streams, "check", *files]).exit_code == 0
            files[1].unlink(missing_ok=True)
        return report, found


class Stream(FlowProgram, Container):
    """bench/programs/streams.cpp"""

    def run(self):
        self.report, found = self.call(self.streams, self._task.benchmark.name,
                                       [self._task.threads])
        return found


class LoopByHand(FlowProgram, Peer):
    """The same program with a loop in place of the flow."""
    name = "by-hand"
    flags = "a loop over the pages that a vector_reader shows"

    @staticmethod
    def missing():
        return None  # built with the tests

    @property
    def threads(self):
        return self._task.threads

    def prepare(self):
        self.entry.update(flags=self.flags)

    def run(self):
        return self.call(self.streams, f"{self._task.benchmark.name}-{self.name}",
                         [self.threads])[1]


class OneThreadFlow(LoopByHand):
    """The same flow without parallel(), with one thread."""
    name = "one-thread"
    flags = "the flow without parallel()"
    threads = 1

    def prepare(self):
        self.entry.update(flags=self.flags, threads=self.threads)


class StxxlStream(FlowProgram, Stxxl):
    """bench/peers/stxxl_streams.cpp"""
    program = Stxxl.program.with_name("stxxl_streams")

    @classmethod
    def build(cls):
        compile_peer(cls.program, cls.compile_flags, ["stxxl"],
                     [PROGRAM_SOURCES / "flow_items.hpp"])

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; stxxl::stream, linuxaio "
                               f"direct, OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        report, found = self.call(self.program, self._task.benchmark.name, environment={
            "OMP_NUM_THREADS": str(self._task.threads)})
        self.entry["version"] = report["version"]
        return found
