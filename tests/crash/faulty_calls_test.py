# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Every command of the tool on a file system that fails, one call after the other.

A library (faulty_calls.cpp) makes the n-th call of a kind fail with an errno, or that call and all
later ones. The command must end with the right output, or with exit code 2, one line of error, and
all files as they were. It must end: a run that takes too long is a failure.

Kept containers are written in the same way (kept_writer.cpp): what they say is durable must be.

The suite tries a sample, which OUTSIZE_TEST_SEED repeats. `faulty_calls_test.py --all` (with
OUTSIZE_TOOL and OUTSIZE_FAULTY_CALLS set) tries all calls, in about half an hour; words behind it
choose cases by name.
"""

import collections
import concurrent.futures
import errno
import functools
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
from outsize_tool import TOOL  # noqa: E402

KEPT_WRITER = os.environ.get("OUTSIZE_KEPT_WRITER", "")
LIBRARY = os.environ.get("OUTSIZE_FAULTY_CALLS", "")
SEED = int(os.environ.get("OUTSIZE_TEST_SEED", random.randrange(1 << 32)))
WORKERS = 2
LIMIT_SECONDS = 20
SAMPLE = 180  # runs of the tool
SAMPLE_OF_KEPT = 12  # of each container
KEPT = ("vector", "map", "unordered_map")
ALL_OF_A_KIND = 40  # in the complete campaign: more calls than that of one kind are sampled

NOTHING, HALF = 0, -1  # what faulty_calls.cpp takes for an errno
FULL = (errno.ENOSPC, errno.EDQUOT)
PASSING = (errno.EINTR, errno.EAGAIN)
ERRORS = {
    "open": (errno.EIO, errno.EACCES, errno.EMFILE, errno.ENOMEM, errno.EROFS, errno.ESTALE,
             errno.EOPNOTSUPP, *FULL, *PASSING),
    "read": (errno.EIO, errno.ESTALE, errno.ENOMEM, HALF, NOTHING, *PASSING),
    "write": (errno.EIO, errno.EFBIG, errno.ESTALE, HALF, NOTHING, *FULL, *PASSING),
    "allocate": (errno.EIO, errno.EFBIG, errno.EOPNOTSUPP, errno.ENOSYS, *FULL, *PASSING),
    "rename": (errno.EIO, errno.EACCES, errno.EPERM, errno.EXDEV, errno.EEXIST, errno.ENOENT,
               *FULL, *PASSING),
    "sync": (errno.EIO, *FULL, *PASSING),
    "resize": (errno.EIO, errno.EPERM, errno.EFBIG, *FULL, *PASSING),
    "close": (errno.EIO, *FULL, errno.EINTR),
}

# What a case is: its name, words with {files} of the folder, and what the file system lacks (see
# faulty_calls.cpp; always io_uring, which faults would miss). "{out}" is made, "{report}" too, but
# its content is another one in each run. ">" in front of the last word: standard output goes there.
SPILLING = "--parallel=2 -S 2M -T {.}"
CASES = [
    ("sort_lines", "sort {small} -o {out}", ""),
    ("sort_lines_hidden", "sort {small} -o {out}", "t"),
    ("sort_lines_buffered", "sort {small} -o {out}", "df"),
    ("sort_to_stdout", "sort {small} > {out}", ""),
    ("sort_spilling", f"sort {SPILLING} {{lines}} -o {{out}}", ""),
    ("sort_spilling_buffered", f"sort {SPILLING} {{lines}} -o {{out}}", "dt"),
    ("sort_in_place", f"sort {SPILLING} {{lines}} -o {{lines}}", "t"),
    ("sort_numbers_in_place", f"sort {SPILLING} --format=u64 {{numbers}} -o {{numbers}}", ""),
    ("sort_numbers_hidden", f"sort {SPILLING} --format=u64 {{numbers}} -o {{out}}", "t"),
    ("sort_records", f"sort {SPILLING} --format=bytes:16 {{numbers}} -o {{out}}", "d"),
    ("sort_sorted_lines", f"sort {SPILLING} {{sorted}} -o {{out}}", ""),
    ("sort_nearly_sorted", f"sort {SPILLING} --format=u64 {{near}} -o {{out}}", "t"),
    ("sort_csv", "sort --csv --header -k 2 {csv} -o {csv}", ""),
    ("sort_compressed", "sort {gz} -o {out.zst}", ""),
    ("sort_names", "sort --files0-from={names} --random-source={numbers} -R -o {out}", ""),
    ("sort_merge", "sort -m {sorted} {sorted2} -o {out}", ""),
    ("sort_report", "sort {small} -o {out} --json={report} --trace={report2}", ""),
    ("sort_page", f"sort {SPILLING} {{small}} -o {{out}} --report={{report}}.html", ""),
    ("sort_check", "sort -c {sorted}", ""),
    ("uniq", "uniq -c {sorted} {out}", ""),
    ("uniq_in_place", "uniq {sorted} -o {sorted}", "t"),
    ("uniq_to_stdout", "uniq {sorted} > {out}", ""),
    ("count", f"count {SPILLING} {{lines}} -o {{out}}", ""),
    ("top", "top 10 {lines} -o {out}", ""),
    ("shuffle", f"shuffle {SPILLING} --seed=7 {{lines}} -o {{lines}}", "t"),
    ("join", "join {sorted} {sorted2} --output={out}", ""),
    ("join_sort", f"join {SPILLING} --sort {{lines}} {{small}} --output={{out}}", "d"),
    ("mis", f"mis {SPILLING} {{edges}} -o {{edges}}", "t"),
    ("mis_verify", f"mis {SPILLING} --verify {{edges}} -o {{out}}", "d"),
    ("mis_check", "mis {edges} --check={members} > {report.txt}", ""),
    ("columnsort", f"columnsort {SPILLING} {{numbers}} -o {{numbers}}", ""),
    ("columnsort_hidden", f"columnsort {SPILLING} {{numbers}} -o {{out}} --svg={{report}}.svg",
     "td"),
    ("permute", f"permute {SPILLING} --bit-reversal {{power}} -o {{power}}", ""),
    ("permute_matrix", "permute --matrix={matrix} {tiny} -o {out} --json={report}", "t"),
    ("fft", f"fft {SPILLING} {{power}} -o {{power}}", "t"),
    ("fft_inverse", f"fft {SPILLING} --inverse {{power}} -o {{out}}", "d"),
    ("gen", "gen u64 --count=20k -o {out}", ""),
    ("gen_to_stdout", "gen lines --count=2k > {out}", ""),
    ("check", "check {sorted} --against={lines} > {report.txt}", ""),
    ("check_numbers", "check --format=u64 {numbers} --json={report}", ""),
]


def greedy_set(edges):
    """The maximal independent set that `mis` finds."""
    neighbours = collections.defaultdict(list)
    for u, v in edges:
        neighbours[max(u, v)].append(min(u, v))
    members = set()
    for v in range(max(neighbours) + 1):
        if all(u == v or u not in members for u in neighbours[v]):
            members.add(v)
    return sorted(members)


@functools.cache
def make_inputs():
    """The bytes of the files that cases name."""
    chance = random.Random(20250211)
    lines = sorted(b"%d %d\n" % (chance.randrange(10**9), n) for n in range(150_000))
    numbers = b"".join(chance.randbytes(8) for _ in range(400_000))
    near = sorted(chance.randrange(1 << 60) for _ in range(400_000))
    near[1000], near[300_000] = near[300_000], near[1000]
    shuffled = lines[:]
    chance.shuffle(shuffled)
    small = shuffled[:3000]
    edges = [(chance.randrange(50_000), chance.randrange(50_000)) for _ in range(150_000)]
    return {
        "small": b"".join(small),
        "lines": b"".join(shuffled),
        "sorted": b"".join(lines),
        "sorted2": b"".join(sorted(small)),
        "numbers": numbers,
        "near": b"".join(n.to_bytes(8, "little") for n in near),
        "power": numbers[:1 << 21],
        "tiny": numbers[:1 << 7],
        "csv": b"name,age\n" + b"".join(b'"a, %s",%d\n' % (line[:-1], len(line)) for line in small),
        "gz": gzip.compress(b"".join(small), 1, mtime=0),
        "edges": b"".join(b"%d %d\n" % edge for edge in edges),
        "members": b"".join(b"%d\n" % v for v in greedy_set(edges)),
        "matrix": b"0001\n0010\n0100\n1000\n",
    }


def run_with_faults(words, stdout=subprocess.DEVNULL, **faults):
    """Runs a command with these variables for the library; returns exit code and errors."""
    environment = dict(os.environ, LC_ALL="C", LD_PRELOAD=LIBRARY)
    environment.update({f"OUTSIZE_FAULT_{key}": str(value) for key, value in faults.items()})
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, env=environment)
        return done.returncode, done.stderr.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return "hangs", ""


class Folder:
    """A new folder with a case's inputs, which it makes again between runs."""

    def __init__(self, parent, inputs, case):
        self.path = tempfile.mkdtemp(dir=parent)
        self.name, words, self.lacks = case
        self.files = {}
        words, _, self.stdout = words.partition(" > ")
        self.words = [self.filled(word, inputs) for word in words.split()]
        self.stdout = self.filled(self.stdout, inputs)
        self.restore()

    def filled(self, word, inputs):
        before, brace, rest = word.partition("{")
        if not brace:
            return word
        name, _, behind = rest.partition("}")
        if name == ".":
            return before + self.path + behind
        if name == "names":
            inputs = {**inputs, "names": (self.place("small") + "\0").encode()}
            self.files["small"] = inputs["small"]
        if name in inputs:
            self.files[name] = inputs[name]
        return before + self.place(name) + behind

    def place(self, name):
        return os.path.join(self.path, name)

    def contents(self):
        found = {}
        for name in os.listdir(self.path):
            with open(self.place(name), "rb") as file:
                found[name] = file.read()
        return found

    def restore(self):
        for name, content in self.contents().items():
            if self.files.get(name) != content:
                os.remove(self.place(name))
        for name in self.files.keys() - set(os.listdir(self.path)):
            with open(self.place(name), "wb") as file:
                file.write(self.files[name])

    def run(self, **faults):
        """Runs the command once; returns its exit code, the text of errors, and all files."""
        to = open(self.stdout, "wb") if self.stdout else subprocess.DEVNULL
        code, message = run_with_faults([TOOL, *self.words], to, BELOW=self.path,
                                        **{"LACKS": "u" + self.lacks, **faults})
        if self.stdout:
            to.close()
        found = self.contents()
        self.restore()
        return code, message, found


