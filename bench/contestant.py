# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What is measured: outsize and its peers, each behind the same few calls.

    missing()   what is not installed, or None (of a peer: before it is made)
    is_ready()  whether it could run now without building anything (of a peer)
    prepare()   untimed, once, before the first run
    run()       one measured run on the input; returns a Measurement, verified
    entry       version, flags and remarks for the report

Every contestant gets the same input file, memory, threads and disk, and leaves nothing but what
prepare() made. Outputs are verified after each run, outside the timed region.
"""

import json
import pathlib
from dataclasses import dataclass, field

import child

PROJECT = pathlib.Path(__file__).resolve().parent.parent
PEER_SOURCES = PROJECT / "bench" / "peers"
PROGRAM_SOURCES = PROJECT / "bench" / "programs"
PEER_BUILD = PROJECT / "build" / "bench-peers"
PEER_PYTHON = PROJECT / ".venv" / "bin" / "python"


@dataclass
class Task:
    """What all contestants of one benchmark are given."""
    benchmark: object
    tool: pathlib.Path
    workplace: object
    input: pathlib.Path       # where there is one
    size_bytes: int           # as asked for
    memory_bytes: int
    threads: int
    work_seconds: float = 0       # what must be computed at least, where a benchmark says so
    work_rounds: int = 0

    @property
    def directory(self):
        return self.workplace.path


@dataclass
class Measurement:
    seconds: float            # of the timed region
    process_seconds: float    # from the program's start to its end
    cpu_seconds: float
    io_wait_seconds: object   # None where the program does not tell
    peak_rss_bytes: int
    read_bytes: int
    written_bytes: int
    verified: bool
    phase_seconds: dict = field(default_factory=dict)   # by name, where the program tells


def typed_sort(task):
    """bench/programs/typed_sort.cpp, which sorts and checks items of C++ types."""
    return task.tool.parent / "bench_typed_sort"


def check_output(task, output):
    """Whether `output` is in order and has the items of the input; it is deleted."""
    command = [task.tool, "check", *task.benchmark.sort_flags, output, "--against", task.input]
    if task.benchmark.typed:
        command = [typed_sort(task), "check", task.benchmark.typed, task.input, output]
    finished = child.run(command)
    output.unlink()
    if finished.exit_code not in (0, 1):
        raise child.ChildFailed(f"{command[0].name} check: {finished.last_words()}")
    return finished.exit_code == 0


class Ours:
    name = "outsize"

    def __init__(self, task):
        self._task = task
        self.report = {}
        self.entry = {}

    @property
    def words(self):
        return self._task.benchmark.words

    def missing(self):
        return None if self._task.tool.exists() else f"{self._task.tool}: not built"

    def prepare(self):
        task = self._task
        self.entry["version"] = child.must_run([task.tool, "--version"]).stdout.strip()
        self.entry["flags"] = " ".join(
            [*self.words, f"-S {task.memory_bytes}b",
             f"--parallel {task.threads}"])

    def run(self):
        task = self._task
        output, report = task.directory / "outsize.out", task.directory / "outsize.json"
        task.workplace.settle(task.input)
        done = child.must_run(
            [task.tool, *self.words, "-S", f"{task.memory_bytes}b",
             "--parallel", task.threads, "-T", task.directory, task.input, "-o", output,
             "--json", report])
        self.report = json.loads(report.read_text())
        return Measurement(
            self.report["seconds"], done.seconds, done.cpu_seconds,
            self.report["io_wait_seconds"], done.peak_rss_bytes, self.report["read_bytes"],
            self.report["written_bytes"], self.verify(output))

    def verify(self, output):
        return check_output(self._task, output)


def compile_peer(program, flags, libraries, headers=(), source=None):
    """Compiles bench/peers/NAME.cpp to the program of that name, or SOURCE.cpp there, unless the
    program is newer."""
    source = PEER_SOURCES / f"{source or program.name}.cpp"
    newest = max(file.stat().st_mtime for file in (source, *headers))
    if program.exists() and program.stat().st_mtime >= newest:
        return
    program.parent.mkdir(parents=True, exist_ok=True)
    child.must_run(["g++", *flags, source, "-o", program,
                    *(f"-l{library}" for library in libraries)])


class Peer:
    """What the peers share."""

    def __init__(self, task):
        self._task = task
        self.entry = {}

    @classmethod
    def is_ready(cls):
        return cls.missing() is None
