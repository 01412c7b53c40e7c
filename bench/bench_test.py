# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The parts of the benchmark scripts that can be wrong without anybody noticing."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from unittest import mock

import child
import inputs
import report
from catalogue import BENCHMARKS, Benchmark
from container_contestants import run_limited
from contestant import Measurement, Task
from contestants import peer_of
from floor import Floor
from memory_group import MemoryGroup
from process_memory import ProcessMemory, descendants
from queue_contestants import PriorityQueue, SorterForQueue, StxxlSequentialQueue
from sizes import GIB, MIB, parse_size
from virtual_contestants import Mapped, MappedInTurns, OneWorker, OpenMpi, Ranks, VirtualProcessors
from workplace import BYTES_BESIDE_MEMORY, NoSpace, Workplace, touch_memory


class Sizes(unittest.TestCase):
    def test_units_are_powers_of_1024(self):
        for text, size in (("4GiB", 4 * GIB), ("4g", 4 * GIB), ("512M", 512 * MIB), ("8b", 8),
                           ("1.5G", 3 * GIB // 2), ("4294967296", 1 << 32), ("1T", 1 << 40),
                           ("16 MiB", 16 * MIB)):
            self.assertEqual(parse_size(text), size, text)

    def test_what_is_no_size_is_refused(self):
        for text in ("", "G", "4X", "-1", "1e9"):
            self.assertRaises(ValueError, parse_size, text)


class Report(unittest.TestCase):
    def measured(self, seconds, verified=True):
        return Measurement(seconds, seconds + 1, 2 * seconds, None, int(seconds) * MIB, 10, 20,
                           verified)

    def test_ratios_are_medians_of_pairs(self):
        # The median of the ratios (2, 3, 4), not the ratio of the medians (20 / 10).
        self.assertEqual(report.paired_median([20, 3, 80], [10, 1, 20]), 3)
        self.assertIsNone(report.paired_median([], [10]))

    def test_medians_and_the_greatest_peak(self):
        entry = report.summarise([self.measured(s) for s in (1, 5, 2)], 10 * MIB, {"version": "1"})
        self.assertEqual((entry["seconds"], entry["process_seconds"], entry["cpu_seconds"]),
                         (2, 3, 4))
        self.assertEqual((entry["peak_rss_bytes"], entry["bytes_per_second"]), (5 * MIB, 5 * MIB))
        self.assertEqual((entry["io_wait_seconds"], entry["version"]), (None, "1"))
        self.assertTrue(entry["verified"])

    def test_phases_have_medians_of_their_own(self):
        found = [replace(self.measured(s), phase_seconds={"filling": s, "emptying": 10 - s})
                 for s in (1, 2, 4)]
        self.assertEqual(report.summarise(found, 1, {})["phase_seconds"],
                         {"filling": 2, "emptying": 8})
        self.assertNotIn("phase_seconds", report.summarise([self.measured(1)], 1, {}))

    def test_one_wrong_output_or_none_at_all_is_not_verified(self):
        found = [self.measured(1), self.measured(1, verified=False)]
        self.assertFalse(report.summarise(found, 1, {})["verified"])
        self.assertFalse(report.summarise([], 1, {})["verified"])


    def test_ratios_for_each_core_are_of_peers_with_threads_of_their_own(self):
        self.assertEqual(report.ratios_per_core({"a": 8, "b": 4, "c": None}, 2,
                                                {"a": {"threads": 1}, "b": {},
                                                 "c": {"threads": 1}}),
                         {"a": 4, "c": None})

    def test_the_table_tells_what_was_moved(self):
        entry = report.summarise([self.measured(2)], MIB, {})
        moved = {**entry, "read_bytes": 70 * MIB, "written_bytes": 90 * MIB}
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report.print_table({
                "name": "x", "input_bytes": MIB, "memory_bytes": MIB, "threads": 2, "runs": 1,
                "ours": entry, "peers": {"them": moved}, "ratio": {"them": 1.5},
                "cpu_ratio": {"them": 0.5}, "ratio_per_core": {"them": 0.75},
                "floor_seconds": None})
        lines = out.getvalue().splitlines()
        self.assertIn("read MiB  written MiB", lines[2])
        self.assertRegex(lines[4], r"them .* 70 +90 +1\.50 +0\.50  verified")
        self.assertIn("ratio for each core used: them 0.75", lines)


class Inputs(unittest.TestCase):
    def copied(self, text, most_bytes):
        with tempfile.TemporaryDirectory() as folder:
            given, copy = pathlib.Path(folder) / "given", pathlib.Path(folder) / "copy"
            given.write_bytes(text)
            inputs.copy_lines(given, most_bytes, copy)
            return copy.read_bytes()

    def test_a_text_is_cut_behind_a_line(self):
        self.assertEqual(self.copied(b"ab\ncd\nef", 5), b"ab\n")
        self.assertEqual(self.copied(b"ab\ncd\nef", 8), b"ab\ncd\nef")
        self.assertEqual(self.copied(b"ab\ncd\nef", 100), b"ab\ncd\nef")
        self.assertEqual(self.copied(b"abcdef\n", 3), b"")
        long = b"x" * MIB + b"\n"
        self.assertEqual(self.copied(long * 2 + b"y" * 3 * MIB, 5 * MIB), long * 2)

    def test_a_text_that_is_not_there_is_named_with_the_way_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}):
            with self.assertRaisesRegex(inputs.NoInput, f"^{folder}/outsize/a.txt.*dev demo"):
                inputs.kept_text("a.txt")
            (pathlib.Path(folder) / "outsize").mkdir()
            (pathlib.Path(folder) / "outsize/a.txt").write_text("x")
            self.assertEqual(inputs.kept_text("a.txt").read_text(), "x")


