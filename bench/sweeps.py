# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Sweeps: one number varies, everything else stays, and each value is a point of a curve.

A point is a benchmark, peers and floor included, or a program of bench/programs. Of a program all
values are measured once before any is measured again, so that a disk that changes its mind does so
for all of them; a benchmark does all its runs of a value, each beside those of its peers and the
floor, before the next. A new sweep is a row in SWEEPS.
"""

import argparse
import json
from dataclasses import dataclass, field, replace

import child
import report
from catalogue import BENCHMARKS
from contestants import processors
from sizes import GIB, KIB, MIB, format_size
from workplace import Workplace

SMOKE_SIZE_BYTES, SMOKE_MEMORY_BYTES = 32 * MIB, 12 * MIB
_DISK_PER_INPUT_BYTE = 1.3


@dataclass(frozen=True)
class Sweep:
    name: str
    about: str
    parameter: str             # what varies, as an axis calls it
    unit: str                  # "bytes" or ""
    values: tuple
    smoke_values: tuple
    varies: str = ""           # of a benchmark: "size", "memory", "threads" or "bulk"
    benchmark: str = ""        # the one that is run if none is named
    pictures: tuple = ("rate", "time")   # of a benchmark: among figures.PICTURES
    # Of a program: the words of each curve, in which {value} and the fields of the sweep stand.
    program: str = ""
    curves: dict = field(default_factory=dict)
    uses_disk: bool = True
    size_bytes: int = GIB
    memory_bytes: int = 128 * MIB

    def format(self, value):
        return format_size(value) if self.unit == "bytes" else str(value)


def _powers_of_two(first, last):
    values = [first]
    while 2 * values[-1] <= last:
        values.append(2 * values[-1])
    return tuple(values)


def _thread_counts(most):
    return tuple(sorted({*_powers_of_two(1, most), most}))


_SORT = "size={size} memory={memory} threads={threads} directory={directory}"

SWEEPS = {row.name: row for row in (
    Sweep("size", "throughput by input size (STXXL 2008, Figure 19)", "input size", "bytes",
          _powers_of_two(64 * MIB, 2 * GIB), (16 * MIB, 32 * MIB), varies="size",
          benchmark="sort-u64"),
    Sweep("memory", "throughput by memory", "memory", "bytes",
          _powers_of_two(16 * MIB, GIB), (4 * MIB, 8 * MIB), varies="memory",
          benchmark="sort-u64"),
    Sweep("threads", "sorting pairs with more threads (Parallel pipelining 2009, Figure 10)",
          "threads", "", _thread_counts(processors()), (1, 2), varies="threads",
          benchmark="sort-pair"),
    Sweep("diamond", "the diamond by threads (Parallel pipelining 2009, Table 3)", "threads", "",
          _thread_counts(processors()), (1, 2), varies="threads", benchmark="diamond",
          size_bytes=4 * GIB, memory_bytes=512 * MIB),
    Sweep("random-input", "generating input by threads (Parallel pipelining 2009, section 4)",
          "threads", "", _thread_counts(processors()), (1, 2), varies="threads",
          benchmark="random-input", size_bytes=4 * GIB, memory_bytes=256 * MIB),
    Sweep("element-size", "sorting time by element size (STXXL 2008, Figures 15 to 17)",
          "element size", "bytes", _powers_of_two(8, 1024), (8, 64), program="bench_sort_point",
          curves={"outsize": _SORT + " element={value}"}),
    Sweep("block-size", "sorting time by block size (STXXL 2008, Figure 18)", "block size",
          "bytes", _powers_of_two(32 * KIB, 4 * MIB), (32 * KIB, 64 * KIB),
          program="bench_sort_point", curves={"outsize": _SORT + " block={value}"},
          memory_bytes=256 * MIB),
    Sweep("disks", "sorting time by simulated disks (STXXL 2008, Figures 15 and 16)",
          "simulated disks", "", _powers_of_two(1, 16), (1, 2), program="bench_sort_point",
          curves={f"blocks of {format_size(block)}": _SORT + f" disks={{value}} block={block}"
                  for block in (64 * KIB, 256 * KIB, MIB)},
          uses_disk=False, size_bytes=256 * MIB, memory_bytes=64 * MIB),
    Sweep("merge", "speed of the parallel multiway merge in memory (Bulk queue 2015, Figure 5)",
          "sequences of 2 MiB", "", _powers_of_two(1, 256), (1, 4), program="bench_merge_speed",
          curves={f"{kind}{of_one}": f"{kind} {{value}} {{sequence}} {threads} {{repetitions}}"
                  for kind in ("u64", "struct24")
                  for of_one, threads in (("", "{threads}"), (", one thread", "1"))},
          uses_disk=False),
    Sweep("queue-size", "priority queues by size (STXXL 2008, Figures 4 to 7; Bulk queue 2015, "
          "Figures 4 and 6)", "item volume", "bytes", _powers_of_two(64 * MIB, 4 * GIB),
          (16 * MIB, 32 * MIB), varies="size", benchmark="pq-random",
          pictures=("item-time", "phases", "volume")),
    Sweep("queue-threads", "priority queues by threads (Parallel pipelining 2009, Table 1)",
          "threads", "", _thread_counts(processors()), (1, 2), varies="threads",
          benchmark="pq-monotone", pictures=("item-time", "phases"), size_bytes=2 * GIB,
          memory_bytes=128 * MIB),
    Sweep("bulk-size", "rewriting a queue by the size of bulks (Bulk queue 2015, Figures 4 and 6)",
          "items of a bulk", "", tuple(5_000 << i for i in range(11)), (5_000, 10_000),
          varies="bulk", benchmark="pq-bulk-rewrite",
          pictures=("item-time", "processor-time", "volume"), size_bytes=4 * GIB,
          memory_bytes=512 * MIB),
    Sweep("mis-size", "independent sets by size (STXXL 2008, Table VIII)", "edge volume", "bytes",
          tuple(500 * MIB << i for i in range(5)), (16 * MIB, 32 * MIB), varies="size",
          benchmark="mis", pictures=("item-time", "phases", "volume"), memory_bytes=512 * MIB),
    Sweep("mis-disks", "independent sets by simulated disks (STXXL 2008, Table VII)",
          "simulated disks", "", _powers_of_two(1, 4), (1, 2), program="bench_independent_set",
          curves={way: f"{way} {{size}} {{memory}} {{threads}} {{directory}} {{value}}"
                  for way in ("pipelined", "stl")},
          uses_disk=False, size_bytes=500 * MIB, memory_bytes=128 * MIB),
    Sweep("bsp-size", "sample sort by 64 virtual processors (PEMS 2007, Figure 2)", "input size",
          "bytes", _powers_of_two(256 * MIB, 4 * GIB), (16 * MIB, 32 * MIB), varies="size",
          benchmark="bsp-sort", pictures=("item-time", "volume"), memory_bytes=512 * MIB),
    Sweep("bsp-disks", "sample sort by 64 virtual processors on simulated disks (PEMS 2007, "
          "Figure 2)", "input size", "bytes", _powers_of_two(64 * MIB, 512 * MIB),
          (8 * MIB, 16 * MIB), program="bench_virtual_processors",
          curves={f"{count} disk{'s' if count > 1 else ''}":
                  f"bsp-disks {{value}} {{memory}} {{threads}} {{directory}} {count}"
                  for count in _powers_of_two(1, 16)},
          uses_disk=False, memory_bytes=128 * MIB),
)}


def run(sweep, arguments, run_benchmark):
    """Measures all points; returns the sweep's report."""
    if sweep.program:
        points, machine = _run_program(sweep, arguments), report.machine({})
    else:
        points = _run_benchmarks(sweep, arguments, run_benchmark)
        machine = points[0]["result"]["machine"]
    found = {"sweep": sweep.name, "about": sweep.about, "parameter": sweep.parameter,
             "unit": sweep.unit, "size_bytes": _size_bytes(sweep, arguments),
             "memory_bytes": _memory_bytes(sweep, arguments), "threads": arguments.threads,
             "runs": arguments.runs, "machine": machine, "points": points}
    if not sweep.program:
        found.update(benchmark=arguments.name or sweep.benchmark, varies=sweep.varies,
                     pictures=sweep.pictures)
    return found


