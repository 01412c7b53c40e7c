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
    "c11_thread_in_rank": "thrd_create(): threads are not possible",
    "collective_request_freed": "MPI_Request_free: request 0x1002 is of a collective operation",
    "crash_in_one_rank": "rank 3: ended by signal 11",
    "cyclic_send": "all 4 that have not ended wait",
    "daemon_in_rank": "daemon() is not possible",
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
    "other_malloc": "another malloc() stands in front of that of outsize",
    "short_gather": "rank 0: MPI_Gather: rank 1 sent 4000 bytes for a buffer of 40",
    "short_receive": "rank 1: a message of 400 bytes from rank 0, tag 0, is too long",
    "stack_in_heap": "a call on a stack in memory of malloc()",
    "started_once_only": "MPI_Start: 0x1002 is not a persistent request",
    "started_twice": "MPI_Start: request 0x1002 is under way",
    "thread_in_rank": "pthread_create(): threads are not possible",
    "too_many_mappings": "rank 3: cannot map its memory",
    "uncommitted_type": "MPI_Send: type 0x1003 is not committed",
    "vfork_in_rank": "vfork() is not possible",
    "wrong_rank": "MPI_Send: rank 4, but the communicator has 4",
}


class Misuse(MpiTest):
    def test_ends_with_one_message(self):
        for name, message in MESSAGES.items():
            with self.subTest(name):
                program = self.compiled(name, HERE / f"misuse/{name}.c")
                done = self.run_ranks(4, program)
                self.assertNotEqual(done.returncode, 0)
                lines = done.stderr.splitlines()
                self.assertEqual(len(lines), 1, done.stderr)
                self.assertTrue(lines[0].startswith("outsize-run: "), done.stderr)
                self.assertIn(message, lines[0])
                self.assertEqual(processes_of(program), [])

    def test_other_allocators_are_named_by_their_file(self):
        program = self.compiled("program", HERE / "started_programs.c")
        library = self.compiled("libother.so", HERE / "misuse/other_malloc.c",
                                flags=("-shared", "-fPIC"))
        done = self.run_ranks(4, "env", f"LD_PRELOAD={library}", program)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(f"in '{library}'", done.stderr)

    def test_sanitizers_are_refused(self):
        for flag in ("-fsanitize=address", "-fsanitize=thread"):
            with self.subTest(flag):
                program = self.compiled("sanitized", HERE / "started_programs.c", flags=(flag,))
                done = self.run_ranks(4, program)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn("another malloc()", done.stderr)

    def test_a_program_that_takes_the_address_of_malloc_is_not_refused(self):
        """Then its own entry of the procedure linkage table stands for malloc() everywhere."""
        program = self.compiled("address", HERE / "address_of_malloc.c",
                                flags=("-fno-pie", "-no-pie"))
        self.assertEqual(self.output_of(2, program), "verified\n")

    def test_abort_gives_its_code(self):
        program = self.compiled("abort", HERE / "misuse/abort_in_one_rank.c")
        self.assertEqual(self.run_ranks(4, program).returncode, 5)


if __name__ == "__main__":
    unittest.main()
