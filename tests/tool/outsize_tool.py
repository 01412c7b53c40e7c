# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What the black-box tests share: running the tool, and a scratch folder for each test."""

import os
import random
import shutil
import subprocess
import tempfile
import unittest

TOOL = os.environ.get("OUTSIZE_TOOL", "build/release/bin/outsize")
TOOL_IS_SLOW = "OUTSIZE_TOOL_IS_SLOW" in os.environ


def runs(most):
    """How often a test runs the tool with random input: less if that has sanitizers in it."""
    return (most + 4) // 5 if TOOL_IS_SLOW else most


def some_of(cases):
    """All cases, or every fifth from a random one on if the tool has sanitizers in it."""
    return cases[random.randrange(5)::5] if TOOL_IS_SLOW else cases


def is_gnu(program):
    """Whether this machine has GNU's version of the program, to compare with."""
    if shutil.which(program) is None:
        return False
    done = subprocess.run([program, "--version"], capture_output=True)
    return done.stdout.startswith(f"{program} (GNU coreutils)".encode())


class ToolTest(unittest.TestCase):
    """Runs the tool in the C locale; every test has an empty folder that goes with it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="outsize-tool-test.")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        """Writes bytes (or text as UTF-8) and returns the path."""
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    environment = {}  # of the tool, beside this process's

    def run_tool(self, *words, stdin=b"", user=None):
        """Returns the finished process: returncode, stdout and stderr as bytes."""
        return subprocess.run(
            [TOOL, *(word if isinstance(word, bytes) else str(word) for word in words)],
            input=stdin,
            capture_output=True,
            timeout=120,
            env=dict(os.environ, LC_ALL="C", **self.environment),
            user=user,
        )

    def output_of(self, *words, stdin=b""):
        """Returns stdout of a run that must succeed in silence."""
        done = self.run_tool(*words, stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        return done.stdout

    def assert_refused(self, mention, *words, stdin=b""):
        """Exit code 2, nothing on stdout, one line on stderr that has `mention` in it."""
        done = self.run_tool(*words, stdin=stdin)
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (2, b""), (words, message))
        self.assertIn(mention, message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertTrue(message.startswith("outsize"), message)
