# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Draws figures (figures.py) as PNG and SVG with matplotlib, which `./dev bench --setup` installs
beside the peers.

The same figures give the same bytes, with one version of matplotlib: no dates, no random names.
"""

import os
import sys
import textwrap

import child
from contestant import PEER_PYTHON
from sizes import format_size

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MARKERS = "osD^vX*"
_WIDTH, _HEIGHT = 7.2, 4.2   # inches
_STYLE = {
    "svg.hashsalt": "outsize", "svg.fonttype": "none", "font.family": "sans-serif",
    "font.size": 9, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd",
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "figure.dpi": 100, "savefig.dpi": 120, "axes.titlelocation": "left",
}


def interpreter():
    """A Python that has matplotlib, this one or that of the peers; None if neither has."""
    for python in (sys.executable, PEER_PYTHON):
        if os.path.exists(python) and child.run([python, "-c", "import matplotlib"]).exit_code == 0:
            return python
    return None


def draw(figure, folder):
    """Writes FOLDER/NAME.png and NAME.svg."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.rc_context({**matplotlib.rcParamsDefault, **_STYLE}):
        width, height = _WIDTH, _HEIGHT
        if figure.kind in ("rows", "spans"):
            height = 1.4 + 0.22 * len(figure.labels)
        if figure.kind == "bars":
            width = max(width, 0.6 * len(figure.labels))
        canvas, axes = pyplot.subplots(figsize=(width, height), layout="constrained")
        {"lines": _draw_lines, "bars": _draw_bars, "rows": _draw_rows,
         "spans": _draw_spans}[figure.kind](figure, axes)
        axes.set_title("\n".join([figure.title, *textwrap.wrap(figure.note, 100)]), fontsize=9)
        canvas.savefig(folder / f"{figure.name}.png", metadata={"Software": None})
        canvas.savefig(folder / f"{figure.name}.svg", metadata={"Date": None, "Creator": None})
        pyplot.close(canvas)


def _look(number):
    return _COLOURS[number % len(_COLOURS)]


def _draw_lines(figure, axes):
    for number, (name, values) in enumerate(figure.series.items()):
        known = [(x, y) for x, y in zip(figure.labels, values) if y is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], label=name, color=_look(number),
                  marker=_MARKERS[number % len(_MARKERS)], markersize=4,
                  linestyle="--" if name == "floor" else "-")
    if min(figure.labels) > 0:
        axes.set_xscale("log", base=2)
    axes.set_xticks(figure.labels, [tick(figure, x) for x in figure.labels])
    axes.minorticks_off()
    axes.set_xlabel(figure.parameter)
    axes.set_ylabel(figure.axis)
    axes.set_ylim(bottom=0)
    axes.legend()


def tick(figure, value):
    """A label as text."""
    if isinstance(value, str):
        return value
    if figure.unit == "bytes":
        return format_size(value).replace(" bytes", " B")
    return f"{value // 1000} k" if value and value % 1000 == 0 else str(value)


def _draw_bars(figure, axes):
    # Each group has the bars that there are, side by side in the middle of its place.
    groups = [[name for name, values in figure.series.items() if values[place] is not None]
              for place in range(len(figure.labels))]
    width = 0.8 / max(map(len, groups))
    for number, (name, values) in enumerate(figure.series.items()):
        known = [(place + (group.index(name) - (len(group) - 1) / 2) * width, values[place])
                 for place, group in enumerate(groups) if name in group]
        bars = axes.bar([x for x, _ in known], [y for _, y in known], width, label=name,
                        color=_look(number))
        axes.bar_label(bars, fmt="%.1f" if len(figure.series) > 1 else "%.2f", fontsize=7)
    targets = [(place, target) for place, target in enumerate(figure.targets) if target]
    for place, target in targets:
        axes.hlines(target, place - 0.45, place + 0.45, color="#cc0000", linewidth=1.5,
                    label="target" if place == targets[0][0] else None)
    axes.axhline(1, color="#555555", linewidth=0.8)
    axes.set_xticks(range(len(figure.labels)), figure.labels, rotation=30, ha="right")
    axes.grid(axis="x", visible=False)
    axes.set_ylabel(figure.axis)
    if len(figure.series) > 1 or targets:
        axes.figure.legend(loc="outside lower left", ncols=4)


def _draw_rows(figure, axes):
    left = [0.0] * len(figure.labels)
    for number, (name, found) in enumerate(figure.series.items()):
        values = [value or 0 for value in found]
        axes.barh(range(len(figure.labels)), values, left=left, label=name,
                  color="#cccccc" if number == 1 and len(figure.series) == 2 else _look(number))
        left = [before + more for before, more in zip(left, values)]
    axes.set_yticks(range(len(figure.labels)), figure.labels)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(figure.axis)
    axes.figure.legend(loc="outside lower left", ncols=2)


def _draw_spans(figure, axes):
    for place, label in enumerate(figure.labels):
        axes.broken_barh(figure.series[label], (place - 0.4, 0.8), color=_look(place))
    axes.set_yticks(range(len(figure.labels)), figure.labels)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(figure.axis)
