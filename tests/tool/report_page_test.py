# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`--report`: every command that has it writes a page that needs no other file; refusals."""

import os
import random
import subprocess
import unittest

from html_page import whole_page
from outsize_tool import TOOL, ToolTest, some_of

class ReportPage(ToolTest):
    def setUp(self):
        super().setUp()
        chance = random.Random(6)
        lines = sorted(b"%d %d\n" % (chance.randrange(10**9), n) for n in range(60_000))
        self.sorted = self.write("sorted", b"".join(lines))
        chance.shuffle(lines)
        self.lines = self.write("lines", b"".join(lines))
        self.numbers = self.write("numbers", chance.randbytes(8 << 17))
        self.edges = self.write("edges", b"".join(
            b"%d %d\n" % (chance.randrange(50_000), chance.randrange(50_000))
            for _ in range(150_000)))
        self.out, self.page = self.path("out"), self.path("page.html")

    def commands(self):
        """Every command with --report: its words, and whether a network is sure to run."""
        spilling = ["-S", "2M", "-T", self.folder]
        return [
            (["sort", *spilling, self.lines, "-o", self.out], True),
            (["sort", self.lines, "-o", self.out], True),
            (["sort", "-m", self.sorted, self.sorted, "-o", self.out], False),
            (["sort", "--format=u64", *spilling, self.numbers, "-o", self.out], True),
            (["uniq", self.sorted, self.out], False),
            (["count", *spilling, self.lines, "-o", self.out], True),
            (["top", "10", self.lines, "-o", self.out], False),
            (["shuffle", *spilling, self.lines, "-o", self.out], True),
            (["join", "--sort", *spilling, self.lines, self.sorted, f"--output={self.out}"], True),
            (["mis", *spilling, self.edges, "-o", self.out], True),
            (["columnsort", *spilling, self.numbers, "-o", self.out], True),
            (["permute", "--bit-reversal", *spilling, self.numbers, "-o", self.out], True),
            (["fft", *spilling, self.numbers, "-o", self.out], True),
        ]

    def read_page(self):
        return whole_page(self, self.read("page.html").decode())

    def test_is_written_by_every_command(self):
        for words, has_network in some_of(self.commands()):
            self.output_of(*words, "--report", self.page)
            page = self.read_page()
            text = page.text()
            self.assertIn(f"outsize {words[0]}", text)
            for part in ("time", "passes", "threads", "Disks", "Processors", "Volume of I/O"):
                self.assertIn(part, text, words)
            # Two charts of the load; what ran too fast has none of one of them.
            self.assertGreaterEqual(page.counts["svg"], 2 if has_network else 1, words)
            if has_network:
                self.assertIn("Networks", text, words)
                self.assertIn("waits for input", text, words)
            os.remove(self.page)

    def test_has_what_ran_and_what_was_predicted(self):
        self.output_of("sort", "--format=u64", "--run-codec=none", "-S", "2M", "-T", self.folder,
                       self.numbers, "-o", self.path("elsewhere"), "--report", self.page)
        text = self.read_page().text()
        for part in ("sort, forming runs", "sort, last merge", "read input", "write runs"):
            self.assertIn(part, text)
        self.assertRegex(text, r"files, read\n1 MiB\n")
        self.assertRegex(text, r"files, written\n1 MiB\n1 MiB\n")
        self.output_of("columnsort", "-S", "2M", self.numbers, "-o", self.out, "--report",
                       self.page)
        self.assertRegex(self.read_page().text(), r"files, read\n3 MiB\n3(\.\d+)? MiB\n")

    def test_shows_names_as_they_are_and_no_markup_of_theirs(self):
        path = self.write("<b>&\"x", b"b\na\n")
        self.output_of("sort", path, "-o", self.out, "--report", self.page)
        page = self.read_page()
        self.assertNotIn("b", page.counts)
        self.assertIn(path, page.text())

    def test_goes_to_standard_output_and_into_compressed_files(self):
        text = self.output_of("sort", self.lines, "-o", self.out, "--report", "-")
        self.assertTrue(text.startswith(b"<!DOCTYPE html>"))
        self.output_of("sort", self.lines, "-o", self.out, "--report", self.path("page.html.gz"))
        self.assertTrue(self.read("page.html.gz").startswith(b"\x1f\x8b"))
        done = subprocess.run([TOOL, "sort", self.lines, "--report", "-"], capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"is both the output and --report", done.stderr)

    def test_that_would_replace_another_file_is_refused(self):
        before = sorted(os.listdir(self.folder))
        content = self.read("lines"), self.read("numbers")
        for words, _ in self.commands():
            source = next(word for word in words[1:] if word in (self.lines, self.sorted,
                                                                 self.numbers, self.edges))
            self.assert_refused("is both an input and --report", *words, "--report", source)
            self.assert_refused("is both the output and --report", *words, "--report",
                                os.path.join(self.folder, ".", "out"))
            for other in ("--json", "--trace"):
                self.assert_refused(f"is both {other} and --report", *words, "--report",
                                    self.page, other, self.page)
        self.assert_refused("is both --report and --svg", "fft", self.numbers, "-o", self.out,
                            "--report", self.page, "--svg", self.page)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual((self.read("lines"), self.read("numbers")), content)

    def test_that_cannot_be_written_costs_no_work(self):
        nowhere = self.path("no/such/page.html")
        for words, _ in self.commands():
            self.assert_refused(nowhere, *words, "--report", nowhere)
            self.assertFalse(os.path.exists(self.out), words)

    def test_that_fails_at_the_end_loses_nothing(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        for words, _ in some_of(self.commands()):
            done = self.run_tool(*words, "--report", "/dev/full")
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr.decode(), r"^outsize [^\n]*/dev/full[^\n]*\n$")
            self.assertGreater(os.path.getsize(self.out), 0, words)
            os.remove(self.out)

    def test_of_a_failed_run_does_not_appear(self):
        self.write("page.html", "old")
        self.assert_refused("/no/such", "sort", "/no/such", "--report", self.page)
        self.assert_refused("cut short", "sort", "--format=u64", self.write("odd", b"x" * 9),
                            "-o", self.out, "--report", self.page)
        self.assertEqual(self.read("page.html"), b"old")


if __name__ == "__main__":
    unittest.main()
