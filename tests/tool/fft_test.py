# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize fft`: known transforms, there and back, refusals."""

import cmath
import json
import os
import struct
import unittest

from outsize_tool import ToolTest


def packed(values):
    return b"".join(struct.pack("=dd", value.real, value.imag) for value in values)


def unpacked(data):
    return [complex(*pair) for pair in struct.iter_unpack("=dd", data)]


class Fft(ToolTest):
    def fft(self, source, *words):
        self.output_of("fft", "-T", self.folder, source, "-o", self.path("out"), *words)
        return unpacked(self.read("out"))

    def test_one_frequency_becomes_one_number(self):
        count, frequency = 4096, 77
        wave = [cmath.exp(2j * cmath.pi * frequency * i / count) for i in range(count)]
        found = self.fft(self.write("in", packed(wave)), "-S", "1M", "--json", self.path("json"))
        for k, value in enumerate(found):
            self.assertAlmostEqual(abs(value), count if k == frequency else 0, delta=1e-8)
        self.assertEqual(json.loads(self.read("json"))["items"], count)

    def test_there_and_back_in_several_passes(self):
        values = [complex(i * 7919 % 1009, -i * 31 % 97) for i in range(1 << 16)]
        source = self.write("in", packed(values))
        self.output_of("fft", "-S", "512K", "-T", self.folder, source, "-o", self.path("there"),
                       "--json", self.path("json"))
        self.assertGreater(json.loads(self.read("json"))["passes"], 1)
        back = self.fft(self.path("there"), "-S", "512K", "--inverse")
        self.assertLess(max(abs(a - b) for a, b in zip(values, back)), 1e-9)

    def test_refusals_name_the_thing(self):
        source = self.write("in", bytes(48))
        self.assert_refused("48 bytes", "fft", source, "-o", self.path("out"))
        self.assert_refused("none", "fft", self.path("none"), "-o", self.path("out"))
        self.assertEqual(os.listdir(self.folder), ["in"])


if __name__ == "__main__":
    unittest.main()
