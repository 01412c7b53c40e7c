# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""`outsize sort` and the file system: outputs, refusals, full disks, plans and reports."""

import outsize_tool
import array
import filecmp
import json
import os
import resource
import signal
import stat
import subprocess
import unittest

from outsize_tool import TOOL, TOOL_IS_SLOW, ToolTest

TEXT = b"b\nc\na\n"
SORTED = b"a\nb\nc\n"


class Output(ToolTest):
    def sort(self, *words):
        self.assertEqual(self.output_of("sort", *words), b"")

    def test_a_new_file_obeys_the_umask(self):
        source = self.write("in", TEXT)
        for mask in (0o022, 0o077, 0o002):
            target = self.path(f"out{mask}")
            subprocess.run([TOOL, "sort", source, "-o", target], check=True, umask=mask)
            self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o666 & ~mask)
            self.assertEqual(self.read(f"out{mask}"), SORTED)

    def test_a_replaced_file_keeps_mode_and_owner(self):
        target = self.write("out", "old")
        os.chmod(target, 0o640)
        if os.geteuid() == 0:
            os.chown(target, 12345, 54321)
        before = os.stat(target)
        self.sort(self.write("in", TEXT), "-o", target)
        after = os.stat(target)
        self.assertEqual((after.st_mode, after.st_uid, after.st_gid),
                         (before.st_mode, before.st_uid, before.st_gid))
        self.assertEqual(self.read("out"), SORTED)

    def test_the_output_may_be_an_input(self):
        for words in ([], ["-m"], ["-S", "2M"]):
            path = self.write("f", SORTED if words == ["-m"] else TEXT)
            self.sort(*words, path, path, "-o", path)
            self.assertEqual(self.read("f"), b"a\na\nb\nb\nc\nc\n")

    def test_links_stay_links(self):
        source = self.write("in", TEXT)
        for target, links in (("t1", ["l1"]), ("t2", ["l2", "l3", "l4"])):
            before = target
            for link in links:
                os.symlink(before, self.path(link))
                before = link
            for exists in (False, True):
                self.assertEqual(os.path.exists(self.path(target)), exists)
                self.sort(source, "-o", self.path(links[-1]))
                self.assertEqual(self.read(target), SORTED)
                self.assertTrue(all(os.path.islink(self.path(link)) for link in links))
        os.symlink("loop", self.path("loop"))
        self.assert_refused("loop", "sort", source, "-o", self.path("loop"))

    def test_what_is_no_file_is_written_through(self):
        source = self.write("in", TEXT)
        self.sort(source, "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertEqual(self.output_of("sort", source, "-o", "/dev/stdout"), SORTED)
        self.assertEqual(self.output_of("sort", source, "-o", "-"), SORTED)
        self.assert_refused("No space left", "sort", source, "-o", "/dev/full")

    def test_standard_output_by_name_is_not_begun_anew(self):
        source = self.write("in", TEXT)
        with open(self.path("out"), "wb", buffering=0) as out:
            out.write(b"before\n")
            subprocess.run([TOOL, "sort", source, "-o", "/dev/stdout"], stdout=out, check=True)
            out.write(b"behind\n")
        self.assertEqual(self.read("out"), b"before\n" + SORTED + b"behind\n")

    def test_errors_that_cannot_be_told_are_errors(self):
        for words, code in ((("sort", self.path("none")), 2),
                            (("sort", "--progress", self.path("none")), 2),
                            (("uniq", "--bad"), 2),
                            (("sort", "-c", self.write("in", b"b\na\n")), 1)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TOOL, *words], stderr=full, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, words)
            done = subprocess.run([TOOL, *words], preexec_fn=lambda: os.close(2),
                                  stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, code, words)

    def test_what_is_closed_is_neither_read_nor_written(self):
        source = self.write("in", TEXT)
        for number, words in ((0, ("sort", "-")), (0, ("join", source, "-")), (1, ("sort", source)),
                              (1, ("--version",))):
            done = subprocess.run([TOOL, *words], preexec_fn=lambda n=number: os.close(n),
                                  stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"Bad file descriptor", done.stderr)

    def test_reports_that_would_replace_the_output_are_refused(self):
        source = self.write("in", TEXT)
        out = self.path("out")
        self.assert_refused("is both the output and --json", "sort", source, "-o", out, "--json",
                            os.path.join(self.folder, ".", "out"))
        self.assert_refused("is both --json and --trace", "uniq", source, "--json", out, "--trace",
                            out)
        for words in (["sort", source], ["sort", "-m", source], ["uniq", source],
                      ["top", "3", source], ["count", source], ["shuffle", source],
                      ["join", source, source], ["check", source],
                      ["columnsort", source, "-o", out]):
            self.assert_refused("is both an input and --json", *words, "--json", source)
        self.assert_refused("is both an input and --trace", "sort", source, "--trace", source)
        self.assertEqual(os.listdir(self.folder), ["in"])
        self.assertEqual(self.read("in"), TEXT)
        self.sort(source, "--json", "/dev/null", "--trace", "/dev/null", "--report", "/dev/null",
                  "-o", "/dev/null")

    def test_reports_that_would_replace_what_options_name_are_refused(self):
        source = self.write("in", TEXT)
        names = self.write("names", source.encode() + b"\0")
        chance = self.write("chance", b"0123456789abcdef")
        matrix = self.write("matrix", "01\n10\n")
        before = {name: self.read(name) for name in os.listdir(self.folder)}
        for report in ("--json", "--trace", "--report"):
            for words in (["sort", "--files0-from", names], ["count", "--files0-from", names],
                          ["top", "1", "--files0-from", names]):
                self.assert_refused("is both an input and " + report, *words, report, names)
            for words in (["sort", "-R"], ["shuffle"]):
                self.assert_refused("is both an input and " + report, *words, source,
                                    "--random-source", chance, report, chance)
            self.assert_refused("is both an input and " + report, "permute", "--record=1",
                                "--matrix", matrix, source, "-o", self.path("out"), report, matrix)
            with open(source, "rb") as file:
                done = subprocess.run([TOOL, "sort", report, source], stdin=file,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual({name: self.read(name) for name in os.listdir(self.folder)}, before)

    def test_files_that_may_not_grow_are_told_of(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        source = self.path("in")
        self.output_of("gen", "u64", "--count", "20k", "-o", source)
        for words in (["gen", "u64", "--count", "500k"], ["sort", "--format=u64", source],
                      ["uniq", source], ["shuffle", source]):
            done = subprocess.run([TOOL, *words, "-o", self.path("out")], preexec_fn=limit,
                                  stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr, rb"^outsize [a-z]+: [^\n]*File too large\n$")
            self.assertEqual(os.listdir(self.folder), ["in"])

    @unittest.skipIf(TOOL_IS_SLOW, "sanitizers take more address space than there is")
    def test_default_memory_stays_below_limits_of_the_process(self):
        for limited in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            for words in (["sort"], ["count"], ["top", "2"], ["shuffle"]):
                done = subprocess.run(
                    [TOOL, *words, self.write("in", TEXT)], stdout=subprocess.PIPE,
                    preexec_fn=lambda: resource.setrlimit(limited, (1 << 30, 1 << 30)))
                self.assertEqual(done.returncode, 0, words)

    def test_messages_have_one_line_whatever_names_hold(self):
        self.assert_refused("no\\nsuch\\nfile", "sort", self.path("no\nsuch\nfile"))

    def test_standard_output_that_is_full_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "sort", self.write("in", TEXT)], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)

    def test_a_closed_pipe_ends_it_quietly(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "100k", "-o", path)
        for words in (["-S", "2M"], ["-S", "64M"], ["-m"]):
            with subprocess.Popen([TOOL, "sort", *words, path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.read(10)
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.returncode, -signal.SIGPIPE)

    def test_the_report_does_not_cost_the_sort(self):
        path = self.write("in", TEXT)
        out = self.path("out")
        for option in ("--json", "--trace", "--report"):
            self.assert_refused("/nope/r", "sort", path, option, "/nope/r", "-o", out)
            self.assertFalse(os.path.exists(out))


class Refusals(ToolTest):
    def test_inputs_that_cannot_be_read(self):
        good = self.write("good", TEXT)
        for words in ([], ["-m"], ["-c"], ["--plan"]):
            self.assert_refused("/no/such", "sort", *words, "/no/such")
            self.assert_refused(self.folder, "sort", *words, self.folder)
            self.assert_refused("good/x", "sort", *words, good + "/x")
        self.assert_refused("/proc/self/mem", "sort", "/proc/self/mem")
        self.assert_refused("/no/such", "sort", good, "/no/such", "-o", self.path("out"))
        self.assertEqual(os.listdir(self.folder), ["good"])

    @unittest.skipUnless(os.geteuid() != 0, "root may read everything")
    def test_a_file_without_permission(self):
        path = self.write("secret", TEXT)
        os.chmod(path, 0)
        self.assert_refused("secret", "sort", path)

    def test_outputs_that_cannot_be_made(self):
        path = self.write("in", TEXT)
        for target in ("/no/such/out", self.folder, "/proc/x", path + "/x", ""):
            self.assert_refused(target, "sort", path, "-o", target)
        self.assertEqual(self.read("in"), TEXT)

    def test_temporary_places_that_are_no_directories(self):
        path = self.write("in", TEXT)
        disk = self.write("disk", "precious")
        self.assert_refused("/no/such", "sort", "-T", "/no/such", path)
        self.assert_refused("disk: not a directory", "sort", "-T", disk, path)
        self.assert_refused("/dev/null: not a directory", "sort", "-T", "/dev/null", path)
        self.assertEqual(self.read("disk"), b"precious")

    def test_budgets_that_are_impossible(self):
        path = self.write("in", TEXT)
        for size in ("0", "1b", "1K", "1M", "0%", "4000G"):
            self.assert_refused(f"-S {size}: a memory budget", "sort", "-S", size, path)
            self.assert_refused(f"-S {size}: a memory budget", "sort", "-m", "-S", size, path)
        for size in ("", "x", "2Q", "-5M", "101%", "5 M", "99999999E"):
            self.assert_refused(f"'{size}'", "sort", "-S", size, path)

    def test_what_gnu_sort_has_and_we_lack(self):
        path = self.write("in", TEXT)
        for mention, words in (
            ("--debug", ["--debug"]),
            ("-y", ["-y10"]),
            ("'+1'", ["+1"]),
            ("'-2'", ["+1", "-2"]),
        ):
            self.assert_refused(mention, "sort", *words, path)

    def test_actions_that_exclude_each_other(self):
        path = self.write("in", TEXT)
        for other in (["--plan"], ["--json", "x"], ["--trace", "x"], ["--report", "x"], ["-C"],
                      ["-o", "x"]):
            self.assert_refused("-c and " + other[0], "sort", "-c", *other, path)
        for report in ("--json", "--trace", "--report"):
            self.assert_refused("--plan does nothing", "sort", "--plan", report, "x", path)

    def test_help_and_version(self):
        text = self.output_of("sort", "--help").decode()
        self.assertTrue(text.startswith("usage: outsize sort"))
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.assertTrue(self.output_of("sort", "--version").startswith(b"outsize "))


class SmallDisk(ToolTest):
    """A disk of its own for runs and output, and 16 MiB of numbers elsewhere."""
    size = "6m"

    def setUp(self):
        super().setUp()
        self.small = self.path("small")
        os.mkdir(self.small)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none",
                                  self.small],
                                 stderr=subprocess.DEVNULL).returncode if os.geteuid() == 0 else 1
        if mounted != 0:
            self.skipTest("no small file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", self.small])
        self.source = self.path("in")
        self.output_of("gen", "u64", "--count", "2M", "-o", self.source)


