# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""MPI programs in a folder of a test: compiled by outsize-cc, run by outsize-run."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BIN = pathlib.Path(os.environ.get("OUTSIZE_BIN", ROOT / "build/release/bin"))


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
