# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The folder on the measured disk in which a benchmark works; nothing in it outlives the run."""

import mmap
import os
import pathlib
import shutil
import tempfile
import time

from sizes import MIB, format_size

QUIET_SECONDS = 3
BYTES_BESIDE_MEMORY = 256 * MIB   # code, stacks, and what passes through the page cache


class NoSpace(Exception):
    """The disk is too small for what was asked; the message names have and need."""


class Workplace:
    """A fresh folder inside `parent`, removed with all its content at the end of the with block,
    for programs that are given so much memory. If `parent` was made for it, it goes as well."""

    def __init__(self, parent, needed_bytes, memory_bytes=0, settles=True):
        self._parent = pathlib.Path(parent)
        self._needed_bytes = needed_bytes + 64 * MIB
        self._memory_bytes = memory_bytes + BYTES_BESIDE_MEMORY
        self._settles = settles

    def __enter__(self):
        self._is_parent_ours = not self._parent.exists()
        self._parent.mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(self._parent).free
        if free_bytes < self._needed_bytes:
            raise NoSpace(f"{self._parent}: {format_size(self._needed_bytes)} needed, "
                          f"{format_size(free_bytes)} free")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="outsize-bench-", dir=self._parent))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
        if not self._is_parent_ours:
            return
        try:
            self._parent.rmdir()  # only if nothing else is there
        except OSError:
            pass

    def settle(self, *files):
        """Writes back what is dirty, empties the page cache, and touches the memory of a program:
        no run profits from another, nor suffers from what a file system still does about files
        that are gone (discarding blocks), or from memory that is the machine's by name only.

        Without the right to drop all caches, at least the pages of `files` are dropped. A smoke
        run measures nothing and leaves the machine's caches alone.
        """
        if not self._settles:
            return
        os.sync()
        time.sleep(QUIET_SECONDS)
        try:
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("1\n")
        except OSError:
            for path in files:
                descriptor = os.open(path, os.O_RDONLY)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(descriptor)
        touch_memory(self._memory_bytes)


def touch_memory(size_bytes):
    """Leaves so much free memory, half of what is free at most, that the machine really has. A
    guest may have given memory that nobody used back to its host, and whoever touches it first
    waits for the host.

    Another process does it: the peak of this one is the least that its children are said to have.
    """
    pages = max(1, min(size_bytes, _free_bytes() // 2) // mmap.PAGESIZE)
    process = os.fork()
    if process == 0:
        try:
            memory = mmap.mmap(-1, pages * mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            memory.madvise(mmap.MADV_HUGEPAGE)
            memory[::mmap.PAGESIZE] = bytes(pages)
        finally:
            os._exit(0)
    os.waitpid(process, 0)


def _free_bytes():
    return os.sysconf("SC_AVPHYS_PAGES") * mmap.PAGESIZE
