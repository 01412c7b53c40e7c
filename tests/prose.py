#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Measures how comments and pages are written (STYLE.md, How we write): four turns of phrase that
make them hard to read, each in 10 000 words.

A file is held to LIMITS. Those that are not there yet are listed in prose_rates.txt with what they
have, which may only go down; `prose.py --update` lowers what is listed, and strikes out what is
within the limits or gone. With names of files, prints their rates and where they come from.
"""

import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "prose_rates.txt"
FOLDERS = ("outsize", "tools", "tests", "bench", "examples")

PATTERNS = {
    "what": re.compile(r"\bwhat\b", re.IGNORECASE),
    "of which": re.compile(r"\bof\s+(?:which|those|others)\b", re.IGNORECASE),
    "beginnings": re.compile(r"(?:^|[.;:!?]\s+|\n\s*\n\s*)(?:Of|That|What|Whether|Who)\b"),
    "so many": re.compile(r"\b(?:so\s+many|as\s+many|so\s+much)\b", re.IGNORECASE),
}
LIMITS = {"what": 10, "of which": 10, "beginnings": 5, "so many": 3}  # in 10 000 words


def prose_of(path):
    """Comments of a source, or the text of a page without its code; each comment a paragraph."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        return re.sub(r"`[^`]*`|<!--.*?-->|\]\([^)]*\)", "_", text, flags=re.DOTALL)
    paragraphs, last = [], -1
    for number, line in enumerate(text.split("\n")):
        found = re.search(r"(?:^|\s)//[/<!]*\s?(.*)$", line)
        if not found or "SPDX-" in line:
            continue
        is_whole_line = line.lstrip().startswith("//")
        follows = is_whole_line and number == last + 1
        paragraphs.append(("\n" if follows else "\n\n") + found.group(1))
        last = number if is_whole_line else -1
    return re.sub(r"\n\s*(?=@\w)", "\n\n", "".join(paragraphs))


def counts_of(path):
    """The number of words, and of each turn of phrase."""
    prose = prose_of(path)
    words = len(re.findall(r"[A-Za-z][A-Za-z']*", prose))
    return words, {name: len(pattern.findall(prose)) for name, pattern in PATTERNS.items()}


def rates(words, counts):
    """In 10 000 words, rounded up."""
    return {name: math.ceil(10000 * count / max(words, 1)) for name, count in counts.items()}


def is_within_limits(words, counts):
    """One of each is allowed in any file: a short one would have none else."""
    return all(count <= max(1, LIMITS[name] * words / 10000) for name, count in counts.items())


def measured_files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".hpp", ".cpp") and path.is_file():
                yield path
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")),
                 *sorted((ROOT / "outsize").rglob("*.md")), ROOT / "bench" / "README.md"]:
        yield path


def listed():
    """What the list says of each file."""
    known = {}
    if LIST.exists():
        for line in LIST.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                *numbers, name = line.split()
                known[name] = dict(zip(PATTERNS, map(int, numbers)))
    return known


def check():
    """Yields (path, line number, fault), as the rules of tidy.py do."""
    known = listed()
    for path in measured_files():
        name = path.relative_to(ROOT).as_posix()
        words, counts = counts_of(path)
        if is_within_limits(words, counts):
            continue
        now = rates(words, counts)
        if name not in known:
            over = ", ".join(f"'{turn}' {now[turn]}" for turn, count in counts.items()
                             if count > max(1, LIMITS[turn] * words / 10000))
            yield path, 1, f"in 10 000 words of comments: {over} (STYLE.md, How we write)"
            continue
        for turn, rate in now.items():
            if rate > known[name][turn] and rate > LIMITS[turn]:
                yield path, 1, (f"'{turn}' {rate} times in 10 000 words, {known[name][turn]} before"
                                " (STYLE.md, How we write)")
    for name in known:
        if not (ROOT / name).exists():
            yield LIST, 1, f"names {name}, which does not exist: tests/prose.py --update"


def update(may_add):
    known = listed()
    lines = []
    for path in measured_files():
        name = path.relative_to(ROOT).as_posix()
        words, counts = counts_of(path)
        if is_within_limits(words, counts) or (name not in known and not may_add):
            continue
        now = rates(words, counts)
        before = known.get(name, now)
        least = " ".join(f"{min(now[turn], before[turn]):4}" for turn in PATTERNS)
        lines.append(f"{least} {name}")
    head = ("# SPDX-FileCopyrightText: the outsize authors\n"
            "# SPDX-License-Identifier: BSL-1.0\n#\n"
            "# Files whose prose is yet to be rewritten (prose.py): in 10 000 words\n#\n"
            "# " + ", ".join(PATTERNS) + "\n")
    LIST.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def show(path):
    words, counts = counts_of(path)
    print(path, words, "words:", rates(words, counts))
    prose = prose_of(path)
    for name, pattern in PATTERNS.items():
        for found in pattern.finditer(prose):
            around = prose[max(0, found.start() - 40):found.end() + 40]
            print(f"  {name}: …{' '.join(around.split())}…")


def main():
    if sys.argv[1:2] in (["--update"], ["--begin"]):
        update(may_add=sys.argv[1] == "--begin")
    elif sys.argv[1:]:
        for name in sys.argv[1:]:
            show(pathlib.Path(name))
    else:
        faults = list(check())
        for path, _, what in faults:
            print(f"{path.relative_to(ROOT).as_posix()}: {what}")
        return 1 if faults else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