class DiskForTheOutputAlone(SmallDisk):
    size = "20m"

    def words(self):
        return ["sort", "--format=u64", "-S", "8M", "--run-codec=none", "-T", self.small,
                self.source, "-o", os.path.join(self.small, "out")]

    def test_is_enough_where_runs_can_be_written_over(self):
        self.output_of(*self.words(), "--json", self.path("report"))
        report = json.loads(self.read("report"))
        self.assertTrue(report["output_over_runs"])
        self.assertGreater(report["runs"], 2)
        self.output_of("check", "--format=u64", os.path.join(self.small, "out"), "--against",
                       self.source)

    def test_is_planned_with_both_sizes(self):
        plan = self.output_of(*self.words(), "--plan").decode()
        self.assertRegex(plan, r"peak disk .*; .* if runs can be written over by the output")
        self.assertEqual(os.listdir(self.small), [])

    def test_is_too_little_where_runs_are_in_the_way(self):
        with open(self.source, "r+b") as file:
            for stretch in range(16):  # the keys of one all come before those of another
                items = array.array("Q", file.read(1_000_000))
                for i, item in enumerate(items):
                    items[i] = (item >> 8) + ((5 * stretch + 3) % 16 << 56)
                file.seek(-1_000_000, os.SEEK_CUR)
                file.write(items)
        self.assert_refused("space", *self.words())
        self.assertEqual(os.listdir(self.small), [])


