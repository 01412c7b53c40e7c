# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Every command that the tool lists explains itself, and shows names that a terminal only shows."""

import json
import os
import re
import subprocess
import unittest

from outsize_tool import TOOL, ToolTest


class Help(ToolTest):
    def test_every_command_has_a_page(self):
        names = re.findall(r"^  (\w+) ", self.output_of("--help").decode(), re.MULTILINE)
        self.assertGreater(len(names), 10)
        for name in names:
            text = self.output_of(name, "--help").decode()
            self.assertTrue(text.startswith(f"usage: outsize {name}"), name)
            self.assert_refused("frobnicate", name, "--frobnicate")


class Names(ToolTest):
    """Names with bytes that a terminal would obey, or that are not text."""

    nasty = b"a\033[31m\x9b1m\xc2\x9b1m\xe2\x80\xae\n\r\x7fb\\z"
    shown = "a\\033[31m\\2331m\\302\\2331m\\342\\200\\256\\n\\r\\177b\\\\z"

    def setUp(self):
        super().setUp()
        self.name = self.folder.encode() + b"/" + self.nasty

    def run_with(self, *words, stdin=b"", environment=None):
        self.environment = environment or {}
        return self.run_tool(*words, stdin=stdin)

    def assert_shown(self, done, text, code=2):
        """The name as `shown` has it, and no byte in it that cannot be shown."""
        self.assertEqual(done.returncode, code, text)
        self.assertIn(self.shown, text.decode())
        self.assertEqual([c for c in text.decode() if c != "\n" and not c.isprintable()], [])

    def test_that_are_missing_or_lead_nowhere_are_shown_escaped(self):
        nowhere = self.name + b"/out"
        here = self.write("in", "a\n")
        whole = self.write("whole", bytes(64))
        for command, words in {
            "sort": (self.name,), "uniq": (self.name,), "count": (self.name,),
            "top": ("1", self.name), "shuffle": (self.name,), "join": (self.name, here),
            "mis": (self.name,),
            "check": (self.name,), "columnsort": (self.name, "-o", here),
            "permute": ("--bit-reversal", self.name, "-o", here),
            "fft": (self.name, "-o", here), "gen": ("u64", "--count=1", "-o", nowhere),
            "info": ("--quick", "-T", self.name), "bench": ("disk", "-T", self.name),
        }.items():
            done = self.run_with(*[command, *words])
            self.assert_shown(done, done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1, command)
        for words in (["sort", here, "-o", nowhere], ["sort", "--json", nowhere, here],
                      ["sort", "--trace", nowhere, here], ["sort", "--report", nowhere, here],
                      ["sort", "-T", self.name, here],
                      ["sort", "--files0-from", nowhere], ["sort", "--plan", self.name],
                      ["fft", whole, "-o", nowhere], ["check", here, "--against", nowhere]):
            done = self.run_with(*words)
            self.assert_shown(done, done.stderr)

    def test_of_what_is_wrong_with_a_file_are_shown_escaped(self):
        with open(self.name, "wb") as file:
            file.write(b'b\na\n"')
        for words in (["sort", "--csv", self.name], ["mis", self.name],
                      ["sort", "--format=u64", self.name],
                      ["join", self.name, "-"], ["columnsort", self.name, "-o", self.path("o")]):
            done = self.run_with(*words, stdin=b"x\n")
            self.assert_shown(done, done.stderr)
        done = self.run_with("sort", "-c", self.name)
        self.assert_shown(done, done.stderr, 1)

    def test_of_words_that_mean_nothing_are_shown_escaped(self):
        for words in ([self.nasty], ["sort", b"-k" + self.nasty], ["sort", b"-S" + self.nasty],
                      ["sort", b"--" + self.nasty], ["sort", b"--parallel=" + self.nasty],
                      ["top", self.nasty], ["sort", b"--compress-output=" + self.nasty],
                      ["gen", self.nasty], ["info", self.nasty],
                      ["sort", b"--format=" + self.nasty], ["shuffle", b"-n" + self.nasty],
                      ["join", b"-o" + self.nasty, "a", "b"], ["mis", b"--format=" + self.nasty]):
            done = self.run_with(*words)
            self.assert_shown(done, done.stderr)

    def test_of_disks_are_shown_escaped(self):
        done = self.run_with("sort", environment={"OUTSIZE_DISKS": b'"' + self.name + b'";'})
        self.assert_shown(done, done.stderr)
        done = self.run_with("info", "--quick", environment={"OUTSIZE_DISKS": self.name})
        self.assert_shown(done, done.stderr)

    def test_in_reports_are_shown_escaped(self):
        os.mkdir(self.name)
        with open(self.name + b"/f", "wb") as file:
            file.write(b"a\n")
        done = self.run_with("info", "--quick", "-T", self.name)
        self.assert_shown(done, done.stdout, 0)
        file = self.name + b"/f"
        done = self.run_with("check", file, "--against", file, "--json", self.path("json"))
        self.assert_shown(done, done.stdout, 0)
        report = self.read("json").decode()
        self.assertTrue(report.isascii())
        self.assertIn("a\033[31m", json.loads(report)["against"]["file"])

    def test_and_lines_of_a_disorder_are_escaped_where_somebody_reads_them(self):
        text = b"b\na\033[31m\n"
        done = self.run_with("sort", "-c", stdin=text)
        self.assertEqual(done.stderr, b"outsize sort: -:2: disorder: a\033[31m\n")
        screen, terminal = os.openpty()
        subprocess.run([TOOL, "sort", "-c"], input=text, stderr=terminal)
        os.close(terminal)
        self.assertEqual(os.read(screen, 1000), b"outsize sort: -:2: disorder: a\\033[31m\r\n")
        os.close(screen)

    def test_that_can_be_shown_stay(self):
        name = self.path("Größe 日本 'x'")
        self.assert_refused(f"{name}: cannot open", "sort", name)


if __name__ == "__main__":
    unittest.main()
