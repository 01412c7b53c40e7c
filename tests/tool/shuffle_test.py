# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize shuffle`: the lines of shuf(1), in an order that a seed repeats."""

import json
import os
import random
import shutil
import subprocess
import unittest

from outsize_tool import TOOL, ToolTest, is_gnu, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250214"))


class Shuffle(ToolTest):
    def test_a_seed_repeats_the_order_whatever_the_memory(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "100k", "-o", path)
        lines = self.read("in").splitlines(True)
        orders = [self.output_of("shuffle", "--seed=7", *words, path)
                  for words in (["-S", "2M"], ["-S", "64M"], ["-S", "3M", "--parallel=1"],
                                ["-S", "2M", "--batch-size=2"])]
        self.assertEqual(len(set(orders)), 1)
        self.assertTrue(orders[0] != self.read("in"))
        self.assertTrue(sorted(orders[0].splitlines(True)) == sorted(lines))
        first = self.output_of("shuffle", "--seed=7", "-n", "100", "-S", "2M", path)
        self.assertTrue(orders[0].startswith(first) and first.count(b"\n") == 100)
        for words, items in ((["-S", "2M"], 100_000), (["-r", "-n3"], 100_000),
                             (["-n0"], 100_000)):
            self.output_of("shuffle", *words, path, "--json", self.path("report"))
            report = json.loads(self.read("report"))
            self.assertEqual((report["items"], report["input_bytes"]),
                             (items, len(self.read("in"))))
        for words in (["-n3"], ["-r", "-n3"], []):
            self.output_of("shuffle", "-i1-70000", *words, "--json", self.path("report"))
            report = json.loads(self.read("report"))
            self.assertEqual((report["items"], report["input_bytes"]), (70_000, 0))
        source = self.write("source", b"7" + bytes(20))
        one, two = (self.output_of("shuffle", "--random-source", source, path) for _ in range(2))
        self.assertTrue(one == two)
        self.assertFalse(self.output_of("shuffle", path) == self.output_of("shuffle", path))

    def test_what_becomes_of_a_line_does_not_depend_on_how_it_comes(self):
        path = self.write("in", "a\nb\nc\nd")
        expected = self.output_of("shuffle", "--seed=3", path)
        self.assertEqual(self.output_of("shuffle", "--seed=3", stdin=b"a\nb\nc\nd\n"), expected)
        self.assertEqual(self.output_of("shuffle", "--seed=3", "-e", *"abcd"), expected)
        self.assertEqual(self.output_of("shuffle", "--seed=3", "-z", "-e", *"abcd"),
                         expected.replace(b"\n", b"\0"))
        self.output_of("shuffle", "--seed=3", path, "-o", path)
        self.assertEqual(self.read("in"), expected)

    @unittest.skipUnless(shutil.which("shuf"), "no shuf to compare with")
    def test_writes_as_many_of_the_same_lines_as_shuf(self):
        print("seed", SEED, flush=True)
        draw = random.Random(SEED)
        for _ in range(runs(100)):
            words = [word for word in ("-r", "-z") if draw.random() < 0.3]
            words += [f"-n{draw.randrange(12)}" for _ in range(draw.randrange(3))]
            low = draw.randrange(20)
            words += draw.choice([["-e", *"abcabc"[:draw.randrange(6)]],
                                  ["-i", f"{low}-{low + draw.randrange(-1, 30)}"]])
            if "-r" in words and not any(word.startswith("-n") for word in words):
                words.append("-n5")
            gnu = subprocess.run(["shuf", *words], capture_output=True)
            done = self.run_tool("shuffle", *words)
            self.assertEqual(done.returncode, 2 if gnu.returncode else 0, (words, done.stderr))
            end = b"\0" if "-z" in words else b"\n"
            self.assertEqual(done.stdout.count(end), gnu.stdout.count(end), words)
            if "-r" not in words and not any(word.startswith("-n") for word in words):
                self.assertEqual(sorted(done.stdout.split(end)), sorted(gnu.stdout.split(end)))

    @unittest.skipUnless(is_gnu("shuf"), "no GNU shuf to compare with")
    def test_takes_the_counts_and_outputs_that_shuf_takes(self):
        out, same = self.path("out"), os.path.join(self.folder, ".", "out")
        for words in (["-n", "9" * 23], ["-n", "9" * 23, "-n2"], ["-n", "+3"], ["-n", " 3"],
                      ["-n", "03"], ["-n", "1k"], ["-n", "1K"], ["-n", ""], ["-n", "0x3"],
                      ["-n", "9" * 23 + "x"], ["-n", "-" + "9" * 23], ["-n", "3 "],
                      ["-t,"],
                      ["-o", out, "-o", out], ["-o", out, "-o", same],
                      ["-o", out, "-o", self.path("other")]):
            words = ["-e", *words, *"abcde"]
            gnu = subprocess.run(["shuf", *words], capture_output=True)
            done = self.run_tool("shuffle", *words)
            self.assertEqual(done.returncode, 2 if gnu.returncode else 0, (words, done.stderr))
            self.assertEqual(done.stdout.count(b"\n"), gnu.stdout.count(b"\n"), words)
        self.assertEqual(os.listdir(self.folder), ["out"])

    @unittest.skipUnless(is_gnu("shuf"), "no GNU shuf to compare with")
    def test_takes_the_ranges_that_shuf_takes(self):
        for text in ("1-3", "+1-3", " 1-3", "1-+3", "1- 3", "3-2", "4-2", "-3", "1-", "1 -3",
                     "1--3", "0x1-3", "1-99999999999999999999"):
            gnu = subprocess.run(["shuf", "-n5", "-i", text], capture_output=True)
            done = self.run_tool("shuffle", "-n5", "-i", text)
            self.assertEqual(done.returncode, 2 if gnu.returncode else 0, (text, done.stderr))
            self.assertEqual(sorted(done.stdout), sorted(gnu.stdout), text)

    def test_repeats_forever_until_nobody_listens(self):
        with subprocess.Popen([TOOL, "shuffle", "-r", "-e", "a", "b"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            self.assertEqual(len(process.stdout.read(100_000)), 100_000)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")

    def test_few_numbers_of_a_huge_range_come_at_once(self):
        text = self.output_of("shuffle", "-i", "1-18446744073709551615", "-n", "1000")
        numbers = {int(line) for line in text.splitlines()}
        self.assertEqual(len(numbers), 1000)
        self.assertGreater(min(numbers), 0)

    def test_refusals(self):
        path = self.write("in", "a\n" * 1_000_000)
        out = self.path("out")
        for mention, words in (
            ("'3-1'", ["-i", "3-1"]), ("'x'", ["-i", "x"]), ("'0-18446744073709551615'",
             ["-i", "0-18446744073709551615"]), ("-i", ["-i", "1-2", "-i", "1-2"]),
            ("-e and -i", ["-e", "-i", "1-2"]), ("'in'", ["-i", "1-2", "in"]),
            ("'b'", ["a", "b"]), ("'-1'", ["-n", "-1"]), ("'1k'", ["-n", "1k", path]),
            ("'a' and 'b'", [path, "-o", "a", "-o", "b"]), ("no-such", ["no-such", "-o", out]),
            ("no-such", ["--random-source", "no-such", path, "-o", out]),
            ("16 random bytes", ["--random-source", self.write("short", "x"), path]),
            ("--seed", ["--seed=1", "--random-source", "/dev/zero", path]),
            ("no lines", ["-r", "-e"]), ("-S 2M", ["-r", "-n1", "-S", "2M", path, "-o", out]),
        ):
            self.assert_refused(mention, "shuffle", *words)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "short"])


if __name__ == "__main__":
    unittest.main()
