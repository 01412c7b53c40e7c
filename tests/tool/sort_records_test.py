# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize sort --format ...` against a stable sort in memory."""

import os
import random
import struct
import unittest

from outsize_tool import ToolTest

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20250107"))
CODES = {"u32": "I", "u64": "Q", "i32": "i", "i64": "q", "f32": "I", "f64": "Q"}


def total_order(bits, width):
    """IEEE totalOrder on bit patterns: negative ones count backwards, below the positive ones."""
    sign = 1 << (width - 1)
    return ~bits & (2 * sign - 1) if bits & sign else bits | sign


class Numbers(ToolTest):
    def sort(self, kind, numbers, *words):
        code = CODES[kind]
        data = struct.pack(f"<{len(numbers)}{code}", *numbers)
        out = self.output_of("sort", "--format", kind, *words, self.write("in", data))
        return list(struct.unpack(f"<{len(out) // struct.calcsize(code)}{code}", out))

    def draw(self, kind, count, seed):
        draw = random.Random(seed)
        width = 8 * struct.calcsize(CODES[kind])
        low = -(1 << (width - 1)) if kind[0] == "i" else 0
        edges = [low, low + 1, 0, 1, (1 << width) + low - 1, 1 << (width - 2)]
        return [draw.choice(edges) if draw.random() < 0.2 else low + draw.getrandbits(width)
                for _ in range(count)]

    def expected(self, kind, numbers, reverse=False, unique=False):
        width = 8 * struct.calcsize(CODES[kind])
        key = (lambda x: total_order(x, width)) if kind[0] == "f" else None
        numbers = list(dict.fromkeys(numbers)) if unique else numbers
        return sorted(numbers, key=key, reverse=reverse)

    def test_every_kind_every_way(self):
        print("seed", SEED, flush=True)
        for kind in CODES:
            for count in (0, 1, 2, 3000):
                numbers = self.draw(kind, count, SEED + count)
                for reverse in (False, True):
                    for unique in (False, True):
                        words = ["-r"] * reverse + ["-u"] * unique
                        expected = self.expected(kind, numbers, reverse, unique)
                        self.assertEqual(self.sort(kind, numbers, *words), expected,
                                         (kind, count, words))

    def test_every_kind_through_the_disk(self):
        for kind in CODES:
            numbers = self.draw(kind, 3_200_000 // struct.calcsize(CODES[kind]), SEED)
            words = ("-S", "2M", "-T", self.folder, "--json", self.path("report"))
            self.assertTrue(self.sort(kind, numbers, *words) == self.expected(kind, numbers), kind)
            self.assertNotIn(b'"runs": 0', self.read("report"))

    def test_check_and_merge(self):
        a = self.write("a", struct.pack("<3q", -5, 0, 7))
        b = self.write("b", struct.pack("<3q", -6, 0, 9))
        merged = self.output_of("sort", "-m", "--format=i64", a, b)
        self.assertEqual(struct.unpack("<6q", merged), (-6, -5, 0, 0, 7, 9))
        merged = self.output_of("sort", "-mu", "--format=i64", a, b)
        self.assertEqual(struct.unpack("<5q", merged), (-6, -5, 0, 7, 9))
        self.output_of("sort", "-c", "--format=i64", a)
        done = self.run_tool("sort", "-c", "--format=u64", a)
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"outsize sort: {a}:2: disorder\n".encode()))
        self.assertEqual(self.run_tool("sort", "-C", "--format=u64", a).returncode, 1)
        twice = self.write("twice", struct.pack("<2q", 1, 1))
        self.assertEqual(self.run_tool("sort", "-cu", "--format=i64", twice).returncode, 1)

    def test_numbers_come_from_pipes_and_several_files(self):
        a = self.write("a", struct.pack("<2I", 3, 1))
        out = self.output_of("sort", "--format", "u32", a, "-", a, stdin=struct.pack("<I", 2))
        self.assertEqual(struct.unpack("<5I", out), (1, 1, 2, 3, 3))


