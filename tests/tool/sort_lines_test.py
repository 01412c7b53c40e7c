# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize sort` of lines against sort(1) of the same machine: bytes and exit codes."""

import itertools
import json
import os
import random
import subprocess
import threading
import unittest

from outsize_tool import TOOL, ToolTest, is_gnu, runs

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250107"))
MONTHS = (b"jan", b"Feb", b"MAR", b"april", b"JUNE", b"sept", b"dec", b"xyz")
NUMBERS = (b"inf", b"-inf", b"1e3", b"0x1p3", b"-0", b"+5", b"1e-400", b"00012", b".5", b"-.5")


class Lines:
    """Draws lines whose fields collide often, and options that make sense together or not."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def word(self, alphabet, limit):
        return bytes(self.draw.choice(alphabet) for _ in range(self.draw.randrange(limit)))

    def field(self):
        draw = self.draw
        kind = draw.randrange(9)
        if kind == 0:
            return self.word(b"abAB", 6)
        if kind == 1:
            return b"%d" % draw.randrange(-50, 50)
        if kind == 2:
            unit = draw.choice(["", "", "K", "M", "G", "k", "Ki"])
            return f"{draw.uniform(-99, 99):.{draw.randrange(4)}f}{unit}".encode()
        if kind == 3:
            return draw.choice(MONTHS)
        if kind == 4:
            tail = draw.choice([b"", b"rc1", b".tar.gz", b".c"])
            return b"v%d.%d~%s" % (draw.randrange(3), draw.randrange(12), tail)
        if kind == 5:
            return draw.choice(NUMBERS)
        if kind == 6:
            return self.word(bytes(range(256)), 5)
        return b" " * draw.randrange(3) + self.word(b"ab-_!", 4)

    def line(self, separator):
        return separator.join(self.field() for _ in range(self.draw.randrange(6)))

    def text(self, count, separator, end):
        pool = [self.line(separator) for _ in range(self.draw.choice([3, 200]))]
        lines = []
        for _ in range(count):
            line = self.draw.choice(pool) if self.draw.random() < 0.5 else self.line(separator)
            lines.append(line.replace(end, b"#"))
        text = end.join(lines)
        return text + end if lines and self.draw.random() < 0.7 else text

    def position(self, least_char):
        field = str(self.draw.randrange(1, 5))
        if self.draw.random() < 0.3:
            field += f".{self.draw.randrange(least_char, 5)}"
        return field

    def ordering(self):
        return self.draw.choice(
            ["", "", "n", "g", "h", "M", "V", "d", "f", "i", "df", "b", "bn", "r", "nr", "bV", "R"])

    def options(self, separator):
        draw = self.draw
        likely = {"s": 0.2, "u": 0.2, "r": 0.25, "b": 0.2}
        words = ["-" + x for x in "bdfgihMnRrVsuz" if draw.random() < likely.get(x, 0.08)]
        if draw.random() < 0.35:
            words += ["-t", separator]
        for _ in range(draw.choice([0, 0, 1, 1, 2, 3])):
            key = self.position(1) + self.ordering()
            if draw.random() < 0.6:
                key += "," + self.position(0) + self.ordering()
            words.append("-k" + key)
        return words


@unittest.skipUnless(is_gnu("sort"), "no GNU sort to compare with")
class AgainstGnu(ToolTest):
    def gnu(self, *words, stdin=b""):
        return subprocess.run(["sort", *map(str, words)], input=stdin, capture_output=True,
                              timeout=60, env=dict(os.environ, LC_ALL="C"))

    def assert_as_gnu(self, *words, ours=(), stdin=b"", note=""):
        """The same exit code and, if that is 0, the same bytes; `ours` are options of our own."""
        expected = self.gnu(*words, stdin=stdin)
        done = self.run_tool("sort", *ours, *words, stdin=stdin)
        said = (note, ours, words, done.stderr[:200], expected.stderr[:200])
        self.assertEqual(done.returncode, expected.returncode, said)
        if expected.returncode == 0:
            self.assertTrue(done.stdout == expected.stdout, said)
            self.assertEqual(done.stderr, b"", said)
        if expected.returncode == 1:
            message = b"outsize " + expected.stderr if expected.stderr else b""
            self.assertEqual(done.stderr, message, said)

    def one_case(self, seed):
        lines = Lines(seed)
        draw = lines.draw
        separator = draw.choice([",", ":", " ", "\t", "\\0", "a"])
        salt = self.write("salt", bytes(draw.randrange(256) for _ in range(16)))
        options = lines.options(separator) + ["--random-source", salt]
        end = b"\0" if "-z" in options else b"\n"
        gap = b"\0" if separator == "\\0" else separator.encode()
        paths = [self.write(f"in{i}", lines.text(draw.choice([0, 1, 2, 30, 400]),
                                                 draw.choice([gap, b" "]), end))
                 for i in range(draw.choice([1, 1, 2, 5]))]
        action = draw.choice([[]] * 5 + [["-m"], ["-c"], ["-C"], ["--check"], ["--check=quiet"]])
        if action:
            paths = paths if action == ["-m"] else paths[:1]
            if draw.random() < 0.7:
                for path in paths:
                    self.gnu(*options, "-o", path, path)
        ours = ["-S", draw.choice(["2M", "4M", "64M"]), f"--parallel={draw.randrange(1, 6)}"]
        for i in range(draw.randrange(3)):
            ours += ["-T", self.folder]
        stdin = b""
        if draw.random() < 0.2:
            stdin = self.read(os.path.basename(paths[0]))
            paths[0] = "-"
        note = f"OUTSIZE_TEST_SEED={seed}"
        self.assert_as_gnu(*action, *options, *paths, ours=ours, stdin=stdin, note=note)

    def test_random_options_on_random_lines(self):
        print("seed", SEED, flush=True)
        for i in range(runs(400)):
            self.one_case(SEED + i)

    def test_every_ordering_when_runs_go_to_disk(self):
        print("seed", SEED, flush=True)
        lines = Lines(SEED)
        path = self.write("in", lines.text(250_000, b" ", b"\n"))
        other = self.write("other", lines.text(1000, b" ", b"\n"))
        report = self.path("report")
        for options in ([], ["-r"], ["-u", "-k2,2n"], ["-s", "-k1,1f", "-k3M"], ["-V", "-k4"]):
            ours = ["-S", "2M", "-T", self.folder, "--json", report]
            self.assert_as_gnu(*options, path, other, ours=ours)
            self.assertIn(b'"passes": ', self.read("report"))
            self.assertNotIn(b'"passes": 0', self.read("report"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "other", "report"])

    def test_spellings_of_getopt_long(self):
        path = self.write("f", "b 2\na 10\nA 10\nc 1\n")
        for words in (
            ["--rev", path], ["-rn", "-k2", path], [path, "-r"], [path, "-uk2,2n"],
            ["--key", "2n", path], ["--key=2n", path], ["-k", "2n", path], ["--numeric", path],
            ["--sort=numeric", "-k2", path], ["--sort=h", path], ["--ignore-c", path],
            ["-t ", path],
            ["--field-sep= ", "-k2n", path], ["--stable", "-f", path], ["--uniq", "-f", path],
            ["--mer", path], ["--check=sil", path], ["--check=diag", path], ["-r", "--", path],
            ["-t", "\\0", "-k1", path], ["-b", "-k1.1,1.1", path], ["--zero", path], ["-mu", path],
            ["--dictionary-order", "--ignore-nonprinting", path], ["-mc", path], ["-c", "-m", path],
        ):
            self.assert_as_gnu(*words)

    def test_refuses_what_gnu_refuses(self):
        path = self.write("f", "b\na\n")
        for words in (
            ["-k0"], ["-k1.0"], ["-k1,0"], ["-kx"], ["-k1x"], ["-k", ""], ["-t", "ab"], ["-t", ""],
            ["-nM"], ["-dn"], ["-hV"], ["-in"], ["-k1nM"], ["-cC"], ["-c", "--check=quiet"],
            ["-c", "-o", "x"], ["-C", "-o", "x"], ["-o", "x", "-o", "y"], ["-c", path], ["--s"],
            ["-t,", "-t;"], ["--frobnicate"], ["-S", "x"], ["--parallel=0"],
            ["no-such-file"], [self.folder],
        ):
            self.assertEqual(self.gnu(*words, path).returncode, 2, words)
            done = self.run_tool("sort", *words, path)
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)
            self.assertEqual(done.stderr.count(b"\n"), 1, (words, done.stderr))
        self.assertEqual(os.listdir(self.folder), ["f"])

    def test_accepts_what_gnu_accepts(self):
        path = self.write("f", "b\na\nb\n")
        for words in (
            ["-k1,2.0"], ["-bdfi"], ["-nf"], ["-hf"], ["-Vd"], ["-fgb"], ["-k1,1b"],
            ["-k18446744073709551616"], ["-k1.1000000,2"], ["-k2,1"], ["-C", "-C"],
        ):
            self.assert_as_gnu(*words, path)

    def test_disorder_is_reported_as_gnu_does(self):
        for text, words in (("a\nb\na\n", ()), ("a\na\n", ("-u",)), ("a\0c\0b", ("-z",)),
                            ("1\n10\n9\n", ("-n",)), ("a\nb\n", ("-r",))):
            path = self.write("f", text)
            self.assert_as_gnu("-c", *words, path)
            self.assert_as_gnu("-C", *words, path)
            self.assert_as_gnu("-c", *words, stdin=text.encode())

    def test_inputs_with_and_without_a_final_newline(self):
        inputs = [self.write("a", "x\nlast"), self.write("b", ""), self.write("c", "\n"),
                  self.write("d", "last"), self.write("e", "\0\n\0")]
        self.assert_as_gnu(*inputs)
        self.assert_as_gnu("-m", *inputs)
        self.assert_as_gnu("-z", *inputs)
        self.assert_as_gnu(inputs[1])
        self.assert_as_gnu(inputs[0], "-", inputs[0], stdin=b"from\nstdin")
        self.assert_as_gnu(inputs[0], "-", "-", stdin=b"twice\n")

    def test_random_order_is_that_of_gnu_with_the_same_source(self):
        lines = Lines(SEED)
        path = self.write("in", lines.text(60_000, b" ", b"\n"))
        salt = self.write("salt", bytes(range(16)))
        for words in (["-R"], ["-k2,2R", "-k1n"], ["-uR"], ["--sort=random", "-f"]):
            self.assert_as_gnu(*words, "--random-source", salt, path, ours=["-S", "2M"])
        one, two = (self.output_of("sort", "-R", "--seed", "5", "-S", size, path)
                    for size in ("2M", "64M"))
        self.assertTrue(one == two)
        self.assertFalse(self.output_of("sort", "-R", path) == self.output_of("sort", "-R", path))
        heads = [line for line, _ in itertools.groupby(one.split(b"\n")[:-1])]
        self.assertEqual(len(heads), len(set(heads)))

    def test_names_of_inputs_may_be_in_a_file(self):
        one, two = self.write("one", "b\n"), self.write("two", "a\n")
        names = self.write("names", f"{one}\0{two}\0{one}")
        self.assert_as_gnu("--files0-from", names)
        self.assert_as_gnu("-m", "--files0-from=-", stdin=f"{two}\0{one}\0".encode())
        self.assert_as_gnu("--files0-from", names, "-c")
        for mention, words, stdin in (
            ("'x'", ("--files0-from", names, "x"), b""), ("-:2", ("--files0-from=-",), b"a\0\0"),
            ("-:1", ("--files0-from=-",), b"-\0"), ("no file names", ("--files0-from=-",), b""),
            ("no-such", ("--files0-from=no-such",), b""),
        ):
            self.assertEqual(self.gnu(*words, stdin=stdin).returncode, 2, words)
            self.assert_refused(mention, "sort", *words, stdin=stdin)

    def test_fewer_runs_may_be_merged_at_once(self):
        path = self.write("in", Lines(SEED).text(150_000, b" ", b"\n"))
        report = self.path("report")
        self.assert_as_gnu("--batch-size=2", path, ours=["-S", "2M", "--json", report])
        found = json.loads(self.read("report"))
        self.assertEqual(found["fan_in"], 2)
        self.assertGreaterEqual(2 ** found["passes"], found["runs"])
        parts = [self.write(f"part{i}", f"{i}\n") for i in range(5)]
        self.assert_as_gnu("-m", "--batch-size=3", *parts)
        self.assert_as_gnu("--compress-program=gzip", "--batch-size", "2", path)
        for size in ("1", "0", "x", "-3"):
            self.assertEqual(self.gnu("--batch-size", size, path).returncode, 2)
            self.assert_refused(f"'{size}'", "sort", "--batch-size", size, path)

    def test_merges_a_thousand_files(self):
        lines = Lines(SEED)
        paths = []
        for i in range(1000):
            paths.append(self.path(f"in{i}"))
            text = lines.text(lines.draw.randrange(12), b" ", b"\n")
            self.write(f"in{i}", b"".join(line + b"\n" for line in sorted(text.splitlines())))
        for budget in ("2M", "64M"):
            self.assert_as_gnu("-m", *paths, ours=["-S", budget])
            self.assert_as_gnu("-mu", *paths[:300], ours=["-S", budget])

    def test_pipes_are_inputs_and_outputs(self):
        text = Lines(SEED).text(20_000, b" ", b"\n")
        expected = self.gnu(stdin=text).stdout
        source, target = self.path("source"), self.path("target")
        os.mkfifo(source)
        os.mkfifo(target)
        found = []

        def feed():
            with open(source, "wb") as pipe:
                pipe.write(text)

        def drain():
            with open(target, "rb") as pipe:
                found.append(pipe.read())

        threads = [threading.Thread(target=feed), threading.Thread(target=drain)]
        for thread in threads:
            thread.start()
        self.assertEqual(self.output_of("sort", "-S", "2M", source, "-o", target), b"")
        for thread in threads:
            thread.join()
        self.assertTrue(found == [expected])


class LongLines(ToolTest):
    """A line may have a part of the budget; longer ones are refused with both sizes."""

    def sort(self, budget, lines, *words):
        path = self.write("in", b"".join(line + b"\n" for line in lines))
        done = self.run_tool("sort", "-S", budget, "-T", self.folder, *words, path)
        if done.returncode == 0:
            self.assertTrue(done.stdout == b"".join(line + b"\n" for line in sorted(lines)))
        return done

    def test_lines_near_the_limit_sort_or_are_refused(self):
        print("seed", SEED, flush=True)
        draw = random.Random(SEED)
        for longest in (100_000, 130_000, 200_000, 300_000, 700_000, 830_000):
            lines = []
            for _ in range(12_000_000 // longest):
                head = bytes(draw.choice(b"ab") for _ in range(3))
                lines.append(head + b"x" * draw.randrange(longest // 2, longest))
            done = self.sort("4M", lines)
            if done.returncode == 0:
                continue
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertGreater(longest, (4 << 20) / 32, done.stderr)
            self.assertIn(b"4 MiB of memory", done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_a_long_line_in_a_small_file(self):
        self.assertEqual(self.sort("8M", [b"b" * 1_000_000, b"a", b"c"]).returncode, 0)

    def test_too_long_a_line_names_both_sizes(self):
        for words in ([], ["-m"], ["-u"], ["-k2n"]):
            done = self.sort("4M", [b"a", b"b" * 5_000_001, b"c"], *words)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"5000001", done.stderr)
            self.assertIn(b"4194304", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["in"])

    def test_merging_many_inputs_of_long_lines_keeps_to_the_budget(self):
        paths = [self.write(f"in{i}", b"x" * 10_000 + b"\n" + b"y" * 9_000) for i in range(60)]
        self.assertEqual(len(self.output_of("sort", "-m", "-S", "4M", *paths)), 60 * 19_002)


if __name__ == "__main__":
    unittest.main()
