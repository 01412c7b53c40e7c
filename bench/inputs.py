# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""What is sorted, transformed and so on: generated, made by a program, or ./dev demo's text."""

import os
import pathlib

from child import must_run
from sizes import MIB

_SAMPLE_COUNT = 20000


class NoInput(Exception):
    """What a benchmark reads is not there; the message says how to get it."""


def make(task, size_bytes, seed, stands_in=False):
    """Makes the input, if there is one, of about so many bytes, and returns its size. Generated
    items stand in for a text where that is all the same."""
    row = task.benchmark
    if row.input_program:
        must_run([task.tool.parent / row.input_program, size_bytes, task.input])
    elif row.text and not stands_in:
        copy_lines(kept_text(row.text), size_bytes, task.input)
    elif row.generator:
        _generate(task, size_bytes, seed)
    else:
        return size_bytes
    return task.input.stat().st_size


def kept_text(name):
    """Where ./dev demo keeps the text of that name."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME")
                         or pathlib.Path(os.environ.get("HOME") or "/tmp") / ".cache")
    path = cache / "outsize" / name
    if not path.is_file():
        raise NoInput(f"{path}: not there; './dev demo' fetches and keeps it")
    return path


def copy_lines(source, most_bytes, target):
    """Copies as many whole lines as there are in the first bytes, or all."""
    left = most_bytes
    with open(source, "rb") as given, open(target, "wb") as copy:
        while left > 0 and (piece := given.read(min(left, MIB))):
            copy.write(piece)
            left -= len(piece)
        if not given.read(1):
            return
    with open(target, "r+b") as copy:
        copy.truncate(_end_of_last_line(copy))


def _end_of_last_line(file):
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - MIB)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _generate(task, size_bytes, seed):
    """Of lines so many that their size comes close to what was asked."""
    row = task.benchmark

    def generate(count):
        must_run([task.tool, "gen", row.generator, "--count", max(1, int(count)), "--seed", seed,
                  "-o", task.input])

    item_bytes = row.item_bytes
    if item_bytes == 0:
        generate(_SAMPLE_COUNT)
        item_bytes = task.input.stat().st_size / _SAMPLE_COUNT
    generate(size_bytes / item_bytes)
