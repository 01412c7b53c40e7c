# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Containers, whose items are made by the programs themselves, and their peers."""

import json

import child
from contestant import Measurement, Ours, Peer
from sort_contestants import Stxxl


def measured(done):
    """The measurement that a program has printed on its last line, and what else it said."""
    report = json.loads(done.stdout.splitlines()[-1])
    return report, Measurement(report["seconds"], done.seconds, done.cpu_seconds,
                               report["io_wait_seconds"], done.peak_rss_bytes,
                               report["read_bytes"], report["written_bytes"], report["verified"])


class Container(Ours):
    """bench/programs/containers.cpp"""

    def prepare(self):
        super().prepare()
        self.entry["flags"] = self._task.benchmark.about

    def run(self):
        task = self._task
        task.workplace.settle()
        self.report, found = measured(child.must_run(
            [task.tool.parent / "bench_containers", task.benchmark.name, task.size_bytes,
             task.memory_bytes, task.threads, task.directory]))
        return found


class StxxlContainer(Stxxl):
    """bench/peers/stxxl_containers.cpp"""
    program = Stxxl.program.with_name("stxxl_containers")

    def prepare(self):
        self.build()
        self.entry["flags"] = f"g++ {' '.join(self.compile_flags)}; linuxaio direct"

    def run(self):
        task = self._task
        task.workplace.settle()
        done = child.must_run(
            [self.program, task.benchmark.name, task.size_bytes, task.directory],
            cwd=task.directory)  # where it writes its log
        report, found = measured(done)
        self.entry["version"] = report["version"]
        return found