def is_report(name):
    return name.startswith("report")


def is_whole(name, content):
    if name.endswith(".svg"):
        return content.rstrip().endswith(b"</svg>")
    if name.endswith(".html"):
        return content.endswith(b"</html>\n")
    if name.endswith(".txt"):
        return content.endswith(b"\n")
    try:
        json.loads(content)
        return True
    except ValueError:
        return False


class Case:
    """A command, what it does where nothing fails, and how many calls of each kind it makes."""

    def __init__(self, row, inputs, scratch):
        self.row = row
        self.inputs = inputs
        self.scratch = scratch
        self.folders = threading.local()
        log = tempfile.mkstemp(dir=scratch)[1]
        self.code, message, self.expected = self.folder().run(LOG=log)
        code = self.code
        with open(log) as file:
            self.calls = collections.Counter(file.read().split())
        assert code in (0, 1) and message.count("\n") <= code, (row, code, message)

    def folder(self):
        if not hasattr(self.folders, "one"):
            self.folders.one = Folder(self.scratch, self.inputs, self.row)
        return self.folders.one

    def faults(self):
        """All that can go wrong: kind, number of the call, number of failures (0: all), errno."""
        for kind, errors in ERRORS.items():
            for error in errors:
                for first in range(1, self.calls[kind] + 1):
                    yield kind, first, 1, error
                if self.calls[kind] > 0 and error != HALF:
                    yield kind, 1, 0, error

    def fault_with(self, fault):
        """Runs the command with one fault; returns what is wrong, or nothing."""
        kind, first, count, error = fault
        before = self.folder().files
        code, message, found = self.folder().run(CALL=kind, FIRST=first, COUNT=count, ERRNO=error)
        wrong = self.judge(code, message, found, before)
        if not wrong:
            return None
        how = {NOTHING: "nothing moved", HALF: "half moved"}.get(error) or errno.errorcode[error]
        which = f"{kind} {first} of {self.calls[kind]}" + ("" if count else " and all behind")
        return f"{self.row[0]}: {which}: {how}: {wrong} ({code}: {message.strip()!r})"

    def judge(self, code, message, found, before):
        stdout = os.path.basename(self.folder().stdout)
        if code == self.code:
            for name in found.keys() | self.expected.keys():
                if name not in found or name not in self.expected:
                    return f"'{name}' is {'missing' if name not in found else 'left behind'}"
                if is_report(name):
                    if not is_whole(name, found[name]):
                        return f"'{name}' is damaged"
                elif found[name] != self.expected[name] and name != "names":
                    return f"'{name}' is wrong"
            return None
        if code != 2:
            return "exit code"
        if message.count("\n") != 1 or not message.startswith("outsize "):
            return "message"
        # Of several outputs some may be complete when another one fails.
        has_reports = any(is_report(name) for name in self.expected)
        for name in found.keys() | before.keys():
            is_old = found.get(name) == before.get(name)
            if is_old or name == stdout:
                continue
            if not has_reports:
                return f"'{name}' was published, or lost"
            is_right = (is_whole(name, found[name]) if is_report(name)
                        else found.get(name) == self.expected.get(name))
            if not is_right:
                return f"'{name}' is wrong"
        return None


