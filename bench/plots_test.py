# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sweeps, figures and the page, from results that nobody measured."""

import argparse
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import figures
import plots
import results_page
import sweeps
from catalogue import BENCHMARKS
from contestants import PEER_NAMES
from sizes import GIB, MIB

BENCH = pathlib.Path(__file__).parent
DRAWING_PYTHON = plots.interpreter()
MACHINE = {"cpu": "Imagined CPU", "cores": 2, "memory_bytes": 24 * GIB, "system": "Some system",
           "read_bytes_per_second": 900 * MIB, "write_bytes_per_second": 2000 * MIB,
           "mixed_bytes_per_second": 600 * MIB}


def benchmark(name, seconds=8.0, peers=None, **more):
    """The report of a benchmark on 4 GiB whose floor is 6 seconds."""
    networks = [{"name": "sort, forming runs", "seconds": 4, "stages": [
        {"name": "read input", "busy_seconds": 3, "wait_seconds": 1},
        {"name": "sort", "busy_seconds": 3.5, "wait_seconds": 0.5}]}]
    entry = {"seconds": seconds, "bytes_per_second": 4 * GIB / seconds, "cpu_seconds": 12,
             "io_wait_seconds": 1, "peak_rss_bytes": 540 * MIB, "read_bytes": 8 * GIB,
             "written_bytes": 8 * GIB, "verified": True}
    peers = peers or {}
    return {"name": name, "size_bytes": 4 * GIB, "input_bytes": 4 * GIB,
            "memory_bytes": 512 * MIB, "threads": 2, "runs": 3, "machine": MACHINE,
            "ours": {**entry, "report": {"networks": networks}},
            "peers": {peer: {**entry, "seconds": taken} for peer, taken in peers.items()},
            "ratio": {peer: taken / seconds for peer, taken in peers.items()},
            "floor_seconds": 6, "share_of_floor": 6 / seconds, **more}


