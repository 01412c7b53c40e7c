#!/usr/bin/env python3
# SPDX-FileCopyrightText: the outsize authors
# SPDX-License-Identifier: BSL-1.0
"""Programs print the bytes that they print under Open MPI (expected/), with little memory too."""

import subprocess
import unittest

from mpi_run import BIN, HERE, ROOT, MpiTest

EXAMPLES = ("psrs", "balanced_exchange", "list_ranking", "prefix_sums", "matrix_product", "stencil",
            "kmeans", "page_rank", "fft", "integer_sort")


def expected(name):
    return (HERE / f"expected/{name}.txt").read_text()


class Programs(MpiTest):
    def test_examples_print_what_they_print_elsewhere(self):
        for name in EXAMPLES:
            with self.subTest(name):
                program = self.compiled(name, ROOT / f"examples/mpi/{name}.c")
                self.assertEqual(self.output_of(8, program), expected(name))
                self.assertEqual(self.output_of(8, program, options=("-k", "1")), expected(name))

    def test_a_program_of_several_files(self):
        program = self.compiled("several_files",
                                *sorted((HERE / "several_files").glob("*.c")))
        self.assertEqual(self.output_of(8, program), expected("several_files"))

    def test_random_messages(self):
        program = self.compiled("random_messages", HERE / "random_messages.c")
        for ranks, seed in ((4, 1), (9, 3)):
            self.assertIn("verified", self.output_of(ranks, program, seed, options=("-k", "3")))

    def test_waits_end_by_whatever_ends_them(self):
        program = self.compiled("progress", HERE / "progress.c")
        for at_once in ("1", "2"):
            self.assertEqual(self.output_of(3, program, options=("-k", at_once)), "verified\n")

    def test_programs_that_ranks_start(self):
        program = self.compiled("started_programs", HERE / "started_programs.c")
        self.assertEqual(self.output_of(4, program, options=("-k", "1")), "verified\n")

    def test_random_programs(self):
        program = self.compiled("random_program", *sorted((HERE / "random_program").glob("*.cpp")))
        self.assertEqual(self.output_of(4, program, 1, 40, 1, 40), expected("random_program_4"))
        self.assertEqual(self.output_of(7, program, 1000, 20, 1, 40, options=("-k", "3")),
                         expected("random_program_7"))
        self.assertEqual(self.output_of(5, program, 2000, 30, 2, 40, options=("-k", "1")),
                         expected("random_program_5_second_tier"))
        self.assertEqual(self.output_of(9, program, 3000, 10, 2, 40, options=("-k", "3")),
                         expected("random_program_9_second_tier"))

    def test_random_types(self):
        program = self.compiled("random_types", HERE / "random_types.c")
        self.assertEqual(self.output_of(1, program, 1, 60), expected("random_types"))

    def test_second_tier(self):
        program = self.compiled("second_tier", *sorted((HERE / "second_tier").glob("*.c")))
        for ranks in (1, 2, 5, 8):
            self.assertEqual(self.output_of(ranks, program, options=("-k", "2")), "verified\n")

    def test_contexts_go_to_disk(self):
        program = self.compiled("psrs", ROOT / "examples/mpi/psrs.c")
        small = self.output_of(12, program, 200_000, "random", 5, memory="32M", options=("-k", "1"))
        self.assertEqual(small, self.output_of(12, program, 200_000, "random", 5, memory="512M"))
        self.assertIn("verified", small)

    def test_contexts_are_files_that_the_kernel_pages(self):
        program = self.compiled("psrs", ROOT / "examples/mpi/psrs.c")
        other = self.folder / "other"
        other.mkdir(exist_ok=True)
        mapped = self.output_of(12, program, 200_000, "random", 5, memory="16M",
                                options=("--swap=mmap", "-T", other))
        self.assertEqual(mapped, self.output_of(12, program, 200_000, "random", 5, memory="512M"))
        self.assertEqual(list(other.iterdir()), [])
        name = "integer_sort"   # which frees memory and takes it again
        program = self.compiled(name, ROOT / f"examples/mpi/{name}.c")
        self.assertEqual(self.output_of(8, program, options=("--swap=mmap", "-k", "3")),
                         expected(name))


class Commands(MpiTest):
    def test_the_plan_is_printed(self):
        done = subprocess.run([BIN / "outsize-run", "--plan", "-v", "64", "-k", "2", "-m", "512M"],
                              capture_output=True, text=True)
        self.assertIn("64 virtual processors, 2 at a time", done.stdout)

    def test_the_compiler_shows_its_command(self):
        done = subprocess.run([BIN / "outsize-cc", "-show", "x.c"], capture_output=True, text=True)
        self.assertIn("-lmpi_abi", done.stdout)
        done = subprocess.run([BIN / "outsize-cc", "-static", "x.c"], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("dynamically", done.stderr)

    def test_wrong_calls_are_refused(self):
        for words, message in ((("-v", "0", "true"), "'0' is not a valid number"),
                               (("-m", "x", "true"), "--memory"),
                               ((), "no program is named"),
                               (("--swap=none", "true"), "'none' is not a way to swap"),
                               (("--swap=mmap", "-v", "99", "-m", "1M", "true"),
                                "virtual processors: "),
                               (("--swap=mmap", "-v", "2", "-T", "/nowhere", "true"),
                                "/nowhere: cannot create a temporary file"),
                               (("--context", "40M", "-m", "64M", "-v", "8", "true"),
                                "must fit into memory at once"),
                               (("-v", "2", "-m", "64M", "/nowhere"),
                                "cannot run '/nowhere' as rank")):
            with self.subTest(words):
                done = subprocess.run([BIN / "outsize-run", *words], capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(message, done.stderr)

    def test_a_program_needs_a_launcher(self):
        program = self.compiled("prefix_sums", ROOT / "examples/mpi/prefix_sums.c")
        done = subprocess.run([program], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("outsize-run", done.stderr)


if __name__ == "__main__":
    unittest.main()
