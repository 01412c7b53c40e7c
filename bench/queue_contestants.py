# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Priority queues, whose items are made by the programs themselves, and their peers."""

from container_contestants import Container, measured, run_limited
from contestant import PROGRAM_SOURCES, Peer, compile_peer
from sort_contestants import Stxxl


class QueueProgram:
    """What the programs share. Processor seconds are those of the timed part."""

    @property
    def workload(self):
        """What the programs call the benchmark: without the way of ours, and the items' length."""
        name = self._task.benchmark.name.removesuffix("-24")
        return name.removesuffix("-bulk")

    def call(self, program, words, more=(), environment=None):
        task, row = self._task, self._task.benchmark
        report, found = measured(run_limited(
            task, self.entry, [program, *words, task.size_bytes, task.memory_bytes, *more,
                               task.directory, row.item_bytes, row.bulk_items],
            environment=environment))
        found.cpu_seconds = report["cpu_seconds"]
        return report, found

    def call_ours(self, way):
        return self.call(self._task.tool.parent / "bench_priority_queues", [self.workload, way],
                         [self._task.threads])


class PriorityQueue(QueueProgram, Container):
    """bench/programs/priority_queues.cpp"""

    def run(self):
        self.report, found = self.call_ours("bulk" if self._task.benchmark.bulk_items else "single")
        return found


class OtherWay(QueueProgram, Peer):
    """The same program, which does the work another way of ours."""

    @staticmethod
    def missing():
        return None  # built with the tests

    def prepare(self):
        self.entry.update(flags=self.flags)

    def run(self):
        return self.call_ours(self.name)[1]


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
                     [PROGRAM_SOURCES / "queue_workload.hpp"], "stxxl_priority_queue")

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; half of the memory for "
                               f"buffers, linuxaio direct, OMP_NUM_THREADS={self._task.threads}")

    def run(self):
        report, found = self.call(self.program, [self.workload],
                                  environment={"OMP_NUM_THREADS": str(self._task.threads)})
        self.entry["version"] = report["version"]
        return found


class StxxlSequentialQueue(StxxlQueue):
    """The same without merging by several threads."""
    name = "stxxl-sequential"
    program = Stxxl.program.with_name("stxxl_priority_queue_sequential")
    compile_flags = (*Stxxl.compile_flags,
                     *(f"-DSTXXL_PARALLEL_PQ_MULTIWAY_MERGE_{where}=0"
                       for where in ("INTERNAL", "EXTERNAL", "DELETE_BUFFER")))
