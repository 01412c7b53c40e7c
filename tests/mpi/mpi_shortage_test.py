#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Disks that are full or fail, memory and threads that are not to be had: a run ends with one
message that names the cause, or it is verified; nothing is left. `--rounds N --seed S` is a long
campaign."""

import os
import random
import resource
import subprocess
import unittest

from mpi_run import BIN, HERE, MpiTest, left_of, run_tests_or

SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20260302"))
SCARCE = os.environ.get("OUTSIZE_SCARCE_ENGINE", "")
FAULTY = os.environ.get("OUTSIZE_FAULTY_CALLS", "")
LIMIT_SECONDS = 60
OPTIONS = (BIN / "outsize-run", "-v", "8", "-m", "24M")
NO_SPACE = "no space left"
NO_MEMORY = "no memory is left, of the system or below a limit of the process"

FAULTS = ("open", "read", "write", "allocate")
SCARCITIES = {"new": NO_MEMORY, "map": NO_MEMORY, "thread": "cannot start a thread"}


class Case:
    """A program that needs the disk: for contexts, or for messages."""

    def __init__(self, test):
        self.may_pass = False  # there may be enough
        self.passed = 0
        self.disk = test.disk
        self.programs = [
            (test.compiled("all_at_work", HERE / "all_at_work.c"), "30", "3000000"),
            (test.compiled("flood", HERE / "flood.c"), "40", "12000")]

    def run(self, which, words=OPTIONS, **more):
        """Returns exit code, output and errors."""
        environment = {**os.environ, **more.pop("environment", {})}
        done = subprocess.run([*words, *self.programs[which]], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, env=environment,
                              start_new_session=True, **more)
        return done.returncode, done.stdout, done.stderr

    def wrong_with(self, found, expected):
        """What is wrong with a run, or None."""
        code, out, errors = found
        if code == 0:
            right = self.may_pass and "verified" in out and errors == ""
            self.passed += 1
        else:
            right = code == 1 and errors.count("\n") == 1 and \
                errors.startswith("outsize-run: ") and expected in errors and "wrong" not in out
        if not right:
            return f"code {code}: {out!r} {errors!r}"
        return left_of([program for program, *_ in self.programs], self.disk)

    # ---- what may happen ----

    def limited_disk(self, which, kilobytes):
        """A disk of which no more may be used."""
        disks = f"{self.disk} capacity={kilobytes}KiB;"
        found = self.run(which, environment={"OUTSIZE_DISKS": disks})
        return self.wrong_with(found, f"{self.disk}: {NO_SPACE}")

    def full_disk(self, which, kilobytes):
        """A file system of its own, in a name space that goes with it."""
        script = f"mount -t tmpfs -o size={kilobytes}k none {self.disk} && exec \"$@\""
        found = self.run(which, ("unshare", "-m", "sh", "-c", script, "sh", *OPTIONS,
                                 "-T", self.disk))
        return self.wrong_with(found, f"{self.disk}: {NO_SPACE}")

    def limited_files(self, which, kilobytes):
        """`ulimit -f`, which the memory of the run must fit, too."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))
        found = self.run(which, (*OPTIONS, "-T", self.disk), preexec_fn=limit)
        expected = "cannot extend shared memory" if kilobytes < 19000 else ""
        return self.wrong_with(found, expected or str(self.disk))

    def limited_addresses(self, which, megabytes):
        """`ulimit -v`."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        found = self.run(which, (*OPTIONS, "-T", self.disk), preexec_fn=limit)
        return self.wrong_with(found, "")

    def faulty_disk(self, which, call, first, count, error):
        environment = {"LD_PRELOAD": FAULTY, "OUTSIZE_FAULT_BELOW": str(self.disk),
                       "OUTSIZE_FAULT_CALL": call, "OUTSIZE_FAULT_FIRST": str(first),
                       "OUTSIZE_FAULT_COUNT": str(count), "OUTSIZE_FAULT_ERRNO": str(error),
                       "OUTSIZE_FAULT_LACKS": "u"}
        found = self.run(which, (*OPTIONS, "-T", self.disk), environment=environment)
        return self.wrong_with(found, str(self.disk))

    def scarce_engine(self, which, call, first, count):
        environment = {"LD_PRELOAD": SCARCE, "OUTSIZE_SCARCE_CALL": call,
                       "OUTSIZE_SCARCE_FIRST": str(first), "OUTSIZE_SCARCE_COUNT": str(count)}
        found = self.run(which, (*OPTIONS, "-T", self.disk), environment=environment)
        return self.wrong_with(found, SCARCITIES[call])


def can_mount(disk):
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", disk],
                          capture_output=True).returncode == 0


def drawn(case, chance):
    """A random one of all: its name and arguments."""
    which = chance.randrange(2)
    kinds = ["limited_disk", "limited_files", "limited_addresses"]
    if can_mount(case.disk):
        kinds.append("full_disk")
    if SCARCE:
        kinds += ["scarce_engine"] * 4
    if FAULTY:
        kinds += ["faulty_disk"] * 2
    kind = chance.choice(kinds)
    if kind == "scarce_engine":
        call = chance.choice(list(SCARCITIES))
        most = {"new": 1000, "map": 13, "thread": 8}[call]
        first = int(most ** chance.random())
        return kind, which, call, first, chance.randrange(2)
    if kind == "faulty_disk":
        call = chance.choice(FAULTS)
        return kind, which, call, int(200 ** chance.random()), chance.randrange(2), 5
    if kind == "limited_files":
        return kind, which, chance.randrange(100, 60000)
    if kind == "limited_addresses":
        return kind, which, chance.randrange(20, 1800)
    return kind, which, int(64 * 1000 ** chance.random())


class Shortage(MpiTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.case = Case(cls())

    def expect(self, kind, *arguments):
        with self.subTest(kind, arguments=arguments):
            self.assertIsNone(getattr(self.case, kind)(*arguments))

    def test_without_any_the_programs_are_verified(self):
        for which in range(2):
            code, out, errors = self.case.run(which, (*OPTIONS, "-T", self.disk))
            self.assertEqual((code, errors), (0, ""))
            self.assertIn("verified", out)

    def test_of_disk_is_told_by_name(self):
        mounts = can_mount(self.disk)
        for which in range(2):
            for kilobytes in (64, 500, 2000):
                self.expect("limited_disk", which, kilobytes)
                if mounts:
                    self.expect("full_disk", which, kilobytes)
        self.expect("limited_files", 0, 10000)
        self.expect("limited_files", 1, 21000)

    @unittest.skipIf(not FAULTY, "OUTSIZE_FAULTY_CALLS names no library")
    def test_of_luck_with_disks(self):
        for call, first in (("open", 1), ("write", 1), ("write", 50), ("read", 20)):
            self.expect("faulty_disk", 0, call, first, 0, 5)
        self.expect("faulty_disk", 1, "write", 30, 0, 28)
        self.expect("faulty_disk", 1, "read", 9, 0, 5)

    @unittest.skipIf(not SCARCE, "OUTSIZE_SCARCE_ENGINE names no library")
    def test_of_memory_and_threads_in_the_engine(self):
        chance = random.Random(SEED)
        for call, firsts in (("new", (1, 30, 100)), ("map", (1, 3, 8)), ("thread", (1, 2, 4))):
            for first in firsts:
                self.expect("scarce_engine", chance.randrange(2), call, first, 0)

    def test_of_addresses(self):
        self.expect("limited_addresses", 0, 700)


def campaign(rounds, seed):
    wrong = 0
    Shortage.setUpClass()
    Shortage.case.may_pass = True
    try:
        for number in range(seed, seed + rounds):
            kind, *arguments = drawn(Shortage.case, random.Random(number))
            found = getattr(Shortage.case, kind)(*arguments)
            if found:
                wrong += 1
                print(f"--seed {number}: {kind} {arguments}: {found}", flush=True)
    finally:
        Shortage.tearDownClass()
    print(f"{rounds} shortages, {Shortage.case.passed} too small, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_tests_or(campaign, __doc__, SEED)
