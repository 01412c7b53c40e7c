# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What the disk can do in the same minute: a probe beside every run, and the floor that follows.

The floor is the time in which this disk moves the bytes that the algorithm's formula asks for, with
nothing else to do. Reading and writing compete for the device, so the probe does both at once.
Where the algorithm decides how long requests are at least, the probe's are as long and as many.
"""

import json
import statistics

import child
from sizes import GIB, KIB, MIB

_FIELDS = ("read_bytes_per_second", "write_bytes_per_second", "mixed_bytes_per_second")
_LONGEST_REQUEST = 2 * MIB
_DEPTH = 4
_LONGEST_PROBE = 4 * GIB  # of each file; half the input, so that both fit where a run's files do


class Floor:
    def __init__(self, task, input_bytes):
        self._task = task
        self._input_bytes = input_bytes
        self._probe_bytes = max(8 * MIB, min(_LONGEST_PROBE, input_bytes // 2))
        self.probes = []       # with the longest requests
        self._seconds = []

    def probe(self, report):
        """Measures the disk now. Returns the seconds of the floor of the run with this report, 0
        where the benchmark has none."""
        speeds = {}
        for shape in [(_LONGEST_REQUEST, _LONGEST_REQUEST, _DEPTH), *self._passes(report)]:
            if shape not in speeds:
                speeds[shape] = self._probe_disk(*shape)
        self.probes.append(next(iter(speeds.values())))
        moving = sum(self._input_bytes / speed for speed in self._speeds(speeds, report))
        self._seconds.append(max(moving, self._task.work_seconds))
        return self._seconds[-1]

    def bandwidths(self):
        """The median of each measured bandwidth, in bytes per second."""
        return {field: statistics.median(probe[field] for probe in self.probes)
                for field in _FIELDS}

    def seconds(self):
        """None where the benchmark has no floor."""
        return statistics.median(self._seconds) or None

    def _speeds(self, speeds, report):
        """The speed of each move of all bytes, from those measured."""
        moves = self._task.benchmark.floor_moves
        if moves:
            return [self.probes[-1][f"{move}_bytes_per_second"] for move in moves]
        return [speeds[shape]["mixed_bytes_per_second"] for shape in self._passes(report)]

    def _passes(self, report):
        """The passes of the run: lengths of requests to read and to write, and their number."""
        told = [one for one in report.get("networks", []) if "read_request_bytes" in one]
        if not told:
            passes = self._task.benchmark.floor_passes
            return [(_LONGEST_REQUEST, _LONGEST_REQUEST, _DEPTH)] * passes
        depth = max(_DEPTH, report["queue_depth"] // 2)  # in each direction
        return [self._pass(min(one["read_request_bytes"], _LONGEST_REQUEST),
                           min(one["write_request_bytes"], _LONGEST_REQUEST), depth,
                           report.get("backend")) for one in told]

    @staticmethod
    def _pass(read_bytes, write_bytes, depth, backend):
        are_short = max(read_bytes, write_bytes) <= 64 * KIB  # docs/decisions/0044
        return read_bytes, write_bytes, depth * (8 if are_short and backend == "io_uring" else 1)

    def _probe_disk(self, read_bytes, write_bytes, depth):
        report = self._task.directory / "disk.json"
        self._task.workplace.settle()
        child.must_run([self._task.tool, "bench", "disk", "-T", self._task.directory,
                        "--size", f"{self._probe_bytes // MIB}M", "--read-block", read_bytes,
                        "--write-block", write_bytes, "--depth", depth, "--json", report])
        return json.loads(report.read_text())
