# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize top` against the beginning of what `outsize sort` writes."""

import gzip
import json
import os
import random
import unittest

from outsize_tool import ToolTest, runs, some_of

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250212"))


class Top(ToolTest):
    def assert_is_beginning(self, count, *words, stdin=b""):
        end = b"\0" if "-z" in words else b"\n"
        lines = self.output_of("sort", *words, stdin=stdin).split(end)[:-1]
        expected = b"".join(line + end for line in lines[:count])
        found = self.output_of("top", count, *words, stdin=stdin)
        self.assertTrue(found == expected, (count, words))

    def test_random_options_on_random_lines(self):
        print("seed", SEED, flush=True)
        for seed in range(SEED, SEED + runs(60)):
            draw = random.Random(seed)
            end = draw.choice([b"\n", b"\0"])
            text = end.join(b"%d,%d" % (draw.randrange(30), draw.randrange(9))
                            for _ in range(draw.choice([0, 1, 20, 500])))
            words = ["-z"] if end == b"\0" else []
            words += [word for word in ("-u", "-s", "-r", "-n", "-t,", "-k2,2n") if
                      draw.random() < 0.4]
            self.assert_is_beginning(draw.choice([0, 1, 10, 400, 10_000]), *words, stdin=text)

    def test_inputs_may_be_named_in_a_file(self):
        first, second = self.write("a", b"3\n1\n"), self.write("b", b"2\n")
        names = self.write("names", f"{first}\0{second}\0")
        self.assertEqual(self.output_of("top", 2, "--files0-from", names), b"1\n2\n")
        self.assertEqual(self.output_of("count", "--files0-from", names),
                         b"      1 1\n      1 2\n      1 3\n")
        for words in (["top", 2], ["count"]):
            self.assert_refused("--files0-from", *words, "--files0-from", names, first)
            self.assert_refused("empty", *words, "--files0-from", self.write("none", b"a\0\0"))

    def test_temporary_blocks_are_kept_as_they_are_by_sort(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "60k", "-o", path)
        for words in (["top", 50_000], ["count"], ["shuffle", "--seed=1"],
                      ["join", "--sort", path]):
            plain = self.output_of(*words, "-S", "2M", "-T", self.folder, path)
            same = self.output_of(*words, "-S", "2M", "-T", self.folder, "--block-checksums",
                                  "--run-codec=always", path)
            self.assertTrue(plain == same, words)

    def test_many_lines_in_little_memory(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "100k", "-o", path)
        for count, words in some_of([(count, words) for count in (10, 5000, 70_000)
                                     for words in ([], ["-r", "-u"], ["-k2"])]):
            self.assert_is_beginning(count, "-S", "2M", "-T", self.folder, *words, path)
        report = self.path("report")
        self.output_of("top", "100", "-S", "2M", path, "-o", self.path("out"), "--json", report)
        found = json.loads(self.read("report"))
        self.assertEqual((found["items"], found["output_items"], found["runs"]), (100_000, 100, 0))

    def test_csv_and_headers(self):
        path = self.write("in", b'n,"v\n"\na,"3"\nb,10\n"c\n",2\n')
        got = self.output_of("top", "2", "--csv", "--header", "-k2n", path)
        self.assertEqual(got, b'n,"v\n"\n"c\n",2\na,"3"\n')
        self.assertEqual(self.output_of("top", "1", "--header", stdin=b"z\nb\na\n"), b"z\na\n")

    def test_compressed_files(self):
        path = self.write("in", gzip.compress(b"b\na\n"))
        self.output_of("top", "1", path, "-o", self.path("out.gz"))
        self.assertEqual(gzip.decompress(self.read("out.gz")), b"a\n")

    def test_refusals(self):
        path = self.write("in", "b\na\n")
        for mention, words in (("COUNT", []), ("'x'", ["x", path]), ("'-1'", ["--", "-1", path]),
                               ("no-such", ["1", "no-such", "-o", self.path("out")]),
                               ("-S 1M", ["1", "-S", "1M", path]), ("-Mn", ["1", "-nM", path]),
                               ("frobnicate", ["--frobnicate", "1", path])):
            self.assert_refused(mention, "top", *words)
        self.assertEqual(os.listdir(self.folder), ["in"])


if __name__ == "__main__":
    unittest.main()
