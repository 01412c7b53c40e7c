# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize permute`: every record at its place, reports, refusals."""

import json
import os
import struct
import unittest

from outsize_tool import ToolTest


def numbers(values):
    return struct.pack(f"={len(values)}Q", *values)


class Permute(ToolTest):
    def permuted(self, count, *words):
        source = self.write("in", numbers(range(count)))
        self.output_of("permute", *words, source, "-o", self.path("out"))
        return list(struct.unpack(f"={count}Q", self.read("out")))

    def test_named_permutations(self):
        reversed_bits = [int(f"{x:015b}"[::-1], 2) for x in range(1 << 15)]
        self.assertEqual(self.permuted(1 << 15, "--bit-reversal"), reversed_bits)
        self.assertEqual(self.permuted(1 << 15, "--bit-reversal", "-S", "32K"), reversed_bits)
        self.assertEqual(self.permuted(128, "--transpose", "8:16"),
                         [row * 16 + column for column in range(16) for row in range(8)])
        gray = self.permuted(64, "--gray")
        self.assertTrue(all(gray[x ^ x >> 1] == x for x in range(64)))
        self.assertEqual(self.permuted(64, "--inverse-gray"), [x ^ x >> 1 for x in range(64)])

    def test_any_matrix_in_place(self):
        matrix = self.write("matrix", "110\n010\n101\n")
        source = self.write("in", numbers(range(8)))
        self.output_of("permute", "--matrix", matrix, "--complement", "5", source, "-o", source)
        values = struct.unpack("=8Q", self.read("in"))
        for x in range(8):
            bits = [x & 1, x >> 1 & 1, x >> 2 & 1]
            y = (bits[0] ^ bits[1]) | bits[1] << 1 | (bits[0] ^ bits[2]) << 2
            self.assertEqual(values[y ^ 5], x)

    def test_reports(self):
        self.permuted(1 << 14, "--bit-reversal", "-S", "16K", "--json", self.path("json"),
                      "--svg", self.path("x.svg"), "--trace", self.path("t.json"))
        report = json.loads(self.read("json"))
        self.assertGreater(report["passes"], 1)
        self.assertEqual(report["read_bytes"], report["passes"] << 17)
        self.assertEqual(report["written_bytes"], report["passes"] << 17)
        self.assertTrue(self.read("x.2.svg").startswith(b"<"))
        self.assertIn("traceEvents", json.loads(self.read("t.json")))

    def test_refusals_name_the_thing(self):
        source = self.write("in", bytes(1 << 20))
        to = ("-o", self.path("out"))
        self.assert_refused("no permutation", "permute", source, *to)
        self.assert_refused("no output", "permute", "--gray", source)
        self.assert_refused("none", "permute", "--gray", self.path("none"), *to)
        self.assert_refused("48 bytes", "permute", "--gray", "--record", "48", source, *to)
        self.assert_refused("-S 4K", "permute", "--bit-reversal", "-S", "4K", source, *to)
        self.assert_refused("2^17", "permute", "--transpose", "2:4", source, *to)
        odd = self.write("odd", bytes(24))
        self.assert_refused("odd: the number of its records, 3", "permute", "--gray", odd, *to)
        singular = self.write("singular", "11\n11\n")
        four = self.write("four", bytes(32))
        self.assert_refused("rank 1", "permute", "--matrix", singular, four, *to)
        broken = self.write("broken", "12\n11\n")
        self.assert_refused("broken", "permute", "--matrix", broken, four, *to)
        self.assertFalse(os.path.exists(self.path("out")))


if __name__ == "__main__":
    unittest.main()