class KeptCase:
    """A container in a file: where nothing was said of an error, all that was written is there."""

    STEPS = 5
    SEED = 7

    def __init__(self, kind, scratch):
        self.row = (kind,)
        self.scratch = scratch
        log = tempfile.mkstemp(dir=scratch)[1]
        path, code, message = self.write(LOG=log)
        assert self.judge(path, code) is None and code == 0, (kind, code, message)
        with open(log) as file:
            self.calls = collections.Counter(file.read().split())

    faults = Case.faults

    def write(self, **faults):
        """Makes one; returns its path, exit code and errors."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        path = os.path.join(folder, "kept")
        words = [KEPT_WRITER, self.row[0], path, str(self.SEED), str(self.STEPS)]
        return path, *run_with_faults(words, **{"BELOW": folder, "LACKS": "uf", **faults})

    def fault_with(self, fault):
        kind, first, count, error = fault
        path, code, message = self.write(CALL=kind, FIRST=first, COUNT=count, ERRNO=error)
        wrong = self.judge(path, code)
        shutil.rmtree(os.path.dirname(path))
        return wrong and f"{self.row[0]}: {fault}: {wrong} ({code}: {message.strip()!r})"

    def judge(self, path, code):
        if code == 2:
            return None  # in the middle of a step
        if code != 0:
            return "exit code"
        done = subprocess.run([KEPT_WRITER, self.row[0], path, str(self.SEED), "0"],
                              capture_output=True, timeout=LIMIT_SECONDS)
        found = int.from_bytes(done.stdout[:8], "little")
        if done.returncode != 0 or found != self.STEPS:
            return f"of {self.STEPS} steps there are {found} {done.stderr}"
        return None


def try_all(work):
    """Runs pairs of case and fault; returns complaints."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        found = pool.map(lambda pair: pair[0].fault_with(pair[1]), work)
        return [wrong for wrong in found if wrong]