class FullDisk(SmallDisk):
    def assert_full(self, *words, stdin=b""):
        self.assert_refused("small", "sort", "--format=u64", "-S", "2M", *words, stdin=stdin)
        message = self.run_tool("sort", "--format=u64", "-S", "2M", *words, stdin=stdin).stderr
        self.assertRegex(message, rb"(?i)space")
        self.assertEqual(os.listdir(self.small), [])

    def test_known_inputs_are_refused_before_the_work(self):
        self.assert_full("-T", self.small, self.source, "-o", self.path("out"))
        self.assert_full("-T", self.folder, self.source, "-o", os.path.join(self.small, "out"))
        self.assertFalse(os.path.exists(self.path("out")))

    def test_it_fills_up_during_the_work(self):
        data = self.read("in")
        self.assert_full("-T", self.small, "-o", self.path("out"), stdin=data)
        self.assert_full("-T", self.folder, "-o", os.path.join(self.small, "out"), stdin=data)
        self.assertFalse(os.path.exists(self.path("out")))

    def test_the_generator_leaves_nothing_either(self):
        target = os.path.join(self.small, "out")
        self.assert_refused("small", "gen", "u64", "--count", "2M", "-o", target)
        self.assertEqual(os.listdir(self.small), [])


class Plan(ToolTest):
    def plan(self, *words):
        rows = {}
        for line in self.output_of("sort", "--plan", *words).decode().splitlines():
            name, _, value = line.partition("  ")
            rows[name] = value.strip()
        return rows

    def bytes_of(self, text):
        return int(text.partition("(")[2].split()[0])

    def test_u64_does_what_was_planned(self):
        path = self.path("in")
        self.output_of("gen", "u64", "--count", "3M", "-o", path)
        for words in (["-S", "2M"], ["-S", "3M", "--parallel=1"], ["-S", "16M"], ["-S", "100M"]):
            words = ["--format=u64", "--run-codec=none", "-T", self.folder, *words, path]
            plan = self.plan(*words, "-o", self.path("out"))
            self.assertEqual(os.listdir(self.folder), ["in"])
            self.output_of("sort", *words, "-o", "/dev/null", "--json", self.path("report"))
            report = json.loads(self.read("report"))
            os.remove(self.path("report"))
            self.assertEqual(int(plan["runs"].split()[0].rstrip(":")), report["runs"], words)
            self.assertEqual(int(plan["passes"]), report["passes"], words)
            self.assertEqual(self.bytes_of(plan["block"]), report["block_bytes"], words)
            self.assertGreaterEqual(self.bytes_of(plan["peak disk"]), report["peak_disk_bytes"])
            moved = self.bytes_of(plan["to read"])
            self.assertLessEqual(abs(moved - report["read_bytes"]), 0.1 * moved + (1 << 20), words)

    def test_encoded_runs_change_nothing_but_the_bytes_moved(self):
        path = self.path("in")
        for kind, item in (("u64", 8), ("u64-few", 8), ("pairs", 16)):
            self.output_of("gen", kind, "--count", "2M", "-o", path)
            reports = {}
            for codec in ("none", "always", "auto"):
                self.output_of("sort", f"--format={'u64' if item == 8 else 'bytes:16'}", "-S", "8M",
                               f"--run-codec={codec}", "-T", self.folder, path, "-o",
                               self.path(codec), "--json", self.path("report"))
                reports[codec] = json.loads(self.read("report"))
                os.remove(self.path("report"))
                same = filecmp.cmp(self.path("none"), self.path(codec), shallow=False)
                self.assertTrue(same, (kind, codec))
            plain, encoded = reports["none"], reports["always"]
            self.assertGreater(plain["runs"], 0)
            self.assertEqual(plain["encoded_runs"], 0)
            self.assertGreaterEqual(plain["run_disk_bytes"], plain["run_items"] * item)
            self.assertEqual(encoded["encoded_runs"], encoded["runs"])
            self.assertLess(encoded["run_disk_bytes"], 0.9 * plain["run_disk_bytes"])
            self.assertLess(encoded["read_bytes"], 0.98 * plain["read_bytes"])

    def test_encoded_runs_of_lines_change_nothing_but_the_bytes_moved(self):
        path = self.path("in")
        with open(path, "w", encoding="ascii") as file:
            for i in range(200_000):
                file.write(f"https://example.org/{i % 100}/{i * 7919 % 100_000}\n")
        for options in ([], ["-u"], ["-k1.25,1"]):
            reports = {}
            for codec in ("none", "always", "auto"):
                self.output_of("sort", "-S", "2M", f"--run-codec={codec}", "-T", self.folder,
                               *options, path, "-o", self.path(codec), "--json",
                               self.path("report"))
                reports[codec] = json.loads(self.read("report"))
                os.remove(self.path("report"))
                same = filecmp.cmp(self.path("none"), self.path(codec), shallow=False)
                self.assertTrue(same, (options, codec))
            plain, encoded = reports["none"], reports["always"]
            self.assertEqual(encoded["encoded_runs"], encoded["runs"])
            self.assertGreater(encoded["runs"], 0)
            self.assertLess(encoded["run_disk_bytes"], 0.6 * plain["run_disk_bytes"])

    def test_unknown_sizes_and_merges(self):
        text = self.output_of("sort", "--plan", stdin=TEXT)
        self.assertIn(b"not known", text)
        path = self.write("in", SORTED)
        self.assertEqual(self.plan("-m", path)["passes"], "0")
        self.assertEqual(self.bytes_of(self.plan("-m", path, path)["to read"]), 2 * len(SORTED))
        self.assertEqual(self.plan(self.write("empty", ""))["runs"][0], "0")


