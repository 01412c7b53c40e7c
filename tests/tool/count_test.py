# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize count` against `sort | uniq -c` of the same machine, and a count of our own."""

import collections
import os
import random
import shutil
import subprocess
import unittest

from outsize_tool import ToolTest, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250213"))


class Count(ToolTest):
    def gnu(self, sort_words, uniq_words, stdin):
        environment = dict(os.environ, LC_ALL="C")
        ordered = subprocess.run(["sort", *sort_words], input=stdin, capture_output=True,
                                 env=environment, check=True).stdout
        return subprocess.run(["uniq", "-c", *uniq_words], input=ordered, capture_output=True,
                              env=environment, check=True).stdout

    @unittest.skipUnless(shutil.which("uniq"), "no uniq to compare with")
    def test_random_lines_as_sort_and_uniq(self):
        print("seed", SEED, flush=True)
        draw = random.Random(SEED)
        for _ in range(runs(60)):
            end = draw.choice([b"\n", b"\0"])
            words = ["-z"] if end == b"\0" else []
            text = end.join(bytes(draw.choice(b"aAb\t \x80") for _ in range(draw.randrange(4)))
                            for _ in range(draw.choice([0, 1, 20, 500])))
            self.assertEqual(self.output_of("count", *words, stdin=text),
                             self.gnu(words, words, text))
            self.assertEqual(self.output_of("count", "-r", *words, stdin=text),
                             self.gnu(words + ["-r"], words, text))
            self.assertEqual(self.output_of("count", "-f", *words, stdin=text),
                             self.gnu(words + ["-fs"], words + ["-i"], text))

    def test_keys(self):
        text = b"x,DE,3\ny,US,4\nz,DE,3\n"
        self.assertEqual(self.output_of("count", "-t,", "-k2,2", stdin=text),
                         b"      2 DE\n      1 US\n")
        self.assertEqual(self.output_of("count", "-t,", "-k3,3n", "-k2,2", stdin=text),
                         b"      2 3,DE\n      1 4,US\n")
        self.assertEqual(self.output_of("count", "--by-count", "-t,", "-k1,1r", stdin=text + text),
                         b"      2 z\n      2 y\n      2 x\n")

    def test_many_different_lines_in_little_memory(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "200k", "-o", path)
        lines = self.read("in").splitlines()
        counts = sorted(collections.Counter(lines).items())
        for words in ([], ["--by-count"]):
            expected = b"".join(b"%7d %s\n" % (count, line) for line, count in counts)
            for merges in ([], ["--batch-size=2"]):
                found = self.output_of("count", "-S", "2M", "-T", self.folder, *words, *merges,
                                       path)
                self.assertTrue(found == expected, words + merges)
            counts.sort(key=lambda row: -row[1])

    def test_refusals(self):
        path = self.write("in", b"a\n" + b"x" * 1_000_000)
        for mention, words in (("no-such", ["no-such", "-o", self.path("out")]),
                               ("1000000", ["-S", "2M", path, "-o", self.path("out")]),
                               ("-S 1M", ["-S", "1M", path]), ("-Mn", ["-nM", path]),
                               ("-u", ["-u", path])):
            self.assert_refused(mention, "count", *words)
        self.assertEqual(os.listdir(self.folder), ["in"])


if __name__ == "__main__":
    unittest.main()
