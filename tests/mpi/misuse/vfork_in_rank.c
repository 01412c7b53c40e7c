// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A rank calls vfork(). Ours refuses it by name. Elsewhere it works, and the program ends with code
// 3.

#define _DEFAULT_SOURCE

#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  pid_t child = vfork();
  if (child == 0) _exit(0);
  if (child < 0) MPI_Abort(MPI_COMM_WORLD, 4);
  waitpid(child, NULL, 0);
  fprintf(stderr, "vfork_in_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