def is_verified(found):
    entries = []
    for point in found["points"]:
        if "result" in point:
            entries += [point["result"]["ours"], *point["result"]["peers"].values()]
        else:
            entries += point["measured"].values()
    return all(entry["verified"] for entry in entries)


def _values(sweep, arguments):
    return arguments.values or (sweep.smoke_values if arguments.smoke else sweep.values)


def _size_bytes(sweep, arguments):
    return arguments.size or (SMOKE_SIZE_BYTES if arguments.smoke else sweep.size_bytes)


def _memory_bytes(sweep, arguments):
    return arguments.memory or (SMOKE_MEMORY_BYTES if arguments.smoke else sweep.memory_bytes)


# ---- points that are runs of a benchmark ----

def _run_benchmarks(sweep, arguments, run_benchmark):
    row = BENCHMARKS[arguments.name or sweep.benchmark]
    points = []
    for value in _values(sweep, arguments):
        given = {"size": _size_bytes(sweep, arguments), "memory": _memory_bytes(sweep, arguments),
                 "threads": arguments.threads, sweep.varies: value}
        print(f"{sweep.name}: {sweep.parameter} {sweep.format(value)}", flush=True)
        if sweep.varies == "bulk":
            row = replace(row, bulk_items=value)
        result = run_benchmark(
            row, argparse.Namespace(**{**vars(arguments), "threads": given["threads"]}),
            given["size"], given["memory"], arguments.runs, arguments.peers)
        points.append({"value": value, "result": result})
    return points


