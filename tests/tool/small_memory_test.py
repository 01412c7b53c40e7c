# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Commands where there is little memory: in a memory group or below a limit of the process each
ends with what it writes elsewhere, or with an error that says how much is needed, and is never
killed; and where memory is named, hardly more is resident."""

import bz2
import hashlib
import json
import lzma
import os
import resource
import subprocess
import unittest

from outsize_tool import TOOL, TOOL_IS_SLOW, ToolTest

MIB = 1 << 20
GROUPS = "/sys/fs/cgroup"


def memory_folder():
    """The folder of this process's memory group, and what limits are called there."""
    with open("/proc/self/cgroup", encoding="ascii") as membership:
        rows = [line.rstrip("\n").split(":", 2) for line in membership]
    for _, controllers, group in rows:
        if "memory" in controllers.split(","):
            return GROUPS + "/memory" + group, "memory.limit_in_bytes"
    for _, controllers, group in rows:
        if controllers == "":
            return GROUPS + group, "memory.max"
    raise OSError("no memory group")


class Group:
    """A memory group inside of this process's. OSError where none can be made."""

    def __init__(self, limit):
        folder, name = memory_folder()
        self.path = f"{folder}/outsize-test-{os.getpid()}"
        os.mkdir(self.path)
        try:
            self.put(name, limit)
        except OSError:
            self.remove()
            raise

    def put(self, name, value):
        if not os.path.exists(f"{self.path}/{name}"):
            raise OSError(f"{name} cannot be set")
        with open(f"{self.path}/{name}", "w", encoding="ascii") as file:
            file.write(str(value))

    def join(self):
        self.put("cgroup.procs", os.getpid())

    def remove(self):
        os.rmdir(self.path)


