# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize gen` and `outsize check` from outside, and what the tool says of itself."""

import json
import os
import signal
import struct
import subprocess
import unittest

from outsize_tool import TOOL, ToolTest

MASK = (1 << 64) - 1


def mix(x):
    """The finaliser of splitmix64, written down a second time on purpose."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def draw(seed, index):
    step = 0x9E3779B97F4A7C15
    return mix((mix((seed + step) & MASK) + index * step) & MASK)


class Frame(ToolTest):
    def test_help_and_version_succeed(self):
        self.assertIn(b"check", self.output_of("--help"))
        self.assertRegex(self.output_of("--version"), rb"^outsize \d+\.\d+\.\d+\n$")
        for command in ("gen", "check"):
            text = self.output_of(command, "--help").decode()
            self.assertTrue(text.startswith("usage: outsize " + command), text)

    def test_unknown_words_are_named(self):
        self.assert_refused("frobnicate", "frobnicate")
        self.assert_refused("no command")
        self.assert_refused("--frob", "gen", "u64", "--count", 1, "--frob")
        self.assert_refused("extra operand 'b'", "check", "a", "b")

    def test_output_that_does_not_arrive_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "--help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)


class Gen(ToolTest):
    def numbers(self, *words):
        data = self.output_of("gen", *words)
        return list(struct.unpack(f"<{len(data) // 8}Q", data))

    def test_u64_follows_its_definition(self):
        for seed, offset in ((0, 0), (7, 12345), (MASK, 1 << 40)):
            words = ("--count", 20, "--seed", seed, "--offset", offset)
            random = [draw(seed, offset + i) for i in range(20)]
            self.assertEqual(self.numbers("u64", *words), random)
            ascending = [(offset + i) << 20 | r >> 44 for i, r in enumerate(random)]
            self.assertEqual(self.numbers("u64-asc", *words), ascending)
            self.assertEqual(self.numbers("u64-desc", *words), [MASK - a for a in ascending])

    def test_parts_join_to_the_whole_in_a_file_and_on_stdout(self):
        for kind in ("u64", "u64-asc", "u64-desc", "u64-near", "u64-few", "u64-zipf", "u64-same",
                     "pairs", "triples", "f64", "records", "lines"):
            words = ("gen", kind, "--seed=3")
            whole = self.output_of(*words, "--count=40k")
            head = self.output_of(*words, "--count=15k")
            tail = self.output_of(*words, "--count=25000", "--offset=15k")
            self.assertEqual(whole, head + tail, kind)
            silence = self.output_of(*words, "--count=40k", "-o", self.path("f"))
            self.assertEqual(silence, b"")
            self.assertEqual(self.read("f"), whole, kind)

    def test_nothing_is_a_valid_amount(self):
        self.assertEqual(self.output_of("gen", "lines", "--count", 0), b"")

    def test_refusals_name_the_thing(self):
        self.assert_refused("'u65'", "gen", "u65", "--count", 1)
        self.assert_refused("KIND", "gen", "--count", 1)
        self.assert_refused("--count", "gen", "u64")
        self.assert_refused("'12x'", "gen", "u64", "--count", "12x")
        self.assert_refused("17592186044416", "gen", "u64-asc", "--count", 1, "--offset", 1 << 44)
        self.assert_refused("no/such", "gen", "u64", "--count", 1, "-o", self.path("no/such"))
        self.assert_refused(self.folder, "gen", "u64", "--count", 1, "-o", self.folder)

    def test_a_full_disk_is_an_error_and_devices_stay(self):
        self.assert_refused("No space left", "gen", "u64", "--count", 1000, "-o", "/dev/full")
        self.assertTrue(os.path.exists("/dev/full"))

    def test_a_closed_pipe_ends_it_quietly(self):
        command = [TOOL, "gen", "u64", "--count", "1T"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.read(100)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.returncode, -signal.SIGPIPE)


class Check(ToolTest):
    def check(self, *words, stdin=b""):
        """Returns (exit code, report)."""
        done = self.run_tool("check", *words, "--json", self.path("report"), stdin=stdin)
        self.assertEqual(done.stderr, b"")
        return done.returncode, json.loads(self.read("report"))

    def test_sorted_lines(self):
        code, report = self.check(self.write("f", "a\nb\nb\nlast"))
        self.assertEqual(code, 0)
        self.assertEqual((report["items"], report["duplicates"], report["input_bytes"]), (4, 1, 10))
        self.assertIs(report["sorted"], True)

    def test_the_first_disorder_is_named(self):
        path = self.write("f", "a\nc\nb\na\n")
        code, report = self.check(path)
        self.assertEqual((code, report["first_disorder"]), (1, {"item": 3, "offset_bytes": 4}))
        self.assertIn(b"line 3 (at byte 4)", self.run_tool("check", path).stdout)

    def test_an_empty_file_is_sorted(self):
        code, report = self.check(self.write("f", ""), "--against", self.write("g", ""))
        self.assertEqual((code, report["items"], report["against"]["same"]), (0, 0, True))

    def test_lines_obey_the_options_of_sort(self):
        path = self.write("f", "x,10,B\ny,9,a\nz,9,A\n")
        self.assertEqual(self.run_tool("check", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "-t,", "-k2,2n", path).returncode, 1)
        self.assertEqual(self.run_tool("check", "-t", ",", "-k2,2nr", "-s", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "-t,", "-k3,3fr", "-s", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "-ut,", "-k3,3fr", path).returncode, 1)
        self.assertEqual(self.run_tool("check", "-r", path).returncode, 1)

    def test_unique_demands_strict_order(self):
        self.assertEqual(self.run_tool("check", "-u", self.write("f", "a\nb\n")).returncode, 0)
        self.assertEqual(self.run_tool("check", "-u", self.write("f", "a\na\n")).returncode, 1)
        self.assertEqual(self.run_tool("check", "-fu", self.write("f", "A\na\n")).returncode, 1)

    def test_lines_may_end_with_nul_and_come_from_stdin(self):
        code, report = self.check("-z", "-", stdin=b"a\nb\0b\0")
        self.assertEqual((code, report["items"]), (0, 2))

    def test_long_lines_are_no_obstacle(self):
        code, report = self.check(self.write("f", b"a" * 3_000_000 + b"\n" + b"b" * 5_000_000))
        self.assertEqual((code, report["items"]), (0, 2))

    def test_binary_numbers_and_records(self):
        numbers = [-5, -1, 0, 7]
        path = self.write("f", struct.pack("<4q", *numbers))
        self.assertEqual(self.run_tool("check", "--format", "i64", path).returncode, 0)
        self.assertEqual(self.run_tool("check", "--format", "u64", path).returncode, 1)
        self.assertEqual(self.run_tool("check", "--format", "i64", "-r", path).returncode, 1)
        path = self.write("g", b"zz1yy1xx2")
        for words, code in (
            ([], 1),
            (["--key=2:1"], 0),
            (["-u", "--key=2:1"], 1),
            (["--key=0:1:u8:r"], 0),
        ):
            done = self.run_tool("check", "--format=bytes:3", *words, path)
            self.assertEqual(done.returncode, code, words)

    def test_against_compares_contents_in_any_order(self):
        one = self.write("one", "a\nb\nb\nc\n")
        for content, same in (
            ("b\nc\nb\na\n", True),
            ("b\nc\nb\na", True),
            ("b\nc\na\na\n", False),
            ("b\nc\nb\naa\n", False),
            ("a\nb\nc\n", False),
        ):
            code, report = self.check(one, "--against", self.write("two", content))
            self.assertEqual((code, report["against"]["same"]), (0 if same else 1, same), content)

    def test_a_changed_record_is_found(self):
        data = bytearray(self.output_of("gen", "u64-asc", "--count=100k", "--seed=2"))
        before = self.write("before", data)
        data[8 * 5000] ^= 1
        code, report = self.check("--format=u64", self.write("after", data), "--against", before)
        self.assertEqual((code, report["sorted"], report["against"]["same"]), (1, True, False))

    def test_generated_kinds_are_as_named(self):
        for kind, options in (("u64-asc", ["-u"]), ("u64-desc", ["-u", "-r"])):
            data = self.output_of("gen", kind, "--count=50k")
            self.assertEqual(self.check("--format=u64", *options, "-", stdin=data)[0], 0)

    def test_errors_name_the_thing(self):
        short = self.write("short", "abc")
        self.assert_refused("nowhere", "check", self.path("nowhere"))
        self.assert_refused("nowhere", "check", short, "--against", self.path("nowhere"))
        self.assert_refused("Is a directory", "check", self.folder)
        cut_short = short + ": the last record is cut short: 3 bytes are no multiple of 8"
        self.assert_refused(cut_short, "check", "--format=u64", short)
        self.assert_refused("FILE", "check")
        self.assert_refused("'u7'", "check", "--format=u7", short)
        self.assert_refused("2:2", "check", "--format=bytes:3", "--key=2:2", short)
        self.assert_refused("'0'", "check", "-k0", short)
        self.assert_refused("incompatible", "check", "-nM", short)
        self.assert_refused("-n", "check", "--format=u64", "-n", short)
        self.assert_refused("'ab'", "check", "-tab", short)


if __name__ == "__main__":
    unittest.main()
