#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""The sources that clang-tidy is to look at: all with --all, else

  * those that were touched in the last six hours of work or are not committed, by more than a move
    and the headers that they include, and for a header that was touched its own source or else the
    first that includes it;
  * an eighth of the others, another one after each commit.

All as well where the history that is there is too short to say. Prints one path in a line, relative
to the root.
"""
import subprocess
import sys

TURNS = 8
LATELY_SECONDS = 6 * 60 * 60


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def chosen(sources, touched, turn, content):
    """Of `sources`, what touching the files `touched` concerns, and every eighth of the others."""
    found = set()
    for path in touched:
        own = path.removesuffix(".hpp") + ".cpp" if path.endswith(".hpp") else path
        if own in sources:
            found.add(own)
        elif path.endswith(".hpp"):
            found.update([s for s in sources if f"<{path}>" in content(s)][:1])
    rest = [source for source in sources if source not in found]
    return sorted(found.union(rest[turn % TURNS :: TURNS]))


def touched_lately():
    """Paths, or None where the history that is there is too short to say."""
    newest = int(git("log", "-1", "--format=%ct"))
    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        return None
    before = git("rev-list", "-1", f"--before={newest - LATELY_SECONDS}", "HEAD").strip()
    if not before:
        return None
    return changed_paths(git("diff", "--numstat", "-z", "-M50%", "-I^#include ", before))


def changed_paths(numstat):
    """The paths, as they are now, that `git diff --numstat -z` counts lines of."""
    paths, fields = set(), iter(numstat.split("\0"))
    for field in fields:
        if not field:
            continue
        added, removed, path = field.split("\t")
        if not path:  # moved: the old path and the new one follow
            next(fields)
            path = next(fields)
        if (added, removed) != ("0", "0"):
            paths.add(path)
    return paths


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    listed = git("ls-files", "-co", "--exclude-standard", "--", "outsize/*.cpp", "tools/*.cpp")
    sources = sorted(s for s in listed.split() if not s.endswith("_test.cpp"))
    touched = None if "--all" in sys.argv[1:] else touched_lately()
    if touched is not None:
        turn = int(git("rev-list", "--count", "HEAD"))
        untracked = git("ls-files", "-o", "--exclude-standard").split()
        sources = chosen(sources, touched.union(untracked), turn, read)
    print("\n".join(sources))


if __name__ == "__main__":
    main()
