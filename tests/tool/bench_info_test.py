# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize bench` and `outsize info` from outside: reports, refusals, nothing left behind."""

import json
import os
import signal
import subprocess
import time
import unittest

from outsize_tool import TOOL, ToolTest

SPEEDS = ("read_bytes_per_second", "write_bytes_per_second", "mixed_bytes_per_second")


class BenchDisk(ToolTest):
    def test_reports_speeds_and_conditions(self):
        text = self.output_of("bench", "disk", "-T", self.folder, "--size", "1M", "--block", "64K",
                              "--depth", 2, "--json", self.path("report"))
        self.assertIn(b"both at once", text)
        report = json.loads(self.read("report"))
        for field in SPEEDS:
            self.assertGreater(report[field], 0)
        self.assertEqual((report["read_block_bytes"], report["depth"]), (1 << 16, 2))
        self.assertEqual(report["write_block_bytes"], 1 << 16)
        self.assertIn(report["backend"], ("io_uring", "threads"))

    def test_leaves_nothing_behind(self):
        self.output_of("bench", "disk", "-T", self.folder, "--size", "1M")
        self.assertEqual(os.listdir(self.folder), [])

    def test_refusals_name_the_thing(self):
        self.assert_refused("/no/such", "bench", "disk", "-T", "/no/such")
        self.assert_refused("'frob'", "bench", "frob")
        self.assert_refused("'frob'", "bench", "disk", "--backend", "frob")
        self.assert_refused("'x'", "bench", "disk", "x")
        self.assert_refused("depth", "bench", "disk", "--depth", 0)


class BenchSort(ToolTest):
    def sort(self, *words):
        return self.output_of("bench", "sort", "-T", self.folder, "--memory", "8M", *words)

    def test_sorts_and_checks_every_kind(self):
        for kind in ("u64", "records", "lines"):
            text = self.sort("--size", "1M", "--kind", kind, "--json", self.path(kind))
            self.assertIn(b"in order and complete", text)
            report = json.loads(self.read(kind))
            self.assertTrue(report["verified"])
            self.assertGreater(report["share_of_floor"], 0)
        self.assertEqual(sorted(os.listdir(self.folder)), ["lines", "records", "u64"])

    def test_refusals_name_the_thing(self):
        self.assert_refused("'words'", "bench", "sort", "--kind", "words")
        self.assert_refused("/no/such", "bench", "sort", "-T", "/no/such")

    def test_an_interrupted_one_cleans_up(self):
        process = subprocess.Popen(
            [TOOL, "bench", "sort", "-T", self.folder, "--memory", "8M", "--size", "128M"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while process.poll() is None and not os.listdir(self.folder):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, message = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143, message)
        self.assertIn(b"interrupted", message)
        self.assertEqual(os.listdir(self.folder), [])


class Info(ToolTest):
    def test_tells_of_machine_and_disks(self):
        text = self.output_of("info", "--quick", "-T", self.folder, "--json", self.path("report"))
        for word in (b"threads", b"memory", b"back-end", self.folder.encode()):
            self.assertIn(word, text)
        report = json.loads(self.read("report"))
        self.assertGreaterEqual(report["threads"], 1)
        self.assertEqual([disk["directory"] for disk in report["disks"]], [self.folder])
        self.assertNotIn("read_bytes_per_second", report["disks"][0])

    def test_shows_the_disks_in_force_with_their_settings(self):
        raw = self.write("raw", b"x" * (1 << 20))
        disks = (f"{self.folder} capacity=3MiB backend=threads direct=no depth=5 read=3GiB/s "
                 f"write=2GiB/s\n{raw} raw=yes read=1GiB/s\n")
        for value in (self.write("list", disks), disks.replace("\n", ";")):
            self.environment = {"OUTSIZE_DISKS": value}
            text = self.output_of("info", "--quick", "--json", self.path("report")).decode()
            for line in ("raw            no, a directory", "capacity       3 MiB",
                         "free           3 MiB", "back-end       threads, 5 requests under way",
                         "direct I/O     no, through the page cache",
                         "given speed    reading 3 GiB/s, writing 2 GiB/s",
                         "raw            yes, a file or device that is written over",
                         "given speed    reading 1 GiB/s, writing not given"):
                self.assertIn(f"  {line}\n", text)
            first, second = json.loads(self.read("report"))["disks"]
            self.assertEqual((first["directory"], first["raw"], first["capacity_bytes"],
                              first["backend"], first["queue_depth"], first["direct"],
                              first["given_read_bytes_per_second"]),
                             (self.folder, False, 3 << 20, "threads", 5, False, 3 << 30))
            self.assertEqual((second["directory"], second["raw"], second["capacity_bytes"],
                              second["given_write_bytes_per_second"]), (raw, True, None, None))
        self.environment = {"OUTSIZE_DISKS": f"{raw} raw=yes;"}
        self.assertIn(b"not measured", self.output_of("info"))
        self.assertEqual(self.read("raw"), b"x" * (1 << 20))

    def test_measures_a_line_for_a_list(self):
        text = self.output_of("info", "-T", self.folder, "--json", self.path("report")).decode()
        line = json.loads(self.read("report"))["disks"][0]["line"]
        self.assertIn(f"  in a list      {line}\n", text)
        self.assertRegex(line, f"^{self.folder} read=[0-9]+MiB/s write=[0-9]+MiB/s$")
        self.environment = {"OUTSIZE_DISKS": f"{line};"}
        self.assertIn(b"given speed    reading ", self.output_of("info", "--quick"))

    def test_a_malformed_list_is_all_that_is_said(self):
        listed = self.write("list", f"{self.folder}\n{self.folder} depth=none\n")
        self.environment = {"OUTSIZE_DISKS": listed}
        self.assert_refused(f"{listed}:2: 'depth=none': a number", "info", "--quick")
        self.environment = {"OUTSIZE_DISKS": f"{self.folder} raw=yes;"}
        self.assert_refused(f"{self.folder}", "info", "--quick")
        self.environment = {"OUTSIZE_DISKS": f"{self.folder} read=1GiB/s;{self.folder};"}
        self.assert_refused("no bandwidth is given", "info", "--quick")

    def test_refusals_name_the_thing(self):
        self.assert_refused("/no/such", "info", "--quick", "-T", "/no/such")
        self.assert_refused("'x'", "info", "x")


if __name__ == "__main__":
    unittest.main()
