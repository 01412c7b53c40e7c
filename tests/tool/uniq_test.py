# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize uniq` against uniq(1) of the same machine: bytes, and what is refused."""

import itertools
import os
import random
import subprocess
import unittest

from outsize_tool import ToolTest, is_gnu, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250211"))


def random_text(draw, end):
    lines = []
    for _ in range(draw.choice([0, 1, 2, 8, 300])):
        words = [bytes(draw.choice(b"abAB \t.\x80") for _ in range(draw.randrange(4)))
                 for _ in range(draw.randrange(4))]
        line = draw.choice([b" ", b"\t ", b""]).join(words)
        lines += [line] * draw.choice([1, 1, 2, 3])
    text = end.join(lines)
    return text + end if lines and draw.random() < 0.7 else text


def random_words(draw):
    words = [word for word in ("-c", "-d", "-D", "-u", "-i", "-z") if draw.random() < 0.2]
    if draw.random() < 0.2:  # before or behind -D
        word = draw.choice(["--group", "--group=both", "--group=prep", "--group=append",
                            "--all-repeated=separate", "--all-repeated=none",
                            "--all-repeated=p"])
        words.insert(draw.randrange(len(words) + 1), word)
    if draw.random() < 0.1:
        words.append("--all-repeated")
    for letter, most in (("f", 4), ("s", 5), ("w", 5)):
        if draw.random() < 0.3:
            words.append(f"-{letter}{draw.randrange(most)}")
    return words


@unittest.skipUnless(is_gnu("uniq"), "no GNU uniq to compare with")
class AgainstGnu(ToolTest):
    def assert_as_gnu(self, *words, stdin=b"", note=""):
        """The same bytes, or both refuse."""
        expected = subprocess.run(["uniq", *words], input=stdin, capture_output=True, timeout=60,
                                  env=dict(os.environ, LC_ALL="C"))
        done = self.run_tool("uniq", *words, stdin=stdin)
        said = (note, words, done.stderr, expected.stderr)
        self.assertEqual(done.returncode, 2 if expected.returncode else 0, said)
        if done.returncode == 0:
            self.assertEqual((done.stdout, done.stderr), (expected.stdout, b""), said)
        else:
            self.assertEqual(done.stderr.count(b"\n"), 1, said)

    def test_random_options_on_random_lines(self):
        print("seed", SEED, flush=True)
        for seed in range(SEED, SEED + runs(300)):
            draw = random.Random(seed)
            words = random_words(draw)
            text = random_text(draw, b"\0" if "-z" in words else b"\n")
            self.assert_as_gnu(*words, stdin=text, note=f"OUTSIZE_TEST_SEED={seed}")

    def test_refuses_what_gnu_refuses(self):
        for words in (("-fx",), ("-w", "-1"), ("-s", ""), ("--group=none",),
                      ("--all-repeated=both",), ("--all-repeated=",), ("--group=",), ("-cD",),
                      ("--group", "-c"), ("a", "b", "c"), ("-t,",), ("no-such-file",),
                      (self.folder,), ("--frobnicate",)):
            self.assert_as_gnu(*words)

    def test_the_last_way_of_showing_repeated_lines_counts(self):
        for words in (("--all-repeated=prepend", "-D"), ("-D", "--all-repeated=prepend"),
                      ("--all-repeated=separate", "--all-repeated")):
            self.assert_as_gnu(*words, stdin=b"x\nx\ny\ny\n")

    def test_accepts_large_numbers(self):
        for words in (("-f99999999999999999999",), ("-w", "99999999999999999999"), ("-s9", "-w0"),
                      ("-s", "+1"), ("-f", " 1"), ("-f", "+ 1"), ("-f", "-1"), ("-s", "1k")):
            self.assert_as_gnu(*words, stdin=b"a b\nb b\n\n")

    def test_numbers_in_the_old_notation(self):
        text = b"a 1\nb 1\nb 2\nxb 2\na b c d e f g h i j 3\nb b c d e f g h i j 3\n"
        for words in (("-1",), ("-10",), ("-1", "-0"), ("-1c0",), ("-c1",), ("-f1", "-2"),
                      ("-2", "-f1"), ("-2", "-f1", "-1"), ("-" + "9" * 30,), ("+1",), ("+0",),
                      ("-c", "+2"), ("+2", "+1"), ("-s1", "+2"), ("+2", "-s1"), ("-1", "+1"),
                      ("--", "+1"), ("--", "-1"), ("+1x",), ("+",), ("+" + "9" * 20,), ("+-1",),
                      ("+1", "-", "+2", "-c"), ("+1", "a", "b", "c")):
            self.assert_as_gnu(*words, stdin=text)


class Files(ToolTest):
    def test_input_and_output(self):
        path = self.write("in", "a\na\nb")
        out = self.path("out")
        self.assertEqual(self.output_of("uniq", path), b"a\nb\n")
        self.assertEqual(self.output_of("uniq", "-S", "2M", path, out), b"")
        self.assertEqual(self.read("out"), b"a\nb\n")
        self.output_of("uniq", "-c", path, "-o", path, "--json", self.path("report"))
        self.assertEqual(self.read("in"), b"      2 a\n      1 b\n")
        self.assertIn(b'"output_items": 2', self.read("report"))

    def test_an_error_leaves_no_output(self):
        path = self.write("in", b"a\n" * 10 + b"x" * 1_000_000)
        self.assert_refused("1000000", "uniq", "-S", "2M", path, self.path("out"))
        self.assert_refused("/no/such", "uniq", "/no/such", self.path("out"))
        self.assert_refused("-S 1M", "uniq", "-S", "1M", path, self.path("out"))
        self.assertEqual(os.listdir(self.folder), ["in"])

    def test_a_large_input_in_little_memory(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "200k", "-o", path)
        self.output_of("uniq", "-S", "2M", path, self.path("out"))
        expected = [line for line, _ in itertools.groupby(self.read("in").splitlines(True))]
        self.assertTrue(self.read("out") == b"".join(expected))


if __name__ == "__main__":
    unittest.main()