def sample_of(case, most, chance):
    """So many faults of a case, kinds of call in turn, as most calls are reads and writes."""
    kinds = collections.defaultdict(list)
    for fault in case.faults():
        kinds[fault[0], fault[2]].append(fault)
    for faults in kinds.values():
        chance.shuffle(faults)
    taken = []
    while len(taken) < most and any(kinds.values()):
        taken += [faults.pop() for faults in kinds.values() if faults]
    return taken[:most]


@unittest.skipIf(not LIBRARY, "OUTSIZE_FAULTY_CALLS names no library")
class FaultyCalls(unittest.TestCase):
    def setUp(self):
        if run_with_faults([TOOL, "--version"], LACKS="u")[0] != 0:
            self.skipTest("io_uring cannot be forbidden here")

    def test_end_in_the_right_output_or_in_an_error(self):
        scratch = tempfile.TemporaryDirectory(prefix="outsize-faults.")
        self.addCleanup(scratch.cleanup)
        chance = random.Random(SEED)
        inputs = make_inputs()
        work = []
        for row in CASES:
            case = Case(row, inputs, scratch.name)
            for fault in sample_of(case, SAMPLE // len(CASES), chance):
                work.append((case, fault))
        wrong = try_all(work)
        self.assertEqual(wrong, [], f"OUTSIZE_TEST_SEED={SEED}\n" + "\n".join(wrong))


    @unittest.skipIf(not KEPT_WRITER, "OUTSIZE_KEPT_WRITER names no program")
    def test_leave_of_a_kept_container_what_was_durable(self):
        scratch = tempfile.TemporaryDirectory(prefix="outsize-faults.")
        self.addCleanup(scratch.cleanup)
        chance = random.Random(SEED)
        work = []
        for kind in KEPT:
            case = KeptCase(kind, scratch.name)
            work += [(case, fault) for fault in sample_of(case, SAMPLE_OF_KEPT, chance)]
        wrong = try_all(work)
        self.assertEqual(wrong, [], f"OUTSIZE_TEST_SEED={SEED}\n" + "\n".join(wrong))

    def test_go_on_where_io_uring_takes_nothing(self):
        scratch = tempfile.TemporaryDirectory(prefix="outsize-faults.")
        self.addCleanup(scratch.cleanup)
        row = next(row for row in CASES if row[0] == "sort_spilling")
        case = Case(row, make_inputs(), scratch.name)
        code, message, found = case.folder().run(LACKS="s")
        self.assertIsNone(case.judge(code, message, found, case.folder().files), message)


def campaign(names):
    chance = random.Random(SEED)
    inputs = make_inputs()
    makers = {row[0]: (lambda scratch, row=row: Case(row, inputs, scratch)) for row in CASES}
    makers.update({kind: (lambda scratch, kind=kind: KeptCase(kind, scratch)) for kind in KEPT})
    bad = 0
    for name, make in makers.items():
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="outsize-faults.") as scratch:
            case = make(scratch)
            groups = collections.defaultdict(list)
            for fault in case.faults():
                groups[fault[0], fault[2], fault[3]].append(fault)
            chosen = [fault for group in groups.values()
                      for fault in chance.sample(group, min(len(group), ALL_OF_A_KIND))]
            wrong = try_all([(case, fault) for fault in chosen])
        bad += len(wrong)
        print(f"{name}: {len(chosen)} runs, {len(wrong)} wrong", *wrong, sep="\n  ", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.exit(campaign(sys.argv[2:]))
    unittest.main()
