#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Programs with an error end with one message that names rank, call and reason; nothing is left."""

import unittest

from mpi_run import HERE, MpiTest, processes_of

MESSAGES = {
    "abort_in_one_rank": "rank 3: MPI_Abort with code 5",
    "after_finalize": "MPI_Barrier: called after MPI_Finalize",
    "allocation_beyond_limits": "rank 3: malloc: cannot allocate 1048576 bytes",
    "before_init": "MPI_Send: called before MPI_Init",
    "crash_in_one_rank": "rank 3: ended by signal 11",
    "cyclic_send": "all 4 that have not ended wait",
    "deadlock": "all 4 that have not ended wait: 0 in MPI_Wait from 1, tag 0",
    "different_lengths": "MPI_Allreduce(items of 4 bytes, 99 of them",
    "different_operations": "MPI_Allreduce",
    "different_roots": "MPI_Bcast",
    "exit_before_finalize": "rank 3: exited with code 0 before MPI_Finalize",
    "finalize_early": "all 4 that have not ended wait",
    "fork_in_rank": "fork() is not possible",
    "freed_communicator": "MPI_Barrier: 0x1001 is not a communicator",
    "huge_allocation": "malloc: cannot allocate",
    "mismatched_collectives": "MPI_Barrier",
    "negative_count": "MPI_Send: a count of -1",
    "no_finalize": "before MPI_Finalize",
    "short_gather": "rank 0: MPI_Gather: rank 1 sent 4000 bytes for a buffer of 40",
    "short_receive": "rank 1: a message of 400 bytes from rank 0, tag 0, is too long",
    "wrong_rank": "MPI_Send: rank 4, but the communicator has 4",
}


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


if __name__ == "__main__":
    unittest.main()
