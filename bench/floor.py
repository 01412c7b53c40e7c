# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What the disk can do in the same minute: a probe beside every run, and the floor that follows.

The floor is the time in which this disk moves the bytes that the algorithm's formula asks for, with
nothing else to do. Reading and writing compete for the device, so the probe does both at once.
"""

import json
import statistics

import child
from sizes import GIB, MIB

_FIELDS = ("read_bytes_per_second", "write_bytes_per_second", "mixed_bytes_per_second")


class Floor:
    def __init__(self, task, input_bytes):
        self._task = task
        self._input_bytes = input_bytes
        self._probe_bytes = max(8 * MIB, min(GIB, input_bytes))
        self.probes = []

    def probe(self):
        """Measures the disk now. Returns the seconds of the floor by this measurement."""
        report = self._task.directory / "disk.json"
        self._task.workplace.settle()
        child.must_run([self._task.tool, "bench", "disk", "-T", self._task.directory,
                        "--size", f"{self._probe_bytes // MIB}M", "--json", report])
        self.probes.append(json.loads(report.read_text()))
        return self._seconds(self.probes[-1]["mixed_bytes_per_second"])

    def bandwidths(self):
        """The median of each measured bandwidth, in bytes per second."""
        return {field: statistics.median(probe[field] for probe in self.probes)
                for field in _FIELDS}

    def seconds(self):
        return self._seconds(self.bandwidths()["mixed_bytes_per_second"])

    def _seconds(self, mixed_bytes_per_second):
        passes = self._task.benchmark.floor_passes
        moving = passes * self._input_bytes / mixed_bytes_per_second
        return max(moving, self._task.work_seconds)