class Child(unittest.TestCase):
    def test_is_measured(self):
        done = child.run([sys.executable, "-c", "print('x' * 3); bytearray(64 << 20)"])
        self.assertEqual((done.exit_code, done.stdout), (0, "xxx\n"))
        self.assertGreater(done.peak_rss_bytes, 64 * MIB)

    def test_failure_carries_its_last_words(self):
        with self.assertRaisesRegex(child.ChildFailed, "ended with 3: bad luck"):
            child.must_run([sys.executable, "-c",
                            "import sys; print('bad luck', file=sys.stderr); sys.exit(3)"])


class Memory(unittest.TestCase):
    @unittest.skipIf(MemoryGroup.missing(), "no memory cgroup can be made here")
    def test_is_limited_with_the_page_cache(self):
        with MemoryGroup(64 * MIB) as group:
            allocate = [sys.executable, "-c", "bytearray(256 << 20)"]
            self.assertNotEqual(child.run(group.prefix(allocate)).exit_code, 0)
            self.assertEqual(child.run(group.prefix(["true"])).exit_code, 0)

    def task(self, parent):
        return Task(None, None, Workplace(parent, 0, settles=False), None, 0, 64 * MIB, 1)

    @unittest.skipIf(MemoryGroup.missing(), "no memory cgroup can be made here")
    def test_containers_have_256_MiB_more_than_their_budget(self):
        allocate = [sys.executable, "-c", "import sys; bytearray(int(sys.argv[1]) << 20)"]
        entry = {}
        with tempfile.TemporaryDirectory() as parent:
            task = self.task(parent)
            with task.workplace:
                run_limited(task, entry, [*allocate, 200])
                with self.assertRaisesRegex(child.ChildFailed, f"^{sys.executable} -c .* with"):
                    run_limited(task, entry, [*allocate, 400])
        self.assertIn("320 MiB", entry["memory_limit"])

    def test_programs_in_it_have_their_environment(self):
        with tempfile.TemporaryDirectory() as parent:
            task = self.task(parent)
            with task.workplace:
                done = run_limited(task, {}, ["printenv", "SOME"], environment={"SOME": "x"})
                self.assertEqual(done.stdout, "x\n")

    @mock.patch.object(MemoryGroup, "missing", return_value="a memory cgroup: no")
    def test_the_report_says_that_there_is_no_group(self, _):
        entry = {}
        with tempfile.TemporaryDirectory() as parent:
            task = self.task(parent)
            with task.workplace:
                self.assertEqual(run_limited(task, entry, ["pwd"]).stdout.strip(),
                                 str(task.directory))
        self.assertIn("none", entry["memory_limit"])


