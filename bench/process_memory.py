# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The memory of all processes that this one has started: the peak of their sum, by samples.

Shared pages count once. Files in memory (memfd) count in full, as pages may be in no mapping for a
moment; so do page tables. Pages of the page cache that nobody maps do not count.
"""

import os
import pathlib
import re
import threading
import time

from sizes import KIB

_PROC = pathlib.Path("/proc")
_LEAST_PAUSE_SECONDS = 0.05
_PAUSE_FACTOR = 20   # so that looking takes a twentieth of one processor


class ProcessMemory:
    """Takes samples while the with block lasts; peak_bytes is 0 where nothing could be read."""

    def __init__(self):
        self.peak_bytes = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over.set()
        self._thread.join()

    def _watch(self):
        pause = 0
        while not self._is_over.wait(pause):
            begin = time.monotonic()
            self.peak_bytes = max(self.peak_bytes, resident_bytes(descendants(os.getpid())))
            pause = max(_LEAST_PAUSE_SECONDS, _PAUSE_FACTOR * (time.monotonic() - begin))


def descendants(ancestor):
    """The numbers of the processes that a process has started, and those that these have."""
    found = [ancestor]
    for process in found:   # which grows meanwhile
        for thread in _entries(process, "task"):
            found += map(int, _read(process, f"task/{thread}/children").split())
    return found[1:]


def resident_bytes(processes):
    own, shared, in_memory = 0, 0, {}
    for process in processes:
        rollup = _read(process, "smaps_rollup")
        own += _field(rollup, "Pss") - _field(rollup, "Pss_Shmem")
        own += _field(_read(process, "status"), "VmPTE")
        shared += _field(rollup, "Pss_Shmem")
        in_memory.update(_files_in_memory(process))
    return own + max(shared, sum(in_memory.values()))


def _entries(process, name):
    try:
        return os.listdir(_PROC / str(process) / name)
    except OSError:
        return []


def _read(process, name):
    """Empty where the process has ended."""
    try:
        return (_PROC / str(process) / name).read_text()
    except OSError:
        return ""


def _field(text, name):
    found = re.search(rf"^{name}:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) * KIB if found else 0


def _files_in_memory(process):
    """The bytes of each memfd of a process, by its inode."""
    found = {}
    folder = _PROC / str(process) / "fd"
    for entry in _entries(process, "fd"):
        try:
            if os.readlink(folder / entry).startswith("/memfd:"):
                about = os.stat(folder / entry)
                found[about.st_ino] = about.st_blocks * 512
        except OSError:
            pass   # it was closed
    return found
