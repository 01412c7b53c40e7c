#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Whichever process of a run is killed, at whatever moment: all end at once, with one message, and
nothing is left. `--rounds N --seed S` is a long campaign."""

import os
import pathlib
import random
import signal
import subprocess
import time

from mpi_run import BIN, HERE, MpiTest, default_signals, left_of, run_tests_or

RANKS = 6
ROUNDS = "120"
BYTES = "3500000"
LIMIT_SECONDS = 10  # far more than an end takes
LAUNCHER = BIN / "outsize-run"
SEED = int(os.environ.get("OUTSIZE_TEST_SEED", "20260301"))

# The blows: what is hit, by what. `None`: a rank does it itself.
BLOWS = {
    "rank": ("rank", signal.SIGKILL), "two ranks": ("two ranks", signal.SIGKILL),
    "all ranks": ("all ranks", signal.SIGKILL), "rank, SIGTERM": ("rank", signal.SIGTERM),
    "rank, SIGBUS": ("rank", signal.SIGBUS), "stopped rank": ("stopped rank", signal.SIGKILL),
    "engine": ("engine", signal.SIGKILL), "engine, SIGTERM": ("engine", signal.SIGTERM),
    "engine, SIGSEGV": ("engine", signal.SIGSEGV),
    "launcher": ("launcher", signal.SIGKILL), "launcher, SIGTERM": ("launcher", signal.SIGTERM),
    "launcher, SIGINT": ("launcher", signal.SIGINT),
    "launcher, SIGHUP": ("launcher", signal.SIGHUP),
    "Ctrl-C": ("all", signal.SIGINT), "group, SIGTERM": ("all", signal.SIGTERM),
    "group, SIGQUIT": ("all", signal.SIGQUIT),
    "abort": (None, "abort"), "exit": (None, "exit"), "crash": (None, "crash"),
}


def start(program, disk, *more):
    """A run in a group of its own, as from a terminal."""
    return subprocess.Popen(
        [LAUNCHER, "-v", str(RANKS), "-m", "24M", "-T", disk, program, ROUNDS, BYTES, *more],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=default_signals)


def children(pid):
    """The processes that another one has started, with the files that they run."""
    found = []
    try:
        words = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return found
    for word in words:
        try:
            found.append((int(word), os.readlink(f"/proc/{word}/exe")))
        except OSError:
            pass
    return found


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Victims:
    """The processes of a run, found at the moment of the blow."""

    def __init__(self, launcher, program):
        self.launcher = launcher.pid
        found = children(launcher.pid)
        self.ranks = [pid for pid, path in found if path == str(program)]
        self.engine = [pid for pid, path in found if path == str(LAUNCHER)][:1]

    def hit(self, chance, which, number):
        if which == "launcher":
            send([self.launcher], number)
        elif which == "engine":
            send(self.engine, number)
        elif which == "all":
            try:
                os.killpg(self.launcher, number)
            except ProcessLookupError:
                pass
        else:
            count = {"all ranks": RANKS, "two ranks": 2}.get(which, 1)
            chosen = chance.sample(self.ranks, min(count, len(self.ranks)))
            if which == "stopped rank":
                send(chosen, signal.SIGSTOP)
                time.sleep(0.02)
            send(chosen, number)


def strike(program, disk, blow, chance):
    """One run and one blow. Returns the moment of the blow, and what is wrong, or None."""
    which, number = BLOWS[blow]
    end = (number, str(chance.randrange(RANKS)), str(chance.randrange(int(ROUNDS)))) \
        if which is None else ()
    launcher = start(program, disk, *end)
    delay = chance.choice((chance.uniform(0, 0.03), chance.uniform(0, 0.9)))
    if which is not None:
        time.sleep(delay)
        Victims(launcher, program).hit(chance, which, number)
    try:
        out, errors = launcher.communicate(timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        left = [launcher.pid, *(pid for pid, _ in children(launcher.pid))]
        stacks = [f"{pid}: {state_of(pid)}" for pid in left]
        send(left, signal.SIGKILL)
        launcher.communicate()
        return delay, f"has not ended: {stacks}"
    return delay, wrong_with(launcher.returncode, out, errors, which, number) or \
        left_of([program], disk)


def state_of(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        return text[text.index("(") :][:60] + pathlib.Path(f"/proc/{pid}/wchan").read_text()
    except OSError as error:
        return str(error)


def wrong_with(code, out, errors, which, number):
    lines = errors.splitlines()
    if code == 0:  # the blow came too late
        return None if not lines and "verified" in out else f"code 0: {out!r} {errors!r}"
    if "wrong" in out:
        return out
    # A launcher cannot tell that is killed before it has an engine, or after it, or gets a signal
    # before it looks for them.
    may_be_silent = which in ("launcher", "all") and code == -number and \
        (out == "" or "verified" in out)
    if len(lines) != 1 and not (may_be_silent and not lines):
        return f"{len(lines)} lines, code {code}: {out!r} {errors!r}"
    if lines and not lines[0].startswith("outsize-run: "):
        return f"a foreign line: {errors!r}"
    return None


class Kills(MpiTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls().compiled("all_at_work", HERE / "all_at_work.c")

    def test_without_a_blow_it_is_verified(self):
        out, errors = start(self.program, self.disk).communicate(timeout=60)
        self.assertEqual((out, errors), ("at work\nverified\n", ""))

    def test_all_end_with_one_message(self):
        chance = random.Random(SEED)
        for blow in BLOWS:
            with self.subTest(blow, seed=SEED):
                self.assertIsNone(strike(self.program, self.disk, blow, chance)[1])

    def test_a_parked_rank_is_missed_at_once(self):
        """While the engine waits for a rank that takes long, another one is killed. The program
        that the first one has started ends, too: it would keep the pipes open."""
        program = self.compiled("sleeping", HERE / "one_sleeps.c")
        launcher = subprocess.Popen([LAUNCHER, "-v", "4", "-k", "1", "-m", "24M", "-T", self.disk,
                                     program], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                    text=True)
        victim = int(launcher.stdout.readline())
        os.kill(victim, signal.SIGKILL)
        errors = launcher.communicate(timeout=LIMIT_SECONDS)[1]
        self.assertEqual(launcher.returncode, 1)
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("rank 1: ended by signal 9", errors)
        self.assertIsNone(left_of([program], self.disk))

    def test_children_of_others_are_left_alone(self):
        """A shell that becomes outsize-run hands it children of its own."""
        program = self.compiled("crash", HERE / "misuse/crash_in_one_rank.c")
        script = f"sleep 60 & echo $!; exec {LAUNCHER} -v 4 -m 24M -T {self.disk} {program}"
        shell = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        other = int(shell.stdout.readline())
        try:
            self.assertEqual(shell.wait(LIMIT_SECONDS), 1)
            os.kill(other, 0)
        finally:
            os.kill(other, signal.SIGKILL)
        self.assertIn("rank 3: ended by signal 11", shell.communicate()[1])


def campaign(rounds, seed):
    wrong = 0
    Kills.setUpClass()
    try:
        for number in range(seed, seed + rounds):
            chance = random.Random(number)
            blow = chance.choice(list(BLOWS))
            delay, found = strike(Kills.program, Kills.disk, blow, chance)
            if found:
                wrong += 1
                print(f"--seed {number}: {blow} after {delay:.3f} s: {found}", flush=True)
    finally:
        Kills.tearDownClass()
    print(f"{rounds} blows, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_tests_or(campaign, __doc__, SEED)
