# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Containers, whose items are made by the programs themselves, and their peers."""

import contextlib
import json

import child
from contestant import Measurement, Ours, Peer
from memory_group import MemoryGroup
from sizes import MIB, format_size
from sort_contestants import Stxxl
from workplace import BYTES_BESIDE_MEMORY

LEAST_MEMORY_OF_TEN_DIVISIONS = 64 * MIB    # below it, two are tried: smoke runs
BYTES_BESIDE_BUDGET = 64 * MIB              # resident at most, with a storage's memory


def run_limited(task, entry, command, files=(), environment=None, limit_bytes=None,
                watch=contextlib.nullcontext()):
    """Runs a program in a memory group of the task's memory and a little more, or of
    `limit_bytes`, where one can be made, with cold caches in any case, of `files` at least. The
    entry says which. Its working folder is the task's. `watch` is entered while it runs."""
    limit_bytes = limit_bytes or task.memory_bytes + BYTES_BESIDE_MEMORY
    missing = MemoryGroup.missing()
    task.workplace.settle(*files)
    if missing:
        entry["memory_limit"] = f"none, caches dropped before: no {missing}"
        with watch:
            return child.must_run(command, task.directory, environment)
    entry["memory_limit"] = f"a cgroup of {format_size(limit_bytes)}, page cache included"
    with MemoryGroup(limit_bytes) as group, watch:
        return child.succeeded(child.run(group.prefix(command), task.directory, environment),
                               command)


def measured(done):
    """The measurement that a program has printed on its last line, and what else it said."""
    report = json.loads(done.stdout.splitlines()[-1])
    return report, Measurement(report["seconds"], done.seconds, done.cpu_seconds,
                               report["io_wait_seconds"], done.peak_rss_bytes,
                               report["read_bytes"], report["written_bytes"], report["verified"],
                               report.get("phase_seconds", {}))


class Container(Ours):
    """bench/programs/containers.cpp"""

    def prepare(self):
        super().prepare()
        self.entry["flags"] = self._task.benchmark.about

    def run(self):
        task = self._task
        self.report, found = measured(run_limited(
            task, self.entry, [task.tool.parent / "bench_containers", task.benchmark.name,
                               task.size_bytes, task.memory_bytes, task.threads, task.directory]))
        task.work_seconds = self.report["work_seconds"]
        return found


class Product(Container):
    """bench/programs/matrix_product.cpp, which cannot be faster than its kernel in memory."""

    def run(self):
        task = self._task
        program = task.tool.parent / "bench_matrix_product"
        self.report, found = measured(run_limited(
            task, self.entry, [program, "product", task.size_bytes, task.memory_bytes,
                               task.threads, task.directory]))
        alone = child.must_run([program, "kernel", task.size_bytes, task.threads])
        task.work_seconds = json.loads(alone.stdout)["work_seconds"]
        return found


class Division(Container):
    """bench/programs/memory_division.cpp, with no word about memory."""

    def call(self, how):
        task = self._task
        scenario = task.benchmark.name.removeprefix("memory-division-")
        return measured(run_limited(
            task, self.entry, [task.tool.parent / "bench_memory_division", scenario, how,
                               task.size_bytes, task.memory_bytes, task.threads,
                               task.directory]))

    def run(self):
        self.report, found = self.call("auto")
        found.verified &= found.peak_rss_bytes <= self._task.memory_bytes + BYTES_BESIDE_BUDGET
        return found


class ByHand(Peer):
    """The same with figures by hand: the fastest of ten divisions, of a graph of twenty, of those
    that fit."""
    name = "by-hand"

    @staticmethod
    def missing():
        return None  # built with the tests

    def prepare(self):
        self._division = Division(self._task)
        is_graph = self._task.benchmark.name == "memory-division-graph"
        self.percents = range(5, 100, 5 if is_graph else 10)    # of the memory, for the sorters
        if self._task.memory_bytes < LEAST_MEMORY_OF_TEN_DIVISIONS:
            self.percents = (35, 65)

    def run(self):
        found = {}
        for percent in self.percents:
            try:
                found[percent] = self._division.call(str(percent))[1]
            except child.ChildFailed as failure:
                last = failure
        if not found:
            raise last
        best = min(found, key=lambda percent: found[percent].seconds)
        self.entry["flags"] = f"{best} % for the sorters, of {', '.join(map(str, found))}"
        return found[best]


class StxxlContainer(Stxxl):
    """bench/peers/stxxl_containers.cpp"""
    program = Stxxl.program.with_name("stxxl_containers")
    behaviour = ()      # of a stack, if not the default

    def prepare(self):
        self.build()
        self.entry["flags"] = (f"g++ {' '.join(self.compile_flags)}; "
                               f"{', '.join((*self.behaviour, 'linuxaio direct'))}")

    def run(self):
        task = self._task
        report, found = measured(run_limited(  # it writes its log into the working folder
            task, self.entry, [self.program, task.benchmark.name, task.size_bytes, task.directory,
                               *self.behaviour]))
        self.entry["version"] = report["version"]
        return found


class StxxlNormal(StxxlContainer):
    """Its stack that overlaps nothing."""
    name = "stxxl-normal"
    behaviour = ("normal",)


class StxxlGrowShrink(StxxlContainer):
    """Its stack that reads and writes pages behind the one at work."""
    name = "stxxl-grow-shrink"
    behaviour = ("grow-shrink",)
