# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""A limit on the memory of a child, page cache included: a cgroup of its own."""

import os
import pathlib
import time

_ROOT = pathlib.Path("/sys/fs/cgroup")
_PEAK_FILES = {"memory.max": "memory.peak", "memory.limit_in_bytes": "memory.max_usage_in_bytes"}


class MemoryGroup:
    """Made inside this process's group by the with block, and removed at its end."""

    def __init__(self, limit_bytes):
        self._limit_bytes = limit_bytes
        parent, self._limit_file = _parent()
        self._path = parent / f"outsize-bench-{os.getpid()}-{time.monotonic_ns()}"

    @staticmethod
    def missing():
        """Why no group can be made here, or None."""
        try:
            with MemoryGroup(1 << 30):
                return None
        except OSError as failure:
            return f"a memory cgroup: {failure}"

    def __enter__(self):
        self._path.mkdir()
        try:
            (self._path / self._limit_file).write_text(str(self._limit_bytes))
        except OSError:
            self._path.rmdir()
            raise
        return self

    def __exit__(self, *_):
        for _ in range(50):  # a process that has just ended may still be counted
            try:
                return self._path.rmdir()
            except OSError:
                time.sleep(0.1)
        self._path.rmdir()

    def peak_bytes(self):
        """The most that it has had, 0 where the kernel does not tell."""
        try:
            return int((self._path / _PEAK_FILES[self._limit_file]).read_text())
        except OSError:
            return 0

    def prefix(self, command):
        """The command as one that joins the group before anything else."""
        return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', self._path / "cgroup.procs",
                *command]


def _parent():
    """The folder for a new group and the name of its file for the limit, of cgroup 2 or 1."""
    groups = dict(line.split(":", 2)[1:] for line in
                  pathlib.Path("/proc/self/cgroup").read_text().splitlines())
    for controllers, path in groups.items():
        if "memory" in controllers.split(","):
            return _ROOT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
    return _ROOT / groups.get("", "").lstrip("/"), "memory.max"
