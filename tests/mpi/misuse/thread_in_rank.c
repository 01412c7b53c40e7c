// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A rank starts a thread by pthread_create(). Ours refuses, as the thread would run while the rank
// waits. Elsewhere it works, and the program ends with code 3.

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void* run(void* nothing) { return nothing; }

int main(int argc, char** argv) {
  pthread_t thread;
  MPI_Init(&argc, &argv);
  if (pthread_create(&thread, NULL, run, NULL) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
  pthread_join(thread, NULL);
  fprintf(stderr, "thread_in_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