class Report(ToolTest):
    def test_fields_of_a_sort_of_lines(self):
        path = self.path("in")
        self.output_of("gen", "lines", "--count", "100k", "-o", path)
        size = os.path.getsize(path)
        self.output_of("sort", "-S", "2M", "--parallel=2", "-T", self.folder, path, "-o",
                       self.path("out"), "--json", self.path("report"))
        report = json.loads(self.read("report"))
        self.assertEqual((report["items"], report["input_bytes"]), (100_000, size))
        self.assertEqual((report["memory_bytes"], report["threads"]), (2 << 20, 2))
        self.assertGreater(report["runs"], 1)
        self.assertGreaterEqual(report["passes"], 1)
        for field in ("read_bytes", "written_bytes"):
            self.assertGreaterEqual(report[field], 2 * size)
        for field in ("seconds", "cpu_seconds"):
            self.assertGreater(report[field], 0)
        self.assertGreaterEqual(report["io_wait_seconds"], 0)
        # A sanitizer's own memory is no part of the promise.
        with open(outsize_tool.TOOL, "rb") as tool:
            sanitized = b"__asan_init" in tool.read()
        if not sanitized:
            self.assertLess(report["peak_rss_bytes"], (2 + 64) << 20)

    def test_a_failed_sort_leaves_no_report(self):
        report = self.write("report", "old")
        for option in ("--json", "--trace", "--report"):
            self.run_tool("sort", "/no/such", option, report)
            self.assertEqual(self.read("report"), b"old")

    def test_stages_and_trace(self):
        path, trace = self.path("in"), self.path("trace")
        self.output_of("gen", "lines", "--count", "50k", "-o", path)
        for words, expected in (
                (["-S", "2M"], {"read input", "sort", "write runs", "cut", "merge",
                                "write output"}),
                (["-S", "64M"], {"read input", "sort", "cut", "merge", "write output"}),
                (["-m", self.write("empty", "")], set())):
            self.output_of("sort", *words, "-T", self.folder, path, "-o", self.path("out"),
                           "--json", self.path("report"), "--trace", trace)
            networks = json.loads(self.read("report"))["networks"]
            timed = {stage["name"] for network in networks for stage in network["stages"]
                     if stage["busy_seconds"] > 0}
            self.assertLessEqual(expected, timed, words)
            events = json.loads(self.read("trace"))["traceEvents"]
            traced = {event["name"] for event in events if event["ph"] == "X"}
            self.assertLessEqual(expected | {"files, reading", "files, writing"}, traced, words)

    def test_progress_goes_to_what_is_no_terminal_if_asked(self):
        path = self.path("in")
        self.output_of("gen", "u64", "--count", "1M", "-o", path)
        words = ("sort", "--format=u64", "-S", "2M", "-T", self.folder, path, "-o", "/dev/null")
        done = self.run_tool(*words, "--progress")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"%", done.stderr)
        self.assertEqual(self.run_tool(*words, "--no-progress").stderr, b"")


if __name__ == "__main__":
    unittest.main()
