# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Compressed inputs and outputs of `outsize sort` and `outsize check`, against Python's gzip and
lzma, and against the programs zstd and lz4 where they are installed."""

import gzip
import lzma
import os
import random
import shutil
import subprocess
import unittest

from outsize_tool import TOOL, ToolTest, some_of

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))


def program(name, *words):
    """A function that sends bytes through a program."""
    return lambda data: subprocess.run([name, *words], input=data, capture_output=True,
                                       check=True).stdout


COMPRESS = {"gz": gzip.compress, "xz": lzma.compress}
DECOMPRESS = {"gz": gzip.decompress, "xz": lzma.decompress}
for suffix, name in (("zst", "zstd"), ("lz4", "lz4")):
    if shutil.which(name):
        COMPRESS[suffix] = program(name, "-q", "-c")
        DECOMPRESS[suffix] = program(name, "-q", "-d", "-c")
KINDS = {"gz": "gzip", "zst": "zstd", "lz4": "lz4", "xz": "xz"}


class CompressedTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)

    def lines(self, count):
        return [b"%d %s" % (self.random.randrange(10**9), b"x" * self.random.randrange(40))
                for _ in range(count)]


class Inputs(CompressedTest):
    def test_are_recognised_by_their_bytes_and_sorted(self):
        lines = self.lines(2000)
        text = b"\n".join(lines) + b"\n"
        want = b"\n".join(sorted(lines)) + b"\n"
        for suffix, compress in COMPRESS.items():
            path = self.write("in", compress(text))
            self.assertEqual(self.output_of("sort", path), want, suffix)
            self.assertEqual(self.output_of("sort", stdin=compress(text)), want, suffix)
            with open(path, "rb") as file:
                done = subprocess.run([TOOL, "sort"], stdin=file, capture_output=True, check=True)
            self.assertEqual(done.stdout, want, suffix)

    def test_larger_than_memory_are_sorted(self):
        lines = self.lines(120_000)
        text = b"\n".join(lines) + b"\n"
        want = b"\n".join(sorted(lines)) + b"\n"
        for suffix, compress in COMPRESS.items():
            path = self.write("in", compress(text))
            got = self.output_of("sort", "-S", "2M", "-T", self.folder, path)
            self.assertTrue(got == want, suffix)

    def test_of_several_members_are_read_whole(self):
        for suffix, compress in COMPRESS.items():
            path = self.write("in", compress(b"c\n") + compress(b"") + compress(b"b\na\n"))
            self.assertEqual(self.output_of("sort", path), b"a\nb\nc\n", suffix)

    def test_begin_with_what_is_skipped(self):
        skipped = b"\x50\x2a\x4d\x18\x02\0\0\0ab"
        for suffix in {"zst", "lz4"} & set(COMPRESS):
            path = self.write("in", skipped + COMPRESS[suffix](b"b\na\n"))
            self.assertEqual(self.output_of("sort", path), b"a\nb\n", suffix)

    def test_of_the_legacy_format_of_lz4_are_refused(self):
        path = self.write("in", b"\x02\x21\x4c\x18\x05\0\0\0\x40b\na\n")
        self.assert_refused("lz4 data cannot be decoded", "sort", path)

    def test_mix_with_others(self):
        paths = [self.write(suffix, compress(b"b\n")) for suffix, compress in COMPRESS.items()]
        paths.append(self.write("plain", b"a\n"))
        self.assertEqual(self.output_of("sort", *paths), b"a\n" + b"b\n" * len(COMPRESS))
        self.assertEqual(self.output_of("sort", "-m", *paths), b"a\n" + b"b\n" * len(COMPRESS))

    def test_are_merged_however_many(self):
        parts = [sorted(self.lines(50)) for _ in range(40)]
        paths = [self.write(f"in{i}", gzip.compress(b"\n".join(part) + b"\n"))
                 for i, part in enumerate(parts)]
        want = b"\n".join(sorted(sum(parts, []))) + b"\n"
        self.assertEqual(self.output_of("sort", "-m", "-S", "8M", *paths), want)

    def test_are_taken_as_they_are_if_asked(self):
        data = gzip.compress(b"b\na\n", mtime=0)
        path = self.write("in", data)
        want = b"".join(line + b"\n" for line in sorted(data.split(b"\n")))
        self.assertEqual(self.output_of("sort", "--no-decompress", path), want)

    def test_are_checked(self):
        path = self.write("in", gzip.compress(b"b\na\n"))
        done = self.run_tool("sort", "-c", path)
        self.assertEqual((done.returncode, done.stderr),
                         (1, b"outsize sort: %s:2: disorder: a\n" % path.encode()))
        self.assertEqual(self.run_tool("check", path).returncode, 1)
        data = gzip.compress(b"b\na\n", mtime=0)
        raw = [line for line in data.split(b"\n") if line or not data.endswith(b"\n")]
        done = self.run_tool("check", "--no-decompress", self.write("raw", data))
        self.assertEqual(done.returncode, 0 if raw == sorted(raw) else 1)
        plain = self.write("sorted", b"a\nb\n")
        self.assertEqual(self.run_tool("check", plain, "--against", path).returncode, 0)

    def test_plans_do_not_pretend_to_know_their_size(self):
        path = self.write("in", gzip.compress(b"b\na\n" * 1000))
        self.assertIn(b"not known", self.output_of("sort", "--plan", path))
        self.assertNotIn(b"not known", self.output_of("sort", "--plan", "--no-decompress", path))

    def test_of_binary_records_are_decompressed_only_if_asked(self):
        values = [self.random.randrange(1 << 64) for _ in range(1000)]
        data = b"".join(value.to_bytes(8, "little") for value in values)
        want = b"".join(value.to_bytes(8, "little") for value in sorted(values))
        path = self.write("in", gzip.compress(data))
        self.assertEqual(self.output_of("sort", "--format", "u64", "--decompress", path), want)
        looks_compressed = b"\x1f\x8b\x08" + bytes(13)
        path = self.write("in", looks_compressed)
        self.assertEqual(len(self.output_of("sort", "--format", "u64", path)), 16)

    def test_of_binary_records_must_be_whole(self):
        path = self.write("in", gzip.compress(bytes(13)))
        self.assert_refused("13 bytes are no multiple of 8", "sort", "--format", "u64",
                            "--decompress", path)


class Damage(CompressedTest):
    def assert_one_line_refuses(self, suffix, data):
        """Refused in one line that names file and kind; neither output nor blocks remain."""
        path = self.write("in", data)
        before = os.listdir(self.folder)
        done = self.run_tool("sort", "-T", self.folder, path, "-o", self.path("out"))
        message = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (2, b""), message)
        self.assertTrue(message.startswith(f"outsize sort: {path}: "), message)
        self.assertIn(KINDS[suffix], message)
        self.assertRegex(message, "byte [0-9]+")
        self.assertEqual(message.count("\n"), 1, message)
        self.assertEqual(os.listdir(self.folder), before)

    def test_a_file_cut_short_anywhere_is_refused(self):
        for suffix, compress in COMPRESS.items():
            data = compress(b"b\na\n")
            for size in some_of(range(6, len(data))):
                self.assert_one_line_refuses(suffix, data[:size])

    def test_damage_anywhere_is_refused_or_without_effect(self):
        for suffix, compress in COMPRESS.items():
            data = compress(b"b\na\n")
            for place in some_of(range(6, len(data))):
                damaged = bytearray(data)
                damaged[place] ^= 1 << self.random.randrange(8)
                done = self.run_tool("sort", self.write("in", damaged))
                if done.returncode == 0:
                    self.assertEqual(done.stdout, b"a\nb\n", (suffix, place))
                else:
                    self.assertEqual(done.returncode, 2)
                    self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_other_bytes_behind_the_data_are_refused(self):
        for suffix, compress in COMPRESS.items():
            self.assert_one_line_refuses(suffix, compress(b"b\na\n") + b"and more text here\n")

    def test_an_output_stays_as_it_was(self):
        data = gzip.compress(b"b\na\n")[:-1]
        target = self.write("out", b"old")
        self.assert_refused("cut short", "sort", self.write("in", data), "-o", target)
        self.assertEqual(self.read("out"), b"old")

    def test_an_input_that_is_the_output_stays_as_it_was(self):
        data = gzip.compress(b"b\na\n")[:-1]
        path = self.write("in.gz", data)
        self.assert_refused("cut short", "sort", path, "-o", path)
        self.assertEqual(self.read("in.gz"), data)


class Outputs(CompressedTest):
    def test_are_compressed_as_their_names_say(self):
        lines = self.lines(5000)
        path = self.write("in", b"\n".join(lines) + b"\n")
        want = b"\n".join(sorted(lines)) + b"\n"
        for suffix, decompress in DECOMPRESS.items():
            self.output_of("sort", path, "-o", self.path(f"out.{suffix}"))
            self.assertEqual(decompress(self.read(f"out.{suffix}")), want, suffix)
            self.assertEqual(self.output_of("sort", self.path(f"out.{suffix}")), want, suffix)

    def test_are_compressed_as_asked(self):
        for suffix, decompress in DECOMPRESS.items():
            option = f"--compress-output={KINDS[suffix]}"
            self.assertEqual(decompress(self.output_of("sort", option, stdin=b"b\na\n")), b"a\nb\n")
        path = self.path("out.gz")
        self.output_of("sort", "--compress-output=none", "-o", path, stdin=b"b\na\n")
        self.assertEqual(self.read("out.gz"), b"a\nb\n")
        self.assert_refused("bzip2", "sort", "--compress-output=bzip2")

    def test_may_be_empty_and_may_be_inputs(self):
        path = self.path("x.gz")
        self.output_of("sort", "-o", path)
        self.assertEqual(gzip.decompress(self.read("x.gz")), b"")
        self.write("x.gz", gzip.compress(b"b\na\n"))
        self.output_of("sort", path, "-o", path)
        self.assertEqual(gzip.decompress(self.read("x.gz")), b"a\nb\n")

    def test_do_not_depend_on_memory_or_threads(self):
        lines = self.lines(80_000)
        path = self.write("in", b"\n".join(lines) + b"\n")
        for suffix in KINDS:
            outputs = set()
            for words in (("-S", "2M", "--parallel", "1"), ("-S", "64M", "--parallel", "3")):
                target = self.path(f"out.{suffix}")
                self.output_of("sort", *words, "-T", self.folder, path, "-o", target)
                outputs.add(self.read(f"out.{suffix}"))
            self.assertEqual(len(outputs), 1, suffix)

    def test_of_merges_and_records_are_compressed_too(self):
        first, second = self.write("a", b"a\nc\n"), self.write("b", b"b\n")
        self.output_of("sort", "-m", first, second, "-o", self.path("out.gz"))
        self.assertEqual(gzip.decompress(self.read("out.gz")), b"a\nb\nc\n")
        records = self.write("r", bytes([2] + [0] * 7 + [1] + [0] * 7))
        self.output_of("sort", "--format", "u64", records, "-o", self.path("r.xz"))
        self.assertEqual(lzma.decompress(self.read("r.xz")), bytes([1] + [0] * 7 + [2] + [0] * 7))

    def test_that_cannot_be_written_are_reported(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        self.assert_refused("/dev/full", "sort", "--compress-output=gzip", "-o", "/dev/full",
                            stdin=b"b\na\n")


class LineCommands(CompressedTest):
    def test_read_and_write_compressed_files(self):
        plain = self.write("plain", b"a\na\nb\n")
        for words in (["count"], ["uniq"], ["top", "1"], ["shuffle", "--seed=7"]):
            want = self.output_of(*words, plain)
            for suffix, compress in COMPRESS.items():
                path, target = self.write("in", compress(b"a\na\nb\n")), self.path(f"out.{suffix}")
                self.assertEqual(self.output_of(*words, path), want)
                self.output_of(*words, path, "-o", target)
                self.assertEqual(DECOMPRESS[suffix](self.read(f"out.{suffix}")), want, words)
                self.write("in", compress(b"a\na\nb\n")[:-1])
                self.assert_refused("cut short", *words, path)

    def test_join_compressed_files(self):
        first = self.write("first", gzip.compress(b"a 1\nb 2\n"))
        second = self.write("second", lzma.compress(b"b 3\n"))
        self.assertEqual(self.output_of("join", first, second), b"b 2 3\n")
        self.assertEqual(self.output_of("join", "--sort", first, second), b"b 2 3\n")
        self.output_of("join", first, second, "--output", self.path("out.gz"))
        self.assertEqual(gzip.decompress(self.read("out.gz")), b"b 2 3\n")


if __name__ == "__main__":
    print("seed", SEED, flush=True)
    unittest.main()
