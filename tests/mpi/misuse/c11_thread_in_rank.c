// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A rank starts a thread by thrd_create() of C11. As thread_in_rank.

#include <mpi.h>
#include <stdio.h>
#include <threads.h>

static int run(void* nothing) { return nothing != NULL; }

int main(int argc, char** argv) {
  thrd_t thread;
  MPI_Init(&argc, &argv);
  if (thrd_create(&thread, run, NULL) != thrd_success) MPI_Abort(MPI_COMM_WORLD, 4);
  thrd_join(thread, NULL);
  fprintf(stderr, "c11_thread_in_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