class Records(ToolTest):
    def records(self, count, length, seed):
        draw = random.Random(seed)
        return [bytes(draw.choice(b"\0\1ab\xff") for _ in range(length)) for _ in range(count)]

    def assert_sorts(self, records, key, *words, reverse=False, unique=False):
        expected = sorted(records, key=key, reverse=reverse)
        if unique:
            first = {}
            for record in expected:
                first.setdefault(key(record), record)
            expected = list(first.values())
        path = self.write("in", b"".join(records))
        out = self.output_of("sort", f"--format=bytes:{len(records[0])}", *words, path)
        self.assertTrue(out == b"".join(expected), words)

    def test_keys_of_every_type(self):
        print("seed", SEED, flush=True)
        records = self.records(2000, 13, SEED)

        def number(begin, code):
            length = struct.calcsize(code)
            return lambda r: struct.unpack("<" + code, r[begin : begin + length])[0]

        for key, words in (
            (lambda r: r, []),
            (lambda r: r[2:5], ["--key", "2:3"]),
            (lambda r: r[12], ["--key", "12:1"]),
            (number(1, "I"), ["--key", "1:4:u32"]),
            (number(5, "q"), ["--key", "5:8:i64"]),
            (lambda r: (number(0, "i")(r), r[4:6]), ["--key", "0:4:i32", "--key", "4:2"]),
        ):
            self.assert_sorts(records, key, *words)
            self.assert_sorts(records, key, "-s", *words)
            self.assert_sorts(records, key, "-u", *words, unique=True)
        backwards = bytes.maketrans(bytes(range(256)), bytes(reversed(range(256))))
        self.assert_sorts(records, lambda r: r[2:5].translate(backwards), "--key=2:3:bytes:r")
        self.assert_sorts(records, lambda r: -number(1, "I")(r), "--key=1:4:u32:r")
        # -r reverses the comparison, not the order of equal records.
        self.assert_sorts(records, lambda r: -number(1, "I")(r), "-r", "--key=1:4:u32")

    def test_records_through_the_disk(self):
        words = ("-S", "2M", "-T", self.folder)
        for length in (1, 3, 100, 5000):
            records = self.records(min(3_000_000 // length, 200_000), 1, SEED)
            records = [r + bytes(length - 1) for r in records]
            for i in range(0, len(records), 7):
                records[i] = records[i][:-1] + b"z"
            self.assert_sorts(records, lambda r: r[:1], "--key=0:1", *words)

    def test_a_record_cut_short_names_the_numbers(self):
        path = self.write("cut", b"x" * 11)
        for words in ([], ["-c"], ["-m"], ["--plan"], ["-o", self.path("out")]):
            self.assert_refused("cut", "sort", "--format=u64", *words, path)
            message = self.run_tool("sort", "--format=u64", *words, path).stderr
            self.assertIn(b"11", message)
            self.assertIn(b"8", message)
        self.assert_refused("11", "sort", "--format=u64", stdin=b"x" * 11)
        self.assert_refused("11", "sort", "--format=bytes:3", stdin=b"x" * 11)
        self.assertEqual(os.listdir(self.folder), ["cut"])

    def test_bad_formats_and_keys_are_named(self):
        path = self.write("in", b"ab")
        for mention, words in (
            ("u65", ["--format=u65"]),
            ("bytes:0", ["--format=bytes:0"]),
            ("bytes:x", ["--format=bytes:x"]),
            ("0:3", ["--format=bytes:2", "--key=0:3"]),
            ("'a'", ["--format=bytes:2", "--key=a"]),
            ("0:1:u64", ["--format=bytes:2", "--key=0:1:u64"]),
            ("1,1", ["--format=u64", "-k1,1"]),
            ("-f", ["--format=bytes:2", "-f"]),
            ("-z", ["--format=bytes:2", "-z"]),
            ("-t", ["--format=bytes:2", "-t,"]),
        ):
            self.assert_refused(mention, "sort", *words, path)


if __name__ == "__main__":
    unittest.main()
