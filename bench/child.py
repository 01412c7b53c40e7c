# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Programs run as measured children: wall time, CPU time, peak memory, bytes of I/O, output."""

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass


class ChildFailed(Exception):
    """A program that was needed ended with an error; the message is one line."""


@dataclass
class Finished:
    exit_code: int
    seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    read_bytes: int      # from storage, as the kernel accounts it to the process
    written_bytes: int
    stdout: str
    stderr: str

    def last_words(self):
        lines = [line for line in (self.stderr + "\n" + self.stdout).splitlines() if line.strip()]
        return lines[-1] if lines else "no message"


def run(command, cwd=None, environment=None):
    """Runs to the end and returns what it took, whatever the exit code."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=cwd,
                                   env={**os.environ, **(environment or {})},
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        return Finished(process.returncode, seconds, usage.ru_utime + usage.ru_stime,
                        usage.ru_maxrss * 1024, usage.ru_inblock * 512, usage.ru_oublock * 512,
                        _text_of(out), _text_of(err))


def must_run(command, cwd=None, environment=None):
    """Like run(), but an exit code other than 0 is a ChildFailed with the program's last words."""
    return succeeded(run(command, cwd, environment), command)


def succeeded(finished, command):
    """What has finished, unless its exit code is a failure of this command."""
    if finished.exit_code != 0:
        shown = " ".join(str(word) for word in command[:3])
        raise ChildFailed(f"{shown} … ended with {finished.exit_code}: {finished.last_words()}")
    return finished


def _text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")
