#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Programs with an error end with one message that names rank, call and reason; nothing is left."""

import os
import signal
import subprocess
import time
import unittest

from mpi_run import BIN, HERE, ROOT, MpiTest

MESSAGES = {
    "abort_in_one_rank": "rank 3: MPI_Abort with code 5",
    "after_finalize": "MPI_Barrier: called after MPI_Finalize",
    "allocation_beyond_limits": "rank 3: malloc: cannot allocate 1048576 bytes",
    "before_init": "MPI_Send: called before MPI_Init",
    "collective_request_freed": "MPI_Request_free: request 0x1002 is of a collective operation",
    "crash_in_one_rank": "rank 3: ended by signal 11",
    "cyclic_send": "all 4 that have not ended wait",
    "deadlock": "all 4 that have not ended wait: 0 in MPI_Wait from 1, tag 0",
    "different_groups": "name different members of a new group",
    "different_lengths": "MPI_Allreduce(items of 4 bytes, 99 of them",
    "different_operations": "MPI_Allreduce",
    "different_roots": "MPI_Bcast",
    "exit_before_finalize": "rank 3: exited with code 0 before MPI_Finalize",
    "finalize_early": "all 4 that have not ended wait",
    "fork_in_rank": "fork() is not possible",
    "freed_communicator": "MPI_Barrier: 0x1001 is not a communicator",
    "freed_type": "MPI_Send: 0x1003 is not a type",
    "huge_allocation": "malloc: cannot allocate",
    "mismatched_collectives": "MPI_Barrier",
    "mixed_barriers": "MPI_Ibarrier",
    "negative_count": "MPI_Send: a count of -1",
    "negative_count_of_a_rank": "MPI_Alltoallv: a count of -1 for rank 2",
    "no_finalize": "before MPI_Finalize",
    "no_grid": "MPI_Cart_coords: the communicator has no grid",
    "operation_on_derived_type": "MPI_Allreduce: operation 0x21 is not defined for type 0x1003",
    "short_gather": "rank 0: MPI_Gather: rank 1 sent 4000 bytes for a buffer of 40",
    "short_receive": "rank 1: a message of 400 bytes from rank 0, tag 0, is too long",
    "started_once_only": "MPI_Start: 0x1002 is not a persistent request",
    "started_twice": "MPI_Start: request 0x1002 is under way",
    "uncommitted_type": "MPI_Send: type 0x1003 is not committed",
    "wrong_rank": "MPI_Send: rank 4, but the communicator has 4",
}


def processes_of(program):
    """The processes that run a program."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == str(program):
                found.append(int(entry))
        except OSError:
            pass
    return found


class Misuse(MpiTest):
    def test_ends_with_one_message(self):
        for name, message in MESSAGES.items():
            with self.subTest(name):
                program = self.compiled(name, HERE / f"misuse/{name}.c")
                done = self.run_ranks(4, program)
                self.assertNotEqual(done.returncode, 0)
                lines = [line for line in done.stderr.splitlines()
                         if line.startswith("outsize-run:")]
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertIn(message, lines[0])
                self.assertEqual(processes_of(program), [])

    def test_abort_gives_its_code(self):
        program = self.compiled("abort", HERE / "misuse/abort_in_one_rank.c")
        self.assertEqual(self.run_ranks(4, program).returncode, 5)


class Kills(MpiTest):
    """Kill -9 at different moments, of a rank and of the launcher."""

    def start(self):
        program = self.compiled("stencil", ROOT / "examples/mpi/psrs.c")
        launcher = subprocess.Popen(
            [BIN / "outsize-run", "-v", "6", "-m", "40M", "-T", self.disk, program, "300000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return program, launcher

    def expect_nothing_left(self, program):
        for _ in range(200):
            if not processes_of(program):
                break
            time.sleep(0.05)
        self.assertEqual(processes_of(program), [])
        self.assertEqual(list(self.disk.iterdir()), [])

    def test_of_a_rank(self):
        for step in range(6):
            with self.subTest(step):
                program, launcher = self.start()
                time.sleep(0.02 * step)
                ranks = processes_of(program)
                if ranks:
                    os.kill(ranks[step % len(ranks)], signal.SIGKILL)
                message = launcher.communicate(timeout=60)[1]
                if launcher.returncode != 0:
                    self.assertEqual(message.count("outsize-run:"), 1, message)
                self.expect_nothing_left(program)

    def test_of_the_launcher(self):
        for step in range(4):
            with self.subTest(step):
                program, launcher = self.start()
                time.sleep(0.03 * step)
                launcher.kill()
                launcher.communicate(timeout=60)
                self.expect_nothing_left(program)


if __name__ == "__main__":
    unittest.main()
