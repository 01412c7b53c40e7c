# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The folder on the measured disk in which a benchmark works; nothing in it outlives the run."""

import os
import pathlib
import shutil
import tempfile
import time

from sizes import MIB, format_size

QUIET_SECONDS = 3


class NoSpace(Exception):
    """The disk is too small for what was asked; the message names have and need."""


class Workplace:
    """A fresh folder inside `parent`, removed with all its content at the end of the with block."""

    def __init__(self, parent, needed_bytes, settles=True):
        self._parent = pathlib.Path(parent)
        self._needed_bytes = needed_bytes + 64 * MIB
        self._settles = settles

    def __enter__(self):
        self._parent.mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(self._parent).free
        if free_bytes < self._needed_bytes:
            raise NoSpace(f"{self._parent}: {format_size(self._needed_bytes)} needed, "
                          f"{format_size(free_bytes)} free")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="outsize-bench-", dir=self._parent))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
        try:
            self._parent.rmdir()  # only if nothing else is there
        except OSError:
            pass

    def settle(self, *files):
        """Writes back what is dirty and empties the page cache: no run profits from another, nor
        suffers from what a file system still does about files that are gone (discarding blocks).

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
