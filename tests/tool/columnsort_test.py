# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize columnsort`: sorted files, pictures, refusals."""

import json
import os
import struct
import unittest

from outsize_tool import ToolTest


class Columnsort(ToolTest):
    def test_sorts_and_draws_what_ran(self):
        values = [i * 7919 % 100_003 for i in range(100_003)]
        source = self.write("in", struct.pack(f"={len(values)}Q", *values))
        self.output_of("columnsort", "-S", "2M", "-T", self.folder, source, "-o",
                       self.path("out"), "--json", self.path("json"), "--svg", self.path("x.svg"),
                       "--trace", self.path("t.json"))
        self.assertEqual(self.read("out"), struct.pack(f"={len(values)}Q", *sorted(values)))
        report = json.loads(self.read("json"))
        self.assertEqual((report["items"], report["passes"]), (len(values), 3))
        self.assertTrue(self.read("x.3.svg").startswith(b"<"))
        self.assertIn("traceEvents", json.loads(self.read("t.2.json")))

    def test_does_not_write_reports_of_later_passes_over_its_files(self):
        data = struct.pack("=8Q", *range(8))
        for option, first, later in (("--svg", "x.svg", "x.2.svg"), ("--trace", "x", "x.3")):
            source = self.write(later, data)
            report = [option, self.path(first)]
            self.assert_refused(f"an input and {option} of a later pass", "columnsort", source,
                                "-o", self.path("out"), *report)
            self.assert_refused(f"the output and {option} of a later pass", "columnsort",
                                self.write("in", data), "-o", source, *report)
            self.assertEqual(self.read(later), data)
        self.assert_refused("--svg and --trace of a later pass", "columnsort", source, "-o",
                            self.path("out"), "--trace", self.path("t.svg"), "--svg",
                            self.path("t.4.svg"))

    def test_refusals_name_the_thing(self):
        source = self.write("in", b"123456789")
        self.assert_refused("9 bytes", "columnsort", source, "-o", self.path("out"))
        self.assert_refused("no output", "columnsort", source)
        self.assert_refused("none", "columnsort", self.path("none"), "-o", self.path("out"))
        large = self.write("large", bytes(8_000_000))
        self.assert_refused("columnsort", "columnsort", "-S", "64K", large, "-o", self.path("out"))
        self.assert_refused("least", "columnsort", "--column", "512", large, "-o",
                            self.path("out"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "large"])


if __name__ == "__main__":
    unittest.main()
