# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What a benchmark found, as one JSON object and as a table for people."""

import os
import pathlib
import platform
import re
import statistics

from sizes import MIB, format_size

_MEDIANS = ("seconds", "process_seconds", "cpu_seconds", "io_wait_seconds", "read_bytes",
            "written_bytes")


def machine(bandwidths):
    cpu_info = pathlib.Path("/proc/cpuinfo").read_text()
    cpu = re.search(r"^model name\s*: (.*)$", cpu_info, re.MULTILINE)
    return {"cpu": cpu[1] if cpu else os.uname().machine, "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "system": _system(), **bandwidths}


def _system():
    kernel = f"{os.uname().sysname} {os.uname().release}"
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {kernel}"
    except (OSError, KeyError):
        return kernel


def summarise(measurements, input_bytes, entry):
    """One program's runs as an entry of the JSON: medians, greatest peak, each run's seconds."""
    summary = {}
    for field in _MEDIANS:
        values = [getattr(one, field) for one in measurements]
        summary[field] = None if None in values or not values else statistics.median(values)
        if field.endswith("_bytes") and summary[field] is not None:
            summary[field] = int(summary[field])
    if measurements:
        summary["bytes_per_second"] = input_bytes / summary["seconds"]
        summary["peak_rss_bytes"] = max(one.peak_rss_bytes for one in measurements)
        if measurements[0].phase_seconds:
            summary["phase_seconds"] = {
                name: statistics.median(one.phase_seconds[name] for one in measurements)
                for name in measurements[0].phase_seconds}
    summary["run_seconds"] = [one.seconds for one in measurements]
    summary["verified"] = bool(measurements) and all(one.verified for one in measurements)
    return {**summary, **entry}


def paired_median(numerators, denominators):
    """The median of the ratios of runs that stood side by side, to three digits."""
    ratios = [a / b for a, b in zip(numerators, denominators)]
    return round(statistics.median(ratios), 3) if ratios else None


def ratios_per_core(ratios, threads, peers):
    """The ratios as they would be if all used one core; of peers that tell their own number of
    threads."""
    return {name: ratio and round(ratio * peers[name]["threads"] / threads, 3)
            for name, ratio in ratios.items() if "threads" in peers[name]}


def print_table(result):
    print(f"\n{result['name']}: {format_size(result['input_bytes'])} with "
          f"{format_size(result['memory_bytes'])} of memory, {result['threads']} threads, "
          f"median of {result['runs']}")
    width = max([10, *(len(name) + 1 for name in result["peers"])])
    row = f"{{:<{width}}}" + "{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>10}{:>13}{:>8}{:>7}  {}"
    print(row.format("program", "seconds", "MiB/s", "process", "CPU s", "wait s", "peak MiB",
                     "read MiB", "written MiB", "ratio", "CPU", ""))
    for name, entry in [("outsize", result["ours"]), *result["peers"].items()]:
        ratio, cpu_ratio = ((1.0, 1.0) if name == "outsize" else
                            (result[kind].get(name) for kind in ("ratio", "cpu_ratio")))
        print(row.format(
            name, _number(entry.get("seconds"), 2), _number(entry.get("bytes_per_second"), 0, MIB),
            _number(entry.get("process_seconds"), 2), _number(entry.get("cpu_seconds"), 2),
            _number(entry.get("io_wait_seconds"), 2),
            _number(entry.get("peak_rss_bytes"), 0, MIB),
            _number(entry.get("read_bytes"), 0, MIB), _number(entry.get("written_bytes"), 0, MIB),
            _number(ratio, 2), _number(cpu_ratio, 2),
            "verified" if entry["verified"] else f"NOT VERIFIED {entry.get('error', '')}"))
    if result["ratio_per_core"]:
        print("ratio for each core used: " + ", ".join(
            f"{peer} {_number(ratio, 2)}" for peer, ratio in result["ratio_per_core"].items()))
    if result["floor_seconds"] is not None:
        found = result["machine"]
        print(f"floor {result['floor_seconds']:.2f} s, share of floor {result['share_of_floor']}; "
              f"disk reads {found['read_bytes_per_second'] / MIB:.0f}, "
              f"writes {found['write_bytes_per_second'] / MIB:.0f}, "
              f"both at once {found['mixed_bytes_per_second'] / MIB:.0f} MiB/s each")
    for name, entry in [("outsize", result["ours"]), *result["peers"].items()]:
        print(f"  {name} {entry.get('version', '')}: {entry.get('flags', '')}")
        if "memory_limit" in entry:
            print(f"    limit of memory: {entry['memory_limit']}")
        if "remark" in entry:
            print(f"    {entry['remark']}")


def _number(value, digits, unit=1):
    return "-" if value is None else f"{value / unit:.{digits}f}"
