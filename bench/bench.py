#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Runs a benchmark: outsize and its peers in turn, on the same input and the same disk.

In each round outsize runs, the disk is probed, then every peer runs; every output is verified.
Seconds are medians over the rounds, ratios and the share of the floor medians of the pairs of a
round. Exit code 0 only if everything asked for ran and was verified, 1 if not, 2 for a wrong call.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

import inputs
import plots
import report
import sweeps
from catalogue import BENCHMARKS
from child import ChildFailed
from contestant import PROJECT, Task
from contestants import OURS, PEER_NAMES, peer_of, processors
from floor import Floor
from inputs import NoInput
from sizes import MIB, format_size, parse_size
from workplace import NoSpace, Workplace

RESULTS = PROJECT / "docs/benchmarks/results"
DISK_PER_INPUT_BYTE_OF_DATABASES = 4.4


def parse_arguments():
    size = lambda text: parse_size(text)  # noqa: E731  (argparse names the function in its message)
    size.__name__ = "size"
    parser = argparse.ArgumentParser(
        prog="./dev bench", description="Measures outsize against its peers; see bench/README.md.")
    parser.add_argument("name", nargs="?", choices=sorted(BENCHMARKS), help="the benchmark")
    parser.add_argument("--size", type=size, help="bytes of input, e.g. 4GiB")
    parser.add_argument("--memory", type=size, help="memory of each program, e.g. 512MiB")
    parser.add_argument("--threads", type=int, default=processors())
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the generated input")
    parser.add_argument("--vs", default="", metavar="PEER,PEER",
                        help="among: " + ", ".join(PEER_NAMES))
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="report as JSON")
    parser.add_argument("--dir", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("OUTSIZE_BENCH_DIR",
                                                            PROJECT / "build/bench-data")),
                        help="folder on the disk to be measured (default: %(default)s)")
    parser.add_argument("--tool", type=pathlib.Path, default=PROJECT / "build/release/bin/outsize",
                        help="the program to measure (default: the release build)")
    parser.add_argument("--sweep", choices=sorted(sweeps.SWEEPS),
                        help="vary one number; NAME is the benchmark, where the sweep runs one")
    parser.add_argument("--values", default="", metavar="VALUE,VALUE",
                        help="of the number that a sweep varies (default: see --list)")
    parser.add_argument("--plot", type=pathlib.Path, nargs="?", const=RESULTS, metavar="DIR",
                        help=f"draw the results in DIR/*.json, and write a page, into the folder "
                             f"above (default: {RESULTS.relative_to(PROJECT)})")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and their peers")
    parser.add_argument("--setup", action="store_true", help="install the peers")
    parser.add_argument("--smoke", action="store_true",
                        help="run every benchmark once at a tiny size, against what is installed")
    arguments = parser.parse_args()
    if not any((arguments.name, arguments.sweep, arguments.plot, arguments.list, arguments.setup,
                arguments.smoke)):
        parser.error("name a benchmark, or --sweep, --plot, --list, --setup or --smoke")
    sweep = sweeps.SWEEPS.get(arguments.sweep)
    if sweep and sweep.program and arguments.name:
        parser.error(f"--sweep {sweep.name} runs a program of its own, not {arguments.name}")
    if arguments.values and not sweep:
        parser.error("--values is for --sweep")
    if arguments.json and not arguments.json.resolve().parent.is_dir():
        parser.error(f"--json {arguments.json}: no such folder")
    try:
        arguments.values = [parse_size(value) for value in arguments.values.split(",") if value]
    except ValueError as why:
        parser.error(f"--values: {why}")
    arguments.peers = [peer for peer in arguments.vs.split(",") if peer]
    name = arguments.name or (sweep and sweep.benchmark)
    for peer in arguments.peers:
        if not name or peer not in BENCHMARKS[name].peers:
            parser.error(f"{name or 'what is asked for'} has no peer '{peer}'")
    return arguments


def measure(contestants, floor, runs):
    """The rounds. Returns measurements by name, the floor's seconds by round, errors by name."""
    measured = {one.name: [] for one in contestants}
    floors, errors = [], {}
    for round_number in range(1, runs + 1):
        for one in contestants:
            if one.name in errors:
                continue
            try:
                measured[one.name].append(one.run())
                print(f"  round {round_number}: {one.name} {measured[one.name][-1].seconds:.2f} s",
                      flush=True)
            except ChildFailed as failure:
                errors[one.name] = str(failure)
                print(f"  round {round_number}: {one.name}: {failure}", flush=True)
            if one is contestants[0]:
                floors.append(floor.probe(one.report))
    return measured, floors, errors


