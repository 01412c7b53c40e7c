# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Independent sets of random graphs, which the programs make themselves, and their peers."""

from container_contestants import Container, measured, run_limited
from contestant import PROGRAM_SOURCES, Peer, compile_peer
from sort_contestants import Stxxl


class SetProgram:
    """What the programs share. Processor seconds are those of the timed part."""

    def call(self, program, way, more=(), environment=None):
        task = self._task
        report, found = measured(run_limited(
            task, self.entry, [program, way, task.size_bytes, task.memory_bytes, *more,
                               task.directory], environment=environment))
        found.cpu_seconds = report["cpu_seconds"]
        self.entry["members"] = report["members"]
        return report, found

    def call_ours(self, way):
        return self.call(self._task.tool.parent / "bench_independent_set", way,
                         [self._task.threads])


class IndependentSet(SetProgram, Container):
    """bench/programs/independent_set.cpp, pipelined"""

    def run(self):
        self.report, found = self.call_ours(
            "plain" if self._task.benchmark.name == "mis-plain" else "pipelined")
        return found


class StlSet(SetProgram, Peer):
    """The same program with the edges in a vector."""
    name = "stl"

    @staticmethod
    def missing():
        return None  # built with the tests

    def prepare(self):
        self.entry.update(flags="edges in a vector: outsize::sort, outsize::unique")

    def run(self):
        return self.call_ours("stl")[1]


class StxxlSet(SetProgram, Stxxl):
    """bench/peers/stxxl_independent_set.cpp"""
    program = Stxxl.program.with_name("stxxl_independent_set")
    way = "pipelined"

    @classmethod
    def build(cls):
        compile_peer(cls.program, cls.compile_flags, ["stxxl"],
                     [PROGRAM_SOURCES / f"{name}.hpp" for name in
                      ("independent_set_workload", "flow_items", "queue_workload")])

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; {self.way}, linuxaio direct, "
                               f"OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        report, found = self.call(self.program, self.way, environment={
            "OMP_NUM_THREADS": str(self._task.threads)})
        self.entry["version"] = report["version"]
        return found


class StxxlStlSet(StxxlSet):
    """Its layer in the style of the STL."""
    name = "stxxl-stl"
    way = "stl"
