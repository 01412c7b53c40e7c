# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize join` against join(1) of the same machine: bytes, and what is refused."""

import json
import os
import random
import subprocess
import unittest

from outsize_tool import ToolTest, is_gnu, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250215"))


class Case:
    """Options, and two files that fit together more often than not."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        draw = self.draw
        self.end = draw.choice([b"\n", b"\n", b"\0"])
        self.separator = draw.choice([None, None, b",", b" ", b"\\0", b""])
        self.fields = [draw.choice([1, 1, 2, 3]) for _ in range(2)]
        self.folds = draw.random() < 0.3

    def words(self):
        draw = self.draw
        words = [f"-1{self.fields[0]}", f"-2{self.fields[1]}"]
        if self.fields[0] == self.fields[1] and draw.random() < 0.5:
            words = [f"-j{self.fields[0]}"]
        words += ["-z"] if self.end == b"\0" else []
        words += ["-i"] if self.folds else []
        if self.separator is not None:
            words += ["-t", self.separator.decode()]
        words += [word for word in ("-a1", "-a2", "-v1", "-v2", "--header", "--check-order",
                                    "--nocheck-order") if draw.random() < 0.2]
        if draw.random() < 0.4:
            words += ["-e", draw.choice(["-", "none", ""])]
        if draw.random() < 0.4:
            columns = [draw.choice(["0", f"{draw.choice('12')}.{draw.randrange(1, 5)}"])
                       for _ in range(draw.randrange(1, 5))]
            words += draw.choice([["-o", "auto"], ["-o", ",".join(columns)],
                                  ["-o", " ".join(columns)], ["-o", *columns],
                                  ["-o", columns[0], "-o", "auto"]])
        return words

    def line(self, field):
        draw = self.draw
        gap = b"," if self.separator is None else self.separator.replace(b"\\0", b"\0") or b"\t"
        if gap == self.end:
            gap = b";"
        parts = [bytes(draw.choice(b"abAB\x80") for _ in range(draw.randrange(3)))
                 for _ in range(draw.choice([field, 3, draw.randrange(5)]))]
        if self.separator is None:
            gaps = [draw.choice([b" ", b"\t", b"  "]) for _ in range(len(parts) + 1)]
            text = b"".join(g + p for g, p in zip(gaps, parts)) + draw.choice([b"", b" "])
            return text if draw.random() < 0.3 else text.lstrip()
        return gap.join(parts)

    def key(self, line, field):
        if self.separator is None:
            words = line.split()
        elif self.separator == b"":
            words = [line]
        else:
            words = line.split(self.separator.replace(b"\\0", b"\0"))
        word = words[field - 1] if field <= len(words) else b""
        return word.upper() if self.folds else word

    def text(self, field):
        lines = [self.line(field) for _ in range(self.draw.choice([0, 1, 3, 12, 60]))]
        if self.draw.random() < 0.8:
            lines.sort(key=lambda line: self.key(line, field))
        text = self.end.join(lines)
        return text + self.end if lines and self.draw.random() < 0.7 else text


@unittest.skipUnless(is_gnu("join"), "no GNU join to compare with")
class AgainstGnu(ToolTest):
    def gnu(self, *words):
        return subprocess.run(["join", *words], capture_output=True, timeout=60,
                              env=dict(os.environ, LC_ALL="C"))

    def assert_as_gnu(self, *words, note=""):
        """The same bytes, or both refuse."""
        expected = self.gnu(*words)
        done = self.run_tool("join", *words)
        said = (note, words, done.stderr, expected.stderr)
        self.assertEqual(done.returncode, 2 if expected.returncode else 0, said)
        if done.returncode == 0:
            self.assertEqual((done.stdout, done.stderr), (expected.stdout, b""), said)
        return done.returncode == 0

    def test_random_options_on_random_lines(self):
        print("seed", SEED, flush=True)
        joined = 0
        for seed in range(SEED, SEED + runs(400)):
            case = Case(seed)
            words = case.words()
            first, second = (self.write(name, case.text(field))
                             for name, field in zip("ab", case.fields))
            joined += self.assert_as_gnu(*words, first, second, note=f"OUTSIZE_TEST_SEED={seed}")
        self.assertGreater(joined, runs(400) // 2)

    def test_refuses_what_gnu_refuses(self):
        path = self.write("f", "a\nb\n")
        for words in (("-10",), ("-1x",), ("-1", "1", "-j2"), ("-a3",), ("-vx",), ("-tab",),
                      ("-t,", "-t;"), ("-o", "1"), ("-o", "1.0"), ("-o", "3.1"), ("-o", ""),
                      ("-e", "x", "-e", "y"), ("--frobnicate",)):
            self.assertFalse(self.assert_as_gnu(*words, path, path), words)
        for words in ((path,), ("-", "-"), (path, "no-such"), (path, self.folder),
                      (path, path, path)):
            self.assertFalse(self.assert_as_gnu(*words), words)


class Files(ToolTest):
    def test_sorts_if_asked_as_sort_does_before(self):
        paths = []
        for name in "ab":
            paths.append(self.path(name))
            draw = random.Random(SEED + len(paths))
            self.write(name, b"".join(b"%d %d\n" % (draw.randrange(40_000), draw.randrange(99))
                                      for _ in range(100_000)))
        found = self.output_of("join", "--sort", "-S", "2M", "-T", self.folder, "--batch-size=2",
                               *paths)
        for path in paths:
            self.output_of("sort", "-s", "-k1b,1", path, "-o", path + ".sorted")
        expected = self.output_of("join", *(path + ".sorted" for path in paths))
        self.assertTrue(found == expected and found.count(b"\n") > 100_000)

    def test_a_field_that_all_lines_share(self):
        first = self.write("a", "k 1\nk 2\n")
        second = self.write("b", "".join(f"k {i:060}\n" for i in range(40_000)))
        found = self.output_of("join", "-S", "2M", "-T", self.folder, first, second, "--json",
                               self.path("report"))
        report = json.loads(self.read("report"))
        self.assertGreater(report["runs"], 0)
        self.assertGreater(report["run_disk_bytes"], 0)
        expected = "".join(f"k {j} {i:060}\n" for j in (1, 2) for i in range(40_000))
        self.assertTrue(found == expected.encode())

    def test_disorder_is_named_and_leaves_no_output(self):
        first = self.write("a", "a 1\nc 2\nb 3\n")
        second = self.write("b", "b 1\n")
        self.assert_refused("a:3: is not sorted: b 3", "join", first, second, "--output",
                            self.path("out"))
        self.assert_refused("-S 1M", "join", "-S", "1M", first, second)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b"])
        self.assertEqual(self.output_of("join", "-a1", "--sort", "-", second, "--output", first,
                                        stdin=b"z 1\nb 2\n"), b"")
        self.assertEqual(self.read("a"), b"b 2 1\nz 1\n")


if __name__ == "__main__":
    unittest.main()
