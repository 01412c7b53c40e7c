# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What the pictures show, as plain numbers made from saved results; plots.py draws them.

A result file holds what `./dev bench NAME --json FILE`, `./dev bench --sweep NAME --json FILE` or
`outsize sort --trace FILE` wrote. Its name is what pictures call it. The same files give the same
figures.
"""

import json
import re
from dataclasses import dataclass, field

from catalogue import BENCHMARKS
from sizes import MIB, format_size


class BadResult(Exception):
    """A file that is no result; the message names it and says why."""


@dataclass
class Result:
    label: str    # the file's name without its ending
    content: dict


@dataclass
class Results:
    benchmarks: list   # of Result, in the order of the catalogue
    sweeps: list       # of Result, by name
    traces: list = field(default_factory=list)   # of Result, by name

    def machines(self):
        """The distinct machines, each without what was measured of its disk."""
        found = []
        for result in self.benchmarks + self.sweeps:
            machine = {key: value for key, value in result.content["machine"].items()
                       if not key.endswith("_per_second")}
            if machine not in found:
                found.append(machine)
        return found


@dataclass
class Figure:
    name: str              # of its files, without ending
    title: str
    kind: str              # "lines", "bars" (side by side), "rows" (horizontal, stacked), "spans"
    axis: str              # what the numbers are
    labels: list           # of "lines": the numbers on the other axis
    series: dict           # name to numbers, None where there is none; of "spans": name to
                           # (begin, length) of what is drawn in the row of each label
    parameter: str = ""    # of "lines", and of tables: what the labels are
    unit: str = ""         # "bytes" where labels are sizes
    targets: list = field(default_factory=list)  # of "bars": the least that is asked for, or None
    note: str = ""         # what a reader must know, beside the title
    has_table: bool = False  # of "lines" and "rows": whether the page shows the numbers, too


def load(folder):
    """Reads every *.json of a folder."""
    results = Results([], [])
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text())
        except ValueError as why:
            raise BadResult(f"{path}: no JSON: {why}") from None
        kind = content.keys() if isinstance(content, dict) else ()
        if {"sweep", "points", "machine"} <= set(kind):
            results.sweeps.append(Result(path.stem, content))
        elif {"name", "ours", "machine"} <= set(kind):
            results.benchmarks.append(Result(path.stem, content))
        elif "traceEvents" in kind:
            results.traces.append(Result(path.stem, content))
        else:
            raise BadResult(f"{path}: no report of a benchmark or a sweep, and no trace")
    order = {name: place for place, name in enumerate(BENCHMARKS)}
    results.benchmarks.sort(key=lambda one: (order.get(one.content["name"], len(order)),
                                             one.label))
    return results


def make(results):
    """All figures that these results are enough for."""
    figures = [shares_of_floor(results), ratios(results), stages(results),
               *(phases(one) for one in results.benchmarks)]
    for sweep in results.sweeps:
        figures += sweep_figures(sweep)
    figures += [timeline(trace) for trace in results.traces]
    return [one for one in figures if one]


# ---- benchmarks ----

def shares_of_floor(results):
    found = [one for one in results.benchmarks if one.content.get("share_of_floor")]
    if not found:
        return None
    return Figure(
        "share-of-floor", "Share of the floor", "bars", "floor / outsize",
        [one.label for one in found],
        {"outsize": [one.content["share_of_floor"] for one in found]},
        targets=[_target(one) for one in found],
        note="1 is the time in which the disk alone moves what the algorithm must move; "
             "the marks are what is aimed at")


def _target(result):
    row = BENCHMARKS.get(result.content["name"])
    return row.least_share_of_floor if row else None


def ratios(results):
    found = [one for one in results.benchmarks
             if any(ratio is not None for ratio in one.content.get("ratio", {}).values())]
    peers = sorted({peer for one in found for peer in one.content["ratio"]})
    if not found:
        return None
    return Figure(
        "ratio", "Time of others, outsize = 1", "bars", "time / outsize's",
        [one.label for one in found],
        {peer: [one.content["ratio"].get(peer) for one in found] for peer in peers})


def stages(results):
    """Of each benchmark whose report tells: how long each stage worked and waited."""
    labels, busy, waiting = [], [], []
    for one in results.benchmarks:
        for network in one.content["ours"].get("report", {}).get("networks", []):
            for stage in network.get("stages", []):
                labels.append(f"{one.label}: {stage['name']}")
                busy.append(stage["busy_seconds"])
                waiting.append(stage["wait_seconds"])
    if not labels:
        return None
    return Figure("stages", "What the stages of a sort do", "rows", "seconds", labels,
                  {"at work, or in its own I/O": busy, "waiting for other stages": waiting},
                  note="stages run at once")


def phases(result):
    """How long each program took for each phase of an independent set, as STXXL 2008, Table VI."""
    content = result.content
    row = BENCHMARKS.get(content["name"])
    if not row or row.ours != "independent-set":
        return None
    entries = {"outsize": content["ours"], **content["peers"]}
    known = {name: one for name, one in entries.items() if one.get("phase_seconds")}
    if not known:
        return None
    longest = max((list(one["phase_seconds"]) for one in known.values()), key=len)
    names = [*dict.fromkeys(phase for one in known.values() for phase in one["phase_seconds"]
                            if phase not in longest), *longest]
    return Figure(
        f"{result.label}-phases", f"{result.label}: the time of each phase", "rows", "seconds",
        [f"{name}, {(one['read_bytes'] + one['written_bytes']) / 1e9:.2f} GB moved"
         for name, one in known.items()],
        {phase: [one["phase_seconds"].get(phase) for one in known.values()] for phase in names},
        parameter="program",
        note=f"{format_size(content['input_bytes'])} of edges, "
             f"{format_size(content['memory_bytes'])} of memory, {content['threads']} threads",
        has_table=True)


# ---- traces ----

def timeline(trace):
    """When each stage worked, and when each disk had requests of a kind under way."""
    events = trace.content["traceEvents"]
    rows = {(one["pid"], one["tid"]): _row_of_thread(one["args"]["name"])
            for one in events if one["ph"] == "M" and one["name"] == "thread_name"}
    spans = {}
    for one in events:
        if one["ph"] == "X" and one["name"] != "waiting":
            row = rows[one["pid"], one["tid"]]
            spans.setdefault(row, []).append((one["ts"] / 1e6, one["dur"] / 1e6))
    if not spans:
        return None
    joined = {row: _joined(sorted(of_row)) for row, of_row in spans.items()}
    labels = sorted(joined, key=lambda row: (joined[row][0][0], row))
    return Figure(
        trace.label, "A sort from inside: when each stage is at work", "spans",
        "seconds", labels, {row: joined[row] for row in labels},
        note="of files and disks: while such requests are under way")


def _row_of_thread(name):
    """Requests have a thread for each that is under way at once, stages one for each copy."""
    return re.sub(r"^(disk) \S+/", r"\1 ", re.sub(r" \d+$", "", name))


def _joined(spans):
    """Those that overlap or touch as one, so that a row can be drawn; of sorted ones."""
    joined = []
    for begin, length in spans:
        if joined and begin <= sum(joined[-1]) + 1e-4:
            joined[-1] = (joined[-1][0], max(sum(joined[-1]), begin + length) - joined[-1][0])
        else:
            joined.append((begin, length))
    return joined


# ---- sweeps ----

def sweep_figures(sweep):
    points = sweep.content["points"]
    if not points:
        return []
    if "result" in points[0]:
        return [PICTURES[one](sweep) for one in sweep.content.get("pictures", ("rate", "time"))]
    if sweep.content["sweep"] == "merge":
        return [_curves(sweep, "MiB/s", lambda one: one["bytes_per_second"] / MIB,
                        "size", "memory")]
    if sweep.content["sweep"] == "bsp-disks":
        return [_curves(sweep, "simulated ns for each item",
                        lambda one: one["simulated_seconds"] * 1e9 / one["items"], "size")]
    if any(one.get("simulated_seconds") for one in points[0]["measured"].values()):
        return [_curves(sweep, "simulated seconds", lambda one: one["simulated_seconds"])]
    return [_phases(sweep)]


def _describe(content, *varied):
    """What the sort was given, but for what varied."""
    said = {"size": format_size(content["size_bytes"]),
            "memory": format_size(content["memory_bytes"]) + " of memory",
            "threads": f"{content['threads']} thread{'s' if content['threads'] != 1 else ''}",
            "cores": f"{content['machine']['cores']} cores",
            "runs": f"medians of {content['runs']}" if content["runs"] != 1 else "one run each"}
    return ", ".join(text for name, text in said.items() if name not in varied)


def _lines(sweep, suffix, title, axis, series, note, has_table=False):
    content = sweep.content
    return Figure(sweep.label + suffix, title, "lines", axis,
                  [point["value"] for point in content["points"]], series,
                  parameter=content["parameter"], unit=content["unit"], note=note,
                  has_table=has_table)


def _throughput(sweep):
    content = sweep.content
    results = [point["result"] for point in content["points"]]
    series = {"outsize": [_rate(one["ours"], one) for one in results]}
    for peer in sorted({peer for one in results for peer in one["peers"]}):
        series[peer] = [_rate(one["peers"].get(peer, {}), one) for one in results]
    series["floor"] = [one["input_bytes"] / one["floor_seconds"] / MIB
                       if one.get("floor_seconds") else None for one in results]
    return _lines(sweep, "", f"{content['benchmark']} by {content['parameter']}", "MiB/s", series,
                  _describe(content, content["sweep"]))


def _rate(entry, result):
    return result["input_bytes"] / entry["seconds"] / MIB if entry.get("seconds") else None


def _time_of_benchmark(sweep):
    """As the papers have it: time for each byte, and how much of it threads waited for I/O."""
    content = sweep.content
    results = [point["result"] for point in content["points"]]

    def per_byte(result, entry, what):
        seconds = entry.get(what)
        return None if seconds is None else seconds * 1e9 / result["input_bytes"]

    series = {"outsize": [per_byte(one, one["ours"], "seconds") for one in results],
              "outsize, threads waiting for I/O":
                  [per_byte(one, one["ours"], "io_wait_seconds") for one in results]}
    for peer in sorted({peer for one in results for peer in one["peers"]}):
        series[peer] = [per_byte(one, one["peers"].get(peer, {}), "seconds") for one in results]
    return _lines(sweep, "-time", f"{content['benchmark']}: time by {content['parameter']}",
                  "ns for each byte", series, _describe(content, content["sweep"]))


def _entries(sweep):
    """What each program did at each point, by its name; {} where it could not."""
    results = [point["result"] for point in sweep.content["points"]]
    peers = list(dict.fromkeys(peer for one in results for peer in one["peers"]))
    return {"outsize": [one["ours"] for one in results],
            **{peer: [one["peers"].get(peer, {}) for one in results] for peer in peers}}


def _of_items(sweep, suffix, what, series, note=""):
    """A picture of something by the item, and the numbers as a table."""
    content = sweep.content
    described = _describe(content, content["varies"])
    return _lines(sweep, suffix, f"{content['benchmark']}: {what} by {content['parameter']}",
                  "ns for each item", series, f"{described}; {note}" if note else described, True)


def _per_item(sweep, values):
    """Nanoseconds for each item; of values at the points of a sweep."""
    item_bytes = BENCHMARKS[sweep.content["benchmark"]].item_bytes
    counts = [point["result"]["input_bytes"] / item_bytes for point in sweep.content["points"]]
    return [None if value is None else value * 1e9 / count
            for value, count in zip(values, counts)]


def _item_time(sweep):
    series = {name: _per_item(sweep, [one.get("seconds") for one in entries])
              for name, entries in _entries(sweep).items()}
    return _of_items(sweep, "", "time", series, _mean_ratios(sweep, series))


def _mean_ratios(sweep, series):
    """How much longer the others take, on average over the points larger than memory."""
    results = [point["result"] for point in sweep.content["points"]]
    said = []
    for peer, times in series.items():
        ratios = [theirs / ours for theirs, ours, one in zip(times, series["outsize"], results)
                  if theirs and ours and one["input_bytes"] > one["memory_bytes"]]
        if ratios and peer != "outsize":
            said.append(f"{peer} {sum(ratios) / len(ratios):.2f}")
    return f"peers' time where items exceed the memory, outsize = 1: {', '.join(said)}" \
        if said else ""


def _item_processor_time(sweep):
    return _of_items(sweep, "-processor", "processor time",
                     {name: _per_item(sweep, [one.get("cpu_seconds") for one in entries])
                      for name, entries in _entries(sweep).items()})


def _item_phases(sweep):
    series = {}
    for name, entries in _entries(sweep).items():
        phases = [one.get("phase_seconds", {}) for one in entries]
        for phase in dict.fromkeys(phase for one in phases for phase in one):
            series[f"{name}, {phase}"] = _per_item(sweep, [one.get(phase) for one in phases])
    return _of_items(sweep, "-phases", "time of each part", series)


def _volume(sweep):
    """Bytes read and written, as the papers have it, but for each byte of the items."""
    content = sweep.content
    sizes = [point["result"]["input_bytes"] for point in content["points"]]
    series = {name: [None if one.get("read_bytes") is None
                     else (one["read_bytes"] + one["written_bytes"]) / size
                     for one, size in zip(entries, sizes)]
              for name, entries in _entries(sweep).items()}
    return _lines(sweep, "-volume", f"{content['benchmark']}: I/O volume by {content['parameter']}",
                  "bytes moved for each byte of items", series,
                  _describe(content, content["varies"]), True)


PICTURES = {"rate": _throughput, "time": _time_of_benchmark, "item-time": _item_time,
            "processor-time": _item_processor_time, "phases": _item_phases, "volume": _volume}


def _curves(sweep, axis, number, *varied):
    content = sweep.content
    names = list(content["points"][0]["measured"])
    return _lines(sweep, "", _about(content), axis,
                  {name: [number(point["measured"][name]) for point in content["points"]]
                   for name in names}, _describe(content, *varied))


def _about(content):
    return content["about"][0].upper() + content["about"][1:]


_PHASES = (("seconds", "all"), ("forming_seconds", "run formation"),
           ("merging_seconds", "merging"), ("forming_wait_seconds", "waiting in run formation"),
           ("merging_wait_seconds", "waiting in merging"))


def _phases(sweep):
    content = sweep.content
    name = next(iter(content["points"][0]["measured"]))
    series = {title: [point["measured"][name][field_name] * 1e9 / content["size_bytes"]
                      for point in content["points"]] for field_name, title in _PHASES}
    return _lines(sweep, "", _about(content), "ns for each byte", series, _describe(content))
