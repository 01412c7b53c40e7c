#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What outsize-run tells of a run: --report, --json, the line on a terminal; limits it checks."""

import json
import os
import pty
import resource
import subprocess
import sys
import unittest

from mpi_run import BIN, HERE, ROOT, MpiTest, processes_of

sys.path.insert(0, str(ROOT / "tests/tool"))
from html_page import whole_page  # noqa: E402

RANKS, NUMBERS, ROUNDS, EACH = 8, 120_000, 3, 100
NOBODY = 65534


class Reports(MpiTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page, cls.json = cls.folder / "page.html", cls.folder / "run.json"

    def setUp(self):
        self.program = self.compiled("known_volume", HERE / "known_volume.c")
        for path in (self.page, self.json):
            path.unlink(missing_ok=True)

    def run_known(self, *more, options=(), **how):
        return self.run_ranks(
            RANKS, self.program, NUMBERS, ROUNDS, EACH, *more, memory="8M",
            options=("--report", self.page, "--json", self.json, "-k", "1", *options), **how)

    def read_json(self):
        return json.loads(self.json.read_text(encoding="ascii"))

    def read_page(self):
        return whole_page(self, self.page.read_text())

    def test_have_the_bytes_that_follow_from_the_program(self):
        done = self.run_known()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "verified\n", ""))
        run = self.read_json()
        totals, plan = run["totals"], run["plan"]
        self.assertIsNone(run["failure"])
        self.assertEqual(run["ranks_ended"], RANKS)
        self.assertEqual((plan["ranks"], plan["at_once"], plan["memory_bytes"]),
                         (RANKS, 1, 8 << 20))
        exchanged = ROUNDS * RANKS * (RANKS - 1) * EACH * 8  # own parts are not sent
        self.assertGreaterEqual(totals["sent_bytes"], exchanged)
        self.assertLessEqual(totals["sent_bytes"], exchanged + 100 * RANKS)  # MPI_Reduce
        self.assertEqual(totals["received_bytes"], totals["sent_bytes"])
        # Contexts of c bytes all change in each round; as many stay as there are frames for.
        contexts = RANKS * NUMBERS * 8
        self.assertGreaterEqual(totals["written_bytes"], ROUNDS * (contexts - plan["frame_bytes"]))
        self.assertGreater(totals["read_bytes"], 0)
        self.assertEqual(totals["written_bytes"] + totals["stored_written_bytes"],
                         run["disk_written_bytes"])
        self.assertEqual(totals["read_bytes"] + totals["stored_read_bytes"],
                         run["disk_read_bytes"])
        self.assertEqual(totals["moved_bytes"], sum(totals[name] for name in (
            "written_bytes", "read_bytes", "stored_written_bytes", "stored_read_bytes")))
        self.assertEqual(totals["formula_bytes"],
                         totals["changed_bytes"] + totals["used_bytes"]
                         + 2 * totals["stored_bytes"] + totals["lent_bytes"])
        self.assertEqual(totals["changed_bytes"], totals["written_bytes"])
        self.assertGreater(totals["computing_seconds"], 0)

    def test_add_up_to_the_bytes_of_the_disks(self):
        program = self.compiled("psrs", ROOT / "examples/mpi/psrs.c")
        for workers in ("1", "3"):
            done = self.run_ranks(12, program, 200_000, "random", 5, memory="32M",
                                  options=("--json", self.json, "-k", workers))
            self.assertEqual(done.returncode, 0, done.stderr)
            run = self.read_json()
            totals = run["totals"]
            self.assertGreater(totals["stored_bytes"] + totals["lent_bytes"], 0)
            self.assertEqual(totals["written_bytes"] + totals["stored_written_bytes"],
                             run["disk_written_bytes"])
            self.assertEqual(totals["read_bytes"] + totals["stored_read_bytes"],
                             run["disk_read_bytes"])
            self.assertEqual(totals["received_bytes"], totals["sent_bytes"])

    def test_have_no_more_bytes_than_the_formula(self):
        for name, arguments in (("psrs", (800_000, "random", 5)), ("integer_sort", (24, 2))):
            program = self.compiled(name, ROOT / f"examples/mpi/{name}.c")
            done = self.run_ranks(12, program, *arguments, memory="80M",
                                  options=("--json", self.json, "-k", "1"))
            self.assertEqual(done.returncode, 0, done.stderr)
            totals = self.read_json()["totals"]
            self.assertGreater(totals["lent_bytes"], 0)
            self.assertLessEqual(totals["moved_bytes"], 1.02 * totals["formula_bytes"])

    def test_have_the_peak_of_all_memory(self):
        self.run_known()
        run = self.read_json()
        self.assertEqual(run["peak_rss_bytes"], run["peak_shared_bytes"]
                         + run["peak_process_bytes"] + run["peak_page_table_bytes"])
        # Frames that were used at all; the rest of them is untouched.
        self.assertGreaterEqual(run["peak_shared_bytes"], run["plan"]["context_bytes"])
        self.assertGreater(run["peak_page_table_bytes"], 0)

    def test_are_pages_that_need_no_other_file(self):
        self.run_known()
        page = self.read_page()
        text = page.text()
        for part in (f"outsize-run {self.program} {NUMBERS}", "time", f"{RANKS}, 1 at a time",
                     "memory, at most", "Virtual processors over time", "Supersteps",
                     "Bytes of each superstep", "Disks", "Processors", "Volume of I/O",
                     "contexts, written", "Bytes by superstep"):
            self.assertIn(part, text)
        self.assertNotIn("failed", text)
        self.assertGreaterEqual(page.counts["svg"], 3)

    def test_are_written_of_runs_that_fail(self):
        done = self.run_known(1)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        run = self.read_json()
        self.assertIn("rank 1: MPI_Abort with code 3", run["failure"])
        self.assertEqual(run["ranks_ended"], 0)
        self.assertGreaterEqual(run["supersteps"], 2)
        self.assertGreater(run["totals"]["sent_bytes"], 0)
        text = self.read_page().text()
        self.assertIn("failed\nrank 1: MPI_Abort with code 3", text)
        self.assertIn(f"0 of {RANKS} processors ended", text)
        self.assertEqual(processes_of(self.program), [])

    def test_are_written_of_deadlocks(self):
        program = self.compiled("deadlock", HERE / "misuse/deadlock.c")
        done = self.run_ranks(4, program, options=("--report", self.page, "--json", self.json))
        self.assertEqual(done.returncode, 1)
        self.assertIn("all 4 that have not ended wait", self.read_json()["failure"])
        self.assertIn("failed\nvirtual processors: all 4", self.read_page().text())

    def test_are_written_where_no_program_can_be_run(self):
        done = self.run_ranks(2, "/nowhere", options=("--report", self.page))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("failed\ncannot run '/nowhere' as rank", self.read_page().text())

    def test_show_names_as_they_are_and_no_markup_of_theirs(self):
        done = self.run_ranks(2, self.program, 10, 1, 1, "0<b>&", options=("--report", self.page))
        self.assertEqual(done.returncode, 3)
        page = self.read_page()
        self.assertNotIn("b", page.counts)
        self.assertIn("0<b>&", page.text())

    def test_that_cannot_be_written_cost_no_work(self):
        nowhere = self.folder / "no/such/file"
        for option in ("--report", "--json"):
            done = self.run_ranks(2, self.program, 10, 1, 1, options=(option, nowhere))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(str(nowhere), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_that_fail_at_the_end_are_told(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        done = self.run_ranks(2, self.program, 10, 1, 1, options=("--report", "/dev/full"))
        self.assertEqual((done.returncode, done.stdout), (1, "verified\n"))
        self.assertRegex(done.stderr, r"^outsize-run: [^\n]*/dev/full[^\n]*\n$")

    def test_go_to_standard_output(self):
        done = self.run_ranks(2, self.program, 10, 1, 1, options=("--json", "-"))
        self.assertEqual(done.returncode, 0, done.stderr)
        words, brace, rest = done.stdout.partition("{")
        self.assertEqual(words, "verified\n")
        self.assertEqual(json.loads(brace + rest)["plan"]["ranks"], 2)

    def test_in_one_file_are_refused(self):
        done = self.run_ranks(2, self.program, 10, 1, 1, options=(
            "--report", self.page, "--json", self.folder / "." / "page.html"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("is both --report and --json", done.stderr)


class Progress(MpiTest):
    def on_terminal(self, *words):
        """Exit code and all that a terminal gets on standard error."""
        program = self.compiled("known_volume", HERE / "known_volume.c")
        master, slave = pty.openpty()
        with subprocess.Popen(
                [BIN / "outsize-run", "-v", "8", "-m", "8M", "-T", self.disk, *words, program,
                 "120000", "20", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=slave) as run:
            os.close(slave)
            shown = b""
            try:
                while some := os.read(master, 4096):
                    shown += some
            except OSError:  # nobody has it open any more
                pass
            os.close(master)
        return run.returncode, shown.decode()

    def test_is_shown_on_a_terminal_and_erased(self):
        code, shown = self.on_terminal()
        self.assertEqual(code, 0)
        self.assertRegex(shown, r"\rsuperstep \d+, \d of 8 ranks ended after \d+ s: ")
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-80:]))

    def test_is_not_shown_if_nobody_wants_it(self):
        self.assertEqual(self.on_terminal("--no-progress"), (0, ""))

    def test_is_erased_before_a_message(self):
        program = self.compiled("known_volume", HERE / "known_volume.c")
        done = self.run_ranks(8, program, 120_000, 20, 100, 15, memory="8M",
                              options=("--progress",))
        self.assertEqual(done.returncode, 3)
        # Returns to the beginning of the line are read as ends of lines.
        self.assertRegex(done.stderr, r"^(\n[^\n]*\x1b\[K)*outsize-run: rank 1: [^\n]*\n$")


class Limits(MpiTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root becomes another user")
        if not os.access(BIN / "outsize-run", os.X_OK) or subprocess.run(
                ["true"], preexec_fn=lambda: os.setuid(NOBODY)).returncode != 0:
            self.skipTest("the tool cannot be run by another user")

    def limited(self, processes, *words):
        """outsize-run of another user, to whom the limit applies."""
        def become_limited():
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
            os.setuid(NOBODY)
        try:
            return subprocess.run([BIN / "outsize-run", *words], capture_output=True, text=True,
                                  preexec_fn=become_limited)
        except PermissionError:
            self.skipTest("the tool cannot be run by another user")

    def test_of_processes_are_checked_by_the_plan(self):
        done = self.limited(20, "--plan", "-v", "64", "-k", "2", "-m", "512M")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"64 ranks need 68 processes and threads, but no more than "
                                      r"\d+ can be started: RLIMIT_NPROC of the user")
        done = self.limited(1000, "--plan", "-v", "64", "-k", "2", "-m", "512M")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_do_not_apply_to_root(self):
        done = subprocess.run(
            ["prlimit", "--nproc=5", BIN / "outsize-run", "--plan", "-v", "64", "-m", "512M"],
            capture_output=True, text=True)
        if os.readlink("/proc/self/ns/user") == "user:[4026531837]":
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