def run_benchmark(row, arguments, size_bytes, memory_bytes, runs, peers):
    """Runs one benchmark and returns its report."""
    needed_bytes = int(size_bytes * (DISK_PER_INPUT_BYTE_OF_DATABASES if "duckdb" in peers
                                     else row.disk_per_input_byte))
    with Workplace(arguments.dir.resolve(), needed_bytes, memory_bytes,
                   settles=not arguments.smoke) as workplace:
        task = Task(row, arguments.tool.resolve(), workplace, workplace.path / "input",
                    size_bytes, memory_bytes, arguments.threads)
        contestants = [OURS[row.ours](task), *(peer_of(row, peer)(task) for peer in peers)]
        print(f"{row.name}: {format_size(size_bytes)}", flush=True)
        input_bytes = inputs.make(task, size_bytes, arguments.seed, stands_in=arguments.smoke)
        for one in contestants:
            one.prepare()
        floor = Floor(task, input_bytes)
        measured, floors, errors = measure(contestants, floor, runs)
        for one in contestants:
            if one.name in errors:
                one.entry["error"] = errors[one.name]
                measured[one.name] = []

        seconds = {name: [m.seconds for m in found] for name, found in measured.items()}
        cpu_seconds = {name: [m.cpu_seconds for m in found] for name, found in measured.items()}
        summaries = {one.name: report.summarise(measured[one.name], input_bytes, one.entry)
                     for one in contestants}
        ours = summaries.pop("outsize")
        ratio, cpu_ratio = ({peer: report.paired_median(found[peer], found["outsize"])
                             for peer in peers} for found in (seconds, cpu_seconds))
        ours["report"] = contestants[0].report
        return {
            "name": row.name, "size_bytes": size_bytes, "input_bytes": input_bytes,
            "memory_bytes": memory_bytes, "threads": arguments.threads, "runs": runs,
            "machine": report.machine(floor.bandwidths()),
            "ours": ours, "peers": summaries,
            "ratio": ratio, "cpu_ratio": cpu_ratio,
            "ratio_per_core": report.ratios_per_core(ratio, arguments.threads, summaries),
            "floor_seconds": floor.seconds(),
            "share_of_floor": report.paired_median(floors, seconds["outsize"]) if all(floors)
                              else None,
        }


def all_installed(name, peers):
    absent = [why for why in (peer.missing() for peer in peers) if why]
    if absent:
        print(f"{name}: missing peers: {'; '.join(absent)} (./dev bench --setup installs them)",
              file=sys.stderr)
    return not absent


def run_and_report(row, arguments, size_bytes, memory_bytes, runs, peers):
    """Returns whether all that was asked for ran and was verified."""
    if not all_installed(row.name, [peer_of(row, peer) for peer in peers]):
        return False
    result = run_benchmark(row, arguments, size_bytes, memory_bytes, runs, peers)
    report.print_table(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")
    return all(entry["verified"] for entry in (result["ours"], *result["peers"].values()))


def run_sweep(sweep, arguments):
    """Returns whether all points were measured and verified."""
    row = BENCHMARKS.get(arguments.name or sweep.benchmark)
    if not all_installed(sweep.name, [peer_of(row, peer) for peer in arguments.peers]):
        return False
    found = sweeps.run(sweep, arguments, run_benchmark)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")
    return sweeps.is_verified(found)


def plot(folder):
    """Returns whether everything could be drawn."""
    python = plots.interpreter()
    if not python:
        print("bench: no Python with matplotlib (./dev bench --setup installs it)",
              file=sys.stderr)
        return False
    page = pathlib.Path(__file__).with_name("results_page.py")
    return subprocess.run([python, page, folder]).returncode == 0


def is_built(name, programs, arguments):
    """Some programs are built only where the libraries are that they need."""
    absent = [one for one in programs if not (arguments.tool.resolve().parent / one).exists()]
    if absent:
        print(f"{name}: left out: {absent[0]} is not built")
    return not absent


def run_smoke(arguments):
    arguments.json = None
    arguments.runs = 1
    good = True
    for sweep in sweeps.SWEEPS.values():
        if sweep.program and is_built(sweep.name, [sweep.program], arguments):
            good &= run_sweep(sweep, arguments)
    for row in BENCHMARKS.values():
        if not is_built(row.name, getattr(OURS[row.ours], "programs", ()), arguments):
            continue
        ready = [peer for peer in row.peers if peer_of(row, peer).is_ready()]
        for peer in row.peers:
            if peer not in ready:
                print(f"{row.name}: without {peer}, which is not installed or not built")
        good &= run_and_report(row, arguments, row.smoke_size_bytes, row.smoke_memory_bytes,
                               1, ready)
    return good


def run_all(arguments):
    if arguments.list:
        width = max(map(len, BENCHMARKS)) + 2
        for row in BENCHMARKS.values():
            print(f"{row.name:<{width}}{row.about}; peers: {', '.join(row.peers)}")
        for sweep in sweeps.SWEEPS.values():
            print(f"--sweep {sweep.name:<14}{sweep.about}: "
                  f"{', '.join(map(sweep.format, sweep.values))}")
    if arguments.setup:
        subprocess.run([PROJECT / "dev", "bench", "--setup"], check=True)
    if arguments.plot:
        return plot(arguments.plot)
    if not (arguments.smoke or arguments.name or arguments.sweep):
        return True
    if not arguments.tool.exists():
        subprocess.run([PROJECT / "dev", "build"], check=True)
    if arguments.sweep:
        return run_sweep(sweeps.SWEEPS[arguments.sweep], arguments)
    if arguments.smoke:
        return run_smoke(arguments)
    row = BENCHMARKS[arguments.name]
    return run_and_report(row, arguments, arguments.size or row.default_size_bytes,
                          arguments.memory or row.default_memory_bytes, arguments.runs,
                          arguments.peers)


def main():
    # A termination is an exception like Ctrl-C, so that the data goes in either case.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    arguments = parse_arguments()
    try:
        return 0 if run_all(arguments) else 1
    except (ChildFailed, NoInput, NoSpace, OSError, subprocess.CalledProcessError) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
