# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""docs/benchmarks: the page and the pictures, made from the results that are saved there.

    docs/benchmarks/README.md          written here
    docs/benchmarks/*.png, *.svg       drawn by plots.py
    docs/benchmarks/results/*.json     reports of `./dev bench`, as they were written

Run as a program, it is given the folder of the results: by bench.py, with a Python that can draw.
"""

import pathlib
import sys
import textwrap

import figures
import plots
from sizes import MIB, format_size

_HEAD = """<!-- SPDX-FileCopyrightText: the outsize authors -->
<!-- SPDX-License-Identifier: BSL-1.0 -->
<!-- Written by `./dev bench --plot`, from results/*.json. -->
# Benchmarks

What is measured, against whom and how: [bench/README.md](../../bench/README.md). What bounds the
rows that fall short of what is aimed at: [bounds.md](bounds.md).
"""

_FLOOR = """
The floor is the time in which this disk alone, in the same minute, moves what the algorithm must
move. Of sorts that is to read all, and at the same time to write as much to where nothing has been
written before, the last of the disk's rates: twice, or once if the input is in order or nearly
([0019](../decisions/0019-floor-of-first-writes.md)). Of others
[bench/README.md](../../bench/README.md) says it.
"""


_COLUMNS_OF_A_PAGE = 110


def redraw(folder):
    """Draws what the results in `folder` say into the folder above, and writes the page there.
    Returns the number of figures."""
    results = figures.load(folder)
    if not results.benchmarks and not results.sweeps:
        raise figures.BadResult(f"{folder}: no results (*.json) in it")
    drawn = figures.make(results)
    for figure in drawn:
        plots.draw(figure, folder.parent)
    (folder.parent / "README.md").write_text(page(results, drawn, folder.name))
    return len(drawn)


def page(results, drawn, results_folder):
    parts = [_HEAD, "\n## Machine\n" if len(results.machines()) == 1 else "\n## Machines\n"]
    parts += [_machine(one) for one in results.machines()]
    if results.benchmarks:
        parts += ["\n## Results\n", _table(results.benchmarks, results_folder), _FLOOR,
                  _limits(results.benchmarks)]
    for figure in drawn:
        note = f"{figure.note[0].upper()}{figure.note[1:]}.\n\n" if figure.note else ""
        parts.append(f"\n## {figure.title}\n\n{note}![{figure.title}]({figure.name}.svg)\n")
        if figure.has_table:
            parts.append(_numbers(figure))
    for what, some in (("The numbers", results.sweeps),
                       ("For <https://ui.perfetto.dev>", results.traces)):
        if some:
            links = (f"[{one.label}]({results_folder}/{one.label}.json)" for one in some)
            parts.append(f"\n{what}: {', '.join(links)}.\n")
    return _in_lines("".join(parts))


def _numbers(figure):
    """The numbers of a figure: a row for each label."""
    lines = ["", f"| {figure.parameter} | {' | '.join(figure.series)} |",
             "|---" * (len(figure.series) + 1) + "|"]
    for place, label in enumerate(figure.labels):
        numbers = (_number(values[place], 2) for values in figure.series.values())
        lines.append(f"| {plots.tick(figure, label)} | {' | '.join(numbers)} |")
    return "\n".join(lines) + f"\n\n({figure.axis})\n"


def _in_lines(text):
    """Long lines that are no rows of a table, broken between words."""
    return "\n".join(line if len(line) <= _COLUMNS_OF_A_PAGE or line.startswith("|") else
                     textwrap.fill(line, _COLUMNS_OF_A_PAGE, break_long_words=False,
                                   break_on_hyphens=False,
                                   subsequent_indent="  " if line.startswith("* ") else "")
                     for line in text.split("\n"))


def _machine(machine):
    known = [machine["cpu"], f"{machine['cores']} cores",
             format_size(machine["memory_bytes"]) + " of memory"]
    if "system" in machine:
        known.append(machine["system"])
    return f"\n{', '.join(known)}.\n"


_COLUMNS = ("benchmark", "size : memory", "seconds", "MiB/s", "CPU s", "peak MiB", "moved MiB",
            "floor s", "share of floor", "others' time / ours", "disk, MiB/s: read, write, both")


def _table(benchmarks, results_folder):
    lines = ["", "| " + " | ".join(_COLUMNS) + " |", "|---" * len(_COLUMNS) + "|"]
    for one in benchmarks:
        lines.append("| " + " | ".join(_row(one, results_folder)) + " |")
    return "\n".join(lines) + "\n"


def _row(one, results_folder):
    result, ours = one.content, one.content["ours"]
    rates = [result["machine"].get(f"{what}_bytes_per_second")
             for what in ("read", "write", "mixed")]
    return [
        f"[{one.label}]({results_folder}/{one.label}.json)",
        f"{format_size(result['size_bytes'])} : {format_size(result['memory_bytes'])}",
        _number(ours.get("seconds"), 2), _number(ours.get("bytes_per_second"), 0, MIB),
        _number(ours.get("cpu_seconds"), 2), _number(ours.get("peak_rss_bytes"), 0, MIB),
        _number((ours.get("read_bytes") or 0) + (ours.get("written_bytes") or 0), 0, MIB),
        _number(result.get("floor_seconds"), 2), _number(result.get("share_of_floor"), 2),
        ", ".join(f"{peer} {_number(ratio, 2)}"
                  for peer, ratio in sorted(result.get("ratio", {}).items())) or "-",
        ", ".join(_number(rate, 0, MIB) for rate in rates)]


def _limits(benchmarks):
    """What held everybody to the memory, where that is not left to the programs."""
    rows = {}
    for one in benchmarks:
        entries = {"ours": one.content["ours"], **one.content["peers"]}
        limits = {name: entry["memory_limit"] for name, entry in entries.items()
                  if "memory_limit" in entry}
        for limit in sorted(set(limits.values())):
            held = [name for name, of_name in limits.items() if of_name == limit]
            who = "" if len(held) == len(limits) else f" ({', '.join(held)})"
            rows.setdefault(limit, []).append(one.label + who)
    if not rows:
        return ""
    return "\nLimit of memory, beside what programs are told:\n" + "".join(
        f"* {limit}: {', '.join(labels)}\n" for limit, labels in sorted(rows.items()))


def _number(value, digits, unit=1):
    return "-" if value is None else f"{value / unit:.{digits}f}"


if __name__ == "__main__":
    results = pathlib.Path(sys.argv[1]).resolve()
    try:
        print(f"{redraw(results)} figures in {results.parent}")
    except figures.BadResult as why:
        sys.exit(f"bench: {why}")