# ---- points that are runs of a program ----

def _run_program(sweep, arguments):
    size_bytes = _size_bytes(sweep, arguments)
    needed_bytes = int(size_bytes * _DISK_PER_INPUT_BYTE) if sweep.uses_disk else 0
    measured = {}
    with Workplace(arguments.dir.resolve(), needed_bytes, _memory_bytes(sweep, arguments),
                   settles=sweep.uses_disk and not arguments.smoke) as workplace:
        for round_number in range(1, arguments.runs + 1):
            for value in _values(sweep, arguments):
                for curve, words in sweep.curves.items():
                    filled = words.format(
                        value=value, size=size_bytes, memory=_memory_bytes(sweep, arguments),
                        threads=arguments.threads, directory=workplace.path,
                        sequence=64 * KIB if arguments.smoke else 2 * MIB,
                        repetitions=3 if arguments.smoke else 15)
                    workplace.settle()
                    done = child.must_run([arguments.tool.resolve().parent / sweep.program,
                                           *filled.split()])
                    one = json.loads(done.stdout)
                    measured.setdefault((value, curve), []).append(one)
                    print(f"  round {round_number}: {sweep.parameter} {sweep.format(value)}, "
                          f"{curve}: {seconds_of(one):.3f} s", flush=True)
    return [{"value": value, "measured": {curve: median_run(measured[value, curve])
                                          for curve in sweep.curves}}
            for value in _values(sweep, arguments)]


def seconds_of(one):
    """What a run took; on simulated disks their time."""
    return one.get("simulated_seconds") or one["seconds"]


def median_run(runs):
    """The run that took the median time, and with it its phases; verified only if all are."""
    middle = sorted(runs, key=seconds_of)[len(runs) // 2]
    return {**middle, "run_seconds": [seconds_of(one) for one in runs],
            "verified": all(one["verified"] for one in runs)}
