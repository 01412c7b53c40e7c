# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Priority queues, whose items are made by the programs themselves, and their peers."""

from container_contestants import Container, measured, run_limited
from contestant import PROGRAM_SOURCES, Peer, compile_peer
from sort_contestants import Stxxl


class QueueProgram:
    """What the programs share. Processor seconds are those of the timed part."""

    def call(self, program, name, rest, environment=None):
        task = self._task
        report, found = measured(run_limited(
            task, self.entry, [program, name, task.size_bytes, task.memory_bytes, *rest,
                               task.directory], environment=environment))
        found.cpu_seconds = report["cpu_seconds"]
        return report, found

    def call_ours(self, name):
        return self.call(self._task.tool.parent / "bench_priority_queues", name,
                         [self._task.threads])


class PriorityQueue(QueueProgram, Container):
    """bench/programs/priority_queues.cpp"""

    def run(self):
        self.report, found = self.call_ours(self._task.benchmark.name)
        return found


class OtherWay(QueueProgram, Peer):
    """The same program, which does the work another way of ours."""

    @staticmethod
    def missing():
        return None  # built with the tests

    def prepare(self):
        self.entry.update(flags=self.flags)

    def run(self):
        return self.call_ours(f"{self._task.benchmark.name}-{self.name}")[1]


class SorterForQueue(OtherWay):
    """Our sorter, filled and then emptied."""
    name = "sorter"
    flags = "outsize::sorter"


class SingleItems(OtherWay):
    """Our queue, with a call for each item."""
    name = "single"
    flags = "outsize::priority_queue, push and pop"


class StxxlQueue(QueueProgram, Stxxl):
    """bench/peers/stxxl_priority_queue.cpp"""
    program = Stxxl.program.with_name("stxxl_priority_queue")

    @classmethod
    def build(cls):
        compile_peer(cls.program, cls.compile_flags, ["stxxl"],
                     [PROGRAM_SOURCES / "queue_workload.hpp"])

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; half of the memory for "
                               f"buffers, linuxaio direct, OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        report, found = self.call(self.program, self._task.benchmark.name.removesuffix("-bulk"),
                                  [], {"OMP_NUM_THREADS": str(self._task.threads)})
        self.entry["version"] = report["version"]
        return found
