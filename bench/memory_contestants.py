# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sorting what fits in memory: bench/programs/memory_sort.cpp, which is ours and the peers."""

import json

import child
from contestant import Measurement, Ours, Peer, check_output


class MemorySort:
    """One way of sorting a file's items in memory. Only the sorting is timed."""
    mode = ""

    def __init__(self, task):
        self._task = task
        self.report = {}
        self.entry = {"threads": self.threads, "flags": self.flags}

    @property
    def threads(self):
        return 1

    @property
    def flags(self):
        return f"from items to items, {self.threads} threads"

    def prepare(self):
        pass

    def run(self):
        task = self._task
        output = task.directory / f"{self.name}.out"
        task.workplace.settle(task.input)
        done = child.must_run([task.tool.parent / "bench_memory_sort", self.mode, task.input,
                               output, task.memory_bytes, self.threads, task.directory])
        self.report = json.loads(done.stdout)
        return Measurement(self.report["seconds"], done.seconds, done.cpu_seconds, None,
                           done.peak_rss_bytes, done.read_bytes, done.written_bytes,
                           check_output(task, output))


class OurMemorySort(MemorySort, Ours):
    """outsize::sort from a vector to that vector."""
    mode = "outsize"

    @property
    def threads(self):
        return self._task.threads


class OneThread(MemorySort, Peer):
    """The same with one thread."""
    name = "one-thread"
    mode = "outsize"
    flags = "outsize with one thread"

    @staticmethod
    def missing():
        return None  # built with the tests


class StandardSort(MemorySort, Peer):
    """std::sort."""
    name = "std"
    mode = "std"
    flags = "std::sort, compiled with the flags of outsize"

    @staticmethod
    def missing():
        return None
