// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A barrier on a stack that malloc() gave, as libraries of user-level threads have them. Under ours
// such a stack goes to disk while the rank waits, so the call is refused. Elsewhere it works, and
// the program ends with code 3.

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK_BYTES = 1 << 18 };

static ucontext_t outside, inside;

static void wait_for_others(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  getcontext(&inside);
  inside.uc_stack.ss_sp = malloc(STACK_BYTES);
  inside.uc_stack.ss_size = STACK_BYTES;
  inside.uc_link = &outside;
  makecontext(&inside, wait_for_others, 0);
  swapcontext(&outside, &inside);
  fprintf(stderr, "stack_in_heap: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