class SumOfProcesses(unittest.TestCase):
    PARENT = """import os, subprocess, sys, time
memory = os.memfd_create("x", 0)
os.write(memory, bytes(24 << 20))     # in no mapping
own = bytearray(16 << 20)
subprocess.run([sys.executable, "-c", "import time; own = bytearray(b'x') * (32 << 20); "
                "time.sleep(1)"], pass_fds=[memory])
"""

    def test_is_that_of_all_with_files_in_memory_once(self):
        with ProcessMemory() as memory:
            child.must_run([sys.executable, "-c", self.PARENT])
        self.assertGreater(memory.peak_bytes, (24 + 16 + 32) * MIB)
        self.assertLess(memory.peak_bytes, (24 + 16 + 32 + 40) * MIB)

    @unittest.skipIf(MemoryGroup.missing(), "no memory cgroup can be made here")
    def test_is_about_what_a_group_counts(self):
        with MemoryGroup(512 * MIB) as group, ProcessMemory() as memory:
            child.must_run(group.prefix([sys.executable, "-c", self.PARENT]))
            self.assertAlmostEqual(memory.peak_bytes / MIB, group.peak_bytes() / MIB, delta=16)

    def test_descendants_are_found_by_generations(self):
        process = subprocess.Popen(["sh", "-c", "sleep 60; true"], start_new_session=True)
        try:
            while len(descendants(process.pid)) != 1:
                self.assertIsNone(process.poll())
            self.assertIn(process.pid, descendants(os.getpid()))
            self.assertIn(descendants(process.pid)[0], descendants(os.getpid()))
        finally:
            os.killpg(process.pid, 9)
            process.wait()
        self.assertEqual(descendants(process.pid), [])


class Floors(unittest.TestCase):
    def floor(self, **moved):
        row = Benchmark("x", "", "", 8, (), None, (), **moved)
        floor = Floor(Task(row, None, None, None, 100, 0, 1), 100)
        floor._probe_disk = lambda *_: {"read_bytes_per_second": 50, "write_bytes_per_second": 25,
                                        "first_write_bytes_per_second": 20,
                                        "mixed_bytes_per_second": 10}
        return floor.probe({}), floor.seconds()

    def test_is_passes_of_both_at_once_or_moves_alone(self):
        self.assertEqual(self.floor(floor_passes=2), (20, 20))
        self.assertEqual(self.floor(floor_moves=("first_write", "read")), (7, 7))
        self.assertEqual(self.floor(floor_moves=("first_write", "mixed", "mixed")), (25, 25))

    def test_is_none_where_nothing_must_move(self):
        self.assertEqual(self.floor(floor_passes=0), (0, None))


class Folder(unittest.TestCase):
    def test_nothing_outlives_the_run(self):
        with tempfile.TemporaryDirectory() as parent:
            inner = pathlib.Path(parent) / "made"
            with self.assertRaises(ZeroDivisionError), Workplace(inner, 0, settles=False) as place:
                (place.path / "data").write_bytes(b"x")
                raise ZeroDivisionError
            self.assertEqual(os.listdir(parent), [])

    def test_a_folder_that_was_there_stays(self):
        with tempfile.TemporaryDirectory() as parent:
            with Workplace(parent, 0, settles=False):
                pass
            self.assertEqual(os.listdir(parent), [])

    def test_memory_is_there_when_it_settles(self):
        with tempfile.TemporaryDirectory() as parent, Workplace(parent, 0, 64 * MIB) as place, \
                mock.patch("os.sync"), mock.patch("time.sleep"), \
                mock.patch("pathlib.Path.write_text") as drop_caches, \
                mock.patch("workplace.touch_memory") as touch:
            place.settle()
            drop_caches.assert_called_once()
            touch.assert_called_once_with(64 * MIB + BYTES_BESIDE_MEMORY)

    def test_memory_is_touched_by_nobody_who_is_measured(self):
        for size_bytes in (1, 3 * MIB + 1, 1 << 60):
            with mock.patch("workplace._free_bytes", return_value=2 * GIB):
                touch_memory(size_bytes)
        self.assertLess(child.run(["true"]).peak_rss_bytes, 512 * MIB)

    def test_a_disk_that_is_too_small_is_refused(self):
        with tempfile.TemporaryDirectory() as parent:
            with self.assertRaisesRegex(NoSpace, "needed"), Workplace(parent, 1 << 60):
                pass