class SmallMemory(ToolTest):
    def setUp(self):
        super().setUp()
        self.made = {}  # digests of outputs, by the words of commands

    def make(self, name, *words):
        self.output_of(*words, "-o", self.path(name))
        return self.path(name)

    def digest(self, name):
        with open(self.path(name), "rb") as file:
            return hashlib.md5(file.read()).digest()

    def commands(self):
        """Words of commands that are given more than their memory, or take much beside it."""
        lines = self.make("lines", "gen", "lines", "--count", "100k")
        numbers = self.make("numbers", "gen", "u64", "--count", str(1 << 20))
        with open(self.path("few"), "w", encoding="ascii") as file:
            file.writelines(f"{i * 7919 % 100_003}\n" for i in range(1_200_000))
        with lzma.open(self.path("lines.xz"), "w", preset=0) as file:
            file.write(self.read("lines")[:8 * MIB])
        with open(self.path("edges"), "w", encoding="ascii") as file:
            file.writelines(f"{i * 7919 % 100_003} {i * 104_729 % 99_991}\n"
                            for i in range(600_000))
        few, edges = self.path("few"), self.path("edges")
        return [["sort", lines], ["sort", "-u", few], ["sort", "--format=u64", numbers],
                ["sort", "--parallel=16", few], ["sort", self.path("lines.xz")], ["count", few],
                ["top", "100k", lines], ["shuffle", "--seed=1", lines],
                ["join", "--sort", "-j3", "-a1", lines, "/dev/null"], ["mis", "--verify", edges],
                ["columnsort", numbers],
                ["permute", "--bit-reversal", numbers],
                ["fft", self.make("complex", "gen", "f64", "--count", str(1 << 20))]]

    def run_limited(self, words, limit):
        """Returns the exit status and what came on stderr. The output is "out"."""
        option = "--output" if words[0] == "join" else "-o"
        done = subprocess.run(
            [TOOL, *words, option, self.path("out"),
             *([] if words[0] == "uniq" else ["-T", self.folder])],
            preexec_fn=limit, stderr=subprocess.PIPE, timeout=120, check=False)
        return done.returncode, done.stderr.decode()

    def expect_done(self, words, limit):
        if words[0] == "fft":  # its last bits depend on the memory
            self.assertEqual(self.run_limited(words, limit), (0, ""), words)
            return
        if tuple(words) not in self.made:
            self.assertEqual(self.run_limited(words, None), (0, ""), words)
            self.made[tuple(words)] = self.digest("out")
        self.assertEqual(self.run_limited(words, limit), (0, ""), words)
        self.assertEqual(self.digest("out"), self.made[tuple(words)], words)

    def expect_refused(self, words, limit):
        if os.path.exists(self.path("out")):
            os.remove(self.path("out"))
        status, message = self.run_limited(words, limit)
        self.assertEqual(status, 2, (words, message))
        self.assertRegex(message, r"^outsize [a-z]+: [^\n]*need at least [0-9.]+ MiB[^\n]*\n$")
        self.assertFalse(os.path.exists(self.path("out")))

    @unittest.skipIf(TOOL_IS_SLOW, "sanitizers take more memory than there is")
    def test_memory_groups(self):
        try:
            group = Group(16 * MIB)
        except OSError as error:
            self.skipTest(f"no memory group can be made: {error}")
        self.addCleanup(group.remove)
        for words in self.commands():
            self.expect_done(words, group.join)
        lines = self.path("lines")
        for words in (["sort"], ["uniq"], ["join", "/dev/null"]):
            self.expect_refused([*words, "--compress-output=xz", lines], group.join)
        # Short requests fill a small group with pages that the disk has not taken yet.
        long = self.make("long", "gen", "f64", "--count", str(1 << 23))
        group.put(memory_folder()[1], 8 * MIB)
        self.expect_refused(["fft", long], group.join)
        group.put(memory_folder()[1], 14 * MIB)
        self.expect_done(["fft", long], group.join)
        group.put(memory_folder()[1], 24 * MIB)
        self.expect_done(["sort", "--compress-output=xz", "--run-codec=none",
                          self.make("some", "gen", "lines", "--count", "5k")], group.join)
        for words in (["count", self.path("few")], ["sort", "--parallel=16", self.path("few")]):
            self.expect_done(words, group.join)

    @unittest.skipIf(TOOL_IS_SLOW, "sanitizers take more address space than there is")
    def test_inputs_that_are_merged_by_sorting_have_one_codec_at_a_time(self):
        few = self.write("few.bz2", bz2.compress(b"a\nb\n"))
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (400 * MIB, 400 * MIB))
        self.expect_done(["sort", "-m", *[few] * 100], limit)
        self.expect_done(["sort", "-m", "--batch-size=2", *[few] * 16], limit)

    @unittest.skipIf(TOOL_IS_SLOW, "sanitizers take more address space than there is")
    def test_limits_of_the_process(self):
        limits = ((resource.RLIMIT_AS, 256 * MIB), (resource.RLIMIT_DATA, 64 * MIB))
        lines = self.make("lines", "gen", "lines", "--count", "100k")
        for limited, most in limits:
            def limit(limited=limited, most=most):
                resource.setrlimit(limited, (most, most))
            for words in (["sort", lines], ["join", "--sort", "-j3", "-a1", lines, "/dev/null"]):
                self.expect_done(words, limit)

    def test_windows_of_inputs_are_refused_before_the_work(self):
        """Of 64 MiB, in the header of a file that is short."""
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 64 * MIB}]
        long = self.write("long.xz", lzma.compress(b"b\na\n", filters=filters))
        self.assertEqual(self.output_of("sort", "-S", "2M", long), b"a\nb\n")
        if TOOL_IS_SLOW:
            return
        try:
            group = Group(48 * MIB)
        except OSError as error:
            self.skipTest(f"no memory group can be made: {error}")
        self.addCleanup(group.remove)
        self.expect_refused(["sort", long], group.join)
        with open(long, "rb") as file:  # what a pipe holds is known when it is read
            done = subprocess.run(f"cat | {TOOL} sort", shell=True, stdin=file, check=False,
                                  preexec_fn=group.join, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"xz takes 64", done.stderr)

    @unittest.skipIf(TOOL_IS_SLOW, "a sanitizer's own memory is no part of the promise")
    def test_memory_that_is_named_is_nearly_all_that_is_resident(self):
        for words in self.commands():
            words = [word for word in words if word != "--parallel=16"]
            option = "--output" if words[0] == "join" else "-o"
            for threads, beside in ((2, 20), (1024, 40)) if words[0] == "sort" else ((1024, 40),):
                words_here = [*words, option, self.path("out"), "-S", "6M", "-T", self.folder,
                              "--parallel", str(threads), "--json", self.path("report")]
                # By a shell, as a process's peak begins with that of who has forked it.
                subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", TOOL, *words_here], check=True)
                report = json.loads(self.read("report"))
                self.assertLess(report["peak_rss_bytes"], (6 + beside) * MIB, words)
                self.assertEqual(report["threads"], min(threads, 16))


if __name__ == "__main__":
    unittest.main()
