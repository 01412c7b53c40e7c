#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Where the time of builds and tests goes.

    build_times.py [--rows N] BUILD_FOLDER...

Says for all folders together what was compiled longest, by the log of ninja, and which tests ran
longest, by that of ctest. Where clang left traces beside the objects (-ftime-trace: the preset
`trace`), also which headers took longest to parse and which templates to instantiate, each without
what is inside of it. Times are of the clock, of what ran side by side; where the compiler cache had
a result, of finding it there.
"""
import argparse
import collections
import json
import pathlib
import re


def compilations(folder):
    """(seconds, object) of each object in the build folder, by the last time it was made."""
    log = folder / ".ninja_log"
    seconds = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        if line.startswith("#"):
            continue
        begin, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch", ".pch")):
            seconds[output] = (int(end) - int(begin)) / 1000
    return [(time, output) for output, time in seconds.items()]


def test_runs(folder):
    """(seconds, test) of each test of the last run in the build folder."""
    log = folder / "Testing/Temporary/LastTest.log"
    found, name = [], ""
    for line in log.read_text(errors="replace").splitlines() if log.exists() else []:
        if begin := re.fullmatch(r"\d+/\d+ Test: (.*)", line):
            name = begin[1]
        elif end := re.fullmatch(r"Test time = +([0-9.]+) sec", line):
            found.append((float(end[1]), name))
    return found


def source_of(output):
    """`a/CMakeFiles/t.dir/b.cpp.o` as `a/b.cpp (t)`."""
    place = re.fullmatch(r"(?:(.*)/)?CMakeFiles/([^/]*)\.dir/(.*)\.(?:o|gch|pch)", output)
    if not place:
        return output
    folder, target, source = place.groups()
    return f"{folder}/{source} ({target})" if folder else f"{source} ({target})"


def own_times(events):
    """(detail, microseconds) of nested events, each without those inside of it."""
    open_events = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_events and open_events[-1]["ts"] + open_events[-1]["dur"] <= event["ts"]:
            done = open_events.pop()
            yield done["args"]["detail"], done["own"]
        event["own"] = event["dur"]
        if open_events:
            open_events[-1]["own"] -= event["dur"]
        open_events.append(event)
    for event in open_events:
        yield event["args"]["detail"], event["own"]


def traced(folder, root):
    """Seconds and counts for each header and each template in clang's traces."""
    headers, templates = collections.defaultdict(list), collections.defaultdict(list)
    for path in folder.rglob("*.cpp.json"):
        try:
            events = json.loads(path.read_text())["traceEvents"]
        except (ValueError, KeyError):
            continue
        events = [e for e in events if e.get("ph") == "X"]
        for header, own in own_times([e for e in events if e["name"] == "Source"]):
            headers[short_header(header, root)].append(own / 1e6)
        kinds = ("InstantiateClass", "InstantiateFunction")
        for name, own in own_times([e for e in events if e["name"] in kinds]):
            templates[re.sub(r"<.*", "<>", name)].append(own / 1e6)
    return headers, templates


def short_header(path, root):
    path = str(pathlib.Path(path).resolve()) if path.startswith("/") else path
    for begin in (f"{root}/", "/usr/include/c++/12/", "/usr/include/x86_64-linux-gnu/",
                  "/usr/include/"):
        path = path.removeprefix(begin)
    return path


def print_rows(title, rows, count):
    """`rows`: (seconds, words), of which the longest are printed below `title` and their sum."""
    if not rows:
        return
    print(f"\n{title}: {sum(time for time, _ in rows):.0f} s in all of {len(rows)}")
    for time, words in sorted(rows, reverse=True)[:count]:
        print(f"  {time:7.1f} s  {words}")


def main():
    parser = argparse.ArgumentParser(description="Where the time of builds and tests goes.")
    parser.add_argument("--rows", type=int, default=10, help="how many of each kind")
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="BUILD_FOLDER")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    several = len(arguments.folders) > 1
    compiled, ran = [], []
    headers, templates = collections.defaultdict(list), collections.defaultdict(list)
    for folder in arguments.folders:
        where = f"{folder.name}: " if several else ""
        compiled += [(time, where + source_of(output)) for time, output in compilations(folder)]
        ran += [(time, where + test) for time, test in test_runs(folder)]
        for all_times, found in zip((headers, templates), traced(folder, root)):
            for name, times in found.items():
                all_times[name] += times
    print_rows("Compilations", compiled, arguments.rows)
    print_rows("Tests", ran, arguments.rows)
    for title, found in (("Headers, parsed", headers), ("Templates, instantiated", templates)):
        rows = [(sum(times), f"{name}, {len(times)} times") for name, times in found.items()]
        print_rows(title, rows, arguments.rows)


if __name__ == "__main__":
    main()
