// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
//
// A rank forks. Ours refuses: fork() fails by name, as a child would share the memory of its
// parent. Elsewhere it works, and the program ends with code 3.

#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) {
    perror("fork_in_rank: fork");
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  waitpid(child, NULL, 0);
  fprintf(stderr, "fork_in_rank: not noticed\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}