class Catalogue(unittest.TestCase):
    def test_peers_exist_and_know_what_to_do(self):
        for row in BENCHMARKS.values():
            for peer in row.peers:
                self.assertEqual(peer_of(row, peer).name, peer)
            self.assertEqual("gnu" in row.peers, row.gnu_flags is not None, row.name)

    def asked(self, name, contestant):
        """The words that a program of queues is called with."""
        row = BENCHMARKS[name]
        with tempfile.TemporaryDirectory() as parent:
            workplace = Workplace(parent, 0, settles=False)
            with workplace, mock.patch("queue_contestants.run_limited") as run, \
                    mock.patch("queue_contestants.measured") as found:
                found.return_value = ({"cpu_seconds": 1, "version": ""}, mock.Mock())
                contestant(Task(row, pathlib.Path("bin/outsize"), workplace, None, 640, 64,
                                2)).run()
                words = [str(word) for word in run.call_args.args[2]]
                return [word for word in words[1:] if word != str(workplace.path)]

    def test_queues_are_called_by_what_is_done_how_with_which_items(self):
        ours, stxxl, sorter = PriorityQueue, StxxlSequentialQueue, SorterForQueue
        for name, contestant, words in (
                ("pq-random", ours, "pq-random single 640 64 2 8 0"),
                ("pq-random-24", sorter, "pq-random sorter 640 64 2 24 0"),
                ("pq-random-bulk-24", ours, "pq-random bulk 640 64 2 24 16777216"),
                ("pq-random-bulk-24", stxxl, "pq-random 640 64 24 16777216"),
                ("pq-bulk-rewrite-24", ours, "pq-bulk-rewrite bulk 640 64 2 24 640000"),
                ("pq-rbulk-rewrite", stxxl, "pq-rbulk-rewrite 640 64 8 640000")):
            self.assertEqual(self.asked(name, contestant), words.split())

    def contestant(self, name, made, memory_bytes=256 * MIB, threads=2):
        return made(Task(BENCHMARKS[name], pathlib.Path("bin/outsize"), None, None, GIB,
                         memory_bytes, threads))

    def test_ranks_have_all_the_memory_of_a_group_but_a_little(self):
        for name, made, words in (
                ("bsp-is", Ranks, ["-v16", "-k1", f"-m{248 * MIB}"]),
                ("bsp-is-k2", MappedInTurns, ["-v32", "-k2", f"-m{248 * MIB}", "--swap=mmap"]),
                ("bsp-is", Mapped, ["-v16", "-k16", f"-m{248 * MIB}", "--swap=mmap"]),
                ("bsp-memory", Ranks, ["-v2", "-k2", f"-m{256 * MIB}"]),
                ("bsp-memory-v8", Ranks, ["-v8", "-k2", f"-m{256 * MIB}"])):
            self.assertEqual(self.contestant(name, made).launcher(), ["outsize-run", *words])
        self.assertEqual(self.contestant("bsp-is", Ranks).group_bytes, 256 * MIB)
        self.assertIsNone(self.contestant("bsp-memory", Ranks).group_bytes)
        self.assertEqual(self.contestant("bsp-is", Ranks, 8 * MIB).launcher()[-1], f"-m{8 * MIB}")

    def test_open_mpi_is_told_when_there_are_more_ranks_than_processors(self):
        with mock.patch("os.sched_getaffinity", return_value={0, 1}):
            self.assertNotIn("--oversubscribe", self.contestant("bsp-memory", OpenMpi).launcher())
            self.assertIn("--oversubscribe", self.contestant("bsp-memory-v8", OpenMpi).launcher())

    def test_one_worker_is_one_whatever_the_threads(self):
        self.assertEqual(self.contestant("bsp-workers", VirtualProcessors, threads=4).workers, 4)
        self.assertEqual(self.contestant("bsp-workers", OneWorker, threads=4).workers, 1)


if __name__ == "__main__":
    unittest.main()