def trace():
    """Two requests that overlap and one by itself, of two threads; a stage; a disk in a folder."""
    def named(tid, name):
        return {"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}}

    def span(tid, name, begin, length):
        return {"ph": "X", "pid": 1, "tid": tid, "name": name, "ts": begin * 1e6,
                "dur": length * 1e6}

    return {"traceEvents": [
        {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": "sort"}},
        named(1, "files, reading 0"), named(2, "files, reading 1"), named(3, "worker 0: sort"),
        named(4, "disk /some/folder/a, writing 0"),
        span(1, "files, reading", 0, 1.5), span(2, "files, reading", 1, 1),
        span(1, "files, reading", 3, 1), span(3, "sort", 1, 2.5), span(3, "waiting", 4, 1),
        span(4, "disk /some/folder/a, writing", 2, 1)]}


def sweep(name, points, **more):
    row = sweeps.SWEEPS[name]
    return {"sweep": name, "about": row.about, "parameter": row.parameter, "unit": row.unit,
            "size_bytes": GIB, "memory_bytes": 128 * MIB, "threads": 1, "runs": 3,
            "machine": MACHINE, "points": points, **more}


def sort_point(seconds, simulated=0):
    return {"seconds": seconds, "forming_seconds": seconds / 2, "merging_seconds": seconds / 2,
            "forming_wait_seconds": 0.1, "merging_wait_seconds": 0.2,
            "simulated_seconds": simulated, "verified": True}


def program_points(name, values, measured):
    return [{"value": value, "measured": {curve: measured(value)
                                          for curve in sweeps.SWEEPS[name].curves}}
            for value in values]


def queue_run(name, seconds):
    """A benchmark of queues on 2^29 items of 8 bytes, of which STXXL's takes 32 seconds."""
    found = benchmark(name, seconds, {"stxxl": 32.0, "sorter": 6.0})
    for entry in (found["ours"], *found["peers"].values()):
        entry["phase_seconds"] = {"filling": entry["seconds"] / 4,
                                  "emptying": entry["seconds"] * 3 / 4}
    return found


def independent_set_run():
    found = benchmark("mis", peers={"stxxl": 32.0, "stl": 12.0, "stxxl-stl": 64.0})
    found["ours"]["phase_seconds"] = {"filling and sorting": 3, "independent set": 5}
    found["peers"]["stl"]["phase_seconds"] = {"filling": 3, "sorting": 4, "independent set": 5}
    return found


def all_kinds():
    """File names and contents: benchmarks and every sweep."""
    found = {"sort-u64": benchmark("sort-u64", peers={"stxxl": 32.0}),
             "sort-lines": benchmark("sort-lines", 9.0, {"gnu": 63.0})}
    for name in ("size", "memory", "threads"):
        points = [{"value": value, "result": benchmark("sort-u64", 8 / number, {"stxxl": 32})}
                  for number, value in enumerate((MIB, 2 * MIB, 4 * MIB), 1)]
        found[f"sweep-{name}"] = sweep(name, points, benchmark="sort-u64")
    for name in ("element-size", "block-size"):
        found[f"sweep-{name}"] = sweep(name, program_points(name, (8, 16), sort_point))
    found["sweep-disks"] = sweep(
        "disks", program_points("disks", (1, 2), lambda disks: sort_point(1, 8 / disks)))
    for name, values in (("queue-size", (GIB, 4 * GIB)), ("bulk-size", (5_000, 10_000))):
        row = sweeps.SWEEPS[name]
        points = [{"value": value, "result": queue_run(row.benchmark, seconds)}
                  for value, seconds in zip(values, (8.0, 4.0))]
        found[f"sweep-{name}"] = sweep(name, points, benchmark=row.benchmark, varies=row.varies,
                                       pictures=list(row.pictures))
    found["sweep-bsp-disks"] = sweep("bsp-disks", program_points(
        "bsp-disks", (MIB, 2 * MIB), lambda size: {**sort_point(1, 8), "items": size // 8}))
    found["mis"] = independent_set_run()
    found["sweep-merge"] = sweep("merge", program_points(
        "merge", (1, 2), lambda count: {"seconds": 1, "bytes_per_second": GIB / count,
                                        "verified": True}))
    return found


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="outsize-plots-test.")
        self.addCleanup(scratch.cleanup)
        self.parent = pathlib.Path(scratch.name)
        self.folder = self.parent / "results"
        self.folder.mkdir()

    def save(self, found):
        for name, content in found.items():
            (self.folder / f"{name}.json").write_text(json.dumps(content))

    def figures(self, found):
        self.save(found)
        return {one.name: one for one in figures.make(figures.load(self.folder))}


class Figures(Folder):
    def test_benchmarks_stand_in_the_order_of_the_catalogue(self):
        self.save({"a": benchmark("sort-lines"), "b": benchmark("sort-u64"),
                   "c": benchmark("sort-u64"), "d": benchmark("of another day")})
        self.assertEqual([one.label for one in figures.load(self.folder).benchmarks],
                         ["b", "c", "a", "d"])

    def test_shares_of_the_floor_have_the_targets_of_the_catalogue(self):
        found = self.figures({"sort-u64": benchmark("sort-u64"),
                              "sort-lines": benchmark("sort-lines", 12.0)})
        shares = found["share-of-floor"]
        self.assertEqual(shares.series, {"outsize": [0.75, 0.5]})
        self.assertEqual(shares.targets, [BENCHMARKS["sort-u64"].least_share_of_floor, None])
        self.assertNotIn("ratio", found)   # there was no peer

    def test_peers_that_did_not_take_part_have_no_bar(self):
        found = self.figures({"sort-u64": benchmark("sort-u64", peers={"stxxl": 32.0}),
                              "sort-lines": benchmark("sort-lines", peers={"gnu": 64.0})})
        self.assertEqual(found["ratio"].series, {"gnu": [None, 8.0], "stxxl": [4.0, None]})

    def test_stages_work_and_wait(self):
        rows = self.figures({"u": benchmark("sort-u64")})["stages"]
        self.assertEqual(rows.labels, ["u: read input", "u: sort"])
        self.assertEqual(list(rows.series.values()), [[3, 3.5], [1, 0.5]])

    def test_a_trace_shows_when_each_stage_is_at_work(self):
        figure = figures.timeline(figures.Result("trace-x", trace()))
        self.assertEqual(figure.labels, ["files, reading", "worker 0: sort", "disk a, writing"])
        self.assertEqual(figure.series["files, reading"], [(0.0, 2.0), (3.0, 1.0)])
        self.assertEqual(figure.series["worker 0: sort"], [(1.0, 2.5)])
        self.assertIsNone(figures.timeline(figures.Result("trace-x", {"traceEvents": []})))

    def test_throughput_by_size_and_memory_with_floor_and_peers(self):
        found = self.figures(all_kinds())
        for name in ("sweep-size", "sweep-memory"):
            lines = found[name]
            self.assertEqual(lines.labels, [MIB, 2 * MIB, 4 * MIB])
            self.assertEqual(lines.series["outsize"], [512, 1024, 1536])
            self.assertEqual(lines.series["stxxl"], [128, 128, 128])
            self.assertAlmostEqual(lines.series["floor"][0], 4096 / 6)
        self.assertIn("128 MiB of memory", found["sweep-size"].note)
        self.assertIn("2 cores", found["sweep-size"].note)
        self.assertNotIn("of memory", found["sweep-memory"].note)

    def test_papers_figures(self):
        found = self.figures(all_kinds())
        phases = found["sweep-element-size"].series
        self.assertEqual(len(phases), 5)
        self.assertAlmostEqual(phases["all"][1], 16e9 / GIB)
        self.assertEqual(set(map(tuple, found["sweep-disks"].series.values())), {(8.0, 4.0)})
        by_size = found["sweep-bsp-disks"]
        self.assertEqual(by_size.axis, "simulated ns for each item")
        self.assertEqual(by_size.series["16 disks"], [64e9 / MIB, 32e9 / MIB])
        self.assertEqual(by_size.unit, "bytes")
        self.assertEqual(found["sweep-merge"].series,
                         {curve: [1024, 512] for curve in ("u64", "u64, one thread", "struct24",
                                                           "struct24, one thread")})
        self.assertIn("sweep-threads-time", found)

    def test_queues_by_the_item_with_phases_and_volume(self):
        found = self.figures(all_kinds())
        time = found["sweep-queue-size"]
        items = 4 * GIB / 8
        self.assertEqual(time.series["outsize"], [8e9 / items, 4e9 / items])
        self.assertEqual(time.series["stxxl"], [32e9 / items] * 2)
        self.assertIn("outsize = 1: stxxl 6.00, sorter 1.12", time.note)   # of 4 and 8
        self.assertIn("128 MiB of memory", time.note)
        phases = found["sweep-queue-size-phases"].series
        self.assertEqual(phases["outsize, filling"], [2e9 / items, 1e9 / items])
        self.assertEqual(phases["stxxl, emptying"], [24e9 / items] * 2)
        self.assertEqual(found["sweep-queue-size-volume"].series["sorter"], [4.0, 4.0])
        self.assertEqual(found["sweep-bulk-size-processor"].series["outsize"], [12e9 / items] * 2)
        self.assertNotIn("sweep-bulk-size-phases", found)

    def test_queues_of_inputs_that_fit_in_memory_are_not_compared_on_average(self):
        found = all_kinds()
        for point in found["sweep-queue-size"]["points"]:
            point["result"]["memory_bytes"] = 8 * GIB
        self.assertNotIn("outsize = 1", self.figures(found)["sweep-queue-size"].note)

    def test_independent_sets_by_phase(self):
        rows = self.figures(all_kinds())["mis-phases"]
        self.assertEqual(rows.labels, ["outsize, 17.18 GB moved", "stl, 17.18 GB moved"])
        self.assertEqual(list(rows.series.items()), [
            ("filling and sorting", [3, None]), ("filling", [None, 3]), ("sorting", [None, 4]),
            ("independent set", [5, 5])])

    def test_a_peer_that_failed_at_a_point_leaves_a_gap(self):
        found = all_kinds()
        found["sweep-size"]["points"][1]["result"]["peers"]["stxxl"] = {
            "seconds": None, "verified": False, "error": "bad luck"}
        lines = self.figures(found)["sweep-size"]
        self.assertEqual(lines.series["stxxl"], [128, None, 128])

    def test_what_is_no_result_is_named(self):
        for text in ("{", "[]", '{"name": "sort-u64"}'):
            (self.folder / "bad.json").write_text(text)
            with self.assertRaisesRegex(figures.BadResult, "bad.json"):
                figures.load(self.folder)

    def test_a_folder_without_results_is_refused(self):
        with self.assertRaisesRegex(figures.BadResult, "no results"):
            results_page.redraw(self.folder)


class Page(Folder):
    def test_describes_the_machine_once_and_shows_every_figure(self):
        self.save(all_kinds())
        results = figures.load(self.folder)
        drawn = figures.make(results)
        text = results_page.page(results, drawn, "results")
        self.assertEqual(text.count("Imagined CPU, 2 cores, 24 GiB of memory, Some system"), 1)
        for figure in drawn:
            self.assertIn(f"]({figure.name}.svg)", text)
        self.assertIn("| [sort-u64](results/sort-u64.json) | 4 GiB : 512 MiB | 8.00 | 512 |", text)
        for name in all_kinds():
            self.assertIn(f"(results/{name}.json)", text)

    def test_the_page_says_what_limited_the_memory(self):
        group, none = "a cgroup of 768 MiB", "none, caches dropped before: no x"
        alike, other = (benchmark("map-find", peers={"lmdb": 9.0, "bdb": 9.0}) for _ in range(2))
        for entry in (alike["ours"], *alike["peers"].values(), other["ours"]):
            entry["memory_limit"] = group
        other["peers"]["lmdb"]["memory_limit"] = none
        self.save({"a": alike, "b": other, "c": benchmark("sort-u64")})
        text = results_page.page(figures.load(self.folder), [], "results")
        self.assertIn(f"* {group}: a, b (ours)\n* {none}: b (lmdb)\n", text)

    def test_the_page_of_sorts_has_a_floor_and_no_limit_of_memory(self):
        self.save({"sort-u64": benchmark("sort-u64")})
        text = results_page.page(figures.load(self.folder), [], "results")
        self.assertIn("0019-floor-of-first-writes.md", text)
        self.assertNotIn("Limit of memory", text)

    def test_pictures_by_the_item_have_their_numbers_below(self):
        self.save(all_kinds())
        results = figures.load(self.folder)
        text = results_page.page(results, figures.make(results), "results")
        self.assertIn("| item volume | outsize | stxxl | sorter |\n|---|---|---|---|\n"
                      "| 1 GiB | 14.90 | 59.60 | 11.18 |\n| 4 GiB | 7.45 |", text)
        self.assertIn("| 5 k | ", text)
        self.assertIn("| stl, 17.18 GB moved | - | 3.00 | 4.00 | 5.00 |", text)

    def test_results_of_several_machines_name_them_all(self):
        other = benchmark("sort-lines", machine={**MACHINE, "cpu": "Another CPU"})
        self.save({"a": benchmark("sort-u64"), "b": other})
        results = figures.load(self.folder)
        text = results_page.page(results, [], "results")
        self.assertIn("## Machines", text)
        self.assertIn("Another CPU", text)


@unittest.skipUnless(DRAWING_PYTHON, "no matplotlib here")
class Pictures(Folder):
    def redraw(self):
        subprocess.run([DRAWING_PYTHON, BENCH / "results_page.py", self.folder], check=True,
                       stdout=subprocess.DEVNULL)
        drawn = {path.name: path.read_bytes() for path in self.parent.iterdir() if path.is_file()}
        for path in self.parent.iterdir():
            if path.is_file():
                path.unlink()
        return drawn

    def test_every_figure_is_drawn_in_both_formats_and_always_the_same(self):
        kinds = all_kinds()  # figures of every kind
        self.save({"sort-u64": kinds["sort-u64"], "sweep-disks": kinds["sweep-disks"],
                   "sweep-bulk-size": kinds["sweep-bulk-size"], "mis": kinds["mis"],
                   "trace-x": trace()})
        drawn = self.redraw()
        names = [one.name for one in figures.make(figures.load(self.folder))]
        self.assertEqual(set(drawn), {"README.md", *(f"{name}.{ending}" for name in names
                                                     for ending in ("png", "svg"))})
        self.assertEqual(self.redraw(), drawn)
        for name, content in drawn.items():
            if name.endswith(".png"):
                self.assertTrue(content.startswith(b"\x89PNG"), name)
            elif name.endswith(".svg"):
                self.assertIn(b"</svg>", content, name)

    def test_one_result_is_enough(self):
        self.save({"only": benchmark("sort-u64")})
        self.assertIn("share-of-floor.svg", self.redraw())


class Sweeps(unittest.TestCase):
    def test_of_benchmarks_name_one_and_what_varies(self):
        for row in sweeps.SWEEPS.values():
            self.assertEqual(bool(row.program), not row.benchmark, row.name)
            if row.program:
                self.assertTrue(row.curves, row.name)
            else:
                self.assertIn(row.benchmark, BENCHMARKS)
                self.assertIn(row.varies, ("size", "memory", "threads", "bulk"))
                self.assertLessEqual(set(row.pictures), set(figures.PICTURES))

    def test_the_median_run_keeps_its_phases_and_needs_all_verified(self):
        runs = [sort_point(3), sort_point(1), {**sort_point(2), "verified": False}]
        median = sweeps.median_run(runs)
        self.assertEqual((median["seconds"], median["forming_seconds"]), (2, 1))
        self.assertEqual(median["run_seconds"], [3, 1, 2])
        self.assertFalse(median["verified"])

    def test_on_simulated_disks_their_time_counts(self):
        runs = [sort_point(1, 30), sort_point(2, 20), sort_point(3, 10)]
        self.assertEqual(sweeps.median_run(runs)["simulated_seconds"], 20)

    def test_points_of_benchmarks_vary_one_number_only(self):
        asked, bulks = [], []

        def run_benchmark(row, arguments, size_bytes, memory_bytes, runs, peers):
            bulks.append(row.bulk_items)
            asked.append((row.name, size_bytes, memory_bytes, arguments.threads, runs, peers))
            return benchmark(row.name)

        for name, expected in (
                ("size", [(MIB, 3 * MIB, 1), (2 * MIB, 3 * MIB, 1)]),
                ("memory", [(5 * MIB, MIB, 1), (5 * MIB, 2 * MIB, 1)]),
                ("threads", [(5 * MIB, 3 * MIB, MIB), (5 * MIB, 3 * MIB, 2 * MIB)]),
                ("bulk-size", [(5 * MIB, 3 * MIB, 1)] * 2)):
            asked.clear()
            bulks.clear()
            row = sweeps.SWEEPS[name]
            arguments = self.arguments(values=[MIB, 2 * MIB], size=5 * MIB, memory=3 * MIB,
                                       name="sort-few", peers=["stxxl"])
            with contextlib.redirect_stdout(io.StringIO()):
                found = sweeps.run(row, arguments, run_benchmark)
            self.assertEqual(asked, [("sort-few", *numbers, 2, ["stxxl"])
                                     for numbers in expected])
            self.assertEqual([point["value"] for point in found["points"]], [MIB, 2 * MIB])
            self.assertEqual(found["benchmark"], "sort-few")
            self.assertTrue(sweeps.is_verified(found))
            self.assertEqual(bulks, ([MIB, 2 * MIB] if name == "bulk-size" else [0, 0]))

    def test_one_wrong_output_spoils_the_sweep(self):
        found = sweep("disks", program_points("disks", (1, 2), sort_point))
        self.assertTrue(sweeps.is_verified(found))
        next(iter(found["points"][1]["measured"].values()))["verified"] = False
        self.assertFalse(sweeps.is_verified(found))

    @staticmethod
    def arguments(**given):
        import argparse
        return argparse.Namespace(**{"threads": 1, "runs": 2, "smoke": False, "name": None,
                                     "peers": [], "values": [], "size": None, "memory": None,
                                     **given})


class CommandLine(unittest.TestCase):
    def refused(self, mention, *words):
        done = subprocess.run(
            [sys.executable, BENCH / "bench.py", *words], capture_output=True, text=True)
        self.assertIn(mention, done.stderr)
        return done.returncode

    def test_wrong_calls_are_refused(self):
        for mention, words in (
                ("a program of its own", ["sort-u64", "--sweep", "disks"]),
                ("no peer", ["--sweep", "disks", "--vs", "stxxl"]),
                ("no peer 'gnu'", ["--sweep", "size", "--vs", "gnu"]),
                ("for --sweep", ["sort-u64", "--values", "1,2"]),
                ("no size", ["--sweep", "size", "--values", "many"])):
            self.assertEqual(self.refused(mention, *words), 2, words)

    @unittest.skipUnless(DRAWING_PYTHON, "no matplotlib here")
    def test_a_folder_without_results_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.refused("no results", "--plot", folder), 1)

    def test_every_default_peer_of_a_sweep_exists(self):
        for row in sweeps.SWEEPS.values():
            if row.benchmark:
                self.assertLessEqual(set(BENCHMARKS[row.benchmark].peers), set(PEER_NAMES))


if __name__ == "__main__":
    unittest.main()
