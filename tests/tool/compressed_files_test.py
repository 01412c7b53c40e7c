# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Compressed inputs and outputs, against Python's gzip, bz2 and lzma, and against the programs zstd
and lz4 where they are installed; text in UTF-16; and inputs of other kinds, which are refused."""

import bz2
import gzip
import lzma
import os
import random
import shutil
import subprocess
import unittest
import zipfile

from outsize_tool import TOOL, ToolTest, some_of

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))


def program(name, *words):
    """A function that sends bytes through a program."""
    return lambda data: subprocess.run([name, *words], input=data, capture_output=True,
                                       check=True).stdout


COMPRESS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}
DECOMPRESS = {"gz": gzip.decompress, "xz": lzma.decompress, "bz2": bz2.decompress}
for suffix, name in (("zst", "zstd"), ("lz4", "lz4")):
    if shutil.which(name):
        COMPRESS[suffix] = program(name, "-q", "-c")
        DECOMPRESS[suffix] = program(name, "-q", "-d", "-c")
SIGNATURE_BYTES = {"bz2": 10}  # without which nobody knows the kind; of others 6 at most
KINDS = {"gz": "gzip", "zst": "zstd", "lz4": "lz4", "xz": "xz", "bz2": "bzip2"}


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
            for size in some_of(range(SIGNATURE_BYTES.get(suffix, 6), len(data))):
                self.assert_one_line_refuses(suffix, data[:size])

    def test_damage_anywhere_is_refused_or_without_effect(self):
        for suffix, compress in COMPRESS.items():
            data = compress(b"b\na\n")
            for place in some_of(range(SIGNATURE_BYTES.get(suffix, 6), len(data))):
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
        self.assert_refused("bzip2", "sort", "--compress-output=zip")

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


# How each command on text is called for an input.
COMMANDS = {
    "sort": lambda path: ["sort", path], "merge": lambda path: ["sort", "-m", path],
    "uniq": lambda path: ["uniq", path], "count": lambda path: ["count", path],
    "top": lambda path: ["top", "9", path], "shuffle": lambda path: ["shuffle", path],
    "join": lambda path: ["join", path, path], "check": lambda path: ["check", path],
    "sort -c": lambda path: ["sort", "-c", path], "plan": lambda path: ["sort", "--plan", path],
}


class OtherKinds(CompressedTest):
    """What cannot be read is refused before the work, and can be had as it is."""

    def kinds(self):
        archive = self.path("archive")
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("a", "b\na\n")
        yield "zip", self.read("archive")
        yield "lzma", lzma.compress(b"b\na\n", format=lzma.FORMAT_ALONE)
        yield "7-Zip", b"7z\xbc\xaf\x27\x1c\0\4"
        yield "RAR", b"Rar!\x1a\x07\x01\0"
        yield "compress", b"\x1f\x9d\x90\x62\x0a"
        yield "lzip", b"LZIP\x01\x0c"
        yield "lzop", b"\x89LZO\0\r\n\x1a\n"
        yield "snappy", b"\xff\6\0\0sNaPpY"
        yield "UTF-32", "b\na\n".encode("utf-32")

    def test_are_refused_by_every_command(self):
        for kind, data in self.kinds():
            path = self.write("in", data)
            what = (f"compressed by {kind}, which is not read here; unpack it first; "
                    "--no-decompress takes its bytes as they are")
            if kind == "UTF-32":
                what = "text in UTF-32, which is not read here; convert it"
            for name, words in COMMANDS.items():
                if kind in ("zip", "UTF-32") or name == "sort":
                    self.assert_refused(f"{path}: it is {what}", *words(path))
            self.assert_refused(f"-: it is {what}", "sort", stdin=data)
        self.assert_refused("--encoding=bytes", "sort", path)

    def test_are_refused_before_the_work(self):
        plain, target = self.write("plain", "b\na\n"), self.write("out", "old")
        path = self.write("in", b"PK\x03\x04")
        for words in (["sort"], ["sort", "-m"], ["count"], ["top", "1"]):
            self.assert_refused("zip", *words, plain, path, "-o", target)
        self.assert_refused("zip", "join", plain, path, "--output", target)
        self.assert_refused("zip", "check", plain, "--against", path)
        self.assertEqual(self.read("out"), b"old")

    def test_are_taken_as_they_are_if_asked(self):
        for kind, data in self.kinds():
            option = "--encoding=bytes" if kind == "UTF-32" else "--no-decompress"
            lines = data.split(b"\n")
            if not lines[-1]:
                lines.pop()
            want = b"".join(line + b"\n" for line in sorted(lines))
            self.assertEqual(self.output_of("sort", option, self.write("in", data)), want, kind)

    def test_matter_for_text_only(self):
        for kind, data in self.kinds():
            data += bytes(-len(data) % 8)
            path = self.write("in", data)
            words = [data[i:i + 8] for i in range(0, len(data), 8)]
            self.assertEqual(self.output_of("sort", "--format", "bytes:8", path),
                             b"".join(sorted(words)), kind)
            if kind != "UTF-32":
                self.assert_refused(kind, "sort", "--format", "bytes:8", "--decompress", path)

    def test_that_only_look_alike_are_text(self):
        for text in (b"PK\nBZh9\n", b"BZh9 begins a bzip2 file\n", b"Rar!\n", b"LZIP\n", b"]\n"):
            want = b"\n".join(sorted(text.split(b"\n")[:-1])) + b"\n"
            self.assertEqual(self.output_of("sort", stdin=text), want)

    def test_in_compressed_files_are_refused(self):
        path = self.write("in", gzip.compress(bz2.compress(b"b\na\n")))
        self.assert_refused("more than once, inside by bzip2", "sort", path)
        path = self.write("in", gzip.compress(b"PK\x03\x04"))
        self.assert_refused("zip", "uniq", path)


class NamesOfInputs(CompressedTest):
    """A name may promise one kind, and the bytes be another."""

    def test_that_promise_another_kind_do_not_matter(self):
        for suffix, compress in COMPRESS.items():
            for name in ("in.gz", "in.zip", "in.csv"):
                path = self.write(name, compress(b"b\na\n"))
                self.assertEqual(self.output_of("sort", path), b"a\nb\n")
                self.assertEqual(self.output_of("sort", "--csv", path), b"a\nb\n")

    def test_that_promise_too_much_are_worth_a_warning_for_lines(self):
        for name in ("in.gz", "in.BZ2", "in.br", "in.zip", "in.tgz"):
            path = self.write(name, b"b\na\n")
            for command, words in COMMANDS.items():
                if command != "sort" and name != "in.gz":
                    continue
                done = self.run_tool(*words(path))
                self.assertNotEqual(done.returncode, 2, command)
                self.assertIn(f"outsize: warning: {path}: its name promises".encode(), done.stderr)
            self.assertEqual(self.output_of("sort", "--no-decompress", path), b"a\nb\n")
        self.assertEqual(self.output_of("sort", self.write("in.gz.txt", b"a\n")), b"a\n")

    def test_that_promise_too_much_are_refused_for_csv_and_records(self):
        path = self.write("in.gz", bytes(16))
        for command in ("sort", "uniq", "count", "shuffle", "check"):
            self.assert_refused("its name promises gzip", command, "--csv", path)
        self.assert_refused("its name promises gzip", "top", "--csv", "1", path)
        self.assert_refused("its name promises gzip", "join", "--csv", path, path)
        for words in ([], ["--decompress"]):
            self.assert_refused("its name promises gzip", "sort", "--format=u64", *words, path)
        self.assert_refused("--no-decompress", "check", "--format=u64", path)
        words = ("sort", "--format=u64", "--no-decompress", path)
        self.assertEqual(self.output_of(*words), bytes(16))
        for command in ("columnsort", "fft"):
            self.assert_refused("its name promises gzip", command, path, "-o", self.path("out"))


class NamesOfOutputs(CompressedTest):
    def test_that_promise_what_is_not_written_are_refused(self):
        plain = self.write("in", b"b\na\n")
        for name in ("out.zip", "out.Z", "out.7z", "out.rar", "out.lz", "out.lzma", "out.lzo",
                     "out.br", "out.sz", "out.tgz"):
            target = self.path(name)
            self.assert_refused(f"{target}: its name promises", "sort", plain, "-o", target)
        for words in (["sort", "-m"], ["count"], ["top", "1"], ["shuffle"], ["uniq"],
                      ["sort", "--plan"]):
            self.assert_refused(f"{target}: its name promises", *words, plain, "-o", target)
        self.assert_refused("its name promises", "join", plain, plain, "--output", target)
        self.assert_refused("its name promises", "gen", "u64", "--count=1", "-o", target)
        self.assert_refused("its name promises", "sort", plain, "--json", target)
        self.assertEqual(os.listdir(self.folder), ["in"])
        self.output_of("sort", "--compress-output=none", plain, "-o", self.path("out.zip"))
        self.assertEqual(self.read("out.zip"), b"a\nb\n")

    def test_that_promise_compression_get_it_from_all_commands(self):
        self.output_of("gen", "lines", "--count=9", "-o", self.path("out.bz2"))
        self.assertEqual(bz2.decompress(self.read("out.bz2")),
                         self.output_of("gen", "lines", "--count=9"))
        self.output_of("sort", "--json", self.path("json.gz"), "-o", self.path("out"))
        self.assertIn(b'"items": 0', gzip.decompress(self.read("json.gz")))
        records = self.write("in", bytes(64))
        for command in ("columnsort", "fft"):
            self.assert_refused("gzip", command, records, "-o", self.path("out.gz"))


class Utf16(CompressedTest):
    text = "b ö\na 😀\nb \u2028\na \0\n"

    def files(self):
        for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
            yield mark + self.text.encode(encoding)
            yield gzip.compress(mark + self.text.encode(encoding))

    def test_is_read_as_utf_8_by_every_command(self):
        plain = self.write("plain", self.text)
        calls = dict(COMMANDS, shuffle=lambda path: ["shuffle", "--seed=7", path])
        del calls["plan"]
        want = {command: self.run_tool(*words(plain)) for command, words in calls.items()}
        for data in self.files():
            path = self.write("in", data)
            for command, words in calls.items():
                got, wanted = self.run_tool(*words(path)), want[command]
                self.assertEqual((got.returncode, got.stdout), (wanted.returncode, wanted.stdout))
                self.assertEqual(got.stderr, wanted.stderr.replace(b"/plain", b"/in"), command)
            self.assertEqual(self.output_of("sort", stdin=data), want["sort"].stdout)
            with open(path, "rb") as file:
                done = subprocess.run([TOOL, "sort"], stdin=file, capture_output=True, check=True)
            self.assertEqual(done.stdout, want["sort"].stdout)
            self.assertIn(b"not known", self.output_of("sort", "--plan", path))

    def test_in_csv_and_larger_than_memory_is_sorted(self):
        rows = ["%d,\"ä,%d\"\r\n" % (self.random.randrange(10**9), i) for i in range(60_000)]
        path = self.write("in", b"\xff\xfe" + "".join(rows).encode("utf-16-le"))
        self.output_of("sort", "--csv", "-k1n", "-S", "2M", "-T", self.folder, path, "-o", path)
        want = "".join(sorted(rows, key=lambda row: (int(row.split(",")[0]), row.encode())))
        self.assertTrue(self.read("in") == want.encode())

    def test_that_is_malformed_is_refused_with_its_place(self):
        good = b"\xff\xfe" + "a\nb\n".encode("utf-16-le")
        for bad, place in ((b"\0\xdc", 10), (b"\0\xd8a\0", 10), (b"\0\xd8", 12), (b"a", 11)):
            target = self.write("out", "old")
            for data in (good + bad, gzip.compress(good + bad)):
                path = self.write("in", data)
                self.assert_refused(f"at byte {place}", "sort", path, "-o", target)
                self.assert_refused("--encoding=bytes", "sort", path, "-o", target)
            self.assertEqual(self.read("out"), b"old")
            data = good + bad
            want = b"".join(line + b"\n" for line in sorted(data.split(b"\n")))
            path = self.write("in", data)
            self.assertEqual(self.output_of("sort", "--encoding=bytes", path), want)

    def test_matters_for_text_only(self):
        data = b"\xff\xfe" + "b\na".encode("utf-16-le")
        path = self.write("in", data)
        self.assertEqual(self.output_of("sort", "--format", "bytes:8", path), data)
        packed = self.write("packed", gzip.compress(data))
        words = ("sort", "--format", "bytes:8", "--decompress", packed)
        self.assertEqual(self.output_of(*words), data)
        self.assertEqual(self.output_of("sort", "--encoding=bytes", "-z", packed),
                         b"".join(sorted(w + b"\0" for w in data.split(b"\0")[:-1])))


if __name__ == "__main__":
    print("seed", SEED, flush=True)
    unittest.main()
