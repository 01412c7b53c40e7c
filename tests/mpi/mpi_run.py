# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""MPI programs in a folder of a test: compiled by outsize-cc, run by outsize-run."""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = pathlib.Path(os.environ.get("OUTSIZE_BIN", ROOT / "build/release/bin"))


def processes_of(program):
    """The processes that run a program."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(program):
                found.append(int(entry))
        except OSError:
            pass
    return found


def left_of(programs, disk):
    """What a run of one of the programs has left, as text; or None."""
    for _ in range(100):
        left = [pid for program in programs for pid in processes_of(program)]
        if not left:
            break
        time.sleep(0.02)
    left += os.listdir(disk)
    left += [name for name in os.listdir("/dev/shm") if "outsize" in name]
    return f"left: {left}" if left else None


def default_signals():
    """A shell's background jobs ignore SIGINT, and so would their children."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class MpiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory(prefix="outsize-test-")
        cls.folder = pathlib.Path(cls._folder.name)
        cls.disk = cls.folder / "disk"
        cls.disk.mkdir()

    @classmethod
    def tearDownClass(cls):
        cls._folder.cleanup()

    def compiled(self, name, *sources, flags=()):
        program = self.folder / name
        compiler = "outsize-c++" if sources[0].suffix == ".cpp" else "outsize-cc"
        standard = "-std=c++20" if sources[0].suffix == ".cpp" else "-std=c11"
        done = subprocess.run([BIN / compiler, standard, "-O1", *flags, *sources, "-o", program,
                               "-lm"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_ranks(self, ranks, program, *arguments, memory="64M", options=(), limit=60):
        """Runs, and returns what has ended; nothing may be left of it."""
        done = subprocess.run(
            [BIN / "outsize-run", "-v", str(ranks), "-m", memory, "-T", self.disk, *options,
             program, *map(str, arguments)],
            capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        self.assertEqual(list(self.disk.iterdir()), [])
        return done

    def output_of(self, ranks, program, *arguments, **more):
        done = self.run_ranks(ranks, program, *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


def main():
    unittest.main()


def run_tests_or(campaign, description, first_seed):
    """The tests; or, with --rounds, a campaign of random cases: its result is the exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=first_seed)
    chosen, rest = parser.parse_known_args()
    if chosen.rounds:
        sys.exit(campaign(chosen.rounds, chosen.seed))
    unittest.main(argv=sys.argv[:1] + rest)
